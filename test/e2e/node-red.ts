// A real Node-RED in a process of its own, with a line into its flows: messages go in and come out over IPC.
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../mosquitto.ts';
import { createUserDir, type PackageFolder } from './package.ts';
import { untilFileEnds } from './running.ts';

const MODULES = join(import.meta.dirname, '../../node_modules');

export interface Version {
  name: string;
  /** The program that runs red.js. */
  node: string;
  red: string;
}

/** Node-RED 5 refuses Node 20, so it comes with the pinned one; 4.1 runs on the Node of this process. */
export const VERSIONS: readonly Version[] = [
  { name: 'Node-RED 5', node: join(MODULES, 'node/bin/node'), red: join(MODULES, 'node-red/red.js') },
  { name: 'Node-RED 4.1', node: process.execPath, red: join(MODULES, 'node-red-4/red.js') },
];

/** The first one that the packages say they work with. */
export const OLDEST: Version = {
  name: 'Node-RED 4.0',
  node: process.execPath,
  red: join(MODULES, 'node-red-4.0/red.js'),
};

/** Flags for a Node-RED whose time passes five times as fast: for tests that wait until something has held for seconds. */
export const FAST_CLOCK: readonly string[] = [`--require=${join(import.meta.dirname, 'fast-clock.cjs')}`];

/** A message as it left the flow; functions and undefined values are lost on the way. */
export type FlowMessage = Record<string, unknown>;

export interface NodeConfig {
  id: string;
  type: string;
  z?: string;
  wires?: string[][];
  credentials?: Record<string, string>;
  [property: string]: unknown;
}

export interface NodeRed {
  url: string;
  process: ChildProcess;
  /** Its user directory: where a successor finds the same flows. */
  userDir: string;
  /** Everything that was logged so far. */
  log(): string;
  /** Calls the admin API; gives the parsed answer, or throws with its status and text. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Deploys these nodes on one tab beside `source`, `sink`, Catch and Status nodes; resolves when they run. */
  deploy(nodes: NodeConfig[], type?: 'full' | 'nodes' | 'flows'): Promise<void>;
  /** Sends a message out of the source node, which the flow wires as it likes. */
  send(source: string, msg: FlowMessage): void;
  /** The next message that reached this sink and was not taken yet. */
  next(sink: string, matching?: (msg: FlowMessage) => boolean): Promise<FlowMessage>;
  /** The next error that a Catch node received from this node: `message`, `code`, `cause`, `source`. */
  caught(node: string): Promise<FlowMessage>;
  /** Waits for a status of this node that fits, an earlier one included. */
  status(node: string, fits: (status: FlowMessage) => boolean): Promise<FlowMessage>;
  /** How many messages of this sink were not taken yet. */
  waiting(sink: string): number;
  /** Ends the process at once and keeps its user directory for a successor. */
  kill(): Promise<void>;
  /** Ends the process as an administrator would, and keeps its user directory for a successor. */
  shutDown(): Promise<void>;
  stop(): Promise<void>;
}

const UNUSED = [
  ...['16-range.js', '89-trigger.js', '90-exec.js', '18-sort.js', '19-batch.js', '23-watch.js'],
  ...['22-websocket.js', '31-tcpin.js', '32-udp.js', '70-HTML.js', '70-XML.js', '70-YAML.js'],
];

/** Of packages that lie beside Node-RED for a few samples. */
const FOREIGN = ['@flowfuse/*', 'node-red-contrib-*'];

/** Settings of a Node-RED that has the nodes of other packages, too. */
export const WITH_FOREIGN_NODES: Record<string, unknown> = { externalModules: {} };

/** Settings of a Node-RED that has all nodes, as users have it. */
export const WITH_ALL_NODES: Record<string, unknown> = { ...WITH_FOREIGN_NODES, nodesExcludes: [] };

