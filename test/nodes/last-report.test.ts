// The last report in the status of mt-report-in: what it says, how its age goes on, and what it costs.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { LastReport } from '../../nodes/report-in/last-report.ts';
import { type Service, startService } from '../../simulator/src/service.ts';
import type { Report } from '../../src/index.ts';
import { flowAround, secretsOf, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

const TIME = '2026-01-02T03:04:05.678Z';

const reportOf = (more: Partial<Report>): Report => ({
  device: 'd00000000001',
  gateway: 'c0141f68fc3d',
  kind: 'measurement',
  form: 'decoded',
  time: TIME,
  ...more,
});

describe('the last report in a status', () => {
  let now = 0;
  let changes = 0;
  let last: LastReport;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    [now, changes] = [0, 0];
    last = new LastReport(
      () => changes++,
      () => now,
    );
  });
  afterEach(() => {
    last.close();
    mock.timers.reset();
  });

  /** Lets time pass in steps of a second. */
  const pass = (seconds: number) => {
    for (let n = 0; n < seconds; n++) {
      now += 1_000;
      mock.timers.tick(1_000);
    }
  };

  const shown = () => {
    const { what, age } = last.status!.values!;
    return [what, age];
  };

  for (const [report, what] of [
    [{ name: 'temperature', value: 24.5, unit: '°C' }, '24.5 °C'],
    [{ name: 'alarm', value: false }, 'false'],
    [{ name: 'public-key', value: 'ab'.repeat(65) }, `${'ab'.repeat(11)}a…`],
    [{ identifier: 'x', value: 'two\nlines' }, 'two lines'],
    [{ kind: 'rssi', rssi: -67 }, '-67 dBm'],
    [{ kind: 'heartbeat', seq: 1 }, 'heartbeat'],
    [{ kind: 'event', identifier: '8b01', value: null }, '8b01'],
    [{ name: 'production-info', value: { chip: 1 } }, 'production-info'],
    [{ name: 'device-mode', value: '' }, 'device-mode'],
  ] as const) {
    it(`says "${what}" of ${JSON.stringify(report).slice(0, 60)}`, () => {
      last.note(reportOf(report as Partial<Report>));
      assert.deepEqual(shown(), [what, '0 s']);
    });
  }

  it('is nothing, and waits for nothing, before the first report', () => {
    pass(10);
    assert.deepEqual([last.status, changes], [undefined, 0]);
  });

  it('grows old in seconds, minutes, hours and days, seldom made anew', () => {
    last.note(reportOf({ value: 1 }));
    for (const [seconds, age, most] of [
      [59, '59 s', 12],
      [60, '1 min', 2],
      [3_000, '51 min', 51],
      [2 * 3_600, '2 h', 12],
      [2 * 86_400, '2 d', 49],
    ] as const) {
      const before = changes;
      pass(seconds);
      assert.deepEqual(shown(), ['1', age]);
      assert.ok(changes - before <= most, `${changes - before} in ${seconds} s`);
    }
  });

  it('is young again with the next report, also after days', () => {
    last.note(reportOf({ value: 1 }));
    pass(3 * 3_600);
    last.note(reportOf({ value: 2 }));
    assert.deepEqual(shown(), ['2', '0 s']);
    const before = changes;
    pass(10);
    assert.equal(changes - before, 2);
    assert.deepEqual(shown(), ['2', '10 s']);
  });

  it('of a retained report is as old as the report', () => {
    last.note(reportOf({ value: 1, retained: true, time: new Date(Date.now() - 7_200_000).toISOString() }));
    assert.deepEqual(shown(), ['1', '2 h']);
  });

  it('ends with its node', () => {
    last.note(reportOf({ value: 1 }));
    last.close();
    const before = changes;
    pass(100);
    assert.equal(changes, before);
  });
});

describeNodes('the status of report-in', (start) => {
  const COUNT = 300;
  let box: Service;

  before(async () => {
    box = await startService({ rate: 0, listed: 10 });
  });
  after(() => box.close());

  async function run(node: object): Promise<Flow> {
    const flow = await start(flowAround(serviceNode(box), { id: 'n', type: 'mt-report-in', ...node }), {
      credentials: secretsOf(box),
    });
    await flow.statuses('n').next(({ text }) => text === 'connected');
    await subscribed(box);
    return flow;
  }

  async function publishMany(flow: Flow): Promise<void> {
    const { gateway, device } = box.demo;
    for (let value = 0; value < COUNT; value++) {
      await box.publish(gateway, device, 'measurement-decoded/temperature', { time: TIME, seq: 1, value });
    }
    await flow.next('out', ({ payload }) => (payload as Report).value === COUNT - 1);
  }

  it('shows the last report where that is wanted, at most twice a second', async () => {
    const flow = await run({ statusShows: 'report' });
    const began = performance.now();
    await publishMany(flow);
    await flow.statuses('n').next(({ text }) => text === `${COUNT - 1} °C · 0 s ago`);
    const seconds = (performance.now() - began) / 1_000;
    const texts = flow.statuses('n').all.filter(({ text }) => text?.includes('°C'));
    assert.ok(texts.length <= 2 + 2 * seconds, `${texts.length} in ${seconds} s`);
    assert.ok(texts.every(({ fill, shape }) => fill === 'green' && shape === 'dot'));
  });

  it('shows that it is connected where nothing else is wanted, and nothing of reports', async () => {
    const flow = await run({});
    const before = flow.statuses('n').all.length;
    await publishMany(flow);
    assert.equal(flow.statuses('n').all.length, before);
  });
});
