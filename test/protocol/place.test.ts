// Gateways and devices by their names, in errors and in responses.
import assert from 'node:assert/strict';
import { invalidInput, ServiceError } from '../../src/errors.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { addNames, nameThePlace, placeValues, wordsFor } from '../../src/protocol/operations/place.ts';

const G = 'c0141f68fc3d';
const D = 'd0141f00a1b2';
const NAMES: Record<string, string> = { [G]: 'Hall', [D]: 'Door', c0141f68fc3e: '' };
const CATALOGUE = createCatalogue();
const nameOf = (mac: string) => NAMES[mac];

describe('a gateway or a device', () => {
  it('is called by its name with the address behind, else by its address', () => {
    assert.equal(wordsFor(G, nameOf), `Hall (${G})`);
    assert.equal(wordsFor('c0141f68fc3e', nameOf), 'c0141f68fc3e');
    assert.equal(wordsFor('c0141f68fc3f', nameOf), 'c0141f68fc3f');
  });

  const places: [place: { gateway: string; device: string }, before: string, after: string][] = [
    [{ gateway: G, device: D }, `gateway ${G}, device ${D}`, `gateway Hall (${G}), device Door (${D})`],
    [{ gateway: G, device: G }, `gateway ${G}`, `gateway Hall (${G})`],
  ];
  for (const [place, before, after] of places) {
    it(`is named in the text of an error afterwards: ${after}`, () => {
      const values = { ...placeValues(place), status: 7 };
      const error = new ServiceError('REQUEST_FAILED', 'statusOnly', { status: 7 }, values);
      assert.equal(error.message, `refused without a reason (status 7), ${before}`);
      nameThePlace(error, nameOf, CATALOGUE);
      assert.equal(error.message, `refused without a reason (status 7), ${after}`);
      assert.deepEqual(error.cause, { status: 7 });
      assert.deepEqual([error.text.values.gateway, error.text.values.device], [place.gateway, place.device]);
    });
  }

  const properties: [identifier: string, before: string, after: string][] = [
    ['8800', '8800', 'temperature (8800)'],
    ['9a01', '9a01', '9a01'],
    ['temperature', 'temperature', 'temperature'],
    ['room-number', 'room-number', 'room-number'],
    ['temprature', 'temprature', 'temprature (perhaps temperature is meant)'],
  ];
  for (const [identifier, before, after] of properties) {
    it(`is named behind the property that was asked for: ${after}`, () => {
      const error = new ServiceError(
        'REQUEST_FAILED',
        'status',
        {},
        {
          ...placeValues({ gateway: G, device: D, identifier }),
          message: 'no such identifier',
          status: 4,
        },
      );
      assert.equal(
        error.message,
        `no such identifier (status 4), property ${before}, gateway ${G}, device ${D}`,
      );
      for (const _twice of [1, 2]) {
        nameThePlace(error, nameOf, CATALOGUE);
        assert.equal(
          error.message,
          `no such identifier (status 4), property ${after}, gateway Hall (${G}), device Door (${D})`,
        );
      }
    });
  }

  it('is named in no other error', () => {
    for (const error of [invalidInput('value', 'x', 'notNumber'), new Error('lost')]) {
      const before = { ...error, message: error.message };
      nameThePlace(error, nameOf, CATALOGUE);
      assert.deepEqual({ ...error, message: error.message }, before);
    }
    nameThePlace(undefined, nameOf, CATALOGUE);
  });

  it('has its name in a response, where it has one', () => {
    const response = { status: 0 };
    assert.equal(addNames(response, { gateway: G, device: D }, nameOf), response);
    assert.deepEqual(response, { status: 0, deviceName: 'Door', gatewayName: 'Hall' });
    assert.deepEqual(addNames({}, { gateway: 'c0141f68fc3f', device: D }, nameOf), { deviceName: 'Door' });
    assert.deepEqual(addNames({}, { gateway: G, device: 'd0141f00a1b3' }, nameOf), { gatewayName: 'Hall' });
  });
});
