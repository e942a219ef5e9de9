// The parts of a service that need a broker, put together: what each of them learns of the others and of the settings.
import assert from 'node:assert/strict';
import { SILENT } from '../../src/log.ts';
import type { ReadValue } from '../../src/mqtt/device-requests.ts';
import { DeviceWatches } from '../../src/network/device-watches.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import type { Report } from '../../src/protocol/reports/index.ts';
import { HeldReports } from '../../src/reports/held-reports.ts';
import type { LabelSource } from '../../src/reports/label-filter.ts';
import { createMqttHalf, type MqttHalf, type MqttHalfContext } from '../../src/session/mqtt-half.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { answerAll, D, G, G2, reportTopic, TIME, useScriptedBroker } from '../mqtt/scripted.ts';
import { ALL, Collector, mqttSettings } from '../session.ts';

const { signal } = new AbortController();

describe('the half of a service that has a broker', () => {
  const bench = useScriptedBroker();
  const halves: MqttHalf[] = [];
  let network: NetworkState;
  let reads: ReadValue[];

  beforeEach(() => {
    network = new NetworkState();
    reads = [];
  });
  afterEach(async () => {
    for (const { subscribers, player } of halves) {
      subscribers.close();
      player.close();
    }
    await Promise.all(halves.splice(0).map(({ client }) => client.close()));
  });

  const labels: LabelSource = {
    listAge: 0,
    knownGatewaysWithLabels: () => new Set([G]),
    mayHaveGatewayWith: () => true,
    follow: () => () => {},
    refresh: async () => {},
  };

  function create(changes: Partial<MqttSettings> = {}, more: Partial<MqttHalfContext> = {}): MqttHalf {
    const catalogue = createCatalogue('[]');
    const nameOf = (mac: string) => (mac === D ? 'Hall' : undefined);
    const half = createMqttHalf(mqttSettings(bench.broker.url, changes), {
      ...{ log: SILENT, catalogue, network, nameOf, carriesNames: true },
      watches: new DeviceWatches(network, catalogue, { nameOf, isRefused: () => false, whenHeard: () => {} }),
      heldReports: new HeldReports(SILENT),
      needDevices: () => assert.fail('no list of devices'),
      labelSource: () => labels,
      events: { state() {}, resumed() {} },
      wasRead: (read) => reads.push(read),
      ...more,
    });
    halves.push(half);
    return half;
  }

  const topic = reportTopic('heartbeat');
  const body = { time: TIME, seq: 1, status: 0 };
  const payload = Buffer.from(JSON.stringify(body));
  /** Of a record with one heartbeat by each of these gateways. */
  const portionOf = (...gateways: string[]) => ({
    ...{ run: 'file', begin: true },
    lines: gateways.map((gateway) =>
      JSON.stringify({ topic: reportTopic('heartbeat', gateway), payload: body }),
    ),
  });

  for (const carriesNames of [true, false]) {
    it(`${carriesNames ? 'names' : 'does not name'} devices in what flows get where that is ${carriesNames ? 'wanted' : 'not wanted'}`, async () => {
      const half = create({}, { carriesNames });
      const reports: Report[] = [];
      const send = (report: Report) => reports.push(report);
      half.subscribers.add(ALL, { report: send, error: () => assert.fail() });
      half.reports.deliver(topic, payload, false);
      send(half.testReports.again({ topic, payload }, true).report);
      const played = await half.player.play([{ filter: ALL, send }], portionOf(G), signal);
      assert.equal(played.taken, 1);
      const name = carriesNames ? 'Hall' : undefined;
      assert.deepEqual(
        reports.map(({ deviceName }) => deviceName),
        [name, name, name],
      );
    });
  }

  it('spells topics below the prefix of the settings', () => {
    const half = create({ topicPrefix: 'plant' });
    half.subscribers.add(ALL, new Collector());
    assert.deepEqual(
      [half.topics.root, half.reports.filters()],
      ['plant/mt/gateway/', ['plant/mt/gateway/+/device/+/#']],
    );
  });

  it('asks for nothing that only people look through where it shares its reports', () => {
    for (const [sharedGroup, filters] of [
      ['', ['mt/gateway/+/device/+/#']],
      ['plant', []],
    ] as const) {
      const half = create({ sharedGroup });
      half.subscribers.preview(ALL);
      assert.deepEqual(half.reports.previewFilters(), filters);
    }
  });

  it('asks for no two filters that match one topic at a broker that has a queue for each', () => {
    for (const [queuesBySubscription, count] of [
      [true, 1],
      [false, 2],
      [undefined, 2],
    ] as const) {
      const { limits } = mqttSettings('');
      const half = create({
        limits: { ...limits, ...(queuesBySubscription !== undefined && { queuesBySubscription }) },
      });
      half.subscribers.add({ ...ALL, gateways: [G] }, new Collector());
      half.subscribers.add({ ...ALL, devices: [D] }, new Collector());
      assert.equal(half.reports.filters().length, count);
    }
  });

  it('asks the gateway that hears the device best, and passes on what it has read', async () => {
    answerAll(bench.broker, ({ id }) => ({ id, value: 5 }));
    const half = create();
    half.subscribers.add(ALL, new Collector());
    half.reports.deliver(reportTopic('heartbeat', G2), payload, false);
    const { gateway } = await half.requests.request(
      'read',
      { device: D, identifier: 'motion', form: 'decoded' },
      { signal },
    );
    assert.equal(gateway, G2);
    assert.deepEqual(
      reads.map(({ device, value }) => [device, value]),
      [[D, 5]],
    );
  });

  it('knows the gateways with a label by the list of devices', async () => {
    const devices = { labelledGateways: async () => new Set([G2]) };
    const half = create({}, { needDevices: () => devices as never });
    const filter = { ...ALL, labels: ['hall'] };
    assert.equal(half.testReports.passes(filter, topic), true);
    assert.equal(half.testReports.passes(filter, reportTopic('heartbeat', G2)), false);
    const sent: string[] = [];
    const receiver = { filter, send: ({ gateway }: Report) => sent.push(gateway) };
    await half.player.play([receiver], portionOf(G, G2), signal);
    assert.deepEqual(sent, [G2]);
  });

  it('knows what the one before it has confirmed where both have the same client, and its broker keeps the session', () => {
    const receive = (half: MqttHalf, isResent: boolean): string[] => {
      const deliveries: string[] = [];
      half.subscribers.add(ALL, {
        report: ({ delivery }) => deliveries.push(String(delivery)),
        error: () => assert.fail(),
        confirm: { timeoutMs: 60_000, maxAttempts: 0, count() {} },
      });
      half.reports.connected('broker', true);
      half.reports.deliver(topic, payload, false, undefined, {
        ...{ isResent, ackedOrder: 0, isLost: false, mustWait: false },
        defer: () => ({ readOn() {}, acknowledge() {} }),
      });
      return deliveries;
    };
    const rows: [persistent: boolean, clientId: string, count: number][] = [
      [true, 'plant', 0],
      [true, 'other', 1],
      [false, 'plant', 1],
    ];
    for (const [persistent, clientId, count] of rows) {
      const former = create({ persistent, clientId: 'plant' });
      const [delivery = assert.fail()] = receive(former, false);
      assert.equal(former.reports.open.confirm(delivery), true);
      former.reports.handOver();
      const next = create({ persistent, clientId });
      assert.equal(receive(next, true).length, count, `${persistent} ${clientId}`);
      next.reports.handOver();
    }
  });

  it('sends no line of a record while flows are replaced', async () => {
    const half = create();
    half.client.pauseReports();
    const { isPaused, taken } = await half.player.play([], portionOf(G), signal);
    assert.deepEqual([isPaused, taken], [true, 0]);
    half.client.resumeReports();
    assert.equal((await half.player.play([], portionOf(G), signal)).isPaused, false);
  });
});
