// More reports than a flow can take: memory stays bounded, the loss is counted and told once, requests go through.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Session } from '../../src/session.ts';
import { type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { ALL, mqttSettings } from '../session.ts';
import { type Field, openField } from './field.ts';
import { isLong, record } from './table.ts';
import { Arrivals, Asking } from './tally.ts';

const RATE = 20_000;
const SECONDS = isLong ? 60 : 4;
/** Microseconds that the flow spends on each report: 5 000 a second. */
const COST = 200;
/** Reports that wait, and what parsing them leaves behind. */
const MOST_MEMORY = 150e6;

describe('20 000 reports of QoS 0 a second into a flow that takes 5 000', function () {
  this.timeout(0);
  let mosquitto: Mosquitto;
  let field: Field;
  let session: Session;
  const warnings: string[] = [];

  before(async function () {
    requirePrograms(this, 'mosquitto');
    // Otherwise the broker drops on its own what a client does not read at once.
    mosquitto = await startMosquitto(['max_queued_messages 0', 'set_tcp_nodelay true']);
    field = await openField(mosquitto.url);
    const log = { info() {}, trace() {}, warn: (text: string) => void warnings.push(text) };
    // On a machine with few cores the broker and the sender compete with the flow: an answer may take seconds.
    session = new Session({ mqtt: mqttSettings(mosquitto.url, { requestTimeout: 30_000 }) }, log);
  });
  after(async () => {
    await session?.close();
    await field?.close();
    await mosquitto?.stop();
  });

  it('cost some reports, which are counted, and no request', async () => {
    const arrivals = new Arrivals();
    session.subscribe(ALL, {
      report(report) {
        const start = performance.now();
        arrivals.note(report);
        while (performance.now() - start < COST / 1000);
      },
      error() {},
    });
    const asking = new Asking(session, 10);
    await asking.nextAnswer();
    const before = process.memoryUsage().rss;
    let [most, shown] = [0, 0];
    const stop = session.onState(({ mqtt }) => {
      if (mqtt.name === 'overloaded') shown = Math.max(shown, mqtt.lost);
      most = Math.max(most, process.memoryUsage().rss);
    });
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 100);
    const stalls = monitorEventLoopDelay({ resolution: 5 });
    stalls.enable();
    const child = fork(
      join(import.meta.dirname, 'overload-child.ts'),
      [mosquitto.url, `${RATE}`, `${SECONDS}`],
      {
        execArgv: ['--import', 'tsx'],
      },
    );
    const [{ sent }] = await once(child, 'message');
    await over(session);
    stalls.disable();
    clearInterval(watch);
    stop();
    await asking.finish();
    const [reports, requests] = [arrivals.row(sent), asking.row()];
    const stall = stalls.max / 1e6;
    record({
      fault: `overload: ${RATE} reports/s for ${SECONDS} s`,
      times: 1,
      reports,
      requests,
      note: `longest stall ${stall.toFixed(0)} ms; ${shown} told; +${((most - before) / 1e6).toFixed(0)} MB`,
    });
    assert.ok(reports.lost > 0 && shown === reports.lost, `${shown} told, ${reports.lost} lost`);
    assert.equal(warnings.filter((text) => text.includes('faster')).length, 1, warnings.join('\n'));
    assert.deepEqual([Object.keys(requests.failed), requests.hanging], [[], 0]);
    assert.ok(requests.answered > 0);
    // Among other tests the process also collects their garbage; alone it shows what the overload takes.
    if (isLong) assert.ok(most - before < MOST_MEMORY);
  });
});

/** Resolves when the session is no longer overloaded. */
async function over(session: Session): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = session.onState(({ mqtt }) => {
      if (mqtt.name === 'overloaded') return;
      queueMicrotask(() => stop());
      resolve();
    });
  });
}
