// What the parts of a service give each other: names, lists, times, values and who looks, and what ends with the service.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { SILENT } from '../../src/log.ts';
import type { ConditionChange, WatchSettings } from '../../src/network/watch-context.ts';
import { readReportTopic } from '../../src/protocol/reports/index.ts';
import { Session } from '../../src/session.ts';
import type { Settings } from '../../src/settings.ts';
import {
  answerAll,
  D,
  G,
  G2,
  heartbeat,
  mockTime,
  passRealTime,
  reportTopic,
  requests,
  restoreTime,
  TIME,
  useScriptedBroker,
} from '../mqtt/scripted.ts';
import { type Answer, json, settingsFor, startServer, type TestServer } from '../rest/server.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';

const { signal } = new AbortController();
const MINUTE = 60_000;
const WATCH: WatchSettings = {
  ...{ gateways: [], devices: [], labels: [], silentAfter: 600 },
  ...{ batteryBelow: 20, batteryFine: 0, signalBelow: -85 },
  conditions: ['silent'],
};
const PAGE = { parent: '*', text: '', sort: 'name', needs: false, offset: 0, limit: 10 };
const D2 = 'd00000000002';

const place = (suffix: string, gateway = G, device = D) =>
  readReportTopic(reportTopic(suffix, gateway, device), gateway, device, suffix);

