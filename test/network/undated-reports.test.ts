// Retained reports without a usable time: known again when they come with the next connection, up to a bound.
import assert from 'node:assert/strict';
import { UndatedReports } from '../../src/network/undated-reports.ts';
import type { Report } from '../../src/protocol/reports/index.ts';

const REPORT: Report = {
  gateway: 'c0141f68fc3d',
  device: 'd00000000001',
  kind: 'property',
  form: 'decoded',
  identifier: 'temperature',
  time: 'at noon',
};

describe('retained reports whose time tells nothing', () => {
  it('came when they came first, each by its place and its time', () => {
    const reports = new UndatedReports();
    const others: Partial<Report>[] = [
      {},
      { gateway: 'c0141f68fc3e' },
      { device: 'd00000000002' },
      { kind: 'measurement' },
      { form: 'raw' },
      { identifier: 'humidity' },
      { identifier: undefined },
      { time: 'at night' },
    ];
    const times = (now: number) => others.map((other, i) => reports.since({ ...REPORT, ...other }, now + i));
    const first = times(1_000);
    assert.deepEqual(first, [1_000, 1_001, 1_002, 1_003, 1_004, 1_005, 1_006, 1_007]);
    assert.deepEqual([times(9_000), times(10_000)], [first, first]);
  });

  it('are known as long as there is room, those that came first, in whatever number more come', () => {
    const reports = new UndatedReports();
    const connect = (now: number) =>
      Array.from({ length: 10_500 }, (_, i) => reports.since({ ...REPORT, identifier: `${i}` }, now));
    connect(1_000);
    const again = connect(2_000);
    assert.deepEqual(
      [again.filter((since) => since === 1_000).length, again[0], again[9_999]],
      [10_000, 1_000, 1_000],
    );
  });
});
