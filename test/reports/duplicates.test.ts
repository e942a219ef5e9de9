import assert from 'node:assert/strict';
import type { Report } from '../../src/protocol/reports/index.ts';
import { Duplicates } from '../../src/reports/duplicates.ts';
import { itAtScale } from '../at-scale.ts';
import { usedMemory } from '../memory.ts';

const base: Report = {
  gateway: 'c0141f68fc3d',
  device: 'd00000000001',
  kind: 'measurement',
  form: 'raw',
  identifier: '8800',
  name: 'temperature',
  time: '2026-01-01T00:00:00.000Z',
  seq: 7,
  value: 21.5,
};

describe('recognition of duplicate reports', () => {
  const same: [string, Partial<Report>][] = [
    ['through another gateway', { gateway: 'c0141f68fc3e' }],
    ['with another time but the same seq', { time: '2026-01-01T00:00:03.000Z' }],
    ['in decoded form', { form: 'decoded', identifier: 'temperature' }],
  ];
  for (const [title, change] of same) {
    it(`recognises the same report ${title}`, () => {
      const duplicates = new Duplicates(10_000);
      assert.equal(duplicates.seen(base), false);
      assert.equal(duplicates.seen({ ...base, ...change }), true);
    });
  }

  const other: [string, Partial<Report>][] = [
    ['device', { device: 'd00000000002' }],
    ['kind', { kind: 'property' }],
    ['identifier', { identifier: '8802', name: 'humidity' }],
    ['parent', { parent: 'e00000000001' }],
    ['value', { value: 21.6 }],
    ['seq', { seq: 8 }],
  ];
  for (const [part, change] of other) {
    it(`lets a report with another ${part} through`, () => {
      const duplicates = new Duplicates(10_000);
      duplicates.seen(base);
      assert.equal(duplicates.seen({ ...base, ...change }), false);
    });
  }

  it('compares by time where there is no seq', () => {
    const duplicates = new Duplicates(10_000);
    const { seq: _, ...sample } = base;
    duplicates.seen(sample as Report);
    assert.equal(duplicates.seen(sample as Report), true);
    assert.equal(duplicates.seen({ ...sample, time: 'later' } as Report), false);
  });

  it('lets the same report through again after the window', () => {
    let now = 1_000_000;
    const duplicates = new Duplicates(10_000, () => now);
    duplicates.seen(base);
    now += 10_000;
    assert.equal(duplicates.seen(base), true);
    now += 1;
    assert.equal(duplicates.seen(base), false);
    now += 10_000;
    assert.equal(duplicates.seen(base), true);
  });

  it('takes time for what it is where it goes back, as in a record that begins with the newest', () => {
    const duplicates = new Duplicates(10_000);
    assert.equal(duplicates.seen(base, 1_000_000), false);
    assert.equal(duplicates.seen(base, 990_000), true);
    assert.equal(duplicates.seen(base, 989_999), false);
    assert.equal(duplicates.seen(base, 999_999), true);
  });

  it('knows what was heard just now also when one that was heard long before comes in between', () => {
    const duplicates = new Duplicates(10_000);
    assert.equal(duplicates.seen(base, 1_000_000), false);
    assert.equal(duplicates.seen({ ...base, seq: 8 }, 900_000), false);
    assert.equal(duplicates.seen({ ...base, seq: 9 }, 1_000_000), false);
    assert.equal(duplicates.seen(base, 1_000_000), true);
  });

  const many = function* (from: number, to: number): Generator<Report> {
    for (let seq = from; seq < to; seq++) {
      yield { ...base, seq };
    }
  };

  it('recognises a report among many others of its window, whenever the window began', () => {
    let now = 1_000_000;
    const duplicates = new Duplicates(10_000, () => now);
    for (let round = 0; round < 5; round++) {
      now += 6_000;
      for (const report of many(round * 100, round * 100 + 100)) {
        assert.equal(duplicates.seen(report), false);
      }
      for (const report of many(Math.max(0, round - 1) * 100, round * 100 + 100)) {
        assert.equal(duplicates.seen(report), true);
      }
    }
  });

  it('knows a structure again whose fields come in another order', () => {
    const duplicates = new Duplicates(1_000_000_000);
    const value = { packets: 4, levels: [{ low: 1, high: 2 }], burst: 5 };
    assert.equal(duplicates.seen({ ...base, value }), false);
    const other = { burst: 5, levels: [{ high: 2, low: 1 }], packets: 4 };
    assert.equal(duplicates.seen({ ...base, value: other }), true);
    assert.equal(duplicates.seen({ ...base, value: { ...other, burst: 4 } }), false);
    assert.equal(duplicates.seen({ ...base, value: { ...other, levels: [{ high: 1, low: 2 }] } }), false);
  });

  it('sorts no fields of what is longer than 10 000 characters, however deep they lie', () => {
    for (const [length, isKnown] of [
      [9_000, true],
      [10_000, false],
    ] as const) {
      const duplicates = new Duplicates(1_000_000_000);
      const text = 'x'.repeat(length);
      assert.equal(duplicates.seen({ ...base, value: { a: { text, b: 1 } } }), false);
      assert.equal(duplicates.seen({ ...base, value: { a: { b: 1, text } } }), isKnown);
    }
  });

  itAtScale('tells long reports apart, and recognises them, in little memory', () => {
    const duplicates = new Duplicates(1_000_000_000);
    const long = (seq: number): Report => ({ ...base, seq, value: `${seq}${'x'.repeat(100_000)}` });
    const before = usedMemory();
    for (let seq = 0; seq < 500; seq++) {
      assert.equal(duplicates.seen(long(seq)), false);
    }
    for (let seq = 0; seq < 500; seq++) {
      assert.equal(duplicates.seen(long(seq)), true);
    }
    assert.ok(usedMemory() - before < 10_000_000);
  });

  it('remembers a hundred thousand reports of one window, and less than twice as many', () => {
    const duplicates = new Duplicates(1_000_000_000);
    const half = 100_000;
    for (const report of many(0, 2 * half)) {
      duplicates.seen(report);
    }
    assert.equal(duplicates.seen({ ...base, seq: 0 }), true);
    duplicates.seen({ ...base, seq: 2 * half });
    assert.equal(duplicates.seen({ ...base, seq: 2 * half }), true);
    assert.equal(duplicates.seen({ ...base, seq: half }), true);
    assert.equal(duplicates.seen({ ...base, seq: half - 1 }), false);
  });
});
