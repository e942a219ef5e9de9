// Keeps what the broker is subscribed to equal to what is wanted: over reconnects, refusals and changes.
import { inEnglish } from '../errors.ts';
import type { Logger } from '../log.ts';
import { type Backoff, createBackoff } from './backoff.ts';
import { NoBrokerResponse } from './broker-response.ts';
import { filterEnds, noSuback, type Reason, reasonOfSuback } from './reasons.ts';
import { type PortionLimits, SubscribePortions } from './subscribe-portions.ts';

const REFUSED = 0x80;
/** MQTT 5, section 3.9.3. */
const QUOTA_EXCEEDED = 0x97;
/** No code of MQTT: treated as a refusal, so that one filter does not hold up the others. */
const NO_RESPONSE = 0x100;

export type Qos = 0 | 1 | 2;

export interface SubscriptionTransport {
  /** Resolves or rejects with the codes that the broker granted, in the order of the filters. */
  subscribe(filters: Record<string, { qos: Qos }>): Promise<{ topic: string; qos: number }[]>;
  unsubscribe(filters: string[]): Promise<void>;
}

export interface SubscriptionEvents {
  refused(filter: string, reason: Reason): void;
  recovered(): void;
  /** The broker has everything that is wanted, or has refused it. */
  synced(): void;
  /** The broker allows no more than so many subscriptions of a connection. */
  quota(max: number): void;
}

/** What a broker still holds for a persistent session of this process, by broker and client id: it outlives a redeploy. */
const KEPT_BY_BROKER = new Map<string, Set<string>>();

/** The name of a client's session at a broker. */
export function sessionName(broker: string, clientId: string): string {
  return `${broker} ${clientId}`;
}

/** Whether a broker still holds subscriptions of such a session that this process has made. */
export function isKeptByBroker(session: string): boolean {
  return (KEPT_BY_BROKER.get(session)?.size ?? 0) > 0;
}

/** The wanted filters with their QoS, and the broker's view of them. */
export class Subscriptions {
  readonly #persistent: boolean;
  readonly #log: Logger;
  readonly #events: SubscriptionEvents;
  readonly #wanted = new Map<string, Qos>();
  readonly #refused = new Set<string>();
  /** For people who look; none of these is in `#wanted` too. */
  #previewed = new Map<string, Qos>();
  #refusedPreviews = new Set<string>();
  /** Asked of the broker and not answered yet. */
  #pendingPreviews: readonly string[] = [];
  /** The broker may have it, but it has to be asked for again: it is being given back, or was only looked through. */
  readonly #renewed = new Set<string>();
  readonly #waiting = new Map<string, ((refused: boolean) => void)[]>();
  readonly #backoff: Backoff;
  readonly #portions = new SubscribePortions();
  #maxQos: Qos = 2;
  /** Subscriptions that the broker allows, as far as it has shown. */
  #quota = Number.POSITIVE_INFINITY;
  #active = new Map<string, Qos>();
  #transport: SubscriptionTransport | undefined;
  #syncing: SubscriptionTransport | undefined;
  #changed = false;
  #retry: NodeJS.Timeout | undefined;
  #session = '';
  #isLimited = false;
  #hasLoggedLowerQos = false;

  /** @param backoff of refused filters */
  constructor(
    persistent: boolean,
    log: Logger,
    events: SubscriptionEvents,
    backoff = createBackoff(10_000, 300_000),
  ) {
    this.#backoff = backoff;
    this.#persistent = persistent;
    this.#log = log;
    this.#events = events;
  }

  /**
   * Adds `add` and removes `remove`; the broker follows at once when it is there, else when it comes.
   * @param previews replaces the filters that people look through. They come after all others, and one that is refused
   *   is not told of: it is no trouble of those who want something, and may hold what they must not see.
   */
  change(
    add: Iterable<string>,
    qos: Qos,
    remove: Iterable<string> = [],
    previews?: ReadonlySet<string>,
  ): void {
    for (const filter of add) {
      if (!this.#wanted.has(filter) && this.#active.has(filter)) {
        this.#renewed.add(filter);
      }
      this.#wanted.set(filter, qos);
    }
    for (const filter of remove) {
      this.#unwant(filter);
    }
    if (previews) {
      this.#previewed = new Map([...previews].map((filter) => [filter, qos]));
      this.#refusedPreviews = new Set([...this.#refusedPreviews].filter((filter) => previews.has(filter)));
    }
    void this.#sync();
  }

