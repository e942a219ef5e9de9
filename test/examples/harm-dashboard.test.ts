// What the dashboard's flow does with messages that no honest page and no honest gateway would send.
import assert from 'node:assert/strict';
import dashboard from '../../examples/dashboard/Live dashboard.json' with { type: 'json' };
import { type NodeConfig, type NodeRed, sink, source, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { clockOf, withClock } from './import.ts';

const FLOW = dashboard as unknown as NodeConfig[];
const PARTS = ['dashboard-network', 'dashboard-request', 'dashboard-happened', 'dashboard-snapshot'];
const nodeOf = (id: string): NodeConfig => FLOW.find((node) => node.id === id)!;

describe('the flow of the dashboard', () => {
  let red: NodeRed;

  before(async function () {
    this.timeout(120_000);
    red = await startNodeRed(VERSIONS[0]!);
  });
  after(() => red?.stop());

  /** Deploys the function nodes that the widgets talk to, each between a source and sinks. */
  async function deploy(writable?: string): Promise<void> {
    const tab = nodeOf('dashboard-tab');
    const env = (tab.env as { name: string; value: string }[]).map((entry) =>
      entry.name === 'WRITABLE' ? { ...entry, value: writable ?? entry.value } : entry,
    );
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
    await deploy(' , ');
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

  it('forgets a device after a day of silence, and the longest silent of more than 2000', async () => {
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
      [130_000, ['fine', 'silent']],
      [16 * 60_000, ['fine', 'silent']],
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
      red.send('to-dashboard-happened', msg);
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
});
