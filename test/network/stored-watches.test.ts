// What a store holds of how long each was silent: when Node-RED ends without a word, and of what comes seldom.
import assert from 'node:assert/strict';
import { DeviceWatches, type OpenWatch } from '../../src/network/device-watches.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import type { WatchSettings } from '../../src/network/watch-context.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { ALL, D, deviceAt, G, G2, HOUR, MINUTE, SETTINGS, TIME, World } from './watched-world.ts';

const OTHERS = [2, 3, 4].map((i) => ({ device: deviceAt(i) }));

describe('what a store holds of watches', () => {
  let world: World;
  let told: string[];
  let stored: unknown;
  let writes = 0;
  /** What was said of what found no room. */
  let full: (number | undefined)[];

  beforeEach(() => {
    world = new World();
    told = [];
    full = [];
  });

  const copy = () => JSON.parse(JSON.stringify(world.watches.store(100))) as unknown;

  /** Writes each change at once. */
  function open(settings: Partial<WatchSettings>): OpenWatch {
    world.watches.onChange = () => {
      writes++;
      stored = copy();
    };
    return world.watches.open(
      'n',
      { ...SETTINGS, ...settings },
      {
        changed: ({ condition, active, device }) =>
          void told.push(`${active ? '+' : '-'}${condition} ${device}`),
        counted() {},
        full: (unrestored) => void full.push(unrestored),
        follow() {},
      },
    );
  }

  function start(settings: Partial<WatchSettings>): OpenWatch {
    world.startAnew();
    const watch = open(settings);
    world.watches.restore(stored);
    world.watches.setPaused(false);
    world.listen(true);
    return watch;
  }

  it('is also what brought most reports of a device, where a deploy leaves no other gateway', () => {
    open({ silentAfter: 0 });
    world.run(12 * HOUR, 20 * MINUTE, [{ gateway: G }, ...OTHERS]);
    world.run(20 * MINUTE, 20 * MINUTE, [{ gateway: G }, { gateway: G2 }, ...OTHERS]);
    stored = copy();
    const watch = start({ silentAfter: 0 });
    world.watches.setPaused(true);
    watch.close(true);
    open({ silentAfter: 0, gateways: [G] });
    world.watches.setPaused(false);
    world.run(6 * HOUR, 20 * MINUTE, OTHERS);
    assert.deepEqual(told, [`+silent ${D}`]);
  });

  for (const seconds of [0, 1, 10, 40]) {
    it(`spares the first minute and an interval also where the store is read ${seconds} s after the broker is there`, () => {
      const settings = { silentAfter: 0, conditions: ['silent', 'gateway-silent'] as const };
      open(settings);
      const both = [{}, { device: deviceAt(2) }, { device: deviceAt(3) }];
      world.run(30 * MINUTE, 10_000, both);
      for (const one of both) {
        world.hear('heartbeat', {}, one);
      }
      stored = copy();
      world.watches.setPaused(true);
      world.wait(5 * MINUTE);
      world.startAnew();
      world.listen(false);
      open(settings);
      world.watches.setPaused(false);
      world.wait(200);
      world.listen(true);
      world.wait(seconds * 1_000);
      world.watches.restore(stored);
      // The gateway comes back a little later than all are given after a start.
      world.wait(75_000 - seconds * 1_000);
      world.run(5 * MINUTE, 10_000, both);
      assert.deepEqual(told, []);
    });
  }

  it('is of a gateway not who hears its radio', () => {
    const X = 'c0141f68fc99';
    open({});
    world.run(MINUTE, 10_000, [{ device: X }, { gateway: X, device: X }]);
    const { n: rows } = copy() as { n: { id: string }[] };
    const known = { kind: 'gateway', interval: 10_000, brought: true, silent: 10_000 };
    assert.deepEqual(
      rows.find((row) => row.id === X),
      { id: X, ...known },
    );
  });

  it('is also what only a gateway outside of the watch brings since its own was forgotten', () => {
    const settings: Partial<WatchSettings> = {
      gateways: [G],
      conditions: ['silent', 'error'],
      silentAfter: 0,
    };
    const watch = open(settings);
    const outside = [{ gateway: G2 }, ...OTHERS.map((one) => ({ ...one, gateway: G2 }))];
    world.run(20 * MINUTE, MINUTE / 3, [{}, ...OTHERS, ...outside]);
    world.hear('measurement-error/8800', { error: 3 });
    world.run(MINUTE, MINUTE / 3, outside);
    assert.deepEqual(told.splice(0), [`+error ${D}`]);
    watch.forget(G);
    world.run(MINUTE, MINUTE / 3, outside);
    stored = copy();
    const again = start(settings);
    world.run(10 * MINUTE, MINUTE / 3, outside);
    assert.deepEqual([again.counts, again.active().length], [{ watched: 4, active: 1 }, 1]);
    world.hear('measurement/8800', { value: '1234' }, { gateway: G2 });
    world.run(MINUTE, MINUTE / 3, outside);
    assert.deepEqual(told, [`-error ${D}`]);
  });

  describe('of a gateway that has lost its label meanwhile ends', () => {
    const labels = ['L'];
    let before: unknown;
    const TWO = [{ device: deviceAt(1) }, ...OTHERS, { gateway: G2, device: deviceAt(5) }];

    beforeEach(() => {
      open({ labels }).setLabelled(new Set([G, G2]));
      world.run(10 * MINUTE, MINUTE / 6, [...TWO, { gateway: G2, device: deviceAt(6) }]);
      world.run(10 * MINUTE, MINUTE / 6, [{ gateway: G2, device: deviceAt(6) }]);
      assert.deepEqual(told.splice(0).sort(), [`+gateway-silent ${G}`, `+silent ${deviceAt(5)}`]);
      before = copy();
      world.startAnew();
    });

    for (const order of ['before', 'after']) {
      it(`where the store is read ${order} the list of devices`, () => {
        const watch = open({ labels });
        const read = () => world.watches.restore(before);
        world.watches.setPaused(false);
        world.listen(true);
        if (order === 'before') {
          read();
        }
        watch.setLabelled(new Set([G2]));
        if (order === 'after') {
          read();
        }
        assert.deepEqual(told, [`-gateway-silent ${G}`]);
        assert.equal(watch.counts.active, 1);
        world.run(HOUR, MINUTE / 6, [{ gateway: G2, device: deviceAt(6) }]);
        watch.setLabelled(new Set([G, G2]));
        world.run(2 * MINUTE, MINUTE / 6, [{ gateway: G2, device: deviceAt(6) }]);
        assert.deepEqual(told.slice(1), [`+gateway-silent ${G}`]);
      });
    }

    /** Its gateway has lost its label, and the store is read while flows are replaced. */
    function openDuringDeploy() {
      const watch = open({ labels });
      world.watches.setPaused(false);
      world.listen(true);
      watch.setLabelled(new Set([G2]));
      world.watches.setPaused(true);
      world.watches.restore(before);
      return watch;
    }

    it('where the store is read during a deploy, when flows run again', () => {
      const watch = openDuringDeploy();
      assert.deepEqual(told, []);
      world.watches.setPaused(false);
      assert.deepEqual([told, watch.counts.active], [[`-gateway-silent ${G}`], 1]);
    });

    it('and does not come back with the label where it was forgotten during that deploy', () => {
      const watch = openDuringDeploy();
      watch.forget(deviceAt(1));
      world.watches.setPaused(false);
      const { watched } = watch.counts;
      watch.setLabelled(new Set([G, G2]));
      // The gateway and three of its four devices.
      assert.equal(watch.counts.watched - watched, 4);
    });
  });

  it('is at most an hour old where Node-RED is killed and nothing but silence has changed', () => {
    const settings = { silentAfter: (24 * HOUR) / 1_000 };
    open(settings);
    world.run(12 * HOUR, 20 * MINUTE, [{}, ...OTHERS]);
    for (let times = 0; times < 3; times++) {
      world.run(8 * HOUR, 20 * MINUTE, OTHERS);
      start(settings);
    }
    assert.deepEqual(told, []);
    world.run(4 * HOUR, 20 * MINUTE, OTHERS);
    assert.deepEqual(told, [`+silent ${D}`]);
  });

  it('is written once an hour at most for that, and not where all are heard, or none', () => {
    open({ silentAfter: (24 * HOUR) / 1_000 });
    const listener = { changed() {}, counted() {}, full() {}, follow() {} };
    world.watches.open('of nobody', { ...SETTINGS, conditions: ['error'] }, listener);
    const writesIn = (run: () => void) => {
      const before = writes;
      run();
      return writes - before;
    };
    const all = [{}, ...OTHERS];
    writesIn(() => world.run(12 * HOUR, 20 * MINUTE, all));
    assert.equal(
      writesIn(() => world.run(12 * HOUR, 20 * MINUTE, all)),
      0,
    );
    const whileSilent = writesIn(() => world.run(12 * HOUR, MINUTE, OTHERS));
    assert.ok(whileSilent === 11 || whileSilent === 12, `${whileSilent}`);
    copy();
    assert.equal(
      writesIn(() => world.run(HOUR + 1, MINUTE, OTHERS)),
      1,
      'after an hour',
    );
    writesIn(() => world.run(13 * HOUR, MINUTE, OTHERS));
    assert.deepEqual(told, [`+silent ${D}`]);
    assert.equal(
      writesIn(() => world.run(12 * HOUR, MINUTE, OTHERS)),
      0,
      'it was told',
    );
    assert.equal(
      writesIn(() => world.wait(12 * HOUR)),
      0,
    );
  });

  describe('of one that has come too seldom since the start to know how often it comes', () => {
    /** It comes every 8 hours until it dies; Node-RED starts every 16 hours. */
    function dieBetweenStarts(settings: Partial<WatchSettings>): void {
      open(settings);
      for (let hours = 0; hours < 96; hours += 8) {
        world.run(8 * HOUR, 20 * MINUTE, OTHERS);
        if (hours % 16 === 0) {
          stored = copy();
          start(settings);
        }
        if (hours < 48) {
          world.hear();
        }
      }
    }

    it('is its silence, where a time is set', () => {
      dieBetweenStarts({ silentAfter: (24 * HOUR) / 1_000 });
      assert.deepEqual(told, [`+silent ${D}`]);
    });

    it('is nothing, where none is set', () => {
      dieBetweenStarts({ silentAfter: 0 });
      assert.deepEqual(told, []);
    });

    it('is its silence until no time is set any more: then it is not expected', () => {
      open({ silentAfter: (24 * HOUR) / 1_000 });
      world.run(12 * HOUR, 20 * MINUTE, OTHERS);
      world.hear();
      stored = copy();
      start({ silentAfter: 0 });
      world.run(24 * HOUR, 20 * MINUTE, OTHERS);
      assert.deepEqual(told, []);
    });

    it('comes after what is known, where there is no room for all', () => {
      open({ silentAfter: (24 * HOUR) / 1_000 });
      world.hear('heartbeat', {}, { device: deviceAt(9) });
      world.run(12 * HOUR, 20 * MINUTE, [{}]);
      const ids = (max: number) =>
        Object.values(world.watches.store(max))
          .flat()
          .map(({ id }) => id);
      assert.ok(ids(100).includes(deviceAt(9)));
      assert.ok(!ids(ids(100).length - 1).includes(deviceAt(9)));
    });
  });

  describe('comes back as it was', () => {
    const KNOWN = { id: D, kind: 'device', gateway: G, interval: MINUTE };
    const GATEWAY = { id: G, kind: 'gateway', interval: MINUTE / 2 };
    const since = TIME;
    const exact = (length: number) => `${'2026-01-02T03:04:05.'.padEnd(length - 1, '0')}Z`;
    const withAlarm = (...active: unknown[]) => ({ ...KNOWN, active });
    const listen = (settings: Partial<WatchSettings>) =>
      open({ conditions: ALL, silentAfter: 0, ...settings });
    const back = (given: unknown, settings: Partial<WatchSettings> = {}) => {
      listen(settings);
      world.watches.restore({ n: given });
      return (copy() as { n: unknown }).n;
    };

    const KEPT: Record<string, object> = {
      'a device': KNOWN,
      'one that another gateway brings mostly': { ...KNOWN, main: G2 },
      'the only one of its gateway': { ...KNOWN, alone: true },
      'one that was silent': { ...KNOWN, silent: 5_000 },
      'one whose gateway nobody knows': { id: D, kind: 'device', interval: MINUTE },
      'one of which nobody knows how often it comes': { id: D, kind: 'device', gateway: G },
      'a gateway': GATEWAY,
      'a gateway that was silent': { ...GATEWAY, silent: 5_000 },
      'a low battery': withAlarm({ condition: 'battery-low', since, value: 5, limit: 20, gateway: G2 }),
      'a condition without values': withAlarm({ condition: 'dfu', since }),
      'several conditions': withAlarm(
        { condition: 'dfu', since },
        { condition: 'weak-signal', since, value: -90 },
      ),
      'errors of the heartbeat and of properties': withAlarm({
        condition: 'error',
        since,
        errors: [null, '8800'],
      }),
      'eight errors': withAlarm({ condition: 'error', since, errors: [...'12345678'] }),
      'an error that is over, which nobody has heard': withAlarm({ condition: 'error', since, errors: [] }),
      'an error of a long name': withAlarm({ condition: 'error', since, errors: ['x'.repeat(200)] }),
    };
    for (const [what, given] of Object.entries(KEPT)) {
      it(what, () => {
        assert.deepEqual([back([given]), full], [[given], []]);
      });
    }

    it('with the interval of a gateway whose silence nobody watches', () => {
      const given = { ...KNOWN, gatewayInterval: 5_000 };
      assert.deepEqual(back([given], { conditions: ['silent'] }), [given]);
    });

    it('as far as there is room: it says how many find none, and what was told of them ends', () => {
      world = new World(2);
      const others = OTHERS.map(({ device }) => ({ ...KNOWN, id: device }));
      const needing = { ...withAlarm({ condition: 'dfu', since, gateway: G2 }), id: deviceAt(9) };
      listen({});
      world.takeTurns();
      world.watches.restore({ n: [...others, needing] });
      assert.deepEqual([full, told], [[2], [`-dfu ${deviceAt(9)}`]]);
      assert.deepEqual((copy() as { n: unknown[] }).n, others.slice(0, 2));
      world.hear();
      assert.deepEqual(full, [2], 'more is nothing new');
    });

    it('with the gateway that was taken away, unless it is heard before the store is read', () => {
      const settings: Partial<WatchSettings> = { gateways: [G], conditions: ['silent'] };
      const given = { id: D, kind: 'device', taken: G, interval: MINUTE };
      assert.deepEqual(back([given], settings), [given]);
      world = new World();
      listen(settings);
      world.hear('heartbeat', {}, OTHERS[0]);
      world.watches.restore({ n: [given] });
      const { n: devices } = copy() as { n: { id: string }[] };
      const [device] = devices.filter(({ id }) => id === D);
      assert.deepEqual(device, { id: D, kind: 'device', gateway: G, interval: MINUTE });
    });

    const ODD: [what: string, given: unknown, expected: object[]][] = [
      ['no list', 7, []],
      ['nothing', [null, 7, 'x', {}], []],
      [
        'no MAC',
        [
          { ...KNOWN, id: 'x' },
          { ...KNOWN, id: undefined },
        ],
        [],
      ],
      [
        'another kind',
        [
          { ...KNOWN, kind: 'x' },
          { ...KNOWN, kind: undefined },
        ],
        [],
      ],
      ['its gateway twice', [{ ...KNOWN, main: G }], [KNOWN]],
      [
        'a gateway with what only devices have',
        [{ ...GATEWAY, gateway: G2, taken: G2, main: G2, alone: true }],
        [GATEWAY],
      ],
      [
        'gateways that are none',
        [{ ...KNOWN, gateway: 'x', main: 7 }],
        [{ id: D, kind: 'device', interval: MINUTE }],
      ],
      ...[0, -1, 'x', null].map((interval): [string, unknown, object[]] => [
        `an interval of ${JSON.stringify(interval)}`,
        [{ ...KNOWN, interval }],
        [{ id: D, kind: 'device', gateway: G }],
      ]),
      ...[0, -1, '5', null].map((silent): [string, unknown, object[]] => [
        `a silence of ${JSON.stringify(silent)}`,
        [{ ...KNOWN, silent }],
        [KNOWN],
      ]),
      ...['yes', 1, false].map((alone): [string, unknown, object[]] => [
        `being alone as ${JSON.stringify(alone)}`,
        [{ ...KNOWN, alone }],
        [KNOWN],
      ]),
      ['conditions that are no list', [{ ...KNOWN, active: 7 }], [KNOWN]],
      [
        'conditions that are none',
        [
          withAlarm(
            ...[null, 7, {}, { condition: 'x', since }, { condition: 'dfu' }, { condition: 'dfu', since: 7 }],
            ...[
              { condition: 'dfu', since: 'never' },
              { condition: 'dfu', since: exact(201) },
            ],
          ),
        ],
        [KNOWN],
      ],
      [
        'a time that is as long as may be',
        [withAlarm({ condition: 'dfu', since: exact(200) })],
        [withAlarm({ condition: 'dfu', since: exact(200) })],
      ],
      [
        'values that are no numbers, and errors that belong to nothing',
        [withAlarm({ condition: 'dfu', since, value: '5', limit: null, gateway: 'x', errors: ['8800'] })],
        [withAlarm({ condition: 'dfu', since })],
      ],
      ...[undefined, 7, [7, {}, [], 'x'.repeat(201)]].map((errors): [string, unknown, object[]] => [
        `an error of ${JSON.stringify(errors)?.slice(0, 20)}, for the heartbeat to end`,
        [withAlarm({ condition: 'error', since, errors })],
        [withAlarm({ condition: 'error', since, errors: [null] })],
      ]),
      [
        'some errors that are none, and too many',
        [withAlarm({ condition: 'error', since, errors: [7, 'x'.repeat(201), null, ...'123456789'] })],
        [withAlarm({ condition: 'error', since, errors: [null, ...'12345'] })],
      ],
    ];
    for (const [what, given, expected] of ODD) {
      it(`as far as it goes, with ${what}`, () => {
        assert.deepEqual(back(given), expected);
      });
    }

    it('with the last eight errors, those of before and those since', () => {
      const errors = [...'12345678'];
      back([withAlarm({ condition: 'error', since, errors })]);
      world.hear('measurement-error/own', { error: 3 });
      const [stored] = (copy() as { n: { active: { errors: string[] }[] }[] }).n;
      assert.deepEqual(stored?.active[0]?.errors, [...errors.slice(1), 'own']);
    });

    it('and has been silent for a year at most', () => {
      const days = (count: number) => count * 24 * HOUR;
      assert.deepEqual(back([{ ...KNOWN, silent: days(400) }]), [{ ...KNOWN, silent: days(366) }]);
    });

    it('by the clock of the machine, where no other one is given', () => {
      const watches = new DeviceWatches(new NetworkState(), createCatalogue(), {
        nameOf: () => undefined,
        isRefused: () => false,
      });
      watches.open('n', SETTINGS, { changed() {}, counted() {}, full() {}, follow() {} });
      watches.restore({ n: [{ ...KNOWN, silent: HOUR }] });
      const [device] = (JSON.parse(JSON.stringify(watches.store(1))) as { n: { silent?: number }[] }).n;
      watches.close();
      assert.ok(Math.abs((device?.silent ?? 0) - HOUR) < MINUTE, `${device?.silent}`);
    });

    it('in the order of who needs somebody, who is known, and who has come a few times', () => {
      const passing = { id: deviceAt(7), kind: 'device', gateway: G, passing: true };
      const needing = withAlarm({ condition: 'dfu', since });
      const known = { ...KNOWN, id: deviceAt(8) };
      const sorted = [needing, known, passing];
      assert.deepEqual(back([passing, known, needing], { silentAfter: 60 }), sorted);
      for (const max of [0, 1, 2, 3]) {
        assert.deepEqual(world.watches.store(max).n, sorted.slice(0, max));
      }
    });

    it('without those that nobody would miss', () => {
      assert.deepEqual(back([{ id: D, kind: 'device', gateway: G, passing: true }]), []);
    });

    it('with what is active, the oldest first, whatever a clock was set to', () => {
      const times = ['2026-01-03T00:00:00Z', '2026-01-01T00:00:00Z', '2999-01-01T00:00:00Z'];
      const watch = listen({});
      world.watches.restore({
        n: times.map((time, i) => ({
          ...{ ...KNOWN, id: deviceAt(i) },
          active: [{ condition: 'dfu', since: time }],
        })),
      });
      assert.deepEqual(
        watch.active().map((change) => change.since),
        [times[1], times[0], times[2]],
      );
    });

    it('and holds of what has begun since only what was told', () => {
      listen({});
      world.hear('heartbeat', { status: 3 });
      const active = () => (copy() as { n: { active?: unknown[] }[] }).n.map((one) => one.active?.length);
      assert.deepEqual(active(), [undefined]);
      world.wait(6_000);
      assert.deepEqual(active(), [1]);
    });

    describe('and goes on with the silence of before', () => {
      const silent = 9 * MINUTE;
      const OTHER_DEVICES = OTHERS.map(({ device }) => ({ ...KNOWN, id: device }));
      /** Told in the minutes after the start, in which the gateways bring the other devices. */
      function toldAfter(...devices: object[]): string[] {
        listen({ silentAfter: 600 });
        world.watches.restore({ n: [...devices, ...OTHER_DEVICES] });
        world.wait(10_000);
        world.run(5 * MINUTE, 10_000, [...OTHERS, ...OTHERS.map((one) => ({ ...one, gateway: G2 }))]);
        return told;
      }
      const SILENT = { ...GATEWAY, active: [{ condition: 'gateway-silent', since }] };

      it('where its gateway was there', () => {
        assert.deepEqual(toldAfter({ ...KNOWN, silent }), [`+silent ${D}`]);
        told = [];
        world = new World();
        assert.deepEqual(toldAfter(GATEWAY, { ...KNOWN, silent }), [`+silent ${D}`]);
      });

      it('and with none where its gateway was silent itself', () => {
        assert.deepEqual(toldAfter(SILENT, { ...KNOWN, silent }), [`-gateway-silent ${G}`]);
      });

      it('where its gateway needed somebody else', () => {
        const needing = { ...GATEWAY, active: [{ condition: 'error', since, errors: ['8800'] }] };
        assert.deepEqual(toldAfter(needing, { ...KNOWN, silent }), [`+silent ${D}`]);
      });

      it('where its gateway was known as a device', () => {
        const heard = { ...KNOWN, id: G, gateway: G2 };
        assert.deepEqual(toldAfter(heard, { ...KNOWN, silent }), [`+silent ${D}`]);
      });

      it('where the gateway that brings most of it was there', () => {
        assert.deepEqual(toldAfter({ ...KNOWN, gateway: undefined, main: G2, silent }), [`+silent ${D}`]);
      });

      it('where another gateway was silent', () => {
        const other = { ...SILENT, id: G2 };
        assert.deepEqual(toldAfter(other, { ...KNOWN, silent }), [`-gateway-silent ${G2}`, `+silent ${D}`]);
      });
    });

    it('and does not give way to what is new where it was in update mode, and was known', () => {
      world = new World(1);
      const given = withAlarm({ condition: 'dfu', since });
      back([given]);
      world.hear('heartbeat', {}, OTHERS[0]);
      assert.deepEqual((copy() as { n: unknown }).n, [given]);
    });

    const MISSED: [what: string, given: object, isMissed: boolean][] = [
      ['was known', {}, true],
      ['has come a few times only', { passing: true }, false],
      ['has had an error', { active: [{ condition: 'error', since }] }, true],
      [
        'was in update mode, and was not known to come often',
        { active: [{ condition: 'dfu', since }] },
        false,
      ],
      [
        'was in update mode, and was known',
        { active: [{ condition: 'dfu', since }], interval: MINUTE },
        true,
      ],
      [
        'was in update mode with an error',
        {
          active: [
            { condition: 'error', since },
            { condition: 'dfu', since },
          ],
        },
        false,
      ],
    ];
    for (const [what, given, isMissed] of MISSED) {
      it(`and is ${isMissed ? '' : 'not '}missed where it ${what}`, () => {
        listen({});
        world.watches.restore({ n: [{ id: D, kind: 'device', gateway: G, ...given }] });
        world.run(6 * HOUR, MINUTE, OTHERS);
        assert.equal(told.includes(`+silent ${D}`), isMissed);
      });
    }
  });
});
