// The way of a report from the broker to its receivers: whether it is a copy, who gets it, and what is kept until it is confirmed.

import { performance } from 'node:perf_hooks';
import { TopicCache } from '../collections/topic-cache.ts';
import type { Logger } from '../log.ts';
import { KnownPlace } from '../network/known-place.ts';
import type { NetworkState } from '../network/network-state.ts';
import type { Catalogue } from '../protocol/catalogue.ts';
import type { Deferrable, Outcome } from '../protocol/deferral.ts';
import type { FilterVerdicts } from '../protocol/filter-verdicts.ts';
import { isOddOfItsKind, type ReportTopic } from '../protocol/reports/index.ts';
import type { Topics } from '../protocol/topics.ts';
import { Copies } from './copies.ts';
import { Dispatch } from './dispatch.ts';
import { Legacies } from './legacies.ts';
import { type Message, type NameOf, readTopic } from './message.ts';
import { type Known, OpenReports } from './open-reports.ts';
import { type Receiver, Receivers, type ReportListener, takersOf } from './receivers.ts';
import type { CompiledCriteria } from './report-filter.ts';
import { RequestedFilters } from './requested-filters.ts';
import { WaitingNodes } from './waiting-nodes.ts';

/** What a service knows of copies that the broker has still to send. */
interface Legacy {
  /** Its address. */
  broker: string;
  copies: Copies;
}

const LEFT = new Legacies<Legacy>();

/** To look for the oldest of very many open reports takes a while. */
const LOOK_MS = 100;

/** A topic taken apart, and who gets its reports. */
interface TopicRoute {
  at: ReportTopic;
  receivers: readonly Receiver[];
  /** A flow is among them. */
  isWanted: boolean;
  /** How many subscriptions at the broker match it. */
  copies: number;
  /** False: so many at most. */
  isCertain: boolean;
  /** Of the previews that ask for it. */
  received: readonly (() => void)[];
  /** What is asked for flows brings it. */
  isRequested: boolean;
  /** Where the network records them. */
  place: KnownPlace;
}

/** One subscriber's place among the others. */
export interface Subscription {
  /** Delivers messages that were received before to this subscriber alone, where they pass its filter. */
  replay(messages: readonly Message[]): void;
  remove(): void;
}

interface ReportOptions {
  /** Whether reports are subscribed as a member of a shared group. */
  isShared?: boolean;
  /** False: two subscriptions that match the same topic are avoided, since their copies would not be recognised. */
  mayCross?: boolean;
  /** See `OpenReports`. */
  keptSessions?: readonly string[];
  now?: () => number;
  /** The name of a gateway or a device, where one is known; undefined: reports carry no names. */
  nameOf?: NameOf | undefined;
  /** While flows are replaced, nothing is sent to them again. */
  isPaused?: () => boolean;
}

export class Reports {
  /** What flows have not confirmed yet. */
  readonly open: OpenReports;
  readonly #waiting: WaitingNodes;
  readonly #isShared: boolean;
  readonly #topics: Topics;
  readonly #requested: RequestedFilters;
  readonly #receivers: Receivers;
  readonly #dispatch = new Dispatch<Receiver>();
  readonly #routes = new TopicCache<TopicRoute>();
  #copies: Copies;
  readonly #keptSessions: readonly string[];
  readonly #now: () => number;
  /** When the broker had granted what it was asked for last, in milliseconds of `performance.now()`. */
  #grantedAt: number | undefined;
  /** In milliseconds of `performance.now()`. */
  #nextLookAt = 0;
  readonly #nameOf: NameOf | undefined;
  readonly #hasCaughtUp = (since: number): boolean => this.open.hasCaughtUp(since);
  #lastBroker = '';

