// The state of the service: what the end of a call says of it, who is told, and what is taken back.
import assert from 'node:assert/strict';
import { type ErrorCode, ServiceError } from '../../src/errors.ts';
import { ClientState } from '../../src/rest/client-state.ts';
import type { RestState } from '../../src/rest/types.ts';

const errorOf = (code: ErrorCode, cause: Record<string, unknown> = {}) => new ServiceError(code, 'x', cause);

const IDLE: RestState = { name: 'idle' };
const CONNECTED: RestState = { name: 'connected' };

describe('state of the service', () => {
  let state: ClientState;
  let told: RestState[];
  let stop: () => void;

  beforeEach(() => {
    state = new ClientState(IDLE);
    told = [];
    stop = state.onChange((now) => told.push(now));
  });

  for (const [title, error, expected] of [
    [
      'a login that was refused',
      errorOf('LOGIN_FAILED', { statusCode: 401 }),
      { name: 'refused', reason: '401' },
    ],
    ['a network fault', errorOf('NETWORK', { code: 'EPIPE' }), { name: 'failing', reason: 'EPIPE' }],
    ['503', errorOf('HTTP_ERROR', { statusCode: 503 }), { name: 'failing', reason: '503' }],
    ['404, a response of a service in good order', errorOf('HTTP_ERROR', { statusCode: 404 }), CONNECTED],
    ['a response that cannot be read', errorOf('BAD_RESPONSE'), CONNECTED],
    ['a stop', errorOf('CLOSED'), IDLE],
    ['too many that wait', errorOf('QUEUE_FULL'), IDLE],
    ['a fault of this package', new TypeError('x'), IDLE],
    ['a fault of which nothing is known', undefined, IDLE],
  ] as const) {
    it(`is ${'reason' in expected ? `${expected.name} (${expected.reason})` : expected.name} after ${title}`, () => {
      state.failed(error);
      assert.deepEqual([state.current, told], [expected, expected === IDLE ? [] : [expected]]);
    });
  }

  it('is told when it or its reason changes, until the listener is stopped', () => {
    const failing = (reason: string): RestState => ({ name: 'failing', reason });
    const states = [
      failing('503'),
      failing('429'),
      CONNECTED,
      failing('429'),
      { name: 'refused', reason: '429' },
    ];
    for (const now of states as RestState[]) {
      state.set(now);
      state.set({ ...now });
    }
    assert.deepEqual(told, states);
    stop();
    state.set(CONNECTED);
    assert.deepEqual([state.current, told.length], [CONNECTED, states.length]);
  });

  it('is as before when calls have ended without an outcome while they connected or waited', () => {
    const [connecting, waiting]: RestState[] = [{ name: 'connecting' }, { name: 'waiting', reason: '503' }];
    for (const now of [connecting!, waiting!]) {
      state.set(now);
      state.settled();
      assert.deepEqual(told.splice(0), [now, IDLE]);
    }
    state.set(CONNECTED);
    state.settled();
    assert.deepEqual(told, [CONNECTED]);
  });

  it('is closed for good, whatever calls end with later', () => {
    state.set({ name: 'closed' });
    state.set(CONNECTED);
    state.failed(errorOf('NETWORK', { code: 'EPIPE' }));
    state.settled();
    assert.deepEqual([state.current, told], [{ name: 'closed' }, [{ name: 'closed' }]]);
  });
});
