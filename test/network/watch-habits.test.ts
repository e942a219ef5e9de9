// Habits of healthy devices over hours and days: none of them is told silent, and one that dies is, in three of its usual pauses.
import assert from 'node:assert/strict';
import { D, deviceAt, G, G2, HOUR, MINUTE, S, SETTINGS, World } from './watched-world.ts';

/** Something is heard at this moment. */
interface Hearing {
  at: number;
  gateway?: string;
  device?: string;
  /** What follows the device in the topic; a heartbeat by default. */
  rest?: string;
  /** Since the beginning: when the gateway gave it its time; by default it has none. */
  given?: number;
  /** A sample of the past. */
  backfill?: boolean;
}

interface Change {
  /** Since the beginning. */
  minute: number;
  head: string;
}

const DAY = 24 * HOUR;
const OTHERS = { device: deviceAt(2) };

/** Every so often, a few reports each time. */
function regularly(
  who: Omit<Hearing, 'at'>,
  {
    every,
    from = 0,
    until,
    reports = 1,
    apart = 0,
  }: Record<'every' | 'until', number> & Record<string, number>,
): Hearing[] {
  const hearings: Hearing[] = [];
  for (let at = from; at < until; at += every) {
    for (let i = 0; i < reports; i++) {
      hearings.push({ ...who, at: at + i * apart });
    }
  }
  return hearings;
}

