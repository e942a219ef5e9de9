// One gateway's requests: those that wait in its queue, and those that are under way.
import type { Identified } from '../collections/identified-items.ts';
import type { Ranked } from '../collections/ranking.ts';
import type { ServiceError } from '../errors.ts';
import type { BuiltRequest } from '../protocol/operations/index.ts';
import type { PublishPlace } from './publish-window.ts';
import { SendQueue, type TrafficClass } from './send-queue.ts';

export interface Pending extends Identified {
  request: BuiltRequest;
  gateway: GatewayRequests;
  trafficClass: TrafficClass;
  priority: number;
  timeout: number;
  /** What its signal ends. */
  group: Set<Pending>;
  sent: (() => void) | undefined;
  delivered: (() => void) | undefined;
  awaitResponse: boolean;
  isRemoved: boolean;
  /** In flight, it takes one of the gateway's places. */
  isCounted: boolean;
  /** It was sent over the present connection with QoS 1 or 2, and the broker has not acknowledged it. */
  isUnacknowledged: boolean;
  /** With QoS 1 and 2, once it was sent. */
  place: PublishPlace | undefined;
  /** Some brokers end the connection for the size of a packet. */
  isLarge: boolean;
  /** Index in `sent` of the gateway. */
  index: number;
  /** Since when it waits, if it does, in milliseconds of `performance.now()`. */
  waitingSince: number;
  /** In milliseconds of `performance.now()`; infinite while it waits for its turn at an open gateway. */
  deadline: number;
  /** What `Reading.heldMs` was when its time began. */
  heldBefore: number;
  resolve(body: unknown): void;
  reject(error: ServiceError): void;
}

/** What of one class waits at a gateway and takes a place of those that may. */
export interface Line extends Ranked {
  readonly gateway: GatewayRequests;
}

/** The queue of one gateway, and what is under way there. */
export class GatewayRequests {
  readonly id: string;
  readonly #places: number;
  /** The topic filter of its responses. */
  filter: string;
  readonly queue: SendQueue<Pending>;
  /** What was sent and may still be answered. */
  readonly sent: Pending[] = [];
  /** When it was asked last, or its last request ended, in milliseconds of `performance.now()`. */
  usedAt = performance.now();
  requestsInFlight = 0;
  acksInFlight = 0;
  /** In milliseconds of `performance.now()`; undefined: it does not. */
  #ignoresAcksSince: number | undefined;
  /** Acknowledgements whose response somebody waits for, and which take no place any more. */
  ignoredAcks = 0;
  /** When it last answered an acknowledgement, in milliseconds of `performance.now()`. */
  #ackedAt = Number.NEGATIVE_INFINITY;
  /** The first topic level of the acknowledgement that was sent last; also that of late responses. */
  #ackOperation: string | undefined;
  waiting = 0;
  /** Of the requests that wait: so many could be sent at once but for the grant of the response filter. */
  withPlace = 0;
  /** What counts towards the most that may wait. */
  readonly lines: Readonly<Record<TrafficClass, Line>> = {
    request: { gateway: this, count: 0, rank: -1 },
    ack: { gateway: this, count: 0, rank: -1 },
  };
  /** The broker was asked for the filter and has not said yet. */
  isGrantPending = false;
  /** A request that has left can make room for the next one before its publishing returns. */
  isSending = false;

  constructor(id: string, filter: string, places: number) {
    this.id = id;
    this.filter = filter;
    this.#places = places;
    this.queue = new SendQueue(places);
  }

  get isIdle(): boolean {
    return this.waiting === 0 && this.sent.length === 0;
  }

  /** Whether all that waits has a place in flight. */
  get hasPlaces(): boolean {
    return this.requestsInFlight + this.acksInFlight + this.waiting <= this.#places;
  }

  /** The only request in flight on a topic; undefined when there are more. */
  onlySent(device: string, suffix: string): Pending | undefined {
    let found: Pending | undefined;
    for (const pending of this.sent) {
      if (pending.request.device !== device || pending.request.suffix !== suffix) {
        continue;
      }
      if (found) {
        return undefined;
      }
      found = pending;
    }
    return found;
  }

  /** @param suffix topic levels of a response that belongs to no request any more */
  respondedLate(suffix: string): void {
    if (suffix.split('/', 1)[0] === this.#ackOperation) {
      this.answeredAck();
    }
  }

  /** An acknowledgement has had no response in its time, and none has had one since it was sent. */
  get ignoresAcks(): boolean {
    return this.#ignoresAcksSince !== undefined;
  }

  /** Whether it has ignored them for so long. @param ms milliseconds @param readsSince see `InboundQueue.readsSince` */
  hasIgnoredAcks(ms: number, readsSince: number): boolean {
    const since = this.#ignoresAcksSince;
    return since !== undefined && performance.now() - Math.max(since, readsSince) >= ms;
  }

  answeredAck(): void {
    this.#ignoresAcksSince = undefined;
    this.#ackedAt = performance.now();
  }

  /** Call when an acknowledgement has had no response in its time. */
  missedAck({ deadline, timeout }: Pending): void {
    const sentAt = deadline - timeout;
    if (this.#ackedAt <= sentAt) {
      this.#ignoresAcksSince ??= performance.now();
    }
  }

  /** Notes that it is on its way; it takes a place until `uncount` or `remove`. */
  add(pending: Pending): void {
    pending.index = this.sent.push(pending) - 1;
    pending.isCounted = true;
    if (pending.trafficClass === 'ack') {
      this.#ackOperation = pending.request.operation;
    }
    this.#count(pending, 1);
  }

  /** It gives its place to others. */
  freeSlot(pending: Pending): void {
    if (pending.isCounted) {
      this.#count(pending, -1);
    }
    pending.isCounted = false;
  }

  /** In constant time: the last one takes the place of the one that leaves. */
  remove(pending: Pending): void {
    this.freeSlot(pending);
    this.usedAt = performance.now();
    const last = this.sent.pop() as Pending;
    if (last === pending) {
      return;
    }
    this.sent[pending.index] = last;
    last.index = pending.index;
  }

  #count({ trafficClass }: Pending, change: 1 | -1): void {
    if (trafficClass === 'ack') {
      this.acksInFlight += change;
    } else {
      this.requestsInFlight += change;
    }
  }
}
