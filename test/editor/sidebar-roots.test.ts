// What stands first in the tree of the sidebar where gateways and devices are found at a time.
import assert from 'node:assert/strict';
import type { Page } from '../../nodes/sidebar/editor-api.ts';
import { TreeModel } from '../../nodes/sidebar/editor-model.ts';
import type { NetworkRow } from '../../src/protocol/network-row.ts';

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

  for (const sort of ['name', 'battery']) {
    it(`has what was never heard behind everything that was, in the order ${sort}`, () => {
      const model = new TreeModel({ q: 'a', sort, needs: 0, near: 0 });
      const pages: Record<string, Page> = {
        '': pageOf(['gateway', 'never', 'never either'], 2),
        '*': pageOf(['device', 'other device'], 0),
      };
      for (const { list, offset } of model.rangesOf(0, 9)) {
        list.set(offset, pages[list.query.parent]!, model.isKept);
      }
      model.changed();
      const names = model.top(9).map(({ id }) => id);
      assert.deepEqual(names.slice(0, 3).sort(), ['device', 'gateway', 'other device']);
      assert.deepEqual(names.slice(3), ['never', 'never either']);
      assert.equal(model.size, 5);
      assert.equal(model.find('never either'), 4);
    });
  }
});

const pageOf = (ids: string[], unheard: number): Page =>
  ({ total: ids.length, unheard, rows: ids.map((id) => ({ id }) as NetworkRow) }) as Page;
