// The MQTT half of a service: connection, reports, requests and acknowledgements put together.
import type { Logger } from '../log.ts';
import type { Catalogue } from '../protocol/identifiers.ts';
import { type BuiltRequest, buildAck } from '../protocol/operations/index.ts';
import { createTopics } from '../protocol/topics.ts';
import type { Seen } from '../seen.ts';
import type { MqttSettings } from '../settings.ts';
import { Acknowledgements, type Sending } from './acknowledgements.ts';
import { Connection } from './connection.ts';
import { Intake, type IntakeTargets } from './intake.ts';
import { Leftovers } from './leftovers.ts';
import type { ReadFilter } from './report-filter.ts';
import { type Membership, type ReportListener, Reports } from './reports.ts';
import { timedOut } from './request-errors.ts';
import { Requests, type SendOptions } from './requests.ts';
import type { MqttState } from './state.ts';

/** A redeploy takes the last user away and brings it back a moment later: the connection waits that long. */
const LINGER = 1_000;

/**
 * Whether a broker may hold subscriptions that this process does not know, by broker and client id: it does when it had
 * a session before the first connection of this process. It outlives a redeploy.
 */
const UNKNOWN_SUBSCRIPTIONS = new Map<string, boolean>();

export interface GatewayEvents {
  /** The state has changed. */
  state(): void;
  /** Reports go on after `hold`. */
  released(): void;
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
  readonly #acknowledgements = new Acknowledgements<unknown>();
  readonly #leftovers: Leftovers;
  #mayHaveLeftovers = false;
  /** Until it is done, whatever comes twice is taken for a copy. */
  #isTakingBack = false;
  #lastBroker = '';
  /** The broker has what is wanted. */
  #isSynced = false;
  #subscribed = new Set<string>();
  #previewed = new Set<string>();
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
    this.#leftovers = new Leftovers(topics, this.#share);
    this.#reports = new Reports(topics, catalogue, seen, log, { isShared: settings.sharedGroup !== '' });
    const targets: IntakeTargets = {
      report: (topic, payload, retained) => this.#report(topic, payload, retained),
      response: (parsed, payload, retained, topic) => {
        const isAsked = this.#requests.receive(parsed, payload, retained);
        if (!isAsked && this.#mayHaveLeftovers) {
          this.#takeBack(topic);
        }
      },
      released: () => {
        this.#plan();
        events.released();
      },
      drained: () => {
        this.#connection.unblocked();
        this.#settle();
      },
      lost: (count) => this.#overloaded(count),
    };
    this.#intake = new Intake(topics, targets, settings.maxWaitingBytes);
    this.#connection = new Connection(settings, log, {
      message: (topic, payload, qos, retained, done) =>
        this.#intake.take(topic, payload, qos, retained, done),
      subscribed: () => {
        this.#isTakingBack = false;
        this.#isSynced = true;
        this.#settle();
        this.#setSubscribing(false);
      },
      isBlocked: () => this.#intake.isBlocked,
      session: (isPresent) => this.#sessionBegins(isPresent),
      state: ({ name }) => {
        if (name !== 'connected') {
          this.#subscribing = true;
        }
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
    if (state.name !== 'connected') {
      return state;
    }
    // Connected is when reports can arrive.
    if (this.#subscribing || this.#planned) {
      return { name: 'connecting', broker: state.broker };
    }
    return this.#lost === 0 ? state : { name: 'overloaded', broker: state.broker, lost: this.#lost };
  }

  /** Keeps the connection up until the returned function is called; the first user opens it, the last one leaves. */
  attach(): () => void {
    this.#users++;
    clearTimeout(this.#linger);
    this.#open();
    let attached = true;
    return () => {
      if (!attached) {
        return;
      }
      attached = false;
      this.#users--;
      this.#leaveSoon();
    };
  }

  /** @param passive true: take part in what others subscribe to, without wanting anything from the broker */
  subscribe(filter: ReadFilter, decode: boolean, listener: ReportListener, passive = false): Membership {
    const detach = this.attach();
    const { replay, remove } = this.#reports.add(filter, decode, listener, passive);
    this.#planSoon();
    return {
      replay,
      remove: () => {
        remove();
        detach();
        this.#planSoon();
      },
    };
  }

  /** Asks for reports that people look at, beside what flows want. @returns ends it */
  addPreview(filter: ReadFilter): () => void {
    const remove = this.#reports.addPreview(filter);
    this.#planSoon();
    return () => {
      remove();
      this.#planSoon();
    };
  }

  /** @returns the parsed body of the answer */
  request(request: BuiltRequest, options: RequestOptions): Promise<unknown> {
    return this.#send(request, options, { lane: 'request', awaitAnswer: true });
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
    const key = `${gateway}/${device}/${suffix}/${String(sample.time)}`;
    const { signal, timeout = this.#settings.requestTimeout } = options;
    const limits = { signal, timeout, late: () => timedOut(request, timeout) };
    const send = () => this.#sendAck(request, options, (body) => read(request, body));
    const answer = await this.#acknowledgements.once(key, options.wait, send, limits);
    return answer as T | undefined;
  }

  #sendAck(
    request: BuiltRequest,
    options: RequestOptions & { wait: boolean },
    read: (body: unknown) => unknown,
  ): Sending<unknown> {
    const [sent, delivered] = [createEvent(), createEvent()];
    const lane = {
      lane: 'ack',
      awaitAnswer: options.wait,
      sent: sent.happen,
      delivered: delivered.happen,
    } as const;
    const answered = this.#send(request, options, lane).then(read);
    return { sent: sent.happened, delivered: Promise.race([delivered.happened, answered]), answered };
  }

  /** Reports wait until `release`, at most 20 s: while flows are being replaced nobody would receive them. */
  hold(): void {
    this.#intake.hold();
  }

  release(): void {
    this.#intake.release();
  }

  get held(): boolean {
    return this.#intake.held;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#linger);
    this.#intake.drop();
    this.#requests.close();
    await this.#connection.close(this.#passing);
  }

  #open(): void {
    if (!this.#closed) {
      this.#connection.open();
    }
  }

