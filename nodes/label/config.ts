// What an mt-label node saves: whether a label is created or removed, and from which device.
import { type NodeConfig, readConfig, type TypedField } from '../shared/defaults.ts';

export const ACTIONS = ['create', 'remove', 'msg'] as const;

export interface LabelConfig extends NodeConfig, TypedField<'label' | 'device'> {
  name: string;
  /** `msg`: taken from `msg.action`. */
  action: (typeof ACTIONS)[number];
}

export const DEFAULTS: LabelConfig = {
  version: 1,
  name: '',
  service: '',
  action: 'create',
  label: 'payload',
  labelType: 'msg',
  device: 'device',
  deviceType: 'msg',
};

/** The config of a saved node of any version; see `readConfig`. */
export function upgrade(old: unknown): LabelConfig {
  return readConfig(old, DEFAULTS, { action: ACTIONS });
}
