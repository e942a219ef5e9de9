// mt-service: the connection to one device management service, shared by the nodes that use it.
import type { NodeAPI, NodeDef } from 'node-red';
import { isInFlows } from '../shared/runtime/deploys.ts';
import { savedCredentials, savedNode, savedService } from '../shared/runtime/env.ts';
import { rememberInstance, type ServiceNode } from '../shared/runtime/services.ts';
import { registerAdmin } from './admin.ts';
import { CREDENTIALS, type ServiceConfig, type ServiceCredentials, upgrade } from './config.ts';
import { fillService } from './filled.ts';
import { isEmptied, type LastUsable, REMOVED, successionOf, UNCHANGED } from './last-usable.ts';
import { SessionHolder } from './session-holder.ts';
import { createHalves, createSettings, isUsableAtBroker, rememberDeployed } from './settings.ts';
import { forgetfulStores, type KeptMemories, ValueMemory } from './value-memory.ts';

export default function registerService(RED: NodeAPI): void {
  const kept: KeptMemories = new Map();
  const lastUsable: LastUsable = new Map();
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
    const options = { kept, portal: portalOf(config, credentials), store: config.remember.trim() };
    const memory = new ValueMemory(RED, this, options);
    const configs = { saved: upgrade(savedNode(RED, saved)), filled: config };
    const holder = new SessionHolder(RED, this, {
      ...{ nodeIds: [config.tls, config.proxy], configs, lastUsable, memory },
      createSettings: () =>
        createHalves(config, (only, half) => {
          filled.check(half);
          return createSettings(RED, this.id, only, credentials);
        }),
    });
    this.on('close', (removed: boolean, done: () => void) => {
      // During a deploy Node-RED has the new flows already.
      const savedAfter = upgrade(savedNode(RED, saved));
      const filledAfter = fillService(RED, this, savedAfter, savedCredentials(RED, saved), original);
      const after = { saved: savedAfter, filled: filledAfter.config };
      const last = lastUsable.get(this.id);
      const isDecided = last && !isEmptied(after) && isUsableAtBroker(RED, this.id, filledAfter);
      const next = isDecided ? successionOf(last, after) : UNCHANGED;
      // Node-RED calls a disabled one removed, too.
      const ended = () => ({ ...REMOVED, isNetworkFinal: !isInFlows(RED, this.id) });
      holder.close(removed ? ended() : next).then(done, done);
    });
  }
  const mtServiceForgetful = { value: forgetfulStores(RED.settings.contextStorage), exportable: true };
  RED.nodes.registerType('mt-service', Service as never, {
    credentials: CREDENTIALS,
    settings: { mtServiceForgetful },
  });
  registerAdmin(RED);
}

/** Tells the list of devices of a service from others. */
function portalOf({ authUrl, baseUrl }: ServiceConfig, { username = '' }: ServiceCredentials): string {
  return JSON.stringify([authUrl, baseUrl, username]);
}
