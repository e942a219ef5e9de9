// The nodes of the package, from the list in package.json by which they are built and loaded; and their configs.
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };

const load = createRequire(import.meta.url);
const ROOT = join(import.meta.dirname, '..');

export const NODE_TYPES: readonly string[] = Object.keys(manifest['node-red'].nodes);
/** Without the config node. */
export const FLOW_NODE_TYPES: readonly string[] = NODE_TYPES.filter((type) => type !== 'mt-service');

const FOLDERS = new Map(
  Object.entries(manifest['node-red'].nodes).map(([type, js]) => [type, basename(dirname(js))]),
);
/** The folders in `nodes/`. */
export const NODE_FOLDERS: readonly string[] = [...FOLDERS.values()];

export interface ConfigModule {
  DEFAULTS: Record<string, unknown>;
  CREDENTIALS?: Record<string, { type: string }>;
  upgrade(old: unknown): Record<string, unknown>;
}

/** The folder of a node in `nodes/`. */
export function folderOf(type: string): string {
  const folder = FOLDERS.get(type);
  if (folder === undefined) {
    throw new Error(`no node of type ${type}`);
  }
  return folder;
}

/** What a node saves, as runtime and editor read it. */
export function configOf(type: string): ConfigModule {
  return load(join(ROOT, 'nodes', folderOf(type), 'config.ts')) as ConfigModule;
}
