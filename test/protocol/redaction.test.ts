// Addresses as people see them: without what could be a secret.
import assert from 'node:assert/strict';
import { hasLogin, showAddress } from '../../src/protocol/redaction.ts';

describe('an address that is shown', () => {
  const shown: [address: string, plain: string, marked?: string][] = [
    ['mqtt://host:1883/path', 'mqtt://host:1883/path'],
    ['mqtts://name:word@host', 'mqtts://host', 'mqtts://…@host'],
    ['  HTTPS://word@host/a', '  HTTPS://host/a', '  HTTPS://…@host/a'],
    ['a1+.-://word@host', 'a1+.-://host', 'a1+.-://…@host'],
    // A password may have the mark itself, and the slashes may have been forgotten.
    ['mqtt://name:w@rd@host', 'mqtt://host', 'mqtt://…@host'],
    ['mqtt:name:word@host', 'host', '…@host'],
    ['name:wo\nrd@host', 'host', '…@host'],
    ['mqtt://name:word://x@host', 'mqtt://host', 'mqtt://…@host'],
    ['wss://host/mqtt?token=abc', 'wss://host/mqtt'],
    ['wss://host/mqtt#abc', 'wss://host/mqtt'],
    ['wss://host?a\nb?c', 'wss://host'],
    ['x mqtt://word@host', 'host', '…@host'],
    ['', ''],
  ];
  for (const [address, plain, marked = plain] of shown) {
    it(`has neither login nor query: ${JSON.stringify(address)}`, () => {
      assert.equal(showAddress(address), plain);
      assert.equal(showAddress(address, '…@'), marked);
    });
  }

  it('has a login where the mark of one follows the scheme', () => {
    for (const address of ['mqtt://name@host', '//name@host', 'mqtt://@host']) {
      assert.equal(hasLogin(address), true, address);
    }
    for (const address of ['mqtt://host', 'name@host', 'a@b://host', '']) {
      assert.equal(hasLogin(address), false, address);
    }
  });
});
