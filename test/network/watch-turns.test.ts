// When messages of a watch go out: a hundred in a turn, in their order, none while flows are replaced, and each of them once.
import assert from 'node:assert/strict';
import type { OpenWatch } from '../../src/network/device-watches.ts';
import type { StoredWatches } from '../../src/network/stored-watches.ts';
import type { WatchSettings } from '../../src/network/watch-context.ts';
import { D, deviceAt, G, MINUTE, S, SETTINGS, World } from './watched-world.ts';

const MANY = Array.from({ length: 250 }, (_, i) => deviceAt(100 + i));

describe('messages of a watch', () => {
  let world: World;
  let watch: OpenWatch;
  let told: string[];
  let arePaused: boolean;

  beforeEach(() => {
    world = new World();
    told = [];
    arePaused = false;
    open();
  });

  const heads = () => told.splice(0);
  const of = (sign: string, devices: readonly string[]) => devices.map((device) => `${sign}error ${device}`);

  function open(settings: Partial<WatchSettings> = {}): void {
    watch = world.watches.open(
      'n',
      { ...SETTINGS, conditions: ['error'], ...settings },
      {
        changed({ condition, active, device }) {
          assert.equal(arePaused, false, 'while flows are replaced');
          told.push(`${active ? '+' : '-'}${condition} ${device}`);
        },
        counted() {},
        full() {},
        follow() {},
      },
    );
  }

  function setPaused(isPaused: boolean): void {
    // What goes out in the call itself does so when flows run.
    arePaused &&= isPaused;
    world.watches.setPaused(isPaused, () => true);
    arePaused = isPaused;
  }

  function stop(): void {
    setPaused(true);
    watch.close(true);
  }

  function deploy(settings: Partial<WatchSettings> = {}): void {
    stop();
    open(settings);
    setPaused(false);
  }

  function report(status: number, devices: readonly string[]): void {
    for (const device of devices) {
      world.hear('heartbeat', { status }, { device });
    }
  }

  function fail(devices: readonly string[]): void {
    report(3, devices);
    world.wait(6 * S);
    assert.deepEqual(heads(), of('+', devices));
  }

  const WITHOUT: Partial<WatchSettings> = { conditions: ['battery-low'] };
  const ENDS: Record<string, () => void> = {
    'that a deploy takes out': () => deploy(WITHOUT),
    'whose gateways lose their label': () => watch.setLabelled(new Set()),
    'that end with reports of one moment': () => report(0, MANY),
  };
  for (const [what, end] of Object.entries(ENDS)) {
    it(`tell the ends of very many conditions ${what} in turns, in their order`, () => {
      deploy({ labels: ['L'] });
      watch.setLabelled(new Set([G]));
      fail(MANY);
      world.takeTurns();
      end();
      assert.equal(watch.counts.active, 0);
      const lengths: number[] = [];
      for (let turn = 0; turn < 4; turn++) {
        lengths.push(told.length);
        world.takeTurns(1);
      }
      assert.deepEqual([lengths, heads()], [[100, 200, 250, 250], of('-', MANY)]);
    });
  }

  it('that wait when flows are replaced go out when they run again, through the next watch', () => {
    fail(MANY);
    deploy(WITHOUT);
    world.takeTurns(1);
    deploy(WITHOUT);
    stop();
    world.wait(MINUTE);
    open(WITHOUT);
    world.wait(MINUTE);
    setPaused(false);
    world.takeTurns();
    assert.deepEqual(heads(), of('-', MANY));
  });

  it('say first that a condition is over, and then that it has begun anew', () => {
    fail(MANY);
    deploy(WITHOUT);
    deploy();
    world.wait(6 * S);
    assert.deepEqual(heads(), [...of('-', MANY), ...of('+', MANY)]);
  });

  /** Node-RED stops in the middle, and starts with what the store holds. */
  function restart(settings: Partial<WatchSettings> = {}): void {
    stop();
    const stored = JSON.parse(JSON.stringify(world.watches.store(1_000))) as StoredWatches;
    for (const { active = [] } of stored.n ?? []) {
      assert.ok(active.length <= 1, 'each condition once');
    }
    world.startAnew();
    world.watches.setPaused(true);
    world.watches.restore(stored);
    open(settings);
    setPaused(false);
    world.listen(true);
  }

  it('that wait when Node-RED stops go out after the start: what has begun once more begins', () => {
    world.takeTurns();
    report(3, MANY);
    world.time += 6 * S;
    report(3, MANY);
    world.takeTurns(1);
    assert.ok(told.length < MANY.length);
    restart();
    report(3, MANY);
    world.wait(6 * S);
    assert.deepEqual(heads().sort(), of('+', MANY));
  });

  it('that wait when Node-RED stops go out after the start: what has ended ends', () => {
    fail(MANY);
    deploy(WITHOUT);
    world.takeTurns(1);
    assert.ok(told.length < MANY.length);
    restart(WITHOUT);
    world.takeTurns();
    assert.deepEqual(heads().sort(), of('-', MANY));
  });

  it('that wait when Node-RED stops go out after the start: what has ended ends, whatever had told of it', () => {
    world.hear('measurement-error/8800', { error: 3 });
    world.wait(6 * S);
    assert.deepEqual(heads(), of('+', [D]));
    setPaused(true);
    world.hear('measurement/8800', { value: '00' });
    // The second one stops before anybody has looked at it.
    restart();
    restart();
    world.takeTurns();
    world.wait(MINUTE);
    assert.deepEqual([heads(), watch.active()], [of('-', [D]), []]);
  });

  it('that wait when Node-RED stops go out after the start: what has ended and begun anew goes on', () => {
    fail(MANY);
    world.takeTurns();
    report(0, MANY);
    report(3, MANY);
    world.time += 6 * S;
    report(3, MANY);
    const before = heads();
    restart();
    report(3, MANY);
    world.wait(6 * S);
    const state = new Map([...of('+', MANY), ...before, ...heads()].map((one) => [one.slice(1), one[0]]));
    assert.deepEqual([...new Set(state.values())], ['+']);
    assert.equal(watch.counts.active, MANY.length);
  });

  it('that wait are in the store as they were told last, with their limit and their gateway', () => {
    deploy({ conditions: ['battery-low', 'error', 'weak-signal'], gateways: [G] });
    world.hear('property-decoded/battery-level', { value: 10 });
    world.hear('heartbeat', { status: 3 }, { device: G });
    world.hear('rssi', { rssi: -95, parent: G });
    world.wait(6 * S);
    assert.deepEqual(heads().sort(), [`+battery-low ${D}`, `+error ${G}`, `+weak-signal ${D}`]);
    stop();
    open({ conditions: ['weak-signal'], gateways: [G] });
    const active = () =>
      new Map((world.watches.store(10).n ?? []).map((stored) => [stored.id, stored.active] as const));
    const [weak, low, ...others] = active().get(D) ?? [];
    assert.deepEqual([weak?.condition, others], ['weak-signal', []]);
    const [failed] = active().get(G) ?? [];
    assert.deepEqual([low?.condition, low?.limit, low?.gateway], ['battery-low', 20, G]);
    assert.deepEqual(Object.keys(failed ?? {}), ['condition', 'since', 'errors']);
    assert.deepEqual([failed?.errors, low?.errors], [[], undefined]);
    setPaused(false);
    world.takeTurns();
    assert.deepEqual(heads().sort(), [`-battery-low ${D}`, `-error ${G}`]);
    assert.deepEqual([active().get(D)?.length, active().get(G)], [1, undefined]);
  });

  it('of what is forgotten after the watch has ended go out through the next one', () => {
    fail([D]);
    stop();
    watch.forget(D);
    open();
    setPaused(false);
    world.takeTurns();
    assert.deepEqual(heads(), of('-', [D]));
  });

  it('go out a turn later where their node has only just begun, also by what it is told of labels', () => {
    fail([D, ...MANY]);
    stop();
    // The deploy takes longer than reports wait.
    world.wait(20 * S);
    setPaused(false);
    open({ devices: MANY, labels: ['L'] });
    watch.setLabelled(new Set());
    watch.forget(MANY[0] as string);
    assert.deepEqual(heads(), []);
    world.takeTurns();
    assert.deepEqual(heads(), of('-', [D, MANY[0] as string]));
    assert.equal(watch.counts.active, 249);
  });

  it('that a deploy of more than 20 s held back go out with its end, and not after what is true by then', () => {
    fail([D]);
    setPaused(true);
    watch.forget(D);
    watch.close(true);
    world.wait(20 * S);
    setPaused(false);
    open();
    world.takeTurns();
    assert.deepEqual(heads(), of('-', [D]));
    fail([D]);
    deploy();
    assert.deepEqual([heads(), watch.active().length], [[], 1]);
  });
});
