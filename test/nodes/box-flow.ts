// A flow in front of the service in a box: the config node, a Catch node and helpers that hear what comes out.
import { setImmediate as turn } from 'node:timers/promises';
import type { Service } from '../../simulator/src/service.ts';

/** Without a place in the editor Node-RED takes a node for a config node. */
const PLACE = { z: 'f', x: 1, y: 1, wires: [] };

const FIXED = [
  { id: 'f', type: 'tab', label: 'Flow' },
  { ...PLACE, id: 'catcher', type: 'catch', scope: null, uncaught: false, wires: [['errors']] },
  { ...PLACE, id: 'errors', type: 'helper' },
  { ...PLACE, id: 'out', type: 'helper' },
];

/** The config node `svc` with both halves of the box; it asks only what nodes ask, so that calls can be counted. */
export function serviceNode(box: Service, more: object = {}): object {
  return {
    id: 'svc',
    type: 'mt-service',
    name: '',
    authUrl: box.urls.auth,
    baseUrl: box.urls.base,
    brokerUrl: box.urls.mqtt,
    names: false,
    ...more,
  };
}

export const secretsOf = ({ credentials }: Service): { svc: object } => ({ svc: { ...credentials } });

/** Nodes on one tab with the config node `svc`; errors arrive at `errors`, messages at `out`. */
export function flowAround(service: object, ...nodes: object[]): object[] {
  const placed = nodes.map((node) => ({ ...PLACE, service: 'svc', wires: [['out']], ...node }));
  return [...FIXED, service, ...placed];
}

/** Resolves when the broker has somebody's subscription to reports: what is published from now on arrives. */
export async function subscribed({ broker }: Service): Promise<void> {
  const filters = () => [...(broker?.subscriptions.values() ?? [])].flatMap((set) => [...set]);
  while (!filters().some((filter) => filter.includes('/device/'))) {
    await turn();
  }
}
