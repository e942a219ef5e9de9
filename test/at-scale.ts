// Tests that reach the largest bounds: they compute for half of the time that all tests of the engine take.
import type { AsyncFunc, Func } from 'mocha';

/** As `it`; the unit tests leave it out, the whole suite does not. */
export function itAtScale(title: string, test: Func | AsyncFunc): void {
  if (process.env.MT_UNIT === undefined) {
    it(title, test as Func);
  }
}
