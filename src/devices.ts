// The device directory: the list of devices kept for a while, for pickers, names and labels.
import { ServiceError } from './errors.ts';
import type { Logger } from './log.ts';
import { unlessAborted } from './rest/abort.ts';
import type { RestClient } from './rest/client.ts';
import { SYSTEM_CLOCK } from './rest/clock.ts';
import { devicePages } from './rest/pages.ts';
import type { Clock, Device } from './rest/types.ts';

/** What pickers show of a device. `name` is the friendly name, or the id where there is none. */
export interface DirectoryEntry {
  readonly id: string;
  /** 12 lowercase hex digits; empty when the id has another form. */
  readonly mac: string;
  readonly name: string;
  readonly labels: readonly string[];
  readonly connected: boolean;
  readonly model: string;
}

/** Milliseconds: no list for a picker is older. */
const PICKER_AGE = 60_000;
/** A list that is used and older than this is fetched anew behind the user's back, so that nobody waits for it. */
const AHEAD_AGE = 30_000;
/** After a failure the service is left alone for this long. */
const FAILURE_PAUSE = 10_000;
const PAGE_SIZE = 100;
const MOST_ENTRIES = 200_000;
const MOST_SHOWN = 1_000;

interface List {
  entries: DirectoryEntry[];
  /** One lower-case text per entry, made once, so that a search at 50 000 devices is a scan of texts. */
  texts: string[];
  byMac: Map<string, DirectoryEntry>;
  macsByLabel: Map<string, Set<string>>;
}

/**
 * Nothing is fetched before the first question; one fetch serves all who wait. When the service cannot be asked, the
 * last known list stays.
 */
export class DeviceDirectory {
  readonly #client: RestClient;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  #list: List | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #pending: Promise<List> | undefined;
  #failure: { error: unknown; at: number } | undefined;

  constructor(client: RestClient, { log, clock = SYSTEM_CLOCK }: { log: Logger; clock?: Clock }) {
    this.#client = client;
    this.#log = log;
    this.#clock = clock;
  }

  /**
   * Devices whose name, MAC (any spelling), id or a label contains `q` in any case, in order of their names, from a list
   * no older than 60 s; in an outage from the last known one.
   * @throws what the fetch threw, when there never was a list
   */
  async search(q: string, limit: number, signal?: AbortSignal): Promise<DirectoryEntry[]> {
    const list = await this.#listForPicker(signal);
    const most = Math.min(MOST_SHOWN, Math.max(0, Math.trunc(limit) || 0));
    const wanted = q.trim().toLowerCase();
    const mac = macPart(wanted);
    const found: DirectoryEntry[] = [];
    for (let i = 0; i < list.texts.length && found.length < most; i++) {
      const text = list.texts[i]!;
      if (text.includes(wanted) || (mac !== undefined && text.includes(mac))) found.push(list.entries[i]!);
    }
    return found;
  }

  /** Every label in use that contains `q` in any case, sorted. As `search`. */
  async searchLabels(q: string, limit: number, signal?: AbortSignal): Promise<string[]> {
    const list = await this.#listForPicker(signal);
    const wanted = q.trim().toLowerCase();
    const found = [...list.macsByLabel.keys()].filter((label) => label.toLowerCase().includes(wanted));
    return found.sort().slice(0, Math.min(MOST_SHOWN, Math.max(0, Math.trunc(limit) || 0)));
  }

  /**
   * MACs of the gateways that carry one of the labels.
   * @param maxAge milliseconds: how old the list may be
   * @throws what the fetch threw (the caller keeps what it knew); CLOSED when the signal is aborted
   */
  async gatewaysWithLabels(
    labels: readonly string[],
    maxAge: number,
    signal?: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const { macsByLabel } = await this.#listOfAge(maxAge, signal);
    return new Set(labels.flatMap((label) => [...(macsByLabel.get(label) ?? [])]));
  }

  /** The friendly name of a device in the last known list; asks nobody. @param mac 12 lowercase hex digits */
  nameOf(mac: string): string | undefined {
    return this.#list?.byMac.get(mac)?.name;
  }

