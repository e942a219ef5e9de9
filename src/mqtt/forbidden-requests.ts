// Finds the requests for which a broker ends the connection instead of refusing them: each of them costs all nodes of the
// service what they would hear until the connection is back.
import { type Backoff, createBackoff } from './backoff.ts';

/** A connection can end by chance behind a request. */
const MIN_LOSSES = 2;
/** A broker ends the connection at once; where something was sent earlier the connection was dead. In milliseconds. */
const MAX_DELAY_MS = 5_000;
/** For so long what may have been the reason is sent alone, and others wait for its acknowledgement. */
const MAX_SEARCH_MS = 60_000;
/** So long it is known that a connection has ended behind one. */
const MAX_DOUBT_MS = 3_600_000;
const FIRST_TRIAL_MS = 60_000;
const LAST_TRIAL_MS = 1_800_000;
/** Gateways at which an operation that was never taken is forbidden, until it counts as forbidden at all of them. */
const MANY_GATEWAYS = 2;
/** Of each kind; the oldest go first. */
const MAX_REMEMBERED = 1_000;
const MAX_TAKEN = 10_000;

/** Its topic: rights are given by topics. */
export interface RequestTopic {
  gateway: string;
  device: string;
  /** The first topic level of the suffix, such as `write-decoded`. */
  operation: string;
  suffix: string;
}

/** A request that the broker has not acknowledged. */
export interface Unacknowledged {
  request: RequestTopic;
  /** In milliseconds of `performance.now()`. */
  sentAt: number;
  /** A broker may end the connection for its size. */
  isLarge: boolean;
}

interface Doubt {
  losses: number;
  /** In milliseconds of `performance.now()`. */
  at: number;
}

/** What is not sent: one topic, or all of one operation, at one gateway or at all. */
interface Forbidden {
  readonly backoff: Backoff;
  /** When the next one may be sent, in milliseconds of `performance.now()`. */
  trialAt: number;
  /** Until then it is the turn of others than `guilty`. */
  othersUntil: number;
  /** Of several topics, those that have ended a connection. */
  readonly guilty: Set<string>;
  /** One was sent to see, and the broker has not acknowledged it. */
  isTried: boolean;
}

export class ForbiddenRequests {
  /** By topic. */
  readonly #doubts = new Map<string, Doubt>();
  /** By topic, by operation and gateway, or by operation. */
  readonly #forbidden = new Map<string, Forbidden>();
  /** By operation, the gateways at which the broker has taken one. */
  readonly #taken = new Map<string, Set<string>>();

  /** Whether a request that waits for its acknowledgement is to be the only one, so that it is known what ends a connection. */
  get isSearching(): boolean {
    const since = performance.now() - MAX_SEARCH_MS;
    return this.#doubts.size > 0 && [...this.#doubts.values()].some(({ at }) => at > since);
  }

