// What the broker says to subscriptions: refused ones are tried again together, and lower grants are told.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { connectAsync } from 'mqtt';
import { type Logger, SILENT } from '../../src/log.ts';
import { NoBrokerResponse, withResponseTimeout } from '../../src/mqtt/broker-response.ts';
import { PingCounts } from '../../src/mqtt/ping-counts.ts';
import type { Reason } from '../../src/mqtt/reasons.ts';
import { Subscriptions } from '../../src/mqtt/subscriptions.ts';
import { Session } from '../../src/session.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';
import { G, G2, restoreTime, useScriptedBroker } from './scripted.ts';

function createLog(): Logger & { warnings: string[] } {
  const warnings: string[] = [];
  return { info() {}, trace() {}, warn: (text) => void warnings.push(text), warnings };
}

describe('the wanted topic filters', () => {
  const NONE = Number.POSITIVE_INFINITY;
  const QUOTA_EXCEEDED = 0x97;
  const NOT_AUTHORIZED = 0x87;
  const EIGHT = ['1', '2', '3', '4', '5', '6', '7', '8'];
  let now = 0;
  let sessions = 0;
  let session: string;
  /** What chance says. */
  let chance: number;
  /** Packets that the broker was sent. */
  let sent: string[];
  /** How the broker refuses. */
  let codes: Map<string, number>;
  /** Called with each packet before the broker answers it. */
  let answering: (packet: string) => unknown;
  let told: string[];
  let warnings: string[];
  let subscriptions: Subscriptions;

  beforeEach(() => {
    now = 0;
    session = `subscriptions ${sessions++}`;
    sent = [];
    codes = new Map();
    answering = () => undefined;
    told = [];
    warnings = [];
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(performance, 'now', () => now);
    chance = 0;
    mock.method(Math, 'random', () => chance);
    open();
  });

  afterEach(() => {
    subscriptions.offline();
    restoreTime();
  });

  const open = (persistent = false) => {
    subscriptions = new Subscriptions(
      persistent,
      { ...SILENT, warn: (text) => void warnings.push(text) },
      {
        refusing: (filter) => void told.push(`refusing ${filter}`),
        refused: () => void told.push('refused'),
        trying: (filter) => void told.push(`trying ${filter}`),
        refusals: (all, isSettled) =>
          void told.push(`refusals ${[...all.keys()]}${isSettled ? ', settled' : ''}`),
        mayGiveWay: (filter) => !filter.startsWith('response'),
        isCovering: (filter) => filter === 'wide',
        renewing: () => void told.push('renewing'),
        makingRoom: () => void told.push('making room'),
        synced: () => void told.push('synced'),
        quota: (max) => void told.push(`quota ${max}`),
        lowerQos: (max) => void told.push(`qos ${max}`),
      },
    );
    prepare();
  };
  const prepare = (maxCount?: number, portions = {}, name = session) =>
    subscriptions.prepare(name, { portions, maxQos: 2, maxCount });
  const transport = () => ({
    async subscribe(filters: Record<string, { qos: number }>) {
      const packet = `+${Object.keys(filters)}`;
      sent.push(packet);
      await answering(packet);
      const granted = Object.entries(filters).map(([topic, { qos }]) => ({
        topic,
        qos: codes.get(topic) ?? qos,
      }));
      if (granted.some(({ qos }) => qos >= 0x80)) {
        throw Object.assign(new Error('refused'), { packet: { granted: granted.map(({ qos }) => qos) } });
      }
      return granted;
    },
    async unsubscribe(filters: string[]) {
      const packet = `-${filters}`;
      sent.push(packet);
      await answering(packet);
      return filters.map((filter) => codes.get(`-${filter}`) ?? 0);
    },
  });
  const connect = async (isNew = true) => {
    subscriptions.online(transport(), isNew);
    await turn();
  };
  const want = async (add: string[], remove: string[] = [], qos: 0 | 1 | 2 = 1) => {
    subscriptions.change(add, qos, remove);
    await turn();
  };
  const refuse = (code: number, ...filters: string[]) => {
    for (const filter of filters) {
      codes.set(filter, code);
    }
  };
  const pass = async (milliseconds: number) => {
    now += milliseconds;
    mock.timers.tick(milliseconds);
    await turn();
  };
  const packets = () => sent.splice(0);
  const news = () => told.splice(0);
  /** The broker ends the connection while this is asked for. */
  const loseWith = async (isUnrelated?: boolean) => {
    let isSearch = false;
    answering = () => new Promise(() => {});
    await connect();
    isSearch = subscriptions.offline(isUnrelated);
    answering = () => undefined;
    return isSearch;
  };

  it('are asked for when there is a connection, and others given back', async () => {
    await want(['a', 'b']);
    assert.deepEqual([packets(), subscriptions.isPending('a'), subscriptions.inUse], [[], false, 0]);
    subscriptions.online(transport(), true);
    assert.deepEqual([subscriptions.isPending('a'), subscriptions.isActive('a')], [true, false]);
    await turn();
    assert.deepEqual([packets(), news()], [['+a,b'], ['synced']]);
    assert.deepEqual([subscriptions.isPending('a'), subscriptions.isActive('a')], [false, true]);
    assert.equal(subscriptions.inUse, 2);
    await want(['c'], ['a']);
    assert.deepEqual(packets(), ['+c', '-a']);
    assert.deepEqual([subscriptions.inUse, subscriptions.isActive('a')], [2, false]);
    await want(['c']);
    assert.deepEqual(packets(), []);
  });

  it('are asked for once more with another QoS, and do not count as granted until then', async () => {
    await connect();
    await want(['a', 'b']);
    news();
    subscriptions.change(['a', 'b'], 2);
    assert.deepEqual([subscriptions.isActive('a'), told], [false, ['renewing']]);
    await turn();
    assert.deepEqual(packets(), ['+a,b', '+a,b']);
    assert.equal(subscriptions.isActive('a'), true);
    news();
    await want(['c'], [], 2);
    assert.deepEqual(news(), ['synced']);
  });

  it('have another QoS where they are wanted with one', async () => {
    await connect();
    await want(['a', 'b']);
    await want(['c'], [], 2);
    packets();
    news();
    subscriptions.changeQos(['c', 'unwanted'], 2);
    await turn();
    assert.deepEqual([packets(), news()], [[], []]);
    subscriptions.changeQos(['a', 'c', 'unwanted'], 2);
    await turn();
    assert.deepEqual(packets(), ['+a']);
  });

  it('are refused or granted to who waits for it, unless nobody wants them any more', async () => {
    const settled: string[] = [];
    const wait = (filter: string) =>
      subscriptions.whenSettled(filter, (refused) => void settled.push(`${filter} ${refused}`));
    refuse(NOT_AUTHORIZED, 'b');
    subscriptions.change(['a', 'b', 'c'], 1);
    for (const filter of ['a', 'b', 'c']) {
      wait(filter);
    }
    subscriptions.change([], 1, ['c']);
    await connect();
    assert.deepEqual(settled.splice(0), ['b true', 'a false'].sort());
    wait('a');
    wait('b');
    assert.deepEqual(settled.splice(0), ['a false', 'b true']);
    await want(['c']);
    assert.deepEqual(settled, []);
  });

  it('are refused for a reason, which is not told where the broker says no more than that', async () => {
    refuse(NOT_AUTHORIZED, 'a');
    refuse(0x80, 'b');
    await connect();
    await want(['a', 'b', 'c']);
    assert.deepEqual(
      ['a', 'b', 'c'].map((filter) => subscriptions.isRefused(filter)),
      [true, true, false],
    );
    assert.equal(subscriptions.refusalOf('a')?.key, 'reason.notAuthorized');
    assert.deepEqual([subscriptions.refusalOf('b'), subscriptions.refusalOf('c')], [undefined, undefined]);
    const some = subscriptions.refusalsOf(['c', 'b', 'unknown']);
    assert.deepEqual(
      [...some].map(([filter, { key }]) => [filter, key]),
      [['b', 'reason.filterRefused']],
    );
    assert.deepEqual(news().slice(0, 3), ['synced', 'refusing a', 'refusing b']);
    assert.equal(warnings.length, 1);
  });

  it('that are refused are nobody’s trouble when nobody wants them', async () => {
    refuse(NOT_AUTHORIZED, 'a', 'b');
    await connect();
    await want(['a', 'b']);
    await want([], ['a']);
    assert.deepEqual([subscriptions.isRefused('a'), subscriptions.isRefused('b')], [false, true]);
    assert.equal(news().at(-2), 'refusals b, settled');
  });

  it('that are refused are asked for once more with the next change, after one is given back', async () => {
    refuse(NOT_AUTHORIZED, 'a', 'b');
    await connect();
    await want(['a', 'b', 'c', 'd', 'e']);
    packets();
    news();
    subscriptions.askAgain(['a']);
    assert.deepEqual([subscriptions.isRefused('a'), subscriptions.isRefused('b')], [false, true]);
    answering = () => told.push(`makes room: ${subscriptions.makesRoom}`);
    await want([], ['d', 'e']);
    assert.deepEqual(packets(), ['-d', '+a', '-e']);
    assert.deepEqual(news().slice(0, 3), ['making room', 'makes room: true', 'makes room: true']);
    assert.equal(subscriptions.makesRoom, false);
  });

  it('that are not wanted are not given back while flows have still to tell what they want', async () => {
    await connect();
    await want(['a', 'b']);
    packets();
    assert.equal(subscriptions.isHolding, false);
    news();
    subscriptions.hold(true);
    await turn();
    assert.deepEqual([subscriptions.isHolding, news()], [true, []]);
    await want([], ['a']);
    assert.deepEqual(packets(), []);
    subscriptions.hold(false);
    await turn();
    assert.deepEqual([packets(), subscriptions.isHolding], [['-a'], false]);
  });

  it('are not given back as leftovers of an earlier process', async () => {
    await connect();
    await want(['a']);
    refuse(NOT_AUTHORIZED, 'b');
    await want(['b']);
    packets();
    assert.equal(subscriptions.unsubscribeStale(['a', 'b']), false);
    assert.equal(subscriptions.unsubscribeStale(['a', 'b', 'c', 'd']), true);
    await turn();
    assert.deepEqual(packets(), ['-c,d']);
  });

  it('are taken whole from who leaves for ever', async () => {
    open(true);
    await connect();
    await want(['a', 'b']);
    await want(['c'], ['a']);
    subscriptions.offline();
    subscriptions.change(['d'], 1);
    assert.deepEqual(subscriptions.takeAll().sort(), ['b', 'c', 'd']);
    assert.deepEqual(subscriptions.takeAll(), []);
    await connect(false);
    assert.deepEqual(packets().slice(3), []);
  });

  it('are asked for with each connection, and others of a session that goes on are given back', async () => {
    open(true);
    await connect();
    await want(['a', 'b']);
    subscriptions.offline();
    assert.deepEqual([subscriptions.isActive('a'), subscriptions.inUse], [false, 0]);
    await want([], ['b']);
    packets();
    prepare();
    await connect(false);
    assert.deepEqual(packets(), ['+a', '-b']);
    subscriptions.offline();
    await want(['b'], ['a']);
    prepare();
    await connect(true);
    assert.deepEqual(packets(), ['+b']);
  });

  it('of a session are given back by the next service that has it', async () => {
    open(true);
    await connect();
    await want(['a', 'b']);
    answering = () => new Promise(() => {});
    // The broker may have granted it.
    await want(['c']);
    subscriptions.offline(true);
    answering = () => undefined;
    open(true);
    await want(['a']);
    packets();
    await connect(false);
    assert.deepEqual(packets(), ['+a', '-b,c']);
  });

  it('make room one by one at first, with each connection', async () => {
    open(true);
    let wanted = ['a', 'b', 'c'];
    await want(wanted);
    for (const next of [
      ['d', 'e', 'f'],
      ['g', 'h', 'i'],
    ]) {
      prepare(3);
      await connect(wanted[0] === 'a');
      subscriptions.offline(true);
      await want(next, wanted);
      prepare(3);
      packets();
      await connect(false);
      const [one, ...others] = next;
      const [old, ...olds] = wanted;
      assert.deepEqual(packets(), [`-${old}`, `+${one}`, `-${olds}`, `+${others}`]);
      subscriptions.offline(true);
      wanted = next;
    }
  });

  it('are no more than are known to be allowed, of each broker', async () => {
    prepare(2);
    assert.deepEqual(news(), ['quota 2']);
    await connect();
    await want(['a', 'b', 'c']);
    assert.deepEqual(packets(), ['+a,b']);
    assert.equal(subscriptions.refusalOf('c')?.key, 'reason.quota');
    assert.deepEqual(news().slice(1), [
      'refusing c',
      'refused',
      'refusals c',
      'refusals c, settled',
      'synced',
    ]);
    subscriptions.offline();
    news();
    prepare(undefined, {}, `${session} other`);
    assert.deepEqual(news(), [`quota ${NONE}`]);
    await connect();
    assert.deepEqual(packets(), ['+a,b,c']);
  });

  it('are no more than the broker has shown to allow, until that is tried again after a minute', async () => {
    await connect();
    await want(['a', 'b', 'c']);
    refuse(QUOTA_EXCEEDED, 'd', 'e');
    await want(['d']);
    assert.deepEqual(news().slice(2), [
      'quota 3',
      'refusing d',
      'refused',
      'refusals d',
      'refusals d, settled',
      'synced',
    ]);
    packets();
    await want(['e']);
    assert.deepEqual(packets(), []);
    subscriptions.offline();
    prepare(undefined, {}, `${session} other`);
    assert.equal(news().at(-1), `quota ${NONE}`);
    prepare();
    assert.equal(news().at(-1), 'quota 3');
    await connect();
    assert.deepEqual(packets(), ['+a,b,c']);
    codes.clear();
    await pass(60_000);
    assert.deepEqual(packets(), ['+d,e']);
    assert.ok(news().includes(`quota ${NONE}`));
  });

  it('have the room of what a node may want that cannot work, where the broker refuses others', async () => {
    await connect();
    // Fewer than brokers allow are refused for want of rights.
    await want(['1', '2', '3', '4', '5', '6', '7', 'old']);
    packets();
    subscriptions.keep(true);
    subscriptions.change([], 1, ['old']);
    await turn();
    assert.deepEqual([packets(), subscriptions.isKeeping, subscriptions.givesBack], [[], true, false]);
    subscriptions.hold(true);
    assert.equal(subscriptions.givesBack, false);
    subscriptions.hold(false);
    refuse(0x80, 'b');
    await want(['b']);
    assert.deepEqual(
      [packets(), subscriptions.isKeeping, subscriptions.givesBack],
      [['+b', '-old'], false, true],
    );
    subscriptions.hold(true);
    assert.equal(subscriptions.givesBack, false);
    subscriptions.hold(false);
    codes.clear();
    await pass(10_000);
    assert.deepEqual(packets(), ['+b']);
  });

  it('are given back when nobody wants them, also where they were granted unseen and refused since', async () => {
    open(true);
    subscriptions.change(['a', 'b'], 1);
    await connect(true);
    // The connection ends before the response has come.
    answering = () => subscriptions.offline(true);
    await want(['c']);
    answering = () => undefined;
    refuse(NOT_AUTHORIZED, 'c');
    await connect(false);
    packets();
    subscriptions.change([], 1, ['c']);
    await turn();
    assert.deepEqual(packets(), ['-c']);
  });

  it('are tried beyond what the broker has shown 10 seconds after leftovers were given back', async () => {
    await connect();
    await want(['a', 'b']);
    refuse(QUOTA_EXCEEDED, 'c');
    await want(['c']);
    subscriptions.hold(true);
    subscriptions.unsubscribeStale(['x']);
    await turn();
    await pass(20_000);
    // It is not given back yet.
    packets();
    subscriptions.hold(false);
    await turn();
    assert.deepEqual(packets(), ['-x']);
    codes.clear();
    await pass(9_999);
    assert.deepEqual(packets(), []);
    await pass(1);
    assert.deepEqual(packets(), ['+c']);
    refuse(QUOTA_EXCEEDED, 'd');
    await want(['d']);
    packets();
    await pass(60_000);
    assert.deepEqual(packets(), []);
  });

  /** `c` is, which has found no room. @param leftovers are given back */
  const assertTriedAfter = async (wait: number, ...leftovers: string[]) => {
    subscriptions.unsubscribeStale(leftovers);
    await turn();
    packets();
    await pass(wait - 1);
    assert.deepEqual(packets(), []);
    await pass(1);
    assert.deepEqual(packets(), ['+c']);
  };

  for (const [what, others, waits] of [
    ['after twice the time for further ones, as it may cost the connection', 0, [10_000, 20_000, 40_000]],
    ['as soon for further ones where the broker says which it had', 0x11, [10_000, 10_000, 10_000]],
  ] as const) {
    it(`are tried so ${what}`, async () => {
      await connect();
      refuse(QUOTA_EXCEEDED, 'c');
      await want(['a', 'b', 'c']);
      for (const [i, wait] of waits.entries()) {
        codes.set(`-other${i}`, others);
        await assertTriedAfter(wait, `stale${i}`, `other${i}`);
      }
    });
  }

  it('are tried as soon for a single one where the broker has said of others that it did not have them', async () => {
    chance = 0.9;
    await connect();
    codes.set('-absent', 0x11);
    subscriptions.unsubscribeStale(['absent']);
    refuse(QUOTA_EXCEEDED, 'c');
    await want(['a', 'b', 'c']);
    for (const stale of ['x', 'y', 'z']) {
      await assertTriedAfter(10_000, stale);
    }
    // One that is not answered says nothing.
    answering = (packet) => (packet.startsWith('-') ? Promise.reject(new NoBrokerResponse()) : undefined);
    for (const [stale, wait] of [
      ['u', 20_000],
      ['v', 40_000],
    ] as const) {
      await assertTriedAfter(wait, stale);
    }
  });

  it('are tried as soon after leftovers that were given back before a number was known', async () => {
    await connect();
    for (const stale of ['x', 'y', 'z']) {
      subscriptions.unsubscribeStale([stale]);
      await turn();
    }
    refuse(QUOTA_EXCEEDED, 'c');
    await want(['a', 'b', 'c']);
    await assertTriedAfter(10_000, 'last');
  });

  it('are not tried sooner where the broker had none of the leftovers, or gave none back', async () => {
    await connect();
    await want(['a', 'b']);
    codes.set('-x', 0x11);
    codes.set('-y', 0x87);
    refuse(QUOTA_EXCEEDED, 'c');
    subscriptions.unsubscribeStale(['x', 'y']);
    await want(['c']);
    // What was given back on a guess was never counted.
    assert.deepEqual(
      news().filter((one) => one.startsWith('quota')),
      ['quota 2'],
    );
    packets();
    codes.clear();
    await pass(59_999);
    assert.deepEqual(packets(), []);
  });

  describe('where leftovers of an earlier process take all places', () => {
    /** They show while the broker is asked. */
    const begin = async (isHolding = false) => {
      open(true);
      subscriptions.hold(isHolding);
      answering = (packet) =>
        packet === '-x' ? codes.clear() : sent.length === 1 && subscriptions.unsubscribeStale(['x']);
      refuse(QUOTA_EXCEEDED, 'a', 'b');
      subscriptions.change(['a', 'b'], 1);
      await connect(false);
    };
    const limits = () => news().filter((one) => /^(quota|refusals .)/.test(one));

    it('are asked for once more when those are given back, without a number that nobody has said', async () => {
      await begin();
      assert.deepEqual([packets(), limits()], [['+a,b', '-x', '+a,b'], []]);
    });

    it('are refused while flows are about to tell what they want, and asked for later', async () => {
      await begin(true);
      assert.deepEqual([packets(), limits()], [['+a,b'], ['refusals a,b', 'refusals a,b, settled']]);
      subscriptions.hold(false);
      await turn();
      assert.deepEqual(packets(), ['-x']);
      answering = () => undefined;
      await pass(10_000);
      assert.deepEqual(packets(), ['+a,b']);
    });

    it('are refused where the broker has had none of them', async () => {
      await begin();
      packets();
      codes.set('-y', 0x11);
      answering = (packet) => packet === '+c' && subscriptions.unsubscribeStale(['y']);
      refuse(QUOTA_EXCEEDED, 'c');
      await want(['c']);
      assert.deepEqual(
        [packets(), limits()],
        [
          ['+c', '-y', '+c', '-y'],
          ['quota 2', 'refusals c', 'refusals c, settled'],
        ],
      );
    });
  });

  it('are not tried sooner where there were no leftovers', async () => {
    refuse(QUOTA_EXCEEDED, 'c');
    await want(['a', 'b', 'c']);
    await connect();
    packets();
    await pass(59_999);
    assert.deepEqual(packets(), []);
  });

  it('are not tried beyond it without a connection', async () => {
    refuse(QUOTA_EXCEEDED, 'c');
    await want(['a', 'b', 'c']);
    await connect();
    subscriptions.offline(true);
    news();
    await pass(120_000);
    assert.deepEqual(news(), []);
  });

  it('are not tried sooner where the connection has ended before leftovers were given back', async () => {
    await connect();
    await want(['a', 'b']);
    refuse(QUOTA_EXCEEDED, 'c');
    await want(['c']);
    answering = () => new Promise(() => {});
    subscriptions.unsubscribeStale(['x']);
    await turn();
    subscriptions.offline(true);
    answering = () => undefined;
    await connect();
    packets();
    await pass(59_999);
    assert.deepEqual(packets(), []);
    await pass(1);
    assert.deepEqual(packets(), ['+c']);
  });

  it('that find no room are not refused while others can be given back', async () => {
    await connect();
    await want(['a', 'b']);
    answering = (packet) => {
      codes = new Map(packet.startsWith('-') ? [] : [...codes]);
    };
    refuse(QUOTA_EXCEEDED, 'c', 'd');
    packets();
    await want(['c', 'd'], ['a', 'b']);
    assert.deepEqual(packets(), ['+c,d', '-a', '+c', '-b', '+d']);
    assert.deepEqual(
      news().filter((text) => text.startsWith('ref')),
      [],
    );
    assert.equal(subscriptions.inUse, 2);
  });

  it('are refused though there is no number where the first of all finds no room', async () => {
    refuse(QUOTA_EXCEEDED, 'a');
    await connect();
    await want(['a']);
    assert.equal(subscriptions.isRefused('a'), true);
    assert.ok(!news().some((text) => text.startsWith('quota')));
  });

  it('that the broker holds already and refuses now are given back when nobody wants them', async () => {
    open(true);
    await connect();
    await want(['a', 'b', 'c']);
    subscriptions.offline();
    refuse(NOT_AUTHORIZED, 'a');
    prepare();
    await connect(false);
    assert.equal(subscriptions.isRefused('a'), true);
    // The session holds it still, until it is given back.
    await want([], ['a']);
    assert.equal(packets().at(-1), '-a');
    refuse(NOT_AUTHORIZED, 'new');
    await want(['new']);
    await want([], ['new']);
    assert.equal(packets().at(-1), '+new');
  });

  it('of responses get one place where reports have all, which goes back when they are refused', async () => {
    prepare(2);
    await connect();
    await want(['a', 'b']);
    packets();
    await want(['response 1']);
    assert.deepEqual(packets(), ['-b', '+response 1']);
    assert.deepEqual([subscriptions.isRefused('b'), subscriptions.isRefused('a')], [true, false]);
    await want([], ['response 1']);
    assert.deepEqual(packets(), ['-response 1', '+b']);
    assert.equal(subscriptions.isRefused('b'), false);
    refuse(NOT_AUTHORIZED, 'response 2');
    await want(['response 2']);
    assert.deepEqual(packets(), ['-b', '+response 2', '+b']);
  });

  it('of responses get no place that another one has, and take none away by going', async () => {
    prepare(2);
    await connect();
    await want(['a', 'b']);
    await want(['response 1']);
    await want(['response 2']);
    assert.equal(subscriptions.isRefused('response 2'), true);
    packets();
    news();
    await want([], ['response 2']);
    assert.deepEqual([packets(), news().includes('refusing b')], [[], false]);
    await want([], ['response 1']);
    assert.deepEqual(packets(), ['-response 1', '+b']);
  });

  it('of responses get a place with the next connection, also where two were refused', async () => {
    prepare(2);
    await connect();
    await want(['a', 'b']);
    refuse(NOT_AUTHORIZED, 'response 1', 'response 2');
    await want(['response 1']);
    await want(['response 2'], ['response 1']);
    packets();
    await want(['response 3'], ['response 2']);
    assert.deepEqual(packets(), []);
    subscriptions.offline(true);
    prepare(2);
    await connect();
    assert.deepEqual(packets(), ['+a,b', '-b', '+response 3']);
  });

  it('of a packet that is not answered are asked for one by one, as long as they are wanted', async () => {
    const leaveUnanswered = (remove: string[] = []) => {
      answering = () => {
        answering = () => undefined;
        subscriptions.change([], 1, remove);
        throw new NoBrokerResponse();
      };
    };
    const order = () => packets().flatMap((packet) => packet.slice(1).split(','));
    await connect();
    leaveUnanswered();
    await want(['a', 'b']);
    subscriptions.forgetRefusals(['a', 'b']);
    await want(['c', 'd']);
    // Alone, and after the others.
    assert.deepEqual(packets().slice(-2), ['+a', '+b']);
    open();
    await connect();
    leaveUnanswered();
    await want(['a', 'b']);
    await want([], ['a', 'b']);
    packets();
    await want(['a', 'c']);
    assert.deepEqual(order(), ['a', 'c']);
    open();
    await connect();
    leaveUnanswered(['b']);
    await want(['a', 'b']);
    subscriptions.offline(true);
    await connect();
    packets();
    await want(['b', 'c']);
    assert.deepEqual(order(), ['b', 'c']);
  });

  it('are no known ones any more when they were given back, also where as many are wanted', async () => {
    refuse(NOT_AUTHORIZED, 'refused');
    await connect();
    await want(['a', 'b', 'refused']);
    await want([], ['a']);
    packets();
    await want(['a', 'c']);
    assert.deepEqual(packets(), ['+a,c']);
  });

  it('make no room any more when the connection has ended', async () => {
    refuse(NOT_AUTHORIZED, 'a');
    await connect();
    await want(['a', 'b', 'c']);
    subscriptions.askAgain(['a']);
    answering = (packet) => packet === '+a' && new Promise(() => {});
    await want([], ['b', 'c']);
    assert.equal(subscriptions.makesRoom, true);
    subscriptions.offline(true);
    assert.equal(subscriptions.makesRoom, false);
  });

  it('go into as few packets as the broker has shown to take', async () => {
    prepare(undefined, { maxCount: 2 });
    assert.deepEqual([...subscriptions.portionsOf(['a', 'b', 'c'])], [['a', 'b'], ['c']]);
    await connect();
    await want(['a', 'b', 'c']);
    await want([], ['a', 'b', 'c']);
    assert.deepEqual(packets(), ['+a,b', '+c', '-a,b', '-c']);
  });

  it('that are not wanted any more are not asked for with the next packet', async () => {
    prepare(undefined, { maxCount: 1 });
    await connect();
    answering = (packet) => {
      if (packet === '+a') {
        subscriptions.change(['d'], 1, ['b']);
      }
    };
    await want(['a', 'b', 'c']);
    assert.deepEqual(packets(), ['+a', '+c', '+d']);
  });

  it('are asked for over the next connection where the first has ended meanwhile', async () => {
    prepare(undefined, { maxCount: 1 });
    let answer = (): void => {};
    answering = () =>
      new Promise<void>((resolve) => {
        answer = resolve;
      });
    await connect();
    await want(['a', 'b']);
    subscriptions.offline(true);
    answering = () => undefined;
    refuse(NOT_AUTHORIZED, 'a');
    packets();
    answer();
    await turn();
    // What an earlier connection brings says nothing.
    assert.deepEqual([packets(), subscriptions.inUse, warnings], [[], 0, []]);
    codes.clear();
    await connect();
    assert.deepEqual(packets(), ['+a', '+b']);
  });

  it('that end connections are found, told and not asked for, and tried again after 10 seconds', async () => {
    await want(['good']);
    await connect();
    answering = (packet) => packet === '+bad' && new Promise(() => {});
    await want(['bad']);
    assert.equal(subscriptions.offline(), true);
    await connect();
    assert.equal(subscriptions.offline(), true);
    packets();
    answering = () => undefined;
    assert.equal(subscriptions.isBlocked('bad'), true);
    warnings = [];
    news();
    await want(['bad']);
    // Nobody is told without a connection.
    assert.deepEqual([subscriptions.isRefused('bad'), news()], [false, []]);
    await connect();
    assert.deepEqual(packets(), ['+good']);
    assert.deepEqual(warnings, ['the broker ends the connection when it is asked for bad']);
    assert.equal(subscriptions.isRefused('bad'), true);
    assert.deepEqual(news(), ['refusing bad', 'refused', 'refusals bad', 'refusals bad, settled', 'synced']);
    // Whoever wants it meanwhile is told at once.
    await want([], ['bad']);
    assert.equal(subscriptions.isRefused('bad'), false);
    await want(['bad']);
    assert.equal(subscriptions.isRefused('bad'), true);
    // Nor is it asked for again before its time, whoever wants that.
    subscriptions.askAgain(['bad']);
    assert.equal(subscriptions.isRefused('bad'), true);
    await pass(9_999);
    assert.deepEqual(packets(), []);
    answering = (packet) => packet === '+bad' && new Promise(() => {});
    await pass(1);
    assert.deepEqual(packets(), ['+bad']);
    assert.ok(news().includes('trying bad'));
    subscriptions.offline();
    answering = () => undefined;
    await connect();
    await pass(19_999);
    assert.deepEqual(packets(), ['+good']);
    await pass(1);
    assert.deepEqual(packets(), ['+bad']);
    assert.equal(subscriptions.isActive('bad'), true);
  });

  it('that end connections are tried one right after the other where the broker grants them now', async () => {
    await want(['good']);
    await connect();
    answering = (packet) => packet.startsWith('+bad') && new Promise(() => {});
    for (const filter of ['bad 1', 'bad 2']) {
      await want([filter]);
      subscriptions.offline();
      await connect();
      if (!subscriptions.isBlocked(filter)) {
        subscriptions.offline();
        await connect();
      }
      assert.equal(subscriptions.isBlocked(filter), true);
    }
    answering = () => undefined;
    packets();
    await pass(10_000);
    assert.deepEqual(packets(), ['+bad 1', '+bad 2']);
  });

  for (const [what, code, isBlocked] of [
    ['are still known for that where there is no room', QUOTA_EXCEEDED, true],
    ['do so no more where they are refused', NOT_AUTHORIZED, false],
  ] as const) {
    it(`that end connections ${what}`, async () => {
      await want(['good']);
      await connect();
      answering = (packet) => packet === '+bad' && new Promise(() => {});
      await want(['bad']);
      subscriptions.offline();
      await connect();
      subscriptions.offline();
      answering = () => undefined;
      refuse(code, 'bad');
      await connect();
      packets();
      await pass(10_000);
      assert.deepEqual([packets(), subscriptions.isBlocked('bad')], [['+bad'], isBlocked]);
    });
  }

  it('show by the end of a connection what was asked for last, unless it has ended for another reason', async () => {
    await want(['a']);
    assert.equal(subscriptions.offline(), false);
    assert.equal(await loseWith(true), false);
    assert.equal(await loseWith(), true);
    assert.equal(subscriptions.isBlocked('a'), false);
    assert.equal(await loseWith(), true);
    assert.equal(subscriptions.isBlocked('a'), true);
  });

  it('are looked for without the usual waits in a row of 40 connections, unless one of them was a good one', async () => {
    let n = 0;
    /** The connection ends while a filter that was not asked for before is. @returns whether the search goes on */
    const lose = async (wasGood?: boolean) => {
      await want([`${n + 1}`], [`${n}`]);
      n++;
      answering = () => new Promise(() => {});
      await connect();
      return subscriptions.offline(false, wasGood);
    };
    for (let losses = 0; losses < 39; losses++) {
      assert.equal(await lose(), true);
    }
    assert.deepEqual([await lose(), await lose(true), await lose()], [true, true, true]);
    for (let losses = 2; losses < 40; losses++) {
      assert.equal(await lose(), true);
    }
    assert.equal(await lose(), false);
  });

  describe('of a session that is kept, where the broker ends the connection when it is asked for one', () => {
    /** The connection ends while this is asked for. @returns what the broker was sent */
    const loseAt = async (filter: string, isNew = false): Promise<string[]> => {
      answering = (packet) => packet === `+${filter}` && new Promise(() => {});
      await connect(isNew);
      answering = () => undefined;
      subscriptions.offline();
      return packets();
    };

    beforeEach(async () => {
      open(true);
      await want(['a', 'b', 'c']);
      await connect();
      packets();
      subscriptions.offline();
      subscriptions.change(['f'], 1);
    });

    it('give one back before it is asked for a third time, and have it back first', async () => {
      assert.deepEqual(await loseAt('f'), ['+a,b,c', '+f']);
      assert.deepEqual(await loseAt('f'), ['+f']);
      assert.deepEqual(await loseAt('f'), ['-a', '+f']);
      await connect(false);
      assert.deepEqual([packets(), subscriptions.isBlocked('f')], [['+a', '+b,c'], true]);
      assert.deepEqual(subscriptions.takeAll().sort(), ['a', 'b', 'c', 'f']);
    });

    it('are one too many where it is granted then, and the one that was given back ends the connection', async () => {
      await loseAt('f');
      await loseAt('f');
      assert.deepEqual(await loseAt('a'), ['-a', '+f', '+a']);
      assert.deepEqual(await loseAt('b'), ['-b', '+a', '+b']);
      assert.deepEqual([news().includes('quota 3'), subscriptions.isBlocked('f')], [true, false]);
    });

    it('give back what an earlier connection may have left, unless flows are still to tell what they want', async () => {
      subscriptions.change(['g'], 1);
      assert.deepEqual(await loseAt('f,g'), ['+a,b,c', '+f,g']);
      await loseAt('f');
      await loseAt('f');
      subscriptions.change([], 1, ['g']);
      subscriptions.hold(true);
      assert.deepEqual(await loseAt('a'), ['-a', '+f', '+a']);
      subscriptions.hold(false);
      assert.deepEqual(await loseAt('b'), ['-g', '-b', '+a', '+b']);
    });

    it('give back no second one as long as the first has no place again, whatever ends the connection', async () => {
      await loseAt('f');
      await loseAt('f');
      assert.deepEqual(await loseAt('f'), ['-a', '+f']);
      for (const filter of ['a', 'a', 'b,c', 'b', 'c', 'b', 'c']) {
        assert.equal((await loseAt(filter)).join().includes('-'), false, filter);
      }
    });

    it('find that place free, though others are granted that the session has held', async () => {
      for (const filter of ['f', 'f', 'f', 'a', 'a']) {
        await loseAt(filter);
      }
      assert.deepEqual([subscriptions.isBlocked('f'), subscriptions.isBlocked('a')], [true, true]);
      subscriptions.change(['x'], 1);
      assert.deepEqual(await loseAt('x'), ['+b', '+c', '+x']);
      assert.equal(subscriptions.isBlocked('x'), true);
    });

    it('find no place free that a session had which the broker has forgotten', async () => {
      for (const filter of ['f', 'f', 'f']) {
        await loseAt(filter);
      }
      await loseAt('a', true);
      for (const _ of [1, 2]) {
        assert.equal(subscriptions.isBlocked('a'), false);
        await loseAt('a');
      }
      assert.equal(subscriptions.isBlocked('a'), true);
    });

    it('give back none that is wanted and was asked for when the connection ended beside one that is held', async () => {
      subscriptions.change(['g'], 1);
      await loseAt('f,g');
      await loseAt('f');
      await loseAt('f');
      assert.deepEqual(await loseAt('f'), ['-a', '+f']);
    });

    it('give nothing back for one that covers others, which work on where it is refused', async () => {
      await want(['wide'], ['f']);
      await loseAt('wide');
      assert.deepEqual(await loseAt('wide'), ['+wide']);
      assert.equal(subscriptions.isBlocked('wide'), true);
    });

    it('give back all that it may hold where it is known to hold nothing, also those that are wanted', async () => {
      session = `subscriptions ${sessions++}`;
      open(true);
      await want(['p', 'q']);
      assert.deepEqual(await loseAt('p,q'), ['+p,q']);
      await loseAt('p');
      await loseAt('p');
      assert.deepEqual(await loseAt('p'), ['-q', '+p']);
      assert.equal(subscriptions.isBlocked('p'), true);
    });

    it('are not certain to be forbidden beside others, where one has taken the place, though it has held more', async () => {
      await want(['d', 'e']);
      await connect(false);
      await want([], ['d', 'e', 'f']);
      subscriptions.offline();
      subscriptions.change(['x'], 1);
      for (const _ of [1, 2, 3]) {
        assert.equal(subscriptions.isBlocked('x'), false);
        await loseAt('x');
      }
      assert.equal(subscriptions.isBlocked('x'), true);
      subscriptions.change(['f'], 1);
      await loseAt('f');
      subscriptions.change(['g'], 1);
      const last = await loseAt('g');
      assert.deepEqual([last.slice(0, 3), last.at(-1)], [['-b', '+f', '+b'], '+g']);
      assert.equal(subscriptions.isBlocked('g'), false);
    });

    it('are not counted as held where they were, and the broker ends the connection for them now', async () => {
      subscriptions.change([], 1, ['f', 'a', 'c']);
      for (const _ of [1, 2, 3]) {
        assert.equal(subscriptions.isBlocked('b'), false);
        await loseAt('b');
      }
      assert.equal(subscriptions.isBlocked('b'), true);
      subscriptions.change(['x', 'y'], 1);
      prepare(2);
      await connect(false);
      assert.deepEqual(packets(), ['+x', '-c', '+y']);
      await want([], ['b']);
      assert.deepEqual(packets(), ['-b']);
    });

    it('are given back before others where they have ended the connection when nobody wanted them any more', async () => {
      subscriptions.change([], 1, ['f', 'a', 'b']);
      await loseAt('c');
      await loseAt('c');
      answering = (packet) => packet === '+c' && new Promise(() => {});
      await connect(false);
      subscriptions.change(['x', 'y'], 1, ['c']);
      answering = () => undefined;
      subscriptions.offline();
      packets();
      prepare(2);
      await connect(false);
      assert.deepEqual(packets(), ['-c', '+x', '-b', '+y']);
    });
  });

  it('are as many as connections have shown that ended beside 8 of them', async () => {
    await want(EIGHT);
    let last = '';
    for (const [filter, isShown] of [
      ['a', false],
      ['b', false],
      ['c', true],
    ] as const) {
      await connect();
      answering = () => new Promise(() => {});
      await want([filter], [last]);
      subscriptions.offline();
      answering = () => undefined;
      assert.equal(news().includes('quota 8'), isShown, filter);
      if (!isShown) {
        // It is granted beside fewer.
        await want([], ['8']);
        await connect();
        subscriptions.offline(true);
        await want(['8'], [filter]);
      }
      last = filter;
    }
    assert.equal(subscriptions.isBlocked('c'), false);
  });
});

