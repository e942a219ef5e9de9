// Every sample flow, imported into a real Node-RED in front of the service in a box, does what its comment says.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Device } from '../../simulator/src/fleet.ts';
import { FAST_CLOCK, VERSIONS } from '../e2e/node-red.ts';
import { isReady, openSite, type Site } from '../e2e/site.ts';
import { requirePrograms } from '../requirements.ts';
import { deploySample, deployTabs, listenTo, menuOf, press, readSample, setClock, until } from './import.ts';

const now = (): string => new Date().toISOString();
const hex16 = (value: number): string => value.toString(16).padStart(4, '0');

describe('a sample flow', () => {
  let site: Site;
  let folder: string;
  let sensor: Device;

  before(async function () {
    this.timeout(120_000);
    folder = await mkdtemp(join(tmpdir(), 'mt-samples-'));
    site = await openSite(VERSIONS[0]!, {}, {}, FAST_CLOCK);
    sensor = site.service.fleet.devices[0]!;
  });

  after(async () => {
    await site?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const ready = (node: string) => site.red.status(node, isReady);
  const shows = (node: string, text: string) => site.red.status(node, (status) => status.text === text);
  const report = (suffix: string, payload: object, device = sensor.mac) =>
    site.report(sensor.home.mac, device, suffix, { time: now(), ...payload });
  const listed = (gateway: string) => site.service.portal.byId.get(`bmac-${gateway}`)!;

  it('has its file name as its label in the import menu', async () => {
    const files = await readdir('examples');
    const labels = files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -5));
    assert.deepEqual((await menuOf(site)).sort(), labels.sort());
  });

  it('Temperature alarm: switches the alarm between two thresholds, and tries again what failed', async () => {
    const { service } = site;
    await deploySample(site, 'Temperature alarm', { hasClock: true });
    await ready('sample-alarm-reports');
    const measure = (celsius: number, seq: number, device?: string) =>
      report('measurement/8800', { seq, value: hex16(celsius * 100) }, device);
    service.forgetCalls();
    await measure(24, 1);
    await shows('sample-alarm-done', `${sensor.mac} on`);
    assert.equal(sensor.values.get('9800'), '01');
    await measure(23.5, 2);
    await measure(25, 3);
    await measure(23, 4);
    await shows('sample-alarm-done', `${sensor.mac} off`);
    assert.equal(sensor.values.get('9800'), '00');
    assert.deepEqual(
      service.calls.operations.map(({ operation, identifier, payload }) => [
        operation,
        identifier,
        payload?.value,
      ]),
      [
        ['write-decoded', 'alarm', true],
        ['write-decoded', 'alarm', false],
      ],
    );

    service.forgetCalls();
    await measure(30, 5, 'aabbccddeeff');
    await shows('sample-alarm-failed', 'REQUEST_FAILED');
    await setClock(site, 61_000);
    await measure(30, 6, 'aabbccddeeff');
    await until(site, 'request', () => service.calls.operations.length === 2);
  });

  it('Store, then acknowledge: acknowledges what is in the file, and nothing else', async () => {
    const { service } = site;
    const label = 'Store, then acknowledge';
    const file = join(folder, 'samples', 'all.jsonl');
    await deploySample(site, label, { env: { SAMPLES_FILE: file } });
    await ready('sample-samples-reports');
    await service.publishSamples(20);
    await until(site, 'acknowledged', () => service.samples.unacknowledgedCount === 0);
    const stored = (await readFile(file, 'utf8')).trim().split('\n');
    const times = new Set(stored.map((line) => JSON.parse(line).time));
    for (const sample of service.samples.all.values()) {
      assert.ok(times.has(sample.time));
    }

    await writeFile(join(folder, 'no-folder'), '');
    await deploySample(site, label, { env: { SAMPLES_FILE: join(folder, 'no-folder', 'all.jsonl') } });
    await ready('sample-samples-reports');
    service.forgetCalls();
    const mark = service.samples.counters.acknowledged;
    await service.publishSamples(1);
    await report('event/8113', { seq: 9, value: '' });
    await site.red.status('sample-samples-failed', ({ text }) => /EEXIST|ENOTDIR/.test(`${text}`));
    assert.deepEqual([service.calls.operations, service.samples.counters.acknowledged], [[], mark]);
    // An event, which no device sends again: the broker keeps it until it can be stored.
    await site.red.status('sample-samples-reports', ({ text }) => /not stored/.test(`${text}`));
    await rm(join(folder, 'no-folder'));
    await until(site, 'acknowledged', () => service.samples.unacknowledgedCount === 0);
    await site.red.status('sample-samples-reports', ({ text }) => text === 'connected');
  });

  it('Device offline watch: tells of devices that are fine, silent or in trouble', async () => {
    await deploySample(site, 'Device offline watch', { env: { OFFLINE_AFTER_SECONDS: '8' } });
    await ready('sample-offline-watch');
    const says = (state: string) => shows('sample-offline-done', `${sensor.mac} ${state}`);
    await report('heartbeat', { seq: 1, status: 4, lastCount: 0 });
    await says('status 4');
    await report('heartbeat', { seq: 2, status: 0, lastCount: 0 });
    await says('fine');
    // Its gateway goes on: were it silent too, the gateway would be told, and none of its devices.
    const heartbeat = () => report('heartbeat', { seq: 1, status: 0, lastCount: 0 }, sensor.home.mac);
    const gateway = setInterval(() => void heartbeat(), 1_000);
    await says('offline').finally(() => clearInterval(gateway));
    await report('heartbeat', { seq: 3, status: 0, lastCount: 0 });
    await says('fine');
  });

  it('Who needs somebody: one list of what needs somebody, and each change by itself', async () => {
    await deploySample(site, 'Who needs somebody');
    await shows('sample-needs-watch', 'nothing heard yet');
    await press(site, 'sample-needs-morning');
    await shows('sample-needs-list', '0 on the list');
    await report('property-decoded/battery-level', { value: 12 });
    await site.red.status('sample-needs-changes', ({ text }) => /needs a battery/.test(`${text}`));
    await press(site, 'sample-needs-morning');
    await shows('sample-needs-list', '1 on the list');
    await report('property-decoded/battery-level', { value: 90 });
    await site.red.status('sample-needs-changes', ({ text }) => `${text}`.startsWith('over: '));
  });

  it('Inventory to CSV: writes all pages of the list, filtered, into a table', async () => {
    const { service } = site;
    const file = join(folder, 'inventory.csv');
    await deploySample(site, 'Inventory to CSV', { env: { INVENTORY_FILE: file } });
    service.forgetCalls();
    await press(site, 'sample-inventory-start');
    const wanted = service.devices.filter(
      ({ connectivity, modelNumber }) => connectivity.connected && modelNumber === '2011',
    );
    await shows('sample-inventory-done', `${wanted.length} gateways`);
    const [head, ...rows] = (await readFile(file, 'utf8')).trim().split('\r\n'); // trim() takes the mark too.
    assert.equal(head, 'id,name,model,firmware,hardware,connected since,labels');
    assert.deepEqual(
      rows.map((row) => row.split(',')[0]),
      wanted.map(({ id }) => id),
    );
    assert.ok(rows[0]?.includes(`"${wanted[0]?.friendlyName}"`));
    assert.equal(service.calls.rest.filter(({ method }) => method === 'GET').length, 3);
  });

  it('Only devices with a label: passes what they measure, and nothing of others below their gateway', async () => {
    const { service, red } = site;
    const [first, second] = service.fleet.devices.map(({ mac }) => ({
      ...service.devices[0]!,
      id: `bmac-${mac}`,
      labels: ['desk'],
    }));
    second!.labels = [];
    service.devices.push(first!, second!);
    try {
      const taps = { 'sample-labelled-only': 'passed' };
      await deploySample(site, 'Only devices with a label', { env: { LABEL: 'desk' }, taps });
      await ready('sample-labelled-reports');
      await shows('sample-labelled-keep', '1 with desk');
      const other = service.fleet.devices[1]!.mac;
      const measure = (device: string) =>
        report('measurement-decoded/temperature', { seq: 1, value: 20 }, device);
      await measure(other);
      await measure(sensor.mac);
      assert.equal((await red.next('passed')).device, sensor.mac);
      await shows('sample-labelled-done', `${sensor.mac} temperature`);

      second!.labels = ['desk'];
      await press(site, 'sample-labelled-when');
      await shows('sample-labelled-keep', '2 with desk');
      await measure(other);
      assert.equal((await red.next('passed')).device, other);
    } finally {
      service.devices.splice(-2);
    }
  });

  it('Label and rename from a CSV: names and labels every gateway of the table', async () => {
    const { service } = site;
    await deploySample(site, 'Label and rename from a CSV');
    await press(site, 'sample-csv-start');
    for (const name of ['Reception', 'Warehouse, gate 2', 'Meeting room 7']) {
      await shows('sample-csv-done', `${name} is done`);
    }
    const names = service.gateways.slice(0, 3).map(({ mac }) => listed(mac));
    assert.deepEqual(
      names.map(({ friendlyName, labels }) => [friendlyName, labels.at(-1)]),
      [
        ['Reception', 'ground-floor'],
        ['Warehouse, gate 2', 'warehouse'],
        ['Meeting room 7', 'ground-floor'],
      ],
    );
  });

  it('Low battery to label: labels a gateway as long as one of its devices is low', async () => {
    await deploySample(site, 'Low battery to label');
    await ready('sample-battery-watch');
    const gateway = sensor.home.mac;
    const other = site.service.fleet.devices[1]!.mac;
    await report('property/8100', { value: '0a' });
    await report('property-decoded/battery-level', { value: 12 }, other);
    await shows('sample-battery-attached', gateway);
    assert.ok(listed(gateway).labels.includes('low-battery'));
    // Each is told when it has been low for a while: the second later by what lay between the two reports.
    await site.red.status('sample-battery-watch', ({ text }) => /^2 of 2 /.test(`${text}`));
    await report('property/8100', { value: '64' });
    await report('property/8100', { value: 'ff' }, other);
    await report('property/8100', { value: '64' }, other);
    await shows('sample-battery-removed', gateway);
    assert.ok(!listed(gateway).labels.includes('low-battery'));
  });

  it('Raw and decoded side by side: shows one temperature in its three forms', async () => {
    await deploySample(site, 'Raw and decoded side by side');
    await ready('sample-forms-hex');
    await ready('sample-forms-here');
    await ready('sample-forms-there');
    await report('measurement/8800', { seq: 1, value: '1234' });
    await report('measurement-decoded/temperature', { seq: 2, value: 46.6 });
    await shows('sample-forms-hexOut', '1234 as 8800');
    await shows('sample-forms-hereOut', '46.6 as 8800');
    await shows('sample-forms-thereOut', '46.6 as temperature');
    sensor.values.set('8800', '07d0');
    await press(site, 'sample-forms-start');
    await shows('sample-forms-done', '07d0 = 20 = 20');
  });

  it('Read many properties with priorities: gives one object with all values and errors', async () => {
    const { service } = site;
    await deploySample(site, 'Read many properties with priorities', {
      taps: { 'sample-priorities-join': 'values' },
    });
    sensor.values.set('8800', '07d0');
    service.forgetCalls();
    await press(site, 'sample-priorities-start');
    const { payload } = (await site.red.next('values')) as { payload: Record<string, unknown> };
    assert.deepEqual(Object.keys(payload).sort(), [
      '8802',
      'battery-level',
      'firmware-version',
      'humidity',
      'no-such-property',
      'temperature',
      'uptime',
    ]);
    assert.deepEqual(
      [payload.temperature, payload['firmware-version'], payload['no-such-property']],
      [20, '3.4.1', 'REQUEST_FAILED'],
    );
    assert.equal(payload['8802'], payload.humidity);
    await shows('sample-priorities-done', '7 properties');
    const sent = service.calls.operations.map(({ identifier, payload: asked }) => [
      identifier,
      asked?.priority,
    ]);
    assert.deepEqual(Object.fromEntries(sent), {
      temperature: 4,
      humidity: 3,
      'battery-level': 2,
      'firmware-version': 1,
      uptime: 0,
      '8802': 3,
      'no-such-property': 0,
    });
  });

  it('Which gateway hears it best: follows a device from parent to parent, without hopping', async () => {
    await deploySample(site, 'Which gateway hears it best', {
      taps: { 'sample-nearest-nearest': 'nearest' },
    });
    await ready('sample-nearest-reports');
    const [one, two] = ['e40000000001', 'e40000000002'];
    const heard = (parent: string, rssi: number, more = {}) => report('rssi', { parent, rssi, ...more });
    await heard(one, -60);
    await heard(two, -58);
    await heard(two, -40);
    await heard(one, -58);
    await heard(two, -90, { unreachable: true });
    const told = [];
    for (let count = 0; count < 3; count++) {
      told.push((await site.red.next('nearest')).payload);
    }
    const device = sensor.mac;
    const gateway = sensor.home.mac;
    assert.deepEqual(told, [
      { device, parent: one, gateway, before: null, rssi: -60 },
      { device, parent: two, gateway, before: one, rssi: -53 },
      { device, parent: one, gateway, before: two, rssi: -59 },
    ]);
    await shows('sample-nearest-nearest', `${device} near ${one} through gateway ${gateway}`);
  });

  it('Which gateway hears it best: names gateways, and says through which one an extender has heard', async () => {
    const { service } = site;
    await deploySample(site, 'Which gateway hears it best', { service: { names: true } });
    await ready('sample-nearest-reports');
    // A list that was asked for serves the reports as well.
    await site.red.call('GET', 'mt-service/demo-service/devices');
    const gateway = service.gateways[1]!.mac;
    const [name, home] = [gateway, sensor.home.mac].map((mac) => listed(mac).friendlyName);
    const heard = (device: string, parent: string, rssi: number) =>
      report('rssi', { parent, rssi, unreachable: rssi < -99 }, device);
    await heard(gateway, sensor.home.mac, -60);
    await shows('sample-nearest-nearest', `${name} near ${home}`);
    await heard(gateway, 'e40000000001', -40);
    await shows('sample-nearest-nearest', `${name} near e40000000001 through gateway ${home}`);
    await heard(gateway, sensor.home.mac, -100);
    await heard(gateway, 'e40000000001', -100);
    await shows('sample-nearest-nearest', `${name} is heard by nobody`);
  });

  it('Warm and somebody is there: looks up the last motion of the device that is warm', async () => {
    await deploySample(site, 'Warm and somebody is there', { taps: { 'sample-warm-there': 'there' } });
    await ready('sample-warm-reports');
    await report('measurement-decoded/motion', { seq: 1, value: 1 });
    await report('measurement/8800', { seq: 2, value: hex16(2300) });
    await report('measurement/8800', { seq: 3, value: hex16(2500) });
    const told = await site.red.next('there');
    assert.equal(told.payload, `${sensor.mac}: it is warm, and somebody is there`);
    assert.equal(site.red.waiting('there'), 0);
  });

  it('Firmware and jobs: lists firmware, makes a job for the old gateways that it has shown, and asks for its state', async () => {
    const { service } = site;
    await deploySample(site, 'Firmware and jobs');
    await press(site, 'sample-jobs-list');
    await shows('sample-jobs-listed', `${service.portal.firmwares.length} versions`);
    await press(site, 'sample-jobs-start');
    const old = service.devices.filter(
      ({ connectivity, firmwareVersion, modelNumber }) =>
        connectivity.connected && modelNumber === '2011' && ['3.3.2', '2.9.7'].includes(firmwareVersion),
    );
    await shows('sample-jobs-selected', `10 of ${old.length} of model 2011`);
    assert.equal(service.portal.jobs.length, 0);
    await press(site, 'sample-jobs-confirm');
    await shows('sample-jobs-created', 'job-1 is queued');
    assert.deepEqual(service.portal.jobs[0]?.request, {
      firmware: '3.4.1',
      devices: old.slice(0, 10).map(({ id }) => id),
    });
    await press(site, 'sample-jobs-again');
    await shows('sample-jobs-done', 'job-1 is queued');
  });

  it('DFU watch: tells the first advertisement and the silence after the last', async () => {
    await deploySample(site, 'DFU watch', { env: { GONE_AFTER_SECONDS: '0.3' } });
    await ready('sample-dfu-reports');
    await report('dfu', { parent: 'e40000000001', rssi: -50 });
    await report('dfu', { parent: 'e40000000001', rssi: -51 });
    await shows('sample-dfu-done', `${sensor.mac} waits for an update`);
    await shows('sample-dfu-done', `${sensor.mac} is gone`);
  });

  it('Several instances: each report reaches one of them, each response the one that asked', async function () {
    requirePrograms(this, 'mosquitto');
    const { red, service } = site;
    const flow = await readSample(site, 'Several instances');
    const second = JSON.parse(
      JSON.stringify(flow)
        .replaceAll('sample-instances', 'second')
        .replaceAll('demo-service', 'other-service'),
    );
    const options = { service: { sharedGroup: 'node-red' } };
    const taps = { 'sample-instances-who': 'first', 'sample-instances-read': 'answer' };
    await deployTabs(
      site,
      listenTo(flow, { ...options, taps }),
      listenTo(second, { ...options, taps: { 'second-who': 'second', 'second-read': 'answer-of-second' } }),
    );
    await ready('sample-instances-reports');
    await ready('second-reports');
    const before = service.counters().reports.published;
    await service.publishReports(60);
    const published = service.counters().reports.published - before;
    await press(site, 'sample-instances-start');
    assert.equal((await red.next('answer')).payload, '2.4.0');
    await press(site, 'second-start');
    assert.equal((await red.next('answer-of-second')).payload, '2.4.0');
    // The answers came behind all reports on the same connections.
    assert.equal(red.waiting('first') + red.waiting('second'), published);
    assert.ok(red.waiting('first') > 0 && red.waiting('second') > 0);
    assert.equal(red.waiting('answer') + red.waiting('answer-of-second'), 0);
  });
});
