// Runs properties, counts their cases and writes them into the table of faults.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isLong, record } from '../faults/table.ts';
import { usedMemory } from '../memory.ts';

/** What may be left of a group of properties: the machinery of the tests itself, and code that was compiled. */
const MAX_GROWTH = 40;

export interface Cases {
  /** Runs a property so many times in the short and in the long form. */
  check(short: number, long: number, property: fc.IRawProperty<unknown>, examples?: unknown[]): Promise<void>;
  /** Writes the row; in the long form memory must not have grown. */
  end(): void;
}

/**
 * @param fault the row of the table
 * @param most megabytes; none where the service in a box remembers its calls in the same process
 */
export function countCases(fault: string, most = MAX_GROWTH): Cases {
  const before = usedMegabytes();
  let times = 0;
  return {
    async check(short, long, property, examples = []) {
      const numRuns = (isLong ? long : short) + examples.length;
      const outcome = await fc.check(property, { numRuns, examples: examples as never[] });
      times += outcome.numRuns;
      if (outcome.failed) {
        throw new Error(fc.defaultReportMessage(outcome), { cause: outcome.errorInstance });
      }
    },
    end() {
      const growth = usedMegabytes() - before;
      record({
        fault: `input: ${fault}`,
        times,
        note: Number.isFinite(most) ? `heap ${growth < 0 ? '' : '+'}${growth.toFixed(1)} MB` : '',
      });
      if (isLong) {
        assert.ok(growth < most, `${growth} MB more`);
      }
    },
  };
}

const usedMegabytes = (): number => usedMemory() / 2 ** 20;
