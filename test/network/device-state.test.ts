// What is known of one device or gateway: which of them are forgotten before others, and by whom a device was heard.
import assert from 'node:assert/strict';
import { isPasserBy, newDevice, parentOf } from '../../src/network/device-state.ts';
import { MIN_HEARINGS } from '../../src/network/interval.ts';
import type { Report } from '../../src/protocol/reports/index.ts';

const DAY = 24 * 3_600_000;
const G = 'c0141f68fc3d';
const NODE = 'e00000000001';

describe('a device', () => {
  it('is forgotten before others where it was heard a few times only, or not for a day', () => {
    const heardAt = 5_000;
    const isPasserByAfter = (ms: number, hearings: number) =>
      isPasserBy({ ...newDevice('d00000000001', heardAt), hearings }, heardAt + ms);
    assert.equal(isPasserByAfter(0, MIN_HEARINGS - 1), true);
    assert.equal(isPasserByAfter(0, MIN_HEARINGS), false);
    assert.equal(isPasserByAfter(DAY, MIN_HEARINGS), false);
    assert.equal(isPasserByAfter(DAY + 1, MIN_HEARINGS), true);
  });

  for (const [parent, by] of [
    [NODE, NODE],
    ['E0:00:00:00:00:01', NODE],
    [G, G],
    ['upstairs', G],
    [7, G],
    [undefined, G],
  ] as const) {
    it(`was heard by its parent, where a report names one, else by the gateway: ${parent}`, () => {
      assert.equal(parentOf({ parent } as unknown as Report, G), by);
    });
  }
});
