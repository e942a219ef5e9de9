// All watches of one service: they share one schedule, what is known of the gateways, and a bound.
import type { Catalogue } from '../protocol/catalogue.ts';
import { DeviceWatch } from './device-watch.ts';
import type { NetworkState } from './network-state.ts';
import { hasSilences, restoreWatch, type StoredWatches, storeWatches } from './stored-watches.ts';
import type {
  ConditionChange,
  KeptWatch,
  WatchContext,
  WatchListener,
  WatchSettings,
} from './watch-context.ts';
import { type ScheduleOptions, WatchSchedule } from './watch-schedule.ts';
import type { Watched } from './watched.ts';
import { WatchedGateways } from './watched-gateways.ts';

/** Of all watches together: memory for twice as many devices as the network's state holds. */
const MAX_WATCHED = 400_000;
/** For so long at most a store does not hold how long each was silent, in milliseconds. */
const STORE_AGAIN_MS = 3_600_000;

export interface WatchesOptions extends ScheduleOptions {
  nameOf: WatchContext['nameOf'];
  isRefused: WatchContext['isRefused'];
  max?: number;
}

/** One watch as its node sees it. */
export interface OpenWatch {
  /** How many gateways and devices are watched, and how many of them need somebody. */
  readonly counts: { watched: number; active: number };
  /** What has been told and is not over, the oldest first. */
  active(): ConditionChange[];
  /** The first of `active`, and how many there are: cheap, also where very many are. */
  firstActive(limit: number): { rows: ConditionChange[]; total: number };
  /** A gateway or a device was taken away: it is not watched before it is heard again. @param id 12 lowercase hex digits */
  forget(id: string): void;
  /** The gateways that carry the labels. */
  setLabelled(gateways: ReadonlySet<string>): void;
  /** @param comesBack it goes on with what is known when it is opened again under the same name */
  close(comesBack: boolean): void;
}

export class DeviceWatches {
  readonly #network: NetworkState;
  readonly #context: WatchContext;
  readonly #schedule: WatchSchedule<Watched>;
  readonly #gateways: WatchedGateways;
  readonly #max: number;
  readonly #now: () => number;
  readonly #watches = new Map<string, DeviceWatch>();
  #list: readonly DeviceWatch[] = [];
  /** Of nodes that come back, by name. */
  #kept = new Map<string, KeptWatch>();
  /** Of nodes that are not there yet. */
  #stored: StoredWatches = {};
  #isAwaited: (owner: string) => boolean = () => true;
  #ignoreReports: (() => void) | undefined;
  /** When a store was given it last, or it was found that none needs it. */
  #storedAt: number;
  /** Called when something has changed that a store would hold. */
  onChange: (() => void) | undefined;
  /** Called when a node was told of a condition, which a store should hold soon. */
  onTold: (() => void) | undefined;