describe('subscriptions', () => {
  it('that are refused are tried again together, and the wait grows once for each time', async () => {
    const filters = ['a', 'b', 'c', 'd', 'e', 'f'];
    const log = createLog();
    const [tries, waits]: [string[][], number[]] = [[], []];
    let isHealed = (): void => {};
    const recovered = new Promise<void>((resolve) => {
      isHealed = resolve;
    });
    const events = {
      refusing() {},
      mayGiveWay: () => true,
      isCovering: () => false,
      refusals: ({ size }: ReadonlyMap<string, Reason>) => size === 0 && isHealed(),
      synced() {},
      quota() {},
      lowerQos() {},
    };
    const backoff = { next: () => waits.push(waits.length) && 1, reset: () => void waits.push(-1) };
    const subscriptions = new Subscriptions(false, log, events, backoff);
    subscriptions.change(filters, 1);
    subscriptions.online(
      {
        subscribe: async (wanted) => {
          tries.push(Object.keys(wanted));
          return filters.map((topic) => ({ topic, qos: tries.length < 3 ? 0x80 : 1 }));
        },
        unsubscribe: async () => [],
      },
      true,
    );
    await recovered;
    assert.deepEqual(tries, [filters, filters, filters]);
    assert.deepEqual(waits, [0, 1, -1]);
    assert.equal(log.warnings.length, 2);
    assert.match(log.warnings[0]!, /a \(128\) and 5 others/);
    subscriptions.offline();
  });
});

