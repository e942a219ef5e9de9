// No more publishes are unacknowledged at a broker than it takes, and who waits for a place gets one in turn.
import assert from 'node:assert/strict';
import { PublishWindow } from '../../src/mqtt/publish-window.ts';

describe('the publishes that a broker takes', () => {
  let heldMs = 0;

  /** Each who waits takes a place when called, and waits again when `again` has its name. */
  const open = (max: number, again: string[] = []) => {
    const sent: string[] = [];
    const acknowledge: (() => void)[] = [];
    const window = new PublishWindow<string>(
      (name) => {
        sent.push(name);
        const place = window.take();
        acknowledge.push(() => place.acknowledged());
        if (again.includes(name)) {
          window.wait(name);
        }
      },
      () => heldMs,
    );
    window.reset(max);
    return { window, sent, acknowledge };
  };

  /** The clock has to have gone on: time itself is the subject. */
  const next = async () => {
    const before = performance.now();
    while (performance.now() - before < 2) {
      await new Promise(setImmediate);
    }
    return performance.now();
  };

  it('are as many as it said', () => {
    const { window } = open(2);
    const first = window.take();
    assert.equal(window.isFull, false);
    window.take();
    assert.equal(window.isFull, true);
    first.acknowledged();
    assert.equal(window.isFull, false);
  });

  it('count each once, however often it is acknowledged', () => {
    const { window } = open(2);
    const [first] = [window.take(), window.take()];
    first.acknowledged();
    first.acknowledged();
    window.take();
    assert.equal(window.isFull, true);
  });

  it('are not limited where it said nothing, and before the first connection', () => {
    const { window } = open(Number.POSITIVE_INFINITY);
    const fresh = new PublishWindow<string>(
      () => {},
      () => 0,
    );
    for (let i = 0; i < 1_000; i++) {
      window.take();
      fresh.take();
    }
    assert.deepEqual([window.isFull, fresh.isFull], [false, false]);
  });

  it('say for how long reports had held up the reading when one left or was acknowledged last', () => {
    heldMs = 1;
    const { window } = open(2);
    assert.equal(window.heldBefore, 1);
    heldMs = 2;
    const acknowledged = window.take();
    assert.equal(window.heldBefore, 2);
    heldMs = 3;
    assert.equal(window.heldBefore, 2);
    acknowledged.acknowledged();
    assert.equal(window.heldBefore, 3);
  });

  it('leave in turn where they wait, one for each that is acknowledged', () => {
    const { window, sent, acknowledge } = open(1, ['a']);
    const first = window.take();
    for (const name of ['a', 'b', 'a', 'c']) {
      window.wait(name);
    }
    assert.deepEqual(sent, []);
    first.acknowledged();
    assert.deepEqual(sent, ['a']);
    for (let i = 0; i < 3; i++) {
      acknowledge[i]?.();
    }
    assert.deepEqual(sent, ['a', 'b', 'c', 'a']);
  });

  it('begin anew with a connection, and those of an earlier one do not count when they end', () => {
    const { window, sent } = open(1);
    const earlier = window.take();
    for (const name of ['a', 'b', 'c']) {
      window.wait(name);
    }
    window.reset(2);
    assert.deepEqual(sent, ['a', 'b']);
    assert.equal(window.isFull, true);
    earlier.acknowledged();
    assert.deepEqual(sent, ['a', 'b']);
    assert.equal(window.isFull, true);
  });

  it('leave all at once with a connection that has no limit', () => {
    const { window, sent } = open(1);
    window.take();
    for (const name of ['a', 'b', 'c']) {
      window.wait(name);
    }
    window.reset(Number.POSITIVE_INFINITY);
    assert.deepEqual(sent, ['a', 'b', 'c']);
  });

  it('tell when the broker acknowledged or took something last', async () => {
    const { window } = open(3);
    let start = await next();
    const acknowledged = window.take();
    assert.ok(window.changedAt >= start);
    start = await next();
    acknowledged.acknowledged();
    const at = window.changedAt;
    assert.ok(at >= start);
    start = await next();
    acknowledged.acknowledged();
    assert.equal(window.changedAt, at);
    window.reset(3);
    assert.ok(window.changedAt >= start);
  });

  it('wait until those before have their responses, or are passed over, and for one that leaves first then', () => {
    const { window, sent } = open(5);
    const [answered, silent] = [window.take(), window.take()];
    answered.acknowledged();
    window.awaitResponses(() => sent.push('first'));
    window.wait('a');
    silent.acknowledged();
    answered.ended();
    assert.equal(window.isAwaiting, true);
    assert.deepEqual(sent, []);
    window.passOver();
    assert.equal(window.isAwaiting, false);
    assert.deepEqual(sent, ['first', 'a']);
    window.passOver();
    assert.deepEqual(sent, ['first', 'a']);
  });

  it('wait for responses only, one after the other, and not where all have theirs', () => {
    const { window, sent } = open(5);
    const [first, second] = [window.take(), window.take()];
    const before = window.take();
    before.acknowledged();
    before.ended();
    for (const place of [first, second]) {
      place.acknowledged();
    }
    window.awaitResponses(() => sent.push('first'));
    first.ended();
    // It is told of once, and no more.
    first.ended();
    assert.deepEqual([sent, window.isFull], [[], true]);
    second.ended();
    assert.deepEqual([sent, window.isFull], [['first'], false]);
    window.awaitResponses(() => sent.push('at once'));
    assert.deepEqual(sent, ['first', 'at once']);
  });

  it('are asked once whether they have something to send when one has its response that nobody waits for', () => {
    const { window, sent } = open(1);
    const answered = window.take();
    window.wait('a');
    answered.ended();
    assert.deepEqual(sent, []);
  });

  it('that have left before hold up others until they are acknowledged, and not those of an earlier connection', () => {
    const { window } = open(5);
    const before = window.take();
    window.narrow();
    assert.equal(window.isFull, true);
    before.acknowledged();
    assert.equal(window.isFull, false);
    window.take();
    window.passOver();
    assert.equal(window.isFull, false);
    window.reset(5);
    window.narrow();
    window.awaitResponses(() => {});
    assert.deepEqual([window.isFull, window.isAwaiting], [false, false]);
  });

  it('are held up by no fault of the broker while responses are awaited: until then its time does not begin', async () => {
    const { window } = open(5);
    const [first] = [window.take(), window.take()];
    window.awaitResponses(() => {});
    let start = await next();
    assert.ok(window.changedAt >= start);
    window.passOver();
    const { changedAt } = window;
    assert.ok(changedAt >= start);
    start = await next();
    assert.equal(window.changedAt, changedAt);
    window.passOver();
    assert.equal(window.changedAt, changedAt);
    window.awaitResponses(() => {});
    first.ended();
    assert.ok(window.changedAt >= start);
  });

  it('wait for the first one to leave where the broker takes no more', () => {
    const { window, sent } = open(2);
    const silent = window.take();
    window.awaitResponses(() => {
      sent.push('first');
      window.narrow();
      window.take();
    });
    window.take();
    window.wait('a');
    window.passOver();
    assert.deepEqual(sent, []);
    silent.acknowledged();
    assert.deepEqual(sent, ['first']);
  });

  it('wait for none that was to leave first over an earlier connection', () => {
    const { window, sent } = open(5);
    window.take();
    window.awaitResponses(() => sent.push('first'));
    window.wait('a');
    window.reset(5);
    assert.deepEqual(sent, ['a']);
  });

  it('leave one by one, each when those before are acknowledged', () => {
    const { window, sent, acknowledge } = open(5);
    window.take().acknowledged();
    window.narrow();
    window.wait('a');
    window.wait('b');
    assert.equal(window.isFull, false);
    window.passOver();
    assert.deepEqual(sent, ['a']);
    acknowledge[0]?.();
    assert.deepEqual(sent, ['a', 'b']);
  });
});
