// Calls the receivers of one report: one parse of the payload, an own report for each, faults kept apart.
import type { ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { KnownPlace } from '../network/known-place.ts';
import type { NetworkState } from '../network/network-state.ts';
import type { Catalogue } from '../protocol/catalogue.ts';
import { copyReport, type Report, type ReportTopic, readReport } from '../protocol/reports/index.ts';
import { badReport } from '../protocol/reports/report.ts';
import { bodyOf, isTooLarge } from './message.ts';

export interface ReportListener {
  /** It reads a report at once, before a flow may change it, and keeps none: a copy would cost more than it does. */
  readsOnly?: true;
  /** It takes no report: that the state of the network records it is all it needs. */
  takesNone?: true;
  /**
   * The report is the listener's own, unless it only reads.
   * @param payload as it was received; it keeps more memory alive than its own length
   * @param heardAt in milliseconds of `performance.now()`; undefined: just now
   */
  report(report: Report, topic: string, payload: Buffer, heardAt?: number): void;
  /**
   * `BAD_REPORT`: a message on a wanted topic that cannot be read; `payload` is its JSON, else its text.
   * @param received as it came; undefined behind filters
   */
  error(error: ServiceError, message: { topic: string; payload: unknown }, received?: Unread): void;
}

/** A message that cannot be read, as it was received. */
export interface Unread {
  at: ReportTopic;
  payload: Buffer;
  retained: boolean;
}

export interface Receiver {
  listener: ReportListener;
  decode: boolean;
  /** It only shows reports to people. */
  isPreview: boolean;
}

/**
 * Those that take reports, first those that only read. One that takes none stays where no report would be read without
 * it, or none decoded.
 */
export function takersOf(receivers: readonly Receiver[]): readonly Receiver[] {
  const takers = receivers.filter(({ listener }) => !listener.takesNone);
  const isDecoded = takers.length === receivers.length || takers.some(({ decode }) => decode);
  const decoding = isDecoded ? undefined : receivers.find(({ decode }) => decode);
  if (decoding) {
    takers.push(decoding);
  }
  if (takers.length === 0) {
    return receivers.slice(0, 1);
  }
  const readers = takers.filter(({ listener }) => listener.readsOnly);
  return readers.length === 0
    ? takers
    : [...readers, ...takers.filter(({ listener }) => !listener.readsOnly)];
}

/** Where a report came from. */
interface ReportSource {
  at: ReportTopic;
  /** A flow is among all its receivers. */
  isWanted: boolean;
  place?: KnownPlace;
}

interface ReceiversContext {
  catalogue: Catalogue;
  /** Told of each report that is not retained. */
  network: NetworkState;
  log: Logger;
  now: () => number;
}

export class Receivers {
  readonly #catalogue: Catalogue;
  readonly #network: NetworkState;
  readonly #log: Logger;
  readonly #now: () => number;

  constructor({ catalogue, network, log, now }: ReceiversContext) {
    this.#catalogue = catalogue;
    this.#network = network;
    this.#log = log;
    this.#now = now;
  }

  /** Gives what was received just now to all of them. @param receivers first those that only read, as of `takersOf` */
  call(receivers: readonly Receiver[], source: ReportSource, payload: Buffer, retained: boolean): void {
    const [first] = receivers;
    if (!first) {
      return;
    }
    const body = bodyOf(payload);
    if (receivers.length === 1) {
      this.#callOne(first, source, body, retained, payload);
    } else {
      this.#callSeveral(receivers, source, body, retained, payload);
    }
  }

  /** Gives one of them what was received before. @param heardAt in milliseconds of `performance.now()` */
  replay(
    receiver: Receiver,
    source: ReportSource,
    payload: Buffer,
    retained: boolean,
    heardAt: number,
  ): void {
    this.#callOne(receiver, source, bodyOf(payload), retained, payload, heardAt);
  }

  /** One receiver's exception is not the others' problem. */
  failed(fault: unknown): void {
    this.#log.warn(`a receiver of reports failed: ${String(fault)}`);
  }

  #callOne(
    { listener, decode }: Receiver,
    { at, isWanted, place }: ReportSource,
    body: unknown,
    retained: boolean,
    payload: Buffer,
    heardAt?: number,
  ): void {
    let report: Report;
    try {
      report = this.#read(at, body, payload, decode, retained);
    } catch (error) {
      this.#callErrorListener(listener, error as ServiceError, { at, payload, retained });
      return;
    }
    // What was received before is known already.
    if (heardAt === undefined && !retained) {
      this.#network.record(at, this.#now(), report, isWanted, place);
    }
    this.#callListener(listener, report, at.topic, payload, heardAt);
  }

  /** Copies are made before anything is given away: a receiver may change its report at once. */
  #callSeveral(
    receivers: readonly Receiver[],
    source: ReportSource,
    body: unknown,
    retained: boolean,
    payload: Buffer,
  ): void {
    const { at, isWanted, place } = source;
    let own: { reports: Report[]; fullest: Report | undefined };
    try {
      own = this.#reportsFor(receivers, at, body, payload, retained);
    } catch {
      for (const receiver of receivers) {
        this.#callOne(receiver, source, body, retained, payload);
      }
      return;
    }
    if (!retained) {
      this.#network.record(at, this.#now(), own.fullest, isWanted, place);
    }
    for (let i = 0; i < receivers.length; i++) {
      this.#callListener((receivers[i] as Receiver).listener, own.reports[i] as Report, at.topic, payload);
    }
  }

  /**
   * @returns one for each receiver, and the decoded one where any of them decodes
   * @throws ServiceError `BAD_REPORT`
   */
  #reportsFor(
    receivers: readonly Receiver[],
    at: ReportTopic,
    body: unknown,
    payload: Buffer,
    retained: boolean,
  ): { reports: Report[]; fullest: Report | undefined } {
    const reports: Report[] = [];
    // As received and decoded, by `Number(decode)`.
    const originals: [Report?, Report?] = [undefined, undefined];
    let isTaken = false;
    for (const { decode, listener } of receivers) {
      const form = Number(decode) as 0 | 1;
      const original = originals[form] ?? this.#read(at, body, payload, decode, retained);
      originals[form] = original;
      // Both forms hold the nested values of the same body.
      reports.push(isTaken && !listener.readsOnly ? copyReport(original) : original);
      isTaken ||= !listener.readsOnly;
    }
    return { reports, fullest: originals[1] ?? reports[0] };
  }

  /** @throws ServiceError `BAD_REPORT` */
  #read(at: ReportTopic, body: unknown, payload: Buffer, decode: boolean, retained: boolean): Report {
    if (isTooLarge(payload)) {
      throw badReport('tooLarge', at, body);
    }
    return readReport(at, body, this.#catalogue, decode, retained);
  }

  #callListener(
    listener: ReportListener,
    report: Report,
    topic: string,
    payload: Buffer,
    heardAt?: number,
  ): void {
    try {
      listener.report(report, topic, payload, heardAt);
    } catch (fault) {
      this.failed(fault);
    }
  }

  #callErrorListener(listener: ReportListener, error: ServiceError, received: Unread): void {
    try {
      listener.error(error, { topic: received.at.topic, payload: error.cause.payload }, received);
    } catch (fault) {
      this.failed(fault);
    }
  }
}
