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
    'c3',
    'floor 10',
  ]) {
    it(`finds by "${found}" what has all of it`, () => assert.ok(findWords(found)(text)));
  }
  for (const missed of [
    'meeting 1.11',
    'c0:15 meeting',
    'meetingroom',
    'west',
    'eeting oom',
    'meeting c3',
    '10 1.10 d',
  ]) {
    it(`finds not by "${missed}"`, () => assert.ok(!findWords(missed)(text)));
  }

  it('finds also what is written like an address and is none', () => {
    assert.ok(findWords('c0: spare')('c0: spare'));
  });
});
