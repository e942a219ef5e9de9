// What sample flows remember of reports is as small in memory as it looks: no long text stays behind a short one.
import assert from 'node:assert/strict';
import watch from '../../examples/DFU watch.json' with { type: 'json' };
import dashboard from '../../examples/dashboard/Live dashboard.json' with { type: 'json' };
import hass from '../../examples/Home Assistant discovery.json' with { type: 'json' };
import type { NodeConfig } from '../e2e/node-red.ts';
import { usedMemory } from '../memory.ts';

const GATEWAY = 'c0141f68fc3d';
const REPORTS = 100;
const TEXT_LENGTH = 1_000_000;
/** Far less than the texts of the reports, far more than what is shown of them. */
const MAX_GROWTH = 30_000_000;

type Report = Record<string, unknown>;
type Message = Record<string, unknown> | null | undefined;

/** What a function node finds around it, and the report of one message. */
function runner(flow: object, id: string, env: Record<string, unknown>): (report: Report) => Message {
  const node = (flow as NodeConfig[]).find((each) => each.id === id);
  assert.ok(node);
  const stored = () => {
    const content = new Map<string, unknown>();
    return {
      get: (key: string) => content.get(key),
      set: (key: string, value: unknown) => content.set(key, value),
    };
  };
  const shared = stored();
  shared.set('network', { devices: {}, reports: 0, lost: 0, late: 0 });
  shared.set('connected', true);
  const own = stored();
  const ears = { status: () => {}, send: () => {}, error: (error: unknown) => assert.fail(String(error)) };
  const names = ['msg', 'flow', 'context', 'env', 'node'];
  // This is what Node-RED makes of the text of a function node.
  const run = new Function(...names, String(node.func)) as (...given: unknown[]) => Message;
  return (report) =>
    run(
      { device: report.device, gateway: GATEWAY, report, payload: report },
      shared,
      own,
      { get: (key: string) => env[key] },
      ears,
    );
}

/** Each text is one of its own, as if a message had just been parsed. */
const long = (index: number): string => Buffer.from(`${index}`.padEnd(TEXT_LENGTH, 'v')).toString();
const macOf = (index: number): string => (0xd00000000000 + index).toString(16);

function growthBy(run: (report: Report) => Message, reportOf: (index: number) => Report): number {
  const before = usedMemory();
  for (let index = 0; index < REPORTS; index++) {
    run({ device: macOf(index), time: new Date().toISOString(), ...reportOf(index) });
  }
  const growth = usedMemory() - before;
  // Else what it remembers might be gone by now.
  run({ device: macOf(0), time: new Date().toISOString(), kind: 'heartbeat' });
  return growth;
}

describe('the memory of a sample flow', () => {
  const network = () => {
    const env = { WINDOW_SECONDS: '600', MEASUREMENT: 'temperature' };
    return runner(dashboard, 'dashboard-network', env);
  };
  const alarms = () => runner(dashboard, 'dashboard-alarms', { WORDS: {}, SILENT_AFTER_MINUTES: '60' });
  const entity = () => runner(hass, 'sample-hass-entity', { EXPIRE_AFTER_MINUTES: '60' });
  const dfu = () => runner(watch, 'sample-dfu-watch', { GONE_AFTER_SECONDS: '60' });

  const cases: [what: string, run: () => (report: Report) => Message, report: (index: number) => Report][] = [
    ['Live dashboard: values', network, (index) => ({ kind: 'property', name: 'x', value: long(index) })],
    [
      'Live dashboard: values of JSON',
      network,
      (index) => ({ kind: 'property', name: 'x', value: [long(index)] }),
    ],
    ['Live dashboard: properties', network, (index) => ({ kind: 'property', name: long(index), value: 1 })],
    [
      'Live dashboard: units',
      network,
      (index) => ({ kind: 'property', name: 'x', unit: long(index), value: 1 }),
    ],
    [
      'Live dashboard: events',
      network,
      (index) => ({ kind: 'event', name: long(index), value: long(index) }),
    ],
    ['Live dashboard: names of devices', network, (index) => ({ kind: 'rssi', deviceName: long(index) })],
    ['Live dashboard: names of gateways', network, (index) => ({ kind: 'rssi', gatewayName: long(index) })],
    ['Live dashboard: states', network, (index) => ({ kind: 'heartbeat', status: long(index) })],
    ['Live dashboard: states of JSON', network, (index) => ({ kind: 'heartbeat', status: [long(index)] })],
    [
      'Live dashboard: measurements that fail',
      alarms,
      (index) => ({ kind: 'measurement-error', name: long(index), error: long(index), time: long(index) }),
    ],
    [
      'Home Assistant discovery: properties',
      entity,
      (index) => ({ kind: 'property', name: long(index), deviceName: long(index), value: 1 }),
    ],
    ['DFU watch: parents', dfu, (index) => ({ kind: 'dfu', parent: long(index), rssi: [long(index)] })],
  ];
  for (const [what, run, report] of cases) {
    it(`holds on to no long texts (${what})`, function () {
      this.timeout(60_000);
      const growth = growthBy(run(), report);
      assert.ok(growth < MAX_GROWTH, `${Math.round(growth / 1e6)} MB`);
    });
  }
});
