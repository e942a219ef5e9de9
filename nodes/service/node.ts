// mt-service: the connection to one device management service, shared by the nodes that use it.
import type { NodeAPI, NodeDef } from 'node-red';
import { showAddress, splitBrokers } from '../../src/index.ts';
import { savedCredentials, savedNode } from '../shared/runtime/env.ts';
import { rememberInstance, type ServiceNode } from '../shared/runtime/services.ts';
import { registerAdmin } from './admin.ts';
import { CREDENTIALS, type ServiceConfig, type ServiceCredentials, upgrade } from './config.ts';
import { fillService } from './filled.ts';
import { SessionHolder } from './session-holder.ts';
import { createSettings, rememberDeployed } from './settings.ts';
import { type KeptMemories, ValueMemory } from './value-memory.ts';

export default function registerService(RED: NodeAPI): void {
  const kept: KeptMemories = new Map();
  function Service(this: ServiceNode, saved: NodeDef): void {
    RED.nodes.createNode(this, saved);
    this.users = {};
    this.followers = new Set();
    rememberInstance(this);
    const original = () => ({ ...savedNode(RED, saved), ...savedCredentials(RED, saved) });
    const filled = fillService(RED, this, saved, this.credentials ?? {}, original);
    const { config, credentials } = filled;
    rememberDeployed(this, { config, credentials });
    const [network, portal] = [networkOf(config), portalOf(config, credentials)];
    const options = { kept, network, portal, store: config.remember.trim() };
    const memory = new ValueMemory(RED, this, options);
    const holder = new SessionHolder(RED, this, [config.tls, config.proxy], memory, () => {
      filled.check();
      return createSettings(RED, this.id, config, credentials);
    });
    const before = upgrade(savedNode(RED, saved));
    this.on('close', (removed: boolean, done: () => void) => {
      // During a deploy Node-RED has the new flows already.
      const after = upgrade(savedNode(RED, saved));
      const fill = () => fillService(RED, this, after, {}, original).config;
      const goesOnAt = removed ? [] : addressesAfter([before, after], () => [config, fill()]);
      const isNetworkFinal = removed || networkOf(after) !== networkOf(before);
      holder.close({ goesOnAt, isNetworkFinal }).then(done, done);
    });
  }
  RED.nodes.registerType('mt-service', Service as never, { credentials: CREDENTIALS });
  registerAdmin(RED);
}

type Change = readonly [before: ServiceConfig, after: ServiceConfig];

/**
 * Where the service that follows has the session of the one before.
 * @param saved as it stands in the flow
 * @param filled the same with the variables of now: those of the next start may be others
 * @returns undefined: at the same addresses
 */
function addressesAfter(saved: Change, filled: () => Change): string[] | undefined {
  const hasSame = (key: 'brokerUrl' | 'clientId' | 'persistent') => {
    const isSame = ([before, after]: Change) => String(before[key]).trim() === String(after[key]).trim();
    return isSame(saved) || isSame(filled());
  };
  if (!hasSame('clientId') || !hasSame('persistent')) {
    return [];
  }
  return hasSame('brokerUrl') ? undefined : splitBrokers(filled()[1].brokerUrl);
}

/** Tells the list of devices of a service from others. */
function portalOf({ authUrl, baseUrl }: ServiceConfig, { username = '' }: ServiceCredentials): string {
  return JSON.stringify([authUrl, baseUrl, username]);
}

/** Tells the network of a service from others, without a secret. */
function networkOf({ brokerUrl, topicPrefix }: ServiceConfig): string {
  const brokers = splitBrokers(brokerUrl) ?? [];
  return JSON.stringify([brokers.map((address) => showAddress(address)), topicPrefix]);
}
