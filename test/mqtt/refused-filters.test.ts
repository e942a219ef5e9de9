// Topic filters that a broker refuses are told, not too often, and asked for again: those that end connections one at a time.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { createBackoff } from '../../src/mqtt/backoff.ts';
import { ForbiddenFilters } from '../../src/mqtt/forbidden-filters.ts';
import { reasonOfSuback } from '../../src/mqtt/reasons.ts';
import { RefusedFilters } from '../../src/mqtt/refused-filters.ts';

const SECOND_MS = 1_000;
const REASON = reasonOfSuback(0x87);

describe('the filters that a broker refuses', () => {
  let now = 0;
  let wanted: Set<string>;
  /** What was told, in its order. */
  let told: string[];
  /** Called before one is told as refused. */
  let refusing: (filter: string) => void;
  let forbidden: ForbiddenFilters;
  let filters: RefusedFilters;

  beforeEach(() => {
    now = 0;
    told = [];
    wanted = new Set(['a', 'b', 'c', 'd', 'e']);
    refusing = () => {};
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(performance, 'now', () => now);
    forbidden = new ForbiddenFilters();
    filters = new RefusedFilters(
      {
        isWanted: (filter) => wanted.has(filter),
        refusing: (filter) => refusing(filter),
        refused: () => void told.push('more'),
        trying: (filter) => void told.push(`try ${filter}`),
        changed: (all, isSettled) =>
          void told.push(`${[...all.keys()].join(' ')}${isSettled ? ', settled' : ''}`),
        settled: (filter) => void told.push(`settled ${filter}`),
        retry: () => void told.push('retry'),
      },
      forbidden,
      createBackoff(10 * SECOND_MS, 300 * SECOND_MS, { random: () => 0 }),
    );
  });

  afterEach(() => {
    filters.disconnected();
    mock.reset();
  });

  const pass = (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      now += SECOND_MS;
      mock.timers.tick(SECOND_MS);
    }
  };
  /** What was told since it was asked for last. */
  const news = () => told.splice(0);
  const refuse = (...names: string[]) => {
    for (const name of names) {
      filters.refuse(name, REASON, true);
      filters.tell();
    }
  };
  /** The broker has ended two connections when it was asked for one of these alone. */
  const forbid = (...names: string[]) => {
    for (const name of names) {
      forbidden.lost([name], 0);
      forbidden.lost([name], 0);
    }
  };
  const all = () => [...filters.all.keys()];

  it('are told with their reason', () => {
    refuse('a');
    assert.deepEqual([...filters.all], [['a', REASON]]);
    assert.deepEqual(news(), ['settled a', 'more', 'a']);
    filters.tell();
    assert.deepEqual(news(), []);
  });

  it('are told when they are twice as many, and when everything is granted or refused', () => {
    refuse('a', 'b', 'c', 'd', 'e');
    assert.deepEqual(
      news().filter((text) => !text.includes('settled')),
      ['more', 'a', 'more', 'a b', 'more', 'more', 'a b c d', 'more'],
    );
    filters.synced();
    filters.synced();
    assert.deepEqual(news(), ['a b c d e, settled']);
  });

  it('are told once more when everything is granted or refused: until then some may be granted', () => {
    refuse('a');
    news();
    filters.synced();
    filters.synced();
    assert.deepEqual(news(), ['a, settled']);
  });

  it('are not told where nobody wants them', () => {
    refusing = (filter) => assert.fail(filter);
    refuse('unwanted');
    filters.synced();
    assert.deepEqual([all(), news()], [[], ['settled unwanted']]);
    pass(1_000);
    assert.deepEqual(news(), []);
  });

  it('are not told where others are wanted instead at once', () => {
    refusing = (filter) => wanted.delete(filter);
    refuse('a');
    assert.deepEqual([all(), news()], [[], ['settled a']]);
  });

  it('are fewer when one is not wanted any more, which is told when everything is granted or refused', () => {
    refuse('a', 'b');
    filters.synced();
    news();
    filters.delete('a');
    filters.delete('unknown');
    assert.deepEqual(news(), []);
    filters.synced();
    filters.delete('unknown');
    filters.synced();
    assert.deepEqual(news(), ['b, settled']);
  });

  it('are asked for again together after 10 seconds, then later each time', () => {
    for (const wait of [10, 20, 40]) {
      refuse('a', 'b');
      filters.synced();
      news();
      pass(wait - 1);
      assert.deepEqual(news(), []);
      pass(1);
      assert.deepEqual([all(), news()], [[], ['retry']]);
    }
  });

  it('are asked for after 10 seconds again once all were granted', () => {
    refuse('a');
    pass(10);
    refuse('a');
    filters.synced();
    // It is granted with a wider one, say, before it is asked for again.
    filters.delete('a');
    filters.synced();
    news();
    pass(100);
    assert.deepEqual(news(), []);
    refuse('b');
    news();
    pass(9);
    assert.deepEqual(news(), []);
    pass(1);
    assert.deepEqual(news(), ['retry']);
  });

  it('are none when the connection has ended, and asked for with the next one only', () => {
    refuse('a', 'b', 'c');
    filters.disconnected();
    assert.deepEqual(all(), []);
    news();
    filters.tell();
    filters.synced();
    pass(1_000);
    assert.deepEqual(news(), []);
    refuse('c');
    assert.deepEqual(news(), ['settled c', 'more', 'c']);
  });

  it('wait as long as before when the connection has ended in between: nothing was granted', () => {
    refuse('a');
    filters.disconnected();
    filters.synced();
    refuse('a');
    news();
    pass(19);
    assert.deepEqual(news(), []);
    pass(1);
    assert.deepEqual(news(), ['retry']);
  });

  it('are told with the next connection where they end connections, and not asked for', () => {
    forbid('a', 'unwanted');
    assert.deepEqual(filters.connected(forbidden, wanted), ['a']);
    assert.deepEqual(
      [...filters.all].map(([name, { key }]) => [name, key]),
      [['a', 'reason.filterEnds']],
    );
    assert.deepEqual(news(), ['settled a', 'more', 'a']);
  });

  it('are those of the broker of the connection', () => {
    forbid('a');
    filters.connected(new ForbiddenFilters(), wanted);
    assert.deepEqual(all(), []);
    filters.refuseBlocked(['a']);
    assert.deepEqual(all(), []);
  });

  it('that end connections are tried one at a time, of themselves, and told before', () => {
    forbid('a', 'b');
    filters.connected(forbidden, wanted);
    news();
    pass(9);
    assert.deepEqual(news(), []);
    pass(1);
    assert.deepEqual([all(), news()], [['b'], ['try a', 'retry']]);
    pass(100);
    assert.deepEqual(news(), []);
    forbidden.granted('a', 1);
    filters.synced();
    news();
    pass(1);
    assert.deepEqual([all(), news()], [[], ['try b', 'retry']]);
  });

  it('that end connections are tried of themselves also where others are refused as they should be', () => {
    forbid('a', 'b');
    filters.connected(forbidden, wanted);
    pass(10);
    refuse('c');
    forbidden.granted('a', 1);
    filters.synced();
    news();
    pass(1);
    assert.deepEqual(news(), ['try b', 'retry']);
  });

  it('that end connections are not tried where nobody wants them any more', () => {
    forbid('a');
    filters.connected(forbidden, wanted);
    filters.delete('a');
    news();
    pass(100);
    assert.deepEqual(news(), []);
  });

  it('that end connections are tried in their own time, whatever was to be tried at another broker', () => {
    forbid('a');
    filters.connected(forbidden, wanted);
    pass(5);
    filters.disconnected();
    forbidden = new ForbiddenFilters();
    forbid('b');
    filters.connected(forbidden, wanted);
    news();
    pass(9);
    assert.deepEqual(news(), []);
    pass(1);
    assert.deepEqual(news(), ['try b', 'retry']);
  });

  it('that end connections are not tried of themselves when the connection has ended', () => {
    forbid('a');
    filters.connected(forbidden, wanted);
    filters.disconnected();
    news();
    pass(100);
    assert.deepEqual(news(), []);
  });

  it('that end connections are asked for at once where the time of a trial has come', () => {
    forbid('a', 'b');
    pass(10);
    filters.refuseBlocked(['a', 'b', 'c']);
    assert.deepEqual(all(), ['b']);
    assert.equal(forbidden.turnOf('a'), 'trial');
    news();
    filters.refuseBlocked(['b']);
    assert.deepEqual(news(), []);
  });

  it('that end connections are asked for at once where the time of a trial has come, and no other one', () => {
    forbid('a', 'b');
    pass(10);
    filters.refuseBlocked(['b']);
    assert.deepEqual([forbidden.turnOf('b'), forbidden.has('a')], ['trial', true]);
  });

  it('that end connections are not asked for again with the others', () => {
    forbid('a');
    filters.refuseBlocked(['a']);
    refuse('b');
    news();
    filters.askAgain();
    assert.deepEqual([all(), news()], [['a'], ['retry']]);
  });

  it('as they should be do not end connections', () => {
    forbid('a');
    refuse('a');
    assert.equal(forbidden.has('a'), false);
  });

  it('since there was no room are tried later where they may end connections', () => {
    forbid('a');
    filters.connected(forbidden, wanted);
    pass(10);
    assert.equal(forbidden.turnOf('a'), 'trial');
    filters.refuse('a', REASON, false);
    assert.equal(forbidden.has('a'), true);
  });
});
