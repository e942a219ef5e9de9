// The last reports that a filter would let through, for as long as somebody looks.
import type { Report } from './protocol/reports/index.ts';

const KEPT = 20;
/** A panel that is closed does not say so: it stops asking. */
const LEASE = 15_000;
const MOST_LEASES = 8;

export interface PreviewLine {
  topic: string;
  report: Report;
}

interface Lease {
  lines: PreviewLine[];
  end(): void;
  timer: NodeJS.Timeout;
}

export class Previews<Filter> {
  readonly #subscribe: (filter: Filter, take: (report: Report, topic: string) => void) => () => void;
  readonly #leases = new Map<string, Lease>();

  constructor(subscribe: (filter: Filter, take: (report: Report, topic: string) => void) => () => void) {
    this.#subscribe = subscribe;
  }

  /**
   * The newest reports last. The first call for a filter starts listening; listening ends when no call came
   * for 15 s.
   */
  poll(filter: Filter): PreviewLine[] {
    const key = JSON.stringify(filter);
    const lease = this.#leases.get(key) ?? this.#start(key, filter);
    lease.timer.refresh();
    return lease.lines;
  }

  close(): void {
    for (const lease of this.#leases.values()) lease.end();
  }

  #start(key: string, filter: Filter): Lease {
    if (this.#leases.size >= MOST_LEASES) this.#leases.values().next().value?.end();
    const lines: PreviewLine[] = [];
    const unsubscribe = this.#subscribe(filter, (report, topic) => {
      lines.push({ topic, report });
      if (lines.length > KEPT) lines.shift();
    });
    const end = () => {
      clearTimeout(lease.timer);
      this.#leases.delete(key);
      unsubscribe();
    };
    const lease: Lease = { lines, end, timer: setTimeout(end, LEASE).unref() };
    this.#leases.set(key, lease);
    return lease;
  }
}
