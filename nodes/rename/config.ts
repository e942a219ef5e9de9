// What an mt-rename node saves: which device gets which name.
import { type NodeConfig, readConfig, type TypedField } from '../shared/defaults.ts';

export interface RenameConfig extends NodeConfig, TypedField<'device' | 'name'> {
  /** What the node is called in the editor: `name` is the device's new name here. */
  title: string;
}

export const DEFAULTS: RenameConfig = {
  version: 1,
  title: '',
  service: '',
  device: 'device',
  deviceType: 'msg',
  name: 'payload',
  nameType: 'msg',
};

/** The config of a saved node of any version; see `readConfig`. A `name` without a type is a node's caption. */
export function upgrade(old: unknown): RenameConfig {
  const config = readConfig(old, DEFAULTS);
  const saved = (old ?? {}) as { name?: unknown; nameType?: unknown };
  if (saved.nameType !== undefined) {
    return config;
  }
  const caption = typeof saved.name === 'string' ? saved.name : '';
  return { ...config, title: config.title || caption, name: DEFAULTS.name };
}
