// The method of a free REST request, as a flow writes it.
import assert from 'node:assert/strict';
import { parseHttpMethod } from '../../src/protocol/http-methods.ts';

describe('the method of a request', () => {
  const spellings: [text: string, method: string][] = [
    ['GET', 'GET'],
    ['post', 'POST'],
    ['Put', 'PUT'],
    [' patch\n', 'PATCH'],
    ['DELETE', 'DELETE'],
  ];
  for (const [text, method] of spellings) {
    it(`is read from ${JSON.stringify(text)}`, () => assert.equal(parseHttpMethod(text), method));
  }

  for (const other of [
    '',
    'HEAD',
    'TRACE',
    'GETS',
    'GET /',
    undefined,
    null,
    1,
    ['GET'],
    { toString: () => 'GET' },
  ]) {
    it(`is not read from ${JSON.stringify(other)}`, () => assert.equal(parseHttpMethod(other), undefined));
  }
});
