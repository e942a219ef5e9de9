// All reports of the network, kept for a person as the lines of a file: for ten minutes or 20 MB.
import type { ServiceError } from '../errors.ts';
import type { RecordEnd, RecordState } from '../protocol/record-state.ts';
import type { Report } from '../protocol/reports/index.ts';
import type { ReportListener, Unread } from './receivers.ts';
import { MAX_LINE_LENGTH, writeLine } from './recorded-line.ts';

const MAX_MS = 600_000;
/** Of all lines, with their ends. */
const MAX_BYTES = 20_000_000;
/** An editor that is closed does not say so; one in the background has its timers called once a minute. */
const LEASE_MS = 90_000;
/** So long after its end it can be fetched. */
const KEPT_MS = 600_000;
/** Lines are put together into pieces: each by itself would take as much memory again. */
const PIECE_BYTES = 65_536;

interface Kept {
  startedAt: number;
  endedAt: number | undefined;
  end: RecordEnd | null;
  lines: number;
  bytes: number;
  tooLong: number;
  pieces: Buffer[];
  /** Not yet in a piece. */
  loose: string[];
  looseBytes: number;
}

export class Recording {
  readonly #listen: (listener: ReportListener) => () => void;
  readonly #now: () => number;
  #kept: Kept | undefined;
  /** Undefined while no reports are kept. */
  #unlisten: (() => void) | undefined;
  /** Ends the recording when it is as long as it may be, later what it has kept. */
  #timer: NodeJS.Timeout | undefined;
  /** Ends it when nobody asks for it. */
  #lease: NodeJS.Timeout | undefined;

  /**
   * @param listen has all reports there are brought here, until the returned function is called
   * @param now milliseconds since 1970
   */
  constructor(listen: (listener: ReportListener) => () => void, now: () => number = () => Date.now()) {
    this.#listen = listen;
    this.#now = now;
  }

  get isRunning(): boolean {
    return this.#kept?.end === null;
  }

  /** Begins anew, unless one runs; what was kept is given up. */
  start(): void {
    if (this.isRunning) {
      return;
    }
    this.#kept = {
      ...{ startedAt: this.#now(), endedAt: undefined, end: null, lines: 0, bytes: 0, tooLong: 0 },
      ...{ pieces: [], loose: [], looseBytes: 0 },
    };
    this.#run(this.#kept);
  }

  /**
   * Its service ends: nothing more is kept. It still ends when it would, and what it has is freed then, unless the service
   * that follows takes it over.
   */
  leave(): void {
    this.#unlisten?.();
    this.#unlisten = undefined;
  }

  /** Goes on with the recording of the service before, or keeps what that has recorded for as long as it would. */
  takeOver(former: Recording): void {
    this.close();
    const kept = former.#kept;
    former.#kept = undefined;
    former.close();
    this.#kept = kept;
    if (kept?.endedAt !== undefined) {
      this.#schedule(kept.endedAt, KEPT_MS, () => this.close());
    } else if (kept) {
      this.#run(kept);
    }
  }

  /** What was kept can be fetched for ten minutes. */
  stop(): void {
    this.#end('stopped');
  }

  /** It runs on only as long as somebody asks for this. */
  state(): RecordState {
    if (this.isRunning) {
      this.#extend();
    }
    if (!this.#kept) {
      return { name: 'none', since: null, seconds: 0, lines: 0, bytes: 0, tooLong: 0, end: null };
    }
    const { startedAt, endedAt = this.#now(), end, lines, bytes, tooLong } = this.#kept;
    return {
      name: this.isRunning ? 'running' : 'ended',
      since: new Date(startedAt).toISOString(),
      seconds: Math.max(0, Math.round((endedAt - startedAt) / 1_000)),
      ...{ lines, bytes, tooLong, end },
    };
  }

  /** What there is so far, as the pieces of a file; undefined while there is none. */
  file(): readonly Buffer[] | undefined {
    if (!this.#kept) {
      return undefined;
    }
    gather(this.#kept);
    return [...this.#kept.pieces];
  }

  /** Gives everything up. */
  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#lease);
    this.leave();
    this.#kept = undefined;
  }

  #run({ startedAt }: Kept): void {
    this.#schedule(startedAt, MAX_MS, () => this.#end('time'));
    this.#extend();
    this.#unlisten = this.#listen({
      readsOnly: true,
      report: (report, topic, payload) => this.#keep(report, topic, payload, report.retained === true),
      // What flows cannot read belongs to what came, too.
      error: (_error: ServiceError, { topic }, received) => this.#keepUnread(topic, received),
    });
  }

  /** @param since by a clock that may have been put back: it never takes longer than `ms` from now on */
  #schedule(since: number, ms: number, act: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, Math.min(ms, since + ms - this.#now())).unref();
  }

  #extend(): void {
    clearTimeout(this.#lease);
    this.#lease = setTimeout(() => this.#end('left'), LEASE_MS).unref();
  }

  #end(end: RecordEnd): void {
    const kept = this.#kept;
    if (!kept || kept.end !== null) {
      return;
    }
    kept.endedAt = this.#now();
    kept.end = end;
    clearTimeout(this.#lease);
    this.#schedule(kept.endedAt, KEPT_MS, () => this.close());
    this.leave();
  }

  #keepUnread(topic: string, received: Unread | undefined): void {
    if (received) {
      this.#keep(received.at, topic, received.payload, received.retained);
    }
  }

  #keep(
    place: Pick<Report, 'kind' | 'gateway' | 'device'>,
    topic: string,
    payload: Buffer,
    retained: boolean,
  ): void {
    const kept = this.#kept;
    if (!kept || !this.isRunning) {
      return;
    }
    const time = new Date(this.#now()).toISOString();
    const line = payload.length > MAX_LINE_LENGTH ? '' : writeLine(place, { topic, payload, retained }, time);
    if (line === '' || line.length > MAX_LINE_LENGTH) {
      kept.tooLong++;
      return;
    }
    const bytes = Buffer.byteLength(line) + 1;
    if (kept.bytes + bytes > MAX_BYTES) {
      this.#end('size');
      return;
    }
    kept.lines++;
    kept.bytes += bytes;
    kept.loose.push(line);
    kept.looseBytes += bytes;
    if (kept.looseBytes >= PIECE_BYTES) {
      gather(kept);
    }
  }
}

function gather(kept: Kept): void {
  if (kept.loose.length > 0) {
    kept.pieces.push(Buffer.from(`${kept.loose.join('\n')}\n`));
    kept.loose = [];
    kept.looseBytes = 0;
  }
}
