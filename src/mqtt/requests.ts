// Requests to gateways: wait for a place, leave by priority, are answered by id, and always end.
import { ServiceError } from '../errors.ts';
import { parseJson } from '../protocol/json.ts';
import type { BuiltRequest } from '../protocol/operations/index.ts';
import type { ParsedTopic, Topics } from '../protocol/topics.ts';
import { InFlight, type InFlightItem } from './in-flight.ts';
import { type Lane, Outbox } from './outbox.ts';

/** Acknowledgements of a long backfill may wait beyond `maxQueue`; this only bounds memory. */
const MOST_ACKS_WAITING = 100_000;
const BODY_SHOWN = 500;
/** Milliseconds: beyond it Node.js takes a timer for an immediate one. */
const LONGEST_TIMER = 2 ** 31 - 1;

export interface RequestLimits {
  maxInFlight: number;
  maxQueue: number;
  qos: 0 | 1 | 2;
}

/** What requests need of the broker connection. */
export interface RequestTransport {
  readonly connected: boolean;
  readonly broker: string;
  publish(topic: string, payload: string, qos: 0 | 1 | 2, done: (error?: Error) => void): void;
  /** Asks for the filter and calls back once the broker granted or refused it. */
  ensureFilter(filter: string, settled: (refused: boolean) => void): void;
  isFilterActive(filter: string): boolean;
}

export interface SendOptions {
  /** Milliseconds: from sending to the answer; while the broker is away, from arrival to sending. */
  timeout: number;
  /** Ends the request with `CLOSED`. */
  signal: AbortSignal;
  lane: Lane;
  /** False: the promise is resolved when the broker has the request. */
  awaitAnswer: boolean;
}

interface Pending extends InFlightItem {
  request: BuiltRequest;
  gateway: Gateway;
  lane: Lane;
  priority: number;
  timeout: number;
  signal: AbortSignal;
  awaitAnswer: boolean;
  sent: boolean;
  /** While it is not sent and nothing can be sent. */
  timer: NodeJS.Timeout | undefined;
  /** In milliseconds of `performance.now()`; when it is sent. */
  deadline: number;
  resolve(body: unknown): void;
  reject(error: ServiceError): void;
}

class Gateway {
  readonly filter: string;
  readonly outbox: Outbox<Pending>;
  requestsInFlight = 0;
  acksInFlight = 0;

  constructor(filter: string, places: number) {
    this.filter = filter;
    this.outbox = new Outbox(places);
  }
}

export class Requests {
  readonly #limits: RequestLimits;
  readonly #topics: Topics;
  readonly #transport: RequestTransport;
  readonly #gateways = new Map<string, Gateway>();
  readonly #inFlight = new InFlight<Pending>();
  readonly #signals = new WeakSet<AbortSignal>();
  readonly #waiting: Record<Lane, number> = { request: 0, ack: 0 };
  /** One for all that is in flight, at the first deadline: nearly every request is answered long before its own. */
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(limits: RequestLimits, topics: Topics, transport: RequestTransport) {
    this.#limits = limits;
    this.#topics = topics;
    this.#transport = transport;
  }

