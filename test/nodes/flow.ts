// Runs a flow in a real Node-RED runtime, of every version that this Node.js can start, and hears what comes out.
import assert from 'node:assert/strict';
import { type EventEmitter, once } from 'node:events';
import { createRequire } from 'node:module';
import type { Node, NodeAPI, NodeMessage, NodeStatus } from 'node-red';
import deviceList from '../../nodes/device-list/node.ts';
import deviceWatch from '../../nodes/device-watch/node.ts';
import gwRead from '../../nodes/gw-read/node.ts';
import gwWrite from '../../nodes/gw-write/node.ts';
import label from '../../nodes/label/node.ts';
import lastValue from '../../nodes/last-value/node.ts';
import rename from '../../nodes/rename/node.ts';
import reportIn from '../../nodes/report-in/node.ts';
import service from '../../nodes/service/node.ts';
import serviceRequest from '../../nodes/service-request/node.ts';
import timestampedAck from '../../nodes/timestamped-ack/node.ts';
import { NODE_TYPES } from '../node-types.ts';

type Registration = (RED: NodeAPI) => void | Promise<void>;

/** What we use of node-red-node-test-helper, which has no types. */
interface Helper {
  init(path: string): void;
  load(nodes: Registration[], flow: object[], credentials: object): Promise<void>;
  /** What its own `setFlows` calls, which gives flows 300 ms to start. */
  _redNodes: { setFlows(flow: object[], credentials: object, type: string): Promise<unknown> };
  _events: EventEmitter;
  unload(): Promise<void>;
  /** Its spies on every method of every node. */
  _sandbox: { restore(): void };
  _context: { init(settings: object): void; load(): Promise<void> };
  getNode(id: string): Node;
  request(): {
    get(path: string): PromiseLike<HttpAnswer> & { buffer(all: true): PromiseLike<{ text: string }> };
    post(path: string): {
      send(body: object): PromiseLike<HttpAnswer>;
      type(type: string): { send(body: string): PromiseLike<HttpAnswer> };
    };
  };
  startServer(done: () => void): void;
  stopServer(done: () => void): void;
}

export interface HttpAnswer {
  status: number;
  body: unknown;
}

// Mocha runs these files as CommonJS or as modules, depending on the version of Node.js.
const load = createRequire(`${process.cwd()}/`);

const NODES = [
  deviceList,
  deviceWatch,
  gwRead,
  gwWrite,
  label,
  lastValue,
  rename,
  reportIn,
  service,
  serviceRequest,
  timestampedAck,
];
assert.equal(NODES.length, NODE_TYPES.length);

function versions(): Record<string, string> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const canRunNewest = major > 22 || (major === 22 && minor >= 9);
  return { 'Node-RED 4.1': 'node-red-4', ...(canRunNewest && { 'Node-RED 5': 'node-red' }) };
}

export interface Message extends NodeMessage {
  error?: {
    message: string;
    code?: string;
    cause?: Record<string, unknown>;
    source?: { id?: string; name?: string };
  };
}

/** What arrived, in order, and who waits for more. */
class Inbox<Item> {
  readonly all: Item[] = [];
  #read = 0;
  #waiting: (() => void)[] = [];

  put(item: Item): void {
    this.all.push(item);
    for (const wake of this.#waiting.splice(0)) {
      wake();
    }
  }

