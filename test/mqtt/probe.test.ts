// Test connection at brokers: it says what the service would meet, and the deployed connection goes on as if nothing were.
import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import { connectAsync } from 'mqtt';
import type { Phrase } from '../../src/errors.ts';
import { type BrokerProbe, probeBroker, probeConnected } from '../../src/mqtt/probe.ts';
import { noSuback } from '../../src/mqtt/reasons.ts';
import type { MqttState } from '../../src/mqtt/state.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { itAtScale } from '../at-scale.ts';
import { freePort, type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { startScriptedBroker } from '../scripted-broker/broker.ts';
import type { BrokerOptions } from '../scripted-broker/options.ts';
import { ALL, Collector, mqttSettings, openSession, reached } from '../session.ts';
import {
  G,
  G2,
  heartbeat,
  leaveSession,
  mockTime,
  passTimeUntil,
  reportTopic,
  restoreTime,
  useScriptedBroker,
} from './scripted.ts';

type Notes = Pick<BrokerProbe, 'notes'>;

/** What was said of each address. */
const addressesOf = ({ notes }: Notes) =>
  notes.map(({ key, values: { broker, reason } }) => [key, broker, (reason as Phrase).key]);

const notesOf = ({ notes }: Notes) => notes.map(({ key }) => key);

/** Also what is imported by its name from `node:timers/promises`. */
function mockWaits(): void {
  mockTime(7_000);
  syncBuiltinESMExports();
}
function restoreWaits(): void {
  restoreTime();
  syncBuiltinESMExports();
}

describe('the test of a broker connection', () => {
  beforeEach(mockWaits);
  afterEach(restoreWaits);
  const bench = useScriptedBroker();
  const probe = (changes: Partial<MqttSettings> = {}, filters?: string[]) =>
    passTimeUntil(probeBroker(mqttSettings(bench.broker.url, changes), filters));
  const clientIds = () => bench.broker.packets('connect').map(({ clientId }) => clientId);

  it('has a client id that begins like the deployed one, is another one, and no longer than brokers take', async () => {
    const deployed = ['mt-0123456789abcdef01', 'plant', 'x'.repeat(40), '工場'.repeat(9)];
    const results = await Promise.all(deployed.map((clientId) => probe({ clientId })));
    assert.ok(results.every(({ ok }) => ok));
    const ids = clientIds();
    for (const clientId of deployed) {
      const id = ids.find((one) => one.startsWith(clientId.slice(0, 5))) ?? '';
      assert.ok(id !== '' && id !== clientId, `${ids}`);
      assert.ok(Buffer.byteLength(id) <= Math.max(23, Buffer.byteLength(clientId)), id);
    }
  });

  it('asks for the filters of the deployed nodes, with their QoS, and for the responses of a gateway', async () => {
    const filters = [G, G2].map((gateway) => `mt/gateway/${gateway}/device/+/#`);
    assert.ok((await probe({ reportQos: 2 }, filters)).ok);
    const asked = bench.broker.packets('subscribe').flatMap(({ subscriptions }) => subscriptions);
    assert.deepEqual(
      asked.slice(0, 2).map(({ topic, qos }) => [topic, qos]),
      filters.map((topic) => [topic, 2]),
    );
    assert.match(asked[2]!.topic, /^mt\/gateway\/02[0-9a-f]{10}\/response\/#$/);
  });

  it('says how many subscriptions the deployed nodes need, and how many this broker has given', async () => {
    const filters = [G, G2].map((gateway) => `mt/gateway/${gateway}/device/+/#`);
    const { notes } = await probe({}, filters);
    assert.deepEqual(notes, [{ key: 'check.subscriptions', values: { needed: 2, inUse: 2 } }]);
  });

  it('says below which topics nothing was heard only where all of them were listened to', async () => {
    const all = 'mt/gateway/+/device/+/#';
    const results = await Promise.all(
      [[], [all], ['mt/gateway/+/device/+/event/+']].map((one) => probe({}, one)),
    );
    assert.deepEqual(
      results.map(({ text }) => text.key),
      ['check.silent', 'check.silent', 'check.unheard'],
    );
  });

  it('says which filter of the nodes is refused', async () => {
    bench.broker.options.refuses = (filter) => filter.includes(G2);
    const { ok, text } = await probe(
      {},
      [G, G2].map((gateway) => `mt/gateway/${gateway}/device/+/#`),
    );
    assert.equal(ok, false);
    assert.match(JSON.stringify(text), new RegExp(G2));
  });

  it('says how many filters of the nodes are refused, and names the first', async () => {
    const filters = [G, G2].map((gateway) => `mt/gateway/${gateway}/device/+/#`);
    bench.broker.options.refuses = (filter) => filters.includes(filter);
    const { text } = await probe({}, filters);
    const { key, values } = text.values.reason as Phrase;
    assert.deepEqual([key, values.filter, values.others], ['reason.filters', filters[0], 1]);
  });

  for (const refusesBy of ['code', 'close'] as const) {
    it(`says that requests would fail where responses are refused by ${refusesBy}`, async () => {
      bench.broker.options.refuses = (filter) => filter.includes('/response/');
      bench.broker.options.refusesBy = refusesBy;
      const result = await probe();
      assert.ok(result.ok);
      assert.deepEqual(notesOf(result), ['check.noResponses']);
    });
  }

  it('tries a shared group with messages of its own, and is no member of it', async () => {
    const result = await probe({ sharedGroup: 'plant' });
    assert.deepEqual([result.ok, notesOf(result)], [true, []]);
    const filters = bench.broker.packets('subscribe').flatMap(({ subscriptions }) => subscriptions);
    const shared = filters.filter(({ topic }) => topic.startsWith('$share/plant/'));
    assert.equal(shared.length, 1);
    assert.match(shared[0]!.topic, /\/request\/02/);
  });

  it('fails where the broker takes a shared group for a plain topic', async () => {
    bench.broker.options.sharedSubscriptions = 'plain';
    const result = await probe({ sharedGroup: 'plant' });
    assert.deepEqual(
      [result.ok, result.notes],
      [false, [{ key: 'check.plainGroup', values: { group: 'plant' } }]],
    );
  });

  it('names a group that it could not try', async () => {
    bench.broker.options.refuses = (filter) => filter.includes('/request/');
    const result = await probe({ sharedGroup: 'plant' });
    assert.deepEqual(
      [result.ok, result.notes],
      [true, [{ key: 'check.untriedGroup', values: { group: 'plant' } }]],
    );
  });

  it('leaves nothing behind at a broker that keeps sessions', async () => {
    const versions = [4, 5] as const;
    const results = await Promise.all(
      versions.map((protocolVersion) => probe({ persistent: true, protocolVersion })),
    );
    assert.ok(results.every(({ ok }) => ok));
    assert.equal(bench.broker.sessions.size, 0);
  });

  it('asks no broker whose session it gives where the service has none there', async () => {
    assert.ok((await probe()).ok);
    assert.deepEqual(
      bench.broker.packets('connect').map(({ clean }) => clean),
      [true],
    );
  });

  it('begins without a session only at the broker that has said whose it gives', async () => {
    const second = await startScriptedBroker();
    try {
      const { broker } = bench;
      // It is away just then.
      broker.options.connackCode = ({ clean }) => (clean ? 0 : 3);
      const result = await probe({ persistent: true, brokers: [broker.url, second.url] });
      assert.deepEqual([result.ok, result.text.key], [true, 'check.silent']);
      assert.deepEqual(
        [broker, second].map((one) => one.packets('connect').map(({ clean }) => clean)),
        [[false], [false, true]],
      );
      assert.equal(second.sessions.size, 0);
    } finally {
      await second.stop();
    }
  });

  it('tells how many gateways were heard, of what a gateway can have sent', async () => {
    bench.broker.options.intercept = (packet) => {
      if (
        packet.cmd === 'subscribe' &&
        packet.subscriptions.some(({ topic }) => topic.includes('/device/'))
      ) {
        setImmediate(() => {
          for (const gateway of [G, G2, G, 'no-gateway']) {
            bench.broker.publish(reportTopic('heartbeat', gateway), heartbeat(1));
          }
        });
      }
      return false;
    };
    const { ok, text, gateways, notes, proxies } = await probe();
    assert.deepEqual([ok, text], [true, { key: 'check.heard', values: { gateways: 2 } }]);
    assert.deepEqual([gateways, notes, proxies], [2, [], []]);
  });

  it('tells the root of the topics below which nothing was heard', async () => {
    const { text } = await probe({ topicPrefix: 'plant' });
    assert.deepEqual(text, { key: 'check.silent', values: { root: 'plant/mt/gateway/' } });
  });

  it('says how many subscriptions the broker allows where that is known', async () => {
    const limits = { ...mqttSettings('').limits, maxSubscriptions: 3 };
    const filters = [G, G2].map((gateway) => `mt/gateway/${gateway}/device/+/#`);
    const { notes } = await probe({ limits }, filters);
    assert.deepEqual(notes[0], {
      key: 'check.subscriptionsOf',
      values: { needed: 2, inUse: 2, max: 3 },
    });
  });

  for (const [title, changes, options, key] of [
    ['refuses the login', {}, { connackCode: 5 }, 'reason.notAuthorized'],
    [
      'refuses the login of a client that it keeps a session for',
      { persistent: true },
      { connackCode: 5 },
      'reason.notAuthorized',
    ],
    ['does not answer', {}, { withhold: ['connack'] }, 'reason.noAnswer'],
  ] as [string, Partial<MqttSettings>, Partial<BrokerOptions>, string][]) {
    it(`fails where the broker ${title}`, async () => {
      Object.assign(bench.broker.options, options);
      const start = performance.now();
      const { ms, text, ...found } = await probe(changes);
      assert.deepEqual(found, { ok: false, notes: [], gateways: 0, missed: 0, proxies: [] });
      assert.equal(text.key, 'check.noBroker');
      assert.equal((text.values.reason as Phrase).key, key);
      const isOver = key === 'reason.noAnswer';
      assert.equal(ms, isOver ? 6_000 : 0);
      // Nothing is listened to.
      assert.ok(performance.now() - start < 6_500);
      await bench.broker.until(({ openConnections }) => openConnections.length === 0);
    });
  }

  it('tells through which proxy a broker could not be reached', async () => {
    const port = await freePort();
    const proxy = { addresses: { ws: `http://127.0.0.1:${port}` }, exceptions: '' };
    for (const persistent of [false, true]) {
      const { ok, text, proxies } = await probe({ brokers: ['ws://broker.example'], proxy, persistent });
      assert.deepEqual([ok, proxies], [false, [`127.0.0.1:${port}`]]);
      assert.equal((text.values.reason as Phrase).key, 'error.NETWORK.proxyUnreachable');
    }
  });

  it('is about the broker of a list that is connected, not about the proxies of the others', async () => {
    const proxy = { addresses: { ws: `http://127.0.0.1:${await freePort()}` }, exceptions: '' };
    const { ok, proxies } = await probe({ brokers: ['ws://broker.example', bench.broker.url], proxy });
    assert.deepEqual([ok, proxies], [true, []]);
  });

  it('connects to each broker of a list, listens to the first that is there, and says of each how it is', async () => {
    const second = await startScriptedBroker();
    const third = await startScriptedBroker();
    try {
      bench.broker.options.connackCode = 5;
      const brokers = [bench.broker.url, second.url, third.url];
      const { ok, text, missed, ...result } = await probe({ brokers });
      assert.deepEqual([ok, text.key, missed], [true, 'check.silent', 1]);
      assert.deepEqual(addressesOf(result), [
        ['check.address', brokers[0], 'reason.notAuthorized'],
        ['check.address', brokers[1], 'status.connected'],
        ['check.address', brokers[2], 'status.connected'],
      ]);
      const subscribed = [bench.broker, second, third].map((one) => one.packets('subscribe').length > 0);
      assert.deepEqual(subscribed, [false, true, false]);
    } finally {
      await Promise.all([second.stop(), third.stop()]);
    }
  });

  it('leaves nothing behind at any broker of a list', async () => {
    const second = await startScriptedBroker();
    try {
      const brokers = [bench.broker.url, second.url];
      for (const times of [1, 2]) {
        const { ok } = await probe({ persistent: true, clientId: 'mt-same', brokers });
        const left = [bench.broker, second].map(({ sessions }) => sessions.size);
        // Nor is there anything to be ended by the next test.
        const logins = [bench.broker, second].map((one) => one.packets('connect').length);
        assert.deepEqual([ok, left, logins], [true, [0, 0], [2 * times, 2 * times]]);
      }
    } finally {
      await second.stop();
    }
  });

  it('leaves another test of the same service alone', async () => {
    const settings = { persistent: true, clientId: 'mt-same' };
    const results = await Promise.all([probe(settings), probe(settings)]);
    assert.deepEqual(
      results.map(({ ok, text }) => [ok, text.key]),
      [
        [true, 'check.silent'],
        [true, 'check.silent'],
      ],
    );
    assert.equal(bench.broker.sessions.size, 0);
  });

  it('has the next test end the session of one that failed after its question', async () => {
    const { broker } = bench;
    const settings = { persistent: true, clientId: 'mt-same' };
    broker.options.connackCode = ({ clean }) => (clean ? 3 : 0);
    assert.equal((await probe(settings)).ok, false);
    assert.equal(broker.sessions.size, 1);
    broker.options.connackCode = 0;
    // What is refused later has ended it.
    broker.options.refuses = () => true;
    assert.equal((await probe(settings)).ok, false);
    broker.options.refuses = () => false;
    assert.equal((await probe(settings)).ok, true);
    assert.equal(broker.sessions.size, 0);
    assert.equal(broker.packets('connect').length, 2 + 3 + 2);
  });

  it('says of each broker of a list why it cannot be used', async () => {
    const second = await startScriptedBroker();
    try {
      bench.broker.options.connackCode = 5;
      second.options.connackCode = 3;
      const { ok, text, missed, ...result } = await probe({ brokers: [bench.broker.url, second.url] });
      assert.deepEqual([ok, text.key, missed], [false, 'check.noBroker', 2]);
      assert.equal((text.values.reason as Phrase).key, 'reason.notAuthorized');
      assert.deepEqual(addressesOf(result), [
        ['check.address', bench.broker.url, 'reason.notAuthorized'],
        ['check.address', second.url, 'reason.unavailable'],
      ]);
    } finally {
      await second.stop();
    }
  });

  it('goes on to the next broker of a list where one does not answer', async () => {
    const second = await startScriptedBroker();
    try {
      bench.broker.options.withhold = ['connack'];
      const brokers = [bench.broker.url, second.url];
      const { ok, missed, ...result } = await probe({ persistent: true, brokers });
      assert.deepEqual([ok, missed], [true, 1]);
      assert.deepEqual(addressesOf(result), [
        ['check.address', brokers[0], 'reason.noAnswer'],
        ['check.address', brokers[1], 'status.connected'],
      ]);
    } finally {
      await second.stop();
    }
  });

  for (const [delays, expected] of [
    [
      [Number.POSITIVE_INFINITY, 2_500],
      ['reason.noAnswer', 'status.connected'],
    ],
    // What listening to the first one takes is not missing for the others.
    [
      [0, 4_000],
      ['status.connected', 'status.connected'],
    ],
    [
      [0, 0, 7_000],
      ['status.connected', 'status.connected', 'reason.noAnswer'],
    ],
  ] as const) {
    it(`gives each broker of a list its part of what is left: they answer after ${delays} ms`, async () => {
      const brokers = await Promise.all(delays.map(() => startScriptedBroker()));
      try {
        for (const [i, { options, release }] of brokers.entries()) {
          options.withhold = ['connack'];
          options.intercept = ({ cmd }) => {
            if (cmd === 'connect' && delays[i] !== Number.POSITIVE_INFINITY) {
              setTimeout(() => release.call(brokers[i], 'connack'), delays[i]);
            }
            return false;
          };
        }
        const { notes } = await probe({ brokers: brokers.map(({ url }) => url) });
        const reasons = addressesOf({ notes: notes.filter(({ key }) => key === 'check.address') });
        assert.deepEqual(
          reasons.map(([, , reason]) => reason),
          expected,
        );
      } finally {
        await Promise.all(brokers.map((broker) => broker.stop()));
      }
    });
  }

  it('names the brokers of a list that there was no time for', async () => {
    bench.broker.options.withhold = ['connack'];
    const { url } = bench.broker;
    const start = performance.now();
    const { notes, missed } = await probe({ brokers: Array(8).fill(url) });
    assert.equal(missed, 8);
    assert.deepEqual(notes.at(-1), {
      key: 'check.untried',
      values: { names: `${url}, ${url}` },
    });
    assert.ok(performance.now() - start < 7_000);
  });

  it('connects in the time that the caller has left of it', async () => {
    bench.broker.options.withhold = ['connack'];
    const { url } = bench.broker;
    const settings = mqttSettings(url, { brokers: [url, url] });
    const start = performance.now();
    const { notes } = await passTimeUntil(probeBroker(settings, [], { spentMs: 6_000 }));
    assert.deepEqual(notes.at(-1), { key: 'check.untried', values: { names: url } });
    assert.ok(performance.now() - start < 2_000);
  });

  it('asks no further broker of a list when one keeps a session for the user', async () => {
    const second = await startScriptedBroker();
    try {
      const { broker } = bench;
      const clientId = await leaveSession(broker, [reportTopic('#')]);
      broker.options.intercept = (packet) => {
        if (packet.cmd === 'connect') {
          packet.clientId = clientId;
        }
        return false;
      };
      const { ok, text, notes } = await probe({ persistent: true, brokers: [broker.url, second.url] });
      assert.deepEqual([ok, text.key, second.connections.length], [true, 'check.keptSession', 0]);
      assert.deepEqual(notes.at(-1), { key: 'check.untried', values: { names: second.url } });
    } finally {
      await second.stop();
    }
  });

  it('has time for two logins that take long', async () => {
    const { broker } = bench;
    broker.options.withhold = ['connack'];
    broker.options.intercept = ({ cmd }) => {
      if (cmd === 'connect') {
        setTimeout(() => broker.release('connack'), 2_500);
      }
      return false;
    };
    const { ok, text } = await probe({ persistent: true });
    assert.deepEqual([ok, text.key], [true, 'check.silent']);
    assert.equal(broker.packets('connect').length, 2);
    assert.equal(broker.sessions.size, 0);
  });

  for (const [fault, message] of [
    [new Error('not\nknown'), 'not known'],
    ['a text', 'a text'],
  ] as const) {
    it(`fails in words where something else goes wrong: ${message}`, async () => {
      const settings = mqttSettings(bench.broker.url);
      const get = () => {
        throw fault;
      };
      Object.defineProperty(settings, 'topicPrefix', { enumerable: true, get });
      const reason = { key: 'reason.other', values: { message } };
      assert.deepEqual(await probeBroker(settings), {
        ...{ ok: false, notes: [], gateways: 0, missed: 0, proxies: [], ms: 0 },
        text: { key: 'check.noBroker', values: { reason } },
      });
    });
  }

  it('does not say that requests work where the broker does not answer whether they do', async () => {
    bench.broker.options.intercept = (packet) =>
      packet.cmd === 'subscribe' && packet.subscriptions.some(({ topic }) => topic.includes('/response/'));
    const start = performance.now();
    const result = await probe();
    assert.deepEqual([result.ok, notesOf(result)], [true, ['check.noResponses']]);
    // It is not waited for longer than reports are.
    assert.ok(performance.now() - start < 4_000);
  });

  it('tries no shared group at a broker that is known to have them', async () => {
    bench.broker.options.sharedSubscriptions = 'plain';
    const limits = { ...mqttSettings('').limits, hasSharedGroups: true };
    const result = await probe({ sharedGroup: 'plant', limits });
    assert.deepEqual([result.ok, notesOf(result)], [true, []]);
    const filters = bench.broker.packets('subscribe').flatMap(({ subscriptions }) => subscriptions);
    assert.ok(!filters.some(({ topic }) => topic.startsWith('$share/')));
  });

  itAtScale('counts 10 000 gateways at most', async () => {
    bench.broker.options.intercept = (packet) => {
      if (
        packet.cmd === 'subscribe' &&
        packet.subscriptions.some(({ topic }) => topic.includes('/device/'))
      ) {
        setImmediate(() => {
          for (let n = 0; n < 10_001; n++) {
            const gateway = `c${n.toString(16).padStart(11, '0')}`;
            bench.broker.publish(reportTopic('heartbeat', gateway), heartbeat(1), { qos: 0 });
          }
        });
      }
      return false;
    };
    assert.equal((await probe()).gateways, 10_000);
  });
});

describe('the test of a broker connection that is there', () => {
  beforeEach(() => {
    mockWaits();
    pinged = [];
  });
  afterEach(restoreWaits);

  const topics = createTopics('');
  const reason = noSuback();
  const broker = 'mqtt://broker';
  const limited: MqttState = { name: 'limited', broker, reason, refused: new Map(), isSettled: true };
  const all = topics.reportFilter({});
  let pinged: (number | undefined)[];

  /** @param states before and after it has listened */
  const probe = (
    states: MqttState[],
    {
      ping = 5,
      filters = [all],
      gateways = 0,
    }: { ping?: number | null; filters?: string[]; gateways?: number } = {},
  ) =>
    passTimeUntil(
      probeConnected(
        {
          get state() {
            return states.length > 1 ? (states.shift() as MqttState) : (states[0] as MqttState);
          },
          subscriptions: { needed: 2, inUse: 1, max: undefined },
          reportFilters: filters,
          async ping(timeout) {
            pinged.push(timeout);
            return ping ?? undefined;
          },
        },
        topics,
        (since) => {
          pinged.push(performance.now() - since);
          return gateways;
        },
      ),
    );

  const notes = [
    { key: 'check.subscriptions', values: { needed: 2, inUse: 1 } },
    { key: 'check.deployed', values: {} },
  ];
  for (const [title, states, given, ok, text] of [
    [
      'hears gateways',
      [{ name: 'connected', broker }],
      { gateways: 3 },
      true,
      { key: 'check.heard', values: { gateways: 3 } },
    ],
    [
      'hears nothing of all there is',
      [{ name: 'overloaded', broker, lost: 1 }],
      {},
      true,
      { key: 'check.silent', values: { root: 'mt/gateway/' } },
    ],
    [
      'hears nothing of a part',
      [{ name: 'connected', broker }],
      { filters: ['mt/gateway/+/device/+/event/+'] },
      true,
      { key: 'check.unheard', values: {} },
    ],
    [
      'listens to nothing',
      [{ name: 'connected', broker }],
      { filters: [] },
      true,
      { key: 'check.idle', values: {} },
    ],
    [
      'has no answer',
      [{ name: 'connected', broker }],
      { ping: null },
      false,
      { key: 'check.noPing', values: {} },
    ],
    ['is refused a subscription', [limited], {}, false, { key: 'check.noBroker', values: { reason } }],
    [
      'is lost meanwhile',
      [
        { name: 'connected', broker },
        { name: 'waiting', broker, reason },
      ],
      {},
      false,
      { key: 'check.noBroker', values: { reason } },
    ],
  ] as [string, MqttState[], Parameters<typeof probe>[1], boolean, object][]) {
    it(`${title}: ${ok ? 'good' : 'not good'}`, async () => {
      assert.deepEqual(await probe(states, given), {
        ...{ ok, text, notes, proxies: [], missed: 0 },
        ...{ ms: given?.ping === null ? 3_000 : 5, gateways: given?.gateways ?? 0 },
      });
      // It was asked for three seconds, and listened to for as long.
      assert.deepEqual(pinged, [3_000, 3_000]);
    });
  }

  for (const name of ['connecting', 'waiting', 'refused', 'idle', 'closed'] as const) {
    it(`is none while the connection is ${name}`, async () => {
      assert.equal(await probe([{ name, broker, reason } as MqttState]), undefined);
      assert.deepEqual(pinged, [3_000]);
    });
  }
});

describe('a broker that takes the name of the user for the client id', () => {
  let mosquitto: Mosquitto;
  const login = { username: 'plant', password: 'x', persistent: true };

  before(async function () {
    requirePrograms(this, 'mosquitto');
    mosquitto = await startMosquitto(['use_username_as_clientid true']);
  });
  after(() => mosquitto?.stop());

  for (const protocolVersion of [4, 5] as const) {
    it(`still has for the service what waits there after a test, with MQTT ${protocolVersion}`, async () => {
      const settings = mqttSettings(mosquitto.url, { ...login, protocolVersion });
      const first = openSession(mosquitto.url, settings);
      first.subscribe(ALL, new Collector());
      await reached(first, 'connected');
      await first.close();
      const count = 5;
      const gateway = await connectAsync(mosquitto.url, { username: 'gateway' });
      for (let n = 0; n < count; n++) {
        await gateway.publishAsync(reportTopic('heartbeat'), JSON.stringify(heartbeat(n)), { qos: 1 });
      }
      await gateway.endAsync();
      // The deployed service keeps its session, also where the settings that are tried do not.
      for (const persistent of [true, false]) {
        const { ok, text } = await probeBroker({ ...settings, persistent }, [], { mayEndSession: false });
        assert.deepEqual([ok, text.key], [true, 'check.keptSession']);
      }

      const second = openSession(mosquitto.url, settings);
      const collector = new Collector();
      second.subscribe(ALL, collector);
      await collector.until(({ reports }) => reports.length === count);
      await second.close([]);
    });
  }
});
