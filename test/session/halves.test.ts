// A service of which one half is missing, wrong or there: what each half gives the other, and what needs it without it.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { ServiceError } from '../../src/errors.ts';
import { SILENT } from '../../src/log.ts';
import type { WatchSettings } from '../../src/network/watch-context.ts';
import type { Report } from '../../src/protocol/reports/index.ts';
import { Session, type Subscriber } from '../../src/session.ts';
import type { Settings } from '../../src/settings.ts';
import { answerAll, D, G, G2, heartbeat, reportTopic, TIME, useScriptedBroker } from '../mqtt/scripted.ts';
import { json, settingsFor, startServer, type TestServer } from '../rest/server.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';

const { signal } = new AbortController();
const WATCH: WatchSettings = {
  ...{ gateways: [], devices: [D], labels: [], silentAfter: 0 },
  ...{ batteryBelow: 20, batteryFine: 0, signalBelow: -85 },
  conditions: ['silent'],
};
const IGNORED: Subscriber = { report() {}, error() {} };

describe('a service', () => {
  const bench = useScriptedBroker();
  const sessions: Session[] = [];
  let server: TestServer;

  before(async () => {
    const devices = [
      { id: `bmac-${G}`, friendlyName: 'Attic', labels: ['hall'] },
      { id: `bmac-${D}`, friendlyName: 'Door', labels: [] },
    ];
    server = await startServer((_, response) => json(response, { items: devices }));
  });
  after(() => server.stop());
  afterEach(() => Promise.all(sessions.splice(0).map((session) => session.close())));

  function open(settings: Settings, log = SILENT): Session {
    const session = new Session(settings, log);
    sessions.push(session);
    return session;
  }
  const rest = () => settingsFor(server.url);
  const mqtt = (changes = {}) => mqttSettings(bench.broker.url, changes);

  const thrownBy = async (call: () => unknown): Promise<ServiceError> => {
    try {
      await call();
    } catch (error) {
      assert.ok(error instanceof ServiceError, String(error));
      return error;
    }
    return assert.fail('nothing thrown');
  };
  const needsBroker: [string, (session: Session) => unknown][] = [
    ['all reports', (session) => session.allReports],
    ['reports', (session) => session.subscribe(ALL, IGNORED)],
    ['a preview', (session) => session.preview(ALL)],
    ['a request', (session) => session.request('read', { gateway: G, identifier: 'motion' }, { signal })],
    [
      'an acknowledgement',
      (session) =>
        session.acknowledge(
          {
            kind: 'timestamped',
            ack: true,
            form: 'decoded',
            gateway: G,
            device: D,
            identifier: 'motion',
            timestamp: TIME,
          },
          { signal, wait: true },
        ),
    ],
    ['values', (session) => session.values.record({})],
  ];

  for (const [title, call] of needsBroker) {
    it(`without a broker says so to who wants ${title}, or what is wrong with it`, async () => {
      const { code, cause, text } = await thrownBy(() => call(open({ rest: rest() })));
      assert.deepEqual(
        [code, text.key, { ...cause }],
        ['NOT_CONFIGURED', 'NOT_CONFIGURED.mqtt', { part: 'mqtt' }],
      );
      const problem = new ServiceError('INVALID_INPUT', 'notMac', { field: 'brokers' });
      assert.equal(await thrownBy(() => call(open({ problems: { mqtt: problem } }))), problem);
    });
  }

  it('without REST has no calls and no labels, and says why', async () => {
    const problem = new ServiceError('INVALID_INPUT', 'notMac', { field: 'baseUrl' });
    for (const call of [
      (session: Session) => session.rest,
      (session: Session) => session.values.all({}, { signal, labels: ['hall'], maxAge: 0, tooOld: 'send' }),
    ]) {
      const { code, cause } = await thrownBy(() => call(open({ mqtt: mqtt() })));
      assert.deepEqual([code, { ...cause }], ['NOT_CONFIGURED', { part: 'rest' }]);
      assert.equal(await thrownBy(() => call(open({ mqtt: mqtt(), problems: { rest: problem } }))), problem);
    }
  });

  it('whose REST settings are wrong waits with reports by labels, and refuses them where there are none', async () => {
    const filter = { ...ALL, labels: ['hall'] };
    const problem = new ServiceError('INVALID_INPUT', 'notMac', { field: 'baseUrl' });
    const states: unknown[] = [];
    const session = open({ mqtt: mqtt(), problems: { rest: problem } });
    session.subscribe(filter, { ...IGNORED, labels: (state) => states.push(state) });
    assert.equal(session.areReportsAsked, true);
    assert.ok(states.length > 0);
    const { code } = await thrownBy(() => open({ mqtt: mqtt() }).subscribe(filter, IGNORED));
    assert.equal(code, 'NOT_CONFIGURED');
  });

  it('tells which halves it has, and their states', () => {
    const fault = new Error('wrong');
    for (const [settings, configured, states] of [
      [{}, { rest: false, mqtt: false }, { mqtt: { name: 'unconfigured' }, rest: { name: 'unconfigured' } }],
      [
        { problems: { mqtt: fault } },
        { rest: false, mqtt: false },
        { mqtt: { name: 'invalid', problem: fault }, rest: { name: 'unconfigured' } },
      ],
      [
        { rest: rest(), mqtt: mqtt() },
        { rest: true, mqtt: true },
        { mqtt: { name: 'idle' }, rest: { name: 'idle' } },
      ],
    ] as [Settings, object, object][]) {
      const session = open(settings);
      assert.deepEqual(session.configured, configured);
      assert.deepEqual(session.state, states);
    }
  });

  it('is wrong where the addresses of a half are, and not where it has none', () => {
    const fault = new Error('wrong');
    const session = open({ problems: { mqtt: fault } });
    assert.throws(() => session.checkHalf('mqtt'), fault);
    session.checkHalf('rest');
    open({}).checkHalf('mqtt');
  });

  it('without a broker does nothing where that is not needed', async () => {
    const session = open({ rest: rest() });
    session.attach()();
    session.pauseReports();
    session.resumeReports();
    assert.deepEqual(
      [session.recording, session.testReports, session.player, session.subscriptions, await session.probe()],
      [undefined, undefined, undefined, undefined, undefined],
    );
    assert.deepEqual(
      [session.areReportsAsked, session.reportFilters, session.isConnectionUsed, session.refusalOf(ALL)],
      [false, [], false, undefined],
    );
    assert.deepEqual(session.findSilent([D]), {});
    assert.deepEqual([session.confirm('x'), session.sendAgain('x', 5)], [false, false]);
    assert.deepEqual(await session.acknowledge({ kind: 'event' }, { signal, wait: true }), { sent: false });
  });

  it('with a broker has what people use to look at reports', () => {
    const session = open({ mqtt: mqtt() });
    assert.equal(session.recording, session.allReports.recording);
    assert.ok(session.testReports && session.player && session.subscriptions);
    assert.deepEqual([session.areReportsAsked, session.isConnectionUsed], [false, false]);
    const detach = session.attach();
    assert.equal(session.isConnectionUsed, true);
    detach();
  });

  it('is asked for reports by flows and by people, and while flows are replaced', async () => {
    const session = open({ mqtt: mqtt() });
    session.pauseReports();
    assert.equal(session.areReportsAsked, true);
    session.resumeReports();
    assert.equal(session.areReportsAsked, false);
    const end = session.subscribe(ALL, IGNORED);
    await reached(session, 'connected');
    assert.deepEqual([session.areReportsAsked, session.reportFilters], [true, ['mt/gateway/+/device/+/#']]);
    end();
    while (session.reportFilters.length > 0) {
      await turn();
    }
    assert.equal(session.areReportsAsked, false);
    const detach = session.attach();
    await reached(session, 'connected');
    assert.equal(session.areReportsAsked, false);
    while (!session.allReports.listen().isHearing) {
      await turn();
    }
    assert.equal(session.areReportsAsked, true);
    detach();
  });

  it('tells its state at once and at every change, until that is stopped, also where a listener fails', async () => {
    const warnings: string[] = [];
    const session = open({ mqtt: mqtt() }, { ...SILENT, warn: (text: string) => void warnings.push(text) });
    const [names, stopped]: [string[], string[]] = [[], []];
    session.onState(({ mqtt: { name } }) => {
      if (name === 'connecting') {
        throw new Error('a mistake');
      }
    });
    session.onState(({ mqtt: { name } }) => names.push(name));
    session.onState(({ mqtt: { name } }) => stopped.push(name))();
    session.attach();
    await reached(session, 'connected');
    assert.deepEqual([...new Set(names)], ['idle', 'connecting', 'connected']);
    assert.deepEqual(stopped, ['idle']);
    assert.deepEqual(
      new Set(warnings.filter((text) => text.includes('mistake'))),
      new Set(['a listener to the state failed: Error: a mistake']),
    );
    await session.close();
    const { length } = names;
    session.attach();
    assert.equal(names.length, length);
  });

  for (const names of [true, false]) {
    it(`${names ? 'carries' : 'does not carry'} the names of its list of devices where that is ${names ? 'wanted' : 'not wanted'}`, async () => {
      const session = open({ mqtt: mqtt(), rest: rest(), names });
      assert.equal(session.carriesNames, names);
      const reports: Report[] = [];
      session.subscribe(ALL, { ...IGNORED, report: (report) => reports.push(report) });
      await reached(session, 'connected');
      await session.devices?.refresh(0, signal);
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
      while (reports.length === 0) {
        await turn();
      }
      assert.equal(reports[0]?.deviceName, names ? 'Door' : undefined);
      // People see it in any case.
      assert.equal(session.recent.devices().find(({ id }) => id === D)?.name, 'Door');
    });
  }

  it('carries no names without a list of devices', () => {
    assert.equal(open({ mqtt: mqtt(), names: true }).carriesNames, false);
    assert.equal(open({ rest: rest(), names: true }).carriesNames, false);
  });

  it('knows what it has read as the last value of the device', async () => {
    answerAll(bench.broker, ({ id }) => ({ id, value: 5 }));
    const session = open({ mqtt: mqtt() });
    await session.request(
      'read',
      { gateway: G2, device: D, identifier: 'motion', form: 'decoded' },
      { signal },
    );
    const { value, source } = await session.values.last(
      { device: D, identifier: 'motion' },
      { signal, labels: [], maxAge: 0, tooOld: 'send' },
    );
    assert.deepEqual([value, source], [5, 'read']);
  });

  it('says why reports of one filter do not come, and not of others', async () => {
    bench.broker.options.refuses = (filter) => filter.includes(G);
    const session = open({ mqtt: mqtt() });
    const one = { ...ALL, gateways: [G] };
    const other = { ...ALL, gateways: [G2] };
    session.subscribe(one, IGNORED);
    session.subscribe(other, IGNORED);
    await reached(session, 'limited');
    assert.deepEqual([session.refusalOf(one)?.key, session.refusalOf(other)], ['reason.filter', undefined]);
  });

  it('watches the devices that it is given', async () => {
    const session = open({ mqtt: mqtt() });
    const watch = session.watchDevices(WATCH, { changed() {}, counted() {}, full() {} }, 'node');
    await reached(session, 'connected');
    assert.deepEqual([session.reportFilters, watch.refusal], [[`mt/gateway/+/device/${D}/#`], undefined]);
    assert.equal(session.findSilent([G2])[G2], undefined);
  });

  it('is closed with all that it has begun', async () => {
    const session = open({ mqtt: mqtt(), rest: rest(), names: true });
    const collector = new Collector();
    session.subscribe(ALL, collector);
    await reached(session, 'connected');
    await session.close();
    await bench.broker.until(({ openConnections }) => openConnections.length === 0);
    assert.equal(session.state.mqtt.name, 'closed');
    assert.equal((await thrownBy(() => session.rest.createLabel('x', signal))).code, 'CLOSED');
  });
});
