// One timer for many deadlines: somebody looks when the first of them has come, and does nothing else than look then.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Deadlines, MAX_TIMER_MS } from '../../src/mqtt/deadlines.ts';
import { block } from '../block.ts';

describe('many deadlines', () => {
  let now = 0;
  let looks: number[];
  /** What is left after a look, and how many were looked at. */
  let left: { next: number; checked: number };
  let deadlines: Deadlines;

  beforeEach(() => {
    now = 1_000;
    looks = [];
    left = { next: Number.POSITIVE_INFINITY, checked: 0 };
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(performance, 'now', () => now);
    deadlines = new Deadlines((at) => {
      looks.push(at);
      return left;
    });
  });

  afterEach(() => {
    deadlines.clear();
    mock.reset();
  });

  const pass = (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed++) {
      now++;
      mock.timers.tick(1);
    }
  };

  it('are looked at when the first has come, and not before, in whatever order they were told', () => {
    deadlines.add(1_030);
    deadlines.add(1_020);
    deadlines.add(1_040);
    pass(19);
    assert.deepEqual(looks, []);
    pass(1);
    assert.deepEqual(looks, [1_020]);
    pass(100);
    assert.deepEqual(looks, [1_020]);
  });

  it('are looked at again when the first that is left has come', () => {
    deadlines.add(1_020);
    left = { next: 1_050, checked: 2 };
    pass(20);
    left = { next: Number.POSITIVE_INFINITY, checked: 1 };
    pass(29);
    assert.deepEqual(looks, [1_020]);
    pass(51);
    assert.deepEqual(looks, [1_020, 1_050]);
  });

  it('are looked at again when new ones come after none was left', () => {
    deadlines.add(1_020);
    pass(20);
    deadlines.add(1_030);
    pass(10);
    assert.deepEqual(looks, [1_020, 1_030]);
  });

  it('are looked at rarely where they are many: a look at 20 000 is followed by a pause of 20 ms', () => {
    deadlines.add(1_010);
    left = { next: 1_011, checked: 20_000 };
    pass(10);
    pass(19);
    assert.deepEqual(looks, [1_010]);
    pass(21);
    assert.deepEqual(looks, [1_010, 1_030, 1_050]);
  });

  it('are looked at once and at once where their time has come before', () => {
    deadlines.add(900);
    pass(1);
    assert.equal(looks.length, 1);
    pass(10);
    assert.equal(looks.length, 1);
  });

  it('are not looked at where there is none, or none any more', () => {
    deadlines.add(Number.POSITIVE_INFINITY);
    pass(10);
    deadlines.add(1_020);
    deadlines.clear();
    pass(100);
    assert.deepEqual(looks, []);
    deadlines.add(1_150);
    pass(50);
    assert.deepEqual(looks, [1_150]);
  });

  it('beyond the longest timer of Node.js are waited for all the same', () => {
    deadlines.add(now + 2 * MAX_TIMER_MS);
    pass(10);
    assert.deepEqual(looks, []);
    mock.timers.tick(MAX_TIMER_MS);
    assert.equal(looks.length, 1);
  });
});

describe('a deadline in a process that is busy', () => {
  const lookAfter = async (busyMs: number, times: number): Promise<number> => {
    let isLooked = false;
    const deadlines = new Deadlines(() => {
      isLooked = true;
      return { next: Number.POSITIVE_INFINITY, checked: 0 };
    });
    deadlines.add(performance.now() + 1);
    let turns = 0;
    for (; !isLooked; turns++) {
      if (turns < times) {
        block(busyMs);
      }
      await turn();
    }
    return turns;
  };

  it('is looked at some time after that, when what came meanwhile has been read', async () => {
    assert.ok((await lookAfter(100, 1)) > 3);
  });

  it('is looked at also where it stays so', async () => {
    assert.ok((await lookAfter(30, 1_000)) < 20);
  });

  it('is not looked at any more once nobody waits, also in the turn in which it would be', async () => {
    const deadlines = new Deadlines(() => assert.fail('looked at'));
    deadlines.add(performance.now() + 1);
    block(50);
    await turn();
    await turn();
    block(60);
    // Before what the timer, which goes off first, puts behind it.
    setImmediate(() => deadlines.clear());
    await turn();
    await turn();
    await turn();
  });
});
