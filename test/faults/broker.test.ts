// The broker is stopped, killed, restarted and frozen under traffic: QoS 1 reports survive, requests end.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { Session } from '../../src/session.ts';
import { DURABLE, type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { findRabbitMq, startRabbitMq } from '../rabbitmq.ts';
import { requirePrograms } from '../requirements.ts';
import { openSession, reached } from '../session.ts';
import { type Field, openField } from './field.ts';
import { openResources } from './resources.ts';
import { isLong, type Row, record, times } from './table.ts';
import { Arrivals, Asking } from './tally.ts';

const RATE = 250;
const IN_FLIGHT = 50;
/** Behind the reports of an outage, on a busy machine, a response takes seconds: one that is never in time says nothing. */
const REQUEST_TIMEOUT_MS = 5_000;
/** Between two faults of the long form, so that the back-off starts anew; in the short one, reports to be under way. */
const PEACE_MS = isLong ? 6_000 : 500;
/** The fault itself: for so long nobody is there, and connecting fails at least once. */
const OUTAGE_MS = 1_500;
/** Longer than the keepalive of 2 s allows a silence to last. */
const FREEZE_MS = 4_000;
/** Mosquitto writes its store after every 500 changes: what it acknowledged just before a crash, gateways repeat. */
const MAX_UNSAVED = 1_000;

type Broker = Omit<Mosquitto, 'port' | 'publish'>;

interface Subject {
  start(): Promise<Broker>;
  /** What it needs from the machine. */
  program?: string;
  /** How often a fault is made; 0: not now. */
  count(fault: string): number;
}

const RESTART = 'broker restarted at once';

/** RabbitMQ has no tests here where it is not installed. */
const BROKERS: Record<string, Subject> = {
  Mosquitto: { start: () => startMosquitto(DURABLE), program: 'mosquitto', count: () => times(1, 20) },
  ...(findRabbitMq() && {
    // It takes ten seconds to start.
    RabbitMQ: { start: startRabbitMq, count: (fault) => times(fault === RESTART ? 1 : 0, 5) },
  }),
};

interface Ground {
  broker: Broker;
  field: Field;
}

const FAULTS: Record<string, (ground: Ground) => Promise<void>> = {
  'broker stopped (SIGTERM) for 1.5 s': async ({ broker }) => {
    await broker.shutDown();
    await wait(OUTAGE_MS);
    await broker.start();
  },
  'broker killed (SIGKILL) for 1.5 s': async ({ broker, field }) => {
    const saved = field.sent - MAX_UNSAVED;
    await broker.kill();
    await wait(OUTAGE_MS);
    await broker.start();
    field.again(saved);
  },
  [RESTART]: async ({ broker }) => {
    await broker.shutDown();
    await broker.start();
  },
  'broker frozen (SIGSTOP) for 4 s': async ({ broker }) => {
    broker.freeze();
    await wait(FREEZE_MS);
    broker.thaw();
  },
};

interface Outcome {
  reports: NonNullable<Row['reports']>;
  requests: NonNullable<Row['requests']>;
  /** Reports that came twice in spite of `duplicates: 'drop'`. */
  repeated: number;
  /** Milliseconds, the longest time. */
  recovered: number;
}

/** Makes a fault so many times to a broker of its own, under traffic. */
async function undergo(fault: string, count: number, broker: Broker): Promise<Outcome> {
  const field = await openField(broker.url);
  const session = openSession(broker.url, {
    ...{ persistent: true, keepalive: 2, maxInFlight: IN_FLIGHT },
    requestTimeout: REQUEST_TIMEOUT_MS,
  });
  try {
    const [all, once] = [new Arrivals(), new Arrivals()];
    all.listen(session);
    once.listen(session, { duplicates: 'drop', duplicateWindow: 600 });
    const asking = new Asking(session, IN_FLIGHT);
    await asking.nextAnswer();
    field.setRate(RATE);
    // Mosquitto has written the session then: one that is killed before forgets it, and what comes until it is there again.
    await all.reach(MAX_UNSAVED);
    let recovered = 0;
    for (let time = 0; time < count; time++) {
      await wait(PEACE_MS);
      const isBack = lostAndFound(session);
      await FAULTS[fault]?.({ broker, field });
      const healed = performance.now();
      await isBack;
      await asking.nextAnswer();
      await all.reach(field.sent);
      recovered = Math.max(recovered, performance.now() - healed);
    }
    field.setRate(0);
    await field.settled();
    await Promise.all([all.reach(field.sent), once.reach(field.sent)]);
    await asking.finish();
    return { reports: all.row(field.sent), requests: asking.row(), repeated: once.duplicated, recovered };
  } finally {
    await session.close();
    await field.close();
    await broker.stop();
  }
}

for (const [name, { start, program, count }] of Object.entries(BROKERS)) {
  describe(`with a persistent session at ${name} and QoS 1`, function () {
    this.timeout(isLong ? 0 : 120_000);
    const faults = Object.keys(FAULTS).filter((fault) => count(fault) > 0);
    const run = async (fault: string) => undergo(fault, count(fault), await start());
    const begun = new Map<string, Promise<Outcome>>();
    let open: Record<string, number>;

    before(async function () {
      if (program) {
        requirePrograms(this, program);
      }
      open = await openResources();
      // The long form mostly waits for peace after a fault, so its faults run side by side.
      if (isLong) {
        for (const fault of faults) {
          begun.set(fault, run(fault));
        }
      }
      for (const outcome of begun.values()) {
        outcome.catch(() => {});
      }
    });

    for (const fault of faults) {
      it(`every report arrives and every request ends: ${fault}`, async () => {
        const { reports, requests, repeated, recovered } = await (begun.get(fault) ?? run(fault));
        record({ fault: `${name}: ${fault}`, times: count(fault), reports, requests, recovered });
        assert.deepEqual([reports.lost, repeated, requests.hanging], [0, 0, 0]);
      });
    }

    it('nothing is left open', async () => {
      assert.deepEqual(await openResources(), open);
    });
  });
}

/** Resolves when the connection was lost and is there again. */
async function lostAndFound(session: Session): Promise<void> {
  await reached(session, 'waiting');
  await reached(session, 'connected');
}
