// What was heard last as lists for pickers, in a network that is larger than what is listed.
import assert from 'node:assert/strict';
import { NetworkState } from '../../src/network/network-state.ts';
import { RecentLists } from '../../src/network/recent-lists.ts';
import { wallTime } from '../../src/network/wall-time.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';
import { itAtScale } from '../at-scale.ts';

const G = 'c0141f68fc3d';
const G2 = 'c0141f68fc3e';
const LISTED = 10_000;

/** A network with its lists. */
class Seen extends RecentLists {
  readonly network: NetworkState;

  constructor(
    network = new NetworkState(),
    nameOf?: (mac: string) => string | undefined,
    catalogue = createCatalogue(),
  ) {
    super(network, catalogue, nameOf);
    this.network = network;
  }

  record(...args: Parameters<NetworkState['record']>): void {
    this.network.record(...args);
  }

  gatewayOf(device: string): string | undefined {
    return this.network.gatewayOf(device);
  }
}

const open = () => new Seen();

describe('the lists of what was heard last', () => {
  const deviceAt = (i: number) => (0xd00000000000 + i).toString(16);

  /** Milliseconds; every report comes later than the one before. */
  let now = 0;

  function heard(seen: Seen, from: number, to: number, gateway = G): void {
    for (let i = from; i < to; i++) {
      seen.record(readReportTopic('t', gateway, deviceAt(i), 'measurement/8800'), ++now);
    }
  }

  const listed = (seen: Seen) => new Set(seen.devices().map(({ id }) => id));

  it('go on with what was known before', () => {
    const before = open();
    heard(before, 0, 2);
    const seen = open();
    seen.network.takeOver(before.network);
    heard(seen, 1, 3, G2);
    assert.deepEqual(
      [0, 1, 2].map((i) => seen.gatewayOf(deviceAt(i))),
      [G, G2, G2],
    );
    assert.equal(listed(seen).size, 3);
  });

  it('keeps the properties of very many devices for a while, each question for itself, and of few none', () => {
    const seen = open();
    const reportAll = (from: number, devices: number, properties: number) => {
      for (let n = from; n < from + devices * properties; n++) {
        const rest = `property-decoded/${n}-${'x'.repeat(100)}`;
        seen.record(readReportTopic('t', G, deviceAt(n % devices), rest), performance.now(), undefined);
      }
    };
    reportAll(0, 2, 2);
    assert.notEqual(seen.identifiers(), seen.identifiers());
    reportAll(4, 1_000, 30);
    const all = seen.identifiers({ limit: 50 });
    assert.equal(all.length, 50);
    assert.equal(seen.identifiers({ limit: 50 }), all);
    const [first] = seen.identifiers({ limit: 50, text: '29999-' });
    assert.ok(first?.id.startsWith('29999-'));
    assert.deepEqual(seen.identifiers({ limit: 50, device: deviceAt(10_000) }), []);
  });

  it('lists the devices that came last when they are too many, and knows the gateway of all', () => {
    const seen = open();
    heard(seen, 0, 15_000);
    const devices = listed(seen);
    assert.equal(devices.size, LISTED);
    assert.ok(devices.has(deviceAt(14_999)) && !devices.has(deviceAt(0)));
    assert.equal(seen.gatewayOf(deviceAt(0)), G);
    heard(seen, 0, 1, G2);
    assert.equal(seen.gatewayOf(deviceAt(0)), G2);
  });

  for (const [others, isFound] of [
    [LISTED - 1, true],
    [LISTED, false],
  ] as const) {
    it(`looks for properties of the devices that came last, with ${others} after the first one`, () => {
      const seen = open();
      seen.record(readReportTopic('t', G, deviceAt(0), 'measurement-decoded/own'), ++now);
      heard(seen, 1, 1 + others);
      assert.deepEqual(
        seen.identifiers().map(({ id, count }) => [id, count]),
        [['8800', others], ...(isFound ? [['own', 1]] : [])],
      );
    });
  }

  it('keeps the last value of a property, and of a device its signal and battery', () => {
    const seen = open();
    const device = deviceAt(0);
    const record = (rest: string, now: number, report: object) =>
      seen.record(readReportTopic('t', G, device, rest), now, { time: '', ...report } as Report);
    record('measurement/8800', 1, { value: 20 });
    record('measurement-decoded/temperature', 2, { value: 21 });
    record('measurement/8800', 3, { value: 22 });
    record('timestamped/8800', 4, { value: 5, backfill: true });
    record('property/8001', 5, { value: 'x'.repeat(41) });
    record('property/8005', 5, { value: { chip: 1 } });
    record('property-decoded/battery-level', 6, { value: 81 });
    record('rssi', 7, { rssi: -67 });
    const values = seen.identifiers({ device }).map(({ id, value }) => [id, value]);
    assert.deepEqual(Object.fromEntries(values), {
      ...{ 8800: 22, temperature: 21, 8001: undefined, 8005: '{"chip":1}', 'battery-level': 81 },
    });
    const [row] = seen.devices();
    assert.deepEqual([row?.rssi, row?.battery], [-67, 81]);
    assert.deepEqual(seen.devices({ gateway: G })[0]?.rssi, -67);
  });

  it('shows of a property in the whole network the value that was heard last', () => {
    const seen = open();
    for (const [i, now, value] of [
      [1, 30, 3],
      [2, 10, 1],
      [3, 20, 2],
    ] as const) {
      seen.record(readReportTopic('t', G, deviceAt(i), 'measurement/8800'), now, {
        time: '',
        value,
      } as never);
    }
    const [row] = seen.identifiers();
    assert.deepEqual([row?.value, row?.count, row?.lastSeen], [3, 3, wallTime(30)]);
  });

  it('knows the last gateway of devices that were pushed out of the list, let back in and moved', () => {
    const seen = open();
    heard(seen, 0, 15_000);
    for (const gateway of [G2, G]) {
      for (let round = 0; round < 3; round++) {
        heard(seen, 0, 15_000, gateway);
      }
      const known = new Set(Array.from({ length: 15_000 }, (_, i) => seen.gatewayOf(deviceAt(i))));
      assert.deepEqual([...known], [gateway]);
      assert.equal(seen.devices({ gateway }).length, LISTED);
    }
  });

  itAtScale('forgets the gateways of those that were silent longest, in a network beyond all bounds', () => {
    const seen = open();
    heard(seen, 0, 450_000);
    assert.equal(seen.gatewayOf(deviceAt(0)), undefined);
    assert.equal(seen.gatewayOf(deviceAt(449_999)), G);
    assert.equal(listed(seen).size, LISTED);
  });

  it('counts the reports of a device and of each of its properties', () => {
    const seen = open();
    for (const rest of ['measurement/8800', 'measurement/8800', 'property/8100', 'heartbeat']) {
      seen.record(readReportTopic('t', G, deviceAt(1), rest), 0);
    }
    assert.deepEqual(
      seen.devices().map(({ count }) => count),
      [4],
    );
    const counts = seen.identifiers({ device: deviceAt(1) }).map(({ id, count }) => [id, count]);
    assert.deepEqual(
      new Map(counts as [string, number][]),
      new Map([
        ['8800', 2],
        ['8100', 1],
      ]),
    );
  });

  it('calls a property by its id that has lost its name to one of the service', () => {
    const own = [{ id: 'a001', name: 'battery-level', type: 'u8' as const, access: ['read' as const] }];
    const seen = new Seen(undefined, undefined, createCatalogue(own));
    seen.record(readReportTopic('t', G, deviceAt(1), 'property/8100'), 0);
    assert.deepEqual(
      seen.identifiers({}).map(({ id, name }) => [id, name]),
      [['8100', '8100']],
    );
  });

  it('lists a device under every gateway that hears it, with what this gateway heard', () => {
    const seen = open();
    const at = (gateway: string) => readReportTopic('t', gateway, deviceAt(1), 'heartbeat');
    for (const [now, gateway] of [G, G2, G, G2, G].entries()) {
      seen.record(at(gateway), now);
    }
    const heardBy = (gateway: string) => seen.devices({ gateway }).map(({ id, count }) => [id, count]);
    assert.deepEqual(heardBy(G), [[deviceAt(1), 3]]);
    assert.deepEqual(heardBy(G2), [[deviceAt(1), 2]]);
    assert.deepEqual(heardBy('c0141f68fc3f'), []);
  });

  it('remembers the last sixteen gateways that heard a device', () => {
    const seen = open();
    const mac = (i: number) => (0xc00000000000 + i).toString(16);
    for (let i = 0; i < 20; i++) {
      seen.record(readReportTopic('t', mac(i), deviceAt(1), 'heartbeat'), i);
    }
    const known = Array.from({ length: 20 }, (_, i) => seen.devices({ gateway: mac(i) }).length);
    assert.deepEqual(known, [0, 0, 0, 0, ...Array(16).fill(1)]);
  });

  itAtScale(
    'does not note identifiers beyond 200 characters, and forgets the oldest of more than 200 000',
    () => {
      const seen = open();
      const note = (device: number, identifier: string) =>
        seen.record(readReportTopic('t', G, deviceAt(device), `measurement/${identifier}`), 0);
      note(1, 'x'.repeat(201));
      note(1, 'x'.repeat(200));
      assert.deepEqual(
        seen.identifiers({ device: deviceAt(1) }).map(({ id }) => id.length),
        [200],
      );
      for (let device = 2; device < 1_010; device++) {
        for (let i = 0; i < 200; i++) {
          note(device, `${i}`);
        }
      }
      assert.equal(seen.identifiers({ device: deviceAt(1_009) }).length, 200);
      assert.equal(seen.identifiers({ device: deviceAt(2) }).length, 0);
      const total = seen.identifiers().reduce((sum, { count }) => sum + count, 0);
      assert.equal(total, 200_000);
    },
  );

  describe('in the lists of pickers', () => {
    /** In milliseconds of `performance.now()`. */
    const at = 678;
    let seen: Seen;

    beforeEach(() => {
      seen = open();
      const reports: [gateway: string, device: string, rest: string][] = [
        [G, deviceAt(1), 'measurement/8800'],
        [G2, deviceAt(2), 'measurement-decoded/Own-Name'],
        [G, deviceAt(1), 'measurement/8802'],
        [G2, deviceAt(2), 'heartbeat'],
        [G2, deviceAt(2), 'measurement/8800'],
        [G, deviceAt(3), 'heartbeat'],
      ];
      for (const [i, [gateway, device, rest]] of reports.entries()) {
        seen.record(readReportTopic('t', gateway, device, rest), at + i);
      }
    });

    const ids = (entries: { id: string }[]) => entries.map(({ id }) => id);

    it('stands first what reported last, with when and how often', () => {
      assert.deepEqual(seen.devices(), [
        { id: deviceAt(3), name: deviceAt(3), lastSeen: wallTime(683), count: 1 },
        { id: deviceAt(2), name: deviceAt(2), lastSeen: wallTime(682), count: 3 },
        { id: deviceAt(1), name: deviceAt(1), lastSeen: wallTime(680), count: 2 },
      ]);
      assert.deepEqual(
        seen.gateways().map(({ id, count }) => [id, count]),
        [
          [G, 3],
          [G2, 3],
        ],
      );
    });

    it('stand identifiers by id, with their names, counted over all devices', () => {
      assert.deepEqual(
        seen.identifiers().map(({ id, name, lastSeen, count }) => [id, name, lastSeen, count]),
        [
          ['8800', 'temperature', wallTime(682), 2],
          ['8802', 'humidity', wallTime(680), 1],
          ['Own-Name', 'Own-Name', wallTime(679), 1],
        ],
      );
      assert.deepEqual(ids(seen.identifiers({ device: deviceAt(1) })), ['8802', '8800']);
      assert.deepEqual(ids(seen.identifiers({ gateway: G2 })), ['8800', 'Own-Name']);
      assert.deepEqual(ids(seen.identifiers({ gateway: G, device: deviceAt(2) })), []);
    });

    it('is found what has a text in its id or name, in any case, up to a limit', () => {
      assert.deepEqual(ids(seen.identifiers({ text: 'TEMP' })), ['8800']);
      assert.deepEqual(ids(seen.identifiers({ text: '880' })), ['8800', '8802']);
      assert.deepEqual(ids(seen.identifiers({ text: 'own-n' })), ['Own-Name']);
      assert.deepEqual(ids(seen.identifiers({ text: 'nothing' })), []);
      assert.deepEqual(ids(seen.identifiers({ text: '', limit: 2 })), ['8800', '8802']);
      assert.deepEqual(ids(seen.gateways({ text: G2.toUpperCase() })), [G2]);
      assert.deepEqual(ids(seen.identifiers({ text: ' name OWN ' })), ['Own-Name']);
      assert.deepEqual(ids(seen.identifiers({ text: 'own temp' })), []);
      assert.deepEqual(seen.devices({ limit: 0 }), []);
    });

    it('is found by an id in small letters, whatever it is called', () => {
      seen = new Seen(seen.network, (mac) => (mac === deviceAt(1) ? 'Hall' : undefined));
      assert.deepEqual(
        ['d00000000001', 'D00000000001', 'hall'].map((text) => ids(seen.devices({ text }))),
        [[deviceAt(1)], [deviceAt(1)], [deviceAt(1)]],
      );
      assert.deepEqual(ids(seen.identifiers({ text: 'OWN-name' })), ['Own-Name']);
    });

    it('has no value where none was reported', () => {
      assert.ok(seen.identifiers().every((entry) => !('value' in entry)));
    });

    it('are the devices that a gateway hears, with what it heard', () => {
      seen.record(readReportTopic('t', G, deviceAt(2), 'heartbeat'), at + 10);
      const heard = (gateway: string) =>
        seen.devices({ gateway }).map(({ id, lastSeen, count }) => [id, lastSeen, count]);
      assert.deepEqual(heard(G), [
        [deviceAt(2), wallTime(688), 1],
        [deviceAt(3), wallTime(683), 1],
        [deviceAt(1), wallTime(680), 2],
      ]);
      assert.deepEqual(heard(G2), [[deviceAt(2), wallTime(682), 3]]);
      assert.deepEqual(heard('c0141f68fc3f'), []);
      assert.deepEqual(ids(seen.devices({ device: deviceAt(1) })), [deviceAt(1)]);
      assert.deepEqual(heard('C0:14:1F:68:FC:3D'), heard(G), 'in any spelling');
      assert.deepEqual(ids(seen.devices({ device: `bmac-${deviceAt(1)}` })), [deviceAt(1)]);
    });
  });

  it('holds no more than 200 identifiers of one device', () => {
    const seen = open();
    for (let i = 0; i < 250; i++) {
      seen.record(readReportTopic('t', G, deviceAt(1), `event-decoded/own-${i}`), i);
    }
    seen.record(readReportTopic('t', G, deviceAt(1), 'event-decoded/own-0'), 250);
    const found = seen.identifiers();
    assert.equal(found.length, 200);
    assert.deepEqual([found[0]?.id, found[0]?.count], ['own-0', 2]);
  });

  it('names no gateway of a device that nobody has heard', () => {
    assert.equal(open().gatewayOf(deviceAt(1)), undefined);
  });
});
