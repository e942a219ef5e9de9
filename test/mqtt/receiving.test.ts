// Reports at their limits: bursts, and exchanges of QoS 2 that a lost connection interrupts.
import assert from 'node:assert/strict';
import type { Session } from '../../src/session.ts';
import { ALL, Collector, reached } from '../session.ts';
import { heartbeat, reportTopic, useScriptedBroker } from './scripted.ts';

describe('receiving reports', () => {
  const bench = useScriptedBroker();

  it('loses none of 50 000 reports of QoS 0 that come as fast as the socket takes them', async function () {
    this.timeout(60_000);
    const session = bench.open({ reportQos: 0 });
    const seen = new Set<unknown>();
    let isThere = (): void => {};
    const all = new Promise<void>((resolve) => {
      isThere = resolve;
    });
    for (let node = 0; node < 5; node++) {
      session.subscribe(ALL, {
        report: ({ n }) => {
          seen.add(n);
          if (seen.size === 50_000) {
            isThere();
          }
        },
        error() {},
      });
    }
    await reached(session, 'connected');
    for (let n = 0; n < 50_000; n++) {
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(n), { qos: 0 });
    }
    await all;
    assert.equal(session.state.mqtt.name, 'connected');
  });

  it('keeps a report of QoS 2 that the broker handed over before the connection was lost', async () => {
    const { broker } = bench;
    const session = bench.open({ reportQos: 2, persistent: true });
    const collector = new Collector();
    session.subscribe(ALL, collector);
    await reached(session, 'connected');
    let isCut = false;
    broker.options.intercept = ({ cmd }) => {
      // The broker knows that the message has arrived, and can release it only over the next connection.
      if (cmd === 'pubrec' && !isCut) {
        isCut = true;
        broker.drop();
      }
      return false;
    };
    broker.publish(reportTopic('heartbeat'), heartbeat(1), { qos: 2 });
    await reached(session, 'waiting');
    await reached(session, 'connected');
    broker.publish(reportTopic('heartbeat'), heartbeat(2), { qos: 2 });
    await collector.until(({ reports }) => reports.at(-1)?.n === 2);
    assert.deepEqual(
      collector.reports.map(({ n }) => n),
      [1, 2],
    );
  });

  describe('of QoS 2, of which one waits for the flows when the connection ends,', () => {
    let clientId: string;
    let count = 0;

    /** A report still waits for flows, and the broker has released it once more over the next connection. */
    async function heldOverLoss(protocolVersion: 4 | 5) {
      const { broker } = bench;
      clientId = `mt-receiving-${process.pid}-${protocolVersion}-${count++}`;
      const session = bench.open({ reportQos: 2, persistent: true, protocolVersion, clientId });
      const collector = new Collector();
      session.subscribe(ALL, collector);
      await reached(session, 'connected');
      session.pauseReports();
      broker.options.intercept = ({ cmd }) => {
        if (cmd === 'pubrec' && broker.connections.length === 1) {
          // After its release has left.
          setImmediate(() => broker.disconnect(0x8b));
        }
        return false;
      };
      broker.publish(reportTopic('heartbeat'), heartbeat(1), { qos: 2 });
      await broker.until(() => broker.packets('pubcomp').length === 1);
      return { broker, session, collector };
    }

    for (const protocolVersion of [4, 5] as const) {
      it(`comes once (MQTT ${protocolVersion})`, async () => {
        const { broker, session, collector } = await heldOverLoss(protocolVersion);
        session.resumeReports();
        broker.publish(reportTopic('heartbeat'), heartbeat(2), { qos: 2 });
        await collector.until(({ reports }) => reports.at(-1)?.n === 2);
        assert.deepEqual(
          collector.reports.map(({ n }) => n),
          [1, 2],
        );
      });
    }

    /** A deploy puts another service in its place. */
    async function deploy(session: Session): Promise<{ session: Session; collector: Collector }> {
      await session.close([bench.broker.url]);
      const next = bench.open({ reportQos: 2, persistent: true, clientId });
      const collector = new Collector();
      next.subscribe(ALL, collector);
      await reached(next, 'connected');
      return { session: next, collector };
    }

    it('comes once after a deploy, however often the service is deployed', async () => {
      const { broker, session, collector } = await heldOverLoss(4);
      const next = await deploy(session);
      await next.collector.until(({ reports }) => reports.length === 1);
      const last = await deploy(next.session);
      broker.publish(reportTopic('heartbeat'), heartbeat(2), { qos: 2 });
      await last.collector.until(({ reports }) => reports.at(-1)?.n === 2);
      assert.deepEqual(
        [collector, next.collector, last.collector].map(({ reports }) => reports.map(({ n }) => n)),
        [[], [1], [2]],
      );
    });

    it('comes after a deploy, and takes no other with it that has got its packet id', async () => {
      const { broker, session } = await heldOverLoss(4);
      const { messageId } = broker.packets('pubcomp')[0] as { messageId: number };
      const isKept = broker.next('pubrec');
      broker.options.intercept = ({ cmd }) => cmd === 'pubrec';
      broker.openConnections[0]?.send({
        cmd: 'publish',
        messageId,
        topic: reportTopic('heartbeat'),
        payload: JSON.stringify(heartbeat(2)),
        qos: 2,
        dup: false,
        retain: false,
      });
      await isKept;
      const { collector } = await deploy(session);
      await collector.until(({ reports }) => reports.length === 1);
      broker.openConnections[0]?.send({ cmd: 'pubrel', messageId });
      await collector.until(({ reports }) => reports.length === 2);
      assert.deepEqual(
        collector.reports.map(({ n }) => n),
        [1, 2],
      );
    });

    it('takes no other with it that has got its packet id', async () => {
      const { broker, session, collector } = await heldOverLoss(4);
      const { messageId } = broker.packets('pubcomp')[0] as { messageId: number };
      const [connection] = broker.openConnections;
      const isTaken = broker.next('pubrec');
      broker.options.intercept = ({ cmd }) => cmd === 'pubrec';
      connection?.send({
        cmd: 'publish',
        messageId,
        topic: reportTopic('heartbeat'),
        payload: JSON.stringify(heartbeat(2)),
        qos: 2,
        dup: false,
        retain: false,
      });
      await isTaken;
      session.resumeReports();
      await collector.until(({ reports }) => reports.length === 1);
      connection?.send({ cmd: 'pubrel', messageId });
      await collector.until(({ reports }) => reports.length === 2);
      assert.deepEqual(
        collector.reports.map(({ n }) => n),
        [1, 2],
      );
    });
  });
});