  /** After a rename or a change of labels: the next question fetches anew. */
  invalidate(): void {
    this.#fetchedAt = Number.NEGATIVE_INFINITY;
    this.#pending = undefined;
  }

  close(): void {
    this.#closing.abort();
  }

  async #listForPicker(signal: AbortSignal | undefined): Promise<List> {
    try {
      const list = await this.#listOfAge(PICKER_AGE, signal);
      if (this.#age() > AHEAD_AGE) this.#fetch().catch(() => undefined);
      return list;
    } catch (error) {
      const isStopped = error instanceof ServiceError && error.code === 'CLOSED';
      if (this.#list && !isStopped) return this.#list;
      throw error;
    }
  }

  #age(): number {
    return this.#clock.now() - this.#fetchedAt;
  }

  async #listOfAge(maxAge: number, signal: AbortSignal | undefined): Promise<List> {
    if (signal?.aborted || this.#closing.signal.aborted) throw new ServiceError('CLOSED', 'stopped');
    if (this.#list && this.#age() <= maxAge) return this.#list;
    return unlessAborted(this.#fetch(), signal);
  }

  #fetch(): Promise<List> {
    if (this.#pending !== undefined) return this.#pending;
    const failure = this.#failure;
    if (failure && this.#clock.now() - failure.at < FAILURE_PAUSE) return Promise.reject(failure.error);
    const pending = this.#read().then(
      (list) => {
        this.#keep(list, pending);
        return list;
      },
      (error: unknown) => {
        this.#fail(error, pending);
        throw error;
      },
    );
    this.#pending = pending;
    return pending;
  }

  #keep(list: List, pending: Promise<List>): void {
    this.#list = list;
    this.#failure = undefined;
    // A list whose fetching began before a change may not show it.
    if (this.#pending !== pending) return;
    this.#fetchedAt = this.#clock.now();
    this.#pending = undefined;
  }

  #fail(error: unknown, pending: Promise<List>): void {
    if (this.#pending === pending) this.#pending = undefined;
    this.#failure = { error, at: this.#clock.now() };
    this.#log.trace(
      `the list of devices could not be read: ${error instanceof Error ? error.message : error}`,
    );
  }

  async #read(): Promise<List> {
    const entries: DirectoryEntry[] = [];
    for await (const { devices } of devicePages(this.#client, {
      pageSize: PAGE_SIZE,
      signal: this.#closing.signal,
    })) {
      for (const device of devices) entries.push(entryOf(device));
      if (entries.length >= MOST_ENTRIES) {
        this.#log.warn(`the list of devices is cut after ${entries.length}`);
        break;
      }
    }
    return indexOf(entries);
  }
}

/** Everything here comes from the network, so nothing is taken to have its type. */
function entryOf({ id, mac, friendlyName, labels, connectivity, modelNumber }: Device): DirectoryEntry {
  const text = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return {
    id: text(id),
    mac: text(mac),
    name: text(friendlyName) || text(id),
    labels: Array.isArray(labels) ? labels.filter((label) => typeof label === 'string') : [],
    connected: connectivity?.connected === true,
    model: text(modelNumber),
  };
}

function indexOf(unsorted: DirectoryEntry[]): List {
  const keyed = unsorted.map((entry) => ({ entry, key: entry.name.toLowerCase() }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const byMac = new Map<string, DirectoryEntry>();
  const macsByLabel = new Map<string, Set<string>>();
  for (const { entry } of keyed) {
    if (entry.mac) byMac.set(entry.mac, entry);
    for (const label of entry.labels) {
      const macs = macsByLabel.get(label) ?? new Set();
      if (entry.mac) macs.add(entry.mac);
      macsByLabel.set(label, macs);
    }
  }
  const texts = keyed.map(({ entry, key }) =>
    [key, entry.mac, entry.id, ...entry.labels].join('\n').toLowerCase(),
  );
  return { entries: keyed.map(({ entry }) => entry), texts, byMac, macsByLabel };
}

/** A MAC, or the beginning of one, is found however its bytes are separated. */
function macPart(text: string): string | undefined {
  return /^[0-9a-f]{2}([:-][0-9a-f]{0,2})+$/.test(text) ? text.replace(/[:-]/g, '') : undefined;
}
