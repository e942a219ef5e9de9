// What reads of old values share: permits for all who ask, and for the messages of one node what is under way already.
import { Semaphore } from '../collections/semaphore.ts';
import { ServiceError } from '../errors.ts';

/** Messages that wait for values which are read anew, of all nodes together. */
const MAX_WAITING = 10_000;
/** Of them those about one gateway, and those about several: one that is silent takes no place of the others. */
const MAX_WAITING_PER_GATEWAY = 1_000;
/** Reads at one gateway: the others do not wait for one that is silent. As many as are in flight there by default. */
export const MAX_READS_PER_GATEWAY = 8;

/** What messages of one node wait for, by what it is of. */
interface UnderWay {
  ones: Map<string, Promise<unknown>>;
  passes: Map<string, Promise<unknown>>;
  reads: Map<string, Promise<unknown>>;
}

export class SharedReads {
  readonly #permits: Semaphore;
  /** Of the gateways at which something is read or is to be. */
  readonly #gateways = new Map<string, { permits: Semaphore; users: number }>();
  /** By the signal of the node, whose end ends what it has begun. */
  readonly #underWay = new WeakMap<AbortSignal, UnderWay>();
  #waiting = 0;
  /** How many of these, by the gateway; undefined: they are about several. */
  readonly #waitingAt = new Map<string | undefined, number>();

  /** @param max reads that are under way at a time */
  constructor(max: number) {
    this.#permits = new Semaphore(max);
  }

  /**
   * Asks for one value without a permit, or waits for the same question of the node where it is being asked already. Only
   * who waits for another one is counted here: who asks has a place in the queue of requests.
   * @param gateway that is asked
   * @param key tells the questions of the node apart
   * @throws ServiceError `QUEUE_FULL`; what `ask` throws
   */
  one<Result>(
    signal: AbortSignal,
    gateway: string | undefined,
    key: string,
    ask: () => Promise<Result>,
  ): Promise<Result> {
    const { ones } = this.#of(signal);
    const joined = () => join(ones, key, ask);
    return ones.has(key) ? this.#wait(gateway, joined) : joined();
  }

  /**
   * Asks for many values, or waits for the same question of the node where it is being asked already: a further one
   * would only bring the same values later. Each value is of few questions, so these together need no bound of their own.
   * @param gateway that is asked; undefined: any
   * @param key tells the questions of the node apart
   * @throws ServiceError `QUEUE_FULL`; what `ask` throws
   */
  pass<Result>(
    signal: AbortSignal,
    gateway: string | undefined,
    key: string,
    ask: () => Promise<Result>,
  ): Promise<Result> {
    return this.#wait(gateway, () => join(this.#of(signal).passes, key, ask));
  }

  /**
   * Reads with a permit, or waits for the same read of the node where it is under way already.
   * @param key tells the reads of the node at the gateway apart
   * @param read gets since when it waits, in milliseconds of `performance.now()`
   * @throws what `read` throws
   */
  read(
    signal: AbortSignal,
    gateway: string,
    key: string,
    read: (since: number) => Promise<void>,
  ): Promise<void> {
    const since = performance.now();
    const begin = () => this.#atGateway(gateway, signal, () => this.#permits.run(signal, () => read(since)));
    return join(this.#of(signal).reads, `${gateway}/${key}`, begin);
  }

  async #atGateway(gateway: string, signal: AbortSignal, read: () => Promise<void>): Promise<void> {
    const known = this.#gateways.get(gateway) ?? { permits: new Semaphore(MAX_READS_PER_GATEWAY), users: 0 };
    this.#gateways.set(gateway, known);
    known.users++;
    try {
      await known.permits.run(signal, read);
    } finally {
      known.users--;
      if (known.users === 0) {
        this.#gateways.delete(gateway);
      }
    }
  }

  async #wait<Result>(gateway: string | undefined, joined: () => Promise<Result>): Promise<Result> {
    const waiting = this.#waitingAt.get(gateway) ?? 0;
    if (waiting >= MAX_WAITING_PER_GATEWAY || this.#waiting >= MAX_WAITING) {
      const limit = waiting >= MAX_WAITING_PER_GATEWAY ? MAX_WAITING_PER_GATEWAY : MAX_WAITING;
      throw new ServiceError('QUEUE_FULL', 'waiting', { limit }, { limit });
    }
    this.#count(gateway, 1);
    try {
      return await joined();
    } finally {
      this.#count(gateway, -1);
    }
  }

  #count(gateway: string | undefined, by: 1 | -1): void {
    this.#waiting += by;
    const waiting = (this.#waitingAt.get(gateway) ?? 0) + by;
    if (waiting > 0) {
      this.#waitingAt.set(gateway, waiting);
    } else {
      this.#waitingAt.delete(gateway);
    }
  }

  #of(signal: AbortSignal): UnderWay {
    let underWay = this.#underWay.get(signal);
    if (underWay === undefined) {
      underWay = { ones: new Map(), passes: new Map(), reads: new Map() };
      this.#underWay.set(signal, underWay);
    }
    return underWay;
  }
}

/** Under one key lies one kind of result. */
function join<Result>(
  known: Map<string, Promise<unknown>>,
  key: string,
  begin: () => Promise<Result>,
): Promise<Result> {
  const underWay = known.get(key) ?? begin().finally(() => known.delete(key));
  known.set(key, underWay);
  return underWay as Promise<Result>;
}
