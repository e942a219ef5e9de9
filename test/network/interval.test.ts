// How often something is heard usually: what begins a hearing, how many are needed, and what was known before the start.
import assert from 'node:assert/strict';
import { newDevice, newGateway } from '../../src/network/device-state.ts';
import {
  hear,
  hearGateway,
  intervalSoFarMs,
  latelyMs,
  recallInterval,
  usualIntervalMs,
} from '../../src/network/interval.ts';
import { Listening } from '../../src/network/listening.ts';

const S = 1_000;
const MINUTE = 60 * S;
const G = 'c0141f68fc3d';
const D = 'd00000000001';

describe('the usual interval', () => {
  const listening = new Listening(0);
  listening.set(true, 0);
  const at = (device = D) => ({ device, kind: 'heartbeat', identifier: undefined }) as const;

  it('counts what comes within a second as one hearing', () => {
    const device = newDevice(D, 0);
    hear(device, at(), 0, true, false, listening);
    assert.equal(hear(device, at(), S - 1, true, false, listening), false);
    assert.equal(hear(device, at(), S, true, false, listening), true);
    assert.deepEqual([device.hearings, device.reports, device.heardAt], [2, 3, S]);
  });

  it('is known after five hearings, and of a gateway with several devices after twelve', () => {
    const device = newDevice(D, 0);
    const gateway = Object.assign(newGateway(G, 0), { devices: 2 });
    const known: number[][] = [[], []];
    for (let i = 0; i < 20; i++) {
      hear(device, at(), i * MINUTE, true, false, listening);
      hearGateway(gateway, at(i % 2 ? D : G), i * MINUTE, true, false, listening);
      for (const [n, heard] of [device, gateway].entries()) {
        if (intervalSoFarMs(heard) !== undefined) {
          known[n]?.push(heard.hearings);
        }
      }
    }
    assert.deepEqual([known[0]?.[0], known[1]?.[0]], [5, 12]);
    assert.equal(usualIntervalMs(device), MINUTE);
  });

  it('says what was heard lately: three of them, or five minutes', () => {
    const device = newDevice(D, 0);
    assert.equal(latelyMs(device), 5 * MINUTE);
    for (const [intervalMs, lately] of [
      [MINUTE, 5 * MINUTE],
      [2 * MINUTE, 6 * MINUTE],
    ] as const) {
      assert.equal(latelyMs({ ...device, hearings: 5, intervalMs }), lately);
    }
  });

  it('was at least what was known before the start', () => {
    const heard = () =>
      Object.assign(newGateway(G, 0), { hearings: 5, intervalMs: 2 * MINUTE, pauseMs: MINUTE });
    const [more, less] = [heard(), heard()];
    recallInterval(more, 3 * MINUTE);
    recallInterval(less, 1.5 * MINUTE);
    assert.deepEqual([more.intervalMs, more.pauseMs], [3 * MINUTE, 3 * MINUTE]);
    assert.deepEqual([less.intervalMs, less.pauseMs], [2 * MINUTE, 1.5 * MINUTE]);
    assert.equal(more.longPauses.at(-1)?.ms, 3 * MINUTE, 'its pauses, too');
  });
});
