// Reports that wait for labels over a deploy: they come to the node that is there again, or the log tells of them.
import assert from 'node:assert/strict';
import { SILENT } from '../../src/log.ts';
import { HeldReports } from '../../src/reports/held-reports.ts';

describe('reports that are held over a deploy', () => {
  let warnings: string[];
  let held: HeldReports;

  const create = () => new HeldReports({ ...SILENT, warn: (text) => void warnings.push(text) });
  beforeEach(() => {
    warnings = [];
    held = create();
  });

  const messageOf = (topic: string) => ({
    topic,
    payload: Buffer.from('{}'),
    retained: false,
    heardAt: 0,
  });
  const topics = (from: HeldReports, owner: string) => from.take(owner).map(({ topic }) => topic);

  it('come to their node in their order, once', () => {
    held.add('a', [messageOf('1'), messageOf('2')]);
    held.add('b', [messageOf('4')]);
    held.add('a', [messageOf('3')]);
    assert.deepEqual([...held.owners()].sort(), ['a', 'b']);
    assert.deepEqual([topics(held, 'a'), topics(held, 'a'), topics(held, 'b')], [['1', '2', '3'], [], ['4']]);
    assert.deepEqual([...held.owners()], []);
  });

  it('are of nobody where there are none', () => {
    held.add('a', []);
    assert.deepEqual([...held.owners()], []);
  });

  it('are shared with the session that follows, also those that come to the earlier one later', () => {
    const next = create();
    held.add('a', [messageOf('1')]);
    next.takeOver(held);
    held.add('a', [messageOf('2')]);
    assert.deepEqual([topics(next, 'a'), topics(held, 'a')], [['1', '2'], []]);
  });

  it('are counted in the log where their node does not come back', () => {
    held.add('a', [messageOf('1'), messageOf('2')]);
    held.add('b', [messageOf('3')]);
    held.add('c', [messageOf('4'), { ...messageOf('5'), delivery: 'open' }]);
    // What is open is told by whom it is open at.
    held.add('d', [{ ...messageOf('6'), delivery: 'open' }]);
    held.giveUp('b');
    held.giveUp('one without any');
    held.giveUpAll();
    assert.deepEqual(
      warnings,
      [
        [1, 'b'],
        [2, 'a'],
        [1, 'c'],
      ].map(
        ([count, owner]) =>
          `${count} reports that waited for labels or flows are given up: node ${owner} does not wait for them any more`,
      ),
    );
    assert.deepEqual([...held.owners()], []);
  });
});
