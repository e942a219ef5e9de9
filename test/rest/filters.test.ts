// Filters of the device list: what a device has to have, and what is no filter.
import assert from 'node:assert/strict';
import { createDeviceFilter } from '../../src/rest/filters.ts';
import type { Device } from '../../src/rest/types.ts';

describe('device filter', () => {
  const device: Device = {
    id: 'bmac-c0141f68fc3d',
    mac: 'c0141f68fc3d',
    friendlyName: 'Büro North',
    modelNumber: '2011',
    labels: ['floor-1', 'north, east'],
    connectivity: { connected: true },
    firmwareVersion: '3.4.0-beta.2',
  };
  const EMPTY = { id: 'x' } as Device;

  const ROWS: [Record<string, unknown>, boolean][] = [
    [{}, true],
    [{ labels: undefined, connected: undefined, model: undefined, firmware: undefined, search: '' }, true],
    [{ search: ' ' }, true],
    [{ labels: 'floor-1' }, true],
    [{ labels: 'north, east' }, true],
    [{ labels: ['floor-2', 'floor-1'] }, true],
    [{ labels: ['floor-2'] }, false],
    [{ connected: true }, true],
    [{ connected: 'False' }, false],
    [{ model: '2011' }, true],
    [{ model: 2011 }, true],
    [{ model: '201' }, false],
    [{ firmware: '3.4.0-beta.2' }, true],
    [{ firmware: '<3.4.0' }, true],
    [{ firmware: '>=3.4.0' }, false],
    [{ firmware: '3.x' }, true],
    [{ firmware: '>=3.0.0 <3.4.0 || 9' }, true],
    [{ firmware: 'banana' }, false],
    [{ search: 'büRO' }, true],
    [{ search: 'FC3D' }, true],
    [{ search: 'south' }, false],
    [{ search: 'C0:14:1F:68:FC:3D' }, true],
    [{ search: 'c0-14-1f-68-fc-3d' }, true],
    [{ search: 'C0:14:1F:68:FC:3E' }, false],
    [{ search: '14-' }, false],
    [{ search: '68:fc:3' }, false],
    [{ labels: 'floor-1', connected: false }, false],
  ];
  for (const [filter, expected] of ROWS) {
    it(`${expected ? 'lets a device through' : 'keeps a device back'} by ${JSON.stringify(filter)}`, () => {
      assert.equal(createDeviceFilter(filter)(device), expected);
    });
  }

  it('finds a name that looks like a MAC, and an id that writes it in another way', () => {
    const filter = createDeviceFilter({ search: 'C0:14:1F:68:FC:3D' });
    assert.equal(filter({ id: 'x', friendlyName: 'Hall c0:14:1f:68:fc:3d' } as Device), true);
    assert.equal(filter({ id: 'c0-14-1f-68-fc-3d', mac: 'c0141f68fc3d' } as Device), true);
    assert.equal(filter({ id: 'x', friendlyName: 'Hall c0141f68fc3d' } as Device), false);
  });

  it('keeps a device back whose model is no text', () => {
    const odd = { id: 'x', modelNumber: JSON.parse('{"toString":1,"valueOf":1}') } as Device;
    assert.equal(createDeviceFilter({ model: '2011' })(odd), false);
  });

  it('takes a device without any field for not connected and not matching', () => {
    assert.equal(createDeviceFilter({ connected: false })(EMPTY), true);
    for (const filter of [
      { labels: 'a' },
      { model: '1' },
      { firmware: '*' },
      { search: 'z' },
      { connected: true },
    ]) {
      assert.equal(createDeviceFilter(filter)(EMPTY), false, JSON.stringify(filter));
    }
  });

  const BAD: [string, unknown][] = [
    ['labels', 5],
    ['labels', ''],
    ['labels', null],
    ['labels', []],
    ['connected', ''],
    ['connected', null],
    ['model', ''],
    ['model', ' '],
    ['model', null],
    ['firmware', ''],
    ['firmware', ' '],
    ['firmware', null],
    ['search', null],
    ['labels', [1]],
    ['labels', ['a', 1]],
    ['labels', ['']],
    ['labels', {}],
    ['connected', 'yes'],
    ['connected', 1],
    ['connected', 'constructor'],
    ['connected', ['true']],
    ['model', {}],
    ['firmware', '>>1'],
    ['firmware', '<=banana'],
    ['firmware', '≥3.4'],
    ['firmware', '>= 3.4.0, < 4'],
    ['firmware', '3.4.1,3.3.0'],
    ['firmware', '>=3.4.0 <'],
    ['firmware', []],
    ['search', true],
    ['search', 'x'.repeat(501)],
  ];
  for (const [field, value] of BAD) {
    it(`refuses ${field} = ${JSON.stringify(value)?.slice(0, 30)}`, () => {
      assert.throws(() => createDeviceFilter({ [field]: value }), {
        code: 'INVALID_INPUT',
        cause: { field, value },
      });
    });
  }

  const LIMIT = 'x'.repeat(500);
  for (const [filter, device, expected] of [
    [{ connected: 'True ' }, { connectivity: { connected: true } }, true],
    [{ connected: false }, { connectivity: { connected: 'no' } }, true],
    [{ connected: true }, { connectivity: { connected: 'true' } }, false],
    [{ connected: true }, { connectivity: null }, false],
    [{ model: ' 2011 ' }, { modelNumber: 2011 }, true],
    [{ model: 'null' }, { modelNumber: null }, false],
    [{ model: 'undefined' }, {}, false],
    [{ labels: 'a' }, { labels: 'a' }, false],
    [{ labels: ['a', 'b'] }, { labels: [1, 'b'] }, true],
    [{ firmware: '3.4.0' }, { firmwareVersion: 3.4 }, false],
    [{ firmware: 'factory-build' }, { firmwareVersion: 'factory-build' }, true],
    [{ firmware: ' <4 ' }, { firmwareVersion: '3' }, true],
    [{ search: LIMIT }, { friendlyName: `a${LIMIT}` }, true],
    [{ search: ' ' }, { id: 5 }, true],
    [{ firmware: LIMIT }, { firmwareVersion: LIMIT }, true],
    [{ search: ' room ' }, { friendlyName: 'ROOM' }, true],
    [{ search: 5 }, { id: 'x5' }, true],
    [{ search: 'x' }, { id: 5, friendlyName: 'y' }, false],
    [{ search: 'é' }, { friendlyName: 'É' }, true],
  ] as [Record<string, unknown>, Record<string, unknown>, boolean][]) {
    const shown = `${JSON.stringify(filter).slice(0, 40)} of ${JSON.stringify(device).slice(0, 40)}`;
    it(`${expected ? 'is passed' : 'is not passed'}: ${shown}`, () => {
      assert.equal(createDeviceFilter(filter)(device as Device), expected);
    });
  }

  for (const signs of ['<', '>', '=', '^', '~', '|', '*', ',', ';', ' ']) {
    it(`takes ${JSON.stringify(signs)} in a firmware for a range with a mistake in it`, () => {
      assert.throws(() => createDeviceFilter({ firmware: `ba${signs}nana` }), {
        code: 'INVALID_INPUT',
        message: /firmware must be a version or a range/,
      });
    });
  }

  it('refuses numbers that are none, with the reason', () => {
    assert.throws(() => createDeviceFilter({ model: Number.NaN }), { message: /model must be text/ });
    assert.throws(() => createDeviceFilter({ labels: [''] }), {
      message: /labels must be a label or a list/,
    });
    assert.throws(() => createDeviceFilter({ model: ' ' }), { message: /model is missing/ });
    assert.throws(() => createDeviceFilter({ connected: 'ja' }), {
      message: /connected must be true or false/,
    });
  });

  it('gives each of more than a thousand versions its own response, again and again', () => {
    const filter = createDeviceFilter({ firmware: '<1.500.0' });
    for (let round = 0; round < 2; round++) {
      for (let minor = 0; minor < 1100; minor++) {
        assert.equal(filter({ id: 'x', firmwareVersion: `1.${minor}.0` }), minor < 500, `${minor}`);
      }
    }
  });

  it('takes a firmware version of many characters for none, and is quick about it', () => {
    const filter = createDeviceFilter({ firmware: '>=0' });
    assert.equal(filter({ id: 'x', firmwareVersion: `${'1.'.repeat(4_500_000)}1` }), false);
  });

  it('refuses a list that throws when it is looked at', () => {
    const labels = Object.assign(['a'], {
      [Symbol.iterator]() {
        throw new Error('not to be read');
      },
    });
    assert.throws(() => createDeviceFilter({ labels }), { message: /^labels must be a label or a list/ });
  });
});
