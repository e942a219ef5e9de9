// Finds the requests for which a broker ends the connection instead of refusing them: each of them costs all nodes of the
// service what they would hear until the connection is back.
import { type Backoff, createBackoff } from './backoff.ts';

/** A connection can end by chance behind a request. */
const MIN_LOSSES = 2;
/** A broker ends the connection at once; what was sent earlier has met a connection that was dead. In milliseconds. */
const MAX_DELAY_MS = 5_000;
/** For so long what may have been the reason is sent alone, and others wait for its acknowledgement. */
const MAX_SEARCH_MS = 60_000;
/** So long it is known that a connection has ended behind one. */
const MAX_DOUBT_MS = 3_600_000;
const FIRST_TRIAL_MS = 60_000;
const LAST_TRIAL_MS = 1_800_000;
/** Gateways at which an operation is forbidden, and that it was never acknowledged for, until it counts as forbidden at all. */
const MANY_GATEWAYS = 2;
/** Kinds of requests that are remembered; the oldest go first. */
const MAX_REMEMBERED = 1_000;

/** What decides whether a broker takes a request: by these its topic begins and ends. */
export interface RequestKind {
  gateway: string;
  /** The first topic level of the suffix, such as `write-decoded`. */
  operation: string;
}

/** A request that the broker has not acknowledged. */
export interface Unacknowledged extends RequestKind {
  /** In milliseconds of `performance.now()`. */
  sentAt: number;
}

interface Doubt {
  losses: number;
  /** In milliseconds of `performance.now()`. */
  at: number;
}

interface Forbidden extends RequestKind {
  readonly backoff: Backoff;
  /** When the next one may be sent, in milliseconds of `performance.now()`. */
  trialAt: number;
  /** One was sent to see, and the broker has not acknowledged it. */
  isTried: boolean;
}

/** In the place of a gateway: the operation is forbidden at all of them. */
const ALL = '*';

export class ForbiddenRequests {
  readonly #doubts = new Map<string, Doubt>();
  readonly #forbidden = new Map<string, Forbidden>();
  /** Operations that the broker has acknowledged at some gateway. */
  readonly #taken = new Set<string>();

  /** Nothing is known of any: `waitOf` and `acknowledged` need not be called. */
  get isQuiet(): boolean {
    return this.#doubts.size === 0 && this.#forbidden.size === 0;
  }

  /** Whether a request that waits for its acknowledgement is to be the only one, so that it is known what ends a connection. */
  get isSearching(): boolean {
    const since = performance.now() - MAX_SEARCH_MS;
    return [...this.#doubts.values()].some(({ at }) => at > since);
  }

  /** Milliseconds until such a request may be sent; 0: now, which may be a trial. */
  waitOf(kind: RequestKind): number {
    const known = this.#find(kind);
    return known === undefined ? 0 : Math.max(0, known.trialAt - performance.now());
  }

  /** It is sent, as its time has come. */
  sent(kind: RequestKind): void {
    const known = this.#find(kind);
    if (known !== undefined) {
      // No further one until the broker has shown what it makes of this one.
      known.trialAt = performance.now() + known.backoff.next();
      known.isTried = true;
    }
  }

  /** The broker has taken such a request, or has refused it as it should. */
  acknowledged(kind: RequestKind): void {
    this.#taken.add(kind.operation);
    this.#doubts.delete(keyOf(kind));
    this.#forbidden.delete(keyOf(kind));
    this.#forbidden.delete(keyOf({ ...kind, gateway: ALL }));
  }

  /**
   * The broker has ended the connection.
   * @param unacknowledged what it had not acknowledged then
   * @returns the kind that it does not take, where that is known now for the first time
   */
  lost(unacknowledged: readonly Unacknowledged[]): RequestKind | undefined {
    const since = performance.now() - MAX_DELAY_MS;
    const kinds = new Map(
      unacknowledged.filter(({ sentAt }) => sentAt >= since).map((kind) => [keyOf(kind), kind]),
    );
    const tried = [...kinds.values()].map((kind) => this.#find(kind)).find((known) => known?.isTried);
    if (tried !== undefined) {
      tried.isTried = false;
      return undefined;
    }
    for (const key of kinds.keys()) {
      this.#doubt(key);
    }
    const [only, ...others] = kinds.values();
    return only !== undefined && others.length === 0 && this.#isCertain(only)
      ? this.#forbid(only)
      : undefined;
  }

  /** Where it is forbidden at another gateway, one connection is enough to know. */
  #isCertain(kind: RequestKind): boolean {
    const losses = this.#doubts.get(keyOf(kind))?.losses ?? 0;
    return losses >= MIN_LOSSES || this.#forbiddenAt(kind.operation).length > 0;
  }

  #forbiddenAt(operation: string): Forbidden[] {
    return [...this.#forbidden.values()].filter((known) => known.operation === operation);
  }

  #find(kind: RequestKind): Forbidden | undefined {
    return this.#forbidden.get(keyOf(kind)) ?? this.#forbidden.get(keyOf({ ...kind, gateway: ALL }));
  }

  #doubt(key: string): void {
    const now = performance.now();
    const known = this.#doubts.get(key);
    const losses = known !== undefined && now - known.at < MAX_DOUBT_MS ? known.losses : 0;
    this.#doubts.delete(key);
    remember(this.#doubts, key, { losses: losses + 1, at: now });
  }

  #forbid({ gateway, operation }: RequestKind): RequestKind {
    this.#doubts.delete(keyOf({ gateway, operation }));
    const others = this.#forbiddenAt(operation);
    const isAll = !this.#taken.has(operation) && others.length + 1 >= MANY_GATEWAYS;
    if (isAll) {
      for (const other of others) {
        this.#forbidden.delete(keyOf(other));
      }
    }
    const kind = { gateway: isAll ? ALL : gateway, operation };
    const backoff = createBackoff(FIRST_TRIAL_MS, LAST_TRIAL_MS);
    const trialAt = performance.now() + backoff.next();
    remember(this.#forbidden, keyOf(kind), { ...kind, backoff, trialAt, isTried: false });
    return { gateway, operation };
  }
}

const keyOf = ({ gateway, operation }: RequestKind): string => `${gateway} ${operation}`;

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_REMEMBERED && oldest !== undefined) {
    map.delete(oldest);
  }
}
