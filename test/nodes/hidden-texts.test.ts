// What variables hold is hidden in texts, also where they are many, long or cut.
import assert from 'node:assert/strict';
import { HiddenTexts } from '../../nodes/shared/runtime/hidden-texts.ts';

describe('contents that are hidden in texts', () => {
  const hidden = new HiddenTexts([
    ['secret', '<1>'],
    ['secret/value', '<2>'],
    ['SECRET', '<3>'],
    ['Straße', '<4>'],
    ['secretary', '<5>'],
    ['${', '<6>'],
  ]);

  for (const [title, text, shown] of [
    ['in the middle, at the beginning and at the end', 'secret a secret secret', '<1> a <1> <1>'],
    ['in large and small letters', 'a SeCrEt STRASSE straße STRAßE', 'a <1> STRASSE <4> <4>'],
    ['by the longest', 'secret/values secretary!', '<2>s <5>!'],
    ['but not inside of what was put in', '${secret', '<6><1>'],
    ['where it is cut', 'x secret/va', 'x <2>'],
    ['where it is cut with a sign for that', 'x secret/va…', 'x <2>'],
    ['where it is cut in large letters', 'x SECRETA', 'x <5>'],
    ['where a shorter one stands at the end', 'x secret', 'x <1>'],
    ['but not for two letters at the end', 'x se', 'x se'],
    ['behind a letter whose small form is longer', 'İsecret', 'İ<1>'],
    ['of a text without any', 'sekret', 'sekret'],
    ['of an empty text', '', ''],
  ] as const) {
    it(`are hidden ${title}`, () => {
      assert.equal(hidden.hide(text), shown);
    });
  }

  it('are known as a whole text by their mark', () => {
    assert.deepEqual([hidden.markOf('Secret'), hidden.markOf('secre')], ['<1>', undefined]);
  });

  it('leave texts as they are where there are none', () => {
    assert.equal(new HiddenTexts([['', 'x']]).hide('a…'), 'a…');
  });

  it('are found like a search for each of them finds them', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const word = (length: number) => Array.from({ length }, () => 'abB'.charAt(random(3))).join('');
    for (let round = 0; round < 500; round++) {
      const contents = Array.from({ length: random(6) }, () => word(1 + random(5)).toLowerCase());
      const text = word(random(12));
      const found = new HiddenTexts(contents.map((one) => [one, '#'])).hide(`${text}!`);
      const sorted = contents.toSorted((a, b) => b.length - a.length);
      const expected = sorted.length === 0 ? text : text.replace(new RegExp(sorted.join('|'), 'gi'), '#');
      assert.equal(found, `${expected}!`, `${text} without ${contents.join(', ')}`);
    }
  });

  it('may be very many that begin alike, in a text of nothing but their beginning', () => {
    const many = Array.from({ length: 20_000 }, (_, i): [string, string] => [`${'a'.repeat(50)}${i}`, '#']);
    assert.equal(new HiddenTexts(many).hide('a'.repeat(5_000)), `${'a'.repeat(4_950)}#`);
  });
});
