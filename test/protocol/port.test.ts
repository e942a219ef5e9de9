// Whether the port of an address is what is wrong with it.
import assert from 'node:assert/strict';
import { hasBadPort } from '../../src/protocol/port.ts';

describe('an address', () => {
  for (const address of [
    ...[
      'mqtt://host:99999',
      'mqtt://host:x',
      ' wss://host:1883x/mqtt',
      'https://host:-1?a=1',
      'ws://host:1 2#a',
    ],
    ...['mqtt://host:0', 'ws://[::1]:0/mqtt', 'https://host:00?a=1', 'wss://me:x@host:0'],
    ...['MQTTS://host:70000', 'a1+.-://host:70000', 'http://[::1]:70000/', 'http://name:word@host:x/'],
  ]) {
    it(`is none for its port: ${address}`, () => assert.equal(hasBadPort(address), true));
  }

  for (const address of [
    ...[
      'mqtt://host:1883',
      'mqtt://host',
      'https://host/a:b',
      'mqtt://host:10',
      'ws://host/:0',
      'https://host?a:0',
    ],
    ...['host:x', 'mqtt://', 'http://a b:99999', 'http://[::1:x]/', '1a://host:70000', 'x mqtt://host:x'],
    ...['http://ho st/a:x', 'http://ho st?a:x', 'http://name:wo:rd@/'],
  ]) {
    it(`is one, or is none for another reason: ${address}`, () => assert.equal(hasBadPort(address), false));
  }
});