describe('a response with fewer codes than filters', () => {
  it('grants none of those that it says nothing of', async () => {
    const log = createLog();
    let refused: string[] = [];
    const events = {
      refusing() {},
      mayGiveWay: () => true,
      isCovering: () => false,
      refusals(all: ReadonlyMap<string, Reason>) {
        refused = [...all.keys()];
      },
      quota() {},
      lowerQos() {},
    };
    const done = new Promise<void>((synced) => {
      const subscriptions = new Subscriptions(
        false,
        log,
        { ...events, synced },
        { next: () => 1e6, reset() {} },
      );
      subscriptions.change(['a', 'b', 'c'], 1);
      const packet = { granted: [0x80] };
      const subscribe = () => Promise.reject(Object.assign(new Error('refused'), { packet }));
      subscriptions.online({ subscribe, unsubscribe: async () => [] }, true);
    });
    await done;
    assert.deepEqual(refused, ['a', 'b', 'c']);
  });
});

describe('a session at a broker that refuses filters', () => {
  const bench = useScriptedBroker();

  it('is well again at once when the node that wanted the refused one is gone', async () => {
    bench.broker.options.refuses = (filter) => filter.includes(G2);
    const session = bench.open();
    session.subscribe({ ...ALL, gateways: [G] }, new Collector());
    const leave = session.subscribe({ ...ALL, gateways: [G2] }, new Collector());
    await reached(session, 'limited');
    leave();
    await reached(session, 'connected');
  });

  it('subscribes the others, also when one who listens to its state throws', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter.includes(G2);
    const session = bench.open();
    const others = Array.from({ length: 40 }, (_, n) => `d${n.toString(16).padStart(11, '0')}`);
    session.onState(({ mqtt }) => {
      if (mqtt.name === 'limited') {
        throw new Error('a mistake');
      }
    });
    session.subscribe({ ...ALL, gateways: [G2, ...others] }, new Collector());
    await broker.until(() => [...broker.sessions.values()][0]?.subscriptions.size === others.length);
  });

  it('tells once that the broker grants less than was asked for', async () => {
    bench.broker.options.maxGrantedQos = 0;
    const log = createLog();
    const session = new Session({ mqtt: mqttSettings(bench.broker.url) }, log);
    session.subscribe({ ...ALL, gateways: [G, G2] }, new Collector());
    await reached(session, 'connected');
    session.subscribe({ ...ALL, kinds: ['rssi'] }, new Collector());
    await bench.broker.until((broker) => broker.packets('subscribe').length === 2);
    await session.close();
    const told = log.warnings.filter((text) => /grants QoS 0 where QoS 1/.test(text));
    assert.equal(told.length, 1, log.warnings.join('\n'));
  });
});

