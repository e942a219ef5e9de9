// The comparison of a quick run with the table of docs/performance.md.
import assert from 'node:assert/strict';
import { readResults } from '../docs/results.ts';
import { judge, type Row, showRatios } from './compare.ts';
import { PAGE, tableOf } from './page.ts';
import { compareWithRecorded } from './recorded.ts';

const rowsOf = (ours: number[], floor: number[]): Row[] =>
  judge({ ours, floor }, 'µs', [{ case: 'P1', what: 'nodes', of: 'ours', against: 'floor', atMost: 1.1 }]);

const PAGE_OF_TWO_PAIRS = `2026-11-21, 2 cores.\n\n${tableOf(rowsOf([9, 11], [10, 10]))}`;

describe('a quick run of the benchmark', () => {
  it('tells a ratio that is a tenth worse than recorded, and no smaller change', () => {
    const changes = [10.9, 11, 9].map((ours) => compareWithRecorded(rowsOf([ours], [10]), PAGE_OF_TWO_PAIRS));
    assert.deepEqual(
      changes.map(([found]) => [found?.recorded, found?.change, found?.isWorse]),
      [
        ['1.00 × (0.90–1.10)', 1.09, false],
        ['1.00 × (0.90–1.10)', 1.1, true],
        ['1.00 × (0.90–1.10)', 0.9, false],
      ],
    );
  });

  it('takes a lower ratio for the worse where the goal is a lowest one', () => {
    const throughput = (ratio: string): Row => ({
      ...{ case: 'P9', what: 'stored', ours: '', against: 'store: 3 reports/s', ratio },
      ...{ reach: '≥ 0.9 ×', reached: true },
    });
    const page = tableOf([throughput('1.00 ×')]);
    const isWorse = ['0.80 ×', '1.20 ×'].map(
      (ratio) => compareWithRecorded([throughput(ratio)], page)[0]?.isWorse,
    );
    assert.deepEqual(isWorse, [true, false]);
  });

  it('says nothing about a ratio that is not recorded, nor about rows without one', () => {
    const [row] = rowsOf([20], [10]) as [Row];
    const rows = [
      { ...row, what: 'other nodes' },
      { ...row, ratio: '' },
    ];
    assert.deepEqual(
      compareWithRecorded(rows, PAGE_OF_TWO_PAIRS).map(({ recorded, isWorse }) => [recorded, isWorse]),
      [['', false]],
    );
  });

  it('finds the ratios of the table that is in the documentation', async () => {
    const row = rowsOf([1], [1])[0] as Row;
    const [found] = compareWithRecorded(
      [{ ...row, what: 'five report-in nodes, one per kind' }],
      await readResults(PAGE),
    );
    assert.match(found?.recorded ?? '', /^\d\.\d\d ×/);
  });

  it('shows the lowest and the highest pair behind the median', () => {
    assert.equal(showRatios([1.2, 0.9, 1]), '1.00 × (0.90–1.20)');
    assert.equal(showRatios([0.0412]), '0.041 ×');
  });
});
