// The samples that watch devices tell nothing that is not so when the broker is away, values are strange, and a deploy or a
// clock that is set comes in between.
import assert from 'node:assert/strict';
import { setTimeout, setImmediate as turn } from 'node:timers/promises';
import { FAST_CLOCK } from '../e2e/node-red.ts';
import { openTrouble, type Trouble } from './harm.ts';
import { type Adaptation, deploySample, press, readSample, setClock } from './import.ts';

const DAY_MS = 86_400_000;

describe('a sample flow that watches devices', () => {
  let trouble: Trouble;

  // What holds is told after five seconds.
  before(async function () {
    this.timeout(120_000);
    trouble = await openTrouble({}, FAST_CLOCK);
  });
  afterEach(() => trouble.recover());
  after(() => trouble?.site.close());

  const red = () => trouble.site.red;
  const service = () => trouble.site.service;

  /** Deploys a sample that remembers nothing of an earlier test. */
  async function deployFresh(label: string, adaptation?: Adaptation): Promise<void> {
    await red().deploy([]);
    await deploySample(trouble.site, label, adaptation);
  }

  /** What is green may be of before: the broker itself says when it is asked for reports. */
  async function subscribed(): Promise<void> {
    const filters = () => [...(service().broker?.subscriptions.values() ?? [])].flatMap((all) => [...all]);
    while (!filters().some((filter) => filter.includes('/device/'))) {
      await turn();
    }
  }

  describe('Who needs somebody', () => {
    const LABEL = 'Who needs somebody';
    const taps = { 'sample-needs-words': 'lines' };
    const battery = (value: unknown) => trouble.report('property-decoded/battery-level', { value });
    const line = async () => String((await red().next('lines')).payload);

    it('tells nothing of a battery that is not known, and nothing twice, not after a deploy either', async () => {
      await deployFresh(LABEL, { taps });
      await trouble.ready('sample-needs-watch');
      await subscribed();
      for (const value of [null, 'x', {}, 21]) {
        await battery(value);
      }
      await battery(5);
      const told = await line();
      assert.match(told, /needs a battery \(5 %\)/);
      // People read it: the clock on their wall, and no time of a machine.
      const today = new Date().toLocaleDateString();
      assert.ok(told.includes(` since ${today}`), told);
      await deploySample(trouble.site, LABEL, { taps });
      await subscribed();
      await battery(4);
      await battery(80);
      assert.match(await line(), /^over: /);
    });

    it('says so when nobody needs anything: a mail node would send an empty letter', async () => {
      await deployFresh(LABEL, { taps });
      await trouble.ready('sample-needs-watch');
      await press(trouble.site, 'sample-needs-morning');
      assert.equal(await line(), 'Nobody needs anything.');
    });

    it('tells the code of an error when it begins, and none when it is over', async () => {
      await deployFresh(LABEL, { taps });
      await trouble.ready('sample-needs-watch');
      await subscribed();
      await trouble.report('measurement-error-decoded/temperature', { seq: 1, error: 3 });
      assert.match(await line(), /reports an error \(3\) since/);
      await trouble.report('measurement-decoded/temperature', { seq: 2, value: 21.5 });
      assert.match(await line(), /^over: .* reports an error since/);
    });

    it('does not tell that all are silent while the broker is away', async () => {
      await deployFresh(LABEL, { taps });
      await trouble.ready('sample-needs-watch');
      const comeBack = await trouble.loseBroker('sample-needs-watch');
      await comeBack();
      await subscribed();
      await battery(5);
      assert.match(await line(), /needs a battery/);
    });
  });

  describe('Device offline watch', () => {
    const LABEL = 'Device offline watch';
    const heartbeat = (status: unknown) => trouble.report('heartbeat', { seq: 1, lastCount: 0, status });
    const notice = async (): Promise<{ device: string; state: string }> => {
      const { payload } = await red().next('notices');
      // The sample asks what is still active, too.
      return payload === undefined ? notice() : (payload as { device: string; state: string });
    };
    const taps = { 'sample-offline-words': 'notices' };
    const deploy = async (seconds: string, hasClock = false) => {
      await red().deploy([]);
      // Of the flow before: others may have become silent after what was looked for.
      while (red().waiting('notices') > 0) {
        await red().next('notices');
      }
      await deployFresh(LABEL, { env: { OFFLINE_AFTER_SECONDS: seconds }, taps, hasClock });
      await trouble.ready('sample-offline-watch');
      await subscribed();
    };
    /** The gateway of a single device is told, too. */
    const offline = async () => [await notice(), await notice()].map(({ state }) => state);

    it('takes as imported no pause of 20 minutes for a silence', async () => {
      const sample = await readSample(trouble.site, LABEL);
      const [{ value = '' } = {}] = sample.flatMap(({ env }) => (env ?? []) as { value: string }[]);
      assert.equal(Number(value), 0, 'what each device does usually');
      await deploy(value);
      await heartbeat(4);
      assert.equal((await notice()).state, 'status 4');
    });

    it('tells no device as offline while the broker is away, and gives it the whole time after its return', async () => {
      await deploy('2');
      await heartbeat(0);
      const broker = service().broker!;
      broker.faults.closeAtConnect = true;
      broker.disconnectClients();
      // What is looked for is that nothing comes, in more than the time after which all would be told.
      await setTimeout(3_000);
      assert.equal(red().waiting('notices'), 0);
      broker.faults.closeAtConnect = false;
      await subscribed();
      assert.deepEqual(await offline(), ['offline', 'offline']);
    });

    it('tells a device as offline though the clock was set back since its last heartbeat', async () => {
      await deploy('2', true);
      await setClock(trouble.site, DAY_MS);
      await heartbeat(0);
      await setClock(trouble.site, 0);
      assert.deepEqual(await offline(), ['offline', 'offline']);
    });

    it('tells nothing of a device that is fine at the start, has no status, or is only remembered by the broker', async () => {
      const { mac: device, home } = trouble.sensor;
      const old = service().fleet.devices[1]!.mac;
      await red().deploy([]);
      await service().publish(home.mac, old, 'heartbeat', { time: 'then', seq: 1, status: 4 }, true);
      await deploy('300');
      for (const status of [undefined, null, 'x', 0, 4]) {
        await heartbeat(status);
      }
      assert.deepEqual(await notice(), { device, gateway: home.mac, state: 'status 4' });
      await service().publish(home.mac, old, 'heartbeat', '', true);
    });

    it('tells no device as fine that is heard again with its error', async () => {
      await deploy('5');
      await heartbeat(4);
      assert.deepEqual(
        [await notice(), await notice(), await notice()].map(({ state }) => state),
        ['status 4', 'offline', 'offline'],
      );
      await heartbeat(4);
      const { mac: device, home } = trouble.sensor;
      const back = [await notice(), await notice()].map(({ device: one, state }) => [one, state]);
      assert.deepEqual(
        back.sort(),
        [
          [device, 'status 4'],
          [home.mac, 'fine'],
        ].sort(),
      );
      await heartbeat(0);
      assert.deepEqual(await notice(), { device, gateway: home.mac, state: 'fine' });
    });

    it('tells a state no second time after a deploy', async () => {
      await deploy('300');
      await heartbeat(4);
      await notice();
      await deploySample(trouble.site, LABEL, { env: { OFFLINE_AFTER_SECONDS: '300' }, taps });
      await subscribed();
      await heartbeat(4);
      await heartbeat(0);
      assert.equal((await notice()).state, 'fine');
    });
  });
});
