// The charge of a device's battery, whatever the user's catalogue calls it.
import assert from 'node:assert/strict';
import { SILENT } from '../../src/log.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { batteryOf } from '../../src/network/readings.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { compileCriteria } from '../../src/reports/report-filter.ts';
import { Reports } from '../../src/reports/reports.ts';
import { watchFilters } from '../../src/reports/watch-filters.ts';

const [G, D] = ['c0141f68fc3d', 'd00000000001'];
const ALL = { gateways: [], devices: [], labels: [] };

describe('the charge of a battery, for a watch of it', () => {
  for (const [title, custom, charges] of [
    ['as the interface has it', [], ['8100', 'battery-level']],
    ['under another name', [{ id: '8100', name: 'charge', type: 'u8' }], ['8100', 'charge']],
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
