// What a service was when its broker half could be used last: while a deploy leaves that wrong, it counts as what the service is.
import { type MqttSettings, splitBrokers } from '../../src/index.ts';
import type { ServiceConfig } from './config.ts';
import { isSameNetwork, networkOf } from './network-name.ts';

/** A service as it was saved, and with its variables filled in. */
export interface DeployedConfigs {
  saved: ServiceConfig;
  filled: ServiceConfig;
}

interface Usable extends DeployedConfigs {
  /** Undefined: it had no broker addresses. */
  mqtt: MqttSettings | undefined;
}

/** By the id of the service, until it is removed. Of one Node-RED, as `KeptMemories`. */
export type LastUsable = Map<string, Usable>;

/** What becomes of a service that a deploy ends. */
export interface Succession {
  /** See `Session.close`. */
  goesOnAt: string[] | undefined;
  /** What is known is of a network that is not the service's any more. */
  isNetworkFinal: boolean;
}

/** Its variables bring no broker address now. That is no service without a broker: they may bring one again. */
export function isEmptied({ saved, filled }: DeployedConfigs): boolean {
  const [before, after] = [saved, filled].map(({ brokerUrl }) => splitBrokers(brokerUrl)?.length);
  return before !== 0 && after === 0;
}

/** Nobody follows. */
export const REMOVED: Succession = { goesOnAt: [], isNetworkFinal: true };
/** Who follows has the same session and the same network, or cannot say yet. */
export const UNCHANGED: Succession = { goesOnAt: undefined, isNetworkFinal: false };

export function successionOf(before: DeployedConfigs, after: DeployedConfigs): Succession {
  // With the variables of now: those of the next start may be others, so that one of both is enough.
  const changes: Change[] = [
    [before.saved, after.saved],
    [before.filled, after.filled],
  ];
  return { goesOnAt: addressesAfter(changes), isNetworkFinal: !changes.some(keepsNetwork) };
}

type Change = readonly [before: ServiceConfig, after: ServiceConfig];

/** Where the service that follows has the session of the one before; undefined: at the same addresses. */
function addressesAfter(changes: readonly Change[]): string[] | undefined {
  const isKept = (key: 'brokerUrl' | 'clientId' | 'persistent') =>
    changes.some(([before, after]) => String(before[key]).trim() === String(after[key]).trim());
  if (!isKept('clientId') || !isKept('persistent')) {
    return [];
  }
  return isKept('brokerUrl') ? undefined : splitBrokers(changes.at(-1)?.[1].brokerUrl ?? '');
}

function keepsNetwork([before, after]: Change): boolean {
  return isSameNetwork(networkOf(before), networkOf(after));
}
