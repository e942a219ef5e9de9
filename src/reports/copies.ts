// Recognises the copies that a broker sends of one report when several subscriptions of this client match it.
import { createHash } from 'node:crypto';

/** So often in a row a broker has to act against what was learnt of it. */
const MIN_CONTRADICTIONS = 3;
/** Retained reports that are remembered until the subscriptions change; a copy of a further one passes. */
const MAX_RETAINED = 10_000;

/** A copy of what has a longer one passes: no gateway has, and it would be remembered. */
const MAX_TOPIC_LENGTH = 1_000;

/** Reports whose copies may still come: a broker queues what has a higher QoS, and sends others in between. */
const MAX_AWAITED = 1_000;

/**
 * A copy that nothing holds up comes at once. This is more than a flow that blocks the process or a bad network takes: of
 * what comes even later a copy would pass, which is better than to lose what a sender repeats.
 */
const MAX_BETWEEN_MS = 10_000;
/** What comes later may be a copy, or what a sender repeats: nothing is learnt from it. */
const MAX_TELLING_MS = 1_000;

const ALWAYS = (): boolean => true;

interface Message {
  topic: string;
  payload: Buffer;
}

interface Awaited {
  topic: string;
  /** A payload itself would keep the whole chunk alive that it came in. */
  digest: string;
  copies: number;
  /** When the first came, in milliseconds of `performance.now()`. */
  since: number;
  expected: number;
  isCertain: boolean;
}

/**
 * MQTT lets a broker send a message once for each matching subscription or once for all. Copies come close together,
 * with the same topic and payload, so the first few reports show what this broker does. A report that a sender really
 * repeats, down to its time, can be taken for a copy only at a broker that sends copies, or within seconds.
 */
export class Copies {
  readonly #now: () => number;
  /** By topic, the oldest first: what was new here. */
  readonly #awaited = new Map<string, Awaited>();
  /**
   * By topic: what flows had already when it came, of a connection that was lost. One that was new may stand beside it: one
   * that came before it and of which a broker sends fewer copies than expected, or behind it over the lost connection.
   */
  readonly #recognised = new Map<string, Awaited>();
  #behaviour: 'unknown' | 'once' | 'each' = 'unknown';
  #contradictions = 0;
  /** The message before, where a leftover subscription may bring each one twice. */
  #previous: Message | undefined;
  /** A digest of the payload by topic. */
  readonly #retained = new Map<string, string>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * @param expected how many subscriptions match the topic
   * @param isCertain false: at most so many, since subscriptions are changing; nothing is learnt then
   * @param hasCaughtUp whether all has come that the broker had at that time, in milliseconds of `performance.now()`
   * @returns true: the report was received already
   */
  isCopy(
    topic: string,
    payload: Buffer,
    expected: number,
    retained: boolean,
    isCertain = true,
    hasCaughtUp: (since: number) => boolean = ALWAYS,
  ): boolean {
    if (expected < 2 || topic.length > MAX_TOPIC_LENGTH) {
      return false;
    }
    if (retained) {
      return this.#isRetainedCopy(topic, payload);
    }
    const digest = digestOf(payload);
    const now = this.#now();
    const list = this.#listOf(topic, digest);
    const first = list?.get(topic);
    if (list && first && !(now - first.since >= MAX_BETWEEN_MS && hasCaughtUp(first.since))) {
      first.copies++;
      // One copy shows it; fewer than expected come where the broker has refused a subscription.
      if (isCertain && first.copies === 2 && now - first.since < MAX_TELLING_MS) {
        this.#learn('each');
      }
      if (first.copies >= first.expected) {
        list.delete(topic);
      }
      return this.#behaviour !== 'once';
    }
    const before = this.#awaited.get(topic);
    if (before) {
      this.#stopAwaiting(before);
    } else if (this.#awaited.size >= MAX_AWAITED) {
      this.#stopAwaiting(this.#awaited.values().next().value as Awaited);
    }
    this.#recognised.delete(topic);
    this.#awaited.set(topic, { topic, digest, copies: 1, since: now, expected, isCertain });
    return false;
  }

