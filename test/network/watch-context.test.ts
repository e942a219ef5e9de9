// What watches need of the others.
import assert from 'node:assert/strict';
import { hearsEverything } from '../../src/network/watch-context.ts';

describe('a watch', () => {
  it('needs all reports to tell silence, of devices or of gateways, and else only those that tell of its conditions', () => {
    for (const [needed, ...conditions] of [
      [true, 'silent'],
      [true, 'gateway-silent'],
      [true, 'error', 'gateway-silent'],
      [false, 'error', 'battery-low', 'weak-signal', 'dfu'],
      [false],
    ] as const) {
      assert.equal(hearsEverything(conditions), needed, `${conditions}`);
    }
  });
});
