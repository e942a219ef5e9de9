// Beside others a test takes a multiple of its time: what only ends what hangs comes later there.
import Mocha from 'mocha';

/** Set by `whole.cjs`, which runs several files at a time: how many times as long everything may take. */
const FACTOR = Number(process.env.MT_LIMITS ?? 1);

/** What hangs then hangs for good, and the whole run with it. */
const MAX_LIMIT_MS = 600_000;

/** @param ms how long something may take alone */
export const limit = (ms: number): number => Math.max(ms, Math.min(ms * FACTOR, MAX_LIMIT_MS));

// Hooks and tests set limits of their own inside; all of them pass here.
const { prototype } = Mocha.Runnable as unknown as { prototype: { timeout(ms?: number | string): unknown } };
const set = prototype.timeout;
if (FACTOR !== 1) {
  prototype.timeout = function (...given) {
    const [ms] = given;
    return typeof ms === 'number' ? set.call(this, limit(ms)) : set.apply(this, given);
  };
}
