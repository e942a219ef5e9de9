// The simulated reports: repeatable from a seed, of every kind, plausible.
import assert from 'node:assert/strict';
import { MODE } from '../../simulator/src/fleet.ts';
import { fillOptions } from '../../simulator/src/options.ts';
import { type Publication, TOPIC_KINDS } from '../../simulator/src/traffic.ts';
import { createWorld } from '../../simulator/src/world.ts';
import { atOnce } from './at-once.ts';

/** A clock that goes on by 10 ms with every look. */
function clock(): () => number {
  let time = Date.UTC(2025, 0, 1);
  return () => {
    time += 10;
    return time;
  };
}

function deal(cards: number, options: Parameters<typeof fillOptions>[0] = {}): Publication[] {
  const { traffic } = atOnce(createWorld(fillOptions(options), clock()));
  return Array.from({ length: cards }, () => traffic.next()).flat();
}

const plain = (reports: Publication[]): unknown[] =>
  reports.map(({ gateway, device, kind, identifier, payload }) => [
    gateway.mac,
    device,
    kind,
    identifier,
    payload,
  ]);

describe('simulated traffic', () => {
  it('is the same for the same seed, and another for another', () => {
    assert.deepEqual(plain(deal(300)), plain(deal(300)));
    assert.notDeepEqual(plain(deal(300)), plain(deal(300, { seed: 2 })));
  });

  it('shows all 13 topic kinds with the first cards', () => {
    const kinds = new Set(deal(TOPIC_KINDS.length).map(({ kind }) => kind));
    assert.deepEqual([...kinds].sort(), [...TOPIC_KINDS].sort());
  });

  it('keeps raw kinds to raw gateways and decoded ones to decoded gateways', () => {
    for (const { gateway, kind } of deal(500)) {
      if (kind.endsWith('-decoded')) {
        assert.equal(gateway.mode, 'decoded');
      }
      if (kind === 'timestamped') {
        assert.equal(gateway.mode, 'raw');
      }
    }
  });

  it('has several parents hear one device with different strength', () => {
    const heard = deal(400).filter(({ kind }) => kind === 'rssi');
    const parents = new Map<string, Set<unknown>>();
    for (const { device, payload } of heard) {
      parents.set(device, (parents.get(device) ?? new Set()).add(payload.parent));
    }
    assert.ok([...parents.values()].some((set) => set.size > 1));
    assert.ok(heard.every(({ payload }) => Number(payload.rssi) < -20 && Number(payload.rssi) >= -99));
  });

  it('lets two gateways report the same heartbeat', () => {
    const keys = deal(400)
      .filter(({ kind }) => kind === 'heartbeat')
      .map(({ device, payload }) => `${device} ${payload.seq}`);
    assert.ok(new Set(keys).size < keys.length);
  });

  it('wraps sequence numbers after 255', () => {
    const reports = deal(3000, { gateways: 1, devices: 1, kinds: 'heartbeat' });
    const seqs = reports.map(({ payload }) => Number(payload.seq));
    assert.ok(seqs.every((seq, at) => at === 0 || seq === (Number(seqs[at - 1]) + 1) % 256));
  });

  it('has temperatures drift in small steps', () => {
    const options = { gateways: 1, devices: 1, kinds: 'measurement', mode: 'raw' };
    const hex = deal(300, options).filter(({ identifier }) => identifier === '8800');
    const degrees = hex.map(({ payload }) => Buffer.from(String(payload.value), 'hex').readInt16BE() / 100);
    assert.ok(degrees.length > 50);
    assert.ok(degrees.every((degree, at) => at === 0 || Math.abs(degree - Number(degrees[at - 1])) < 0.5));
  });

  it('has one device advertise in DFU mode, and nothing else come from it', () => {
    const world = atOnce(createWorld(fillOptions({}), clock()));
    const updating = world.fleet.devices.filter(({ values }) => values.get('8110') === MODE.dfu);
    assert.equal(updating.length, 1);
    const kinds = new Set(
      Array.from({ length: 500 }, () => world.traffic.next())
        .flat()
        .filter(({ device }) => device === updating[0]?.mac)
        .map(({ kind }) => kind),
    );
    assert.deepEqual([...kinds], ['dfu']);
  });
});