  /** How many the broker has granted. */
  get inUse(): number {
    return this.#active.size;
  }

  /** What the broker has refused of the filters that are wanted, or has ended the connection because of. */
  get refused(): ReadonlySet<string> {
    return this.#refused;
  }

  /** The same of the filters that people look through. */
  get refusedPreviews(): ReadonlySet<string> {
    return this.#refusedPreviews;
  }

  /**
   * Unsubscribes filters that the broker may hold from an earlier life of this client, unless they are in use.
   * @returns whether there is anything to unsubscribe; `synced` tells when it is done
   */
  unsubscribeStale(filters: string[]): boolean {
    const unused = filters.filter((filter) => !this.#active.has(filter) && !this.#isAskedFor(filter));
    if (unused.length === 0) {
      return false;
    }
    this.#noteKept(unused);
    void this.#sync();
    return true;
  }

  /** Every filter that the broker may hold for this client, which forgets them: nobody comes back for them. */
  takeAll(): string[] {
    const kept = KEPT_BY_BROKER.get(this.#session) ?? [];
    const all = new Set([...kept, ...this.#active.keys(), ...this.#wanted.keys(), ...this.#previewed.keys()]);
    KEPT_BY_BROKER.delete(this.#session);
    this.#active = new Map();
    this.#wanted.clear();
    this.#previewed.clear();
    return [...all];
  }

  /** What is known of the broker: call it before `online`. */
  setLimits(portions: PortionLimits, maxQos: Qos, quota = Number.POSITIVE_INFINITY): void {
    this.#portions.limits = portions;
    this.#maxQos = maxQos;
    this.#quota = Math.min(this.#quota, quota);
  }

  /** True when the broker has granted the filter already. */
  isActive(filter: string): boolean {
    return this.#active.has(filter) && !this.#renewed.has(filter);
  }

  /** Calls back once the broker has granted or refused this wanted filter; a loss in between keeps it waiting. */
  whenSettled(filter: string, settled: (refused: boolean) => void): void {
    const waiting = this.#waiting.get(filter);
    if (this.isActive(filter)) {
      settled(false);
    } else if (this.#refused.has(filter)) {
      settled(true);
    } else if (waiting) {
      waiting.push(settled);
    } else {
      this.#waiting.set(filter, [settled]);
    }
  }

  /**
   * @param session names the broker and the client id
   * @param isNew the broker has kept nothing of an earlier connection
   */
  online(transport: SubscriptionTransport, session: string, isNew: boolean): void {
    this.#transport = transport;
    this.#session = session;
    if (isNew) {
      KEPT_BY_BROKER.delete(session);
    }
    this.#active = new Map();
    for (const filter of this.#wanted.keys()) {
      if (this.#portions.isBlocked(filter)) {
        this.#log.warn(`the broker ends the connection when it is asked for ${filter}`);
        this.#refuse(filter, filterEnds());
      }
    }
    void this.#sync();
  }

  /** @param isOwn the connection was ended here, which says nothing of the broker */
  offline(isOwn = false): void {
    this.#transport = undefined;
    const quota = isOwn ? this.#portions.forget() : this.#portions.lost(this.#active.size);
    this.#refused.clear();
    // There are brokers that refuse a subscription by ending the connection: these would end the next one, too.
    this.#refusedPreviews = new Set(this.#pendingPreviews);
    this.#pendingPreviews = [];
    this.#renewed.clear();
    this.#isLimited = false;
    this.#stopRetry();
    if (this.#persistent) {
      this.#noteKept(this.#active.keys());
    }
    this.#active = new Map();
    if (quota !== undefined) {
      this.#exceeded(quota);
    }
  }

  #isAskedFor(filter: string): boolean {
    return this.#wanted.has(filter) || this.#previewed.has(filter);
  }

  /** A refused filter that nobody wants is nobody's trouble any more. */
  #unwant(filter: string): void {
    this.#wanted.delete(filter);
    this.#waiting.delete(filter);
    this.#refused.delete(filter);
  }

  #heal(): void {
    this.#isLimited = false;
    this.#stopRetry();
    this.#backoff.reset();
    this.#events.recovered();
  }

  #noteKept(filters: Iterable<string>): void {
    const held = KEPT_BY_BROKER.get(this.#session) ?? new Set();
    for (const filter of filters) {
      held.add(filter);
    }
    if (held.size > 0) {
      KEPT_BY_BROKER.set(this.#session, held);
    }
  }

  async #sync(): Promise<void> {
    this.#changed = true;
    const transport = this.#transport;
    if (!transport || transport === this.#syncing) {
      return;
    }
    this.#syncing = transport;
    try {
      let isDone = false;
      // A change may come while the last step is on its way, so it is looked for after each step.
      while (!isDone || this.#changed) {
        this.#changed = false;
        isDone = !(await this.#step(transport));
        if (transport !== this.#transport) {
          return;
        }
      }
      if (this.#isLimited && this.#refused.size === 0) {
        this.#heal();
      }
      this.#portions.settled();
      this.#events.synced();
    } catch (error) {
      // The connection went away in the middle; its successor starts over.
      this.#log.trace(`subscriptions: ${String(error)}`);
    } finally {
      if (transport === this.#syncing) {
        this.#syncing = undefined;
      }
    }
  }

  /**
   * New filters before old ones go, so that a change of filters loses no report, unless the broker does not allow both.
   * @returns false when nothing is left to do
   */
  async #step(transport: SubscriptionTransport): Promise<boolean> {
    const missing = this.#missingOf(this.#wanted, this.#refused);
    const held = new Set([...this.#active.keys(), ...(KEPT_BY_BROKER.get(this.#session) ?? [])]);
    const stale = [...held].filter((filter) => !this.#isAskedFor(filter));
    // No more of the old ones than is needed: others may still bring responses.
    const excess = Math.min(stale.length, held.size + missing.length - this.#quota);
    if (missing.length > 0 && excess > 0) {
      stale.length = excess;
    } else if (missing.length > 0) {
      await this.#inPortions(missing, nameOf, (portion) => this.#subscribe(transport, portion));
      return true;
    }
    if (stale.length > 0) {
      await this.#inPortions(stale, String, (portion) => this.#unsubscribe(transport, portion));
      return true;
    }
    const previews = this.#missingOf(this.#previewed, this.#refusedPreviews);
    await this.#inPortions(previews, nameOf, (portion) => this.#subscribePreviews(transport, portion));
    return previews.length > 0;
  }

  #atMost(qos: Qos): Qos {
    return Math.min(qos, this.#maxQos) as Qos;
  }

  #missingOf(filters: ReadonlyMap<string, Qos>, refused: ReadonlySet<string>): [string, Qos][] {
    return [...filters].filter(
      ([filter, qos]) =>
        !refused.has(filter) && (this.#active.get(filter) !== qos || this.#renewed.has(filter)),
    );
  }

  /** One packet after the other; stops early when something changes: then the rest may not be wanted any more. */
  async #inPortions<T>(
    items: T[],
    filterOf: (item: T) => string,
    send: (portion: T[]) => Promise<void>,
  ): Promise<void> {
    const transport = this.#transport;
    for (const portion of this.#portions.split(items, filterOf, () => this.#active.size)) {
      await send(portion);
      if (transport !== this.#transport) {
        return;
      }
      this.#portions.answered();
      if (this.#changed) {
        return;
      }
    }
  }

  async #subscribe(transport: SubscriptionTransport, batch: [string, Qos][]): Promise<void> {
    const codes = await this.#codesOf(transport, batch);
    if (transport !== this.#transport) {
      return;
    }
    const outcomes = batch.map(([filter, qos], i) => ({ filter, qos, code: codes[i] ?? qos }));
    this.#logOutcomes(outcomes);
    for (const outcome of outcomes.filter(({ code }) => code !== QUOTA_EXCEEDED)) {
      this.#settle(outcome);
    }
    const beyond = outcomes.filter(({ code }) => code === QUOTA_EXCEEDED);
    if (beyond.length > 0 && this.#active.size > 0) {
      this.#exceeded(this.#active.size);
    }
    for (const outcome of beyond) {
      this.#settle(outcome);
    }
  }

  /** Others may ask for fewer now; what they do not want any more is not told as refused. */
  #exceeded(quota: number): void {
    this.#quota = Math.min(this.#quota, quota);
    this.#events.quota(this.#quota);
  }

  /** Says nothing of what comes out: whoever looks asks, and what is not told cannot tell what a filter holds. */
  async #subscribePreviews(transport: SubscriptionTransport, batch: [string, Qos][]): Promise<void> {
    this.#pendingPreviews = batch.map(([filter]) => filter);
    const codes = await this.#codesOf(transport, batch);
    if (transport !== this.#transport) {
      return;
    }
    this.#pendingPreviews = [];
    for (const [i, [filter, qos]] of batch.entries()) {
      const code = codes[i] ?? qos;
      if (this.#wanted.has(filter) || code < REFUSED) {
        this.#settle({ filter, qos, code });
      } else if (this.#previewed.has(filter)) {
        this.#refusedPreviews.add(filter);
      }
    }
  }

  /** @throws what ended the connection */
  async #codesOf(transport: SubscriptionTransport, batch: [string, Qos][]): Promise<number[]> {
    // A persistent session keeps what was granted, also when the connection breaks before this is known here.
    if (this.#persistent) {
      this.#noteKept(batch.map(([filter]) => filter));
    }
    try {
      const granted = await transport.subscribe(
        Object.fromEntries(batch.map(([filter, qos]) => [filter, { qos: this.#atMost(qos) }])),
      );
      return granted.map(({ qos }) => qos);
    } catch (error) {
      return codesOf(error, batch.length);
    }
  }

  async #unsubscribe(transport: SubscriptionTransport, batch: string[]): Promise<void> {
    await transport.unsubscribe(batch).catch(unlessNoResponse);
    for (const filter of batch) {
      this.#forget(filter);
    }
  }

  /** One line for all filters of a packet: a broker that refuses one often refuses hundreds. */
  #logOutcomes(outcomes: readonly Outcome[]): void {
    const refused = outcomes.filter(({ code }) => code >= REFUSED);
    const [first] = refused;
    if (first) {
      const others = refused.length > 1 ? ` and ${refused.length - 1} others` : '';
      const what = first.code === NO_RESPONSE ? 'does not answer' : 'refused';
      const code = first.code === NO_RESPONSE ? '' : ` (${first.code})`;
      const why = first.code > REFUSED && code !== '' ? `: ${inEnglish(reasonOf(first.code))}` : '';
      this.#log.warn(`the broker ${what} the subscription ${first.filter}${code}${others}${why}`);
    }
    const lower = outcomes.find(({ qos, code }) => code < qos);
    if (lower && !this.#hasLoggedLowerQos) {
      this.#hasLoggedLowerQos = true;
      this.#log.warn(
        `the broker grants QoS ${lower.code} where QoS ${lower.qos} was asked for (${lower.filter}): it may lose reports`,
      );
    }
  }

  #settle({ filter, qos, code }: Outcome): void {
    const refused = code >= REFUSED;
    if (!refused) {
      this.#active.set(filter, qos);
      this.#renewed.delete(filter);
    } else if (this.#wanted.has(filter)) {
      this.#refuse(filter, reasonOf(code));
      return;
    }
    this.#callWaiting(filter, refused);
  }

  #refuse(filter: string, reason: Reason): void {
    this.#refused.add(filter);
    this.#isLimited = true;
    this.#events.refused(filter, reason);
    this.#retryLater();
    this.#callWaiting(filter, true);
  }

