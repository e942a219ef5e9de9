// What a device watch tells while the broker is asked for more: what was granted before goes on being heard.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { WatchSettings } from '../../src/network/watch-context.ts';
import type { Session } from '../../src/session.ts';
import { ALL, Collector } from '../session.ts';
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

const STEP_MS = 500;
/** Silent after 6 seconds; a condition that is over within 5 is not told. */
const WATCH: WatchSettings = {
  ...{ gateways: [], devices: [], labels: [], conditions: ['silent'] },
  ...{ silentAfter: 6, batteryBelow: 20, batteryFine: 0, signalBelow: -85 },
};
const TOLD_AFTER_S = 11;

describe('a device watch whose broker is asked for more', function () {
  this.timeout(60_000);
  const bench = useScriptedBroker();
  let told: string[];

  beforeEach(() => {
    mockTime(1_000_000);
    told = [];
  });

  afterEach(restoreTime);

  const watch = (session: Session, settings: Partial<WatchSettings>) => {
    session.watchDevices(
      { ...WATCH, ...settings },
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
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < 1_000 * seconds; passed += STEP_MS) {
      mock.timers.tick(STEP_MS);
      await passRealTime();
    }
  };
  /** @param forS what is spared after a start is over after a minute */
  const connected = async (session: Session, forS = 60) => {
    while (session.state.mqtt.name !== 'connected') {
      await pass(1);
    }
    await pass(forS);
  };
  const toldInTime = async (passedS = 0) => {
    await pass(TOLD_AFTER_S - 1 - passedS);
    assert.deepEqual(told, []);
    await pass(2);
    assert.deepEqual(told, [`+silent ${D}`]);
  };
  const answer = () => {
    const { broker } = bench;
    assert.ok(broker.withheld.length > 0);
    broker.options.withhold = [];
    broker.release();
  };

  for (const isGranted of [true, false]) {
    const when = isGranted ? 'and has that granted' : 'before that is granted';
    const grant = async () => {
      await pass(1);
      if (isGranted) {
        answer();
      }
    };

    it(`tells a listed device in its time whose first report asks for all of its gateway, ${when}`, async () => {
      const session = bench.open();
      watch(session, { devices: [D] });
      await connected(session, 1);
      bench.broker.options.withhold = ['suback'];
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
      await grant();
      await toldInTime(1);
    });

    it(`tells a device in its time where a deploy asks for another gateway, ${when}`, async () => {
      const session = bench.open();
      watch(session, { gateways: [G] });
      await connected(session);
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
      await pass(1);
      bench.broker.options.withhold = ['suback'];
      session.pauseReports();
      session.subscribe({ ...ALL, gateways: [G2] }, new Collector());
      session.resumeReports(() => true);
      await grant();
      await toldInTime(2);
    });
  }

  it('tells of no device for whose reports it has just asked, and gives it its time when that is granted', async () => {
    const { broker } = bench;
    const session = bench.open();
    session.subscribe({ ...ALL, gateways: [G2] }, new Collector());
    await connected(session);
    broker.options.withhold = ['suback'];
    watch(session, { devices: [D] });
    await pass(15);
    assert.deepEqual(told, []);
    answer();
    await toldInTime();
  });

  it('spares everybody a minute where something must be given back first', async () => {
    const { broker } = bench;
    broker.options.maxSubscriptions = 2;
    broker.options.refuses = (filter) => filter.includes('gateway/+');
    const session = bench.open({ protocolVersion: 5 });
    watch(session, { gateways: [G] });
    const end = session.subscribe({ ...ALL, gateways: [G2] }, new Collector());
    await connected(session);
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await pass(1);
    session.pauseReports();
    end();
    session.subscribe({ ...ALL, gateways: ['c0141f68fc3f'] }, new Collector());
    session.resumeReports(() => true);
    await pass(60);
    assert.deepEqual(told, []);
    await pass(TOLD_AFTER_S + 1);
    assert.deepEqual(told, [`+silent ${D}`]);
  });
});
