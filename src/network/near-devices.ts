// Which devices a person may have in the hand: those that fire an event, or are heard much better than usually.

import { FifoMap } from '../collections/fifo-map.ts';
import type { Report, ReportTopic } from '../protocol/reports/index.ts';
import { ownText } from '../protocol/text.ts';
import type { DeviceState } from './device-state.ts';
import { isSignal, type Link } from './links.ts';
import type { NetworkState } from './network-state.ts';
import { isPropertyName } from './property-values.ts';

/** Whoever looks asks again before that; an editor that is closed does not say so. */
const LEASE_MS = 15_000;
/** So long after the event or the signal. */
const LIT_MS = 10_000;
/** At a time; that which was lit first goes. */
const MAX_LIT = 100;
/** Signals go up and down by ten dB by themselves. */
const MIN_RISE_DB = 15;
/** Of the newest signal: where a device hangs from now on is usual after about ten reports. */
const WEIGHT = 0.1;
/** Of links whose usual signal is known; that of any other is its last one. */
const MAX_USUAL = 10_000;

/** Why a device is lit. Times are milliseconds of `performance.now()`. */
export interface Lit {
  reason: 'event' | 'louder';
  /** Of an event. */
  identifier: string | undefined;
  /** In dBm, where it is louder: now, and before. */
  rssi: number | undefined;
  usual: number | undefined;
  at: number;
}

type Cause = Omit<Lit, 'at'>;

export class NearDevices {
  readonly #network: NetworkState;
  /** In the order in which they were lit. */
  #lit = new Map<string, Lit>();
  #usual = new FifoMap<{ rssi: number }>(MAX_USUAL);
  #usualCount = 0;
  #end: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(network: NetworkState) {
    this.#network = network;
  }

  /** How much is kept. */
  get size(): { lit: number; usual: number } {
    return { lit: this.#lit.size, usual: this.#usualCount };
  }

  /**
   * The devices that are lit, the one that was lit last first. From the first call on reports are watched, until nobody
   * has called for 15 s.
   */
  look(): ReadonlyMap<string, Readonly<Lit>> {
    this.#end ??= this.#begin();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.close(), LEASE_MS).unref();
    const since = this.#network.now - LIT_MS;
    for (const [id, { at }] of this.#lit) {
      if (at < since) {
        this.#lit.delete(id);
      }
    }
    return new Map([...this.#lit].reverse());
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#end?.();
    this.#end = undefined;
    this.#lit = new Map();
    this.#usual = new FifoMap(MAX_USUAL);
    this.#usualCount = 0;
  }

  #begin(): () => void {
    const network = this.#network;
    const ends = [
      network.onHeard((device, _, at) => this.#heard(device, at)),
      network.onSignal((device, link, report) => this.#signalled(device, link, report)),
    ];
    return () => ends.forEach((end) => void end());
  }

  #heard({ id, heardAt }: Readonly<DeviceState>, { kind, identifier }: Readonly<ReportTopic>): void {
    if (kind === 'event') {
      const kept = identifier !== undefined && isPropertyName(identifier) ? ownText(identifier) : undefined;
      this.#light(id, { reason: 'event', identifier: kept, rssi: undefined, usual: undefined }, heardAt);
    }
  }

  #signalled(device: Readonly<DeviceState>, link: Readonly<Link>, { rssi }: Readonly<Report>): void {
    if (!isSignal(rssi)) {
      return;
    }
    const key = `${device.id}/${link.gateway}/${link.parent}`;
    const known = this.#usual.get(key);
    const usual = known?.rssi ?? link.signal?.rssi ?? bestOf(device);
    if (usual !== undefined && rssi - usual >= MIN_RISE_DB) {
      const cause = { reason: 'louder', identifier: undefined, rssi, usual: Math.round(usual) } as const;
      this.#light(device.id, cause, this.#network.now);
    }
    const next = usual === undefined ? rssi : usual + WEIGHT * (rssi - usual);
    if (known) {
      known.rssi = next;
    } else {
      this.#usualCount += this.#usual.add(key, { rssi: next }) ? 0 : 1;
    }
  }

  /** One that is lit keeps its place. */
  #light(id: string, cause: Cause, at: number): void {
    const known = this.#lit.get(id);
    if (known && at - known.at > LIT_MS) {
      this.#lit.delete(id);
    }
    this.#lit.set(id, { ...cause, at });
    if (this.#lit.size > MAX_LIT) {
      const [first] = this.#lit.keys();
      this.#lit.delete(first as string);
    }
  }
}

/** Of all that hear it; undefined: nobody has said how well. */
function bestOf({ links }: Readonly<DeviceState>): number | undefined {
  let best: number | undefined;
  for (const { signal } of links) {
    if (signal !== undefined && (best === undefined || signal.rssi > best)) {
      best = signal.rssi;
    }
  }
  return best;
}