  /**
   * Resolves with the parsed body of the answer. Rejects with `NOT_CONNECTED`, `TIMEOUT`, `BAD_RESPONSE` (not
   * JSON), `QUEUE_FULL` or `CLOSED`. A request that was sent is never sent again.
   */
  send(request: BuiltRequest, options: SendOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed || options.signal.aborted) {
        reject(closed());
        return;
      }
      const { lane, timeout, signal, awaitAnswer } = options;
      this.#watch(signal);
      this.#enqueue({
        request,
        gateway: this.#gatewayOf(request.gateway),
        lane,
        priority: request.priority,
        timeout,
        signal,
        awaitAnswer,
        id: '',
        place: -1,
        sent: false,
        timer: undefined,
        deadline: Number.POSITIVE_INFINITY,
        resolve,
        reject,
      });
    });
  }

  /** True when nothing is waiting or in flight. */
  get idle(): boolean {
    return this.#inFlight.size === 0 && this.#waiting.request === 0 && this.#waiting.ack === 0;
  }

  /** Takes a message of a response topic. */
  receive({ gateway: gatewayId, device, rest }: ParsedTopic, payload: Buffer, retained: boolean): void {
    const body = parse(payload);
    const id = (body as { id?: unknown } | null)?.id;
    if (typeof id === 'string' && id !== '') {
      const pending = this.#inFlight.find(id);
      if (pending) this.#answered(pending, body);
      return;
    }
    // A retained answer is an old one: without an id it belongs to nobody.
    const gateway = this.#gateways.get(gatewayId);
    if (!gateway || retained) return;
    const [only, ...others] = this.#inFlight
      .values()
      .filter(
        (pending) =>
          pending.gateway === gateway && pending.request.device === device && pending.request.suffix === rest,
      );
    if (only && others.length === 0) this.#answered(only, body ?? payload);
  }

  /** Call when the connection came or went. */
  connectionChanged(): void {
    for (const [, gateway] of this.#gateways) {
      for (const pending of gateway.outbox) this.#watchUnsent(gateway, pending);
      this.#ready(gateway);
    }
  }

  close(): void {
    this.#closed = true;
    this.#abort(() => true);
    clearTimeout(this.#timer);
  }

  #enqueue(pending: Pending): void {
    const { lane, gateway } = pending;
    const limit = lane === 'ack' ? MOST_ACKS_WAITING : this.#limits.maxQueue;
    gateway.outbox.push(pending);
    this.#waiting[lane]++;
    this.#pump(gateway);
    if (pending.sent) return;
    if (this.#waiting[lane] > limit) {
      this.#drop(
        gateway,
        (waiting) => waiting === pending,
        () => queueFull(limit),
      );
      return;
    }
    this.#watchUnsent(gateway, pending);
    if (!this.#isOpen(gateway)) this.#ready(gateway);
  }

  #gatewayOf(id: string): Gateway {
    let gateway = this.#gateways.get(id);
    if (!gateway) {
      gateway = new Gateway(this.#topics.responseFilter(id), this.#limits.maxInFlight);
      this.#gateways.set(id, gateway);
      this.#transport.ensureFilter(gateway.filter, () => {});
    }
    return gateway;
  }

  /** Answers can only arrive once the broker has granted the response filter: nothing leaves before. */
  #ready(gateway: Gateway): void {
    if (!this.#transport.connected) return;
    this.#transport.ensureFilter(gateway.filter, (refused) => {
      if (refused)
        this.#drop(
          gateway,
          () => true,
          () => this.#refused(gateway),
        );
      else {
        for (const pending of gateway.outbox) this.#watchUnsent(gateway, pending);
        this.#pump(gateway);
      }
    });
  }

  #isOpen(gateway: Gateway): boolean {
    return this.#transport.connected && this.#transport.isFilterActive(gateway.filter);
  }

  #pump(gateway: Gateway): void {
    if (!this.#isOpen(gateway)) return;
    for (;;) {
      const pending = gateway.outbox.next(gateway.requestsInFlight, gateway.acksInFlight);
      if (!pending) return;
      this.#waiting[pending.lane]--;
      this.#dispatch(pending);
    }
  }

  #dispatch(pending: Pending): void {
    const { request } = pending;
    clearTimeout(pending.timer);
    pending.sent = true;
    pending.deadline = performance.now() + pending.timeout;
    countFlight(pending, 1);
    this.#inFlight.add(pending);
    this.#expireAt(pending.deadline);
    const topic = this.#topics.request(request.gateway, request.device, request.suffix);
    const payload = JSON.stringify({ id: pending.id, ...request.payload });
    this.#transport.publish(topic, payload, this.#limits.qos, (error) => this.#published(pending, error));
  }

  #expireAt(time: number): void {
    if (time >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = time;
    // The time may have come meanwhile, and Node.js warns of negative timers.
    const wait = Math.max(time - performance.now(), 0);
    this.#timer = setTimeout(this.#expire, Math.min(wait, LONGEST_TIMER));
  }

  readonly #expire = (): void => {
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const pending of this.#inFlight.values()) {
      if (pending.deadline <= now) this.#fail(pending, timedOut(pending));
      else next = Math.min(next, pending.deadline);
    }
    this.#expireAt(next);
  };

  /** An error here may mean that the broker has the request all the same: only its own refusal ends it early. */
  #published(pending: Pending, error: Error | undefined): void {
    if (!error && !pending.awaitAnswer) this.#answered(pending, undefined);
    const code = (error as { code?: unknown } | undefined)?.code;
    if (typeof code === 'number' && code >= 0x80) this.#fail(pending, this.#refused(undefined));
  }

  #answered(pending: Pending, body: unknown): void {
    if (!this.#land(pending)) return;
    if (body instanceof Uint8Array) pending.reject(notJson(pending, body));
    else pending.resolve(body);
    this.#pump(pending.gateway);
  }

  #fail(pending: Pending, error: ServiceError): void {
    if (!this.#land(pending)) return;
    pending.reject(error);
    this.#pump(pending.gateway);
  }

  /** Takes a request out of the air; false when it has landed already. */
  #land(pending: Pending): boolean {
    if (!this.#inFlight.remove(pending)) return false;
    countFlight(pending, -1);
    return true;
  }

  /** While the broker (or its grant) is away, a waiting request has its timeout and then ends `NOT_CONNECTED`. */
  #watchUnsent(gateway: Gateway, pending: Pending): void {
    if (this.#isOpen(gateway)) {
      clearTimeout(pending.timer);
      pending.timer = undefined;
      return;
    }
    pending.timer ??= setTimeout(
      () => {
        this.#drop(
          gateway,
          (waiting) => waiting === pending,
          () => this.#unreachable(pending),
        );
      },
      Math.min(pending.timeout, LONGEST_TIMER),
    );
  }

  #drop(gateway: Gateway, wanted: (pending: Pending) => boolean, error: () => ServiceError): void {
    for (const pending of gateway.outbox.take(wanted)) {
      this.#waiting[pending.lane]--;
      clearTimeout(pending.timer);
      pending.reject(error());
    }
  }

  /** One listener per signal, however many requests share it. */
  #watch(signal: AbortSignal): void {
    if (this.#signals.has(signal)) return;
    this.#signals.add(signal);
    signal.addEventListener('abort', () => this.#abort((pending) => pending.signal === signal), {
      once: true,
    });
  }

  #abort(wanted: (pending: Pending) => boolean): void {
    for (const gateway of this.#gateways.values()) this.#drop(gateway, wanted, closed);
    for (const pending of this.#inFlight.values()) if (wanted(pending)) this.#fail(pending, closed());
  }

  #unreachable({ timeout }: Pending): ServiceError {
    const { broker } = this.#transport;
    return new ServiceError('NOT_CONNECTED', 'unreachable', { broker }, { broker, timeout });
  }

  #refused(gateway: Gateway | undefined): ServiceError {
    const { broker } = this.#transport;
    return gateway
      ? new ServiceError(
          'NOT_CONNECTED',
          'refusedSubscription',
          { broker },
          { broker, filter: gateway.filter },
        )
      : new ServiceError('NOT_CONNECTED', 'refusedPublish', { broker }, { broker });
  }
}

function countFlight({ gateway, lane }: Pending, change: 1 | -1): void {
  if (lane === 'ack') gateway.acksInFlight += change;
  else gateway.requestsInFlight += change;
}

/** The JSON object of an answer; undefined for anything else. */
function parse(payload: Buffer): object | undefined {
  const body = parseJson(payload.toString());
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? body : undefined;
}

function closed(): ServiceError {
  return new ServiceError('CLOSED', 'stopped');
}

function queueFull(limit: number): ServiceError {
  return new ServiceError('QUEUE_FULL', 'waiting', { limit }, { limit });
}

function timedOut({ request, timeout }: Pending): ServiceError {
  const { gateway, device, operation, identifier } = request;
  const cause = { gateway, device, operation, identifier, timeout };
  return new ServiceError('TIMEOUT', 'noAnswer', cause, { gateway, device, operation, timeout });
}

function notJson({ request }: Pending, body: Uint8Array): ServiceError {
  const text = Buffer.from(body).toString().slice(0, BODY_SHOWN);
  return new ServiceError('BAD_RESPONSE', 'notJson', { body: text }, { gateway: request.gateway });
}
