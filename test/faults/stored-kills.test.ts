// Node-RED is killed at random moments while flows store what comes: whatever was published is in both stores.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { isReady } from '../e2e/site.ts';
import { limit } from '../limits.ts';
import { DURABLE, type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { findRabbitMq, startRabbitMq } from '../rabbitmq.ts';
import { requirePrograms } from '../requirements.ts';
import { everyKind, type Field, MAX_UNACKNOWLEDGED_QOS_2, openField } from './field.ts';
import { isLong, kills, record } from './table.ts';
import { type Stored, TwoStores } from './two-stores.ts';

/** Reports per second. */
const RATE = 500;
/** The moment of the kill is random: it falls while Node-RED connects, into what the broker kept, or into the traffic. */
const MAX_LIFE_MS = 1_500;
/** Behind that, what comes has to wait until a life has stored what the broker kept. */
const MAX_BEHIND = 2_000;
const PROGRESS_KILLS = 20;

/** Of Node-RED's own nodes: they would take most of the time of a start. */
const NOT_NEEDED = [
  ...['06-httpproxy.js', '10-mqtt.js', '21-httpin.js', '21-httprequest.js', '22-websocket.js', '31-tcpin.js'],
  ...[
    '32-udp.js',
    '70-CSV.js',
    '70-HTML.js',
    '70-JSON.js',
    '70-XML.js',
    '70-YAML.js',
    '23-watch.js',
    '90-exec.js',
  ],
];

interface Subject {
  program?: string;
  start(): Promise<Pick<Mosquitto, 'url' | 'stop'>>;
  /** As many reports as the broker sends without an acknowledgement: no more can come twice for each kill. */
  inFlight?: number;
  kills: number;
  /** Of the reports; 1 by default. */
  qos?: 1 | 2;
  /** Of the service. */
  settings?: object;
}

const BROKERS: Record<string, Subject> = {
  Mosquitto: {
    program: 'mosquitto',
    // Not `inFlight`: 2.0.11 sends further ones while it is acknowledged some.
    start: () => startMosquitto([...DURABLE, 'max_inflight_messages 100']),
    kills: kills(3, 500),
  },
  'Mosquitto, QoS 2 over MQTT 5': {
    program: 'mosquitto',
    start: () => startMosquitto([...DURABLE, `max_inflight_messages ${MAX_UNACKNOWLEDGED_QOS_2}`]),
    kills: kills(2, 250),
    qos: 2,
    settings: { reportQos: 2, protocolVersion: 5 },
  },
  // Its tests need it where it is installed.
  ...(findRabbitMq() && { RabbitMQ: { start: startRabbitMq, inFlight: 10, kills: kills(1, 500) } }),
};

for (const [name, subject] of Object.entries(BROKERS)) {
  describe(`reports that a flow stores in a database and in a file (${name})`, function () {
    this.timeout(0);
    let folder: string;
    let stores: TwoStores;
    let broker: Pick<Mosquitto, 'url' | 'stop'>;
    let field: Field;
    let red: NodeRed;
    let settings: Record<string, unknown>;
    const compileCache = process.env.NODE_COMPILE_CACHE;

    before(async function () {
      requirePrograms(this, ...(subject.program ? [subject.program] : []));
      folder = await mkdtemp(join(tmpdir(), 'mt-stored-'));
      // A thousand starts: with it they take half the time.
      process.env.NODE_COMPILE_CACHE = join(folder, 'compiled');
      settings = { disableEditor: true, nodesExcludes: NOT_NEEDED };
      stores = new TwoStores(folder);
      await stores.create();
      broker = await subject.start();
      field = await openField(broker.url, subject.qos, everyKind);
      red = await startNodeRed(VERSIONS[0]!, settings);
      await red.deploy(stores.nodes(broker.url, subject.settings));
      await red.status('reports', isReady);
      // Only a process that ends writes what it has compiled.
      await red.shutDown();
      red = await startNodeRed(VERSIONS[0]!, settings, [], red);
    });
    after(async () => {
      await red?.stop();
      await field?.close();
      await broker?.stop();
      await rm(folder, { recursive: true, force: true });
      process.env.NODE_COMPILE_CACHE = compileCache ?? '';
    });

    it('are all in both, wherever kills of Node-RED fall, and only what was open is there twice', async () => {
      let livesForNothing = 0;
      for (let kill = 1, before = 0; kill <= subject.kills; kill++) {
        const { size } = await stores.appended();
        livesForNothing = size > before ? 0 : livesForNothing + 1;
        before = size;
        field.setRate(field.sent - size < MAX_BEHIND ? RATE : 0);
        // A slow machine has not stored anything by then: without a longer life it never would.
        await wait(Math.random() * MAX_LIFE_MS * (1 + livesForNothing));
        await red.kill();
        red = await startNodeRed(VERSIONS[0]!, settings, [], red);
        if (isLong && kill % PROGRESS_KILLS === 0) {
          console.log(`${name}: ${kill} kills, ${field.sent} reports sent, ${size} in the file`);
        }
      }
      field.setRate(0);
      await field.settled();
      await complete(() => stores.inserted(), field.sent);
      await complete(() => stores.appended(), field.sent);
      for (const [store, stored] of [
        ['SQLite', await stores.inserted()],
        ['a file', await stores.appended()],
      ] as const) {
        const reports = countOf(stored, field.sent);
        const fault = `Node-RED killed (SIGKILL), flow stores in ${store}, ${name}`;
        record({ fault, times: subject.kills, reports });
        if (isLong) {
          console.log(fault, subject.kills, reports);
        }
        assert.equal(reports.lost, 0);
        const { inFlight = Number.POSITIVE_INFINITY } = subject;
        assert.ok(reports.duplicated <= subject.kills * inFlight, `${reports.duplicated} twice`);
      }
    });
  });
}

/** Nothing comes any more when nothing has come for so long; beside other work a start alone takes ten seconds. */
const PATIENCE_MS = limit(60_000);

/** Waits until all are there, or no further ones come. */
async function complete(read: () => Promise<Stored>, sent: number): Promise<void> {
  for (let before = -1, since = performance.now(); performance.now() - since < PATIENCE_MS; await wait(200)) {
    const { size } = await read();
    if (size === sent) {
      return;
    }
    if (size !== before) {
      before = size;
      since = performance.now();
    }
  }
}

function countOf(stored: Stored, sent: number) {
  const numbers = Array.from({ length: sent }, (_, n) => n);
  const arrived = numbers.filter((n) => stored.has(n)).length;
  const written = [...stored.values()].reduce((sum, count) => sum + count, 0);
  return { sent, arrived, lost: sent - arrived, duplicated: written - stored.size };
}
