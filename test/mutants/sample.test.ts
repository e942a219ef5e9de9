// The lines of a sample of changes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { chooseWindows } from './sample.ts';

const FILES = ['src/errors.ts', 'src/protocol/mac.ts'];
const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n').length;

describe('a sample of the mutation tests', () => {
  it('takes each line once, where it takes all', () => {
    const windows = chooseWindows(FILES, Number.POSITIVE_INFINITY);
    for (const file of FILES) {
      const lines = windows
        .filter((window) => window.file === file)
        .flatMap(({ from, until }) => Array.from({ length: until - from + 1 }, (_, i) => from + i))
        .sort((a, b) => a - b);
      assert.deepEqual(
        lines,
        Array.from({ length: linesOf(file) }, (_, i) => i + 1),
      );
    }
  });

  it('takes no lines twice, and about as many changes as are asked for', () => {
    const windows = chooseWindows(FILES, 12);
    assert.equal(windows.length, 2);
    assert.equal(new Set(windows.map(({ file, from }) => `${file}:${from}`)).size, 2);
  });
});
