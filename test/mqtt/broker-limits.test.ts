// At brokers with limits: everything arrives within them, and no connection is made over and over.
import assert from 'node:assert/strict';
import type { ServiceError } from '../../src/errors.ts';
import { SILENT } from '../../src/log.ts';
import { brokerLimits } from '../../src/protocol/broker-profiles.ts';
import { Session } from '../../src/session.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';
import {
  answerAll,
  G,
  G2,
  heartbeat,
  reportTopic,
  requests,
  responseFilter,
  useScriptedBroker,
} from './scripted.ts';

const LONG_MS = 60_000;
const mac = (first: string, n: number) => `${first}${n.toString(16).padStart(11, '0')}`;
const devices = (count: number) => Array.from({ length: count }, (_, n) => mac('d', n));
const gateways = (count: number) => Array.from({ length: count }, (_, n) => mac('c', n));

/** The limits of a broker that is known, on top of none. */
function limits(known: Partial<MqttSettings['limits']>): Pick<MqttSettings, 'limits'> {
  return { limits: { ...mqttSettings('').limits, ...known } };
}

describe('a broker that takes few filters in a SUBSCRIBE', () => {
  const bench = useScriptedBroker();

  it('as AWS IoT does is never asked for more', async () => {
    bench.broker.options.maxFiltersPerSubscribe = 8;
    const session = bench.open(limits({ maxFiltersPerSubscribe: 8 }));
    session.subscribe({ ...ALL, devices: devices(60) }, new Collector());
    await reached(session, 'connected');
    assert.equal(bench.broker.connections.length, 1);
    assert.ok(bench.broker.packets('subscribe').every(({ subscriptions }) => subscriptions.length <= 8));
  });

  it('and is not known gets fewer after it has ended the connection once', async () => {
    bench.broker.options.maxFiltersPerSubscribe = 9;
    const session = bench.open();
    const collector = new Collector();
    session.subscribe({ ...ALL, devices: devices(60) }, collector);
    await reached(session, 'waiting');
    await reached(session, 'connected');
    assert.equal(bench.broker.connections.length, 2);
    for (const device of devices(60)) {
      bench.broker.publish(reportTopic('heartbeat', G, device), heartbeat(1));
    }
    await collector.until(({ reports }) => reports.length === 60);
  });

  it('is asked in packets of the size that it takes', async () => {
    bench.broker.options.maxPacketSize = 600;
    const session = bench.open();
    session.subscribe({ ...ALL, devices: devices(60) }, new Collector());
    await reached(session, 'waiting');
    await reached(session, 'connected');
    assert.equal(bench.broker.connections.length, 2);
  });
});

describe('a broker that ends the connection where it forbids a filter', function () {
  this.timeout(LONG_MS);
  const bench = useScriptedBroker();

  it('brings reports and the responses of others, and the request says what is wrong', async () => {
    const { broker } = bench;
    answerAll(broker, ({ id }) => ({ id, value: '01' }));
    broker.options.refuses = (filter) => filter === responseFilter(G2);
    broker.options.refusesBy = 'close';
    const session = bench.open({ requestTimeout: 30_000 });
    const collector = new Collector();
    session.subscribe(ALL, collector);
    await reached(session, 'connected');
    const { signal } = new AbortController();
    const ask = (gateway: string) => session.request('read', { gateway, identifier: '8001' }, { signal });
    const forbidden = assert.rejects(ask(G2), (error: ServiceError) => error.code === 'NOT_CONNECTED');
    await forbidden;
    await ask(G);
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await collector.until(({ reports }) => reports.length === 1);
    assert.ok(broker.connections.length <= 4, `${broker.connections.length} connections`);
  });
});

