// Requests to gateways: wait for a place, leave by priority, are answered by id, and always end.
import type { ServiceError } from '../errors.ts';
import { parseJson } from '../protocol/json.ts';
import type { BuiltRequest } from '../protocol/operations/index.ts';
import type { ParsedTopic, Topics } from '../protocol/topics.ts';
import { type DeadlineCheck, Deadlines } from './deadlines.ts';
import { GatewayRequests, type Pending, type RequestOwner } from './gateway-requests.ts';
import { InFlight } from './in-flight.ts';
import {
  closed,
  notJson,
  queueFull,
  refusedRequest,
  refusedResponses,
  timedOut,
  unsent,
} from './request-errors.ts';
import type { TrafficClass } from './send-queue.ts';

/** Acknowledgements of a long backfill may wait beyond `maxQueue`; this only bounds memory. */
const MAX_ACKS_WAITING = 100_000;
/** Acknowledgements that the broker has, whose response nobody waits for yet; of further ones it is not kept. */
const MAX_UNAWAITED = 10_000;
/** Gateways that are remembered with their subscription; beyond it those with nothing to do are given back. */
const MAX_GATEWAYS = 10_000;
/** How many are looked at to find one with nothing to do. */
const MAX_CHECKED = 100;

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
  releaseFilter(filter: string): void;
  isFilterActive(filter: string): boolean;
}

export interface SendOptions {
  /** Milliseconds: from sending to the answer; while the broker is away, from arrival to sending. */
  timeout: number;
  /** Ends the request with `CLOSED`. */
  signal: AbortSignal;
  trafficClass: TrafficClass;
  /** Called when it leaves the line. */
  sent?: () => void;
  /** Called when the broker has the request. */
  delivered?: () => void;
  /** False: from then on it is not counted as in flight any more, since nobody waits for its answer yet. */
  awaitResponse: boolean;
}

