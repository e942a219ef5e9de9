// What a watch is told and tells, and what it needs of the others.
import type { Catalogue } from '../protocol/catalogue.ts';
import type { Condition, ConditionLimits } from '../protocol/conditions.ts';
import type { NetworkState } from './network-state.ts';
import type { WatchSchedule } from './watch-schedule.ts';
import type { Watched } from './watched.ts';
import type { WatchedGateways } from './watched-gateways.ts';

export interface WatchSettings extends ConditionLimits {
  /** MACs; empty lists let everything through. */
  gateways: readonly string[];
  devices: readonly string[];
  /** Only gateways that carry one of these REST labels. */
  labels: readonly string[];
  conditions: readonly Condition[];
}

/** What is told when a condition begins or ends, and of what is active. */
export interface ConditionChange {
  condition: Condition;
  active: boolean;
  /** That heard the device last; absent where none is known. */
  gateway?: string;
  /** Of a gateway: its own MAC. */
  device: string;
  deviceName?: string;
  /** ISO-8601, by the clock of this machine: when it began. */
  since: string;
  /** What it was judged by, in the unit of the limit: seconds, percent or dBm, or the code of an error. */
  value?: number;
  limit?: number;
}

export interface WatchListener {
  changed(change: ConditionChange): void;
  /** How many are watched, or how many of them need somebody, may be others. */
  counted(): void;
  /**
   * For the first time something is not watched, because too much is.
   * @param unrestored so many of what was watched before the start; undefined: something new
   */
  full(unrestored?: number): void;
  /** This gateway brings a device of the list: what else it brings tells whether it is there. */
  follow(gateway: string): void;
}

/** Where reports come from. */
export interface WatchedPlace {
  gateway?: string | undefined;
  device?: string | undefined;
}

/** What a watch needs of the others. */
export interface WatchContext {
  network: NetworkState;
  catalogue: Catalogue;
  nameOf(mac: string): string | undefined;
  gateways: WatchedGateways;
  schedule: WatchSchedule<Watched>;
  /** What a store would hold has changed. */
  changed(): void;
  /** A node was told of a condition: a store should hold that soon, so that it is not told twice. */
  told(): void;
  now(): number;
  /** Whether there is room for one more. */
  mayAdd(): boolean;
  /** Whether the broker has refused all by which reports of a device, or what a gateway brings, would come, or has still to answer. */
  isRefused(place: WatchedPlace): boolean;
}

/** What goes on over a deploy, and where a store brings it back over a restart. */
export interface KeptWatch {
  filter: string;
  /** Those of its settings. */
  gateways: readonly string[];
  devices: readonly string[];
  /** Reports have gone on without it: nobody may have heard who was there. */
  hasMissedReports: boolean;
  entries: ReadonlyMap<string, Watched>;
  /** Whose gateways have lost their label. */
  left: ReadonlyMap<string, Watched>;
  /** Gateways that were taken away, and not heard since. */
  forgotten: ReadonlySet<string>;
  /** What flows have not received yet. */
  untold: Iterable<ConditionChange>;
  /** By which an entry belongs to the watch. */
  gatewayOf(entry: Readonly<Watched>): string | undefined;
  /** By which it does so though that was taken away. */
  takenGatewayOf(entry: Readonly<Watched>): string | undefined;
  /** That brings most of its reports. */
  mainGatewayOf(entry: Readonly<Watched>): string | undefined;
  /** How often a gateway is heard usually that is none of the entries, in milliseconds. */
  gatewayIntervalMs(gateway: string): number | undefined;
  /** Whether it is told silent when it is not heard for long enough. */
  isMissed(entry: Watched): boolean;
  /** For how many milliseconds it is silent, as far as that is its own silence. */
  silentMs(entry: Watched): number;
  /** Whether it is a gateway that has brought reports, also before the start. */
  hasBrought(entry: Readonly<Watched>): boolean;
  /** Whether nothing but this device shows that its gateways are there. */
  isAlone(entry: Readonly<Watched>): boolean;
}

/** Whether all that comes counts; else only what tells of the conditions. */
export const hearsEverything = (conditions: readonly Condition[]): boolean =>
  conditions.includes('silent') || conditions.includes('gateway-silent');