describe('a broker that allows few subscriptions', function () {
  this.timeout(LONG_MS);
  const bench = useScriptedBroker();

  for (const refusesBy of ['code', 'close'] as const) {
    for (const protocolVersion of [4, 5] as const) {
      const how = refusesBy === 'code' ? 'says no' : 'ends the connection';
      if (refusesBy === 'code' && protocolVersion === 4) {
        continue;
      }
      it(`and ${how} brings the responses of all gateways over one of them (MQTT ${protocolVersion})`, async () => {
        const { broker } = bench;
        answerAll(broker, ({ id }) => ({ id, value: '01' }));
        broker.options.maxSubscriptions = 50;
        broker.options.refusesBy = refusesBy;
        const session = bench.open({ requestTimeout: 15_000, protocolVersion });
        const collector = new Collector();
        session.subscribe(ALL, collector);
        await reached(session, 'connected');
        const { signal } = new AbortController();
        const asked = gateways(60).map((gateway) =>
          session.request('read', { gateway, identifier: '8001' }, { signal }),
        );
        const ended = await Promise.allSettled(asked);
        // What was sent just before a connection ends is not sent again.
        const done = ended.filter(({ status }) => status === 'fulfilled').length;
        assert.ok(refusesBy === 'close' || done === 60, `${done} of 60`);
        await Promise.all(
          gateways(60).map((gateway) => session.request('read', { gateway, identifier: '8001' }, { signal })),
        );
        broker.publish(reportTopic('heartbeat'), heartbeat(1));
        await collector.until(({ reports }) => reports.length === 1);
        // One that says nothing has to end three at the same number before that is believed.
        assert.ok(broker.connections.length <= 5, `${broker.connections.length} connections`);
      });
    }
  }

  it('and is known is asked for wider ones, and what they bring beyond the wishes reaches nobody', async () => {
    const { broker } = bench;
    broker.options.maxSubscriptions = 10;
    broker.options.refusesBy = 'close';
    const session = bench.open(limits({ maxSubscriptions: 10 }));
    const collector = new Collector();
    session.subscribe({ ...ALL, gateways: [G], devices: devices(30) }, collector);
    await reached(session, 'connected');
    assert.equal(broker.connections.length, 1);
    broker.publish(reportTopic('heartbeat', G, mac('d', 31)), heartbeat(1));
    broker.publish(reportTopic('heartbeat', G, mac('d', 3)), heartbeat(2));
    await collector.until(({ reports }) => reports.length > 0);
    assert.deepEqual(
      collector.reports.map(({ n }) => n),
      [2],
    );
  });
});