  /**
   * Flows have this one already, and the broker has sent it again over another connection: others of it may never have
   * come.
   * @param expected how many subscriptions match the topic
   */
  recognised(topic: string, payload: Buffer, expected: number): void {
    this.#previous = { topic, payload };
    const hasRoom = this.#recognised.has(topic) || this.#recognised.size < MAX_AWAITED;
    if (expected < 2 || topic.length > MAX_TOPIC_LENGTH || !hasRoom) {
      return;
    }
    const digest = digestOf(payload);
    if (this.#awaited.get(topic)?.digest !== digest) {
      // It comes in the order of then: of those of one topic the last is the one whose copies may not have come.
      const since = this.#now();
      this.#recognised.set(topic, { topic, digest, copies: 1, since, expected, isCertain: false });
    }
  }

  /** What comes next of this one counts as the first. */
  forget({ topic, payload }: Message): void {
    if (this.#isPrevious(topic, payload)) {
      this.#previous = undefined;
    }
    this.#listOf(topic, digestOf(payload))?.delete(topic);
  }

  /** Where the first of this one is awaited. */
  #listOf(topic: string, digest: string): Map<string, Awaited> | undefined {
    if (this.#awaited.get(topic)?.digest === digest) {
      return this.#awaited;
    }
    return this.#recognised.get(topic)?.digest === digest ? this.#recognised : undefined;
  }

  /** No copy of it comes any more. */
  #stopAwaiting({ topic, copies, isCertain }: Awaited): void {
    this.#awaited.delete(topic);
    if (isCertain && copies === 1) {
      this.#learn('once');
    }
  }

  /** Whether further copies of it are awaited. */
  isAwaited(topic: string, payload: Buffer): boolean {
    return this.#listOf(topic, digestOf(payload)) !== undefined;
  }

  /** Whether this message is the same as the one before. */
  isRepeat(topic: string, payload: Buffer): boolean {
    const isSame = this.#isPrevious(topic, payload);
    this.#previous = { topic, payload };
    return isSame;
  }

  #isPrevious(topic: string, payload: Buffer): boolean {
    return this.#previous?.topic === topic && this.#previous.payload.equals(payload);
  }

  /**
   * The connection is a new one.
   * @param isSameBroker false: nothing is known of this one
   * @param isPresent the broker has kept the session: what it had not sent yet comes
   */
  connected(isSameBroker: boolean, isPresent: boolean): void {
    if (isPresent) {
      for (const awaited of this.#awaited.values()) {
        // A copy with QoS 0 was lost with the connection.
        awaited.isCertain = false;
      }
    } else {
      this.#awaited.clear();
      this.#recognised.clear();
    }
    this.#previous = undefined;
    this.#retained.clear();
    if (!isSameBroker) {
      this.#behaviour = 'unknown';
    }
  }

  /** With other subscriptions retained reports come again. */
  changed(): void {
    this.#retained.clear();
  }

  /** They come for one subscription after the other, so copies do not stand side by side. */
  #isRetainedCopy(topic: string, payload: Buffer): boolean {
    const digest = digestOf(payload);
    if (this.#retained.get(topic) === digest) {
      return true;
    }
    if (this.#retained.size < MAX_RETAINED) {
      this.#retained.set(topic, digest);
    }
    return false;
  }

  #learn(evidence: 'once' | 'each'): void {
    if (this.#behaviour === evidence) {
      this.#contradictions = 0;
    } else if (this.#behaviour === 'unknown' || ++this.#contradictions >= MIN_CONTRADICTIONS) {
      this.#behaviour = evidence;
      this.#contradictions = 0;
    }
  }
}

function digestOf(payload: Buffer): string {
  return createHash('sha1').update(payload).digest('base64');
}
