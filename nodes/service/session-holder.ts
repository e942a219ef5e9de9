// The session of one mt-service: made of its settings, made anew when a configuration node in them is another one, and
// paused while flows are replaced.
import type { Node, NodeAPI } from 'node-red';
import {
  giveBackAll,
  haveSameSession,
  type Logger,
  type Phrase,
  reasonOfRefusals,
  ServiceError,
  Session,
  type SessionState,
  type Settings,
} from '../../src/index.ts';
import { onceStarted, onStarted, onStopping } from '../shared/runtime/deploys.ts';
import type { ServiceNode } from '../shared/runtime/services.ts';
import { toFlowError } from '../shared/runtime/texts.ts';
import { tellOnce } from './once-caught.ts';
import type { ValueMemory } from './value-memory.ts';

/** Of all services; an instance of a subflow may have moved, with its session. */
const LIVING = new Set<SessionHolder>();

/**
 * Node-RED restarts a service together with its tls-config and its proxy node, and makes them in this order, where the
 * service has their ids in its properties. Where a variable names them, that is done here.
 */
export class SessionHolder {
  readonly #RED: NodeAPI;
  readonly #node: ServiceNode;
  readonly #nodeIds: readonly string[];
  readonly #createSettings: () => Settings;
  readonly #memory: ValueMemory;
  readonly #ignoreDeploys: readonly (() => void)[];
  #settings: Settings['mqtt'];
  /** What is wrong with the service, or with one half of it. */
  #isRunning = false;
  #usedNodes: (Node | null)[] = [];
  #disposers: (() => void)[] = [];
  /** The old session is ending. */
  #change: Promise<void> | undefined;
  #isClosed = false;

  /**
   * Sets `session` or `problem` of the node, now and whenever they change.
   * @param nodeIds of the configuration nodes that the settings are made of; empty for none
   */
  constructor(
    RED: NodeAPI,
    node: ServiceNode,
    nodeIds: readonly string[],
    memory: ValueMemory,
    createSettings: () => Settings,
  ) {
    this.#RED = RED;
    this.#node = node;
    this.#nodeIds = nodeIds;
    this.#memory = memory;
    this.#createSettings = createSettings;
    LIVING.add(this);
    this.#open();
    this.#ignoreDeploys = [
      onStopping(RED, () => {
        this.#isRunning = false;
      }),
      onStarted(RED, () => this.#look(), 'services'),
    ];
    this.#disposers.push(onceStarted(RED, () => this.#tellProblems()));
  }

  /**
   * @param goesOnAt see `Session.close`
   * @param isNetworkFinal what is known is of a network that is not the service's any more
   */
  async close({ goesOnAt, isNetworkFinal }: { goesOnAt?: string[] | undefined; isNetworkFinal: boolean }) {
    this.#isClosed = true;
    LIVING.delete(this);
    this.#giveBackUnlessBack();
    for (const ignore of this.#ignoreDeploys) {
      ignore();
    }
    this.#dispose();
    const memory = this.#memory.close(isNetworkFinal);
    await Promise.all([this.#change, this.#node.session?.close(goesOnAt), memory]);
  }

  /** Node-RED does not tell a service inside a subflow that it goes with its instance, nor with the subflow. */
  #giveBackUnlessBack(): void {
    const [RED, node, settings] = [this.#RED, this.#node, this.#settings];
    if (settings?.persistent && (node as { _alias?: string })._alias !== undefined) {
      onceStarted(RED, () => {
        const others = [...LIVING].map((other) => other.#settings);
        const isMoved = others.some((other) => other && haveSameSession(other, settings));
        if (!isMoved && !RED.nodes.getNode(node.id)) {
          void giveBackAll(settings, loggerOf(node));
        }
      });
    }
  }

  #open(): void {
    const [RED, node] = [this.#RED, this.#node];
    this.#usedNodes = this.#findNodes();
    try {
      node.problem = undefined;
      const settings = this.#createSettings();
      node.session = new Session(settings, loggerOf(node));
      this.#settings = settings.mqtt;
      node.problems = Object.values(settings.problems ?? {}).map((problem) => toFlowError(RED, problem));
      this.#disposers = connect(RED, node, node.session, () => this.#isRunning);
      this.#memory.open(node.session);
    } catch (error) {
      node.session = undefined;
      node.problem = toFlowError(RED, error);
      node.problems = [node.problem];
    }
  }

  #findNodes(): (Node | null)[] {
    return this.#nodeIds.map((id) => (id === '' ? null : this.#RED.nodes.getNode(id)));
  }

  #look(): void {
    this.#isRunning = true;
    if (this.#change || this.#findNodes().every((node, i) => node === this.#usedNodes[i])) {
      return;
    }
    const { session } = this.#node;
    this.#dispose();
    if (session) {
      void this.#memory.close(false);
      // The new one has the same client id, so it comes when the old one has gone.
      this.#change = session.close().then(() => {
        this.#change = undefined;
        this.#openAnew();
        if (this.#isRunning) {
          this.#node.session?.resumeReports((id) => id in this.#node.users);
        }
      });
    } else {
      this.#openAnew();
    }
  }

  #openAnew(): void {
    if (this.#isClosed) {
      return;
    }
    this.#open();
    for (const follow of [...this.#node.followers]) {
      follow();
    }
    this.#tellProblems();
  }

  #tellProblems(): void {
    for (const problem of this.#node.problems) {
      tellOnce(this.#RED, this.#node, problem);
    }
  }

  #dispose(): void {
    for (const dispose of this.#disposers.splice(0)) {
      dispose();
    }
  }
}

type Refusal = Extract<SessionState['mqtt'], { reason: Phrase }>;

/** Reports wait while nodes are replaced, receivers or those after them, and after a start until all flows run. */
function connect(
  RED: NodeAPI,
  node: ServiceNode,
  session: Session,
  isRunning: () => boolean,
): (() => void)[] {
  session.pauseReports();
  const tell = createRefusalTeller(RED, node);
  return [
    onStopping(RED, () => session.pauseReports()),
    onStarted(RED, () => {
      session.resumeReports((id) => id in node.users);
      tell(session.state);
    }),
    // While flows are replaced, the Catch nodes may not be there.
    session.onState((state) => isRunning() && tell(state)),
  ];
}

/** A refusal by the broker belongs to no message, so the config node reports it to the Catch nodes, once per refusal. */
function createRefusalTeller(RED: NodeAPI, node: ServiceNode): (state: SessionState) => void {
  let before = '';
  let told: ReadonlyMap<string, Phrase> = new Map();
  return ({ mqtt }) => {
    const { name } = mqtt;
    if (name === 'connected') {
      told = new Map();
    } else if (name === 'limited' && mqtt.isSettled) {
      const news = new Map([...mqtt.refused].filter(([filter]) => !told.has(filter)));
      told = mqtt.refused;
      if (news.size > 0) {
        fail(RED, node, { ...mqtt, reason: reasonOfRefusals(news) });
      } else if (before !== name) {
        fail(RED, node, mqtt);
      }
    } else if (name === 'refused' && before !== name) {
      fail(RED, node, mqtt);
    } else {
      // Trying again in between is not another refusal.
      return;
    }
    before = name;
  };
}

function fail(RED: NodeAPI, node: ServiceNode, { name, broker, reason }: Refusal): void {
  tellOnce(
    RED,
    node,
    toFlowError(RED, new ServiceError('NOT_CONNECTED', name, { broker }, { broker, reason })),
  );
}

function loggerOf(node: ServiceNode): Logger {
  return {
    info: (text) => node.log(text),
    warn: (text) => node.warn(text),
    trace: (text) => node.trace(text),
  };
}
