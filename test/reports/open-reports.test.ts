// What flows have not confirmed: how much of it there may be, and how much of it comes again at a time.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import type { Deferrable, DeferralEvents, Outcome } from '../../src/protocol/deferral.ts';
import type { Confirmer } from '../../src/reports/open-report.ts';
import { OpenReports, openReportsOf } from '../../src/reports/open-reports.ts';
import { itAtScale } from '../at-scale.ts';
import { usedMemory } from '../memory.ts';

const TICK_MS = 500;
/** Bytes of 65 535 open reports of 100 bytes each, their topics and what this test itself remembers. */
const MAX_TAKEN = 120_000_000;

describe('reports that are open', () => {
  let now = 0;
  const open: OpenReports[] = [];

  beforeEach(() => {
    now = 0;
    mock.timers.enable({ apis: ['setInterval'] });
  });
  afterEach(() => {
    for (const reports of open.splice(0)) {
      reports.handOver();
    }
    mock.reset();
  });

  function start(
    limits: { maxMessages?: number; maxBytes?: number; keptSessions?: readonly string[] } = {},
    isPaused = () => false,
    isPresent = false,
  ) {
    const faults: unknown[] = [];
    const reports = new OpenReports(
      isPaused,
      (fault) => faults.push(fault),
      () => {},
      { now: () => now, ...limits },
    );
    open.push(reports);
    reports.connected('broker', isPresent);
    const resent: string[] = [];
    const confirmer: Confirmer = {
      ...{ owner: 'node', labels: '', timeoutMs: 1_000, maxAttempts: 0 },
      again: ({ message }) => resent.push(message.topic) > 0,
      givenUp() {},
      count() {},
    };
    reports.add(confirmer);
    const given: string[] = [];
    /** What was not given, and how it was known. */
    const known: string[] = [];
    const read: string[] = [];
    const acknowledged: string[] = [];
    let written = 0;
    const receive = (
      topic: string,
      payload = Buffer.alloc(0),
      {
        isResent = false,
        ackedOrder = 0,
        isLost = false,
        mustWait = false,
        isOpened = true,
        isNeeded = true,
        confirmer: at = confirmer,
      } = {},
    ) => {
      let id: string | undefined;
      const received = { topic, payload, retained: false, heardAt: now };
      const defer = (events: DeferralEvents) => ({
        readOn: () => void read.push(topic),
        acknowledge: () => {
          acknowledged.push(topic);
          if (!mustWait) {
            events.written(isNeeded ? ++written : 0);
          }
        },
      });
      const deferrable = { isResent, ackedOrder, isLost, mustWait, defer };
      const outcome = reports.receive(received, deferrable, (by) => {
        if (by !== 'new') {
          known.push(`${topic} ${by}`);
          return 'delivered';
        }
        given.push(topic);
        const opened = isOpened ? reports.open(at) : undefined;
        if (opened) {
          opened.hasReached = true;
          id = opened.id;
        }
        return 'delivered';
      });
      return { isKept: outcome === 'kept', id: String(id) };
    };
    const pass = (ms: number) => {
      for (let passed = 0; passed < ms; passed += TICK_MS) {
        now += TICK_MS;
        mock.timers.tick(TICK_MS);
      }
    };
    return { reports, confirmer, receive, given, known, read, acknowledged, resent, pass, faults };
  }

  it('are as many as MQTT has numbers for, so that responses are read; nothing is beyond that until one is confirmed', () => {
    const { reports, receive, read, acknowledged } = start();
    const ids: string[] = [];
    for (let n = 0; n < 65_535; n++) {
      ids.push(receive(`t${n}`).id);
    }
    assert.deepEqual([reports.isFull, read.length], [false, 65_535]);
    receive('t65535');
    assert.deepEqual([reports.isFull, read.length], [true, 65_535]);
    reports.confirm(ids[3] as string);
    assert.deepEqual([reports.isFull, read.length, acknowledged], [false, 65_536, ['t3']]);
  });

  it('come again where their node is there, and by the broker in a session that it has kept', () => {
    const { reports, receive, confirmer } = start({ keptSessions: ['a', 'b'] });
    const { id } = receive('t');
    assert.equal(reports.comesAgain(id), true);
    reports.remove(confirmer, true);
    // Its node does not confirm any more.
    assert.equal(reports.comesAgain(id, ['a']), false);
    reports.add({ ...confirmer });
    assert.equal(reports.comesAgain(id), true);
    const isThere = (keptSessions: string[], sessions?: string[]) =>
      start({ keptSessions }).reports.comesAgain(id, sessions);
    assert.deepEqual(
      [isThere(['b', 'c'], ['a', 'b']), isThere(['c'], ['a', 'b']), isThere(['c']), isThere([], [])],
      [true, false, false, false],
    );
  });

  it('take no more than 64 MB', () => {
    const { reports, receive, read } = start();
    const ids = Array.from({ length: 7 }, (_, n) => receive(`t${n}`, Buffer.alloc(10_000_000)).id);
    assert.deepEqual([reports.isFull, read.length], [true, 6]);
    reports.confirm(ids[0] as string);
    assert.deepEqual([reports.isFull, read.length], [false, 7]);
  });

  itAtScale(
    'take little memory, as many as there may be, and do not keep alive what they came in',
    async () => {
      const { receive, pass, reports } = start();
      const used = () => {
        const heap = usedMemory();
        return heap + process.memoryUsage().arrayBuffers;
      };
      const before = used();
      for (let n = 0; n <= 65_535; n++) {
        receive(
          `mt/gateway/c0141f68fc3d/device/d00000000001/measurement/${n}`,
          Buffer.alloc(8_192).subarray(0, 100),
        );
        if (n % 5_000 === 0) {
          pass(TICK_MS);
        }
      }
      pass(TICK_MS);
      assert.equal(reports.isFull, true);
      // Half a gigabyte of chunks has come in; what is free of them is returned beside the collection.
      let taken = used() - before;
      for (let tries = 0; tries < 20 && taken > MAX_TAKEN; tries++) {
        await wait(50);
        taken = used() - before;
      }
      assert.ok(taken <= MAX_TAKEN, `${taken} bytes`);
    },
  );

  it('come again a part at a time, and each has its turn', async () => {
    const { receive, resent, pass } = start();
    for (let n = 0; n < 1_200; n++) {
      receive(`t${n}`);
    }
    pass(1_000);
    for (const count of [500, 1_000]) {
      while (resent.length < count) {
        await turn();
      }
      await turn();
      await turn();
      assert.equal(resent.length, count);
      pass(TICK_MS);
    }
    while (new Set(resent).size < 1_200) {
      await turn();
    }
  });

  it('come again to one node though another wants more again than come in one look', async () => {
    const { reports, confirmer, receive, resent, pass } = start();
    const often = (): boolean => resent.push('often') > 0;
    for (const owner of ['a', 'b']) {
      const other = { ...confirmer, owner, timeoutMs: 1, again: often };
      reports.add(other);
      for (let n = 0; n < 600; n++) {
        receive(`${owner}${n}`, undefined, { confirmer: other });
      }
    }
    const last = { ...confirmer, owner: 'last' };
    reports.add(last);
    receive('seldom', undefined, { confirmer: last });
    const looks = 4;
    for (let look = 1; look <= looks; look++) {
      pass(TICK_MS);
      while (resent.length < look * 500) {
        await turn();
      }
    }
    assert.ok(resent.includes('seldom'));
  });

  it('come again in turns, so that others have theirs, and not while flows are replaced in between', async () => {
    let isPaused = false;
    const { receive, resent, pass, reports } = start({}, () => isPaused);
    const ids = Array.from({ length: 200 }, (_, n) => receive(`t${n}`).id);
    pass(1_000);
    assert.equal(resent.length, 50);
    reports.confirm(ids.at(-1) as string);
    isPaused = true;
    for (let turns = 0; turns < 5; turns++) {
      await turn();
    }
    assert.equal(resent.length, 50);
    isPaused = false;
    pass(TICK_MS);
    while (resent.length < 199) {
      await turn();
    }
    assert.equal(resent.includes('t199'), false);
  });

  it('come again after a time that is the same at first, and then longer, up to ten minutes', () => {
    const { receive, resent, pass } = start();
    receive('t');
    const waits: number[] = [];
    let last = now;
    while (waits.length < 14) {
      const before = resent.length;
      pass(TICK_MS);
      if (resent.length > before) {
        waits.push((now - last) / 1_000);
        last = now;
      }
    }
    assert.deepEqual(waits, [1, 1, 1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600]);
  });

  it('that a flow wants again come after the time that it names, and then later, so that an hour costs none', () => {
    for (const wanted of [0, 10_000]) {
      const { confirmer, reports, receive, resent, pass } = start();
      confirmer.maxAttempts = 20;
      const began = now;
      const { id } = receive('t');
      while (resent.length < 20) {
        assert.equal(reports.sendAgain(id, wanted), true);
        const before = resent.length;
        while (resent.length === before) {
          pass(TICK_MS);
        }
        if (resent.length <= 3) {
          assert.ok(now - began <= resent.length * Math.max(wanted, TICK_MS));
        }
      }
      assert.ok(now - began > 60 * 60_000);
    }
  });

  it('that are given up tell how often they were sent again', () => {
    for (const maxAttempts of [1, 2, 20]) {
      const { confirmer, receive, resent, pass } = start();
      const told: number[] = [];
      Object.assign(confirmer, {
        maxAttempts,
        givenUp: ({ attempts }: { attempts: number }) => void told.push(attempts),
      });
      receive('t');
      while (told.length === 0) {
        pass(TICK_MS);
      }
      assert.deepEqual([told, resent.length], [[maxAttempts], maxAttempts]);
    }
  });

  it('are not given up because their node is deployed often', () => {
    const { confirmer, reports, receive, resent, pass } = start();
    let givenUp = 0;
    const deployed = () => ({ ...confirmer, maxAttempts: 2, givenUp: () => void givenUp++ });
    receive('t');
    reports.remove(confirmer, true);
    for (let deploy = 1; deploy <= 5; deploy++) {
      const node = deployed();
      reports.add(node);
      pass(TICK_MS);
      assert.deepEqual([resent.length, givenUp], [deploy, 0]);
      reports.remove(node, true);
    }
    reports.add(deployed());
    pass(10 * confirmer.timeoutMs);
    assert.deepEqual([resent.length, givenUp], [8, 1]);
  });

  it('do not come while flows are replaced', () => {
    let isPaused = true;
    const { receive, resent, pass } = start({}, () => isPaused);
    receive('t');
    pass(5_000);
    assert.deepEqual(resent, []);
    isPaused = false;
    pass(TICK_MS);
    assert.deepEqual(resent, ['t']);
  });

  it('that belong to no node any more are acknowledged when the flows run', () => {
    const { reports, confirmer, receive, acknowledged } = start();
    receive('t');
    reports.remove(confirmer, true);
    assert.deepEqual(acknowledged, []);
    reports.resumed();
    assert.deepEqual(acknowledged, ['t']);
  });

  it('of a broker that has forgotten the session still come to the flow until it confirms them', () => {
    const { reports, receive, resent, pass } = start();
    const { id } = receive('t');
    reports.connected('broker', false);
    pass(1_000);
    assert.deepEqual(resent, ['t']);
    assert.equal(reports.confirm(id), true);
    assert.deepEqual([reports.isFull, receive('t').isKept], [false, true]);
  });

  it('hold up the broker when nothing comes while ten are open, however many once were', () => {
    const { reports, receive, pass } = start();
    const told = mock.fn();
    reports.onHeldUp = told;
    const topics = [...'abcdefghijk'];
    const ids = topics.slice(0, 9).map((topic) => receive(topic).id);
    pass(5_000);
    assert.equal(reports.isHeldUp, false, 'no broker allows fewer than ten');
    receive('j');
    pass(500);
    assert.equal(reports.isHeldUp, false);
    pass(1_000);
    assert.equal(reports.isHeldUp, true);
    receive('k');
    assert.equal(reports.isHeldUp, false);
    pass(5_000);
    assert.equal(reports.isHeldUp, true);
    reports.confirm(String(ids[0]));
    pass(5_000);
    assert.equal(reports.isHeldUp, true, 'it may have sent more than it allows');
    reports.confirm(String(ids[1]));
    pass(5_000);
    assert.equal(reports.isHeldUp, false);
    reports.connected('broker', true);
    for (const topic of topics.slice(2)) {
      receive(topic, undefined, { isResent: true });
    }
    pass(5_000);
    assert.equal(reports.isHeldUp, false, 'nine on this connection');
    receive('l');
    pass(5_000);
    assert.equal(reports.isHeldUp, true);
    reports.connected('broker', true);
    assert.deepEqual([reports.isHeldUp, told.mock.callCount()], [false, 6]);
  });

  it('go on being read over a loss, though as many are open as there may be', () => {
    const { reports, receive, read } = start({ maxMessages: 2 });
    for (const topic of ['a', 'b', 'c']) {
      receive(topic);
    }
    assert.deepEqual([reports.isFull, read], [true, ['a', 'b']]);
    reports.connected('broker', true);
    for (const topic of ['a', 'b', 'c']) {
      receive(topic, undefined, { isResent: true });
    }
    assert.deepEqual([reports.isFull, read], [false, ['a', 'b', 'a', 'b', 'c']]);
    receive('d');
    assert.deepEqual([reports.isFull, read.length], [true, 5]);
  });

  it('that are confirmed and that the broker does not send again are forgotten after ten minutes', () => {
    const { reports, confirmer, receive, pass } = start();
    const [first, second] = [receive('a').id, receive('b').id];
    reports.connected('broker', true);
    reports.confirm(first);
    reports.confirm(second);
    reports.remove(confirmer, false);
    assert.equal(reports.isUnused, false);
    pass(11 * 60_000);
    assert.equal(reports.isUnused, true);
  });

  it('of an address that is not in use are known again there for a day, and forgotten then', () => {
    for (const [hours, isKnown] of [
      [23, true],
      [25, false],
    ] as const) {
      const { reports, receive, given } = start();
      const [first] = [receive('confirmed').id, receive('open').id];
      reports.connected('other', true);
      reports.confirm(first);
      now += hours * 3_600_000;
      reports.connected('broker', true);
      for (const topic of ['confirmed', 'open']) {
        receive(topic, undefined, { isResent: true });
      }
      assert.equal(given.length, isKnown ? 2 : 4);
    }
  });

  itAtScale(
    'that are confirmed and not sent again by their broker take little memory, and are no more than it has numbers for',
    () => {
      const { reports, receive, given } = start();
      const payload = Buffer.alloc(1_000);
      const before = usedMemory();
      for (const [round, length] of [65_535, 2].entries()) {
        const ids = Array.from({ length }, (_, n) => receive(`t${round}-${n}`, payload).id);
        reports.connected('other', true);
        for (const id of ids) {
          reports.confirm(id);
        }
        reports.connected('broker', true);
      }
      given.length = 0;
      for (const topic of ['t0-0', 't0-1', 't0-2', 't0-65534', 't1-0', 't1-1']) {
        receive(topic, payload, { isResent: true });
      }
      assert.deepEqual(given, ['t0-0', 't0-1']);
      const taken = usedMemory() - before;
      assert.ok(taken < MAX_TAKEN, `${taken} bytes`);
    },
  );

  it('are known over the same connection by their number, and under another one by their content', () => {
    const { reports, receive, given, acknowledged } = start();
    reports.confirm(receive('t').id);
    reports.confirm(receive('u').id);
    assert.deepEqual([given.length, acknowledged.length], [2, 2]);
    for (const ackedOrder of [2, 0, 1, 0]) {
      receive('t', undefined, { isResent: true, ackedOrder });
    }
    assert.deepEqual([given.length, acknowledged.length], [2, 6]);
    reports.connected('broker', true);
    for (const ackedOrder of [0, 0, 0, 0]) {
      receive('t', undefined, { isResent: true, ackedOrder });
    }
    assert.equal(given.length, 2, 'each may come again');
    receive('t', undefined, { isResent: true });
    assert.equal(given.length, 3, 'one of the same content was sent before the loss');
    receive('t');
    assert.equal(given.length, 4);
  });

  it('say whether they came over the present connection or a lost one', () => {
    const { reports, receive, known } = start();
    reports.confirm(receive('t').id);
    receive('t', undefined, { isResent: true, ackedOrder: 1 });
    receive('open');
    reports.connected('broker', true);
    receive('open', undefined, { isResent: true });
    receive('t', undefined, { isResent: true });
    assert.deepEqual(known, ['t present', 'open lost', 't lost']);
  });

  it('that are open are not taken for one with their content that was confirmed over the next connection', () => {
    for (const ackedOrder of [0, 1]) {
      const { reports, receive, given, known, acknowledged } = start();
      receive('t');
      reports.connected('broker', true);
      reports.confirm(receive('t').id);
      // By its number it is the confirmed one; without that it is the open one, which the broker must not lose.
      receive('t', undefined, { isResent: true, ackedOrder });
      assert.deepEqual(
        [given.length, known, acknowledged.length],
        ackedOrder > 0 ? [2, ['t present'], 2] : [2, ['t lost'], 1],
      );
    }
  });

  it('that were sent again after a loss do not stand for equal ones once they are confirmed', () => {
    const { reports, receive, given } = start();
    const { id } = receive('t');
    reports.connected('broker', true);
    receive('t', undefined, { isResent: true });
    reports.confirm(id);
    receive('t', undefined, { isResent: true });
    assert.equal(given.length, 2, 'the broker sends what was in flight, and equal ones are among it');
  });

  it('whose acknowledgement is not needed do not come again', () => {
    const { reports, receive, given } = start();
    reports.confirm(receive('t', undefined, { isNeeded: false }).id);
    receive('t', undefined, { isResent: true });
    assert.equal(given.length, 2);
  });

  it('with the content of a confirmed one that may come again are not acknowledged in its place', () => {
    const { reports, receive, given, acknowledged } = start();
    const first = receive('t').id;
    receive('u');
    reports.confirm(first);
    receive('t');
    reports.connected('broker', true);
    acknowledged.length = 0;
    receive('t', undefined, { isResent: true });
    assert.deepEqual([given.length, acknowledged], [3, []]);
  });

  it('are known again when they came over a lost connection and were confirmed long before the next one', () => {
    const { reports, receive, given, pass } = start();
    const { id } = receive('t', undefined, { isLost: true });
    pass(11 * 60_000);
    reports.confirm(id);
    reports.connected('broker', true);
    receive('t', undefined, { isResent: true });
    assert.deepEqual(given, ['t']);
  });

  it('are known again with those behind them, also where nobody has to confirm these, for ten minutes', () => {
    const { reports, receive, given, pass } = start();
    const payload = Buffer.from('{}');
    receive('open', payload);
    const behind = [
      receive('behind', payload, { isOpened: false, mustWait: true }),
      receive('lost', payload, { isOpened: false, isLost: true }),
    ];
    assert.ok(behind.every(({ isKept }) => isKept));
    assert.equal(receive('free', payload, { isOpened: false }).isKept, false);
    for (const topic of ['open', 'behind', 'lost', 'free']) {
      reports.connected('broker', true);
      receive(topic, payload, { isResent: true, isOpened: false, mustWait: true });
    }
    assert.deepEqual(given, ['open', 'behind', 'lost', 'free', 'free']);
    reports.connected('broker', true);
    pass(10 * 60_000 + TICK_MS);
    receive('behind', payload, { isResent: true, isOpened: false });
    assert.equal(given.at(-1), 'behind');
  });

  it('cost no more where all are of one topic and of the same content', () => {
    const { reports, receive } = start();
    const ids = Array.from({ length: 30_000 }, () => receive('t').id);
    reports.connected('broker', true);
    const again = ids.map(() => receive('t', undefined, { isResent: true }).isKept);
    assert.ok(again.every((isKept) => isKept));
    assert.equal(receive('t', undefined, { isResent: true }).id === 'undefined', false);
  });

  it('cost no more memory with each connection that is lost', () => {
    const { reports, receive } = start();
    for (let n = 0; n < 1_000; n++) {
      receive('t');
    }
    reports.connected('broker', true);
    const before = usedMemory();
    for (let loss = 0; loss < 100; loss++) {
      reports.connected('broker', true);
    }
    const taken = usedMemory() - before;
    assert.ok(taken < 300_000, `${taken} bytes`);
    assert.equal(receive('t', undefined, { isResent: true }).isKept, true);
  });

  it('keep a timer only while there are some', () => {
    const begun = mock.method(globalThis, 'setInterval');
    const ended = mock.method(globalThis, 'clearInterval');
    const timers = () => {
      const past = new Set<unknown>(ended.mock.calls.map(({ arguments: [timer] }) => timer));
      return begun.mock.calls.filter(({ result }) => !past.has(result)).length;
    };
    const { reports, receive, pass } = start();
    assert.equal(timers(), 0);
    const ids = [receive('t').id, receive('u').id];
    reports.confirm(ids[0]!);
    pass(TICK_MS);
    assert.equal(timers(), 1);
    reports.confirm(ids[1]!);
    pass(TICK_MS);
    assert.equal(timers(), 0);
    receive('v');
    assert.equal(timers(), 1);
    reports.handOver();
    assert.equal(timers(), 0);
  });

  it('cost a node that is deployed nothing where they are of others', () => {
    const { reports, confirmer, receive } = start();
    const count = 20_000;
    for (let i = 0; i < count; i++) {
      receive('topic');
    }
    const before = process.cpuUsage();
    for (let i = 0; i < count; i++) {
      const node = { ...confirmer, owner: `node ${i}` };
      reports.add(node);
      reports.hurry(node);
      reports.remove(node, false);
    }
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 2_000_000, `${user + system} µs`);
  });

  it('are counted only while there are some', () => {
    const { reports, confirmer, receive, pass } = start();
    const { id } = receive('t');
    reports.confirm(id);
    pass(TICK_MS);
    const told = mock.fn();
    confirmer.count = told;
    pass(5_000);
    assert.equal(told.mock.callCount(), 0);
    receive('u');
    pass(TICK_MS);
    assert.ok(told.mock.callCount() > 0);
  });

  it('go on coming again when a node throws at one of them', () => {
    const { confirmer, receive, resent, pass, faults } = start();
    confirmer.again = ({ message }) => {
      resent.push(message.topic);
      throw new Error(`again ${message.topic}`);
    };
    confirmer.givenUp = () => {
      throw new Error('given up');
    };
    confirmer.count = () => {
      throw new Error('count');
    };
    receive('a');
    receive('b');
    pass(1_000);
    assert.deepEqual(resent, ['a', 'b']);
    confirmer.maxAttempts = 1;
    pass(1_000);
    assert.deepEqual(
      new Set(faults.map(String)),
      new Set(['Error: again a', 'Error: again b', 'Error: count', 'Error: given up']),
    );
  });

  it('are found by their id at the service that has them, as long as that is there', () => {
    const [one, other] = [start(), start()];
    const ids = [one.receive('a').id, other.receive('b').id, one.receive('c').id];
    const found = () =>
      ids.map((id) => [one, other].findIndex(({ reports }) => openReportsOf(id) === reports));
    assert.deepEqual(found(), [0, 1, 0]);
    one.reports.handOver();
    assert.deepEqual(found(), [-1, 1, -1]);
    assert.deepEqual([openReportsOf(''), openReportsOf('12345678')], [undefined, undefined]);
  });

  it('are confirmed once, by their own service alone', () => {
    const [one, other] = [start(), start()];
    const { id } = one.receive('a');
    assert.deepEqual([other.reports.confirm(id), other.reports.sendAgain(id, 1)], [false, false]);
    assert.deepEqual([one.reports.sendAgain(id, 1), one.reports.confirm(id)], [true, true]);
    assert.deepEqual([one.reports.confirm(id), one.reports.sendAgain(id, 1)], [false, false]);
    assert.deepEqual(one.acknowledged, ['a']);
  });

  it('are those of the message that is just delivered, also where a node throws at it', () => {
    const { reports, confirmer } = start();
    const received = { topic: 't', payload: Buffer.alloc(0), retained: false, heardAt: now };
    const defer = () => ({ readOn() {}, acknowledge() {} });
    const deferrable = { isResent: false, ackedOrder: 0, isLost: false, mustWait: false, defer };
    assert.equal(reports.open(confirmer), undefined);
    assert.throws(() =>
      reports.receive(received, deferrable, () => {
        throw new Error('node');
      }),
    );
    assert.equal(reports.open(confirmer), undefined);
  });

  it('tell what became of their message where no node opens it', () => {
    const { reports } = start();
    const received = { topic: 't', payload: Buffer.alloc(0), retained: false, heardAt: now };
    const acknowledge = mock.fn();
    const defer = () => ({ readOn() {}, acknowledge });
    const receive = (outcome: Outcome, changes: Partial<Deferrable> = {}) =>
      reports.receive(
        received,
        { isResent: false, ackedOrder: 0, isLost: false, mustWait: false, defer, ...changes },
        () => outcome,
      );
    const outcomes: Outcome[] = ['delivered', 'unwanted', 'copy', 'repeat'];
    assert.deepEqual(
      outcomes.map((outcome) => receive(outcome)),
      ['delivered', 'unwanted', 'kept', 'kept'],
    );
    // It comes again without the first of its kind, by which it is known as a second one.
    assert.equal(acknowledge.mock.callCount(), 2);
    assert.deepEqual(
      outcomes.map((outcome) => receive(outcome, { mustWait: true })),
      ['kept', 'unwanted', 'kept', 'kept'],
    );
  });

  it('count what nobody wants behind them among what the broker waits for, until it is acknowledged', () => {
    const { reports, receive, pass, acknowledged } = start();
    const receiveUnwanted = (n: number, mustWait: boolean) => {
      const received = { topic: `u${n}`, payload: Buffer.alloc(0), retained: false, heardAt: now };
      const defer = () => assert.fail('is kept');
      const deferrable = { isResent: false, ackedOrder: 0, isLost: false, mustWait, defer };
      assert.equal(
        reports.receive(received, deferrable, () => 'unwanted'),
        'unwanted',
      );
    };
    const isHeldUp = () => {
      pass(61_000);
      return reports.isHeldUp;
    };
    const { id } = receive('open');
    for (let n = 0; n < 8; n++) {
      receiveUnwanted(n, true);
    }
    receiveUnwanted(8, false);
    assert.equal(isHeldUp(), false);
    receiveUnwanted(9, true);
    assert.equal(isHeldUp(), true);
    reports.confirm(id);
    assert.deepEqual([isHeldUp(), acknowledged], [false, ['open']]);
    receive('next');
    for (let n = 0; n < 8; n++) {
      receiveUnwanted(n, true);
    }
    assert.equal(isHeldUp(), false);
    receiveUnwanted(9, true);
    assert.equal(isHeldUp(), true);
    reports.connected('broker', true);
    receiveUnwanted(10, true);
    assert.equal(isHeldUp(), false);
  });

  it('count what nobody wants behind the last of them alone, and only until that is acknowledged', () => {
    const { reports, receive, pass } = start();
    const receiveUnwanted = () => {
      const received = { topic: 'u', payload: Buffer.alloc(0), retained: false, heardAt: now };
      const defer = () => assert.fail('is kept');
      const deferrable = { isResent: false, ackedOrder: 0, isLost: false, mustWait: true, defer };
      reports.receive(received, deferrable, () => 'unwanted');
    };
    const isHeldUp = () => {
      pass(61_000);
      return reports.isHeldUp;
    };
    const first = receive('first').id;
    const second = receive('second').id;
    reports.confirm(first);
    for (let n = 0; n < 9; n++) {
      receiveUnwanted();
    }
    assert.equal(isHeldUp(), true);
    reports.confirm(second);
    for (let n = 0; n < 10; n++) {
      receiveUnwanted();
    }
    assert.equal(isHeldUp(), false);
  });

  it('are acknowledged when all nodes have confirmed them, not within their delivery', () => {
    const { reports, confirmer, acknowledged, receive } = start();
    const other = { ...confirmer, owner: 'other' };
    reports.add(other);
    const ids: string[] = [];
    const defer = (events: DeferralEvents) => ({
      readOn() {},
      acknowledge() {
        acknowledged.push('t');
        events.written(1);
      },
    });
    const received = { topic: 't', payload: Buffer.alloc(0), retained: false, heardAt: now };
    const outcome = reports.receive(
      received,
      { isResent: false, ackedOrder: 0, isLost: false, mustWait: false, defer },
      () => {
        reports.confirm(String(reports.open(confirmer)?.id));
        ids.push(String(reports.open(other)?.id));
        return 'delivered';
      },
    );
    assert.deepEqual([outcome, acknowledged, reports.unconfirmed], ['kept', [], [received]]);
    reports.confirm(ids[0]!);
    assert.deepEqual([acknowledged, reports.unconfirmed], [['t'], []]);
    receive('u');
    assert.deepEqual(
      reports.unconfirmed.map(({ topic }) => topic),
      ['u'],
    );
  });

  it('are acknowledged behind their delivery where that has confirmed them', () => {
    const { reports, confirmer, acknowledged } = start();
    const defer = () => ({ readOn() {}, acknowledge: () => void acknowledged.push('t') });
    const received = { topic: 't', payload: Buffer.alloc(0), retained: false, heardAt: now };
    const outcome = reports.receive(
      received,
      { isResent: false, ackedOrder: 0, isLost: false, mustWait: false, defer },
      () => {
        const report = reports.open(confirmer)!;
        report.hasReached = true;
        reports.confirm(report.id);
        assert.deepEqual(acknowledged, []);
        return 'delivered';
      },
    );
    assert.deepEqual([outcome, acknowledged], ['kept', ['t']]);
  });

  it('are a reason to confirm as long as their node is there or may come back', () => {
    const { reports, confirmer, receive } = start();
    assert.deepEqual([reports.isConfirming, reports.isUnused], [true, false]);
    const { id } = receive('t');
    reports.remove(confirmer, true);
    assert.deepEqual([reports.isConfirming, reports.isUnused], [true, false]);
    reports.confirm(id);
    assert.equal(reports.isConfirming, false);
    const unused = new OpenReports(
      () => false,
      () => assert.fail(),
      () => undefined,
    );
    assert.equal(unused.hasCaughtUp(0), true, 'by the clock of the process');
    assert.deepEqual(
      [unused.isConfirming, unused.isUnused, unused.isFull, unused.isHeldUp],
      [false, true, false, false],
    );
  });

  it('tell that nothing more comes also where whoever is told fails', () => {
    const { reports, receive, pass, faults } = start();
    reports.onHeldUp = () => {
      throw new Error('told');
    };
    for (const topic of 'abcdefghij') {
      receive(topic);
    }
    pass(2_000);
    assert.deepEqual([reports.isHeldUp, faults.map(String)], [true, ['Error: told']]);
  });

  it('have caught up a second after the last of them, a minute after where they never end', () => {
    const { reports, receive } = start();
    reports.connected('broker', true);
    assert.equal(reports.hasCaughtUp(now), false);
    now += 1_000;
    assert.equal(reports.hasCaughtUp(now), true);
    reports.readOn();
    assert.equal(reports.hasCaughtUp(now), false);
    const since = now;
    now += 1;
    receive('t');
    now = since + 59_999;
    assert.equal(reports.hasCaughtUp(since), false);
    now++;
    assert.equal(reports.hasCaughtUp(since), true);
    for (const topic of 'abcdefghi') {
      receive(topic);
    }
    assert.equal(reports.hasCaughtUp(since), false, 'the broker may have no room for more');
  });

  it('that have not reached their flow come with the next look when that can be', () => {
    const { reports, confirmer, resent, pass } = start();
    const defer = () => ({ readOn() {}, acknowledge() {} });
    const received = { topic: 't', payload: Buffer.alloc(0), retained: false, heardAt: now };
    reports.receive(
      received,
      { isResent: false, ackedOrder: 0, isLost: false, mustWait: false, defer },
      () => {
        reports.open({ ...confirmer, timeoutMs: 60_000 });
        reports.open(confirmer);
        return 'delivered';
      },
    );
    confirmer.timeoutMs = 60_000;
    reports.hurry(confirmer);
    pass(TICK_MS);
    assert.deepEqual(resent, ['t']);
  });

  it('are acknowledged with the last of their nodes, and none is lost where one ends first', () => {
    const { reports, confirmer, acknowledged } = start();
    const ids: string[] = [];
    const defer = () => ({ readOn() {}, acknowledge: () => void acknowledged.push('t') });
    const received = { topic: 't', payload: Buffer.alloc(0), retained: false, heardAt: now };
    reports.receive(
      received,
      { isResent: false, ackedOrder: 0, isLost: false, mustWait: false, defer },
      () => {
        ids.push(reports.open(confirmer)!.id, reports.open(confirmer)!.id);
        return 'delivered';
      },
    );
    reports.confirm(ids[1]!);
    assert.deepEqual([acknowledged, reports.unconfirmed.length], [[], 1]);
    reports.confirm(ids[0]!);
    assert.deepEqual(acknowledged, ['t']);
  });

  it('are known until the broker has had their acknowledgement', () => {
    const { reports, confirmer } = start();
    let told: DeferralEvents | undefined;
    const defer = (events: DeferralEvents) => {
      told = events;
      return { readOn() {}, acknowledge: () => events.written(1) };
    };
    const received = { topic: 't', payload: Buffer.alloc(0), retained: false, heardAt: now };
    reports.receive(
      received,
      { isResent: false, ackedOrder: 0, isLost: false, mustWait: false, defer },
      () => {
        reports.open(confirmer);
        return 'delivered';
      },
    );
    reports.remove(confirmer, false);
    assert.equal(reports.isUnused, false);
    told?.settled(1);
    assert.equal(reports.isUnused, true);
  });

  it('are none any more where they wait only to be acknowledged, and forgotten with their session', () => {
    const { reports, confirmer, receive } = start();
    reports.confirm(receive('t', undefined, { mustWait: true }).id);
    reports.remove(confirmer, false);
    assert.deepEqual([reports.unconfirmed, reports.isUnused], [[], false]);
    reports.connected('broker', false);
    assert.equal(reports.isUnused, true);
  });

  it('hold up the broker also where all are confirmed, but none can be acknowledged', () => {
    const { reports, receive, pass, faults } = start();
    for (const topic of 'abcdefghij') {
      reports.confirm(receive(topic, undefined, { mustWait: true }).id);
    }
    pass(2_000);
    assert.deepEqual([reports.isHeldUp, faults], [true, []]);
  });

  it('are read and acknowledged no more over a connection that is lost, and known when they come by the next', () => {
    const { reports, receive, read, given, acknowledged } = start({ maxMessages: 0 });
    const { id } = receive('open', undefined, { isLost: true });
    receive('free', undefined, { isLost: true, isOpened: false });
    assert.deepEqual([read, reports.isFull], [['open', 'free'], false]);
    for (const topic of ['open', 'free']) {
      receive(topic, undefined, { isResent: true });
    }
    assert.deepEqual([given, acknowledged], [['open', 'free'], ['free']]);
    reports.confirm(id);
    assert.deepEqual(acknowledged, ['free', 'open']);
    reports.confirm(receive('late', undefined, { isLost: true }).id);
    assert.deepEqual(acknowledged, ['free', 'open']);
  });

  for (const [title, connections, times] of [
    ['with that session', [['broker', true]], 1],
    [
      'with that session, after another address that had none',
      [
        ['other', false],
        ['broker', true],
      ],
      1,
    ],
    ['without it', [['broker', false]], 2],
    [
      'with a session of later',
      [
        ['broker', false],
        ['broker', true],
      ],
      2,
    ],
  ] as [string, [string, boolean][], number][]) {
    for (const isConfirmed of [false, true]) {
      it(`are given ${times} times where the next connection is one ${title}${isConfirmed ? ', and they are confirmed' : ''}`, () => {
        const { reports, receive, given } = start();
        const { id } = receive('t');
        for (const [n, [broker, isPresent]] of connections.entries()) {
          reports.connected(broker, isPresent);
          if (n === 0 && isConfirmed) {
            reports.confirm(id);
          }
        }
        receive('t', undefined, { isResent: true });
        assert.equal(given.length, times);
      });
    }
  }

  describe('when their service is deployed', () => {
    const keptSessions = ['mt-open-reports'];
    /** The next service, whose session the broker has. */
    const follow = (sessions: readonly string[]) => start({ keptSessions: sessions }, undefined, true);

    it('come anew to the one that follows, but for what was confirmed and not acknowledged', () => {
      const before = start({ keptSessions });
      before.receive('open');
      const stored = before.receive('stored', undefined, { mustWait: true });
      before.reports.confirm(stored.id);
      before.receive('lost', undefined, { isLost: true, isOpened: false });
      before.reports.handOver();
      assert.deepEqual([before.reports.unconfirmed, before.reports.isConfirming], [[], false]);
      // What these have confirmed nobody can know again.
      for (let service = 0; service < 101; service++) {
        const { reports, receive } = start();
        reports.confirm(receive('stored', undefined, { mustWait: true }).id);
        reports.handOver();
      }
      const after = follow(keptSessions);
      assert.equal(after.reports.isUnused, false);
      for (const topic of ['stored', 'lost', 'open']) {
        after.receive(topic, undefined, { isResent: true });
      }
      assert.deepEqual([after.given, after.acknowledged], [['open'], ['stored', 'lost']]);
    });

    it('come anew where one of them has the content of what was confirmed', () => {
      const before = start({ keptSessions });
      before.receive('t');
      before.reports.confirm(before.receive('t', undefined, { mustWait: true }).id);
      before.reports.handOver();
      const after = follow(keptSessions);
      after.receive('t', undefined, { isResent: true });
      assert.deepEqual(after.given, ['t']);
    });

    it('come anew where the broker may not have had the acknowledgement of one with their content', () => {
      const before = start({ keptSessions });
      before.reports.confirm(before.receive('t').id);
      before.receive('t');
      before.reports.handOver();
      const after = follow(keptSessions);
      after.receive('t', undefined, { isResent: true });
      assert.deepEqual(after.given, ['t']);
    });

    for (const [title, sessions] of [
      ['without a session of its own', []],
      ['with another session', ['mt-another']],
      ['without any, as before', undefined],
    ] as const) {
      it(`come anew to one ${title}`, () => {
        const before = start(sessions ? { keptSessions } : {});
        before.reports.confirm(before.receive('stored', undefined, { mustWait: true }).id);
        before.reports.handOver();
        const after = sessions ? follow(sessions) : start({}, undefined, true);
        after.receive('stored', undefined, { isResent: true });
        assert.deepEqual(after.given, ['stored']);
        follow(keptSessions);
      });
    }

    it('come no more, nor is anything counted', () => {
      const { reports, confirmer, receive, resent, pass } = start();
      const told = mock.fn();
      confirmer.count = told;
      receive('t');
      reports.handOver();
      pass(10_000);
      assert.deepEqual([resent, told.mock.callCount()], [[], 0]);
    });
  });
});
