// The header that carries the token: what can be one, and what HTTP needs for itself.
import assert from 'node:assert/strict';
import { findHeaderProblem } from '../../src/protocol/http-headers.ts';

describe('the header of the token', () => {
  for (const name of ['Authorization', 'X-Api-Key', 'x', "!#$%&'*+.^_`|~-09azAZ", 'x-host']) {
    it(`can be ${name}`, () => assert.equal(findHeaderProblem(name), undefined));
  }

  for (const name of ['', 'api key', ' x-key', 'x-key ', 'x-key\n', 'x:key', 'schlüssel', 'a"b', 'a\0']) {
    it(`cannot be ${JSON.stringify(name)}, which HTTP has no header of`, () =>
      assert.equal(findHeaderProblem(name), 'notHeader'));
  }

  for (const name of [
    ...['Accept', 'Connection', 'Content-Length', 'Content-Type', 'Expect', 'Host', 'Keep-Alive'],
    ...['Proxy-Connection', 'TE', 'Trailer', 'Transfer-Encoding', 'Upgrade', 'upgrade'],
  ]) {
    it(`cannot be ${name}, which HTTP or each call sets itself`, () =>
      assert.equal(findHeaderProblem(name), 'reservedHeader'));
  }
});
