// Notices of changes to those who look: whom they reach, how often, and that all of it ends.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ChangeNotices } from '../../src/network/change-notices.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { readReportTopic } from '../../src/protocol/reports/index.ts';

const G = 'c0141f68fc3d';
const OTHER_G = 'c0141f68fc3e';
const D = 'd00000000001';
const OTHER_D = 'd00000000002';

describe('notices of changes', () => {
  let now: number;
  let network: NetworkState;
  let notices: ChangeNotices;
  let told: number[];
  let ended: string[];

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    now = 1_000;
    told = [];
    ended = [];
    network = new NetworkState({ now: () => now });
    notices = new ChangeNotices(network);
  });
  afterEach(() => {
    notices.close();
    mock.timers.reset();
  });

  const hear = (device = D, gateway = G) =>
    network.record(readReportTopic('t', gateway, device, 'heartbeat'), now);
  function pass(ms: number): void {
    for (let left = ms; left > 0; left -= 10) {
      now += 10;
      mock.timers.tick(10);
    }
  }
  function look(name = 'he'): string {
    const id = notices.begin(() => ended.push(name)) ?? '';
    notices.follow(id, () => told.push(now));
    return id;
  }

  it('come once after a question, when something that was shown is heard, and not again before the next question', () => {
    const id = look();
    assert.equal(notices.asked(id, { ids: [D] }), true);
    pass(5_000);
    assert.deepEqual(told, [], 'nothing has changed');
    hear();
    hear();
    pass(10);
    assert.equal(told.length, 1);
    hear();
    pass(5_000);
    assert.equal(told.length, 1);
    notices.asked(id, { ids: [D] });
    hear();
    pass(10);
    assert.equal(told.length, 2);
  });

  it('come four times a second at most, however much is heard and however often one asks', () => {
    const id = look();
    for (let ms = 0; ms < 5_000; ms += 10) {
      notices.asked(id, { ids: [G] });
      hear(ms % 20 === 0 ? D : OTHER_D);
      pass(10);
    }
    assert.ok(told.length >= 15 && told.length <= 21, `${told.length} in five seconds`);
    const gaps = told.slice(1).map((at, i) => at - told[i]!);
    assert.ok(
      gaps.every((gap) => gap >= 250),
      gaps.join(),
    );
  });

  it('of what is out of sight come every two seconds at most, unless everything counts as seen', () => {
    const id = look();
    notices.asked(id, { ids: [D] });
    hear(OTHER_D, OTHER_G);
    pass(10);
    assert.equal(told.length, 1, 'the first is told at once');
    notices.asked(id, { ids: [D] });
    hear(OTHER_D, OTHER_G);
    pass(1_500);
    assert.equal(told.length, 1);
    pass(600);
    assert.equal(told.length, 2);
    notices.asked(id, { ids: [], seesAll: true });
    hear(OTHER_D, OTHER_G);
    pass(300);
    assert.equal(told.length, 3);
  });

  it('of what is in sight do not wait for one of what is not', () => {
    const id = look();
    notices.asked(id, { ids: [D] });
    hear();
    pass(10);
    notices.asked(id, { ids: [D] });
    hear(OTHER_D, OTHER_G);
    pass(100);
    hear();
    pass(200);
    assert.equal(told.length, 2);
  });

  it('of what is in sight come in time, though one asks again or something out of sight is heard', () => {
    const id = look();
    notices.asked(id, { ids: [D] });
    hear();
    pass(10);
    const order = { madeAt: now - 10, until: now + 1_000 };
    notices.asked(id, { ids: [D] });
    hear();
    notices.asked(id, { ids: [D], order });
    hear(OTHER_D, OTHER_G);
    pass(260);
    assert.equal(told.length, 2);
  });

  it('come once more when the order of the list has room for what was heard since it was made', () => {
    const id = look();
    notices.asked(id, { ids: [], order: { madeAt: now - 100, until: now + 1_900 } });
    hear();
    pass(10);
    assert.equal(told.length, 1);
    notices.asked(id, { ids: [], order: { madeAt: now - 110, until: now + 1_890 } });
    pass(1_800);
    assert.equal(told.length, 1, 'the order is as it was');
    pass(200);
    assert.equal(told.length, 2);
    notices.asked(id, { ids: [D], order: { madeAt: now, until: now + 2_000 } });
    pass(5_000);
    assert.equal(told.length, 2, 'it is in the list');
  });

  it('come once more where the list was put in order before one looked', () => {
    const madeAt = now;
    pass(100);
    const id = look();
    notices.asked(id, { ids: [], order: { madeAt, until: madeAt + 2_000 } });
    pass(1_800);
    assert.equal(told.length, 0);
    pass(200);
    assert.equal(told.length, 1);
  });

  it('come after the order of the list, which has what was heard at its moment or not, but not too often', () => {
    const id = look();
    hear();
    const until = now + 1_000;
    notices.asked(id, { ids: [], order: { madeAt: now, until } });
    pass(1_010);
    assert.deepEqual(told, [until + 10]);
    notices.asked(id, { ids: [], order: { madeAt: until - 1_000, until } });
    pass(240);
    assert.equal(told.length, 1);
    pass(20);
    assert.equal(told.length, 2);
  });

  it('come of names and of the connection, too, as of what is in sight', () => {
    const id = look();
    notices.asked(id, { ids: [] });
    notices.changed();
    pass(10);
    assert.equal(told.length, 1);
    notices.asked(id, { ids: [] });
    notices.changed();
    pass(250);
    assert.equal(told.length, 2);
  });

  it('of names come once more where the list was put in order before they were known', () => {
    const id = look();
    pass(10);
    const order = { madeAt: now, until: now + 2_000 };
    notices.asked(id, { ids: [], order });
    pass(500);
    notices.changed();
    pass(10);
    assert.equal(told.length, 1);
    notices.asked(id, { ids: [], order });
    pass(2_500);
    assert.deepEqual(told.slice(1), [order.until + 10]);
    notices.asked(id, { ids: [], order: { madeAt: now, until: now + 2_000 } });
    pass(5_000);
    assert.equal(told.length, 2);
  });

  it('do not come before the first question', () => {
    const id = look();
    hear();
    notices.changed();
    pass(5_000);
    assert.equal(told.length, 0);
    notices.asked(id, { ids: [D] });
    hear();
    pass(10);
    assert.equal(told.length, 1);
  });

  it('reach only one who was begun, and of two only the first who comes with its secret', () => {
    const id = notices.begin(() => undefined) ?? '';
    assert.equal(notices.asked(id, { ids: [D] }), false, 'nobody can be told yet');
    assert.equal(
      notices.follow('guessed', () => undefined),
      false,
    );
    assert.equal(
      notices.follow(id, () => told.push(now)),
      true,
    );
    assert.equal(
      notices.follow(id, () => assert.fail('told another one')),
      false,
    );
    assert.ok(id.length > 20);
    notices.asked(id, { ids: [D] });
    hear();
    pass(10);
    assert.equal(told.length, 1);
  });

  it('end a minute after the last question, and after ten seconds where nobody came', () => {
    const id = look();
    notices.begin(() => ended.push('nobody'));
    pass(9_000);
    assert.deepEqual(ended, []);
    pass(1_000);
    assert.deepEqual(ended, ['nobody']);
    pass(40_000);
    notices.asked(id, { ids: [] });
    pass(59_000);
    assert.deepEqual(ended, ['nobody']);
    pass(1_000);
    assert.deepEqual(ended, ['nobody', 'he']);
    assert.equal(notices.size, 0);
    assert.equal(notices.asked(id, { ids: [] }), false);
  });

  it('end after a minute where one never asks, and there is nothing to end twice', () => {
    const id = look();
    pass(59_000);
    assert.deepEqual(ended, []);
    pass(1_000);
    assert.deepEqual(ended, ['he']);
    notices.end(id);
    notices.end('guessed');
    assert.deepEqual(ended, ['he']);
  });

  it('cost reports nothing where nobody can be told', () => {
    let listeners = 0;
    notices = new ChangeNotices({
      get now() {
        return now;
      },
      onHeard(listener) {
        listeners++;
        const end = network.onHeard(listener);
        return () => {
          listeners--;
          end();
        };
      },
    });
    const begin = () => notices.begin(() => undefined) as string;
    begin();
    notices.end(begin());
    assert.equal(listeners, 0);
    const id = look();
    const other = look();
    notices.asked(other, { ids: [D] });
    notices.end(id);
    assert.equal(listeners, 1);
    hear();
    pass(10);
    assert.equal(told.length, 1, 'the other one is told');
    notices.end(other);
    assert.deepEqual([listeners, notices.size], [0, 1]);
    notices.close();
    assert.equal(notices.size, 0);
  });

  it('go to a hundred at most, and those who end make room', () => {
    const ids = Array.from({ length: 100 }, () => look());
    assert.equal(
      notices.begin(() => undefined),
      undefined,
    );
    notices.end(ids[0]!);
    assert.ok(look());
    assert.equal(notices.size, 100);
  });

  it('remember no more of what was shown than fits on a screen', () => {
    const id = look();
    const shown = Array.from({ length: 6_000 }, (_, i) => `${i}`);
    notices.asked(id, { ids: shown });
    hear();
    pass(10);
    notices.asked(id, { ids: shown });
    hear();
    pass(300);
    assert.equal(told.length, 2, 'anything counts as seen');
    notices.asked(id, { ids: shown.slice(0, 5_000) });
    hear();
    pass(300);
    assert.equal(told.length, 2, 'so many can be remembered');
  });

  it('are not sent any more after the end, and no report is listened to', () => {
    const id = look();
    const other = look('she');
    notices.asked(id, { ids: [D] });
    notices.asked(other, { ids: [D] });
    hear();
    notices.end(id);
    pass(10);
    assert.equal(told.length, 1, 'only to the other one');
    notices.asked(other, { ids: [D] });
    hear();
    notices.close();
    assert.equal(told.length, 2, 'she is told that it is over');
    pass(5_000);
    assert.equal(told.length, 2);
    assert.deepEqual(ended, ['he', 'she']);
  });
});
