// Waiting that a signal can end, without a trace at the signal.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { unlessAborted } from '../../src/rest/abort.ts';

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
