// Messages that a broker sends again over a new connection, recognised by topic and content, the oldest first.
import { createHash } from 'node:crypto';
import { Queue } from '../collections/queue.ts';
import type { Message } from './message.ts';

interface Expected {
  readonly received: Message;
  /** In milliseconds of `performance.now()`. */
  readonly expectedUntil: number;
}

export class ExpectedMessages<T extends Expected> {
  readonly #byContent = new Map<string, Queue<T>>();

  add(message: T): void {
    const key = keyOf(message.received);
    const expected = this.#byContent.get(key) ?? new Queue();
    expected.push(message);
    this.#byContent.set(key, expected);
  }

  /** The one that this is, which is not expected any more. */
  take(received: Message): T | undefined {
    if (this.#byContent.size === 0) {
      return undefined;
    }
    const key = keyOf(received);
    const expected = this.#byContent.get(key);
    const message = expected?.shift();
    if (expected?.size === 0) {
      this.#byContent.delete(key);
    }
    return message;
  }

  /** Forgets those whose time is over. @param now in milliseconds of `performance.now()` */
  endOld(now: number): void {
    for (const [key, expected] of this.#byContent) {
      expected.filter(({ expectedUntil }) => expectedUntil > now);
      if (expected.size === 0) {
        this.#byContent.delete(key);
      }
    }
  }

  clear(): void {
    this.#byContent.clear();
  }
}

/** A payload itself would be in memory twice. */
function keyOf({ topic, payload }: Message): string {
  return `${createHash('sha1').update(payload).digest('base64')} ${topic}`;
}
