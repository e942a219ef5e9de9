// Many reports that come to a flow again: nothing else waits for them.
import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { ALL, Collector, reached } from '../session.ts';
import { heartbeat, reportTopic, useScriptedBroker } from './scripted.ts';

const COUNT = 200;
/** It was 10 ms for each of them. */
const MAX_STALL_NS = 1_000_000_000;

describe('many reports that a flow confirms', () => {
  const bench = useScriptedBroker();

  it('come again to a node with a list of 10 000 devices without holding up anything', async () => {
    const devices = Array.from({ length: 10_000 }, (_, n) => `d${n.toString(16).padStart(11, '0')}`);
    const flow = Object.assign(new Collector(), {
      confirm: { timeoutMs: 60_000, maxAttempts: 20, count() {} },
    });
    const session = bench.open();
    session.subscribe({ ...ALL, devices }, flow, 'node');
    await reached(session, 'connected');
    for (let n = 0; n < COUNT; n++) {
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    await flow.until(({ reports }) => reports.length === COUNT);
    const stalls = monitorEventLoopDelay({ resolution: 1 });
    stalls.enable();
    for (const { delivery } of [...flow.reports]) {
      session.sendAgain(String(delivery), 0);
    }
    await flow.until(({ reports }) => reports.length >= 2 * COUNT);
    // The stall is known when a timer comes late.
    await wait(10);
    stalls.disable();
    assert.ok(flow.reports.slice(COUNT).every(({ redelivered }) => redelivered));
    assert.ok(stalls.max < MAX_STALL_NS, `${stalls.max} ns`);
  });
});
