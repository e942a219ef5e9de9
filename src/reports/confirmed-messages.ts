// Messages that flows have confirmed and that a broker may send again all the same: it has not had the acknowledgement.
import { FifoMap } from '../collections/fifo-map.ts';
import { LinkedList } from '../collections/linked-list.ts';
import { SetMap } from '../collections/set-map.ts';
import { expectedUntil, keyOf } from './expected-messages.ts';
import type { Confirmed, OpenMessage } from './open-message.ts';

/** As many as MQTT has packet ids; beyond it the oldest are forgotten. */
const MAX_CONFIRMED = 65_535;
/** A longer payload is not kept until the next look. */
const MAX_PAYLOAD_BYTES = 1_000;
/** How often it is looked whether something is too old. */
const LOOK_MS = 10_000;

/** Services of one Node-RED are fewer. */
const MAX_LEFT = 100;

/** By client id, of services that a deploy has ended: the ones that it starts go on with them. */
const LEFT_BY_CLIENT = new FifoMap<ConfirmedMessages>(MAX_LEFT);

/** Keeps them for the next connection of this client, for as long as they are expected. */
export function leaveConfirmed(clientId: string, messages: ConfirmedMessages): void {
  LEFT_BY_CLIENT.delete(clientId);
  LEFT_BY_CLIENT.add(clientId, messages);
}

/** Those that an earlier service of this process has left. */
export function takeConfirmed(clientId: string): ConfirmedMessages | undefined {
  const left = LEFT_BY_CLIENT.get(clientId);
  LEFT_BY_CLIENT.delete(clientId);
  return left;
}

export class ConfirmedMessages {
  /** Their key is not known yet: most are settled soon, and a key takes longer than all the rest. */
  readonly #fresh = new LinkedList<OpenMessage>();
  /** Confirmed before those, the oldest first. */
  readonly #keyed = new LinkedList<Confirmed>();
  readonly #byKey = new SetMap<string, Confirmed>();
  #lookAt = 0;

  /** @param now in milliseconds of `performance.now()` */
  isEmpty(now: number): boolean {
    if (this.#keyed.size > 0 && now >= this.#lookAt) {
      this.#lookAt = now + LOOK_MS;
      for (const confirmed of this.#keyed) {
        if (confirmed.expectedUntil <= now) {
          this.#forget(confirmed);
        }
      }
    }
    return this.#size === 0;
  }

  /** The acknowledgement of this one, in no other list, is on its way to the broker. */
  add(message: OpenMessage): void {
    this.#fresh.add(message);
    if (message.received.payload.length > MAX_PAYLOAD_BYTES) {
      this.shrink();
    }
    this.#forgetOldest();
  }

  /** The connection of this one was lost, and it may come again. */
  addLost(message: OpenMessage): void {
    const { lostAt, expectedUntil } = message;
    this.shrink();
    this.#recognise(message, lostAt, expectedUntil);
    this.#forgetOldest();
  }

  /** It does not come again. */
  delete(message: OpenMessage): void {
    if (message.confirmed) {
      this.#forget(message.confirmed);
    } else {
      this.#fresh.delete(message);
    }
  }

  /** Call it twice a second: keeps of each message what recognises it; a payload keeps the whole chunk alive that it came in. */
  shrink(): void {
    for (const message of this.#fresh) {
      this.#fresh.delete(message);
      message.confirmed = this.#recognise(message, undefined, Number.POSITIVE_INFINITY);
      message.forgetContent();
    }
  }

  /** Whether this is one of them, which has come again now. */
  take(key: string, now: number): boolean {
    this.shrink();
    for (const confirmed of this.#byKey.of(key)) {
      const isExpected = confirmed.expectedUntil > now;
      this.#forget(confirmed);
      if (isExpected) {
        return true;
      }
    }
    return false;
  }

  /** The connection is a new one. @param isPresent the broker has kept the session */
  connected(broker: string, isPresent: boolean, now: number): void {
    this.shrink();
    for (const confirmed of this.#keyed) {
      const isThere = confirmed.broker === broker;
      if (isThere && !isPresent) {
        this.#forget(confirmed);
      } else {
        confirmed.lostAt ??= now;
        confirmed.expectedUntil = expectedUntil(confirmed.lostAt, isThere, now);
      }
    }
  }

  clear(): void {
    this.#byKey.clear();
    this.#fresh.clear();
    this.#keyed.clear();
  }

  get #size(): number {
    return this.#fresh.size + this.#keyed.size;
  }

  #recognise(
    { received, broker }: OpenMessage,
    lostAt: number | undefined,
    expectedUntil: number,
  ): Confirmed {
    const links = { before: undefined, after: undefined, list: undefined };
    const confirmed = { key: keyOf(received), broker, lostAt, expectedUntil, ...links };
    this.#keyed.add(confirmed);
    this.#byKey.add(confirmed.key, confirmed);
    return confirmed;
  }

  #forgetOldest(): void {
    if (this.#size > MAX_CONFIRMED) {
      if (this.#keyed.first) {
        this.#forget(this.#keyed.first);
      } else if (this.#fresh.first) {
        this.#fresh.delete(this.#fresh.first);
      }
    }
  }

  #forget(confirmed: Confirmed): void {
    if (this.#keyed.delete(confirmed)) {
      this.#byKey.delete(confirmed.key, confirmed);
    }
  }
}
