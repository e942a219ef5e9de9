// Subscribers of reports: one parse per message, an own report for each, faults kept apart.
import type { ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Catalogue } from '../protocol/identifiers.ts';
import { parseJson } from '../protocol/json.ts';
import { KnownTopics } from '../protocol/known-topics.ts';
import {
  copyReport,
  type Report,
  type ReportTopic,
  readReport,
  readReportTopic,
} from '../protocol/reports/index.ts';
import type { Topics } from '../protocol/topics.ts';
import type { Seen } from '../seen.ts';
import { Copies } from './copies.ts';
import { Dispatch } from './dispatch.ts';
import { planWants, type Want, WantIndex } from './plan.ts';
import type { ReadFilter } from './report-filter.ts';

/** A message of a report topic, as it was received. */
export interface Message {
  topic: string;
  payload: Buffer;
  retained: boolean;
  /** In milliseconds of `performance.now()`. */
  heardAt: number;
}

/** A broker sends retained reports when a filter is subscribed, one after the other; so long after the last it is done. */
const RETAINED_WITHIN_MS = 10_000;
/** Deploys while the broker is away change what is asked for again and again. */
const MAX_ASKED_BEFORE = 10_000;

export interface ReportListener {
  /**
   * The report is the listener's own.
   * @param payload as it was received; it keeps more memory alive than its own length
   * @param heardAt in milliseconds of `performance.now()`; undefined: just now
   */
  report(report: Report, topic: string, payload: Buffer, heardAt?: number): void;
  /** `BAD_REPORT`: a message on a wanted topic that cannot be read; `payload` is its JSON, else its text. */
  error(error: ServiceError, message: { topic: string; payload: unknown }): void;
}

interface Subscriber {
  listener: ReportListener;
  decode: boolean;
  /** It only shows reports to people. */
  isPassive: boolean;
}

/** A topic taken apart, and who gets its reports. */
interface Known {
  at: ReportTopic;
  subscribers: readonly Subscriber[];
  /** How many subscriptions at the broker match it. */
  copies: number;
}

/**
 * `copy`: the broker sends it for each of several subscriptions, and it was delivered already; `repeat`: the same as
 * the message before, though only one subscription is known that brings it; not delivered.
 */
export type Delivery = 'delivered' | 'unwanted' | 'copy' | 'repeat';

/** One subscriber's place among the others. */
export interface Membership {
  /** Delivers messages that were received before to this subscriber alone, where they pass its filter. */
  replay(messages: readonly Message[]): void;
  remove(): void;
}

/** What the broker is asked for. No filter stands in both lists. */
export interface TopicFilters {
  wanted: string[];
  /** For people who look, beside what flows want: allowed to be lost. */
  previewed: string[];
}

export class Reports {
  readonly #topics: Topics;
  readonly #catalogue: Catalogue;
  readonly #seen: Seen;
  readonly #log: Logger;
  readonly #dispatch = new Dispatch<Subscriber>();
  readonly #known = new KnownTopics<Known>();
  readonly #wants = new Map<object, Want[]>();
  readonly #previews = new Map<object, Want[]>();
  readonly #copies = new Copies();
  readonly #isShared: boolean;
  readonly #now: () => number;
  /** What the broker was asked for last, and before that, as long as it may still send for it. */
  #asked: Want[] = [];
  #askedBefore: Want[] = [];
  /** The broker has granted what it was asked for, and all that it sent before was delivered. */
  #isSettled = false;
  /** Retained reports may come for the filters of flows until then, in milliseconds of `performance.now()`. */
  #retainedUntil = Number.POSITIVE_INFINITY;
  /** When the last preview ended. */
  #previewedAt = Number.NEGATIVE_INFINITY;
  /** Undefined while no two subscriptions can match the same topic. */
  #overlaps: WantIndex | undefined;

  /** @param options `isShared`: whether reports are subscribed as a member of a shared group */
  constructor(
    topics: Topics,
    catalogue: Catalogue,
    seen: Seen,
    log: Logger,
    { isShared = false, now = () => performance.now() }: { isShared?: boolean; now?: () => number } = {},
  ) {
    this.#isShared = isShared;
    this.#now = now;
    this.#topics = topics;
    this.#catalogue = catalogue;
    this.#seen = seen;
    this.#log = log;
  }

