// The session of one mt-service: made of its settings, made anew when a configuration node in them is another one, paused
// while flows are replaced, and given back to the broker at the end unless another service has it too.
import type { Node, NodeAPI } from 'node-red';
import {
  areSameClient,
  giveBackAll,
  haveSameSession,
  type Logger,
  type MqttSettings,
  type Phrase,
  reasonOfRefusals,
  ServiceError,
  Session,
  type SessionState,
  type Settings,
} from '../../src/index.ts';
import { isDisabled, onceStarted, onStarted, onStopping } from '../shared/runtime/deploys.ts';
import type { ServiceNode } from '../shared/runtime/services.ts';
import { toFlowError } from '../shared/runtime/texts.ts';
import { type DeployedConfigs, isEmptied, type LastUsable, type Succession } from './last-usable.ts';
import { networkOf } from './network-name.ts';
import { tellOnce } from './once-caught.ts';
import type { ValueMemory } from './value-memory.ts';

/** Of all services; an instance of a subflow may have moved, with its session. */
const LIVING = new Set<SessionHolder>();

interface HolderOptions {
  /** Of the configuration nodes that the settings are made of; empty for none. */
  nodeIds: readonly string[];
  configs: DeployedConfigs;
  lastUsable: LastUsable;
  memory: ValueMemory;
  createSettings(this: void): Settings;
}

/**
 * Node-RED restarts a service together with its tls-config and its proxy node, and makes them in this order, where the
 * service has their ids in its properties. Where a variable names them, that is done here.
 */
export class SessionHolder {
  readonly #RED: NodeAPI;
  readonly #node: ServiceNode;
  readonly #options: HolderOptions;
  readonly #ignoreDeploys: readonly (() => void)[];
  #isRunning = false;
  /** Since the last deploy began. */
  readonly #told = new Set<Error>();
  #usedNodes: (Node | null)[] = [];
  #disposers: (() => void)[] = [];
  /** The old session is ending. */
  #change: Promise<void> | undefined;
  #isClosed = false;
  /** See `Session.close`; undefined also while it is open. */
  #goesOnAt: string[] | undefined;
  #hasToldTwin = false;

  /** Sets `session` or `problem` of the node, now and whenever they change. */
  constructor(RED: NodeAPI, node: ServiceNode, options: HolderOptions) {
    this.#RED = RED;
    this.#node = node;
    this.#options = options;
    LIVING.add(this);
    node.tell = this.#tell;
    this.#open();
    this.#ignoreDeploys = [
      onStopping(RED, () => {
        this.#isRunning = false;
        this.#told.clear();
      }),
      onStarted(RED, () => this.#look(), 'services'),
      onStarted(RED, () => this.#tellTwin()),
    ];
    this.#disposers.push(onceStarted(RED, () => this.#tellProblems()));
  }

  async close({ goesOnAt, isNetworkFinal }: Succession): Promise<void> {
    const { session } = this.#node;
    this.#isClosed = true;
    this.#goesOnAt = goesOnAt;
    const kept = this.#kept;
    this.#forgetUnlessBack();
    for (const ignore of this.#ignoreDeploys) {
      ignore();
    }
    this.#dispose();
    const memory = this.#options.memory.close(isNetworkFinal);
    // Without a broker half it has no connection, but what an earlier one has left at the broker.
    const left = session?.configured.mqtt ? undefined : this.#giveBack(kept, goesOnAt);
    const ends = [
      this.#change,
      session?.close(this.#sharers(kept).length > 0 ? undefined : goesOnAt),
      left,
      memory,
    ];
    await Promise.all(ends).finally(() => LIVING.delete(this));
  }

  /** By which brokers know this service: its settings, or those of before while they are wrong. */
  get #kept(): MqttSettings | undefined {
    return this.#options.lastUsable.get(this.#node.id)?.mqtt;
  }

  /** One that a deploy ends has it as far as it comes back, in whatever order the others end. */
  #hasSession(of: MqttSettings): boolean {
    const kept = this.#kept;
    return kept !== undefined && haveSameSession({ ...kept, brokers: this.#goesOnAt ?? kept.brokers }, of);
  }

  /** The other services with this session: copies of this one, or this one in an instance that has moved. */
  #sharers(kept: MqttSettings | undefined): SessionHolder[] {
    return [...LIVING].filter((other) => other !== this && kept && other.#hasSession(kept));
  }

  /** Whether another service uses this session, or may when its settings are right again or its connection is new. */
  get #isElsewhere(): boolean {
    return this.#sharers(this.#kept).some((other) => other.#node.session?.state.mqtt.name !== 'idle');
  }

  /** Undefined: nobody needs its connection, though it may last for a moment. */
  get #connecting(): MqttSettings | undefined {
    return this.#node.session?.isConnectionUsed ? this.#kept : undefined;
  }

