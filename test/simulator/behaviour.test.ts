// The simulated devices behave as real ones do: in their intervals, their values, their batteries and their signals.
import assert from 'node:assert/strict';
import type { Device } from '../../simulator/src/fleet.ts';
import { age, measure } from '../../simulator/src/measuring.ts';
import { fillOptions, type ServiceOptions } from '../../simulator/src/options.ts';
import { createWorld, type World } from '../../simulator/src/world.ts';
import { atOnce } from './at-once.ts';

const HOUR_MS = 3_600_000;

/** A world whose clock a test sets. */
function worldAt(options: Partial<ServiceOptions> = {}): { world: World; pass(ms: number): void } {
  let time = new Date(2025, 5, 1, 3).getTime();
  const pass = (ms: number) => {
    time += ms;
  };
  return { world: atOnce(createWorld(fillOptions(options), () => time)), pass };
}

const degrees = ({ values }: Device): number => Buffer.from(values.get('8800')!, 'hex').readInt16BE() / 100;
const numberAt = ({ values }: Device, id: string): number => Number.parseInt(values.get(id)!, 16);

describe('simulated devices', () => {
  it('report at an interval of their own that hardly varies', () => {
    const { world } = worldAt({ allDevices: 50 });
    const cards = new Map<string, number[]>();
    for (let card = 0; card < 1000; card++) {
      for (const { device } of world.traffic.next().slice(0, 1)) {
        cards.set(device, [...(cards.get(device) ?? []), card]);
      }
    }
    assert.equal(cards.size, 50);
    for (const turns of cards.values()) {
      // The first ones come in the order of the kinds.
      const gaps = turns.slice(2).map((turn, at) => turn - turns[at + 1]!);
      assert.ok(
        gaps.every((gap) => gap === 50),
        gaps.join(),
      );
    }
  });

  it('are spread over the gateways, as many as are wanted', () => {
    const { gateways, devices } = worldAt({ gateways: 3, allDevices: 250 }).world.fleet;
    assert.equal(devices.length, 250);
    assert.deepEqual(
      gateways.map((gateway) => gateway.devices.length),
      [84, 83, 83],
    );
    const { devices: many } = worldAt({ gateways: 2, allDevices: 10_000 }).world.fleet;
    assert.equal(new Set(many.map(({ mac }) => mac)).size, 10_000);
  });

  it('are warmer in the afternoon than in the night', () => {
    const { world, pass } = worldAt();
    const device = world.fleet.devices[0]!;
    const night = degrees(device);
    for (let minute = 0; minute < 12 * 60; minute += 5) {
      pass(5 * 60_000);
      measure(() => 0.5, device, '8800', world.now());
    }
    assert.ok(degrees(device) - night > 3, `${night} °C, then ${degrees(device)} °C`);
  });

  it('run their batteries down, get new ones, and count their uptime', () => {
    const { world, pass } = worldAt();
    const device = world.fleet.devices[0]!;
    age(device, world.now());
    const [battery, uptime] = [numberAt(device, '8100'), numberAt(device, '8101')];
    const seen = [battery];
    for (let hour = 0; hour < 400; hour++) {
      pass(HOUR_MS);
      age(device, world.now());
      seen.push(numberAt(device, '8100'));
    }
    assert.equal(numberAt(device, '8101') - uptime, 400 * 3600);
    const rises = seen.filter((level, at) => at > 0 && level > seen[at - 1]!);
    assert.ok(Math.min(...seen) < 10 && rises.length > 0 && rises.every((level) => level > 90), seen.join());
  });

  it('are heard louder by the nearer gateway, and another floor is quieter', () => {
    const { world } = worldAt({ gateways: 2, allDevices: 40, kinds: 'rssi' });
    const heard = Array.from({ length: 2000 }, () => world.traffic.next()).flat();
    const mean = (reports: typeof heard) =>
      reports.reduce((sum, { payload }) => sum + Number(payload.rssi), 0) / reports.length;
    const [own, other] = [true, false].map((isOwn) =>
      heard.filter(({ device, payload }) => {
        const { home, alsoHeardBy } = world.fleet.devices.find(({ mac }) => mac === device)!;
        return alsoHeardBy && payload.parent === (isOwn ? home : alsoHeardBy).mac;
      }),
    );
    assert.ok(mean(own!) - mean(other!) > 8, `${mean(own!)} dBm, ${mean(other!)} dBm`);
  });

  it('are carried around when they are tags, and stand still when they are sensors', () => {
    const { world } = worldAt({ gateways: 1, devices: 8, kinds: 'rssi' });
    const places = () => world.fleet.devices.map(({ place, role }) => ({ ...place, role }));
    const before = places();
    for (let card = 0; card < 100; card++) {
      world.traffic.next();
    }
    const moved = places().filter(({ x, y }, at) => x !== before[at]!.x || y !== before[at]!.y);
    assert.ok(moved.length > 0 && moved.every(({ role }) => role === 'tag'));
  });

  it('remember so many samples and no more, acknowledged or not', () => {
    const { world } = worldAt({ sampleLimit: 20 });
    for (let count = 0; count < 100; count++) {
      world.traffic.sample('raw');
    }
    assert.deepEqual([world.samples.all.size, world.samples.unacknowledgedCount <= 20], [20, true]);
    assert.ok(world.samples.counters.forgotten >= 70);
  });
});
