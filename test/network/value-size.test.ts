// How much memory kept values are taken to need: what the bound of all of them is counted in.
import assert from 'node:assert/strict';
import { overwriteReport, sizeOf, sizeOfReport } from '../../src/network/value-size.ts';
import type { Report } from '../../src/protocol/reports/index.ts';

const REPORT: Report = {
  gateway: 'c0141f68fc3d',
  device: 'd00000000001',
  kind: 'measurement',
  form: 'decoded',
  identifier: 'temperature',
  time: '2026-01-01T12:00:00.000Z',
  value: 21.5,
};
/** Bytes of a property of an own name, besides what it holds. */
const name = (text: string) => 64 + 24 + 2 * text.length;

describe('the memory of a value', () => {
  const SIZES: [unknown, number][] = [
    [undefined, 8],
    [null, 8],
    [true, 8],
    [7, 8],
    [-(2 ** 31), 8],
    [2 ** 31, 24],
    [0.5, 24],
    ['', 32],
    ['abc', 38],
    [[], 72],
    [{}, 72],
    [[1, 0.5, 'abc', null], 72 + 8 + 24 + 38 + 8],
    [{ ab: 1 }, 72 + name('ab') + 8],
    [[[], [7]], 72 + 2 * (8 + 64) + 8],
    [{ a: { bcd: [{}] } }, 72 + (name('a') + 8 + 64) + (name('bcd') + 8 + 64) + (8 + 64)],
  ];
  for (const [value, size] of SIZES) {
    it(`${JSON.stringify(value)} is ${size} bytes`, () => {
      assert.equal(sizeOf(value), size);
    });
  }

  it('is that of all of its parts, however deep and many they are', () => {
    let deep: unknown = 'x';
    for (let depth = 0; depth < 100_000; depth++) {
      deep = [deep];
    }
    assert.equal(sizeOf(deep), 8 + 100_000 * (8 + 64) - 8 + sizeOf('x'));
  });
});

describe('the memory of a report', () => {
  const plain = sizeOfReport(REPORT);
  const SHARED =
    'name unit ext raw seq gatewayName deviceName retained errorCode errorMeta ack flags backfill ' +
    'backfillCount tsShifted tsAccuracy';

  it('is that of the object and of its fields', () => {
    const fields = Object.values(REPORT).reduce((sum: number, one) => sum + sizeOf(one), 0);
    assert.equal(plain, 72 + fields);
  });

  for (const field of SHARED.split(' ')) {
    it(`has nothing for the name ${field}, which very many reports have`, () => {
      assert.equal(sizeOfReport({ ...REPORT, [field]: 1 }), plain + 8);
    });
  }

  it('has the name of each field of its own', () => {
    assert.equal(sizeOfReport({ ...REPORT, own: 'abc' }), plain + name('own') + 38);
  });

  it('has all of what is nested', () => {
    const value = { limit: [1, 2] };
    assert.equal(sizeOfReport({ ...REPORT, value }), plain - sizeOf(21.5) + sizeOf(value));
  });
});

describe('a kept report', () => {
  const ALIKE: Partial<Report>[] = [
    { value: 21 },
    { value: 'a longer text' },
    { value: null },
    { value: undefined },
    { time: '', identifier: 'humidity', value: 0.5 },
  ];
  for (const more of ALIKE) {
    it(`is overwritten by one with ${JSON.stringify(more)}, which costs what it is larger`, () => {
      const [kept, report] = [{ ...REPORT }, { ...REPORT, ...more }];
      const before = sizeOfReport(kept);
      assert.equal(overwriteReport(kept, report), sizeOfReport(report) - before);
      assert.deepEqual(kept, report);
    });
  }

  const { value, ...withoutValue } = REPORT;
  const OTHERS: Record<string, [kept: Report, report: Report]> = {
    'one that has another field': [REPORT, { ...REPORT, seq: 1 }],
    'one that lacks a field': [{ ...REPORT, seq: 1 }, REPORT],
    'one with as many fields, of which one is another': [REPORT, { ...withoutValue, reading: value }],
    'one whose fields are in another order': [REPORT, { value, ...withoutValue } as Report],
    'one with something nested': [REPORT, { ...REPORT, value: [1] }],
    'one, where something is nested in itself': [{ ...REPORT, value: [1] }, REPORT],
  };
  for (const [what, [known, report]] of Object.entries(OTHERS)) {
    it(`stays what it is beside ${what}`, () => {
      const kept = { ...known };
      assert.equal(overwriteReport(kept, report), undefined);
      assert.deepEqual(Object.entries(kept), Object.entries(known));
    });
  }
});
