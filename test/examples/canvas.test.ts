// What a person sees of a sample flow or the demo on the canvas: everything in sight, side by side, in groups.
import assert from 'node:assert/strict';
import {
  boxOf,
  cross,
  dashboards,
  databases,
  demo,
  groupsOf,
  overlap,
  type Placed,
  placed,
  samples,
  simulated,
  wiresOf,
} from './canvas.ts';

/** What the editor shows without scrolling to the side, and what of it is seen of 1280 pixels between both sidebars. */
const WIDTH = 1200;
const SEEN_WIDTH = 745;

describe('on the canvas', () => {
  for (const { label, flow } of [...samples, ...dashboards, ...databases, ...simulated, demo]) {
    describe(label, () => {
      const boxes = placed(flow).map(boxOf);
      const groups = groupsOf(flow);

      it('draws no node or group over another, and every node of a group inside it', () => {
        for (const [index, one] of boxes.entries()) {
          for (const other of boxes.slice(index + 1)) {
            assert.ok(!overlap(one, other), `${one.id}, ${other.id}`);
          }
        }
        for (const group of groups) {
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

      it('has everything in a group that says its name, and all of it within the width of a screen', () => {
        const grouped = new Map(groups.flatMap(({ id, nodes }) => nodes.map((node) => [node, id])));
        for (const { id, g } of placed(flow)) {
          assert.ok(grouped.has(id), id);
          assert.equal(g, grouped.get(id), id);
        }
        for (const box of [...boxes, ...groups]) {
          assert.ok(box.left >= 0 && box.right <= WIDTH && box.top >= 0, box.id);
        }
        for (const { id, name, style } of flow.filter(({ type }) => type === 'group')) {
          assert.ok(name && (style as { label?: boolean }).label, id);
        }
      });

      it('shows its effect where it is seen between both sidebars of a small screen', () => {
        const told = flow.filter(
          ({ type, name }) => type === 'comment' && String(name).startsWith('Shows: '),
        );
        const names = new Set(
          told.flatMap(({ name, info }) => [...`${name} ${info}`.matchAll(/"(.+?)"/g)].map(([, one]) => one)),
        );
        const isEffect = ({ type, title, name }: Placed) =>
          names.has(String(title ?? name)) || (names.size === 0 && type === 'debug');
        const effects = placed(flow).filter(isEffect);
        assert.ok(effects.length > 0 || label === 'Live dashboard');
        const hidden = effects.map(boxOf).filter(({ right }) => right > SEEN_WIDTH);
        assert.deepEqual(
          hidden.map(({ id }) => id),
          [],
        );
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

      it('draws no two wires across each other, unless they begin or end at the same port', () => {
        const wires = wiresOf(flow);
        const crossing = wires.flatMap((one, index) =>
          wires
            .slice(index + 1)
            .filter((other) => cross(one, other))
            .map((other) => `${one.from} to ${one.to}, ${other.from} to ${other.to}`),
        );
        assert.deepEqual(crossing, []);
      });

      it('draws no wire over a node', () => {
        for (const { from, to, points } of wiresOf(flow)) {
          for (const { id, left, right, top, bottom } of boxes.filter(({ id }) => id !== from && id !== to)) {
            const isOver = points.some(({ x, y }) => x > left && x < right && y > top && y < bottom);
            assert.ok(!isOver, `${from} to ${to} over ${id}`);
          }
        }
      });
    });
  }
});
