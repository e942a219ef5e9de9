// Reports that flows confirm, over deploys that change what their node asks for, or leave it unable to work.
import assert from 'node:assert/strict';
import { SILENT } from '../../src/log.ts';
import { type ReportFilter, Session } from '../../src/session.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { json, settingsFor, startServer, type TestServer } from '../rest/server.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { ALL, Collector, mqttSettings, openSession, reached } from '../session.ts';
import { G, heartbeat, reportTopic, useScriptedBroker } from './scripted.ts';

const COUNT = 3;

describe('reports that a flow confirms, over a deploy', () => {
  const bench = useScriptedBroker();
  const sessions: Session[] = [];
  let portal: TestServer;
  let warnings: string[];
  let session: Session;
  let end: (comesBack?: boolean) => void;

  const confirming = () =>
    Object.assign(new Collector(), { confirm: { timeoutMs: 60_000, maxAttempts: 20, count() {} } });
  const acknowledged = () => bench.broker.packets('puback').length;

  before(async () => {
    const items = [{ id: `bmac-${G}`, labels: ['hall a'] }];
    portal = await startServer((_, response) => json(response, { items }));
  });
  after(() => portal.stop());
  beforeEach(async () => {
    warnings = [];
    const log = { ...SILENT, warn: (text: string) => void warnings.push(text) };
    const settings = { mqtt: mqttSettings(bench.broker.url), rest: settingsFor(portal.url) };
    session = new Session(settings, log);
    sessions.push(session);
    const flow = confirming();
    end = session.subscribe(ALL, flow, 'node');
    session.subscribe({ ...ALL, kinds: ['dfu'] }, new Collector(), 'other');
    await reached(session, 'connected');
    for (let n = 0; n < COUNT; n++) {
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    await flow.until(({ reports }) => reports.length === COUNT);
  });
  afterEach(() => Promise.all(sessions.splice(0).map((one) => one.close())));

  /** @param isThere whether the node is there, with or without a subscription */
  function deploy(isThere: boolean, subscribe: () => void): void {
    session.pauseReports();
    end(true);
    subscribe();
    session.resumeReports((owner) => isThere && owner === 'node');
  }
  const givenUp = () => warnings.filter((text) => /^3 reports .* given up: node node /.test(text));

  it('wait for a node that cannot work, until it can', async () => {
    deploy(true, () =>
      assert.throws(() => session.subscribe({ ...ALL, devices: ['a typo'] }, confirming(), 'node')),
    );
    end = () => {};
    const flow = confirming();
    deploy(true, () => session.subscribe(ALL, flow, 'node'));
    await flow.until(({ reports }) => reports.length === COUNT);
    assert.ok(flow.reports.every(({ redelivered }) => redelivered));
    assert.deepEqual([acknowledged(), warnings], [0, []]);
  });

  it('are given up with a node that cannot work when it is removed', async () => {
    deploy(true, () => {});
    end = () => {};
    deploy(false, () => {});
    await bench.broker.until(() => acknowledged() === COUNT);
    assert.equal(givenUp().length, 1);
  });

  it('are given up with a node that is removed, which a warning says with their number', () => {
    end();
    assert.deepEqual([givenUp().length, warnings.length, acknowledged()], [1, 1, 0]);
  });

  it('come again to a node that asks for other labels, where their gateway has one of these', async () => {
    const flow = confirming();
    deploy(true, () => session.subscribe({ ...ALL, labels: ['hall b', 'hall a'] }, flow, 'node'));
    await flow.until(({ reports }) => reports.length === COUNT);
    assert.ok(flow.reports.every(({ redelivered }) => redelivered));
    assert.deepEqual([acknowledged(), warnings], [0, []]);
  });

  it('are given up, and reach no flow, where their gateway has none of the labels that the node asks for now', async () => {
    const flows = [confirming(), confirming()] as const;
    deploy(true, () => {
      end = session.subscribe({ ...ALL, labels: ['hall a'] }, flows[0], 'node');
    });
    await flows[0].until(({ reports }) => reports.length === COUNT);
    deploy(true, () => session.subscribe({ ...ALL, labels: ['hall b'] }, flows[1], 'node'));
    await bench.broker.until(() => acknowledged() === COUNT);
    while (givenUp().length === 0) {
      await new Promise(setImmediate);
    }
    assert.deepEqual([flows[1].reports, warnings.length], [[], 1]);
  });

  for (const [what, filter, collector] of [
    ['asks for others', { kinds: ['rssi'] }, confirming],
    ['does not confirm', {}, () => new Collector()],
  ] as const) {
    it(`are given up, which a warning says with their number, by a node that ${what} now`, async () => {
      deploy(true, () =>
        session.subscribe({ ...ALL, ...(filter as Partial<ReportFilter>) }, collector(), 'node'),
      );
      await bench.broker.until(() => acknowledged() === COUNT);
      while (givenUp().length === 0) {
        await new Promise(setImmediate);
      }
      assert.equal(warnings.length, 1);
    });
  }
});

describe('reports that a flow has confirmed behind one that is open', () => {
  const bench = useScriptedBroker();

  const start = async (settings: Partial<MqttSettings>, beside?: Collector) => {
    const session = bench.open({ persistent: true, ...settings });
    if (beside) {
      session.subscribe({ ...ALL, duplicates: 'drop' }, beside, 'beside');
    }
    const flow = Object.assign(new Collector(), {
      confirm: { timeoutMs: 60_000, maxAttempts: 20, count() {} },
    });
    session.subscribe(ALL, flow, 'node');
    await reached(session, 'connected');
    return { session, flow };
  };
  const publish = (n: number) => bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
  /** A service whose flow confirms all but the first, and which a deploy ends then. */
  const leaveFirst = async (settings: Partial<MqttSettings>) => {
    const { session, flow } = await start(settings);
    for (let n = 0; n < COUNT; n++) {
      publish(n);
    }
    await flow.until(({ reports }) => reports.length === COUNT);
    for (const { delivery } of flow.reports.slice(1)) {
      session.confirm(String(delivery));
    }
    await session.close();
  };

  it('do not come again when the service is restarted by a deploy; the open one does', async () => {
    const settings = { clientId: `mt-deploys-${process.pid}` };
    await leaveFirst(settings);
    for (let deploy = 1; deploy <= 2; deploy++) {
      const { session, flow } = await start(settings);
      publish(COUNT - 1 + deploy);
      await flow.until(({ reports }) => reports.length === 1 + deploy);
      assert.deepEqual(
        flow.reports.map(({ seq }) => seq),
        [0, COUNT, COUNT + 1].slice(0, 1 + deploy),
      );
      await session.close();
    }
    const last = await start(settings);
    await last.flow.until(({ reports }) => reports.length === 3);
    for (const { delivery } of last.flow.reports) {
      last.session.confirm(String(delivery));
    }
    await bench.broker.until((broker) => broker.packets('puback').length === COUNT + 2);
  });

  it('come again to all who ask for them when the service is restarted, what was acknowledged to none', async () => {
    const settings = { clientId: `mt-beside-${process.pid}` };
    const startBoth = async () => {
      const beside = new Collector();
      return { ...(await start(settings, beside)), beside };
    };
    const first = await startBoth();
    for (let n = 0; n < COUNT; n++) {
      publish(n);
    }
    await first.flow.until(({ reports }) => reports.length === COUNT);
    await first.beside.until(({ reports }) => reports.length === COUNT);
    for (const { delivery } of first.flow.reports.slice(1)) {
      first.session.confirm(String(delivery));
    }
    await first.session.close();
    const { flow, beside } = await startBoth();
    publish(COUNT);
    for (const one of [flow, beside]) {
      await one.until(({ reports }) => reports.some(({ seq }) => seq === COUNT));
      assert.deepEqual(
        one.reports.map(({ seq }) => seq),
        [0, COUNT],
      );
    }
  });

  for (const [what, before, after] of [
    ['adds an address', ['one'], ['one', 'two']],
    ['takes an address away', ['one', 'two'], ['one']],
    ['turns the order of the addresses', ['one', 'two'], ['two', 'one']],
  ] as const) {
    it(`do not come again when a deploy ${what}`, async () => {
      const settingsOf = (paths: readonly string[]) => ({
        clientId: `mt-list-${what}-${process.pid}`,
        brokers: paths.map((path) => `${bench.broker.url}/${path}`),
      });
      await leaveFirst(settingsOf(before));
      const { flow } = await start(settingsOf(after));
      publish(COUNT);
      await flow.until(({ reports }) => reports.some(({ seq }) => seq === COUNT));
      assert.deepEqual(
        flow.reports.map(({ seq }) => seq),
        [0, COUNT],
      );
    });
  }

  it('do not come again either where two services have the same client id at different brokers', async () => {
    const brokers = await Promise.all([startScriptedBroker(), startScriptedBroker()]);
    const start = (broker: ScriptedBroker) => {
      const session = openSession(broker.url, { persistent: true, clientId: `mt-same-${process.pid}` });
      const flow = Object.assign(new Collector(), {
        confirm: { timeoutMs: 60_000, maxAttempts: 20, count() {} },
      });
      session.subscribe(ALL, flow, 'node');
      return { session, flow };
    };
    const publish = (broker: ScriptedBroker, n: number) =>
      broker.publish(reportTopic('heartbeat'), heartbeat(n));
    const first = brokers.map(start);
    try {
      for (const [i, { session, flow }] of first.entries()) {
        await reached(session, 'connected');
        for (let n = 0; n < COUNT; n++) {
          publish(brokers[i]!, n);
        }
        await flow.until(({ reports }) => reports.length === COUNT);
        for (const { delivery } of flow.reports.slice(1)) {
          session.confirm(String(delivery));
        }
      }
      await Promise.all(first.map(({ session }) => session.close()));
      const second = brokers.map(start);
      first.push(...second);
      for (const [i, { session, flow }] of second.entries()) {
        await reached(session, 'connected');
        publish(brokers[i]!, COUNT);
        await flow.until(({ reports }) => reports.some(({ seq }) => seq === COUNT));
        assert.deepEqual(
          flow.reports.map(({ seq }) => seq),
          [0, COUNT],
        );
      }
    } finally {
      await Promise.all(first.map(({ session }) => session.close()));
      await Promise.all(brokers.map((broker) => broker.stop()));
    }
  });
});
