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

/** The config of a saved node of any version; see `readConfig`. */
export function upgrade(old: unknown): RenameConfig {
  return readConfig(readCaption((typeof old === 'object' && old) || {}), DEFAULTS);
}

/** A `name` without a type is the node's caption, as core nodes have it, and the new name is the default. */
export function readCaption(saved: object): Record<string, unknown> {
  const { name, ...rest } = saved as Record<string, unknown>;
  const { nameType, title } = rest;
  if ((nameType !== undefined && nameType !== null) || typeof name !== 'string') {
    return { ...rest, name };
  }
  return { ...rest, title: title || name };
}