  constructor(
    topics: Topics,
    catalogue: Catalogue,
    network: NetworkState,
    log: Logger,
    {
      isShared = false,
      mayCross = true,
      keptSessions = [],
      now = () => performance.now(),
      nameOf,
      isPaused = () => false,
    }: ReportOptions = {},
  ) {
    this.#receivers = new Receivers({ catalogue, network, log, now });
    const abandoned = (owner: string, count: number) =>
      log.warn(
        `${count} reports that were not acknowledged are given up: node ${owner} does not wait for them any more`,
      );
    this.open = new OpenReports(isPaused, (fault) => this.#receivers.failed(fault), abandoned, {
      ...{ keptSessions, now },
    });
    this.#waiting = new WaitingNodes(log);
    this.#isShared = isShared;
    this.#requested = new RequestedFilters(topics, isShared, mayCross);
    this.#copies = new Copies(now);
    this.#topics = topics;
    this.#keptSessions = keptSessions;
    this.#now = now;
    this.#nameOf = nameOf;
  }

  /** @param isPreview true: receive what others subscribe to, without asking the broker for anything */
  add(filter: CompiledCriteria, decode: boolean, listener: ReportListener, isPreview = false): Subscription {
    const target = { listener, decode, isPreview };
    const remove = this.#dispatch.add({ ...filter.route, target });
    this.#routes.clear();
    if (!isPreview) {
      this.#requested.add(target, filter.topicFilters);
    }
    return {
      replay: (messages) => this.#replay(target, messages),
      remove: () => {
        remove();
        this.#routes.clear();
        this.#requested.delete(target);
      },
    };
  }

  /** See `Session.waitFor`. A session that ends with the connection has nothing for it. */
  addWaiting(owner: string, confirms: boolean): () => void {
    if (!confirms) {
      this.open.abandon(owner);
    }
    return this.#keptSessions.length > 0 ? this.#waiting.add(owner) : () => {};
  }

  /** Nobody asks for reports, but a node that cannot work may. The others of a group are to have what comes there. */
  get mayBeWanted(): boolean {
    return this.#waiting.areThere && !this.#requested.areThere && !this.#isShared;
  }

  /**
   * Asks for reports for people who look at them; a subscriber with `isPreview` shows them.
   * @param received called for each message that matches what is asked for
   * @returns ends it
   */
  addPreview({ topicFilters }: CompiledCriteria, received = (): void => {}): () => void {
    const remove = this.#requested.addPreview(topicFilters, received);
    this.#routes.clear();
    return () => {
      remove();
      this.#routes.clear();
    };
  }

  /** What is remembered of topics has the names that were known then. */
  namesChanged(): void {
    this.#routes.clear();
  }

  /** See `RequestedFilters.mayBring`. */
  mayBring(gateway: string, device: string | undefined): boolean {
    return this.#requested.mayBring(gateway, device);
  }

  /** Tells of a device whether flows ask for any reports of it. */
  get wantedDevices(): (device: string) => boolean {
    return this.#requested.wantedDevices;
  }

  /** How many topic filters serve all subscribers, where the broker has no limit. */
  get needed(): number {
    return this.#requested.needed;
  }

  /**
   * The topic filters that serve all subscribers. From now on reports are expected by these.
   * @param max 1 or more; what they bring beyond the subscribers' wishes is filtered here
   */
  filters(max = Number.POSITIVE_INFINITY, verdicts?: FilterVerdicts): string[] {
    const { filters, isOther } = this.#requested.choose(max, verdicts);
    if (isOther) {
      this.#grantedAt = undefined;
      this.#nextLookAt = 0;
      this.#copies.changed();
      this.#routes.clear();
    }
    return filters;
  }

  /** The topic filters that serve previews beside those that `filters` returned last. @param max 1 or more */
  previewFilters(max = Number.POSITIVE_INFINITY): string[] {
    return this.#requested.choosePreviews(max);
  }

  /** Whether a filter of those that `filters` returned last takes the place of narrower ones. */
  isWidened(filter: string): boolean {
    return this.#requested.isWidened(filter);
  }

  /** Whether a filter of those that `filters` returned last covers narrower wants. */
  isCovering(filter: string): boolean {
    return this.#requested.isCovering(filter);
  }

  /**
   * The filters, of those that `filters` returned last, by which reports come that a subscriber asks for; the cost is that
   * of its own filters.
   * @param criteria undefined: it asks for none
   */
  serving(criteria: Pick<CompiledCriteria, 'topicFilters'> | undefined): string[] {
    return this.#requested.serving(criteria?.topicFilters ?? []);
  }

  /** The connection is a new one. @param broker its address */
  connected(broker: string, isSessionPresent: boolean): void {
    this.open.connected(broker, isSessionPresent);
    // Also where the broker has lost the session: later it would be taken for what came since.
    const left = LEFT.take(this.#keptSessions);
    if (left && isSessionPresent) {
      this.#copies = left.copies;
      this.#lastBroker = left.broker;
    }
    this.#requested.connected();
    this.#grantedAt = undefined;
    this.#nextLookAt = 0;
    this.#copies.connected(broker === this.#lastBroker, isSessionPresent);
    this.#lastBroker = broker;
  }

  /**
   * The connection is left. The service that comes for the same session, if there is one, knows which copies the broker
   * has still to send.
   */
  handOver(): void {
    this.#waiting.close();
    for (const received of this.open.unconfirmed) {
      this.#copies.forget(received);
    }
    this.open.handOver();
    if (this.#keptSessions.length > 0 && this.#lastBroker !== '') {
      LEFT.leave(this.#keptSessions, { broker: this.#lastBroker, copies: this.#copies });
      // Once: whoever comes for it learns more.
      this.#copies = new Copies(this.#now);
      this.#lastBroker = '';
    }
  }

  get isConfirming(): boolean {
    return this.open.isConfirming;
  }

  /** See `OpenReports.isFull`. */
  get isFull(): boolean {
    return this.open.isFull;
  }

  /** What has waited here while flows were replaced comes now. */
  readOn(): void {
    this.open.readOn();
  }

  /** See `OpenReports.hasCaughtUp`. */
  hasCaughtUp(since: number): boolean {
    return this.open.hasCaughtUp(since);
  }

  /** What is delivered from now on came by the present subscriptions. */
  settled(): void {
    this.#grantedAt ??= this.#now();
    this.#settleWhenCaughtUp(this.#grantedAt);
  }

  /** @param grantedAt what the broker had for us before that may match subscriptions that are no more */
  #settleWhenCaughtUp(grantedAt: number): void {
    const now = this.#now();
    if (this.#requested.isSettled || now < this.#nextLookAt) {
      return;
    }
    this.#nextLookAt = now + LOOK_MS;
    if (this.open.hasCaughtUp(grantedAt)) {
      this.#requested.settled();
      this.#routes.clear();
    }
  }

  /**
   * Takes a message of a report topic.
   * @param isLeftover asked of a message that is the same as the one before and comes more often than there are
   *   subscriptions for it: whether one that is no more, or of an earlier process, has brought it; undefined: there is none
   * @param deferrable lets it be acknowledged later; undefined: it cannot be
   */
  deliver(
    topic: string,
    payload: Buffer,
    retained: boolean,
    isLeftover?: (topic: string) => boolean,
    deferrable?: Deferrable,
  ): Outcome {
    if (deferrable === undefined || (this.open.isUnused && !this.#waiting.areThere)) {
      return this.#deliver(topic, payload, retained, isLeftover);
    }
    if (this.#grantedAt !== undefined) {
      this.#settleWhenCaughtUp(this.#grantedAt);
    }
    const received = { topic, payload, retained, heardAt: this.#now() };
    return this.open.receive(received, deferrable, (known) =>
      this.#deliver(topic, payload, retained, isLeftover, known),
    );
  }

  #deliver(
    topic: string,
    payload: Buffer,
    retained: boolean,
    isLeftover?: (topic: string) => boolean,
    known: Known = 'new',
  ): Outcome {
    const route = this.#routes.get(topic) ?? this.#findRoute(topic);
    if (route === undefined) {
      return 'unwanted';
    }
    // What is asked for brings more than that, where filters are merged.
    if (!route.isWanted && !route.isRequested && known === 'new' && this.#waiting.areThere) {
      this.#receivers.call(route.receivers, route, payload, retained);
      return this.#keepUndecided();
    }
    if (route.receivers.length === 0) {
      return 'unwanted';
    }
    const { receivers, copies } = route;
    if (known === 'lost') {
      this.#copies.recognised(topic, payload, copies);
    }
    // What the present connection brings once more comes in between what is new, and tells nothing of that.
    if (known !== 'new') {
      return 'delivered';
    }
    const isCertain = route.isCertain && this.#requested.isSettled;
    const isSame = isLeftover !== undefined && !retained && this.#copies.isRepeat(topic, payload);
    if (isSame && (copies < 2 || !this.#copies.isAwaited(topic, payload)) && isLeftover(topic)) {
      return 'repeat';
    }
    const mayBeCopy = this.#requested.mayOverlap;
    if (mayBeCopy && this.#copies.isCopy(topic, payload, copies, retained, isCertain, this.#hasCaughtUp)) {
      return 'copy';
    }
    this.#receivers.call(receivers, route, payload, retained);
    return 'delivered';
  }

  /**
   * What no node asks for may be meant for one that cannot work. It stays at the broker where none asks for any: one that
   * has sent as many as it may would send the others nothing more.
   */
  #keepUndecided(): Outcome {
    if (
      this.mayBeWanted &&
      this.#waiting.mayKeep(this.open.undecided, this.open.bytes) &&
      this.open.keepUndecided()
    ) {
      this.#waiting.kept();
      return 'delivered';
    }
    this.#waiting.lost(1);
    return 'unwanted';
  }

  /**
   * Flows run, and may ask for reports that nobody did: what was kept until then is theirs, or nobody's.
   * @returns whether there was any
   */
  decide(): boolean {
    const isDue = this.open.undecided > 0 && !this.mayBeWanted;
    if (isDue) {
      const unwanted = this.open.decide((message) => this.#offer(message));
      if (this.#waiting.areThere) {
        this.#waiting.lost(unwanted);
      }
    }
    return isDue;
  }

  /** @returns whether a node asks for it */
  #offer({ topic, payload, retained }: Message): boolean {
    const route = this.#routes.get(topic) ?? this.#findRoute(topic);
    if (!route?.isWanted) {
      return false;
    }
    const { copies, receivers } = route;
    // Subscriptions of an earlier process have brought it, and may cross where those of now do not.
    const isCopy =
      this.#copies.isRepeat(topic, payload) ||
      (this.#requested.mayOverlap &&
        this.#copies.isCopy(topic, payload, copies, retained, false, this.#hasCaughtUp));
    if (!isCopy) {
      // Previews had it when it came.
      const flows = receivers.filter(({ isPreview }) => !isPreview);
      this.#receivers.call(flows, route, payload, retained);
    }
    return true;
  }

  /**
   * Takes a message of a report topic that came by `previewFilters`: for previews alone, and only where the flows'
   * connection does not bring it. What is retained comes there only once, so that previews have it from here.
   */
  deliverPreview(topic: string, payload: Buffer, retained: boolean): void {
    const route = this.#routes.get(topic) ?? this.#findRoute(topic);
    if (route === undefined) {
      return;
    }
    for (const count of route.received) {
      count();
    }
    if (!route.isRequested || retained) {
      const previews = route.receivers.filter(({ isPreview }) => isPreview);
      this.#receivers.call(previews, route, payload, retained);
    }
  }

  /** What the topic of a report says; undefined for that of anything else. */
  placeOf(topic: string): ReportTopic | undefined {
    return this.#routes.get(topic)?.at ?? readTopic(this.#topics, topic, this.#nameOf);
  }

  #findRoute(topic: string): TopicRoute | undefined {
    const at = readTopic(this.#topics, topic, this.#nameOf);
    if (at === undefined) {
      return undefined;
    }
    const { gateway, device, segment, identifier = '' } = at;
    const place = { gateway, device, segment, identifier };
    const copies = this.#requested.countOf(place);
    const isCertain = !isOddOfItsKind(at) && this.#requested.isCertain(place);
    const received = this.#requested.previewsOf(place);
    const matching = this.#dispatch.match(at);
    const receivers = takersOf(matching);
    const isWanted = matching.some(({ isPreview }) => !isPreview);
    const isRequested = this.#requested.isWanted(place);
    const known = { at, receivers, isWanted, copies, isCertain, received, isRequested };
    const route = { ...known, place: new KnownPlace() };
    this.#routes.set(topic, route);
    return route;
  }

  #replay(target: Receiver, messages: readonly Message[]): void {
    for (const { topic, payload, retained, heardAt } of messages) {
      const route = this.#routes.get(topic) ?? this.#findRoute(topic);
      if (route?.receivers.includes(target)) {
        this.#receivers.replay(target, { at: route.at, isWanted: true }, payload, retained, heardAt);
      }
    }
  }
}
