// Requests that wait to be sent: no more than may wait, and while their gateway cannot be asked not longer than their time.
import { Ranking } from '../collections/ranking.ts';
import type { ServiceError } from '../errors.ts';
import type { AskedGateways } from './asked-gateways.ts';
import { type DeadlineCheck, Deadlines } from './deadlines.ts';
import type { GatewayRequests, Line, Pending } from './gateway-requests.ts';
import type { PublishWindow } from './publish-window.ts';
import { endOf, type Reading } from './reading.ts';
import { queueFull, unsent } from './request-errors.ts';
import type { TrafficClass } from './send-queue.ts';

/** Acknowledgements of a long backfill may wait beyond `maxQueue`; this only bounds memory. */
const MAX_ACKS_WAITING = 100_000;
/**
 * Where more of them wait for a gateway that answers none, no further one is taken whose response somebody waits for: what
 * leaves there takes two minutes for so many, with the timeout as installed, and the device sends its samples again.
 */
const MAX_ACKS_WAITING_IGNORED = 1_000;
/** So often at most it is looked at whether the broker still acknowledges anything, while requests wait for that. */
const WATCH_WINDOW_MS = 1_000;

/** What they need of the broker connection. */
interface Transport extends Reading {
  readonly connected: boolean;
  readonly broker: string;
  isFilterActive(filter: string): boolean;
}

