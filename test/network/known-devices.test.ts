// The devices that are known, in the order in which they were heard, and the bound of their values.
import assert from 'node:assert/strict';
import { newDevice } from '../../src/network/device-state.ts';
import { MIN_HEARINGS } from '../../src/network/interval.ts';
import { KnownDevices } from '../../src/network/known-devices.ts';
import { MAX_VALUES_PER_DEVICE } from '../../src/network/property-values.ts';
import { itAtScale } from '../at-scale.ts';

describe('known devices', () => {
  const deviceAt = (i: number) => newDevice((0xd00000000000 + i).toString(16), 0);
  let known: KnownDevices;

  beforeEach(() => {
    known = new KnownDevices(() => 0);
  });

  it('are listed by when they were heard, the last one first', () => {
    const [a, b, c] = [deviceAt(1), deviceAt(2), deviceAt(3)];
    for (const one of [a, b, c]) {
      assert.equal(known.add(one), undefined);
    }
    known.touch(a);
    assert.deepEqual([...known.newestFirst()], [a, c, b]);
    assert.equal(known.get(b.id), b);
    assert.equal(known.size, 3);
  });

  it('have so many values at most, of properties with names that a device can have', () => {
    const device = deviceAt(1);
    known.add(device);
    assert.equal(known.addValue(device, 'x'.repeat(201), 0), undefined);
    for (let i = 0; i < MAX_VALUES_PER_DEVICE; i++) {
      assert.equal(known.addValue(device, `p${i}`, 0)?.identifier, `p${i}`);
    }
    assert.equal(known.addValue(device, 'one-more', 0), undefined);
    assert.deepEqual([device.values.length, known.values], [MAX_VALUES_PER_DEVICE, MAX_VALUES_PER_DEVICE]);
    assert.equal(known.dropOldestValues(), false);
  });

  itAtScale('lose their values when there are too many: first those that were silent longest', () => {
    const devices = Array.from({ length: 1_003 }, (_, i) => deviceAt(i));
    const fill = (i: number) => {
      const device = devices[i]!;
      for (let n = 0; n < MAX_VALUES_PER_DEVICE; n++) {
        known.addValue(device, `p${n}`, 0);
      }
      return known.dropOldestValues();
    };
    known.add(devices[0]!);
    known.touch(devices[0]!);
    for (const device of devices.slice(1)) {
      known.add(device);
    }
    for (let i = 0; i < 1_000; i++) {
      assert.equal(fill(i), false);
    }
    const without = () =>
      devices.slice(0, 1_000).flatMap(({ values }, i) => (values.length === 0 ? [i] : []));
    assert.equal(fill(1_000), true);
    assert.deepEqual(without(), [0]);
    known.touch(devices[10]!);
    assert.equal(fill(1_001), true);
    assert.deepEqual(without(), [0, 1]);
    known.touch(devices[2]!);
    assert.equal(fill(1_002), true);
    assert.deepEqual(without(), [0, 1, 3], 'one that was heard since stays');
    known.touch(devices[0]!);
    assert.equal(fill(0), true);
    assert.deepEqual(without(), [1, 3, 4]);
    assert.equal(known.values, 200_000);
  });

  itAtScale('are pushed out with their values: those that pass by before one that is heard often', () => {
    const devices = Array.from({ length: 200_003 }, (_, i) => deviceAt(i));
    for (const device of devices.slice(0, 200_000)) {
      known.add(device);
      known.addValue(device, 'p', 0);
    }
    const [first, second, third, fourth, fifth] = devices;
    const addNext = (i: number) => {
      const pushedOut = known.add(devices[200_000 + i]!);
      known.addValue(devices[200_000 + i]!, 'p', 0);
      known.addValue(devices[200_000 + i]!, 'q', 0);
      return pushedOut;
    };
    second!.hearings = MIN_HEARINGS;
    assert.equal(addNext(0), first);
    assert.deepEqual([known.size, known.values], [200_000, 200_001]);
    assert.equal(known.dropOldestValues(), true);
    const counts = () => [second, third, fourth, fifth].map((one) => one!.values.length);
    assert.deepEqual(counts(), [0, 1, 1, 1]);
    assert.equal(addNext(1), third, 'the second is older, and heard often');
    assert.equal(known.values, 200_001);
    assert.equal(known.dropOldestValues(), true);
    assert.deepEqual(counts(), [0, 1, 0, 1]);
    assert.equal(addNext(2), fourth);
    // It had none any more.
    assert.equal(known.values, 200_002);
    known.dropOldestValues();
    assert.deepEqual(counts(), [0, 1, 0, 0]);
    assert.equal(known.values, 200_000);
  });
});
