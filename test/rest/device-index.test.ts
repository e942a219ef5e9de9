// What is kept of a device list, given devices as a hostile service would make them: bounded in number and in memory.
import assert from 'node:assert/strict';
import { DeviceIndexBuilder, macsWithLabels, textLength } from '../../src/rest/device-index.ts';
import type { Device } from '../../src/rest/types.ts';
import { itAtScale } from '../at-scale.ts';
import { usedMemory } from '../memory.ts';

const deviceOf = (index: number, fields: Partial<Device> = {}): Device => ({ id: `d${index}`, ...fields });

/** Adds devices until one found no room. @returns how many were kept */
function fill(make: (index: number) => Device): number {
  const builder = new DeviceIndexBuilder();
  for (let index = 0; !builder.isCut; index++) {
    builder.add(make(index));
  }
  return builder.count;
}

describe('index of devices', () => {
  it('keeps labels and ids of 2 000 characters, leaves longer ones out and cuts longer names', () => {
    const builder = new DeviceIndexBuilder();
    const [fits, long] = ['l'.repeat(2_000), 'l'.repeat(2_001)];
    builder.add({ id: fits, labels: [fits, long], modelNumber: long });
    builder.add({ id: long });
    const { entries } = builder.build().searchable;
    assert.deepEqual(
      entries.map(({ id, name, labels, model }) => [id, name, labels, model]),
      [[fits, fits, [fits], `${fits}…`]],
    );
    assert.equal(builder.leftOut, 2);
  });

  it('is in order of names, knows devices by MAC address, and the gateways of each label', () => {
    const builder = new DeviceIndexBuilder();
    for (const [id, friendlyName, labels] of [
      ['1', 'b', ['x', 'y']],
      ['2', 'A', ['x', 'Big']],
      ['3', 'c', []],
      ['4', 'a', ['x']],
      ['none', 'B', ['z', 'x']],
      ['6', 'Ab', ['constructor']],
    ] as [string, string, string[]][]) {
      builder.add({ id, friendlyName, labels, ...(id !== 'none' && { mac: `mac ${id}` }) });
    }
    const { searchable, byMac, macsByLabel } = builder.build();
    const { entries, texts } = searchable;
    assert.deepEqual(
      entries.map(({ name }) => name),
      ['A', 'a', 'Ab', 'b', 'B', 'c'],
    );
    assert.deepEqual(texts.slice(0, 2), ['a\nmac 2\n2\nx\nbig', 'a\nmac 4\n4\nx']);
    assert.deepEqual([...byMac.keys()].sort(), ['mac 1', 'mac 2', 'mac 3', 'mac 4', 'mac 6']);
    assert.equal(byMac.get('mac 4'), entries[1]);
    assert.deepEqual(Object.fromEntries([...macsByLabel].map(([label, macs]) => [label, [...macs].sort()])), {
      x: ['mac 1', 'mac 2', 'mac 4'],
      y: ['mac 1'],
      Big: ['mac 2'],
      z: [],
      constructor: ['mac 6'],
    });
  });

  it('forgets the labels and the address that a device had when it came first', () => {
    const builder = new DeviceIndexBuilder();
    builder.add({ id: '1', mac: 'first', labels: ['a', 'b'] });
    builder.add({ id: '2', mac: 'other', labels: ['b'] });
    builder.add({ id: '1', mac: 'second', labels: ['c'] });
    const { byMac, macsByLabel } = builder.build();
    assert.deepEqual([...byMac.keys()], ['second', 'other']);
    assert.deepEqual(
      [...macsByLabel].map(([label, macs]) => [label, ...macs]),
      [
        ['c', 'second'],
        ['b', 'other'],
      ],
    );
  });

  it('gives the gateways that carry one label, or any of several, and none of a label that nobody carries', () => {
    const builder = new DeviceIndexBuilder();
    for (const [mac = '', ...labels] of [
      ['one', 'a', 'b'],
      ['two', 'b'],
      ['three', 'c'],
      ['four'],
    ] as string[][]) {
      builder.add({ id: mac, mac, labels });
    }
    const index = builder.build();
    const macs = (...labels: string[]) => [...macsWithLabels(index, labels)].sort();
    assert.deepEqual(macs('b'), ['one', 'two']);
    assert.deepEqual(macs('b', 'c', 'none'), ['one', 'three', 'two']);
    assert.deepEqual([macs('none'), macs('none', 'nobody'), macs()], [[], [], []]);
  });

  it('counts every text of an entry', () => {
    const entry = { id: '1', mac: '22', name: '333', labels: ['4444', '55555'], model: '666666' };
    assert.equal(textLength({ ...entry, connected: true }), 21);
  });

  it('is cut when the rest of the list is not fetched', () => {
    const builder = new DeviceIndexBuilder();
    builder.add(deviceOf(1));
    assert.equal(builder.isCut, false);
    builder.cut();
    assert.deepEqual([builder.isCut, builder.count], [true, 1]);
  });

  it('tells devices without an id apart, and takes nothing to have its type', () => {
    const builder = new DeviceIndexBuilder();
    const odd = { id: {}, mac: 5, friendlyName: [], labels: { 0: 'a' }, connectivity: 'on', modelNumber: 7 };
    builder.add(odd as never);
    builder.add({ friendlyName: 'b', labels: [null, 'c'], connectivity: { connected: true } } as never);
    assert.deepEqual(builder.build().searchable.entries, [
      { id: '', mac: '5', name: '', labels: [], connected: false, model: '7' },
      { id: '', mac: '', name: 'b', labels: ['c'], connected: true, model: '' },
    ]);
  });

  it('is not cut when the last device takes the last place', () => {
    const builder = new DeviceIndexBuilder();
    for (let index = 0; index < 200_000; index++) {
      builder.add(deviceOf(index));
    }
    assert.equal(builder.isCut, false);
    builder.add(deviceOf(0));
    assert.equal(builder.isCut, true);
  });

  itAtScale('keeps 200 000 devices as they usually are, and none beyond', () => {
    const usual = (index: number) => ({
      id: `bmac-${index.toString(16).padStart(12, '0')}`,
      mac: index.toString(16).padStart(12, '0'),
      friendlyName: `Gateway ${index} in the third building`,
      modelNumber: '2011',
      labels: [`place-${index % 100}`, `building-${index % 7}`],
    });
    assert.equal(fill(usual), 200_000);
  });

  for (const [what, make, least, most] of [
    ['long names', (i: number) => deviceOf(i, { friendlyName: 'n'.repeat(2_000) }), 30_000, 35_000],
    [
      'labels of their own',
      (i: number) => deviceOf(i, { labels: Array.from({ length: 100 }, (_, at) => `${i} ${at}`) }),
      3_000,
      5_000,
    ],
    ['the same hundred thousand labels each', (i: number) => deviceOf(i, { labels: SAME_LABELS }), 20, 40],
  ] as const) {
    itAtScale(`is cut long before 200 000 devices with ${what}`, () => {
      const kept = fill(make);
      assert.ok(kept > least && kept < most, String(kept));
    });
  }

  itAtScale('takes no memory for what it cuts off of a name or a model', () => {
    const builder = new DeviceIndexBuilder();
    const before = usedMemory();
    for (let index = 0; index < 40; index++) {
      const text = JSON.parse(`"${`${index} `.padEnd(1_000_000, 'n')}"`) as string;
      builder.add(deviceOf(index, index % 2 ? { friendlyName: text } : { modelNumber: text }));
    }
    const used = usedMemory() - before;
    assert.ok(used < 10_000_000, String(used));
    const [first] = builder.build().entries();
    assert.equal(first?.model, `${'0 '.padEnd(2_000, 'n')}…`);
  });

  itAtScale('is cut within a device that has millions of labels', () => {
    const builder = new DeviceIndexBuilder();
    builder.add(deviceOf(1, { labels: Array.from({ length: 2_000_000 }, (_, index) => `${index}`) }));
    assert.equal(builder.isCut, true);
    const { searchable, macsByLabel } = builder.build();
    const { entries } = searchable;
    const kept = entries[0]?.labels.length ?? 0;
    assert.ok(kept > 400_000 && kept < 430_000, String(kept));
    assert.equal(macsByLabel.size, kept);
  });
});

const SAME_LABELS = Array.from({ length: 100_000 }, (_, index) => `label ${index}`);
