// When watches look at what they watch: in the order of the deadlines, on a clock that stands while nothing can be heard.
import assert from 'node:assert/strict';
import type { Scheduled } from '../../src/collections/deadline-heap.ts';
import { type ScheduleOptions, type Sender, WatchSchedule } from '../../src/network/watch-schedule.ts';

class Entry implements Scheduled {
  deadline = 0;
  order = 0;
  place = -1;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A schedule whose time passes when the test says so. */
class Bench {
  now = 1_000;
  readonly timers = new Set<{ call: () => void; at: number }>();
  /** Timers, in all. */
  started = 0;
  readonly turns: (() => void)[] = [];
  readonly checked: string[] = [];
  /** What a check does beside being noted. */
  onCheck: (entry: Entry) => void = () => {};
  readonly schedule: WatchSchedule<Entry>;
  readonly #began: number;

  constructor(options: ScheduleOptions = {}) {
    const check = (entry: Entry) => {
      this.checked.push(entry.name);
      this.onCheck(entry);
    };
    this.schedule = new WatchSchedule<Entry>(check, {
      now: () => this.now,
      startTimer: (call, ms) => {
        this.started++;
        const timer = { call, at: this.now + ms };
        this.timers.add(timer);
        return () => this.timers.delete(timer);
      },
      nextTurn: (call) => void this.turns.push(call),
      ...options,
    });
    this.#began = this.schedule.time;
  }

  /** @param ms of the schedule's clock, since the test began */
  due(entry: Entry | string, ms: number): void {
    this.schedule.set(typeof entry === 'string' ? new Entry(entry) : entry, this.#began + ms);
  }

  fill(count: number, ms: number): void {
    for (let number = 0; number < count; number++) {
      this.due(`${number}`, ms);
    }
  }

  /** Milliseconds of the schedule's clock, since the test began. */
  get time(): number {
    return this.schedule.time - this.#began;
  }

  /** Milliseconds until the timer; undefined: none is set. */
  get wait(): number | undefined {
    assert.ok(this.timers.size <= 1, 'one timer for all of it');
    const [timer] = this.timers;
    return timer && timer.at - this.now;
  }

  /** Lets the time pass with the timers that are due meanwhile. */
  pass(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const [timer] = this.timers;
      if (timer === undefined || timer.at > end) {
        break;
      }
      this.now = timer.at;
      timer.call();
    }
    this.now = end;
  }