export class WaitingRequests {
  readonly #max: Readonly<Record<TrafficClass, number>>;
  readonly #gateways: AskedGateways;
  readonly #window: PublishWindow<GatewayRequests>;
  readonly #transport: Transport;
  /** The gateways by what waits there, without the requests that wait for the grant of their filter alone. */
  readonly #lines: Readonly<Record<TrafficClass, Ranking<Line>>> = {
    request: new Ranking(),
    ack: new Ranking(),
  };
  /** Those that do, of all gateways. */
  #withPlace = 0;
  readonly #deadlines = new Deadlines((now) => this.#expire(now));

  /** @param window of the publishes that the broker takes */
  constructor(
    maxQueue: number,
    gateways: AskedGateways,
    window: PublishWindow<GatewayRequests>,
    transport: Transport,
  ) {
    this.#max = { request: maxQueue, ack: MAX_ACKS_WAITING };
    this.#gateways = gateways;
    this.#window = window;
    this.#transport = transport;
  }

  get isEmpty(): boolean {
    const { request, ack } = this.#lines;
    return this.#withPlace === 0 && request.total === 0 && ack.total === 0;
  }

  /** Whether a gateway can be asked: its responses arrive once the broker has granted their filter. */
  isOpen(gateway: GatewayRequests): boolean {
    return this.#transport.connected && this.#transport.isFilterActive(gateway.filter);
  }

  /** Call `stay` for one that `next` has not brought. */
  add(pending: Pending): void {
    const { trafficClass, gateway } = pending;
    pending.group.add(pending);
    gateway.queue.push(pending);
    gateway.waiting++;
    this.#lines[trafficClass].increase(gateway.lines[trafficClass]);
  }

  /** It has not left at once; ends one where as many wait as may. @returns whether its gateway cannot be asked yet */
  stay(pending: Pending): boolean {
    const { trafficClass, gateway } = pending;
    const isOpen = this.isOpen(gateway);
    if (trafficClass === 'request' && this.#lacksGrantOnly(gateway, isOpen)) {
      this.#lines.request.decrease(gateway.lines.request);
      this.#placed(gateway, 1);
    }
    const max = this.#max[trafficClass];
    if (isOpen && this.#isIgnored(pending) && gateway.lines.ack.count > MAX_ACKS_WAITING_IGNORED) {
      this.reject(pending, queueFull(MAX_ACKS_WAITING_IGNORED));
    } else if (this.#lines[trafficClass].total > max) {
      this.reject(this.#oneTooMany(pending), queueFull(max));
    }
    if (isOpen || pending.isRemoved) {
      return false;
    }
    this.#setDeadline(pending, pending.waitingSince);
    return true;
  }

  /** The one of the gateway that leaves now; undefined: none may. */
  next(gateway: GatewayRequests): Pending | undefined {
    const pending = gateway.queue.next(gateway.requestsInFlight, gateway.acksInFlight);
    if (pending) {
      // Of a gateway's requests those leave first that wait for the grant alone.
      this.#uncount(pending, gateway.withPlace > 0);
    }
    return pending;
  }

  /** What `next` would take. */
  peek(gateway: GatewayRequests): Pending | undefined {
    return gateway.queue.peek(gateway.requestsInFlight, gateway.acksInFlight);
  }

  /** It leaves now. */
  take(pending: Pending): void {
    pending.gateway.queue.remove(pending);
    this.#uncount(pending, pending.gateway.withPlace > 0);
  }

  /** They wait for the broker to acknowledge what others have sent. */
  windowIsFull(): void {
    this.#deadlines.add(performance.now() + WATCH_WINDOW_MS);
  }

  /** While the broker (or its grant) is away, a waiting request has its timeout and then ends `NOT_CONNECTED`. */
  updateDeadlines(gateway: GatewayRequests): void {
    if (gateway.waiting === 0) {
      return;
    }
    const isOpen = this.isOpen(gateway);
    const now = performance.now();
    for (const pending of gateway.queue) {
      if (isOpen) {
        pending.deadline = Number.POSITIVE_INFINITY;
      } else {
        this.#setDeadline(pending, now);
      }
    }
  }

  /** Does nothing to one that has left. */
  reject(pending: Pending, error: ServiceError): void {
    if (!pending.gateway.queue.remove(pending)) {
      return;
    }
    pending.group.delete(pending);
    // Where others wait for a place, one of them has that of this one.
    this.#uncount(pending, pending.gateway.lines.request.count === 0);
    pending.reject(error);
  }

  /** How one ends that could not be sent in its time. */
  unsent(timeout: number, isOpen: boolean): ServiceError {
    const { broker, connected } = this.#transport;
    if (isOpen) {
      return unsent(broker, 'notAcknowledged', timeout);
    }
    return unsent(broker, connected ? 'notGranted' : 'unreachable', timeout);
  }

  close(): void {
    this.#deadlines.clear();
  }

  /** For another time of its own: a gateway that is only slow, or a busy machine, may leave one without its response. */
  #isIgnored({ trafficClass, awaitResponse, gateway, timeout }: Pending): boolean {
    const { readsSince } = this.#transport;
    return trafficClass === 'ack' && awaitResponse && gateway.hasIgnoredAcks(timeout, readsSince);
  }

  #setDeadline(pending: Pending, now: number): void {
    if (pending.deadline === Number.POSITIVE_INFINITY) {
      pending.deadline = now + pending.timeout;
      pending.heldBefore = this.#transport.heldMs;
    }
    this.#deadlines.add(pending.deadline);
  }

  #lacksGrantOnly(gateway: GatewayRequests, isOpen: boolean): boolean {
    return !isOpen && this.#transport.connected && !this.#window.isFull && gateway.hasPlaces;
  }

  /**
   * One too many waits: a gateway that does not answer keeps no place from others, and what is of a low priority none from
   * what is of a higher one there.
   * @returns which one ends
   */
  #oneTooMany({ trafficClass, gateway: own }: Pending): Pending {
    const { count, gateway } = this.#lines[trafficClass].first as Line;
    const { queue } = own.lines[trafficClass].count === count ? own : gateway;
    return queue.findLast(trafficClass) as Pending;
  }

  #uncount({ trafficClass, gateway }: Pending, hasPlace: boolean): void {
    gateway.waiting--;
    if (trafficClass === 'request' && hasPlace) {
      this.#placed(gateway, -1);
    } else {
      this.#lines[trafficClass].decrease(gateway.lines[trafficClass]);
    }
  }

  #placed(gateway: GatewayRequests, change: 1 | -1): void {
    gateway.withPlace += change;
    this.#withPlace += change;
  }

  #expire(now: number): DeadlineCheck {
    let next = Number.POSITIVE_INFINITY;
    let checked = this.#gateways.size;
    for (const gateway of this.#gateways) {
      checked += gateway.waiting;
      const isOpen = this.isOpen(gateway);
      if (gateway.waiting === 0 || (isOpen && !this.#window.isFull)) {
        continue;
      }
      for (const pending of [...gateway.queue]) {
        // At an open gateway it waits without limit, as long as the broker acknowledges what others have sent.
        const since = Math.max(this.#window.changedAt, pending.waitingSince);
        const own = isOpen ? since + pending.timeout : pending.deadline;
        const heldBefore = isOpen
          ? Math.max(this.#window.heldBefore, pending.heldBefore)
          : pending.heldBefore;
        // What it waits for may have come before.
        const deadline = endOf(this.#transport, own, pending.timeout, heldBefore);
        if (deadline <= now) {
          this.reject(pending, this.unsent(pending.timeout, isOpen));
        } else {
          next = Math.min(next, deadline);
        }
      }
    }
    return { next, checked };
  }
}
