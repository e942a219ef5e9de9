// mt-service: the connection to one device management service, shared by the nodes that use it.
import type { NodeAPI, NodeDef } from 'node-red';
import { splitBrokers } from '../../src/index.ts';
import { savedNode, savedService } from '../shared/runtime/env.ts';
import { rememberInstance, type ServiceNode } from '../shared/runtime/services.ts';
import { registerAdmin } from './admin.ts';
import { CREDENTIALS, type ServiceConfig, type ServiceCredentials, upgrade } from './config.ts';
import { fillService } from './filled.ts';
import { isSameNetwork, networkOf } from './network-name.ts';
import { SessionHolder } from './session-holder.ts';
import { createHalves, createSettings, rememberDeployed } from './settings.ts';
import { type KeptMemories, ValueMemory } from './value-memory.ts';

export default function registerService(RED: NodeAPI): void {
  const kept: KeptMemories = new Map();
  function Service(this: ServiceNode, saved: NodeDef): void {
    RED.nodes.createNode(this, saved);
    this.users = {};
    this.problems = [];
    this.followers = new Set();
    rememberInstance(this);
    const original = () => savedService(RED, saved);
    const filled = fillService(RED, this, saved, this.credentials ?? {}, original);
    const { config, credentials } = filled;
    rememberDeployed(this, { config, credentials });
    const [network, portal] = [networkOf(config), portalOf(config, credentials)];
    const options = { kept, network, portal, store: config.remember.trim() };
    const memory = new ValueMemory(RED, this, options);
    const holder = new SessionHolder(RED, this, [config.tls, config.proxy], memory, () =>
      createHalves(config, (half) => {
        filled.check(half);
        return createSettings(RED, this.id, half, credentials);
      }),
    );
    const before = upgrade(savedNode(RED, saved));
    this.on('close', (removed: boolean, done: () => void) => {
      // During a deploy Node-RED has the new flows already.
      const after = upgrade(savedNode(RED, saved));
      const filledAfter = fillService(RED, this, after, {}, original).config;
      // With the variables of now: those of the next start may be others, so that one of both is enough.
      const changes: Change[] = [
        [before, after],
        [config, filledAfter],
      ];
      const goesOnAt = removed ? [] : addressesAfter(changes);
      const isNetworkFinal = removed || !changes.some(keepsNetwork);
      holder.close({ goesOnAt, isNetworkFinal }).then(done, done);
    });
  }
  RED.nodes.registerType('mt-service', Service as never, { credentials: CREDENTIALS });
  registerAdmin(RED);
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

/** Tells the list of devices of a service from others. */
function portalOf({ authUrl, baseUrl }: ServiceConfig, { username = '' }: ServiceCredentials): string {
  return JSON.stringify([authUrl, baseUrl, username]);
}
