import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ReportTopic, readReportTopic } from '../../src/protocol/reports/index.ts';
import { Dispatch, type Route } from '../../src/reports/dispatch.ts';
import { itAtScale } from '../at-scale.ts';
import { usedMemory } from '../memory.ts';

const G = ['c0141f68fc3d', 'c0141f68fc3e'] as const;
const D = ['d00000000001', 'd00000000002', 'd00000000003'] as const;
/** What follows the device in a topic, and the segment that a route names to get it. */
const RESTS = [
  ['heartbeat', 'heartbeat'],
  ['measurement/8800', 'measurement'],
  ['measurement-decoded/temperature', 'measurement-decoded'],
  ['news/8800', 'other/raw'],
  ['news-decoded/x', 'other/decoded'],
] as const;
const NONE: ReadonlySet<string> = new Set();

const subset = (...values: string[]) => fc.subarray(values).map((chosen) => new Set(chosen));
const route = fc.record({
  segments: subset('heartbeat', 'measurement', 'measurement-decoded', 'other/raw', 'other/decoded'),
  gateways: subset(...G),
  devices: subset(...D),
  identifiers: subset('8800', 'temperature', 'x'),
});

type Filter = Omit<Route<number>, 'target'>;

/** The numbers of the routes that trying every filter finds. */
function expectedOf(routes: Filter[], at: ReportTopic, segment: string): number[] {
  const passes = (set: ReadonlySet<string>, value: string | undefined) =>
    set.size === 0 || (value !== undefined && set.has(value));
  return routes.flatMap((filter, target) =>
    passes(filter.segments, segment) &&
    passes(filter.gateways, at.gateway) &&
    passes(filter.devices, at.device) &&
    passes(filter.identifiers, at.identifier)
      ? [target]
      : [],
  );
}

const matched = (dispatch: Dispatch<number>, at: ReportTopic) => dispatch.match(at).sort((a, b) => a - b);

/** Counts how often it is looked into. */
class Watched extends Set<string> {
  looks = 0;

  override has(value: string): boolean {
    this.looks++;
    return super.has(value);
  }
}

