// Leaving a broker: what goes out before, and how long it may take.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { endClient } from '../../src/mqtt/end-client.ts';
import { mockTime, restoreTime } from './scripted.ts';

describe('leaving a broker', () => {
  let told: string[];

  beforeEach(() => {
    mockTime(0);
    told = [];
  });
  afterEach(restoreTime);

  const client = ({ connected = true, writable = true } = {}) =>
    Object.assign(new EventEmitter(), {
      connected,
      stream: {
        writable,
        end: (data: Buffer) => void told.push(`last ${data.toString('hex')}`),
        destroy: () => void told.push('destroyed'),
      },
      unsubscribe(filters: string[], done: () => void) {
        told.push(`unsubscribe ${filters}`);
        done();
      },
      end: (force: boolean) => void told.push(`ended${force ? ' by force' : ''}`),
    });
  const GONE = ['ended by force', 'destroyed'];

  it('sends a DISCONNECT behind what is unsubscribed, and is over when the broker has closed', async () => {
    const leaving = client();
    const left = endClient(leaving, [['a', 'b'], ['c']]);
    assert.deepEqual(told, ['unsubscribe a,b', 'unsubscribe c', 'last e000']);
    leaving.emit('close');
    await left;
    assert.deepEqual(told.slice(3), GONE);
    assert.equal(leaving.listenerCount('close'), 0);
  });

  it('is over after 1.5 seconds when the broker does not close', async () => {
    let isOver = false;
    const left = endClient(client(), []).then(() => {
      isOver = true;
    });
    mock.timers.tick(1_499);
    await new Promise(setImmediate);
    assert.equal(isOver, false);
    mock.timers.tick(1);
    await left;
    assert.deepEqual(told, ['last e000', ...GONE]);
  });

  for (const [title, state] of [
    ['there is no connection', { connected: false }],
    ['nothing can be written any more', { writable: false }],
  ] as const) {
    it(`waits for nothing where ${title}`, async () => {
      await endClient(client(state), [['a']]);
      assert.deepEqual(told, GONE);
    });
  }
});
