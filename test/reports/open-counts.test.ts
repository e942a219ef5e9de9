// How many reports are open at each node: what its status shows.
import assert from 'node:assert/strict';
import { OpenCounts } from '../../src/reports/open-counts.ts';

describe('the counts of open reports', () => {
  const NOW = 10_000;
  let told: string[];
  let counts: OpenCounts<ReturnType<typeof node>>;

  beforeEach(() => {
    told = [];
    counts = new OpenCounts((listener) => listener());
  });

  const node = (name: string) => ({
    count: (open: number, oldestMs: number) => void told.push(`${name}: ${open}, ${oldestMs} ms`),
  });
  const openAt = (confirmer: ReturnType<typeof node>, ...heardAt: number[]) =>
    heardAt.map((at) => ({ confirmer, message: { heardAt: at } }));

  /** What the nodes are told of these. */
  function tell(...deliveries: ReturnType<typeof openAt>): string[] {
    counts.tell(deliveries, NOW);
    return told.splice(0);
  }

  it('are told of each node, with the age of its oldest report', () => {
    const [a, b] = [node('a'), node('b')];
    const open = [...openAt(a, 9_000, 7_000), ...openAt(b, 9_999), ...openAt(a, 8_000)];
    assert.deepEqual(tell(...open), ['a: 3, 3000 ms', 'b: 1, 1 ms']);
  });

  it('are told again while there are some, and once when there are none any more', () => {
    const [a, b] = [node('a'), node('b')];
    assert.deepEqual(tell(), []);
    tell(...openAt(a, 9_000), ...openAt(b, 9_000));
    assert.deepEqual(tell(...openAt(a, 9_000)), ['b: 0, 0 ms', 'a: 1, 1000 ms']);
    assert.deepEqual(tell(), ['a: 0, 0 ms']);
    assert.deepEqual(tell(), []);
  });

  it('are not told to a node that has ended', () => {
    const a = node('a');
    tell(...openAt(a, 9_000));
    counts.delete(a);
    assert.deepEqual(tell(), []);
  });
});
