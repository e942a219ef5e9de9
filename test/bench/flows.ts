// What is compared: the same job wired with our nodes, with core nodes, and with the floor.
import type { NodeConfig } from '../e2e/node-red.ts';
import { deviceMac, gatewayMac, KINDS, LABEL_OF_ALL } from './traffic.ts';

const range = (length: number) => Array.from({ length }, (_, i) => i);

const sink = (id: string): NodeConfig => ({ id, type: 'bench-sink', wires: [] });

const service = (broker: string, more: Record<string, unknown> = {}): NodeConfig => ({
  id: 'service',
  type: 'mt-service',
  brokerUrl: broker,
  ...more,
});

function coreBroker(broker: string): NodeConfig {
  const { hostname, port } = new URL(broker);
  return {
    id: 'broker',
    type: 'mqtt-broker',
    broker: hostname,
    port,
    autoConnect: true,
    protocolVersion: '4',
    keepalive: '60',
    cleansession: true,
  };
}

const coreIn = (id: string, topic: string, wires: string[]): NodeConfig => ({
  id,
  type: 'mqtt in',
  topic,
  qos: '1',
  datatype: 'json',
  broker: 'broker',
  nl: false,
  rap: true,
  rh: 0,
  inputs: 0,
  wires: [wires],
});

/** Five report-in nodes, one per kind. */
export const oursByKind = (broker: string, more: Record<string, unknown> = {}): NodeConfig[] => [
  service(broker),
  ...KINDS.flatMap((kind) => [
    {
      id: `in-${kind}`,
      type: 'mt-report-in',
      service: 'service',
      kinds: [kind],
      ...more,
      wires: [[`out-${kind}`]],
    },
    sink(`out-${kind}`),
  ]),
];

const lastValue: NodeConfig = {
  id: 'last',
  type: 'mt-last-value',
  service: 'service',
  select: 'all',
  wires: [[]],
};
const deviceWatch: NodeConfig = { id: 'watch', type: 'mt-device-watch', service: 'service', wires: [[]] };

/** The same, with a node that knows the last values of all devices, and one that watches them all. */
export const oursWithState = (broker: string): NodeConfig[] => [
  ...oursByKind(broker),
  lastValue,
  deviceWatch,
];

const SPLIT = `const [, , gateway, , device, kind, identifier] = msg.topic.split('/');
msg.gateway = gateway;
msg.device = device;
msg.kind = kind.replace('-decoded', '');
msg.identifier = identifier;
return msg;`;

/** `mqtt in`, a function that splits the topic, a switch by kind. */
export const coreByKind = (broker: string): NodeConfig[] => [
  coreBroker(broker),
  coreIn('in', 'mt/gateway/+/device/#', ['split']),
  { id: 'split', type: 'function', func: SPLIT, outputs: 1, wires: [['by-kind']] },
  {
    id: 'by-kind',
    type: 'switch',
    property: 'kind',
    propertyType: 'msg',
    rules: KINDS.map((kind) => ({ t: 'eq', v: kind, vt: 'str' })),
    checkall: 'true',
    outputs: KINDS.length,
    wires: KINDS.map((kind) => [`out-${kind}`]),
  },
  ...KINDS.map((kind) => sink(`out-${kind}`)),
];

/** The five of P1; each report goes through one more node, and then it counts. */
const oursThrough = (node: NodeConfig, broker: string, more: Record<string, unknown> = {}): NodeConfig[] => [
  ...oursByKind(broker, more).map((one) =>
    one.type === 'mt-report-in' ? { ...one, wires: [[node.id]] } : one,
  ),
  { ...node, wires: [['out']] },
  sink('out'),
];

/** With QoS 1; each report goes to an acknowledge node. */
export const oursAcknowledging = (broker: string, more: Record<string, unknown> = {}): NodeConfig[] =>
  oursThrough({ id: 'ack', type: 'mt-timestamped-ack', service: 'service' }, broker, {
    ...more,
    confirm: 'acknowledged',
  });

/** The same flow with a node that does nothing. */
export const oursPassing = (broker: string): NodeConfig[] =>
  oursThrough({ id: 'pass', type: 'bench-pass' }, broker);

/** What can be on beside the five nodes of P1 by way of nodes and settings. */
export type Part = 'lastValue' | 'deviceWatch' | 'confirm' | 'labels';

