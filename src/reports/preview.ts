// The last reports that a filter would let through, for as long as somebody looks.
import { ServiceError } from '../errors.ts';
import { sizeOfReport } from '../network/value-size.ts';
import { isObject } from '../protocol/json.ts';
import type { Report } from '../protocol/reports/index.ts';
import { bodyOf, type Message } from './message.ts';

const MAX_LINES = 1_000;
/** Of memory, in one look: beyond it fewer lines are kept, but always the newest. A payload can take 20 times its size when it is parsed. */
const MAX_BYTES = 4 * 1_048_576;
const SHOWN_LINES = 20;
/**
 * Of what was received before, which is looked through in one turn when somebody looks with a new filter. Usual reports
 * have some hundred bytes; of very large ones the next that comes is the first that is shown.
 */
const MAX_KNOWN_PAYLOAD_BYTES = 64 * 1024;
const MAX_KNOWN_BYTES = 2 * 1_048_576;
/** A panel that is closed does not say so: it stops asking. */
const LEASE_MS = 15_000;
const MAX_LEASES = 16;
/** An open panel asks every 2 seconds: one that has not asked for so long, or only once, may show another filter by now. */
const IDLE_MS = 5_000;
/** In a busy network a look takes a sample and then rests, so that it does not bring the whole traffic here. */
const PAUSE_MS = 5_000;
/** Messages of one look: most of them may be filtered out only here. */
const MAX_RECEIVED = 1_000;

export interface PreviewLine {
  topic: string;
  report: Report;
}

/** A message that somebody remembers. */
export type KeptMessage = Omit<Message, 'heardAt'>;

interface Line extends PreviewLine {
  payload: Buffer;
  /** Bytes of memory, estimated. */
  size: number;
}

/** Where the reports come from. */
export interface PreviewSource<Filter> {
  /**
   * Hears what is received anyway.
   * @param setProblem call with what prevents that anything passes, and with undefined when it is over
   * @param known what was received before and may pass, the oldest first
   * @returns ends it
   */
  listen(
    filter: Filter,
    addLine: (report: Report, topic: string, payload: Buffer) => void,
    setProblem: (problem: ServiceError | undefined) => void,
    known: readonly Message[],
  ): () => void;
  /**
   * Asks the broker for what passes the filter, too.
   * @param received call for each message that may have been received because of it
   * @returns ends it; undefined: there is nothing to ask for yet
   */
  request(filter: Filter, received: () => void): (() => void) | undefined;
}

export interface PreviewState {
  /** The newest last. */
  lines: readonly PreviewLine[];
  problem: ServiceError | undefined;
}

interface Lease {
  lines: Line[];
  /** Of the lines. */
  size: number;
  problem: ServiceError | undefined;
  end: () => void;
  timer: NodeJS.Timeout | undefined;
  /** Undefined while it rests. */
  endRequest: (() => void) | undefined;
  /** Reports that passed, and messages that came, since it last began to ask. */
  sampled: number;
  received: number;
  /** In milliseconds of `performance.now()`. */
  pausedUntil: number;
  polledAt: number;
  polls: number;
}

export class Previews<Filter> {
  readonly #source: PreviewSource<Filter>;
  readonly #leases = new Map<string, Lease>();

  constructor(source: PreviewSource<Filter>) {
    this.#source = source;
  }

  /**
   * The first call for a filter starts listening; listening ends when no call came for 15 s.
   * @param kept what others remember, asked for when listening starts: what of it passes is shown at once
   * @throws ServiceError `QUEUE_FULL` when too many others are looked at
   */
  poll(filter: Filter, kept: () => readonly KeptMessage[] = () => []): PreviewState {
    const key = JSON.stringify(filter);
    const lease = this.#leases.get(key) ?? this.#start(key, filter, kept());
    clearTimeout(lease.timer);
    lease.timer = setTimeout(lease.end, LEASE_MS).unref();
    lease.polledAt = performance.now();
    lease.polls++;
    // In the order in which they were asked for.
    this.#leases.delete(key);
    this.#leases.set(key, lease);
    if (!lease.endRequest && performance.now() >= lease.pausedUntil) {
      lease.sampled = 0;
      lease.received = 0;
      lease.endRequest = this.#source.request(filter, () => countReceived(lease));
    }
    return lease;
  }

