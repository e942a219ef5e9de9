// The sample flows and the demo's flow, and where the editor draws their nodes, groups and wires.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeConfig } from '../e2e/node-red.ts';

const ROOT = join(import.meta.dirname, '../../examples');
/** From there. */
const SIMULATOR = '../simulator/examples';

export interface Sample {
  label: string;
  flow: NodeConfig[];
}

const parse = (...path: string[]): NodeConfig[] => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'));
const read = (folder: string): Sample[] =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.json'))
    .map((file) => ({ label: file.slice(0, -5), flow: parse(folder, file) }));

export const samples = read('');
export const dashboards = read('dashboard');
/** Those of the simulator's package. */
export const simulated = read(SIMULATOR);
export const demo: Sample = { label: 'the demo', flow: parse('demo', 'flows.json') };

/** The comment at the top; others explain a part. */
export const titleOf = (flow: NodeConfig[]): NodeConfig =>
  flow.filter(({ type }) => type === 'comment').sort((one, other) => Number(one.y) - Number(other.y))[0]!;

export type Placed = NodeConfig & { x: number; y: number };

export const placed = (flow: NodeConfig[]): Placed[] =>
  flow.filter(({ type, x }) => type !== 'group' && x !== undefined) as Placed[];

export interface Box {
  id: string;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** The button of a node sticks out of it. */
const BUTTON = 25;

/** Where the editor draws a node, by the width of its name; a letter is 7 wide on average. */
export function boxOf({ id, type, x, y, wires = [], ...node }: Placed): Box {
  const text = String(node.title || node.name || '');
  const width = type.startsWith('link') ? 30 : Math.max(100, 20 * Math.ceil((7 * text.length + 57) / 20));
  const height = Math.max(30, 15 * wires.length);
  const left = x - width / 2 - (type === 'inject' || type === 'mt-report-in' ? BUTTON : 0);
  const right = x + width / 2 + (type === 'debug' ? BUTTON : 0);
  return { id, left, right, top: y - height / 2, bottom: y + height / 2 };
}

export const groupsOf = (flow: NodeConfig[]): (Box & { nodes: string[] })[] =>
  flow
    .filter(({ type }) => type === 'group')
    .map(({ id, nodes, ...group }) => {
      const [x, y, w, h] = [group.x, group.y, group.w, group.h].map(Number) as [
        number,
        number,
        number,
        number,
      ];
      return { id, left: x, right: x + w, top: y, bottom: y + h, nodes: nodes as string[] };
    });

export const overlap = (one: Box, other: Box): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

export interface Wire {
  from: string;
  to: string;
  /** Points on its curve. */
  points: { x: number; y: number }[];
}

const STEPS = 40;
/** The handles of the curve in the editor: three quarters of a node's width, less between near nodes. */
const HANDLE = 75;

function curve(from: { x: number; y: number }, to: { x: number; y: number }): Wire['points'] {
  const handle = HANDLE * Math.min(1, Math.hypot(to.x - from.x, to.y - from.y) / 100);
  const [one, other] = [from.x + handle, to.x - handle];
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const t = step / STEPS;
    const s = 1 - t;
    return {
      x: s ** 3 * from.x + 3 * s * s * t * one + 3 * s * t * t * other + t ** 3 * to.x,
      y: (s ** 3 + 3 * s * s * t) * from.y + (3 * s * t * t + t ** 3) * to.y,
    };
  });
}

/** All wires of a flow as the editor draws them, from each output's port to the input's. */
export function wiresOf(flow: NodeConfig[]): Wire[] {
  const boxes = new Map(placed(flow).map((node) => [node.id, boxOf(node)]));
  return placed(flow).flatMap(({ id, y, wires = [] }) =>
    wires.flatMap((targets, port) =>
      targets.map((to) => {
        const target = boxes.get(to)!;
        const start = { x: boxes.get(id)!.right, y: y + 13 * (port - (wires.length - 1) / 2) };
        const end = { x: target.left, y: (target.top + target.bottom) / 2 };
        return { from: id, to, points: curve(start, end) };
      }),
    ),
  );
}
