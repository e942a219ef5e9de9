// What many want alike runs once for all of them, for as long as one of them wants it.
import assert from 'node:assert/strict';
import { type EndUse, SharedUses } from '../../src/collections/shared-uses.ts';

describe('shared uses', () => {
  let events: string[];
  let uses: SharedUses;

  beforeEach(() => {
    events = [];
    uses = new SharedUses();
  });

  const use = (key: string): EndUse =>
    uses.use(key, () => {
      events.push(`begin ${key}`);
      return (comesBack) => events.push(`end ${key}${comesBack ? ' for a while' : ''}`);
    });

  it('begin with the first of a key and end with the last', () => {
    const [one, other] = [use('a'), use('a')];
    assert.deepEqual(events, ['begin a']);
    one();
    assert.deepEqual(events, ['begin a']);
    other();
    assert.deepEqual(events, ['begin a', 'end a']);
  });

  it('of another key are of their own', () => {
    const end = use('a');
    use('b');
    end();
    assert.deepEqual(events, ['begin a', 'begin b', 'end a']);
  });

  it('begin anew after the last of them has ended', () => {
    use('a')();
    use('a')(true);
    use('a')();
    assert.deepEqual(
      events,
      ['', ' for a while', ''].flatMap((how) => ['begin a', `end a${how}`]),
    );
  });

  for (const [one, other, how] of [
    [false, false, ''],
    [true, false, ' for a while'],
    [false, true, ' for a while'],
    [true, true, ' for a while'],
  ] as const) {
    it(`end${how || ' for good'} when the first user comes back: ${one}, the last: ${other}`, () => {
      const [first, last] = [use('a'), use('a')];
      first(one);
      last(other);
      assert.deepEqual(events, ['begin a', `end a${how}`]);
    });
  }
});
