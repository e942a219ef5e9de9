// A site for samples in trouble: the simulator's own broker, which can refuse and go away, and a strict portal.

import type { Device } from '../../simulator/src/fleet.ts';
import type { ListedDevice } from '../../simulator/src/portal.ts';
import { VERSIONS } from '../e2e/node-red.ts';
import { isReady, openSite, type Site } from '../e2e/site.ts';

export interface Trouble {
  site: Site;
  /** The sensor that samples and demo speak of. */
  sensor: Device;
  /** Waits until a node says that it is ready. */
  ready(node: string): Promise<unknown>;
  /** Waits until a node's status says this. */
  shows(node: string, text: string): Promise<unknown>;
  /** A report through the sensor's gateway, of another device when one is given. */
  report(suffix: string, payload: object, device?: string, gateway?: string): Promise<void>;
  /** A gateway in the list of the portal. */
  listed(gateway: string): ListedDevice;
  /** Cuts the connection and keeps it away; the function that comes back lets it return. */
  loseBroker(reports: string): Promise<() => Promise<void>>;
  /** Takes back everything that a test has switched on. */
  recover(): void;
}

/**
 * Opens the site: label calls answer 409 and 404 as a strict service would.
 * @param settings of Node-RED
 * @param nodeOptions flags for its Node.js
 */
export async function openTrouble(
  settings: Record<string, unknown> = {},
  nodeOptions: readonly string[] = [],
): Promise<Trouble> {
  const site = await openSite(VERSIONS[0]!, { brokerUrl: '', strictLabels: true }, settings, nodeOptions);
  const { service } = site;
  const sensor = service.fleet.devices[0]!;
  const broker = service.broker!;
  const ready = (node: string) => site.red.status(node, isReady);
  return {
    site,
    sensor,
    ready,
    shows: (node, text) => site.red.status(node, (status) => status.text === text),
    report: (suffix, payload, device = sensor.mac, gateway = sensor.home.mac) =>
      service.publish(gateway, device, suffix, { time: new Date().toISOString(), ...payload }),
    listed: (gateway) => service.portal.byId.get(`bmac-${gateway}`)!,
    async loseBroker(reports) {
      broker.faults.closeAtConnect = true;
      broker.disconnectClients();
      await site.red.status(reports, ({ text }) => `${text}`.startsWith('waiting'));
      return async () => {
        broker.faults.closeAtConnect = false;
        await ready(reports);
      };
    },
    recover() {
      broker.faults.closeAtConnect = false;
      service.faults.rest.clear();
      Object.assign(service.faults.answers, { refuseWith: 0, lostAnswers: 0, lostRequests: 0 });
    },
  };
}
