// Samples that are acknowledged several times: who waits for whose acknowledgement, how many and for how long.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ServiceError } from '../../src/errors.ts';
import { Acknowledgements } from '../../src/mqtt/acknowledgements.ts';
import { mockTime, restoreTime } from './scripted.ts';

const { signal } = new AbortController();
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'responded',
    ({ code }: ServiceError) => code,
  );

describe('messages that wait for the acknowledgement of the same sample', () => {
  afterEach(restoreTime);

  const never = new Promise<never>(() => {});
  const sending = { sent: Promise.resolve(), delivered: never, responded: never };

  it('are 100 000 at most', async () => {
    const acknowledgements = new Acknowledgements<number>();
    const closing = new AbortController();
    const join = (sample: string) =>
      codeOf(acknowledgements.once(sample, true, () => sending, { signal: closing.signal }));
    const first = [join('a'), join('b')];
    const joined = Array.from({ length: 100_000 }, (_, n) => join(n % 2 === 0 ? 'a' : 'b'));
    assert.equal(await join('a'), 'QUEUE_FULL');
    // A trace for each of so many errors would take most of the time.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    closing.abort();
    Error.stackTraceLimit = stackTraceLimit;
    assert.deepEqual([...new Set(await Promise.all(joined))], ['CLOSED']);
    const again = codeOf(acknowledgements.once('a', true, () => sending));
    assert.equal(await Promise.race([...first, again, turn('waits')]), 'waits');
  });

  it('end in their own time, although the next in line sends it again after each TIMEOUT', async () => {
    mockTime();
    const timeout = 10_000;
    const late = () => new ServiceError('TIMEOUT', 'noAnswer');
    const unanswered = () => ({
      sent: Promise.resolve(),
      delivered: Promise.resolve(),
      // A moment before those who joined it: each timer is a turn of its own, but not where time is mocked.
      responded: new Promise<never>((_, reject) => setTimeout(() => reject(late()), timeout - 500)),
    });
    const acknowledgements = new Acknowledgements<number>();
    const waited: number[] = [];
    for (let second = 0; second < 60; second++) {
      const ended = acknowledgements.once('s', true, unanswered, { signal, timeout, timeoutError: late });
      void codeOf(ended).then(() => waited.push(performance.now() / 1_000 - second));
      for (let half = 0; half < 2; half++) {
        await turn();
        mock.timers.tick(500);
      }
      await turn();
    }
    // One of them sends it again when it has waited for another one, and has its time then.
    assert.ok(Math.max(...waited) <= 20, `${waited}`);
    assert.ok(waited.length >= 40, `${waited}`);
  });
});