  /** The next one that was not read yet; with a condition, all before the one that fulfils it are skipped. */
  async next(accept: (item: Item) => boolean = () => true): Promise<Item> {
    for (;;) {
      while (this.#read < this.all.length) {
        const item = this.all[this.#read++]!;
        if (accept(item)) {
          return item;
        }
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

interface StatusEvent {
  id: string;
  status: NodeStatus;
}

export class Flow {
  readonly #helper: Helper;
  readonly #inboxes = new Map<string, Inbox<Message>>();
  readonly #statuses = new Map<string, Inbox<NodeStatus>>();
  readonly #heard = new WeakSet<Node>();

  constructor(helper: Helper) {
    this.#helper = helper;
  }

  node<T extends Node>(id: string): T {
    return this.#helper.getNode(id) as T;
  }

  send(id: string, msg: object): void {
    this.node(id).receive(msg as NodeMessage);
  }

  /** The inbox of a node of type `helper`. */
  inbox(id: string): Inbox<Message> {
    let inbox = this.#inboxes.get(id);
    if (!inbox) {
      inbox = new Inbox();
      this.#inboxes.set(id, inbox);
    }
    return inbox;
  }

  next(id: string, accept?: (msg: Message) => boolean): Promise<Message> {
    return this.inbox(id).next(accept);
  }

  /** Everything that a node has shown, from its start on. */
  statuses(id: string): Inbox<NodeStatus> {
    let inbox = this.#statuses.get(id);
    if (!inbox) {
      inbox = new Inbox();
      this.#statuses.set(id, inbox);
    }
    return inbox;
  }

  /** The next status of a node with this colour. */
  status(id: string, fill: string): Promise<NodeStatus> {
    return this.statuses(id).next((status) => status.fill === fill);
  }

  async deploy(flow: object[], type: 'full' | 'flows' | 'nodes', credentials?: object): Promise<void> {
    const started = once(this.#helper._events, 'flows:started');
    await this.#helper._redNodes.setFlows(flow, credentials ?? {}, type);
    await started;
    this.listen(flow);
  }

  get(path: string): PromiseLike<HttpAnswer> {
    return this.#helper.request().get(path);
  }

  /** A response as text, whatever its type. */
  async getText(path: string): Promise<string> {
    return (await this.#helper.request().get(path).buffer(true)).text;
  }

  post(path: string, body: object): PromiseLike<HttpAnswer> {
    return this.#helper.request().post(path).send(body);
  }

  /** Posts a body as it is, which need not be JSON. */
  postText(path: string, body: string): PromiseLike<HttpAnswer> {
    return this.#helper.request().post(path).type('application/json').send(body);
  }

  listen(flow: object[]): void {
    for (const { id, type } of flow as { id: string; type: string }[]) {
      const node = type === 'helper' ? this.node(id) : null;
      if (node && !this.#heard.has(node)) {
        this.#heard.add(node);
        node.on('input', (msg: NodeMessage) => this.inbox(id).put(msg as Message));
      }
    }
  }
}

export type StartFlow = (
  flow: object[],
  options?: { credentials?: object; nodes?: Registration[]; stores?: object },
) => Promise<Flow>;

/** Describes behaviour once per version of Node-RED. */
export function describeNodes(
  title: string,
  define: (this: Mocha.Suite, start: StartFlow, version: string) => void,
): void {
  for (const [name, path] of Object.entries(versions())) {
    describe(`${title} (${name})`, function () {
      const helper = load('node-red-node-test-helper') as Helper;

      before((done) => {
        helper.init(load.resolve(path));
        void helper.startServer(done);
      });

      after((done) => void helper.stopServer(done));

      let forget = (): unknown => undefined;

      afterEach(async () => {
        await helper.unload();
        forget();
      });

      const start: StartFlow = async (flow, { credentials = {}, nodes = [], stores } = {}) => {
        const started = new Flow(helper);
        const watch = async (RED: NodeAPI) => {
          if (stores) {
            helper._context.init({ settings: {}, contextStorage: stores });
            await helper._context.load();
          }
          // What the helper gives to nodes lacks them.
          RED.hooks = (load(path) as NodeAPI).hooks;
          // Nobody asks the spies; they keep every message, and take more time than the nodes.
          helper._sandbox.restore();
          const note = ({ id, status }: StatusEvent) => started.statuses(id).put(status);
          RED.events.on('node-status', note);
          forget = () => RED.events.removeListener('node-status', note);
        };
        await helper.load([watch, ...NODES, ...nodes], flow, credentials);
        started.listen(flow);
        return started;
      };
      define.call(this, start, name);
    });
  }
}
