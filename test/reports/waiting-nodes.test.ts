// Nodes that are there and cannot work: for whom the broker keeps what nobody asks for, and what is told of it.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { SILENT } from '../../src/log.ts';
import { isWaitingNode, WaitingNodes } from '../../src/reports/waiting-nodes.ts';

const SECOND_MS = 1_000;
const MAX_WITHHELD = 5_000;
const MAX_WITHHELD_BYTES = 32 * 1024 * 1024;

describe('nodes that cannot work', () => {
  let warnings: string[];
  let nodes: WaitingNodes;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    warnings = [];
    nodes = new WaitingNodes({ ...SILENT, warn: (text) => void warnings.push(text) });
  });
  afterEach(() => {
    nodes.close();
    mock.timers.reset();
  });

  const takers = (areOthers = false, withheld = 0, bytes = 0) =>
    nodes.takers(areOthers, withheld, bytes).map(({ owner }) => owner);

  it('are there until they end, and one that follows by the same name is another one', () => {
    assert.deepEqual([nodes.areThere, takers()], [false, []]);
    const endFirst = nodes.add('a', false);
    const endSecond = nodes.add('a', false);
    endFirst();
    assert.deepEqual([nodes.areThere, takers()], [true, ['a']]);
    endSecond();
    assert.deepEqual([nodes.areThere, takers()], [false, []]);
  });

  it('are sent nothing, and known as such', () => {
    nodes.add('a', true);
    const [node] = nodes.takers(true, 0, 0);
    assert.ok(node);
    assert.deepEqual(
      [isWaitingNode(node), isWaitingNode({ ...node, isWaiting: undefined } as never)],
      [true, false],
    );
  });

  it('that confirm nothing are kept nothing beside nodes that work, nor more than a deploy can give them at once', () => {
    nodes.add('a', false);
    assert.deepEqual(
      [
        takers(true),
        takers(false),
        takers(false, MAX_WITHHELD - 1, MAX_WITHHELD_BYTES - 1),
        takers(false, MAX_WITHHELD),
        takers(false, 0, MAX_WITHHELD_BYTES),
      ],
      [[], ['a'], ['a'], [], []],
    );
  });

  it('that confirm are kept what comes, and no others beside them', () => {
    nodes.add('a', false);
    const end = nodes.add('b', true);
    assert.deepEqual(
      [takers(true), takers(false), takers(true, MAX_WITHHELD, MAX_WITHHELD_BYTES)],
      [['b'], ['b'], ['b']],
    );
    end();
    assert.deepEqual([takers(true), takers(false)], [[], ['a']]);
  });

  it('are named once where the broker keeps reports for them, and again after a deploy', () => {
    const endA = nodes.add('a', true);
    nodes.kept();
    nodes.kept();
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /stay at the broker.*cannot work \(a\)$/);
    endA();
    for (const owner of ['b', 'c', 'd', 'e', 'f', 'g']) {
      nodes.add(owner, true);
    }
    nodes.kept();
    assert.match(warnings[1] ?? '', /\(b, c, d, e, f\)$/);
  });

  it('have it told how many reports were lost that may have been for them: after a second, then every minute', () => {
    nodes.add('a', false);
    const lose = (count: number) => nodes.lost(count);
    lose(0);
    lose(500);
    assert.deepEqual(warnings, []);
    mock.timers.tick(SECOND_MS);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /^500 reports .* are lost: .*\(a\)$/);
    lose(2);
    mock.timers.tick(SECOND_MS);
    assert.equal(warnings.length, 1);
    mock.timers.tick(59 * SECOND_MS);
    assert.match(warnings[1] ?? '', /^2 reports /);
    mock.timers.tick(60 * SECOND_MS);
    assert.equal(warnings.length, 2);
    lose(3);
    nodes.close();
    assert.match(warnings[2] ?? '', /^3 reports .*\(a\)$/);
  });
});
