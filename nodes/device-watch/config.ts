// What an mt-device-watch node saves: whom it watches, for which conditions, and their limits.
import { CONDITION_NAMES, type Condition, DEFAULT_LIMITS } from '../../src/protocol/conditions.ts';
import { type NodeConfig, type Range, readConfig } from '../shared/defaults.ts';

export interface DeviceWatchConfig extends NodeConfig {
  name: string;
  /** Empty lists let everything through. */
  gateways: string[];
  devices: string[];
  labels: string[];
  /** Names of conditions; a text of a variable may hold others. */
  conditions: string[];
  /** Seconds; 0: by the usual interval of each. */
  silentAfter: number;
  /** Percent. */
  batteryBelow: number;
  /** Percent, not less than `batteryBelow`; 0: five above it. */
  batteryFine: number;
  /** dBm. */
  signalBelow: number;
}

export const DEFAULTS: DeviceWatchConfig = {
  version: 1,
  name: '',
  service: '',
  gateways: [],
  devices: [],
  labels: [],
  conditions: ['silent', 'gateway-silent'],
  ...DEFAULT_LIMITS,
};

export const RANGES = {
  silentAfter: { min: 0 },
  batteryBelow: { min: 0, max: 100 },
  batteryFine: { min: 0, max: 100 },
  signalBelow: { min: -200, max: 0 },
} as const satisfies Record<string, Range>;

export const isCondition = (name: string): name is Condition =>
  CONDITION_NAMES.some((known) => known === name);

/** The config of a saved node of any version; see `readConfig`. */
export function upgrade(old: unknown): DeviceWatchConfig {
  return readConfig(old, DEFAULTS);
}
