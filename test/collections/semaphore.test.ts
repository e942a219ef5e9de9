// How many calls are under way at a time, and who goes next.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { Semaphore } from '../../src/collections/semaphore.ts';

const NEVER = new AbortController().signal;

describe('places for calls', () => {
  it('gives out as many as there are, also after they were given back and taken again', () => {
    const semaphore = new Semaphore(2);
    for (let time = 0; time < 3; time++) {
      assert.deepEqual(
        [1, 2, 3].map(() => semaphore.tryAcquire()),
        [true, true, false],
      );
      semaphore.release();
      assert.deepEqual(
        [1, 2].map(() => semaphore.tryAcquire()),
        [true, false],
      );
      semaphore.release();
      semaphore.release();
    }
  });

  it('hands a place on to who waits, without freeing it for others', async () => {
    const semaphore = new Semaphore(1);
    semaphore.tryAcquire();
    const waiting = semaphore.wait(NEVER, false);
    semaphore.release();
    assert.equal(semaphore.tryAcquire(), false);
    await waiting;
    semaphore.release();
    assert.equal(semaphore.tryAcquire(), true);
  });

  it('leaves nothing behind at the signal of a call that has had its turn', async () => {
    const semaphore = new Semaphore(1);
    semaphore.tryAcquire();
    const { signal } = new AbortController();
    const waiting = semaphore.wait(signal, false);
    assert.equal(getEventListeners(signal, 'abort').length, 1);
    semaphore.release();
    await waiting;
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  it('listens once to a signal with which many wait, at several of them, and ends all with it', async () => {
    const [one, other] = [new Semaphore(0), new Semaphore(0)];
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = Array.from({ length: 20 }, (_, i) => (i % 2 ? one : other).wait(signal, false));
    assert.equal(getEventListeners(signal, 'abort').length, 1);
    one.release();
    await waiting[1];
    controller.abort();
    const ends = await Promise.allSettled(waiting);
    assert.deepEqual(
      ends.map(({ status }) => status),
      ends.map((_, i) => (i === 1 ? 'fulfilled' : 'rejected')),
    );
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    assert.deepEqual([one.tryAcquire(), other.tryAcquire()], [false, false]);
  });

  it('serves calls that had a place before ahead of new ones, each in the order in which they came', async () => {
    const semaphore = new Semaphore(1);
    semaphore.tryAcquire();
    const served: string[] = [];
    const calls = [
      ['new 1', false],
      ['again 1', true],
      ['new 2', false],
      ['again 2', true],
    ] as const;
    const all = calls.map(async ([name, isAgain]) => {
      await semaphore.wait(NEVER, isAgain);
      served.push(name);
      semaphore.release();
    });
    semaphore.release();
    await Promise.all(all);
    assert.deepEqual(served, ['again 1', 'again 2', 'new 1', 'new 2']);
    assert.equal(semaphore.tryAcquire(), true);
  });

  for (const isAgain of [false, true]) {
    it(`gives no place to a ${isAgain ? 'repeated' : 'new'} call that was stopped, before or while it waits`, async () => {
      const semaphore = new Semaphore(1);
      semaphore.tryAcquire();
      const stop = new AbortController();
      const stopped = semaphore.wait(stop.signal, isAgain);
      const next = semaphore.wait(NEVER, isAgain);
      stop.abort();
      await assert.rejects(stopped, { code: 'CLOSED', message: /stopped/ });
      await assert.rejects(semaphore.wait(stop.signal, isAgain), { code: 'CLOSED' });
      semaphore.release();
      await next;
      semaphore.release();
      assert.equal(semaphore.tryAcquire(), true);
    });
  }

  it('does work with a place at a time, and frees the place of work that failed', async () => {
    const semaphore = new Semaphore(1);
    let fail: (error: Error) => void = assert.fail;
    const first = new Promise<string>((_, reject) => {
      fail = reject;
    });
    const begun: string[] = [];
    const work = (name: string, result: Promise<string>) =>
      semaphore.run(NEVER, () => {
        begun.push(name);
        return result;
      });
    const works = [work('first', first), work('second', Promise.resolve('done'))];
    assert.deepEqual(begun, ['first']);
    fail(new Error('no'));
    await assert.rejects(works[0] as Promise<string>, /no/);
    assert.equal(await works[1], 'done');
    assert.deepEqual(begun, ['first', 'second']);
    assert.equal(semaphore.tryAcquire(), true);
  });

  it('begins new work after the calls that had a place before', async () => {
    const semaphore = new Semaphore(1);
    semaphore.tryAcquire();
    const begun: string[] = [];
    const work = semaphore.run(NEVER, async () => void begun.push('work'));
    const again = semaphore.wait(NEVER, true).then(() => {
      begun.push('again');
      semaphore.release();
    });
    semaphore.release();
    await Promise.all([work, again]);
    assert.deepEqual(begun, ['again', 'work']);
  });

  it('lets work that was stopped in the queue neither begin nor keep a place', async () => {
    const semaphore = new Semaphore(1);
    semaphore.tryAcquire();
    const stop = new AbortController();
    const stopped = semaphore.run(stop.signal, () => assert.fail('it began'));
    stop.abort();
    await assert.rejects(stopped, { code: 'CLOSED' });
    semaphore.release();
    assert.deepEqual([semaphore.tryAcquire(), semaphore.tryAcquire()], [true, false]);
  });
});
