// Finds the requests for which a broker ends the connection instead of refusing them: each of them costs all nodes of the
// service what they would hear until the connection is back.
import { type Backoff, createBackoff } from './backoff.ts';

/** A connection can end by chance behind a request. */
const MIN_LOSSES = 2;
/** Of an operation in a row at one gateway, until it counts as forbidden there. */
const MIN_LOSSES_AT_GATEWAY = {
  neverTaken: 2,
  /** The user may have lost the right. */
  taken: 3,
};
/** Of an operation, until it counts as forbidden at all gateways where it was never taken. */
const MIN_LOSSES_OF_ALL = {
  neverTaken: 3,
  /** Others may take it as well, that were not asked yet. */
  taken: 5,
};
/** Gateways at which one is forbidden until then that was taken at none. */
const MANY_GATEWAYS = 2;
/** A broker ends the connection at once; where something was sent earlier the connection was dead. In milliseconds. */
const MAX_DELAY_MS = 5_000;
/** So long each connection begins with requests that leave one by one. */
const MAX_DOUBT_MS = 3_600_000;
/** Between two trials, of whatever. */
const FIRST_TRIAL_MS = 60_000;
/** Between trials of those that have ended no connection yet, but are forbidden with others. */
const LAST_FRESH_MS = 600_000;
/** Between trials of those that have. */
const LAST_GUILTY_MS = 1_800_000;
/** Between two of the same topic. */
const LAST_OWN_MS = 7_200_000;
/** One that was asked for within this time goes before those that have waited for a shorter time. */
const MAX_TURN_MS = 7_200_000;
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

/** For which request the broker has ended a connection. */
export interface Culprit {
  request: RequestTopic;
  /** It was not known before. */
  isNew: boolean;
}

interface Doubt {
  losses: number;
  /** In milliseconds of `performance.now()`. */
  at: number;
}

/** When one is sent to see, each later than the one before. */
class Trials {
  readonly #backoff: Backoff;
  #at = 0;

  constructor(lastMs: number) {
    this.#backoff = createBackoff(FIRST_TRIAL_MS, lastMs);
  }

  /** In milliseconds of `performance.now()`. */
  get at(): number {
    return this.#at;
  }

  postpone(): void {
    this.#at = performance.now() + this.#backoff.next();
  }

  reset(): void {
    this.#backoff.reset();
    this.#at = 0;
  }
}

class Guilty extends Trials {
  /** In milliseconds of `performance.now()`. */
  askedAt = Number.NEGATIVE_INFINITY;

  constructor() {
    super(LAST_OWN_MS);
  }
}

export class ForbiddenRequests {
  /** By topic. */
  readonly #doubts = new Map<string, Doubt>();
  /** By operation at a gateway, and operation: connections that ended behind one alone since one was taken last. */
  readonly #losses = new Map<string, Doubt>();
  /** Operations at a gateway, and operations. */
  readonly #forbidden = new Set<string>();
  /** Topics that have ended connections. */
  readonly #guilty = new Map<string, Guilty>();
  /** By operation, the gateways at which the broker has taken one. */
  readonly #taken = new Map<string, Set<string>>();
  /** Of gateways that had none yet: one that is allowed is not to wait behind the many requests of others. */
  readonly #gatewayTrials = new Trials(LAST_FRESH_MS);
  readonly #freshTrials = new Trials(LAST_FRESH_MS);
  readonly #guiltyTrials = new Trials(LAST_GUILTY_MS);
  /** Of any, in milliseconds of `performance.now()`. */
  #nextTrialAt = 0;
  /** The topic of the one that was sent to see. */
  #tried: string | undefined;

  /** Whether a connection has ended behind some that were not acknowledged since: each of these is to be sent alone. */
  get isAnyInDoubt(): boolean {
    return this.#doubts.size > 0;
  }

  /** Whether one has ended so lately: whoever sends them may do so again at any time. */
  get hasDoubts(): boolean {
    const since = performance.now() - MAX_DOUBT_MS;
    return this.#doubts.size > 0 && [...this.#doubts.values()].some(({ at }) => at > since);
  }

  /** Whether any are forbidden. */
  get isAny(): boolean {
    return this.#guilty.size > 0;
  }

