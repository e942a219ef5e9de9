// The list of brokers: what is one address, what is several, and where that cannot be known.
import assert from 'node:assert/strict';
import { splitBrokers } from '../../src/protocol/broker-list.ts';

describe('a list of brokers', () => {
  for (const [text, expected] of [
    ['', []],
    [' , \n', []],
    ['host1,host2', ['mqtt://host1', 'mqtt://host2']],
    ['host1:1884\r\n wss://host2/mqtt ', ['mqtt://host1:1884', 'wss://host2/mqtt']],
    ['MQTTS://host1, ws://host2', ['MQTTS://host1', 'ws://host2']],
    ['mqtt://host1 mqtt://host2', ['mqtt://host1 mqtt://host2']],
    ['wss://host1/?a=1,wss://host2/?b=2', ['wss://host1/?a=1', 'wss://host2/?b=2']],
    ['host1,wss://host2/?a=1', ['mqtt://host1', 'wss://host2/?a=1']],
    ['wss://host1/?a=1\nhost2', ['wss://host1/?a=1', 'mqtt://host2']],
    ['wss://host1/?a=1,', ['wss://host1/?a=1']],
    ['wss://host1/?a=1,mqtt://host2,ws://host3', ['wss://host1/?a=1', 'mqtt://host2', 'ws://host3']],
    ['host/?next=ws://other', ['mqtt://host/?next=ws://other']],
  ] as const) {
    it(`is taken apart at commas and line ends: ${JSON.stringify(text)}`, () => {
      assert.deepEqual(splitBrokers(text), expected);
    });
  }

  for (const text of [
    'wss://host/mqtt?policy=abc,rest',
    'wss://host/mqtt?policy=abc,wss://host2,rest',
    'wss://host/mqtt?policy=abc, http://rest',
    'wss://host/mqtt?policy=abc,next=ws://rest',
    'wss://host/mqtt#abc,rest',
  ]) {
    it(`does not take the rest of a query for a broker: ${text}`, () => {
      assert.equal(splitBrokers(text), undefined);
    });
  }
});