/** P1 with some parts. @param portal address of the REST half, which labels need */
export function oursWith(parts: readonly Part[], broker: string, portal: string): NodeConfig[] {
  const has = (part: Part) => parts.includes(part);
  const wire = has('confirm') ? oursAcknowledging : oursByKind;
  const rest = { authUrl: portal, baseUrl: portal, credentials: { username: 'a', password: 'b' } };
  const nodes = wire(broker, has('labels') ? { labels: [LABEL_OF_ALL] } : {}).map((node) =>
    has('labels') && node.type === 'mt-service' ? { ...node, ...rest } : node,
  );
  return [...nodes, ...(has('lastValue') ? [lastValue] : []), ...(has('deviceWatch') ? [deviceWatch] : [])];
}

/** What the store of `oursStoring` takes for a report, and how many it takes at a time. */
export const STORE = { milliseconds: 5, places: 100 };

/** A flow that stores each report, and then acknowledges it. */
export const oursStoring = (broker: string, more: Record<string, unknown> = {}): NodeConfig[] => [
  service(broker),
  { id: 'in', type: 'mt-report-in', service: 'service', ...more, wires: [['store']] },
  { id: 'store', type: 'bench-store', ...STORE, wires: [['ack']] },
  { id: 'ack', type: 'mt-timestamped-ack', service: 'service', wires: [['out']] },
  sink('out'),
];

export const floorReports = (broker: string): NodeConfig[] => [
  { id: 'in', type: 'floor-reports', broker, topics: ['mt/gateway/+/device/#'], wires: [['out']] },
  sink('out'),
];

/** So many report-in nodes, each for its own share of the devices. */
export const oursByDevice = (broker: string, nodes: number, devices: number): NodeConfig[] => [
  service(broker),
  ...range(nodes).map((i) => ({
    id: `in-${i}`,
    type: 'mt-report-in',
    service: 'service',
    devices: range(devices / nodes).map((k) => deviceMac(i + k * nodes)),
    wires: [['out']],
  })),
  sink('out'),
];

export const coreByDevice = (broker: string, nodes: number): NodeConfig[] => [
  coreBroker(broker),
  ...range(nodes).map((i) => coreIn(`in-${i}`, `mt/gateway/+/device/${deviceMac(i)}/#`, ['out'])),
  sink('out'),
];

const READ_GATEWAYS = 50;
const READ_DEVICES = 1000;

const reader = (wires: string[]): NodeConfig => ({
  id: 'ask',
  type: 'bench-source',
  messages: range(READ_DEVICES).map((i) => ({
    gateway: gatewayMac(i % READ_GATEWAYS),
    device: deviceMac(i),
    identifier: '8800',
  })),
  wires: [wires],
});

export const oursRead = (broker: string): NodeConfig[] => [
  service(broker, { maxInFlight: 1000, maxQueue: 10_000 }),
  reader(['read']),
  { id: 'read', type: 'mt-gw-read', service: 'service', wires: [['ask']] },
];

export const floorRead = (broker: string): NodeConfig[] => [
  reader(['read']),
  { id: 'read', type: 'floor-read', broker, wires: [['ask']] },
];

const CORE_ASK = `const waiting = flow.get('waiting') ?? new Map();
const id = String((context.get('count') ?? 0) + 1);
context.set('count', Number(id));
waiting.set(id, msg);
flow.set('waiting', waiting);
return { topic: \`mt/gateway/\${msg.gateway}/request/\${msg.device}/read/\${msg.identifier}\`, payload: { id } };`;

const CORE_ANSWER = `const waiting = flow.get('waiting');
const asked = waiting?.get(msg.payload.id);
if (asked === undefined) {
  return null;
}
waiting.delete(msg.payload.id);
asked.response = msg.payload;
asked.payload = msg.payload.value;
return asked;`;

/** A function that asks, `mqtt out`, `mqtt in`, a function that finds who asked. */
export const coreRead = (broker: string): NodeConfig[] => [
  coreBroker(broker),
  reader(['make']),
  { id: 'make', type: 'function', func: CORE_ASK, outputs: 1, wires: [['send']] },
  { id: 'send', type: 'mqtt out', topic: '', qos: '1', retain: 'false', broker: 'broker', wires: [] },
  coreIn('receive', 'mt/gateway/+/response/#', ['match']),
  { id: 'match', type: 'function', func: CORE_ANSWER, outputs: 1, wires: [['ask']] },
];
