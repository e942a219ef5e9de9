// A connection that died without a word is noticed late: until then nobody is silent. Only the timers are moved by hand.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { ConditionChange } from '../../src/network/watch-context.ts';
import type { Session } from '../../src/session.ts';
import { reached } from '../session.ts';
import {
  D,
  G,
  G2,
  heartbeat,
  mockTime,
  passRealTime,
  reportTopic,
  restoreTime,
  useScriptedBroker,
} from './scripted.ts';

const D2 = 'd00000000002';
const WATCH = {
  ...{ gateways: [], devices: [], labels: [], batteryBelow: 20, batteryFine: 0, signalBelow: -85 },
  conditions: ['silent', 'gateway-silent'],
} as const;

describe('a device watch over a connection that died without a word', () => {
  const bench = useScriptedBroker();
  let session: Session;
  let told: string[];

  beforeEach(() => mockTime(1_000_000));
  afterEach(restoreTime);

  async function watch(silentAfter: number, keepalive = 60): Promise<void> {
    session = bench.open({ keepalive });
    told = [];
    const changed = ({ condition, active, device }: ConditionChange) =>
      void told.push(`${active ? '+' : '-'}${condition} ${device}`);
    session.watchDevices({ ...WATCH, silentAfter }, { changed, counted() {}, full() {} }, 'watch');
    session.resumeReports();
    await reached(session, 'connected');
    const heard = new Promise<void>((resolve) => void session.network.onHeard(() => resolve()));
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await heard;
  }

  async function pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed++) {
      mock.timers.tick(1_000);
      await passRealTime();
    }
  }

  it('tells nobody silent before the broker has shown that it is there, and counts no time without it', async () => {
    await watch(60);
    bench.broker.options.withhold = ['pingresp'];
    await pass(88);
    assert.deepEqual([session.state.mqtt.name, told], ['connected', []]);
    const lost = reached(session, 'waiting');
    await pass(4);
    await lost;
    bench.broker.options.withhold = [];
    const back = reached(session, 'connected');
    await pass(2);
    await back;
    // A minute to come back, and then the whole time.
    await pass(115);
    assert.deepEqual(told, []);
    await pass(15);
    assert.deepEqual(told.sort(), [`+gateway-silent ${G}`, `+silent ${D}`]);
  });

  it('tells what is silent in time where the broker is there and has nothing to send', async () => {
    await watch(2);
    await pass(8);
    assert.deepEqual(told.sort(), [`+gateway-silent ${G}`, `+silent ${D}`]);
    assert.ok(bench.broker.packets('pingreq').length <= 2);
  });

  it('asks for no sign of life while reports come', async () => {
    await watch(2);
    for (let second = 0; second < 10; second++) {
      bench.broker.publish(reportTopic('heartbeat', G2, D2), heartbeat(second));
      await pass(1);
    }
    assert.deepEqual(told.sort(), [`+gateway-silent ${G}`, `+silent ${D}`]);
    assert.equal(bench.broker.packets('pingreq').length, 0);
  });

  it('is asked for a sign of life by whoever looks at a silence, and no more often than he looks', async () => {
    await watch(3_600, 0);
    const seconds = () => Math.round(session.network.silentMs(session.network.device(D)!) / 1_000);
    await pass(20);
    assert.equal(bench.broker.packets('pingreq').length, 0);
    assert.equal(seconds(), 2);
    await pass(1);
    assert.equal(seconds(), 21);
    assert.equal(bench.broker.packets('pingreq').length, 1);
  });

  it('does not wait for ever where no keep alive ends the connection', async () => {
    await watch(60, 0);
    bench.broker.options.withhold = ['pingresp'];
    await pass(145);
    assert.deepEqual(told, []);
    await pass(105);
    assert.deepEqual(told.sort(), [`+gateway-silent ${G}`, `+silent ${D}`]);
  });
});
