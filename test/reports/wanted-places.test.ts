// Of which gateways and devices flows ask for any reports.
import assert from 'node:assert/strict';
import { SILENT } from '../../src/log.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { compileCriteria, type TopicCriteria } from '../../src/reports/report-filter.ts';
import { Reports } from '../../src/reports/reports.ts';

const [G, G2] = ['c0141f68fc3d', 'c0141f68fc3e'] as const;
const [D, E] = ['d00000000001', 'd00000000002'] as const;

describe('what flows ask for', () => {
  const catalogue = createCatalogue();
  const none = { report() {}, error() {} };
  let reports: Reports;

  beforeEach(() => {
    reports = new Reports(createTopics(''), catalogue, new NetworkState(), SILENT);
  });

  const add = (filter: Partial<TopicCriteria>) => {
    const any = { kinds: [], form: 'both', gateways: [], devices: [], identifiers: [] } as const;
    const criteria = compileCriteria({ ...any, ...filter }, catalogue);
    assert.ok(criteria);
    return reports.add(criteria, true, none);
  };
  const brought = () => {
    const places = [[G], [G2], [G, D], [G, E], [G2, D], [G2, E]] as const;
    return places.map(([gateway, device]) => Number(reports.mayBring(gateway, device))).join('');
  };

  for (const [title, filters, expected] of [
    ['everything', [{}], '111111'],
    ['a gateway', [{ gateways: [G] }], '101100'],
    ['a device, whatever brings it', [{ devices: [D] }], '001010'],
    ['a device of a gateway', [{ gateways: [G], devices: [D] }], '101000'],
    ['one kind of all', [{ kinds: ['heartbeat'] }], '111111'],
    [
      'two places',
      [
        { gateways: [G], devices: [D] },
        { gateways: [G2], devices: [E] },
      ],
      '111001',
    ],
    ['nothing', [], '000000'],
  ] as [string, Partial<TopicCriteria>[], string][]) {
    it(`is known by gateway and device: ${title}`, () => {
      filters.forEach(add);
      reports.filters();
      assert.equal(brought(), expected);
    });
  }

  it('is everything before anything was asked for, and stays what it was while flows are replaced', () => {
    assert.equal(brought(), '111111');
    const { remove } = add({ gateways: [G], devices: [D] });
    reports.filters();
    remove();
    assert.equal(brought(), '101000');
    reports.filters();
    assert.equal(brought(), '000000');
  });
});