  #callWaiting(filter: string, refused: boolean): void {
    const waiting = this.#waiting.get(filter);
    this.#waiting.delete(filter);
    for (const settled of waiting ?? []) {
      settled(refused);
    }
  }

  /** All that are refused are tried again together, so the wait grows once for each time. */
  #retryLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      this.#refused.clear();
      this.#portions.unblock();
      void this.#sync();
    }, this.#backoff.next());
  }

  #stopRetry(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
  }

  #forget(filter: string): void {
    this.#active.delete(filter);
    this.#renewed.delete(filter);
    KEPT_BY_BROKER.get(this.#session)?.delete(filter);
  }
}

/** The codes of a response that refuses something, or of none. @throws what ended the connection */
function codesOf(error: unknown, count: number): number[] {
  if (error instanceof NoBrokerResponse) {
    return Array(count).fill(NO_RESPONSE);
  }
  const { packet } = error as { packet?: { granted?: number[] } };
  if (!packet?.granted) {
    throw error;
  }
  return packet.granted;
}

const reasonOf = (code: number): Reason => (code === NO_RESPONSE ? noSuback() : reasonOfSuback(code));

function unlessNoResponse(error: unknown): void {
  if (!(error instanceof NoBrokerResponse)) {
    throw error;
  }
}

const nameOf = ([filter]: [string, Qos]): string => filter;

interface Outcome {
  filter: string;
  qos: Qos;
  code: number;
}
