// Recognises the copies that a broker sends of one report when several subscriptions of this client match it.
import { createHash } from 'node:crypto';

/** So often in a row a broker has to act against what was learnt of it. */
const CHANGE_OF_MIND = 3;
/** Retained reports that are remembered until the subscriptions change; a copy of a further one passes. */
const MAX_RETAINED = 10_000;

const MAX_TOPIC = 1_000;

interface Last {
  topic: string;
  payload: Buffer;
  copies: number;
  expected: number;
  isCertain: boolean;
}

/**
 * MQTT lets a broker send a message once for each matching subscription or once for all. Copies come one right after
 * the other, with the same topic and payload, so the first few reports show what this broker does. A report that a
 * sender really repeats, down to its time, can be taken for a copy only at a broker that sends copies.
 */
export class Copies {
  #last: Last | undefined;
  #behaviour: 'unknown' | 'once' | 'each' = 'unknown';
  #against = 0;
  /** The message before, where a leftover subscription may bring each one twice. */
  #previous: Pick<Last, 'topic' | 'payload'> | undefined;
  /** A digest of the payload by topic. */
  readonly #retained = new Map<string, string>();

  /**
   * @param expected how many subscriptions match the topic
   * @param isCertain false: at most so many, since subscriptions are changing; nothing is learnt then
   * @returns true: the report was received already
   */
  isCopy(topic: string, payload: Buffer, expected: number, retained: boolean, isCertain = true): boolean {
    if (retained) return expected > 1 && this.#isRetainedCopy(topic, payload);
    const last = this.#last;
    if (last && last.copies < last.expected && isSame(last, topic, payload)) {
      last.copies++;
      if (isCertain && last.copies === last.expected) this.#learn('each');
      return this.#behaviour !== 'once';
    }
    if (isCertain && last?.isCertain && last.copies === 1) this.#learn('once');
    this.#last = expected > 1 ? { topic, payload, copies: 1, expected, isCertain } : undefined;
    return false;
  }

  /** Whether this message is the same as the one before. */
  isRepeat(topic: string, payload: Buffer): boolean {
    const previous = this.#previous;
    this.#previous = { topic, payload };
    return previous !== undefined && isSame(previous, topic, payload);
  }

  /** Another broker, or other subscriptions: retained reports come again. */
  reset(isSameBroker: boolean): void {
    this.#last = undefined;
    this.#previous = undefined;
    this.#retained.clear();
    if (!isSameBroker) this.#behaviour = 'unknown';
  }

  /** They come for one subscription after the other, so copies do not stand side by side. */
  #isRetainedCopy(topic: string, payload: Buffer): boolean {
    const digest = createHash('sha1').update(payload).digest('base64');
    if (this.#retained.get(topic) === digest) return true;
    if (this.#retained.size < MAX_RETAINED && topic.length <= MAX_TOPIC) this.#retained.set(topic, digest);
    return false;
  }

  #learn(evidence: 'once' | 'each'): void {
    if (this.#behaviour === evidence) this.#against = 0;
    else if (this.#behaviour === 'unknown' || ++this.#against >= CHANGE_OF_MIND) {
      this.#behaviour = evidence;
      this.#against = 0;
    }
  }
}

function isSame(last: Pick<Last, 'topic' | 'payload'>, topic: string, payload: Buffer): boolean {
  return last.topic === topic && last.payload.equals(payload);
}
