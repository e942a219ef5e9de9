// The MQTT half of a service: connection, reports, requests and acknowledgements put together.
import type { Logger } from '../log.ts';
import type { Catalogue } from '../protocol/identifiers.ts';
import { type BuiltRequest, buildAck } from '../protocol/operations/index.ts';
import { createTopics } from '../protocol/topics.ts';
import type { Seen } from '../seen.ts';
import type { MqttSettings } from '../settings.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { Connection } from './connection.ts';
import { Intake } from './intake.ts';
import { Leftovers } from './leftovers.ts';
import type { Lane } from './outbox.ts';
import type { ReadFilter } from './report-filter.ts';
import { type ReportListener, Reports } from './reports.ts';
import { Requests } from './requests.ts';
import type { MqttState } from './state.ts';

/** A redeploy takes the last user away and brings it back a moment later: the connection waits that long. */
const LINGER = 1_000;

export interface GatewayEvents {
  /** The state has changed. */
  state(): void;
}

export interface RequestOptions {
  signal: AbortSignal;
  /** Milliseconds; the service's `requestTimeout` when left out. */
  timeout?: number | undefined;
}

export class Gateways {
  readonly #settings: MqttSettings;
  readonly #events: GatewayEvents;
  readonly #log: Logger;
  readonly #connection: Connection;
  readonly #intake: Intake;
  readonly #reports: Reports;
  readonly #requests: Requests;
  readonly #acknowledgements = new Acknowledgements();
  #subscribed = new Set<string>();
  #lost = 0;
  #planned = false;
  #subscribing = false;
  #users = 0;
  #linger: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(settings: MqttSettings, catalogue: Catalogue, seen: Seen, log: Logger, events: GatewayEvents) {
    this.#settings = settings;
    this.#events = events;
    this.#log = log;
    const topics = createTopics(settings.topicPrefix);
    const leftovers = new Leftovers(topics);
    this.#reports = new Reports(topics, catalogue, seen, log);
    this.#intake = new Intake(topics, {
      report: (topic, payload, retained) => {
        const isWanted = this.#reports.deliver(topic, payload, retained);
        if (!isWanted && settings.persistent) this.#takeBack(leftovers.filtersOf(topic));
      },
      response: (topic, payload, retained) => this.#requests.receive(topic, payload, retained),
      released: () => this.#plan(),
      lost: (count) => this.#overloaded(count),
    });
    this.#connection = new Connection(settings, log, {
      message: (topic, payload, qos, retained, done) =>
        this.#intake.take(topic, payload, qos, retained, done),
      subscribed: () => this.#setSubscribing(false),
      state: ({ name }) => {
        if (name !== 'connected') this.#subscribing = true;
        events.state();
        this.#requests.connectionChanged();
      },
    });
    this.#requests = new Requests(
      { maxInFlight: settings.maxInFlight, maxQueue: settings.maxQueue, qos: settings.requestQos },
      topics,
      this.#transport(),
    );
  }

  get state(): MqttState {
    const { state } = this.#connection;
    if (state.name !== 'connected') return state;
    // Connected is when reports can arrive.
    if (this.#subscribing || this.#planned) return { name: 'connecting', broker: state.broker };
    return this.#lost === 0 ? state : { name: 'overloaded', broker: state.broker, lost: this.#lost };
  }

  /** Keeps the connection up until the returned function is called; the first user opens it, the last one leaves. */
  attach(): () => void {
    this.#users++;
    clearTimeout(this.#linger);
    this.#open();
    let attached = true;
    return () => {
      if (!attached) return;
      attached = false;
      this.#users--;
      this.#leaveSoon();
    };
  }

  /** @param passive true: take part in what others subscribe to, without wanting anything from the broker */
  subscribe(filter: ReadFilter, decode: boolean, listener: ReportListener, passive = false): () => void {
    const detach = this.attach();
    const remove = this.#reports.add(filter, decode, listener, passive);
    this.#planSoon();
    return () => {
      remove();
      detach();
      this.#planSoon();
    };
  }

  /** @returns the parsed body of the answer */
  request(request: BuiltRequest, options: RequestOptions): Promise<unknown> {
    return this.#send(request, options, 'request', true);
  }

  /**
   * Acknowledges a timestamped sample (assumed: beyond the interface), at most once a minute unless it failed.
   * @param wait false: resolves when the broker has it, without an answer
   * @returns what `read` made of the parsed body of the answer, undefined without `wait`
   */
  async acknowledge<T>(
    sample: Record<string, unknown>,
    options: RequestOptions & { wait: boolean },
    read: (request: BuiltRequest, body: unknown) => T,
  ): Promise<T | undefined> {
    const { ackOperation, ackDecodedOperation, ackPayload } = this.#settings;
    const request = buildAck(sample, { raw: ackOperation, decoded: ackDecodedOperation }, ackPayload);
    const { gateway, device, suffix } = request;
    const outcome = await this.#acknowledgements.once(
      `${gateway}/${device}/${suffix}/${String(sample.time)}`,
      async () => {
        const body = await this.#send(request, options, 'ack', options.wait);
        return options.wait ? read(request, body) : undefined;
      },
    );
    return outcome as T | undefined;
  }

  /** Reports wait until `release`, at most 10 s: while flows are being replaced nobody would receive them. */
  hold(): void {
    this.#intake.hold();
  }

  release(): void {
    this.#intake.release();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#linger);
    this.#intake.drop();
    this.#requests.close();
    await this.#connection.close();
  }

  #open(): void {
    if (!this.#closed) this.#connection.open();
  }

  /** A request brings the connection up too, and keeps it up until it has ended. */
  #send(
    request: BuiltRequest,
    { signal, timeout = this.#settings.requestTimeout }: RequestOptions,
    lane: Lane,
    awaitAnswer: boolean,
  ): Promise<unknown> {
    this.#open();
    const answer = this.#requests.send(request, { signal, timeout, lane, awaitAnswer });
    this.#leaveSoon();
    return answer;
  }

  #leaveSoon(): void {
    if (this.#users > 0 || this.#closed) return;
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => {
      if (this.#requests.idle) void this.#leave();
      else this.#leaveSoon();
    }, LINGER);
  }

  async #leave(): Promise<void> {
    await this.#connection.leave();
    if (this.#users > 0 || !this.#requests.idle) this.#open();
  }

  /** Nodes come and go by the hundred during a deploy: one plan serves them all. */
  #planSoon(): void {
    if (this.#planned || this.#closed) return;
    this.#planned = true;
    setImmediate(() => {
      // While held, nodes that were removed are about to come back: their filters stay.
      if (this.#planned && !this.#intake.held) this.#plan();
    });
  }

  #plan(): void {
    this.#planned = false;
    if (this.#closed) return;
    const share = this.#share;
    const wanted = new Set(this.#reports.filters().map((filter) => share + filter));
    if ([...wanted].some((filter) => !this.#subscribed.has(filter))) this.#setSubscribing(true);
    const stale = [...this.#subscribed].filter((filter) => !wanted.has(filter));
    this.#subscribed = wanted;
    this.#connection.subscriptions.change(wanted, this.#settings.reportQos, stale);
  }

  #setSubscribing(subscribing: boolean): void {
    this.#subscribing = subscribing;
    this.#events.state();
  }

  get #share(): string {
    const { sharedGroup } = this.#settings;
    return sharedGroup === '' ? '' : `$share/${sharedGroup}/`;
  }

  #takeBack(filters: string[]): void {
    if (filters.length > 0)
      this.#connection.subscriptions.takeBack(filters.map((filter) => this.#share + filter));
  }

  #overloaded(lost: number): void {
    if (lost > 0 && this.#lost === 0) {
      this.#log.warn('reports arrive faster than the flows take them: the oldest of QoS 0 are lost');
    } else if (lost === 0) {
      this.#log.warn(`the flows keep up again; ${this.#lost} reports of QoS 0 were lost`);
    }
    this.#lost = lost;
    this.#events.state();
  }

  #transport() {
    const connection = this.#connection;
    const { requestQos } = this.#settings;
    return {
      get connected() {
        return connection.connected;
      },
      get broker() {
        return connection.broker;
      },
      publish: connection.publish.bind(connection),
      isFilterActive: (filter: string) => connection.subscriptions.isActive(filter),
      ensureFilter(filter: string, settled: (refused: boolean) => void) {
        connection.subscriptions.change([filter], requestQos);
        connection.subscriptions.whenSettled(filter, settled);
      },
    };
  }
}
