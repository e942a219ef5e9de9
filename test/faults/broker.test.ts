// The broker is stopped, killed, restarted and frozen under traffic: QoS 1 reports survive, requests end.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { Session } from '../../src/session.ts';
import { DURABLE, type Mosquitto, startMosquitto } from '../mosquitto.ts';
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
/** Longer than the keepalive of 1 s allows a silence to last. */
const FREEZE = 4_000;
/** Mosquitto writes its store after it has acknowledged: what it acknowledged just before a crash, gateways repeat. */
const UNSAVED = 2_000;

interface Ground {
  mosquitto: Mosquitto;
  field: Field;
}

const FAULTS: Record<string, (ground: Ground) => Promise<void>> = {
  'broker stopped (SIGTERM) for 1.5 s': async ({ mosquitto }) => {
    await mosquitto.shutDown();
    await wait(OUTAGE);
    await mosquitto.start();
  },
  'broker killed (SIGKILL) for 1.5 s': async ({ mosquitto, field }) => {
    await mosquitto.kill();
    await wait(OUTAGE);
    await mosquitto.start();
    field.again(OUTAGE + UNSAVED);
  },
  'broker restarted at once': async ({ mosquitto }) => {
    await mosquitto.shutDown();
    await mosquitto.start();
  },
  'broker frozen (SIGSTOP) for 4 s': async ({ mosquitto }) => {
    mosquitto.freeze();
    await wait(FREEZE);
    mosquitto.thaw();
  },
};

describe('with a persistent session and QoS 1', function () {
  this.timeout(isLong ? 0 : 60_000);
  let ground: Ground;
  let session: Session;
  let before: Record<string, number>;

  beforeEach(async function () {
    requirePrograms(this, 'mosquitto');
    before = await openResources();
    const mosquitto = await startMosquitto(DURABLE);
    ground = { mosquitto, field: await openField(mosquitto.url) };
    session = openSession(mosquitto.url, { persistent: true, keepalive: 1, maxInFlight: IN_FLIGHT });
  });
  afterEach(async () => {
    await session?.close();
    await ground?.field.close();
    await ground?.mosquitto.stop();
  });

  for (const [fault, make] of Object.entries(FAULTS)) {
    it(`every report arrives and every request ends: ${fault}`, async () => {
      const { field, mosquitto } = ground;
      const [all, once] = [new Arrivals(), new Arrivals()];
      all.listen(session);
      once.listen(session, { duplicates: 'drop', duplicateWindow: 600 });
      const asking = new Asking(session, IN_FLIGHT);
      await asking.nextAnswer();
      field.setRate(RATE);
      let recovered = 0;
      for (let time = 0; time < times(1, 20); time++) {
        await wait(PEACE);
        const isBack = lostAndFound(session);
        await make(ground);
        const healed = performance.now();
        await isBack;
        await asking.nextAnswer();
        recovered = Math.max(recovered, performance.now() - healed);
      }
      field.setRate(0);
      await field.settled();
      await Promise.all([all.reach(field.sent), once.reach(field.sent)]);
      await asking.finish();
      const [reports, requests] = [all.row(field.sent), asking.row()];
      record({ fault, times: times(1, 20), reports, requests, recovered });
      assert.deepEqual([reports.lost, once.duplicated, requests.hanging], [0, 0, 0]);
      await session.close();
      await field.close();
      await mosquitto.stop();
      assert.deepEqual(await openResources(), before);
    });
  }
});

/** Resolves when the connection was lost and is there again. */
async function lostAndFound(session: Session): Promise<void> {
  await reached(session, 'waiting');
  await reached(session, 'connected');
}
