// What is known of one value: whether it is of now, how old it is, and how another catalogue reads it.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import {
  ageOf,
  copyValue,
  decodedAnew,
  isOfNow,
  isTooOld,
  type LastValue,
  ownValue,
} from '../../src/network/last-value.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import type { Report } from '../../src/protocol/reports/index.ts';

const NOW = Date.UTC(2026, 0, 2);

describe('a last value', () => {
  const knownBy = (report: object | undefined, more: Partial<LastValue> = {}): LastValue => ({
    gateway: 'c0141f68fc3d',
    device: 'd00000000001',
    identifier: '8f7f',
    value: 7,
    time: undefined,
    source: 'report',
    heardAt: 0,
    size: 0,
    ...more,
    report: report as Report | undefined,
  });

  it('is of now unless it came late, or a broker has kept it', () => {
    const all = [undefined, {}, { backfill: true }, { retained: true }];
    assert.deepEqual(
      all.map((report) => isOfNow(knownBy(report))),
      [true, true, false, false],
    );
  });

  describe('is as old', () => {
    beforeEach(() => mock.timers.enable({ apis: ['Date'], now: NOW }));
    afterEach(() => mock.timers.reset());
    const agoMs = (ms: number) => performance.now() - ms;

    it('as the clock says of what was heard before this process, if it does not lie ahead', () => {
      assert.equal(ageOf(knownBy({}, { heard: NOW - 10_000, heardAt: 0 })), 10_000);
      assert.equal(ageOf(knownBy({}, { heard: NOW, heardAt: agoMs(5_000) })), 0);
      const ahead = ageOf(knownBy({}, { heard: NOW + 1, heardAt: agoMs(5_000) }));
      assert.ok(ahead >= 5_000 && ahead < 60_000);
      assert.equal(ageOf(knownBy({}, { heardAt: agoMs(-60_000) })), 0);
    });

    it('and too old when it is older than so many seconds, where there are any', () => {
      const value = knownBy({}, { heard: NOW - 10_000 });
      assert.deepEqual(
        [9, 10, 11, 0].map((maxAge) => isTooOld(value, { maxAge })),
        [true, false, false, false],
      );
    });
  });

  describe('by the catalogue of now', () => {
    const catalogue = createCatalogue([{ id: '8f7f', name: 'ph-value', type: 'u8', unit: 'pH' }]);
    const raw = { kind: 'measurement', form: 'raw', raw: '07' };

    it('is the same where it says the same, or the hex is not known', () => {
      for (const report of [
        { ...raw, name: 'ph-value', unit: 'pH' },
        { ...raw, form: 'decoded', name: '8f7f', unit: 'pH' },
        { ...raw, raw: undefined },
        undefined,
      ]) {
        const known = knownBy(report);
        assert.equal(decodedAnew(known, catalogue), known);
      }
    });

    it('is what that reads from the hex, with its name and unit', () => {
      const known = knownBy({ ...raw, value: '07' }, { value: '07' });
      const anew = decodedAnew(known, catalogue);
      assert.equal(anew.value, 7);
      assert.deepEqual(anew.report, { ...raw, value: 7, name: 'ph-value', unit: 'pH' });
      assert.equal(known.value, '07', 'whoever has the old one keeps it');
    });

    it('is the hex without a name where that knows none', () => {
      const known = knownBy({ ...raw, value: 7, name: 'ph-value', unit: 'pH', ext: { a: 1 } });
      const { value, report } = decodedAnew(known, createCatalogue());
      assert.equal(value, '07');
      assert.deepEqual(Object.entries(report ?? {}), Object.entries({ ...raw, value: '07' }));
    });

    it('is called as that calls it, too, where it was decoded by the gateway', () => {
      const own = createCatalogue([{ id: '8800', name: 'heat', type: 's16', unit: 'K' }]);
      const decoded = { ...raw, form: 'decoded', identifier: 'temperature', value: 21.5, raw: undefined };
      const known = {
        ...knownBy({ ...decoded, name: 'temperature', unit: '°C' }, { value: 21.5 }),
        identifier: 'temperature',
      };
      const { value, report } = decodedAnew(known, own);
      assert.deepEqual([value, report?.value, report?.name, report?.unit], [21.5, 21.5, 'heat', 'K']);
      const back = decodedAnew(decodedAnew(known, own), createCatalogue());
      assert.deepEqual([back.report?.name, back.report?.unit], ['temperature', '°C']);
      assert.equal(decodedAnew(known, createCatalogue()), known);
    });

    it('has an empty extension as a sample', () => {
      const { report } = decodedAnew(knownBy({ ...raw, kind: 'timestamped' }), createCatalogue());
      assert.equal(report?.ext, null);
    });
  });

  it('is copied whole for a flow, and for what is kept', () => {
    for (const copy of [copyValue, ownValue]) {
      for (const value of [7, 'text', true, null, undefined, { a: [1, { b: null }] }, [1, 2]]) {
        assert.deepEqual(copy(value), value);
      }
      const value = { deep: { n: 1 } };
      (copy(value) as typeof value).deep.n = 2;
      assert.equal(value.deep.n, 1);
    }
  });
});
