// The list of changes that change nothing: what it forgives, and when it is out of date.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { EQUIVALENTS } from './config.ts';
import { type Equivalent, type Mutant, percentOf, scoreOf } from './score.ts';

const FILE = 'src/some.ts';
const SOURCE = `function half(n: number) {
  if (n > 0) {
    return n / 2;
  }
}
`;
const at = (line: number, column: number) => ({ line, column });
const COMPARISON = { location: { start: at(2, 7), end: at(2, 12) }, mutatorName: 'EqualityOperator' };
const BLOCK = { location: { start: at(2, 14), end: at(4, 4) }, mutatorName: 'BlockStatement' };
const mutants: Mutant[] = [
  { ...COMPARISON, replacement: 'n >= 0', status: 'Survived' },
  { ...COMPARISON, replacement: 'n <= 0', status: 'Killed' },
  { ...BLOCK, replacement: '{}', status: 'NoCoverage' },
  { ...COMPARISON, replacement: 'true', status: 'Timeout' },
  { ...COMPARISON, replacement: 'false', status: 'RuntimeError' },
];
const row: Equivalent = {
  file: FILE,
  line: 'if (n > 0) {',
  code: 'n > 0',
  replacement: 'n >= 0',
  reason: 'half of 0 is 0',
};

describe('the score of the mutation tests', () => {
  it('counts what no test reaches as survived, and as killed what never ends or cannot be loaded', () => {
    const score = scoreOf(FILE, SOURCE, mutants, []);
    assert.equal(score.killed, 3);
    assert.deepEqual(
      score.survivors.map(({ code, replacement }) => [code, replacement]),
      [
        ['n > 0', 'n >= 0'],
        ['{ return n / 2; }', '{}'],
      ],
    );
    assert.equal(percentOf([score]), 60);
  });

  it('leaves out what the list says of this file, wherever the line stands', () => {
    const score = scoreOf(FILE, SOURCE, mutants, [row, { ...row, file: 'src/other.ts' }]);
    assert.deepEqual([score.listed, score.survivors.length, score.stale], [1, 1, []]);
  });

  it('tells of a row whose change is noticed by a test, or whose code is gone', () => {
    const rows = [
      { ...row, replacement: 'n <= 0' },
      { ...row, line: 'if (n > 0 && n < 9) {' },
    ];
    assert.deepEqual(scoreOf(FILE, SOURCE, mutants, rows).stale, rows);
    const slow = { ...row, replacement: 'true' };
    assert.deepEqual(scoreOf(FILE, SOURCE, mutants, [slow]).stale, []);
  });

  it('is not spoiled by a file without anything to change', () => {
    assert.equal(percentOf([scoreOf(FILE, '', [], [])]), 100);
  });
});

describe('the list of changes that change nothing', () => {
  const list = JSON.parse(readFileSync(EQUIVALENTS, 'utf8')) as Equivalent[];

  it('gives a reason for each, once', () => {
    assert.deepEqual(
      list.filter(({ reason }) => reason.trim().length < 10),
      [],
    );
    const keys = list.map(({ file, line, code, replacement }) => [file, line, code, replacement].join('\n'));
    assert.equal(new Set(keys).size, keys.length);
  });

  it('names code that stands in the sources', () => {
    const gone = list.filter(
      ({ file, line }) =>
        !readFileSync(file, 'utf8')
          .split('\n')
          .some((text) => text.trim() === line),
    );
    assert.deepEqual(gone, []);
  });
});
