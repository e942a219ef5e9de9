// Who gets a report, in which form, and that what one does with it is no other one's problem.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { SILENT } from '../../src/log.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { batteryOf } from '../../src/network/readings.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { MAX_PAYLOAD_BYTES } from '../../src/protocol/json.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';
import {
  type Receiver,
  Receivers,
  type ReportListener,
  takersOf,
  type Unread,
} from '../../src/reports/receivers.ts';

const G = 'c0141f68fc3d';
const D = 'd00000000001';
const BATTERY = '{"time":"t","seq":1,"value":"50"}';

describe('the receivers of a report', () => {
  const catalogue = createCatalogue();
  let network: NetworkState;
  let warnings: string[];
  let receivers: Receivers;
  const now = 1_000;

  beforeEach(() => {
    network = new NetworkState();
    warnings = [];
    const log = { ...SILENT, warn: (text: string) => void warnings.push(text) };
    receivers = new Receivers({ catalogue, network, log, now: () => now });
  });

  interface Taker extends Receiver {
    got: Report[];
    /** Topic, payload and time. */
    heard: string[];
    failed: { code: string; message: string; payload: unknown; received: Unread | undefined }[];
  }
  const taker = (
    { decode = true, ...more }: { decode?: boolean; readsOnly?: true; takesNone?: true } = {},
    then: (report: Report) => void = () => {},
  ): Taker => {
    const got: Report[] = [];
    const heard: string[] = [];
    const failed: Taker['failed'] = [];
    const listener: ReportListener = {
      ...more,
      report(report, topic, payload, heardAt) {
        got.push(report);
        heard.push(`${topic} ${payload} ${heardAt}`);
        then(report);
      },
      error: ({ code, message }, { payload }, received) =>
        void failed.push({ code, message, payload, received }),
    };
    return { listener, decode, isPreview: false, got, heard, failed };
  };
  const at = (rest = 'property/8100') => readReportTopic('topic', G, D, rest);
  const call = (
    list: readonly Receiver[],
    payload: string | Buffer = BATTERY,
    { retained = false, isWanted = true } = {},
  ) => receivers.call(list, { at: at(), isWanted }, Buffer.from(payload as string), retained);

  it('are told of one that cannot be read, which is parsed once however many they are', () => {
    const deep = `${'{"a":'.repeat(501)}1${'}'.repeat(501)}`;
    for (const [payload, message] of [
      [deep, /deeper than 500 levels/],
      [deep.slice(0, -1), /JSON object/],
      ['[]', /JSON object/],
    ] as const) {
      const all = Array.from({ length: 5 }, () => taker());
      const parse = mock.method(JSON, 'parse');
      call(all, payload);
      const { length } = parse.mock.calls;
      parse.mock.restore();
      assert.equal(length, 1);
      for (const { failed, got } of all) {
        const [{ code, message: text, payload: body } = {}] = failed;
        assert.deepEqual([code, failed.length, got.length], ['BAD_REPORT', 1, 0]);
        assert.match(String(text), message);
        assert.deepEqual(body, payload === '[]' ? [] : payload);
      }
    }
  });

  it('each get it in their form, and one of their own', () => {
    const all = [taker(), taker({ decode: false }), taker(), taker({ decode: false })];
    const payload = '{"time":"t","seq":1,"value":"50","deep":[1]}';
    call(all, payload);
    const [first, raw, other, otherRaw] = all.map(({ got }) => got[0]);
    assert.deepEqual([first?.value, raw?.value, other?.value, otherRaw?.value], [80, '50', 80, '50']);
    (first as { deep: number[] } | undefined)?.deep.push(2);
    assert.deepEqual([raw?.deep, other?.deep, otherRaw?.deep], [[1], [1], [1]]);
    assert.deepEqual(
      all.map(({ got, heard }) => [got.length, heard]),
      all.map(() => [1, [`topic ${payload} undefined`]]),
    );
  });

  it('share it where they only read it, and the first that does not has the same', () => {
    const [one, other, owner, second] = [
      taker({ readsOnly: true }),
      taker({ readsOnly: true }),
      taker(),
      taker(),
    ];
    call([one, other, owner, second]);
    assert.equal(one.got[0], other.got[0]);
    assert.equal(one.got[0], owner.got[0]);
    assert.notEqual(owner.got[0], second.got[0]);
  });

  it('do not concern each other where one fails', () => {
    for (const others of [[], [taker()]]) {
      const failing = taker({}, () => {
        throw new Error('no more');
      });
      call([failing, ...others]);
      assert.deepEqual(
        others.map(({ got }) => got.length),
        others.map(() => 1),
      );
      assert.deepEqual(warnings.splice(0), ['a receiver of reports failed: Error: no more']);
    }
    const listener: ReportListener = {
      report() {},
      error() {
        throw new Error('not that');
      },
    };
    const last = taker();
    call([{ listener, decode: true, isPreview: false }, last], 'no JSON');
    assert.deepEqual([warnings, last.failed.length], [['a receiver of reports failed: Error: not that'], 1]);
  });

  for (const count of [1, 2]) {
    it(`are told of what cannot be read, as it was received: ${count}`, () => {
      const all = Array.from({ length: count }, () => taker());
      const large = Buffer.alloc(MAX_PAYLOAD_BYTES + 1, 'x');
      call(all, 'no JSON', { retained: true });
      call(all, '{"seq":"x"}');
      call(all, large);
      for (const { got, failed } of all) {
        assert.deepEqual(got, []);
        assert.deepEqual(
          failed.map(({ code, payload, received }) => [
            code,
            payload,
            `${received?.payload}`.length,
            received?.retained,
            received?.at.device,
          ]),
          [
            ['BAD_REPORT', 'no JSON', 7, true, D],
            ['BAD_REPORT', { seq: 'x' }, 11, false, D],
            ['BAD_REPORT', 'x'.repeat(1_000), large.length, false, D],
          ],
        );
      }
      assert.match(all[0]?.failed[2]?.message ?? '', /the message is larger than 1 MB/);
      assert.equal(network.device(D), undefined);
    });

    it(`have it recorded for the network, decoded where any of them decodes: ${count}`, () => {
      const all = [taker({ decode: false }), taker()].slice(2 - count);
      call(all, BATTERY, { retained: true });
      assert.equal(network.device(D), undefined);
      call(all, BATTERY, { isWanted: false });
      const device = network.device(D);
      assert.deepEqual([device?.reports, device?.isWanted], [1, false]);
      assert.equal(device && batteryOf(device, catalogue), 80);
      call(all);
      assert.equal(network.device(D)?.isWanted, true);
    });
  }

  it('have it recorded as it is where none of them decodes', () => {
    call([taker({ decode: false }), taker({ decode: false })]);
    assert.equal(network.device(D)?.reports, 1);
  });

  it('may be none', () => {
    call([]);
    assert.equal(network.device(D), undefined);
  });

  it('get what was received before with the time when it was heard, and it is not recorded once more', () => {
    const one = taker();
    receivers.replay(one, { at: at(), isWanted: true }, Buffer.from(BATTERY), true, 5);
    receivers.replay(one, { at: at(), isWanted: true }, Buffer.from(BATTERY), false, 6);
    assert.deepEqual(one.heard, [`topic ${BATTERY} 5`, `topic ${BATTERY} 6`]);
    assert.deepEqual(
      one.got.map(({ retained }) => retained),
      [true, undefined],
    );
    assert.equal(network.device(D), undefined);
  });

  it('that only read come first, and those that take none are left out where no report depends on them', () => {
    const [a, b] = [taker(), taker({ decode: false })];
    const reader = taker({ readsOnly: true });
    const [none, rawNone] = [taker({ takesNone: true }), taker({ takesNone: true, decode: false })];
    for (const [all, expected] of [
      [
        [a, b],
        [a, b],
      ],
      [
        [a, reader, b],
        [reader, a, b],
      ],
      [[none, a, rawNone], [a]],
      [
        [rawNone, b, none],
        [b, none],
      ],
      [[rawNone, b], [b]],
      [[none, none], [none]],
      [[rawNone, none], [none]],
      [[rawNone, rawNone], [rawNone]],
      [[], []],
    ]) {
      assert.deepEqual(takersOf(all as Receiver[]), expected);
    }
  });
});
