// What an mt-last-value node saves: whose values it sends, and what it does when they are old.
import { type NodeConfig, type Range, readConfig, type TypedField } from '../shared/defaults.ts';

export const TOO_OLD = ['send', 'read', 'error'] as const;
export const SELECTIONS = ['one', 'all'] as const;

export interface LastValueConfig extends NodeConfig, TypedField<'gateway' | 'device' | 'identifier'> {
  name: string;
  /** One property of one device, or all that the filters let through. */
  select: (typeof SELECTIONS)[number];
  labels: string[];
  /** Seconds; 0: any age. */
  maxAge: number;
  /** What happens when the newest value is older, or there is none. */
  tooOld: (typeof TOO_OLD)[number];
}

export const DEFAULTS: LastValueConfig = {
  version: 1,
  name: '',
  service: '',
  select: 'one',
  gateway: 'gateway',
  gatewayType: 'msg',
  device: 'device',
  deviceType: 'msg',
  identifier: 'identifier',
  identifierType: 'msg',
  labels: [],
  maxAge: 0,
  tooOld: 'send',
};

export const RANGES = { maxAge: { min: 0 } } as const satisfies Record<string, Range>;

/** The config of a saved node of any version; see `readConfig`. */
export function upgrade(old: unknown): LastValueConfig {
  return readConfig(old, DEFAULTS, { select: SELECTIONS, tooOld: TOO_OLD });
}
