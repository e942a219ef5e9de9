// What is kept of the last value of a property: little, and only what can be shown at a glance.
import assert from 'node:assert/strict';
import {
  findValue,
  forgetValue,
  isPropertyName,
  newValue,
  type PropertyValue,
  setRead,
  setValue,
  valueTime,
} from '../../src/network/property-values.ts';
import type { Report } from '../../src/protocol/reports/index.ts';

const TIME = '2026-01-01T12:00:00.000Z';
const text = (length: number) => 'x'.repeat(length);

describe('the last value of a property', () => {
  let known: PropertyValue;
  const report = (more: object) => ({ time: TIME, ...more }) as unknown as Report;

  beforeEach(() => {
    known = newValue('temperature', 1_000);
  });

  const SHOWN: [string, unknown, PropertyValue['value']][] = [
    ['a number', 0, 0],
    ['a truth value', false, false],
    ['a text', '', ''],
    ['a text of 40 characters', text(40), text(40)],
    ['nothing of a longer text', text(41), undefined],
    ['nothing of null', null, undefined],
    ['a list as JSON', [1], '[1]'],
    ['a structure as JSON', { a: { b: 'c' } }, '{"a":{"b":"c"}}'],
    ['200 characters of a structure', text(52).split(''), `["x"${',"x"'.repeat(48)},"x…`],
  ];
  for (const [what, value, shown] of SHOWN) {
    it(`is ${what}, reported and read`, () => {
      setValue(known, report({ value }), 2_000);
      assert.deepEqual(known, {
        identifier: 'temperature',
        ...{ value: shown, time: TIME, heardAt: 2_000, reports: 1 },
      });
      const read = newValue('temperature', 1_000);
      setRead(read, value, TIME, 1_500);
      assert.deepEqual(read, { ...known, valueAt: 1_500, heardAt: 1_000, reports: 0 }, 'a read is no report');
    });
  }

  it('stays where a report brings none, or a sample of the past, which count as reports', () => {
    setValue(known, report({ value: 1, backfill: false }), 2_000);
    for (const [i, later] of [
      undefined,
      report({ time: '' }),
      report({ value: 2, time: '', backfill: true }),
    ].entries()) {
      setValue(known, later, 3_000 + i);
      assert.deepEqual(known, {
        identifier: 'temperature',
        ...{ value: 1, time: TIME, valueAt: 2_000, heardAt: 3_000 + i, reports: 2 + i },
      });
    }
  });

  it('is as new as the report or the read that brought it', () => {
    const times = [
      () => setValue(known, report({ value: 1 }), 2_000),
      () => setRead(known, 2, TIME, 3_000),
      () => setValue(known, report({ value: 0, backfill: true }), 4_000),
      () => setValue(known, report({ value: 3 }), 5_000),
      () => setValue(known, report({}), 6_000),
      () => setValue(known, undefined, 7_000),
    ].map((change) => {
      change();
      return valueTime(known);
    });
    assert.deepEqual(times, [2_000, 3_000, 3_000, 5_000, 5_000, 5_000]);
  });

  it('has a time of up to 40 characters, and none where there is a longer one or none', () => {
    const times = [text(40), text(41), undefined];
    assert.deepEqual(
      times.slice(0, 2).map((time) => {
        setValue(known, report({ value: 1, time }), 2_000);
        return known.time;
      }),
      [text(40), undefined],
    );
    assert.deepEqual(
      times.map((time) => {
        setRead(known, 1, time, 2_500);
        return known.time;
      }),
      [text(40), undefined, undefined],
    );
  });

  it('is forgotten without its reports', () => {
    setValue(known, report({ value: 1 }), 2_000);
    forgetValue(known);
    assert.deepEqual(known, {
      identifier: 'temperature',
      ...{ value: undefined, time: undefined, heardAt: 2_000, reports: 1 },
    });
  });

  it('is found by its identifier', () => {
    const values = [known, newValue('humidity', 1_000)];
    assert.deepEqual(
      ['humidity', 'temperature', 'motion'].map((identifier) => findValue(values, identifier)),
      [values[1], values[0], undefined],
    );
  });

  it('is kept for an identifier of up to 200 characters', () => {
    assert.deepEqual(
      [200, 201].map((length) => isPropertyName(text(length))),
      [true, false],
    );
  });
});
