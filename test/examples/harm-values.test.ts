// The samples that show last values count each device once, and show nothing that is not known, too old, or of others.
import assert from 'node:assert/strict';
import type { FlowMessage } from '../e2e/node-red.ts';
import { openTrouble, type Trouble } from './harm.ts';
import { deploySample, deployTabs, listenTo, press, readSample } from './import.ts';

describe('a sample flow of last values', () => {
  let trouble: Trouble;
  let devices: string[];
  let gateways: string[];

  before(async function () {
    this.timeout(120_000);
    trouble = await openTrouble();
    devices = trouble.site.service.fleet.devices.map(({ mac }) => mac);
    gateways = trouble.site.service.gateways.map(({ mac }) => mac);
    trouble.listed(gateways[0]!).labels.push('test-floor');
  });
  afterEach(() => trouble.recover());
  after(() => trouble?.site.close());

  const red = () => trouble.site.red;
  const service = () => trouble.site.service;
  const measure = (value: unknown, device = devices[0], gateway = gateways[0]) =>
    trouble.report('measurement-decoded/temperature', { seq: 1, value }, device, gateway);

  describe('Average of a floor', () => {
    const LABEL = 'Average of a floor';
    const env = { FLOOR: 'test-floor' };
    const taps = { 'sample-average-average': 'averages', 'sample-average-none': 'averages' };
    /** Deploys the sample that remembers nothing of an earlier test. */
    async function deployFresh(change: object = {}): Promise<void> {
      await red().deploy([]);
      const flow = await readSample(trouble.site, LABEL);
      const changed = flow.map((node) =>
        node.id === 'sample-average-values' ? { ...node, ...change } : node,
      );
      await deployTabs(trouble.site, listenTo(changed, { env, taps }));
      await trouble.ready('sample-average-values');
    }
    async function average(): Promise<FlowMessage> {
      await press(trouble.site, 'sample-average-minute');
      return red().next('averages');
    }
    /** Asks until all that was reported has come. */
    async function averageOf(count: number | undefined): Promise<unknown> {
      let msg = await average();
      while (msg.devices !== count) {
        msg = await average();
      }
      return msg.payload;
    }

    it('counts each device of the floor once, with its newest value, and none of another floor', async () => {
      await deployFresh();
      await measure(40, devices[5], gateways[1]);
      await measure(10);
      await measure(20);
      await measure(22.5, devices[1]);
      assert.equal(await averageOf(2), 21.3);
      await trouble.shows('sample-average-done', '21.3 °C, 2 devices');
    });

    it('takes a value that is missing or no number for none, and says so when there is no other', async () => {
      await deployFresh();
      await measure(20);
      await measure(30, devices[1]);
      await averageOf(2);
      for (const value of [null, 'x', undefined, true]) {
        await measure(value);
        assert.equal(await averageOf(1), 30);
        await measure(20);
        await averageOf(2);
      }
      await measure(null);
      await measure(null, devices[1]);
      assert.equal(await averageOf(undefined), null);
      await red().status('sample-average-done', ({ text }) => `${text}`.startsWith('not known: '));
    });

    it('shows no old average when the service does not tell the labels, and the right one after a deploy', async () => {
      await red().deploy([]);
      const allow = service().faults.rest.add({ kind: 'status', status: 403, only: 'GET /api/v1/devices' });
      await deployFresh();
      await measure(20);
      const { payload, why } = await average();
      assert.equal(payload, null);
      assert.ok(why);
      allow();
      await deployFresh();
      await measure(24);
      assert.equal(await averageOf(1), 24);
    });

    it('goes on with what it knows over a deploy, and while the broker is away', async () => {
      await deployFresh();
      await measure(20);
      await averageOf(1);
      await deploySample(trouble.site, LABEL, { env, taps });
      assert.equal(await averageOf(1), 20);
      await trouble.ready('sample-average-values');
      const comeBack = await trouble.loseBroker('sample-average-values');
      assert.equal(await averageOf(1), 20);
      await comeBack();
    });

    it('leaves out what is too old, and says so when there is nothing else', async () => {
      await deployFresh({ maxAge: 1 });
      await measure(20);
      await averageOf(1);
      assert.equal(await averageOf(undefined), null);
      await red().status('sample-average-done', ({ text }) => `${text}`.startsWith('not known: '));
    });
  });
});
