// One row of the network, and all that is known of one: what people see of a gateway or a device.
import assert from 'node:assert/strict';
import {
  type ListedDevice,
  type NetworkSource,
  ownName,
  rssiOf,
  type Subject,
  toDetails,
  toRow,
} from '../../src/network/network-rows.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { wallTime } from '../../src/network/wall-time.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';

const [G, G2, D] = ['c0141f68fc3d', 'c0141f68fc3e', 'd00000000001'];
const TIME = '2026-01-02T03:04:05.678Z';
const MINUTE = 60_000;
const LISTED: ListedDevice = {
  ...{ id: 'bmac-1', mac: D, name: 'Cellar', labels: ['cold'], connected: false, model: 'T-1' },
};

describe('one of the network', () => {
  let now: number;
  let network: NetworkState;
  let source: NetworkSource;
  let names: Record<string, string>;

  beforeEach(() => {
    now = 1_000;
    names = {};
    network = new NetworkState({ now: () => now });
    network.setListening(true, false);
    source = {
      ...{ network, catalogue: createCatalogue(), nameOf: (mac) => names[mac] },
      ...{ listed: () => undefined, allListed: () => [] },
    };
  });

  function hear(rest: string, body: object = {}, { gateway = G, device = D } = {}): void {
    const report = { time: TIME, ...body } as Report;
    network.record(readReportTopic('t', gateway, device, rest), now, report);
  }
  const subject = (kind: Subject['kind'], more: Partial<Subject> = {}): Subject => {
    const id = kind === 'gateway' ? G : D;
    const [gateway, device] = [kind === 'gateway' ? network.gateway(G) : undefined, network.device(id)];
    return { id, kind, parent: undefined, device, gateway, listed: undefined, ...more };
  };
  const row = (kind: Subject['kind'] = 'device', more: Partial<Subject> = {}) =>
    toRow(source, subject(kind, more));
  const details = (kind: Subject['kind'] = 'device', more: Partial<Subject> = {}) =>
    toDetails(source, subject(kind, more));

  it('is nothing but what the list of devices knows, where it was never heard', () => {
    const expected = {
      ...{
        id: D,
        name: 'Cellar',
        kind: 'device',
        parent: null,
        lastSeen: null,
        interval: null,
        silent: false,
      },
      ...{ rssi: null, battery: null, devices: null, values: [], conditions: [], labels: ['cold'] },
      connected: false,
    };
    assert.deepEqual(row('device', { listed: LISTED }), expected);
    assert.deepEqual(details('device', { listed: LISTED }), {
      ...expected,
      ...{ gateway: null, model: 'T-1', dfu: false, count: 0, event: null, error: null, heardBy: [] },
    });
  });

  it('is called as the service knows it, as it is listed, and else by its id', () => {
    assert.deepEqual([ownName(source, subject('device')), row().name], [undefined, D]);
    assert.equal(row('device', { listed: LISTED }).name, 'Cellar');
    assert.equal(row('device', { listed: { ...LISTED, name: LISTED.id } }).name, D);
    names[D] = 'Cold room';
    assert.equal(row('device', { listed: LISTED }).name, 'Cold room');
  });

  it('has no interval after a single report, and then one to the tenth of a second', () => {
    hear('heartbeat');
    assert.equal(row().interval, null);
    for (let i = 0; i < 10; i++) {
      now += 10_260;
      hear('heartbeat');
    }
    assert.equal(row().interval, 10.3);
  });

  it('has the signal of its parent, of the best where it has none, and of a gateway none', () => {
    hear('rssi', { rssi: -80, parent: G });
    hear('rssi', { rssi: -60, parent: G2 }, { gateway: G2 });
    hear('rssi', { rssi: -50, parent: G2 }, { gateway: G2, device: G });
    assert.deepEqual(
      [undefined, G, G2].map((parent) => row('device', { parent }).rssi),
      [-60, -80, -60],
    );
    assert.deepEqual([rssiOf(subject('gateway')), row('gateway').rssi], [-50, null]);
  });

  it('was seen, of a gateway, with the last report that it has brought', () => {
    hear('heartbeat', {}, { device: G });
    now += 1_000;
    hear('heartbeat');
    assert.equal(row('gateway').lastSeen, wallTime(now));
  });

  it('is silent, be it a device or a gateway', () => {
    for (let i = 0; i < 12; i++) {
      hear('heartbeat');
      now += MINUTE;
    }
    assert.deepEqual([row().silent, row('gateway').silent], [false, false]);
    now += 9 * MINUTE;
    assert.deepEqual([row().silent, row('gateway').silent], [true, true]);
    assert.deepEqual([row().conditions, row('gateway').conditions], [['silent'], ['gateway-silent']]);
  });

  it('has labels and is connected as far as it is listed', () => {
    hear('heartbeat');
    assert.deepEqual([row().labels, row().connected], [[], null]);
    const listed = { ...LISTED, connected: true };
    assert.deepEqual(
      [row('device', { listed }).labels, row('device', { listed }).connected],
      [['cold'], true],
    );
  });

  it('counts the devices of a gateway that reports nothing of itself', () => {
    hear('heartbeat');
    assert.deepEqual([row('gateway').devices, row('gateway').lastSeen], [1, wallTime(now)]);
  });

  it('counts the devices of a gateway without itself', () => {
    hear('heartbeat', {}, { device: G });
    assert.equal(row('gateway').devices, 0);
    hear('heartbeat');
    assert.equal(row('gateway').devices, 1);
    assert.equal(row('device').devices, null);
  });

  it('counts the devices of a gateway that only others hear', () => {
    hear('heartbeat');
    hear('heartbeat', {}, { gateway: G2, device: G });
    assert.equal(row('gateway').devices, 1);
  });

  it('says how many of its devices are in need only where that is asked', () => {
    assert.ok(!('inNeed' in row()));
    assert.equal(row('gateway', { inNeed: 0 }).inNeed, 0);
  });

  it('says why it is near', () => {
    const [at, time] = [now, wallTime(now)];
    const none = { identifier: undefined, rssi: undefined, usual: undefined, at };
    const near = (lit: object) => toRow(source, subject('device'), { ...none, reason: 'event', ...lit }).near;
    const shown = { reason: 'event', identifier: null, name: null, rssi: null, usual: null, time };
    assert.deepEqual(near({}), shown);
    assert.deepEqual(near({ identifier: '8810' }), { ...shown, identifier: '8810', name: 'motion' });
    assert.deepEqual(near({ identifier: 'own' }), { ...shown, identifier: 'own' });
    assert.deepEqual(near({ reason: 'louder', rssi: -40, usual: -80 }), {
      ...{ ...shown, reason: 'louder', rssi: -40, usual: -80 },
    });
    assert.ok(!('near' in row()));
  });

  describe('with values', () => {
    const shown = () => row().values.map(({ identifier }) => identifier);
    const SOUGHT = ['temperature', 'humidity', 'motion', 'light-intensity', 'pressure', 'alarm'];
    for (let i = 0; i < SOUGHT.length; i++) {
      it(`shows ${SOUGHT[i]} before what is sought less, and that before all others`, () => {
        for (const identifier of ['own-1', ...SOUGHT.slice(i), 'own-2', 'own-3']) {
          now += 1_000;
          hear(`measurement-decoded/${identifier}`, { value: 1 });
        }
        assert.deepEqual(shown(), [...SOUGHT.slice(i), 'own-3', 'own-2'].slice(0, 3));
      });
    }

    it('knows what is sought where the user calls it otherwise', () => {
      source = { ...source, catalogue: createCatalogue([{ id: '8800', name: 'heat', type: 's16' }]) };
      for (const identifier of ['temperature', 'own-1', 'own-2', 'own-3']) {
        now += 1_000;
        hear(`measurement-decoded/${identifier}`, { value: 1 });
      }
      assert.deepEqual(shown(), ['temperature', 'own-3', 'own-2']);
    });

    it('shows neither the battery, which has a place of its own, nor what has no value', () => {
      hear('property-decoded/battery-level', { value: 50 });
      hear('property/8100', { value: 50 });
      hear('measurement-error/8800', { error: 4 });
      hear('measurement-decoded/own', { value: 0 });
      assert.deepEqual(shown(), ['own']);
    });

    it('shows of a property the newest value that it has, raw or decoded', () => {
      const values = () => details().values.map(({ identifier, value }) => [identifier, value]);
      hear('measurement-error/8800', { error: 4 });
      now++;
      hear('measurement-decoded/temperature', { value: 20 });
      assert.deepEqual(values(), [['temperature', 20]]);
      now++;
      hear('measurement/8800', { value: 21 });
      assert.deepEqual(values(), [['8800', 21]]);
      now++;
      hear('measurement-decoded/temperature', { value: 22 });
      assert.deepEqual(values(), [['temperature', 22]]);
      now++;
      hear('measurement-decoded/temperature', { value: 'x'.repeat(1_000) });
      assert.deepEqual(values(), [['8800', 21]]);
    });

    it('shows names and units that are known, and else none', () => {
      hear('measurement/8800', { value: 20 });
      hear('measurement-decoded/own', { value: 'on', time: '' });
      assert.deepEqual(details().values, [
        { identifier: '8800', name: 'temperature', value: 20, unit: '°C', time: TIME },
        { identifier: 'own', name: null, value: 'on', unit: null, time: '' },
      ]);
    });
  });

  describe('with all that is known', () => {
    it('is heard by a gateway, and is one itself', () => {
      assert.deepEqual([details().gateway, details('gateway').gateway], [null, G]);
      hear('heartbeat');
      hear('heartbeat', {}, { gateway: G2, device: G });
      assert.deepEqual([details().gateway, details('gateway').gateway], [G, G]);
      assert.deepEqual([details().model, details('device', { listed: LISTED }).model], [null, 'T-1']);
    });

    it('has counted the reports of it, and of a gateway all that it brings', () => {
      hear('heartbeat');
      hear('heartbeat');
      hear('heartbeat', {}, { device: G });
      assert.deepEqual([details().count, details('gateway').count], [2, 3]);
    });

    it('is in DFU mode', () => {
      hear('dfu');
      assert.equal(details().dfu, true);
      hear('heartbeat');
      assert.equal(details().dfu, false);
    });

    it('has had an event, whatever that is called', () => {
      const at = wallTime(now);
      hear('event/8810');
      now += MINUTE;
      hear('heartbeat');
      assert.deepEqual(details().event, { identifier: '8810', name: 'motion', lastSeen: at });
      hear('event-decoded/own');
      assert.deepEqual(details().event, { identifier: 'own', name: null, lastSeen: wallTime(now) });
    });

    it('has an error, of a property or of none', () => {
      const lastSeen = wallTime(now);
      hear('heartbeat', { status: 3 });
      assert.deepEqual(details().error, { identifier: null, name: null, code: 3, lastSeen });
      hear('measurement-error/own', { error: 4 });
      assert.deepEqual(details().error, { identifier: 'own', name: null, code: 4, lastSeen });
      hear('measurement-error/8800', { error: 5 });
      now += MINUTE;
      assert.deepEqual(details().error, { identifier: '8800', name: 'temperature', code: 5, lastSeen });
    });

    it('is heard in ways that have names, a signal and a channel, or none', () => {
      names[G] = 'Hall';
      const lastSeen = wallTime(now);
      hear('rssi', { rssi: -60, channel: 38, parent: G });
      hear('rssi', { rssi: -70, parent: G2, unreachable: true });
      hear('heartbeat', {}, { gateway: G2 });
      const way = { channel: null, unreachable: false, lastSeen, count: 1 };
      assert.deepEqual(details().heardBy, [
        {
          ...way,
          gateway: G,
          parent: G,
          name: 'Hall',
          gatewayName: 'Hall',
          rssi: -60,
          channel: 38,
          count: 2,
        },
        { ...way, gateway: G, parent: G2, name: G2, gatewayName: 'Hall', rssi: -70, unreachable: true },
        { ...way, gateway: G2, parent: G2, name: G2, gatewayName: null, rssi: null },
      ]);
    });
  });
});
