// Messages that flows have confirmed and that a broker may send again all the same: it has not had the acknowledgement.
import { type Linked, LinkedList } from '../collections/linked-list.ts';
import { PackedQueue } from '../collections/packed-queue.ts';
import { SetMap } from '../collections/set-map.ts';
import { expectedUntil, keyOf } from './expected-messages.ts';
import type { ReceivedMessage } from './message.ts';
import type { OpenMessage } from './open-message.ts';

/** As many as MQTT has packet ids; beyond it the oldest are forgotten. */
const MAX_CONFIRMED = 65_535;
/** What is longer, topic and payload together, is not kept whole. */
const MAX_PACKED = 1_000;
/** How often it is looked whether something is too old. */
const LOOK_MS = 10_000;
/** Until the connection is lost. */
const FOREVER = Number.POSITIVE_INFINITY;

/** Recognises a message when it comes again. Times are milliseconds of `performance.now()`. */
interface Confirmed extends Linked<Confirmed> {
  readonly key: string;
  /** The address by which it came. */
  readonly broker: string;
  /** Of its acknowledgement, among those of the present connection. */
  readonly order: number;
  /** See `OpenMessage`. */
  readonly isResent: boolean;
  /** When its connection was lost; undefined: it is the present one. */
  lostAt: number | undefined;
  expectedUntil: number;
}

export class ConfirmedMessages {
  /** Of the present connection; most are settled soon, and a key takes longer than all the rest. */
  readonly #fresh = new PackedQueue();
  /** By which `fresh` came. */
  #broker = '';
  /** Of the present connection too, before `fresh`. */
  readonly #recognised = new LinkedList<Confirmed>();
  readonly #byOrder = new Map<number, Confirmed>();
  /** Without those that came marked. */
  readonly #presentByKey = new SetMap<string, Confirmed>();
  /** Of connections that were lost. */
  readonly #lost = new LinkedList<Confirmed>();
  readonly #byKey = new SetMap<string, Confirmed>();
  #lookAt = 0;

  /** @param now in milliseconds of `performance.now()` */
  isEmpty(now: number): boolean {
    if (this.#lost.size > 0 && now >= this.#lookAt) {
      this.#lookAt = now + LOOK_MS;
      for (const confirmed of this.#lost) {
        if (confirmed.expectedUntil <= now) {
          this.#forget(confirmed);
        }
      }
    }
    return this.#size === 0;
  }

  /** The acknowledgement of this one is on its way to the broker. @param order of it, see `DeferralEvents` */
  add({ received, broker, isResent }: OpenMessage, order: number): void {
    const { topic, payload } = received;
    this.#broker = broker;
    if (!isResent && topic.length + payload.length <= MAX_PACKED) {
      this.#fresh.push(order, topic, payload);
    } else {
      this.#recogniseFresh();
      this.#recognise(received, broker, order, isResent);
    }
    this.#forgetOldest();
  }

  /** The connection of this one was lost, and it may come again. */
  addLost({ received, broker, lostAt, expectedUntil }: OpenMessage): void {
    const known = { broker, order: 0, isResent: true, lostAt, expectedUntil };
    this.#addLost({ key: keyOf(received), ...known, before: undefined, after: undefined, list: undefined });
    this.#forgetOldest();
  }

  /** Those up to this order do not come again. */
  settled(order: number): void {
    for (let { first } = this.#recognised; first && first.order <= order; { first } = this.#recognised) {
      this.#forget(first);
    }
    this.#fresh.dropTo(order);
  }

  /**
   * One of the present connection that has come once more: it counts as a new one then. One whose number was not
   * acknowledged here is known by its content: a broker that had the acknowledgement just then sends it under another. Not
   * where the first one was marked, too: a broker that sends after a loss what was in flight has equal ones among it.
   * @param order see `Deferrable.ackedOrder`
   */
  takePresent(key: string, order: number): { isResent: boolean } | undefined {
    this.#recogniseFresh();
    if (order === 0) {
      // The one that it is taken for may still come itself.
      const [first] = this.#presentByKey.of(key);
      return first;
    }
    const confirmed = this.#byOrder.get(order);
    if (confirmed?.key !== key) {
      return undefined;
    }
    this.#forget(confirmed);
    return confirmed;
  }

  /** Whether it is one of a lost connection that has come again now: it counts as a new one then. */
  takeLost(key: string, now: number): boolean {
    for (const confirmed of this.#byKey.of(key)) {
      const isExpected = confirmed.expectedUntil > now;
      this.#forget(confirmed);
      if (isExpected) {
        return true;
      }
    }
    return false;
  }

  /** The connection has ended. */
  left(now: number): void {
    this.#recogniseFresh();
    for (const confirmed of this.#recognised) {
      this.#recognised.delete(confirmed);
      confirmed.lostAt = now;
      this.#addLost(confirmed);
    }
    this.#byOrder.clear();
    this.#presentByKey.clear();
  }

  /** All with this key, of connections that have ended. */
  forget(key: string): void {
    for (const confirmed of this.#byKey.of(key)) {
      this.#forget(confirmed);
    }
  }

  /** The connection is a new one. @param isPresent the broker has kept the session */
  connected(broker: string, isPresent: boolean, now: number): void {
    this.left(now);
    for (const confirmed of this.#lost) {
      const isThere = confirmed.broker === broker;
      if (isThere && !isPresent) {
        this.#forget(confirmed);
      } else {
        confirmed.expectedUntil = expectedUntil(confirmed.lostAt ?? now, isThere, now);
      }
    }
  }

  get #size(): number {
    return this.#fresh.size + this.#recognised.size + this.#lost.size;
  }

  #recogniseFresh(): void {
    const broker = this.#broker;
    for (const { order, text, content } of this.#fresh.clear()) {
      this.#recognise({ topic: text, payload: content }, broker, order, false);
    }
  }

  #recognise(received: ReceivedMessage, broker: string, order: number, isResent: boolean): void {
    const times = { lostAt: undefined, expectedUntil: FOREVER };
    const links = { before: undefined, after: undefined, list: undefined };
    const confirmed = { key: keyOf(received), broker, order, isResent, ...times, ...links };
    this.#recognised.add(confirmed);
    this.#byOrder.set(order, confirmed);
    if (!isResent) {
      this.#presentByKey.add(confirmed.key, confirmed);
    }
  }

  #addLost(confirmed: Confirmed): void {
    this.#lost.add(confirmed);
    this.#byKey.add(confirmed.key, confirmed);
  }

  #forgetOldest(): void {
    if (this.#size > MAX_CONFIRMED) {
      const oldest = this.#lost.first ?? this.#recognised.first;
      if (oldest) {
        this.#forget(oldest);
      } else {
        this.#fresh.drop();
      }
    }
  }

  #forget(confirmed: Confirmed): void {
    if (confirmed.lostAt === undefined) {
      this.#recognised.delete(confirmed);
      this.#byOrder.delete(confirmed.order);
      this.#presentByKey.delete(confirmed.key, confirmed);
    } else {
      this.#lost.delete(confirmed);
      this.#byKey.delete(confirmed.key, confirmed);
    }
  }
}
