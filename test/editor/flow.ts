// The flow that the editor's tests open: a service in a box, and a node of every type that uses it.

import type { Service } from '../../simulator/src/service.ts';
import type { NodeConfig } from '../e2e/node-red.ts';
import { FLOW_NODE_TYPES } from '../node-types.ts';

/** The mt-service node of a service in a box. */
export const serviceNode = (service: Service): NodeConfig => ({
  id: 'service',
  type: 'mt-service',
  name: 'Building A',
  authUrl: service.urls.auth,
  baseUrl: service.urls.base,
  brokerUrl: service.urls.mqtt,
  credentials: { ...service.credentials },
});

/** A node of every type as a hand-written flow has it: only its type and its service. */
export const bareNodes = (): NodeConfig[] =>
  FLOW_NODE_TYPES.map((type, index) => ({
    id: type,
    type,
    service: 'service',
    x: 200,
    y: 60 + index * 50,
    wires: [[]],
  }));
