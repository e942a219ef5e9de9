// What every sample flow keeps: complete nodes of known types, tidy places, one service, a comment in three sentences.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeConfig } from '../e2e/node-red.ts';
import { upgradeOf } from '../fixtures/flows/upgrade.ts';
import { NODE_TYPES } from '../node-types.ts';

const ROOT = join(import.meta.dirname, '../../examples');
const CORE = [
  'tab',
  'comment',
  'inject',
  'debug',
  'catch',
  'function',
  'switch',
  'change',
  'template',
].concat(['csv', 'file', 'file in', 'group', 'join', 'link in', 'link out', 'split', 'status']);

interface Sample {
  label: string;
  flow: NodeConfig[];
}

const read = (folder: string): Sample[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => ({
      label: file.slice(0, -5),
      flow: JSON.parse(readFileSync(join(folder, file), 'utf8')),
    }));

const samples = read(ROOT);
const dashboards = read(join(ROOT, 'dashboard'));
const only = (flow: NodeConfig[], type: string): NodeConfig => {
  const [found, ...more] = flow.filter((node) => node.type === type);
  assert.ok(found);
  assert.equal(more.length, 0, `one ${type}`);
  return found;
};
/** The comment at the top; others explain a part. */
const titleOf = (flow: NodeConfig[]): NodeConfig =>
  flow.filter(({ type }) => type === 'comment').sort((one, other) => Number(one.y) - Number(other.y))[0]!;
const placed = (flow: NodeConfig[]) =>
  flow.filter(({ type, x }) => type !== 'group' && x !== undefined) as (NodeConfig & {
    x: number;
    y: number;
  })[];

interface Box {
  id: string;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Where the editor draws a node, by the width of its name; a letter is 7 wide on average. */
function boxOf({ id, type, x, y, ...node }: NodeConfig & { x: number; y: number }): Box {
  const text = String(node.title || node.name || '');
  const width = type.startsWith('link') ? 30 : Math.max(100, 20 * Math.ceil((7 * text.length + 57) / 20));
  return { id, left: x - width / 2, right: x + width / 2, top: y - 15, bottom: y + 15 };
}

const groupsOf = (flow: NodeConfig[]): (Box & { nodes: string[] })[] =>
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

const overlap = (one: Box, other: Box): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

describe('the sample flows', () => {
  it('each have a test of what they do when something goes wrong', () => {
    const files = readdirSync(import.meta.dirname).filter((file) => /^harm-.*[.]test[.]ts$/.test(file));
    const text = files.map((file) => readFileSync(join(import.meta.dirname, file), 'utf8')).join();
    for (const { label } of [...samples, ...dashboards]) {
      assert.ok(text.includes(label), label);
    }
  });

  it('use every node of the package', () => {
    const used = new Set(samples.flatMap(({ flow }) => flow.map(({ type }) => type)));
    assert.deepEqual(
      NODE_TYPES.filter((type) => !used.has(type)),
      [],
    );
  });

  it('use nothing that has to be installed, the dashboard folder aside', () => {
    for (const { label, flow } of samples) {
      const strange = flow.map(({ type }) => type).filter((type) => ![...NODE_TYPES, ...CORE].includes(type));
      assert.deepEqual(strange, [], label);
    }
  });

  for (const { label, flow } of [...samples, ...dashboards]) {
    describe(label, () => {
      it('says in three sentences what it does and what to change', () => {
        const { info } = titleOf(flow);
        assert.equal(String(info).match(/[.](\s|$)/g)?.length, 3);
        assert.match(String(info), /Service in a box/);
      });

      it('has its own name on its tab, and one service: the one that npm start runs', () => {
        assert.equal(only(flow, 'tab').label, label);
        const { authUrl, baseUrl, brokerUrl, credentials } = only(flow, 'mt-service');
        assert.deepEqual(
          [authUrl, baseUrl, brokerUrl, credentials],
          [
            'http://localhost:8080',
            'http://localhost:8080',
            'mqtt://localhost:1883',
            { username: 'demo', password: 'demo-password' },
          ],
        );
      });

      it('has nodes as the editor saves them, with every property', () => {
        for (const node of flow.filter(({ type }) => NODE_TYPES.includes(type))) {
          const { id, type, z, g, x, y, wires, credentials, ...config } = node;
          assert.deepEqual(config, upgradeOf(type, config), id);
        }
      });

      it('draws no node or group over another, and every node of a group inside it', () => {
        const boxes = placed(flow).map(boxOf);
        const groups = groupsOf(flow);
        for (const [index, one] of boxes.entries()) {
          for (const other of boxes.slice(index + 1)) {
            assert.ok(!overlap(one, other), `${one.id}, ${other.id}`);
          }
        }
        for (const group of groups) {
          assert.ok(group.left >= 0, group.id);
          assert.ok(!groups.some((other) => other !== group && overlap(group, other)), group.id);
          for (const box of boxes) {
            const isInside =
              box.left > group.left &&
              box.right < group.right &&
              box.top > group.top &&
              box.bottom < group.bottom;
            assert.equal(isInside, group.nodes.includes(box.id), `${box.id} in ${group.id}`);
            assert.ok(isInside || !overlap(box, group), `${box.id} over ${group.id}`);
          }
        }
      });

      it('gives every node a name and a place of its own on the grid, and wires that go on to the right', () => {
        const nodes = placed(flow);
        const at = new Map(nodes.map((node) => [node.id, node]));
        assert.equal(new Set(nodes.map(({ x, y }) => `${x}/${y}`)).size, nodes.length);
        for (const { id, type, x, y, wires = [], ...node } of nodes) {
          assert.ok(node.name || node.title, `${id} has no name`);
          // A link node is 30 wide, so that its middle is off the grid when its edge is on it.
          assert.deepEqual([x % (type.startsWith('link') ? 5 : 10), y % 20], [0, 0], id);
          for (const target of wires.flat()) {
            assert.ok((at.get(target)?.x ?? 0) > x, `${id} to ${target}`);
          }
        }
      });
    });
  }
});
