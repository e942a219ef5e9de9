// Requests that were sent: each ends with its response, with what is wrong with it, or when its time is over.
import { randomBytes } from 'node:crypto';
import { IdentifiedItems } from '../collections/identified-items.ts';
import type { ServiceError } from '../errors.ts';
import { type DeadlineCheck, Deadlines } from './deadlines.ts';
import type { GatewayRequests, Pending } from './gateway-requests.ts';
import { endOf, type Reading } from './reading.ts';
import { notJson, timedOut } from './request-errors.ts';

/** Of ids: responses to other clients arrive here too, so those of requests begin with something of our own. */
const PREFIX_BYTES = 6;
/**
 * Acknowledgements that the broker has and that take no place; further ones keep theirs, or where nobody waits for the
 * response yet, that is not kept.
 */
const MAX_WITHOUT_PLACE = 10_000;
/**
 * Of these at one gateway, where somebody waits for the response. When it is there again it has them all at once: ten in a
 * second are answered within 30 seconds, the timeout as installed. Fewer would hold up more at a broker that waits for a
 * flow to confirm.
 */
const MAX_IGNORED_ACKS = 256;

export class SentRequests {
  readonly #reading: Reading;
  readonly #freed: (gateway: GatewayRequests) => void;
  readonly #inFlight = new IdentifiedItems<Pending>(randomBytes(PREFIX_BYTES).toString('hex'));
  readonly #deadlines = new Deadlines((now) => this.#expire(now));
  /** Of those in flight, which take no place of their gateway any more. */
  #withoutPlace = 0;
  /** Of these, which nobody waits for yet. */
  #unawaited = 0;

  /** @param freed called when a request of the gateway has given its place to others */
  constructor(reading: Reading, freed: (gateway: GatewayRequests) => void) {
    this.#reading = reading;
    this.#freed = freed;
  }

  /** How many have no response yet. */
  get size(): number {
    return this.#inFlight.size;
  }

  /** How many of them somebody waits for. */
  get awaited(): number {
    return this.#inFlight.size - this.#unawaited;
  }

  /** The connection has ended. @returns what was sent over it and not acknowledged; each is told of once */
  takeUnacknowledged(): Pending[] {
    const unacknowledged = this.#inFlight.values().filter((pending) => pending.isUnacknowledged);
    for (const pending of unacknowledged) {
      pending.isUnacknowledged = false;
    }
    return unacknowledged;
  }

  /** It leaves now; gives it its id. */
  add(pending: Pending): void {
    pending.deadline = performance.now() + pending.timeout;
    pending.heldBefore = this.#reading.heldMs;
    this.#inFlight.add(pending);
    pending.gateway.add(pending);
    pending.sent?.();
    this.#deadlines.add(pending.deadline);
  }

  find(id: string): Pending | undefined {
    return this.#inFlight.find(id);
  }

  /** @param body of the response: an object, or bytes that are no JSON object */
  respond(pending: Pending, body: unknown): void {
    if (!this.#settle(pending)) {
      return;
    }
    if (pending.trafficClass === 'ack') {
      pending.gateway.answeredAck();
    }
    if (body instanceof Uint8Array) {
      pending.reject(notJson(pending.request, body));
    } else {
      pending.resolve(body);
    }
    this.#freed(pending.gateway);
  }

  /** Does nothing to one that has ended already. */
  fail(pending: Pending, error: ServiceError): void {
    if (!this.#settle(pending)) {
      return;
    }
    pending.reject(error);
    this.#freed(pending.gateway);
  }

  /** The broker has it. */
  delivered(pending: Pending): void {
    pending.isUnacknowledged = false;
    pending.delivered?.();
    const { trafficClass, gateway, awaitResponse } = pending;
    const isIgnored = trafficClass === 'ack' && gateway.ignoresAcks && gateway.ignoredAcks < MAX_IGNORED_ACKS;
    if (pending.isCounted && (isIgnored || !awaitResponse)) {
      this.#freePlace(pending);
    }
  }

  close(): void {
    this.#deadlines.clear();
  }

  /** It makes room for others; where nobody waits, its response is kept for one who may ask for it later. */
  #freePlace(pending: Pending): void {
    if (this.#withoutPlace < MAX_WITHOUT_PLACE) {
      pending.gateway.freeSlot(pending);
      this.#countWithoutPlace(pending, 1);
      this.#freed(pending.gateway);
    } else if (!pending.awaitResponse) {
      this.fail(pending, timedOut(pending.request, pending.timeout));
    }
  }

  /** Takes a request out of those in flight; false when it has ended already. */
  #settle(pending: Pending): boolean {
    if (!this.#inFlight.delete(pending)) {
      return false;
    }
    pending.group.delete(pending);
    pending.place?.ended();
    if (!pending.isCounted) {
      this.#countWithoutPlace(pending, -1);
    }
    pending.gateway.remove(pending);
    return true;
  }

  #countWithoutPlace({ awaitResponse, gateway }: Pending, change: 1 | -1): void {
    this.#withoutPlace += change;
    if (awaitResponse) {
      gateway.ignoredAcks += change;
    } else {
      this.#unawaited += change;
    }
  }

  #expire(now: number): DeadlineCheck {
    const items = this.#inFlight.values();
    let next = Number.POSITIVE_INFINITY;
    for (const pending of items) {
      // Before, the response may have come, behind the reports that have come meanwhile.
      const deadline = endOf(this.#reading, pending.deadline, pending.timeout, pending.heldBefore);
      if (deadline <= now) {
        if (pending.trafficClass === 'ack') {
          pending.gateway.missedAck(pending);
        }
        this.fail(pending, timedOut(pending.request, pending.timeout));
      } else {
        next = Math.min(next, deadline);
      }
    }
    return { next, checked: items.length };
  }
}
