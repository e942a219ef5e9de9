// The sample Store in PostgreSQL stores each report once, as it is, and loses none, whatever it holds and PostgreSQL does.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { VERSIONS } from '../e2e/node-red.ts';
import { type PostgreSql, requirePostgreSql, startPostgreSql } from '../postgresql.ts';
import { openTrouble, type Trouble } from './harm.ts';
import { deployTabs, listenTo, readSample, until } from './import.ts';
import { forInstalledNodes, type KeptRunning, keepRunning, POSTGRESQL_NODES } from './postgresql-node.ts';

const SAMPLE = 'database/Store in PostgreSQL';
const reports = 'sample-database-reports';
const POLL_MS = 100;

describe('the sample flow Store in PostgreSQL', function () {
  this.timeout(60_000);
  let trouble: Trouble;
  let postgres: PostgreSql;
  let running: KeptRunning | undefined;
  let device: string;
  let gateway: string;
  const password = process.env.PGPASSWORD;

  before(async function () {
    this.timeout(120_000);
    requirePostgreSql(this);
    postgres = await startPostgreSql();
    process.env.PGPASSWORD = postgres.password;
    trouble = await openTrouble(POSTGRESQL_NODES);
    running = keepRunning(VERSIONS[0]!, trouble.site);
    device = trouble.sensor.mac;
    gateway = trouble.sensor.home.mac;
  });
  beforeEach(async () => {
    await running?.started();
    await red().deploy([]);
    await postgres.execute('DROP TABLE IF EXISTS reports');
  });
  afterEach(async () => {
    trouble.recover();
    await postgres.start();
  });
  after(async () => {
    await running?.end();
    await trouble?.site.close();
    await postgres?.stop();
    process.env.PGPASSWORD = password ?? '';
  });

  const red = () => trouble.site.red;
  const time = (seconds: number) => new Date(Date.UTC(2026, 0, 31, 12) + seconds * 1000).toISOString();
  const measure = (seconds: number, value: unknown, name = 'temperature') =>
    trouble.report(`measurement-decoded/${name}`, { time: time(seconds), seq: seconds % 256, value });
  const columns = 'time, gateway, device, kind, property, payload, refused';
  const stored = () => postgres.query(`SELECT ${columns} FROM reports ORDER BY time, stored, key`);

  /** Asks PostgreSQL: Node-RED may end meanwhile. */
  async function storedCount(count: number): Promise<Record<string, unknown>[]> {
    for (;;) {
      const rows = await stored().catch(() => []);
      if (rows.length >= count) {
        return rows;
      }
      await wait(POLL_MS);
    }
  }
  const valuesOf = (rows: Record<string, unknown>[]) =>
    rows.map(({ payload }) => (payload as { value?: unknown } | null)?.value);

  /** The table is looked for, and what could not be stored comes again, after a second. */
  async function deploy(env: Record<string, string> = {}): Promise<void> {
    const flow = forInstalledNodes(await readSample(trouble.site, SAMPLE));
    const quick = flow.map((node) => ({
      ...node,
      ...(node.id === 'sample-database-ack' && { retryAfter: 1 }),
      ...(node.id === 'sample-database-start' && { repeat: '1' }),
    }));
    const taps = { 'sample-database-ack': 'acknowledged', 'sample-database-catch': 'errors' };
    const place = { PG_HOST: '127.0.0.1', PG_PORT: `${postgres.port}`, PG_USER: postgres.user };
    // What is left from before would be taken for an answer of this one.
    for (const sink of ['statuses', 'acknowledged', 'errors']) {
      while (red().waiting(sink) > 0) {
        await red().next(sink);
      }
    }
    await deployTabs(
      trouble.site,
      listenTo(quick, { env: { ...place, ...env }, service: { persistent: true }, taps }),
    );
    await trouble.ready(reports);
  }
  /** Waits for an error of one of the sample's nodes. */
  const fails = (pattern: RegExp) =>
    red().next('errors', ({ error }) => pattern.test(`${(error as { message?: unknown }).message}`));
  /** Waits until the broker was told that so many are stored. */
  async function acknowledged(count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      await red().next('acknowledged', ({ action }) => action !== 'again');
    }
  }
  /** Stops PostgreSQL while no flow has a connection open. */
  async function stopUnused(): Promise<void> {
    const others = "FROM pg_stat_activity WHERE datname IS NOT NULL AND application_name <> 'psql'";
    while ((await postgres.query(`SELECT count(*) AS open ${others}`))[0]?.open !== 0) {
      await wait(POLL_MS);
    }
    await postgres.shutDown();
  }

  it('stores time, gateway, device, kind and property of each kind, and all of the report', async () => {
    await deploy();
    await measure(1, 21.5);
    await trouble.report('measurement/8802', { time: time(2), seq: 2, value: '0239' });
    await trouble.report('property-decoded/alarm', { time: time(3), value: true });
    await trouble.report('timestamped/8800', { time: time(4), value: '0866', flags: '10' });
    await trouble.report('event/8113', { time: time(5), seq: 3 });
    await trouble.report('measurement-error/8800', { time: time(6), seq: 4, error: 2 });
    const rows = await storedCount(6);
    assert.deepEqual(
      rows.map((row) => [row.time, row.kind, row.property]),
      [
        [1, 'measurement', 'temperature'],
        [2, 'measurement', 'humidity'],
        [3, 'property', 'alarm'],
        [4, 'timestamped', 'temperature'],
        [5, 'event', 'watchdog-reset-event'],
        [6, 'measurement-error', 'temperature'],
      ].map(([seconds, ...rest]) => [time(Number(seconds)).replace('.000Z', '+00:00'), ...rest]),
    );
    assert.deepEqual(valuesOf(rows).slice(0, 4), [21.5, 56.9, true, 21.5]);
    assert.ok(rows.every((row) => row.gateway === gateway && row.device === device && row.refused === null));
    const { payload } = rows[5] as { payload: Record<string, unknown> };
    assert.deepEqual([payload.error, payload.seq, payload.identifier], [2, 4, '8800']);
  });

  it('stores a report once that comes twice, and a sample once that its device repeats', async () => {
    await deploy();
    for (let count = 0; count < 3; count++) {
      await measure(1, 20);
      const flags = count > 0 ? '11' : '10';
      await trouble.report('timestamped/8800', { time: time(2), value: '0866', flags, backfillCount: count });
    }
    await measure(3, 22);
    await acknowledged(7);
    assert.deepEqual(valuesOf(await stored()), [20, 21.5, 22]);
  });

  it('stores every text as it is, and takes none for a command', async () => {
    const texts = [
      "'); DROP TABLE reports; --",
      "' OR ''='",
      '$1 $8',
      '{{msg.report.device}}',
      '{{{msg.params}}}',
      'a "b" \\ \\u0041 \\',
      "E'\\'",
      'ü€😀\r\n\t',
      '',
    ];
    await deploy();
    for (const [index, text] of texts.entries()) {
      await measure(index, text, 'note');
    }
    const names = texts.filter(Boolean);
    for (const [index, name] of names.entries()) {
      await measure(100 + index, index, name.replaceAll(/[#+/]/g, '-'));
    }
    const rows = await storedCount(texts.length + names.length);
    assert.deepEqual(valuesOf(rows).slice(0, texts.length), texts);
    assert.deepEqual(
      rows.slice(texts.length).map(({ property }) => property),
      names.map((name) => name.replaceAll(/[#+/]/g, '-')),
    );
  });

  it('keeps as text what PostgreSQL refuses, says so, and stores what comes behind it', async () => {
    const refused = ['a\u0000b', '\ud800', { 'a\u0000': [1] }];
    await deploy();
    for (const [index, value] of refused.entries()) {
      await measure(index + 1, value, 'note');
    }
    await measure(9, 20);
    await fails(/unsupported Unicode escape|invalid input syntax/);
    await acknowledged(4);
    const rows = await stored();
    assert.deepEqual(valuesOf(rows.slice(0, 1)), [20]);
    const kept = rows.slice(1).map((row) => [row.payload, JSON.parse(String(row.refused)) as object]);
    const inOrder = kept.map(([payload, content]) => ({ payload, ...(content as { value: unknown }) }));
    assert.deepEqual(
      refused.map((value) =>
        inOrder.some((each) => each.payload === null && JSON.stringify(each.value) === JSON.stringify(value)),
      ),
      [true, true, true],
    );
    assert.ok(rows.every((row) => row.device === device && row.kind === 'measurement'));
  });

  it('stores a report whose time is none, without a time', async () => {
    await deploy();
    for (const text of ['yesterday', 'infinity', '']) {
      await trouble.report('measurement-decoded/temperature', { time: text, seq: 1, value: 20 });
    }
    const rows = await storedCount(3);
    assert.deepEqual(
      rows.map((row) => row.time),
      [null, null, null],
    );
    assert.deepEqual(rows.map(({ payload }) => (payload as { time: string }).time).sort(), [
      '',
      'infinity',
      'yesterday',
    ]);
  });

  it('acknowledges a sample to its device only when it is stored', async () => {
    const { samples } = trouble.site.service;
    await stopUnused();
    await deploy();
    await trouble.site.service.publishSamples(3);
    await fails(/ECONNREFUSED/);
    assert.equal(samples.counters.acknowledged, 0);
    await postgres.start();
    await until(trouble.site, 'acknowledged', () => samples.unacknowledgedCount === 0);
    assert.ok((await stored()).length > 0);
  });

  it('makes the table and stores what has waited when PostgreSQL was away at the start', async () => {
    await stopUnused();
    await deploy();
    await measure(1, 1);
    await measure(2, 2);
    await fails(/ECONNREFUSED/);
    await postgres.start();
    assert.deepEqual(valuesOf(await storedCount(2)), [1, 2]);
    await acknowledged(2);
  });

  it('stores everything, each once, that was reported while PostgreSQL was stopped', async () => {
    await deploy();
    await measure(1, 1);
    await storedCount(1);
    await postgres.shutDown();
    for (let index = 2; index <= 20; index++) {
      await measure(index, index);
    }
    await wait(1_500); // While it is away, however long it takes to notice.
    await postgres.start();
    await measure(21, 21);
    const all = Array.from({ length: 21 }, (_, index) => index + 1);
    assert.deepEqual(valuesOf(await storedCount(21)), all);
  });

  it('stores everything, each once, when somebody drops the table meanwhile', async () => {
    await deploy();
    await measure(1, 1);
    await storedCount(1);
    await postgres.execute('DROP TABLE reports');
    for (let index = 2; index <= 10; index++) {
      await measure(index, index);
    }
    assert.deepEqual(valuesOf(await storedCount(9)), [2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  for (const [what, env, pattern] of [
    ['PostgreSQL refuses the login', { PG_USER: 'nobody' }, /authentication failed/],
    ['there is no such database', { PG_DATABASE: 'missing' }, /"missing" does not exist/],
    ['nobody listens there', { PG_PORT: '1' }, /ECONNREFUSED/],
  ] as const) {
    it(`says so when ${what}, and keeps the reports until it is right`, async () => {
      await deploy(env);
      await measure(1, 20);
      await fails(pattern);
      await deploy();
      assert.deepEqual(valuesOf(await storedCount(1)), [20]);
    });
  }
});
