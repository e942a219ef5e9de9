// Which reports a watch asks the broker for: the fewest that tell of its conditions.
import assert from 'node:assert/strict';
import type { Condition } from '../../src/protocol/conditions.ts';
import { gatewayFilter, watchFilters } from '../../src/reports/watch-filters.ts';
import { ALL } from '../session.ts';

describe('the filters of a watch', () => {
  const scope = { gateways: ['c0141f68fc3d'], devices: ['d00000000001'], labels: ['hall'] };
  const everything: [string[], string[]][] = [[[], []]];
  const battery: [string[], string[]] = [['property'], ['battery-level', '8100']];

  for (const [conditions, expected] of [
    [['silent'], everything],
    [['gateway-silent'], everything],
    [['battery-low', 'dfu', 'silent'], everything],
    [['error'], [[['heartbeat', 'measurement-error', 'measurement', 'timestamped'], []]]],
    [['battery-low'], [battery]],
    [['weak-signal'], [[['rssi', 'dfu'], []]]],
    [['dfu'], [[['dfu', 'heartbeat'], []]]],
    [
      ['dfu', 'weak-signal', 'battery-low', 'error'],
      [[['dfu', 'heartbeat', 'measurement', 'measurement-error', 'rssi', 'timestamped'], []], battery],
    ],
  ] as [Condition[], [string[], string[]][]][]) {
    it(`ask for what tells of ${conditions.join(', ')}, of its gateways, devices and labels`, () => {
      const filters = watchFilters(conditions, scope);
      const sorted = (kinds: readonly string[]) => [...kinds].sort();
      assert.deepEqual(
        filters.map((filter) => ({ ...filter, kinds: sorted(filter.kinds) })),
        expected.map(([kinds, identifiers]) => ({ ...ALL, ...scope, kinds: sorted(kinds), identifiers })),
      );
    });
  }

  it('ask for all that gateways with its labels bring', () => {
    assert.deepEqual(gatewayFilter(scope.gateways, scope.labels), { ...ALL, ...scope, devices: [] });
  });
});
