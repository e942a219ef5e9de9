// Requests to gateways: wait for a place, leave by priority, are answered by id, and always end.

import { SignalGroups } from '../collections/signal-groups.ts';
import type { ServiceError } from '../errors.ts';
import { isObject, parseJson } from '../protocol/json.ts';
import type { BuiltRequest } from '../protocol/operations/index.ts';
import type { ParsedTopic, Topics } from '../protocol/topics.ts';
import { AskedGateways, type ResponseFilters } from './asked-gateways.ts';
import { type DeadlineCheck, Deadlines } from './deadlines.ts';
import type { GatewayRequests, Pending } from './gateway-requests.ts';
import { InFlight } from './in-flight.ts';
import { PublishWindow } from './publish-window.ts';
import type { Reason } from './reasons.ts';
import {
  closed,
  notJson,
  queueFull,
  refusedRequest,
  refusedResponses,
  timedOut,
  tooLarge,
  unsent,
} from './request-errors.ts';
import type { TrafficClass } from './send-queue.ts';

/** Acknowledgements of a long backfill may wait beyond `maxQueue`; this only bounds memory. */
const MAX_ACKS_WAITING = 100_000;
/** Acknowledgements that the broker has, whose response nobody waits for yet; of further ones it is not kept. */
const MAX_UNAWAITED = 10_000;
/** So often at most it is looked at whether the broker still acknowledges anything, while requests wait for that. */
const WATCH_WINDOW_MS = 1_000;

/** When reading goes on, the responses that have come meanwhile are read within this time. */
const READ_AGAIN_MS = 1_000;

export interface RequestLimits {
  maxInFlight: number;
  maxQueue: number;
  qos: 0 | 1 | 2;
}

/** What a broker takes; infinite where nothing is known. */
export interface PublishLimits {
  /** Publishes of QoS 1 and 2 that are not acknowledged yet. */
  maxUnacknowledged: number;
  maxPacketBytes: number;
  maxQos: 0 | 1 | 2;
}

const NO_LIMITS: PublishLimits = {
  maxUnacknowledged: Number.POSITIVE_INFINITY,
  maxPacketBytes: Number.POSITIVE_INFINITY,
  maxQos: 2,
};
/** Of a PUBLISH packet, beside topic and payload: header, lengths, packet id, properties. */
const PACKET_OVERHEAD_BYTES = 12;

/** What requests need of the broker connection. */
export interface RequestTransport extends ResponseFilters {
  readonly connected: boolean;
  readonly broker: string;
  publish(topic: string, payload: string, qos: 0 | 1 | 2, done: (error?: Error) => void): void;
  /** Why the broker has refused the filter, where it says more than that. */
  refusalOf(filter: string): Reason | undefined;
  /** Nothing is read while flows are replaced and a report waits for them. */
  readonly isReadingPaused: boolean;
}

export interface SendOptions {
  /** Milliseconds: from sending to the response; while the broker is away, from arrival to sending. */
  timeout: number;
  /** Ends the request with `CLOSED`. */
  signal: AbortSignal;
  trafficClass: TrafficClass;
  /** Called when it leaves the queue. */
  sent?: () => void;
  /** Called when the broker has the request. */
  delivered?: () => void;
  /** False: from then on it is not counted as in flight any more, since nobody waits for its response yet. */
  awaitResponse: boolean;
}

export class Requests {
  readonly #limits: RequestLimits;
  readonly #topics: Topics;
  readonly #transport: RequestTransport;
  readonly #gateways: AskedGateways;
  readonly #inFlight = new InFlight<Pending>();
  readonly #bySignal = new SignalGroups<Pending>((ended) => this.#abort(ended));
  readonly #window = new PublishWindow<GatewayRequests>((gateway) => this.#sendNext(gateway));
  readonly #waiting: Record<TrafficClass, number> = { request: 0, ack: 0 };
  readonly #unsentDeadlines = new Deadlines((now) => this.#expireUnsent(now));
  readonly #sentDeadlines = new Deadlines((now) => this.#expireSent(now));
  /** Of those in flight, which nobody waits for yet. */
  #unawaited = 0;
  #closed = false;
  #wasReadingPaused = false;
  #broker: PublishLimits = NO_LIMITS;