  /** Whether it is one of those, or may be forbidden with them. */
  isInDoubt(request: RequestTopic): boolean {
    if (this.#doubts.size + this.#losses.size === 0) {
      return false;
    }
    const [own, ...scopes] = scopesOf(request);
    return this.#doubts.has(own) || scopes.some((scope) => this.#losses.has(scope));
  }

  /** Whether it is known that the broker ends the connection for it, or likely. */
  isForbidden(request: RequestTopic): boolean {
    // Nearly always nothing is known, and nothing is to be looked up.
    if (this.#guilty.size === 0) {
      return false;
    }
    const [own, atGateway, atAll] = scopesOf(request);
    const isForbiddenHere = this.#guilty.has(own) || this.#forbidden.has(atGateway);
    return isForbiddenHere || (this.#forbidden.has(atAll) && !this.#isTakenAt(request));
  }

  /** Whether it would be sent to see. */
  isTrial(request: RequestTopic): boolean {
    return this.isForbidden(request) && this.waitOf(request) === 0;
  }

  /** Milliseconds until it may be sent, about so many where others go first; 0: now, which may be a trial. */
  waitOf(request: RequestTopic): number {
    if (!this.isForbidden(request)) {
      return 0;
    }
    const now = performance.now();
    const own = this.#guilty.get(topicOf(request));
    const at = Math.max(own?.at ?? 0, this.#trialsWith(request).at, this.#nextTrialAt);
    if (own) {
      own.askedAt = now;
    }
    return own && at <= now && this.#isBehindAnother(own, now) ? LAST_GUILTY_MS : Math.max(0, at - now);
  }

  /** It is sent, as its time has come. */
  sent(request: RequestTopic): void {
    if (this.isForbidden(request)) {
      this.#tried = topicOf(request);
      // No further one until the broker has shown what it makes of this one.
      this.#trialsWith(request).postpone();
      this.#postpone(this.#tried);
    }
  }

  /** Whether one was sent to see, of which the broker has not shown yet what it makes. */
  get isTrying(): boolean {
    return this.#tried !== undefined;
  }

  /** The broker has taken it, or has refused it as it should. */
  acknowledged(request: RequestTopic): void {
    const { gateway, operation } = request;
    const gateways = this.#taken.get(operation);
    const [wasTaken, wasForbidden] = [this.#isTakenAt(request), this.isForbidden(request)];
    if (gateways === undefined) {
      this.#taken.set(operation, new Set([gateway]));
    } else if (gateways.size < MAX_TAKEN) {
      gateways.add(gateway);
    }
    if (this.#doubts.size + this.#losses.size > 0) {
      const [own, atGateway, atAll] = scopesOf(request);
      this.#doubts.delete(own);
      this.#losses.delete(atGateway);
      // Where it was taken all along it says nothing of other gateways.
      if (!wasTaken) {
        this.#losses.delete(atAll);
      }
    }
    if (this.#tried === topicOf(request)) {
      this.#tried = undefined;
    }
    if (wasForbidden) {
      const [own, atGateway, atAll] = scopesOf(request);
      this.#guilty.delete(own);
      this.#forbidden.delete(atGateway);
      this.#forbidden.delete(atAll);
      this.#nextTrialAt = 0;
      for (const trials of [this.#gatewayTrials, this.#freshTrials, this.#guiltyTrials]) {
        trials.reset();
      }
    }
  }

  /**
   * The connection has ended.
   * @param unacknowledged what it had not acknowledged then, where that may be the reason
   * @returns undefined: it is not known for which
   */
  lost(unacknowledged: readonly Unacknowledged[]): Culprit | undefined {
    const since = performance.now() - MAX_DELAY_MS;
    const requests = new Map(unacknowledged.map(({ request }) => [topicOf(request), request]));
    const tried = requests.get(this.#tried ?? '');
    this.#tried = undefined;
    if (unacknowledged.some(({ sentAt }) => sentAt < since)) {
      return undefined;
    }
    if (tried) {
      if (!this.#guilty.has(topicOf(tried))) {
        this.#forbid(tried);
      }
      return { request: tried, isNew: false };
    }
    if (unacknowledged.some(({ isLarge }) => isLarge)) {
      return undefined;
    }
    const [only, ...others] = requests.values();
    if (only === undefined || others.length > 0) {
      for (const topic of requests.keys()) {
        count(this.#doubts, topic);
      }
      return undefined;
    }
    if (!this.#isKnownWith(only)) {
      return undefined;
    }
    this.#forbid(only);
    return { request: only, isNew: true };
  }

  /** A connection has ended behind it alone. @returns whether it is known now that it ends connections */
  #isKnownWith(request: RequestTopic): boolean {
    const { operation, gateway } = request;
    const taken = this.#taken.get(operation);
    const isTaken = this.#isTakenAt(request);
    const [own, atGateway, atAll] = scopesOf(request);
    const minHere = MIN_LOSSES_AT_GATEWAY[isTaken ? 'taken' : 'neverTaken'];
    const isOwn = count(this.#doubts, own) >= MIN_LOSSES;
    // Else a flow that asks one device after the other would lose a connection for each.
    const isHere = count(this.#losses, atGateway) >= minHere;
    const minOfAll = MIN_LOSSES_OF_ALL[taken ? 'taken' : 'neverTaken'];
    const isAll = !isTaken && count(this.#losses, atAll) >= minOfAll;
    if (isHere) {
      taken?.delete(gateway);
    }
    if (taken?.size === 0) {
      this.#taken.delete(operation);
    }
    return isOwn || isHere || isAll;
  }

  /**
   * An operation counts as forbidden at a gateway where it was never taken, and with that at all of these: else each topic
   * and each gateway would cost two connections.
   */
  #forbid(request: RequestTopic): void {
    const isTaken = this.#isTakenAt(request);
    const [own, atGateway, atAll] = scopesOf(request);
    if (!isTaken) {
      this.#remember(atGateway);
    }
    const gateways = [...this.#forbidden].filter((scope) => scope.startsWith(`${atAll} `));
    const losses = this.#losses.get(atAll)?.losses ?? 0;
    const isMany = this.#taken.has(request.operation)
      ? losses >= MIN_LOSSES_OF_ALL.taken
      : gateways.length >= MANY_GATEWAYS || losses >= MIN_LOSSES_OF_ALL.neverTaken;
    if (!isTaken && isMany) {
      this.#remember(atAll);
      this.#losses.delete(atAll);
    }
    this.#losses.delete(atGateway);
    this.#doubts.delete(own);
    this.#guilty.set(own, new Guilty());
    limit(this.#guilty);
    this.#postpone(own);
  }

  #isTakenAt({ operation, gateway }: RequestTopic): boolean {
    return this.#taken.get(operation)?.has(gateway) === true;
  }

  /** As the newest, so that what holds for many is not forgotten before them. */
  #remember(scope: string): void {
    this.#forbidden.delete(scope);
    this.#forbidden.add(scope);
    limit(this.#forbidden);
  }

  /** Those with which it takes turns. */
  #trialsWith(request: RequestTopic): Trials {
    const [own, atGateway] = scopesOf(request);
    if (this.#guilty.has(own)) {
      return this.#guiltyTrials;
    }
    return this.#forbidden.has(atGateway) ? this.#freshTrials : this.#gatewayTrials;
  }

  /** Whether one has waited longer that was asked for lately. */
  #isBehindAnother(own: Guilty, now: number): boolean {
    return [...this.#guilty.values()].some(({ at, askedAt }) => at < own.at && now - askedAt < MAX_TURN_MS);
  }

  #postpone(topic: string): void {
    this.#guilty.get(topic)?.postpone();
    this.#nextTrialAt = performance.now() + FIRST_TRIAL_MS;
  }
}

/** @returns how many connections have ended behind it */
function count(doubts: Map<string, Doubt>, scope: string): number {
  const losses = (doubts.get(scope)?.losses ?? 0) + 1;
  doubts.delete(scope);
  doubts.set(scope, { losses, at: performance.now() });
  limit(doubts);
  return losses;
}

const topicOf = ({ gateway, device, suffix }: RequestTopic): string => `${gateway}/${device}/${suffix}`;

/** From the narrowest to the widest: the topic, its operation at its gateway, its operation. */
function scopesOf(request: RequestTopic): [topic: string, atGateway: string, atAll: string] {
  const { gateway, operation } = request;
  return [topicOf(request), `${operation} ${gateway}`, operation];
}

function limit(known: Map<string, unknown> | Set<string>): void {
  for (const oldest of known.keys()) {
    if (known.size <= MAX_REMEMBERED) {
      break;
    }
    known.delete(oldest);
  }
}
