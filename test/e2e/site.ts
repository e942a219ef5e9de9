// One site for an end-to-end test: the simulated service on a broker, and a Node-RED that has the package installed.

import type { ServiceOptions } from '../../simulator/src/options.ts';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { findProgram, nothingMayBeSkipped } from '../requirements.ts';
import { type NodeConfig, type NodeRed, startNodeRed, type Version } from './node-red.ts';

export interface Site {
  service: Service;
  /** Undefined where Mosquitto is not installed and the simulator's own broker stands in. */
  mosquitto: Mosquitto | undefined;
  red: NodeRed;
  /** The mt-service node that knows both halves of the simulated service. */
  config: NodeConfig;
  /** Publishes below `mt/gateway/{g}/device/`, by mosquitto_pub where there is one. */
  report(gateway: string, device: string, suffix: string, payload: unknown): Promise<void>;
  close(): Promise<void>;
}

const hasMosquitto = () =>
  nothingMayBeSkipped ||
  (findProgram('mosquitto') !== undefined && findProgram('mosquitto_pub') !== undefined);

/** @param options of the simulator; @param settings of Node-RED; @param nodeOptions flags for its Node.js. */
export async function openSite(
  version: Version,
  options: Partial<ServiceOptions> = {},
  settings: Record<string, unknown> = {},
  nodeOptions: readonly string[] = [],
): Promise<Site> {
  const mosquitto = hasMosquitto() ? await startMosquitto() : undefined;
  const service = await startService({ rate: 0, delay: 0, brokerUrl: mosquitto?.url ?? '', ...options });
  const red = await startNodeRed(version, settings, nodeOptions);
  const report: Site['report'] = (gateway, device, suffix, payload) =>
    mosquitto === undefined
      ? service.publish(gateway, device, suffix, payload)
      : mosquitto.publish(`mt/gateway/${gateway}/device/${device}/${suffix}`, payload);
  return {
    service,
    mosquitto,
    red,
    config: configOf(service),
    report,
    close: async () => {
      await red.stop();
      await service.close();
      await mosquitto?.stop();
    },
  };
}

function configOf(service: Service): NodeConfig {
  return {
    id: 'service',
    type: 'mt-service',
    authUrl: service.urls.auth,
    baseUrl: service.urls.base,
    brokerUrl: service.urls.mqtt,
    credentials: service.credentials,
  };
}

/** A status with a green dot: connected, or the last call was fine; of a watch also before anything is heard. */
export const isReady = (status: Record<string, unknown>): boolean =>
  status.shape === 'dot' && (status.fill === 'green' || status.text === 'nothing heard yet');
