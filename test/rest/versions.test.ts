// Firmware versions as devices have them, against ranges as people write them.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import semver from 'semver';
import { rangeOf, semverOf } from '../../src/rest/versions.ts';

describe('firmware versions', () => {
  const IN_ORDER = [
    '0',
    '0.0.0.1',
    '0.0.1',
    '3-rc.1',
    '3',
    '3.0.0.1',
    '3.3',
    '3.3.0.0.9',
    '3.3.0.1-beta.2',
    '3.3.0.1-beta.10',
    '3.3.0.1-zeta',
    '3.3.0.1',
    '3.3.0.1.0.5',
    '3.3.0.1.5',
    '3.3.0.2',
    '3.3.0.10',
    '3.3.1-beta.1',
    '3.3.1',
    '3.3.9.99',
    '3.4.0-beta.1',
    '3.4.0-beta.2',
    '3.4.0',
    '3.4.0.1',
    '3.10',
    '4',
    '2020.12.8.1',
  ];
  it('are in order with one to six numbers, and with pre-releases', () => {
    for (const [at, version] of IN_ORDER.entries()) {
      for (const [other, greater] of IN_ORDER.entries()) {
        const [a, b] = [semverOf(version) as string, semverOf(greater) as string];
        assert.equal(semver.compare(a, b, true), Math.sign(at - other), `${version} ${greater}`);
      }
    }
  });

  const ROWS: [string, string[], string[]][] = [
    [
      '<3.4.0',
      [
        '3',
        '3.3',
        '3.3.0.1',
        '3.3.9.9.9',
        '3.4.0-beta.1',
        'v3.3',
        ' 3.3.1 ',
        '3.4.0beta1',
        '0',
        '3.3+build.7',
      ],
      ['3.4.0', '3.4', '4', '3.4.0.1', '3.4.0.0', '', 'banana', '3.', '.3', '3..1', '-1'],
    ],
    ['>=3.4.0', ['3.4', '4', '3.4.0.1', '3.5-rc.1'], ['3', '3.3.0.9', '3.4.0-beta.1']],
    ['3', ['3', '3.1', '3.3.0.1', '3.9.9'], ['4', '2.9.9.9', '4.0.0.1']],
    ['=3.3', ['3.3', '3.3.0.1'], ['3.4']],
    ['= 3.3.1 || >= 4 < 4.1', ['3.3.1', '4.0.7'], ['3.3', '4.1']],
    ['3.3.x', ['3.3', '3.3.0.1', '3.3.9.1'], ['3.4', '3.2.9.9', '3.4.0.1']],
    ['~3.3.0', ['3.3', '3.3.0.1'], ['3.4']],
    ['^3.3.0', ['3.3', '3.3.0.1', '3.9'], ['4', '4.0.0.1', '3.2.9.9']],
    ['<=3.3.0.1', ['3.3.0.1', '3.3.0.0', '3', '3.3.0.1-beta'], ['3.3.0.2', '3.3.1', '3.3.0.1.1']],
    ['>3.3.0.1 <3.4', ['3.3.0.1.1', '3.3.0.2', '3.3.1'], ['3.3.0.1', '3.3', '3.4']],
    ['>=v1.2.3.4-beta.2', ['1.2.3.4-beta.2', '1.2.3.4'], ['1.2.3.4-beta.1', '1.2.3.3']],
    ['1.2.3.4', ['1.2.3.4', '1.2.3.4.0'], ['1.2.3', '1.2.3.4.5']],
    ['1.0.0.1 - 1.0.0.3', ['1.0.0.1', '1.0.0.2', '1.0.0.3'], ['1', '1.0.0.4']],
    ['1.0.0  -  1.2', ['1', '1.2.9'], ['0.9', '1.3']],
    ['<1.0.0.2 || >2.0.0.1', ['1', '2.0.0.2'], ['1.0.0.2', '2.0.0.1']],
    ['>=1.0.0-a.1.2.3.4', ['1.0.0-a.1.2.3.4', '1.0.0-b'], ['1.0.0-a.1.2.3.3']],
    ['<3.4.0beta2', ['3.4.0beta1', '3.3'], ['3.4.0', '3.4.0beta2']],
    ['<10.20.30.40', ['10.20.30.39', '10.20.30'], ['10.20.30.40', '10.20.30.41']],
    ['*', ['3', '3.3.0.1', '0.0.0-a'], ['banana']],
  ];
  for (const [range, inside, outside] of ROWS) {
    it(`are compared with ${range}`, () => {
      const test = rangeOf(range);
      for (const version of inside) {
        assert.equal(test?.(version), true, version);
      }
      for (const version of outside) {
        assert.equal(test?.(version), false, version);
      }
    });
  }

  for (const [version, expected] of [
    ['3', '3.0.0'],
    ['v=03.4', '3.4.0'],
    ['3.4.0beta1', '3.4.0-beta1'],
    ['3.4-rc.1+build', '3.4.0-rc.1'],
    ['3.4.0-1', '3.4.0-1'],
    ['3.4.0.0', '3.4.0'],
    ['3.4.0.7', '3.4.1-0.9.1'],
    ['3.4.0.0.7-a', '3.4.1-0.2.9.0.a'],
    ['3.4_1', undefined],
    ['3.4 1', undefined],
    ['x3.4', undefined],
    ['3.4+a b', undefined],
    ['', undefined],
  ]) {
    it(`are three numbers to semver: ${version}`, () => assert.equal(semverOf(version as string), expected));
  }

  it('are no reason to fail when their numbers are too large to be compared', () => {
    assert.equal(rangeOf('>1')?.('99999999999999999999.1'), false);
    assert.equal(rangeOf('>1')?.(`1.${'9'.repeat(300)}.1.1`), false);
  });

  for (const text of [
    '>>1',
    '<=banana',
    'banana',
    '>1.2.3.4.banana',
    '>= 3.4.0, < 4',
    '>=3.4.0,<4',
    '>=3.4.0; <4',
    '3.4.1, 3.3.0',
    '>=3.4.0 garbage',
    '>=3.4.0 and <4',
    '>=3.4.0 <',
    '3.4.0.1 <',
    '<1 || >=3.4.0 banana',
    '1.0 - banana',
    'banana - 1.0',
    '1.0 - 2.0 - 3.0',
    '>1.0 - 2.0',
    '>=3.4.0-',
    '1.0 - 2.0.0-',
    '> v 3',
  ]) {
    it(`have no range ${text}`, () => assert.equal(rangeOf(text), undefined));
  }

  it('are refused and compared as semver does, in any range', () => {
    const versions = ['1', '1.2', '1.2.3', '1.x', '*', '3.4.0-beta.2', '3.4.0-rc-', 'v2.0.1', '3.4.0+b.1-'];
    const signs = ['', '', '<', '<=', '>', '>=', '~', '~>', '^', '> ', '>= ', '~ ', '^  '];
    const others = ['<', '-', ',', ';', 'and', '&&', 'banana', '1.2.3,', '3.4.0-', '1.2.3-.a', '|', ''];
    const piece = fc.oneof(
      {
        weight: 9,
        arbitrary: fc
          .tuple(fc.constantFrom(...signs), fc.constantFrom(...versions))
          .map((both) => both.join('')),
      },
      { weight: 1, arbitrary: fc.constantFrom(...others) },
    );
    const separator = fc.constantFrom(' ', ' ', '   ', ' || ', '||', ' - ');
    const range = fc
      .array(fc.tuple(piece, separator), { minLength: 1, maxLength: 5 })
      .map((pieces) => pieces.flat().slice(0, -1).join(''));
    const options = { includePrerelease: true };
    fc.assert(
      fc.property(range, (text) => {
        const test = rangeOf(text);
        assert.equal(test !== undefined, semver.validRange(text, options) !== null, text);
        for (const version of test
          ? ['0.0.0-a', '1.2.3', '1.3.0', '2.0.1', '3.4.0-beta.2', '3.4.0', '4.0.0']
          : []) {
          assert.equal(test?.(version), semver.satisfies(version, text, options), `${version} in ${text}`);
        }
      }),
      { numRuns: 2000, seed: 35 },
    );
  });
});
