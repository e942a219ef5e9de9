// Waiting that a signal can end, without a trace at the signal.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { abortWith, unlessAborted, withFirstOf } from '../../src/rest/abort.ts';

const never = new Promise<never>(() => undefined);

describe('waiting that a signal can end', () => {
  it('brings the result or the error, and leaves nothing behind at the signal', async () => {
    const { signal } = new AbortController();
    assert.equal(await unlessAborted(Promise.resolve(5), signal), 5);
    await assert.rejects(unlessAborted(Promise.reject(new TypeError('x')), signal), TypeError);
    await new Promise(setImmediate);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  it('ends with CLOSED when the signal is aborted, before or meanwhile', async () => {
    const stop = new AbortController();
    const waiting = unlessAborted(never, stop.signal);
    stop.abort();
    await assert.rejects(waiting, { code: 'CLOSED', message: /stopped/ });
    await assert.rejects(unlessAborted(never, stop.signal), { code: 'CLOSED' });
  });

  it('is only the waiting, where there is no signal', async () => {
    assert.equal(await unlessAborted(Promise.resolve(5)), 5);
  });
});

describe('waiting that the first of several signals ends', () => {
  const count = ({ signal }: AbortController) => getEventListeners(signal, 'abort').length;

  it('brings the result or the error, and leaves nothing behind at the signals', async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const signals = [one.signal, other.signal];
    await Promise.all(
      Array.from({ length: 1_000 }, async (_, n) => {
        assert.equal(await withFirstOf(signals, async () => n), n);
        await assert.rejects(
          withFirstOf(signals, () => Promise.reject(new TypeError('x'))),
          TypeError,
        );
      }),
    );
    assert.deepEqual([count(one), count(other)], [0, 0]);
  });

  it('has one listener at a signal, however many wait, as long as one of them waits', async () => {
    const stop = new AbortController();
    const followers = Array.from({ length: 3 }, () => new AbortController());
    const [first, second] = followers.map((follower) => abortWith(follower, [stop.signal]));
    assert.equal(count(stop), 1);
    first!();
    second!();
    assert.equal(count(stop), 1);
    stop.abort();
    assert.equal(count(stop), 0);
    assert.deepEqual(
      followers.map(({ signal }) => signal.aborted),
      [false, false, true],
    );
  });

  it('is aborted with any of them, also with one that was aborted before', async () => {
    for (const at of [0, 1]) {
      const stops = [new AbortController(), new AbortController()];
      const signals = stops.map(({ signal }) => signal);
      const waiting = withFirstOf(signals, (first) => unlessAborted(never, first));
      stops[at]!.abort();
      await assert.rejects(waiting, { code: 'CLOSED' });
      await assert.rejects(
        withFirstOf(signals, (first) => unlessAborted(never, first)),
        { code: 'CLOSED' },
      );
      assert.deepEqual(stops.map(count), [0, 0]);
    }
  });
});
