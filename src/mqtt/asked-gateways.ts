// The gateways that were asked, each with the subscription to its responses; bounded, those with nothing to do go first.
import type { Topics } from '../protocol/topics.ts';
import { GatewayRequests } from './gateway-requests.ts';

/** Beyond it the subscriptions of gateways with nothing to do are given back. */
const MAX_GATEWAYS = 10_000;
/** How many are looked at to find one with nothing to do. */
const MAX_CHECKED = 100;
/** A gateway that was not asked for so long gives its subscription back. */
const MAX_UNUSED_MS = 60 * 60_000;
const CHECK_INTERVAL_MS = 10 * 60_000;
/** Stands for every gateway in a topic filter. */
const ANY = '+';

export interface ResponseFilters {
  /** Asks for the filter and calls back once the broker granted or refused it. */
  ensureFilter(filter: string, settled: (refused: boolean) => void): void;
  releaseFilter(filter: string): void;
  isFilterActive(filter: string): boolean;
  /** Whether the broker ends the connection when it is asked for the filter, as far as is known. */
  isFilterBlocked(filter: string): boolean;
}

export class AskedGateways {
  readonly #topics: Topics;
  readonly #maxInFlight: number;
  readonly #filters: ResponseFilters;
  readonly #shared: (gateway: GatewayRequests) => void;
  readonly #gateways = new Map<string, GatewayRequests>();
  #isShared = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param shared called for a gateway whose own filter was given back, since the one of all gateways is granted */
  constructor(
    topics: Topics,
    maxInFlight: number,
    filters: ResponseFilters,
    shared: (gateway: GatewayRequests) => void,
  ) {
    this.#topics = topics;
    this.#maxInFlight = maxInFlight;
    this.#filters = filters;
    this.#shared = shared;
  }

  get size(): number {
    return this.#gateways.size;
  }

  [Symbol.iterator](): Iterator<GatewayRequests> {
    return this.#gateways.values();
  }

  find(id: string): GatewayRequests | undefined {
    return this.#gateways.get(id);
  }

  /** A new one is subscribed to at once, so that the broker knows the filter as soon as it is there. */
  of(id: string): GatewayRequests {
    const known = this.#gateways.get(id);
    if (known) {
      known.usedAt = performance.now();
      return known;
    }
    if (this.#gateways.size >= MAX_GATEWAYS) {
      this.#releaseOne();
    }
    const gateway = new GatewayRequests(id, this.#filterOf(id), this.#maxInFlight);
    this.#gateways.set(id, gateway);
    this.#filters.ensureFilter(gateway.filter, () => {});
    this.#timer ??= setTimeout(() => this.#releaseUnused(), CHECK_INTERVAL_MS).unref();
    return gateway;
  }

  /** Nothing is given back any more. */
  close(): void {
    clearTimeout(this.#timer);
  }

  /** A subscription that the broker refuses is not asked for again when no request needs it. */
  releaseIfIdle(gateway: GatewayRequests): void {
    if (!gateway.isIdle || this.#gateways.get(gateway.id) !== gateway) {
      return;
    }
    this.#gateways.delete(gateway.id);
    this.#release(gateway);
  }

  /**
   * Where there is no room for another one, the gateway whose requests ended longest ago gives its subscription back.
   * @returns whether there is one with nothing to do
   */
  makeRoom(): boolean {
    if (this.#isShared) {
      return false;
    }
    let idle: GatewayRequests | undefined;
    for (const gateway of this.#gateways.values()) {
      const isEarlier = gateway.isIdle && (idle === undefined || gateway.usedAt < idle.usedAt);
      if (isEarlier && this.#filters.isFilterActive(gateway.filter)) {
        idle = gateway;
      }
    }
    if (idle) {
      this.releaseIfIdle(idle);
    }
    return idle !== undefined;
  }

  /**
   * Where the broker allows few subscriptions, one filter brings the responses of all gateways. Until it is granted the
   * gateways keep theirs but for one, which makes room for it: the broker may refuse the wide one.
   * @param isTried also where that filter is known to end connections
   * @returns whether that is new
   */
  share(isTried: boolean): boolean {
    const isHopeless = !isTried && this.#filters.isFilterBlocked(this.#topics.responseFilter(ANY));
    if (this.#isShared || isHopeless) {
      return false;
    }
    this.#isShared = true;
    const all = [...this.#gateways.values()];
    const active = all.filter(({ filter }) => this.#filters.isFilterActive(filter));
    const first = active.find(({ isIdle }) => isIdle) ?? active[0];
    const shared = this.#filterOf(ANY);
    const kept = new Set(active.filter((gateway) => gateway !== first));
    for (const gateway of all.filter((gateway) => !kept.has(gateway))) {
      this.#filters.releaseFilter(gateway.filter);
      gateway.filter = shared;
    }
    if (all.length > 0) {
      this.#filters.ensureFilter(shared, (refused) => this.#sharedSettled(refused));
    }
    return true;
  }

  /** The broker allows more again: each gateway has its own filter. @returns whether that is new */
  unshare(): boolean {
    if (!this.#isShared) {
      return false;
    }
    this.#isShared = false;
    const isAsked = this.#gateways.size > 0;
    for (const gateway of this.#gateways.values()) {
      gateway.filter = this.#filterOf(gateway.id);
      this.#filters.ensureFilter(gateway.filter, () => {});
    }
    if (isAsked) {
      this.#filters.releaseFilter(this.#topics.responseFilter(ANY));
    }
    return true;
  }

  /** The broker has refused a gateway's filter: where it is that of all gateways, it may grant them their own. */
  refused(filter: string): void {
    if (this.#isShared && filter === this.#filterOf(ANY)) {
      this.unshare();
    }
  }

  #sharedSettled(refused: boolean): void {
    if (!this.#isShared) {
      return;
    }
    if (refused) {
      this.unshare();
      return;
    }
    const shared = this.#filterOf(ANY);
    for (const gateway of this.#gateways.values()) {
      if (gateway.filter !== shared) {
        this.#filters.releaseFilter(gateway.filter);
        gateway.filter = shared;
        // It may have waited for its own.
        this.#shared(gateway);
      }
    }
  }

  /** An interval runs only while there is something to give back. */
  #releaseUnused(): void {
    const oldest = performance.now() - MAX_UNUSED_MS;
    for (const gateway of [...this.#gateways.values()]) {
      if (gateway.usedAt < oldest) {
        this.releaseIfIdle(gateway);
      }
    }
    this.#timer =
      this.#gateways.size > 0
        ? setTimeout(() => this.#releaseUnused(), CHECK_INTERVAL_MS).unref()
        : undefined;
  }

  #filterOf(id: string): string {
    return this.#topics.responseFilter(this.#isShared ? ANY : id);
  }

  #release({ filter }: GatewayRequests): void {
    const shared = this.#topics.responseFilter(ANY);
    if (filter !== shared) {
      this.#filters.releaseFilter(filter);
    }
    if (this.#isShared && this.#gateways.size === 0) {
      this.#filters.releaseFilter(shared);
    }
  }

  /** Those that are busy go to the end, so that each is looked at in its turn. */
  #releaseOne(): void {
    let checked = 0;
    for (const [id, gateway] of this.#gateways) {
      this.#gateways.delete(id);
      if (gateway.isIdle) {
        this.#release(gateway);
        return;
      }
      this.#gateways.set(id, gateway);
      if (++checked >= MAX_CHECKED) {
        return;
      }
    }
  }
}
