// What works at a real NATS.
import assert from 'node:assert/strict';
import { connectAsync } from 'mqtt';
import { type Nats, startNats } from '../nats.ts';
import { requirePrograms } from '../requirements.ts';
import { ALL, Collector, openSession, reached } from '../session.ts';
import { describeBroker } from './run-tests.ts';

describeBroker('NATS');

describe('a NATS that waits for the acknowledgement of a report', function () {
  this.timeout(120_000);
  let nats: Nats;

  before(async function () {
    requirePrograms(this, 'nats-server');
    nats = await startNats([], undefined, '500ms');
  });
  after(() => nats?.stop());

  it('sends it again and again, and no flow has it twice', async () => {
    const topic = 'mt/gateway/c0141f68fc3d/device/d00000000001/heartbeat';
    const heartbeat = (n: number) => JSON.stringify({ time: '2026-01-01T00:00:00.000Z', seq: n, n });
    const confirm = { timeoutMs: 300_000, maxAttempts: 20, count() {} };
    const collector = Object.assign(new Collector(), { confirm });
    const session = openSession(nats.url, { persistent: true });
    session.subscribe(ALL, collector, 'node');
    await reached(session, 'connected');
    const witness = await connectAsync(nats.url, { reconnectPeriod: 0 });
    try {
      let copies = 0;
      const comesAgain = new Promise<void>((resolve) => {
        witness.handleMessage = ({ dup }, callback) => {
          copies += dup ? 1 : 0;
          if (copies === 3) {
            resolve();
          }
          // Read on, but do not acknowledge.
          callback(new Error('never'));
        };
      });
      await witness.subscribeAsync(topic, { qos: 1 });
      await witness.publishAsync(topic, heartbeat(1), { qos: 1 });
      await comesAgain;
      await witness.publishAsync(topic, heartbeat(2), { qos: 1 });
      await collector.until(({ reports }) => reports.some(({ n }) => n === 2));
      assert.deepEqual(
        collector.reports.map(({ n }) => n),
        [1, 2],
      );
    } finally {
      witness.end(true);
      await session.close(true);
    }
  });
});
