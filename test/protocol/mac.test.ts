// MAC addresses in every spelling that users and the service have.
import assert from 'node:assert/strict';
import { deviceIdOfMac, isMac, macOfDeviceId, macPart, parseMac } from '../../src/protocol/mac.ts';

describe('a MAC address', () => {
  const spellings = [
    'c0141f68fc3d',
    'C0141F68FC3D',
    'c0:14:1f:68:fc:3d',
    'C0-14-1F-68-FC-3D',
    'bmac-c0141f68fc3d',
    'BMAC-C0141F68FC3D',
  ];
  for (const spelling of spellings) {
    it(`is read from ${spelling}`, () => assert.equal(parseMac(spelling), 'c0141f68fc3d'));
  }

  const others = [
    ...['', 'c0141f68fc3', 'c0141f68fc3d0', 'g0141f68fc3d', 'c0:14-1f:68:fc:3d', 'c014:1f68:fc3d'],
    ...['c0:14:1f:68:fc:3d:00', 'c0:14:1f:68:fc:3d0', '0c0:14:1f:68:fc:3d', 'c0:14:1f:68:fc'],
    ...['bmac-', 'bmac-c0:14:1f:68:fc:3d', ' c0141f68fc3d', 'c0141f68fc3d\n', '+', '#', 'c0141f68fc3d/x'],
    ...[null, undefined, 12, {}, ['c0141f68fc3d']],
  ];
  for (const other of others) {
    it(`is not read from ${JSON.stringify(other)}`, () => assert.equal(parseMac(other), undefined));
  }

  it('stands in topics as 12 lowercase hex digits only', () => {
    for (const text of ['c0141f68fc3d', '0123456789af']) {
      assert.equal(isMac(text), true, text);
    }
    for (const text of [
      'c0141f68fc3/',
      'c0141f68fc3:',
      'c0141f68fc3`',
      'c0141f68fc3d0',
      'C0141F68FC3D',
      'c0141f68fc3',
      'c0:14:1f:68:f',
      'c0141f68fc3g',
      '',
    ]) {
      assert.equal(isMac(text), false, text);
    }
  });

  it('joins a gateway to its REST device', () => {
    assert.equal(deviceIdOfMac('c0141f68fc3d'), 'bmac-c0141f68fc3d');
    assert.equal(macOfDeviceId('bmac-c0141f68fc3d'), 'c0141f68fc3d');
    assert.equal(macOfDeviceId('BMAC-C0141F68FC3D'), 'c0141f68fc3d');
    for (const id of [
      'imei-350000000000000',
      'xbmac-c0141f68fc3d',
      'bmac-c0141f68fc3d0',
      'bmac-c0141f68fc3',
    ]) {
      assert.equal(macOfDeviceId(id), undefined, id);
    }
  });

  it('is found by its beginning, however its bytes are separated', () => {
    for (const [text, part] of [
      ['c0:14:1f:68:fc:3d', 'c0141f68fc3d'],
      ['c0-14:1', 'c0141'],
      ['c0:', 'c0'],
    ] as const) {
      assert.equal(macPart(text), part);
    }
    for (const text of [
      'c0',
      'c0141f',
      'c:14',
      'c01:4',
      'c0:14f',
      'x c0:14',
      'c0:14 x',
      'g0:14',
      'c0:g',
      '',
    ]) {
      assert.equal(macPart(text), undefined, text);
    }
  });
});