/** The same each time. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const timed = (ms: number, gateway = G) => ({
  gateway,
  time: new Date(Date.UTC(2026, 0, 1) + ms).toISOString(),
});

describe('a watch that learns the habits of devices', () => {
  /** What is told of these hearings, in order of their time. */
  function watch(
    hearings: Hearing[],
    until: number,
    settings = {},
    restartAt?: number,
    beside?: object,
  ): Change[] {
    const changes: Change[] = [];
    const world = new World();
    const start = world.time;
    const open = () =>
      world.watches.open(
        'n',
        { ...SETTINGS, silentAfter: 0, ...settings },
        {
          changed: ({ condition, active, device }) => {
            const minute = Math.floor((world.time - start) / MINUTE);
            changes.push({ minute, head: `${active ? '+' : '-'}${condition} ${device}` });
          },
          counted() {},
          full() {},
          follow() {},
        },
      );
    open();
    if (beside) {
      const listener = { changed() {}, counted() {}, full() {}, follow() {} };
      world.watches.open('beside', { ...SETTINGS, ...beside }, listener);
    }
    let isRestarted = restartAt === undefined;
    const ordered = hearings.toSorted((one, other) => one.at - other.at);
    for (const { at, rest = 'heartbeat', given, backfill = false, ...who } of ordered) {
      if (!isRestarted && at >= (restartAt as number)) {
        isRestarted = true;
        const stored: unknown = JSON.parse(JSON.stringify(world.watches.store(10_000)));
        world.startAnew();
        open();
        world.watches.restore(stored);
        world.listen(true);
        world.watches.setPaused(false);
      }
      world.wait(Math.max(0, start + at - world.time));
      const body = given === undefined ? {} : timed(given, who.gateway);
      world.hear(rest, { ...body, backfill }, who);
    }
    world.wait(start + until - world.time);
    return changes;
  }
  const heads = (changes: readonly Change[]) => changes.map(({ head }) => head);

  for (const every of [10 * S, MINUTE, 20 * MINUTE, HOUR]) {
    it(`tells one that comes every ${every / MINUTE} minutes after three times that, at least a minute`, () => {
      const died = 10 * every;
      const others = regularly(OTHERS, { every: 5 * S, until: 14 * every + 2 * MINUTE });
      const changes = watch([...regularly({}, { every, until: died }), ...others], 14 * every + 2 * MINUTE);
      assert.deepEqual(heads(changes), [`+silent ${D}`]);
      const silentFor = (changes[0]?.minute ?? 0) * MINUTE - (died - every);
      assert.ok(silentFor >= Math.max(MINUTE, 3 * every) - MINUTE && silentFor <= 3 * every + 2 * MINUTE);
    });
  }

  for (const reports of [6, 10, 20]) {
    it(`takes ${reports} events every ten minutes for one, and tells its death after half an hour`, () => {
      const others = regularly(OTHERS, { every: 5 * S, until: 13 * HOUR });
      const bursts = { every: 10 * MINUTE, until: 12 * HOUR, reports, apart: 2 * S };
      const changes = watch([...regularly({ rest: 'event-decoded/motion' }, bursts), ...others], 13 * HOUR);
      assert.deepEqual(heads(changes), [`+silent ${D}`]);
      const minute = changes[0]?.minute ?? 0;
      assert.ok(minute >= 12 * 60 + 15 && minute <= 12 * 60 + 25, `${minute}`);
    });
  }

  for (const [what, everyMs, restOf] of [
    ['events alone, every 5 seconds', 5 * S, () => 'event-decoded/motion'],
    ['20 properties in turn, every 5 seconds', 5 * S, (n: number) => `property/${8_000 + (n % 20)}`],
    [
      'events every 5 seconds and 20 properties, one a minute',
      5 * S,
      (n: number) => (n % 12 === 1 ? `property/${8_000 + (((n - 1) / 12) % 20)}` : 'event-decoded/motion'),
    ],
  ] as const) {
    it(`tells the death of one that reports without a pause: ${what}`, () => {
      const [died, until] = [2 * HOUR, 3 * HOUR];
      const own = Array.from({ length: died / everyMs }, (_, n) => ({ at: n * everyMs, rest: restOf(n) }));
      const changes = watch([...own, ...regularly(OTHERS, { every: 5 * S, until })], until);
      assert.deepEqual(heads(changes), [`+silent ${D}`]);
      assert.ok((changes[0]?.minute ?? 0) <= 2 * 60 + 4, `${changes[0]?.minute}`);
    });
  }

  it('knows one after five reports of the same, though they come every second', () => {
    const changes = watch(
      [
        ...regularly({}, { every: 1_100, until: 5 * S }),
        ...regularly(OTHERS, { every: 5 * S, until: 5 * MINUTE }),
      ],
      5 * MINUTE,
    );
    assert.deepEqual(changes, [{ minute: 1, head: `+silent ${D}` }]);
  });

  for (const [reports, apart] of [
    [12, 4],
    [30, 2],
    [45, 1],
  ] as const) {
    it(`takes ${reports} properties in ${reports * apart} s for one, however often it has a heartbeat in between`, () => {
      const until = 6 * HOUR;
      const joins = Array.from({ length: reports }, (_, i) =>
        regularly({ rest: `property-decoded/p${i}` }, { every: 20 * MINUTE, from: i * apart * S, until }),
      ).flat();
      const others = regularly(OTHERS, { every: 5 * S, until: 8 * HOUR });
      for (const every of [5 * MINUTE, 20 * MINUTE, HOUR]) {
        const heartbeats = regularly({}, { every, from: 90 * S, until });
        const changes = watch([...joins, ...heartbeats, ...others], 8 * HOUR);
        assert.deepEqual(heads(changes), [`+silent ${D}`]);
        assert.ok((changes[0]?.minute ?? 0) >= until / MINUTE);
      }
    });
  }

  it('knows one that goes on with two values in turn after it has joined', () => {
    const until = 2 * MINUTE;
    const joins = Array.from({ length: 30 }, (_, i) => ({ rest: `property-decoded/p${i}`, at: i * S }));
    const values = ['temperature', 'humidity'].flatMap((name, i) =>
      regularly({ rest: `measurement-decoded/${name}` }, { every: 10 * S, from: (30 + 5 * i) * S, until }),
    );
    const changes = watch(
      [...joins, ...values, ...regularly(OTHERS, { every: 5 * S, until: 2 * until })],
      2 * until,
    );
    assert.deepEqual(changes, [{ minute: 3, head: `+silent ${D}` }]);
  });

  it('does not miss one that joins with eight properties and then has a heartbeat in five minutes', () => {
    const until = 12 * HOUR;
    const changes = watch(
      [
        ...Array.from({ length: 8 }, (_, i) => ({ rest: `property-decoded/p${i}`, from: i * 1_500 })).flatMap(
          ({ rest, from }) => regularly({ rest }, { every: 20 * MINUTE, from, until }),
        ),
        ...regularly({}, { every: 5 * MINUTE, from: 5.5 * MINUTE, until }),
        ...regularly(OTHERS, { every: 5 * S, until: until + HOUR }),
      ],
      until + HOUR,
    );
    assert.deepEqual(heads(changes), [`+silent ${D}`]);
    assert.ok((changes[0]?.minute ?? 0) < 12 * 60 + 25);
  });

  for (const before of [0, 10]) {
    const since = before === 0 ? 'that joins with them' : 'that is known by then';
    it(`takes late samples for no habit of a device ${since}: they come as fast as they can`, () => {
      const rest = 'timestamped-decoded/temperature';
      const from = before * 5 * MINUTE;
      const until = from + 3 * HOUR;
      const hearings = [
        ...regularly(OTHERS, { every: 30 * S, until }),
        ...regularly({ rest }, { every: 5 * MINUTE, until: from }),
        ...regularly({ rest, backfill: true }, { every: 2 * S, from, until: from + 2 * MINUTE }),
        ...regularly({ rest }, { every: 5 * MINUTE, from: from + 3 * MINUTE, until }),
      ];
      assert.deepEqual(heads(watch(hearings, until)), []);
    });
  }

  it('takes late samples for no habit of a gateway', () => {
    const until = 3 * HOUR;
    const rest = 'timestamped-decoded/temperature';
    const hearings = [0, 1].flatMap((i) => {
      const device = deviceAt(i + 5);
      const late = { every: 2 * S, from: i * S, until: 2 * MINUTE + i * S };
      return [
        ...regularly({ device, rest, backfill: true }, late),
        ...regularly({ device }, { every: 10 * MINUTE, from: 5 * MINUTE * (i + 1), until }),
      ];
    });
    assert.deepEqual(heads(watch(hearings, until)), []);
  });

  describe('of properties that repeat at times of their own', () => {
    const UNTIL = 12 * HOUR;
    /** What each change has made begin anew at its own time. */
    const properties = (who: { device: string }, count: number, next: () => number, until = UNTIL) =>
      Array.from({ length: count }, (_, i) =>
        regularly(
          { ...who, rest: `property-decoded/p${i}` },
          { every: 20 * MINUTE, from: next() * 20 * MINUTE, until },
        ),
      ).flat();

    for (const [count, heartbeat] of [
      [5, 0],
      [8, 0],
      [16, 0],
      [8, 5],
      [12, 10],
    ] as const) {
      it(`tells nothing in the first hours: ${count} of them, a heartbeat every ${heartbeat} minutes`, () => {
        const next = random(count);
        const hearings = Array.from({ length: 100 }, (_, i) => {
          const who = { device: deviceAt(i + 1) };
          const every = heartbeat * MINUTE;
          const heartbeats = every > 0 ? regularly(who, { every, from: next() * every, until: UNTIL }) : [];
          return [...properties(who, count, next), ...heartbeats];
        });
        assert.deepEqual(watch(hearings.flat(), UNTIL), []);
      });
    }

    it('tells the death of one soon after the start, by a heartbeat that comes oftener', () => {
      const died = 8 * MINUTE;
      const next = random(5);
      for (let i = 0; i < 20; i++) {
        const changes = watch(
          [
            ...properties({ device: D }, 8, next, died),
            ...regularly({}, { every: MINUTE, until: died }),
            ...regularly(OTHERS, { every: 5 * S, until: 20 * MINUTE }),
          ],
          20 * MINUTE,
        );
        assert.deepEqual(heads(changes), [`+silent ${D}`]);
        assert.ok((changes[0]?.minute ?? 0) <= 11);
      }
    });

    it('tells the death of one half an hour after the start, though it said something but once', () => {
      const until = 2 * HOUR;
      const slow = { every: 8 * MINUTE, until: 33 * MINUTE };
      const changes = watch(
        [
          { at: 0, rest: 'property/8005' },
          ...regularly({ rest: 'measurement/8800' }, { ...slow, from: MINUTE }),
          ...regularly({ rest: 'measurement/8801' }, { ...slow, from: 5 * MINUTE }),
          ...regularly(OTHERS, { every: 5 * S, until }),
        ],
        until,
      );
      assert.deepEqual(heads(changes), [`+silent ${D}`]);
      assert.ok((changes[0]?.minute ?? 0) <= 46);
    });
  });

  describe('by the times that gateways give', () => {
    for (const [every, seconds, rests] of [
      [10, 13, ['heartbeat']],
      [5, 20, ['heartbeat']],
      [20, 30, ['heartbeat', 'property/8000', 'property/8001']],
      [20, 200, ['heartbeat', 'property/8000', 'property/8001', 'property/8002']],
    ] as const) {
      it(`tells nothing when what came every ${every} minutes was kept and comes in ${seconds} s, and a death in time`, () => {
        const [kept, died] = [3 * HOUR, 6 * HOUR];
        const next = random(seconds);
        const hearings = Array.from({ length: 30 }, (_, i) =>
          rests.flatMap((rest) => {
            const from = next() * every * MINUTE;
            return regularly(
              { device: deviceAt(i + 1), rest },
              { every: every * MINUTE, from, until: 2 * died },
            );
          }),
        )
          .flat()
          .filter(({ at, device }) => at < died || device !== D)
          .map((one) => ({
            ...one,
            given: one.at,
            at: one.at < kept ? (one.at / kept) * seconds * S : one.at - kept,
          }));
        const changes = watch(hearings, died);
        assert.deepEqual(heads(changes), [`+silent ${D}`]);
        const minutes = (changes[0]?.minute ?? 0) - (died - kept) / MINUTE;
        assert.ok(minutes >= 0 && minutes <= 3 * every + 2, `${minutes}`);
      });
    }

    it('not by those of samples, which a device may have taken hours ago', () => {
      const until = 5 * MINUTE;
      const live = [
        ...regularly({}, { every: 30 * S, until }),
        ...regularly(OTHERS, { every: 5 * S, until: 2 * until }),
      ].map((one) => ({ ...one, given: 8 * HOUR + one.at }));
      const samples = regularly({ rest: 'timestamped-decoded/8000' }, { every: 30 * S, from: S, until }).map(
        (one) => ({ ...one, given: one.at }),
      );
      assert.deepEqual(heads(watch([...live, ...samples], 2 * until)), [`+silent ${D}`]);
    });

    it('not by those of several gateways whose clocks differ', () => {
      const until = 2 * MINUTE;
      const own = regularly({}, { every: 10 * S, until }).map((one, i) => {
        const given = one.at + (i % 2) * 20 * MINUTE;
        return { ...one, given, gateway: i % 2 ? G2 : G };
      });
      const others = [G, G2].flatMap((gateway) =>
        regularly({ ...OTHERS, gateway }, { every: 5 * S, until: 10 * MINUTE }),
      );
      const changes = watch([...own, ...others], 10 * MINUTE);
      assert.deepEqual(heads(changes), [`+silent ${D}`]);
      assert.ok((changes[0]?.minute ?? 0) <= 5);
    });

    it('and takes no time without the broker for a pause', () => {
      const world = new World();
      const told: string[] = [];
      const listener = {
        changed: ({ condition, device }: { condition: string; device: string }) =>
          told.push(`${condition} ${device}`),
        counted() {},
        full() {},
        follow() {},
      };
      world.watches.open('n', { ...SETTINGS, silentAfter: 0 }, listener);
      const hear = (seconds: number, who = {}) => {
        for (const end = world.time + seconds * S; world.time < end; world.wait(10 * S)) {
          world.hear('heartbeat', timed(world.time), OTHERS);
          world.hear('heartbeat', timed(world.time), who);
        }
      };
      hear(30);
      world.listen(false);
      world.wait(10 * MINUTE);
      world.listen(true);
      hear(60);
      hear(100, OTHERS);
      assert.deepEqual(told, [`silent ${D}`]);
    });
  });

  describe('of an office, where sensors fire events by day', () => {
    /** Six of them with a heartbeat in 20 minutes; begins at midnight. @param rest what they report by day */
    function office(days: number, from = 0, rest = 'heartbeat'): Hearing[] {
      const next = random(11);
      const pause = () => -Math.log(1 - next()) * 2 * MINUTE;
      const hearings: Hearing[] = [];
      for (let i = 0; i < 6; i++) {
        const who = { device: deviceAt(i) };
        hearings.push(
          ...regularly(who, { every: 20 * MINUTE, from: next() * 20 * MINUTE, until: days * DAY }),
        );
        for (let day = 0; day < days; day++) {
          for (let at = 8 * HOUR; at < 18 * HOUR; at += pause()) {
            hearings.push({ ...who, rest, at: day * DAY + at });
          }
        }
      }
      return hearings.filter(({ at }) => at >= from).map(({ at, ...who }) => ({ ...who, at: at - from }));
    }

    it('tells nothing from the first night on', () => {
      assert.deepEqual(watch(office(3), 3 * DAY), []);
    });

    it('tells one that dies by day after an hour', () => {
      const died = DAY + 12 * HOUR;
      const hearings = office(2).filter(({ at, device }) => at < died || device !== deviceAt(3));
      const changes = watch(hearings, 2 * DAY);
      assert.deepEqual(heads(changes), [`+silent ${deviceAt(3)}`]);
      assert.ok((changes[0]?.minute ?? 0) <= died / MINUTE + 61);
    });

    for (const hour of [12, 15, 17.5]) {
      it(`tells nothing from ${hour} h on either, since events are no habit beside a heartbeat`, () => {
        assert.deepEqual(watch(office(3, hour * HOUR, 'event-decoded/motion'), 2 * DAY), []);
      });
    }

    it('learns in two pauses the night of sensors whose values change all day', () => {
      const next = random(3);
      const evening = 2 * HOUR;
      const hearings = Array.from({ length: 30 }, (_, i) => {
        const who = { device: deviceAt(i + 1) };
        const heartbeats: Hearing[] = [];
        for (let at = next() * 20 * MINUTE; at < 12 * HOUR; at += (19.8 + 0.4 * next()) * MINUTE) {
          heartbeats.push({ ...who, at });
        }
        for (let at = 0; at < evening; at += -Math.log(1 - next()) * 10 * S) {
          heartbeats.push({ ...who, rest: 'property-decoded/motion', at });
        }
        return heartbeats;
      }).flat();
      const changes = watch(hearings, 11.5 * HOUR);
      const silences = changes.filter(({ head }) => head.startsWith('+silent'));
      assert.ok(silences.length <= 3 * 30, `${silences.length}`);
      assert.ok(silences.every(({ minute }) => minute < 4 * 60));
    });

    it('remembers its nights when Node-RED is restarted in the afternoon', () => {
      assert.deepEqual(watch(office(3), 3 * DAY, {}, DAY + 17 * HOUR), []);
    });
  });

  describe('of a gateway', () => {
    const DIED = 2 * HOUR;
    const UNTIL = 6 * HOUR;
    /** Each at a time of its own. */
    const neighbours = (count: number, every: number, until = UNTIL) =>
      Array.from({ length: count }, (_, i) => {
        const from = ((i * 0.37) % 1) * every;
        return regularly({ device: deviceAt(i + 2) }, { every, from, until });
      }).flat();

    for (const [silentAfter, count, every, latest] of [
      [0, 1, 10, 12],
      [0, 2, 5, 6],
      [0, 5, 10, 10],
      [300, 1, 4, 13],
      [600, 3, 9, 20],
      [900, 3, 10, 20],
      [900, 5, 10, 20],
      [1800, 8, 20, 40],
    ] as const) {
      it(`tells the death of one that came every 10 s beside ${count} that come every ${every} minutes, with ${silentAfter} s`, () => {
        const chatty = regularly({}, { every: 10 * S, until: DIED });
        const changes = watch([...chatty, ...neighbours(count, every * MINUTE)], UNTIL, { silentAfter });
        assert.deepEqual(heads(changes), [`+silent ${D}`], 'and never that the gateway is silent');
        const minutes = (changes[0]?.minute ?? 0) - DIED / MINUTE;
        assert.ok(minutes <= latest, `${minutes}`);
      });
    }

    it('tells its own death, after three times the pause between reports of different devices', () => {
      const chatty = regularly({}, { every: 10 * S, until: DIED });
      const changes = watch([...chatty, ...neighbours(1, 10 * MINUTE, DIED)], UNTIL);
      assert.deepEqual(heads(changes), [`+gateway-silent ${G}`]);
      const minutes = (changes[0]?.minute ?? 0) - DIED / MINUTE;
      assert.ok(minutes >= 28 && minutes <= 32, `${minutes}`);
    });

    it('also where its devices report together, always in the same order', () => {
      const twelve = { every: 30 * S, until: 6 * MINUTE };
      const changes = watch([...regularly({}, twelve), ...regularly(OTHERS, twelve)], HOUR);
      assert.deepEqual(changes, [{ minute: 7, head: `+gateway-silent ${G}` }]);
    });

    it('is not told silent in its first hours for devices that report in 20 minutes, whenever they do', () => {
      const until = 12 * HOUR;
      const every = 20 * MINUTE;
      for (let seed = 1; seed <= 30; seed++) {
        const next = random(seed);
        const devices = Array.from({ length: 8 }, (_, i) => {
          const from = next() * every;
          return regularly({ device: deviceAt(i + 1) }, { every, from, until });
        });
        assert.deepEqual(watch(devices.flat(), until), [], `${seed}`);
      }
    });

    for (const count of [1, 2, 3, 4, 8]) {
      it(`is not told silent after ${count} of its devices have joined, each with its properties three times`, () => {
        for (let seed = 1; seed <= 20; seed++) {
          const next = random(seed);
          const joins = Array.from({ length: count }, (_, i) => {
            const from = (i + next()) * 30 * S;
            const times = [
              0,
              2 * MINUTE,
              ...Array.from({ length: 12 }, (_, n) => 5 * MINUTE + n * 20 * MINUTE),
            ];
            return times.flatMap((at) =>
              Array.from({ length: 8 }, (_, p) => ({
                device: deviceAt(i + 1),
                rest: `property-decoded/p${p}`,
                at: from + at + p * 1_500,
              })),
            );
          });
          assert.deepEqual(watch(joins.flat(), 3 * HOUR), [], `${seed}`);
        }
      });
    }

    it('tells its own death soon after the start, where many devices report seldom', () => {
      const died = 15 * MINUTE;
      const changes = watch(neighbours(100, 20 * MINUTE, died), HOUR);
      assert.deepEqual(heads(changes), [`+gateway-silent ${G}`]);
      assert.ok((changes[0]?.minute ?? 0) <= 20);
    });

    it('tells a death over a restart in time, also as long as its own interval is not known again', () => {
      const [died, until] = [10 * HOUR, 13 * HOUR];
      for (let seed = 1; seed <= 10; seed++) {
        const next = random(seed);
        const hearings = Array.from({ length: 30 }, (_, i) => {
          const every = 20 * MINUTE;
          return regularly({ device: deviceAt(i + 1) }, { every, from: next() * every, until });
        })
          .flat()
          .filter(({ at, device }) => at < died || device !== D);
        const changes = watch(hearings, until, {}, died);
        assert.deepEqual(heads(changes), [`+silent ${D}`], `${seed}`);
        const minutes = (changes[0]?.minute ?? 0) - died / MINUTE;
        assert.ok(minutes <= 75, `${seed}: ${minutes}`);
      }
    });

    describe('over a restart', () => {
      const RESTART = 2 * HOUR;
      const without = (from: number, ms: number) => (hearing: Hearing) =>
        hearing.at < from || hearing.at >= from + ms;

      for (const [every, back] of [
        [10, 55],
        [15, 58],
        [25, 58],
      ] as const) {
        it(`makes no device silent that reports every ${every} seconds, where it needs ${back} seconds to come back`, () => {
          const until = 3 * HOUR;
          const devices = neighbours(50, every * S, until).filter(without(RESTART, back * S));
          assert.deepEqual(watch(devices, until - every * S, {}, RESTART), []);
        });
      }

      it('counts how long one was silent before, and not the first minute after it', () => {
        const died = RESTART - 5 * MINUTE;
        const others = regularly(OTHERS, { every: 5 * S, until: 3 * HOUR });
        const changes = watch(
          [...regularly({}, { every: 10 * S, until: died }), ...others],
          3 * HOUR,
          { silentAfter: 600 },
          RESTART,
        );
        assert.deepEqual(changes, [{ minute: died / MINUTE + 11, head: `+silent ${D}` }]);
      });

      it('is one change beside that of the only device which it has brought since then', () => {
        const hearings = neighbours(20, MINUTE).filter(({ at }) => at < RESTART);
        const one = { at: RESTART + 20 * S, device: deviceAt(2) };
        assert.deepEqual(heads(watch([...hearings, one], RESTART + 10 * MINUTE, {}, RESTART)), [
          `+gateway-silent ${G}`,
          `+silent ${one.device}`,
        ]);
      });

      it('tells also the only device that it brought, where neither comes back', () => {
        const own = regularly({}, { every: 10 * S, until: RESTART });
        const other = regularly({ ...OTHERS, gateway: G2 }, { every: 10 * S, until: 3 * HOUR });
        for (const conditions of [['silent'], ['silent', 'gateway-silent']] as const) {
          const told = heads(watch([...own, ...other], 3 * HOUR, { conditions }, RESTART));
          assert.ok(told.includes(`+silent ${D}`), JSON.stringify(told));
          assert.equal(told.includes(`+gateway-silent ${G}`), conditions.length > 1);
        }
      });
    });

    describe('that is away now and then', () => {
      const away = (from: number, ms: number) => (hearing: Hearing) =>
        hearing.at < from || hearing.at >= from + ms;

      it('tells none of its quick devices silent, also where it is back before they tell its own silence', () => {
        for (const [every, ms] of [
          [10, 55],
          [15, 50],
          [20, 58],
        ] as const) {
          const devices = neighbours(20, every * S, 2 * HOUR);
          assert.deepEqual(watch(devices.filter(away(HOUR, ms * S)), 2 * HOUR - every * S), []);
        }
      });

      it('tells each of its absences, and then the death of a device as soon as before', () => {
        const died = 9 * HOUR;
        let hearings = neighbours(20, 20 * S, 10 * HOUR);
        for (let hour = 1; hour < 9; hour++) {
          hearings = hearings.filter(away(hour * HOUR, 4 * MINUTE));
        }
        const dead = deviceAt(2);
        const changes = watch(
          hearings.filter(({ at, device }) => device !== dead || at < died),
          10 * HOUR - 20 * S,
        );
        const told = heads(changes);
        assert.equal(told.filter((head) => head === `+gateway-silent ${G}`).length, 8);
        assert.deepEqual(
          told.filter((head) => head.includes('+silent')),
          [`+silent ${dead}`],
        );
        const { minute = 0 } = changes.at(-1) ?? {};
        assert.ok(minute >= died / MINUTE && minute <= died / MINUTE + 2, `${minute}`);
      });

      for (const [silentAfter, others, every, period, ms, latest] of [
        [86_400, 20 * MINUTE, HOUR, DAY, 10 * MINUTE, 27 * HOUR],
        [0, 20 * MINUTE, 8 * HOUR, DAY, 10 * MINUTE, 34 * HOUR],
        [0, 10 * S, 20 * MINUTE, 50 * MINUTE, 30 * S, 85 * MINUTE],
        [7200, 10 * S, 20 * MINUTE, 110 * MINUTE, 30 * S, 145 * MINUTE],
      ] as const) {
        it(`hides no death of one of ${every / MINUTE} minutes by ${ms / S} s each ${period / MINUTE} minutes, with ${silentAfter} s`, () => {
          const died = 10 * Math.max(period, every) + HOUR;
          const until = died + 2 * latest;
          let hearings = [...neighbours(12, others, until), ...regularly({}, { every, until: died })];
          for (let from = period; from < until; from += period) {
            hearings = hearings.filter(away(from, ms));
          }
          const changes = watch(hearings, until, { silentAfter }).filter(({ head }) =>
            head.includes('+silent'),
          );
          assert.deepEqual(heads(changes), [`+silent ${D}`]);
          const minutes = (changes[0]?.minute ?? 0) - died / MINUTE;
          assert.ok(minutes <= latest / MINUTE, `${minutes}`);
        });
      }

      it('makes none of its devices silent where it goes again before they were to be heard', () => {
        const hearings = neighbours(12, 20 * MINUTE, 40 * HOUR)
          .filter(away(10 * HOUR, 10 * HOUR))
          .filter(away(20 * HOUR + 2 * MINUTE, 10 * HOUR));
        assert.deepEqual(heads(watch(hearings, 39 * HOUR)), [
          `+gateway-silent ${G}`,
          `-gateway-silent ${G}`,
          `+gateway-silent ${G}`,
          `-gateway-silent ${G}`,
        ]);
      });

      it('tells its absences alone, where they are shorter than the pauses of its devices', () => {
        for (const [days, every] of [
          [4, 24],
          [2, 8],
        ] as const) {
          const next = random(days);
          const properties = Array.from({ length: 80 }, (_, i) =>
            regularly(
              { device: deviceAt(i % 20), rest: `property-decoded/p${i % 4}` },
              { every: 20 * MINUTE, from: next() * 20 * MINUTE, until: days * DAY },
            ),
          );
          let hearings = properties.flat();
          let absences = 0;
          for (let hour = 6; hour < days * 24; hour += every) {
            hearings = hearings.filter(away(hour * HOUR, 15 * MINUTE));
            absences++;
          }
          const told = heads(watch(hearings, days * DAY)).filter((head) => head.startsWith('+'));
          assert.deepEqual(told, Array(absences).fill(`+gateway-silent ${G}`));
        }
      });

      for (const [when, restartAt] of [
        ['', undefined],
        [', also before the start', 22 * HOUR],
      ] as const) {
        it(`tells its absences alone also where a time is set, and they have become its habit${when}`, () => {
          const next = random(77);
          let hearings = Array.from({ length: 30 }, (_, i) =>
            regularly(
              { device: deviceAt(i % 10), rest: `property-decoded/p${i % 3}` },
              { every: 20 * MINUTE, from: next() * 20 * MINUTE, until: 30 * HOUR },
            ),
          ).flat();
          const absences = Array.from({ length: 9 }, (_, i) => (6 + 2.4 * i) * HOUR);
          for (const from of absences) {
            hearings = hearings.filter(away(from, 40 * MINUTE));
          }
          const told = heads(watch(hearings, 29 * HOUR, { silentAfter: 1800 }, restartAt));
          assert.deepEqual(
            told.filter((head) => head.startsWith('+')),
            Array(absences.length).fill(`+gateway-silent ${G}`),
          );
        });
      }

      it('learns a pause that comes three times within 90 minutes', () => {
        const devices = [1, 2, 3].map((i) => ({ device: deviceAt(i) }));
        const hearings = devices.flatMap((who, i) => [
          ...regularly(who, { every: 20 * S, from: i * 5 * S, until: 2 * HOUR }),
          ...regularly(who, { every: 20 * MINUTE, from: 2 * HOUR + i * 2 * S, until: 8 * HOUR }),
        ]);
        const told = watch(hearings, 8 * HOUR).filter(({ head }) => head === `+gateway-silent ${G}`);
        assert.ok(told.length > 0);
        assert.deepEqual(
          told.filter(({ minute }) => minute > 4 * 60),
          [],
        );
      });
    });

    for (const [silentAfter, every, latest] of [
      [0, 8 * HOUR, 17 * HOUR],
      [0, 4 * HOUR, 9 * HOUR],
      [43_200, 8 * HOUR, 25 * HOUR],
    ] as const) {
      it(`hides no death behind one of ${every / HOUR} hours, with ${silentAfter} s, and is hardly told itself`, () => {
        const died = 6 * every + 2 * HOUR;
        const hearings = [
          ...regularly({}, { every: 20 * MINUTE, until: died }),
          ...regularly(OTHERS, { every, from: HOUR, until: 20 * every }),
        ];
        const changes = watch(hearings, 20 * every - HOUR, { silentAfter });
        const silent = changes.filter(({ head }) => head.includes('+silent'));
        assert.deepEqual(heads(silent), [`+silent ${D}`]);
        const minutes = (silent[0]?.minute ?? 0) - died / MINUTE;
        assert.ok(minutes <= latest / MINUTE, `${minutes}`);
        const told = heads(changes).filter((head) => head === `+gateway-silent ${G}`);
        assert.ok(told.length <= 3, `${told.length}`);
      });
    }

    it('is away once for a while that is too short to be told, and makes none of its devices silent where a time is set', () => {
      for (const seed of [1, 2, 3, 4, 5, 6]) {
        const next = random(seed);
        const hearings = [1, 2, 3, 4, 5]
          .flatMap((i) =>
            regularly(
              { device: deviceAt(i) },
              { every: 20 * MINUTE, from: next() * 20 * MINUTE, until: 9 * HOUR },
            ),
          )
          .filter(({ at }) => at < 5 * HOUR || at >= 5 * HOUR + 24 * MINUTE);
        const told = heads(watch(hearings, 9 * HOUR - 20 * MINUTE, { silentAfter: 1800 }));
        assert.deepEqual(
          told.filter((head) => head.startsWith('+silent')),
          [],
        );
      }
    });

    for (const [others, every] of [
      [1, 5 * MINUTE],
      [3, 10 * MINUTE],
      [8, 20 * MINUTE],
    ] as const) {
      it(`hides no death behind ${others} devices of ${every / MINUTE} minutes where a shorter time is set`, () => {
        const died = 2 * HOUR;
        const slow = Array.from({ length: others }, (_, i) =>
          regularly(
            { device: deviceAt(50 + i) },
            { every, from: (0.31 * i * every) % every, until: 6 * HOUR },
          ),
        );
        const hearings = [...regularly({}, { every: 10 * S, until: died }), ...slow.flat()];
        const changes = watch(hearings, 6 * HOUR - every, {
          devices: [D],
          silentAfter: 60,
          conditions: ['silent'],
        });
        assert.deepEqual(heads(changes), [`+silent ${D}`]);
        const { minute = 0 } = changes[0] ?? {};
        // The gateway's first pause after it may have been an absence.
        assert.ok(minute <= (died + 2 * every) / MINUTE + 1, `${minute}`);
      });
    }

    describe('over a restart', () => {
      const START = 12 * HOUR;
      const during = (ms: number) => (hearing: Hearing) => hearing.at < START || hearing.at >= START + ms;

      for (const [silentAfter, every] of [
        [300, 4 * MINUTE],
        [1800, 20 * MINUTE],
      ] as const) {
        it(`tells no device of ${every / MINUTE} minutes whose report fell into it, where ${silentAfter} s are set`, () => {
          for (const down of [30 * S, MINUTE, 5 * MINUTE]) {
            const hearings = neighbours(30, every, 14 * HOUR).filter(during(down));
            assert.deepEqual(watch(hearings, 14 * HOUR - every, { silentAfter }, START), []);
          }
        });
      }

      for (const [every, ms] of [
        [30 * S, 5 * MINUTE],
        [MINUTE, 10 * MINUTE],
        [5 * MINUTE, 40 * MINUTE],
      ] as const) {
        const minutes = ms / MINUTE;
        it(`tells the gateway alone that stays away for ${minutes} minutes, though another one brings some of its devices' reports`, () => {
          const next = random(7);
          const main = neighbours(20, every, 14 * HOUR);
          const some = main
            .filter(() => next() < 0.3)
            .map((one) => ({ ...one, gateway: G2, at: one.at + 50 }));
          const others = [50, 51, 52].flatMap((i) =>
            regularly({ device: deviceAt(i), gateway: G2 }, { every, from: i * S, until: 14 * HOUR }),
          );
          const hearings = [...main.filter(during(ms)), ...some, ...others];
          assert.deepEqual(heads(watch(hearings, 14 * HOUR - every, {}, START)), [
            `+gateway-silent ${G}`,
            `-gateway-silent ${G}`,
          ]);
        });
      }

      for (const [every, gone, latest] of [
        [20 * MINUTE, 5 * HOUR, 80 * MINUTE],
        [HOUR, 5 * HOUR, 4 * HOUR],
        // One that has missed two reports may come back.
        [HOUR, 2 * HOUR, 4 * HOUR + 2 * MINUTE],
      ] as const) {
        it(`tells a device of ${every / MINUTE} minutes by the gateway that took the place of another ${gone / HOUR} hours before`, () => {
          const dead = deviceAt(2);
          const hearings = neighbours(12, every, 24 * HOUR)
            .filter(({ at, device }) => device !== dead || at < START - every / 2)
            .map((one) => (one.at < START - gone ? one : { ...one, gateway: G2 }));
          const told = watch(hearings, 24 * HOUR - every, {}, START).filter(({ head }) =>
            head.includes('+silent'),
          );
          assert.deepEqual(heads(told), [`+silent ${dead}`]);
          const { minute = 0 } = told[0] ?? {};
          assert.ok(minute <= (START + latest) / MINUTE, `${minute}`);
        });
      }

      it('tells a device that dies then by the others, where it is heard by them beside that gateway', () => {
        const died = START + 30 * MINUTE;
        const moved = regularly({}, { every: MINUTE, until: START });
        const since = regularly({ gateway: G2 }, { every: MINUTE, from: START, until: died });
        const others = [G, G2].flatMap((gateway, n) =>
          [1, 2, 3].flatMap((i) =>
            regularly(
              { device: deviceAt(50 + 10 * n + i), gateway },
              { every: MINUTE, from: i * S, until: 14 * HOUR },
            ),
          ),
        );
        const changes = watch([...moved, ...since, ...others], 14 * HOUR - MINUTE, {}, START);
        assert.deepEqual(heads(changes), [`+silent ${D}`]);
        const { minute = 0 } = changes[0] ?? {};
        assert.ok(minute <= died / MINUTE + 4, `${minute}`);
      });
    });

    it('is not changed by the time that is set in another watch of the service', () => {
      const died = 4 * HOUR;
      const dead = deviceAt(60);
      const rare = { every: 10 * MINUTE, until: 6 * HOUR };
      const hearings = [
        ...regularly({ gateway: G2 }, { every: 10 * S, until: 6 * HOUR }),
        ...[50, 51, 52].flatMap((i) => regularly({ device: deviceAt(i) }, { ...rare, from: i * MINUTE })),
        ...regularly({ device: dead }, { ...rare, until: died }),
      ];
      const alone = watch(hearings, 6 * HOUR - 10 * MINUTE);
      assert.deepEqual(heads(alone), [`+silent ${dead}`]);
      const critical = { devices: [D], silentAfter: 60, conditions: ['silent'] };
      assert.deepEqual(watch(hearings, 6 * HOUR - 10 * MINUTE, {}, undefined, critical), alone);
    });

    it('learns a pause that comes six times in a day', () => {
      const rounds = [1, 2, 3, 4].map((i) => ({
        ...{ device: deviceAt(i), rest: 'property-decoded/alarm' },
        from: 2 * HOUR + i * 10 * S,
      }));
      const told = watch(
        [
          ...[1, 2, 3, 4].flatMap((i) =>
            regularly({ device: deviceAt(i) }, { every: 20 * S, from: i * 5 * S, until: 2 * HOUR }),
          ),
          ...rounds.flatMap(({ from, ...who }) => regularly(who, { every: HOUR, from, until: 3 * DAY })),
        ],
        3 * DAY,
      ).filter(({ head }) => head === `+gateway-silent ${G}`);
      assert.ok(told.length >= 6 && told.length <= 7, `${told.length}`);
      assert.deepEqual(
        told.filter(({ minute }) => minute > 14 * 60),
        [],
      );
    });

    for (const [what, every] of [
      ['less', 20 * MINUTE - 3 * S],
      ['more', 20 * MINUTE + 100],
    ] as const) {
      it(`knows the pauses of its only device, which repeats its properties in a little ${what} than 20 minutes`, () => {
        const next = random(every);
        const properties = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((i) =>
          regularly({ rest: `property-decoded/p${i}` }, { every, from: i * 2 * S, until: 4 * DAY }),
        );
        const told = watch(
          [
            // One after the other is tried out beside it at first.
            ...regularly({ rest: 'measurement-decoded/light' }, { every: 5 * S, until: HOUR }),
            ...regularly(OTHERS, { every: 45 * S, until: HOUR }),
            ...properties.map(({ at, ...who }) => ({ ...who, at: at + next() * 100 })),
          ],
          4 * DAY,
        ).filter(({ head }) => head === `+gateway-silent ${G}`);
        assert.ok(told.length <= 6, `${told.length}`);
        assert.deepEqual(
          told.filter(({ minute }) => minute > 6 * 60),
          [],
        );
      });
    }

    it('also where another one of its devices has only passed by', () => {
      const changes = watch(
        [...regularly({}, { every: 10 * S, until: UNTIL }), { at: 100 * MINUTE + S, device: deviceAt(9) }],
        7 * HOUR,
      );
      // For hours its only device has been alone there.
      assert.deepEqual(heads(changes), [`+gateway-silent ${G}`, `+silent ${D}`]);
      assert.equal(changes[0]?.minute, UNTIL / MINUTE);
    });
  });
});
