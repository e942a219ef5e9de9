// Starts the demo: the service in a box, and Node-RED with this package and flows that show it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Service, startService } from '../../simulator/src/service.ts';
import { prepareFolder } from './folder.ts';
import { NodeRed } from './node-red.ts';
import { freePort } from './ports.ts';
import { watchSources } from './watch.ts';

const ROOT = join(__dirname, '..', '..');
const FOLDER = process.env.MT_DEMO_FOLDER ?? join(ROOT, '.demo');
/** The whole of stopping: Node-RED first, which gets most of it. */
const STOP_MS = 2800;
const LOGIN = { username: 'demo', password: 'demo-password' };

const HELP = `npm start -- [--fresh] [--watch] [--rate <reports per second>]

  --fresh   empties the working directory .demo first: flows, log, stored samples
  --watch   rebuilds and restarts when sources change (what npm run dev does)
  --rate    of the simulated gateways (8)
`;

interface Flags {
  fresh: boolean;
  watch: boolean;
  rate: number;
}

function readFlags(): Flags | undefined {
  const { values } = parseArgs({
    options: {
      fresh: { type: 'boolean', default: false },
      watch: { type: 'boolean', default: false },
      rate: { type: 'string', default: '8' },
      help: { type: 'boolean' },
    },
  });
  return values.help ? undefined : { ...values, rate: Number(values.rate) || 8 };
}

const openService = async (rate: number): Promise<Service> =>
  startService({
    ...LOGIN,
    restPort: await freePort(8080),
    mqttPort: await freePort(1883),
    rate,
    named: true,
    // A rule of a newcomer must not begin with a refusal.
    overhear: false,
    awayEvery: 120,
    historyLimit: 5_000,
    sampleLimit: 5_000,
  });

async function prepareNodeRed(service: Service, editorPort: number, fresh: boolean): Promise<NodeRed> {
  const packageName = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).name;
  await prepareFolder(FOLDER, { root: ROOT, packageName, fresh, login: LOGIN });
  const env = {
    MT_DEMO_EDITOR_PORT: String(editorPort),
    MT_DEMO_REST_URL: service.urls.base,
    MT_DEMO_BROKER_URL: service.urls.mqtt,
  };
  return new NodeRed({ root: ROOT, folder: FOLDER, env });
}

function introduce(service: Service, editorPort: number, nodeRed: NodeRed): string {
  const lines = [
    ['Editor', `http://127.0.0.1:${editorPort}/`],
    ['Dashboard', `http://127.0.0.1:${editorPort}/dashboard`],
    ['Broker', service.urls.mqtt],
    ['REST', `${service.urls.base}   (user ${LOGIN.username}, password ${LOGIN.password})`],
    ['Log', nodeRed.logFile],
  ];
  const rows = lines.map(([name = '', text = '']) => `  ${name.padEnd(10)} ${text}`);
  return `\nThe demo is running:\n${rows.join('\n')}\n\nStop it with Ctrl-C.\n`;
}

/** What is open, to be closed in order, last opened first. */
class Running {
  readonly #parts: (() => unknown)[] = [];
  #stopping = false;

  get stopping(): boolean {
    return this.#stopping;
  }

  add(close: () => unknown): void {
    this.#parts.unshift(close);
  }

  async stop(code: number): Promise<void> {
    if (this.#stopping) {
      return;
    }
    this.#stopping = true;
    const forced = setTimeout(() => process.exit(1), STOP_MS);
    try {
      for (const close of this.#parts) {
        await close();
      }
    } finally {
      clearTimeout(forced);
      process.exit(code);
    }
  }
}

async function run(flags: Flags, running: Running): Promise<void> {
  const service = await openService(flags.rate);
  running.add(() => service.close());
  const editorPort = await freePort(1880);
  const nodeRed = await prepareNodeRed(service, editorPort, flags.fresh);
  running.add(() => nodeRed.stop());
  nodeRed.onExit = (code) => {
    process.stderr.write(`Node-RED ended with code ${code}; its log: ${nodeRed.logFile}\n`);
    void running.stop(1);
  };
  await nodeRed.start();
  process.stdout.write(introduce(service, editorPort, nodeRed));
  if (!flags.watch) {
    return;
  }
  const rebuilt = async (): Promise<void> => {
    await nodeRed.restart();
    process.stdout.write('Restarted.\n');
  };
  running.add(watchSources(ROOT, rebuilt));
  process.stdout.write('Watching src, nodes and icons.\n');
}

function main(): void {
  const flags = readFlags();
  if (!flags) {
    process.stdout.write(HELP);
    return;
  }
  const running = new Running();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void running.stop(0));
  }
  run(flags, running).catch((error: Error) => {
    if (running.stopping) {
      return; // Stopped while it was starting.
    }
    process.stderr.write(`${error.message}\n`);
    void running.stop(1);
  });
}

main();
