// The MQTT half of a service: connection, incoming reports, requests and acknowledgements put together.
import { inEnglish, type Phrase } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { BuiltRequest } from '../protocol/operations/index.ts';
import type { Topics } from '../protocol/topics.ts';
import type { MqttSettings } from '../settings.ts';
import { Connection } from './connection.ts';
import { ConnectionUsers } from './connection-users.ts';
import { type InboundHandlers, InboundQueue } from './inbound-queue.ts';
import { keptElsewhere } from './kept-elsewhere.ts';
import { PreviewConnection } from './preview-connection.ts';
import { type ReportHandler, ReportSubscriptions } from './report-subscriptions.ts';
import { createTransport } from './request-transport.ts';
import { type RequestOptions, Requests, type RequestTransport, type SendOptions } from './requests.ts';
import { type AcknowledgeOptions, SampleAcknowledgements } from './sample-acknowledgements.ts';
import { type GroupVerdict, SharedGroup } from './shared-group.ts';
import type { SignsOfLife } from './signs-of-life.ts';
import type { MqttState } from './state.ts';
import { SubscriptionBudget, type SubscriptionCounts } from './subscription-budget.ts';

export interface MqttClientEvents {
  /** The state has changed. */
  state(): void;
  /** The broker has granted or refused everything that is wanted by now. */
  settled?(): void;
  /** Reports go on after `pauseReports`. @param isReady false: nobody has called `resumeReports`, it took too long */
  resumed(isReady: boolean): void;
  /** Whether another client of this process needs the session that brokers keep for this one. */
  isSessionElsewhere?(): boolean;
  /** That one comes for it now. */
  yielded?(): void;
}

export class MqttClient {
  readonly #settings: MqttSettings;
  readonly #events: MqttClientEvents;
  readonly #log: Logger;
  readonly #connection: Connection;
  readonly #inbound: InboundQueue;
  readonly #handler: ReportHandler;
  readonly #reports: ReportSubscriptions;
  readonly #requests: Requests;
  readonly #acknowledgements: SampleAcknowledgements;
  readonly #transport: RequestTransport;
  readonly #users: ConnectionUsers;
  readonly #group: SharedGroup;
  readonly #budget: SubscriptionBudget;
  readonly #previews: PreviewConnection;
  /** Filters that the broker takes for them. */
  #maxPreviews = Number.POSITIVE_INFINITY;
  #lostReports = 0;
  #isUpdatePending = false;
  #subscribing = false;
  #isRenewing = false;
  #closed = false;

