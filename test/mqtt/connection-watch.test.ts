// Whoever waits for a connection learns once that it is there, or why there is none.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Phrase } from '../../src/errors.ts';
import { ConnectionWatch, isFailure } from '../../src/mqtt/connection-watch.ts';
import { type Reason, reasonOfLoss } from '../../src/mqtt/reasons.ts';
import type { MqttState } from '../../src/mqtt/state.ts';
import { mqttSettings } from '../session.ts';
import { mockTime, restoreTime } from './scripted.ts';

const broker = 'mqtt://broker:1883';
const NOT_THERE: Reason = { key: 'reason.nothingThere', values: {}, consequence: 'nextBroker' };
const NOT_ALLOWED: Reason = { key: 'reason.notAuthorized', values: {}, consequence: 'refused' };
const WAITING: MqttState = { name: 'waiting', broker, reason: NOT_THERE };
const REFUSED: MqttState = { name: 'refused', broker, reason: NOT_ALLOWED };
const LIMITED: MqttState = {
  name: 'limited',
  broker,
  reason: { key: 'reason.filterRefused', values: {} },
  refused: new Map(),
  isSettled: true,
};
const CONNECTED: MqttState = { name: 'connected', broker };
const OVERLOADED: MqttState = { name: 'overloaded', broker, lost: 1 };

describe('waiting for a connection', () => {
  let outcomes: (Phrase | Reason | undefined)[];
  let watch: ConnectionWatch;

  beforeEach(() => {
    mockTime(1_000_000);
    outcomes = [];
  });
  afterEach(() => {
    watch.close();
    restoreTime();
  });

  const start = (brokers = ['mqtt://broker:1883'], ms = 10_000) => {
    const settings = { ...mqttSettings(''), brokers };
    watch = new ConnectionWatch(settings, performance.now() + ms, (failure) => void outcomes.push(failure));
  };
  const tick = (ms: number) => mock.timers.tick(ms);
  const noAnswer = (address: string) =>
    reasonOfLoss(
      { error: { code: 'ETIMEDOUT' }, wasConnected: false },
      { broker: address, protocolVersion: 4 },
    );

  it('ends when it is there', () => {
    start();
    watch.look({ name: 'connecting', broker });
    assert.deepEqual(outcomes, []);
    watch.look(CONNECTED);
    tick(20_000);
    assert.deepEqual(outcomes, [undefined]);
  });

  it('ends when the time is over: the broker has not answered, which is told without secrets', () => {
    start(['mqtt://user:secret@broker:1883']);
    tick(9_999);
    assert.deepEqual(outcomes, []);
    tick(1);
    assert.deepEqual(outcomes, [noAnswer('mqtt://broker:1883')]);
    assert.equal(noAnswer('').key, 'reason.noAnswer');
    assert.equal(JSON.stringify(outcomes).includes('secret'), false);
  });

  it('ends at once where it is given up', () => {
    start();
    watch.giveUp();
    tick(20_000);
    assert.deepEqual(outcomes, [noAnswer('mqtt://broker:1883')]);
  });

  it('ends without an address as it does with one', () => {
    start([]);
    tick(10_000);
    assert.deepEqual(outcomes, [noAnswer('')]);
  });

  for (const state of [WAITING, REFUSED, LIMITED]) {
    it(`ends with the first failure (${state.name})`, () => {
      start();
      watch.look(state);
      tick(20_000);
      assert.deepEqual(outcomes, ['reason' in state && state.reason]);
    });
  }

  it('ends without a word when nobody waits any more', () => {
    start();
    watch.close();
    tick(20_000);
    assert.deepEqual(outcomes, []);
  });

  it('is over for a failure, and for nothing else', () => {
    const states: MqttState[] = [
      ...[WAITING, REFUSED, LIMITED, CONNECTED, OVERLOADED],
      ...[{ name: 'connecting', broker } as const, { name: 'idle' } as const, { name: 'closed' } as const],
    ];
    assert.deepEqual(
      states.filter(isFailure).map(({ name }) => name),
      ['waiting', 'refused', 'limited'],
    );
  });
});
