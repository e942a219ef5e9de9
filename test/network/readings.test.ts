// The charge of a device's battery, whatever the user's catalogue calls it.
import assert from 'node:assert/strict';
import { SILENT } from '../../src/log.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { batteryOf } from '../../src/network/readings.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { compileCriteria } from '../../src/reports/report-filter.ts';
import { Reports } from '../../src/reports/reports.ts';
import { watchFilters } from '../../src/reports/watch-filters.ts';

const [G, D] = ['c0141f68fc3d', 'd00000000001'];
const ALL = { gateways: [], devices: [], labels: [] };

describe('the charge of a battery, for a watch of it', () => {
  for (const [title, custom, charges] of [
    ['as the interface has it', [], ['8100', 'battery-level']],
    ['under another name', [{ id: '8100', name: 'charge', type: 'u8' }], ['8100', 'charge', 'battery-level']],
    ['under another id', [{ id: '9001', name: 'battery-level', type: 'u8' }], ['9001', 'battery-level']],
    [
      'in other steps',
      [{ id: '8100', name: 'battery-level', type: 'u8', unit: '%' }],
      ['8100', 'battery-level'],
    ],
  ] as const) {
    for (const identifier of charges) {
      it(`is known ${title}, reported as ${identifier}`, () => {
        const catalogue = createCatalogue(custom);
        const network = new NetworkState();
        const reports = new Reports(createTopics(''), catalogue, network, SILENT);
        for (const filter of watchFilters(['battery-low'], ALL)) {
          const criteria = compileCriteria(filter, catalogue);
          assert.ok(criteria);
          reports.add(criteria, true, { report() {}, error() {} });
        }
        const isHex = /^\d/.test(identifier);
        const tail = isHex ? `property/${identifier}` : `property-decoded/${identifier}`;
        const body = { time: '2026-01-01T00:00:00Z', value: isHex ? '05' : 5 };
        reports.deliver(`mt/gateway/${G}/device/${D}/${tail}`, Buffer.from(JSON.stringify(body)), false);
        const device = network.device(D);
        assert.equal(device && batteryOf(device, catalogue), 5);
      });
    }
  }
});

describe('the charge of a battery', () => {
  const catalogue = createCatalogue();
  const raw = (value: unknown) => ['property/8100', value] as const;
  const decoded = (value: unknown) => ['property-decoded/battery-level', value] as const;
  const CHARGES: [string, (readonly [string, unknown])[], number | undefined][] = [
    ['is that of the last report', [decoded(5), decoded(6)], 6],
    ['is the last one also where that is decoded', [raw(5), decoded(6)], 6],
    ['is the newest of both, raw and decoded', [raw(5), decoded(6), raw(7)], 7],
    ['is the newest of both, decoded and raw', [decoded(5), raw(6), decoded(7)], 7],
    ['may be none', [decoded(0)], 0],
    ['may be full', [decoded(100)], 100],
    ['is not known where it was never reported', [['property-decoded/uptime', 5]], undefined],
    ...[255, 101, -1, '50', null].map(
      (value): [string, (readonly [string, unknown])[], number | undefined] => [
        `is not known where it is ${JSON.stringify(value)}`,
        [decoded(value)],
        undefined,
      ],
    ),
    ['is the other one where the newest is none', [decoded(5), raw(255)], 5],
  ];
  for (const [title, reports, charge] of CHARGES) {
    it(title, () => {
      const network = new NetworkState();
      for (const [i, [tail, value]] of reports.entries()) {
        const report = { time: '2026-01-01T00:00:00Z', value } as Report;
        network.record(readReportTopic('t', G, D, tail), 1_000 + i, report);
      }
      const device = network.device(D);
      assert.equal(device && batteryOf(device, catalogue), charge);
    });
  }
});
