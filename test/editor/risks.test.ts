// What the sidebar asks about before it writes: what may put a device out of reach, whatever the user calls it.
import assert from 'node:assert/strict';
import { questionOf } from '../../nodes/sidebar/editor-risks.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';

describe('a write that may put a device out of reach', () => {
  const own = [
    { id: '8300', name: 'again', type: 'void' },
    { id: '8301', name: 'wipe', type: 'void' },
  ];
  const asked = (id: string, value: unknown, custom: object[] = []) => {
    const catalogue = createCatalogue(custom);
    return questionOf(catalogue.find(id)!, value, catalogue);
  };

  it('is asked about: a reset, a firmware update, storage', () => {
    for (const id of ['8300', '8301', '8111', '8120', '8130']) {
      assert.equal(asked(id, null), 'reallyReset', id);
    }
    assert.deepEqual(
      ['dfu', 'storage', '01', '03', 'connected', '00', 'none'].map((value) => asked('8110', value)),
      ['reallyUpdate', 'reallyStore', 'reallyUpdate', 'reallyStore', undefined, undefined, undefined],
    );
    assert.equal(asked('8800', 21.5), undefined);
    assert.equal(asked('8102', 1), undefined, 'it only tells of a reset');
  });

  it('is asked about where the property is one of the user’s own', () => {
    assert.deepEqual(
      ['8300', '8301'].map((id) => asked(id, null, own)),
      ['reallyReset', 'reallyReset'],
    );
    const mode = [{ id: '8110', name: 'state', type: 'u8' }];
    assert.deepEqual(
      [1, 3, 2, '01'].map((value) => asked('8110', value, mode)),
      ['reallyUpdate', 'reallyStore', undefined, 'reallyUpdate'],
    );
  });
});
