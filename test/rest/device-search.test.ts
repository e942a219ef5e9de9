// What a search in the list of devices finds, and how much of it is shown.
import assert from 'node:assert/strict';
import { type DeviceIndex, DeviceIndexBuilder } from '../../src/rest/device-index.ts';
import { findDevices, findLabels } from '../../src/rest/device-search.ts';
import type { Device } from '../../src/rest/types.ts';

function indexOf(devices: readonly Device[]): DeviceIndex {
  const builder = new DeviceIndexBuilder();
  for (const device of devices) {
    builder.add(device);
  }
  return builder.build();
}

describe('search in the list of devices', () => {
  const index = indexOf([
    { id: 'bmac-c0141f68fc3d', mac: 'c0141f68fc3d', friendlyName: 'North', labels: ['Floor 1', 'hall'] },
    { id: 'bmac-c0141f68fc3e', mac: 'c0141f68fc3e', friendlyName: 'East', labels: ['Floor 2'] },
    { id: 'GW-7', friendlyName: 'c0: spare' },
  ]);

  for (const [q, names] of [
    ['', ['c0: spare', 'East', 'North']],
    [' NORTH ', ['North']],
    ['gw-7', ['c0: spare']],
    ['floor', ['East', 'North']],
    ['hall', ['North']],
    ['c0:14:1F:68:fc:3d', ['North']],
    ['C0-14-1f-68', ['East', 'North']],
    ['c0: sp', ['c0: spare']],
    ['2 c0:14 east', ['East']],
    ['hall NORTH', ['North']],
    ['hall east', []],
    ['west', []],
  ] as const) {
    it(`finds ${names.join(', ') || 'nothing'} by "${q}"`, () => {
      assert.deepEqual(
        findDevices(index, q, 10).map(({ name }) => name),
        names,
      );
    });
  }

  it('looks for no address where none is given', () => {
    assert.deepEqual(findDevices(indexOf([{ id: 'undefined' }]), 'west', 10), []);
  });

  for (const [limit, count] of [
    [2, 2],
    [1.9, 1],
    [0, 0],
    [-1, 0],
    [Number.NaN, 0],
  ] as const) {
    it(`shows ${count} for a limit of ${limit}`, () => {
      assert.deepEqual(
        [findDevices(index, '', limit).length, findLabels(index, '', limit, all).length],
        [count, count],
      );
    });
  }

  it('shows 1 000 devices and labels at most', () => {
    const many = indexOf(
      Array.from({ length: 1_001 }, (_, at) => ({ id: `${at}`, labels: [`label ${at}`] })),
    );
    assert.deepEqual(
      [findDevices(many, '', 5_000).length, findLabels(many, '', 5_000, all).length],
      [1_000, 1_000],
    );
  });

  it('shows devices of 4 million characters at most', () => {
    // Each has 4 000: id and name, 1 999 characters both, and a label.
    const long = (at: number) => ({ id: `${at}`.padStart(1_999, '-'), labels: ['ab'] });
    assert.equal(
      findDevices(indexOf(Array.from({ length: 1_000 }, (_, at) => long(at))), '', 1_000).length,
      1_000,
    );
    const labels = ['abc', ...['a', 'b', 'c', 'd'].map((letter) => letter.repeat(2_000))];
    const longer = Array.from({ length: 500 }, (_, at) => ({ id: `${at}`.padStart(10), labels }));
    assert.equal(findDevices(indexOf(longer), '', 1_000).length, Math.floor(4_000_000 / 8_023));
  });

  const all = () => true;

  it('finds labels in any case, in their order, and those that are wanted', () => {
    assert.deepEqual(findLabels(index, ' FLOOR ', 10, all), ['Floor 1', 'Floor 2']);
    assert.deepEqual(findLabels(index, '', 2, all), ['Floor 1', 'Floor 2']);
    assert.deepEqual(findLabels(index, 'west', 10, all), []);
    assert.deepEqual(
      findLabels(index, '', 10, (macs) => macs.has('c0141f68fc3d')),
      ['Floor 1', 'hall'],
    );
  });
});
