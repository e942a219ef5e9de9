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
/** Some 10 000 reports, so that the bound is reached and worked off in seconds. */
const MAX_WAITING_BYTES = 4e6;
/** Resident memory may grow while the engine settles; after that it stays, however long the overload lasts. */
const SETTLED_SHARE = 0.25;
const MAX_GROWTH = 50e6;

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
    // On a machine with few cores the broker and the sender compete with the flow: a response may take seconds.
    const changes = { requestTimeout: 30_000, maxWaitingBytes: MAX_WAITING_BYTES };
    session = new Session({ mqtt: mqttSettings(mosquitto.url, changes) }, log);
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
        while (performance.now() - start < COST / 1000) {}
      },
      error() {},
    });
    const asking = new Asking(session, 10);
    await asking.nextAnswer();
    const before = process.memoryUsage().rss;
    let [settled, most, shown, present, overloads] = [0, 0, 0, 0, 0];
    const started = performance.now();
    const stop = session.onState(({ mqtt }) => {
      const now = mqtt.name === 'overloaded' ? mqtt.lost : 0;
      if (present === 0 && now > 0) {
        overloads++;
      }
      if (now === 0) {
        shown += present;
      }
      present = now;
    });
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
      if (performance.now() - started < SETTLED_SHARE * SECONDS * 1000) {
        settled = most;
      }
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
      note: `longest stall ${stall.toFixed(0)} ms; ${shown} told; memory +${((settled - before) / 1e6).toFixed(0)} MB at first, +${((most - settled) / 1e6).toFixed(0)} MB after`,
    });
    assert.ok(reports.lost > 0 && shown === reports.lost, `${shown} told, ${reports.lost} lost`);
    // One is usual; where the sender itself comes to a halt for a while, an overload ends and another one begins.
    assert.equal(warnings.filter((text) => text.includes('faster')).length, overloads, warnings.join('\n'));
    assert.deepEqual([Object.keys(requests.failed), requests.hanging], [[], 0]);
    assert.ok(requests.answered > 0);
    // Among other tests the process also collects their garbage; alone it shows what the overload takes.
    if (isLong) {
      assert.ok(most - settled < MAX_GROWTH, `${most - settled} bytes more`);
    }
  });
});

/** Resolves when the session is no longer overloaded. */
async function over(session: Session): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = session.onState(({ mqtt }) => {
      if (mqtt.name === 'overloaded') {
        return;
      }
      queueMicrotask(() => stop());
      resolve();
    });
  });
}
