// What the dashboard's flow does with messages that no honest page and no honest gateway would send.
import assert from 'node:assert/strict';
import dashboard from '../../examples/dashboard/Live dashboard.json' with { type: 'json' };
import { IDENTIFIERS } from '../../src/protocol/identifiers.ts';
import { type NodeConfig, type NodeRed, sink, source, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { clockOf, withClock } from './import.ts';

const FLOW = dashboard as unknown as NodeConfig[];
const PARTS = ['names', 'network', 'request', 'history', 'alarms', 'acknowledge', 'look', 'snapshot'].map(
  (part) => `dashboard-${part}`,
);
const DEVICE = 'e4a7c5102030';
const GATEWAY = 'c0141f68fc3d';

interface Alarm {
  key: string;
  text: string;
  count: number;
  active: boolean;
  acknowledged: boolean;
  name: string;
}
const nodeOf = (id: string): NodeConfig => FLOW.find((node) => node.id === id)!;

describe('the flow of the dashboard', () => {
  let red: NodeRed;

  before(async function () {
    this.timeout(120_000);
    red = await startNodeRed(VERSIONS[0]!);
  });
  after(() => red?.stop());

  /** Deploys the function nodes that the widgets talk to, each between a source and sinks. */
  async function deploy(values: Record<string, string> = {}, isAgain = false): Promise<void> {
    const tab = nodeOf('dashboard-tab');
    const env = (tab.env as { name: string; value: string }[]).map((entry) => ({
      ...entry,
      value: values[entry.name] ?? entry.value,
    }));
    const z = tab.id;
    const parts = PARTS.map((id) => ({
      ...withClock(nodeOf(id)),
      wires: nodeOf(id).wires!.map((_, port) => [`${id}-${port}`]),
    }));
    const sources = PARTS.map((id) => ({ ...source(`to-${id}`, [id]), z }));
    const sinks = parts.flatMap(({ wires }) => wires.flat().map((id) => ({ ...sink(id), z })));
    const last = {
      id: 'last',
      type: 'inject',
      z,
      x: 1,
      y: 1,
      props: [],
      once: true,
      onceDelay: 0.1,
      wires: [['up']],
    };
    // What the flow remembers outlives a deploy of it.
    if (!isAgain) {
      await red.deploy([]);
    }
    await red.deploy([
      { ...tab, env },
      ...clockOf(z),
      ...parts,
      ...sources,
      ...sinks,
      last,
      { ...sink('up'), z },
    ]);
    await red.next('up');
  }

  const ask = (payload: unknown) =>
    red.send('to-dashboard-request', { payload, gateway: 'c0141f68fc3d', key: 'aa' });
  const asked = () => red.next('dashboard-request-0');
  const refused = async () =>
    ((await red.next('dashboard-request-1')) as { error: { message: string } }).error.message;

  it('writes nothing that WRITABLE does not name, however it is spelled', async () => {
    await deploy();
    const device = 'e4a7c5102030';
    const identifiers = [
      'factory-reset',
      'FACTORY-RESET',
      '8301',
      'soft-reset',
      '9800',
      'alarm/x',
      'alarm,',
      '',
      null,
      ['alarm'],
    ];
    for (const identifier of identifiers) {
      ask({ operation: 'write', device, identifier, value: 'true' });
      assert.match(await refused(), /must not be written/);
    }
    ask({ operation: 'write', device, identifier: ' Alarm ', value: 'true' });
    const { request: _request, _msgid, ...msg } = await asked();
    assert.deepEqual(msg, { operation: 'write', device, identifier: 'alarm', payload: true });
    assert.equal(red.waiting('dashboard-request-0'), 0);
  });

  it('writes nothing at all when WRITABLE is empty', async () => {
    await deploy({ WRITABLE: ' , ' });
    for (const identifier of ['alarm', '', ',']) {
      ask({ operation: 'write', device: 'e4a7c5102030', identifier, value: '1' });
      assert.match(await refused(), /must not be written/);
    }
  });

  it('writes no empty value, except by a command', async () => {
    await deploy();
    const device = 'e4a7c5102030';
    for (const value of [undefined, null, '', ' ', 'null', '""', true]) {
      ask({ operation: 'write', device, identifier: 'alarm', value });
      assert.equal(await refused(), 'alarm needs a value');
    }
    ask({ operation: 'write', device, identifier: 'request-property-reporting', value: '' });
    assert.equal((await asked()).identifier, 'request-property-reporting');
    for (const [value, payload] of [
      ['false', false],
      ['0', 0],
    ]) {
      ask({ operation: 'write', device, identifier: 'alarm', value });
      assert.equal((await asked()).payload, payload);
    }
    assert.equal(red.waiting('dashboard-request-0'), 0);
  });

  it('refuses a request that is none', async () => {
    await deploy();
    for (const payload of [null, 'x', [], { operation: 'reset', device: 'a' }, { operation: ['write'] }]) {
      ask(payload);
      assert.equal(await refused(), 'no such operation');
    }
    for (const device of [undefined, '', {}, 5]) {
      ask({ operation: 'read', device, identifier: 'alarm' });
      assert.equal(await refused(), 'the device is missing');
    }
    ask({ operation: 'read', device: 'constructor', identifier: 'alarm' });
    assert.equal((await asked()).gateway, undefined);
  });

  it('refuses a request with a text that is too long, and says which', async () => {
    await deploy();
    const fine = { operation: 'write', device: DEVICE, identifier: 'alarm', value: '1' };
    for (const [name, most] of [
      ['operation', 10],
      ['device', 17],
      ['identifier', 100],
      ['value', 1000],
    ] as const) {
      ask({ ...fine, [name]: `${fine[name]}${'0'.repeat(most)}` });
      assert.equal(await refused(), `${name} has more than ${most} characters`);
    }
    ask({ operation: 'apiversion', device: 'E4:A7:C5:10:20:30', identifier: 'i'.repeat(100) });
    assert.equal((await asked()).device, 'e4:a7:c5:10:20:30');
    ask({ ...fine, value: '"'.padEnd(999, 'x').concat('"') });
    assert.equal(((await asked()).payload as string).length, 998);
    assert.equal(red.waiting('dashboard-request-0'), 0);
  });

  it('sends all pages little of the newest requests, whatever pages ask and devices answer', async () => {
    await deploy();
    const show = async (msg: Record<string, unknown>) => {
      red.send('to-dashboard-history', msg);
      const { payload } = await red.next('dashboard-history-0');
      return (payload as { requests: { text: string }[] }).requests;
    };
    const long = 'x'.repeat(100_000);
    const operations = ['read', long];
    for (let index = 0; index < 25; index++) {
      ask({ operation: operations[index % 2], device: long, identifier: long, value: long });
      await show(await red.next('dashboard-request-1'));
    }
    ask({ operation: 'read', device: DEVICE, identifier: 'alarm' });
    const { request } = await asked();
    const failed = await show({ request, error: { message: long } });
    assert.equal(failed[0]?.text, 'x'.repeat(500));
    const answered = await show({ request, payload: { text: long }, response: {} });
    assert.equal(answered[0]?.text, `{"text":"${long}`.slice(0, 500));
    assert.equal(answered.length, 20);
    assert.ok(JSON.stringify(answered).length < 20_000);
    const [first] = await show({ request, payload: 21.5, response: { unit: '°C' } });
    assert.equal(first?.text, '21.5 °C');
  });

  it('forgets an address of update mode alone that is silent, and the longest silent of more than 2000', async () => {
    await deploy();
    const name = (index: number) => index.toString(16).padStart(12, '0');
    const report = { kind: 'dfu', time: new Date().toISOString() };
    for (let index = 0; index < 2100; index++) {
      const msg = { device: name(index), gateway: 'c0141f68fc3d', report };
      red.send('to-dashboard-network', msg);
    }
    const shown = async () => {
      red.send('to-dashboard-snapshot', {});
      const { devices } = (await red.next('dashboard-snapshot-0')).payload as { devices: { mac: string }[] };
      return devices.map(({ mac }) => mac);
    };
    const macs = await shown();
    assert.deepEqual([macs.length, macs[0], macs.at(-1)], [2000, name(100), name(2099)]);
    red.send('clock', { ahead: 86_400_000 });
    red.send('to-dashboard-network', { device: name(1), gateway: 'c0141f68fc3d', report });
    assert.deepEqual(await shown(), [name(1)]);
  });

  it('remembers of a device the 30 parents, 1000 points and 100 losses that came last', async () => {
    await deploy();
    const device = 'e4a7c5102030';
    const gateway = 'c0141f68fc3d';
    for (let index = 0; index < 1200; index++) {
      const parent = index.toString(16).padStart(12, '0');
      const report = {
        kind: 'measurement',
        name: 'temperature',
        value: index,
        parent,
        rssi: -50,
        seq: (2 * index) % 256,
      };
      red.send('to-dashboard-network', {
        device,
        gateway,
        report,
      });
    }
    red.send('to-dashboard-network', {
      device,
      gateway,
      report: { kind: 'rssi', parent: 'x'.repeat(1000), rssi: -1 },
    });
    red.send('to-dashboard-snapshot', {});
    const { devices } = (await red.next('dashboard-snapshot-0')).payload as {
      devices: { parents: { mac: string }[]; points: { value: number }[]; losses: unknown[] }[];
    };
    const [{ parents, points, losses } = assert.fail()] = devices;
    assert.deepEqual([parents.length, points.length, losses.length], [30, 1000, 100]);
    assert.deepEqual(
      [points.at(-1)!.value, parents.some(({ mac }) => mac === (1199).toString(16).padStart(12, '0'))],
      [1199, true],
    );
  });

  it('keeps its devices when the clock is set back, forgets their points, and tells who is silent from then on', async () => {
    await deploy();
    const gateway = 'c0141f68fc3d';
    const shown = async () => {
      red.send('to-dashboard-snapshot', {});
      const { devices, perSecond } = (await red.next('dashboard-snapshot-0')).payload as {
        perSecond: number;
        devices: { mac: string; state: string; parents: unknown[]; points: unknown[] }[];
      };
      assert.ok(perSecond >= 0 && perSecond < 1000);
      return devices.map(({ mac, state, parents, points }) => [mac, state, parents.length, points.length]);
    };
    const measure = (device: string) => {
      const report = {
        kind: 'measurement',
        name: 'temperature',
        value: 20,
        parent: 'e40000000001',
        rssi: -50,
      };
      red.send('to-dashboard-network', { device, gateway, report });
    };
    red.send('clock', { ahead: 7 * 86_400_000 });
    await red.next('clock-set');
    measure('e4a7c5102030');
    measure('e4a7c5102031');
    await shown();
    for (const [ahead, states] of [
      [0, ['fine', 'fine']],
      [21 * 60_000, ['fine', 'fine']],
      [61 * 60_000, ['fine', 'silent']],
    ] as const) {
      red.send('clock', { ahead });
      await red.next('clock-set');
      measure('e4a7c5102030');
      const devices = await shown();
      assert.deepEqual(
        devices.map(([, state]) => state),
        states,
      );
    }
    assert.deepEqual(
      (await shown()).map(([mac, , parents]) => [mac, parents]),
      [
        ['e4a7c5102030', 1],
        ['e4a7c5102031', 0],
      ],
    );
  });

  it('shows a picture whatever reports say of parents, levels and times', async () => {
    await deploy();
    const device = 'e4a7c5102030';
    const gateway = 'c0141f68fc3d';
    const time = new Date().toISOString();
    const reports = [
      { kind: 'rssi', parent: 'e40000000001', rssi: 'loud' },
      { kind: 'rssi', parent: '__proto__', rssi: -1 },
      { kind: 'rssi', parent: 'e40000000002', rssi: -50 },
      { kind: 'property', name: 'battery-level', value: '50; color: red' },
      { kind: 'measurement', name: 'temperature', value: 20, time: '2999-01-01T00:00:00Z' },
      { kind: 'measurement', name: 'temperature', value: null },
      { kind: 'heartbeat', status: null },
    ];
    for (const report of reports) {
      const msg = { device, gateway, report: { time, ...report } };
      red.send('to-dashboard-network', msg);
      red.send('to-dashboard-alarms', msg);
    }
    red.send('to-dashboard-snapshot', {});
    const { devices, now } = (await red.next('dashboard-snapshot-0')).payload as {
      now: number;
      devices: { battery: unknown; parents: { mac: string; rssi: number }[]; points: { time: number }[] }[];
    };
    assert.equal(devices.length, 1);
    const [{ battery, parents, points } = assert.fail()] = devices;
    assert.deepEqual([battery, points.length], [null, 1]);
    assert.ok(points[0]!.time <= now);
    assert.ok(parents.every(({ rssi }) => Number.isFinite(rssi)));
  });

  it('shows a picture also where the device list brings one gateway twice', async () => {
    await deploy();
    const row = { mac: GATEWAY, friendlyName: 'Hall, gateway 1', connectivity: { connected: false } };
    red.send('to-dashboard-names', {
      payload: [row, { mac: DEVICE, friendlyName: 'Cold store 1' }, row, {}],
    });
    await red.next('dashboard-names-0');
    report({ kind: 'heartbeat', status: 0 });
    red.send('to-dashboard-snapshot', {});
    const { devices, gateways } = (await red.next('dashboard-snapshot-0')).payload as {
      devices: { name: string; place: string }[];
      gateways: { place: string; connected: boolean }[];
    };
    assert.deepEqual(
      devices.map(({ name, place }) => [name, place]),
      [['Cold store 1', 'Hall']],
    );
    assert.deepEqual(gateways, [{ mac: GATEWAY, place: 'Hall', connected: false }]);
  });

  it('shows no more than 100 characters of a name in the device list', async () => {
    await deploy();
    red.send('to-dashboard-names', { payload: [{ mac: DEVICE, friendlyName: 'n'.repeat(2_000) }] });
    await red.next('dashboard-names-0');
    report({ kind: 'heartbeat', status: 0 });
    red.send('to-dashboard-snapshot', {});
    const { devices } = (await red.next('dashboard-snapshot-0')).payload as { devices: { name: string }[] };
    assert.equal(devices[0]?.name, 'n'.repeat(100));
  });

  const report = (payload: object, device = DEVICE) => {
    const msg = { device, gateway: GATEWAY, report: { time: new Date().toISOString(), ...payload } };
    red.send('to-dashboard-network', msg);
    red.send('to-dashboard-alarms', msg);
  };
  /** What the page is told with the next second. */
  const alarms = async () => {
    red.send('to-dashboard-alarms', {});
    return (await red.next('dashboard-alarms-0')).payload as { now: number; alarms: Alarm[] };
  };
  const acknowledge = async (key: string, until: number) => {
    red.send('to-dashboard-acknowledge', { payload: { acknowledge: key, until } });
    const msg = await red.next('dashboard-acknowledge-0');
    red.send('to-dashboard-alarms', { ...msg });
    return (await red.next('dashboard-alarms-0')).payload as { alarms: Alarm[] };
  };
  const setAhead = async (ahead: number) => {
    red.send('clock', { ahead });
    await red.next('clock-set');
  };

  it('keeps an alarm until it is over and somebody has acknowledged it, in either order', async () => {
    await deploy();
    report({ kind: 'heartbeat', status: 4 });
    report({ kind: 'event', name: 'watchdog-reset-event' });
    const { now, alarms: raised } = await alarms();
    assert.deepEqual(
      raised.map(({ text, active, acknowledged }) => [text, active, acknowledged]),
      [
        ['reports an error or a warning (status 4)', true, false],
        ['was restarted by its watchdog', false, false],
      ],
    );
    const { alarms: left } = await acknowledge('all', now);
    assert.deepEqual(
      left.map(({ text, acknowledged }) => [text, acknowledged]),
      [['reports an error or a warning (status 4)', true]],
    );
    report({ kind: 'heartbeat', status: 0 });
    assert.deepEqual((await alarms()).alarms, []);
  });

  it('takes no sample that its gateway had kept for the charge of a battery or a success of now', async () => {
    await deploy();
    const kept = { kind: 'timestamped', backfill: true };
    report({ ...kept, name: 'battery-level', value: 5 });
    report({ kind: 'property', name: 'battery-level', value: 15 });
    for (let count = 0; count < 3; count++) {
      const time = new Date(Date.now() + count).toISOString();
      report({ kind: 'measurement-error', name: 'temperature', error: 3, time });
    }
    for (const name of ['battery-level', 'temperature']) {
      report({ ...kept, name, value: 90 });
    }
    const { alarms: raised } = await alarms();
    assert.deepEqual(
      raised.map(({ text, active, count }) => [text.split(/ could| below/)[0], active, count]).sort(),
      [
        ['battery', true, 1],
        ['temperature', true, 1],
      ],
    );
    red.send('to-dashboard-snapshot', {});
    const { devices } = (await red.next('dashboard-snapshot-0')).payload as {
      devices: { battery: number }[];
    };
    assert.deepEqual(
      devices.map(({ battery }) => battery),
      [15],
    );
  });

  it('takes a property for an alarm that fails three times in a row, once for each device, until it is measured', async () => {
    await deploy();
    let count = 0;
    const fail = (name: string, error = 3, device = DEVICE) =>
      report(
        { kind: 'measurement-error', name, error, time: new Date(1.8e12 + count++).toISOString() },
        device,
      );
    const succeed = (name: string) => report({ kind: 'measurement', name, value: 20 });
    const open = async () => {
      // The page is told of what has changed alone.
      report({ kind: 'heartbeat', status: 1 + count++ }, 'e4a7c5102099');
      const { alarms: all } = await alarms();
      return all.flatMap(({ text, active, name }) => (name === DEVICE ? [[text, active]] : []));
    };
    for (const name of ['humidity', 'temperature', 'humidity', 'temperature']) {
      fail(name);
    }
    succeed('temperature');
    fail('temperature');
    fail('temperature', 3, 'e4a7c5102031');
    report({
      kind: 'measurement-error',
      name: 'humidity',
      error: 3,
      time: new Date(1.8e12 + 2).toISOString(),
    });
    assert.deepEqual(await open(), []);
    const humidity = 'relative humidity could not be measured (error code 3)';
    for (let more = 0; more < 5; more++) {
      fail('humidity', 3 + more);
      assert.deepEqual(await open(), [[humidity, true]]);
    }
    fail('temperature');
    fail('temperature');
    const both = `${humidity}, temperature could not be measured (error code 3)`;
    assert.deepEqual(await open(), [[both, true]]);
    succeed('humidity');
    assert.deepEqual(await open(), [[both, true]]);
    succeed('temperature');
    assert.deepEqual(await open(), [[both, false]]);
  });

  it('calls properties by words, and those are what the catalogue says', async () => {
    const env = nodeOf('dashboard-tab').env as { name: string; value: string }[];
    const words = JSON.parse(env.find(({ name }) => name === 'WORDS')!.value) as Record<string, string>;
    const meant = IDENTIFIERS.filter(({ name }) => Object.hasOwn(words, name));
    assert.deepEqual(
      words,
      Object.fromEntries(meant.map(({ name, description }) => [name, description.split(';')[0]])),
    );
    await deploy();
    for (const name of ['vdd', 'constructor']) {
      report({ kind: 'property', name, value: 3 });
    }
    red.send('to-dashboard-look', { payload: { device: DEVICE } });
    const { device } = (await red.next('dashboard-look-0')).payload as {
      device: { values: { words: string }[] };
    };
    assert.deepEqual(
      device.values.map((value) => value.words),
      ['constructor', 'supply voltage'],
    );
  });

  it('raises an alarm again that comes again after it was acknowledged, and acknowledges nothing that the page has not shown', async () => {
    await deploy();
    const error = { kind: 'event', name: 'watchdog-reset-event' };
    report(error);
    const {
      now,
      alarms: [first],
    } = await alarms();
    await setAhead(1000);
    report(error);
    const {
      alarms: [again],
    } = await acknowledge(first!.key, now);
    assert.deepEqual([again!.count, again!.acknowledged], [2, false]);
    assert.deepEqual((await acknowledge(first!.key, now + 60_000)).alarms, []);
    report(error);
    assert.equal((await alarms()).alarms[0]?.count, 1);
  });

  it('tells which devices have fallen silent, but not while the broker is away or has just come back', async () => {
    await deploy();
    report({ kind: 'heartbeat', status: 0, deviceName: 'Cold store 1' });
    red.send('to-dashboard-alarms', { status: { fill: 'yellow', text: 'waiting: gone' } });
    await setAhead(61 * 60_000);
    assert.deepEqual(
      (await alarms()).alarms.map(({ text }) => text),
      ['no reports arrive: waiting: gone'],
    );
    red.send('to-dashboard-alarms', { status: { fill: 'green', text: 'connected' } });
    const { now: back, alarms: over } = await alarms();
    assert.deepEqual(
      over.map(({ active }) => active),
      [false],
    );
    // Devices repeat their properties every 20 minutes.
    await setAhead(120 * 60_000);
    red.send('to-dashboard-alarms', {});
    await setAhead(122 * 60_000);
    const { now: told, alarms: raised } = await alarms();
    assert.deepEqual([raised[0]?.text, raised[0]?.name], ['is not heard any more', 'Cold store 1']);
    assert.ok(told - back > 60 * 60_000);
    report({ kind: 'heartbeat', status: 0 });
    assert.ok((await alarms()).alarms.every(({ active }) => !active));
  });

  it('misses nobody that was heard in update mode alone, but who was also heard otherwise', async () => {
    await deploy();
    const updating = 'e4a7c5102031';
    report({ kind: 'heartbeat', status: 0 });
    report({ kind: 'dfu' });
    report({ kind: 'dfu' }, updating);
    report({ kind: 'rssi', rssi: -60 }, updating);
    const shown = async () => {
      red.send('to-dashboard-snapshot', {});
      const { devices } = (await red.next('dashboard-snapshot-0')).payload as {
        devices: { mac: string; state: string }[];
      };
      return devices.map(({ mac, state }) => [mac, state]);
    };
    assert.deepEqual(await shown(), [
      [DEVICE, 'update'],
      [updating, 'update'],
    ]);
    await setAhead(61 * 60_000);
    const { alarms: all } = await alarms();
    assert.deepEqual(
      all.filter(({ key }) => key.endsWith('silent')).map(({ key }) => key),
      [`${DEVICE} silent`],
    );
    assert.deepEqual(await shown(), [[DEVICE, 'silent']]);
  });

  /** The devices of the picture of now, each with its state. */
  const states = async () => {
    red.send('to-dashboard-snapshot', {});
    const { devices } = (await red.next('dashboard-snapshot-0')).payload as {
      devices: { mac: string; state: string; reason: string }[];
    };
    return devices.map(({ mac, state, reason }) => [mac, state, reason]);
  };
  const DAY = 86_400_000;

  it('shows a silent device for 30 days, and its alarm also after them until somebody has acknowledged it', async () => {
    await deploy();
    const other = 'e4a7c5102031';
    report({ kind: 'heartbeat', status: 0 });
    report({ kind: 'heartbeat', status: 0 }, other);
    await setAhead(3 * DAY);
    assert.deepEqual(await states(), [
      [DEVICE, 'silent', 'not heard for 3 d'],
      [other, 'silent', 'not heard for 3 d'],
    ]);
    const { now } = await alarms();
    const told = ({ alarms: all }: { alarms: Alarm[] }) =>
      all.map(({ key, active, acknowledged }) => [key, active, acknowledged]);
    assert.deepEqual(told(await acknowledge(`${DEVICE} silent`, now)), [
      [`${other} silent`, true, false],
      [`${DEVICE} silent`, true, true],
    ]);
    await setAhead(29 * DAY);
    const heard = 'e4a7c5102032';
    report({ kind: 'heartbeat', status: 1 }, heard);
    assert.equal((await states()).length, 3);
    assert.equal((await alarms()).alarms.length, 3);
    await setAhead(30 * DAY + 2 * 3_600_000);
    report({ kind: 'heartbeat', status: 1 }, heard);
    assert.equal((await states()).length, 1);
    const left = await alarms();
    assert.deepEqual(told(left).slice(1), [[`${other} silent`, true, false]]);
    await acknowledge(`${other} silent`, left.now);
    assert.ok((await alarms()).alarms.every(({ key }) => key !== `${other} silent`));
  });

  it('tells a silence also where that takes longer than a silent device is kept', async () => {
    await deploy({ SILENT_AFTER_MINUTES: `${40 * 24 * 60}` });
    report({ kind: 'heartbeat', status: 0 });
    await setAhead(39 * DAY);
    assert.deepEqual(await states(), [[DEVICE, 'fine', '']]);
    await setAhead(41 * DAY);
    assert.deepEqual(await states(), [[DEVICE, 'silent', 'not heard for 41 d']]);
    assert.equal((await alarms()).alarms[0]?.text, 'is not heard any more');
  });

  it('keeps its devices, and misses none, where SILENT_AFTER_MINUTES is no number', async () => {
    await deploy({ SILENT_AFTER_MINUTES: 'soon' });
    report({ kind: 'heartbeat', status: 1 });
    await setAhead(1000);
    assert.equal((await states()).length, 1);
    assert.equal((await alarms()).alarms.length, 1);
  });

  it('shows of a device that has been silent for days no chart of the time before', async () => {
    await deploy();
    report({ kind: 'measurement', name: 'temperature', value: 20 });
    const history = async () => {
      red.send('to-dashboard-look', { payload: { device: DEVICE } });
      const { device } = (await red.next('dashboard-look-0')).payload as { device: { history: unknown[] } };
      return device.history.length;
    };
    assert.equal(await history(), 1);
    await setAhead(3 * DAY);
    assert.equal(await history(), 0);
  });

  it('takes nothing that the broker had kept for a sign of life', async () => {
    await deploy();
    report({ kind: 'heartbeat', status: 4, retained: true }, 'e4a7c5102031');
    report({ kind: 'heartbeat', status: 0 });
    await setAhead(61 * 60_000);
    report({ kind: 'heartbeat', status: 4, retained: true });
    const { alarms: all } = await alarms();
    assert.deepEqual(
      all.map(({ key, active }) => [key, active]),
      [[`${DEVICE} silent`, true]],
    );
    report({ kind: 'heartbeat', status: 4, retained: true });
    red.send('to-dashboard-snapshot', {});
    const { devices } = (await red.next('dashboard-snapshot-0')).payload as {
      devices: { mac: string; state: string }[];
    };
    assert.deepEqual(
      devices.map(({ mac, state }) => [mac, state]),
      [[DEVICE, 'silent']],
    );
  });

  it('keeps at most 500 alarms, and of too many first drops those that somebody has seen', async () => {
    await deploy();
    const mac = (index: number) => index.toString(16).padStart(12, '0');
    const fail = (index: number) => report({ kind: 'heartbeat', status: 1 }, mac(index));
    fail(0);
    fail(1);
    const { now } = await alarms();
    await acknowledge(`${mac(1)} status`, now);
    for (let index = 2; index < 502; index++) {
      fail(index);
    }
    const keys = (await alarms()).alarms.map(({ key }) => key);
    assert.equal(keys.length, 500);
    assert.ok(!keys.includes(`${mac(1)} status`) && !keys.includes(`${mac(0)} status`));
    assert.ok(keys.includes(`${mac(2)} status`));
  });

  it('raises the silence of more devices than it keeps alarms for once each, so that they can be acknowledged', async () => {
    await deploy();
    for (let index = 0; index < 600; index++) {
      report({ kind: 'heartbeat', status: 0 }, index.toString(16).padStart(12, '0'));
    }
    await setAhead(61 * 60_000);
    const { now, alarms: raised } = await alarms();
    assert.equal(raised.length, 500);
    await acknowledge('all', now);
    report({ kind: 'heartbeat', status: 1 });
    const { alarms: left } = await alarms();
    assert.equal(left.filter(({ acknowledged }) => !acknowledged).length, 1);
  });

  it('acknowledges nothing for a page that sends something else, and lets no page report', async () => {
    await deploy();
    report({ kind: 'heartbeat', status: 4 });
    const { now } = await alarms();
    const forged = { device: DEVICE, gateway: GATEWAY, report: { kind: 'heartbeat', status: 0 } };
    for (const payload of [
      null,
      'all',
      { acknowledge: ['all'], until: now },
      { acknowledge: 'all' },
      { acknowledge: 'all', until: '9e99' },
    ]) {
      red.send('to-dashboard-acknowledge', { payload, ...forged, status: { fill: 'green' } });
    }
    red.send('to-dashboard-acknowledge', { payload: { acknowledge: 'x', until: now }, ...forged });
    const { _msgid, ...msg } = await red.next('dashboard-acknowledge-0');
    assert.deepEqual(msg, { acknowledge: { key: 'x', until: now } });
    assert.equal(red.waiting('dashboard-acknowledge-0'), 0);
  });

  it('keeps of one device 24 hours, 40 values and 10 events, and shows it only to the page that asks', async () => {
    await deploy();
    for (let hour = 0; hour < 30; hour++) {
      await setAhead(hour * 3_600_000);
      for (let part = 0; part < 6; part++) {
        const time = new Date(Date.now() + hour * 3_600_000 - part * 600_000).toISOString();
        report({ kind: 'measurement', name: 'temperature', value: hour, time });
      }
    }
    for (let index = 0; index < 60; index++) {
      report({ kind: 'property', name: `property-${index}`, value: 'x'.repeat(1000) });
      report({ kind: 'event', name: `event-${index}`, value: 1 });
    }
    const _client = { socketId: 'one' };
    red.send('to-dashboard-look', { payload: { device: DEVICE }, _client });
    const answer = await red.next('dashboard-look-0');
    assert.deepEqual(answer._client, _client);
    const { device } = answer.payload as {
      device: { history: { start: number }[]; values: { value: string }[]; events: unknown[] };
    };
    assert.equal(device.history.length, 144);
    assert.deepEqual([device.values.length, device.events.length], [40, 10]);
    assert.ok(device.values.every(({ value }) => value.length <= 100));
    const starts = device.history.map(({ start }) => start);
    assert.deepEqual(starts, [...starts].sort());
    for (const asked of ['constructor', '__proto__', 'aabbccddeeff', null, { a: 1 }]) {
      red.send('to-dashboard-look', { payload: { device: asked }, _client });
      assert.equal(((await red.next('dashboard-look-0')).payload as { device: unknown }).device, null);
    }
  });

  it('keeps its devices and alarms over a deploy', async () => {
    await deploy();
    report({ kind: 'heartbeat', status: 4 });
    await alarms();
    await deploy({}, true);
    report({ kind: 'heartbeat', status: 5 }, 'e4a7c5102031');
    assert.equal((await alarms()).alarms.length, 2);
    red.send('to-dashboard-snapshot', {});
    const { devices } = (await red.next('dashboard-snapshot-0')).payload as { devices: unknown[] };
    assert.equal(devices.length, 2);
  });
});
