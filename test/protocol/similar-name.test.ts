// Which property may be meant by a mistyped name.
import assert from 'node:assert/strict';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { hintFor } from '../../src/protocol/similar-name.ts';

const CATALOGUE = createCatalogue([
  { id: '9a01', name: 'co2', type: 'u16' },
  { id: '9a02', name: 'noise', type: 'u8' },
  { id: '9a03', name: 'x', type: 'u8' },
  { id: '9a04', name: 'radon1', type: 'u8' },
]);

function meant(typed: string, catalogue = CATALOGUE): string | undefined {
  const hint = hintFor(typed, catalogue);
  return hint === '' ? undefined : `${hint.values.name}`;
}

describe('a property name that is not in the catalogue', () => {
  const similar: [typed: string, name: string][] = [
    ['temprature', 'temperature'],
    ['temperatur', 'temperature'],
    ['tempperature', 'temperature'],
    ['tenperature', 'temperature'],
    ['tempertaure', 'temperature'],
    ['tempratur', 'temperature'],
    ['battery level', 'battery-level'],
    ['Battery_Level', 'battery-level'],
    ['batterylevel', 'battery-level'],
    ['alarm-3', 'alarm'],
    ['co', 'co2'],
    ['co3', 'co2'],
    ['cco2', 'co2'],
    ['C.O_2', 'co2'],
    ['nois', 'noise'],
    ['radom2', 'radon1'],
    ['y', 'x'],
  ];
  for (const [typed, name] of similar) {
    it(`means ${name} by ${typed}`, () => {
      assert.equal(meant(typed), name);
    });
  }

  const others = [
    'room-number',
    'oc2',
    'temprtre',
    'tmprtr',
    'cd',
    'nosy',
    '',
    '---',
    '9a77',
    'temperature',
    '9A01',
    '8800',
  ];
  for (const typed of others) {
    it(`means nothing else by ${JSON.stringify(typed)}`, () => {
      assert.equal(meant(typed), undefined);
    });
  }

  it('means the nearest of several', () => {
    assert.equal(meant('alarn-2'), 'alarm-2');
    assert.equal(meant('pressure-hysteresi'), 'pressure-hysteresis');
  });

  it('is not looked for in what is too long, or in more than the first 250 rows', () => {
    const name = 'a'.repeat(40);
    const long = createCatalogue([{ id: '9a01', name: `${name}b`, type: 'u8' }]);
    assert.equal(meant(name, long), `${name}b`);
    assert.equal(meant(`${name}c`, long), undefined);
    const withRowsBefore = (count: number) =>
      createCatalogue([
        ...Array.from({ length: count }, (_, index) => ({
          id: `80${(0x80 + (index >> 7)).toString(16)}${(index & 0x7f).toString(16).padStart(2, '0')}`,
          name: `row-${index}`,
          type: 'u8',
        })),
        { id: '9a01', name: 'occupancy', type: 'u8' },
      ]);
    assert.equal(meant('ocupancy', withRowsBefore(10)), 'occupancy');
    assert.equal(meant('ocupancy', withRowsBefore(250)), undefined);
  });

  it('means no property without a name, and nothing where there is no catalogue', () => {
    assert.equal(meant('q', createCatalogue()), undefined);
    assert.equal(hintFor('temprature', undefined), '');
    assert.deepEqual(hintFor('temprature', CATALOGUE), { key: 'similar', values: { name: 'temperature' } });
  });
});
