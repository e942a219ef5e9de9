// The connection is there for as long as somebody needs it, and a little longer.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ConnectionUsers } from '../../src/mqtt/connection-users.ts';
import type { MqttState } from '../../src/mqtt/state.ts';
import { mockTime, restoreTime } from './scripted.ts';

const IDLE_MS = 1_000;
const KEPT_MS = 30_000;

describe('the users of a connection', () => {
  /** What the connection was told. */
  let told: string[];
  let state: MqttState;
  let isIdle: boolean;
  let hasKept: boolean;
  let isPaused: boolean;
  let isElsewhere: boolean;
  let users: ConnectionUsers;
  /** Ends the connection that is left. */
  let disconnected: () => void;

  beforeEach(() => {
    mockTime(1_000_000);
    told = [];
    state = { name: 'idle' };
    [isIdle, hasKept, isPaused, isElsewhere] = [true, false, false, false];
    users = new ConnectionUsers(
      {
        get state() {
          return state;
        },
        get hasKeptSubscriptions() {
          return hasKept;
        },
        open: () => void told.push('open'),
        disconnect(passing = []) {
          told.push(`leave ${passing}`);
          return new Promise((resolve) => {
            disconnected = resolve;
          });
        },
      },
      {
        get idle() {
          return isIdle;
        },
        filters: () => ['responses'],
      },
      () => isPaused,
      () => isElsewhere,
    );
  });
  afterEach(() => {
    users.close();
    restoreTime();
  });

  const tick = (ms: number) => mock.timers.tick(ms);
  const news = () => told.splice(0);
  const LEFT = ['leave responses'];

  it('open it, and it is left one second after the last, with what was subscribed for requests', () => {
    assert.equal(users.areThere, false);
    const leave = [users.attach(), users.attach()];
    assert.deepEqual([users.areThere, news()], [true, ['open', 'open']]);
    leave[0]?.();
    tick(10 * IDLE_MS);
    assert.deepEqual([users.areThere, news()], [true, []]);
    leave[1]?.();
    assert.equal(users.areThere, false);
    tick(IDLE_MS - 1);
    assert.deepEqual(news(), []);
    tick(1);
    assert.deepEqual(news(), LEFT);
    tick(10 * IDLE_MS);
    assert.deepEqual(news(), []);
  });

  it('leave once each, however often they say so', () => {
    const leave = users.attach();
    users.attach();
    leave();
    leave();
    assert.equal(users.areThere, true);
  });

  it('keep it when one comes back within the second', () => {
    users.attach()();
    tick(IDLE_MS - 1);
    users.attach();
    tick(10 * IDLE_MS);
    assert.deepEqual(news(), ['open', 'open']);
  });

  it('have a whole second from the last time that there may be none', () => {
    users.leaveWhenIdle();
    tick(IDLE_MS - 1);
    users.leaveWhenIdle();
    tick(IDLE_MS - 1);
    assert.deepEqual(news(), []);
    tick(1);
    assert.deepEqual(news(), LEFT);
  });

  it('are followed by requests, which end first', () => {
    isIdle = false;
    users.attach()();
    tick(10 * IDLE_MS);
    isIdle = true;
    assert.deepEqual(news(), ['open']);
    tick(IDLE_MS);
    assert.deepEqual(news(), LEFT);
  });

  it('may come back while flows are replaced', () => {
    isPaused = true;
    users.attach()();
    tick(10 * IDLE_MS);
    isPaused = false;
    assert.deepEqual(news(), ['open']);
    tick(IDLE_MS);
    assert.deepEqual(news(), LEFT);
  });

  for (const [title, come] of [
    ['users', () => users.attach()],
    [
      'requests',
      () => {
        isIdle = false;
      },
    ],
  ] as const) {
    it(`open it again when ${title} have come while it was left`, async () => {
      users.attach()();
      tick(IDLE_MS);
      come();
      news();
      disconnected();
      await turn();
      assert.deepEqual(news(), ['open']);
    });
  }

  it('do not open it again when nobody has come while it was left', async () => {
    users.attach()();
    tick(IDLE_MS);
    news();
    disconnected();
    await turn();
    assert.deepEqual(news(), []);
  });

  it('do nothing any more when it is closed', async () => {
    const leave = users.attach();
    users.attach()();
    leave();
    news();
    users.close();
    tick(10 * IDLE_MS);
    users.open();
    users.attach()();
    users.leaveWhenIdle();
    state = { name: 'connected', broker: 'mqtt://broker' };
    [hasKept, isElsewhere] = [true, true];
    assert.equal(users.yieldSession(), false);
    isElsewhere = false;
    users.unsubscribeKept();
    tick(10 * KEPT_MS);
    assert.deepEqual(news(), []);
  });

  describe('of a session that another client has as well', () => {
    beforeEach(() => {
      state = { name: 'waiting' } as MqttState;
      isElsewhere = true;
    });

    it('leave it to that one at once where there are none', () => {
      assert.equal(users.yieldSession(), true);
      assert.deepEqual(news(), LEFT);
    });

    for (const [title, change] of [
      ['it has users', () => users.attach()],
      [
        'requests are under way',
        () => {
          isIdle = false;
        },
      ],
      [
        'there is no connection',
        () => {
          state = { name: 'idle' };
        },
      ],
      [
        'no other one has it',
        () => {
          isElsewhere = false;
        },
      ],
    ] as const) {
      it(`keep it where ${title}`, () => {
        change();
        news();
        assert.equal(users.yieldSession(), false);
        assert.deepEqual(news(), []);
      });
    }
  });

  describe('of a session that a broker still collects for', () => {
    beforeEach(() => {
      hasKept = true;
    });

    it('are not needed: it is connected for half a minute to give back what is subscribed', () => {
      users.unsubscribeKept();
      assert.deepEqual(news(), ['open']);
      for (let ms = 0; ms < KEPT_MS; ms += IDLE_MS) {
        assert.deepEqual(news(), []);
        tick(IDLE_MS);
      }
      assert.deepEqual(news(), LEFT);
    });

    it('are not needed: it is left as soon as all is given back', () => {
      users.unsubscribeKept();
      tick(5 * IDLE_MS);
      hasKept = false;
      assert.deepEqual(news(), ['open']);
      tick(IDLE_MS);
      assert.deepEqual(news(), LEFT);
    });

    it('are not needed: it is left as soon as another client has the session', () => {
      users.unsubscribeKept();
      tick(5 * IDLE_MS);
      isElsewhere = true;
      news();
      tick(IDLE_MS);
      assert.deepEqual(news(), LEFT);
    });

    it('keep it no longer than without it when they leave', () => {
      users.attach()();
      tick(IDLE_MS);
      assert.deepEqual(news(), ['open', ...LEFT]);
    });

    for (const [title, change] of [
      ['it has users, who do so', () => users.attach()],
      [
        'nothing is subscribed',
        () => {
          hasKept = false;
        },
      ],
      [
        'another client has the session',
        () => {
          isElsewhere = true;
        },
      ],
    ] as const) {
      it(`have it left alone where ${title}`, () => {
        change();
        news();
        users.unsubscribeKept();
        tick(10 * KEPT_MS);
        assert.deepEqual(news(), []);
      });
    }
  });
});