describe('a session at a broker that takes only QoS 0', () => {
  const bench = useScriptedBroker();

  it('tells that its reports may be lost, and does not say that more was asked for', async () => {
    bench.broker.options.maxQos = 0;
    const log = createLog();
    const session = new Session({ mqtt: mqttSettings(bench.broker.url, { protocolVersion: 5 }) }, log);
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    await session.close();
    assert.deepEqual(log.warnings, [
      'the broker takes QoS 0 at most where QoS 1 is wanted (mt/gateway/+/device/+/#): it may lose reports',
    ]);
  });
});

describe('a subscription that the broker does not answer', () => {
  const bench = useScriptedBroker();
  const client = async (keepalive: number) =>
    connectAsync(bench.broker.url, { keepalive, reconnectPeriod: 0, reschedulePings: false });

  it('is given up when the broker has answered a later ping', async () => {
    bench.broker.options.withhold = ['suback'];
    const one = await client(1);
    await assert.rejects(
      withResponseTimeout(one, new PingCounts(one), one.subscribeAsync('a'), 10),
      NoBrokerResponse,
    );
    // That of the counts.
    assert.equal(one.listenerCount('packetreceive'), 1);
    assert.ok(bench.broker.packets('pingreq').length > 0);
    await one.endAsync(true);
  });

  for (const keepalive of [0, 1_200]) {
    it(`is given up after a ping of its own with a keep alive of ${keepalive} seconds`, async () => {
      bench.broker.options.withhold = ['suback'];
      const one = await client(keepalive);
      await assert.rejects(
        withResponseTimeout(one, new PingCounts(one), one.subscribeAsync('a'), 10),
        NoBrokerResponse,
      );
      assert.equal(bench.broker.packets('pingreq').length, 1);
      await one.endAsync(true);
    });
  }

  it('is waited for though an earlier ping is answered meanwhile', async () => {
    const { broker } = bench;
    broker.options.withhold = ['suback', 'pingresp'];
    const one = await client(0);
    const counts = new PingCounts(one);
    one.sendPing();
    await broker.next('pingreq');
    const granted = withResponseTimeout(one, counts, one.subscribeAsync('a'), 10);
    // The ping that it sends itself: from then on it is late.
    await broker.next('pingreq');
    const answered = new Promise<unknown>((resolve) => one.once('packetreceive', resolve));
    broker.release('pingresp', 1);
    await answered;
    await new Promise(setImmediate);
    broker.release();
    assert.deepEqual(
      (await granted).map(({ topic }) => topic),
      ['a'],
    );
    await one.endAsync(true);
  });

  it('is waited for as long as pings wait, too: its response may stand behind a flood', async () => {
    bench.broker.options.withhold = ['suback', 'pingresp'];
    const one = await client(1);
    const granted = withResponseTimeout(one, new PingCounts(one), one.subscribeAsync('a'), 10);
    await bench.broker.next('pingreq');
    bench.broker.release();
    assert.deepEqual(
      (await granted).map(({ topic }) => topic),
      ['a'],
    );
    // That of the counts.
    assert.equal(one.listenerCount('packetreceive'), 1);
    await one.endAsync(true);
  });

  it('holds up no other, and is tried again with the refused ones', async () => {
    const log = createLog();
    const tries: string[][] = [];
    const refused = new Set<string>();
    let isHealed = (): void => {};
    const recovered = new Promise<void>((resolve) => {
      isHealed = resolve;
    });
    const events = {
      refusing() {},
      mayGiveWay: () => true,
      isCovering: () => false,
      refusals(all: ReadonlyMap<string, Reason>) {
        for (const { key } of all.values()) {
          refused.add(key);
        }
        if (all.size === 0) {
          isHealed();
        }
      },
      synced() {},
      quota() {},
      lowerQos() {},
    };
    const subscriptions = new Subscriptions(false, log, events, { next: () => 1, reset() {} });
    const settledOnes: boolean[] = [];
    subscriptions.change(['a'], 1);
    subscriptions.whenSettled('a', (isRefused) => void settledOnes.push(isRefused));
    subscriptions.online(
      {
        subscribe: async (wanted) => {
          tries.push(Object.keys(wanted));
          if (tries.length === 1) {
            throw new NoBrokerResponse();
          }
          return Object.entries(wanted).map(([topic, { qos }]) => ({ topic, qos }));
        },
        unsubscribe: async () => {
          throw new NoBrokerResponse();
        },
      },
      true,
    );
    subscriptions.change(['b'], 1);
    await recovered;
    assert.deepEqual(tries, [['a'], ['b'], ['a']]);
    assert.deepEqual([settledOnes, [...refused]], [[true], ['reason.noSuback']]);
    assert.match(log.warnings[0] ?? '', /does not answer the subscription a/);
    subscriptions.offline();
  });
});

