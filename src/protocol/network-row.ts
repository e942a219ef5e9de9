// A gateway or a device as the endpoints give it to the editor. What is not known is null.
import type { Condition } from './conditions.ts';

export interface ValueRow {
  identifier: string;
  name: string | null;
  value: string | number | boolean | null;
  unit: string | null;
  /** As the gateway gave it. */
  time: string | null;
}

export interface NetworkRow {
  id: string;
  name: string;
  kind: 'gateway' | 'device';
  /** The gateway that it is listed under. */
  parent: string | null;
  /** ISO 8601, by the clock of this machine. */
  lastSeen: string | null;
  /** Seconds between two reports, usually. */
  interval: number | null;
  silent: boolean;
  /** In dBm: how well `parent` hears it, or the node that hears it for `parent`. */
  rssi: number | null;
  /** In percent. */
  battery: number | null;
  /** How many a gateway hears that was heard itself. */
  devices: number | null;
  values: ValueRow[];
  conditions: Condition[];
  /** By the list of devices. */
  labels: readonly string[];
  connected: boolean | null;
  /** Nobody asks for reports at present: it is not known whether it would be heard. */
  isUnasked?: true;
  /** Of a gateway, where only those in need are asked for: how many of its devices are. */
  inNeed?: number;
  /** Where a person who looks for it may have it in the hand: why. */
  near?: NearRow;
}

export interface NearRow {
  /** An event, or a signal that is much better than usually. */
  reason: 'event' | 'louder';
  identifier: string | null;
  name: string | null;
  /** In dBm, where it is louder: now, and usually. */
  rssi: number | null;
  usual: number | null;
  /** ISO 8601, by the clock of this machine. */
  time: string;
}

/** One way by which a device is heard. */
export interface LinkRow {
  gateway: string;
  /** The node that hears it: the gateway itself, or one between them. */
  parent: string;
  /** Of the node that hears it, or its address. */
  name: string;
  gatewayName: string | null;
  rssi: number | null;
  channel: number | null;
  unreachable: boolean;
  lastSeen: string;
  count: number;
}

/** Everything that is known of one. */
export interface NetworkDetails extends NetworkRow {
  /** Where requests go that name no gateway. */
  gateway: string | null;
  model: string | null;
  dfu: boolean;
  /** How many reports of it there were. */
  count: number;
  event: { identifier: string; name: string | null; lastSeen: string } | null;
  error: { identifier: string | null; name: string | null; code: number; lastSeen: string } | null;
  heardBy: LinkRow[];
  /** The newest first, where they are asked for. */
  reports?: ReportLine[];
}

/** One report as people read it. */
export interface ReportLine {
  /** Tells the lines of one device apart. */
  id: number;
  /** ISO 8601, by the clock of this machine. */
  heard: string;
  /** As the gateway gave it. */
  time: string | null;
  /** Null: of what was reported before somebody looked only the value is remembered. */
  kind: string | null;
  identifier: string | null;
  name: string | null;
  value: string | number | boolean | null;
  unit: string | null;
  /** What a heartbeat, a sample or the error of a measurement tells; 0 is none. */
  error: number | null;
  gateway: string | null;
  gatewayName: string | null;
  /** The node between that heard the device. */
  parent: string | null;
  parentName: string | null;
  /** In dBm. */
  rssi: number | null;
}
