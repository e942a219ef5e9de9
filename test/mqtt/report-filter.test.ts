// The topic filters of one node: the narrowest ones that are few enough, found without multiplying the lists of a user.
import assert from 'node:assert/strict';
import { Dispatch } from '../../src/mqtt/dispatch.ts';
import { readReportFilter } from '../../src/mqtt/report-filter.ts';
import { createCatalogue } from '../../src/protocol/identifiers.ts';
import { readReportTopic } from '../../src/protocol/reports/index.ts';
import { ALL } from '../session.ts';

const catalogue = createCatalogue();
const macs = (count: number, first = 0xc00000000000) =>
  Array.from({ length: count }, (_, i) => (first + i).toString(16));
const gateways = (count: number) => macs(count);
const devices = (count: number) => macs(count, 0xd00000000000);
const identifiers = (count: number) => Array.from({ length: count }, (_, i) => `property-${i}`);

function wantsOf(filter: Partial<typeof ALL>) {
  return readReportFilter({ ...ALL, ...filter }, catalogue)?.wants ?? [];
}

describe('the topic filters of a node', () => {
  it('name each device under each gateway while they are few', () => {
    assert.equal(wantsOf({ gateways: gateways(10), devices: devices(10) }).length, 100);
  });

  for (const [what, filter, count, example] of [
    ['the devices alone', { gateways: gateways(100), devices: devices(100) }, 100, { device: devices(1)[0] }],
    [
      'the gateways alone',
      { gateways: gateways(100), devices: devices(3_000) },
      100,
      { gateway: gateways(1)[0] },
    ],
    ['neither', { gateways: gateways(3_000), devices: devices(3_000) }, 1, {}],
    [
      'no gateway and no device, but the kind',
      { gateways: gateways(3_000), devices: devices(3_000), kinds: ['heartbeat'] },
      1,
      { segment: 'heartbeat', identifier: '' },
    ],
    [
      'the devices without their properties',
      { devices: devices(1_500), identifiers: identifiers(1_500) },
      1_500,
      { device: devices(1)[0] },
    ],
    [
      'the kind without its properties',
      { kinds: ['property'], form: 'decoded', identifiers: identifiers(2_001) },
      1,
      { segment: 'property-decoded' },
    ],
  ] as const) {
    it(`name ${what} when more than 2 000 would be needed`, () => {
      const wants = wantsOf(filter as Partial<typeof ALL>);
      assert.equal(wants.length, count);
      assert.deepEqual({ ...wants[0] }, { ...wants[0], ...example });
      assert.deepEqual(
        Object.entries(wants[0] ?? {}).filter(([, value]) => value !== undefined),
        Object.entries(example),
      );
    });
  }

  it('are found for lists of 100 000 entries each without stalling Node-RED', () => {
    const filter = {
      gateways: gateways(100_000),
      devices: devices(100_000),
      identifiers: identifiers(100_000),
    };
    const start = performance.now();
    const read = readReportFilter({ ...ALL, ...filter }, catalogue);
    const dispatch = new Dispatch<string>();
    const remove = dispatch.add({ ...read!.route, target: 'node' });
    const at = (gateway: string, device: string, rest: string) => readReportTopic('', gateway, device, rest);
    const [g, d] = [filter.gateways[9]!, filter.devices[9]!];
    assert.deepEqual(dispatch.match(at(g, d, 'property-decoded/property-9')), ['node']);
    assert.deepEqual(dispatch.match(at(g, d, 'property-decoded/other')), []);
    assert.deepEqual(dispatch.match(at(g, d, 'heartbeat')), []);
    assert.deepEqual(dispatch.match(at(d, d, 'property-decoded/property-9')), []);
    assert.deepEqual(dispatch.match(at(g, g, 'property-decoded/property-9')), []);
    remove();
    assert.deepEqual(dispatch.match(at(g, d, 'property-decoded/property-9')), []);
    // 10¹⁵ combinations would never end; the bound leaves room for a busy machine.
    assert.ok(performance.now() - start < 10_000);
  });
});
