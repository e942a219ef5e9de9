// What witness.js wrote down: which reports have left mt-report-in.
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { numberOf } from '../field.ts';
import type { Row } from '../table.ts';

/** Nothing comes any more when nothing has come for so long. */
const PATIENCE_MS = 5_000;

/** Reads the file until all reports from `first` to `end` are in it, or no further ones come. */
export async function delivered(
  file: string,
  first: number,
  end: number,
): Promise<NonNullable<Row['reports']>> {
  const sent = end - first;
  for (let before = -1; ; ) {
    const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1).map(numberOf);
    const numbers = lines.filter((number) => number >= first && number < end);
    const arrived = new Set(numbers).size;
    if (arrived === sent || numbers.length === before) {
      return { sent, arrived, lost: sent - arrived, duplicated: numbers.length - arrived };
    }
    before = numbers.length;
    await wait(PATIENCE_MS);
  }
}
