// The connection of people who look, by itself, where it asks first whose session the broker gives it.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ALL, EVENTS, until, usePreview } from './one-preview.ts';
import { leaveSession, passRealTime, useScriptedBroker } from './scripted.ts';

describe('the connection of people who look, at the broker of flows that have a session,', () => {
  const bench = useScriptedBroker();
  const { preview, told, refusals, look, connects, isOpen, isLeft, pass, opensAfter } = usePreview(bench);

  /** The broker answers only what comes after. */
  const askUnanswered = async () => {
    bench.broker.options.withhold = ['connack'];
    look({ persistent: true });
    await until(() => bench.broker.withheld.length > 0);
    bench.broker.options.withhold = [];
  };

  it('asks first whose session it gets, where that of flows has one', async () => {
    look({ persistent: true });
    await isOpen();
    assert.deepEqual(told, ['asks', 'asked false']);
    assert.ok(connects() > 1);
    preview.apply([]);
    mock.timers.tick(20_000);
    await isLeft();
    assert.equal(bench.broker.sessions.size, 0);
  });

  it('is none where nobody looks any more when it is known whose session it would get', async () => {
    await askUnanswered();
    preview.apply([]);
    bench.broker.release();
    await until(() => told.length === 2);
    await isLeft();
    const before = connects();
    await passRealTime();
    assert.deepEqual([told, connects()], [['asks', 'asked false'], before]);
    preview.apply([ALL]);
    await isOpen();
  });

  it('asks once, whatever is looked at meanwhile, and again where flows are at another broker by then', async () => {
    await askUnanswered();
    preview.apply([ALL, EVENTS]);
    assert.deepEqual(told, ['asks']);
    preview.setBeside('mqtt://127.0.0.1:1');
    bench.broker.release();
    await until(() => told.length === 3);
    assert.deepEqual(told, ['asks', 'asked false', 'asks']);
    await isLeft();
    const before = connects();
    await passRealTime();
    assert.equal(connects(), before);
  });

  it('rests where that of flows ends while it asks whose session it gets', async () => {
    await askUnanswered();
    preview.setBeside(undefined);
    preview.setBeside(bench.broker.url);
    bench.broker.release();
    await until(() => told.length === 2);
    await isLeft();
    assert.equal(preview.isRefused(ALL), false);
    await opensAfter(10_000);
    await isOpen();
  });

  it('rests for an hour where that of flows ends twice while it asks whose session it gets', async () => {
    await askUnanswered();
    for (let loss = 0; loss < 2; loss++) {
      preview.setBeside(undefined);
      preview.setBeside(bench.broker.url);
    }
    bench.broker.release();
    await until(() => told.length === 2);
    await isLeft();
    assert.equal(preview.isRefused(ALL), true);
    await opensAfter(3_600_000);
    await isOpen();
  });

  it('rests once where that of flows ends and the question whose session it gets fails, too', async () => {
    await askUnanswered();
    preview.setBeside(undefined);
    preview.setBeside(bench.broker.url);
    bench.broker.drop();
    await until(() => told.length === 2);
    await isLeft();
    assert.equal(preview.isRefused(ALL), false);
    await opensAfter(10_000);
    await isOpen();
  });

  it('is told as refused where the broker gives it the session of flows', async () => {
    const clientId = await leaveSession(bench.broker, [EVENTS]);
    bench.broker.options.intercept = (packet) => {
      if (packet.cmd === 'connect') {
        packet.clientId = clientId;
      }
      return false;
    };
    look({ persistent: true });
    await until(() => told.length === 2);
    await passRealTime();
    assert.deepEqual([told, refusals], [['asks', 'asked true'], [true]]);
  });

  it('rests where the broker does not say whose session it gives', async () => {
    await askUnanswered();
    let seconds = 0;
    for (; told.length < 2; seconds++) {
      await pass(1_000);
    }
    assert.ok(seconds <= 15, `${seconds} s`);
    assert.deepEqual([told, preview.isGranted(ALL)], [['asks', 'asked false'], false]);
    assert.deepEqual([preview.isRefused(ALL), refusals.at(-1)], [false, false]);
    await isLeft();
    await opensAfter(10_000);
    await isOpen();
  });

  it('is not opened once it is closed, also not by what comes of the question before', async () => {
    await askUnanswered();
    await preview.close();
    const before = connects();
    preview.apply([EVENTS]);
    preview.setBeside(undefined);
    preview.setBeside(bench.broker.url);
    await pass(3_600_000);
    assert.deepEqual([connects(), told, preview.isGranted(ALL)], [before, ['asks', 'asked false'], false]);
  });

  it('is not opened where it is closed while it ends the session that the question has left', async () => {
    let closed: Promise<void> | undefined;
    bench.broker.options.intercept = (packet) => {
      if (packet.cmd === 'connect' && connects() === 2) {
        closed = preview.close();
      }
      return false;
    };
    look({ persistent: true });
    await until(() => closed !== undefined);
    await closed;
    await passRealTime();
    assert.deepEqual([connects(), told], [2, ['asks', 'asked false']]);
  });
});
