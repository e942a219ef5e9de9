// The MQTT half at a broker, with a report handler in place of all nodes: what each part of it tells the others.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServiceError } from '../../src/errors.ts';
import { MqttClient, type MqttClientEvents } from '../../src/mqtt/client.ts';
import type { ReportHandler } from '../../src/mqtt/report-subscriptions.ts';
import type { BuiltRequest } from '../../src/protocol/operations/index.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { mqttSettings } from '../session.ts';
import {
  answerAll,
  G,
  G2,
  leaveSession,
  mockTime,
  passRealTime,
  passTimeUntil,
  reportTopic,
  requests,
  responseFilter,
  restoreTime,
  useScriptedBroker,
} from './scripted.ts';

const ALL = 'mt/gateway/+/device/+/#';
const ONE = reportTopic('#');
const NARROW = Array.from({ length: 8 }, (_, n) => reportTopic(`narrow${n}`));
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
  /** What people look through. */
  let looked: string[];
  /** The states that were told. */
  let states: string[];
  let isSessionElsewhere: boolean;
  /** What the handler says. */
  let says: {
    outcome: 'delivered' | 'kept' | 'unwanted';
    isFull: boolean;
    isConfirming: boolean;
    undecided: boolean;
  };

  beforeEach(() => {
    mockTime(1_000_000);
    [told, warnings, filters, isSessionElsewhere] = [[], [], [ALL], false];
    [looked, states] = [[], []];
    says = { outcome: 'delivered', isFull: false, isConfirming: false, undecided: false };
  });
  afterEach(async () => {
    restoreTime();
    news.removeAllListeners();
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });

  const tell = (text: string) => {
    told.push(text);
    news.emit('change');
  };

  function create(
    changes: Partial<MqttSettings> = {},
    handler: Partial<ReportHandler> = {},
    others: Partial<MqttClientEvents> = {
      settled: () => tell('settled'),
      isSessionElsewhere: () => isSessionElsewhere,
      yielded: () => tell('yielded'),
    },
  ): MqttClient {
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
        previewFilters(max) {
          tell(`looks ${max}`);
          return looked;
        },
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
        deliverPreview: (_, payload, retained) => tell(`look ${payload}${retained ? ' retained' : ''}`),
        get isFull() {
          return says.isFull;
        },
        mayBeWanted: false,
        decide() {
          const { undecided } = says;
          says.undecided = false;
          if (undecided) {
            tell('decided');
          }
          return undecided;
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
        state() {
          states.push(client.state.name);
          news.emit('state');
          news.emit('change');
        },
        resumed: (isReady) => tell(isReady ? 'resumed' : 'resumed too late'),
        ...others,
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
  const reached = (client: MqttClient, name: string) =>
    until(() => client.state.name === name && states.at(-1) === name);
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

  it('is not connected before the broker has granted what is new, or all again on a new connection', async () => {
    const client = await connect();
    bench.broker.options.withhold = ['suback'];
    filters = [ALL, ONE];
    client.updateFilters();
    await bench.broker.until(({ withheld }) => withheld.length === 1);
    assert.deepEqual([client.state.name, states.at(-1)], ['connecting', 'connecting']);
    bench.broker.release();
    await reached(client, 'connected');
    bench.broker.drop();
    await reached(client, 'waiting');
    states.length = 0;
    await passTimeUntil(bench.broker.until(({ withheld }) => withheld.length === 1));
    assert.equal(states.includes('connected'), false);
    bench.broker.release();
    await reached(client, 'connected');
  });

  it('needs nobody who hears when all is granted, and tries its group then', async () => {
    const client = create({ sharedGroup: `unheard-${process.pid}` }, {}, {});
    client.attach();
    client.updateFilters();
    await reached(client, 'connected');
    assert.ok(client.isGranted(ALL));
    await bench.broker.until((broker) => broker.packets('publish').length === 2);
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
      ['filters 10000'],
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

  it('tells that all has come also where reports had to wait for their turn', async () => {
    await connect();
    told.length = 0;
    bench.broker.publish(reportTopic('heartbeat'), Buffer.from('0'), { qos: 0 });
    await isTold('report 0');
    for (let n = 1; n <= 1_000; n++) {
      publish(`${n}`, { qos: 0 });
    }
    await isTold('all has come');
    assert.ok(told.filter((text) => text.startsWith('report')).length > 1);
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
        told.filter((text) => /filters|report|resumed|settled|all has come/.test(text)),
        [],
      );
      assert.equal(client.state.name, 'connecting');
      client.resumeReports();
      assert.deepEqual(
        told.filter((text) => /filters|report|resumed|read on/.test(text)),
        ['filters 10000', 'read on', 'resumed', 'report 1'],
      );
      await bench.broker.until((broker) => broker.packets('unsubscribe').length === 1);
      await reached(client, 'connected');
      assert.equal(client.isPaused, false);
      assert.deepEqual(client.reportFilters, [ONE]);
    });

    it('tells the broker of responses, so that it sends those that follow', async () => {
      const client = await connect();
      client.pauseReports();
      answerAll(bench.broker, ({ id }) => ({ id }));
      await client.request(request(), { signal });
      await bench.broker.until((broker) => broker.packets('puback').length === 1);
    });

    it('keeps the connection, to which users may come back', async () => {
      const client = create();
      const leave = client.attach();
      await reached(client, 'connected');
      client.pauseReports();
      leave();
      tick(1_000);
      await passRealTime();
      assert.deepEqual([client.hearsOn, bench.broker.packets('disconnect')], [true, []]);
      client.resumeReports();
      const left = bench.broker.next('disconnect');
      tick(1_000);
      await left;
    });

    it('keeps what a session has from before: flows have still to tell what they want', async () => {
      const { clientId } = mqttSettings('');
      const earlier = await connect({ persistent: true, clientId });
      await earlier.close();
      const client = create({ persistent: true, clientId });
      client.pauseReports();
      client.attach();
      await until(() => client.hearsOn);
      await passRealTime();
      assert.deepEqual(bench.broker.packets('unsubscribe'), []);
    });

    it('gives back what its session has and nobody wants any more, also without users', async () => {
      const client = create({ persistent: true });
      const leave = client.attach();
      client.updateFilters();
      await isTold('settled');
      leave();
      tick(1_000);
      await reached(client, 'idle');
      filters = [];
      const given = bench.broker.next('unsubscribe');
      client.pauseReports();
      client.resumeReports();
      assert.deepEqual((await given).packet.unsubscriptions, [ALL]);
    });

    it('leaves what its session has where a node that cannot work may want it', async () => {
      const client = create({ persistent: true }, { mayBeWanted: true });
      const leave = client.attach();
      client.updateFilters();
      await isTold('settled');
      filters = [];
      client.pauseReports();
      client.resumeReports();
      await isTold('settled');
      leave();
      tick(1_000);
      await reached(client, 'idle');
      client.pauseReports();
      client.resumeReports();
      assert.equal(client.state.name, 'idle');
      await passRealTime();
      assert.deepEqual(
        [bench.broker.packets('unsubscribe'), bench.broker.packets('connect').length],
        [[], 1],
      );
    });

    it('decides who has what waited for that, and asks then with the QoS that is due', async () => {
      const client = create({ persistent: true });
      client.attach();
      client.pauseReports();
      says.undecided = true;
      client.updateFilters();
      await passRealTime();
      assert.ok(!told.includes('decided'));
      const before = told.length;
      client.resumeReports();
      assert.ok(told.includes('decided'));
      await isTold('settled');
      assert.equal(told.slice(before).filter((text) => text.startsWith('filters')).length, 2);
    });

    it('asks for no others when a wide filter is refused meanwhile', async () => {
      const asked: boolean[] = [];
      const handler: Partial<ReportHandler> = {
        isWidened: (filter) => filter === ALL,
        filters(_, { isAvoided }) {
          asked.push(isAvoided(ALL));
          return isAvoided(ALL) ? [ONE] : [ALL];
        },
      };
      const client = await connect({}, handler);
      client.pauseReports();
      [asked.length, told.length] = [0, 0];
      bench.broker.options.refuses = (filter) => filter === ALL;
      bench.broker.drop();
      await reached(client, 'waiting');
      const again = bench.broker.next('subscribe');
      await passTimeUntil(again);
      await passRealTime();
      assert.deepEqual([asked, client.state.name, told.includes('settled')], [[], 'connecting', false]);
      client.resumeReports();
      await until(() => client.isGranted(ONE));
      assert.deepEqual([...new Set(asked)], [true]);
    });

    it('goes on after 20 seconds, and tells so', async () => {
      const client = await connect();
      client.pauseReports();
      tick(20_000);
      assert.ok(told.includes('resumed too late'));
      assert.equal(
        warnings.filter((text) => text.startsWith('the flows have not started in time')).length,
        1,
      );
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

    it('keeps its session where no other client needs it, or nobody is asked', async () => {
      for (const others of [{ isSessionElsewhere: () => false, yielded: () => tell('yielded') }, {}]) {
        const client = create({ persistent: true }, {}, others);
        const leave = client.attach();
        await reached(client, 'connected');
        client.pauseReports();
        leave();
        client.resumeReports();
        await passRealTime();
        assert.deepEqual([client.hearsOn, told.includes('yielded')], [true, false]);
      }
    });

    it('gives the session to another client also where that is told to nobody', async () => {
      const client = create({ persistent: true }, {}, { isSessionElsewhere: () => true });
      const leave = client.attach();
      await reached(client, 'connected');
      client.pauseReports();
      leave();
      const left = bench.broker.next('disconnect');
      client.resumeReports();
      assert.ok(told.includes('resumed'));
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

    it('and asks them what waits when that QoS has changed, one after the other', async () => {
      const client = await connect({ maxInFlight: 1 });
      const answers: Promise<unknown>[] = [];
      const ask = (count: number) => {
        for (let n = 0; n < count; n++) {
          answers.push(client.request(request(), { signal, timeout: 60_000 }));
        }
      };
      const answer = () => {
        const { topic, body } = requests(bench.broker).at(-1)!;
        bench.broker.publish(topic.replace('/request/', '/response/'), { id: body.id });
      };
      ask(2);
      for (const [round, isConfirming] of [true, false].entries()) {
        await bench.broker.until((broker) => requests(broker).length === round + 1);
        bench.broker.options.withhold = ['suback'];
        says.isConfirming = isConfirming;
        client.updateFilters();
        await bench.broker.until(({ withheld }) => withheld.length > 0);
        answer();
        await answers[round];
        await passRealTime();
        assert.equal(requests(bench.broker).length, round + 1);
        bench.broker.options.withhold = [];
        bench.broker.release();
        await bench.broker.until((broker) => requests(broker).length === round + 2);
        ask(1);
      }
      for (const n of [2, 3]) {
        await bench.broker.until((broker) => requests(broker).length === n + 1);
        answer();
        await answers[n];
      }
    });

    it('no more than one at a time where the settings say so', async () => {
      const client = await connect({ maxInFlight: 1 });
      for (let n = 0; n < 2; n++) {
        client.request(request(), { signal }).catch(() => {});
      }
      await bench.broker.until((broker) => requests(broker).length > 0);
      await passRealTime();
      assert.equal(requests(bench.broker).length, 1);
    });

    it('and gives back the answers of one for another one where there is no room', async () => {
      filters = NARROW;
      bench.broker.options.maxSubscriptions = 9;
      answerAll(bench.broker, ({ id }) => ({ id }));
      const client = await connect();
      await client.request(request(), { signal });
      await client.request(request(G2), { signal });
      assert.deepEqual(
        bench.broker.packets('unsubscribe').flatMap(({ unsubscriptions }) => unsubscriptions),
        [responseFilter()],
      );
    });

    it('only what the broker takes', async () => {
      const { limits } = mqttSettings('');
      const client = await connect({ limits: { ...limits, maxPacketSize: 1_000 } });
      const large = { ...request(), payload: { text: 'x'.repeat(1_000) } };
      await assert.rejects(client.request(large, { signal }), /1000|1,000/);
      assert.deepEqual(requests(bench.broker), []);
    });

    it('and says how many were under way where the broker ends the connection', async () => {
      const client = await connect({ maxInFlight: 10 });
      for (let n = 0; n < 10; n++) {
        client.request(request(), { signal }).catch(() => {});
      }
      await bench.broker.until((broker) => requests(broker).length === 10);
      bench.broker.drop();
      await reached(client, 'waiting');
      const { state } = client;
      assert.ok(state.name === 'waiting');
      assert.deepEqual([state.reason.key, state.reason.values.count], ['reason.brokenOffBusy', 10]);
      client.updateFilters();
      assert.equal(client.state.name, 'waiting');
    });

    it('and gives back the answers of one that only an earlier process has asked', async () => {
      const clientId = await leaveSession(bench.broker, [responseFilter(G2)]);
      answerAll(bench.broker, ({ id }) => ({ id }));
      const client = await connect({ persistent: true, clientId });
      await client.request(request(), { signal });
      assert.deepEqual(bench.broker.packets('unsubscribe'), []);
      const given = bench.broker.next('unsubscribe');
      bench.broker.publish(responseFilter(G2).replace('#', 'apiversion'), {});
      assert.ok((await given).packet.unsubscriptions.includes(responseFilter(G2)));
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
    /** Granted all but `ONE`. */
    async function createLimited() {
      filters = [ALL, ONE];
      bench.broker.options.refuses = (filter) => filter === ONE;
      const client = create();
      client.attach();
      client.updateFilters();
      await reached(client, 'limited');
      await isTold('settled');
      return client;
    }

    it('tells what of reports is refused, and why', async () => {
      const client = await createLimited();
      const { state } = client;
      assert.ok(state.name === 'limited');
      assert.deepEqual([...state.refused.keys()], [ONE]);
      assert.deepEqual([client.isUnheard(ONE), client.isUnheard(ALL)], [true, false]);
      assert.equal(client.refusalOf([ALL, ONE])?.values.filter, ONE);
      client.updateFilters();
      assert.equal(client.state.name, 'connecting');
      await reached(client, 'limited');
      states.length = 0;
      filters = [ALL];
      client.updateFilters();
      await reached(client, 'connected');
      assert.deepEqual([...new Set(states)], ['connected']);
    });

    it('tells that also while more is asked for', async () => {
      const client = await createLimited();
      const [more = ''] = NARROW;
      filters = [ALL, ONE, more];
      bench.broker.options.withhold = ['suback'];
      client.updateFilters();
      await bench.broker.until(({ withheld }) => withheld.length === 1);
      assert.deepEqual([client.state.name, states.at(-1)], ['limited', 'limited']);
      bench.broker.release();
      await until(() => client.isGranted(more));
      assert.equal(client.state.name, 'limited');
    });

    it('tells that before all else', async () => {
      filters = [ALL, ONE];
      bench.broker.options.refuses = (filter) => filter === ONE;
      const client = create({ maxWaitingBytes: 1_000 });
      client.attach();
      client.updateFilters();
      await reached(client, 'limited');
      await isTold('settled');
      client.pauseReports();
      for (let n = 0; n < 3; n++) {
        publish(`${n}`.padEnd(500), { qos: 0 });
      }
      await until(() => warnings.some((text) => text.startsWith('reports arrive faster')));
      assert.equal(client.state.name, 'limited');
    });

    it('learns how many subscriptions it allows', async () => {
      const handler = { filters: (max: number) => (max < 3 ? [ALL] : [ALL, ...NARROW.slice(0, 2)]) };
      bench.broker.options.maxSubscriptions = 2;
      answerAll(bench.broker, ({ id }) => ({ id }));
      const client = create({ protocolVersion: 5 }, handler);
      client.attach();
      client.updateFilters();
      await until(() => client.subscriptions.max === 2);
      await reached(client, 'connected');
      await client.request(request(), { signal });
      const asked = bench.broker.packets('subscribe').flatMap(({ subscriptions }) => subscriptions);
      assert.equal(asked.at(-1)?.topic, responseFilter('+'));
    });

    it('waits for nothing more of it when it is closed', async () => {
      const { limits } = mqttSettings('');
      const client = await connect({ limits: { ...limits, maxSubscriptions: 10 } });
      await client.close();
      const { setTimeout: start } = globalThis;
      let started = 0;
      globalThis.setTimeout = ((...timer: Parameters<typeof start>) => {
        started++;
        return start(...timer);
      }) as typeof start;
      tick(3_600_000);
      globalThis.setTimeout = start;
      assert.equal(started, 0);
    });

    describe('one filter beside others that it covers', () => {
      let isCovered: boolean;
      const covering: Partial<ReportHandler> = {
        isCovering: (filter) => filter === ALL,
        filters: (_, { isRefused }) => (isRefused(ALL) || isCovered ? [...NARROW, ALL] : [ALL]),
      };
      const order = () =>
        bench.broker.received.flatMap(({ packet }) => {
          if (packet.cmd === 'subscribe') {
            return packet.subscriptions.some(({ topic }) => topic === ALL) ? ['asked'] : [];
          }
          return packet.cmd === 'unsubscribe' ? ['given back'] : [];
        });

      it('asks for it in their place', async () => {
        isCovered = true;
        bench.broker.options.maxSubscriptions = 8;
        const client = create({}, covering);
        client.attach();
        client.updateFilters();
        await until(() => client.isUnheard(ALL));
        const missed: boolean[] = [];
        news.on('state', () => missed.push(!client.hearsOn && !client.isGranted(ALL)));
        isCovered = false;
        await until(() => client.isGranted(ALL));
        await until(() => client.reportFilters.length === 1);
        assert.ok(missed.includes(true));
      });

      it('asks for it in their place, one of them first given back, where it has ended the connection', async () => {
        isCovered = false;
        bench.broker.options.refuses = (filter) => filter === ALL;
        bench.broker.options.refusesBy = 'close';
        const client = create({}, covering);
        client.attach();
        client.updateFilters();
        await passTimeUntil(until(() => NARROW.every((filter) => client.isGranted(filter))));
        bench.broker.received.length = 0;
        bench.broker.options.refuses = () => false;
        await passTimeUntil(until(() => client.isGranted(ALL)));
        assert.deepEqual(order().slice(0, 2), ['given back', 'asked']);
      });
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
      const settled: boolean[] = [];
      news.on('change', () => {
        const { state } = client;
        if (state.name === 'limited' && state.isSettled) {
          settled.push(client.isGranted(ONE));
        }
      });
      await until(() => client.isGranted(ONE));
      await isTold('settled');
      assert.deepEqual([...new Set(covered)], [ALL, `${ALL},${ONE}`]);
      assert.deepEqual([...new Set(settled)], [true]);
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
      const refusals: unknown[] = [];
      news.on('change', () => refusals.push(client.refusalOf([ALL])));
      await until(() => client.isGranted(ONE));
      await reached(client, 'connected');
      assert.deepEqual(client.reportFilters, [ONE]);
      assert.deepEqual([...new Set(refusals)], [undefined]);
      bench.broker.options.refuses = () => false;
      bench.broker.drop();
      await passTimeUntil(until(() => client.isGranted(ALL)));
    });

    it('asks for no wide one again on the next connection where that has ended one', async () => {
      const asked: boolean[] = [];
      bench.broker.options.refuses = (filter) => filter === ALL;
      bench.broker.options.refusesBy = 'close';
      const client = create(
        {},
        {
          isWidened: (filter) => filter === ALL,
          filters(_, { isAvoided }) {
            asked.push(isAvoided(ALL));
            return isAvoided(ALL) ? [ONE] : [ALL];
          },
        },
      );
      client.attach();
      client.updateFilters();
      await passTimeUntil(until(() => client.isGranted(ONE)));
      [asked.length, told.length] = [0, 0];
      bench.broker.drop();
      await reached(client, 'waiting');
      await passTimeUntil(isTold('settled'));
      client.updateFilters();
      await turn();
      assert.deepEqual([...new Set(asked)], [true]);
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
    publish('after it');
    await isTold('report after it');
    told.length = 0;
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
        // It is told at once, not when the broker has taken back what it was tried with.
        bench.broker.options.withhold = ['unsuback'];
        tick(1_000);
        await passRealTime();
        const isPlain = kind === 'plain';
        assert.equal(states.at(-1), isPlain ? 'limited' : 'connected');
        assert.equal(client.state.name, isPlain ? 'limited' : 'connected');
        assert.equal(client.isUnheard(ALL), isPlain);
        const reason = { key: 'reason.plainGroup', values: { group } };
        assert.deepEqual(client.refusalOf([ALL]), isPlain ? reason : undefined);
        assert.equal(warnings.length, isPlain ? 1 : 0);
        if (client.state.name === 'limited') {
          const { broker, refused, isSettled } = client.state;
          assert.deepEqual([broker, refused.size, isSettled], [bench.broker.url, 0, true]);
        }
        bench.broker.options.withhold = [];
        bench.broker.release();
      });
    }

    for (const [end, isTriedAgain] of [
      ['the broker', false],
      ['this', true],
    ] as const) {
      it(`is ${isTriedAgain ? '' : 'not '}tried by the next one where ${end} has ended the connection meanwhile`, async () => {
        const sharedGroup = `group-${isTriedAgain}-${process.pid}`;
        const start = () => {
          const client = create({ sharedGroup });
          client.attach();
          client.updateFilters();
          return client;
        };
        const first = start();
        await isTold('settled');
        bench.broker.options.withhold = ['suback'];
        await bench.broker.until(({ withheld }) => withheld.length > 0);
        bench.broker.options.withhold = [];
        if (!isTriedAgain) {
          bench.broker.drop();
          await reached(first, 'waiting');
        }
        await first.close();
        told.length = 0;
        start();
        await isTold('settled');
        await turn();
        await passRealTime();
        assert.equal(bench.broker.packets('publish').length, isTriedAgain ? 2 : 0);
      });
    }

    it('is unknown at once when the connection is lost', async () => {
      const client = await connect();
      bench.broker.options.withhold = ['suback'];
      const verdict = client.tryGroup(`lost-${process.pid}`, 5_000);
      await bench.broker.until(({ withheld }) => withheld.length > 0);
      bench.broker.drop();
      assert.equal(await verdict, 'unknown');
    });

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
    assert.deepEqual([client.state.name, states.at(-1)], ['connected', 'connected']);
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

  describe('while reports wait, at a broker that needs pings', () => {
    const pings = async () => {
      await passRealTime();
      return bench.broker.packets('pingreq').length;
    };
    const wait = async (client: MqttClient, text: string) => {
      client.pauseReports();
      publish(text);
      await passRealTime();
    };

    it('sends none for what it has given on', async () => {
      await connect();
      publish('1');
      await isTold('report 1');
      tick(30_000);
      assert.equal(await pings(), 0);
    });

    it('sends none for what waited before', async () => {
      const client = await connect();
      await wait(client, '1');
      tick(15_000);
      client.resumeReports();
      await wait(client, '2');
      tick(15_000);
      assert.equal(await pings(), 0);
    });

    it('goes on with them where flows have too much to confirm then', async () => {
      const client = await connect();
      await wait(client, '1');
      tick(15_000);
      says.isFull = true;
      client.resumeReports();
      tick(15_000);
      assert.equal(await pings(), 1);
    });

    it('sends none for what a connection has brought that is lost', async () => {
      const client = await connect({ keepalive: 20 });
      await wait(client, '1');
      told.length = 0;
      bench.broker.drop();
      await reached(client, 'waiting');
      await passTimeUntil(isTold('settled'));
      publish('2', { qos: 0 });
      await passRealTime();
      tick(10_000);
      assert.equal(await pings(), 0);
    });
  });

  describe('while people look', () => {
    const look = async (changes: Partial<MqttSettings> = {}) => {
      const client = await connect(changes);
      looked = [ONE];
      client.updateFilters();
      return client;
    };

    it('shows them what comes, over a connection of its own', async () => {
      filters = ['mt/gateway/+/other/#'];
      const client = await look();
      await until(() => client.isGranted(ONE));
      publish('1');
      await isTold('look 1');
      assert.equal(told.includes('report 1'), false);
      bench.broker.drop(bench.broker.received.find(({ packet }) => packet.cmd === 'connect')?.clientId);
      await until(() => !client.isGranted(ONE));
    });

    it('shows them no more than the broker takes', async () => {
      const client = await look({ protocolVersion: 5 });
      await until(() => client.isGranted(ONE));
      bench.broker.options.maxSubscriptions = 1;
      looked = [ONE, reportTopic('other')];
      client.updateFilters();
      await isTold('looks 1');
    });

    it('waits as ever when its connection is lost after it was asked whose session people get', async () => {
      mock.method(Math, 'random', () => 0.99);
      const client = await look({ persistent: true });
      await until(() => client.isGranted(ONE));
      bench.broker.drop();
      await reached(client, 'waiting');
      assert.match(warnings.at(-1) ?? '', /next attempt in 1\.5 s/);
    });

    it('is back soon at a broker that takes the connection for that of flows', async () => {
      const flows = mqttSettings('').clientId;
      bench.broker.options.intercept = (packet) => {
        if (packet.cmd === 'connect' && packet.clientId !== flows) {
          bench.broker.drop(flows);
          packet.clientId = flows;
          bench.broker.options.withhold = ['connack'];
        }
        return false;
      };
      mock.method(Math, 'random', () => 0.99);
      const client = await look({ persistent: true, clientId: flows });
      await reached(client, 'waiting');
      assert.match(warnings.at(-1) ?? '', /next attempt in 1 s/);
      bench.broker.options.withhold = [];
      bench.broker.release();
      await until(() => client.isPreviewRefused(ONE));
      tick(1_000);
      await reached(client, 'connected');
      assert.ok(client.isGranted(ALL));
    });
  });

  describe('that is closed', () => {
    it('gives on nothing that waited', async () => {
      const client = await connect();
      client.pauseReports();
      publish('1');
      await passRealTime();
      await client.close();
      tick(20_000);
      assert.deepEqual(
        told.filter((text) => /report|resumed/.test(text)),
        [],
      );
    });

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
