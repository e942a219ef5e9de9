// What a device watch asks a broker for: of its listed devices, and of the gateways that bring them, also over a deploy.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { SILENT } from '../../src/log.ts';
import type { WatchSettings } from '../../src/network/watch-context.ts';
import { Session } from '../../src/session.ts';
import { D, G, G2, heartbeat, reportTopic, useScriptedBroker } from '../mqtt/scripted.ts';
import { json, settingsFor, startServer, type TestServer } from '../rest/server.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';

const WATCH: WatchSettings = {
  ...{ gateways: [], devices: [D], labels: [], silentAfter: 0 },
  ...{ batteryBelow: 20, batteryFine: 0, signalBelow: -85 },
  conditions: ['silent', 'gateway-silent'],
};
const D2 = 'd00000000002';
const OF_GATEWAYS = [G, G2].map((gateway) => `mt/gateway/${gateway}/device/+/#`);
const ofDevice = (device: string) => `mt/gateway/+/device/${device}/#`;

describe('a watch of listed devices', () => {
  const bench = useScriptedBroker();
  const sessions: Session[] = [];
  let portal: TestServer;
  let isListGiven: boolean;

  beforeEach(async () => {
    isListGiven = true;
    const items = [G, G2].map((gateway) => ({ id: `bmac-${gateway}`, labels: ['office'] }));
    portal = await startServer((_, response) => isListGiven && json(response, { items }));
  });
  afterEach(async () => {
    await Promise.all(sessions.splice(0).map((session) => session.close()));
    await portal.stop();
  });

  function open(): Session {
    const session = new Session(
      { mqtt: mqttSettings(bench.broker.url), rest: settingsFor(portal.url) },
      SILENT,
    );
    sessions.push(session);
    return session;
  }
  const watch = (session: Session, labels: readonly string[], devices = [D]) =>
    session.watchDevices({ ...WATCH, devices, labels }, { changed() {}, counted() {}, full() {} }, 'watch');

  /** For what else it asks where it asks for the reports of this device, as soon as that is anything. */
  async function followed(session: Session, device = D): Promise<string[]> {
    const own = (filter: string) => filter === ofDevice(device);
    const others = () => session.reportFilters.filter((filter) => !filter.includes('/+/device/'));
    while (!session.reportFilters.some(own) || others().length === 0) {
      await turn();
    }
    return others().sort();
  }

  /** Its device came by one gateway most often, and by the other one last. */
  async function watched(labels: readonly string[]) {
    const session = open();
    const node = watch(session, labels);
    session.resumeReports();
    await reached(session, 'connected');
    if (labels.length > 0) {
      while (!session.devices?.knownGatewaysWithLabels(labels)) {
        await turn();
      }
    }
    for (const [n, gateway] of [G2, G2, G].entries()) {
      bench.broker.publish(reportTopic('heartbeat', gateway), heartbeat(n));
    }
    while ((await followed(session)).length < 2) {
      await turn();
    }
    return { session, node };
  }

  for (const labels of [[], ['office']]) {
    const hasLabels = labels.length > 0;

    it(`hears all that the gateways of before bring after a deploy${hasLabels ? ', with labels' : ''}`, async () => {
      const { session, node } = await watched(labels);
      session.pauseReports();
      node.close(true);
      watch(session, labels, [D, D2]);
      session.resumeReports();
      assert.deepEqual(await followed(session, D2), OF_GATEWAYS);
    });

    it(`hears all that the gateways of before bring after a restart${hasLabels ? ', before labels are known' : ''}`, async () => {
      const { session } = await watched(labels);
      const stored = session.watches.store(10);
      await session.close();
      isListGiven = false;
      const next = open();
      watch(next, labels);
      next.watches.restore(stored);
      assert.deepEqual(await followed(next), OF_GATEWAYS);
    });
  }

  it('asks for nothing else of a listed device of which nobody knows that it is a gateway', async () => {
    const session = open();
    watch(session, [], [G]);
    session.resumeReports();
    await reached(session, 'connected');
    assert.deepEqual(session.reportFilters, [ofDevice(G)]);
  });

  it('hears all that one brings that is listed itself, once it has brought anything for anybody', async () => {
    const session = open();
    watch(session, [], [G]);
    session.subscribe({ ...ALL, devices: [D2] }, new Collector());
    session.resumeReports();
    await reached(session, 'connected');
    bench.broker.publish(reportTopic('heartbeat', G, D2), heartbeat(1));
    while (!session.reportFilters.includes(OF_GATEWAYS[0]!)) {
      await turn();
    }
  });
});