describe('a filter that is wanted again while it is being given back', () => {
  it('counts as granted only when the broker has granted it again', async () => {
    const sent: string[] = [];
    let confirm = (): void => {};
    const events = {
      refusing() {},
      mayGiveWay: () => true,
      isCovering: () => false,
      refusals() {},
      synced() {},
      quota() {},
      lowerQos() {},
    };
    const subscriptions = new Subscriptions(false, createLog(), events);
    const transport = {
      subscribe: async (wanted: Record<string, unknown>) => {
        sent.push(`subscribe ${Object.keys(wanted)}`);
        return Object.keys(wanted).map((topic) => ({ topic, qos: 1 }));
      },
      unsubscribe: (filters: string[]) => {
        sent.push(`unsubscribe ${filters}`);
        return new Promise<number[]>((resolve) => {
          confirm = () => resolve([]);
        });
      },
    };
    subscriptions.online(transport, true);
    subscriptions.change(['a'], 1);
    await new Promise<boolean>((resolve) => subscriptions.whenSettled('a', resolve));
    subscriptions.change([], 1, ['a']);
    while (sent.length < 2) {
      await new Promise(setImmediate);
    }
    subscriptions.change(['a'], 1);
    let isSettled = false;
    const granted = new Promise<void>((resolve) =>
      subscriptions.whenSettled('a', () => {
        isSettled = true;
        resolve();
      }),
    );
    assert.deepEqual([subscriptions.isActive('a'), isSettled], [false, false]);
    confirm();
    await granted;
    assert.equal(subscriptions.isActive('a'), true);
    assert.deepEqual(sent, ['subscribe a', 'unsubscribe a', 'subscribe a']);
    subscriptions.offline();
  });
});
