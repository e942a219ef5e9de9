// Open messages that a broker sends again over a new connection, recognised by topic and content, the oldest first.
import { hash } from 'node:crypto';
import { Queue } from '../collections/queue.ts';
import type { Message, ReceivedMessage } from './message.ts';

interface Expected {
  readonly received: Message;
  /** In milliseconds of `performance.now()`; 0: not any more. */
  readonly expectedUntil: number;
}

/** So long after a connection a broker may send again what was not acknowledged before. */
const MAX_EXPECTED_MS = 10 * 60_000;
/** So long the session of an address that is not in use is expected to be there still; as long as it is asked to keep it. */
const MAX_AWAY_MS = 24 * 3_600_000;

/**
 * Until when a message may come again.
 * @param lostAt when its connection was lost, in milliseconds of `performance.now()`
 * @param isConnected to the address from which it came
 */
export function expectedUntil(lostAt: number, isConnected: boolean, now: number): number {
  const latest = lostAt + MAX_AWAY_MS;
  return isConnected ? Math.min(latest, now + MAX_EXPECTED_MS) : latest;
}

export class ExpectedMessages<T extends Expected> {
  readonly #byKey = new Map<string, Queue<T>>();

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  add(message: T): void {
    const key = keyOf(message.received);
    const expected = this.#byKey.get(key) ?? new Queue();
    expected.push(message);
    this.#byKey.set(key, expected);
  }

  /** The one that this is. @param key of a message @param now in milliseconds of `performance.now()` */
  take(key: string, now: number): T | undefined {
    const expected = this.#byKey.get(key);
    let message = expected?.shift();
    while (message && message.expectedUntil <= now) {
      message = expected?.shift();
    }
    if (expected?.size === 0) {
      this.#byKey.delete(key);
    }
    return message;
  }

  /** Forgets those whose time is over. */
  endOld(now: number): void {
    for (const [key, expected] of this.#byKey) {
      expected.filter((message) => message.expectedUntil > now);
      if (expected.size === 0) {
        this.#byKey.delete(key);
      }
    }
  }

  clear(): void {
    this.#byKey.clear();
  }
}

/** Equal for messages of the same topic and content. A payload itself would be in memory twice. */
export function keyOf({ topic, payload }: ReceivedMessage): string {
  // One text of one byte a character takes half the time of an object that is fed in parts.
  return hash('sha1', `${topic}\0${payload.toString('latin1')}`, 'base64');
}
