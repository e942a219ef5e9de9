// What a device watch tells where the broker refuses a part of what it asks for, in a SUBACK or by ending the connection.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Session } from '../../src/session.ts';
import {
  G,
  G2,
  heartbeat,
  mockTime,
  passRealTime,
  reportTopic,
  restoreTime,
  useScriptedBroker,
} from './scripted.ts';

const MINUTE = 60_000;
const TICK_MS = 5_000;
const LIMIT_S = 600;
const [DEAD, HEALTHY, REFUSED] = ['d00000000001', 'd00000000002', 'd00000000003'];

describe('a device watch at a broker that forbids one of its gateways', function () {
  this.timeout(60_000);
  const bench = useScriptedBroker();
  let told: string[];
  let reports: number;

  beforeEach(() => {
    mockTime(1_000_000);
    [told, reports] = [[], 0];
  });

  afterEach(restoreTime);

  const forbid = (refusesBy: 'code' | 'close' | undefined) => {
    const { broker } = bench;
    broker.options.refuses = (filter) => refusesBy !== undefined && filter.includes(G2);
    broker.options.refusesBy = refusesBy ?? 'code';
  };
  const watch = (session: Session) => {
    session.watchDevices(
      {
        ...{ gateways: [G, G2], devices: [], labels: [], conditions: ['silent', 'gateway-silent'] },
        ...{ silentAfter: LIMIT_S, batteryBelow: 20, batteryFine: 0, signalBelow: -85 },
      },
      {
        changed: ({ condition, active, device }) => {
          told.push(`${active ? '+' : '-'}${condition} ${device}`);
        },
        counted() {},
        full() {},
      },
      'watch',
    );
  };
  /** @returns how many have received it */
  const send = (device: string, gateway = G) =>
    bench.broker.publish(reportTopic('heartbeat', gateway, device), heartbeat(reports++));
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += TICK_MS) {
      mock.timers.tick(TICK_MS);
      await passRealTime();
    }
  };
  /** The healthy device reports every half a minute. @param lostEvery connections are lost by chance, too */
  const run = async (ms: number, lostEvery = Number.POSITIVE_INFINITY) => {
    let untilLoss = lostEvery;
    for (let passed = 0; passed < ms; passed += MINUTE / 2) {
      send(HEALTHY);
      await pass(MINUTE / 2);
      untilLoss -= MINUTE / 2;
      if (untilLoss <= 0) {
        untilLoss = lostEvery;
        bench.broker.drop();
        await pass(MINUTE / 2);
      }
    }
  };

  for (const [how, refusesBy, lostEvery] of [
    ['by ending the connection', 'close', undefined],
    ['in a SUBACK, with a connection that is lost again and again', 'code', 4 * MINUTE],
  ] as const) {
    it(`tells that another device is silent all the same: ${how}`, async () => {
      forbid(refusesBy);
      const session = bench.open();
      watch(session);
      while (session.state.mqtt.name !== 'limited') {
        await pass(TICK_MS);
      }
      // The connection may just be a new one, after the filter that has ended the last one.
      while (send(DEAD) === 0) {
        await pass(TICK_MS);
      }
      await run(20 * MINUTE, lostEvery);
      assert.deepEqual(told, [`+silent ${DEAD}`]);
    });

    it(`tells of nobody whom it cannot hear, and gives them their time when it can: ${how}`, async () => {
      const { broker } = bench;
      const session = bench.open();
      watch(session);
      while (session.state.mqtt.name !== 'connected') {
        await pass(TICK_MS);
      }
      send(REFUSED, G2);
      await run(MINUTE);
      forbid(refusesBy);
      broker.drop();
      await run(30 * MINUTE, lostEvery);
      forbid(undefined);
      const isGranted = () =>
        [...broker.sessions.values()].some(({ subscriptions }) =>
          [...subscriptions.keys()].some((filter) => filter.includes(G2)),
        );
      while (!isGranted()) {
        await run(MINUTE / 2);
      }
      assert.deepEqual(told, []);
      await run(9 * MINUTE);
      assert.deepEqual(told, [], 'it may be about to report');
      await run(2 * MINUTE);
      assert.deepEqual(told.sort(), [`+gateway-silent ${G2}`, `+silent ${REFUSED}`]);
    });
  }
});
