// What devices are called for people, by names that anybody may have typed at the service.
import assert from 'node:assert/strict';
import { DeviceIndexBuilder } from '../../src/rest/device-index.ts';
import { DeviceNames } from '../../src/rest/device-names.ts';
import type { Device } from '../../src/rest/types.ts';

const MAC = 'c0141f68fc3d';

function nameOf(fields: Partial<Device>): string | undefined {
  const builder = new DeviceIndexBuilder();
  builder.add({ id: `bmac-${MAC}`, mac: MAC, ...fields });
  return new DeviceNames().of(MAC, builder.build());
}

describe('the name of a device', () => {
  for (const [what, friendlyName, name] of [
    ['is what the service calls it', 'Berlin plant, floor 1', 'Berlin plant, floor 1'],
    ['is one line', ' a\r\nb\u0000\u2028c ', 'a b c'],
    ['is cut to 200 characters', 'n'.repeat(201), `${'n'.repeat(199)}…`],
    ['is not cut at 200 characters', 'n'.repeat(200), 'n'.repeat(200)],
    ['is not cut within a character', `${'n'.repeat(198)}😀😀`, `${'n'.repeat(198)}…`],
    ['is not its id', null, undefined],
    ['is not empty', ' \n', undefined],
  ] as const) {
    it(`${what}: ${JSON.stringify(friendlyName)?.slice(0, 30)}`, () => {
      assert.equal(nameOf({ friendlyName }), name);
    });
  }

  it('is that of its last rename, by any spelling of its id', () => {
    const names = new DeviceNames();
    for (const id of [`bmac-${MAC}`, 'C0:14:1F:68:FC:3D', 'c0-14-1f-68-fc-3d']) {
      names.rename(id, id, 0);
      assert.equal(names.of(MAC, undefined), id);
    }
    names.rename('another form', 'x', 0);
    assert.equal(names.of('another form', undefined), undefined);
  });

  it('is remembered for 1 000 renamed devices that no list has shown', () => {
    const macAt = (i: number) => (0xd00000000000 + i).toString(16);
    const names = new DeviceNames();
    for (let i = 0; i < 1_001; i++) {
      names.rename(macAt(i), `name ${i}`, i);
    }
    const named = (i: number) => names.of(macAt(i), undefined);
    assert.deepEqual([named(0), named(1), named(1_000)], [undefined, 'name 1', 'name 1000']);
    names.forgetBefore(1_000);
    assert.deepEqual([named(999), named(1_000)], [undefined, 'name 1000']);
  });

  it('is remembered the longer the later it was given, and that of a list shows again when it is not', () => {
    const macAt = (i: number) => (0xd00000000000 + i).toString(16);
    const builder = new DeviceIndexBuilder();
    builder.add({ id: `bmac-${macAt(1)}`, mac: macAt(1), friendlyName: 'of the list' });
    const list = builder.build();
    const names = new DeviceNames();
    for (const i of [0, 1, 0]) {
      names.rename(macAt(i), `name ${i}`, 1);
    }
    for (let i = 2; i < 1_000; i++) {
      names.rename(macAt(i), `name ${i}`, 1);
    }
    names.rename('no address', 'takes no place', 1);
    assert.equal(names.of(macAt(1), list), 'name 1');
    names.rename(macAt(1_000), 'name 1000', 1);
    assert.deepEqual([names.of(macAt(0), list), names.of(macAt(1), list)], ['name 0', 'of the list']);
    assert.equal(names.of(macAt(5_000), list), undefined);
  });

  it('is none when it was given as blanks', () => {
    const names = new DeviceNames();
    names.rename(MAC, ' \n', 0);
    assert.equal(names.of(MAC, undefined), undefined);
  });
});
