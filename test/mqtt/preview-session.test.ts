// Whose session a broker gives to the connection of people who look: none of the flows' is lost or left by it.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { connectAsync } from 'mqtt';
import type { ReportFilter } from '../../src/session.ts';
import { type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { ALL, Collector, openSession, reached } from '../session.ts';
import { CLIENT_ID, numbersOf, upTo, useLooking } from './looking.ts';
import {
  heartbeat,
  mockTime,
  passRealTime,
  reportTopic,
  restoreTime,
  useScriptedBroker,
} from './scripted.ts';

describe('the question of a preview whose session it gets', () => {
  const bench = useScriptedBroker();
  const { isBeside, looked, connectionsOf, refusal, untilRefused, passTime, passSeconds, openFlow } =
    useLooking(bench);
  // Also where a test did not come to its end.
  afterEach(restoreTime);
  const ownSessions = () => [...bench.broker.sessions.keys()].filter(isBeside);

  it('leaves no session of its own at a broker that it has asked whose session it gets', async () => {
    const { broker } = bench;
    const { session } = await openFlow({ persistent: true });
    const warnings: string[] = [];
    const onWarning = ({ name, message }: Error) =>
      void (name !== 'ExperimentalWarning' && warnings.push(message));
    process.on('warning', onWarning);
    mockTime();
    try {
      for (let round = 1; round <= 12; round++) {
        session.preview(ALL);
        await broker.until(() => looked().length > 0);
        // One that asks, one that ends what this has left, and that of the panel.
        assert.equal(connectionsOf(isBeside), 3 * round);
        // Nobody looks any more.
        mock.timers.tick(15_000);
        await broker.until(() => looked().length === 0);
        mock.timers.tick(20_000);
        await broker.until(() => broker.openConnections.length === 1);
        assert.deepEqual(ownSessions(), []);
      }
      assert.deepEqual(warnings, []);
    } finally {
      process.off('warning', onWarning);
      restoreTime();
    }
  });

  it('takes no session for that of flows which an unanswered question of its own has left', async () => {
    const { broker } = bench;
    const { session } = await openFlow({ persistent: true });
    broker.options.intercept = (packet, clientId) => {
      if (packet.cmd === 'connect' && connectionsOf(isBeside) === 1) {
        // Before the answer leaves.
        process.nextTick(() => broker.drop(clientId));
      }
      return false;
    };
    mockTime();
    try {
      session.preview(ALL);
      await untilRefused(session);
      assert.deepEqual([connectionsOf(isBeside), ownSessions().length], [1, 1]);
      while (looked().length === 0) {
        await passTime(session, 1_000);
      }
      assert.equal(refusal(session), '');
      assert.equal(ownSessions().length, 1);
    } finally {
      restoreTime();
    }
    await session.close();
    await broker.until(() => broker.openConnections.length === 0);
    assert.deepEqual(ownSessions(), []);
  });

  it('makes no connection once the service is closed; the next question ends the session that it has left', async () => {
    const { broker } = bench;
    const { session } = await openFlow({ persistent: true });
    let closed: Promise<void> | undefined;
    broker.options.intercept = (packet, clientId) => {
      if (packet.cmd === 'connect' && isBeside(clientId)) {
        // The broker answers, and nobody is there to hear it.
        closed ??= session.close();
      }
      return false;
    };
    session.preview(ALL);
    await broker.until(() => connectionsOf(isBeside) === 1 && ownSessions().length === 1);
    await closed;
    await broker.until(() => broker.openConnections.length === 0);
    assert.deepEqual([ownSessions().length, connectionsOf(isBeside)], [1, 1]);
    const next = await openFlow({ persistent: true });
    next.session.preview(ALL);
    await broker.until(() => looked().length > 0);
    await next.session.close();
    await broker.until(() => broker.openConnections.length === 0);
    assert.deepEqual(ownSessions(), []);
  });

  it('does not hold up the end of the service where the broker does not answer', async () => {
    const { broker } = bench;
    const { session } = await openFlow({ persistent: true });
    broker.options.withhold = ['connack'];
    session.preview(ALL);
    await broker.until(() => broker.withheld.length === 1);
    // No time passes.
    mockTime();
    await session.close();
    await broker.until(() => broker.openConnections.length === 0);
    assert.equal(connectionsOf(isBeside), 1);
  });

  it('answers nothing of what the broker keeps for flows where that gives it their session', async () => {
    const { broker } = bench;
    const { session, collector } = await openFlow({ persistent: true, reportQos: 2 });
    broker.options.maxInFlight = 0;
    const count = 10;
    for (let n = 0; n < count; n++) {
      broker.publish(reportTopic('heartbeat'), heartbeat(n), { qos: 2 });
    }
    broker.options.intercept = (packet, clientId) => {
      if (packet.cmd === 'connect' && isBeside(clientId)) {
        // As a broker does that takes the name of the user for the client id: what waits comes with its CONNACK.
        packet.clientId = CLIENT_ID;
        broker.options.maxInFlight = count;
      }
      return false;
    };
    session.preview(ALL);
    await collector.until(({ reports }) => reports.length === count);
    assert.deepEqual(numbersOf(collector), upTo(count));
  });

  it('costs flows no long wait where the broker says that their session was taken over', async () => {
    const { broker } = bench;
    const { session, collector } = await openFlow({ persistent: true, protocolVersion: 5 });
    broker.options.intercept = (packet) => {
      if (packet.cmd === 'connect') {
        packet.clientId = CLIENT_ID;
      }
      return false;
    };
    const reasons: string[] = [];
    session.onState(({ mqtt }) => void ('reason' in mqtt && reasons.push(mqtt.reason.key)));
    mockTime();
    try {
      refusal(session);
      let seconds = 0;
      while (broker.connections.length < 3) {
        await passSeconds(1);
        seconds++;
      }
      await reached(session, 'connected');
      assert.ok(seconds < 10, `${seconds} s`);
    } finally {
      restoreTime();
    }
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await collector.until(({ reports }) => reports.length === 1);
    assert.deepEqual([[...new Set(reasons)], broker.connections.length], [['reason.takenOver'], 3]);
  });
});

describe('the question whose session a connection gets, where flows have two brokers,', () => {
  const bench = useScriptedBroker();
  const { isBeside, passSeconds, openFlow } = useLooking(bench);
  let standby: ScriptedBroker;

  before(async () => {
    standby = await startScriptedBroker();
  });
  after(() => standby.stop());
  afterEach(async () => {
    restoreTime();
    await standby.reset();
  });

  for (const ms of [0, 200, 1_500]) {
    it(`leaves them at theirs, which ends their connection ${ms} ms before it answers`, async () => {
      const { broker } = bench;
      const brokers = [broker.url, standby.url];
      const { session, collector } = await openFlow({ persistent: true, brokers });
      broker.options.intercept = (packet, clientId) => {
        if (packet.cmd === 'connect' && isBeside(clientId)) {
          broker.drop(CLIENT_ID);
          packet.clientId = CLIENT_ID;
          broker.options.withhold = ['connack'];
        }
        return false;
      };
      mockTime();
      session.preview(ALL);
      await reached(session, 'waiting');
      broker.options.withhold = [];
      mock.timers.tick(ms);
      await passRealTime();
      broker.release();
      const isBack = reached(session, 'connected');
      await passSeconds(3);
      await isBack;
      assert.equal(standby.connections.length, 0);
      broker.publish(reportTopic('heartbeat'), heartbeat(1));
      await collector.until(({ reports }) => reports.length === 1);
    });
  }
});

describe('the preview at a broker that takes the name of the user for the client id', () => {
  const OTHERS: ReportFilter = { ...ALL, kinds: ['rssi'] };
  let mosquitto: Mosquitto;

  before(async function () {
    requirePrograms(this, 'mosquitto');
    mosquitto = await startMosquitto(['use_username_as_clientid true']);
  });
  after(() => mosquitto?.stop());

  for (const protocolVersion of [4, 5] as const) {
    it(`is refused, and takes nothing from what the broker keeps for flows, with MQTT ${protocolVersion}`, async () => {
      const login = { username: `plant${protocolVersion}`, password: 'x' };
      const session = openSession(mosquitto.url, { ...login, persistent: true, protocolVersion });
      try {
        const collector = new Collector();
        const confirm = { timeoutMs: 60_000, maxAttempts: 20, count() {} };
        const report = collector.report.bind(collector);
        session.subscribe(
          { ...ALL, kinds: ['heartbeat'] },
          { report, error: collector.error.bind(collector), confirm },
        );
        await reached(session, 'connected');
        const count = 100;
        const gateway = await connectAsync(mosquitto.url, { username: 'gateway' });
        for (let n = 0; n < count; n++) {
          await gateway.publishAsync(reportTopic('heartbeat'), JSON.stringify(heartbeat(n)), { qos: 1 });
        }
        await gateway.endAsync();
        // With MQTT 3.1.1 this broker sends no more before one is acknowledged; the others wait there.
        await collector.until(({ reports }) => reports.length >= 20);
        session.preview(OTHERS);
        await reached(session, 'waiting');
        const states: string[] = [];
        session.onState(({ mqtt }) => void (states.at(-1) !== mqtt.name && states.push(mqtt.name)));
        await reached(session, 'connected');
        for (let n = 0; n < count; n++) {
          await collector.until(({ reports }) => reports.length > n);
          session.confirm(String(collector.reports[n]?.delivery));
        }
        assert.deepEqual(
          [numbersOf(collector), states],
          [upTo(count), ['waiting', 'connecting', 'connected']],
        );
        assert.throws(() => session.preview(OTHERS), { code: 'NOT_CONNECTED' });
      } finally {
        await session.close([]);
      }
    });
  }
});
