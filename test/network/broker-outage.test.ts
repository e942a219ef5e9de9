// What a time without the broker does to the silences of a watch: nobody has heard what was reported then.
import assert from 'node:assert/strict';
import { D, deviceAt, G, HOUR, MINUTE, S, SETTINGS, World } from './watched-world.ts';

interface Source {
  device: string;
  gateway: string;
  every: number;
  /** When it comes first; not before this after the broker was away. */
  next: number;
  returnsIn: number;
}

const NEVER = Number.POSITIVE_INFINITY;

describe('a time without the broker', () => {
  let world: World;
  let told: string[];
  let sources: Source[];
  let settings: { silentAfter: number };
  let start: number;

  beforeEach(() => {
    world = new World();
    told = [];
    sources = [];
    start = world.time;
  });

  function open(): void {
    world.watches.open(
      'n',
      { ...SETTINGS, ...settings },
      {
        changed: ({ condition, active, device }) =>
          void told.push(`${active ? '+' : '-'}${condition} ${device}`),
        counted() {},
        full() {},
        follow() {},
      },
    );
  }

  function watch(silentAfter: number): void {
    settings = { silentAfter };
    open();
  }

  function add(device: string, every: number, { gateway = G, first = 0, returnsIn = 0 } = {}): Source {
    const source = { device, gateway, every, next: start + first, returnsIn };
    sources.push(source);
    return source;
  }

  /** Devices at G whose reports are spread over their time, and G itself each minute. */
  function addMany(count: number, every: number): void {
    for (let i = 0; i < count; i++) {
      add(deviceAt(2 + i), every, { first: Math.round(((i + 0.5) * every) / count) });
    }
    add(G, MINUTE, { first: 30 * S });
  }

  /** Reports come, if anybody can hear them. */
  function run(ms: number, isHeard = true): void {
    for (const end = world.time + ms; world.time < end; ) {
      const first = sources.reduce((a, b) => (b.next < a.next ? b : a));
      world.wait(Math.max(0, Math.min(first.next, end) - world.time));
      if (first.next <= world.time && world.time < end) {
        first.next += first.every;
        if (isHeard) {
          world.hear('property/temperature', { value: 1 }, first);
        }
      }
    }
  }

  function away(ms: number): void {
    world.listen(false);
    run(ms, false);
    world.listen(true);
    for (const one of sources) {
      one.next = Math.max(one.next, world.time + one.returnsIn);
    }
  }

  function restart(): void {
    const stored = JSON.parse(JSON.stringify(world.watches.store(1_000))) as unknown;
    world.startAnew();
    run(10 * S, false);
    open();
    world.watches.restore(stored);
    world.watches.setPaused(false);
    world.listen(true);
  }

  for (const [minutes, seconds] of [
    [4, 300],
    [20, 1_800],
    [20, 0],
  ] as const) {
    for (const lasts of [10 * S, 5 * MINUTE, HOUR]) {
      it(`of ${lasts / S} s tells no device of ${minutes} minutes whose report fell into it, with ${seconds} s`, () => {
        watch(seconds);
        addMany(60, minutes * MINUTE);
        run(2.5 * HOUR);
        away(lasts);
        run(2 * HOUR);
        assert.deepEqual(told, []);
      });
    }
  }

  it('gives nobody a minute more who was not known before it', () => {
    settings = { silentAfter: 60 };
    world.startAnew();
    world.wait(10 * S);
    world.watches.open(
      'n',
      { ...SETTINGS, ...settings, devices: [D] },
      { changed: ({ condition }) => void told.push(condition), counted() {}, full() {}, follow() {} },
    );
    world.wait(S);
    world.watches.setPaused(false);
    world.listen(true);
    world.wait(70 * S);
    assert.deepEqual(told, ['silent']);
  });

  it('makes a gateway not silent that needs 55 seconds to come back', () => {
    watch(0);
    for (const i of [1, 2, 3]) {
      add(deviceAt(10 + i), 10 * S, { first: i * S, returnsIn: 55 * S });
    }
    run(HOUR);
    away(30 * S);
    run(10 * MINUTE);
    assert.deepEqual(told, []);
  });

  it('has nothing looked at in vain in the minute which gateways need to come back', () => {
    watch(60);
    for (const i of [1, 2, 3]) {
      add(deviceAt(10 + i), 20 * S, { first: 3 * i * S, returnsIn: NEVER });
    }
    run(HOUR);
    away(30 * S);
    const before = world.looks;
    run(MINUTE);
    assert.ok(world.looks - before <= 4, `${world.looks - before}`);
    assert.deepEqual(told, []);
  });

  for (const [there, lasts, returnsIn, silentAfter] of [
    [50, 10, 50, 0],
    [40, 10, 30, 0],
    [50, 10, 50, 120],
  ] as const) {
    it(`that comes five times after ${there} s each makes nobody silent who is back ${returnsIn} s after the last, with ${silentAfter} s`, () => {
      watch(silentAfter);
      const returns: Source[] = [];
      for (const i of [1, 2, 3]) {
        returns.push(add(deviceAt(10 + i), 20 * S, { first: 3 * i * S, returnsIn: NEVER }));
      }
      run(2 * HOUR);
      for (let times = 0; times < 5; times++) {
        away(lasts * S);
        run((times < 4 ? there : returnsIn) * S);
      }
      for (const [i, one] of returns.entries()) {
        one.next = world.time + i * S;
      }
      run(10 * MINUTE);
      assert.deepEqual(told, []);
    });
  }

  it('hides a gateway that never comes back for 15 minutes more at most, however often it comes', () => {
    watch(0);
    for (const i of [1, 2, 3]) {
      add(deviceAt(10 + i), 20 * S, { first: 3 * i * S, returnsIn: NEVER });
    }
    run(2 * HOUR);
    for (let times = 0; times < 15; times++) {
      away(10 * S);
      run(50 * S);
    }
    assert.deepEqual(told, []);
    for (let times = 0; times < 6; times++) {
      away(10 * S);
      run(50 * S);
    }
    assert.deepEqual(told, [`+gateway-silent ${G}`]);
  });

  describe('in the silence of a device of 20 minutes, with 1800 s', () => {
    beforeEach(() => {
      watch(1_800);
      addMany(10, 20 * MINUTE);
      const source = add(D, 20 * MINUTE);
      run(2 * HOUR + S);
      source.next = NEVER;
      run(4 * MINUTE);
      assert.deepEqual(told, []);
    });

    it('has it told a minute later, which gateways need to come back', () => {
      away(5 * MINUTE);
      run(26 * MINUTE);
      assert.deepEqual(told, []);
      run(2 * MINUTE);
      assert.deepEqual(told, [`+silent ${D}`]);
    });

    it('leaves it one usual interval, so that it is told that much later at most', () => {
      run(24 * MINUTE);
      away(5 * MINUTE);
      run(20 * MINUTE);
      assert.deepEqual(told, []);
      run(2 * MINUTE);
      assert.deepEqual(told, [`+silent ${D}`]);
    });

    it('has it told no earlier where it was a second, in which a broker is started anew', () => {
      away(S);
      run(26 * MINUTE);
      assert.deepEqual(told, []);
      run(2 * MINUTE);
      assert.deepEqual(told, [`+silent ${D}`]);
    });

    it('hides its death no longer, however often it comes, nor with restarts between', () => {
      for (let times = 0; times < 20; times++) {
        away(10 * S);
        run(4 * MINUTE);
        restart();
        run(MINUTE);
      }
      assert.deepEqual(told, [`+silent ${D}`]);
    });

    it('ends no silence that was told', () => {
      run(27 * MINUTE);
      assert.deepEqual(told, [`+silent ${D}`]);
      away(5 * MINUTE);
      run(HOUR);
      assert.deepEqual(told, [`+silent ${D}`]);
    });
  });

  it('hides no death of what comes once a day, with 30 hours and a restart each night before it', () => {
    watch((30 * HOUR) / S);
    addMany(10, 20 * MINUTE);
    const source = add(D, 24 * HOUR);
    const night = () => {
      restart();
      run(MINUTE);
      away(10 * S);
      run(24 * HOUR - MINUTE);
    };
    run(5 * 24 * HOUR + S);
    night();
    assert.deepEqual(told, []);
    source.next = NEVER;
    for (let nights = 0; nights < 3; nights++) {
      night();
    }
    assert.deepEqual(told, [`+silent ${D}`]);
  });
});
