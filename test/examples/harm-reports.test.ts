// The samples that listen and write do no harm when the gateway or the broker says no, values are missing or strange,
// and a deploy, a loss or a restart comes in between.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { sink, source } from '../e2e/node-red.ts';
import { openTrouble, type Trouble } from './harm.ts';
import {
  type Adaptation,
  deploySample,
  deployTabs,
  listenTo,
  press,
  readSample,
  setClock,
  until,
} from './import.ts';

const DAY_MS = 86_400_000;

describe('a sample flow of reports and requests', () => {
  let trouble: Trouble;
  let folder: string;

  before(async function () {
    this.timeout(120_000);
    folder = await mkdtemp(join(tmpdir(), 'mt-harm-'));
    trouble = await openTrouble();
  });
  afterEach(() => trouble.recover());
  after(async () => {
    await trouble?.site.close();
    await rm(folder, { recursive: true, force: true });
  });

  const red = () => trouble.site.red;
  const service = () => trouble.site.service;
  const written = () => service().calls.operations.map(({ device, payload }) => [device, payload?.value]);

  /** Deploys a sample that remembers nothing of an earlier test. */
  async function deployFresh(label: string, adaptation?: Adaptation): Promise<void> {
    await red().deploy([]);
    await deploySample(trouble.site, label, adaptation);
    service().forgetCalls();
  }

  /** Waits until an inject node that repeats has fired so often from now on. */
  async function pass(sink: string, times: number): Promise<void> {
    for (let left = red().waiting(sink) + times; left > 0; left--) {
      await red().next(sink);
    }
  }

  describe('Temperature alarm', () => {
    const LABEL = 'Temperature alarm';
    let seq = 0;
    const measure = (value: unknown, device?: string) =>
      trouble.report('measurement-decoded/temperature', { seq: ++seq % 256, value }, device);
    const other = () => service().fleet.devices[1]!.mac;
    /** What comes after everything that was sent before. */
    async function warmOther(): Promise<void> {
      await measure(30, other());
      await until(trouble.site, 'answered', () =>
        service().calls.operations.some(({ device, response }) => device === other() && response),
      );
    }
    const deploy = async (adaptation?: Adaptation) => {
      await deployFresh(LABEL, adaptation);
      await trouble.ready('sample-alarm-reports');
    };

    it('leaves the alarm of others alone: at the start, without a value, with one that is no number or old', async () => {
      const { mac, home, values } = trouble.sensor;
      values.set('9800', '01');
      await service().publish(
        home.mac,
        mac,
        'measurement-decoded/temperature',
        { time: 'now', seq: 9, value: 40 },
        true,
      );
      await deploy();
      for (const value of [null, undefined, '', '10', false, {}, [], 10, 23.5, 23]) {
        await measure(value);
      }
      await trouble.report('measurement/8800', { seq: 2, value: '12' });
      await warmOther();
      await service().publish(home.mac, mac, 'measurement-decoded/temperature', '', true);
      assert.deepEqual(written(), [[other(), true]]);
      assert.equal(values.get('9800'), '01');
    });

    it('switches nothing off that was refused, and off what may be on because no response came', async () => {
      const { mac, values } = trouble.sensor;
      await deploy({ service: { requestTimeout: 300 }, hasClock: true });
      service().faults.answers.refuseWith = 5;
      await measure(30);
      await trouble.shows('sample-alarm-failed', 'REQUEST_FAILED');
      service().faults.answers.refuseWith = 0;
      await measure(10);
      await warmOther();
      assert.deepEqual(written(), [
        [mac, true],
        [other(), true],
      ]);

      service().forgetCalls();
      service().faults.answers.lostAnswers = 1;
      await setClock(trouble.site, 61_000);
      await measure(30);
      await trouble.shows('sample-alarm-failed', 'TIMEOUT');
      service().faults.answers.lostAnswers = 0;
      await setClock(trouble.site, 122_000);
      await measure(10);
      await trouble.shows('sample-alarm-done', `${mac} off`);
      assert.equal(values.get('9800'), '00');
    });

    it('remembers over a deploy what it has switched on, and writes it no second time', async () => {
      const { mac } = trouble.sensor;
      await deploy();
      await measure(30);
      await trouble.shows('sample-alarm-done', `${mac} on`);
      await deploySample(trouble.site, LABEL);
      await trouble.ready('sample-alarm-reports');
      await measure(30);
      await measure(10);
      await trouble.shows('sample-alarm-done', `${mac} off`);
      assert.deepEqual(written(), [
        [mac, true],
        [mac, false],
      ]);
    });

    for (const [meanwhile, before, after] of [
      ['a minute went by', 0, 61_000],
      ['the clock was set back', DAY_MS, 0],
    ] as const) {
      it(`switches off what a deploy kept it from knowing to be on, when ${meanwhile}`, async () => {
        const { mac, values } = trouble.sensor;
        await deploy({ hasClock: true });
        await setClock(trouble.site, before);
        service().faults.answers.lostAnswers = 1;
        await measure(30);
        await until(trouble.site, 'request', () => written().length === 1);
        await deploySample(trouble.site, LABEL, { hasClock: true });
        await trouble.ready('sample-alarm-reports');
        service().faults.answers.lostAnswers = 0;
        await setClock(trouble.site, after);
        await measure(10);
        await trouble.shows('sample-alarm-done', `${mac} off`);
        assert.equal(values.get('9800'), '00');
      });
    }

    it('leaves a gateway that refuses in peace for a minute, however often it is measured', async () => {
      const { mac } = trouble.sensor;
      await deploy({ hasClock: true, taps: { 'sample-alarm-again': 'alarm errors' } });
      service().faults.answers.refuseWith = 5;
      for (let minute = 0; minute < 2; minute++) {
        await setClock(trouble.site, minute * 61_000);
        await measure(30);
        await red().next('alarm errors');
        for (let count = 0; count < 5; count++) {
          await measure(30);
        }
      }
      service().faults.answers.refuseWith = 0;
      await warmOther();
      assert.deepEqual(written(), [
        [mac, true],
        [mac, true],
        [other(), true],
      ]);
    });

    for (const [name, value] of [
      ['COOL_AGAIN', '24'],
      ['COOL_AGAIN', ''],
      ['COOL_AGAIN', '22,5'],
      ['TOO_WARM', ' '],
      ['TOO_WARM', 'warm'],
    ] as const) {
      it(`says so when ${name} is "${value}", and writes nothing`, async () => {
        await deploy({ env: { [name]: value }, taps: { 'sample-alarm-again': 'alarm errors' } });
        await measure(30);
        const { error } = await red().next('alarm errors');
        assert.match((error as { message: string }).message, /have to be numbers/);
        assert.deepEqual(written(), []);
      });
    }
  });

  it('DFU watch: tells no device as gone while the broker is away', async () => {
    const taps = { 'sample-dfu-watch': 'dfu', 'sample-dfu-tick': 'dfu-seconds' };
    await deployFresh('DFU watch', { env: { GONE_AFTER_SECONDS: '4' }, taps });
    await trouble.ready('sample-dfu-reports');
    await trouble.report('dfu', { parent: null, rssi: 'x' });
    const state = async () => ((await red().next('dfu')).payload as { state: string }).state;
    assert.equal(await state(), 'waits for an update');
    const comeBack = await trouble.loseBroker('sample-dfu-reports');
    await pass('dfu-seconds', 6);
    await comeBack();
    await pass('dfu-seconds', 1);
    assert.equal(red().waiting('dfu'), 0);
    assert.equal(await state(), 'is gone');
  });

  it('DFU watch: tells a device as gone though the clock was set back since it was heard', async () => {
    const taps = { 'sample-dfu-watch': 'dfu', 'sample-dfu-tick': 'dfu-seconds' };
    await deployFresh('DFU watch', { env: { GONE_AFTER_SECONDS: '2' }, taps, hasClock: true });
    await trouble.ready('sample-dfu-reports');
    await setClock(trouble.site, DAY_MS);
    await pass('dfu-seconds', 1);
    await trouble.report('dfu', { parent: null, rssi: -60 });
    const state = async () => ((await red().next('dfu')).payload as { state: string }).state;
    assert.equal(await state(), 'waits for an update');
    await setClock(trouble.site, 0);
    assert.equal(await state(), 'is gone');
  });

  describe('Warm and somebody is there', () => {
    const LABEL = 'Warm and somebody is there';
    const taps = { 'sample-warm-there': 'there', 'sample-warm-motion': 'motion' };
    const measure = (seq: number, value: unknown) =>
      trouble.report('measurement-decoded/temperature', { seq, value });

    it('tells nobody of a device whose motion is not known, is none, or came before a missing value', async () => {
      await deployFresh(LABEL, { taps });
      await trouble.ready('sample-warm-reports');
      await measure(1, 30);
      await red().next('motion');
      for (const value of [0, null, 'x']) {
        await trouble.report('measurement-decoded/motion', { seq: 2, value });
        await measure(3, 30);
        await red().next('motion');
      }
      for (const value of [null, 'x', undefined]) {
        await measure(4, value);
      }
      await measure(5, 31);
      await red().next('motion');
      assert.deepEqual([red().waiting('there'), red().waiting('motion')], [0, 0]);
    });

    it('takes a sample that a gateway had kept for no motion and no warmth of now', async () => {
      await deployFresh(LABEL, { taps });
      await trouble.ready('sample-warm-reports');
      const kept = { time: new Date(Date.now() - 3_600_000).toISOString(), backfill: true, ack: false };
      await trouble.report('timestamped-decoded/motion', { ...kept, value: 1 });
      await measure(1, 30);
      await red().next('motion');
      await trouble.report('measurement-decoded/motion', { seq: 2, value: 1 });
      await trouble.report('timestamped-decoded/temperature', { ...kept, value: 40 });
      await measure(3, 31);
      assert.match(String((await red().next('there')).payload), /somebody is there/);
      assert.deepEqual([red().waiting('there'), red().waiting('motion')], [0, 1]);
    });

    it('says so when WARM_ABOVE_CELSIUS is no number, and tells nobody', async () => {
      await deployFresh(LABEL, { taps, env: { WARM_ABOVE_CELSIUS: 'x' } });
      await trouble.ready('sample-warm-reports');
      await trouble.report('measurement-decoded/motion', { seq: 1, value: 1 });
      await measure(2, 30);
      await red().status('sample-warm-warm', ({ fill }) => fill === 'red');
      assert.equal(red().waiting('there'), 0);
    });
  });

  describe('Which gateway hears it best', () => {
    const LABEL = 'Which gateway hears it best';
    const [one, two, three] = ['e40000000001', 'e40000000002', 'e40000000003'];
    const taps = { 'sample-nearest-nearest': 'nearest' };
    const heard = (parent: unknown, rssi: unknown) => trouble.report('rssi', { parent, rssi });
    const nearest = async () => {
      const { parent, before } = (await red().next('nearest')).payload as Record<string, unknown>;
      return [parent, before];
    };

    it('forgets what is old, and takes nothing from a report without a level or a parent', async () => {
      await deployFresh(LABEL, { env: { FORGET_AFTER_MINUTES: '0.5' }, taps, hasClock: true });
      await trouble.ready('sample-nearest-reports');
      await heard(one, -40);
      assert.deepEqual(await nearest(), [one, null]);
      await setClock(trouble.site, 40_000);
      for (const parent of [null, '__proto__', 'x']) {
        await heard(parent, -20);
      }
      await heard(two, -90);
      assert.deepEqual(await nearest(), [two, one]);
    });

    for (const [name, value] of [
      ['FORGET_AFTER_MINUTES', ''],
      ['FORGET_AFTER_MINUTES', '0'],
      ['SMOOTHING', ''],
      ['SMOOTHING', '2'],
      ['SMOOTHING', 'x'],
      ['STRONGER_BY_DB', ''],
    ] as const) {
      it(`says so when ${name} is "${value}", and tells no place`, async () => {
        await deployFresh(LABEL, { env: { [name]: value }, taps });
        await trouble.ready('sample-nearest-reports');
        await heard(one, -40);
        await heard(two, -20);
        await red().status(
          'sample-nearest-nearest',
          ({ fill, text }) => fill === 'red' && /no sense/.test(`${text}`),
        );
        assert.equal(red().waiting('nearest'), 0);
      });
    }

    it('remembers the loudest 30 parents of a device', async () => {
      await deployFresh(LABEL, { taps });
      await trouble.ready('sample-nearest-reports');
      await heard(one, -40);
      await nearest();
      for (let index = 0; index < 60; index++) {
        await heard(`e5${index.toString(16).padStart(10, '0')}`, -90 + index / 10);
      }
      await heard(two, -20);
      assert.deepEqual(await nearest(), [two, one]);
      const stored = (await red().call('GET', 'context/flow/sample-nearest-tab/devices')) as { msg: string };
      const { levels } = JSON.parse(stored.msg)[trouble.sensor.mac];
      assert.equal(Object.keys(levels).length, 30);
    });

    it('forgets in time what was heard before the clock was set back', async () => {
      await deployFresh(LABEL, { taps, hasClock: true });
      await trouble.ready('sample-nearest-reports');
      await setClock(trouble.site, DAY_MS);
      await heard(one, -40);
      await nearest();
      await setClock(trouble.site, 0);
      await heard(two, -20);
      assert.deepEqual(await nearest(), [two, one]);
      await setClock(trouble.site, 11 * 60_000);
      await heard(three, -90);
      assert.deepEqual(await nearest(), [three, null]);
    });

    it('still knows the nearest after a deploy, and a level that is no number changes nothing', async () => {
      await deployFresh(LABEL, { taps });
      await trouble.ready('sample-nearest-reports');
      await heard(one, -60);
      await nearest();
      await deploySample(trouble.site, LABEL, { taps });
      await trouble.ready('sample-nearest-reports');
      for (const level of [null, undefined, 'loud', {}]) {
        await heard(two, level);
      }
      await heard(one, -61);
      await heard(two, -30);
      assert.deepEqual(await nearest(), [two, one]);
    });
  });

  describe('remembers a bounded number of devices, and says so', () => {
    const now = Date.now();
    const by = { gateway: 'c0141f68fc3d', heard: now };
    for (const [label, prefix, key, entry, count, [suffix, payload], shows] of [
      ['DFU watch', 'sample-dfu', 'waiting', by, 10_000, ['dfu', {}], ['watch', 'more than 10000 devices']],
      [
        'Which gateway hears it best',
        'sample-nearest',
        'devices',
        { levels: { e40000000001: { level: -40, heard: now } } },
        10_000,
        ['rssi', { parent: 'e40000000001', rssi: -40 }],
        ['nearest', 'more than 10000 devices'],
      ],
      [
        'Temperature alarm',
        'sample-alarm',
        'alarms',
        { state: 'on' },
        5_000,
        ['measurement-decoded/temperature', { seq: 1, value: 30 }],
        ['failed', '5000 alarms are on,'],
      ],
      [
        'Low battery to label',
        'sample-battery',
        'batteries',
        'c0141f68fc3d',
        5_000,
        ['property-decoded/battery-level', { value: 10 }],
        ['failed', '5000 devices are low,'],
      ],
    ] as const) {
      it(label, async () => {
        await red().deploy([]);
        const z = `${prefix}-tab`;
        const fill = [
          { ...source('fill', ['filled']), z },
          { ...sink('filled'), func: `flow.set('${key}', msg.value); ${sink('filled').func}`, z },
        ];
        await deployTabs(trouble.site, [...listenTo(await readSample(trouble.site, label)), ...fill]);
        await trouble.ready(`${prefix}-${key === 'batteries' ? 'watch' : 'reports'}`);
        const names = Array.from({ length: count }, (_, index) => index.toString(16).padStart(12, '0'));
        const entries = Object.fromEntries(names.map((name) => [name, entry]));
        red().send('fill', { value: key === 'batteries' ? { low: entries, labels: {} } : entries });
        await red().next('filled');
        service().forgetCalls();
        await trouble.report(suffix, payload);
        const [node, text] = shows;
        await red().status(`${prefix}-${node}`, (status) => `${status.text}`.startsWith(text));
        assert.deepEqual([written(), service().calls.rest], [[], []]);
      });
    }
  });

  describe('Several instances', () => {
    const LABEL = 'Several instances';
    const options = { taps: { 'sample-instances-who': 'who' } };
    const instance = async () => {
      await trouble.ready('sample-instances-reports');
      const time = new Date().toISOString();
      await trouble.report('heartbeat', { time, seq: 1, status: 0 });
      // A report of before may come once more.
      for (;;) {
        const who = (await red().next('who')).payload as { instance: string; time: string };
        if (who.time === time) {
          return who.instance;
        }
      }
    };

    it('says by its variable which instance it is, and by a name made up where that is not set', async () => {
      await deployFresh(LABEL, { ...options, env: { INSTANCE: 'PATH' } });
      assert.equal(await instance(), process.env.PATH);
      await deployFresh(LABEL, { ...options, env: { INSTANCE: 'NO_SUCH_VARIABLE' } });
      const name = await instance();
      assert.match(name, /^instance-\w+$/);
      await deploySample(trouble.site, LABEL, { ...options, env: { INSTANCE: 'NO_SUCH_VARIABLE' } });
      assert.equal(await instance(), name);
    });

    it('goes on asking when the broker refuses to share reports', async () => {
      service().broker!.faults.refuseSubscription = (filter) => filter.startsWith('$share/');
      try {
        await deployFresh(LABEL, {
          service: { sharedGroup: 'node-red' },
          taps: { 'sample-instances-read': 'version' },
        });
        await red().status('sample-instances-reports', ({ fill }) => fill === 'red');
        await press(trouble.site, 'sample-instances-start');
        assert.equal((await red().next('version')).payload, '2.4.0');
      } finally {
        service().broker!.faults.refuseSubscription = () => false;
      }
    });
  });

  it('Store, then acknowledge: nothing is acknowledged that is not stored, whatever is refused or stopped by a deploy', async () => {
    const label = 'Store, then acknowledge';
    const file = join(folder, 'samples.jsonl');
    const stored = async () => (await readFile(file, 'utf8')).trim().split('\n');
    const publish = async () => {
      await service().publishSamples(20);
      return [...service().samples.all.values()].filter(({ ackable }) => ackable).length;
    };
    const asked = (count: number) =>
      until(trouble.site, 'request', () => service().calls.operations.length >= count);
    await deployFresh(label, { env: { SAMPLES_FILE: file } });
    await trouble.ready('sample-samples-reports');
    service().faults.answers.refuseWith = 7;
    const refused = await publish();
    await asked(refused);
    await red().status('sample-samples-failed', () => true);
    Object.assign(service().faults.answers, { refuseWith: 0, lostAnswers: 1 });
    await publish();
    await asked(refused + 1);
    await deploySample(trouble.site, label, { env: { SAMPLES_FILE: file } });
    const lines = await stored();
    assert.ok(lines.length > refused);
    const times = new Set(lines.map((line) => JSON.parse(line).time));
    for (const { acknowledged, time } of service().samples.all.values()) {
      assert.ok(!acknowledged || times.has(time), time);
    }
  });

  it('Store, then acknowledge: nothing is acknowledged while the disk is full, and all of it is stored when there is room', async () => {
    const label = 'Store, then acknowledge';
    const file = join(folder, 'full.jsonl');
    await symlink('/dev/full', file);
    await deployFresh(label, { env: { SAMPLES_FILE: file } });
    await trouble.ready('sample-samples-reports');
    for (let seq = 1; seq <= 3; seq++) {
      await trouble.report('event/8113', { seq, value: '' });
    }
    await red().status('sample-samples-failed', ({ text }) => /ENOSPC/.test(`${text}`));
    await red().status('sample-samples-reports', ({ text }) => `${text}`.startsWith('3 not stored'));
    await rm(file);
    const stored = async () => (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean);
    while ((await stored()).length < 3) {
      await setTimeout(100);
    }
    assert.deepEqual((await stored()).map((line) => JSON.parse(line).seq).sort(), [1, 2, 3]);
  });

  for (const [label, prefix, result] of [
    ['Raw and decoded side by side', 'sample-forms', 'sample-forms-join'],
    ['Read many properties with priorities', 'sample-priorities', 'sample-priorities-join'],
  ] as const) {
    it(`${label}: every press ends, with a code in the place of each value that did not come`, async () => {
      await deployFresh(label, { service: { requestTimeout: 300 }, taps: { [result]: prefix } });
      const codes = async () => {
        await press(trouble.site, `${prefix}-start`);
        return new Set(Object.values((await red().next(prefix)).payload as object));
      };
      service().faults.answers.refuseWith = 3;
      assert.deepEqual(await codes(), new Set(['REQUEST_FAILED']));
      service().faults.answers.refuseWith = 0;
      service().faults.answers.lostAnswers = 1;
      assert.deepEqual(await codes(), new Set(['TIMEOUT']));
      assert.ok(service().calls.operations.every(({ operation }) => operation.startsWith('read')));
    });
  }
});
