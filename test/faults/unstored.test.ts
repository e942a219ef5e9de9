// The store behind a flow fails, or the flow forgets reports, or can never store them: the broker keeps what is not stored.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type NodeConfig, type NodeRed, sink, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { isReady } from '../e2e/site.ts';
import { type InfluxDb, startInfluxDb } from '../influxdb.ts';
import { DURABLE, type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { everyKind, type Field, openField } from './field.ts';
import { record, times } from './table.ts';

const DATABASE = 'reports';
const REPORTS = times(300, 20_000);
const POISON = times(200, 10_000);
/** Reports per second. */
const RATE = 500;
const OUTAGE_MS = times(2_000, 60_000);
const POLL_MS = 100;

const NUMBER = 'const n = msg.report.n ?? msg.report.value.n;';

interface Options {
  /** The body of a function node, which may drop what it gets. */
  before?: string;
  /** Nodes that store, in place of InfluxDB; the first of them gets the reports, and "stored" what they have stored. */
  store?: NodeConfig[];
  reports?: Record<string, unknown>;
}

describe('reports that a flow cannot store', function () {
  this.timeout(times(120_000, 0));
  let mosquitto: Mosquitto;
  let influx: InfluxDb;
  let field: Field;
  let red: NodeRed;
  let folder: string;

  before(async function () {
    requirePrograms(this, 'mosquitto', 'influxd');
    folder = await mkdtemp(join(tmpdir(), 'mt-unstored-'));
    mosquitto = await startMosquitto([...DURABLE, 'max_inflight_messages 0']);
    influx = await startInfluxDb();
    field = await openField(mosquitto.url, 1, everyKind);
    red = await startNodeRed(VERSIONS[0]!);
  });
  after(async () => {
    await red?.stop();
    await field?.close();
    await influx?.stop();
    await mosquitto?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** InfluxDB knows a report again by its time, so that what comes twice is in it once. */
  const inInflux = (): NodeConfig[] => [
    {
      ...{ id: 'line', type: 'function', outputs: 1, wires: [['write']] },
      func: `${NUMBER} return { ...msg, payload: 'reports n=' + n + 'i ' + (n + 1), requestTimeout: 2000 };`,
    },
    {
      ...{
        id: 'write',
        type: 'http request',
        method: 'POST',
        ret: 'txt',
        senderr: true,
        wires: [['written']],
      },
      url: `${influx.url}/write?db=${DATABASE}&precision=ms`,
    },
    {
      // A message goes on whatever the database has answered.
      ...{ id: 'written', type: 'function', outputs: 1, wires: [['stored']] },
      func: 'if (msg.statusCode === 204) { return msg; } node.error(`not written: ${msg.statusCode}`, msg);',
    },
  ];

  async function deploy({ before = 'return msg;', store = inInflux(), reports = {} }: Options = {}) {
    await influx.create(DATABASE);
    const service = { persistent: true, clientId: 'mt-unstored', keepalive: 5 };
    await red.deploy([
      { id: 'service', type: 'mt-service', brokerUrl: mosquitto.url, ...service },
      {
        ...{ id: 'reports', type: 'mt-report-in', service: 'service', confirm: 'acknowledged' },
        ...{ redeliverMost: 0, ...reports, wires: [['before']] },
      },
      { id: 'before', type: 'function', outputs: 1, func: before, wires: [[store[0]!.id]] },
      ...store,
      {
        ...{ id: 'stored', type: 'mt-timestamped-ack', service: 'service', action: 'msg', retryAfter: 1 },
        wires: [[]],
      },
      { id: 'failed', type: 'catch', scope: store.map(({ id }) => id), wires: [['again']] },
      {
        ...{ id: 'again', type: 'change', wires: [['stored']] },
        rules: [{ t: 'set', p: 'action', pt: 'msg', to: 'again', tot: 'str' }],
      },
      { id: 'poisoned', type: 'catch', scope: ['reports'], wires: [['poison']] },
      sink('poison'),
    ]);
    await red.status('reports', isReady);
  }

  /** Publishes so many reports, or a few more. @returns numbers of the first one and behind the last */
  async function publish(count: number): Promise<[first: number, end: number]> {
    // Statuses of before would be taken for later ones.
    while (red.waiting('statuses') > 0) {
      await red.next('statuses');
    }
    const first = field.sent;
    field.setRate(RATE);
    while (field.sent < first + count) {
      await wait(20);
    }
    field.setRate(0);
    await field.settled();
    return [first, field.sent];
  }

  const unstored = () => red.status('reports', ({ text }) => /not stored/.test(`${text}`));
  /** Nothing is open any more: the status says so twice a second. */
  const noneOpen = () => red.status('reports', ({ text }) => text === 'connected');

  async function inDatabase([first, end]: readonly [number, number]): Promise<number> {
    const from = `time > ${first}ms AND time <= ${end}ms`;
    const rows = await influx.query(DATABASE, `SELECT COUNT(n) FROM reports WHERE ${from}`);
    return Number(rows[0]?.count ?? 0);
  }

  async function untilStored(fault: string, numbers: readonly [number, number]): Promise<void> {
    const sent = numbers[1] - numbers[0];
    while ((await inDatabase(numbers)) < sent) {
      await wait(POLL_MS);
    }
    record({ fault, times: 1, reports: { sent, arrived: sent, lost: 0, duplicated: 0 } });
  }

  it('because the database is stopped are stored when it is back', async () => {
    await deploy();
    await influx.kill();
    const numbers = await publish(REPORTS);
    await unstored();
    await wait(OUTAGE_MS);
    await influx.start();
    await untilStored('database stopped, flow stores and then confirms', numbers);
    await noneOpen();
  });

  it('because the database does not answer are stored when it does again', async () => {
    await deploy();
    influx.freeze();
    const numbers = await publish(REPORTS);
    await unstored();
    await wait(OUTAGE_MS);
    influx.thaw();
    await untilStored('database frozen, flow stores and then confirms', numbers);
    await noneOpen();
  });

  it('while the database is stopped are stored also when the broker is restarted meanwhile', async () => {
    await deploy();
    await influx.kill();
    const numbers = await publish(REPORTS);
    await unstored();
    await mosquitto.shutDown();
    await red.status('reports', ({ text }) => /^waiting/.test(`${text}`));
    await mosquitto.start();
    await unstored();
    await influx.start();
    await untilStored('database stopped, broker restarted meanwhile', numbers);
    await noneOpen();
  });

  it('because the database is full are stored when it has room again', async () => {
    const file = JSON.stringify(join(folder, 'full.sqlite'));
    await deploy({
      store: [
        {
          ...{ id: 'insert', type: 'function', outputs: 1, wires: [['stored']] },
          libs: [{ var: 'modules', module: 'module' }],
          initialize: `const { DatabaseSync } = modules.createRequire('/')('node:sqlite');
const database = new DatabaseSync(${file});
database.exec('CREATE TABLE reports (n INTEGER PRIMARY KEY, content TEXT); PRAGMA max_page_count = 4');
context.set('database', database);
global.get('inbox').on('room', () => {
  const { pages } = database.prepare('SELECT count(*) AS pages FROM reports').get();
  database.exec('PRAGMA max_page_count = 100000');
  global.get('outbox')('room', { stored: pages });
});
global.get('inbox').on('count', () =>
  global.get('outbox')('count', database.prepare('SELECT count(*) AS stored FROM reports').get()));`,
          finalize: `global.get('inbox').removeAllListeners('room'); global.get('inbox').removeAllListeners('count');`,
          func: `${NUMBER}
context.get('database').prepare('INSERT OR REPLACE INTO reports VALUES (?, ?)').run(n, 'x'.repeat(100));
return msg;`,
        },
      ],
    });
    const [first, end] = await publish(REPORTS);
    await unstored();
    red.send('room', {});
    const { stored } = await red.next('room');
    assert.ok((stored as number) < end - first);
    const count = async () => {
      red.send('count', {});
      return (await red.next('count')).stored;
    };
    while ((await count()) !== end - first) {
      await wait(POLL_MS);
    }
    await noneOpen();
    const sent = end - first;
    const reports = { sent, arrived: sent, lost: 0, duplicated: 0 };
    record({ fault: 'database full, flow stores and then confirms', times: 1, reports });
  });

  it('because it forgets one in a hundred come again, and are stored', async () => {
    await deploy({
      before: `${NUMBER} return n % 100 === 0 && !msg.report.redelivered ? null : msg;`,
      reports: { confirmTimeout: 1 },
    });
    const numbers = await publish(REPORTS);
    await untilStored('flow forgets one report in a hundred', numbers);
    await noneOpen();
  });

  it('ever are given to Catch nodes with all that was received, and then the broker is told', async () => {
    await deploy({ before: 'return null;', reports: { confirmTimeout: 1, redeliverMost: 1 } });
    const [first, end] = await publish(POISON);
    const seen = new Set<number>();
    while (seen.size < end - first) {
      const { topic, payload } = await red.next('poison');
      const { n } = JSON.parse(`${payload}`) as { n: number };
      assert.equal(topic, everyKind(n).topic);
      assert.equal(payload, everyKind(n).payload);
      seen.add(n);
    }
    await noneOpen();
    // Nothing stands before the next ones, and none of the others comes again.
    await deploy();
    assert.equal(red.waiting('poison'), 0);
    await untilStored('behind poison', await publish(100));
    assert.equal(await inDatabase([first, end]), 0);
    const reports = { sent: seen.size, arrived: seen.size, lost: 0, duplicated: 0 };
    record({ fault: 'reports that can never be stored', times: 1, reports });
  });
});
