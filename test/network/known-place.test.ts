// What is known of a topic saves looking it up, and changes nothing of what is recorded, whatever is pushed out meanwhile.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { KnownPlace } from '../../src/network/known-place.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';
import { itAtScale } from '../at-scale.ts';

const TIME = '2026-01-02T03:04:05.678Z';
const RESTS = ['heartbeat', 'rssi', 'property/8100', 'measurement/8800', 'event/9800'];
/** More than a device has links. */
const GATEWAYS = 20;
/** More devices than are remembered. */
const CROWD = 200_001;

const gatewayAt = (i: number) => (0xc00000000000 + i).toString(16);
const deviceAt = (i: number) => (0xd00000000000 + i).toString(16);

/** Records the same with what is known of topics and without. */
class Twins {
  now = 1_000;
  readonly #networks = [true, false].map(() => new NetworkState({ now: () => this.now }));
  readonly #topics = new Map<string, { at: ReturnType<typeof readReportTopic>; place: KnownPlace }>();

  constructor() {
    for (const network of this.#networks) {
      network.setListening(true, false);
    }
  }

  record(gateway: string, device: string, rest: string): void {
    const topic = `${gateway}/${device}/${rest}`;
    const at = readReportTopic(topic, gateway, device, rest);
    const known = this.#topics.get(topic) ?? { at, place: new KnownPlace() };
    this.#topics.set(topic, known);
    const report = {
      time: TIME,
      rssi: -60,
      parent: gateway,
      value: this.now,
      gateway,
    } as Partial<Report> as Report;
    const [one, other] = this.#networks as [NetworkState, NetworkState];
    one.record(known.at, this.now, report, true, known.place);
    other.record(at, this.now, report);
  }

  /** What both have recorded of the devices that were heard last. */
  compare(count: number): void {
    const [one, other] = this.#networks.map((network) => {
      const devices = [...network.devices()].slice(0, count);
      const seen = devices.map(({ id, reports, heardAt, links, values }) => ({
        ...{ id, reports, heardAt, links, values },
      }));
      return {
        size: network.size,
        seen,
        gateways: [...network.gateways()].map(({ id, reports }) => [id, reports]),
      };
    });
    assert.deepEqual(one, other);
  }
}

describe('what is known of a topic', () => {
  it('changes nothing of what is recorded, with more gateways than a device has links', () => {
    const step = fc.record({
      gateway: fc.nat(GATEWAYS - 1),
      device: fc.nat(2),
      rest: fc.constantFrom(...RESTS),
      wait: fc.constantFrom(1, 500, 20_000),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 50, maxLength: 200 }), (steps) => {
        const twins = new Twins();
        for (const { gateway, device, rest, wait } of steps) {
          twins.now += wait;
          twins.record(gatewayAt(gateway), deviceAt(device), rest);
        }
        twins.compare(10);
      }),
      { numRuns: 50 },
    );
  });

  it('stays known while another device is heard by more gateways than it has links', () => {
    const network = new NetworkState();
    const record = (gateway: string, device: string, place: KnownPlace, parent = gateway) =>
      network.record(
        readReportTopic('t', gateway, device, 'rssi'),
        1_000,
        { time: TIME, rssi: -60, parent } as Partial<Report> as Report,
        true,
        place,
      );
    const place = new KnownPlace();
    record(gatewayAt(0), deviceAt(0), place);
    const { version } = place;
    for (let i = 0; i < 3 * GATEWAYS; i++) {
      const gateway = gatewayAt(i % GATEWAYS);
      record(gateway, deviceAt(1), new KnownPlace(), i % 2 === 0 ? gateway : deviceAt(9));
    }
    record(gatewayAt(0), deviceAt(0), place);
    // To look it up for every report is what a place saves.
    assert.equal(place.version, version);
  });

  itAtScale('is none any more of a device, a gateway and values that were pushed out', () => {
    const twins = new Twins();
    const first = () => {
      for (const rest of RESTS) {
        twins.record(gatewayAt(0), deviceAt(0), rest);
      }
    };
    first();
    for (let i = 1; i <= CROWD; i++) {
      twins.now += 0.001;
      twins.record(gatewayAt(1 + (i % 10_000)), deviceAt(i), 'property/8100');
    }
    first();
    twins.now += 2_000;
    first();
    twins.compare(3);
  });
});