  close(): void {
    for (const lease of this.#leases.values()) {
      lease.end();
    }
  }

  #endIdle(): void {
    const usedSince = performance.now() - IDLE_MS;
    const idle = [...this.#leases.values()].find(
      ({ polls, polledAt }) => polls === 1 || polledAt <= usedSince,
    );
    if (!idle) {
      throw new ServiceError('QUEUE_FULL', 'previews', { limit: MAX_LEASES }, { limit: MAX_LEASES });
    }
    idle.end();
  }

  /** What others remember and what is shown at present: each message once, the oldest first. */
  #known(kept: readonly KeptMessage[]): Message[] {
    const shown = [...this.#leases.values()].flatMap(({ lines }) => lines.slice(-SHOWN_LINES));
    const all = atMost([
      ...kept,
      ...shown.map((line) => ({ ...line, retained: line.report.retained === true })),
    ]);
    const once = new Map(all.map((one) => [`${one.topic} ${one.payload.toString('latin1')}`, one]));
    const times = Array.from(once.values(), (one) => ({ one, at: timeOf(one.payload) }));
    const heardAt = performance.now();
    return times
      .sort((a, b) => a.at - b.at)
      .map(({ one: { topic, payload, retained } }) => ({ topic, payload, retained, heardAt }));
  }

  #start(key: string, filter: Filter, kept: readonly KeptMessage[]): Lease {
    if (this.#leases.size >= MAX_LEASES) {
      this.#endIdle();
    }
    const lease: Lease = {
      ...{ lines: [], size: 0, problem: undefined, endRequest: undefined },
      ...{ sampled: 0, received: 0, pausedUntil: 0 },
      polledAt: performance.now(),
      polls: 0,
      timer: undefined,
      end: () => undefined,
    };
    const unlisten = this.#source.listen(
      filter,
      // A payload of its own: a received one keeps the whole chunk alive that it came in.
      (report, topic, payload) =>
        addLine(lease, {
          topic,
          report,
          payload: Buffer.from(payload),
          size: payload.length + sizeOfReport(report),
        }),
      (problem) => {
        lease.problem = problem;
      },
      this.#known(kept),
    );
    lease.end = () => {
      clearTimeout(lease.timer);
      this.#leases.delete(key);
      lease.endRequest?.();
      unlisten();
    };
    return lease;
  }
}

function atMost(messages: readonly KeptMessage[]): KeptMessage[] {
  let left = MAX_KNOWN_BYTES;
  return messages.filter(({ payload }) => {
    const fits = payload.length <= MAX_KNOWN_PAYLOAD_BYTES && payload.length <= left;
    left -= fits ? payload.length : 0;
    return fits;
  });
}

/** When a report was made, by its gateway, in milliseconds; 0 where it does not say. */
function timeOf(payload: Buffer): number {
  const body = bodyOf(payload);
  return (isObject(body) && Date.parse(String(body.time))) || 0;
}

function addLine(lease: Lease, line: Line): void {
  const { lines } = lease;
  if (line.report.retained) {
    // The broker sends it again for each subscription.
    const before = lines.findIndex(
      ({ report, topic, payload }) => report.retained && topic === line.topic && payload.equals(line.payload),
    );
    if (before >= 0) {
      lease.size -= (lines.splice(before, 1)[0] as Line).size;
    }
  }
  lines.push(line);
  lease.size += line.size;
  while (lines.length > MAX_LINES || (lines.length > 1 && lease.size > MAX_BYTES)) {
    lease.size -= (lines.shift() as Line).size;
  }
  if (++lease.sampled >= SHOWN_LINES) {
    pause(lease);
  }
}

function countReceived(lease: Lease): void {
  if (++lease.received >= MAX_RECEIVED) {
    pause(lease);
  }
}

function pause(lease: Lease): void {
  if (!lease.endRequest) {
    return;
  }
  lease.endRequest();
  lease.endRequest = undefined;
  lease.pausedUntil = performance.now() + PAUSE_MS;
}