  constructor(limits: RequestLimits, topics: Topics, transport: RequestTransport) {
    this.#limits = limits;
    this.#topics = topics;
    this.#transport = transport;
    this.#gateways = new AskedGateways(topics, limits.maxInFlight, transport, (gateway) => {
      gateway.isGrantPending = false;
      this.#requestGrant(gateway);
    });
  }

  /**
   * Resolves with the parsed body of the response. Rejects with `NOT_CONNECTED`, `TIMEOUT`, `BAD_RESPONSE` (not
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
        gateway: this.#gateways.of(request.gateway),
        trafficClass,
        priority: request.priority,
        timeout,
        group: this.#bySignal.of(signal),
        sent,
        delivered,
        awaitResponse,
        id: '',
        slot: -1,
        isRemoved: true,
        isCounted: false,
        index: -1,
        waitingSince: 0,
        deadline: Number.POSITIVE_INFINITY,
        resolve,
        reject,
      });
    });
  }

  /** How many were sent and have no response yet. */
  get underWay(): number {
    return this.#inFlight.size;
  }

  /** True when nothing is waiting or in flight. */
  get idle(): boolean {
    const { request, ack } = this.#waiting;
    return this.#inFlight.size - this.#unawaited === 0 && request === 0 && ack === 0;
  }

  /** How many gateways were asked in the last hour or are being asked: without a limit each takes a subscription. */
  get gateways(): number {
    return this.#gateways.size;
  }

  /** Topic filters of the responses, of every gateway that was asked. */
  filters(): string[] {
    return [...new Set(Array.from(this.#gateways, ({ filter }) => filter))];
  }

  /** Takes a message of a response topic. False when it is of a gateway that was not asked. */
  receive({ gateway: gatewayId, device, rest }: ParsedTopic, payload: Buffer, retained: boolean): boolean {
    const gateway = this.#gateways.find(gatewayId);
    if (!gateway) {
      return false;
    }
    const body = parse(payload);
    const id = body?.id;
    if (id !== undefined && id !== null) {
      const pending = typeof id === 'string' ? this.#inFlight.find(id) : undefined;
      // Every gateway sees ids of ours, and none answers for another one.
      if (pending?.gateway === gateway) {
        this.#receiveResponse(pending, body);
      }
      return true;
    }
    // A retained response is an old one: without an id it belongs to nobody.
    if (retained) {
      return true;
    }
    const only = gateway.onlySent(device, rest);
    if (only) {
      this.#receiveResponse(only, body ?? payload);
    }
    return true;
  }

  /**
   * @param isShared one subscription brings the responses of all gateways: the broker allows few
   * @param isTried also where it is known to end connections
   */
  shareFilter(isShared: boolean, isTried = true): void {
    const isNew = isShared ? this.#gateways.share(isTried) : this.#gateways.unshare();
    if (!isNew) {
      return;
    }
    for (const gateway of this.#gateways) {
      gateway.isGrantPending = false;
      this.#requestGrant(gateway);
    }
  }

  /** Call when a connection begins, before its state changes. */
  connected(limits: PublishLimits): void {
    this.#broker = limits;
    this.#window.reset(limits.maxUnacknowledged);
  }

  /** The broker takes no higher QoS, as it has shown by what it granted. */
  limitQos(max: PublishLimits['maxQos']): void {
    this.#broker = { ...this.#broker, maxQos: Math.min(this.#broker.maxQos, max) as PublishLimits['maxQos'] };
  }

  /** Call when the connection came or went. */
  connectionChanged(): void {
    for (const gateway of this.#gateways) {
      this.#updateUnsentDeadlines(gateway);
      this.#requestGrant(gateway);
    }
  }

  close(): void {
    this.#closed = true;
    this.#bySignal.abortAll();
    this.#unsentDeadlines.clear();
    this.#sentDeadlines.clear();
    this.#gateways.close();
  }

  #enqueue(pending: Pending): void {
    const { trafficClass, gateway } = pending;
    const limit = trafficClass === 'ack' ? MAX_ACKS_WAITING : this.#limits.maxQueue;
    pending.group.add(pending);
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
    pending.waitingSince = performance.now();
    if (this.#isOpen(gateway)) {
      return;
    }
    this.#setUnsentDeadline(pending, pending.waitingSince);
    this.#requestGrant(gateway);
  }

  /** Responses can only arrive once the broker has granted the response filter: nothing leaves before. */
  #requestGrant(gateway: GatewayRequests): void {
    if (gateway.isGrantPending || gateway.waiting === 0 || !this.#transport.connected) {
      return;
    }
    gateway.isGrantPending = true;
    const { filter } = gateway;
    this.#transport.ensureFilter(filter, (refused) => {
      gateway.isGrantPending = false;
      if (refused) {
        this.#gateways.refused(filter);
      }
      if (filter !== gateway.filter) {
        this.#requestGrant(gateway);
      } else if (refused) {
        this.#rejectAllUnsent(gateway);
        this.#gateways.releaseIfIdle(gateway);
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
    if (this.#closed || gateway.isSending || !this.#isOpen(gateway)) {
      return;
    }
    gateway.isSending = true;
    for (;;) {
      if (this.#window.isFull) {
        this.#window.wait(gateway);
        this.#unsentDeadlines.add(performance.now() + WATCH_WINDOW_MS);
        break;
      }
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
    // The id comes last: without ours no response could be told apart, whatever a template says.
    const payload = JSON.stringify({ ...request.payload, id: pending.id });
    const { maxPacketBytes, maxQos } = this.#broker;
    // performance.md, P3: measured only where there is a limit.
    const bytes = maxPacketBytes === Number.POSITIVE_INFINITY ? 0 : sizeOf(topic, payload);
    if (bytes > maxPacketBytes) {
      this.#fail(pending, tooLarge(request, bytes, maxPacketBytes));
      return;
    }
    const qos = Math.min(this.#limits.qos, maxQos) as RequestLimits['qos'];
    const free = qos === 0 ? undefined : this.#window.take();
    this.#transport.publish(topic, payload, qos, (error) => {
      free?.();
      this.#published(pending, error);
    });
  }

  #expireSent(now: number): DeadlineCheck {
    // The response may have come, and wait behind a report.
    if (this.#transport.isReadingPaused || this.#wasReadingPaused) {
      this.#wasReadingPaused = this.#transport.isReadingPaused;
      return { next: now + READ_AGAIN_MS, checked: 0 };
    }
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
    for (const gateway of this.#gateways) {
      checked += gateway.waiting;
      const isOpen = this.#isOpen(gateway);
      if (gateway.waiting === 0 || (isOpen && !this.#window.isFull)) {
        continue;
      }
      for (const pending of [...gateway.queue]) {
        // At an open gateway it waits without limit, as long as the broker acknowledges what others have sent.
        const since = Math.max(this.#window.changedAt, pending.waitingSince);
        const deadline = isOpen ? since + pending.timeout : pending.deadline;
        if (deadline <= now) {
          this.#rejectUnsent(pending, this.#unsent(pending, isOpen));
        } else {
          next = Math.min(next, deadline);
        }
      }
    }
    return { next, checked };
  }

  #unsent({ timeout }: Pending, isOpen: boolean): ServiceError {
    const { broker, connected } = this.#transport;
    if (isOpen) {
      return unsent(broker, 'notAcknowledged', timeout);
    }
    return unsent(broker, connected ? 'notGranted' : 'unreachable', timeout);
  }

  /** An error here may mean that the broker has the request all the same: only its own refusal ends it early. */
  #published(pending: Pending, error: Error | undefined): void {
    const code = (error as { code?: unknown } | undefined)?.code;
    if (typeof code === 'number' && code >= 0x80) {
      this.#fail(pending, refusedRequest(this.#transport.broker, code));
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

  /** It makes room for others; its response is kept for one who may ask for it later. */
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
    pending.group.delete(pending);
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
    const { filter } = gateway;
    const reason = this.#transport.refusalOf(filter);
    for (const pending of [...gateway.queue]) {
      this.#rejectUnsent(pending, refusedResponses(this.#transport.broker, filter, reason));
    }
  }

  #rejectUnsent(pending: Pending, error: ServiceError): void {
    if (!pending.gateway.queue.remove(pending)) {
      return;
    }
    pending.group.delete(pending);
    this.#uncountWaiting(pending);
    pending.reject(error);
  }

  #uncountWaiting({ trafficClass, gateway }: Pending): void {
    this.#waiting[trafficClass]--;
    gateway.waiting--;
  }

  #abort(ended: readonly Pending[]): void {
    // First what waits: what ends in flight makes room, and none of these may leave then.
    for (const pending of ended) {
      this.#rejectUnsent(pending, closed());
    }
    for (const pending of ended) {
      this.#fail(pending, closed());
    }
  }
}

/** Bytes of a PUBLISH packet, at most. */
function sizeOf(topic: string, payload: string): number {
  return Buffer.byteLength(topic) + Buffer.byteLength(payload) + PACKET_OVERHEAD_BYTES;
}

/** The JSON object of a response; undefined for anything else. */
function parse(payload: Buffer): Record<string, unknown> | undefined {
  const body = parseJson(payload.toString());
  return isObject(body) ? body : undefined;
}
