// The samples that speak to the REST half do no harm when the service says no, or when values are missing or strange.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeConfig } from '../e2e/node-red.ts';
import { openTrouble, type Trouble } from './harm.ts';
import {
  type Adaptation,
  deploySample,
  deployTabs,
  listenTo,
  press,
  readSample,
  setClock,
} from './import.ts';

describe('a sample flow of the device list', () => {
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

  const service = () => trouble.site.service;
  const changes = () =>
    service().calls.rest.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/login'));

  /** Deploys a sample with one of its nodes changed. */
  async function deployChanged(
    label: string,
    id: string,
    change: object,
    adaptation?: Adaptation,
  ): Promise<void> {
    const flow = await readSample(trouble.site, label);
    const changed = flow.map((node): NodeConfig => (node.id === id ? { ...node, ...change } : node));
    await deployTabs(trouble.site, listenTo(changed, adaptation));
  }

  describe('Inventory to CSV', () => {
    it('writes names that look like formulas as text, rows without labels, and a mark that says UTF-8', async () => {
      const file = join(folder, 'inventory.csv');
      const [first, second, third] = service().devices;
      const before = structuredClone([first, second, third]);
      Object.assign(first!, { friendlyName: '=HYPERLINK("http://x";1)', labels: null });
      Object.assign(second!, {
        friendlyName: 'Lager Süd;@SUM(A1)',
        labels: ['-1 floor', null, 'b'],
        firmwareVersion: null,
      });
      Object.assign(third!, { friendlyName: '\t+1', labels: 'text' });
      try {
        await deploySample(trouble.site, 'Inventory to CSV', { env: { INVENTORY_FILE: file } });
        await press(trouble.site, 'sample-inventory-start');
        await trouble.site.red.status('sample-inventory-done', ({ text }) => /gateways$/.test(`${text}`));
        const written = await readFile(file);
        assert.deepEqual([...written.subarray(0, 3)], [0xef, 0xbb, 0xbf]);
        const rows = written.toString().split('\r\n');
        assert.match(rows[1]!, /^bmac-[0-9a-f]{12},"'=HYPERLINK\(""http:\/\/x"";1\)",2011,.*,$/);
        assert.match(rows[2]!, /,Lager Süd;'@SUM\(A1\),2011,,.*,'-1 floor b$/);
        assert.match(rows[3]!, /,'\t\+1,2011,.*,text$/);
      } finally {
        for (const [index, device] of before.entries()) {
          Object.assign(service().devices[index]!, device);
        }
      }
    });

    it('leaves the file of the last time alone when the service says no', async () => {
      const file = join(folder, 'kept.csv');
      await writeFile(file, 'of the last time');
      await deploySample(trouble.site, 'Inventory to CSV', { env: { INVENTORY_FILE: file } });
      service().faults.rest.add({ kind: 'status', status: 500, only: 'GET /api/v1/devices' });
      await press(trouble.site, 'sample-inventory-start');
      await trouble.site.red.status('sample-inventory-failed', () => true);
      assert.equal(await readFile(file, 'utf8'), 'of the last time');
    });
  });

  describe('Only devices with a label', () => {
    const LABEL = 'Only devices with a label';
    const kept = 'sample-labelled-keep';
    const taps = {
      'sample-labelled-reports': 'heard',
      'sample-labelled-only': 'passed',
      'sample-labelled-catch': 'failed',
    };
    const lists = () => service().calls.rest.filter(({ method }) => method === 'GET').length;
    const gateways = () => service().gateways.map(({ mac }) => mac);
    const refuse = () =>
      service().faults.rest.add({ kind: 'status', status: 403, only: 'GET /api/v1/devices' });
    const measure = async (device: string) => {
      await trouble.report('measurement-decoded/temperature', { seq: 1, value: 20 }, device);
      await trouble.site.red.next('heard');
    };
    const deploy = async (label: string) => {
      await deploySample(trouble.site, LABEL, { env: { LABEL: label }, taps });
      await trouble.ready('sample-labelled-reports');
    };
    const passed = () => trouble.site.red.next('passed');
    const problem = async () => (await trouble.site.red.next('failed')).error as { message: string };

    before(() => {
      const [first, second] = gateways().map((mac) => trouble.listed(mac));
      first!.labels.push('one');
      second!.labels.push('other, too');
    });
    // What it remembers goes with its nodes.
    beforeEach(() => trouble.site.red.deploy([]));

    it('goes on with the last list, also over a deploy, where the next one is refused, and says so', async () => {
      const [first, second] = gateways();
      await deploy('one');
      await trouble.shows(kept, '1 with one');
      refuse();
      await press(trouble.site, 'sample-labelled-when');
      await problem();
      for (let deploys = 0; deploys < 2; deploys++) {
        await measure(second!);
        await measure(first!);
        assert.equal((await passed()).device, first);
        if (deploys === 0) {
          await deploy('one');
          await problem();
        }
      }
    });

    it('passes nothing by the list of another label, and takes a comma for a part of the label', async () => {
      const [first, second] = gateways();
      await deploy('one');
      await trouble.shows(kept, '1 with one');
      const allow = refuse();
      await deploy('other, too');
      await problem();
      await measure(first!);
      allow();
      await press(trouble.site, 'sample-labelled-when');
      await trouble.shows(kept, '1 with other, too');
      await measure(first!);
      await measure(second!);
      assert.equal((await passed()).device, second);
    });

    it('says so where no device has the label, which may be misspelled', async () => {
      await deploy('oen');
      const { fill } = await trouble.site.red.status(kept, ({ text }) => text === 'no device has oen');
      assert.equal(fill, 'yellow');
    });

    it('shows what it has passed by the name of the property, also where only the value is sent', async () => {
      const [first] = gateways();
      const adaptation = { env: { LABEL: 'one' }, taps };
      await deployChanged(LABEL, 'sample-labelled-reports', { output: 'value' }, adaptation);
      await trouble.ready('sample-labelled-reports');
      await trouble.shows(kept, '1 with one');
      await measure(first!);
      await passed();
      await trouble.shows('sample-labelled-done', `${first} temperature`);
    });

    it('passes nothing before the first list has come', async () => {
      const [first] = gateways();
      const allow = refuse();
      await deploy('one');
      await problem();
      await measure(first!);
      allow();
      await press(trouble.site, 'sample-labelled-when');
      await trouble.shows(kept, '1 with one');
      assert.equal(trouble.site.red.waiting('passed'), 0);
      await measure(first!);
      await passed();
      assert.equal(trouble.site.red.waiting('passed'), 0);
    });

    it('neither asks for a list nor passes all devices where the label is empty', async () => {
      service().forgetCalls();
      await deploy(' ');
      assert.match((await problem()).message, /LABEL has to be set/);
      await measure(gateways()[0]!);
      assert.equal(lists(), 0);
      assert.equal(trouble.site.red.waiting('passed'), 0);
    });

    it('passes nothing of a device that has lost its label', async () => {
      const [first, second] = gateways();
      const entry = trouble.listed(second!);
      entry.labels.push('one');
      await deploy('one');
      await trouble.shows(kept, '2 with one');
      entry.labels.pop();
      await press(trouble.site, 'sample-labelled-when');
      await trouble.shows(kept, '1 with one');
      await measure(second!);
      await measure(first!);
      assert.equal((await passed()).device, first);
    });
  });

  describe('Label and rename from a CSV', () => {
    const LABEL = 'Label and rename from a CSV';
    const done = 'sample-csv-done';

    it('takes a MAC in any spelling, and a label that exists or is attached already is no error', async () => {
      const [first, second] = service().gateways.map(({ mac }) => trouble.listed(mac));
      const before = structuredClone([first!, second!]);
      const [colons, dashes] = [':', '-'].map((mark, index) =>
        service().gateways[index]!.mac.toUpperCase().match(/../g)!.join(mark),
      );
      service().portal.labels.add('twice');
      first!.labels.push('twice');
      const template = `\uFEFFdevice,name,label\n${colons},Roof,twice\n${dashes},Cellar,twice\n`;
      await deployChanged(LABEL, 'sample-csv-table', { template });
      await press(trouble.site, 'sample-csv-start');
      for (const name of ['Roof', 'Cellar']) {
        await trouble.shows(done, `${name} is done`);
      }
      assert.deepEqual([first!.friendlyName, second!.friendlyName], ['Roof', 'Cellar']);
      assert.equal(first!.labels.filter((label) => label === 'twice').length, 1);
      assert.equal(second!.labels.at(-1), 'twice');
      Object.assign(first!, before[0]);
      Object.assign(second!, before[1]);
    });

    for (const status of [400, 409, 422]) {
      it(`attaches a label also where the service answers ${status} for one that exists`, async () => {
        const entry = trouble.listed(service().gateways[0]!.mac);
        const before = structuredClone(entry);
        const name = `Roof ${status}`;
        await deployChanged(LABEL, 'sample-csv-table', {
          template: `device,name,label\n${entry.id},${name},there\n`,
        });
        service().faults.rest.add({ kind: 'status', status, only: 'POST /api/v1/labels' });
        await press(trouble.site, 'sample-csv-start');
        await trouble.shows(done, `${name} is done`);
        assert.deepEqual([entry.friendlyName, entry.labels.at(-1)], [name, 'there']);
        Object.assign(entry, before);
      });
    }

    for (const status of [401, 403, 500]) {
      it(`changes nothing where the service answers ${status} for a label`, async () => {
        const { id } = trouble.listed(service().gateways[0]!.mac);
        await deployChanged(LABEL, 'sample-csv-table', { template: `device,name,label\n${id},Roof,there\n` });
        service().forgetCalls();
        service().faults.rest.add({ kind: 'status', status, only: 'POST /api/v1/labels' });
        await press(trouble.site, 'sample-csv-start');
        await trouble.site.red.status('sample-csv-failed', ({ text }) => `${text}`.startsWith(id));
        assert.deepEqual(
          changes().filter(({ path }) => path !== '/api/v1/labels'),
          [],
        );
      });
    }

    it('does nothing for a row in which a cell is missing', async () => {
      const gateway = service().gateways[1]!.mac;
      const template = `device,name,label\n${gateway},Roof,\n,Roof,top\n${gateway},,top\n`;
      await deployChanged(LABEL, 'sample-csv-table', { template });
      service().forgetCalls();
      await press(trouble.site, 'sample-csv-start');
      const failed = await trouble.site.red.status('sample-csv-failed', () => true);
      assert.match(`${failed.text}`, /A row needs/);
      assert.deepEqual(changes(), []);
    });

    it('refuses the rows that give one gateway several names, however it is spelled, and does the others', async () => {
      const [first, second] = service().gateways.map(({ mac }) => trouble.listed(mac));
      const before = structuredClone([first!, second!]);
      const { mac } = service().gateways[0]!;
      const spelled = mac.toUpperCase().match(/../g)!.join(':');
      const rows = [
        `${first!.id},Roof,top`,
        `${second!.id},Cellar,low`,
        `${spelled},Attic,top`,
        `${second!.id},Cellar,dry`,
      ];
      await deployChanged(
        LABEL,
        'sample-csv-table',
        { template: `device,name,label\n${rows.join('\n')}\n` },
        {
          taps: {
            'sample-csv-has': 'attached',
            'sample-csv-attach': 'attached now',
            'sample-csv-catch': 'refused',
          },
        },
      );
      service().forgetCalls();
      await press(trouble.site, 'sample-csv-start');
      for (const device of [first!.id, spelled]) {
        const { row, error } = await trouble.site.red.next('refused');
        assert.equal((row as { device: string }).device, device);
        assert.match((error as { message: string }).message, /several names/);
      }
      for (let count = 0; count < 2; count++) {
        await trouble.site.red.next('attached now');
      }
      assert.ok(!changes().some(({ path }) => path.includes(mac)));
      assert.deepEqual([first!.friendlyName, second!.friendlyName], [before[0]!.friendlyName, 'Cellar']);
      assert.deepEqual(second!.labels.slice(-2).sort(), ['dry', 'low']);
      Object.assign(second!, before[1]);
    });

    it('goes no further with a row when the service refuses a step', async () => {
      const { friendlyName } = trouble.listed(service().gateways[0]!.mac);
      await deploySample(trouble.site, LABEL);
      service().faults.rest.add({ kind: 'status', status: 403, only: 'POST /api/v1/labels' });
      service().forgetCalls();
      await press(trouble.site, 'sample-csv-start');
      await trouble.site.red.status('sample-csv-failed', ({ text }) => `${text}`.includes('c0141f68fc5f'));
      assert.deepEqual(new Set(changes().map(({ path }) => path)), new Set(['/api/v1/labels']));
      assert.equal(trouble.listed(service().gateways[0]!.mac).friendlyName, friendlyName);
    });
  });

  describe('Firmware and jobs', () => {
    const LABEL = 'Firmware and jobs';
    const jobs = () => changes().filter(({ path }) => path === '/api/v1/jobs');
    const taps = {
      'sample-jobs-select': 'selected',
      'sample-jobs-catch': 'problems',
      'sample-jobs-create': 'made',
    };
    const deploy = async (env: Record<string, string> = {}) => {
      await trouble.site.red.deploy([]);
      await deploySample(trouble.site, LABEL, { env, taps });
      service().forgetCalls();
    };
    const click = (button: string) => press(trouble.site, `sample-jobs-${button}`);
    const problem = async () => (await trouble.site.red.next('problems')).error as { message: string };

    for (const [name, value] of [
      ['MODEL', ''],
      ['MODEL', ' '],
      ['LIMIT', ''],
      ['LIMIT', '0'],
      ['LIMIT', '2.5'],
      ['FIRMWARE', ''],
      ['OLDER_THAN', ''],
    ] as const) {
      it(`makes no job with ${name} "${value}"`, async () => {
        await deploy({ [name]: value });
        await click('start');
        assert.match((await problem()).message, /have to be set/);
        await click('confirm');
        assert.match((await problem()).message, /First press/);
        assert.deepEqual([service().calls.rest, jobs()], [[], []]);
      });
    }

    it('makes one job for what was shown, and none at the second click or after a change of the settings', async () => {
      await deploy({ LIMIT: '2' });
      await click('confirm');
      await problem();
      await click('start');
      await trouble.site.red.next('selected');
      await click('confirm');
      await trouble.site.red.next('made');
      await click('confirm');
      await problem();
      await click('start');
      await trouble.site.red.next('selected');
      await deploySample(trouble.site, LABEL, { env: { LIMIT: '200' }, taps });
      await click('confirm');
      await problem();
      assert.equal(jobs().length, 1);
      const { devices } = jobs()[0]!.body as { devices: string[] };
      assert.equal(devices.length, 2);
    });

    it('says that nothing is to be updated, each time, where the look has found nothing', async () => {
      await deploy({ OLDER_THAN: '1.0.0' });
      await click('start');
      await trouble.site.red.next('selected');
      for (let times = 0; times < 2; times++) {
        await click('confirm');
        assert.match((await problem()).message, /^Nothing to update/);
      }
      assert.deepEqual(jobs(), []);
    });

    it('makes no job of a selection that was made before the clock was set back', async () => {
      await trouble.site.red.deploy([]);
      await deploySample(trouble.site, LABEL, { taps, hasClock: true });
      service().forgetCalls();
      await setClock(trouble.site, 3_600_000);
      await click('start');
      await trouble.site.red.next('selected');
      await setClock(trouble.site, 0);
      await click('confirm');
      assert.match((await problem()).message, /First press/);
      assert.deepEqual(jobs(), []);
    });

    it('selects nothing when the list fails, and asks for no job that was refused', async () => {
      await deploy();
      service().faults.rest.add({ kind: 'status', status: 500, only: 'GET /api/v1/devices', times: 1 });
      await click('start');
      await problem();
      await click('confirm');
      await problem();
      assert.deepEqual(jobs(), []);
      await click('start');
      await trouble.site.red.next('selected');
      service().faults.rest.add({ kind: 'status', status: 403, only: 'POST /api/v1/jobs' });
      await click('confirm');
      await problem();
      await click('again');
      assert.match((await problem()).message, /No job has been made yet/);
    });
  });
});
