import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { connectAsync, type MqttClient } from 'mqtt';
import type { ServiceError } from '../src/errors.ts';
import type { Report } from '../src/protocol/reports/index.ts';
import type { Session } from '../src/session.ts';
import { BROKERS, type Broker } from './brokers.ts';
import { ALL, Collector, openSession, reached } from './session.ts';

const G = 'c0141f68fc3d';
const G2 = 'c0141f68fc3e';
const D = 'd00000000001';
const D2 = 'd00000000002';
const TIME = '2026-01-01T00:00:00.000Z';

interface Request {
  topic: string;
  id: string;
  [field: string]: unknown;
}

for (const [name, start] of Object.entries(BROKERS)) {
  describe(`a session at ${name}`, () => {
    let broker: Broker;
    let peer: MqttClient;
    let session: Session;
    const signal = new AbortController().signal;

    before(async function () {
      broker = await start(this);
    });
    after(() => broker?.stop());
    beforeEach(async () => {
      peer = await connectPeer();
    });
    afterEach(async () => {
      await session?.close();
      await peer.endAsync(true);
    });

    async function connectPeer(): Promise<MqttClient> {
      const client = await connectAsync(broker.url);
      (client.stream as Socket).setNoDelay(true);
      return client;
    }

    const report = (suffix: string, body: unknown, gateway = G, device = D) =>
      peer.publishAsync(
        `mt/gateway/${gateway}/device/${device}/${suffix}`,
        typeof body === 'string' ? body : JSON.stringify(body),
        { qos: 1 },
      );

    /** Answers requests as the handler says; undefined: no response. */
    async function answer(handler: (request: Request) => Record<string, unknown> | string | undefined) {
      peer.on('message', (topic, payload) => {
        const body = handler({ topic, ...JSON.parse(payload.toString()) });
        if (body === undefined) {
          return;
        }
        const text = typeof body === 'string' ? body : JSON.stringify({ time: TIME, status: 0, ...body });
        peer.publish(topic.replace('/request/', '/response/'), text, { qos: 1 });
      });
      await peer.subscribeAsync('mt/gateway/+/request/#', { qos: 1 });
    }

    const rejects = (promise: Promise<unknown>, code: string, cause?: Record<string, unknown>) =>
      assert.rejects(promise, (error: ServiceError) => {
        assert.equal(error.code, code);
        if (cause) {
          assert.deepEqual({ ...error.cause }, { ...error.cause, ...cause });
        }
        return true;
      });

    /** Reports can be sent once this session's subscription stands. */
    async function listening(collector: Collector, filter = ALL): Promise<void> {
      session.subscribe(filter, collector);
      await reached(session, 'connected');
      await settled();
    }

    /** A request's answer arrives after every subscription that was asked for before. */
    async function settled(): Promise<void> {
      await answer(({ id }) => ({ id, version: '2.4.0' }));
      await session.request('apiversion', { gateway: G }, { signal });
      peer.removeAllListeners('message');
    }

    it('gives each subscriber its own copy of the reports it wants, once', async () => {
      session = openSession(broker.url);
      const [all, one, other] = [new Collector(), new Collector(), new Collector()];
      session.subscribe({ ...ALL, kinds: ['heartbeat'] }, all);
      session.subscribe({ ...ALL, devices: [D] }, one);
      session.subscribe({ ...ALL, devices: ['D0:00:00:00:00:02'] }, other);
      await reached(session, 'connected');
      await settled();
      await report('heartbeat', { time: TIME, seq: '7', status: 0 });
      await report('measurement/8800', { time: TIME, seq: 8, value: '1234' });
      await report('heartbeat', { time: TIME, seq: 9, status: 0 }, G, D2);
      await Promise.all([all, one, other].map((it) => it.until(({ reports }) => reports.length >= 1)));
      await all.until(({ reports }) => reports.length === 2);
      await one.until(({ reports }) => reports.length === 2);
      assert.deepEqual(
        all.reports.map(({ seq }) => seq),
        [7, 9],
      );
      assert.deepEqual(
        one.reports.map(({ kind }) => kind),
        ['heartbeat', 'measurement'],
      );
      assert.equal(one.reports[1]?.value, 46.6);
      assert.deepEqual(
        other.reports.map(({ seq }) => seq),
        [9],
      );
      assert.notEqual(all.reports[0], one.reports[0]);
    });

    it('gives reports to those that only read them before any flow can change them, and a changed one to nobody else', async () => {
      session = openSession(broker.url);
      const read: string[] = [];
      const [last, ext] = [new Collector(), { limit: 5 }];
      const change = (report: Report) => {
        (report.ext as typeof ext).limit = 99;
        report.value = 'changed';
      };
      session.subscribe(ALL, { report: change, error() {} });
      for (const decode of [true, false, true]) {
        const reads = (report: Report) => read.push(JSON.stringify(report));
        session.subscribe({ ...ALL, decode }, { readsOnly: true, report: reads, error() {} });
        session.subscribe({ ...ALL, decode }, { report: change, error() {} });
      }
      session.subscribe(ALL, last);
      await reached(session, 'connected');
      await report('measurement-decoded/temperature', { time: TIME, seq: 1, value: 21, ext });
      await last.until(({ reports }) => reports.length === 1);
      const expected = { value: 21, ext };
      for (const text of [...read, JSON.stringify(last.reports[0])]) {
        const { value, ext } = JSON.parse(text);
        assert.deepEqual({ value, ext }, expected);
      }
      assert.equal(read.length, 3);
    });

    it('goes on giving reports to the others when one receiver throws', async () => {
      session = openSession(broker.url);
      const collector = new Collector();
      session.subscribe(ALL, {
        report() {
          throw new Error('not my day');
        },
        error() {},
      });
      await listening(collector);
      await report('heartbeat', { time: TIME, seq: 1 });
      await report('heartbeat', { time: TIME, seq: 2 });
      await collector.until(({ reports }) => reports.length === 2);
    });

    it('tells the subscribers of a topic about a report that cannot be read, with what was received', async () => {
      session = openSession(broker.url);
      const [wanting, other] = [new Collector(), new Collector()];
      session.subscribe({ ...ALL, kinds: ['rssi'] }, other);
      await listening(wanting);
      await report('heartbeat', 'no JSON');
      await report('heartbeat', { seq: 1 });
      await report('heartbeat', { time: TIME, seq: 256 });
      await report('heartbeat', { time: TIME }, 'zz');
      await wanting.until(({ errors }) => errors.length === 4);
      assert.deepEqual(
        wanting.errors.map(({ code, payload }) => [code, payload]),
        [
          ['BAD_REPORT', 'no JSON'],
          ['BAD_REPORT', { seq: 1 }],
          ['BAD_REPORT', { time: TIME, seq: 256 }],
          ['BAD_REPORT', { time: TIME }],
        ],
      );
      assert.equal(other.errors.length, 0);
    });

    it('parses no report that is larger than any is, and shows its beginning', async () => {
      session = openSession(broker.url);
      const wanting = new Collector();
      await listening(wanting);
      const rest = JSON.stringify({ time: TIME, seq: 1, more: '' });
      const withBytes = (bytes: number) => rest.replace('""', `"${'x'.repeat(bytes - rest.length)}"`);
      await report('heartbeat', withBytes(1_048_577));
      await report('heartbeat', withBytes(1_048_576));
      await wanting.until(({ reports }) => reports.length === 1);
      assert.deepEqual(
        wanting.errors.map(({ code, payload }) => [code, payload]),
        [['BAD_REPORT', withBytes(1_048_577).slice(0, 1_000)]],
      );
    });

    it('drops the same report when it comes through a second gateway', async () => {
      session = openSession(broker.url);
      const collector = new Collector();
      await listening(collector, { ...ALL, duplicates: 'drop' });
      await report('measurement/8800', { time: TIME, seq: 8, value: '1234' });
      await report('measurement/8800', { time: TIME, seq: 8, value: '1234' }, G2);
      await report('measurement/8800', { time: TIME, seq: 9, value: '1234' }, G2);
      await collector.until(({ reports }) => reports.length === 2);
      assert.deepEqual(
        collector.reports.map(({ seq }) => seq),
        [8, 9],
      );
    });

    it('holds reports back while flows are replaced and loses none of them', async () => {
      session = openSession(broker.url);
      const collector = new Collector();
      const unsubscribe = session.subscribe(ALL, collector);
      await reached(session, 'connected');
      await settled();
      session.pauseReports();
      unsubscribe();
      for (let seq = 0; seq < 50; seq++) {
        await report('heartbeat', { time: TIME, seq });
      }
      const successor = new Collector();
      session.subscribe(ALL, successor);
      session.resumeReports();
      await successor.until(({ reports }) => reports.length === 50);
      assert.equal(collector.reports.length, 0);
    });

    it('reads, with the gateway that last reported the device when none is given', async () => {
      session = openSession(broker.url);
      const collector = new Collector();
      await listening(collector);
      await rejects(session.request('read', { device: D, identifier: '8800' }, { signal }), 'INVALID_INPUT', {
        field: 'device',
        value: D,
      });
      await report('heartbeat', { time: TIME, seq: 1 }, G2);
      await collector.until(({ reports }) => reports.length === 1);
      const topics: string[] = [];
      await answer(({ topic, id }) => {
        topics.push(topic);
        return { id, value: '03040100', origin: 0 };
      });
      // As it was pasted.
      const read = await session.request('read', { device: ` ${D}\n`, identifier: '8001' }, { signal });
      assert.deepEqual(topics, [`mt/gateway/${G2}/request/${D}/read/8001`]);
      assert.equal(read.device, D);
      assert.equal(read.value, '3.4.1');
      assert.equal(read.response.raw, '03040100');
      assert.equal(read.response.originName, 'device');
    });

    it('keeps many requests apart by id, whatever the order of the answers', async () => {
      session = openSession(broker.url, { maxInFlight: 50 });
      const held: Request[] = [];
      await answer((request) => {
        held.push(request);
        if (held.length === 50) {
          for (const { topic, id } of held.reverse()) {
            const name = topic.split('/').pop();
            const body = JSON.stringify({ time: TIME, status: 0, id, value: name });
            peer.publish(topic.replace('/request/', '/response/'), body, { qos: 1 });
          }
        }
        return undefined;
      });
      const names = Array.from({ length: 50 }, (_, i) => `name-${i}`);
      const reads = names.map((identifier) =>
        session.request('read', { gateway: G, identifier }, { signal }),
      );
      assert.deepEqual(
        (await Promise.all(reads)).map(({ value }) => value),
        names,
      );
    });

    it('sends no more than maxInFlight at once, then by priority and age', async () => {
      session = openSession(broker.url, { maxInFlight: 1 });
      const order: unknown[] = [];
      await answer(({ topic, id }) => {
        order.push(topic.split('/').pop());
        return { id, value: '00' };
      });
      const read = (identifier: string, priority?: unknown) =>
        session.request('read', { gateway: G, identifier, priority }, { signal });
      await Promise.all([
        read('01'),
        read('02', 'low'),
        read('03'),
        read('04', 'Highest'),
        read('05', 2),
        read('06', '4'),
      ]);
      assert.deepEqual(order, ['04', '06', '01', '03', '05', '02']);
    });

    it('refuses requests beyond maxQueue and keeps the others', async () => {
      session = openSession(broker.url, { maxInFlight: 1, maxQueue: 2 });
      await answer(({ id }) => ({ id, value: '00' }));
      session.attach();
      await reached(session, 'connected');
      // One is under way, and two wait.
      const reads = [1, 2, 3, 4].map(() =>
        session.request('read', { gateway: G, identifier: '01' }, { signal }),
      );
      const [, , , fourth] = await Promise.allSettled(reads);
      assert.equal(fourth?.status === 'rejected' && fourth.reason.code, 'QUEUE_FULL');
      await Promise.all(reads.slice(0, 3));
    });

    it('ends a request without a response with TIMEOUT, and one that failed with REQUEST_FAILED', async () => {
      session = openSession(broker.url, { requestTimeout: 150 });
      session.attach();
      await reached(session, 'connected');
      await answer(({ topic, id }) =>
        topic.endsWith('8001') ? undefined : { id, status: 5, errorMessage: 'no' },
      );
      await rejects(session.request('read', { gateway: G, identifier: '8001' }, { signal }), 'TIMEOUT', {
        gateway: G,
        device: G,
        operation: 'read',
        identifier: '8001',
        timeout: 150,
      });
      await rejects(
        session.request('read', { gateway: G, identifier: '8000' }, { signal }),
        'REQUEST_FAILED',
        {
          status: 5,
          errorMessage: 'no',
        },
      );
    });

    it('takes a response without id, or one that is not JSON, for the only request on that topic', async () => {
      session = openSession(broker.url);
      await answer(({ topic }) => (topic.endsWith('8001') ? 'no JSON' : { value: '0102' }));
      await rejects(session.request('read', { gateway: G, identifier: '8001' }, { signal }), 'BAD_RESPONSE');
      const { value } = await session.request('read', { gateway: G, identifier: '8000' }, { signal });
      assert.equal(value, 258);
    });

    it('parses no response that is larger than any is', async () => {
      session = openSession(broker.url);
      await answer(({ id }) => ({ id, status: 0, value: '0102', more: 'x'.repeat(1_048_576) }));
      await rejects(session.request('read', { gateway: G, identifier: '8000' }, { signal }), 'BAD_RESPONSE');
    });

    it('leaves answers to other clients alone, however large they are, and knows its own by their id', async () => {
      session = openSession(broker.url);
      const more = 'x'.repeat(1_048_576);
      await answer(({ topic, id }) => {
        peer.publish(topic.replace('/request/', '/response/'), JSON.stringify({ id: 'somebody else', more }));
        return topic.endsWith('8000') ? { id, status: 0, value: '0102' } : { id, status: 0, more };
      });
      const { value } = await session.request('read', { gateway: G, identifier: '8000' }, { signal });
      assert.equal(value, 258);
      const both = [1, 2].map(() => session?.request('read', { gateway: G, identifier: '8001' }, { signal }));
      await Promise.all(both.map((one) => rejects(one as Promise<unknown>, 'BAD_RESPONSE')));
    });

    it('leaves answers to other clients alone', async () => {
      session = openSession(broker.url, { requestTimeout: 200 });
      session.attach();
      await reached(session, 'connected');
      await answer(() => ({ id: 'somebody else', value: '0102' }));
      await rejects(session.request('read', { gateway: G, identifier: '8000' }, { signal }), 'TIMEOUT');
    });

    it('ends everything that is waiting with CLOSED when its node closes, and nothing else', async () => {
      session = openSession(broker.url, { maxInFlight: 1 });
      const stop = new AbortController();
      let release = (): void => {};
      await answer(({ topic, id }) => {
        release = () => {
          peer.publish(
            topic.replace('/request/', '/response/'),
            JSON.stringify({ id, status: 0, value: '00' }),
          );
        };
        return undefined;
      });
      const sent = session.request('read', { gateway: G, identifier: '01' }, { signal });
      const waiting = session.request('read', { gateway: G, identifier: '02' }, { signal: stop.signal });
      const [received] = await Promise.all([new Promise((resolve) => peer.once('message', resolve))]);
      assert.ok(received);
      stop.abort();
      await rejects(waiting, 'CLOSED');
      release();
      await sent;
    });

    it('ends requests with CLOSED when the session closes', async () => {
      session = openSession(broker.url);
      await answer(() => undefined);
      const request = session.request('read', { gateway: G, identifier: '01' }, { signal });
      await new Promise((resolve) => peer.once('message', resolve));
      await Promise.all([rejects(request, 'CLOSED'), session.close()]);
    });

    it('ends a request with NOT_CONNECTED when the broker stays away for the whole timeout', async () => {
      session = openSession('mqtt://127.0.0.1:1', { requestTimeout: 100 });
      await rejects(session.request('read', { gateway: G, identifier: '01' }, { signal }), 'NOT_CONNECTED', {
        broker: 'mqtt://127.0.0.1:1',
      });
    });

    it('comes back after a loss, subscribes again and answers what was asked meanwhile', async () => {
      // Longer than a timer of Node.js can run.
      session = openSession(broker.url, { requestTimeout: 2 ** 32 });
      const collector = new Collector();
      await listening(collector);
      await broker.kill();
      await reached(session, 'waiting');
      const read = session.request('read', { gateway: G, identifier: '8000' }, { signal });
      await broker.start();
      peer = await connectPeer();
      await answer(({ id }) => ({ id, value: '0102' }));
      assert.equal((await read).value, 258);
      await report('heartbeat', { time: TIME, seq: 1 });
      await collector.until(({ reports }) => reports.length === 1);
    });

    it('goes to the next broker of the list when one is away', async () => {
      session = openSession(broker.url, { brokers: ['mqtt://127.0.0.1:1', broker.url] });
      await listening(new Collector());
    });

    it('acknowledges a sample once and in the order of the samples', async () => {
      session = openSession(broker.url);
      const times: unknown[] = [];
      await answer(({ topic, id, time }) => {
        assert.equal(topic, `mt/gateway/${G}/request/${D}/ack/8800`);
        times.push(time);
        return { id };
      });
      const sample = (time: string) => ({
        kind: 'timestamped',
        ack: true,
        gateway: G,
        device: D,
        form: 'raw',
        identifier: '8800',
        time,
      });
      const expected = Array.from({ length: 500 }, (_, i) =>
        new Date(Date.UTC(2026, 0, 1) + i).toISOString(),
      );
      const acks = expected.flatMap((time) => [sample(time), sample(time)]);
      const results = await Promise.all(acks.map((it) => session.acknowledge(it, { signal, wait: true })));
      assert.deepEqual(times, expected);
      assert.ok(results.every(({ sent, response }) => sent && response?.status === 0));
      const skipped = await session.acknowledge({ ...sample(TIME), ack: false }, { signal, wait: true });
      assert.equal(skipped.sent, false);
    });

    it('acknowledges again what failed the first time', async () => {
      session = openSession(broker.url, { requestTimeout: 1_000 });
      let asked = 0;
      await answer(({ id }) => (asked++ === 0 ? undefined : { id }));
      const sample = {
        kind: 'timestamped',
        ack: true,
        gateway: G,
        device: D,
        form: 'raw',
        identifier: '8800',
        time: TIME,
      };
      await rejects(session.acknowledge(sample, { signal, wait: true }), 'TIMEOUT');
      const { response } = await session.acknowledge(sample, { signal, wait: true });
      assert.equal(response?.status, 0);
    });

    it('records a value once, however many want the same, until the last of them has gone', async () => {
      session = openSession(broker.url);
      const collector = new Collector();
      await listening(collector);
      let recorded = 0;
      session.lastValues.onChange = () => recorded++;
      const ends = [1, 2, 3].map(() => session.values.record({ devices: [D] }));
      const hear = async (seq: number) => {
        await report('measurement/8800', { time: TIME, seq, value: '1234' });
        await collector.until(({ reports }) => reports.length === seq);
      };
      await hear(1);
      assert.equal(recorded, 1);
      for (const end of ends.slice(1)) {
        end();
      }
      await hear(2);
      assert.equal(recorded, 2);
      ends[0]!();
      await hear(3);
      assert.equal(recorded, 2);
    });

    it('listens to everything while somebody asks, without a report more for flows', async () => {
      session = openSession(broker.url);
      const events = new Collector();
      await listening(events, { ...ALL, kinds: ['event'] });
      assert.equal(session.network.size.devices, 0);
      while (!session.allReports.listen().isHearing) {
        await settled();
      }
      await settled();
      await report('heartbeat', { time: TIME, seq: 1, status: 0 }, G2, D2);
      for (const seq of [2, 3, 4]) {
        await report('event/8200', { time: TIME, seq });
      }
      await events.until(({ reports }) => reports.length === 3);
      await settled();
      assert.deepEqual(
        events.reports.map(({ seq }) => seq),
        [2, 3, 4],
      );
      assert.equal(session.network.gatewayOf(D2), G2);
      assert.deepEqual([session.network.device(D)?.reports, session.network.device(D2)?.reports], [3, 1]);
      assert.equal(session.reportFilters.length, 2, 'what flows want stays as it was');
    });

    it('counts the time without a broker as no silence of a device', async () => {
      session = openSession(broker.url);
      const collector = new Collector();
      await listening(collector);
      await report('heartbeat', { time: TIME, seq: 1, status: 0 });
      await collector.until(({ reports }) => reports.length === 1);
      const device = session.network.device(D);
      assert.ok(device);
      await session.close();
      const silent = session.network.silentMs(device);
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(session.network.silentMs(device), silent);
      assert.ok(session.network.now - device.heardAt > silent);
    });

    it('counts neither a deploy that asks for more or for less nor what people listen to or record as a time without the broker', async () => {
      session = openSession(broker.url);
      await listening(new Collector(), { ...ALL, gateways: [G] });
      const since = session.network.now;
      const { allReports } = session;
      const heard = async (isHearing: boolean) => {
        while (allReports.recordState().isHearing !== isHearing) {
          await settled();
        }
        await settled();
      };
      allReports.recording.start();
      await heard(true);
      allReports.recording.stop();
      await heard(false);
      allReports.listen();
      await heard(true);
      session.pauseReports();
      const end = session.subscribe(ALL, new Collector());
      session.resumeReports(() => true);
      await settled();
      await reached(session, 'connected');
      session.pauseReports();
      end();
      session.resumeReports(() => true);
      await settled();
      assert.equal(session.network.lostUntil(since), undefined);
    });

    it('knows what reports have shown, for pickers', async () => {
      session = openSession(broker.url);
      const collector = new Collector();
      await listening(collector);
      await report('measurement/8800', { time: TIME, seq: 1, value: '1234' });
      await report('property-decoded/humidity', { time: TIME, value: 4 }, G2, D2);
      await collector.until(({ reports }) => reports.length === 2);
      const ids = (entries: { id: string }[]) => entries.map(({ id }) => id).sort();
      assert.deepEqual(ids(session.recent.gateways()), [G, G2]);
      assert.deepEqual(ids(session.recent.devices({ gateway: G2 })), [D2]);
      assert.deepEqual(ids(session.recent.identifiers({ device: D })), ['8800']);
      assert.equal(session.recent.identifiers({ text: 'TEMP' })[0]?.name, 'temperature');
    });
  });
}
