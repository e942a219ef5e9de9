// When flows stop and run: in between, Catch nodes and receivers may not exist.
import type { NodeAPI } from 'node-red';

/** `flows:stopping` comes before the first node closes, `flows:started` when the last one runs. */
type DeployEvent = 'flows:stopping' | 'flows:started';

/** Who hears first that flows run: nodes look for their service when it is there, and reports go on when nodes are. */
const STAGES = ['services', 'nodes', 'flows'] as const;
type Stage = (typeof STAGES)[number];

/** What stops or was started: everything, or what the deploy has changed. Ids in the lists. */
interface Replaced {
  type?: string;
  config?: { flows?: readonly FlowItem[] };
  diff?: Partial<Record<'changed' | 'removed' | 'linked' | 'rewired' | 'flowChanged', readonly string[]>>;
}

interface FlowItem {
  id: string;
  type: string;
  z?: string;
  g?: string;
  /** Of a Catch node: `null` for its flow, `group`, or the ids of nodes. */
  scope?: unknown;
  /** Of a Catch node: only for errors that no other one has taken. */
  uncaught?: boolean;
}

type Call = (replaced?: Replaced) => void;

interface Listener {
  calls: Map<Call, Stage>;
  callAll: Call;
}

const listeners: Record<DeployEvent, WeakMap<object, Listener>> = {
  'flows:stopping': new WeakMap(),
  'flows:started': new WeakMap(),
};

/** Calls back before every deploy replaces something. @returns stops it */
export function onStopping(RED: NodeAPI, call: Call): () => void {
  return listen(RED, 'flows:stopping', call);
}

/**
 * Calls back before a node is closed together with those who would hear of its errors: by a full deploy, or the end, or by
 * one that closes all of its Catch nodes, as Node-RED does with one whose scope is a single node that has changed.
 * @param hasNews looked at first: whether there is anything that somebody should hear of
 * @returns stops it
 */
export function onStoppingUnheard(
  RED: NodeAPI,
  id: string,
  hasNews: () => boolean,
  call: () => void,
): () => void {
  // When flows stop, Node-RED has the new ones already.
  let running: readonly FlowItem[] = [];
  const stops = [
    listen(RED, 'flows:started', (started) => {
      running = started?.config?.flows ?? [];
    }),
    listen(RED, 'flows:stopping', (stopping) => {
      if (hasNews() && (stopping?.type === 'full' || isStoppedUnheard(RED, running, stopping, id))) {
        call();
      }
    }),
  ];
  return () => {
    for (const stop of stops) {
      stop();
    }
  };
}

function isStoppedUnheard(
  RED: NodeAPI,
  running: readonly FlowItem[],
  { type, diff }: Replaced = {},
  id: string,
): boolean {
  const { changed = [], removed = [], linked = [], rewired = [], flowChanged = [] } = diff ?? {};
  const lists = [changed, removed, ...(type === 'flows' ? [linked, rewired] : [])];
  // A flow is among the changed ones when anything in it is.
  const stops = ({ id: own, z = '' }: FlowItem) =>
    lists.some((list) => list.includes(own)) || flowChanged.includes(z) || removed.includes(z);
  const path = pathOf(running, id);
  if (!path[0] || !stops(path[0])) {
    return false;
  }
  // What no Catch node in a subflow hears goes to those beside its instance, as an error of that.
  for (const [depth, at] of [...path.entries()].reverse()) {
    // One that is disabled does not run.
    const runs = (item: FlowItem) =>
      RED.nodes.getNode([...path.slice(0, depth), item].map((part) => part.id).join('-'));
    const catching = running.filter((item) => item.type === 'catch' && item.z === at.z && runs(item));
    const hearing = hearingOf(at, catching, running);
    if (hearing.length > 0) {
      // An instance closes as a whole.
      return depth > 0 || hearing.every(stops);
    }
  }
  return false;
}

/** A node as it stands in the flows, behind the instances of subflows that it is in. */
function pathOf(flows: readonly FlowItem[], id: string): FlowItem[] {
  const find = (wanted: string) => flows.find((item) => item.id === wanted);
  const own = find(id);
  if (own) {
    return [own];
  }
  for (const { index } of id.matchAll(/-/g)) {
    const instance = find(id.slice(0, index));
    const rest = instance?.type.startsWith('subflow:') ? pathOf(flows, id.slice(index + 1)) : [];
    if (instance && rest.length > 0) {
      return [instance, ...rest];
    }
  }
  return [];
}

