// A flow that stores nothing holds up the broker: gateways that nobody can hear then are not silent.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { ALL, Collector, reached } from '../session.ts';
import { D, G, heartbeat, reportTopic, useScriptedBroker } from './scripted.ts';

const SILENT_AFTER_S = 2;
/** Silent, and told only when it lasts for five seconds more. */
const HELD_UP_MS = 9_000;

describe('a device watch where the flow stores nothing', () => {
  const bench = useScriptedBroker();

  it('does not take for silent what the broker holds back, and does when it holds back nothing', async () => {
    bench.broker.options.maxInFlight = 12;
    const flow = Object.assign(new Collector(), {
      confirm: { timeoutMs: 60_000, maxAttempts: 20, count() {} },
    });
    const session = bench.open();
    session.subscribe(ALL, flow, 'node');
    const told: string[] = [];
    let tell = () => {};
    const first = new Promise<void>((resolve) => {
      tell = resolve;
    });
    session.watchDevices(
      {
        ...{ gateways: [G], devices: [D], labels: [], conditions: ['silent', 'gateway-silent'] },
        ...{ silentAfter: SILENT_AFTER_S, batteryBelow: 20, signalBelow: -85 },
      } as never,
      {
        changed: ({ condition }) => {
          told.push(condition);
          tell();
        },
        counted() {},
        full() {},
      },
      'watch',
    );
    await reached(session, 'connected');
    for (let n = 0; n < 30; n++) {
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    await flow.until(({ reports }) => reports.length === 12);
    await wait(HELD_UP_MS);
    assert.deepEqual(told, []);
    let stored = 0;
    while (stored < 30) {
      await flow.until(({ reports }) => reports.length > stored);
      for (; stored < flow.reports.length; stored++) {
        session.confirm(String(flow.reports[stored]?.delivery));
      }
    }
    await first;
  }).timeout(60_000);
});
