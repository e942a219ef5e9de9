// For how long requests leave one by one, where it has to be known for which one a broker ends the connection.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { RequestTopic } from '../../src/mqtt/forbidden-requests.ts';
import { type PublishPlace, PublishWindow } from '../../src/mqtt/publish-window.ts';
import { RequestTrials } from '../../src/mqtt/request-trials.ts';

const BROKER = 'mqtt://a';
const MAX = 5;
const MINUTE = 60_000;
const realNow = performance.now;
const STEP_MS = 1_000;
const request = (gateway: string, id = '8800'): RequestTopic => ({
  ...{ gateway, device: 'd', operation: 'read' },
  suffix: `read/${id}`,
});
const FORBIDDEN = request('a');
const OTHER = request('b');

describe('requests while it is looked for what ends the connection', () => {
  let now: number;
  let window: PublishWindow<never>;
  let trials: RequestTrials;

  beforeEach(() => {
    now = 1_000_000;
    // A mock would remember each call.
    performance.now = () => now;
    // No jitter.
    mock.method(Math, 'random', () => 0);
    mock.timers.enable({ apis: ['setTimeout'] });
    window = new PublishWindow<never>(
      () => {},
      () => 0,
    );
    trials = new RequestTrials(window);
    trials.connected(BROKER, MAX);
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
    performance.now = realNow;
  });

  const pass = (milliseconds: number) => {
    now += milliseconds;
    // Timers that are set by others get their time from the end of a step.
    for (let left = milliseconds; left > 0; left -= STEP_MS) {
      mock.timers.tick(Math.min(STEP_MS, left));
    }
  };
  const lose = (...requests: RequestTopic[]) =>
    trials.lost(requests.map((one) => ({ request: one, sentAt: now, isLarge: false })));
  /** How many may be unacknowledged; those that leave for this are acknowledged at once. */
  const places = () => {
    const taken: PublishPlace[] = [];
    while (!window.isFull) {
      taken.push(window.take());
    }
    for (const place of taken) {
      place.acknowledged();
      place.ended();
    }
    return taken.length;
  };
  const forbid = () => {
    trials.sent(FORBIDDEN);
    lose(FORBIDDEN);
    trials.connected(BROKER, MAX);
    assert.deepEqual(lose(FORBIDDEN), { request: FORBIDDEN, isNew: true });
    trials.connected(BROKER, MAX);
  };

  it('leave one by one over the next connection, until those under way then were acknowledged', () => {
    assert.equal(places(), MAX);
    lose(FORBIDDEN, OTHER);
    trials.connected(BROKER, MAX);
    assert.equal(places(), 1);
    trials.acknowledged(OTHER);
    assert.equal(places(), 1);
    trials.acknowledged(FORBIDDEN);
    assert.equal(places(), MAX);
  });

  it('leave as many at a time as may while one comes again that is forbidden and does not leave', () => {
    lose(FORBIDDEN, request('a', '8900'));
    trials.connected(BROKER, MAX);
    assert.ok(lose(FORBIDDEN));
    // Others of its gateway are sent to see, so that the next one is not due.
    for (const id of ['1', '2']) {
      pass(MINUTE);
      trials.sent(request('a', id));
      lose(request('a', id));
    }
    trials.connected(BROKER, MAX);
    pass(MINUTE);
    assert.equal(places(), MAX);
    assert.ok(trials.waitOf(request('a', '8900')) > 0);
    trials.added(request('a', '8900'));
    assert.equal(places(), MAX);
  });

  it('leave so for a minute at most, and when one of those comes again', () => {
    lose(FORBIDDEN, OTHER);
    trials.connected(BROKER, MAX);
    pass(MINUTE - 1);
    assert.equal(places(), 1);
    pass(1);
    assert.equal(places(), MAX);
    trials.added(request('c'));
    assert.equal(places(), MAX);
    trials.added(OTHER);
    assert.equal(places(), 1);
    // A minute from the first on, whatever comes.
    pass(MINUTE / 2);
    trials.added(FORBIDDEN);
    pass(MINUTE / 2);
    assert.equal(places(), MAX);
  });

  it('leave so until all of those were acknowledged, also a day later', () => {
    lose(FORBIDDEN, OTHER);
    pass(MINUTE);
    now += 24 * 60 * MINUTE;
    trials.connected(BROKER, MAX);
    assert.equal(places(), MAX);
    trials.added(OTHER);
    trials.acknowledged(OTHER);
    assert.equal(places(), 1);
  });

  it('leave as ever once it is known', () => {
    forbid();
    assert.equal(places(), MAX);
  });

  /** When one is to be sent to see, and how often it was called. */
  const begin = () => {
    let calls = 0;
    trials.begin(() => {
      calls++;
      trials.sent(FORBIDDEN);
      window.take();
      trials.end();
    });
    return () => calls;
  };

  it('wait for the responses of those under way when one is to be sent to see, and then for it alone', () => {
    forbid();
    pass(MINUTE);
    const before = window.take();
    const calls = begin();
    before.acknowledged();
    trials.acknowledged(OTHER);
    assert.deepEqual([calls(), places()], [0, 0]);
    before.ended();
    assert.deepEqual([calls(), places()], [1, 0]);
    trials.acknowledged(FORBIDDEN);
    assert.equal(places(), MAX - 1);
  });

  it('are known to be such, and leave as ever where they are none', () => {
    assert.deepEqual([trials.isAny, trials.isTrial(FORBIDDEN)], [false, false]);
    trials.sent(OTHER);
    assert.equal(places(), MAX);
    forbid();
    assert.deepEqual([trials.isAny, trials.isTrial(FORBIDDEN)], [true, false]);
    pass(MINUTE);
    assert.deepEqual([trials.isTrial(FORBIDDEN), trials.isTrial(OTHER)], [true, false]);
  });

  it('are in doubt as long as the gateway answers others only', () => {
    lose(FORBIDDEN, OTHER);
    trials.connected(BROKER, MAX);
    trials.answered(FORBIDDEN);
    trials.answered(OTHER);
    assert.equal(places(), 1);
  });

  it('have a whole minute again over the next connection', () => {
    lose(FORBIDDEN, OTHER);
    trials.connected(BROKER, MAX);
    pass(MINUTE - 1);
    lose();
    trials.connected(BROKER, MAX);
    pass(MINUTE - 1);
    assert.equal(places(), 1);
    pass(1);
    assert.equal(places(), MAX);
  });

  it('wait for none where none is under way when one is to be sent to see', () => {
    forbid();
    pass(MINUTE);
    assert.equal(begin()(), 1);
    assert.equal(places(), 0);
  });

  it('wait for what has no response for five seconds, and so long for that one to be acknowledged', () => {
    forbid();
    pass(MINUTE);
    window.take();
    pass(1_000);
    const calls = begin();
    pass(4_999);
    assert.deepEqual([calls(), places()], [0, 0]);
    pass(1);
    assert.deepEqual([calls(), places()], [1, 0]);
    pass(4_999);
    assert.equal(places(), 0);
    pass(1);
    assert.equal(places(), MAX - 2);
  });

  it('leave as ever where that one has ended before it could leave', () => {
    forbid();
    pass(MINUTE);
    const before = window.take();
    trials.begin(() => trials.end());
    before.acknowledged();
    before.ended();
    assert.equal(places(), MAX);
  });

  it('are looked for on for their minute where one is to be sent to see meanwhile', () => {
    forbid();
    pass(MINUTE);
    window.take().acknowledged();
    const calls = begin();
    lose(OTHER, request('c'));
    trials.added(OTHER);
    pass(5_000);
    assert.equal(calls(), 1);
    pass(5_000);
    assert.equal(places(), 1);
    pass(MINUTE);
    assert.equal(places(), MAX - 1);
  });

  it('are not held up over the next connection by one that was to be sent to see', () => {
    forbid();
    pass(MINUTE);
    window.take();
    const calls = begin();
    lose();
    trials.connected(BROKER, MAX);
    assert.deepEqual([calls(), places()], [0, MAX]);
    begin();
    lose(FORBIDDEN);
    trials.connected(BROKER, MAX);
    assert.equal(places(), MAX);
  });

  it('take the limit of the next connection', () => {
    lose(FORBIDDEN);
    trials.connected(BROKER, 2);
    trials.acknowledged(FORBIDDEN);
    assert.equal(places(), 2);
  });

  it('are free again when a gateway answers one, as with QoS 0 nothing else shows that the broker has taken it', () => {
    forbid();
    trials.answered(OTHER);
    assert.ok(trials.waitOf(FORBIDDEN) > 0);
    trials.answered(FORBIDDEN);
    assert.equal(trials.waitOf(FORBIDDEN), 0);
  });

  it('wait for one that the broker never acknowledges for five seconds', () => {
    lose(FORBIDDEN);
    trials.connected(BROKER, MAX);
    pass(MINUTE);
    window.take();
    trials.added(FORBIDDEN);
    assert.equal(places(), 0);
    pass(4_999);
    assert.equal(places(), 0);
    pass(1);
    assert.equal(places(), 1);
    window.take();
    assert.equal(places(), 0);
    pass(5_000);
    assert.equal(places(), 1);
    pass(MINUTE);
    assert.equal(places(), MAX - 2);
  });

  it('wait for all that have left before to be acknowledged', () => {
    lose(FORBIDDEN);
    trials.connected(BROKER, MAX);
    pass(MINUTE);
    const free = [window.take(), window.take()];
    trials.added(FORBIDDEN);
    free[0]?.acknowledged();
    assert.equal(places(), 0);
    free[1]?.acknowledged();
    assert.equal(places(), 1);
  });

  it('are not those of another broker of the list', () => {
    forbid();
    assert.ok(trials.waitOf(FORBIDDEN) > 0);
    trials.connected('mqtt://b', MAX);
    assert.equal(trials.waitOf(FORBIDDEN), 0);
    trials.connected(BROKER, MAX);
    assert.ok(trials.waitOf(FORBIDDEN) > 0);
  });

  it('set no timer after the end', () => {
    lose(FORBIDDEN);
    trials.connected(BROKER, MAX);
    trials.close();
    pass(MINUTE);
    assert.equal(places(), 1, 'nothing was widened');
  });
});
