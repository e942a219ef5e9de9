import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Dispatch, type Route, segmentKey } from '../../src/mqtt/dispatch.ts';
import { readReportTopic } from '../../src/protocol/reports/index.ts';

const G = ['c0141f68fc3d', 'c0141f68fc3e'] as const;
const D = ['d00000000001', 'd00000000002', 'd00000000003'] as const;
const RESTS = [
  'heartbeat',
  'measurement/8800',
  'measurement-decoded/temperature',
  'news/8800',
  'news-decoded/x',
];

const subset = (...values: string[]) => fc.subarray(values).map((chosen) => new Set(chosen));
const route = fc.record({
  segments: subset('heartbeat', 'measurement', 'measurement-decoded', 'other/raw', 'other/decoded'),
  gateways: subset(...G),
  devices: subset(...D),
  identifiers: subset('8800', 'temperature', 'x'),
});

describe('dispatch of reports', () => {
  it('finds exactly the routes that trying every filter would find, each once', () => {
    fc.assert(
      fc.property(
        fc.array(route, { maxLength: 20 }),
        fc.constantFrom(...G),
        fc.constantFrom(...D),
        fc.constantFrom(...RESTS),
        (routes, gateway, device, rest) => {
          const dispatch = new Dispatch<number>();
          for (const [target, filter] of routes.entries()) dispatch.add({ ...filter, target });
          const at = readReportTopic('t', gateway, device, rest);
          const passes = (set: Set<string>, value: string | undefined) =>
            set.size === 0 || (value !== undefined && set.has(value));
          const expected = routes.flatMap((filter, target) =>
            passes(filter.segments, segmentKey(at)) &&
            passes(filter.gateways, gateway) &&
            passes(filter.devices, device) &&
            passes(filter.identifiers, at.identifier)
              ? [target]
              : [],
          );
          assert.deepEqual(
            [...dispatch.match(at)].sort((a, b) => a - b),
            expected,
          );
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('forgets a route that is removed', () => {
    const dispatch = new Dispatch<string>();
    const none = new Set<string>();
    const one: Route<string> = {
      segments: none,
      gateways: none,
      devices: new Set([D[0]]),
      identifiers: none,
      target: 'one',
    };
    const two: Route<string> = { ...one, target: 'two' };
    const remove = dispatch.add(one);
    dispatch.add(two);
    remove();
    assert.deepEqual(dispatch.match(readReportTopic('t', G[0], D[0], 'heartbeat')), ['two']);
  });
});
