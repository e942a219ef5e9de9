// What a node had sent by itself when a deploy began, and Node-RED had not passed on: it gives that to nobody before flows run.
import type { Node, NodeAPI, NodeMessage } from 'node-red';
import { type Given, isPassingOn, whenPassedOn } from '../../../src/index.ts';
import { isInFlows, onceStarted, onStarted, onStopping } from './deploys.ts';
import type { ActionContext } from './registration.ts';

const HOOK = 'onReceive.mt-gateway-';

export interface Interrupted<Source> {
  message: NodeMessage;
  /** What it was made from. */
  source: Source;
  /** In milliseconds of `performance.now()`. */
  sentAt: number;
}

/** During a deploy, by the hooks of a runtime: messages by their ids, with the nodes that do not get them now. */
const heldBack = new WeakMap<object, Map<string, ReadonlySet<string>>>();

let hookCount = 0;

/** By the hooks of a runtime: of nodes that a deploy has closed, by their ids, for those that take their place. */
const left = new WeakMap<object, Map<string, readonly Interrupted<undefined>[]>>();

/**
 * Node-RED passes a message on with the next turn of the event loop. A node that is closed before that does not get it, and
 * one that stays may send it on to one that is closed.
 */
export class PassedOn<Source> implements Given {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #leave: (interrupted: readonly Interrupted<Source>[]) => void;
  readonly #stops: (() => void)[];
  readonly #messages: NodeMessage[] = [];
  readonly #sources: Source[] = [];
  /** So many were among the messages before. */
  #gone = 0;
  #isCounted = false;
  #interrupted: readonly Interrupted<Source>[] = [];

  /**
   * @param leave is given what was interrupted when the node closes before flows run
   * @param isOverFull also over a full deploy. That closes the service, too: the broker sends again what it was not told of
   */
  constructor(
    RED: NodeAPI,
    node: Node,
    leave: (interrupted: readonly Interrupted<Source>[]) => void,
    isOverFull = false,
  ) {
    this.#RED = RED;
    this.#node = node;
    this.#leave = leave;
    this.#stops = [
      onStopping(RED, (replaced) => (isOverFull || replaced?.type !== 'full') && this.#interrupt()),
      // Before reports go on.
      onStarted(RED, () => this.goOn(), 'nodes'),
    ];
  }

  send(message: NodeMessage, source: Source): void {
    if (!this.#isCounted) {
      this.#isCounted = true;
      whenPassedOn(this);
    }
    message._msgid ??= this.#RED.util.generateId();
    this.#node.send(message);
    this.#messages.push(message);
    this.#sources.push(source);
  }

  count(): number {
    this.#isCounted = false;
    return this.#gone + this.#messages.length;
  }

  passedOn(count: number): void {
    this.#forget(count - this.#gone);
  }

  close(): void {
    for (const stop of this.#stops) {
      stop();
    }
    if (this.#interrupted.length > 0) {
      this.#leave(this.#takeInterrupted());
    }
  }

  #takeInterrupted(): readonly Interrupted<Source>[] {
    const interrupted = this.#interrupted;
    this.#interrupted = [];
    return interrupted;
  }

  #forget(count: number): void {
    if (count > 0) {
      this.#gone += count;
      this.#messages.splice(0, count);
      this.#sources.splice(0, count);
    }
  }

  #interrupt(): void {
    const { settings } = this.#RED as { settings: { runtimeSyncDelivery?: unknown } };
    // With this setting of Node-RED all have them already, and some where a flow begins the deploy.
    if (this.#messages.length > 0 && !settings.runtimeSyncDelivery && !isPassingOn()) {
      const { wires } = this.#node as Node & { wires: string[][] };
      holdBack(this.#RED, this.#messages, new Set(wires.flat()));
      const sentAt = performance.now();
      const interrupted = this.#messages.map((message, i) => ({
        ...{ message, sentAt },
        source: this.#sources[i] as Source,
      }));
      this.#interrupted = [...this.#interrupted, ...interrupted];
      this.#forget(interrupted.length);
    }
  }

  /** What the node of before has left. */
  begin(interrupted: readonly Interrupted<Source>[]): void {
    this.#interrupted = interrupted;
  }

  /** Flows run: sends what was interrupted, as messages of their own, as those of before are held back. */
  goOn(): void {
    for (const { message, source } of this.#takeInterrupted()) {
      this.send({ ...message, _msgid: this.#RED.util.generateId() }, source);
    }
  }
}

/** As `PassedOn`, for messages that the node of the same id sends as they are when it takes the place of this one. */
export function passOnOver({
  RED,
  node,
  onceStarted: whenStarted,
}: Pick<ActionContext<unknown, unknown>, 'RED' | 'node' | 'onceStarted'>): PassedOn<undefined> {
  const { id } = node;
  const own = left.get(RED.hooks) ?? new Map<string, readonly Interrupted<undefined>[]>();
  left.set(RED.hooks, own);
  const leave = (interrupted: readonly Interrupted<undefined>[]) => {
    own.set(id, interrupted);
    forgetRemoved(RED, own, id);
  };
  const passedOn = new PassedOn<undefined>(RED, node, leave, true);
  passedOn.begin(own.get(id) ?? []);
  own.delete(id);
  whenStarted(() => passedOn.goOn());
  return passedOn;
}

/** A node may be there and not work as it is set. */
function forgetRemoved(RED: NodeAPI, own: Map<string, unknown>, id: string): void {
  onceStarted(RED, () => {
    if (!isInFlows(RED, id)) {
      own.delete(id);
    } else if (own.has(id)) {
      forgetRemoved(RED, own, id);
    }
  });
}

/** Until flows run, and for the rest of that turn. */
function holdBack(RED: NodeAPI, messages: readonly NodeMessage[], receivers: ReadonlySet<string>): void {
  const { hooks } = RED;
  let held = heldBack.get(hooks);
  if (held === undefined) {
    const all = new Map<string, ReadonlySet<string>>();
    held = all;
    heldBack.set(hooks, all);
    hookCount++;
    const hook = HOOK + hookCount;
    hooks.add(hook, ({ msg, destination }) =>
      all.get(msg?._msgid ?? '')?.has(destination.id) ? false : undefined,
    );
    const stop = onStarted(
      RED,
      () => {
        stop();
        heldBack.delete(hooks);
        setImmediate(() => hooks.remove(hook));
      },
      'services',
    );
  }
  for (const { _msgid = '' } of messages) {
    held.set(_msgid, receivers);
  }
}