  constructor(network: NetworkState, catalogue: Catalogue, options: WatchesOptions) {
    const { now = () => performance.now(), nameOf, isRefused, max = MAX_WATCHED } = options;
    this.#network = network;
    this.#max = max;
    this.#now = now;
    this.#storedAt = now();
    this.#schedule = new WatchSchedule<Watched>((entry) => entry.watch.check(entry), options);
    this.#gateways = new WatchedGateways(network, (waiting, inMs) => {
      for (const entry of waiting) {
        this.#schedule.set(entry, this.#schedule.time + inMs);
      }
    });
    this.#context = {
      network,
      catalogue,
      nameOf,
      isRefused,
      gateways: this.#gateways,
      schedule: this.#schedule,
      changed: () => this.onChange?.(),
      told: () => this.onTold?.(),
      now,
      mayAdd: () => this.#size < this.#max,
    };
  }

  /** Whether there are any, of nodes that may come back too: of them a store holds something. */
  get areUsed(): boolean {
    return this.#watches.size + this.#kept.size > 0;
  }

  /** Whether a timer is set. */
  get isWaiting(): boolean {
    return this.#schedule.isWaiting;
  }

  /** @param owner by this name it is known again after a deploy and a restart */
  open(owner: string, settings: WatchSettings, listener: WatchListener): OpenWatch {
    const kept = this.#kept.get(owner);
    this.#kept.delete(owner);
    const watch = new DeviceWatch(this.#context, settings, listener);
    this.#watches.set(owner, watch);
    this.#list = [...this.#watches.values()];
    this.#ignoreReports ??= this.#network.onHeard((device, gateway, at, report) => {
      this.#gateways.heard(gateway);
      for (const one of this.#list) {
        one.heard(device, gateway, at, report?.backfill === true);
      }
      this.#storeSilences(gateway.heardAt);
    });
    if (kept) {
      watch.takeOver(kept);
    }
    this.#restore(owner, watch);
    return {
      get counts() {
        return watch.counts;
      },
      active: () => watch.active(),
      firstActive: (limit) => watch.firstActive(limit),
      forget: (id) => watch.forget(id),
      setLabelled: (gateways) => watch.setLabelled(gateways),
      close: (comesBack) => this.#close(owner, watch, comesBack),
    };
  }

  /** By the name under which it was opened. */
  watch(owner: string): Pick<DeviceWatch, 'counts' | 'active'> | undefined {
    return this.#watches.get(owner);
  }

  /** Nobody is silent while reports cannot be heard. */
  setListening(isListening: boolean): void {
    this.#schedule.setListening(isListening);
  }

  /**
   * The broker has granted or refused everything: what it grants now and had refused has its time anew. What a lost
   * connection leaves open is settled with the next one.
   * @param isRefused as that of the context; undefined: nothing is
   */
  settled(isRefused: WatchContext['isRefused'] | undefined): void {
    for (const watch of this.#list) {
      watch.settled(isRefused);
    }
  }

  /**
   * While flows are replaced nothing is told: nobody would receive it.
   * @param isAwaited whether a node of this name may still come back after that, with this deploy or a later one
   */
  setPaused(isPaused: boolean, isAwaited: (owner: string) => boolean = () => false): void {
    this.#isAwaited = isPaused ? () => true : isAwaited;
    this.#forgetRemoved();
    for (const [owner, kept] of isPaused ? [] : this.#kept) {
      this.#kept.set(owner, { ...kept, hasMissedReports: true, silentMs: () => 0 });
    }
    this.#schedule.setPaused(isPaused);
    for (const watch of isPaused ? [] : this.#list) {
      watch.resumed();
    }
  }

  /** Goes on with what the watches of another one knew, also of those that are still to be closed. */
  takeOver(before: DeviceWatches): void {
    this.#kept = before.#kept;
    this.#stored = { ...before.#stored, ...this.#stored };
    this.#gateways.takeOver(before.#gateways);
  }

  /** What a store holds over a restart; the devices that need somebody come first. */
  store(max: number): StoredWatches {
    this.#storedAt = this.#now();
    // A node that has closed, or cannot work yet, may come back with the next start.
    const waiting = Object.values(this.#stored).reduce((sum, { length }) => sum + length, 0);
    const all = new Map(this.#kept);
    for (const [owner, { kept }] of this.#watches) {
      all.set(owner, kept);
    }
    return { ...this.#stored, ...storeWatches(all, max - waiting) };
  }

  /** @param stored what `store` gave, which somebody may have changed */
  restore(stored: unknown): void {
    const all = Object.entries((stored ?? {}) as StoredWatches);
    this.#stored = Object.fromEntries(all.filter(([, devices]) => Array.isArray(devices)));
    this.#forgetRemoved();
    for (const [owner, watch] of this.#watches) {
      this.#restore(owner, watch);
    }
  }

  close(): void {
    this.#schedule.close();
    this.#ignoreReports?.();
    this.#ignoreReports = undefined;
  }

  get #size(): number {
    let size = 0;
    for (const watch of this.#list) {
      size += watch.size;
    }
    for (const { entries, left } of this.#kept.values()) {
      size += entries.size + left.size;
    }
    return size;
  }

  #forgetRemoved(): void {
    const isRemoved = (owner: string) => !this.#watches.has(owner) && !this.#isAwaited(owner);
    for (const owner of [...this.#kept.keys(), ...Object.keys(this.#stored)].filter(isRemoved)) {
      this.#kept.delete(owner);
      delete this.#stored[owner];
    }
  }

  /** By reports, so that no timer runs for it: without them hardly any silence grows. */
  #storeSilences(now: number): void {
    if (now - this.#storedAt >= STORE_AGAIN_MS) {
      this.#storedAt = now;
      if (this.#list.some(({ kept }) => hasSilences(kept, now - STORE_AGAIN_MS))) {
        this.onChange?.();
      }
    }
  }

  #restore(owner: string, watch: DeviceWatch): void {
    if (Object.hasOwn(this.#stored, owner)) {
      restoreWatch(watch, this.#stored[owner], this.#now());
      delete this.#stored[owner];
    }
  }

  #close(owner: string, watch: DeviceWatch, comesBack: boolean): void {
    const kept = watch.close();
    if (this.#watches.get(owner) === watch) {
      this.#watches.delete(owner);
      this.#list = [...this.#watches.values()];
    }
    if (comesBack) {
      this.#kept.set(owner, kept);
    } else {
      this.onChange?.();
    }
    if (this.#list.length === 0) {
      this.#ignoreReports?.();
      this.#ignoreReports = undefined;
    }
  }
}
