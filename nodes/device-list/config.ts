// What an mt-device-list node saves: which devices are listed, and how they leave the node.
import { type NodeConfig, type Range, readConfig, type TypedField } from '../shared/defaults.ts';

export const OUTPUTS = ['array', 'each', 'page'] as const;

export interface DeviceListConfig
  extends NodeConfig,
    TypedField<'labels' | 'connected' | 'model' | 'firmware' | 'search' | 'query'> {
  name: string;
  /** Devices per page, `MaxResults` of the interface. */
  pageSize: number;
  /** 0: all. */
  limit: number;
  output: (typeof OUTPUTS)[number];
}

export const DEFAULTS: DeviceListConfig = {
  version: 1,
  name: '',
  service: '',
  pageSize: 100,
  limit: 0,
  output: 'array',
  labels: 'labels',
  labelsType: 'msg',
  connected: 'connected',
  connectedType: 'msg',
  model: 'model',
  modelType: 'msg',
  firmware: 'firmware',
  firmwareType: 'msg',
  search: 'search',
  searchType: 'msg',
  query: '{}',
  queryType: 'json',
};

/** What these numbers can be. */
export const RANGES = { pageSize: { min: 1 }, limit: { min: 0 } } as const satisfies Record<string, Range>;

/** The config of a saved node of any version; see `readConfig`. */
export function upgrade(old: unknown): DeviceListConfig {
  return readConfig(old, DEFAULTS, { output: OUTPUTS });
}