  /**
   * The name of another service that has a connection to one of these brokers, or seeks one, with the same client id.
   * @param service whose settings these are; undefined: of one that is not deployed
   */
  static twinOf(settings: MqttSettings, service: Node | undefined): string | undefined {
    const twin = [...LIVING].find((other) => {
      const used = other.#node === service ? undefined : other.#connecting;
      return used && areSameClient(settings, used);
    });
    return twin && (twin.#node.name || twin.#node.id);
  }

  /** Few brokers say why they end a connection. */
  #tellTwin(): void {
    const own = this.#connecting;
    const twin = own && SessionHolder.twinOf(own, this.#node);
    if (own && twin !== undefined && !this.#hasToldTwin) {
      this.#node.warn(
        `${twin} connects to the same broker with the same client id, ${own.clientId}: the broker ends the connection of the one when the other connects`,
      );
    }
    this.#hasToldTwin = twin !== undefined;
  }

  /** Not what another service has by now. */
  async #giveBack(kept: MqttSettings | undefined, goesOnAt: string[] | undefined): Promise<void> {
    if (kept && this.#sharers(kept).length === 0) {
      await giveBackAll(kept, loggerOf(this.#node), goesOnAt);
    }
  }

  /** Node-RED does not tell a service that it goes with the instance of its subflow, or moves to a disabled flow. */
  #forgetUnlessBack(): void {
    const [RED, { id }, { lastUsable }] = [this.#RED, this.#node, this.#options];
    onceStarted(RED, () => {
      const last = lastUsable.get(id);
      if (!last || RED.nodes.getNode(id)) {
        return;
      }
      lastUsable.delete(id);
      if (last.mqtt?.persistent) {
        const moved = [...LIVING].find((other) => other.#continues(this, last));
        if (moved) {
          lastUsable.set(moved.#node.id, last);
        }
        void this.#giveBack(last.mqtt, []);
      }
    });
  }

  /** Whether this is `former` in an instance of its subflow that has moved, and has not been usable since. */
  #continues(former: SessionHolder, { filled }: DeployedConfigs): boolean {
    const { configs, lastUsable } = this.#options;
    const clientId = filled.clientId.trim();
    return (
      this.#RED === former.#RED &&
      aliasOf(former.#node) !== undefined &&
      aliasOf(former.#node) === aliasOf(this.#node) &&
      !lastUsable.has(this.#node.id) &&
      // A generated one is of the instance, and so is its session.
      clientId !== '' &&
      clientId === configs.filled.clientId.trim()
    );
  }

  #open(): void {
    const [RED, node] = [this.#RED, this.#node];
    const { configs, lastUsable, memory, createSettings } = this.#options;
    this.#usedNodes = this.#findNodes();
    try {
      node.problem = undefined;
      const settings = createSettings();
      node.session = new Session(settings, loggerOf(node), () => this.#isElsewhere);
      if (!settings.problems?.mqtt && !isEmptied(configs)) {
        const before = lastUsable.get(node.id)?.mqtt;
        lastUsable.set(node.id, { ...configs, mqtt: settings.mqtt });
        // Where a variable has brought another client id nobody knew it yet when the service before this one ended.
        if (before?.persistent && before.clientId !== settings.mqtt?.clientId) {
          void this.#giveBack(before, []);
        }
      }
      node.problems = Object.values(settings.problems ?? {}).map((problem) => toFlowError(RED, problem));
      this.#disposers = connect(RED, node, node.session, () => this.#isRunning);
      const { filled } = lastUsable.get(node.id) ?? configs;
      memory.open(node.session, networkOf(filled));
    } catch (error) {
      node.session = undefined;
      node.problem = toFlowError(RED, error);
      node.problems = [node.problem];
    }
  }

  #findNodes(): (Node | null)[] {
    return this.#options.nodeIds.map((id) => (id === '' ? null : this.#RED.nodes.getNode(id)));
  }

  #look(): void {
    this.#isRunning = true;
    if (this.#change || this.#findNodes().every((node, i) => node === this.#usedNodes[i])) {
      return;
    }
    const { session } = this.#node;
    this.#dispose();
    if (session) {
      void this.#options.memory.close(false);
      // The new one has the same client id, so it comes when the old one has gone.
      this.#change = session.close().then(() => {
        this.#change = undefined;
        this.#openAnew();
        if (this.#isRunning) {
          resume(this.#RED, this.#node, this.#node.session);
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
      this.#tell(problem);
    }
  }

  readonly #tell = (problem: Error): void => {
    if (!this.#told.has(problem)) {
      this.#told.add(problem);
      tellOnce(this.#RED, this.#node, problem);
    }
  };

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
      resume(RED, node, session);
      tell(session.state);
    }),
    // While flows are replaced, the Catch nodes may not be there.
    session.onState((state) => isRunning() && tell(state)),
  ];
}

function resume(RED: NodeAPI, node: ServiceNode, session: Session | undefined): void {
  session?.resumeReports(
    (id) => id in node.users,
    (id) => isDisabled(RED, id),
  );
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
  tellOnce(RED, node, new ServiceError('NOT_CONNECTED', name, { broker }, { broker, reason }));
}

/** The id in the template of its subflow; undefined outside of one. */
function aliasOf(node: ServiceNode): string | undefined {
  return (node as { _alias?: string })._alias;
}

function loggerOf(node: ServiceNode): Logger {
  return {
    info: (text) => node.log(text),
    warn: (text) => node.warn(text),
    trace: (text) => node.trace(text),
  };
}
