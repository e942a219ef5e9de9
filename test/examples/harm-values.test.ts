// The samples that show last values count each device once, and show nothing that is not known, too old, or of others.
import assert from 'node:assert/strict';
import type { FlowMessage } from '../e2e/node-red.ts';
import { checkMetrics } from '../promtool.ts';
import { requirePrograms } from '../requirements.ts';
import { openTrouble, type Trouble } from './harm.ts';
import { type Adaptation, deploySample, deployTabs, listenTo, press, readSample } from './import.ts';

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

    it('leaves out a sample that its gateway had kept for hours', async () => {
      await deployFresh();
      const [long, short] = [2 * 3_600_000, 60_000].map((ago) => new Date(Date.now() - ago).toISOString());
      const sample = { backfill: true, ack: false };
      await trouble.report('timestamped-decoded/temperature', { time: long, value: 40, ...sample });
      await trouble.report(
        'timestamped-decoded/temperature',
        { time: short, value: 20, ...sample },
        devices[1],
      );
      assert.equal(await averageOf(1), 20);
    });

    it('leaves out what is too old, and says so when there is nothing else', async () => {
      await deployFresh({ maxAge: 5 });
      await measure(20);
      await averageOf(1);
      assert.equal(await averageOf(undefined), null);
      await red().status('sample-average-done', ({ text }) => `${text}`.startsWith('not known: '));
    });
  });

  describe('Values for Prometheus', () => {
    const LABEL = 'Values for Prometheus';
    const values = 'sample-prometheus-values';
    before(function () {
      requirePrograms(this, 'promtool');
    });

    async function deployFresh(adaptation: Adaptation = {}): Promise<void> {
      await red().deploy([]);
      await deploySample(trouble.site, LABEL, adaptation);
      await trouble.ready(values);
    }
    async function scrape(): Promise<{ status: number; page: string }> {
      const response = await fetch(`${red().url}/mt-gateway/metrics`);
      const page = await response.text();
      if (response.ok) {
        assert.match(`${response.headers.get('content-type')}`, /^text[/]plain;.*version=0[.]0[.]4/);
        assert.equal(await checkMetrics(page), '');
      }
      return { status: response.status, page };
    }
    /** Asks until this stands there. */
    async function scrapeUntil(line: string): Promise<string> {
      let { page } = await scrape();
      while (!page.split('\n').includes(line)) {
        page = (await scrape()).page;
      }
      return page;
    }
    const series = (metric: string, device = devices[0]) => `mt_gateway_${metric}{device="${device}"}`;

    it('shows each property as a metric in base units, one series for each device, as promtool wants it', async () => {
      await deployFresh();
      await measure(21.5);
      await measure(-3.25, devices[1]);
      await trouble.report('measurement/8802', { seq: 1, value: '0239' });
      await trouble.report('property-decoded/battery-level', { value: 57 });
      await trouble.report('property-decoded/vdd', { value: 2987 });
      await trouble.report('measurement-decoded/motion', { seq: 1, value: 16 });
      await trouble.report('property-decoded/uptime', { value: 60 });
      await measure(22, devices[0], gateways[1]);
      const page = await scrapeUntil(`${series('temperature_celsius')} 22`);
      for (const line of [
        `${series('temperature_celsius', devices[1])} -3.25`,
        `${series('humidity_ratio')} 0.569`,
        `${series('battery_level_ratio')} 0.57`,
        `${series('vdd_volts')} 2.987`,
        `${series('motion')} 16`,
        '# HELP mt_gateway_temperature_celsius Last temperature in celsius.',
        '# TYPE mt_gateway_temperature_celsius gauge',
        'mt_gateway_left_out_series 0',
      ]) {
        assert.ok(page.split('\n').includes(line), `${line} in ${page}`);
      }
      assert.ok(!page.includes('uptime'));
      await trouble.shows('sample-prometheus-text', '6 series');
    });

    it('holds on to the format whatever names devices, gateways and properties have', async () => {
      const listed = trouble.listed(gateways[0]!);
      const { friendlyName } = listed;
      listed.friendlyName = 'Lager "Süd" C:\\n {a="b"} 1';
      try {
        await deployFresh({ env: { PROPERTIES: '*' }, service: { names: true } });
        await trouble.report('measurement-decoded/temperature', { seq: 1, value: 20 }, gateways[0]);
        for (const name of ['co2"level', 'Größe', '_', 'x-level', 'x_level', 'HELP x\\n']) {
          await trouble.report(`measurement-decoded/${encodeURIComponent(name)}`, { seq: 1, value: 1 });
        }
        await trouble.report('property-decoded/alarm', { value: true });
        await trouble.report('property-decoded/firmware-version', { value: '3.4.1' });
        const name = 'Lager \\"Süd\\" C:\\\\n {a=\\"b\\"} 1';
        const page = await scrapeUntil(
          `mt_gateway_device_info{device="${gateways[0]}",gateway="${gateways[0]}",name="${name}"} 1`,
        );
        assert.ok(page.includes(`${series('alarm')} 1`));
        assert.equal(page.split(series('x_level')).length, 2);
        assert.ok(!page.includes('3.4.1'));
      } finally {
        listed.friendlyName = friendlyName;
      }
    });

    it('leaves out what is not known, no number or too old, over a deploy and without the broker', async () => {
      await deployFresh({ env: { MAX_AGE_MINUTES: '0.1' } });
      await measure(20);
      await measure(20, devices[1]);
      await scrapeUntil(`${series('temperature_celsius', devices[1])} 20`);
      await measure(null, devices[1]);
      let { page } = await scrape();
      while (page.includes(devices[1]!)) {
        page = (await scrape()).page;
      }
      while (page.includes(devices[0]!)) {
        page = (await scrape()).page;
      }
      assert.match(page, /^mt_gateway_left_out_series 0$/m);
      await deploySample(trouble.site, LABEL);
      page = await scrapeUntil(`${series('temperature_celsius')} 20`);
      assert.ok(!page.includes(devices[1]!));
      await trouble.ready(values);
      const comeBack = await trouble.loseBroker(values);
      await scrapeUntil(`${series('temperature_celsius')} 20`);
      await comeBack();
    });

    it('leaves out a sample that its gateway had kept for longer than MAX_AGE_MINUTES', async () => {
      await deployFresh();
      const [long, short] = [2 * 3_600_000, 60_000].map((ago) => new Date(Date.now() - ago).toISOString());
      const sample = { backfill: true, ack: false };
      await trouble.report('timestamped-decoded/temperature', { time: long, value: 40, ...sample });
      await trouble.report(
        'timestamped-decoded/temperature',
        { time: short, value: 20, ...sample },
        devices[1],
      );
      const page = await scrapeUntil(`${series('temperature_celsius', devices[1])} 20`);
      assert.ok(!page.includes(devices[0]!), page);
    });

    for (const [what, adaptation] of [
      ['MAX_AGE_MINUTES is empty', { env: { MAX_AGE_MINUTES: '' } }],
      ['MAX_AGE_MINUTES is 0', { env: { MAX_AGE_MINUTES: '0' } }],
      ['PROPERTIES is empty', { env: { PROPERTIES: ' , ' } }],
      ['the service has no broker', { service: { brokerUrl: '' } }],
    ] as const) {
      it(`answers with an error that tells nothing when ${what}, and says why in the editor`, async () => {
        await red().deploy([]);
        await deploySample(trouble.site, LABEL, adaptation);
        assert.deepEqual(await scrape(), { status: 503, page: 'No values: see Node-RED.\n' });
        await red().status('sample-prometheus-failed', ({ text }) => `${text}` !== '');
      });
    }

    it('shows 20 000 series at most, and says how many are left out', async () => {
      await red().deploy([]);
      const flow = await readSample(trouble.site, LABEL);
      const rows = `msg.payload = Array.from({ length: 20500 }, (_, index) => ({
        device: index.toString(16).padStart(12, '0'), gateway: '${gateways[0]}', identifier: '8800',
        name: 'temperature', unit: '°C', value: 20, age: 1 }));`;
      const changed = flow.map((node) =>
        node.id === 'sample-prometheus-text' ? { ...node, func: `${rows}\n${node.func}` } : node,
      );
      await deployTabs(trouble.site, listenTo(changed));
      const { page } = await scrape();
      assert.equal(page.match(/^mt_gateway_temperature_celsius[{]/gm)?.length, 20_000);
      assert.match(page, /^mt_gateway_left_out_series 500$/m);
      await trouble.shows('sample-prometheus-text', '20000 series, 500 left out');
    });
  });
});
