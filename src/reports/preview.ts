// The last reports that a filter would let through, for as long as somebody looks.
import type { Report } from '../protocol/reports/index.ts';

const MAX_LINES = 20;
/** A panel that is closed does not say so: it stops asking. */
const LEASE_MS = 15_000;
const MAX_LEASES = 8;
/** In a busy network a look takes a sample and then rests, so that it does not bring the whole traffic here. */
const PAUSE_MS = 5_000;

export interface PreviewLine {
  topic: string;
  report: Report;
}

/** Where the reports come from. */
export interface PreviewSource<Filter> {
  /** Hears what is received anyway. @returns ends it */
  listen(filter: Filter, addLine: (report: Report, topic: string) => void): () => void;
  /** Asks the broker for what passes the filter, too. @returns ends it */
  request(filter: Filter): () => void;
}

interface Lease {
  lines: PreviewLine[];
  end(): void;
  timer: NodeJS.Timeout;
  /** Undefined while it rests. */
  endRequest: (() => void) | undefined;
  /** Reports since it last began to ask. */
  sampled: number;
  /** In milliseconds of `performance.now()`. */
  pausedUntil: number;
}

export class Previews<Filter> {
  readonly #source: PreviewSource<Filter>;
  readonly #leases = new Map<string, Lease>();

  constructor(source: PreviewSource<Filter>) {
    this.#source = source;
  }

  /**
   * The newest reports last. The first call for a filter starts listening; listening ends when no call came
   * for 15 s.
   */
  poll(filter: Filter): PreviewLine[] {
    const key = JSON.stringify(filter);
    const lease = this.#leases.get(key) ?? this.#start(key, filter);
    lease.timer.refresh();
    if (!lease.endRequest && performance.now() >= lease.pausedUntil) {
      lease.sampled = 0;
      lease.endRequest = this.#source.request(filter);
    }
    return lease.lines;
  }

  close(): void {
    for (const lease of this.#leases.values()) {
      lease.end();
    }
  }

  #start(key: string, filter: Filter): Lease {
    if (this.#leases.size >= MAX_LEASES) {
      this.#leases.values().next().value?.end();
    }
    const unlisten = this.#source.listen(filter, (report, topic) => take(lease, { topic, report }));
    const end = () => {
      clearTimeout(lease.timer);
      this.#leases.delete(key);
      lease.endRequest?.();
      unlisten();
    };
    const timer = setTimeout(end, LEASE_MS).unref();
    const lease: Lease = { lines: [], end, timer, endRequest: undefined, sampled: 0, pausedUntil: 0 };
    this.#leases.set(key, lease);
    return lease;
  }
}

function take(lease: Lease, line: PreviewLine): void {
  lease.lines.push(line);
  if (lease.lines.length > MAX_LINES) {
    lease.lines.shift();
  }
  if (!lease.endRequest || ++lease.sampled < MAX_LINES) {
    return;
  }
  lease.endRequest();
  lease.endRequest = undefined;
  lease.pausedUntil = performance.now() + PAUSE_MS;
}
