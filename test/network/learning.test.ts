// What is remembered until the interval of something is known: times that gateways give, and what repeats.
import assert from 'node:assert/strict';
import {
  contentOf,
  isRoundOver,
  newLearning,
  noteAgain,
  noteHearing,
  noteTime,
  secondsOf,
  skipPause,
} from '../../src/network/learning.ts';

const DAY_S = 24 * 3_600;

describe('the time that a gateway gives', () => {
  const noon = Date.UTC(2026, 0, 2, 12) / 1_000;
  it('is a whole second, whatever was read before it', () => {
    for (const [time, seconds] of [
      ['2026-01-02T12:00:00Z', noon],
      ['2026-01-02T12:00:00.999Z', noon],
      ['2026-01-02T12:00:00+02:00', noon - 7_200],
      ['2026-01-02T12:00:00-02:00', noon + 7_200],
      ['2026-01-02T12:00:00.001Z', noon],
      ['2026-01-02T12:00:01.000Z', noon + 1],
      ['+002026-01-02T12:00:01Z', noon + 1],
      ['+002026-01-02T12:00:05Z', noon + 5],
      ['-000001-01-01T00:00:00Z', Date.UTC(-1, 0) / 1_000],
      ['noon', undefined],
      ['', undefined],
      [`2026-01-02T12:00:02.${'0'.repeat(19)}Z`, noon + 2],
      [`2026-01-02T12:00:03.${'0'.repeat(20)}Z`, undefined],
    ] as const) {
      assert.equal(secondsOf(time), seconds, time);
    }
  });

  it('tells the longest pause by one clock, without the time in which nothing could be heard', () => {
    const learning = newLearning(0);
    noteTime(learning, 'a', 1_000, 0);
    assert.equal(learning.givenPauseMs, 0, 'nothing is known of the time before the first');
    noteTime(learning, 'a', 1_011, 0);
    assert.equal(learning.givenPauseMs, 10_000, 'of two seconds at least so much');
    noteTime(learning, 'a', 1_032, 5_000);
    assert.equal(learning.givenPauseMs, 15_000);
    noteTime(learning, 'a', 1_040, 0);
    assert.equal(learning.givenPauseMs, 15_000);
    noteTime(learning, 'b', 1_400, 0);
    noteTime(learning, 'a', 1_500, 0);
    assert.equal(learning.givenPauseMs, 15_000, 'the clocks may differ');
    noteTime(learning, 'a', 1_500 + DAY_S + 1, 0);
    assert.equal(learning.givenPauseMs, 15_000, 'that is the clock');
    noteTime(learning, 'a', 1_500 + 2 * DAY_S + 1, 0);
    assert.equal(learning.givenPauseMs, (DAY_S - 1) * 1_000);
    skipPause(learning);
    noteTime(learning, 'a', 1_600 + 2 * DAY_S, 0);
    assert.equal(learning.givenPauseMs, 0);
  });
});

describe('what repeats', () => {
  const device = 'd00000000001';

  it('is the same by device and property, or the kind where there is none; an event does not repeat', () => {
    const all = [
      { device, kind: 'heartbeat', identifier: undefined },
      { device, kind: 'rssi', identifier: undefined },
      { device, kind: 'property', identifier: '8100' },
      { device, kind: 'property', identifier: '8001' },
      { device, kind: 'property', identifier: 'x'.repeat(200) },
      { device: 'd00000000010', kind: 'property', identifier: '8100' },
    ] as const;
    const contents = all.map((place) => contentOf(place));
    assert.equal(new Set(contents).size, all.length);
    assert.ok(contents.every((content) => content !== undefined && content >= 0 && content < 2 ** 28));
    assert.deepEqual(
      all.map((place) => contentOf({ ...place })),
      contents,
    );
    assert.equal(contentOf({ device, kind: 'measurement', identifier: '8100' }), contents[2]);
    assert.equal(contentOf({ device, kind: 'event', identifier: '8810' }), undefined);
    assert.equal(contentOf({ device, kind: 'property', identifier: 'x'.repeat(201) }), undefined);
  });

  it('has come round when each of it came twice, or one four times', () => {
    const learning = newLearning(0.4);
    assert.equal(Number.isInteger(learning.since), true);
    const isOverAfter = (...contents: (number | undefined)[]) => {
      for (const content of contents) {
        noteHearing(learning, content);
      }
      return isRoundOver(learning);
    };
    assert.equal(isOverAfter(1), false);
    assert.equal(isOverAfter(2, 1), false);
    assert.equal(isOverAfter(undefined), false);
    assert.equal(learning.last, undefined, 'an event');
    assert.equal(isOverAfter(2), true);
    assert.equal(learning.last, 2);
    assert.equal(isOverAfter(3), false);
    assert.equal(isOverAfter(1), false);
    assert.equal(isOverAfter(1), true, 'one came four times');
    assert.equal(isOverAfter(1, 1, 1, 1, 1), true, 'and goes on');
  });

  it('is counted twice at most of what goes on with a burst, and of nothing else', () => {
    const learning = newLearning(0);
    noteHearing(learning, 1);
    noteAgain(learning, 1);
    assert.equal(isRoundOver(learning), true);
    noteHearing(learning, 2);
    for (const content of [1, 1, 1, 1, 3, undefined]) {
      noteAgain(learning, content);
    }
    assert.equal(isRoundOver(learning), false, 'one came twice, one once');
    noteHearing(learning, 1);
    assert.equal(isRoundOver(learning), false, 'one came three times');
    noteHearing(learning, 2);
    assert.equal(isRoundOver(learning), true);
    noteHearing(learning, 3);
    assert.equal(isRoundOver(learning), false);
    noteAgain(learning, 3);
    assert.equal(isRoundOver(learning), true);
    assert.equal(learning.last, 3, 'with which the last hearing began');
  });

  it('is remembered of five things', () => {
    const learning = newLearning(0);
    for (const content of [1, 2, 3, 4, 5, 6, 7]) {
      noteHearing(learning, content);
    }
    assert.equal(learning.contents.length, 5);
    for (const content of [1, 2, 3, 4]) {
      noteHearing(learning, content);
    }
    assert.equal(isRoundOver(learning), false);
    noteHearing(learning, 5);
    assert.equal(isRoundOver(learning), true, 'whatever the others do');
  });
});
