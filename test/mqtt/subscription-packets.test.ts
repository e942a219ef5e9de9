// What a broker says to the packets that ask for topic filters, and what is told of it.
import assert from 'node:assert/strict';
import { SILENT } from '../../src/log.ts';
import { NoBrokerResponse } from '../../src/mqtt/broker-response.ts';
import { isRefusal, isSubackRefusal, type Outcome, type Qos } from '../../src/mqtt/suback.ts';
import { SubscriptionPackets, type SubscriptionTransport } from '../../src/mqtt/subscription-packets.ts';

describe('the packets that ask for topic filters', () => {
  /** What the broker was asked for. */
  let asked: unknown[];
  /** What was told, in its order. */
  let told: string[];
  let packets: SubscriptionPackets;

  beforeEach(() => {
    asked = [];
    told = [];
    packets = new SubscriptionPackets(
      { ...SILENT, warn: (text) => void told.push(text) },
      { unanswered: () => void told.push('unanswered'), lowerQos: (max) => void told.push(`at most ${max}`) },
    );
  });

  const news = () => told.splice(0);
  /** A broker that grants or refuses with these codes, or ends in this error. */
  const answering = (codes: number[] | Error): SubscriptionTransport => ({
    async subscribe(filters) {
      asked.push(filters);
      if (codes instanceof Error) {
        throw codes;
      }
      return codes.map((qos, i) => ({ topic: `${i}`, qos }));
    },
    async unsubscribe(filters) {
      asked.push(filters);
      if (codes instanceof Error) {
        throw codes;
      }
      return codes;
    },
  });
  const refusedBy = (codes: number[]) => Object.assign(new Error('refused'), { packet: { granted: codes } });
  const outcome = (code: number, qos: Qos = 2, filter = 'a'): Outcome => ({ filter, qos, code });

  it('have each filter with its QoS, and bring an outcome for each', async () => {
    const outcomes = await packets.subscribe(answering([1, 0x80]), [
      ['a', 1],
      ['b', 2],
    ]);
    assert.deepEqual(asked, [{ a: { qos: 1 }, b: { qos: 2 } }]);
    assert.deepEqual(outcomes, [outcome(1, 1), outcome(0x80, 2, 'b')]);
    assert.deepEqual(news(), []);
  });

  it('have no higher QoS than the broker takes, and what is wanted is kept', async () => {
    packets.prepare(1);
    const outcomes = await packets.subscribe(answering([1, 0]), [
      ['a', 2],
      ['b', 0],
    ]);
    assert.deepEqual(asked, [{ a: { qos: 1 }, b: { qos: 0 } }]);
    assert.deepEqual(outcomes, [outcome(1), outcome(0, 0, 'b')]);
  });

  it('grant none of those that a response says nothing of', async () => {
    const outcomes = await packets.subscribe(answering([1]), [
      ['a', 1],
      ['b', 1],
    ]);
    assert.deepEqual(outcomes, [outcome(1, 1), outcome(0x80, 1, 'b')]);
  });

  it('bring the codes of a response that refuses something', async () => {
    const outcomes = await packets.subscribe(answering(refusedBy([0x87, 1])), [
      ['a', 1],
      ['b', 1],
    ]);
    assert.deepEqual(outcomes, [outcome(0x87, 1), outcome(1, 1, 'b')]);
    assert.deepEqual(news(), []);
  });

  it('are refused altogether where the broker goes on without an answer, which is not its word on them', async () => {
    const outcomes = await packets.subscribe(answering(new NoBrokerResponse()), [
      ['a', 1],
      ['b', 1],
    ]);
    assert.deepEqual(
      outcomes.map(({ filter, code }) => [filter, isRefusal(code), isSubackRefusal(code)]),
      [
        ['a', true, false],
        ['b', true, false],
      ],
    );
    assert.deepEqual(news(), ['unanswered']);
  });

  it('end in what has ended the connection', async () => {
    const end = new Error('connection closed');
    await assert.rejects(packets.subscribe(answering(end), [['a', 1]]), end);
    await assert.rejects(packets.unsubscribe(answering(end), ['a']), end);
    assert.deepEqual(news(), []);
  });

  it('give filters back, also where the broker goes on without an answer', async () => {
    await packets.unsubscribe(answering([]), ['a', 'b']);
    assert.deepEqual([asked, news()], [[['a', 'b']], []]);
    await packets.unsubscribe(answering(new NoBrokerResponse()), ['a']);
    assert.deepEqual(news(), ['unanswered']);
  });

  it('tell what the broker says to each that is given back, where it says that of all', async () => {
    const codes = [0, 0x11, 0x87];
    for (const [answer, told] of [
      [codes, codes],
      [[0x11], []],
      [[], []],
      [new NoBrokerResponse(), []],
    ] as const) {
      assert.deepEqual(
        await packets.unsubscribe(answering(answer as number[] | Error), ['a', 'b', 'c']),
        told,
      );
    }
  });

  it('are told where they are refused, each time', () => {
    for (const _ of [1, 2]) {
      packets.tell([outcome(2), outcome(0x80, 2, 'b')]);
      assert.deepEqual(news(), ['the broker refused the subscription b (128)']);
    }
  });

  it('are told where the QoS is lower than wanted: once, and each time to who asks with it', () => {
    packets.tell([outcome(1)]);
    assert.deepEqual(news(), [
      'at most 1',
      'the broker grants QoS 1 where QoS 2 was asked for (a): it may lose reports',
    ]);
    packets.tell([outcome(1)]);
    assert.deepEqual(news(), ['at most 1']);
  });

  it('are told where the broker is known to take no higher QoS, and nobody learns it anew', () => {
    packets.prepare(1);
    packets.tell([outcome(1)]);
    assert.deepEqual(news(), [
      'the broker takes QoS 1 at most where QoS 2 is wanted (a): it may lose reports',
    ]);
  });

  it('are not told where all is granted as it was wanted', () => {
    packets.tell([outcome(2), outcome(1, 1), outcome(0, 0)]);
    assert.deepEqual(news(), []);
  });
});
