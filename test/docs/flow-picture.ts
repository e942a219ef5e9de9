// A picture of a flow as the editor draws it: groups, nodes with their names, wires. Small, and the same on every machine.
import { readFileSync } from 'node:fs';
import type { NodeConfig } from '../e2e/node-red.ts';
import { boxOf, groupsOf, type Placed, placed, type Wire, wiresOf } from '../examples/canvas.ts';

const MARGIN = 15;
const PORT = 10;
const TITLE_HEIGHT = 22;
/** Of the editor's core nodes; those of the package say theirs themselves. */
const COLORS: Record<string, string> = {
  comment: '#ffffff',
  inject: '#a6bbcf',
  debug: '#87a980',
  catch: '#e49191',
  status: '#94c1d0',
  function: '#fdd0a2',
  switch: '#e2d96e',
  change: '#e2d96e',
  rbe: '#e2d96e',
  split: '#e2d96e',
  join: '#e2d96e',
  delay: '#e6e0f8',
  template: '#f3b567',
  csv: '#debd5c',
  json: '#debd5c',
  file: '#deb887',
  'file in': '#deb887',
  'http in': '#e7e7ae',
  'http response': '#e7e7ae',
  'http request': '#e7e7ae',
  'mqtt in': '#d8bfd8',
  'mqtt out': '#d8bfd8',
  'link in': '#dddddd',
  'link out': '#dddddd',
  'ui-template': '#a0e6ec',
  postgresql: '#8fb4dc',
};

function colorOf(type: string): string {
  const own = type.startsWith('mt-') ? type.slice('mt-'.length) : '';
  const file = own === 'simulator' ? 'simulator/node/editor.ts' : `nodes/${own}/editor.ts`;
  const color = own ? /color: '(#\w+)'/.exec(readFileSync(file, 'utf8'))?.[1] : COLORS[type];
  if (color === undefined) {
    throw new Error(`test/docs/flow-picture.ts has no color for ${type}`);
  }
  return color;
}

const xml = (text: unknown): string => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const nameOf = ({ title, name, type }: NodeConfig): string => String(title || name || type);

function drawGroup(group: ReturnType<typeof groupsOf>[number], name: string): string {
  const { left, top, right, bottom } = group;
  return (
    `<rect class="group" x="${left}" y="${top}" width="${right - left}" height="${bottom - top}" rx="4"/>` +
    `<text class="title" x="${left + 8}" y="${top + TITLE_HEIGHT - 4}">${xml(name)}</text>`
  );
}

function drawWire({ curve }: Wire): string {
  const [start, ...rest] = curve.map(({ x, y }) => `${Math.round(x)} ${Math.round(y)}`);
  return `<path d="M${start}C${rest.join(' ')}"/>`;
}

const drawPort = (x: number, y: number): string =>
  `<rect class="port" x="${x - PORT / 2}" y="${y - PORT / 2}" width="${PORT}" height="${PORT}" rx="3"/>`;

/** The button of a node that has one, at the side where it is. */
function drawButton({ type, y }: Placed, left: number, right: number): string {
  const button = (x: number) =>
    `<rect x="${x}" y="${y - 13}" width="32" height="26" rx="5" fill="${colorOf(type)}"/>`;
  if (type === 'inject' || type === 'mt-report-in') {
    return button(left);
  }
  return type === 'debug' ? button(right - 32) : '';
}

function drawNode(node: Placed, hasInput: boolean): string {
  const { type, x, y, wires = [] } = node;
  const box = boxOf(node);
  const width = 2 * (x - box.left) > box.right - box.left ? 2 * (box.right - x) : 2 * (x - box.left);
  const [left, right] = [x - width / 2, x + width / 2];
  const label = type.startsWith('link') ? '' : `<text x="${x}" y="${y + 5}">${xml(nameOf(node))}</text>`;
  const outputs = wires.map((_, port) => drawPort(right, y + 13 * (port - (wires.length - 1) / 2)));
  return [
    `<g><title>${xml(`${nameOf(node)} (${type})`)}</title>`,
    drawButton(node, box.left, box.right),
    `<rect x="${left}" y="${box.top}" width="${width}" height="${box.bottom - box.top}" rx="5" fill="${colorOf(type)}"${type === 'comment' ? ' class="comment"' : ''}/>`,
    label,
    hasInput ? drawPort(left, y) : '',
    ...outputs,
    '</g>',
  ].join('');
}

const STYLE = [
  'rect{stroke:#999}.ground{fill:#fff;stroke:none}.group{fill:#f8f8f8;stroke:#aaa}.comment{stroke-dasharray:4 3}.port{fill:#d9d9d9}',
  'path{fill:none;stroke:#999;stroke-width:3}',
  'text{font:14px Helvetica,Arial,sans-serif;fill:#333;text-anchor:middle}',
  '.title{text-anchor:start;fill:#777}',
].join('');

/** The flow as SVG. It has a ground of its own, so that it can be read in a dark page too. */
export function pictureOf(flow: NodeConfig[]): string {
  const groups = groupsOf(flow);
  const nodes = placed(flow);
  const wires = wiresOf(flow);
  const targets = new Set(wires.map(({ to }) => to));
  const boxes = [...groups, ...nodes.map(boxOf)];
  const left = Math.min(...boxes.map((box) => box.left)) - MARGIN;
  const top = Math.min(...boxes.map((box) => box.top)) - MARGIN;
  const width = Math.max(...boxes.map(({ right }) => right)) + MARGIN - left;
  const height = Math.max(...boxes.map(({ bottom }) => bottom)) + MARGIN - top;
  const names = new Map(flow.map((node) => [node.id, nameOf(node)]));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${left} ${top} ${width} ${height}" width="${width}" height="${height}">`,
    `<style>${STYLE}</style>`,
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" class="ground"/>`,
    ...groups.map((group) => drawGroup(group, names.get(group.id) ?? '')),
    ...wires.map(drawWire),
    ...nodes.map((node) => drawNode(node, targets.has(node.id))),
    '</svg>',
    '',
  ].join('\n');
}
