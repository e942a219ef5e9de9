// What a broker says to a SUBSCRIBE is told once for many filters, with the reason where it gives one.
import assert from 'node:assert/strict';
import { inEnglish } from '../../src/errors.ts';
import { SILENT } from '../../src/log.ts';
import { NoBrokerResponse } from '../../src/mqtt/broker-response.ts';
import {
  codesOf,
  codesOfUnsuback,
  isRefusal,
  isSubackRefusal,
  logBlocked,
  logRefusals,
  lowerQos,
  type Outcome,
  type Qos,
  reasonOf,
  shownMaxQos,
} from '../../src/mqtt/suback.ts';

const NO_RESPONSE = codesOf(new NoBrokerResponse(), 1)[0] as number;

const outcomesOf = (...codes: number[]): Outcome[] =>
  codes.map((code, i) => ({ filter: `filter/${i}`, qos: 1, code }));

/** What is logged as warnings. */
function warnings(tell: (log: typeof SILENT) => void): string[] {
  const texts: string[] = [];
  tell({ ...SILENT, warn: (text) => void texts.push(text) });
  return texts;
}

describe('what a broker says to a SUBSCRIBE', () => {
  it('is a code for each filter, and to an UNSUBSCRIBE where it has any', () => {
    assert.deepEqual(codesOfUnsuback({ cmd: 'unsuback', granted: [0, 0x11] }), [0, 0x11]);
    assert.deepEqual(codesOfUnsuback({ cmd: 'unsuback' }), []);
    assert.deepEqual(codesOfUnsuback(undefined), []);
  });

  for (const [title, code, refused, saidSo] of [
    ['is no refusal where it grants QoS 2', 2, false, false],
    ['is a refusal without a reason', 0x80, true, true],
    ['is a refusal with one', 0x97, true, true],
    ['counts as a refusal where it says nothing, and not as its own', NO_RESPONSE, true, false],
  ] as const) {
    it(title, () => {
      assert.deepEqual([isRefusal(code), isSubackRefusal(code)], [refused, saidSo]);
    });
  }

  it('has a reason in words', () => {
    const words = [
      reasonOf(NO_RESPONSE, 100),
      reasonOf(0x87, 100),
      reasonOf(0x80),
      reasonOf(0x80, 7),
      reasonOf(0x80, 100),
    ].map(inEnglish);
    assert.deepEqual(words, [
      'the broker does not answer the subscription',
      'not allowed for this user',
      'subscription refused',
      'subscription refused',
      "subscription refused beside 100 others: there is no right to it, or the broker allows no more (choose the broker's type in the service, or the number that it allows)",
    ]);
  });

  it('has a code for each filter: those of a refusal, or none for all', () => {
    const refusal = Object.assign(new Error('refused'), { packet: { granted: [1, 0x80] } });
    assert.deepEqual(codesOf(refusal, 2), [1, 0x80]);
    assert.deepEqual(codesOf(new NoBrokerResponse(), 2), [NO_RESPONSE, NO_RESPONSE]);
    for (const end of [new Error('connection closed'), Object.assign(new Error('x'), { packet: {} })]) {
      assert.throws(() => codesOf(end, 2), end);
    }
  });

  for (const [title, codes, text] of [
    ['nothing where all is granted', [0, 1], undefined],
    ['nothing where nothing was asked for', [], undefined],
    ['one refusal', [1, 0x80], 'the broker refused the subscription filter/1 (128)'],
    [
      'a refusal with its reason',
      [0x87],
      'the broker refused the subscription filter/0 (135): not allowed for this user',
    ],
    [
      'several refusals in one line',
      [0x87, 1, 0x80, 0x97],
      'the broker refused the subscription filter/0 (135) and 2 others: not allowed for this user',
    ],
    [
      'that it does not answer',
      [NO_RESPONSE, NO_RESPONSE],
      'the broker does not answer the subscription filter/0 and 1 others',
    ],
  ] as const) {
    it(`is logged: ${title}`, () => {
      const told = warnings((log) => logRefusals(log, outcomesOf(...codes)));
      assert.deepEqual(told, text === undefined ? [] : [text]);
    });
  }

  it('is not asked for where it would end the connection, which is logged in one line', () => {
    assert.deepEqual(
      [[], ['a/+'], ['a/+', 'b', 'c']].flatMap((filters) => warnings((log) => logBlocked(log, filters))),
      [
        'the broker ends the connection when it is asked for a/+',
        'the broker ends the connection when it is asked for a/+ and 2 others',
      ],
    );
  });

  for (const [title, rows, asked, max] of [
    ['1 where it grants QoS 1 for QoS 2', [[2, 1]], 2, 1],
    ['1 where it grants QoS 0 for QoS 2', [[2, 0]], 2, 1],
    [
      '1 where it grants less to one of several',
      [
        [2, 2],
        [2, 1],
      ],
      2,
      1,
    ],
    ['not known where it grants QoS 2', [[2, 2]], 2, undefined],
    ['not known where it refuses QoS 2', [[2, 0x80]], 2, undefined],
    ['not known where QoS 1 was wanted', [[1, 0]], 2, undefined],
    ['not known where no more than QoS 1 was asked for', [[2, 1]], 1, undefined],
  ] as [string, [Qos, number][], Qos, 1 | undefined][]) {
    it(`shows the highest QoS of the broker: ${title}`, () => {
      const outcomes = rows.map(([qos, code], i) => ({ filter: `filter/${i}`, qos, code }));
      assert.equal(shownMaxQos(outcomes, asked), max);
    });
  }

  for (const [title, rows, maxQos, text] of [
    [
      'nothing where each is granted as wanted',
      [
        [1, 1],
        [0, 0],
      ],
      2,
      undefined,
    ],
    ['nothing where it is refused', [[1, 0x80]], 2, undefined],
    [
      'that it grants less than was asked for',
      [
        [1, 1],
        [2, 0],
      ],
      2,
      'the broker grants QoS 0 where QoS 2 was asked for (filter/1): it may lose reports',
    ],
    [
      'that it grants even less than it takes',
      [[2, 0]],
      1,
      'the broker grants QoS 0 where QoS 1 was asked for (filter/0): it may lose reports',
    ],
    [
      'that it takes less than is wanted',
      [[2, 1]],
      1,
      'the broker takes QoS 1 at most where QoS 2 is wanted (filter/0): it may lose reports',
    ],
    [
      'that it grants less than is wanted and was asked for',
      [[1, 0]],
      1,
      'the broker grants QoS 0 where QoS 1 was asked for (filter/0): it may lose reports',
    ],
  ] as [string, [Qos, number][], Qos, string | undefined][]) {
    it(`tells of a lower QoS: ${title}`, () => {
      const outcomes = rows.map(([qos, code], i) => ({ filter: `filter/${i}`, qos, code }));
      assert.equal(lowerQos(outcomes, maxQos), text);
    });
  }
});