export class Requests {
  readonly #limits: RequestLimits;
  readonly #topics: Topics;
  readonly #transport: RequestTransport;
  readonly #gateways = new Map<string, GatewayRequests>();
  readonly #inFlight = new InFlight<Pending>();
  readonly #owners = new Map<AbortSignal, RequestOwner>();
  readonly #waiting: Record<TrafficClass, number> = { request: 0, ack: 0 };
  readonly #unsentDeadlines = new Deadlines((now) => this.#expireUnsent(now));
  readonly #sentDeadlines = new Deadlines((now) => this.#expireSent(now));
  /** Of those in flight, which nobody waits for yet. */
  #unawaited = 0;
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
      const { trafficClass, timeout, signal, sent, delivered, awaitResponse } = options;
      this.#enqueue({
        request,
        gateway: this.#gatewayOf(request.gateway),
        trafficClass,
        priority: request.priority,
        timeout,
        owner: this.#ownerOf(signal),
        sent,
        delivered,
        awaitResponse,
        id: '',
        slot: -1,
        isRemoved: true,
        isCounted: false,
        index: -1,
        deadline: Number.POSITIVE_INFINITY,
        resolve,
        reject,
      });
    });
  }

  /** True when nothing is waiting or in flight. */
  get idle(): boolean {
    const { request, ack } = this.#waiting;
    return this.#inFlight.size - this.#unawaited === 0 && request === 0 && ack === 0;
  }

  /** Topic filters of the answers, of every gateway that was asked. */
  filters(): string[] {
    return [...this.#gateways.values()].map(({ filter }) => filter);
  }

  /** Takes a message of a response topic. False when it is of a gateway that was not asked. */
  receive({ gateway: gatewayId, device, rest }: ParsedTopic, payload: Buffer, retained: boolean): boolean {
    const gateway = this.#gateways.get(gatewayId);
    if (!gateway) {
      return false;
    }
    const body = parse(payload);
    const id = body?.id;
    if (id !== undefined && id !== null) {
      const pending = typeof id === 'string' ? this.#inFlight.find(id) : undefined;
      if (pending) {
        this.#receiveResponse(pending, body);
      }
      return true;
    }
    // A retained answer is an old one: without an id it belongs to nobody.
    if (retained) {
      return true;
    }
    const only = gateway.onlySent(device, rest);
    if (only) {
      this.#receiveResponse(only, body ?? payload);
    }
    return true;
  }

  /** Call when the connection came or went. */
  connectionChanged(): void {
    for (const gateway of this.#gateways.values()) {
      this.#updateUnsentDeadlines(gateway);
      this.#requestGrant(gateway);
    }
  }

  close(): void {
    this.#closed = true;
    for (const owner of this.#owners.values()) {
      this.#abort(owner);
    }
    this.#owners.clear();
    this.#unsentDeadlines.clear();
    this.#sentDeadlines.clear();
  }

  #enqueue(pending: Pending): void {
    const { trafficClass, gateway } = pending;
    const limit = trafficClass === 'ack' ? MAX_ACKS_WAITING : this.#limits.maxQueue;
    pending.owner.pending.add(pending);
    gateway.queue.push(pending);
    gateway.waiting++;
    this.#waiting[trafficClass]++;
    this.#sendNext(gateway);
    if (pending.isRemoved) {
      return;
    }
    if (this.#waiting[trafficClass] > limit) {
      this.#rejectUnsent(pending, queueFull(limit));
      return;
    }
    if (this.#isOpen(gateway)) {
      return;
    }
    this.#setUnsentDeadline(pending, performance.now());
    this.#requestGrant(gateway);
  }

  #gatewayOf(id: string): GatewayRequests {
    let gateway = this.#gateways.get(id);
    if (!gateway) {
      if (this.#gateways.size >= MAX_GATEWAYS) {
        this.#releaseIdleGateway();
      }
      gateway = new GatewayRequests(id, this.#topics.responseFilter(id), this.#limits.maxInFlight);
      this.#gateways.set(id, gateway);
      // Asked for at once, so that the broker knows it as soon as it is there.
      this.#transport.ensureFilter(gateway.filter, () => {});
    }
    return gateway;
  }

  /** A subscription that the broker refuses is not asked for again when no request needs it. */
  #releaseIfIdle(gateway: GatewayRequests): void {
    if (!gateway.isIdle || this.#gateways.get(gateway.id) !== gateway) {
      return;
    }
    this.#gateways.delete(gateway.id);
    this.#transport.releaseFilter(gateway.filter);
  }

  /** Those that are busy go to the end, so that each is looked at in its turn. */
  #releaseIdleGateway(): void {
    let looks = 0;
    for (const [id, gateway] of this.#gateways) {
      this.#gateways.delete(id);
      if (gateway.isIdle) {
        this.#transport.releaseFilter(gateway.filter);
        return;
      }
      this.#gateways.set(id, gateway);
      if (++looks >= MAX_CHECKED) {
        return;
      }
    }
  }

  /** Answers can only arrive once the broker has granted the response filter: nothing leaves before. */
  #requestGrant(gateway: GatewayRequests): void {
    if (gateway.isGrantPending || gateway.waiting === 0 || !this.#transport.connected) {
      return;
    }
    gateway.isGrantPending = true;
    this.#transport.ensureFilter(gateway.filter, (refused) => {
      gateway.isGrantPending = false;
      if (refused) {
        this.#rejectAllUnsent(gateway);
        this.#releaseIfIdle(gateway);
      } else {
        this.#updateUnsentDeadlines(gateway);
        this.#sendNext(gateway);
      }
    });
  }

  #isOpen(gateway: GatewayRequests): boolean {
    return this.#transport.connected && this.#transport.isFilterActive(gateway.filter);
  }

  #sendNext(gateway: GatewayRequests): void {
    if (gateway.isSending || !this.#isOpen(gateway)) {
      return;
    }
    gateway.isSending = true;
    for (;;) {
      const pending = gateway.queue.next(gateway.requestsInFlight, gateway.acksInFlight);
      if (!pending) {
        break;
      }
      this.#uncountWaiting(pending);
      this.#publish(pending);
    }
    gateway.isSending = false;
  }

  #publish(pending: Pending): void {
    const { request, gateway } = pending;
    pending.deadline = performance.now() + pending.timeout;
    this.#inFlight.add(pending);
    gateway.add(pending);
    pending.sent?.();
    this.#sentDeadlines.add(pending.deadline);
    const topic = this.#topics.request(request.gateway, request.device, request.suffix);
    // The id comes last: without ours no answer could be told apart, whatever a template says.
    const payload = JSON.stringify({ ...request.payload, id: pending.id });
    this.#transport.publish(topic, payload, this.#limits.qos, (error) => this.#published(pending, error));
  }

  #expireSent(now: number): DeadlineCheck {
    const items = this.#inFlight.values();
    let next = Number.POSITIVE_INFINITY;
    for (const pending of items) {
      if (pending.deadline <= now) {
        this.#fail(pending, timedOut(pending.request, pending.timeout));
      } else {
        next = Math.min(next, pending.deadline);
      }
    }
    return { next, checked: items.length };
  }

  #expireUnsent(now: number): DeadlineCheck {
    let next = Number.POSITIVE_INFINITY;
    let checked = this.#gateways.size;
    for (const gateway of this.#gateways.values()) {
      checked += gateway.waiting;
      if (gateway.waiting === 0 || this.#isOpen(gateway)) {
        continue;
      }
      for (const pending of [...gateway.queue]) {
        if (pending.deadline <= now) {
          this.#rejectUnsent(
            pending,
            unsent(this.#transport.broker, this.#transport.connected, pending.timeout),
          );
        } else {
          next = Math.min(next, pending.deadline);
        }
      }
    }
    return { next, checked };
  }

  /** An error here may mean that the broker has the request all the same: only its own refusal ends it early. */
  #published(pending: Pending, error: Error | undefined): void {
    const code = (error as { code?: unknown } | undefined)?.code;
    if (typeof code === 'number' && code >= 0x80) {
      this.#fail(pending, refusedRequest(this.#transport.broker));
      return;
    }
    if (error) {
      return;
    }
    pending.delivered?.();
    if (!pending.awaitResponse && pending.isCounted) {
      this.#stopCounting(pending);
    }
  }

  /** It makes room for others; its answer is kept for one who may ask for it later. */
  #stopCounting(pending: Pending): void {
    if (this.#unawaited >= MAX_UNAWAITED) {
      this.#fail(pending, timedOut(pending.request, pending.timeout));
      return;
    }
    pending.gateway.freeSlot(pending);
    this.#unawaited++;
    this.#sendNext(pending.gateway);
  }

  #receiveResponse(pending: Pending, body: unknown): void {
    if (!this.#settle(pending)) {
      return;
    }
    if (body instanceof Uint8Array) {
      pending.reject(notJson(pending.request, body));
    } else {
      pending.resolve(body);
    }
    this.#sendNext(pending.gateway);
  }

  #fail(pending: Pending, error: ServiceError): void {
    if (!this.#settle(pending)) {
      return;
    }
    pending.reject(error);
    this.#sendNext(pending.gateway);
  }

  /** Ends the flight of a request; false when it has ended already. */
  #settle(pending: Pending): boolean {
    if (!this.#inFlight.remove(pending)) {
      return false;
    }
    pending.owner.pending.delete(pending);
    if (!pending.isCounted) {
      this.#unawaited--;
    }
    pending.gateway.remove(pending);
    return true;
  }

  /** While the broker (or its grant) is away, a waiting request has its timeout and then ends `NOT_CONNECTED`. */
  #updateUnsentDeadlines(gateway: GatewayRequests): void {
    if (gateway.waiting === 0) {
      return;
    }
    const isOpen = this.#isOpen(gateway);
    const now = performance.now();
    for (const pending of gateway.queue) {
      if (isOpen) {
        pending.deadline = Number.POSITIVE_INFINITY;
      } else {
        this.#setUnsentDeadline(pending, now);
      }
    }
  }

  #setUnsentDeadline(pending: Pending, now: number): void {
    if (pending.deadline === Number.POSITIVE_INFINITY) {
      pending.deadline = now + pending.timeout;
    }
    this.#unsentDeadlines.add(pending.deadline);
  }

  #rejectAllUnsent(gateway: GatewayRequests): void {
    for (const pending of [...gateway.queue]) {
      this.#rejectUnsent(pending, refusedResponses(this.#transport.broker, gateway.filter));
    }
  }

  #rejectUnsent(pending: Pending, error: ServiceError): void {
    if (!pending.gateway.queue.remove(pending)) {
      return;
    }
    pending.owner.pending.delete(pending);
    this.#uncountWaiting(pending);
    pending.reject(error);
  }

  #uncountWaiting({ trafficClass, gateway }: Pending): void {
    this.#waiting[trafficClass]--;
    gateway.waiting--;
  }

  /** One listener per signal, however many requests share it. */
  #ownerOf(signal: AbortSignal): RequestOwner {
    const known = this.#owners.get(signal);
    if (known) {
      return known;
    }
    const stop = () => {
      this.#owners.delete(signal);
      this.#abort(owner);
    };
    signal.addEventListener('abort', stop, { once: true });
    const stopListening = () => signal.removeEventListener('abort', stop);
    const owner: RequestOwner = { pending: new Set(), stopListening };
    this.#owners.set(signal, owner);
    return owner;
  }

  #abort(owner: RequestOwner): void {
    owner.stopListening();
    const ended = [...owner.pending];
    // First what waits: what ends in flight makes room, and none of these may leave then.
    for (const pending of ended) {
      this.#rejectUnsent(pending, closed());
    }
    for (const pending of ended) {
      this.#fail(pending, closed());
    }
  }
}

/** The JSON object of an answer; undefined for anything else. */
function parse(payload: Buffer): Record<string, unknown> | undefined {
  const body = parseJson(payload.toString());
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  return isObject ? (body as Record<string, unknown>) : undefined;
}
