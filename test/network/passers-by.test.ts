// Who goes first when a watch has too many to look after.
import assert from 'node:assert/strict';
import { PassersBy } from '../../src/network/passers-by.ts';
import { type Alarm, newWatched, type Watched } from '../../src/network/watched.ts';

describe('those that a watch leaves out first', () => {
  let passersBy: PassersBy;
  let a: Watched;
  let b: Watched;
  let c: Watched;

  beforeEach(() => {
    passersBy = new PassersBy();
    [a, b, c] = ['a', 'b', 'c'].map((id) => newWatched(id, 'device', { check() {} }, 0)) as [
      ...[Watched, Watched, Watched],
    ];
    for (const one of [a, b, c]) {
      passersBy.add(one);
    }
  });

  /** In which order all of them go. */
  function order(): string[] {
    const ids: string[] = [];
    for (let { first } = passersBy; first; first = passersBy.first) {
      ids.push(first.id);
      passersBy.delete(first);
    }
    return ids;
  }

  function setNeed(entry: Watched, needs: boolean): void {
    entry.alarms = needs ? [{} as Alarm] : [];
    passersBy.sort(entry);
  }

  it('are those that were added first', () => {
    assert.deepEqual(order(), ['a', 'b', 'c']);
    assert.equal(passersBy.first, undefined);
  });

  it('are none that need somebody, as long as there are others', () => {
    setNeed(b, true);
    setNeed(a, true);
    passersBy.delete(c);
    passersBy.add(c);
    assert.deepEqual(order(), ['c', 'b', 'a']);
  });

  it('are those that are fine for longest', () => {
    setNeed(a, true);
    setNeed(a, false);
    assert.deepEqual(order(), ['b', 'c', 'a']);
  });

  it('are none that are no passers-by any more, whatever becomes of them', () => {
    passersBy.delete(b);
    passersBy.delete(b);
    setNeed(b, true);
    assert.deepEqual(order(), ['a', 'c']);
  });

  it('may need somebody already when they are added', () => {
    passersBy.delete(a);
    a.alarms = [{} as Alarm];
    passersBy.add(a);
    assert.deepEqual(order(), ['b', 'c', 'a']);
  });
});
