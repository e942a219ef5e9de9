// A broker that ends the connection at a request that it forbids: the others go on, and the request says why.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { ServiceError } from '../../src/errors.ts';
import { ALL, Collector, reached } from '../session.ts';
import {
  answerAll,
  G,
  G2,
  heartbeat,
  mockTime,
  passTimeUntil,
  reportTopic,
  requests,
  restoreTime,
  useScriptedBroker,
} from './scripted.ts';

const TIMEOUT_MS = 20_000;
const { signal } = new AbortController();

for (const [version, protocolVersion] of [
  ['MQTT 3.1.1', 4],
  ['MQTT 5', 5],
] as const) {
  describe(`requests for which a broker ends the connection (${version})`, () => {
    const bench = useScriptedBroker();

    beforeEach(() => mockTime());
    afterEach(restoreTime);

    const open = (changes: object = {}) => {
      answerAll(bench.broker, ({ topic, id }) => (topic.includes(G2) ? undefined : { id, response: 21 }));
      bench.broker.options.forbids = (topic) => topic.includes('/request/') && topic.includes(G2);
      return bench.open({ protocolVersion, requestTimeout: TIMEOUT_MS, keepalive: 0, ...changes });
    };
    /** Whether it was answered, or how it ended. */
    const endOf = (request: Promise<unknown>): Promise<string> =>
      request.then(
        () => 'answered',
        ({ text }: ServiceError) => text.key,
      );
    const read = (session: ReturnType<typeof open>, gateway: string) =>
      endOf(session.request('read', { gateway, identifier: '8800' }, { signal }));
    const isAsked = (gateway: string) =>
      bench.broker.until(() => requests(bench.broker).some(({ topic }) => topic.includes(gateway)));
    /** The broker forbids it, and its turn comes. */
    const findForbidden = async (session: ReturnType<typeof open>, request: () => Promise<string>) => {
      session.subscribe(ALL, new Collector());
      await passTimeUntil(reached(session, 'connected'));
      while ((await passTimeUntil(request())) !== 'NOT_CONNECTED.endsConnection') {
        // The first ones end by their time.
      }
      await passTimeUntil(new Promise((resolve) => setTimeout(resolve, 120_000)));
      await passTimeUntil(reached(session, 'connected'));
    };
    const forbidsWrites = (topic: string) => topic.includes('/request/') && topic.includes('/write');

    it('end with the reason from the second on, and all others go on', async () => {
      const session = open();
      const reports = new Collector();
      session.subscribe(ALL, reports);
      await passTimeUntil(reached(session, 'connected'));
      const connections = () => bench.broker.connections.length;
      const before = connections();
      const first = read(session, G2);
      await passTimeUntil(bench.broker.until(() => connections() === before + 1));
      const second = read(session, G2);
      assert.equal(await passTimeUntil(second), 'NOT_CONNECTED.endsConnection');
      await passTimeUntil(reached(session, 'connected'));
      for (let i = 0; i < 5; i++) {
        assert.equal(await passTimeUntil(read(session, G2)), 'NOT_CONNECTED.endsConnection');
        assert.equal(await passTimeUntil(read(session, G)), 'answered');
      }
      assert.equal(connections(), before + 2, 'no further connection has ended');
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
      await passTimeUntil(reports.until(() => reports.reports.length === 1));
      // What was sent over the first connection may have been carried out.
      assert.equal(await passTimeUntil(first), 'TIMEOUT.noAnswer');
    });

    it('are found among many that are under way, none of which is taken for one', async () => {
      const session = open();
      session.subscribe(ALL, new Collector());
      await passTimeUntil(reached(session, 'connected'));
      const results: string[] = [];
      const ended: Promise<unknown>[] = [];
      const ask = (gateway: string) =>
        ended.push(read(session, gateway).then((result) => results.push(`${gateway} ${result}`)));
      for (let round = 0; round < 4; round++) {
        for (let i = 0; i < 4; i++) {
          ask(G);
          ask(G2);
        }
        await passTimeUntil(Promise.all(ended));
      }
      const last = results.slice(-8).sort();
      assert.deepEqual(last, [
        ...Array.from({ length: 4 }, () => `${G} answered`),
        ...Array.from({ length: 4 }, () => `${G2} NOT_CONNECTED.endsConnection`),
      ]);
      assert.ok(!results.includes(`${G} NOT_CONNECTED.endsConnection`));
    });

    if (protocolVersion === 5) {
      it('are none where the broker says that it shuts down', async () => {
        const session = open();
        session.subscribe(ALL, new Collector());
        await passTimeUntil(reached(session, 'connected'));
        bench.broker.options.forbids = () => false;
        for (let i = 0; i < 3; i++) {
          bench.broker.options.intercept = ({ cmd }) => {
            if (cmd === 'publish') {
              bench.broker.disconnect(0x8b);
            }
            return cmd === 'publish';
          };
          const { length } = bench.broker.connections;
          const lost = read(session, G);
          await passTimeUntil(bench.broker.until(() => bench.broker.connections.length === length + 1));
          assert.equal(await passTimeUntil(lost), 'TIMEOUT.noAnswer');
          await passTimeUntil(reached(session, 'connected'));
        }
        answerAll(bench.broker, ({ id }) => ({ id, response: 21 }));
        assert.equal(await passTimeUntil(read(session, G)), 'answered');
      });
    }

    it('are found where a flow asks one device after the other', async () => {
      const session = open({ requestTimeout: 2_000 });
      bench.broker.options.forbids = (topic) => topic.includes('/request/');
      session.subscribe(ALL, new Collector());
      await passTimeUntil(reached(session, 'connected'));
      const results: string[] = [];
      for (let n = 0; n < 20; n++) {
        const gateway = `c0141f68000${n % 5}`;
        const device = `d0000000${1_000 + n}`;
        results.push(
          await passTimeUntil(
            session.request('read', { gateway, device, identifier: '8800' }, { signal }).then(
              () => 'answered',
              ({ text }: ServiceError) => text.key,
            ),
          ),
        );
        await passTimeUntil(new Promise((resolve) => setTimeout(resolve, 10_000)));
      }
      assert.ok(bench.broker.connections.length <= 7, `${bench.broker.connections.length} connections`);
      assert.deepEqual(results.slice(0, 2), ['TIMEOUT.noAnswer', 'TIMEOUT.noAnswer']);
      assert.equal(results.at(-1), 'NOT_CONNECTED.endsConnection');
    });

    it('are found quickly at one gateway after the other, while another one is asked that takes them', async () => {
      const session = open();
      bench.broker.options.forbids = (topic) => topic.includes('/request/') && !topic.includes(G);
      session.subscribe(ALL, new Collector());
      await passTimeUntil(reached(session, 'connected'));
      const before = bench.broker.connections.length;
      const own: Promise<string>[] = [];
      const others: Promise<string>[] = [];
      for (let n = 0; n < 40; n++) {
        own.push(read(session, G));
        others.push(read(session, `c0141f6800${10 + n}`));
        await passTimeUntil(new Promise((resolve) => setTimeout(resolve, 1_000)));
      }
      assert.deepEqual(new Set(await passTimeUntil(Promise.all(own))), new Set(['answered']));
      assert.equal((await passTimeUntil(Promise.all(others))).at(-1), 'NOT_CONNECTED.endsConnection');
      const lost = bench.broker.connections.length - before;
      assert.ok(lost <= 8, `${lost} connections`);
    });

    it('are tried when those before them in a batch have their responses', async () => {
      const session = open({ requestTimeout: 4_000 });
      // Each gateway takes a moment for its response.
      answerAll(bench.broker, ({ topic, id }) => {
        if (!topic.includes(G2)) {
          setTimeout(
            () =>
              bench.broker.publish(topic.replace('/request/', '/response/'), { status: 0, id, response: 21 }),
            300,
          );
        }
        return undefined;
      });
      session.subscribe(ALL, new Collector());
      await passTimeUntil(reached(session, 'connected'));
      let results: string[] = [];
      const { length } = bench.broker.connections;
      for (let round = 0; round < 6; round++) {
        const asked = ['c0141f680004', 'c0141f680005', G2, 'c0141f680006'];
        results = await passTimeUntil(Promise.all(asked.map((gateway) => read(session, gateway))));
        await passTimeUntil(new Promise((resolve) => setTimeout(resolve, 60_000)));
        mock.timers.tick(240_000);
        await passTimeUntil(reached(session, 'connected'));
        if (round >= 2) {
          assert.deepEqual(results, ['answered', 'answered', results[2], 'answered']);
        }
      }
      assert.ok(bench.broker.connections.length > length + 2, 'one was tried');
    });

    it('hold up very many others only until what is under way is answered, and leave alone', async () => {
      const session = open();
      const reply = (topic: string, id: unknown) =>
        bench.broker.publish(topic.replace('/request/', '/response/'), { status: 0, id, response: 21 });
      answerAll(bench.broker, ({ topic, id }) => {
        setTimeout(() => reply(topic, id), topic.includes('/write') ? 0 : 500);
        return undefined;
      });
      bench.broker.options.forbids = forbidsWrites;
      session.subscribe(ALL, new Collector());
      await passTimeUntil(reached(session, 'connected'));
      const write = () =>
        endOf(session.request('write', { gateway: G, identifier: '8800', value: 1 }, { signal }));
      while ((await passTimeUntil(write())) !== 'NOT_CONNECTED.endsConnection') {
        // The first ones end by their time.
      }
      const gateways = Array.from({ length: 20 }, (_, n) => (n === 0 ? G : `c0141f6800${n + 10}`));
      const readAll = () => gateways.map((gateway) => read(session, gateway));
      await passTimeUntil(Promise.all(readAll()));
      // Its turn has come.
      await passTimeUntil(new Promise((resolve) => setTimeout(resolve, 120_000)));
      await passTimeUntil(reached(session, 'connected'));
      const before = bench.broker.connections.length;
      const start = performance.now();
      const all = Array.from({ length: 20 }, (_, n) => [...readAll(), ...(n === 10 ? [write()] : [])]).flat();
      const results = await passTimeUntil(Promise.all(all));
      assert.equal(bench.broker.connections.length, before + 1, 'one was tried');
      assert.equal(results.filter((result) => result === 'answered').length, all.length - 1);
      assert.ok(performance.now() - start < 15_000, `${performance.now() - start} ms`);
    });

    it('hold up no others while they wait for their turn at a gateway that is silent', async () => {
      const session = open({ maxInFlight: 1 });
      bench.broker.options.forbids = forbidsWrites;
      const write = () =>
        endOf(session.request('write', { gateway: G2, identifier: '8800', value: 1 }, { signal }));
      await findForbidden(session, () => write());
      const before = bench.broker.connections.length;
      // G2 does not answer.
      const [silent, tried] = [read(session, G2), write()];
      const start = performance.now();
      for (let i = 0; i < 10; i++) {
        assert.equal(await passTimeUntil(read(session, G)), 'answered');
      }
      assert.ok(performance.now() - start < TIMEOUT_MS / 2, `${performance.now() - start} ms`);
      assert.equal(bench.broker.connections.length, before);
      assert.equal(await passTimeUntil(silent), 'TIMEOUT.noAnswer');
      assert.equal(await passTimeUntil(tried), 'NOT_CONNECTED.endsConnection');
      await passTimeUntil(reached(session, 'connected'));
      assert.equal(bench.broker.connections.length, before + 1, 'one was tried');
    });

    it('are tried though they have less time than what is waited for before', async () => {
      const session = open();
      bench.broker.options.forbids = forbidsWrites;
      const write = (timeout: number) =>
        endOf(session.request('write', { gateway: G, identifier: '8800', value: 1 }, { signal, timeout }));
      await findForbidden(session, () => write(TIMEOUT_MS));
      const before = bench.broker.connections.length;
      // G2 does not answer.
      const silent = read(session, G2);
      await passTimeUntil(isAsked(G2));
      const quick = endOf(
        session.request('read', { gateway: G, identifier: '8800' }, { signal, timeout: 2_000 }),
      );
      const tried = write(2_000);
      assert.equal(await passTimeUntil(quick), 'answered');
      assert.equal(await passTimeUntil(tried), 'NOT_CONNECTED.endsConnection');
      await passTimeUntil(reached(session, 'connected'));
      assert.equal(bench.broker.connections.length, before + 1, 'one was tried');
      assert.equal(await passTimeUntil(silent), 'TIMEOUT.noAnswer');
    });

    if (protocolVersion === 5) {
      it('hold up no others where they are too large to be sent', async () => {
        bench.broker.options.maxPacketSize = 500;
        const session = open();
        bench.broker.options.forbids = forbidsWrites;
        const write = (value: string) =>
          endOf(session.request('write', { gateway: G, identifier: '8800', value, mode: 'raw' }, { signal }));
        await findForbidden(session, () => write('0866'));
        // G2 does not answer.
        const silent = read(session, G2);
        await passTimeUntil(isAsked(G2));
        const start = performance.now();
        for (let n = 0; n < 3; n++) {
          assert.equal(await passTimeUntil(write('00'.repeat(600))), 'INVALID_INPUT.packetTooLarge');
          assert.equal(await passTimeUntil(read(session, G)), 'answered');
        }
        assert.ok(performance.now() - start < 5_000, `${performance.now() - start} ms`);
        await passTimeUntil(silent);
      });
    }

    it('are all tried in a batch, one after the other, once the broker takes them', async () => {
      const session = open({ requestTimeout: 4_000 });
      bench.broker.options.forbids = (topic) => topic.includes('/request/');
      session.subscribe(ALL, new Collector());
      await passTimeUntil(reached(session, 'connected'));
      const gateways = Array.from({ length: 6 }, (_, n) => `c0141f68000${n}`);
      const batch = () => passTimeUntil(Promise.all(gateways.map((gateway) => read(session, gateway))));
      for (let round = 0; round < 5; round++) {
        await batch();
        await passTimeUntil(new Promise((resolve) => setTimeout(resolve, 60_000)));
      }
      bench.broker.options.forbids = () => false;
      answerAll(bench.broker, ({ id }) => ({ id, response: 21 }));
      await passTimeUntil(new Promise((resolve) => setTimeout(resolve, 60_000)));
      mock.timers.tick(2 * 3_600_000);
      await passTimeUntil(reached(session, 'connected'));
      await batch();
      assert.deepEqual(
        await batch(),
        gateways.map(() => 'answered'),
      );
    });

    it('hold up no others while they wait for a subscription that the broker refuses', async () => {
      const session = open();
      const [third, ok] = ['c0141f680003', 'c0141f680004'];
      bench.broker.options.forbids = (topic) => topic.includes('/read/');
      bench.broker.options.refuses = (filter) => filter.includes(third);
      answerAll(bench.broker, ({ id }) => ({ id, response: 21 }));
      session.subscribe(ALL, new Collector());
      await passTimeUntil(reached(session, 'connected'));
      for (const gateway of [G, G2, G, G2, G]) {
        await passTimeUntil(read(session, gateway));
      }
      assert.equal(await passTimeUntil(read(session, G)), 'NOT_CONNECTED.endsConnection');
      // Its turn has come.
      await passTimeUntil(new Promise((resolve) => setTimeout(resolve, 130_000)));
      await passTimeUntil(reached(session, 'connected'));
      bench.broker.options.withhold = ['puback'];
      const write = () =>
        session.request('write', { gateway: ok, identifier: '8800', value: 1 }, { signal }).catch(() => {});
      const writes = [write()];
      await passTimeUntil(bench.broker.until(() => bench.broker.withheld.length === 1));
      assert.match(await passTimeUntil(read(session, third)), /^NOT_CONNECTED.refusedSubscription/);
      writes.push(write(), write());
      // No time passes meanwhile.
      await bench.broker.until(() => bench.broker.withheld.length === 3);
      bench.broker.options.withhold = [];
      bench.broker.release();
      await passTimeUntil(Promise.all(writes));
    });

    it('are found in a batch that comes every five minutes, too', async () => {
      const session = open({ requestTimeout: 2_000 });
      bench.broker.options.forbids = (topic) => topic.endsWith('/read/8805');
      answerAll(bench.broker, ({ id }) => ({ id, response: 21 }));
      session.subscribe(ALL, new Collector());
      await passTimeUntil(reached(session, 'connected'));
      const batch = () =>
        Promise.all(
          ['8800', '8802', '8805', '8806'].map((identifier) =>
            endOf(session.request('read', { gateway: G, identifier }, { signal })),
          ),
        );
      let results: string[] = [];
      for (let round = 0; round < 4; round++) {
        results = await passTimeUntil(batch());
        await passTimeUntil(new Promise((resolve) => setTimeout(resolve, 30_000)));
        mock.timers.tick(270_000);
      }
      assert.deepEqual(results, ['answered', 'answered', 'NOT_CONNECTED.endsConnection', 'answered']);
    });

    it('hold up the others for a minute at most where the broker leaves one without an acknowledgement', async () => {
      const session = open();
      session.subscribe(ALL, new Collector());
      await passTimeUntil(reached(session, 'connected'));
      const connections = bench.broker.connections.length;
      const first = read(session, G2);
      await passTimeUntil(bench.broker.until(() => bench.broker.connections.length === connections + 1));
      await passTimeUntil(reached(session, 'connected'));
      bench.broker.options.withhold = ['puback'];
      const hanging = read(session, G);
      await passTimeUntil(bench.broker.until(() => bench.broker.withheld.length === 1));
      bench.broker.options.withhold = [];
      const start = performance.now();
      let result = '';
      while (result !== 'answered') {
        result = await passTimeUntil(read(session, G));
      }
      assert.ok(performance.now() - start <= 70_000, `${performance.now() - start}`);
      assert.equal(await passTimeUntil(hanging), 'answered');
      await passTimeUntil(first);
    });

    it('are sent again later, and go on when the broker takes one', async () => {
      const session = open();
      session.subscribe(ALL, new Collector());
      await passTimeUntil(reached(session, 'connected'));
      while ((await passTimeUntil(read(session, G2))) !== 'NOT_CONNECTED.endsConnection') {
        // The first one ends by its time.
      }
      bench.broker.options.forbids = () => false;
      answerAll(bench.broker, ({ id }) => ({ id, response: 21 }));
      const later = performance.now() + 250_000;
      let result = '';
      while (performance.now() < later && result !== 'answered') {
        result = await passTimeUntil(read(session, G2));
        await passTimeUntil(new Promise((resolve) => setTimeout(resolve, 5_000)));
      }
      assert.equal(result, 'answered');
      assert.equal(await passTimeUntil(read(session, G2)), 'answered');
    });
  });
}