/**
 * Which Catch nodes Node-RED gives an error of a node: the nearest first, by the groups in between. One for errors that
 * others have not caught is left out where another kind comes first; where it comes first itself, all hear.
 */
function hearingOf(
  node: FlowItem,
  catching: readonly FlowItem[],
  flows: readonly FlowItem[],
): readonly FlowItem[] {
  const groups: unknown[] = [];
  const groupOf = ({ g }: FlowItem) => flows.find((item) => item.id === g);
  for (let at = groupOf(node); at && !groups.includes(at.id); at = groupOf(at)) {
    groups.push(at.id);
  }
  const covering = catching.filter(({ scope, g }) =>
    Array.isArray(scope) ? scope.includes(node.id) : scope !== 'group' || !g || groups.includes(g),
  );
  const nearest = (all: readonly FlowItem[]) =>
    Math.min(...all.map(({ g }) => (groups.includes(g) ? groups.indexOf(g) : groups.length)));
  const first = covering.filter(({ uncaught }) => !uncaught);
  const others = covering.filter(({ uncaught }) => uncaught);
  return nearest(first) > nearest(others) ? covering : first;
}

/** Calls back after every start and deploy. @returns stops it */
export function onStarted(RED: NodeAPI, call: () => void, stage: Stage = 'flows'): () => void {
  return listen(RED, 'flows:started', call, stage);
}

/** Calls back once, after the current deploy. @returns cancels it */
export function onceStarted(RED: NodeAPI, call: () => void): () => void {
  const stop = onStarted(RED, () => {
    stop();
    call();
  });
  return stop;
}

/** One listener serves all nodes, because Node-RED's emitter warns of a leak after ten; it goes with the last of them. */
function listen({ events }: NodeAPI, event: DeployEvent, call: Call, stage: Stage = 'flows'): () => void {
  const { calls, callAll } = listeners[event].get(events) ?? createListener(events, event);
  if (calls.size === 0) {
    events.on(event, callAll);
  }
  calls.set(call, stage);
  return () => {
    if (calls.delete(call) && calls.size === 0) {
      events.removeListener(event, callAll);
    }
  };
}

function createListener(events: NodeAPI['events'], event: DeployEvent): Listener {
  const calls: Listener['calls'] = new Map();
  const callAll: Call = (replaced) => {
    for (const stage of STAGES) {
      for (const [call, own] of [...calls]) {
        if (own === stage && calls.has(call)) {
          call(replaced);
        }
      }
    }
  };
  const listener = { calls, callAll };
  listeners[event].set(events, listener);
  return listener;
}

/** Whether a node is in the flows that run, but does not run itself. */
export const isDisabled = (RED: NodeAPI, id: string): boolean => !RED.nodes.getNode(id) && isInFlows(RED, id);

/**
 * Whether a node is in the flows, during a deploy in the new ones; also one that is disabled, with its flow too.
 * @param id inside a subflow that of the instance, a hyphen, and that in the template
 */
export function isInFlows(RED: NodeAPI, id: string): boolean {
  const nodes = new Map<string, { type: string; z?: string }>();
  RED.nodes.eachNode((node) => void nodes.set(node.id, node));
  const isTemplate = (flow: string | undefined) => nodes.get(flow ?? '')?.type === 'subflow';
  // What stands in a template runs in its instances only, under their names.
  const isIn = (flow: string | undefined, template: string | undefined) =>
    template === undefined ? !isTemplate(flow) : flow === template;
  const isThere = (rest: string, template?: string): boolean => {
    const node = nodes.get(rest);
    return (node !== undefined && isIn(node.z, template)) || isInInstance(rest, template);
  };
  const isInInstance = (rest: string, template: string | undefined) =>
    [...rest.matchAll(/-/g)].some(({ index }) => {
      const instance = nodes.get(rest.slice(0, index));
      const [kind, own] = instance?.type.split(':') ?? [];
      return kind === 'subflow' && isIn(instance?.z, template) && isThere(rest.slice(index + 1), own);
    });
  return isThere(id);
}
