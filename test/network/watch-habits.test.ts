// Habits of healthy devices over hours and days: none of them is told silent, and one that dies is, in three of its usual pauses.
import assert from 'node:assert/strict';
import { D, deviceAt, HOUR, MINUTE, S, SETTINGS, World } from './watched-world.ts';

/** Something is heard at this moment. */
interface Hearing {
  at: number;
  gateway?: string;
  device?: string;
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

describe('a watch that learns the habits of devices', () => {
  /** What is told of these hearings, in order of their time. */
  function watch(hearings: Hearing[], until: number, settings = {}, restartAt?: number): Change[] {
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
    let isRestarted = restartAt === undefined;
    for (const { at, ...who } of hearings.toSorted((one, other) => one.at - other.at)) {
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
      world.hear('heartbeat', {}, who);
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
      const changes = watch([...regularly({}, bursts), ...others], 13 * HOUR);
      assert.deepEqual(heads(changes), [`+silent ${D}`]);
      const minute = changes[0]?.minute ?? 0;
      assert.ok(minute >= 12 * 60 + 15 && minute <= 12 * 60 + 25, `${minute}`);
    });
  }

  it('does not miss one that joins with eight properties and then has a heartbeat in five minutes', () => {
    const until = 12 * HOUR;
    const changes = watch(
      [
        ...regularly({}, { every: 20 * MINUTE, until, reports: 8, apart: 1_500 }),
        ...regularly({}, { every: 5 * MINUTE, from: 5.5 * MINUTE, until }),
        ...regularly(OTHERS, { every: 5 * S, until: until + HOUR }),
      ],
      until + HOUR,
    );
    assert.deepEqual(heads(changes), [`+silent ${D}`]);
    assert.ok((changes[0]?.minute ?? 0) < 12 * 60 + 25);
  });

  describe('of an office, where sensors fire events by day', () => {
    /** Six of them with a heartbeat in 20 minutes; begins at midnight. */
    function office(days: number, from = 0): Hearing[] {
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
            hearings.push({ ...who, at: day * DAY + at });
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

    it('remembers its nights when Node-RED is restarted in the afternoon', () => {
      assert.deepEqual(watch(office(3), 3 * DAY, {}, DAY + 17 * HOUR), []);
    });
  });
});
