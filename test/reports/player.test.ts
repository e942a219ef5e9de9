// A record that is played: through which receivers a report goes, what is said of the others, and in which bounds.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { ServiceError } from '../../src/errors.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import type { Report } from '../../src/protocol/reports/index.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { type Played, Player, type PlayReceiver } from '../../src/reports/player.ts';
import type { ReportFilter } from '../../src/reports/report-filter.ts';
import { ALL } from '../session.ts';

const G = 'c0141f68fc3d';
const D = 'd00000000001';
const START = Date.parse('2026-01-02T03:04:05.678Z');

describe('a record that is played', () => {
  const { signal } = new AbortController();
  let isPaused: boolean;
  let labelled: Set<string>;
  let player: Player;
  let leaving: AbortController;
  /** Before the list of devices has come. */
  let meanwhile: () => void;

  beforeEach(() => {
    isPaused = false;
    meanwhile = () => {};
    labelled = new Set();
    player = new Player({
      topics: createTopics(''),
      catalogue: createCatalogue(),
      nameOf: (mac) => (mac === D ? 'Lobby' : undefined),
      isPaused: () => isPaused,
      gatewaysWithLabels: async () => {
        meanwhile();
        return labelled;
      },
    });
  });
  afterEach(() => player.close());

  const line = (
    rest: string,
    payload: object = {},
    { ms = 0, gateway = G, ...more }: Record<string, unknown> = {},
  ) =>
    JSON.stringify({
      time: new Date(START + Number(ms)).toISOString(),
      topic: `mt/gateway/${gateway}/device/${D}/${rest}`,
      payload: { time: 't', ...payload },
      ...more,
    });
  const receiver = (filter: Partial<ReportFilter> = {}): PlayReceiver & { got: Report[] } => {
    const got: Report[] = [];
    return { filter: { ...ALL, ...filter }, send: (report) => void got.push(report), got };
  };
  const play = (receivers: PlayReceiver[], lines: unknown, more: object = {}) =>
    player.play(receivers, { run: 'a', begin: false, lines, ...more }, signal);

  it('goes through the filters of each receiver, marked as a test, read and named as it would be received', async () => {
    const [all, events, other, raw] = [
      receiver(),
      receiver({ kinds: ['event'] }),
      receiver({ devices: ['d00000000002'] }),
      receiver({ decode: false, kinds: ['measurement'] }),
    ];
    const played = await play(
      [all, events, other, raw],
      [
        line('measurement/8800', { seq: 1, value: '0866' }),
        line('event/8200', { seq: 2 }, { retained: true }),
      ],
    );
    assert.deepEqual(played, {
      ...{ lines: 2, taken: 2, untaken: 0, failed: 0, problems: [], isReplaced: false, isPaused: false },
    });
    assert.deepEqual(
      [all, events, other, raw].map(({ got }) => got.map(({ kind }) => kind)),
      [['measurement', 'event'], ['event'], [], ['measurement']],
    );
    const [first, second] = all.got;
    assert.deepEqual([first?.value, raw.got[0]?.value, first?.deviceName], [21.5, '0866', 'Lobby']);
    assert.deepEqual([first?.test, second?.test, second?.retained], [true, true, true]);
    assert.notEqual(first, raw.got[0]);
  });

  it('gives each receiver nested values of its own', async () => {
    const two = [receiver({ decode: false }), receiver({ decode: false })] as const;
    await play([...two], [line('measurement-decoded/x', { seq: 1, value: { deep: [1] } })]);
    const [one, other] = two.map(({ got }) => got[0]?.value as { deep: number[] });
    one?.deep.push(2);
    assert.deepEqual(other, { deep: [1] });
  });

  it('lets through the gateways with a label only', async () => {
    labelled.add('c0141f68fc3e');
    const some = receiver({ labels: ['floor'] });
    const played = await play(
      [some],
      [line('event/8200', { seq: 1 }), line('event/8200', { seq: 2 }, { gateway: 'c0141f68fc3e' })],
    );
    assert.deepEqual([some.got.map(({ seq }) => seq), played.taken, played.untaken], [[2], 1, 1]);
  });

  it('drops duplicates by the times of the record, over all portions', async () => {
    const once = receiver({ duplicates: 'drop', duplicateWindow: 10 });
    const same = (ms: number) => line('event/8200', { seq: 1 }, { ms });
    await play([once], [same(0), same(9_000)], { begin: true });
    await play([once], [same(10_000), same(20_001)]);
    assert.equal(once.got.length, 2);
    await play([once], [same(0)], { run: 'b', begin: true });
    assert.equal(once.got.length, 3);
  });

  it('says of a report that is nested too deep that it is, with the text that was received', async () => {
    const text = `{"time":"t","seq":1,"value":${'['.repeat(500)}${']'.repeat(500)}}`;
    const { problems } = await play([receiver()], [line('event/8200', {}, { payload: undefined, text })]);
    const { message, cause } = (problems[0] as Played['problems'][0]).error as ServiceError;
    assert.match(message, /nested deeper than 500 levels/);
    assert.deepEqual(cause, { topic: `mt/gateway/${G}/device/${D}/event/8200`, payload: text });
  });

  it('says of each line what is wrong with it, of 20 at most, and plays the others', async () => {
    const all = receiver();
    const wrong = Array.from({ length: 30 }, () => '{');
    const lines = ['', line('event/8200', { seq: 'x' }), line('event/8200', { seq: 1 }), 5, ...wrong];
    const { taken, untaken, failed, problems } = await play([all], lines);
    assert.deepEqual([taken, untaken, failed, problems.length, all.got.length], [1, 0, 32, 20, 1]);
    assert.deepEqual(
      problems.slice(0, 3).map(({ line, error }) => [line, (error as { code: string }).code]),
      [
        [1, 'BAD_REPORT'],
        [3, 'INVALID_INPUT'],
        [4, 'INVALID_INPUT'],
      ],
    );
  });

  it('goes on with the other lines where a receiver fails', async () => {
    const all = receiver();
    const failing: PlayReceiver = {
      filter: ALL,
      send() {
        throw new Error('no more');
      },
    };
    const { failed, problems } = await play([failing, all], [line('heartbeat'), line('heartbeat')]);
    assert.deepEqual([failed, problems.map(({ line }) => line)], [2, [0, 1]]);
  });

  for (const [what, happen, expected] of [
    [
      'flows begin to be replaced',
      () => {
        isPaused = true;
      },
      { isPaused: true },
    ],
    ['flows are replaced', () => player.flowsReplaced(), { isPaused: true }],
    [
      'another run begins',
      () => void player.play([], { run: 'b', begin: true, lines: [] }, signal),
      { isReplaced: true },
    ],
    ['the page is left', () => leaving.abort(), {}],
  ] as const) {
    it(`sends nothing to the nodes of before when ${what} while it waits for the list of devices`, async () => {
      labelled.add(G);
      leaving = new AbortController();
      meanwhile = happen;
      const some = receiver({ labels: ['floor'] });
      const lines = [line('event/8200', { seq: 1 })];
      const played = await player.play([some], { run: 'a', begin: true, lines }, leaving.signal);
      const nothing = { lines: 0, taken: 0, untaken: 0, failed: 0, problems: [] };
      assert.deepEqual(played, { ...nothing, isReplaced: false, isPaused: false, ...expected });
      assert.equal(some.got.length, 0);
    });
  }

  it('sends nothing while flows are replaced, and says how far it has come', async () => {
    isPaused = true;
    const all = receiver();
    const lines = Array.from({ length: 500 }, (_, seq) => line('event/8200', { seq: seq % 256 }));
    const before = await play([all], lines);
    assert.deepEqual([before.lines, before.isPaused, all.got.length], [0, true, 0]);
    isPaused = false;
    all.send = () => {
      isPaused = true;
    };
    const { lines: count, taken } = await play([all], lines);
    assert.ok(count > 0 && count < 500, `${count} lines`);
    assert.equal(taken, count);
  });

  it('is one at a time: another one ends it', async () => {
    const all = receiver();
    await play([all], [line('heartbeat')], { run: 'a', begin: true });
    await play([all], [line('heartbeat')], { run: 'b', begin: true });
    const late = await play([all], [line('heartbeat')], { run: 'a' });
    assert.deepEqual([late.isReplaced, late.lines, all.got.length], [true, 0, 2]);
    assert.equal((await play([all], [line('heartbeat')], { run: 'b' })).isReplaced, false);
  });

  it('lets flows have their turn after every 50 lines, and at the end', async () => {
    const all = receiver();
    const lines = Array.from({ length: 120 }, () => line('heartbeat'));
    const seen = new Set<number>();
    let isOver = false;
    const look = () => {
      seen.add(all.got.length);
      if (!isOver) {
        setImmediate(look);
      }
    };
    look();
    await play([all], lines);
    isOver = true;
    assert.deepEqual([...seen], [0, 50, 100, 120]);
  });

  it('says that flows are replaced also when that begins with its last line', async () => {
    const all = receiver();
    all.send = () => {
      isPaused = true;
    };
    const { lines, isPaused: isOver } = await play([all], [line('heartbeat')]);
    assert.deepEqual([lines, isOver], [1, true]);
  });

  it('passes no receiver that lets nothing through', async () => {
    const none = receiver({ kinds: ['heartbeat'], form: 'decoded' });
    const { untaken, failed } = await play([none], [line('heartbeat')]);
    assert.deepEqual([untaken, failed, none.got], [1, 0, []]);
  });

  it('gives way to another one when nothing has come for ten minutes, and when its service closes', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const all = receiver();
      const isReplaced = async (run: string) => (await play([all], [line('heartbeat')], { run })).isReplaced;
      const LEASE_MS = 600_000;
      await isReplaced('a');
      mock.timers.tick(LEASE_MS - 1);
      await isReplaced('a');
      mock.timers.tick(LEASE_MS - 1);
      assert.equal(await isReplaced('b'), true);
      mock.timers.tick(1);
      assert.equal(await isReplaced('b'), false);
      player.close();
      assert.equal(await isReplaced('c'), false);
    } finally {
      mock.timers.reset();
    }
  });

  it('refuses more than 1 000 lines at a time, and what is no portion', async () => {
    const all = receiver();
    const whole = await play(
      [all],
      Array.from({ length: 1_000 }, () => line('heartbeat')),
    );
    assert.equal(whole.taken, 1_000);
    assert.equal((await play([all], [], { run: 'x'.repeat(100), begin: true })).isReplaced, false);
    for (const [lines, run, field, message] of [
      [Array.from({ length: 1_001 }, () => ''), 'a', 'lines', /^lines has more than 1000 entries$/],
      ['x', 'a', 'lines', /^lines must be a list: x$/],
      [{ length: 5 }, 'a', 'lines', /^lines must be a list: /],
      [[], undefined, 'run', /^run must be text: /],
      [[], 'x'.repeat(101), 'run', /^run must be text: x+/],
    ] as const) {
      await assert.rejects(play([all], lines, { run }), (error: { message: string; cause: object }) => {
        assert.equal((error.cause as { field: string }).field, field);
        assert.match(error.message, message);
        return true;
      });
    }
  });
});
