// What a field to write a value begins with, of what is known of the device.
import assert from 'node:assert/strict';
import { startWith } from '../../nodes/shared/editor/fixed-value.ts';
import type { Identifier } from '../../src/protocol/identifiers.ts';

describe('a field to write a value', () => {
  const begin = (identifier: Partial<Identifier>, known: unknown) =>
    startWith({ id: '8fff', name: 'known', access: [], description: '', ...identifier } as Identifier, known);

  it('begins with what the device has, where the field can have it', () => {
    assert.equal(begin({ type: 'bool' }, true), 'true');
    assert.equal(begin({ type: 'u8' }, 5), '5');
    assert.equal(begin({ type: 'u8', words: { 0: 'off' } }, 'off'), 'off');
    assert.equal(begin({ type: 'structure' }, { interval: 20 }), '{"interval":20}');
  });

  it('does not begin empty with what it cannot have: an empty choice would be written as another one', () => {
    assert.equal(begin({ type: 'bool' }, 1), undefined);
    assert.equal(begin({ type: 'u8', words: { 0: 'off' } }, 3), undefined);
    assert.equal(begin({ type: 'u8' }, 'ff00'), undefined);
    assert.equal(begin({ type: 'structure' }, '{"interval":2…'), undefined);
  });
});
