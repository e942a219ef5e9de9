// Eight times as much that waits takes about eight times as long: nothing in the engine looks at all of it for each of it.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { SILENT } from '../../src/log.ts';
import { Session } from '../../src/session.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { ALL, mqttSettings, reached } from '../session.ts';

const FEW = 1_000;
const FACTOR = 8;
/** Milliseconds that any number may cost beside what is in proportion; with the square it would be seconds. */
const SLACK_MS = 500;
/** How often both are measured before the comparison counts as failed. */
const MAX_ATTEMPTS = 3;
const GATEWAY = 'c00000000001';
const LONG_MS = 120_000;
const SHORT_MS = 50;

/** A case sets up what has to wait, then lets it go. */
type Case = (session: Session, count: number) => Promise<unknown>;

const mac = (first: string, number: number): string => first + number.toString(16).padStart(11, '0');
const counting = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('the time for what waits', function () {
  this.timeout(240_000);
  let broker: ScriptedBroker;

  before(async () => {
    broker = await startScriptedBroker();
  });
  after(() => broker.stop());

  /** Answers every request as soon as it comes. */
  function answer(): void {
    broker.options.intercept = (packet) => {
      if (packet.cmd === 'publish' && packet.topic.includes('/request/')) {
        const { id } = JSON.parse(packet.payload.toString()) as { id: string };
        const payload = Buffer.from(JSON.stringify({ id, status: 0, value: 'text' }));
        const topic = packet.topic.replace('/request/', '/response/');
        // Past the broker's own subscriptions, among which it would search for each.
        for (const one of broker.sessions.values()) {
          one.deliver({ topic, payload, qos: 1, retain: false });
        }
      }
      return false;
    };
  }

  const read = (session: Session, gateway: string, timeout: number, signal = new AbortController().signal) =>
    session.request('read', { gateway, identifier: '8001' }, { signal, timeout });

  const acknowledge = (session: Session, number: number, timeout: number, signal: AbortSignal) =>
    session.acknowledge(
      { gateway: GATEWAY, device: GATEWAY, identifier: '8801', time: new Date(number).toISOString() },
      { signal, timeout, wait: true },
    );

  async function overLoss(session: Session, count: number): Promise<void> {
    broker.options.withhold = ['suback'];
    const waiting = counting(count).map((number) => read(session, mac('c', number), LONG_MS));
    await broker.until(() => broker.withheld.length > 0);
    answer();
    broker.options.withhold = [];
    broker.drop();
    await Promise.all(waiting);
  }

  const cases: Record<string, Case> = {
    'requests before the grant': async (session, count) => {
      broker.options.withhold = ['suback'];
      const waiting = counting(count).map(() => read(session, GATEWAY, LONG_MS));
      await broker.until(() => broker.withheld.length > 0);
      answer();
      broker.options.withhold = [];
      broker.release();
      await Promise.all(waiting);
    },
    'acknowledgements that expire before the grant': async (session, count) => {
      broker.options.withhold = ['suback'];
      const { signal } = new AbortController();
      const waiting = counting(count).map((number) => acknowledge(session, number, SHORT_MS, signal));
      const ended = await Promise.allSettled(waiting);
      assert.ok(ended.every(({ status }) => status === 'rejected'));
    },
    'requests that expire in flight': async (session, count) => {
      const ended = await Promise.allSettled(counting(count).map(() => read(session, GATEWAY, SHORT_MS)));
      assert.ok(ended.every(({ status }) => status === 'rejected'));
    },
    'requests that nodes give up one after the other': async (session, count) => {
      broker.options.withhold = ['suback'];
      const nodes = counting(count).map(() => new AbortController());
      const waiting = nodes.map(({ signal }) => read(session, GATEWAY, LONG_MS, signal));
      await broker.until(() => broker.withheld.length > 0);
      const ended = Promise.allSettled(waiting);
      for (const node of nodes) {
        node.abort();
      }
      await ended;
    },
    'gateways with one request each, over a loss of the connection': overLoss,
    'gateways with one request each, over a loss of a persistent session': overLoss,
    'subscriptions to one device each': async (session, count) => {
      const ends = counting(count).map((number) =>
        session.subscribe(
          { ...ALL, form: 'raw', gateways: [GATEWAY], devices: [mac('d', number)], kinds: ['heartbeat'] },
          { report() {}, error() {} },
        ),
      );
      await turn();
      await reached(session, 'connected');
      for (const end of ends) {
        end();
      }
    },
    'nodes whose subscriptions the broker refuses': async (session, count) => {
      broker.options.refuses = () => true;
      const filters = counting(count).map((number) => ({ ...ALL, gateways: [mac('c', number)] }));
      for (const filter of filters) {
        session.subscribe(filter, { report() {}, error() {} });
        session.onState(({ mqtt }) => mqtt.name === 'limited' && session.refusalOf(filter));
      }
      await new Promise<void>((resolve) =>
        session.onState(({ mqtt }) => mqtt.name === 'limited' && mqtt.refused.size === count && resolve()),
      );
      assert.ok(filters.every((filter) => session.refusalOf(filter)));
    },
    'reports that are held': async (session, count) => {
      let delivered = 0;
      const report = () => {
        delivered++;
        if (delivered === count) {
          broker.notify();
        }
      };
      session.subscribe(ALL, { report, error() {} });
      await reached(session, 'connected');
      session.pauseReports();
      for (const number of counting(count)) {
        broker.publish(
          `mt/gateway/${GATEWAY}/device/${mac('d', number)}/heartbeat`,
          { time: '2026-01-01T00:00:00.000Z', seq: 1 },
          { qos: 0 },
        );
      }
      await turn();
      session.resumeReports();
      await broker.until(() => delivered === count);
    },
  };

  for (const [name, run] of Object.entries(cases)) {
    const cost = (count: number) => measure(run, count, name.includes('persistent'));
    it(`grows with the number and not with its square: ${name}`, async () => {
      await cost(FEW);
      // The smallest of several measurements: whatever disturbs one only adds to it. The square fails every one.
      let [few, many] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      for (let attempt = 0; attempt < MAX_ATTEMPTS && many >= 2 * FACTOR * few + SLACK_MS; attempt++) {
        few = Math.min(few, await cost(FEW), await cost(FEW));
        many = Math.min(many, await cost(FACTOR * FEW));
      }
      assert.ok(
        many < 2 * FACTOR * few + SLACK_MS,
        `${few.toFixed()} ms for ${FEW}, ${many.toFixed()} ms for ${FACTOR} times as many`,
      );
    });
  }

  /** Milliseconds of processor time, which others that use the machine hardly change. */
  async function measure(run: Case, count: number, persistent: boolean): Promise<number> {
    await broker.reset();
    const changes = {
      persistent,
      brokers: counting(50).map(() => broker.url),
      maxInFlight: 1_000_000,
      maxQueue: 1_000_000,
    };
    const session = new Session({ mqtt: mqttSettings(broker.url, changes) }, SILENT);
    session.attach();
    await reached(session, 'connected');
    const start = process.cpuUsage();
    await run(session, count);
    await session.close();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  }
});