  /** A request brings the connection up too, and keeps it up until it has ended. */
  #send(
    request: BuiltRequest,
    { signal, timeout = this.#settings.requestTimeout }: RequestOptions,
    lane: Pick<SendOptions, 'lane' | 'awaitAnswer' | 'sent' | 'delivered'>,
  ): Promise<unknown> {
    this.#open();
    const answer = this.#requests.send(request, { signal, timeout, ...lane });
    this.#leaveSoon();
    return answer;
  }

  #leaveSoon(): void {
    if (this.#users > 0 || this.#closed) {
      return;
    }
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => {
      if (this.#requests.idle) {
        void this.#leave();
      } else {
        this.#leaveSoon();
      }
    }, LINGER);
  }

  async #leave(): Promise<void> {
    await this.#connection.leave(this.#passing);
    if (this.#users > 0 || !this.#requests.idle) {
      this.#open();
    }
  }

  /** Nodes come and go by the hundred during a deploy: one plan serves them all. */
  #planSoon(): void {
    if (this.#planned || this.#closed) {
      return;
    }
    this.#planned = true;
    setImmediate(() => {
      // While held, nodes that were removed are about to come back: their filters stay.
      if (this.#planned && !this.#intake.held) {
        this.#plan();
      }
    });
  }

  #plan(): void {
    this.#planned = false;
    if (this.#closed) {
      return;
    }
    const { wanted, previewed } = this.#reports.filters();
    const share = this.#share;
    const before = [...this.#subscribed, ...this.#previewed];
    const subscribed = new Set(wanted.map((filter) => share + filter));
    if ([...subscribed].some((filter) => !this.#subscribed.has(filter))) {
      this.#setSubscribing(true);
    }
    this.#subscribed = subscribed;
    this.#previewed = new Set(previewed);
    this.#isSynced = false;
    const { subscriptions } = this.#connection;
    const isStale = (filter: string) => !this.#subscribed.has(filter) && !this.#previewed.has(filter);
    const { reportQos } = this.#settings;
    // With a lower QoS a broker would send the flows' reports with that, or the copies in another order.
    subscriptions.change(this.#previewed, reportQos);
    subscriptions.change(this.#subscribed, reportQos, before.filter(isStale));
  }

  #report(topic: string, payload: Buffer, retained: boolean): void {
    const delivery = this.#reports.deliver(topic, payload, retained, this.#mayHaveLeftovers);
    if (!this.#mayHaveLeftovers || delivery === 'delivered' || delivery === 'copy') {
      return;
    }
    this.#takeBack(topic);
    // Nothing to take back: the sender itself has sent it twice.
    if (delivery === 'repeat' && !this.#isTakingBack) {
      this.#reports.deliver(topic, payload, retained);
    }
  }

  #settle(): void {
    if (this.#isSynced && this.#intake.isEmpty) {
      this.#reports.settled();
    }
  }

  #sessionBegins(isPresent: boolean): void {
    const { broker } = this.#connection;
    const key = `${broker} ${this.#settings.clientId}`;
    if (!isPresent) {
      UNKNOWN_SUBSCRIPTIONS.set(key, false);
    } else if (!UNKNOWN_SUBSCRIPTIONS.has(key)) {
      UNKNOWN_SUBSCRIPTIONS.set(key, true);
    }
    this.#mayHaveLeftovers = UNKNOWN_SUBSCRIPTIONS.get(key) === true;
    this.#isSynced = false;
    this.#reports.connected(broker === this.#lastBroker);
    this.#lastBroker = broker;
  }

  #setSubscribing(subscribing: boolean): void {
    this.#subscribing = subscribing;
    this.#events.state();
  }

  /** What the broker must not keep for a persistent session. */
  get #passing(): string[] {
    return [...this.#requests.filters(), ...this.#previewed];
  }

  get #share(): string {
    const { sharedGroup } = this.#settings;
    return sharedGroup === '' ? '' : `$share/${sharedGroup}/`;
  }

  /** @param topic of a message that a subscription of an earlier process may have brought */
  #takeBack(topic: string): void {
    const filters = this.#leftovers.filtersOf(topic);
    if (this.#connection.subscriptions.takeBack(filters)) {
      this.#isTakingBack = true;
    }
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
    const { requestQos, persistent } = this.#settings;
    // A broker keeps what has a QoS of 1 for a session that is away: others' answers would fill its queue.
    const answerQos = persistent ? 0 : requestQos;
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
        connection.subscriptions.change([filter], answerQos);
        connection.subscriptions.whenSettled(filter, settled);
      },
      releaseFilter: (filter: string) => connection.subscriptions.change([], answerQos, [filter]),
    };
  }
}

function createEvent(): { happen: () => void; happened: Promise<void> } {
  let happen = (): void => {};
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { happen, happened };
}