describe('a broker that takes long for many filters, of several nodes together', () => {
  const bench = useScriptedBroker();
  const subscribed = () =>
    [...bench.broker.sessions.values()].flatMap(({ subscriptions }) => [...subscriptions.keys()]);
  /** Ten nodes, each for the properties of its own devices by id and by name: 3 000 filters. */
  const open = () => {
    const session = bench.open({
      limits: brokerLimits('rabbitmq', { maxSubscriptions: 0, maxUnacknowledged: 0 }),
    });
    const collectors = Array.from({ length: 10 }, (_, n) => {
      const collector = new Collector();
      const own = Array.from({ length: 50 }, (_, index) => mac('d', 50 * n + index));
      session.subscribe(
        { ...ALL, kinds: ['property'], devices: own, identifiers: ['8100', '8101', '8102'] },
        collector,
      );
      return collector;
    });
    return { session, collectors };
  };

  it('is asked for fewer and wider ones, and each node gets its own reports', async () => {
    const { session, collectors } = open();
    await reached(session, 'connected');
    assert.ok(subscribed().length <= 1_000, `${subscribed().length} filters`);
    for (const n of [0, 499]) {
      bench.broker.publish(reportTopic('property/8101', G, mac('d', n)), heartbeat(n));
      bench.broker.publish(reportTopic('property/8200', G, mac('d', n)), heartbeat(n));
    }
    await collectors[9]!.until(({ reports }) => reports.length > 0);
    assert.deepEqual(
      collectors.map(({ reports }) => reports.map(({ n }) => n)),
      [[0], ...Array.from({ length: 8 }, () => []), [499]],
    );
  });

  it('is asked for all of them where it refuses the wider ones', async () => {
    bench.broker.options.refuses = (filter) => /[+#]$/.test(filter);
    const { session } = open();
    await bench.broker.until(() => subscribed().length === 3_000);
    await reached(session, 'connected');
  });
});

describe('a broker that takes few unacknowledged publishes', () => {
  const bench = useScriptedBroker();

  for (const protocolVersion of [4, 5] as const) {
    const how = protocolVersion === 5 ? 'says so' : 'is known for it';
    it(`and ${how} gets no more at a time, from all gateways together`, async () => {
      const { broker } = bench;
      broker.options.receiveMaximum = 10;
      broker.options.withhold = ['puback'];
      answerAll(broker, ({ id }) => ({ id, value: '01' }));
      const known = protocolVersion === 4 ? limits({ maxUnacknowledged: 10 }) : {};
      const session = bench.open({ ...known, protocolVersion, requestTimeout: 10_000 });
      const { signal } = new AbortController();
      const asked = gateways(5).flatMap((gateway) =>
        Array.from({ length: 8 }, () => session.request('read', { gateway, identifier: '8001' }, { signal })),
      );
      for (let count = 10; count <= 40; count += 10) {
        await broker.until(() => requests(broker).length === count);
        broker.release('puback');
      }
      await Promise.all(asked);
      assert.equal(broker.connections.length, 1);
    });
  }
});

describe('a broker that acknowledges no publish', () => {
  const bench = useScriptedBroker();

  for (const receiveMaximum of [1, 2]) {
    it(`though it takes ${receiveMaximum} at a time keeps no request waiting for ever`, async () => {
      bench.broker.options.withhold = ['puback'];
      const session = bench.open({ ...limits({ maxUnacknowledged: receiveMaximum }), requestTimeout: 200 });
      const { signal } = new AbortController();
      const asked = gateways(3).map((gateway) =>
        session.request('read', { gateway, identifier: '8001' }, { signal }),
      );
      const codes = (await Promise.allSettled(asked)).map(
        (one) => one.status === 'rejected' && one.reason.code,
      );
      const unsent = Array(3 - receiveMaximum).fill('NOT_CONNECTED');
      assert.deepEqual(codes, [...Array(receiveMaximum).fill('TIMEOUT'), ...unsent]);
    });
  }
});

describe('a request behind publishes that a broker has not acknowledged', () => {
  const bench = useScriptedBroker();

  it('has its whole time for the next acknowledgement, counted from when it came', async () => {
    const { broker } = bench;
    broker.options.withhold = ['puback'];
    const session = bench.open({ ...limits({ maxUnacknowledged: 1 }) });
    const { signal } = new AbortController();
    const ask = (timeout: number) =>
      session.request('read', { gateway: G, identifier: '8001' }, { signal, timeout }).then(
        () => 'answered',
        (error: ServiceError) => error.code,
      );
    const first = ask(60_000);
    await broker.until(() => requests(broker).length === 1);
    assert.equal(await ask(300), 'NOT_CONNECTED');
    // By now the last acknowledgement is older than what is left of this time.
    const start = performance.now();
    assert.equal(await ask(1_500), 'NOT_CONNECTED');
    assert.ok(performance.now() - start >= 1_500);
    answerAll(broker, ({ id }) => ({ id, value: '01' }));
    const last = ask(60_000);
    broker.release('puback');
    assert.equal(await last, 'answered');
    await session.close();
    assert.equal(await first, 'CLOSED');
  });
});

describe('a broker whose CONNACK has zeroes', () => {
  const bench = useScriptedBroker();

  it('gets requests all the same', async () => {
    bench.broker.options.connackProperties = { receiveMaximum: 0 };
    answerAll(bench.broker, ({ id }) => ({ id, value: '01' }));
    const session = bench.open({ protocolVersion: 5 });
    const { signal } = new AbortController();
    await session.request('read', { gateway: G, identifier: '8001' }, { signal });
  });
});

describe('a broker that says in its CONNACK', () => {
  const bench = useScriptedBroker();

  for (const [what, properties, changes, reason] of [
    ['that it has no wildcards', { wildcardSubscriptionAvailable: false }, {}, 'reason.wildcards'],
    [
      'that it has no shared subscriptions',
      { sharedSubscriptionAvailable: false },
      { sharedGroup: 'site' },
      'reason.sharedSubscriptions',
    ],
  ] as const) {
    it(`${what} is not asked for any, and the service says so`, async () => {
      bench.broker.options.connackProperties = properties;
      const session = bench.open({ protocolVersion: 5, ...changes });
      session.subscribe(ALL, new Collector());
      await reached(session, 'limited');
      const { mqtt } = session.state;
      assert.ok('reason' in mqtt && JSON.stringify(mqtt.reason).includes(reason), JSON.stringify(mqtt));
      assert.deepEqual(bench.broker.packets('subscribe'), []);
    });
  }

  it('that it has no shared subscriptions brings what does without', async () => {
    const { broker } = bench;
    broker.options.connackProperties = { sharedSubscriptionAvailable: false };
    answerAll(broker, ({ id }) => ({ id, value: '01' }));
    const session = bench.open({ protocolVersion: 5, sharedGroup: 'site' });
    session.subscribe(ALL, new Collector());
    const { signal } = new AbortController();
    await session.request('read', { gateway: G, identifier: '8001' }, { signal });
  });

  it('that it keeps a session shorter than asked for is told of, once', async () => {
    const { broker } = bench;
    broker.options.connackProperties = { sessionExpiryInterval: 600 };
    const warnings: string[] = [];
    const log = { ...SILENT, warn: (text: string) => void warnings.push(text) };
    const settings = mqttSettings(broker.url, { protocolVersion: 5, persistent: true, sessionExpiry: 3_600 });
    const session = new Session({ mqtt: settings }, log);
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    broker.drop();
    await reached(session, 'waiting');
    await reached(session, 'connected');
    await session.close([]);
    assert.deepEqual(
      warnings.filter((text) => text.includes('600 s')),
      [`${broker.url} keeps reports for 600 s while Node-RED is down, not for 3600 s`],
    );
  });
});

describe('a connection that is ended here', () => {
  const bench = useScriptedBroker();

  it('says nothing of the broker: a filter that was under way is asked for again', async () => {
    const { broker } = bench;
    broker.options.withhold = ['suback'];
    const session = bench.open();
    for (let times = 0; times < 3; times++) {
      const asked = broker.next('subscribe');
      const leave = session.subscribe({ ...ALL, gateways: [G] }, new Collector());
      await asked;
      leave();
      await reached(session, 'idle');
    }
    broker.options.withhold = [];
    session.subscribe({ ...ALL, gateways: [G] }, new Collector());
    await reached(session, 'connected');
  });
});

describe('a broker that takes only small packets', () => {
  const bench = useScriptedBroker();

  it('is not sent a larger request, which is told with both sizes', async () => {
    bench.broker.options.maxPacketSize = 1_000;
    answerAll(bench.broker, ({ id }) => ({ id }));
    const session = bench.open({ protocolVersion: 5 });
    const { signal } = new AbortController();
    const write = (value: string) =>
      session.request('write', { gateway: G, identifier: '8001', value }, { signal });
    await write('ab');
    await assert.rejects(write('ab'.repeat(2_000)), (error: ServiceError) => {
      assert.equal(error.code, 'INVALID_INPUT');
      assert.deepEqual(error.cause, { field: 'value', value: 'ab'.repeat(2_000) });
      return /4\d\d\d bytes.* 1000 /.test(error.message);
    });
    await write('ab');
    for (const field of ['publicKey', 'key'] as const) {
      const read = { gateway: G, identifier: '8001', [field]: 'ab'.repeat(2_000) };
      const shown = field === 'key' ? '***' : read[field];
      await assert.rejects(session.request('read', read, { signal }), (error: ServiceError) => {
        assert.deepEqual(error.cause, { field, value: shown });
        return error.code === 'INVALID_INPUT' && error.text.values.field === field;
      });
    }
    assert.equal(bench.broker.connections.length, 1);
  });
});

describe('a broker that takes a lower QoS only', () => {
  const bench = useScriptedBroker();

  for (const onHigher of ['disconnect', 'ignore'] as const) {
    it(`gets that one, where it would ${onHigher} a higher one`, async () => {
      const { broker } = bench;
      Object.assign(broker.options, { maxQos: 1, onHigherPublish: onHigher, onHigherSubscribe: onHigher });
      answerAll(broker, ({ id }) => ({ id, value: '01' }));
      const known = limits({ maxQos: 1 });
      const session = bench.open({ ...known, requestQos: 2, reportQos: 2 });
      const collector = new Collector();
      session.subscribe(ALL, collector);
      await reached(session, 'connected');
      const { signal } = new AbortController();
      await session.request('read', { gateway: G, identifier: '8001' }, { signal });
      broker.publish(reportTopic('heartbeat'), heartbeat(1));
      await collector.until(({ reports }) => reports.length === 1);
      assert.equal(broker.connections.length, 1);
    });
  }
});

describe('a broker that allows few shared subscriptions', () => {
  const bench = useScriptedBroker();

  it('is asked for no more of them, and the reports of all gateways come', async () => {
    const { broker } = bench;
    const session = bench.open({
      sharedGroup: 'g',
      limits: brokerLimits('azure-event-grid', { maxSubscriptions: 0, maxUnacknowledged: 0 }),
    });
    const collector = new Collector();
    const gateways = Array.from({ length: 30 }, (_, n) => `c${n.toString(16).padStart(11, '0')}`);
    session.subscribe({ ...ALL, gateways: [G, ...gateways] }, collector);
    await reached(session, 'connected');
    const asked = broker.packets('subscribe').flatMap(({ subscriptions }) => subscriptions);
    const shared = new Set(asked.map(({ topic }) => topic).filter((topic) => topic.startsWith('$share/g/')));
    assert.ok(shared.size > 0 && shared.size <= 10, [...shared].join());
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await collector.until(({ reports }) => reports.length === 1);
  });
});

describe('a broker of MQTT 3.1.1 that ends the connection at a publish with QoS 2', () => {
  const bench = useScriptedBroker();

  it('shows what it takes by what it grants, and gets requests with that', async () => {
    const { broker } = bench;
    Object.assign(broker.options, { maxQos: 1 });
    answerAll(broker, ({ id }) => ({ id, value: '01' }));
    const session = bench.open({ requestQos: 2 });
    session.attach();
    const { signal } = new AbortController();
    await session.request('read', { gateway: G, identifier: '8001' }, { signal });
    assert.deepEqual(
      broker.packets('publish').map(({ qos }) => qos),
      [1],
    );
    assert.equal(broker.connections.length, 1);
  });
});

describe('a subscription that is refused', () => {
  const bench = useScriptedBroker();

  it('is told where its reports are missing, and nowhere else', async () => {
    bench.broker.options.refuses = (filter) => filter.includes(G2);
    const session = bench.open();
    const [mine, other] = [
      { ...ALL, gateways: [G2] },
      { ...ALL, gateways: [G] },
    ];
    session.subscribe(mine, new Collector());
    session.subscribe(other, new Collector());
    await reached(session, 'limited');
    const reason = { key: 'reason.filterRefused', values: {}, consequence: 'retry' };
    const filter = `mt/gateway/${G2}/device/+/#`;
    assert.deepEqual(session.refusalOf(mine), { key: 'reason.filter', values: { filter, reason } });
    assert.equal(session.refusalOf(other), undefined);
  });

  it('is not told any more when no node wants it, though that of responses is refused as well', async () => {
    bench.broker.options.refuses = (filter) => filter.includes(G2);
    const session = bench.open();
    session.subscribe({ ...ALL, gateways: [G] }, new Collector());
    const leave = session.subscribe({ ...ALL, gateways: [G2] }, new Collector());
    await reached(session, 'limited');
    const abort = new AbortController();
    const refused = session.request('read', { gateway: G2, identifier: '8001' }, abort);
    await assert.rejects(refused, { code: 'NOT_CONNECTED' });
    leave();
    await reached(session, 'connected');
  });

  it('of responses is told by the request alone: reports go on', async () => {
    bench.broker.options.refuses = (filter) => filter.includes('/response/');
    const session = bench.open();
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    const { signal } = new AbortController();
    await assert.rejects(
      session.request('read', { gateway: G, identifier: '8001' }, { signal }),
      (error: ServiceError) => error.code === 'NOT_CONNECTED',
    );
    assert.equal(session.state.mqtt.name, 'connected');
  });
});