describe('the parts of a service', () => {
  const bench = useScriptedBroker();
  const sessions: Session[] = [];
  let server: TestServer;
  let told: ConditionChange[];

  const list: Answer = (_, response) =>
    json(response, {
      items: [
        { id: `bmac-${G}`, friendlyName: 'Attic', labels: ['hall'] },
        { id: `bmac-${D}`, friendlyName: 'Door', labels: ['doors'] },
      ],
    });

  before(async () => {
    server = await startServer(list);
  });
  after(() => server.stop());
  beforeEach(() => {
    told = [];
    server.answer = list;
  });
  afterEach(async () => {
    restoreTime();
    await Promise.all(sessions.splice(0).map((session) => session.close()));
  });

  function open(settings: Settings, log = SILENT): Session {
    const session = new Session(settings, log);
    sessions.push(session);
    return session;
  }
  const rest = () => settingsFor(server.url);
  const mqtt = (changes = {}) => mqttSettings(bench.broker.url, changes);
  const watch = (session: Session, settings: Partial<WatchSettings> = {}) =>
    session.watchDevices(
      { ...WATCH, ...settings },
      { changed: (change) => void told.push(change), counted() {}, full() {} },
      'node',
    );
  const until = async (isSo: () => unknown) => {
    while (!isSo()) {
      await turn();
    }
  };
  const hear = async (session: Session, gateway = G, device = D) => {
    const { count = 0 } = session.recent.devices({ device })[0] ?? {};
    bench.broker.publish(reportTopic('heartbeat', gateway, device), heartbeat(count));
    await until(() => (session.recent.devices({ device })[0]?.count ?? 0) > count);
  };
  /** Somebody looks at these. @returns how often he was told that something has changed, and whether it is over */
  const look = (session: Session, ids: string[] = []) => {
    const looking = { told: 0, isOver: false };
    const id = session.changes.begin(() => {
      looking.isOver = true;
    });
    assert.ok(id);
    session.changes.follow(id, () => looking.told++);
    session.changes.asked(id, { ids });
    return looking;
  };
  /** Time in which the broker sends nothing, but is there. */
  const pass = async (ms: number, step = 5_000) => {
    for (let passed = 0; passed < ms; passed += step) {
      mock.timers.tick(step);
      await passRealTime();
    }
  };

  it('know of a silence no more than the broker was there, and ask it', async () => {
    mockTime(1_000_000);
    const session = open({ mqtt: mqtt({ keepalive: 0 }) });
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    await hear(session);
    mock.timers.tick(5 * MINUTE);
    const silentMs = () => session.network.silentMs(session.network.device(D)!);
    assert.ok(silentMs() < 10_000);
    await until(() => silentMs() === 5 * MINUTE);
  });

  it('know what flows do not ask for any more from what is silent, also without a broker that was there', async () => {
    mockTime(1_000_000);
    const session = open({ mqtt: mqtt({ keepalive: 0 }) });
    const end = session.subscribe(ALL, new Collector());
    session.subscribe({ ...ALL, gateways: [G] }, new Collector());
    await reached(session, 'connected');
    await hear(session);
    await hear(session, G2, D2);
    end();
    await pass(5 * MINUTE, MINUTE);
    const silentMs = ({ network }: Session, id: string) => network.silentMs(network.gateway(id)!);
    await until(() => silentMs(session, G) === 5 * MINUTE);
    assert.equal(silentMs(session, G2), 0);
    const next = open({});
    next.network.takeOver(session.network);
    assert.equal(silentMs(next, G), 5 * MINUTE);
    assert.equal(silentMs(next, G2), 5 * MINUTE);
  });

  it('miss a device that was never heard only where flows would have heard it', async () => {
    mockTime(1_000_000);
    const session = open({ mqtt: mqtt({ keepalive: 0 }) });
    session.subscribe({ ...ALL, devices: [D] }, new Collector());
    await reached(session, 'connected');
    await pass(12 * MINUTE, MINUTE);
    // The broker is asked whether it is there.
    session.findSilent([D]);
    await passRealTime();
    assert.deepEqual(session.findSilent([D, D2]), { [D]: null });
    const next = open({});
    next.network.takeOver(session.network);
    assert.deepEqual(next.findSilent([D]), {});
  });

  it('show what the list of devices has, and nothing without one', async () => {
    const session = open({ rest: rest() });
    await session.devices?.refresh(0, signal);
    assert.deepEqual(session.pages.details(D)?.labels, ['doors']);
    session.network.record(place('heartbeat'), performance.now());
    assert.deepEqual(session.pages.details(D)?.labels, ['doors']);
    const { rows } = session.pages.page(PAGE) ?? assert.fail();
    assert.deepEqual(
      rows.map(({ name, labels }) => [name, labels]),
      [['Door', ['doors']]],
    );
    assert.equal(open({}).pages.details(D), undefined);
    assert.equal(open({}).pages.details('sensor 7'), undefined);
    const heard = open({});
    heard.network.record(place('heartbeat'), performance.now());
    assert.deepEqual(
      heard.pages.page(PAGE)?.rows.map(({ labels }) => labels),
      [[]],
    );
    assert.deepEqual(
      heard.pages.page({ ...PAGE, parent: '' })?.rows.map(({ labels }) => labels),
      [[]],
    );
    assert.deepEqual(session.pages.details(`bmac-${G}`)?.labels, ['hall']);
  });

  it('find the names of gateways in the list, and not of what only others hear', async () => {
    const session = open({ rest: rest() });
    const labels = () => session.devices?.searchLabels('', 10, { ofGateways: true, signal });
    assert.deepEqual(await labels(), ['doors', 'hall']);
    session.network.record(place('heartbeat'), performance.now());
    assert.deepEqual(await labels(), ['hall']);
  });

  it('say with its name that a device is silent', async () => {
    mockTime(1_000_000);
    const session = open({ mqtt: mqtt({ keepalive: 0 }), rest: rest() });
    await session.devices?.refresh(0, signal);
    watch(session);
    session.resumeReports();
    await reached(session, 'connected');
    await hear(session);
    await pass(10 * MINUTE);
    assert.deepEqual(told, []);
    await pass(MINUTE);
    assert.deepEqual(
      told.map(({ device, deviceName, active }) => [device, deviceName, active]),
      [[D, 'Door', true]],
    );
  });

  it('say why a watch hears nothing', async () => {
    bench.broker.options.refuses = (filter) => filter.includes(D);
    const session = open({ mqtt: mqtt() });
    const { refusal } = watch(session, { devices: [D2] });
    const refused = watch(session, { devices: [D] });
    await reached(session, 'limited');
    assert.deepEqual([refusal, refused.refusal?.key], [undefined, 'reason.filter']);
  });

  it('tell of nobody whom the broker keeps from flows, though people have heard it', async () => {
    mockTime(1_000_000);
    bench.broker.options.refuses = (filter) => filter.includes(G2);
    const session = open({ mqtt: mqtt({ keepalive: 0 }) });
    watch(session, { gateways: [G, G2], silentAfter: 60 });
    session.resumeReports();
    await reached(session, 'limited');
    await hear(session);
    // More and more rarely the broker is asked again.
    for (let n = 0; n < 8; n++) {
      session.network.record(place('heartbeat', G2, `d0000000001${n}`), performance.now());
      await pass(70_000, 35_000);
    }
    assert.deepEqual(
      told.map(({ device }) => device),
      [D],
    );
  });

  it('watch the gateways with a label only', async () => {
    const session = open({ mqtt: mqtt(), rest: rest() });
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    const all = watch(session, { labels: ['hall'] });
    await until(() => session.devices?.hasList);
    await hear(session, G2, D2);
    await hear(session);
    await until(() => all.counts.watched > 0);
    assert.equal(all.counts.watched, 1);
  });

  const STORED = { node: [] };
  for (const [title, isThere, isDisabled, isKept] of [
    ['of which nobody says anything', undefined, undefined, false],
    ['that is there', (owner: string) => owner === 'node', () => false, true],
    ['that is disabled', () => false, (owner: string) => owner === 'node', true],
    ['that is gone', (owner: string) => owner !== 'node', (owner: string) => owner !== 'node', false],
  ] as const) {
    it(`${isKept ? 'keep' : 'give up'} with a deploy what was told to a node ${title}`, () => {
      const session = open({ mqtt: mqtt() });
      session.pauseReports();
      session.watches.restore(STORED);
      assert.deepEqual(session.watches.store(10), STORED);
      session.resumeReports(isThere, isDisabled);
      assert.deepEqual(session.watches.store(10), isKept ? STORED : {});
    });
  }

  it('keep what was told to a node while a deploy takes long', async () => {
    mockTime(1_000_000);
    const session = open({ mqtt: mqtt() });
    session.attach();
    await reached(session, 'connected');
    session.pauseReports();
    session.watches.restore(STORED);
    await pass(30_000);
    session.watches.restore({ ...STORED, other: [] });
    assert.deepEqual(session.watches.store(10), { ...STORED, other: [] });
    session.resumeReports();
    assert.deepEqual(session.watches.store(10), {});
  });

  it('read a value by the gateway that hears the device, among those with a label', async () => {
    answerAll(bench.broker, ({ id }) => ({ id, value: 5 }));
    const session = open({ mqtt: mqtt(), rest: rest() });
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    await hear(session);
    const { value, gateway } = await session.values.last(
      { device: D, identifier: 'motion' },
      { signal, labels: ['hall'], maxAge: 0, tooOld: 'read' },
    );
    assert.deepEqual([value, gateway], [5, G]);
    assert.ok(requests(bench.broker)[0]?.topic.includes('/read'));
  });

  it('show what was read, and tell who looks at it', async () => {
    answerAll(bench.broker, ({ id }) => ({ id, value: 5 }));
    const session = open({ mqtt: mqtt() });
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    await hear(session);
    const input = { gateway: G, device: D, identifier: 'motion', form: 'decoded' } as const;
    await session.request('read', input, { signal });
    // The first one has changed the state, too: it is told of in any case.
    const looking = look(session, [D]);
    await session.request('read', input, { signal });
    assert.deepEqual(
      session.pages.details(D)?.values.map(({ value }) => value),
      [5],
    );
    await until(() => looking.told > 0);
  });

  it('tell who looks of new names, of other states and of the end', async () => {
    const session = open({ mqtt: mqtt(), rest: rest() });
    const ofNames = look(session);
    session.devices?.renamed(`bmac-${D}`, 'Gate');
    await until(() => ofNames.told > 0);
    const ofState = look(session);
    session.attach();
    await reached(session, 'connected');
    await until(() => ofState.told > 0);
    const ofEnd = look(session);
    await session.close();
    assert.equal(ofEnd.isOver, true);
  });

  it('tell the states of REST', async () => {
    const session = open({ rest: rest() });
    const names = new Set<string>();
    session.onState((state) => names.add(state.rest.name));
    await session.devices?.refresh(0, signal);
    assert.deepEqual([...names].at(-1), session.state.rest.name);
    assert.ok(names.size > 1);
  });

  it('tell the log that there are no names, and of what failed and is tried again', async () => {
    const lines: string[] = [];
    const log = {
      ...SILENT,
      warn: (text: string) => void lines.push(text),
      trace: (text: string) => void lines.push(text),
    };
    server.answer = (_, response) => {
      server.answer = (_request, later) => json(later, {}, 404);
      json(response, {}, 503);
    };
    open({ mqtt: mqtt(), rest: rest(), names: true }, log).attach();
    for (const text of [
      'GET failed (503), again in',
      'the list of devices could not be read',
      'reports have no names',
    ]) {
      await until(() => lines.some((line) => line.startsWith(text)));
    }
  });

  it('give reports the name that a device has now', async () => {
    const session = open({ mqtt: mqtt(), rest: rest(), names: true });
    const collector = new Collector();
    session.subscribe(ALL, collector);
    await reached(session, 'connected');
    await session.devices?.refresh(0, signal);
    await hear(session);
    session.devices?.renamed(`bmac-${D}`, 'Gate');
    await hear(session);
    await collector.until(({ reports }) => reports.length === 2);
    assert.deepEqual(
      collector.reports.map(({ deviceName }) => deviceName),
      ['Door', 'Gate'],
    );
  });

  it('send the lines of a record to receivers with labels by the list of devices', async () => {
    const lines = [G, G2].map((gateway, seq) =>
      JSON.stringify({ time: TIME, topic: reportTopic('heartbeat', gateway), payload: heartbeat(seq) }),
    );
    const played = async (session: Session) =>
      session.player?.play(
        [{ filter: { ...ALL, labels: ['hall'] }, send() {} }],
        { run: 'a', begin: true, lines },
        signal,
      );
    const result = await played(open({ mqtt: mqtt(), rest: rest() }));
    assert.deepEqual([result?.taken, result?.untaken], [1, 1]);
    await assert.rejects(played(open({ mqtt: mqtt() })), { code: 'NOT_CONFIGURED' });
  });

  it('count the gateways that are heard while the connection is tested', async () => {
    const session = open({ mqtt: mqtt() });
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    const probed = session.probe();
    await hear(session);
    await hear(session, G2);
    assert.equal((await probed)?.gateways, 2);
  });

  it('need no connection any more when nobody is attached', () => {
    const session = open({ mqtt: mqtt() });
    session.attach()();
    assert.equal(session.isConnectionUsed, false);
  });

  it('name what cannot be read of a report that is to be acknowledged', async () => {
    const report = {
      get kind(): string {
        throw new Error('a trap');
      },
    };
    await assert.rejects(open({ mqtt: mqtt() }).acknowledge(report, { signal, wait: true }), {
      code: 'INVALID_INPUT',
      // In words: a flow cannot store what is not read.
      cause: { field: 'report', value: 'object' },
    });
  });

  it('confirm and send again a report that another service has brought', async () => {
    const session = open({ mqtt: mqtt() });
    const other = open({});
    const collector = Object.assign(new Collector(), {
      confirm: { timeoutMs: MINUTE, maxAttempts: 20, count() {} },
    });
    session.subscribe(ALL, collector, 'node');
    await reached(session, 'connected');
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await collector.until(({ reports }) => reports.length === 1);
    const delivery = String(collector.reports[0]?.delivery);
    assert.equal(other.sendAgain(delivery, 0), true);
    await collector.until(({ reports }) => reports.length === 2);
    assert.equal(other.confirm(delivery), true);
    assert.deepEqual([other.confirm(delivery), other.sendAgain(delivery, 0)], [false, false]);
  });

  it('end with the service: nothing is watched or kept for those who look', async () => {
    const session = open({ mqtt: mqtt() });
    const watching = watch(session);
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    await hear(session);
    session.deviceReports.poll(D);
    session.pages.page({ ...PAGE, near: true });
    const at = place('event/8200');
    session.network.record(at, performance.now());
    assert.ok(session.pages.page({ ...PAGE, near: true })?.rows[0]?.near);
    await until(() => session.watches.isWaiting);
    await session.close();
    assert.equal(session.watches.isWaiting, false);
    session.network.record(place('heartbeat', G, D2), performance.now());
    assert.equal(watching.counts.watched, 1);
    assert.equal(session.pages.page({ ...PAGE, near: true })?.rows[0]?.near, undefined);
    const { length } = session.deviceReports.poll(D);
    session.network.record(at, performance.now());
    assert.equal(session.deviceReports.poll(D).length, length);
  });
});
