// Subscribers of reports: one parse per message, an own report for each, faults kept apart.
import type { ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Catalogue } from '../protocol/identifiers.ts';
import { parseJson } from '../protocol/json.ts';
import {
  copyReport,
  type Report,
  type ReportTopic,
  readReport,
  readReportTopic,
} from '../protocol/reports/index.ts';
import type { Topics } from '../protocol/topics.ts';
import type { Seen } from '../seen.ts';
import { Dispatch } from './dispatch.ts';
import { KnownTopics } from './known-topics.ts';
import { planWants, type Want } from './plan.ts';
import type { ReadFilter } from './report-filter.ts';

export interface ReportListener {
  /** The report is the listener's own. */
  report(report: Report, topic: string): void;
  /** `BAD_REPORT`: a message on a wanted topic that cannot be read; `payload` is its JSON, else its text. */
  error(error: ServiceError, message: { topic: string; payload: unknown }): void;
}

interface Subscriber {
  listener: ReportListener;
  decode: boolean;
}

/** A topic taken apart, and who gets its reports. */
interface Known {
  at: ReportTopic;
  subscribers: readonly Subscriber[];
}

export class Reports {
  readonly #topics: Topics;
  readonly #catalogue: Catalogue;
  readonly #seen: Seen;
  readonly #log: Logger;
  readonly #dispatch = new Dispatch<Subscriber>();
  readonly #known = new KnownTopics<Known>();
  readonly #wants = new Map<Subscriber, Want[]>();

  constructor(topics: Topics, catalogue: Catalogue, seen: Seen, log: Logger) {
    this.#topics = topics;
    this.#catalogue = catalogue;
    this.#seen = seen;
    this.#log = log;
  }

  /** @param passive true: take part in what others subscribe to, without wanting anything from the broker */
  add(filter: ReadFilter, decode: boolean, listener: ReportListener, passive = false): () => void {
    const target = { listener, decode };
    const remove = this.#dispatch.add({ ...filter.route, target });
    this.#known.clear();
    if (!passive) this.#wants.set(target, filter.wants);
    return () => {
      remove();
      this.#known.clear();
      this.#wants.delete(target);
    };
  }

  /** The topic filters that serve all subscribers; none overlaps another. */
  filters(): string[] {
    const wants = planWants([...this.#wants.values()].flat());
    return wants.map(({ identifier, ...rest }) =>
      this.#topics.reportFilter(identifier === '' ? rest : { ...rest, identifier }),
    );
  }

  /** Takes a message of a report topic. False when nobody wants it. */
  deliver(topic: string, payload: Uint8Array, retained: boolean): boolean {
    const known = this.#known.get(topic) ?? this.#learn(topic);
    if (known === undefined || known.subscribers.length === 0) return false;
    const { at, subscribers } = known;
    const text = payload.toString();
    const parsed = parseJson(text);
    const body = parsed === undefined ? text : parsed;
    if (subscribers.length === 1) this.#give(subscribers[0] as Subscriber, at, body, retained);
    else this.#share(subscribers, at, body, retained);
    return true;
  }

  #learn(topic: string): Known | undefined {
    const parsed = this.#topics.parseReport(topic);
    if (parsed === undefined) return undefined;
    const at = readReportTopic(topic, parsed.gateway, parsed.device, parsed.rest);
    const known = { at, subscribers: this.#dispatch.match(at) };
    this.#known.set(topic, known);
    return known;
  }

  #give({ listener, decode }: Subscriber, at: ReportTopic, body: unknown, retained: boolean): void {
    let report: Report;
    try {
      report = readReport(at, body, this.#catalogue, decode, retained);
    } catch (error) {
      this.#handError(listener, error as ServiceError, { topic: at.topic, payload: body });
      return;
    }
    this.#seen.note(at, Date.now());
    this.#hand(listener, report, at.topic);
  }

  /** Copies are made before anything is given away: a receiver may change its report at once. */
  #share(subscribers: readonly Subscriber[], at: ReportTopic, body: unknown, retained: boolean): void {
    const reports: Report[] = [];
    try {
      const originals = new Map<boolean, Report>();
      for (const { decode } of subscribers) {
        const original = originals.get(decode);
        if (original) reports.push(copyReport(original));
        else {
          const first = readReport(at, body, this.#catalogue, decode, retained);
          // Both variants hold the nested values of the same body.
          reports.push(originals.size === 0 ? first : copyReport(first));
          originals.set(decode, first);
        }
      }
    } catch {
      for (const subscriber of subscribers) this.#give(subscriber, at, body, retained);
      return;
    }
    this.#seen.note(at, Date.now());
    for (const [i, { listener }] of subscribers.entries())
      this.#hand(listener, reports[i] as Report, at.topic);
  }

  #hand(listener: ReportListener, report: Report, topic: string): void {
    try {
      listener.report(report, topic);
    } catch (fault) {
      this.#receiverFailed(fault);
    }
  }

  #handError(
    listener: ReportListener,
    error: ServiceError,
    message: { topic: string; payload: unknown },
  ): void {
    try {
      listener.error(error, message);
    } catch (fault) {
      this.#receiverFailed(fault);
    }
  }

  /** One receiver's exception is not the others' problem. */
  #receiverFailed(fault: unknown): void {
    this.#log.warn(`a receiver of reports failed: ${String(fault)}`);
  }
}