  /** Lets all turns of the event loop pass. @returns how many */
  takeTurns(): number {
    let count = 0;
    for (let turn = this.turns.shift(); turn; turn = this.turns.shift()) {
      count++;
      turn();
    }
    return count;
  }
}

function listening(options?: ScheduleOptions): Bench {
  const bench = new Bench(options);
  bench.schedule.setListening(true);
  return bench;
}

describe('the schedule of watches', () => {
  it('looks at each when it is due, in the order of the deadlines, and once', () => {
    const bench = listening();
    for (const [name, deadline] of [
      ['late', 9_000],
      ['early', 1_000],
      ['between', 5_000],
    ] as const) {
      bench.due(name, deadline);
    }
    bench.pass(999);
    assert.deepEqual(bench.checked, []);
    bench.pass(1);
    assert.deepEqual(bench.checked, ['early']);
    bench.pass(7_999);
    assert.deepEqual(bench.checked, ['early', 'between']);
    bench.pass(100_000);
    assert.deepEqual(bench.checked, ['early', 'between', 'late']);
    assert.equal(bench.schedule.isWaiting, false);
  });

  it('looks again at one that gets another deadline in its look', () => {
    const bench = listening();
    const entry = new Entry('one');
    bench.onCheck = () => bench.due(entry, bench.time + 2_000);
    bench.due(entry, 1_000);
    bench.pass(5_500);
    assert.equal(bench.checked.length, 3);
    assert.equal(bench.wait, 1_500);
  });

  it('sets its timer to the first deadline, whatever comes later, and to one that comes before it', () => {
    const bench = listening();
    bench.due('first', 5_000);
    assert.equal(bench.wait, 5_000);
    bench.due('later', 6_000);
    bench.due('as early', 5_000);
    assert.deepEqual([bench.wait, bench.started], [5_000, 1]);
    bench.due('earlier', 4_000);
    assert.equal(bench.wait, 4_000);
  });

  it('looks at once at what is overdue', () => {
    const bench = listening();
    bench.pass(5_000);
    bench.due('overdue', 1_000);
    assert.equal(bench.wait, 0);
    bench.pass(0);
    assert.deepEqual(bench.checked, ['overdue']);
  });

  it('lets a quarter of a second pass between two looks', () => {
    const bench = listening();
    bench.fill(1, 1_000);
    bench.pass(1_000);
    bench.due('soon', 1_001);
    bench.due('sooner', 1_000);
    assert.deepEqual([bench.wait, bench.started], [250, 2], 'one timer for both');
    bench.pass(250);
    assert.deepEqual(bench.checked, ['0', 'sooner', 'soon']);
  });

  it('waits for what is further away than a timer of Node.js reaches', () => {
    const bench = listening();
    const days = 60 * 24 * 3_600_000;
    bench.fill(1, days);
    assert.equal(bench.wait, 2 ** 31 - 1);
    bench.pass(days - 1);
    assert.deepEqual(bench.checked, []);
    bench.pass(1);
    assert.deepEqual(bench.checked, ['0']);
  });

  it('forgets the timer with the last that was to be looked at, and not before', () => {
    const bench = listening();
    const [one, other] = [new Entry('one'), new Entry('other')];
    bench.due(one, 1_000);
    bench.due(other, 1_000);
    bench.schedule.remove(one);
    assert.equal(bench.schedule.isWaiting, true);
    bench.schedule.remove(other);
    assert.equal(bench.schedule.isWaiting, false);
    assert.equal(bench.wait, undefined);
  });

  it('has no time before anything can be heard', () => {
    const bench = new Bench();
    bench.fill(1, 1_000);
    bench.schedule.setPaused(true);
    bench.schedule.setPaused(false);
    bench.pass(60_000);
    assert.deepEqual([bench.time, bench.wait], [0, undefined]);
    bench.schedule.setListening(true);
    assert.deepEqual([bench.time, bench.wait], [0, 1_000]);
  });

  for (const [what, stop] of [
    ['nothing can be heard', (bench: Bench, stops: boolean) => bench.schedule.setListening(!stops)],
    ['flows are replaced', (bench: Bench, stops: boolean) => bench.schedule.setPaused(stops)],
  ] as const) {
    it(`stands while ${what}, each time`, () => {
      const bench = listening();
      bench.fill(1, 10_000);
      for (const [runs, stands] of [
        [3_000, 700_000],
        [2_000, 50_000],
        [4_000, 1],
      ] as const) {
        bench.pass(runs);
        stop(bench, true);
        // A second time says nothing new.
        stop(bench, true);
        assert.equal(bench.schedule.isWaiting, false);
        bench.pass(stands);
        stop(bench, false);
        stop(bench, false);
      }
      assert.deepEqual([bench.time, bench.wait], [9_000, 1_000]);
      bench.pass(1_000);
      assert.deepEqual(bench.checked, ['0']);
    });
  }

  it('stands until both is over: that nothing can be heard, and that flows are replaced', () => {
    const bench = listening();
    bench.schedule.setPaused(true);
    assert.equal(bench.schedule.isPaused, true);
    bench.pass(1_000);
    bench.schedule.setListening(false);
    bench.pass(1_000);
    bench.schedule.setPaused(false);
    assert.equal(bench.schedule.isPaused, false);
    bench.pass(1_000);
    assert.equal(bench.time, 0);
    bench.schedule.setListening(true);
    bench.pass(1_000);
    assert.equal(bench.time, 1_000);
  });

  it('sets no timer for what comes while it stands, and one for it afterwards', () => {
    const bench = new Bench();
    bench.fill(3, 100);
    assert.equal(bench.schedule.isWaiting, false);
    bench.schedule.setListening(true);
    assert.equal(bench.wait, 100);
    bench.schedule.close();
    assert.equal(bench.schedule.isWaiting, false);
    bench.pass(10_000);
    assert.deepEqual(bench.checked, []);
  });

  it('goes on in the next turn after a hundred messages', () => {
    const bench = listening();
    bench.onCheck = () => bench.schedule.sent();
    bench.fill(250, 1_000);
    bench.pass(1_000);
    assert.equal(bench.checked.length, 100);
    bench.turns.shift()?.();
    assert.equal(bench.checked.length, 200);
    bench.turns.shift()?.();
    assert.equal(bench.checked.length, 250);
    assert.equal(bench.takeTurns(), 1, 'after which flows have time for a hundred again');
  });

  describe('has messages that wait', () => {
    const sent: string[] = [];
    const senderOf = (name: string, count: number): Sender => ({
      sendNext() {
        const isThere = count > 0;
        if (isThere) {
          count--;
          sent.push(name);
          bench.schedule.sent();
        }
        return isThere;
      },
    });
    const heads = () => sent.splice(0);
    const many = (name: string, count: number) => Array.from({ length: count }, () => name);
    let bench: Bench;

    beforeEach(() => {
      bench = listening();
    });

    it('sent in later turns, a hundred in each, of all who have some, and before what is due', () => {
      bench.onCheck = ({ name }) => {
        sent.push(name);
        bench.schedule.sent();
      };
      bench.schedule.sendLater(senderOf('a', 150));
      bench.schedule.sendLater(senderOf('b', 20));
      assert.deepEqual(heads(), []);
      bench.turns.shift()?.();
      assert.deepEqual(heads(), many('a', 100));
      bench.fill(1, 0);
      bench.pass(0);
      assert.deepEqual(heads(), [], 'flows have got enough of this turn');
      bench.turns.shift()?.();
      assert.deepEqual(heads(), [...many('a', 50), ...many('b', 20), '0']);
      bench.takeTurns();
      assert.deepEqual(heads(), []);
    });

    it('sent also while nothing can be heard, and where flows are replaced as soon as they run', () => {
      bench.schedule.setListening(false);
      bench.schedule.sendLater(senderOf('a', 1));
      bench.takeTurns();
      assert.deepEqual(heads(), ['a']);
      bench.schedule.setPaused(true);
      bench.schedule.sendLater(senderOf('b', 1));
      bench.takeTurns();
      assert.deepEqual([heads(), bench.schedule.maySend], [[], false]);
      bench.schedule.setPaused(false);
      assert.deepEqual([heads(), bench.schedule.maySend], [['b'], true]);
    });

    it('not sent of whom nobody is told any more, from the moment on', () => {
      const last = senderOf('last', 5);
      const sender: Sender = {
        sendNext() {
          bench.schedule.dismiss(last);
          bench.schedule.dismiss(sender);
          sent.push('first');
          return true;
        },
      };
      bench.schedule.sendLater(sender);
      bench.schedule.sendLater(last);
      bench.takeTurns();
      assert.deepEqual(heads(), ['first']);
    });
  });

  it('takes all in one turn that sends nothing and is quick', () => {
    const bench = listening();
    bench.fill(2_000, 1_000);
    bench.pass(1_000);
    assert.equal(bench.checked.length, 2_000);
    assert.equal(bench.turns.length, 0);
  });

  it('goes on in the next turn after ten milliseconds, looking at the clock after fifty', () => {
    const bench = listening();
    bench.onCheck = () => {
      bench.now += 0.15;
    };
    bench.fill(250, 1_000);
    bench.pass(1_000);
    assert.equal(bench.checked.length, 100);
    bench.takeTurns();
    assert.equal(bench.checked.length, 250);
  });

  it('sets no timer between two turns, for whatever comes', () => {
    const bench = listening();
    bench.onCheck = () => bench.schedule.sent();
    bench.fill(150, 1_000);
    bench.pass(1_000);
    bench.due('in between', 500);
    assert.equal(bench.wait, undefined);
    bench.takeTurns();
    assert.equal(bench.checked.length, 151);
    assert.equal(bench.checked[100], 'in between');
  });

  it('ends its turns while it stands, and goes on with the rest', () => {
    const bench = listening();
    bench.onCheck = () => bench.schedule.sent();
    bench.fill(150, 1_000);
    bench.pass(1_000);
    bench.schedule.setPaused(true);
    bench.takeTurns();
    assert.equal(bench.checked.length, 100);
    bench.schedule.setPaused(false);
    bench.pass(250);
    assert.equal(bench.checked.length, 150);
  });

  it('looks when it is certain what was heard, and sets no other timer until then', () => {
    const heard: (() => void)[] = [];
    const bench = listening({ whenHeard: (call) => void heard.push(call) });
    bench.fill(1, 1_000);
    bench.pass(1_000);
    bench.due('in between', 900);
    bench.schedule.sent();
    bench.takeTurns();
    assert.deepEqual([bench.checked, bench.wait, heard.length], [[], undefined, 1]);
    heard.shift()?.();
    assert.deepEqual(bench.checked, ['in between', '0']);
  });

  it('looks by the clock, the timers and the turns of Node.js, where it has no others', async () => {
    const looked = await new Promise<Entry[]>((resolve) => {
      const entries: Entry[] = [];
      const schedule = new WatchSchedule<Entry>((entry) => {
        schedule.sent();
        if (entries.push(entry) === 150) {
          resolve(entries);
        }
      });
      schedule.setListening(true);
      assert.ok(schedule.time > 0);
      for (let number = 0; number < 150; number++) {
        schedule.set(new Entry(`${number}`), schedule.time + 1);
      }
    });
    assert.equal(looked.at(-1)?.name, '149');
  });
});
