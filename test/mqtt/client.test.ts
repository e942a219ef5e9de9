// The MQTT half at a broker, with a report handler in place of all nodes: what each part of it tells the others.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServiceError } from '../../src/errors.ts';
import { MqttClient } from '../../src/mqtt/client.ts';
import type { ReportHandler } from '../../src/mqtt/report-subscriptions.ts';
import type { BuiltRequest } from '../../src/protocol/operations/index.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { mqttSettings } from '../session.ts';
import {
  answerAll,
  G,
  G2,
  mockTime,
  passRealTime,
  reportTopic,
  requests,
  responseFilter,
  restoreTime,
  useScriptedBroker,
} from './scripted.ts';

const ALL = 'mt/gateway/+/device/+/#';
const ONE = reportTopic('#');
const { signal } = new AbortController();

const request = (gateway = G): BuiltRequest => ({
  ...{ gateway, device: gateway, operation: 'apiversion', suffix: 'apiversion', payload: {}, priority: 2 },
});

describe('the MQTT half', () => {
  const bench = useScriptedBroker();
  const clients: MqttClient[] = [];
  const news = new EventEmitter().setMaxListeners(0);
  /** What the handler was told, and what was told else. */
  let told: string[];
  let warnings: string[];
  let filters: string[];
  let isSessionElsewhere: boolean;
  /** What the handler says. */
  let says: { outcome: 'delivered' | 'kept' | 'unwanted'; isFull: boolean; isConfirming: boolean };

  beforeEach(() => {
    mockTime(1_000_000);
    [told, warnings, filters, isSessionElsewhere] = [[], [], [ALL], false];
    says = { outcome: 'delivered', isFull: false, isConfirming: false };
  });
  afterEach(async () => {
    restoreTime();
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });

  const tell = (text: string) => {
    told.push(text);
    news.emit('change');
  };

  function create(changes: Partial<MqttSettings> = {}, handler: Partial<ReportHandler> = {}): MqttClient {
    const client = new MqttClient(
      mqttSettings(bench.broker.url, changes),
      createTopics(''),
      {
        get needed() {
          return filters.length;
        },
        filters(max) {
          tell(`filters ${max}`);
          return filters;
        },
        previewFilters: () => [],
        isWidened: () => false,
        isCovering: () => false,
        connected: (_, isPresent) => tell(isPresent ? 'session' : 'no session'),
        settled: () => tell('all has come'),
        readOn: () => tell('read on'),
        hasCaughtUp: () => true,
        deliver(_topic, payload, retained) {
          tell(`report ${payload}${retained ? ' retained' : ''}`);
          return says.outcome as ReturnType<ReportHandler['deliver']>;
        },
        deliverPreview() {},
        get isFull() {
          return says.isFull;
        },
        get isConfirming() {
          return says.isConfirming;
        },
        ...handler,
      },
      {
        info() {},
        trace() {},
        warn(text) {
          warnings.push(text);
          news.emit('change');
        },
      },
      {
        state: () => news.emit('change'),
        settled: () => tell('settled'),
        resumed: (isReady) => tell(isReady ? 'resumed' : 'resumed too late'),
        isSessionElsewhere: () => isSessionElsewhere,
        yielded: () => tell('yielded'),
      },
    );
    clients.push(client);
    return client;
  }

  async function until(isReached: () => unknown): Promise<void> {
    while (!isReached()) {
      await once(news, 'change');
    }
  }
  const reached = (client: MqttClient, name: string) => until(() => client.state.name === name);
  const tick = (ms: number) => mock.timers.tick(ms);
  const connect = async (changes: Partial<MqttSettings> = {}, handler: Partial<ReportHandler> = {}) => {
    const client = create(changes, handler);
    client.attach();
    client.updateFilters();
    await until(() => told.includes('settled'));
    await reached(client, 'connected');
    return client;
  };
  const publish = (text: string, options = {}) =>
    bench.broker.publish(reportTopic('heartbeat'), Buffer.from(text), options);
  const isTold = (text: string) => until(() => told.includes(text));

  it('is connected when the broker has granted what flows want', async () => {
    bench.broker.options.withhold = ['suback'];
    const client = create();
    assert.deepEqual([client.isUsed, client.hearsOn, client.state.name], [false, false, 'idle']);
    client.attach();
    client.updateFilters();
    await bench.broker.until(({ withheld }) => withheld.length === 1);
    assert.deepEqual([client.isUsed, client.hearsOn, client.state.name], [true, true, 'connecting']);
    assert.deepEqual([client.isUnheard(ALL), client.isGranted(ALL)], [true, false]);
    bench.broker.options.withhold = [];
    bench.broker.release();
    await reached(client, 'connected');
    assert.deepEqual([client.isUnheard(ALL), client.isGranted(ALL)], [false, true]);
    assert.deepEqual([client.isGranted(ONE), client.refusalOf([ALL])], [false, undefined]);
    assert.deepEqual([client.reportFilters, client.isPreviewRefused(ALL)], [[ALL], false]);
    assert.ok(told.includes('no session'));
    assert.ok(client.signs.until > performance.now());
  });

  it('updates the filters once for all nodes that come together', async () => {
    const client = await connect();
    told.length = 0;
    filters = [ALL, 'mt/gateway/+/other/#'];
    for (let n = 0; n < 100; n++) {
      client.updateFilters();
    }
    assert.deepEqual([told, client.state.name], [[], 'connecting']);
    await isTold('settled');
    assert.deepEqual(
      told.filter((text) => text.startsWith('filters')),
      ['filters Infinity'],
    );
    assert.deepEqual(client.subscriptions, { needed: 2, inUse: 2, max: undefined });
    filters = [ALL];
    told.length = 0;
    client.updateFilters();
    await isTold('settled');
    await bench.broker.until((broker) => broker.packets('unsubscribe').length === 1);
  });

  it('gives reports on, and tells when all has come', async () => {
    await connect();
    publish('1');
    publish('2', { qos: 0 });
    await isTold('report 2');
    assert.ok(told.indexOf('report 1') < told.indexOf('report 2'));
    assert.ok(told.includes('all has come'));
    await bench.broker.until((broker) => broker.packets('puback').length === 1);
  });

  it('acknowledges no report that the handler keeps', async () => {
    says.outcome = 'kept';
    await connect();
    publish('1');
    publish('2');
    await isTold('report 1');
    await passRealTime();
    assert.deepEqual(bench.broker.packets('puback'), []);
  });

  it('logs a report that waited and cannot be handled', async () => {
    const client = await connect(
      {},
      {
        deliver() {
          throw new Error('a mistake of ours');
        },
      },
    );
    client.pauseReports();
    publish('1', { qos: 0 });
    publish('2', { qos: 0 });
    answerAll(bench.broker, ({ id }) => ({ id }));
    await client.request(request(), { signal });
    client.resumeReports();
    assert.deepEqual(warnings, Array(2).fill(`${reportTopic('heartbeat')}: Error: a mistake of ours`));
  });

  describe('while flows are replaced', () => {
    it('keeps reports and the filters that were wanted', async () => {
      const client = await connect();
      told.length = 0;
      client.pauseReports();
      assert.equal(client.isPaused, true);
      filters = [ONE];
      client.updateFilters();
      publish('1', { qos: 0 });
      answerAll(bench.broker, ({ id }) => ({ id }));
      await client.request(request(), { signal });
      await turn();
      assert.deepEqual(
        told.filter((text) => /filters|report|resumed/.test(text)),
        [],
      );
      assert.equal(client.state.name, 'connecting');
      client.resumeReports();
      assert.deepEqual(
        told.filter((text) => /filters|report|resumed|read on/.test(text)),
        ['filters Infinity', 'read on', 'resumed', 'report 1'],
      );
      await bench.broker.until((broker) => broker.packets('unsubscribe').length === 1);
      await reached(client, 'connected');
      assert.equal(client.isPaused, false);
      assert.deepEqual(client.reportFilters, [ONE]);
    });

    it('goes on after 20 seconds, and tells so', async () => {
      const client = await connect();
      client.pauseReports();
      tick(20_000);
      assert.ok(told.includes('resumed too late'));
    });

    it('gives the session to another client that needs it, where nobody is here', async () => {
      const client = create({ persistent: true });
      const leave = client.attach();
      await reached(client, 'connected');
      client.pauseReports();
      leave();
      isSessionElsewhere = true;
      const left = bench.broker.next('disconnect');
      client.resumeReports();
      assert.ok(told.indexOf('yielded') >= 0 && told.indexOf('yielded') < told.indexOf('resumed'));
      await left;
    });

    it('keeps its session where users are here', async () => {
      const client = await connect({ persistent: true });
      isSessionElsewhere = true;
      client.pauseReports();
      client.resumeReports();
      assert.deepEqual([told.includes('yielded'), client.isUsed], [false, true]);
    });
  });

  describe('asks gateways', () => {
    it('and gets their answers, without a user, and leaves the broker then', async () => {
      answerAll(bench.broker, ({ id }) => ({ id, version: '2.4.0' }));
      const client = create();
      const answer = (await client.request(request(), { signal })) as { version: string };
      assert.equal(answer.version, '2.4.0');
      assert.deepEqual(client.subscriptions, { needed: 2, inUse: 1, max: undefined });
      const left = bench.broker.next('disconnect');
      tick(1_000);
      await left;
    });

    it('for as long as the settings say, from the call on where the broker is away', async () => {
      const client = create({ brokers: ['mqtt://127.0.0.1:1'], requestTimeout: 3_000 });
      let code = '';
      client.request(request(), { signal }).catch((error: ServiceError) => {
        ({ code } = error);
      });
      await reached(client, 'waiting');
      tick(2_999);
      await turn();
      assert.equal(code, '');
      tick(1);
      await turn();
      assert.equal(code, 'NOT_CONNECTED');
      const early = client.request(request(), { signal, since: performance.now() - 2_000, timeout: 5_000 });
      early.catch((error: ServiceError) => {
        code = `${error.code} early`;
      });
      tick(3_000);
      await turn();
      assert.equal(code, 'NOT_CONNECTED early');
    });

    for (const [title, changes, isConfirming, qos] of [
      ['that of requests', { requestQos: 2 }, false, 2],
      ['0 for a persistent session, whose queue they would fill', { persistent: true }, false, 0],
      ['0 while flows confirm, behind which they would wait', {}, true, 0],
    ] as const) {
      it(`and is subscribed to their answers with a QoS of ${title}`, async () => {
        says.isConfirming = isConfirming;
        const client = await connect(changes);
        await new Promise<void>((resolve) => client.tryResponses(responseFilter(), () => resolve()));
        const asked = bench.broker.packets('subscribe').flatMap(({ subscriptions }) => subscriptions);
        assert.equal(asked.find(({ topic }) => topic === responseFilter())?.qos, qos);
      });
    }

    it('and changes that QoS when flows begin to confirm', async () => {
      answerAll(bench.broker, ({ id }) => ({ id }));
      const client = await connect();
      await client.request(request(), { signal });
      says.isConfirming = true;
      client.updateFilters();
      await bench.broker.until((broker) =>
        broker
          .packets('subscribe')
          .some(({ subscriptions: [one] }) => one?.topic === responseFilter() && one.qos === 0),
      );
    });

    it('with the QoS that the broker takes', async () => {
      bench.broker.options.maxGrantedQos = 1;
      answerAll(bench.broker, ({ id }) => ({ id }));
      const client = await connect({ requestQos: 2, reportQos: 2 });
      await client.request(request(), { signal });
      assert.deepEqual(
        bench.broker.packets('publish').map(({ qos }) => qos),
        [1],
      );
    });

    it('and says why the broker keeps their answers from it', async () => {
      bench.broker.options.refuses = (filter) => filter === responseFilter(G2);
      const client = await connect();
      await assert.rejects(client.request(request(G2), { signal }), /refused the subscription/);
      assert.equal(await new Promise((resolve) => client.tryResponses(responseFilter(G2), resolve)), true);
      assert.equal(client.state.name, 'connected');
    });

    it('and gives up those that are under way when it is closed', async () => {
      const client = await connect();
      const outcome = client.request(request(), { signal }).catch(({ code }: ServiceError) => code);
      await bench.broker.until((broker) => requests(broker).length === 1);
      await client.close();
      assert.equal(await outcome, 'CLOSED');
    });
  });

  it('acknowledges samples', async () => {
    answerAll(bench.broker, ({ id }) => ({ id, done: true }));
    const client = await connect();
    const read = (body: unknown) => (body as { done: boolean }).done;
    assert.equal(await client.acknowledge(request(), 'a sample', { signal, wait: true }, read), true);
  });

  it('measures how soon the broker answers', async () => {
    const client = await connect();
    assert.equal(await client.ping(1_000), 0);
  });

  describe('at a broker that refuses', () => {
    it('tells what of reports is refused, and why', async () => {
      filters = [ALL, ONE];
      bench.broker.options.refuses = (filter) => filter === ONE;
      const client = create();
      client.attach();
      client.updateFilters();
      await reached(client, 'limited');
      await isTold('settled');
      const { state } = client;
      assert.ok(state.name === 'limited');
      assert.deepEqual([...state.refused.keys()], [ONE]);
      assert.deepEqual([client.isUnheard(ONE), client.isUnheard(ALL)], [true, false]);
      assert.equal(client.refusalOf([ALL, ONE])?.values.filter, ONE);
      client.updateFilters();
      assert.equal(client.state.name, 'connecting');
      await reached(client, 'limited');
    });

    it('tells how many subscriptions it allows, by which filters are chosen', async () => {
      const { limits } = mqttSettings('');
      const client = await connect({ limits: { ...limits, maxSubscriptions: 10 } });
      assert.deepEqual(client.subscriptions, { needed: 1, inUse: 1, max: 10 });
      assert.ok(told.includes('filters 9'));
      const all = responseFilter('+');
      answerAll(bench.broker, ({ id }) => ({ id }));
      await client.request(request(), { signal });
      assert.ok(bench.broker.subscriptionsOf([...bench.broker.sessions.keys()][0] ?? '').has(all));
    });

    it('asks for others at once where one of them covers others', async () => {
      const covered: string[] = [];
      bench.broker.options.refuses = (filter) => filter === ALL;
      const client = create(
        {},
        {
          isCovering: (filter) => filter === ALL,
          filters(_, { isRefused }) {
            const all = isRefused(ALL) ? [ALL, ONE] : [ALL];
            covered.push(all.join());
            return all;
          },
        },
      );
      client.attach();
      client.updateFilters();
      await until(() => client.isGranted(ONE));
      assert.deepEqual([...new Set(covered)], [ALL, `${ALL},${ONE}`]);
    });

    it('asks for narrow ones where a wide one is refused', async () => {
      bench.broker.options.refuses = (filter) => filter === ALL;
      const client = create(
        {},
        {
          isWidened: (filter) => filter === ALL,
          filters: (_, { isAvoided }) => (isAvoided(ALL) ? [ONE] : [ALL]),
        },
      );
      client.attach();
      client.updateFilters();
      await until(() => client.isGranted(ONE));
      await reached(client, 'connected');
      assert.deepEqual(client.reportFilters, [ONE]);
    });
  });

  it('keeps from flows what it tries a group with', async () => {
    const client = await connect();
    const subscribed = bench.broker.next('publish');
    bench.broker.options.sharedSubscriptions = 'plain';
    const verdict = client.tryGroup(`tried-${process.pid}`, 5_000);
    await subscribed;
    await bench.broker.until((broker) => broker.packets('publish').length === 2);
    await passRealTime();
    tick(1_000);
    assert.equal(await verdict, 'plain');
    assert.equal(
      told.some((text) => text.startsWith('report')),
      false,
    );
  });

  describe('with a group', () => {
    for (const kind of ['plain', 'supported'] as const) {
      it(`at a broker to which ${kind === 'plain' ? 'it is a topic like others, tells so' : 'it is one, says nothing of it'}`, async () => {
        bench.broker.options.sharedSubscriptions = kind;
        const group = `group-${kind}-${process.pid}`;
        const client = create({ sharedGroup: group });
        client.attach();
        client.updateFilters();
        await isTold('settled');
        await bench.broker.until((broker) => broker.packets('publish').length === 2);
        await passRealTime();
        tick(1_000);
        await passRealTime();
        const isPlain = kind === 'plain';
        assert.equal(client.state.name, isPlain ? 'limited' : 'connected');
        assert.equal(client.isUnheard(ALL), isPlain);
        const reason = { key: 'reason.plainGroup', values: { group } };
        assert.deepEqual(client.refusalOf([ALL]), isPlain ? reason : undefined);
        assert.equal(warnings.length, isPlain ? 1 : 0);
        if (client.state.name === 'limited') {
          const { broker, refused, isSettled } = client.state;
          assert.deepEqual([broker, refused.size, isSettled], [bench.broker.url, 0, true]);
        }
      });
    }

    it('of another name is tried on demand', async () => {
      const client = await connect();
      assert.equal(await client.tryGroup(`asked-${process.pid}`, 5_000), 'shared');
    });
  });

  it('tells that flows are too slow, and that they keep up again', async () => {
    const client = await connect({ maxWaitingBytes: 1_000 });
    client.pauseReports();
    for (let n = 0; n < 3; n++) {
      publish(`${n}`.padEnd(500), { qos: 0 });
    }
    await reached(client, 'overloaded');
    answerAll(bench.broker, ({ id }) => ({ id }));
    await client.request(request(), { signal, timeout: 60_000 });
    tick(10_000);
    assert.deepEqual(client.state, { name: 'overloaded', broker: bench.broker.url, lost: 2 });
    client.resumeReports();
    tick(10_000);
    assert.equal(client.state.name, 'connected');
    assert.deepEqual(warnings, [
      'reports arrive faster than the flows take them: the oldest of QoS 0 are lost',
      'the flows keep up again; 2 reports of QoS 0 were lost',
    ]);
  });

  it('sends pings while flows have more to confirm than may be read', async () => {
    says.isFull = true;
    await connect({ keepalive: 60 });
    publish('1');
    await isTold('report 1');
    const pinged = bench.broker.next('pingreq');
    tick(30_000);
    await pinged;
  });

  describe('that is closed', () => {
    it('asks for nothing any more, and keeps what a persistent session has for who comes back', async () => {
      const client = await connect({ persistent: true });
      await client.close();
      told.length = 0;
      client.updateFilters();
      client.attach();
      await turn();
      await passRealTime();
      assert.deepEqual([client.state.name, told], ['closed', []]);
      assert.deepEqual(bench.broker.packets('unsubscribe'), []);
      assert.equal(bench.broker.connections.length, 1);
    });

    it('before its filters were asked for does not ask for them', async () => {
      const client = create();
      client.updateFilters();
      await client.close();
      await turn();
      assert.deepEqual(told, []);
    });

    it('gives back the answers of gateways, and all where nobody comes back to it', async () => {
      answerAll(bench.broker, ({ id }) => ({ id }));
      for (const [goesOnAt, given] of [
        [undefined, [responseFilter()]],
        [[], [ALL, responseFilter()]],
      ] as const) {
        const client = await connect({ persistent: true });
        await client.request(request(), { signal });
        await client.close(goesOnAt);
        await bench.broker.until(({ openConnections }) => openConnections.length === 0);
        const all = bench.broker.packets('unsubscribe').flatMap(({ unsubscriptions }) => unsubscriptions);
        assert.deepEqual(all.sort(), given);
        bench.broker.received.length = 0;
        told.length = 0;
      }
    });
  });
});
