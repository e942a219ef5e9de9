// Anybody who may publish can make up addresses by the hundred thousand: whoever is regular is not forgotten for them.
import assert from 'node:assert/strict';
import type { ReportTopic } from '../../src/protocol/reports/index.ts';
import { itAtScale } from '../at-scale.ts';
import { D, deviceAt, G, MINUTE, S, SETTINGS, World } from './watched-world.ts';

describe('a watch among made-up addresses', function () {
  this.timeout(60_000);
  const DEAD = deviceAt(11);
  let world: World;
  let told: string[];
  let madeUp: number;

  beforeEach(() => {
    world = new World();
    told = [];
    madeUp = 0xa00000000000;
  });

  function watch(devices: string[] = []): void {
    const settings = { ...SETTINGS, silentAfter: 0, gateways: devices.length > 0 ? [] : [G], devices };
    const changed = ({ condition, device }: { condition: string; device: string }) =>
      void told.push(`${condition} ${device}`);
    world.watches.open('watch', settings, { changed, counted() {}, full() {}, follow() {} });
  }

  function makeUp(count: number): void {
    for (const end = madeUp + count; madeUp < end; madeUp++) {
      const mac = madeUp.toString(16);
      world.network.record({ gateway: mac, device: mac, kind: 'heartbeat' } as ReportTopic, world.time);
    }
  }

  /** @param count so many made-up gateways, each with a device, before each minute of heartbeats that are five seconds apart */
  function pass(minutes: number, count: number, devices: readonly string[]): void {
    for (let minute = 0; minute < minutes; minute++) {
      makeUp(count);
      for (const device of devices) {
        world.wait(5 * S);
        world.hear('heartbeat', {}, { device });
      }
      world.wait(MINUTE - devices.length * 5 * S);
    }
  }

  const living = Array.from({ length: 8 }, (_, i) => deviceAt(i));

  itAtScale('tells a device that dies, however many gateways are heard once', () => {
    watch();
    pass(20, 0, [...living, DEAD]);
    pass(10, 11_000, living);
    assert.deepEqual(told, [`silent ${DEAD}`]);
  });

  itAtScale('learns how often the devices of a gateway are heard, however many others are heard once', () => {
    watch();
    pass(30, 11_000, [...living, DEAD]);
    pass(10, 11_000, living);
    assert.deepEqual(told, [`silent ${DEAD}`]);
  });

  itAtScale('still knows how often a device is heard that dies after 200 000 others were heard once', () => {
    watch([D, DEAD]);
    pass(20, 0, [D, DEAD]);
    makeUp(200_001);
    pass(1, 0, [D, DEAD]);
    pass(10, 0, [D]);
    assert.deepEqual(told, [`silent ${DEAD}`]);
  });
});
