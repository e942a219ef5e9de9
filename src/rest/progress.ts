// Tells a device list that goes on from one that never ends, in memory that does not grow with the list.
import { createHash } from 'node:crypto';
import type { DevicePage } from './responses.ts';

/** Pages in a row that only bring devices that came before: a list may change while it is read. */
const MAX_REPEATED_PAGES = 10;
/** Pages in a row without a device: a service may filter after it has cut its pages. */
const MAX_EMPTY_PAGES = 1000;
/** Beyond it, and beyond as many pages, a list is as good as endless: a flow that collects it would take more than a GB of memory. */
export const MAX_LIST_DEVICES = 1_000_000;
/** Of a page with so many devices or more only one in eight is looked at. */
const LONG_PAGE = 64;
/** At least so many of the newest page tokens are remembered, at most twice as many; a longer circle shows by its devices. */
const MIN_TOKENS = 10_000;

/** The reason of a BAD_RESPONSE. */
type ListFault = 'firstPageRepeats' | 'tokenRepeats' | 'devicesRepeat' | 'listTooLong';

/**
 * Looks at the pages of one list as they come.
 *
 * A list may bring a device twice: one that is added or removed meanwhile moves others from page to page. So a page is
 * only suspicious when it has another page behind it and every device on it came before, and only many such pages in a
 * row are an error: a list that goes round brings nothing else for as long as it is read. Only the first page, device for
 * device in the place of the second, is one at once.
 */
export class ListProgress {
  readonly #ids = new IdFilter();
  #tokens = new Set<string>();
  #olderTokens = new Set<string>();
  #repeatedPages = 0;
  #emptyPages = 0;
  #pages = 0;
  #devices = 0;
  /** The devices of the page before, in their order, while pages are compared. */
  #pageBefore: string | undefined;

  /** @returns why the list would not end, or has its first page twice; undefined when it goes on, or ends with this page */
  add(page: DevicePage): ListFault | undefined {
    const { devices, nextToken } = page;
    this.#pages++;
    this.#devices += devices.length;
    if (this.#devices > MAX_LIST_DEVICES || this.#pages > MAX_LIST_DEVICES) {
      return 'listTooLong';
    }
    const isOnlyPage = this.#pages === 1 && nextToken === undefined;
    if (!isOnlyPage && this.#isFirstAgain(page)) {
      return 'firstPageRepeats';
    }
    if (nextToken === undefined) {
      return undefined;
    }
    if (!this.#isNewToken(nextToken)) {
      return 'tokenRepeats';
    }
    if (devices.length === 0) {
      this.#emptyPages++;
    } else {
      this.#emptyPages = 0;
      this.#repeatedPages = this.#hasNewDevice(devices) ? 0 : this.#repeatedPages + 1;
    }
    const isEndless = this.#repeatedPages >= MAX_REPEATED_PAGES || this.#emptyPages >= MAX_EMPTY_PAGES;
    return isEndless ? 'devicesRepeat' : undefined;
  }

  /**
   * A service that does not know our name for the page token sends its first page again, maybe with a fresh token: known
   * at once, before the same devices are used again. A page of one device may come again because one was added before it.
   */
  #isFirstAgain({ devices }: DevicePage): boolean {
    const isCompared = this.#pages <= 2 && devices.length >= 2 && devices.every(hasId);
    const digest = isCompared ? digestOf(JSON.stringify(devices.map(({ id }) => id))) : undefined;
    const isSame = digest !== undefined && digest === this.#pageBefore;
    this.#pageBefore = digest;
    return isSame;
  }

  /** Notes those that it looks at. One without an id is not new: it could come for ever. */
  #hasNewDevice(devices: readonly { id: unknown }[]): boolean {
    const isLong = devices.length >= LONG_PAGE && devices.some(isChosen);
    let isNew = false;
    for (const device of devices) {
      if ((!isLong || isChosen(device)) && hasId(device) && this.#ids.add(String(device.id))) {
        isNew = true;
      }
    }
    return isNew;
  }

  /** Tokens can be long; a digest of each is enough to know it again. */
  #isNewToken(token: string): boolean {
    const digest = digestOf(token);
    if (this.#tokens.has(digest) || this.#olderTokens.has(digest)) {
      return false;
    }
    if (this.#tokens.size >= MIN_TOKENS) {
      this.#olderTokens = this.#tokens;
      this.#tokens = new Set();
    }
    this.#tokens.add(digest);
    return true;
  }
}

const hasId = ({ id }: { id: unknown }): boolean => typeof id === 'string' || typeof id === 'number';

/** The same ones on whatever page they come: one in eight, where the last two digits are any. */
function isChosen(device: { id: unknown }): boolean {
  if (!hasId(device)) {
    return false;
  }
  const text = String(device.id);
  return ((text.charCodeAt(text.length - 1) + 3 * text.charCodeAt(text.length - 2)) & 7) === 0;
}

const digestOf = (text: string): string => createHash('sha1').update(text).digest('base64');

/** Bits of each filter, and the ids that it takes before the next one begins. */
const FILTERS = [
  { bits: 2 ** 16, ids: 2 ** 12 },
  { bits: 2 ** 20, ids: 2 ** 16 },
  { bits: 2 ** 25, ids: Number.POSITIVE_INFINITY },
] as const;
/** Of an id four bits are set, so many of its steps behind the first. */
const STEPS = [0, 1, 2, 3] as const;

/**
 * Which ids have come, as Bloom filters of growing size: 4.3 MB at most. A known id is never taken for new. A new one is
 * taken for known once in 400 times among two million ids, and more often beyond; that whole pages of such ids come in a
 * row is as good as impossible in a list that anybody can read to its end.
 */
class IdFilter {
  readonly #filters: Uint8Array[] = [];
  /** Ids until the next filter begins. */
  #room = 0;

  /** @returns whether the id is new */
  add(id: string): boolean {
    const hash = hashOf(id, 0x811c9dc5, 0x01000193);
    const step = hashOf(id, 0x9747b28c, 0x5bd1e995) | 1;
    if (this.#filters.some((bits) => hasAll(bits, hash, step))) {
      return false;
    }
    if (this.#room === 0) {
      const { bits, ids } = FILTERS[this.#filters.length]!;
      this.#filters.push(new Uint8Array(bits / 8));
      this.#room = ids;
    }
    this.#room--;
    setAll(this.#filters.at(-1) as Uint8Array, hash, step);
    return true;
  }
}

function hasAll(bits: Uint8Array, hash: number, step: number): boolean {
  const mask = bits.length * 8 - 1;
  for (const steps of STEPS) {
    const at = (hash + steps * step) & mask;
    if (((bits[at >>> 3] as number) & (1 << (at & 7))) === 0) {
      return false;
    }
  }
  return true;
}

function setAll(bits: Uint8Array, hash: number, step: number): void {
  const mask = bits.length * 8 - 1;
  for (const steps of STEPS) {
    const at = (hash + steps * step) & mask;
    bits[at >>> 3] = (bits[at >>> 3] as number) | (1 << (at & 7));
  }
}

/** FNV-1a with this start and multiplier, mixed, because ids differ in few characters. @returns 32 bits, with a sign */
function hashOf(text: string, start: number, multiplier: number): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), multiplier);
  }
  return mix(hash);
}

/** The last step of MurmurHash3: every bit of the input changes every bit of the result. */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
