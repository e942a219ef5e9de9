// The last values: one for each property of each device, whatever way it came, and no more than are allowed.
import assert from 'node:assert/strict';
import { LastValues, type ValueQuery } from '../../src/network/last-values.ts';
import { fromStored } from '../../src/network/stored-values.ts';
import { sortInTurns, Turns } from '../../src/network/turns.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { type Report, readReport, readReportTopic } from '../../src/protocol/reports/index.ts';

const [G, G2] = ['c0141f68fc3d', 'c0141f68fc3e'];
const D = 'd00000000001';
const mac = (n: number) => `d${n.toString(16).padStart(11, '0')}`;

function report(more: Partial<Report> = {}): Report {
  return {
    gateway: G,
    device: D,
    kind: 'measurement',
    form: 'decoded',
    identifier: 'temperature',
    time: '2026-01-01T12:00:00.000Z',
    value: 21.5,
    ...more,
  };
}

/** The newest value of one property of one device. */
const findIn = (values: LastValues, query: ValueQuery) => values.all(query)[0];

describe('last values', () => {
  let now = 0;
  const catalogue = createCatalogue([{ id: '8f7f', name: 'ph-value', type: 'u8' }]);
  const open = (max?: number, maxSize?: number) =>
    new LastValues(catalogue, {
      now: () => now,
      ...(max !== undefined && { max }),
      ...(maxSize !== undefined && { maxSize }),
    });

  beforeEach(() => {
    now = 1_000;
  });

  it('are the same by name and by hex id, raw and decoded, also of custom entries', () => {
    const values = open();
    values.recordReport(report({ identifier: '8800', form: 'raw', value: 20 }));
    values.recordReport(report({ value: 21 }));
    values.recordReport(report({ identifier: '8f7f', value: 7 }));
    assert.equal(values.size, 2);
    for (const identifier of ['temperature', '8800', 'Temperature']) {
      assert.equal(findIn(values, { device: D, identifier })?.value, 21);
    }
    assert.equal(findIn(values, { device: D, identifier: 'ph-value' })?.value, 7);
  });

  it('are taken over in one step, however many they are, also by a catalogue with other names', () => {
    const before = open();
    for (let n = 0; n < 200_000; n++) {
      before.recordReport(report({ device: mac(n), identifier: '8f7f' }));
    }
    const began = performance.now();
    const values = open();
    values.takeOver(before);
    assert.ok(performance.now() - began < 150);
    assert.equal(values.size, 200_000);
    values.recordReport(report({ device: mac(0), identifier: 'ph-value', value: 7 }));
    assert.deepEqual(
      [values.size, findIn(values, { device: mac(0), identifier: '8f7f' })?.value],
      [200_000, 7],
    );
    const renamed = new LastValues(createCatalogue([{ id: '8f7f', name: 'acidity', type: 'u8' }]));
    renamed.takeOver(values);
    assert.deepEqual(
      [renamed.size, findIn(renamed, { device: mac(1), identifier: 'acidity' })?.value],
      [200_000, 21.5],
    );
  });

  it('come from properties, measurements, events, samples and reads, and from nothing else', () => {
    const values = open();
    for (const [i, kind] of ['property', 'measurement', 'event', 'timestamped'].entries()) {
      values.recordReport(report({ kind, identifier: `x-${i}` }));
    }
    for (const kind of ['measurement-error', 'other', 'heartbeat']) {
      values.recordReport(report({ kind, identifier: 'none' }));
    }
    values.recordReport(report({ kind: 'timestamped', identifier: 'none', value: null, errorCode: 3 }));
    values.recordRead({ gateway: G, device: D, identifier: 'x-9', value: 9, time: undefined });
    assert.deepEqual(
      values.all().map(({ identifier, source }) => `${identifier} ${source}`),
      ['x-0 report', 'x-1 report', 'x-2 report', 'x-3 report', 'x-9 read'],
    );
  });

  for (const [form, tail, body, value] of [
    ['raw', 'timestamped/8800', { value: '1234', flags: '08' }, 46.6],
    ['decoded', 'timestamped-decoded/temperature', { value: 20 }, 20],
  ] as const) {
    it(`come from samples as they are received, ${form}, and not from those that are errors`, () => {
      const values = open();
      const receive = (more: object) => {
        const at = readReportTopic(`mt/gateway/${G}/device/${D}/${tail}`, G, D, tail);
        const payload = { time: '2026-01-01T12:00:00.000Z', ...body, ...more };
        values.recordReport(readReport(at, payload, catalogue, true, false));
      };
      receive({});
      receive(form === 'raw' ? { value: '05', flags: '04' } : { value: null, errorCode: 5 });
      assert.deepEqual(
        values.all().map((one) => one.value),
        [value],
      );
    });
  }

  it('are not replaced by a sample that comes late', () => {
    const values = open();
    const sample = (time: string, value: number) =>
      values.recordReport(report({ kind: 'timestamped', time: `2026-01-01T${time}Z`, value }));
    sample('12:00:00', 1);
    sample('11:00:00', 2);
    assert.equal(findIn(values, { device: D, identifier: 'temperature' })?.value, 1);
    sample('12:30:00', 3);
    assert.equal(findIn(values, { device: D, identifier: 'temperature' })?.value, 3);
  });

  it('go on after a sample of a device whose clock was ahead', () => {
    const values = open();
    const sample = (time: number, value: number, more: object = {}) =>
      values.recordReport(
        report({ kind: 'timestamped', time: new Date(time).toISOString(), value, ...more }),
      );
    const find = () => findIn(values, { device: D, identifier: 'temperature' })?.value;
    sample(Date.now() + 1e12, 1);
    now += 60_000;
    sample(Date.now(), 2);
    assert.equal(find(), 2);
    sample(Date.now() + 1e12, 3);
    values.recordReport(report({ value: 4 }));
    assert.equal(find(), 4);
    sample(Date.now() + 1e12, 5);
    values.recordRead({ gateway: G, device: D, identifier: '8800', value: 6, time: '2026-01-01T12:00:00Z' });
    assert.equal(find(), 6);
  });

  it('are known by gateway, and the newest one counts where none is given', () => {
    const values = open();
    values.recordReport(report({ value: 1 }));
    now += 1_000;
    values.recordReport(report({ gateway: G2, value: 2 }));
    const find = (gateway?: string) =>
      findIn(values, { device: D, gateway, identifier: 'temperature' })?.value;
    assert.deepEqual([find(), find(G), find(G2), find(mac(9))], [2, 1, 2, undefined]);
    assert.deepEqual(
      values.all({ gateways: new Set([G]) }).map(({ value }) => value),
      [1],
    );
  });

  it('of a retained report are as old as the report, not as its delivery', () => {
    const values = open();
    values.recordReport(report({ retained: true, time: new Date(Date.now() - 3_600_000).toISOString() }));
    const { heardAt } = findIn(values, { device: D, identifier: 'temperature' })!;
    assert.ok(Math.abs(now - heardAt - 3_600_000) < 60_000, `${heardAt}`);
  });

  it('go when there are too many, those first that were not heard for longest', () => {
    const values = open(3);
    for (const n of [1, 2, 3, 1, 4]) {
      now += 1;
      values.recordReport(report({ device: mac(n) }));
    }
    assert.deepEqual(
      values.all().map(({ device }) => device),
      [1, 3, 4].map(mac),
    );
    assert.equal(values.size, 3);
  });

  it('of one device that reports ever new properties are kept and go at the cost of any others', () => {
    const values = open(40_000);
    for (let n = 0; n < 200_000; n++) {
      values.recordReport(report({ identifier: `made-up-${n}`, value: n }));
    }
    assert.equal(values.size, 40_000);
    assert.equal(findIn(values, { device: D, identifier: 'made-up-199999' })?.value, 199_999);
    assert.equal(findIn(values, { device: D, identifier: 'made-up-100' }), undefined);
  });

  it('go when they take too much memory, however few they are', () => {
    const values = open(undefined, 1_000_000);
    for (let n = 0; n < 100; n++) {
      values.recordReport(report({ device: mac(n), value: Array.from({ length: 2_000 }, () => [n]) }));
    }
    assert.ok(values.size >= 2 && values.size <= 20, `${values.size}`);
    assert.equal(findIn(values, { device: mac(99), identifier: 'temperature' })?.device, mac(99));
    for (let n = 0; n < 10_000; n++) {
      values.recordReport(report({ device: mac(99), value: n }));
      values.recordReport(report({ device: mac(98), gateway: mac(n), value: n }));
    }
    // What was replaced does not count.
    assert.ok(findIn(values, { device: mac(99), identifier: 'temperature' }));
    for (let n = 200; n < 300; n++) {
      values.recordReport(report({ device: mac(n) }));
    }
    assert.ok(values.size > 100, `${values.size}`);
  });

  it('are in the same order in turns, and the first of them without the others', async () => {
    const values = open();
    for (let n = 0; n < 12_345; n++) {
      values.recordReport(report({ device: mac((n * 7919) % 12_345) }));
    }
    const all = values.all();
    const turns = new Turns(new AbortController().signal);
    const sorted = await sortInTurns(values.unsorted(), turns);
    assert.deepEqual(
      sorted.map(([, { device }]) => device),
      all.map(({ device }) => device),
    );
    for (const limit of [0, 1, 8, 1_000, 20_000]) {
      const { values: first, total } = values.first({}, limit);
      assert.equal(total, 12_345);
      assert.deepEqual(first, all.slice(0, limit));
    }
  });

  it('of one property are kept for sixteen gateways', () => {
    const values = open();
    for (let n = 0; n < 40; n++) {
      now += 1;
      values.recordReport(report({ gateway: mac(n), value: n }));
    }
    assert.equal(values.size, 16);
    assert.equal(findIn(values, { device: D, identifier: 'temperature' })?.value, 39);
  });

  it('are what was heard since the start, also by a clock that is behind what was stored', () => {
    const heard = Date.now() + 86_400_000;
    const stored = [G, G2].map((gateway) => ({
      ...{ gateway, device: D, identifier: '8800', value: 20, heard },
      report: report({ gateway, kind: 'timestamped', time: new Date(heard).toISOString() }),
    }));
    for (const isLate of [false, true]) {
      const values = new LastValues(catalogue);
      const restore = () => values.restore(fromStored(JSON.parse(JSON.stringify(stored))));
      if (isLate) {
        restore();
      }
      values.recordReport(report({ value: 21 }));
      if (!isLate) {
        restore();
      }
      assert.deepEqual(
        [findIn(values, {}), findIn(values, { gateway: G })].map((one) => one?.value),
        [21, 21],
      );
      values.recordReport(report({ kind: 'timestamped', value: 22, time: new Date().toISOString() }));
      assert.equal(findIn(values, {})?.value, 22);
    }
  });

  it('are what was stored, where a broker or a device brings only what is older', () => {
    const values = new LastValues(catalogue);
    const heard = Date.now() - 60_000;
    const time = new Date(heard).toISOString();
    values.restore(fromStored([{ gateway: G, device: D, identifier: '8800', value: 20, heard, time }]));
    const hourAgo = new Date(heard - 3_600_000).toISOString();
    values.recordReport(report({ value: 1, time: hourAgo, retained: true }));
    values.recordReport(report({ kind: 'timestamped', value: 2, time: hourAgo, backfill: true }));
    assert.equal(findIn(values, {})?.value, 20);
  });

  it('are restored, save what was heard since', () => {
    const before = open();
    before.recordReport(report({ value: 1 }));
    before.recordReport(report({ device: mac(2), value: 2 }));
    const stored = before.newest(10).map((value) => ({ ...value, source: 'stored' as const }));
    now += 1_000;
    const values = open();
    values.recordReport(report({ value: 3 }));
    values.restore(stored);
    assert.deepEqual(
      values.all().map(({ value, source }) => [value, source]),
      [
        [3, 'report'],
        [2, 'stored'],
      ],
    );
  });

  it('have identifiers of a length that a device can have', () => {
    const values = open();
    values.recordReport(report({ identifier: 'x'.repeat(10_000) }));
    assert.equal(values.size, 0);
  });
});
