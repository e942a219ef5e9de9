// What is kept of a device list to be searched: entries, their texts, and the gateways of every label; bounded in memory.
import { ownText } from '../protocol/text.ts';
import type { Device } from './types.ts';

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

export interface SearchableEntries {
  /** In order of their names. */
  readonly entries: readonly DirectoryEntry[];
  /** One lower-case text per entry, made once, so that a search at 50 000 devices is a scan of texts. */
  readonly texts: readonly string[];
}

export interface DeviceIndex {
  /** Made with the first search: most lists are fetched for names and labels, and to sort a long one holds reports up. */
  readonly searchable: SearchableEntries;
  readonly byMac: ReadonlyMap<string, DirectoryEntry>;
  /** In no order. */
  entries(): Iterable<DirectoryEntry>;
  readonly macsByLabel: ReadonlyMap<string, ReadonlySet<string>>;
}

const MAX_ENTRIES = 200_000;
/** Bytes, estimated: 200 000 devices as they usually are need about 100 MB. */
const MAX_SIZE = 128 * 1024 * 1024;
/** Characters; longer ones cannot be given with this package either (`inputs.ts`). */
const MAX_TEXT_LENGTH = 2000;
/** What an object of each kind costs besides its text. */
const ENTRY_SIZE = 300;
const LABEL_SIZE = 300;
const REFERENCE_SIZE = 16;

/**
 * Collects devices as they come from the service. A device that comes again (its list may change while it is paged)
 * replaces the one before.
 */
export class DeviceIndexBuilder {
  readonly #entries = new Map<string, DirectoryEntry>();
  /** Every label once: each response brings a copy of its own for every device. */
  readonly #labels = new Map<string, string>();
  readonly #byMac = new Map<string, DirectoryEntry>();
  readonly #macsByLabel = new Map<string, Set<string>>();
  /** A device came again, so what was filed of it may be wrong. */
  #hasRepeats = false;
  #size = 0;
  #leftOut = 0;
  #isCut = false;

  /** Devices so far. */
  get count(): number {
    return this.#entries.size;
  }

  /** Labels and devices that are not in the index because their label or id is too long. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Whether there are devices that are not in the index because there are too many. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** No more devices are fetched, though the service has some. */
  cut(): void {
    this.#isCut = true;
  }

  add(device: Device): void {
    if (this.#entries.size >= MAX_ENTRIES || this.#size >= MAX_SIZE) {
      this.#isCut = true;
      return;
    }
    const entry = this.#read(device);
    if (entry.id.length > MAX_TEXT_LENGTH) {
      this.#leftOut++;
      return;
    }
    // Without an id nothing tells two devices apart.
    const key = entry.id || `\n${this.#entries.size}`;
    if (this.#entries.has(key)) {
      this.#hasRepeats = true;
    } else {
      this.#file(entry);
    }
    this.#entries.set(key, entry);
    this.#size += ENTRY_SIZE + 2 * textLength(entry) + REFERENCE_SIZE * entry.labels.length;
  }

  build(): DeviceIndex {
    if (this.#hasRepeats) {
      this.#byMac.clear();
      this.#macsByLabel.clear();
      for (const entry of this.#entries.values()) {
        this.#file(entry);
      }
    }
    const [entries, byMac, macsByLabel] = [this.#entries, this.#byMac, this.#macsByLabel];
    let searchable: SearchableEntries | undefined;
    return {
      byMac,
      entries: () => entries.values(),
      macsByLabel,
      get searchable() {
        searchable ??= sortEntries([...entries.values()]);
        return searchable;
      },
    };
  }

  /** With each device, as its page comes: at the end of a long list all at once would hold reports up. */
  #file(entry: DirectoryEntry): void {
    if (entry.mac) {
      this.#byMac.set(entry.mac, entry);
    }
    for (const label of entry.labels) {
      let macs = this.#macsByLabel.get(label);
      if (!macs) {
        macs = new Set();
        this.#macsByLabel.set(label, macs);
      }
      if (entry.mac) {
        macs.add(entry.mac);
      }
    }
  }

  /** Everything here comes from the network, so nothing is taken to have its type. */
  #read({ id, mac, friendlyName, labels, connectivity, modelNumber }: Device): DirectoryEntry {
    const name = textOf(friendlyName) || textOf(id);
    return {
      id: textOf(id),
      mac: textOf(mac),
      name: shorten(name),
      labels: Array.isArray(labels) ? this.#readLabels(labels) : [],
      connected: connectivity?.connected === true,
      model: shorten(textOf(modelNumber)),
    };
  }

  #readLabels(labels: unknown[]): string[] {
    const read: string[] = [];
    for (const label of labels) {
      if (typeof label !== 'string') {
        continue;
      }
      if (label.length > MAX_TEXT_LENGTH) {
        this.#leftOut++;
      } else {
        read.push(this.#shared(label));
      }
      if (this.#size + REFERENCE_SIZE * read.length >= MAX_SIZE) {
        this.#isCut = true;
        break;
      }
    }
    return read;
  }

  #shared(label: string): string {
    const known = this.#labels.get(label);
    if (known !== undefined) {
      return known;
    }
    this.#labels.set(label, label);
    this.#size += LABEL_SIZE + label.length;
    return label;
  }
}

/** Of the devices that carry one of the labels. */
export function macsWithLabels({ macsByLabel }: DeviceIndex, labels: readonly string[]): ReadonlySet<string> {
  if (labels.length === 1) {
    // A query asks with every message: a copy of a large set would cost more than all the rest of it.
    return macsByLabel.get(labels[0]!) ?? new Set();
  }
  return new Set(labels.flatMap((label) => [...(macsByLabel.get(label) ?? [])]));
}

function sortEntries(kept: readonly DirectoryEntry[]): SearchableEntries {
  const keyed = kept.map((entry) => ({ entry, key: entry.name.toLowerCase() }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const texts = keyed.map(({ entry, key }) =>
    [key, entry.mac, entry.id, ...entry.labels].join('\n').toLowerCase(),
  );
  return { entries: keyed.map(({ entry }) => entry), texts };
}

/** The length of everything in an entry that is text. */
export function textLength({ id, mac, name, labels, model }: DirectoryEntry): number {
  return labels.reduce(
    (sum, label) => sum + label.length,
    id.length + mac.length + name.length + model.length,
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function shorten(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? ownText(`${text.slice(0, MAX_TEXT_LENGTH)}…`) : text;
}
