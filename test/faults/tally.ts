// Counts what became of every report and every request of a session under faults.
import { EventEmitter, once } from 'node:events';
import type { ServiceError } from '../../src/errors.ts';
import type { Report } from '../../src/protocol/reports/index.ts';
import type { ReportFilter, Session } from '../../src/session.ts';
import { ALL } from '../session.ts';
import { GATEWAY, numberOf } from './field.ts';
import type { Row } from './table.ts';

/** Which of the numbered reports have arrived, and how many of them again. */
export class Arrivals {
  /** By number; a byte each, since memory is what some of these tests look at. */
  #arrived = new Uint8Array(1 << 16);
  #distinct = 0;
  #duplicated = 0;
  readonly #events = new EventEmitter();

  note(report: Pick<Report, 'raw'>): void {
    const number = numberOf(report.raw);
    if (number >= this.#arrived.length) {
      const longer = new Uint8Array(Math.max(number + 1, 2 * this.#arrived.length));
      longer.set(this.#arrived);
      this.#arrived = longer;
    }
    if (this.#arrived[number] === 0) {
      this.#distinct++;
    } else {
      this.#duplicated++;
    }
    this.#arrived[number] = 1;
    this.#events.emit('report');
  }

  get distinct(): number {
    return this.#distinct;
  }

  get duplicated(): number {
    return this.#duplicated;
  }

  /** Resolves when so many different reports have arrived. */
  async reach(count: number): Promise<void> {
    while (this.#distinct < count) {
      await once(this.#events, 'report');
    }
  }

  /** Subscribes this tally to every report. */
  listen(session: Session, changes: Partial<ReportFilter> = {}): () => void {
    return session.subscribe({ ...ALL, ...changes }, { report: (report) => this.note(report), error() {} });
  }

  row(sent: number): NonNullable<Row['reports']> {
    return { sent, arrived: this.distinct, lost: sent - this.distinct, duplicated: this.duplicated };
  }
}

/** One question to a session; `turn` counts the questions of this worker. */
export type Ask = (session: Session, signal: AbortSignal, turn: number) => Promise<unknown>;

const readProperty: Ask = (session, signal) =>
  session.request('read', { gateway: GATEWAY, identifier: '8001' }, { signal });

/** Keeps a number of requests in flight; every one of them ends, and how is counted. */
export class Asking {
  readonly #session: Session;
  readonly #ask: Ask;
  readonly #events = new EventEmitter();
  readonly #failed: Record<string, number> = {};
  readonly #stop = new AbortController();
  readonly #workers: Promise<void>[];
  #answers = 0;
  #open = 0;
  #stopped = false;

  constructor(session: Session, atOnce: number, ask: Ask = readProperty) {
    this.#session = session;
    this.#ask = ask;
    this.#workers = Array.from({ length: atOnce }, (_, worker) => this.#work(worker));
  }

  /** Resolves with the next answer: requests get through. */
  async nextAnswer(): Promise<void> {
    await once(this.#events, 'answer');
  }

  /** Resolves when every worker has had a response from now on. */
  async answersForAll(): Promise<void> {
    const waiting = new Set(this.#workers.keys());
    const note = (worker: number) => waiting.delete(worker);
    this.#events.on('answer', note);
    while (waiting.size > 0) {
      await once(this.#events, 'answer');
    }
    this.#events.off('answer', note);
  }

  /** Asks nothing more; resolves when everything asked has ended, which its timeout guarantees. */
  async finish(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#workers);
  }

  row(): NonNullable<Row['requests']> {
    return { answered: this.#answers, failed: { ...this.#failed }, hanging: this.#open };
  }

  async #work(worker: number): Promise<void> {
    for (let turn = 0; !this.#stopped; turn++) {
      this.#open++;
      try {
        await this.#ask(this.#session, this.#stop.signal, turn);
        this.#answers++;
        this.#events.emit('answer', worker);
      } catch (error) {
        const code = (error as Partial<ServiceError>).code ?? String(error);
        this.#failed[code] = (this.#failed[code] ?? 0) + 1;
      }
      this.#open--;
    }
  }
}
