// When nothing is to do, nothing of this package wakes Node-RED up.
import assert from 'node:assert/strict';
import { SILENT } from '../../src/log.ts';
import { Session } from '../../src/session.ts';
import { json, settingsFor, startServer } from '../rest/server.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';
import { answerAll, D, G, heartbeat, reportTopic, TIME, useScriptedBroker } from './scripted.ts';

type Start = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => NodeJS.Timeout;

/** Every timer that is set and neither done nor cleared, from `watch` on. */
class Timers {
  readonly #real = { setTimeout, setInterval, clearTimeout, clearInterval };
  readonly #once = new Set<unknown>();
  readonly #repeating = new Set<unknown>();

  get counts(): { once: number; repeating: number } {
    return { once: this.#once.size, repeating: this.#repeating.size };
  }

  watch(): void {
    const real = this.#real;
    const start: Start = (callback, ms, ...args) => {
      const timer: NodeJS.Timeout = real.setTimeout(() => {
        this.#once.delete(timer);
        callback(...args);
      }, ms);
      this.#once.add(timer);
      return timer;
    };
    const repeat: Start = (callback, ms, ...args) => {
      const timer = real.setInterval(callback, ms, ...args);
      this.#repeating.add(timer);
      return timer;
    };
    const stop = (timer: unknown) => {
      this.#once.delete(timer);
      this.#repeating.delete(timer);
      real.clearTimeout(timer as NodeJS.Timeout);
    };
    Object.assign(globalThis, {
      setTimeout: start,
      setInterval: repeat,
      clearTimeout: stop,
      clearInterval: stop,
    });
  }

  restore(): void {
    Object.assign(globalThis, this.#real);
  }

  /** Resolves when no more than these are left. It looks again and again: no event tells that a timer was cleared. */
  async until(once: number): Promise<void> {
    while (this.#once.size > once) {
      await new Promise((resolve) => this.#real.setTimeout(resolve, 5));
    }
  }
}

describe('a session that has nothing to do', () => {
  const bench = useScriptedBroker();
  const timers = new Timers();
  afterEach(() => timers.restore());

  it('has no timer but the keep-alive, two until the time of the last request is over, and one to give its subscription back', async () => {
    const { broker } = bench;
    const portal = await startServer((_, response) =>
      json(response, { items: [{ id: `bmac-${G}`, labels: [] }] }, 200, { connection: 'close' }),
    );
    timers.watch();
    const rest = settingsFor(portal.url);
    const session = new Session({ mqtt: mqttSettings(broker.url), rest }, SILENT);
    try {
      const collector = new Collector();
      session.subscribe({ ...ALL, duplicates: 'drop' }, collector);
      await reached(session, 'connected');
      for (let n = 0; n < 100; n++) {
        broker.publish(reportTopic('heartbeat'), heartbeat(n));
      }
      await collector.until(({ reports }) => reports.length === 100);
      await session.devices?.search('', 10);
      // Timers of the HTTP library end soon after the connection.
      await timers.until(0);
      assert.deepEqual(timers.counts, { once: 0, repeating: 1 });
      answerAll(broker, ({ id }) => ({ id, version: '2.4.0' }));
      const { signal } = new AbortController();
      await session.request('apiversion', { gateway: G }, { signal, timeout: 300 });
      const sample = { kind: 'timestamped', ack: true, gateway: G, device: D, form: 'raw', time: TIME };
      await session.acknowledge({ ...sample, identifier: '8800' }, { signal, timeout: 300, wait: true });
      // One for what waited for the grant, and one for what was sent; one looks for unused subscriptions every 10 minutes.
      assert.deepEqual(timers.counts, { once: 3, repeating: 1 });
      await timers.until(1);
      assert.deepEqual(timers.counts, { once: 1, repeating: 1 });
    } finally {
      await session.close();
      await portal.stop();
    }
    assert.deepEqual(timers.counts, { once: 0, repeating: 0 });
  });
});
