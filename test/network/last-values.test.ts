// The last values: one for each property of each device, whatever way it came, and no more than are allowed.
import assert from 'node:assert/strict';
import { LastValues, type ValueQuery } from '../../src/network/last-values.ts';
import { fromStored, toStored } from '../../src/network/stored-values.ts';
import { sortInTurns, Turns } from '../../src/network/turns.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { type Report, readReport, readReportTopic } from '../../src/protocol/reports/index.ts';
import { itAtScale } from '../at-scale.ts';
import { usedMemory } from '../memory.ts';

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

  it('keep nothing of the response that a value was read from', () => {
    const values = open();
    const before = usedMemory();
    for (let n = 0; n < 50; n++) {
      const response = `${'ab'.repeat(32)}${'00'.repeat(250_000)}${n}`;
      const publicKey = response.slice(0, 64);
      values.recordRead({
        gateway: G,
        device: mac(n),
        identifier: '8008',
        value: publicKey,
        time: undefined,
      });
      values.recordRead({
        gateway: G,
        device: mac(n),
        identifier: '8005',
        value: { publicKey },
        time: undefined,
      });
    }
    assert.ok(usedMemory() - before < 3_000_000);
    assert.equal(findIn(values, { device: mac(49), identifier: '8008' })?.value, 'ab'.repeat(32));
  });

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

  itAtScale('are taken over in one step, however many they are, also by a catalogue with other names', () => {
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

  for (const [how, takeOver] of [
    ['over a deploy', (next: LastValues, before: LastValues) => next.takeOver(before)],
    [
      'over a restart',
      async (next: LastValues, before: LastValues) =>
        next.restore(fromStored(JSON.parse(JSON.stringify(await toStored(before.all()))))),
    ],
  ] as const) {
    it(`are decoded anew by a catalogue that has changed, ${how}`, async () => {
      const entry = { id: '8f7f', name: 'level', type: 'u16' };
      const volts = createCatalogue([{ ...entry, divisor: 1000, unit: 'V' }]);
      const before = new LastValues(volts);
      for (const [tail, body] of [
        ['property/8f7f', { value: '0bb8' }],
        ['timestamped/8f7e', { value: '05', flags: '00' }],
        ['property/8800', { value: '1234' }],
        ['property-decoded/temperature', { value: 20 }],
      ] as const) {
        const at = readReportTopic(
          `mt/gateway/${G}/device/${D}/${tail}`,
          G,
          tail.endsWith('ure') ? mac(2) : D,
          tail,
        );
        before.recordReport(
          readReport(at, { time: '2026-01-01T12:00:00.000Z', ...body }, volts, true, false),
        );
      }
      const rows = [
        { ...entry, name: 'voltage', unit: 'mV' },
        { id: '8f7e', name: 'state', type: 'u8' },
      ];
      const next = new LastValues(createCatalogue(rows));
      await takeOver(next, before);
      assert.deepEqual(
        next
          .all()
          .map(({ identifier, value, report: { value: reported, name, unit, ext } = {} as Report }) => [
            ...[identifier, value, reported, name, unit, ext],
          ]),
        [
          ['8800', 46.6, 46.6, 'temperature', '°C', undefined],
          ['8f7e', 5, 5, 'state', undefined, null],
          ['8f7f', 3000, 3000, 'voltage', 'mV', undefined],
          ['temperature', 20, 20, 'temperature', '°C', undefined],
        ],
      );
    });
  }

  it('of reads are forgotten where a deploy has them decoded otherwise', () => {
    const read = { gateway: G, device: D, value: 3, time: undefined };
    const before = new LastValues(createCatalogue([{ id: '8f7f', name: 'level', type: 'u16', unit: 'V' }]));
    before.recordRead({ ...read, identifier: '8f7f' });
    before.recordRead({ ...read, identifier: '8800' });
    const next = new LastValues(createCatalogue([{ id: '8f7f', name: 'level', type: 'u16', unit: 'mV' }]));
    next.takeOver(before);
    assert.deepEqual(
      next.all().map(({ identifier }) => identifier),
      ['8800'],
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
      if (form === 'raw') {
        receive({ value: '05', flags: '04' });
        receive({ value: '', flags: '04' });
        receive({ value: undefined, flags: '0c' });
        receive({ value: '00', flags: '0c' });
      } else {
        receive({ value: null, errorCode: 5 });
        receive({ value: null, errorCode: 0 });
        receive({ errorCode: 0 });
      }
      const known = () => values.all().map((one) => one.value);
      assert.deepEqual(known(), [value]);
      if (form === 'decoded') {
        receive({ value: 0, errorCode: 0 });
        assert.deepEqual(known(), [0], 'a code of 0 beside a value is none');
      }
    });
  }

  describe('of a sample', () => {
    let values: LastValues;
    const sample = (time: string | number, value: number, more: object = {}, gateway = G) => {
      now += 1_000;
      const at = typeof time === 'string' ? `2026-01-01T${time}Z` : new Date(time).toISOString();
      const kind = 'timestamped';
      values.recordReport(report({ gateway, kind, time: at, backfill: false, value, ...more }));
    };
    const late = (time: string | number, value: number, gateway = G) =>
      sample(time, value, { backfill: true }, gateway);
    const find = () => findIn(values, { device: D, identifier: 'temperature' })?.value;

    beforeEach(() => {
      values = open();
    });

    it('that comes late do not replace a newer one, whatever brought that', () => {
      sample('12:00:00', 1);
      late('11:00:00', 2);
      assert.equal(find(), 1);
      late('12:30:00', 3);
      assert.equal(find(), 3);
      values.recordReport(report({ value: 4, time: '2026-01-01T13:00:00Z' }));
      late('12:45:00', 5);
      assert.equal(find(), 4);
      const place = { gateway: G, device: D, identifier: '8800' };
      for (const time of [undefined, 'noon']) {
        values.recordRead({ ...place, value: 6, time });
        late('14:00:00', 7);
        assert.equal(find(), 6, 'it was made when it was heard');
      }
    });

    it('that comes late do not replace it in what another gateway has brought either', () => {
      sample('12:00:00', 1);
      late('11:00:00', 2, G2);
      assert.equal(find(), 1);
      late('12:30:00', 3, G2);
      assert.equal(find(), 3);
    });

    it('that was heard last count, though the clock of its device has gone back or is behind', () => {
      sample(Date.now(), 1);
      sample(0, 2);
      assert.equal(find(), 2);
      sample(1_000, 3, {}, G2);
      assert.equal(find(), 3);
      for (const [kind, value] of [
        ['property', 4],
        ['measurement', 6],
      ] as const) {
        values.recordReport(report({ kind, time: new Date().toISOString(), value }));
        sample(Date.now() - 10_000, value + 1);
        assert.equal(find(), value + 1);
      }
    });

    it('go on after one of a device whose clock was ahead', () => {
      sample(Date.now() + 1e12, 1);
      now += 60_000;
      late(Date.now(), 2);
      assert.equal(find(), 2);
      sample(Date.now() + 1e12, 3);
      values.recordReport(report({ value: 4 }));
      assert.equal(find(), 4);
      sample(Date.now() + 1e12, 5);
      values.recordRead({
        gateway: G,
        device: D,
        identifier: '8800',
        value: 6,
        time: '2026-01-01T12:00:00Z',
      });
      assert.equal(find(), 6);
    });

    it('that comes late do not replace a newer one where the clock of this machine is behind', () => {
      const hour = 3_600_000;
      sample(Date.now() + hour, 1);
      late(Date.now() + hour / 2, 2);
      assert.equal(find(), 1);
      late(Date.now() + hour / 2, 3, G2);
      assert.equal(find(), 1);
      const ahead = Date.now() + 2 * hour;
      late(ahead, 4);
      assert.equal(find(), 4);
      late(ahead, 5);
      assert.equal(find(), 5, 'of two of one moment the one that was heard later');
    });

    it('are restored as they were known, by all gateways', () => {
      for (const [first, second] of [
        [() => sample('12:00:00', 1), () => late('11:00:00', 2, G2)],
        [() => late('11:00:00', 2, G2), () => sample('08:00:00', 1)],
      ] as const) {
        values = open();
        first();
        second();
        assert.equal(find(), 1);
        const before = values;
        values = open();
        values.restore(before.newest(10).map((value) => ({ ...value, source: 'stored' as const })));
        assert.equal(find(), 1);
      }
    });
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
    const { heardAt, time, heard } = findIn(values, { device: D, identifier: 'temperature' })!;
    assert.ok(Math.abs(now - heardAt - 3_600_000) < 60_000, `${heardAt}`);
    assert.equal(heard, Date.parse(time!), 'in a store, too');
  });

  it('of a retained report do not replace what was heard since it was made', () => {
    const values = open();
    values.recordReport(report({ value: 1 }));
    values.recordReport(report({ value: 2, retained: true }));
    assert.equal(findIn(values, {})?.value, 1);
  });

  it('of a retained report whose time nobody can read were heard just now', () => {
    for (const time of ['at noon', '1970-01-01T00:00:00Z']) {
      const values = open();
      values.recordReport(report({ retained: true, time }));
      assert.equal(findIn(values, {})?.heard, undefined, time);
    }
  });

  describe('of a retained report by a clock that is ahead, or by none', () => {
    const AHEAD = new Date(Date.now() + 3_600_000).toISOString();
    const LATER = new Date(Date.now() + 3_660_000).toISOString();
    const shown = (values: LastValues) =>
      values.all({}).map(({ gateway, value, heardAt }) => [gateway, value, now - heardAt]);

    for (const time of [AHEAD, 'at noon']) {
      it(`were heard when it came first: ${time === AHEAD ? 'ahead' : time}`, () => {
        for (const retained of [true, false]) {
          const values = open();
          values.recordReport(report({ time, ...(retained && { retained }) }));
          now += 4_000;
          values.recordReport(report({ time, retained: true }));
          assert.deepEqual(shown(values), [[G, 21.5, 4_000]]);
          const stored = values.newest(10).map((value) => ({ ...value, source: 'stored' as const }));
          now += 1_000;
          const after = open();
          after.recordReport(report({ time, retained: true }));
          after.restore(stored);
          assert.deepEqual(shown(after), [[G, 21.5, 5_000]], 'after a restart');
        }
      });
    }

    it('do not replace what was heard since', () => {
      for (const time of [AHEAD, 'at noon']) {
        const values = open();
        values.recordReport(report({ value: 1, time: LATER }));
        now += 1_000;
        values.recordReport(report({ value: 2, time, retained: true }));
        assert.deepEqual(shown(values), [[G, 1, 1_000]]);
        now += 1_000;
        values.recordReport(report({ gateway: G2, value: 3, time, retained: true }));
        assert.deepEqual(shown(values)[0], [G, 1, 2_000], 'whose clock is another one');
        assert.equal(findIn(values, { gateway: G2 })?.value, 3);
      }
    });

    it('count as new beside what only a broker, or a store, has of another gateway', () => {
      const daysAgo = new Date(Date.now() - 3 * 86_400_000).toISOString();
      const stored = {
        gateway: G2,
        device: D,
        identifier: '8800',
        value: 20,
        heard: Date.parse(daysAgo),
        time: daysAgo,
      };
      for (const known of [
        (values: LastValues) => values.recordReport(report({ gateway: G2, time: daysAgo, retained: true })),
        (values: LastValues) => values.restore(fromStored([stored])),
      ]) {
        const values = open();
        known(values);
        values.recordReport(report({ value: 6, time: AHEAD, retained: true }));
        now += 1_000;
        assert.deepEqual(shown(values)[0], [G, 6, 1_000]);
      }
    });

    it('replace what was made before it, by the same clock', () => {
      for (const retained of [{ retained: true as const }, {}]) {
        const values = open();
        values.recordReport(report({ value: 1, time: AHEAD, ...retained }));
        now += 1_000;
        values.recordReport(report({ value: 2, time: LATER, retained: true }));
        assert.deepEqual(shown(values), [[G, 2, 0]]);
      }
    });

    for (const [title, times] of [
      ['the newer one first', [LATER, AHEAD]],
      ['the older one first', [AHEAD, LATER]],
    ] as const) {
      it(`are those of the newer one of two topics, as old as when it came first: ${title}`, () => {
        const values = open();
        const connect = (known: LastValues) =>
          times.forEach((time, i) => {
            const kind = i === 0 ? 'measurement' : 'property';
            known.recordReport(report({ kind, value: time === LATER ? 2 : 1, time, retained: true }));
          });
        connect(values);
        for (const age of [600_000, 1_200_000]) {
          now += 600_000;
          connect(values);
          assert.deepEqual(shown(values), [[G, 2, age]]);
        }
        const after = new LastValues(catalogue, { now: () => now });
        after.takeOver(values);
        connect(after);
        assert.deepEqual(shown(after), [[G, 2, 1_200_000]], 'after a deploy');
      });
    }

    it('of two topics without a time are those of the first that came', () => {
      const values = open();
      for (const _connection of [1, 2, 3]) {
        values.recordReport(report({ value: 1, time: 'at noon', retained: true }));
        values.recordReport(report({ kind: 'property', value: 2, time: 'at night', retained: true }));
        now += 1_000;
      }
      assert.deepEqual(shown(values), [[G, 2, 3_000]]);
    });
  });

  it('are those of a device, a property, a gateway, or of all of these', () => {
    const values = open();
    for (const device of [mac(1), mac(2)]) {
      for (const identifier of ['temperature', 'humidity']) {
        values.recordReport(report({ device, identifier }));
      }
    }
    const found = (query: ValueQuery) =>
      values.all(query).map(({ device, identifier }) => `${device}/${identifier}`);
    const [t1, t2] = [`${mac(1)}/temperature`, `${mac(2)}/temperature`];
    assert.deepEqual(found({ device: mac(2) }), [t2, `${mac(2)}/humidity`]);
    assert.deepEqual(found({ identifier: '8800' }), [t1, t2]);
    assert.deepEqual(found({ device: mac(1), identifier: '8800' }), [t1]);
    assert.deepEqual(found({ identifier: '8800', gateway: G }), [t1, t2]);
    for (const none of [
      { device: mac(3) },
      { device: mac(3), identifier: '8800' },
      { device: mac(1), identifier: 'pressure' },
      { identifier: 'pressure' },
      { gateway: G2 },
      { gateways: new Set<string>() },
    ]) {
      assert.deepEqual(found(none), []);
    }
  });

  it('that are the newest come last, as many as have room', () => {
    const values = open();
    for (const n of [1, 2, 3]) {
      values.recordReport(report({ device: mac(n), value: n }));
    }
    const found = (max: number, maxSize?: number) => values.newest(max, maxSize).map(({ value }) => value);
    assert.deepEqual(found(10), [1, 2, 3]);
    assert.deepEqual(found(3), [1, 2, 3]);
    assert.deepEqual(found(2), [2, 3]);
    assert.deepEqual(found(0), []);
    const size = findIn(values, { device: mac(1) })?.size as number;
    assert.deepEqual(found(10, 2 * size), [2, 3]);
    assert.deepEqual(found(10, 2 * size - 1), [3]);
  });

  it('go on over a deploy beside those that were heard since, which come last', () => {
    const before = open();
    before.recordReport(report({ device: mac(1), value: 1 }));
    before.recordRead({ gateway: G, device: mac(2), identifier: '9802', value: 2, time: undefined });
    const values = open();
    values.recordReport(report({ device: mac(3), value: 3 }));
    values.takeOver(before);
    assert.deepEqual(
      values.newest(10).map(({ value }) => value),
      [1, 2, 3],
    );
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

  itAtScale(
    'of one device that reports ever new properties are kept and go at the cost of any others',
    () => {
      const values = open(40_000);
      for (let n = 0; n < 200_000; n++) {
        values.recordReport(report({ identifier: `made-up-${n}`, value: n }));
      }
      assert.equal(values.size, 40_000);
      assert.equal(findIn(values, { device: D, identifier: 'made-up-199999' })?.value, 199_999);
      assert.equal(findIn(values, { device: D, identifier: 'made-up-100' }), undefined);
    },
  );

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

  it('go when names in their JSON take too much memory, in the value and beside it', () => {
    const long = (n: number) => `${n}`.padEnd(50_000, 'k');
    const hear: ((values: LastValues, n: number) => void)[] = [
      (values, n) => values.recordReport(report({ device: mac(n), value: { list: [{ [long(n)]: 1 }] } })),
      (values, n) => values.recordReport(report({ device: mac(n), [long(n)]: 1 })),
      (values, n) => {
        const value = { [long(n)]: 1 };
        values.recordRead({ gateway: G, device: mac(n), identifier: 'motion', value, time: undefined });
      },
    ];
    for (const hearOne of hear) {
      const values = open(undefined, 1_000_000);
      for (let n = 0; n < 100; n++) {
        hearOne(values, n);
      }
      assert.ok(values.size >= 5 && values.size <= 20, `${values.size}`);
      for (const value of values.newest(100)) {
        values.restore([value]);
      }
      assert.ok(values.size >= 5 && values.size <= 20, `${values.size}`);
    }
  });

  itAtScale('take no more memory than they may, where each has many names of its own', () => {
    const values = open(undefined, 4_000_000);
    const before = usedMemory();
    for (let n = 0; n < 2_000; n++) {
      const names = Array.from({ length: 100 }, (_, i) => `"k${n}_${i}": 0.5`).join();
      values.recordReport(report({ device: mac(n), value: JSON.parse(`{${names}}`) }));
    }
    const used = usedMemory() - before;
    assert.ok(values.size > 100, `${values.size}`);
    assert.ok(used < 10_000_000, `${used}`);
  });

  itAtScale('hold nothing of devices of which nothing is known any more', () => {
    const values = open(10);
    const before = usedMemory();
    for (let n = 0; n < 300_000; n++) {
      values.recordReport(report({ device: mac(n) }));
    }
    const used = usedMemory() - before;
    assert.ok(used < 20_000_000, `${used}`);
    assert.equal(values.size, 10);
  });

  itAtScale('are as many as are allowed, where they are ordinary ones', () => {
    const values = new LastValues(catalogue);
    const names = {
      name: 'temperature',
      unit: '°C',
      gatewayName: 'Hall 2, column 14',
      deviceName: 'Cold room 3',
    };
    for (let n = 0; n < 200_000; n++) {
      values.recordReport(report({ device: mac(n), ...names, seq: n % 256, ext: 'none', raw: '0807' }));
    }
    assert.equal(values.size, 200_000);
  });

  it('are those of the reports as they came, whatever flows and later reports do', () => {
    const values = open();
    const known = () => findIn(values, { device: D, identifier: 'temperature' });
    const nested = report({ value: { limit: 5 } });
    values.recordReport(nested);
    (nested.value as { limit: number }).limit = 99;
    assert.deepEqual([known()?.value, known()?.report?.value], [{ limit: 5 }, { limit: 5 }]);
    // The same fields, others, another form, a fault, and one of before.
    const later: Partial<Report>[] = [
      { value: 1, seq: 1 },
      { value: 2, seq: 2, time: '2026-01-01T12:00:01.000Z' },
      { seq: 3, value: 3 },
      { value: 4, seq: 4, ext: 'half' },
      { value: undefined, seq: 5 },
      { value: 6, raw: '0600', form: 'raw', identifier: '8800' },
      { value: 7, seq: 7, kind: 'property' },
      { value: 8, seq: 8, kind: 'property' },
      JSON.parse('{"value": 9, "__proto__": {"seq": 1}}'),
      JSON.parse('{"value": 10, "__proto__": 7}'),
      JSON.parse('{"value": 11, "__proto__": 8}'),
    ];
    for (const more of later) {
      now += 10;
      const one = report(more);
      const text = JSON.stringify(one);
      values.recordReport(one);
      for (const key of Object.keys(one)) {
        delete one[key];
      }
      assert.equal(JSON.stringify(known()?.report), text);
      const { value, time, identifier, heardAt } = known() ?? {};
      assert.deepEqual(
        [value, time, identifier, heardAt],
        [more.value ?? null, known()?.report?.time, known()?.report?.identifier, now],
      );
    }
    values.recordReport(report({ value: 12, seq: 12 }), now - 1);
    assert.equal(known()?.value, 11);
    assert.equal(values.size, 1);
  });

  it('take the memory of what they are now, not of what they were', () => {
    const values = open(undefined, 1_000_000);
    for (let n = 0; n < 10; n++) {
      values.recordReport(report({ device: mac(n), value: 'x' }));
    }
    values.recordReport(report({ device: mac(1), value: 'x'.repeat(400_000) }));
    assert.equal(values.size, 10);
    values.recordReport(report({ device: mac(2), value: 'x'.repeat(400_000) }));
    assert.equal(values.size, 1);
    values.recordReport(report({ device: mac(2), value: 'x' }));
    for (let n = 0; n < 10; n++) {
      values.recordReport(report({ device: mac(n), value: 'x' }));
    }
    assert.equal(values.size, 10);
    // With the same names, which stay, and then with others.
    const more = { ['k'.repeat(200_000)]: 1 };
    for (let n = 0; n < 1_000; n++) {
      values.recordReport(report({ device: mac(n % 2), ...more, value: 'x'.repeat(n % 7) }));
    }
    values.recordReport(report({ device: mac(3), ...more }));
    assert.equal(values.size, 2);
    values.recordReport(report({ device: mac(3), ...more, value: { limit: 5 } }));
    values.recordReport(report({ device: mac(3), ...more, value: 6 }));
    assert.equal(values.size, 2);
    for (let n = 0; n < 10; n++) {
      values.recordReport(report({ device: mac(n), value: 'x' }));
    }
    assert.equal(values.size, 10);
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
    assert.deepEqual(await sortInTurns([], turns), []);
    for (const limit of [0, 1, 8, 1_000, 20_000]) {
      const { values: first, total } = values.first({}, limit);
      assert.equal(total, 12_345);
      assert.deepEqual(first, all.slice(0, limit));
    }
  });

  describe('of which the first are found', () => {
    const openWith = (count: number) => {
      const values = open();
      for (let n = 0; n < count; n++) {
        values.recordReport(report({ device: mac(n), gateway: n % 2 === 0 ? G : G2 }));
      }
      return values;
    };

    for (const [count, isKept] of [
      [9_999, false],
      [10_000, true],
    ] as const) {
      it(`${isKept ? 'once in a while' : 'anew'} among ${count}`, () => {
        const values = openWith(count);
        // Several times, as what was found quickly is not kept for long.
        const found = new Set(Array.from({ length: 20 }, () => values.first({}, 1)));
        assert.equal(found.size < 20, isKept);
      });
    }

    it('those of the gateways that are asked for, also where others were asked for before', () => {
      const values = openWith(10_000);
      const bringersOf = (gateways?: Set<string>) => {
        const { values: first, total } = values.first({ ...(gateways && { gateways }) }, 2);
        return [first.map(({ gateway }) => gateway), total];
      };
      for (let again = 0; again < 3; again++) {
        assert.deepEqual(bringersOf(new Set([G])), [[G, G], 5_000]);
        assert.deepEqual(bringersOf(new Set([G2])), [[G2, G2], 5_000]);
        assert.deepEqual(bringersOf(new Set()), [[], 0]);
        assert.deepEqual(bringersOf(), [[G, G2], 10_000]);
      }
    });
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

  it('by one gateway take the place of its own, whichever is the newest, and no memory besides', () => {
    const values = new LastValues(catalogue, { now: () => now, maxSize: 5_000 });
    for (let n = 0; n < 40; n++) {
      now += 1_000;
      // Each brings two, one after the other.
      values.recordReport(report({ gateway: n % 4 < 2 ? G : G2, value: n }));
    }
    assert.equal(values.size, 2);
    assert.deepEqual(
      [G, G2].map((gateway) => findIn(values, { gateway })?.value),
      [37, 39],
    );
    values.recordReport(report({ gateway: G, value: 40 }));
    assert.deepEqual(
      [{ gateway: G }, { gateway: G2 }, {}].map((query) => findIn(values, query)?.value),
      [40, 39, 40],
    );
    for (let n = 2; n < 40; n++) {
      values.recordReport(report({ device: mac(n) }));
    }
    assert.ok(values.size < 10, 'as many as have room');
  });

  it('of a device stay when another of its properties has gone', () => {
    const values = new LastValues(catalogue, { now: () => now, max: 2 });
    for (const identifier of ['temperature', 'humidity', 'pressure']) {
      values.recordReport(report({ identifier }));
    }
    assert.deepEqual(
      values.all({ device: D }).map(({ identifier }) => identifier),
      ['pressure', 'humidity'],
    );
  });

  it('are the later ones of samples that come late and are of the same time', () => {
    const values = open();
    for (const value of [1, 2]) {
      now += 1_000;
      values.recordReport(report({ kind: 'timestamped', value, backfill: true }));
    }
    assert.equal(findIn(values, {})?.value, 2);
  });

  it('are those of devices alone', () => {
    const values = open();
    for (const device of ['', 'kitchen', `${D}0`]) {
      values.recordReport(report({ device }));
    }
    assert.equal(values.size, 0);
  });

  it('are those that were heard last, in whatever order they are noted', () => {
    const values = open();
    values.recordReport(report({ value: 2 }), 2_000);
    values.recordReport(report({ value: 1 }), 1_000);
    assert.equal(findIn(values, {})?.value, 2);
    values.recordReport(report({ value: 3 }), 2_000);
    assert.equal(findIn(values, {})?.value, 3, 'at the same moment');
  });

  it('say who brought them and how, when that changes', () => {
    const values = open();
    values.recordRead({ gateway: G, device: D, identifier: '8800', value: 1, time: undefined });
    for (const more of [{}, { kind: 'property' }, { gateway: G2 }, { identifier: '8800' }] as const) {
      now += 1_000;
      const given = report(more);
      values.recordReport(given);
      const found = findIn(values, {});
      assert.deepEqual(
        [found?.source, found?.gateway, found?.identifier, found?.heardAt, found?.report],
        ['report', given.gateway, given.identifier, now, given],
      );
    }
    assert.deepEqual(values.all({ gateway: G }).length, 1);
  });

  it('are in the order of their properties by any spelling', () => {
    const values = open();
    for (const identifier of ['UNKNOWN_B', 'unknown_a', 'unknownx', '8800']) {
      values.recordReport(report({ identifier }));
    }
    assert.deepEqual(
      values.all().map(({ identifier }) => identifier),
      ['8800', 'unknown_a', 'UNKNOWN_B', 'unknownx'],
    );
  });

  it('have identifiers of a length that a device can have', () => {
    const values = open();
    values.recordReport(report({ identifier: 'x'.repeat(201) }));
    values.recordReport(report({ identifier: undefined }));
    assert.equal(values.size, 0);
    values.recordReport(report({ identifier: 'x'.repeat(200) }));
    assert.equal(values.size, 1);
  });
});
