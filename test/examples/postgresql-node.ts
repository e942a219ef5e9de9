// The nodes of the sample Store in PostgreSQL as the tests have them, and Node-RED started again where they end it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type NodeConfig,
  type NodeRed,
  startNodeRed,
  type Version,
  WITH_FOREIGN_NODES,
} from '../e2e/node-red.ts';

const MODULES = join(import.meta.dirname, '../../node_modules');
const NAMED = 'node-red-contrib-postgresql';
/** Of the same origin: the same connection, SQL, values and errors, and other names. */
const RELATIVE = 'node-red-contrib-postgrestor-next';
const isNamedInstalled = existsSync(join(MODULES, NAMED));

/** Settings of a Node-RED that has the PostgreSQL nodes. */
export const POSTGRESQL_NODES = {
  ...WITH_FOREIGN_NODES,
  nodesDir: [join(MODULES, isNamedInstalled ? NAMED : RELATIVE)],
};

/** The sample as somebody adapts it to the PostgreSQL nodes that are installed; as it is where it is made for them. */
export function forInstalledNodes(flow: NodeConfig[]): NodeConfig[] {
  return isNamedInstalled ? flow : flow.map(ofRelative);
}

function ofRelative(node: NodeConfig): NodeConfig {
  if (node.type === 'postgreSQLConfig') {
    return { ...node, type: 'postgresDB', min: '0', minFieldType: 'num' };
  }
  if (node.type !== 'postgresql') {
    return node;
  }
  const { postgreSQLConfig, ...kept } = node;
  return { ...kept, type: 'postgrestor', postgresDB: postgreSQLConfig, throwErrors: true, output: true };
}

export interface KeptRunning {
  /** Resolves when it runs, which is at once where it does. */
  started(): Promise<void>;
  /** Ends it for good. */
  end(): Promise<void>;
}

/**
 * Starts Node-RED again whenever it has ended, as systemd or Docker would: the relative ends it with each connection
 * that PostgreSQL ends.
 */
export function keepRunning(version: Version, holder: { red: NodeRed }): KeptRunning {
  let isOver = false;
  let starting = Promise.resolve();
  const watch = () => {
    holder.red.process.once('exit', () => {
      if (!isOver) {
        starting = startNodeRed(version, POSTGRESQL_NODES, [], holder.red).then((red) => {
          holder.red = red;
          watch();
        });
      }
    });
  };
  watch();
  return {
    started: () => starting,
    async end() {
      isOver = true;
      await starting;
      await holder.red.shutDown();
    },
  };
}