describe('dispatch of reports', () => {
  const routes = fc.array(fc.tuple(route, fc.boolean()), { maxLength: 20 });

  it('finds exactly the routes that trying every filter would find, each once, also when others are removed', () => {
    fc.assert(
      fc.property(
        routes,
        fc.constantFrom(...G),
        fc.constantFrom(...D),
        fc.constantFrom(...RESTS),
        (all, gateway, device, [rest, segment]) => {
          const dispatch = new Dispatch<number>();
          const filters = all.map(([filter]) => filter);
          const removes = filters.map((filter, target) => dispatch.add({ ...filter, target }));
          const at = readReportTopic('t', gateway, device, rest);
          const expected = expectedOf(filters, at, segment);
          assert.deepEqual(matched(dispatch, at), expected);
          const isKept = (target: number) => all[target]![1];
          for (const [target, remove] of removes.entries()) {
            if (!isKept(target)) {
              remove();
            }
          }
          assert.deepEqual(matched(dispatch, at), expected.filter(isKept));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('forgets a route that is removed, and no other when it is removed twice', () => {
    const dispatch = new Dispatch<string>();
    const one = {
      segments: NONE,
      gateways: new Set([G[0]]),
      devices: new Set([D[0]]),
      identifiers: NONE,
      target: 'one',
    };
    const remove = dispatch.add(one);
    const removeTwo = dispatch.add({ ...one, target: 'two' });
    remove();
    remove();
    const at = readReportTopic('t', G[0], D[0], 'heartbeat');
    assert.deepEqual(dispatch.match(at), ['two']);
    removeTwo();
    removeTwo();
    assert.deepEqual(dispatch.match(at), []);
  });

  const distant: [title: string, filter: (segments: Watched) => Filter][] = [
    ['kinds', (segments) => ({ segments, gateways: NONE, devices: NONE, identifiers: NONE })],
    ['gateways', (segments) => ({ segments, gateways: new Set([G[1]]), devices: NONE, identifiers: NONE })],
    ['devices', (segments) => ({ segments, gateways: NONE, devices: new Set([D[1]]), identifiers: NONE })],
    [
      'identifiers',
      (segments) => ({ segments, gateways: NONE, devices: NONE, identifiers: new Set(['8800']) }),
    ],
  ];
  for (const [title, filterOf] of distant) {
    it(`does not look at routes of other ${title}`, () => {
      const dispatch = new Dispatch<number>();
      const segments = new Watched(title === 'kinds' ? ['rssi'] : ['heartbeat']);
      for (let target = 0; target < 100; target++) {
        dispatch.add({ ...filterOf(segments), target });
      }
      segments.looks = 0;
      assert.deepEqual(dispatch.match(readReportTopic('t', G[0], D[0], 'heartbeat')), []);
      assert.equal(segments.looks, 0);
    });
  }

  const set = (...values: string[]) => new Set(values);
  const places: [title: string, filter: (name: string) => Filter][] = [
    ['devices', (name) => ({ segments: NONE, gateways: NONE, devices: set(name), identifiers: NONE })],
    ['gateways', (name) => ({ segments: NONE, gateways: set(name), devices: NONE, identifiers: NONE })],
    [
      'kinds of devices',
      (name) => ({ segments: set('rssi'), gateways: NONE, devices: set(name), identifiers: NONE }),
    ],
    [
      'identifiers of gateways',
      (name) => ({ segments: NONE, gateways: set(name), devices: NONE, identifiers: set('8800') }),
    ],
    ['kinds', (name) => ({ segments: set(name), gateways: NONE, devices: NONE, identifiers: NONE })],
    ['identifiers', (name) => ({ segments: NONE, gateways: NONE, devices: NONE, identifiers: set(name) })],
  ];
  for (const [title, filterOf] of places) {
    itAtScale(`leaves nothing behind of ${title} that nobody asks for any more`, () => {
      const dispatch = new Dispatch<number>();
      const add = (i: number) => dispatch.add({ ...filterOf(`name ${i}`), target: i });
      add(-1)();
      const before = usedMemory();
      for (let i = 0; i < 30_000; i++) {
        add(i)();
      }
      assert.ok(usedMemory() - before < 1_500_000);
      assert.deepEqual(dispatch.match(readReportTopic('t', G[0], D[0], 'heartbeat')), []);
    });
  }

  it('matches lists of devices and identifiers that are too long to be multiplied, in little memory', () => {
    const names = (name: string, count: number) =>
      new Set(Array.from({ length: count }, (_, i) => `${name}${i}`));
    const [devices, identifiers] = [names('d', 1_000), names('i', 1_000)];
    const dispatch = new Dispatch<string>();
    const before = usedMemory();
    const removes = [
      dispatch.add({ segments: NONE, gateways: NONE, devices, identifiers, target: 'devices' }),
      dispatch.add({ segments: NONE, gateways: devices, devices: NONE, identifiers, target: 'gateways' }),
    ];
    assert.ok(usedMemory() - before < 5_000_000);
    const matches = (gateway: string, device: string, rest: string) =>
      dispatch.match(readReportTopic('t', gateway, device, rest));
    assert.deepEqual(matches('g', 'd7', 'measurement/i999'), ['devices']);
    assert.deepEqual(matches('d0', 'd', 'measurement/i0'), ['gateways']);
    for (const rest of ['measurement/i1000', 'heartbeat']) {
      assert.deepEqual([...matches('g', 'd7', rest), ...matches('d0', 'd', rest)], []);
    }
    for (const remove of removes) {
      remove();
    }
    assert.deepEqual(matches('d0', 'd7', 'measurement/i0'), []);
  });
});