  /** @param passive true: take part in what others subscribe to, without wanting anything from the broker */
  add(filter: ReadFilter, decode: boolean, listener: ReportListener, passive = false): Membership {
    const target = { listener, decode, isPassive: passive };
    const remove = this.#dispatch.add({ ...filter.route, target });
    this.#known.clear();
    if (!passive) {
      this.#wants.set(target, filter.wants);
    }
    return {
      replay: (messages) => this.#replay(filter, target, messages),
      remove: () => {
        remove();
        this.#known.clear();
        this.#wants.delete(target);
      },
    };
  }

  /** Wants reports for people who look at them; a passive subscriber shows them. @returns ends it */
  addPreview({ wants }: ReadFilter): () => void {
    const key = {};
    this.#previews.set(key, wants);
    return () => {
      this.#previews.delete(key);
      this.#previewedAt = this.#now();
    };
  }

  /** The topic filters that serve all subscribers. From now on reports are expected by these. */
  filters(): TopicFilters {
    const wants = planWants([...this.#wants.values()].flat(), !this.#isShared);
    const wanted = new WantIndex(wants);
    const others = [...this.#previews.values()].flat().filter((want) => !wanted.covers(want));
    // A member of a group gets no more than its share, so that nothing is looked at beyond it.
    const previews = this.#isShared ? [] : planWants(others, true);
    this.#ask(wants, previews);
    return { wanted: wants.map(this.#filterOf), previewed: previews.map(this.#filterOf) };
  }

  /** The connection is a new one. */
  connected(isSameBroker: boolean): void {
    this.#isSettled = false;
    this.#retainedUntil = Number.POSITIVE_INFINITY;
    this.#copies.connected(isSameBroker);
  }

  /** What is delivered from now on came by the present subscriptions. */
  settled(): void {
    if (this.#isSettled) {
      return;
    }
    this.#isSettled = true;
    this.#retainedUntil = Math.min(this.#retainedUntil, this.#now() + RETAINED_WITHIN_MS);
    this.#askedBefore = [];
    this.#findOverlaps();
  }

  /**
   * Takes a message of a report topic.
   * @param mayRepeat whether the broker may hold a subscription that is not known
   */
  deliver(topic: string, payload: Buffer, retained: boolean, mayRepeat = false): Delivery {
    const known = this.#known.get(topic) ?? this.#learn(topic);
    if (known === undefined || known.subscribers.length === 0) {
      return 'unwanted';
    }
    const { at, subscribers, copies } = known;
    if (this.#overlaps && this.#copies.isCopy(topic, payload, copies, retained, this.#isSettled)) {
      return 'copy';
    }
    if (mayRepeat && copies === 1 && !retained && this.#copies.isRepeat(topic, payload)) {
      return 'repeat';
    }
    this.#deliverTo(retained ? this.#receiversOfRetained(subscribers) : subscribers, at, payload, retained);
    return 'delivered';
  }

  /** What only a preview brings again is none of the flows' business: they had it when they subscribed. */
  #receiversOfRetained(subscribers: readonly Subscriber[]): readonly Subscriber[] {
    const now = this.#now();
    const isPreviewed = this.#previews.size > 0 || now - this.#previewedAt <= RETAINED_WITHIN_MS;
    if (!isPreviewed || now <= this.#retainedUntil) {
      this.#retainedUntil = Math.max(this.#retainedUntil, now + RETAINED_WITHIN_MS);
      return subscribers;
    }
    return subscribers.filter(({ isPassive }) => isPassive);
  }

  #deliverTo(subscribers: readonly Subscriber[], at: ReportTopic, payload: Buffer, retained: boolean): void {
    const [first] = subscribers;
    if (!first) {
      return;
    }
    const body = bodyOf(payload);
    if (subscribers.length === 1) {
      this.#give(first, at, body, retained, payload);
    } else {
      this.#share(subscribers, at, body, retained, payload);
    }
  }

  #ask(wants: readonly Want[], previews: readonly Want[]): void {
    const before = new WantIndex(this.#asked);
    const all = [...wants, ...previews];
    if (wants.some((want) => !before.has(want))) {
      this.#retainedUntil = Number.POSITIVE_INFINITY;
    }
    if (all.length === this.#asked.length && all.every((want) => before.has(want))) {
      return;
    }
    this.#askedBefore = [...this.#askedBefore, ...this.#asked].slice(-MAX_ASKED_BEFORE);
    this.#asked = all;
    this.#isSettled = false;
    this.#findOverlaps();
    this.#copies.changed();
  }

  #findOverlaps(): void {
    const index = new WantIndex([...this.#asked, ...this.#askedBefore]);
    const merged = planWants([...this.#asked, ...this.#askedBefore], false);
    this.#overlaps = merged.length < index.size ? index : undefined;
    this.#known.clear();
  }

  readonly #filterOf = ({ identifier, ...rest }: Want): string =>
    this.#topics.reportFilter(identifier === '' ? rest : { ...rest, identifier });

  #learn(topic: string): Known | undefined {
    const at = this.#readTopic(topic);
    if (at === undefined) {
      return undefined;
    }
    const { gateway, device, segment, identifier = '' } = at;
    const copies = this.#overlaps?.count({ gateway, device, segment, identifier }) ?? 1;
    const known = { at, subscribers: this.#dispatch.match(at), copies };
    this.#known.set(topic, known);
    return known;
  }

  #readTopic(topic: string): ReportTopic | undefined {
    const parsed = this.#topics.parseReport(topic);
    return parsed && readReportTopic(topic, parsed.gateway, parsed.device, parsed.rest);
  }

  #replay({ route }: ReadFilter, target: Subscriber, messages: readonly Message[]): void {
    const own = new Dispatch<Subscriber>();
    own.add({ ...route, target });
    for (const { topic, payload, retained, heardAt } of messages) {
      const at = this.#readTopic(topic);
      if (at === undefined || own.match(at).length === 0) {
        continue;
      }
      this.#give(target, at, bodyOf(payload), retained, payload, heardAt);
    }
  }

  #give(
    { listener, decode }: Subscriber,
    at: ReportTopic,
    body: unknown,
    retained: boolean,
    payload: Buffer,
    heardAt?: number,
  ): void {
    let report: Report;
    try {
      report = readReport(at, body, this.#catalogue, decode, retained);
    } catch (error) {
      this.#handError(listener, error as ServiceError, { topic: at.topic, payload: body });
      return;
    }
    // What was received before is known already.
    if (heardAt === undefined) {
      this.#seen.note(at, Date.now(), retained);
    }
    this.#hand(listener, report, at.topic, payload, heardAt);
  }

  /** Copies are made before anything is given away: a receiver may change its report at once. */
  #share(
    subscribers: readonly Subscriber[],
    at: ReportTopic,
    body: unknown,
    retained: boolean,
    payload: Buffer,
  ): void {
    const reports: Report[] = [];
    try {
      const originals = new Map<boolean, Report>();
      for (const { decode } of subscribers) {
        const original = originals.get(decode);
        if (original) {
          reports.push(copyReport(original));
        } else {
          const first = readReport(at, body, this.#catalogue, decode, retained);
          // Both variants hold the nested values of the same body.
          reports.push(originals.size === 0 ? first : copyReport(first));
          originals.set(decode, first);
        }
      }
    } catch {
      for (const subscriber of subscribers) {
        this.#give(subscriber, at, body, retained, payload);
      }
      return;
    }
    this.#seen.note(at, Date.now(), retained);
    for (const [i, { listener }] of subscribers.entries()) {
      this.#hand(listener, reports[i] as Report, at.topic, payload);
    }
  }

  #hand(listener: ReportListener, report: Report, topic: string, payload: Buffer, heardAt?: number): void {
    try {
      listener.report(report, topic, payload, heardAt);
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

/** The JSON of a payload, else its text. */
function bodyOf(payload: Buffer): unknown {
  const text = payload.toString();
  const parsed = parseJson(text);
  return parsed === undefined ? text : parsed;
}