  constructor(
    settings: MqttSettings,
    topics: Topics,
    reports: ReportHandler,
    log: Logger,
    events: MqttClientEvents,
  ) {
    this.#settings = settings;
    this.#handler = reports;
    this.#events = events;
    this.#log = log;
    const handlers: InboundHandlers = {
      report: (topic, payload, retained, deferrable) =>
        this.#reports.deliver(topic, payload, retained, deferrable),
      response: (parsed, payload, retained, topic) => {
        if (!this.#requests.receive(parsed, payload, retained)) {
          this.#reports.unexpected(topic);
        }
      },
      resumed: (isReady) => {
        if (this.#users.yieldSession()) {
          events.yielded?.();
        }
        this.#applyFilters();
        this.#connection.subscriptions.hold(false);
        this.#connection.resumed();
        if (!reports.mayBeWanted) {
          this.#users.unsubscribeKept();
        }
        this.#reports.readOn();
        if (!isReady) {
          log.warn('the flows have not started in time: reports for nodes that are not there are lost');
        }
        events.resumed(isReady);
      },
      drained: () => {
        if (!this.#isReadingBlocked) {
          this.#connection.pings.unblocked();
        }
        this.#drained();
      },
      lost: (count) => this.#overloaded(count),
      failed: (topic, fault) => log.warn(`${topic}: ${String(fault)}`),
    };
    this.#inbound = new InboundQueue(topics, handlers, settings.maxWaitingBytes);
    this.#connection = new Connection(settings, log, {
      message: (topic, payload, qos, retained, done, deferrable) => {
        if (this.#group.isChecking && this.#group.receive(topic)) {
          done();
        } else {
          this.#inbound.receive(topic, payload, qos, retained, done, deferrable);
        }
      },
      subscribed: () => {
        const isOther = this.#reports.synced();
        this.#drained();
        this.#setSubscribing(false);
        if (isOther) {
          this.updateFilters();
        }
        if (!this.#isUpdatePending) {
          events.settled?.();
        }
        // What it asks for would come in the middle of a round of subscriptions.
        setImmediate(() => this.#group.synced());
        setImmediate(() => this.#requests.subscribed());
      },
      isBlocked: () => this.#isReadingBlocked,
      isPaused: () => this.#inbound.isPaused,
      underWay: () => this.#requests.underWay,
      ended: (mayForbidTopic) => this.#requests.lost(mayForbidTopic),
      session: (isPresent, limits) => {
        this.#budget.connected();
        this.#reports.sessionBegins(this.#connection.broker, isPresent);
        this.#requests.connected(limits);
        this.#group.connected(this.#connection.broker);
      },
      quota: (max) => this.#budget.limit(max),
      lowerQos: (max) => this.#requests.limitQos(max),
      refusing: (filter) => this.#reports.isWidened(filter) && this.#budget.wideRefused(filter),
      refused: () => this.#reports.judge() && this.#applyFiltersNow(),
      trying: (filter) => this.#reports.trying(filter) && this.#applyFiltersNow(),
      renewing: () => this.#renewing(),
      makingRoom: () => events.state(),
      isReportFilter: (filter) => this.#reports.has(filter),
      isCovering: (filter) => this.#reports.isCovering(filter),
      state: ({ name }) => {
        this.#subscribing ||= name !== 'connected';
        if (!this.#connection.connected) {
          this.#inbound.disconnected();
          this.#group.lost(name === 'closed');
        }
        this.#previews.setBeside(this.#connection.connected ? this.#connection.url : undefined);
        events.state();
        this.#requests.connectionChanged();
      },
    });
    this.#reports = new ReportSubscriptions(settings, topics, reports, this.#connection.subscriptions);
    this.#transport = createTransport(this.#connection, this.#inbound, () => this.#responseQos);
    this.#requests = new Requests(
      { maxInFlight: settings.maxInFlight, maxQueue: settings.maxQueue, qos: settings.requestQos },
      topics,
      this.#transport,
      (text) => log.warn(text),
    );
    this.#users = new ConnectionUsers(
      this.#connection,
      this.#requests,
      () => this.#inbound.isPaused,
      () => events.isSessionElsewhere?.() === true,
    );
    const send = this.#send.bind(this);
    this.#acknowledgements = new SampleAcknowledgements(
      settings.requestTimeout,
      send,
      this.#requests,
      this.#inbound,
    );
    this.#group = new SharedGroup(settings, topics, this.#transport, () => this.#groupTried());
    this.#budget = new SubscriptionBudget(settings, log, {
      changed: () => this.#applyFiltersNow(),
      shareResponses: (isShared, isTried) => this.#requests.shareFilter(isShared, isTried),
      isBlocked: (filter) => this.#connection.subscriptions.isBlocked(filter),
    });
    this.#previews = new PreviewConnection(settings, topics, {
      asks: () => this.#connection.lend(),
      asked: (isTaken) => this.#connection.takeBack(isTaken),
      message: (topic, payload, retained) => reports.deliverPreview(topic, payload, retained),
      changed: () => events.state(),
      quota: (max) => {
        this.#maxPreviews = max;
        this.updateFilters();
      },
    });
  }

  get state(): MqttState {
    const { state } = this.#connection;
    if (state.name !== 'connected' && state.name !== 'limited') {
      return state;
    }
    // Connected is when reports can arrive. What is refused may not be asked for any more, when flows run.
    if (this.#isUpdatePending || (this.#subscribing && state.name === 'connected')) {
      return { name: 'connecting', broker: state.broker };
    }
    if (state.name === 'limited') {
      return state;
    }
    if (this.#group.isPlain) {
      const refused = { reason: this.#plainGroup, refused: new Map(), isSettled: true };
      return { name: 'limited', broker: state.broker, ...refused };
    }
    return this.#lostReports === 0
      ? state
      : { name: 'overloaded', broker: state.broker, lost: this.#lostReports };
  }

  /** While more is asked for, what was granted before goes on coming, unless some of it makes room. */
  get hearsOn(): boolean {
    return this.#connection.connected && !this.#connection.subscriptions.makesRoom;
  }

  /** Keeps the connection up until the returned function is called; the first user opens it, the last one leaves. */
  attach(): () => void {
    return this.#users.attach();
  }

  /** Whether somebody keeps the connection up. */
  get isUsed(): boolean {
    return this.#users.areThere;
  }

  /** Call when `filters` of the report handler may have changed. Nodes come and go by the hundred: one update serves all. */
  updateFilters(): void {
    if (this.#isUpdatePending || this.#closed) {
      return;
    }
    this.#isUpdatePending = true;
    setImmediate(() => {
      // While paused, nodes that were removed are about to come back: their filters stay.
      if (this.#isUpdatePending && !this.#inbound.isPaused) {
        this.#applyFilters();
      }
    });
  }

  /** @returns the parsed body of the response */
  request(request: BuiltRequest, options: RequestOptions): Promise<unknown> {
    const since = this.#connection.awaySince(options.since);
    return this.#send(request, options, { trafficClass: 'request', awaitResponse: true, since });
  }

  /** See `SampleAcknowledgements.acknowledge`. */
  acknowledge<T>(
    request: BuiltRequest,
    sample: string,
    options: AcknowledgeOptions,
    read: (body: unknown) => T,
  ): Promise<T | undefined> {
    return this.#acknowledgements.acknowledge(request, sample, options, read);
  }

  /** Reports wait until `resumeReports`, at most 20 s: while flows are being replaced nobody would receive them. */
  pauseReports(): void {
    this.#inbound.pause();
    this.#connection.subscriptions.hold(true);
  }

  resumeReports(): void {
    this.#inbound.resume();
  }

  /** The filters of reports that the broker is asked for, without the group. */
  get reportFilters(): string[] {
    return this.#reports.wanted;
  }

  /** Whether no report comes by this filter: it is refused or not granted yet, or nothing is delivered to the group. */
  isUnheard(filter: string): boolean {
    return this.#group.isPlain || this.#reports.isUnheard(filter);
  }

  /** Why no report comes by these filters, of which the first is named; undefined: they come. */
  refusalOf(filters: readonly string[]): Phrase | undefined {
    return this.#reports.refusalOf(filters) ?? (this.#group.isPlain ? this.#plainGroup : undefined);
  }

  /** Whether the broker has refused a filter that people look through, or the connection for it. */
  isPreviewRefused(filter: string): boolean {
    return this.#previews.isRefused(filter);
  }

  /** Whether reports come by this filter, which flows want or people look through. */
  isGranted(filter: string): boolean {
    return this.#reports.isWanted(filter) ? !this.isUnheard(filter) : this.#previews.isGranted(filter);
  }

  /** How many subscriptions the nodes and the asked gateways need, and how many the broker has granted. */
  get subscriptions(): SubscriptionCounts {
    return {
      needed: this.#reports.needed + this.#requests.gateways,
      inUse: this.#connection.subscriptions.inUse,
      max: this.#budget.isLimited ? this.#budget.max : undefined,
    };
  }

  /** Milliseconds until the broker answered a ping; undefined when it did not in this time, or is not connected. */
  ping(maxMs: number): Promise<number | undefined> {
    return this.#connection.pings.measure(maxMs);
  }

  /** When the broker has shown that it is there. */
  get signs(): SignsOfLife {
    return this.#connection.pings.signs;
  }

  /** Tries whether the broker knows a group, without being a member of it. @param maxMs then it is `unknown` */
  tryGroup(group: string, maxMs: number): Promise<GroupVerdict> {
    return this.#group.try(group, maxMs);
  }

  /** Asks for the responses of a gateway, as a request does. @param settled whether the broker refuses them */
  tryResponses(filter: string, settled: (refused: boolean) => void): void {
    this.#transport.ensureFilter(filter, settled);
  }

  get #plainGroup(): Phrase {
    return { key: 'reason.plainGroup', values: { group: this.#settings.sharedGroup } };
  }

  get isPaused(): boolean {
    return this.#inbound.isPaused;
  }

  /** @param goesOnAt see `Session.close`: a broker must not go on collecting for a session to which nobody comes back */
  async close(goesOnAt?: readonly string[]): Promise<void> {
    this.#closed = true;
    this.#users.close();
    this.#requests.close();
    this.#budget.close();
    const connectedTo = this.#connection.connected ? this.#connection.url : undefined;
    const leaveOthers = keptElsewhere(this.#settings, connectedTo, this.#log, goesOnAt);
    const passing = leaveOthers ? this.#connection.subscriptions.takeAll() : this.#requests.filters();
    const closed = Promise.all([this.#connection.close(passing), this.#previews.close()]);
    // Not before: the client reads on then, and what it reads must not be taken any more.
    this.#inbound.discard();
    await closed;
    await leaveOthers?.();
  }

  /** A request brings the connection up too, and keeps it up until it has ended. */
  #send(
    request: BuiltRequest,
    { signal, timeout = this.#settings.requestTimeout }: RequestOptions,
    handling: Pick<SendOptions, 'trafficClass' | 'awaitResponse' | 'sent' | 'delivered' | 'since'>,
  ): Promise<unknown> {
    this.#users.open();
    const response = this.#requests.send(request, { signal, timeout, ...handling });
    this.#users.leaveWhenIdle();
    return response;
  }

  #applyFilters(): void {
    this.#isUpdatePending = false;
    if (this.#closed) {
      return;
    }
    if (!this.#inbound.isPaused) {
      this.#connection.subscriptions.keep(this.#handler.mayBeWanted);
    }
    this.#connection.subscriptions.changeQos(this.#requests.filters(), this.#responseQos);
    if (this.#reports.apply(this.#budget.maxReportFilters, (filter) => this.#budget.avoids(filter))) {
      this.#setSubscribing(true);
    }
    this.#previews.apply(this.#handler.previewFilters(this.#maxPreviews));
    if (!this.#inbound.isPaused && this.#handler.decide()) {
      // What is asked for with a lower QoS meanwhile is asked for as it should be.
      this.updateFilters();
    }
  }

  /**
   * A broker keeps what has a QoS of 1 for a session that is away: others' responses would fill its queue. And behind
   * reports that flows have not confirmed it would keep them from us.
   */
  get #responseQos(): 0 | 1 | 2 {
    return this.#settings.persistent || this.#handler.isConfirming ? 0 : this.#settings.requestQos;
  }

  /** A message was not taken yet, or as many reports are open as may be: nothing more is read. */
  get #isReadingBlocked(): boolean {
    return this.#inbound.isBlocked || this.#handler.isFull;
  }

  /** At once, so that no refusal is told of a filter that is not needed any more. */
  #applyFiltersNow(): void {
    if (this.#inbound.isPaused) {
      this.updateFilters();
    } else {
      this.#applyFilters();
    }
  }

  /** What waits in line is to be sent when they are granted again, and to end when they are not: all of it at once. */
  #renewing(): void {
    if (this.#isRenewing) {
      return;
    }
    this.#isRenewing = true;
    setImmediate(() => {
      this.#isRenewing = false;
      this.#requests.connectionChanged();
    });
  }

  #drained(): void {
    if (this.#inbound.isEmpty) {
      this.#reports.drained();
    }
  }

  #groupTried(): void {
    if (this.#group.isPlain) {
      this.#log.warn(inEnglish(this.#plainGroup));
    }
    this.#events.state();
  }

  #setSubscribing(subscribing: boolean): void {
    this.#subscribing = subscribing;
    this.#events.state();
  }

  #overloaded(lost: number): void {
    if (lost > 0 && this.#lostReports === 0) {
      this.#log.warn('reports arrive faster than the flows take them: the oldest of QoS 0 are lost');
    } else if (lost === 0) {
      this.#log.warn(`the flows keep up again; ${this.#lostReports} reports of QoS 0 were lost`);
    }
    this.#lostReports = lost;
    this.#events.state();
  }
}
