// What several words find, and a MAC in any spelling.
import assert from 'node:assert/strict';
import { findWords } from '../../src/protocol/search-words.ts';

describe('a search by words', () => {
  const text = 'meeting room 1.10\nc0141f68fc3d\nfloor 1';
  for (const found of [
    '',
    ' ',
    'meeting 1.10',
    ' 1.10  MEETING ',
    'room\tfloor',
    'oom 1.1',
    'c0:14:1F meeting',
    'c0141f68fc3d 1.10',
    'fc3d meeting',
    '68:FC meeting',
    'eting',
    'eeting oom',
    'c3',
    'floor 10',
  ]) {
    it(`finds by "${found}" what has all of it`, () => assert.ok(findWords(found)(text)));
  }
  for (const missed of ['meeting 1.11', 'c0:15 meeting', 'meetingroom', 'west', 'meeting c3', '10 1.10 d']) {
    it(`finds not by "${missed}"`, () => assert.ok(!findWords(missed)(text)));
  }

  it('finds words inside others in scripts without spaces, and short ones only where they begin one', () => {
    assert.ok(findWords('会議室 温度')('二階会議室温度センサー'));
    assert.ok(findWords('temp bü')('raumtemperatur büro'));
    assert.deepEqual(['gateway 8', 'gateway 28'].map(findWords('8 gateway')), [true, false]);
  });

  it('finds a short word behind a letter of a script without spaces', () => {
    const found = (name: string) => findWords('2 hall')(`hall ${name}`);
    assert.deepEqual(['部屋2', 'ふろ2', 'センサー2', 'ห้อง2', '𠮷2', '2'].map(found), Array(6).fill(true));
    assert.deepEqual(['raum2', 'зал2', 'é2', 'ế2', '방2', '12'].map(found), Array(6).fill(false));
  });

  it('looks for a short word at 50 places of a text at most', () => {
    const textOf = (places: number) => `${'xa'.repeat(places)} a b`;
    assert.deepEqual([findWords('b a')(textOf(49)), findWords('b a')(textOf(50))], [true, false]);
  });

  it('takes more than eight words, and of a long text its beginning, as they stand', () => {
    const many = 'a b c d e f g h i';
    assert.deepEqual([findWords(` ${many} `)(many), findWords(many)('i h g f e d c b a')], [true, false]);
    assert.ok(findWords('a  b c d e f g h')('h g f e d c b a'));
    assert.ok(findWords('b '.repeat(7_000))('b'));
    assert.ok(findWords('x'.repeat(300))('x'.repeat(200)));
  });

  it('finds also what is written like an address and is none', () => {
    assert.ok(findWords('c0: spare')('c0: spare'));
    assert.ok(!findWords('hall west')('undefined hall'));
  });
});
