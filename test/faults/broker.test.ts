// The broker is stopped, killed, restarted and frozen under traffic: QoS 1 reports survive, requests end.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { Session } from '../../src/session.ts';
import { DURABLE, startMosquitto } from '../mosquitto.ts';
import { findRabbitMq, type RabbitMq, startRabbitMq } from '../rabbitmq.ts';
import { requirePrograms } from '../requirements.ts';
import { openSession, reached } from '../session.ts';
import { type Field, openField } from './field.ts';
import { openResources } from './resources.ts';
import { isLong, record, times } from './table.ts';
import { Arrivals, Asking } from './tally.ts';

const RATE = 500;
const IN_FLIGHT = 50;
/** Between two faults of the long form, so that the back-off starts anew. */
const PEACE = isLong ? 6_000 : 500;
const OUTAGE = 1_500;
/** Longer than the keepalive of 2 s allows a silence to last. */
const FREEZE = 4_000;
/** Mosquitto writes its store after it has acknowledged: what it acknowledged just before a crash, gateways repeat. */
const UNSAVED = 2_000;

interface Subject {
  start(): Promise<RabbitMq>;
  /** What it needs from the machine. */
  program?: string;
  /** How often a fault is made; 0: not now. */
  count(fault: string): number;
}

const RESTART = 'broker restarted at once';

/** RabbitMQ has no tests where it is not installed: CI, where nothing may be skipped, does without it. */
const BROKERS: Record<string, Subject> = {
  Mosquitto: { start: () => startMosquitto(DURABLE), program: 'mosquitto', count: () => times(1, 20) },
  ...(findRabbitMq() && {
    // It takes ten seconds to start.
    RabbitMQ: { start: startRabbitMq, count: (fault) => times(fault === RESTART ? 1 : 0, 5) },
  }),
};

interface Ground {
  broker: RabbitMq;
  field: Field;
}

const FAULTS: Record<string, (ground: Ground) => Promise<void>> = {
  'broker stopped (SIGTERM) for 1.5 s': async ({ broker }) => {
    await broker.shutDown();
    await wait(OUTAGE);
    await broker.start();
  },
  'broker killed (SIGKILL) for 1.5 s': async ({ broker, field }) => {
    await broker.kill();
    await wait(OUTAGE);
    await broker.start();
    field.again(OUTAGE + UNSAVED);
  },
  [RESTART]: async ({ broker }) => {
    await broker.shutDown();
    await broker.start();
  },
  'broker frozen (SIGSTOP) for 4 s': async ({ broker }) => {
    broker.freeze();
    await wait(FREEZE);
    broker.thaw();
  },
};

for (const [name, { start, program, count }] of Object.entries(BROKERS)) {
  describe(`with a persistent session at ${name} and QoS 1`, function () {
    this.timeout(isLong ? 0 : 60_000);
    let ground: Ground;
    let session: Session;
    let before: Record<string, number>;

    beforeEach(async function () {
      if (program) requirePrograms(this, program);
      before = await openResources();
      const broker = await start();
      ground = { broker, field: await openField(broker.url) };
      session = openSession(broker.url, { persistent: true, keepalive: 2, maxInFlight: IN_FLIGHT });
    });
    afterEach(async () => {
      await session?.close();
      await ground?.field.close();
      await ground?.broker.stop();
    });

    for (const [fault, make] of Object.entries(FAULTS).filter(([fault]) => count(fault) > 0)) {
      it(`every report arrives and every request ends: ${fault}`, async () => {
        const { field, broker } = ground;
        const [all, once] = [new Arrivals(), new Arrivals()];
        all.listen(session);
        once.listen(session, { duplicates: 'drop', duplicateWindow: 600 });
        const asking = new Asking(session, IN_FLIGHT);
        await asking.nextAnswer();
        field.setRate(RATE);
        let recovered = 0;
        for (let time = 0; time < count(fault); time++) {
          await wait(PEACE);
          const isBack = lostAndFound(session);
          await make(ground);
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
        const [reports, requests] = [all.row(field.sent), asking.row()];
        record({ fault: `${name}: ${fault}`, times: count(fault), reports, requests, recovered });
        assert.deepEqual([reports.lost, once.duplicated, requests.hanging], [0, 0, 0]);
        await session.close();
        await field.close();
        await broker.stop();
        assert.deepEqual(await openResources(), before);
      });
    }
  });
}

/** Resolves when the connection was lost and is there again. */
async function lostAndFound(session: Session): Promise<void> {
  await reached(session, 'waiting');
  await reached(session, 'connected');
}