  /** Milliseconds until it may be sent; 0: now, which may be a trial. */
  waitOf(request: RequestTopic): number {
    // Nearly always nothing is known, and nothing is to be looked up.
    if (this.#forbidden.size === 0) {
      return 0;
    }
    const now = performance.now();
    const topic = topicOf(request);
    const waits = this.#over(request).map(({ trialAt, othersUntil, guilty }) =>
      Math.max(trialAt, guilty.has(topic) ? othersUntil : 0),
    );
    return Math.max(0, ...waits.map((at) => at - now));
  }

  /** It is sent, as its time has come. */
  sent(request: RequestTopic): void {
    if (this.#forbidden.size === 0) {
      return;
    }
    for (const known of this.#over(request)) {
      // No further one until the broker has shown what it makes of this one.
      pause(known);
      known.isTried = true;
    }
  }

  /** The broker has taken it, or has refused it as it should. */
  acknowledged(request: RequestTopic): void {
    const { gateway, operation } = request;
    const gateways = this.#taken.get(operation);
    if (gateways === undefined) {
      this.#taken.set(operation, new Set([gateway]));
    } else if (gateways.size < MAX_TAKEN) {
      gateways.add(gateway);
    }
    if (this.#doubts.size > 0) {
      this.#doubts.delete(topicOf(request));
    }
    if (this.#forbidden.size > 0) {
      for (const key of scopesOf(request)) {
        this.#forbidden.delete(key);
      }
    }
  }

  /**
   * The broker has ended the connection.
   * @param unacknowledged what it had not acknowledged then
   * @returns what it does not take, where that is known now for the first time
   */
  lost(unacknowledged: readonly Unacknowledged[]): RequestTopic | undefined {
    const since = performance.now() - MAX_DELAY_MS;
    if (unacknowledged.some(({ sentAt, isLarge }) => isLarge || sentAt < since)) {
      return undefined;
    }
    const requests = new Map(unacknowledged.map(({ request }) => [topicOf(request), request]));
    let isTrial = false;
    for (const [topic, request] of requests) {
      for (const scope of scopesOf(request)) {
        const known = this.#forbidden.get(scope);
        if (known?.isTried) {
          isTrial = true;
          known.isTried = false;
          if (scope !== topic && known.guilty.size < MAX_REMEMBERED) {
            known.guilty.add(topic);
          }
        }
      }
    }
    if (isTrial) {
      return undefined;
    }
    for (const topic of requests.keys()) {
      this.#doubt(topic);
    }
    const [only, ...others] = requests;
    if (only === undefined || others.length > 0) {
      return undefined;
    }
    const [topic, request] = only;
    return (this.#doubts.get(topic) as Doubt).losses >= MIN_LOSSES ? this.#forbid(topic, request) : undefined;
  }

  /** What is forbidden and holds for this request. */
  #over(request: RequestTopic): Forbidden[] {
    return scopesOf(request).flatMap((scope) => this.#forbidden.get(scope) ?? []);
  }

  #doubt(topic: string): void {
    const now = performance.now();
    const known = this.#doubts.get(topic);
    const losses = known !== undefined && now - known.at < MAX_DOUBT_MS ? known.losses : 0;
    this.#doubts.delete(topic);
    remember(this.#doubts, topic, { losses: losses + 1, at: now });
  }

  /** What was never taken of a whole operation counts as forbidden with it: else each topic would cost two connections. */
  #forbid(topic: string, request: RequestTopic): RequestTopic {
    this.#doubts.delete(topic);
    const taken = this.#taken.get(request.operation);
    const [own, atGateway, atAll] = scopesOf(request);
    this.#add(own);
    if (!taken?.has(request.gateway)) {
      this.#add(atGateway).add(topic);
    }
    const gateways = [...this.#forbidden.keys()].filter((key) => key.startsWith(`${atAll} `));
    if (taken === undefined && gateways.length >= MANY_GATEWAYS) {
      this.#add(atAll).add(topic);
    }
    return request;
  }

  /** @returns `guilty` of it */
  #add(scope: string): Set<string> {
    const known = this.#forbidden.get(scope);
    if (known) {
      return known.guilty;
    }
    const backoff = createBackoff(FIRST_TRIAL_MS, LAST_TRIAL_MS);
    const added: Forbidden = { backoff, trialAt: 0, othersUntil: 0, guilty: new Set(), isTried: false };
    pause(added);
    remember(this.#forbidden, scope, added);
    return added.guilty;
  }
}

function pause(known: Forbidden): void {
  const wait = known.backoff.next();
  known.trialAt = performance.now() + wait;
  known.othersUntil = known.trialAt + wait;
}

const topicOf = ({ gateway, device, suffix }: RequestTopic): string => `${gateway}/${device}/${suffix}`;

/** From the narrowest to the widest: the topic, its operation at its gateway, its operation. */
function scopesOf(request: RequestTopic): [topic: string, atGateway: string, atAll: string] {
  const { gateway, operation } = request;
  return [topicOf(request), `${operation} ${gateway}`, operation];
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_REMEMBERED && oldest !== undefined) {
    map.delete(oldest);
  }
}
