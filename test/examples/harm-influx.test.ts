// The sample Store in InfluxDB loses no report, whatever InfluxDB says and whenever it stops, and writes each in its place.
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type InfluxDb, startInfluxDb } from '../influxdb.ts';
import { requirePrograms } from '../requirements.ts';
import { openTrouble, type Trouble } from './harm.ts';
import { deployTabs, listenTo, readSample, until } from './import.ts';

const SAMPLE = 'Store in InfluxDB';
const DATABASE = 'mt_gateway';
const reports = 'sample-influx-reports';

describe('the sample flow Store in InfluxDB', () => {
  let trouble: Trouble;
  let influx: InfluxDb;
  let device: string;
  let gateway: string;

  before(async function () {
    this.timeout(120_000);
    requirePrograms(this, 'influxd');
    influx = await startInfluxDb();
    trouble = await openTrouble();
    device = trouble.sensor.mac;
    gateway = trouble.sensor.home.mac;
  });
  beforeEach(() => influx.create(DATABASE));
  afterEach(() => trouble.recover());
  after(async () => {
    await trouble?.site.close();
    await influx?.stop();
  });

  const red = () => trouble.site.red;
  const time = (seconds: number) => new Date(Date.UTC(2026, 0, 31, 12) + seconds * 1000).toISOString();
  const measure = (seconds: number, value: unknown, name = 'temperature') =>
    trouble.report(`measurement-decoded/${name}`, { time: time(seconds), seq: seconds % 256, value });
  const stored = () => influx.query(DATABASE, 'SELECT * FROM mt_gateway');
  /** Waits until so many points are stored. */
  async function storedCount(count: number): Promise<Record<string, unknown>[]> {
    let rows = await stored();
    while (rows.length < count) {
      await red().status('sample-influx-done', ({ text }) => / lines$/.test(`${text}`));
      rows = await stored();
    }
    return rows;
  }

  /** What could not be stored comes again after a second. */
  async function deploy(env: Record<string, string> = {}, isFresh = true): Promise<void> {
    if (isFresh) {
      await red().deploy([]);
    }
    const flow = await readSample(trouble.site, SAMPLE);
    const quick = flow.map((node) => {
      if (node.id === 'sample-influx-ack') {
        return { ...node, retryAfter: 1 };
      }
      // Long enough for a status to say that reports are open, after which it says that none is.
      return node.type === 'join' ? { ...node, timeout: '2' } : node;
    });
    const address = { INFLUX_WRITE_URL: `${influx.url}/write?db=${DATABASE}` };
    const taps = { 'sample-influx-write': 'answers', 'sample-influx-stored': 'told' };
    await deployTabs(
      trouble.site,
      listenTo(quick, { env: { ...address, ...env }, service: { persistent: true }, taps }),
    );
    await trouble.ready(reports);
    for (const heard of Object.values(taps)) {
      while (red().waiting(heard) > 0) {
        await red().next(heard);
      }
    }
  }
  const notStored = (pattern: RegExp) =>
    red().status('sample-influx-failed', ({ text }) => pattern.test(`${text}`));

  it('writes numbers, truth values and texts with device, gateway, property and the time of the report', async () => {
    await deploy();
    await measure(1, 21.5);
    await trouble.report('measurement/8802', { time: time(2), seq: 2, value: '0239' });
    await trouble.report('property-decoded/alarm', { time: time(3), value: true });
    await trouble.report('property-decoded/firmware-version', { time: time(4), value: '3.4.1' });
    await measure(5, 1e-7);
    const of = (seconds: number, property: string, values: object) => ({
      ...{ time: Date.parse(time(seconds)), device, gateway, property },
      ...{ state: null, text: null, value: null, ...values },
    });
    assert.deepEqual(await storedCount(5), [
      of(1, 'temperature', { value: 21.5 }),
      of(2, 'humidity', { value: 56.9 }),
      of(3, 'alarm', { state: true }),
      of(4, 'firmware-version', { text: '3.4.1' }),
      of(5, 'temperature', { value: 1e-7 }),
    ]);
  });

  it('keeps every character of texts, and lets no name or text write a line of its own', async () => {
    const texts = ['a "b" \\', '\\', '"', 'x\nmt_gateway value=1', ',= ', 'ü€😀', '', 'x\\"'];
    const names = ['a b', 'a,b=c', 'a=b', 'a\\', '"', "'", 'a\\ b', 'Größe'];
    await deploy();
    for (const [index, value] of texts.entries()) {
      await measure(index, value, 'note');
    }
    for (const [index, name] of names.entries()) {
      await measure(100 + index, index, encodeURIComponent(name));
    }
    const rows = await storedCount(texts.length + names.length);
    assert.deepEqual(
      rows.slice(0, texts.length).map(({ text }) => text),
      texts,
    );
    assert.ok(rows.every((row) => row.device === device && row.gateway === gateway));
  });

  it('writes many reports with few calls', async () => {
    await deploy();
    const start = randomInt(1000);
    await Promise.all(Array.from({ length: 1200 }, (_, index) => measure(start + index, index)));
    const rows = await storedCount(1200);
    assert.deepEqual(
      rows.map(({ value }) => value).sort((one, other) => Number(one) - Number(other)),
      [...Array(1200).keys()],
    );
    let calls = 0;
    for (let lines = 0; lines < 1200; calls++) {
      lines += Number((await red().next('answers')).lines);
    }
    assert.ok(calls <= 100, `${calls} calls`);
  });

  it('writes nothing for a value that is not known, and asks for none of these reports again', async () => {
    await deploy();
    await measure(1, null);
    await trouble.report('property-decoded/battery-level', { time: time(2) });
    await trouble.report('property/9999', { time: time(3), value: null });
    await trouble.report('property/8100', { time: time(3), value: 'ff' });
    await measure(4, 20);
    await storedCount(1);
    await red().status(reports, ({ text }) => text === 'connected');
    assert.equal((await stored()).length, 1);
  });

  it('writes that there was an event where that has no value', async () => {
    await deploy();
    await trouble.report('event/8003', { time: time(1) });
    await trouble.report('event-decoded/button', { time: time(2), value: null });
    const rows = await storedCount(2);
    assert.deepEqual(
      rows.map(({ occurred, value = null, text = null }) => [occurred, value, text]),
      [
        [true, null, null],
        [true, null, null],
      ],
    );
  });

  it('acknowledges a sample to its device only when it is stored', async () => {
    const { samples } = trouble.site.service;
    await deploy({ INFLUX_WRITE_URL: `${influx.url}/write?db=missing` });
    await trouble.site.service.publishSamples(3);
    await notStored(/^404/);
    assert.equal(samples.counters.acknowledged, 0);
    await deploy({}, false);
    await until(trouble.site, 'acknowledged', () => samples.unacknowledgedCount === 0);
    assert.ok((await stored()).length > 0);
  });

  it('stores everything, each once, that was reported while InfluxDB was killed, and a deploy came between', async function () {
    this.timeout(90_000);
    await deploy();
    await measure(1, 1);
    await storedCount(1);
    await influx.kill();
    for (let index = 2; index <= 20; index++) {
      await measure(index, index);
    }
    await notStored(/ECONNREFUSED/);
    await deploy({}, false);
    await measure(21, 21);
    await notStored(/ECONNREFUSED/);
    await influx.start();
    const rows = await storedCount(21);
    assert.deepEqual(
      rows.map(({ value }) => value),
      Array.from({ length: 21 }, (_, index) => index + 1),
    );
    await red().status(reports, ({ text }) => text === 'connected');
  });

  it('writes the rest of a batch when InfluxDB refuses one report for good, says so, and does not ask for it again', async () => {
    await deploy();
    await fetch(`${influx.url}/write?db=${DATABASE}&precision=ms`, {
      method: 'POST',
      body: `mt_gateway text=1 ${Date.parse(time(0))}`,
    });
    await measure(1, 'a text, where a number stands already');
    await measure(2, 20);
    await notStored(/^400.*partial write/);
    await measure(3, 21);
    const rows = await storedCount(3);
    assert.deepEqual(
      rows.map(({ value }) => value),
      [null, 20, 21],
    );
    await red().status(reports, ({ text }) => text === 'connected');
  });

  it('writes a report with a time that InfluxDB cannot hold at the time of this machine, and the others beside it', async () => {
    await deploy();
    const begin = Date.now();
    for (const [seq, at] of ['1600-01-01T00:00:00Z', '2500-01-01T00:00:00Z'].entries()) {
      await trouble.report('measurement-decoded/temperature', { time: at, seq, value: seq });
    }
    await measure(1, 20);
    const rows = await storedCount(3);
    assert.equal(rows[0]?.value, 20);
    assert.ok(
      rows.slice(1).every((row) => Number(row.time) >= begin),
      JSON.stringify(rows),
    );
  });

  it('writes the others of a batch where InfluxDB writes none because of one line, and tells of that one', async () => {
    const written: string[] = [];
    const server = createServer(async (request, response) => {
      const lines = (await request.setEncoding('utf8').toArray()).join('').split('\n');
      const wrong = lines.find((line) => line.includes('wrong'));
      if (wrong === undefined) {
        written.push(...lines);
        response.writeHead(204).end();
      } else {
        response.writeHead(400).end(invalid(`unable to parse '${wrong}': bad`));
      }
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      await deploy({ INFLUX_WRITE_URL: `http://127.0.0.1:${port}/api/v2/write` });
      await Promise.all(
        Array.from({ length: 50 }, (_, index) => measure(index, index === 33 ? 'wrong' : index)),
      );
      const told = await red().next('told', ({ payload }) => payload === '1 reports are refused');
      assert.match((told.error as Error).message, /^400: .*text=.*wrong/);
      await red().status(reports, ({ text }) => text === 'connected');
      while (written.length < 49) {
        await once(server, 'request');
      }
      assert.equal(new Set(written).size, 49);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  const invalid = (message: string) => JSON.stringify({ code: 'invalid', message });
  for (const [what, status, body, becomes] of [
    ['InfluxDB 2 without an organisation', 400, invalid('Please provide either orgID or org'), 'come again'],
    ['a proxy', 400, '<title>400 The plain HTTP request was sent to HTTPS port</title>', 'come again'],
    ['InfluxDB 1, or a proxy that cuts', 400, '{"error":"unexpected EOF"}', 'come again'],
    ['InfluxDB 2 about a line', 400, invalid("unable to parse 'x y z': bad timestamp"), 'are refused'],
    [
      'InfluxDB 2 about a type',
      422,
      invalid('failure writing points: partial write: dropped=1'),
      'are refused',
    ],
    ['InfluxDB Cloud about a line', 400, invalid('failed to parse line protocol: line 1'), 'are refused'],
    ['InfluxDB 3', 400, '{"error":"partial write of line protocol occurred","data":[]}', 'are refused'],
    ['InfluxDB 3 about a line', 400, '{"error":"parsing failed for write_lp endpoint"}', 'are refused'],
  ] as const) {
    it(`tells that reports ${becomes} when ${what} says ${status}`, async () => {
      const server = createServer((request, response) => {
        request.resume().on('end', () => response.writeHead(status).end(body));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      try {
        await deploy({ INFLUX_WRITE_URL: `http://127.0.0.1:${port}/api/v2/write` });
        await measure(1, 20);
        const told = await red().next('told', ({ payload }) => / reports /.test(`${payload}`));
        assert.equal(told.payload, `1 reports ${becomes}`);
        if (becomes === 'are refused') {
          await red().status(reports, ({ text }) => text === 'connected');
        } else {
          await deploy({}, false);
          assert.equal((await storedCount(1))[0]?.value, 20);
        }
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  }

  for (const [what, env, pattern] of [
    ['its address is empty', { INFLUX_WRITE_URL: '' }, /^not sent: INFLUX_WRITE_URL/],
    ['its address is none', { INFLUX_WRITE_URL: 'localhost:8086' }, /^not sent: INFLUX_WRITE_URL/],
    ['nobody listens there', { INFLUX_WRITE_URL: 'http://127.0.0.1:1/write?db=x' }, /^ECONNREFUSED/],
    ['it names no database', { path: '/write' }, /^400.*database/],
  ] as const) {
    it(`says so when ${what}, and keeps the reports until it is right`, async () => {
      await deploy('path' in env ? { INFLUX_WRITE_URL: influx.url + env.path } : env);
      await measure(1, 20);
      await notStored(pattern);
      await deploy({}, false);
      assert.equal((await storedCount(1))[0]?.value, 20);
    });
  }
});
