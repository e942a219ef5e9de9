// Does all steps of a work at once, for tests that need no portions.
import type { Steps } from '../../simulator/src/portions.ts';

export function atOnce<T>(work: Steps<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) {
      return value;
    }
  }
}
