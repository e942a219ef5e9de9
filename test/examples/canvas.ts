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
export const databases = read('database');
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
  /** Its curve: where it starts, two handles, where it ends. */
  curve: Curve;
  /** Points on its curve. */
  points: Point[];
}

interface Point {
  x: number;
  y: number;
}

type Curve = readonly [start: Point, one: Point, other: Point, end: Point];

const STEPS = 40;
/** The handles of the curve in the editor: three quarters of a node's width, less between near nodes. */
const HANDLE = 75;

function curveOf(start: Point, end: Point): Curve {
  const handle = HANDLE * Math.min(1, Math.hypot(end.x - start.x, end.y - start.y) / 100);
  return [start, { x: start.x + handle, y: start.y }, { x: end.x - handle, y: end.y }, end];
}

function pointsOn(curve: Curve): Point[] {
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const t = step / STEPS;
    const s = 1 - t;
    const weights = [s ** 3, 3 * s * s * t, 3 * s * t * t, t ** 3];
    const sum = (axis: keyof Point) =>
      curve.reduce((before, point, index) => before + (weights[index] ?? 0) * point[axis], 0);
    return { x: sum('x'), y: sum('y') };
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
        const curve = curveOf(start, end);
        return { from: id, to, curve, points: pointsOn(curve) };
      }),
    ),
  );
}

const side = (one: Point, two: Point, three: Point): boolean =>
  (three.y - one.y) * (two.x - one.x) > (two.y - one.y) * (three.x - one.x);

/** Whether two wires cross that share neither the port where they begin nor the one where they end. */
export function cross(one: Wire, other: Wire): boolean {
  const [start, otherStart] = [one.curve[0], other.curve[0]];
  if (one.to === other.to || (start.x === otherStart.x && start.y === otherStart.y)) {
    return false;
  }
  const pieces = ({ points }: Wire) =>
    points.slice(1).map((end, index) => [points[index] as Point, end] as const);
  return pieces(one).some(([a, b]) =>
    pieces(other).some(([c, d]) => side(a, c, d) !== side(b, c, d) && side(a, b, c) !== side(a, b, d)),
  );
}
