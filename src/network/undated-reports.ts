// When retained reports came first whose time tells nothing: they come again with every connection.
import { createHash } from 'node:crypto';
import { FifoMap } from '../collections/fifo-map.ts';
import type { Report } from '../protocol/reports/index.ts';

/** Gateways whose clock is ahead, or that have none, are few. Of more, those that came first are known. */
const MAX_REPORTS = 10_000;

export class UndatedReports {
  readonly #since = new FifoMap<number>(MAX_REPORTS);

  /**
   * @param now in milliseconds of `performance.now()`
   * @returns when it came first, in the same
   */
  since({ gateway, device, kind, form, identifier, time }: Readonly<Report>, now: number): number {
    const place = [gateway, device, kind, form, identifier, time];
    const key = createHash('sha1').update(JSON.stringify(place)).digest('base64');
    const known = this.#since.get(key);
    // They come in the same order each time: what pushes out the oldest pushes out the one that comes next.
    if (known === undefined && !this.#since.isFull) {
      this.#since.add(key, now);
    }
    return known ?? now;
  }
}
