// A flow that is slower than its reports for much longer than the keep alive: the processor has no time for anything else.
import assert from 'node:assert/strict';
import { connectAsync, type MqttClient } from 'mqtt';
import { block } from '../block.ts';
import { startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { ALL, Collector, openSession, reached } from '../session.ts';
import { D, G, heartbeat, reportTopic, TIME } from './scripted.ts';

const BUSY_MS = 15_000;
/** What the flow takes for a report. */
const TAKEN_MS = 20;

/** A flow that leaves no time for anything else with each report. */
class SlowCollector extends Collector {
  override report(...[report]: Parameters<Collector['report']>): void {
    block(TAKEN_MS);
    super.report(report);
  }
}

/** Answers every request at once. @param answered called when the broker has the response */
async function answerRequests(gateway: MqttClient, answered = (): void => {}): Promise<void> {
  gateway.on('message', (topic, payload) => {
    const { id } = JSON.parse(payload.toString()) as { id: string };
    const answer = JSON.stringify({ id, time: TIME, status: 0, value: '03040100' });
    gateway.publish(topic.replace('/request/', '/response/'), answer, { qos: 1 }, answered);
  });
  await gateway.subscribeAsync(`mt/gateway/${G}/request/#`, { qos: 1 });
}

describe('a flow that is slower than the reports, for a quarter of a minute', function () {
  this.timeout(BUSY_MS * 6);

  // A broker of its own process, since this one is busy.
  it('costs neither the connection, with a keep alive of 3 s, nor a report', async function () {
    requirePrograms(this, 'mosquitto');
    const mosquitto = await startMosquitto(['max_inflight_messages 0', 'max_queued_messages 0']);
    const session = openSession(mosquitto.url, { keepalive: 3 });
    const gateway = await connectAsync(mosquitto.url, { reconnectPeriod: 0 });
    try {
      const flow = new SlowCollector();
      session.subscribe(ALL, flow);
      await reached(session, 'connected');
      let losses = 0;
      session.onState(({ mqtt }) => {
        losses += mqtt.name === 'connected' ? 0 : 1;
      });
      // All of them are on their way before the first one is taken: the response to a ping waits behind them.
      session.pauseReports();
      const count = BUSY_MS / TAKEN_MS;
      const send = (n: number) =>
        gateway.publishAsync(reportTopic('heartbeat'), JSON.stringify(heartbeat(n)), { qos: 1 });
      await Promise.all(Array.from({ length: count }, (_, n) => send(n)));
      session.resumeReports();
      await flow.until(({ reports }) => reports.length === count);
      assert.equal(losses, 0);
    } finally {
      gateway.end(true);
      await session.close();
      await mosquitto.stop();
    }
  });

  // What the broker holds comes before the confirmed subscription and the response.
  it('costs no request that its gateway answers at once', async function () {
    requirePrograms(this, 'mosquitto');
    const mosquitto = await startMosquitto(['max_queued_messages 0']);
    const session = openSession(mosquitto.url, { requestTimeout: 500 });
    const gateway = await connectAsync(mosquitto.url, { reconnectPeriod: 0 });
    try {
      await answerRequests(gateway);
      const flow = new SlowCollector();
      session.subscribe(ALL, flow);
      await reached(session, 'connected');
      session.pauseReports();
      const count = 300;
      const send = (n: number) =>
        gateway.publishAsync(reportTopic('heartbeat'), JSON.stringify(heartbeat(n)), { qos: 1 });
      await Promise.all(Array.from({ length: count }, (_, n) => send(n)));
      session.resumeReports();
      await flow.until(({ reports }) => reports.length > 20);
      const { signal } = new AbortController();
      const ask = () => session.request('read', { gateway: G, device: D, identifier: '8001' }, { signal });
      assert.ok(await ask());
      await flow.until(({ reports }) => reports.length === count);
    } finally {
      gateway.end(true);
      await session.close();
      await mosquitto.stop();
    }
  });

  it('costs no request whose response has come while it worked for longer than that had time', async function () {
    requirePrograms(this, 'mosquitto');
    const mosquitto = await startMosquitto();
    const session = openSession(mosquitto.url, { requestTimeout: 300 });
    const gateway = await connectAsync(mosquitto.url, { reconnectPeriod: 0 });
    try {
      // The broker has the response, and this process has not read it.
      await answerRequests(gateway, () => block(400));
      session.subscribe(ALL, new Collector());
      await reached(session, 'connected');
      const { signal } = new AbortController();
      for (let i = 0; i < 3; i++) {
        assert.ok(await session.request('read', { gateway: G, device: D, identifier: '8001' }, { signal }));
      }
    } finally {
      gateway.end(true);
      await session.close();
      await mosquitto.stop();
    }
  });
});
