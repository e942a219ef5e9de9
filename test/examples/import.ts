// Sample flows as Node-RED's import menu gives them, made ready for a test: its service, its settings, its ears.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type NodeConfig, sink, source } from '../e2e/node-red.ts';
import type { Site } from '../e2e/site.ts';

const MENU = 'library/examples/flows/@mt-gateway/node-red-mt-gateway';

/** The labels in the import menu below our package's name. */
export async function menuOf({ red }: Site): Promise<string[]> {
  const entries = (await red.call('GET', MENU)) as (string | { fn: string })[];
  return entries.flatMap((entry) => (typeof entry === 'string' ? [] : [entry.fn.replace(/\.json$/, '')]));
}

export interface Adaptation {
  /** Values of the tab's environment variables. */
  env?: Record<string, string>;
  /** Settings of the sample's mt-service node. */
  service?: Record<string, unknown>;
  /** Sinks by the id of the node whose output they hear. */
  taps?: Record<string, string>;
  /** Lets `setClock` set the clock that its function nodes read. */
  hasClock?: boolean;
}

/** Without names of devices, whose list would stand among the calls that are counted. */
function pointTo({ config }: Site, node: NodeConfig): NodeConfig {
  const { authUrl, baseUrl, brokerUrl } = config;
  return node.type === 'mt-service' ? { ...node, authUrl, baseUrl, brokerUrl, names: false } : node;
}

/**
 * The sample with the addresses of the service under test; its login is the sample's own.
 * @param label with its folder before it, where it is in one
 */
export async function readSample(site: Site, label: string): Promise<NodeConfig[]> {
  const path = label.split('/').map(encodeURIComponent).join('/');
  const flow = (await site.red.call('GET', `${MENU}/${path}`)) as NodeConfig[];
  return flow.map((node) => pointTo(site, node));
}

function withEnv(node: NodeConfig, values: Record<string, string>): NodeConfig {
  if (node.type !== 'tab') {
    return node;
  }
  const env = node.env as { name: string; value: string }[];
  return { ...node, env: env.map((entry) => ({ ...entry, value: values[entry.name] ?? entry.value })) };
}

const tabOf = (flow: NodeConfig[]): string => flow.find(({ type }) => type === 'tab')?.id ?? '';

/** Nodes that tell the test of a tab's statuses, and that its last node was made. */
function earsOf(z: string): NodeConfig[] {
  const started = `${z}-started`;
  const place = { z, x: 1, y: 1 };
  return [
    { ...place, id: `${z}-watcher`, type: 'status', scope: null, wires: [[`${z}-ear`]] },
    { ...sink('statuses'), ...place, id: `${z}-ear` },
    { ...sink(started), ...place },
    { ...place, id: `${z}-last`, type: 'inject', props: [], once: true, onceDelay: 0.1, wires: [[started]] },
  ];
}

// Takes the place of the clock in a function node: the real one, and how far it is ahead.
const CLOCK = `class Date extends globalThis.Date { static now() { return super.now() + (flow.get('ahead') ?? 0); } }
`;

/** A function node that reads a clock that can be set. */
export const withClock = (node: NodeConfig): NodeConfig =>
  node.type === 'function'
    ? { ...node, func: CLOCK + node.func, initialize: node.initialize && CLOCK + node.initialize }
    : node;

/** Nodes that set the clock of a tab. */
export const clockOf = (z: string): NodeConfig[] => [
  { ...source('clock', ['clock-set']), z },
  { ...sink('clock-set'), func: `flow.set('ahead', msg.ahead); ${sink('clock-set').func}`, z },
];

/** Sets the clock of a sample that was deployed with one; it is the real clock before. */
export async function setClock({ red }: Site, aheadMs: number): Promise<void> {
  red.send('clock', { ahead: aheadMs });
  await red.next('clock-set');
}

/** Adds ears to a tab, and a sink behind each node that is tapped. */
export function listenTo(
  flow: NodeConfig[],
  { env = {}, service, taps = {}, hasClock = false }: Adaptation = {},
): NodeConfig[] {
  const z = tabOf(flow);
  const heard = flow.map((node) => {
    const tap = taps[node.id];
    const changed = node.type === 'mt-service' ? { ...node, ...service } : withEnv(node, env);
    return tap ? { ...changed, wires: changed.wires?.map((port) => [...port, tap]) ?? [] } : changed;
  });
  const sinks = Object.values(taps).map((name) => ({ ...sink(name), z }));
  const timed = hasClock ? [...heard.map(withClock), ...clockOf(z)] : heard;
  return [...timed, ...sinks, ...earsOf(z)];
}

/** Deploys one or more tabs that `listenTo` has prepared; resolved when all their nodes are there. */
export async function deployTabs({ red }: Site, ...tabs: NodeConfig[][]): Promise<void> {
  await red.deploy(tabs.flat());
  for (const tab of tabs) {
    await red.next(`${tabOf(tab)}-started`);
  }
}

/** Deploys one sample alone. */
export async function deploySample(site: Site, label: string, adaptation?: Adaptation): Promise<void> {
  await deployTabs(site, listenTo(await readSample(site, label), adaptation));
}

/** Presses the button of an inject node. */
export async function press({ red }: Site, inject: string): Promise<void> {
  const { status } = await fetch(`${red.url}/inject/${inject}`, { method: 'POST' });
  assert.equal(status, 200);
}

/** Waits until something is so that events of the service bring about. */
export async function until(
  { service }: Site,
  event: 'acknowledged' | 'rest' | 'request' | 'answered',
  isSo: () => boolean,
): Promise<void> {
  while (!isSo()) {
    await once(service.events, event);
  }
}
