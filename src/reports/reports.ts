// Subscribers of reports: one parse per message, an own report for each, faults kept apart.

import { TopicCache } from '../collections/topic-cache.ts';
import type { ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { NetworkState } from '../network/network-state.ts';
import type { Catalogue } from '../protocol/catalogue.ts';
import type { Deferrable } from '../protocol/deferral.ts';
import { copyReport, type Report, type ReportTopic, readReport } from '../protocol/reports/index.ts';
import type { TopicFilterParts, Topics } from '../protocol/topics.ts';
import { Copies } from './copies.ts';
import { Dispatch } from './dispatch.ts';
import { bodyOf, type Message, type NameOf, readTopic } from './message.ts';
import { OpenReports } from './open-reports.ts';
import type { CompiledCriteria } from './report-filter.ts';
import { limitTopicFilters, mergeTopicFilters, TopicFilterIndex } from './topic-filters.ts';

/** A broker sends retained reports when a filter is subscribed, one after the other; so long after the last it is done. */
const RETAINED_END_MS = 10_000;
/** Deploys while the broker is away change what is asked for again and again. */
const MAX_EXPECTED_BEFORE = 10_000;

export interface ReportListener {
  /** It never changes a report, and shares one with others that do not either: a copy for each would cost more than they do. */
  readsOnly?: true;
  /**
   * The report is the listener's own, unless it only reads.
   * @param payload as it was received; it keeps more memory alive than its own length
   * @param heardAt in milliseconds of `performance.now()`; undefined: just now
   */
  report(report: Report, topic: string, payload: Buffer, heardAt?: number): void;
  /** `BAD_REPORT`: a message on a wanted topic that cannot be read; `payload` is its JSON, else its text. */
  error(error: ServiceError, message: { topic: string; payload: unknown }): void;
}

interface Receiver {
  listener: ReportListener;
  decode: boolean;
  /** It only shows reports to people. */
  isPreview: boolean;
}

/** A topic taken apart, and who gets its reports. */
interface TopicRoute {
  at: ReportTopic;
  receivers: readonly Receiver[];
  /** A flow is among them. */
  isWanted: boolean;
  /** How many subscriptions at the broker match it. */
  copies: number;
  /** Of the previews that may have brought it. */
  received: readonly (() => void)[];
}

interface PreviewRequest {
  topicFilters: TopicFilterParts[];
  index: TopicFilterIndex;
  received: () => void;
}

/**
 * `copy`: the broker sends it for each of several subscriptions, and it was delivered already; `repeat`: the same as
 * the message before, though only one subscription is known that brings it; not delivered. `kept`: it is not to be
 * acknowledged, that happens later.
 */
export type Delivery = 'delivered' | 'kept' | 'unwanted' | 'copy' | 'repeat';

/** One subscriber's place among the others. */
export interface Subscription {
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

interface ReportOptions {
  /** Whether reports are subscribed as a member of a shared group. */
  isShared?: boolean;
  now?: () => number;
  /** The name of a gateway or a device, where one is known; undefined: reports carry no names. */
  nameOf?: NameOf | undefined;
  /** While flows are replaced, nothing is sent to them again. */
  isPaused?: () => boolean;
}

export class Reports {
  /** What flows have not confirmed yet. */
  readonly open: OpenReports;
  readonly #topics: Topics;
  readonly #catalogue: Catalogue;
  readonly #network: NetworkState;
  readonly #log: Logger;
  readonly #dispatch = new Dispatch<Receiver>();
  readonly #routes = new TopicCache<TopicRoute>();
  readonly #topicFilters = new Map<object, TopicFilterParts[]>();
  readonly #previews = new Set<PreviewRequest>();
  readonly #copies = new Copies();
  readonly #isShared: boolean;
  readonly #now: () => number;
  readonly #nameOf: NameOf | undefined;
  /** What the broker was asked for last, and before that, as long as it may still send for it. */
  #expected: TopicFilterParts[] = [];
  #expectedBefore: TopicFilterParts[] = [];
  /** What flows asked for last. */
  #wanted = new TopicFilterIndex([]);
  #widened: ReadonlySet<string> = new Set();
  /** What flows and previews asked for last. */
  #asked = new TopicFilterIndex([]);
  /** The broker has granted what it was asked for, and all that it sent before was delivered. */
  #isSettled = false;
  /** Retained reports may come for the filters of flows until then, in milliseconds of `performance.now()`. */
  #retainedUntil = Number.POSITIVE_INFINITY;
  /** When the last preview ended. */
  #previewedAt = Number.NEGATIVE_INFINITY;
  /** Undefined while no two subscriptions can match the same topic. */
  #overlaps: TopicFilterIndex | undefined;

  constructor(
    topics: Topics,
    catalogue: Catalogue,
    network: NetworkState,
    log: Logger,
    { isShared = false, now = () => performance.now(), nameOf, isPaused = () => false }: ReportOptions = {},
  ) {
    this.open = new OpenReports(isPaused, (fault) => this.#receiverFailed(fault), { now });
    this.#isShared = isShared;
    this.#nameOf = nameOf;
    this.#now = now;
    this.#topics = topics;
    this.#catalogue = catalogue;
    this.#network = network;
    this.#log = log;
  }

  /** @param isPreview true: receive what others subscribe to, without asking the broker for anything */
  add(filter: CompiledCriteria, decode: boolean, listener: ReportListener, isPreview = false): Subscription {
    const target = { listener, decode, isPreview };
    const remove = this.#dispatch.add({ ...filter.route, target });
    this.#routes.clear();
    if (!isPreview) {
      this.#topicFilters.set(target, filter.topicFilters);
    }
    return {
      replay: (messages) => this.#replay(filter, target, messages),
      remove: () => {
        remove();
        this.#routes.clear();
        this.#topicFilters.delete(target);
      },
    };
  }

  /**
   * Asks for reports for people who look at them; a subscriber with `isPreview` shows them.
   * @param received called for each message that matches what is asked for
   * @returns ends it
   */
  addPreview({ topicFilters }: CompiledCriteria, received = (): void => {}): () => void {
    const request = { topicFilters, index: new TopicFilterIndex(topicFilters), received };
    this.#previews.add(request);
    this.#routes.clear();
    return () => {
      this.#previews.delete(request);
      this.#routes.clear();
      this.#previewedAt = this.#now();
    };
  }

  /** What is remembered of topics has the names that were known then. */
  namesChanged(): void {
    this.#routes.clear();
  }

  /** Tells of a device whether flows ask for any reports of it. */
  get wantedDevices(): (device: string) => boolean {
    const devices = new Set(Array.from(this.#topicFilters.values()).flatMap((wants) => wants.map(deviceOf)));
    return (device) => devices.has(undefined) || devices.has(device);
  }

  /** How many topic filters serve all subscribers, where the broker has no limit. */
  get needed(): number {
    return mergeTopicFilters([...this.#topicFilters.values()].flat(), !this.#isShared).length;
  }

  /**
   * The topic filters that serve all subscribers. From now on reports are expected by these.
   * @param max of both lists together, 1 or more; what they bring beyond the subscribers' wishes is filtered here
   * @param isAvoided whether a filter must not take the place of narrower ones: then these stay, however many
   */
  filters(
    max = Number.POSITIVE_INFINITY,
    isAvoided: (filter: string) => boolean = () => false,
  ): TopicFilters {
    const mayOverlap = !this.#isShared;
    const merged = mergeTopicFilters([...this.#topicFilters.values()].flat(), mayOverlap);
    const avoids = (parts: TopicFilterParts) => isAvoided(this.#topics.reportFilter(parts));
    const wants = limitTopicFilters(merged, max, mayOverlap, avoids);
    const wanted = new TopicFilterIndex(wants);
    const others = Array.from(this.#previews, ({ topicFilters }) => topicFilters).flat();
    // A member of a group gets no more than its share, so that nothing is looked at beyond it.
    const previews = this.#isShared ? [] : others.filter((want) => !wanted.covers(want));
    const left = max - wants.length;
    const previewed = left < 1 ? [] : limitTopicFilters(mergeTopicFilters(previews, true), left, true);
    this.#expect(wants, previewed);
    this.#wanted = wanted;
    const filters = {
      wanted: wants.map(this.#topics.reportFilter),
      previewed: previewed.map(this.#topics.reportFilter),
    };
    const narrow = new Set(merged.length > max ? merged.map(this.#topics.reportFilter) : filters.wanted);
    this.#widened = new Set(filters.wanted.filter((filter) => !narrow.has(filter)));
    this.#asked = new TopicFilterIndex([...wants, ...previewed]);
    return filters;
  }

  /** Whether a filter of those that `filters` returned last takes the place of narrower ones. */
  isWidened(filter: string): boolean {
    return this.#widened.has(filter);
  }

  /**
   * The filters, of those that `filters` returned last, by which reports come that a subscriber asks for; the cost is that
   * of its own filters.
   * @param criteria undefined: it asks for none
   */
  serving(criteria: Pick<CompiledCriteria, 'topicFilters'> | undefined): string[] {
    const own = criteria?.topicFilters ?? [];
    return own.flatMap((parts) => this.#asked.covering(parts).map((want) => this.#topics.reportFilter(want)));
  }

  /** The connection is a new one. */
  connected(isSameBroker: boolean, isSessionPresent = false): void {
    this.open.connected(isSessionPresent && isSameBroker);
    this.#isSettled = false;
    this.#retainedUntil = Number.POSITIVE_INFINITY;
    this.#copies.connected(isSameBroker);
  }

  get isConfirming(): boolean {
    return this.open.isConfirming;
  }

  /** See `OpenReports.isFull`. */
  get isFull(): boolean {
    return this.open.isFull;
  }

  /** What is delivered from now on came by the present subscriptions. */
  settled(): void {
    if (this.#isSettled) {
      return;
    }
    this.#isSettled = true;
    this.#retainedUntil = Math.min(this.#retainedUntil, this.#now() + RETAINED_END_MS);
    this.#expectedBefore = [];
    this.#findOverlaps();
  }

  /**
   * Takes a message of a report topic.
   * @param mayRepeat whether the broker may hold a subscription that is not known
   * @param deferrable lets it be acknowledged later; undefined: it cannot be
   */
  deliver(
    topic: string,
    payload: Buffer,
    retained: boolean,
    mayRepeat = false,
    deferrable?: Deferrable,
  ): Delivery {
    if (deferrable === undefined || this.open.isUnused) {
      return this.#deliver(topic, payload, retained, mayRepeat, false);
    }
    let delivery: Delivery = 'copy';
    const received = { topic, payload, retained, heardAt: this.#now() };
    const isKept = this.open.receive(received, deferrable, (isKnown) => {
      delivery = this.#deliver(topic, payload, retained, mayRepeat, isKnown);
      return delivery === 'delivered' || delivery === 'copy';
    });
    return isKept ? 'kept' : delivery;
  }

  /** @param isKnown flows have it already: only what is remembered of copies follows */
  #deliver(
    topic: string,
    payload: Buffer,
    retained: boolean,
    mayRepeat: boolean,
    isKnown: boolean,
  ): Delivery {
    const known = this.#routes.get(topic) ?? this.#findRoute(topic);
    if (known !== undefined && known.received.length > 0) {
      countReceived(known);
    }
    if (known === undefined || known.receivers.length === 0) {
      return 'unwanted';
    }
    const { receivers, copies } = known;
    if (this.#overlaps && this.#copies.isCopy(topic, payload, copies, retained, this.#isSettled)) {
      return 'copy';
    }
    if (mayRepeat && copies === 1 && !retained && this.#copies.isRepeat(topic, payload)) {
      return 'repeat';
    }
    if (isKnown) {
      return 'delivered';
    }
    this.#deliverTo(retained ? this.#receiversOfRetained(receivers) : receivers, known, payload, retained);
    return 'delivered';
  }

  /** What only a preview brings again is none of the flows' business: they had it when they subscribed. */
  #receiversOfRetained(subscribers: readonly Receiver[]): readonly Receiver[] {
    const now = this.#now();
    const isPreviewed = this.#previews.size > 0 || now - this.#previewedAt <= RETAINED_END_MS;
    if (!isPreviewed || now <= this.#retainedUntil) {
      this.#retainedUntil = Math.max(this.#retainedUntil, now + RETAINED_END_MS);
      return subscribers;
    }
    return subscribers.filter(({ isPreview }) => isPreview);
  }

  #deliverTo(subscribers: readonly Receiver[], route: TopicRoute, payload: Buffer, retained: boolean): void {
    const [first] = subscribers;
    if (!first) {
      return;
    }
    const body = bodyOf(payload);
    if (subscribers.length === 1) {
      this.#deliverOne(first, route, body, retained, payload);
    } else {
      this.#deliverToSeveral(subscribers, route, body, retained, payload);
    }
  }

  #expect(wants: readonly TopicFilterParts[], previews: readonly TopicFilterParts[]): void {
    const before = new TopicFilterIndex(this.#expected);
    const all = [...wants, ...previews];
    // What only a preview had is subscribed again for flows, which then get what the broker has retained.
    if (wants.some((want) => !this.#wanted.has(want))) {
      this.#retainedUntil = Number.POSITIVE_INFINITY;
      this.#isSettled = false;
    }
    if (all.length === this.#expected.length && all.every((want) => before.has(want))) {
      return;
    }
    this.#expectedBefore = [...this.#expectedBefore, ...this.#expected].slice(-MAX_EXPECTED_BEFORE);
    this.#expected = all;
    this.#isSettled = false;
    this.#findOverlaps();
    this.#copies.changed();
  }

  #findOverlaps(): void {
    const index = new TopicFilterIndex([...this.#expected, ...this.#expectedBefore]);
    const merged = mergeTopicFilters([...this.#expected, ...this.#expectedBefore], false);
    this.#overlaps = merged.length < index.size ? index : undefined;
    this.#routes.clear();
  }

  #findRoute(topic: string): TopicRoute | undefined {
    const at = readTopic(this.#topics, topic, this.#nameOf);
    if (at === undefined) {
      return undefined;
    }
    const { gateway, device, segment, identifier = '' } = at;
    const place = { gateway, device, segment, identifier };
    const copies = this.#overlaps?.count(place) ?? 1;
    const requests = Array.from(this.#previews).filter(({ index }) => index.count(place) > 0);
    const received = requests.map((request) => request.received);
    const receivers = this.#dispatch.match(at);
    const isWanted = receivers.some(({ isPreview }) => !isPreview);
    const route = { at, receivers, isWanted, copies, received };
    this.#routes.set(topic, route);
    return route;
  }

  #replay({ route }: CompiledCriteria, target: Receiver, messages: readonly Message[]): void {
    const own = new Dispatch<Receiver>();
    own.add({ ...route, target });
    for (const { topic, payload, retained, heardAt } of messages) {
      const at = readTopic(this.#topics, topic, this.#nameOf);
      if (at === undefined || own.match(at).length === 0) {
        continue;
      }
      this.#deliverOne(target, { at, isWanted: true }, bodyOf(payload), retained, payload, heardAt);
    }
  }

  #deliverOne(
    { listener, decode }: Receiver,
    { at, isWanted }: Pick<TopicRoute, 'at' | 'isWanted'>,
    body: unknown,
    retained: boolean,
    payload: Buffer,
    heardAt?: number,
  ): void {
    let report: Report;
    try {
      report = readReport(at, body, this.#catalogue, decode, retained);
    } catch (error) {
      this.#callErrorListener(listener, error as ServiceError, { topic: at.topic, payload: body });
      return;
    }
    // What was received before is known already.
    if (heardAt === undefined && !retained) {
      this.#network.record(at, this.#now(), report, isWanted);
    }
    this.#callListener(listener, report, at.topic, payload, heardAt);
  }

  /** Copies are made before anything is given away: a receiver may change its report at once. */
  #deliverToSeveral(
    subscribers: readonly Receiver[],
    route: TopicRoute,
    body: unknown,
    retained: boolean,
    payload: Buffer,
  ): void {
    const { at, isWanted } = route;
    const reports: Report[] = [];
    // As received and decoded, by `Number(decode)`.
    const originals: [Report?, Report?] = [undefined, undefined];
    const shared: [Report?, Report?] = [undefined, undefined];
    try {
      for (const { decode, listener } of subscribers) {
        const form = Number(decode) as 0 | 1;
        const readable = listener.readsOnly && shared[form];
        if (readable) {
          reports.push(readable);
          continue;
        }
        const original = originals[form];
        let report: Report;
        if (original) {
          report = copyReport(original);
        } else {
          const first = readReport(at, body, this.#catalogue, decode, retained);
          // Both forms hold the nested values of the same body.
          report = reports.length === 0 ? first : copyReport(first);
          originals[form] = first;
        }
        reports.push(report);
        if (listener.readsOnly) {
          shared[form] = report;
        }
      }
    } catch {
      for (const subscriber of subscribers) {
        this.#deliverOne(subscriber, route, body, retained, payload);
      }
      return;
    }
    if (!retained) {
      this.#network.record(at, this.#now(), originals[1] ?? reports[0], isWanted);
    }
    for (const [i, { listener }] of subscribers.entries()) {
      this.#callListener(listener, reports[i] as Report, at.topic, payload);
    }
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
      this.#receiverFailed(fault);
    }
  }

  #callErrorListener(
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

/** A function of its own: this happens only while somebody looks. */
function countReceived({ received }: TopicRoute): void {
  for (const count of received) {
    count();
  }
}

/** Undefined: of any device. */
const deviceOf = ({ device }: TopicFilterParts): string | undefined => device;
