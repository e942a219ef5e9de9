// The last values: one for each property of each device, whatever way it came, and no more than are allowed.
import assert from 'node:assert/strict';
import { LastValues } from '../../src/network/last-values.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import type { Report } from '../../src/protocol/reports/index.ts';

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

describe('last values', () => {
  let now = 0;
  const open = (max?: number) =>
    new LastValues(createCatalogue([{ id: '8f7f', name: 'ph-value', type: 'u8' }]), {
      now: () => now,
      ...(max !== undefined && { max }),
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
      assert.equal(values.find({ device: D, identifier })?.value, 21);
    }
    assert.equal(values.find({ device: D, identifier: 'ph-value' })?.value, 7);
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

  it('are not replaced by a sample that comes late', () => {
    const values = open();
    const sample = (time: string, value: number) =>
      values.recordReport(report({ kind: 'timestamped', time: `2026-01-01T${time}Z`, value }));
    sample('12:00:00', 1);
    sample('11:00:00', 2);
    assert.equal(values.find({ device: D, identifier: 'temperature' })?.value, 1);
    sample('12:30:00', 3);
    assert.equal(values.find({ device: D, identifier: 'temperature' })?.value, 3);
  });

  it('are known by gateway, and the newest one counts where none is given', () => {
    const values = open();
    values.recordReport(report({ value: 1 }));
    now += 1_000;
    values.recordReport(report({ gateway: G2, value: 2 }));
    const find = (gateway?: string) => values.find({ device: D, gateway, identifier: 'temperature' })?.value;
    assert.deepEqual([find(), find(G), find(G2), find(mac(9))], [2, 1, 2, undefined]);
    assert.deepEqual(
      values.all({ gateways: new Set([G]) }).map(({ value }) => value),
      [1],
    );
  });

  it('of a retained report are as old as the report, not as its delivery', () => {
    const values = open();
    values.recordReport(report({ retained: true, time: new Date(Date.now() - 3_600_000).toISOString() }));
    const { heardAt } = values.find({ device: D, identifier: 'temperature' })!;
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

  it('of one property are kept for sixteen gateways', () => {
    const values = open();
    for (let n = 0; n < 40; n++) {
      now += 1;
      values.recordReport(report({ gateway: mac(n), value: n }));
    }
    assert.equal(values.size, 16);
    assert.equal(values.find({ device: D, identifier: 'temperature' })?.value, 39);
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
