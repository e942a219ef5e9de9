// Texts of others: how long they may be, and on how many lines.
import assert from 'node:assert/strict';
import { cutText, hasControlCharacter, oneLine, ownText, withoutSlashes } from '../../src/protocol/text.ts';
import { usedMemory } from '../memory.ts';

describe('a text of others', () => {
  const lines: [text: string, line: string][] = [
    ['busy', 'busy'],
    [' a\r\nb\u0000\u007f\u0085c\u2028\u2029\n', 'a b c'],
    ['\u001fa\u009f', 'a'],
    ['ä \u00a0 b', 'ä \u00a0 b'],
    ['x'.repeat(200), 'x'.repeat(200)],
    ['x'.repeat(201), `${'x'.repeat(199)}…`],
    // No half of a character that takes two.
    [`${'x'.repeat(198)}😀😀`, `${'x'.repeat(198)}…`],
    [`${'x'.repeat(197)}😀😀`, `${'x'.repeat(197)}😀…`],
    [`😀${'x'.repeat(199)}`, `😀${'x'.repeat(197)}…`],
  ];
  for (const [text, line] of lines) {
    it(`is shown on one line that is not long: ${JSON.stringify(text).slice(0, 40)}`, () =>
      assert.equal(oneLine(text), line));
  }

  it('has a control character, or it has none', () => {
    for (const text of ['\0', 'a\u001f', '\u007fb', 'a\nb']) {
      assert.equal(hasControlCharacter(text), true, JSON.stringify(text));
    }
    for (const text of ['', ' ', 'a~b', '\u0080', 'ä']) {
      assert.equal(hasControlCharacter(text), false, JSON.stringify(text));
    }
  });

  it('loses the slashes at its end only', () => {
    for (const [text, expected] of [
      ['a//', 'a'],
      ['/a/b/', '/a/b'],
      ['a', 'a'],
      ['//', ''],
      ['', ''],
    ] as const) {
      assert.equal(withoutSlashes(text), expected);
    }
  });

  it('stays the same where it is copied, and is cut where it is longer than allowed', () => {
    for (const text of ['', 'short', 'a long text with ä and 😀']) {
      assert.equal(ownText(text), text);
      assert.equal(cutText(text, text.length), text);
    }
    assert.equal(cutText('abcdef', 5), 'abcd…');
    assert.equal(cutText('a long text that is cut here', 20), 'a long text that is…');
  });

  for (const [title, copy] of [
    ['part of it', ownText],
    ['beginning of it', (part: string) => cutText(part, 20)],
  ] as const) {
    it(`is not kept in memory by a ${title}`, () => {
      const before = usedMemory();
      const kept = Array.from({ length: 200 }, (_, i) => copy(`${i}${'x'.repeat(100_000)}`.slice(0, 13)));
      assert.ok(usedMemory() - before < 10_000_000);
      assert.equal(kept.length, 200);
    });
  }
});