const SETTINGS = `
const { EventEmitter } = require('node:events');
const inbox = new EventEmitter().setMaxListeners(0);
const early = [];
process.on('message', (message) => inbox.emit(message.to, message.msg) || early.push(message));
// A source may start after the deploy was answered: what came before waits for it.
inbox.on('newListener', () => setImmediate(() => early.splice(0).forEach((each) => process.emit('message', each))));
process.on('disconnect', () => process.exit());
module.exports = {
  uiHost: '127.0.0.1', flowFile: 'flows.json', credentialSecret: 'a test', telemetry: { enabled: false, updateNotification: false },
  logging: { console: { level: 'info', metrics: false, audit: false } },
  // Monaco is five megabytes that each page would compile.
  editorTheme: { tours: false, codeEditor: { lib: 'basic' } },
  // What no flow here has: each start and each page would load it.
  nodesExcludes: ${JSON.stringify(UNUSED)},
  externalModules: { palette: { denyList: ${JSON.stringify(FOREIGN)} } },
  functionGlobalContext: {
    inbox,
    outbox: (sink, msg) => {
      const { req, res, ...plain } = msg;
      process.send({ sink, msg: plain });
    },
  },
  ...require('./more-settings.json'),
};
`;

/** Nodes of the core that connect a flow to the test: function nodes reach the IPC channel through the global context. */
export const source = (id: string, wires: string[]): NodeConfig => ({
  id,
  type: 'function',
  outputs: 1,
  func: 'return msg;',
  initialize: `global.get('inbox').on('${id}', (msg) => node.send(msg));`,
  finalize: `global.get('inbox').removeAllListeners('${id}');`,
  wires: [wires],
});

export const sink = (id: string): NodeConfig => ({
  id,
  type: 'function',
  outputs: 0,
  func: `global.get('outbox')('${id}', msg);`,
  wires: [],
});

const WATCHERS: NodeConfig[] = [
  { id: 'catch-all', type: 'catch', scope: null, uncaught: false, wires: [['caught']] },
  { id: 'status-all', type: 'status', scope: null, wires: [['statuses']] },
  sink('caught'),
  sink('statuses'),
];

/**
 * @param settings further settings of Node-RED, as JSON; without `uiPort` it listens at a free port
 * @param nodeOptions flags for Node.js itself
 * @param predecessor one that was killed: its flows start
 * @param packages what is installed
 */
export async function startNodeRed(
  version: Version,
  settings: Record<string, unknown> = {},
  nodeOptions: readonly string[] = [],
  predecessor?: NodeRed,
  packages?: readonly PackageFolder[],
): Promise<NodeRed> {
  const userDir = predecessor?.userDir ?? (await createUserDir(packages));
  await writeFile(join(userDir, 'settings.js'), SETTINGS);
  await writeFile(join(userDir, 'more-settings.json'), JSON.stringify(settings));
  const start = () => launch(version, settings, nodeOptions, userDir);
  // In a thousand starts somebody else takes the port once that was free a moment ago.
  return start().catch((error: Error) => {
    if (settings.uiPort === undefined && error.message.includes(PORT_IN_USE)) {
      return start();
    }
    throw error;
  });
}

const PORT_IN_USE = 'port in use';
/** Of what is shown of a log. */
const MAX_LOG = 2_000;

async function launch(
  version: Version,
  settings: Record<string, unknown>,
  nodeOptions: readonly string[],
  userDir: string,
): Promise<NodeRed> {
  const port = Number(settings.uiPort ?? (await freePort()));
  const child = spawn(
    version.node,
    [...nodeOptions, version.red, '--userDir', userDir, '--port', `${port}`],
    {
      cwd: userDir,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, NODE_OPTIONS: '', NODE_RED_ENABLE_TOURS: 'false' },
    },
  );
  untilFileEnds(child);
  const log = await started(child);
  const root = typeof settings.httpAdminRoot === 'string' ? settings.httpAdminRoot : '';
  return connect(child, `http://127.0.0.1:${port}${root}`, userDir, log);
}

async function started(child: ChildProcess): Promise<() => string> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    const add = (text: string) => {
      log += text;
      if (log.includes('Started flows') && log.includes('Server now running')) {
        resolve();
      }
    };
    child.stdout?.setEncoding('utf8').on('data', add);
    child.stderr?.setEncoding('utf8').on('data', add);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`Node-RED ended with ${code}:\n${log}`)));
  });
  return () => log;
}

