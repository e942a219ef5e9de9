// What stands first in the tree of the sidebar where gateways and devices are found at a time.
import assert from 'node:assert/strict';
import { TreeModel } from '../../nodes/sidebar/editor-model.ts';

describe('what the sidebar finds', () => {
  const firstOf = (sort: string) => {
    const model = new TreeModel({ q: 'a', sort, needs: 0, near: 0 });
    return model.rangesOf(0, 9).map(({ list }) => list.query.parent);
  };

  for (const sort of ['battery', '-battery', 'rssi', '-rssi']) {
    it(`has gateways, which have neither, behind devices in the order ${sort}`, () => {
      assert.deepEqual(firstOf(sort), ['*', '']);
    });
  }

  for (const sort of ['name', '-name', 'lastSeen', '-lastSeen']) {
    it(`has gateways before devices in the order ${sort}`, () => {
      assert.deepEqual(firstOf(sort), ['', '*']);
    });
  }
});
