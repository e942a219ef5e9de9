// Who looks at the network just now, and is told when something there has changed: seldom, and only once until he asks again.
import { randomBytes } from 'node:crypto';
import type { Order } from './network-pages.ts';
import type { NetworkState } from './network-state.ts';

/** Between two notices to one who looks. */
const MIN_INTERVAL_MS = 250;
/** Where nothing in sight has changed: the order of a list is kept for about as long. */
const UNSEEN_INTERVAL_MS = 2_000;
/** Who looks asks every half minute at the latest; an editor that is closed may not say so. */
const LEASE_MS = 60_000;
/** From the beginning until notices can be sent. */
const BEGIN_MS = 10_000;
const MAX_LOOKS = 100;
/** More than fit on a screen: beyond it everything counts as in sight. */
const MAX_SEEN = 5_000;
const ID_BYTES = 16;

/** The present moment of the network, and its listeners. */
type Heard = Pick<NetworkState, 'now' | 'onHeard'>;

/** What somebody is shown. */
export interface Shown {
  ids: readonly string[];
  /** Whatever is heard may change it. */
  seesAll?: boolean;
  /** Of the list that it is a part of. */
  order?: Order;
}

/** One who looks. Times are milliseconds of `performance.now()`. */
class Look {
  readonly ended: () => void;
  readonly #network: Heard;
  #tell: (() => void) | undefined;
  /** Gateways and devices that were shown since the last notice. */
  #seen = new Set<string>();
  #seesAll = false;
  /** What he does not know yet he is told once. */
  #hasAsked = false;
  /** The last report, of whatever device, or other change; before he looked it may have been at any time. */
  #changedAt: number;
  #toldAt = Number.NEGATIVE_INFINITY;
  #dueAt = Number.POSITIVE_INFINITY;
  #notice: NodeJS.Timeout | undefined;
  #lease: NodeJS.Timeout | undefined;

  constructor(network: Heard, ended: () => void) {
    this.#network = network;
    this.#changedAt = network.now;
    this.ended = ended;
  }

  get isFollowed(): boolean {
    return this.#tell !== undefined;
  }

  follow(tell: () => void): void {
    this.#tell = tell;
  }

  extend(ms: number, end: () => void): void {
    clearTimeout(this.#lease);
    this.#lease = setTimeout(end, ms).unref();
  }

  see({ ids, seesAll = false, order }: Shown): void {
    this.#hasAsked = true;
    for (const id of ids) {
      this.#seen.add(id);
    }
    this.#seesAll ||= seesAll || this.#seen.size > MAX_SEEN;
    if (order && this.#changedAt >= order.madeAt) {
      // What has changed since is in the next order.
      this.#tellAt(Math.max(order.until, this.#toldAt + MIN_INTERVAL_MS) + 1);
    }
  }

  heard(device: string, gateway: string): void {
    this.#changedAt = this.#network.now;
    // Most reports of a busy network come while a notice is due anyway.
    if (this.#dueAt > this.#toldAt + MIN_INTERVAL_MS) {
      const isSeen = this.#seesAll || this.#seen.has(device) || this.#seen.has(gateway);
      this.#tellAt(this.#toldAt + (isSeen ? MIN_INTERVAL_MS : UNSEEN_INTERVAL_MS));
    }
  }

  changed(): void {
    this.#changedAt = this.#network.now;
    this.#tellAt(this.#toldAt + MIN_INTERVAL_MS);
  }

  #tellAt(dueAt: number): void {
    if (this.#hasAsked && dueAt < this.#dueAt) {
      clearTimeout(this.#notice);
      this.#dueAt = dueAt;
      this.#notice = setTimeout(() => this.#notify(), Math.max(0, dueAt - this.#network.now)).unref();
    }
  }

  /** Tells him now, whatever he has asked. */
  tell(): void {
    this.#tell?.();
  }

  stop(): void {
    clearTimeout(this.#notice);
    clearTimeout(this.#lease);
  }

  #notify(): void {
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#toldAt = this.#network.now;
    this.#hasAsked = false;
    this.#seen = new Set();
    this.#seesAll = false;
    this.#tell?.();
  }
}

export class ChangeNotices {
  readonly #network: Heard;
  readonly #looks = new Map<string, Look>();
  #ignoreReports: (() => void) | undefined;

  constructor(network: Heard) {
    this.#network = network;
  }

  /** How many look. */
  get size(): number {
    return this.#looks.size;
  }

  /**
   * Somebody begins to look.
   * @param ended called once: nobody has asked for a minute, or it is over
   * @returns by which he is known, a secret; undefined: too many look already
   */
  begin(ended: () => void): string | undefined {
    if (this.#looks.size >= MAX_LOOKS) {
      return undefined;
    }
    const id = randomBytes(ID_BYTES).toString('base64url');
    const look = new Look(this.#network, ended);
    this.#looks.set(id, look);
    look.extend(BEGIN_MS, () => this.end(id));
    return id;
  }

  /** From now on `tell` is called when something has changed since he asked. @returns false: he is not known, or is told already */
  follow(id: string, tell: () => void): boolean {
    const look = this.#looks.get(id);
    if (look === undefined || look.isFollowed) {
      return false;
    }
    look.follow(tell);
    look.extend(LEASE_MS, () => this.end(id));
    this.#ignoreReports ??= this.#network.onHeard((device, gateway) => this.heard(device.id, gateway.id));
    return true;
  }

  /** He asks, and is shown this. @returns whether he is told of changes */
  asked(id: string, shown: Shown): boolean {
    const look = this.#looks.get(id);
    if (!look?.isFollowed) {
      return false;
    }
    look.extend(LEASE_MS, () => this.end(id));
    look.see(shown);
    return true;
  }

  /** Something is known of a device that was not, by this gateway. */
  heard(device: string, gateway: string): void {
    for (const look of this.#looks.values()) {
      look.heard(device, gateway);
    }
  }

  /** Something is other than it was that is of no single device, such as names. */
  changed(): void {
    for (const look of this.#looks.values()) {
      look.changed();
    }
  }

  /** He does not look any more. */
  end(id: string): void {
    const look = this.#looks.get(id);
    if (look === undefined) {
      return;
    }
    look.stop();
    this.#looks.delete(id);
    if (![...this.#looks.values()].some(({ isFollowed }) => isFollowed)) {
      this.#ignoreReports?.();
      this.#ignoreReports = undefined;
    }
    look.ended();
  }

  /** Everybody is told once more, and finds that it is over. */
  close(): void {
    for (const [id, look] of [...this.#looks]) {
      look.tell();
      this.end(id);
    }
  }
}