// Less than the time of a test: a wait that outlives its test takes what the next one waits for.
const MAX_WAIT_MS = 45_000;

class Inbox {
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #messages = new Map<string, FlowMessage[]>();

  add(sink: string, msg: FlowMessage): void {
    this.list(sink).push(msg);
    this.#events.emit('message');
  }

  list(sink: string): FlowMessage[] {
    const list = this.#messages.get(sink) ?? [];
    this.#messages.set(sink, list);
    return list;
  }

  forget(sink: string): void {
    this.#messages.delete(sink);
  }

  /** Takes the first message that fits out of the list, waiting for it when there is none. */
  async take(sink: string, fits: (msg: FlowMessage) => boolean): Promise<FlowMessage> {
    const signal = AbortSignal.timeout(MAX_WAIT_MS);
    for (;;) {
      const list = this.list(sink);
      const index = list.findIndex(fits);
      if (index >= 0) {
        return list.splice(index, 1)[0] as FlowMessage;
      }
      await once(this.#events, 'message', { signal }).catch((error) => {
        const others = JSON.stringify(list).slice(0, 2000);
        throw new Error(`nothing that fits has reached "${sink}", only ${others}`, { cause: error });
      });
    }
  }
}

function connect(child: ChildProcess, url: string, userDir: string, log: () => string): NodeRed {
  const inbox = new Inbox();
  child.on('message', (message: { sink: string; msg: FlowMessage }) => inbox.add(message.sink, message.msg));
  const call = (method: string, path: string, body?: unknown) => callAdmin({ url, log }, method, path, body);
  const shutDown = async () => {
    const ended = child.exitCode !== null || child.signalCode !== null ? undefined : once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  return {
    url,
    process: child,
    userDir,
    log,
    call,
    deploy: async (nodes, type = 'full') => {
      if (type === 'full') {
        // All nodes begin anew: what one said before would be taken for what the next one of its name says.
        inbox.forget('statuses');
      }
      const flows = [{ id: 'tab', type: 'tab', label: 'test' }, ...[...WATCHERS, ...nodes].map(onTab)];
      const post = (body: unknown, kind: string) =>
        callAdmin({ url, log }, 'POST', 'flows', body, { 'Node-RED-Deployment-Type': kind });
      await post(flows, type);
      // Node-RED leaves all flows stopped and says nothing when it cannot remove a context that it is just writing to disk.
      const { runtime } = (await call('GET', 'diagnostics')) as { runtime: { flows: { started: boolean } } };
      if (!runtime.flows.started) {
        await post({}, 'reload');
      }
    },
    send: (to, msg) => child.send({ to, msg }),
    next: (name, fits = () => true) => inbox.take(name, fits),
    caught: async (node) =>
      (await inbox.take('caught', (msg) => sourceOf(msg.error) === node)).error as FlowMessage,
    status: async (node, fits) => {
      const isIt = (msg: FlowMessage) =>
        sourceOf(msg.status) === node && fits((msg.status ?? {}) as FlowMessage);
      return (await inbox.take('statuses', isIt)).status as FlowMessage;
    },
    waiting: (name) => inbox.list(name).length,
    kill: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    shutDown,
    stop: async () => {
      await shutDown();
      await rm(userDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Config nodes have no wires and lie on no tab. */
const onTab = (node: NodeConfig): NodeConfig =>
  node.wires === undefined ? node : { x: 0, y: 0, z: 'tab', ...node };

function sourceOf(part: unknown): unknown {
  return (part as { source?: { id?: unknown } } | undefined)?.source?.id;
}

async function callAdmin(
  { url, log }: Pick<NodeRed, 'url' | 'log'>,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<unknown> {
  const response = await fetch(`${url}/${path}`, {
    method,
    // A connection that Node-RED closes just when it is used again would fail the call.
    headers: { 'content-type': 'application/json', connection: 'close', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: Error) => {
    // The reporter shows no cause.
    throw new Error(`${method} ${path}: ${error.message} (${String(error.cause)})\n${log().slice(-MAX_LOG)}`);
  });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${method} ${path}: ${response.status} ${text}`);
  }
  return text === '' ? undefined : JSON.parse(text);
}
