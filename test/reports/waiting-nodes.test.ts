// Nodes that are there and cannot work: whether what nobody asks for is kept for them, and what is told of it.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { SILENT } from '../../src/log.ts';
import { WaitingNodes } from '../../src/reports/waiting-nodes.ts';

const SECOND_MS = 1_000;
const MAX_UNDECIDED = 5_000;
const MAX_UNDECIDED_BYTES = 32 * 1024 * 1024;

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

  it('are there until they end, and one that follows by the same name is another one', () => {
    assert.equal(nodes.areThere, false);
    const endFirst = nodes.add('a');
    const endSecond = nodes.add('a');
    endFirst();
    assert.equal(nodes.areThere, true);
    endSecond();
    assert.equal(nodes.areThere, false);
  });

  it('are kept no more than a deploy can give them at once, and nothing where there are none', () => {
    const mayKeep = () => [
      nodes.mayKeep(MAX_UNDECIDED - 1, MAX_UNDECIDED_BYTES - 1),
      nodes.mayKeep(MAX_UNDECIDED, 0),
      nodes.mayKeep(0, MAX_UNDECIDED_BYTES),
    ];
    assert.deepEqual(mayKeep(), [false, false, false]);
    nodes.add('a');
    assert.deepEqual(mayKeep(), [true, false, false]);
  });

  it('are named once where the broker keeps reports for them, and again after a deploy', () => {
    const endA = nodes.add('a');
    nodes.kept();
    nodes.kept();
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /stay at the broker.*that cannot \(a\)$/);
    endA();
    for (const owner of ['b', 'c', 'd', 'e', 'f', 'g']) {
      nodes.add(owner);
    }
    nodes.kept();
    assert.match(warnings[1] ?? '', /\(b, c, d, e, f\)$/);
  });

  it('have it told how many reports were lost that may have been for them: after a second, then every minute', () => {
    const lose = (count: number) => nodes.lost(count);
    nodes.close();
    const end = nodes.add('a');
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
    end();
    nodes.close();
    assert.match(warnings[2] ?? '', /^3 reports .*\(a\)$/);
    assert.equal(nodes.areThere, false);
    mock.timers.tick(60 * SECOND_MS);
    assert.equal(warnings.length, 3);
  });
});
