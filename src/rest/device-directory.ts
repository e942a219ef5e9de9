// The device directory: the list of devices kept for a while, for pickers, names and labels.
import { ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { unlessAborted } from './abort.ts';
import type { RestClient } from './client.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import { type DeviceIndex, type DirectoryEntry, macsWithLabels } from './device-index.ts';
import { DeviceListReader } from './device-list-reader.ts';
import { DeviceNames } from './device-names.ts';
import { findDevices, findLabels } from './device-search.ts';
import { FirstList } from './first-list.ts';
import type { Clock } from './types.ts';

export type { DirectoryEntry } from './device-index.ts';

/** No list for a picker is older. */
const PICKER_AGE_MS = 60_000;
/** A list that is used and older than this is fetched anew behind the user's back, so that nobody waits for it. */
const AHEAD_AGE_MS = 30_000;
/** A list as young as this serves everybody, however new a list they want. */
const MIN_AGE_MS = 1_000;
/** For people who look at it all day it is fetched again after so many times as long as fetching it took. */
const BACKGROUND_PAUSES = 20;
/** And after a change: whoever has made it looks for it, but changes may go on. */
const CHANGED_PAUSES = 1;
/** After a failure the service is left alone for this long. */
const FAILURE_PAUSE_MS = 10_000;
/** One that a change made old, and one that was begun after it. */
const MAX_FETCHES = 2;
/** Pickers that wait for a list at a time. */
const MAX_WAITING_PICKERS = 1_000;

/** @param error why the list could not be fetched that a change has made due; undefined: there is a new one */
type Follower = (error?: unknown) => void;

interface DirectoryContext {
  log: Logger;
  clock?: Clock;
  mayBeGateway?: (mac: string) => boolean;
}

/**
 * Nothing is fetched before the first question; one fetch serves all who wait. When the service cannot be asked, the
 * last known list stays. A list that was asked for earlier never replaces one that was asked for later.
 */
export class DeviceDirectory {
  readonly #reader: DeviceListReader;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #mayBeGateway: (mac: string) => boolean;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  #list: DeviceIndex | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  /** When the list came, also where a change has made it old since. */
  #cameAt = Number.NEGATIVE_INFINITY;
  /** How long fetching the list took. */
  #fetchMs = 0;
  /** Fetches are numbered as they begin; this is the one that the list is of. */
  #listNumber = 0;
  #lastNumber = 0;
  /** The fetch that shows every change so far. */
  #pending: Promise<DeviceIndex> | undefined;
  /** The fetch that begins when one of those under way has ended. */
  #next: Promise<DeviceIndex> | undefined;
  /** Someone has asked after a change, and the list is not due yet. */
  #refreshing: Promise<void> | undefined;
  #failure: { error: unknown; at: number; tookMs: number } | undefined;
  #names = new DeviceNames();
  readonly #nameListeners = new Set<() => void>();
  readonly #followers = new Set<Follower>();
  /** Pickers that have no response yet. */
  #waitingPickers = 0;
  readonly #firstList = new FirstList<DeviceIndex>();

  /** @param mayBeGateway the list does not say whether a device is one */
  constructor(
    client: RestClient,
    { log, clock = SYSTEM_CLOCK, mayBeGateway = () => true }: DirectoryContext,
  ) {
    this.#reader = new DeviceListReader(client, { log, clock });
    this.#mayBeGateway = mayBeGateway;
    this.#log = log;
    this.#clock = clock;
  }

  /** Goes on with what another one of the same service knows, which fetches nothing any more. */
  takeOver(before: DeviceDirectory): void {
    this.#list = before.#list;
    this.#fetchedAt = before.#fetchedAt;
    this.#cameAt = before.#cameAt;
    this.#fetchMs = before.#fetchMs;
    this.#listNumber = before.#listNumber;
    this.#lastNumber = before.#lastNumber;
    this.#names = before.#names;
    this.#reader.takeOver(before.#reader);
    this.#tellNames();
  }

  /**
   * Devices whose name, MAC, id and labels have what `findWords` finds by `q`, in order of their names, from a list
   * no older than 60 s; in an outage from the last known one. At most 1 000, and no more than 4 million characters.
   * @throws what the fetch threw, when there never was a list; QUEUE_FULL when 1 000 others wait for one
   */
  async search(q: string, limit: number, signal?: AbortSignal): Promise<DirectoryEntry[]> {
    return findDevices(await this.#listForPicker(signal), q, limit);
  }

  /** Every label in use that contains `q` in any case, sorted; `ofGateways`: on a gateway. As `search`. */
  async searchLabels(
    q: string,
    limit: number,
    { ofGateways = false, signal }: { ofGateways?: boolean; signal?: AbortSignal } = {},
  ): Promise<string[]> {
    const list = await this.#listForPicker(signal);
    return findLabels(list, q, limit, (macs) => !ofGateways || this.#hasGateway(macs));
  }

  /** Whether a gateway, or what may be one, carries one of the labels in the last known list; true without one. */
  mayHaveGatewayWith(labels: readonly string[]): boolean {
    return this.#list === undefined || this.#hasGateway(macsWithLabels(this.#list, labels));
  }

  #hasGateway(macs: ReadonlySet<string>): boolean {
    for (const mac of macs) {
      if (this.#mayBeGateway(mac)) {
        return true;
      }
    }
    return false;
  }

  /** MACs of the gateways that carry one of the labels in the last known list; undefined without one. Asks nobody. */
  knownGatewaysWithLabels(labels: readonly string[]): ReadonlySet<string> | undefined {
    return this.#list && macsWithLabels(this.#list, labels);
  }

  /**
   * As `knownGatewaysWithLabels`; while there is no list, by the first one, for which very many may wait.
   * @throws what the fetch threw; CLOSED when the signal is aborted; QUEUE_FULL when 10 000 others wait
   */
  async labelledGateways(labels: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const list =
      this.#list ?? (await this.#firstList.wait(signal, () => this.#listOfAge(Number.POSITIVE_INFINITY)));
    return macsWithLabels(list, labels);
  }

  /** Whether a list has ever come. */
  get hasList(): boolean {
    return this.#list !== undefined;
  }

  /** Why no list has come yet; undefined: one has, or the first one is still on its way. */
  get problem(): unknown {
    return this.#list ? undefined : this.#failure?.error;
  }

  /** What the last known list has of a device; asks nobody. @param mac 12 lowercase hex digits */
  entryOf(mac: string): DirectoryEntry | undefined {
    return this.#list?.byMac.get(mac);
  }

  /** All of the last known list, in no order; asks nobody. */
  entries(): Iterable<DirectoryEntry> {
    return this.#list?.entries() ?? [];
  }

  /** Has the list fetched where it is too old for a picker, and some time after a change; nobody waits for it. */
  refreshInBackground(): void {
    const hasChanged = this.#isChanged;
    const [least, pauses] = hasChanged ? [MIN_AGE_MS, CHANGED_PAUSES] : [PICKER_AGE_MS, BACKGROUND_PAUSES];
    const failure = this.#failure;
    const failedUntil = failure ? failure.at + Math.max(FAILURE_PAUSE_MS, failure.tookMs) : 0;
    const dueAt = Math.max(this.#cameAt + Math.max(least, pauses * this.#fetchMs), failedUntil);
    const dueInMs = dueAt - this.#clock.now();
    if (this.#closing.signal.aborted) {
      return;
    }
    if (dueInMs >= 0) {
      // Whoever sees a change asks once and then only when there is news.
      this.#refreshing ??= hasChanged ? this.#refreshIn(dueInMs + 1) : undefined;
    } else if (this.#running.size === 0) {
      this.#fetch().catch(() => undefined);
    }
  }

  async #refreshIn(ms: number): Promise<void> {
    try {
      await this.#clock.wait(ms, this.#closing.signal);
    } catch {
      return;
    }
    this.#refreshing = undefined;
    this.refreshInBackground();
  }

  /** A change has made the last known list old. */
  get #isChanged(): boolean {
    return this.#fetchedAt < this.#cameAt;
  }

  /** Milliseconds since the last known list came; infinite when there is none, or a change has made it old. */
  get listAge(): number {
    return this.#clock.now() - this.#fetchedAt;
  }

  /**
   * The friendly name of a device as one line, from the last known list and from what was renamed since; asks nobody.
   * @param mac 12 lowercase hex digits
   */
  nameOf(mac: string): string | undefined {
    return this.#names.of(mac, this.#list);
  }

  /** Calls the listener whenever names may be others. @returns stops it */
  onNames(listener: () => void): () => void {
    this.#nameListeners.add(listener);
    return () => this.#nameListeners.delete(listener);
  }

  /**
   * Calls the follower with every new list; as long as there is one, a change has the list fetched soon, and the follower
   * hears of each failure until there is one.
   * @returns stops it
   */
  follow(follower: Follower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /**
   * Fetches the list unless it is younger.
   * @param maxAge milliseconds; one second is always allowed
   * @throws what the fetch threw; CLOSED when the signal is aborted
   */
  async refresh(maxAge: number, signal: AbortSignal): Promise<void> {
    await this.#listOfAge(Math.max(maxAge, MIN_AGE_MS), signal);
  }

  /** After a rename: the name counts at once, also where a list that is on its way does not know it yet. */
  renamed(id: string, name: string): void {
    this.#names.rename(id, name, this.#lastNumber);
    this.#tellNames();
  }

  /** After a rename or a change of labels: the next question fetches anew. */
  invalidate(): void {
    this.#fetchedAt = Number.NEGATIVE_INFINITY;
    this.#pending = undefined;
    this.#refreshForFollowers();
  }

  #refreshForFollowers(): void {
    if (this.#followers.size > 0 && this.#isChanged) {
      this.refreshInBackground();
    }
  }

  close(): void {
    this.#closing.abort();
  }

  async #listForPicker(signal: AbortSignal | undefined): Promise<DeviceIndex> {
    if (this.#waitingPickers >= MAX_WAITING_PICKERS) {
      throw new ServiceError(
        'QUEUE_FULL',
        'waiting',
        { limit: MAX_WAITING_PICKERS },
        { limit: MAX_WAITING_PICKERS },
      );
    }
    this.#waitingPickers++;
    try {
      const list = await this.#listOfAge(PICKER_AGE_MS, signal);
      if (this.listAge > AHEAD_AGE_MS) {
        this.#fetch().catch(() => undefined);
      }
      return list;
    } catch (error) {
      const isStopped = error instanceof ServiceError && error.code === 'CLOSED';
      if (this.#list && !isStopped) {
        return this.#list;
      }
      throw error;
    } finally {
      this.#waitingPickers--;
    }
  }

  async #listOfAge(maxAge: number, signal?: AbortSignal): Promise<DeviceIndex> {
    if (signal?.aborted || this.#closing.signal.aborted) {
      throw new ServiceError('CLOSED', 'stopped');
    }
    if (this.#list && this.listAge <= maxAge) {
      return this.#list;
    }
    return unlessAborted(this.#fetch(), signal);
  }

  #fetch(): Promise<DeviceIndex> {
    if (this.#pending !== undefined) {
      return this.#pending;
    }
    const failure = this.#failure;
    if (failure && this.#clock.now() - failure.at < FAILURE_PAUSE_MS) {
      return Promise.reject(failure.error);
    }
    if (this.#running.size >= MAX_FETCHES) {
      return this.#fetchLater();
    }
    this.#pending = this.#start();
    return this.#pending;
  }

  #fetchLater(): Promise<DeviceIndex> {
    this.#next ??= Promise.race(this.#running)
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#fetch();
      });
    return this.#next;
  }

  #start(): Promise<DeviceIndex> {
    const number = ++this.#lastNumber;
    const beganAt = this.#clock.now();
    const fetch: Promise<DeviceIndex> = this.#reader
      .read(this.#closing.signal)
      .finally(() => this.#running.delete(fetch))
      .then(
        (list) => this.#keep(list, number, fetch, beganAt),
        (error: unknown) => this.#fail(error, number, fetch, beganAt),
      )
      // A change may have come while this one was under way, or this one has not brought it.
      .finally(() => this.#refreshForFollowers());
    this.#running.add(fetch);
    return fetch;
  }

  #keep(list: DeviceIndex, number: number, fetch: Promise<DeviceIndex>, beganAt: number): DeviceIndex {
    if (this.#list && number < this.#listNumber) {
      return this.#list;
    }
    this.#list = list;
    this.#listNumber = number;
    this.#cameAt = this.#clock.now();
    this.#fetchMs = this.#cameAt - beganAt;
    this.#names.forgetBefore(number);
    this.#failure = undefined;
    // A list whose fetching began before a change may not show it, so it does not count as new.
    if (this.#pending === fetch) {
      this.#fetchedAt = this.#cameAt;
      this.#pending = undefined;
    }
    this.#tellNames();
    this.#tellFollowers();
    return list;
  }

  #fail(error: unknown, number: number, fetch: Promise<DeviceIndex>, beganAt: number): DeviceIndex {
    if (this.#list && number < this.#listNumber) {
      return this.#list;
    }
    if (this.#pending === fetch) {
      this.#pending = undefined;
    }
    const at = this.#clock.now();
    this.#failure = { error, at, tookMs: at - beganAt };
    this.#log.trace(
      `the list of devices could not be read: ${error instanceof Error ? error.message : error}`,
    );
    if (this.#isChanged && !this.#closing.signal.aborted) {
      this.#tellFollowers(error);
    }
    throw error;
  }

  #tellFollowers(error?: unknown): void {
    for (const follower of this.#followers) {
      follower(error);
    }
  }

  #tellNames(): void {
    for (const listener of this.#nameListeners) {
      listener();
    }
  }
}
