// What a store holds of last values, and what is made of what somebody else has put there.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { LastValue } from '../../src/network/last-value.ts';
import { fromStored, toStored } from '../../src/network/stored-values.ts';
import type { Report } from '../../src/protocol/reports/index.ts';

const G = 'c0141f68fc3d';
const D = 'd00000000001';
const TIME = '2026-01-01T12:00:00.000Z';
const EPOCH = Date.parse('2026-03-01T00:00:00Z');
const NOW = 5_000;

describe('last values in a store', () => {
  /** Milliseconds that pass between two looks at the clock, and how many looks there were. */
  let stepMs: number;
  let looks: number;

  beforeEach(() => {
    [stepMs, looks] = [0, 0];
    mock.method(Date, 'now', () => EPOCH);
    mock.method(performance, 'now', () => NOW + stepMs * looks++);
  });
  afterEach(() => mock.reset());

  const place = { gateway: G, device: D, identifier: 'temperature' };
  const makeValue = (more: Partial<LastValue> = {}): LastValue => ({
    ...place,
    ...{ value: 21.5, time: TIME, source: 'read', heardAt: NOW - 2_000.4, report: undefined, size: 100 },
    ...more,
  });
  const makeReport = (value: unknown, more: object = {}): Report =>
    ({ ...place, kind: 'measurement', form: 'decoded', time: TIME, value, ...more }) as Report;
  /** As a store keeps it. */
  const throughJson = (stored: unknown): unknown => JSON.parse(JSON.stringify(stored));

  const READS: [string, Partial<LastValue>, object][] = [
    ['a number', { value: 7 }, { value: 7 }],
    ['a text', { value: '{"a":1}' }, { value: '{"a":1}' }],
    ['nothing', { value: null }, { value: null }],
    ['an object as a text', { value: { a: [1] } }, { json: '{"a":[1]}' }],
    ['a list as a text', { value: [1] }, { json: '[1]' }],
    ['no time', { value: 7, time: undefined }, { value: 7, time: undefined }],
    ['when it was heard before the start', { value: 7, heard: 5 }, { value: 7, heard: 5 }],
  ];
  for (const [what, more, expected] of READS) {
    it(`are of a read ${what}`, async () => {
      const stored = { ...place, time: TIME, heard: EPOCH - 2_000, ...expected };
      assert.deepEqual(await toStored([makeValue(more)]), [throughJson(stored)]);
    });
  }

  it('are of a report the report alone, which later ones do not change', async () => {
    const report = makeReport(7);
    const [stored] = await toStored([makeValue({ value: 7, report })]);
    report.value = 8;
    assert.deepEqual(stored, { ...place, time: TIME, heard: EPOCH - 2_000, report: makeReport(7) });
  });

  it('are of a report with something nested its text', async () => {
    for (const report of [makeReport({ a: 1 }), makeReport(7, { errorMeta: [1] })]) {
      const [stored] = await toStored([makeValue({ value: report.value, report })]);
      assert.equal(stored?.report, JSON.stringify(report));
      assert.ok(!('value' in stored!) && !('json' in stored!));
    }
  });

  const KEPT: Record<string, Partial<LastValue>> = {
    'a number': { value: 7 },
    'a text': { value: '[1]' },
    'an object': { value: { a: [1] } },
    nothing: { value: null },
    'a value without a time': { value: 7, time: undefined },
    'a report': { value: 7, report: makeReport(7) },
    'a report of a structure': { value: { a: 1 }, report: makeReport({ a: 1 }) },
  };
  for (const [what, more] of Object.entries(KEPT)) {
    it(`bring back ${what}`, async () => {
      const value = makeValue({ ...more, heardAt: NOW - 2_000 });
      const [back, ...others] = fromStored(throughJson(await toStored([value])));
      assert.deepEqual(back, { ...value, source: 'stored', heard: EPOCH - 2_000, size: 0 });
      assert.deepEqual(others, []);
    });
  }

  it('bring back a structure as deep as reports may be, of a read and of a report', async () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 500; depth++) {
      value = [value];
    }
    for (const report of [undefined, makeReport(value)]) {
      const [back] = fromStored(throughJson(await toStored([makeValue({ value, report })])));
      assert.deepEqual(back?.value, value);
    }
  });

  it('are as old as they were, and just heard where the clock has gone back', () => {
    const heardAt = (heard: number) => fromStored([{ ...place, value: 1, heard }])[0]?.heardAt;
    assert.deepEqual([heardAt(EPOCH - 60_000), heardAt(EPOCH + 60_000)], [NOW - 60_000, NOW]);
  });

  it('are none where a store holds anything else', () => {
    const good = { ...place, value: 1, heard: EPOCH };
    for (const stored of [undefined, null, 'x', {}, { length: 1, 0: good }]) {
      assert.deepEqual(fromStored(stored), []);
    }
    const others = [
      ...[null, undefined, 7, 'x', {}, []],
      ...[undefined, 7, 'no mac', null].flatMap((mac) => [
        { ...good, gateway: mac },
        { ...good, device: mac },
      ]),
      ...[undefined, 7, null].map((identifier) => ({ ...good, identifier })),
      ...[undefined, null, '5', Number.NaN, Number.POSITIVE_INFINITY].map((heard) => ({ ...good, heard })),
    ];
    assert.deepEqual(
      fromStored([...others, good]).map(({ value }) => value),
      [1],
    );
  });

  const ODD: [string, object, Partial<LastValue>][] = [
    ['no value', {}, { value: null }],
    ['a time that is none', { value: 1, time: 7 }, { value: 1, time: undefined }],
    ['a text that is no JSON', { value: 1, json: '{' }, { value: 1 }],
    ['a report that is none', { value: 1, report: 7 }, { value: 1, report: undefined }],
    ['a report that is a list', { value: 1, report: [2] }, { value: 1, report: undefined }],
    ['a report that is no JSON', { value: 1, report: '{' }, { value: 1, report: undefined }],
    ['a report without a value', { value: 1, report: {} }, { value: null, report: {} as Report }],
  ];
  for (const [what, more, expected] of ODD) {
    it(`are taken with ${what} as far as they go`, () => {
      const [{ value, ...back } = makeValue()] = fromStored([{ ...place, heard: EPOCH, ...more }]);
      assert.deepEqual({ ...back, value }, { ...back, ...expected });
    });
  }

  it('are made with a turn for others after each 250', async () => {
    stepMs = 10;
    await toStored(Array.from({ length: 1_000 }, () => makeValue()));
    // Two at the beginning, and each turn begins with another one.
    assert.equal(looks, 2 + 2 * 4);
  });
});
