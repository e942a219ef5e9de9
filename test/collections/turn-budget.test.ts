// Flows that take long get fewer reports at a time, so that everybody else has their turn.
import assert from 'node:assert/strict';
import { TurnBudget } from '../../src/collections/turn-budget.ts';

describe('a turn of the flows', () => {
  const { now } = performance;
  let time: number;
  let ended: number;
  let turns: TurnBudget;

  beforeEach(() => {
    time = 0;
    ended = 0;
    performance.now = () => time;
    turns = new TurnBudget(() => ended++);
  });
  afterEach(() => {
    performance.now = now;
  });

  /** How many reports a turn takes that lasts so many milliseconds. */
  async function turn(milliseconds: number): Promise<number> {
    let given = 0;
    for (; !turns.isSpent; given++) {
      turns.spend();
    }
    time += milliseconds;
    const before = ended;
    await new Promise(setImmediate);
    assert.equal(ended, before + 1);
    assert.equal(turns.isSpent, false);
    return given;
  }

  async function sizes(count: number, milliseconds: number): Promise<number[]> {
    const all: number[] = [];
    for (let i = 0; i < count; i++) {
      all.push(await turn(milliseconds));
    }
    return all;
  }

  it('begins small and grows by a quarter while flows are quick, up to 500 reports', async () => {
    const grown = await sizes(13, 20);
    assert.deepEqual(grown.slice(0, 4), [50, 62, 77, 96]);
    assert.deepEqual(grown.slice(-2), [500, 500]);
    assert.ok(grown.every((size) => size <= 500));
  });

  it('is halved while flows take longer than 20 ms, down to 10 reports', async () => {
    assert.deepEqual(await sizes(5, 21), [50, 25, 12, 10, 10]);
  });

  it('ends once, however many reports it had, and tells so when others can follow', async () => {
    turns.spend();
    turns.spend();
    assert.equal(ended, 0);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    assert.equal(ended, 1);
  });

  it('lasts from its first report on, not from the turn before', async () => {
    await turn(0);
    time += 1_000;
    assert.equal(await turn(0), 62);
    assert.equal(await turn(0), 77);
  });
});
