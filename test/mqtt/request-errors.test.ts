// What flows get when a request ends without a response that can be read: code, cause and text.
import assert from 'node:assert/strict';
import type { ServiceError } from '../../src/errors.ts';
import { reasonOfCode } from '../../src/mqtt/reasons.ts';
import {
  closed,
  notJson,
  queueFull,
  refusedRequest,
  refusedResponses,
  timedOut,
  tooLarge,
  unsent,
} from '../../src/mqtt/request-errors.ts';
import { MAX_PAYLOAD_BYTES } from '../../src/protocol/json.ts';
import type { BuiltRequest } from '../../src/protocol/operations/index.ts';
import { D, G } from './scripted.ts';

const KEY = '00112233445566778899aabbccddeeff';
const BROKER = 'mqtt://broker';
const FILTER = `mt/gateway/${G}/response/#`;

const request = (payload: Record<string, unknown> = {}, device = D): BuiltRequest => ({
  gateway: G,
  device,
  operation: 'write',
  identifier: '8800',
  suffix: 'write/8800',
  payload,
  priority: 2,
});

describe('a request without a response', () => {
  const asked = { gateway: G, device: D, operation: 'write', identifier: '8800', timeout: 30_000 };
  const ENDS: [error: ServiceError, code: string, cause: Record<string, unknown>, text: string][] = [
    [closed(), 'CLOSED', {}, 'the node was stopped or redeployed before a response came'],
    [queueFull(1_000), 'QUEUE_FULL', { limit: 1_000 }, 'more than 1000 requests are waiting'],
    [
      timedOut(request(), 30_000),
      'TIMEOUT',
      asked,
      `no response within 30 s (write), property 8800, gateway ${G}, device ${D}`,
    ],
    [
      timedOut(request({}, G), 1_500),
      'TIMEOUT',
      { ...asked, device: G, timeout: 1_500 },
      `no response within 1500 ms (write), property 8800, gateway ${G}`,
    ],
    [
      unsent(BROKER, 'unreachable', 30_000),
      'NOT_CONNECTED',
      { broker: BROKER },
      `the broker ${BROKER} could not be reached within 30 s`,
    ],
    [
      unsent(BROKER, 'notGranted', 30_000),
      'NOT_CONNECTED',
      { broker: BROKER },
      `the broker ${BROKER} has not confirmed the subscription to the answers within 30 s`,
    ],
    [
      unsent(BROKER, 'notAcknowledged', 30_000),
      'NOT_CONNECTED',
      { broker: BROKER },
      `the broker ${BROKER} has acknowledged none of the earlier requests within 30 s`,
    ],
    [
      refusedResponses(BROKER, FILTER, undefined),
      'NOT_CONNECTED',
      { broker: BROKER },
      `the broker ${BROKER} refused the subscription ${FILTER}`,
    ],
    [
      refusedResponses(BROKER, FILTER, reasonOfCode(151)),
      'NOT_CONNECTED',
      { broker: BROKER },
      `the broker ${BROKER} refused the subscription ${FILTER}: a quota of the broker is used up`,
    ],
    [
      refusedRequest(BROKER, 135),
      'NOT_CONNECTED',
      { broker: BROKER },
      `the broker ${BROKER} refused the request: not allowed for this user`,
    ],
  ];
  for (const [error, code, cause, text] of ENDS) {
    it(`ends with ${code}: ${text}`, () => {
      assert.deepEqual([error.code, error.cause, error.message], [code, cause, text]);
    });
  }

  it('has the addresses for those who know names', () => {
    const { gateway, device } = timedOut(request(), 1).text.values;
    assert.deepEqual([gateway, device], [G, D]);
  });
});

describe('a response that is no JSON', () => {
  const shown = (text: string, payload = {}) =>
    notJson(request(payload), Buffer.from(text)).cause.body as string;

  it('is shown with the place that it came from', () => {
    const error = notJson(request(), Buffer.from('<html>'));
    const text = `the response is not a JSON object, property 8800, gateway ${G}, device ${D}`;
    assert.deepEqual([error.code, error.cause, error.message], ['BAD_RESPONSE', { body: '<html>' }, text]);
  });

  it('is too large beyond a mebibyte', () => {
    const reasons = [0, 1].map(
      (more) => notJson(request(), Buffer.alloc(MAX_PAYLOAD_BYTES + more, 'x')).text.key,
    );
    assert.deepEqual(reasons, ['BAD_RESPONSE.notJson', 'BAD_RESPONSE.payloadTooLarge']);
  });

  it('is shown by its first 500 characters', () => {
    assert.equal(shown(`${'x'.repeat(499)}yz`), `${'x'.repeat(499)}y`);
  });

  it('is shown without the key of the request, though that reaches beyond what is shown', () => {
    assert.equal(shown(`key ${KEY}!`, { key: KEY }), 'key ***!');
    const begins = 490;
    assert.equal(shown('x'.repeat(begins) + KEY, { key: KEY }), `${'x'.repeat(begins)}***`);
  });
});

describe('a request that is larger than the broker takes', () => {
  const long = 'x'.repeat(100);
  for (const [payload, field, value] of [
    [{ value: long, ext: 'short' }, 'value', long],
    [{ ext: { nested: long }, value: 'short' }, 'ext', { nested: long }],
    [{ value: 1 }, 'identifier', '8800'],
    [{}, 'identifier', '8800'],
    [{ value: '8801' }, 'identifier', '8800'],
    [{ value: undefined }, 'identifier', '8800'],
    [{ priority: 4, extenderId: long }, 'extenderId', long],
    [{ priority: long }, 'priority', long],
    [{ accessType: long }, 'accessType', long],
    [{ publicKey: long, key: KEY }, 'publicKey', long],
    [{ key: KEY, value: 1 }, 'key', '***'],
    [{ time: long, value: 1 }, 'ackTemplate', long],
  ] as const) {
    it(`names the field that takes most of it, ${field} of ${Object.keys(payload)}`, () => {
      const error = tooLarge(request(payload), 2_000, 1_000);
      assert.deepEqual([error.code, error.cause], ['INVALID_INPUT', { field, value }]);
      const limits = { field, bytes: 2_000, limit: 1_000 };
      assert.deepEqual(error.text, { key: 'INVALID_INPUT.packetTooLarge', values: limits });
    });
  }
});
