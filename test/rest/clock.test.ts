// The clocks of the running process: the time that they show, and waits that end, or are ended, in time.
import assert from 'node:assert/strict';
import { BACKGROUND_CLOCK, SYSTEM_CLOCK } from '../../src/rest/clock.ts';

const HOUR_MS = 3_600_000;

/** Timers that keep the process alive. */
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

for (const [title, clock, kept] of [
  ['clock of the process', SYSTEM_CLOCK, 1],
  ['clock of what nobody waits for', BACKGROUND_CLOCK, 0],
] as const) {
  describe(title, () => {
    it('shows the milliseconds since 1970', () => {
      // The computer's may have been set since the process began.
      assert.ok(Math.abs(clock.now() - Date.now()) < HOUR_MS);
    });

    it('waits as long as it is told to', async () => {
      const start = clock.now();
      // Time itself is the subject.
      await clock.wait(50, new AbortController().signal);
      // Timers count whole milliseconds.
      assert.ok(clock.now() - start >= 49);
    });

    it(`keeps ${kept ? 'the' : 'no'} process alive while it waits, which a stop ends at once`, async () => {
      const before = timers();
      const stop = new AbortController();
      const end = assert.rejects(clock.wait(HOUR_MS, stop.signal), { name: 'AbortError' });
      assert.equal(timers() - before, kept);
      stop.abort();
      await end;
    });
  });
}
