// The sample Low battery to label removes only its own labels, whatever the service says and wherever Node-RED stops.
import assert from 'node:assert/strict';
import { startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { openTrouble, type Trouble } from './harm.ts';
import { type Adaptation, deploySample, setClock } from './import.ts';

const SAMPLE = 'Low battery to label';
const LABEL = 'low-battery';
const reports = 'sample-battery-reports';
const taps = {
  'sample-battery-list': 'listed',
  'sample-battery-taken': 'tried',
  'sample-battery-gone': 'gone',
  'sample-battery-write': 'remembered',
};

describe('the sample flow Low battery to label', function () {
  this.timeout(30_000);
  let trouble: Trouble;
  let gateways: string[];
  let devices: string[];
  let file = 0;

  before(async function () {
    this.timeout(120_000);
    trouble = await openTrouble();
    gateways = trouble.site.service.gateways.map(({ mac }) => mac);
    devices = trouble.site.service.fleet.devices.map(({ mac }) => mac);
  });
  afterEach(() => {
    trouble.recover();
    for (const mac of gateways) {
      setLabelled(mac, false);
    }
  });
  after(() => trouble?.site.close());

  const red = () => trouble.site.red;
  const service = () => trouble.site.service;
  const level = (value: unknown, device = devices[0], gateway = gateways[0]) =>
    trouble.report('property-decoded/battery-level', { value }, device, gateway);
  const attached = (gateway = gateways[0]!) => trouble.shows('sample-battery-attached', gateway);
  const removed = (gateway = gateways[0]!) => trouble.shows('sample-battery-removed', gateway);
  const isLabelled = (gateway = gateways[0]!) => trouble.listed(gateway).labels.includes(LABEL);
  const changes = (gateway = gateways[0]!) =>
    service()
      .calls.rest.filter(({ method, path }) => method !== 'GET' && path.includes(gateway))
      .map(({ method, statusCode }) => `${method} ${statusCode}`);

  function setLabelled(gateway: string, isIt: boolean): void {
    const entry = trouble.listed(gateway);
    entry.labels = entry.labels.filter((label) => label !== LABEL);
    if (isIt) {
      entry.labels.push(LABEL);
    }
  }

  /** Deploys the sample that remembers nothing of an earlier test. */
  async function deployFresh({ env, ...more }: Adaptation = {}): Promise<void> {
    await red().deploy([]);
    const adaptation = { env: { BATTERIES_FILE: `batteries-${++file}.json`, ...env }, taps, ...more };
    await deploySample(trouble.site, SAMPLE, adaptation);
    await trouble.ready(reports);
    service().forgetCalls();
  }

  /** Everything that was reported before has had its effect. */
  async function settle(): Promise<void> {
    const last = gateways[4]!;
    await level(10, devices.at(-1), last);
    await attached(last);
    await level(100, devices.at(-1), last);
    await removed(last);
  }

  it('neither attaches nor removes a label that somebody else has attached', async () => {
    setLabelled(gateways[0]!, true);
    await deployFresh();
    await level(100);
    await level(10);
    await red().next('listed');
    await level(100);
    await settle();
    assert.deepEqual(changes(), []);
    assert.ok(isLabelled());
  });

  it('attaches a label that exists already, and tries a removal no second time when the label is gone', async () => {
    service().portal.labels.add(LABEL);
    await deployFresh();
    await level(10);
    await attached();
    setLabelled(gateways[0]!, false);
    await level(100);
    await removed();
    for (const value of [90, 100]) {
      await level(value);
    }
    await settle();
    assert.deepEqual(changes(), ['POST 200', 'DELETE 404']);
  });

  it('changes nothing for a level that is missing, unknown or no percentage', async () => {
    await deployFresh();
    for (const value of [null, undefined, 'low', '5', false, [], -1, 255]) {
      await level(value);
    }
    await trouble.report('property/8100', { value: 'ff' });
    await settle();
    assert.deepEqual(changes(), []);
  });

  it('keeps the label as long as one of the devices is low, over a deploy and a restart', async function () {
    this.timeout(60_000);
    await deployFresh();
    await level(10);
    await level(10, devices[1]);
    await attached();
    await deploySample(trouble.site, SAMPLE, { env: { BATTERIES_FILE: `batteries-${file}.json` }, taps });
    await trouble.ready(reports);
    await level(100, devices[1]);
    await red().next('remembered', ({ payload }) => {
      const { low, labels } = JSON.parse(`${payload}`);
      return Object.keys(low).length === 1 && labels[gateways[0]!].by === 'us';
    });
    await red().kill();
    trouble.site.red = await startNodeRed(VERSIONS[0]!, {}, [], red());
    await trouble.ready(reports);
    for (const device of [devices[1], devices[2]]) {
      await level(100, device);
    }
    await settle();
    assert.ok(isLabelled());
    await level(100);
    await removed();
    assert.ok(!isLabelled());
  });

  it('removes nothing after a restart when its file is gone', async () => {
    setLabelled(gateways[0]!, true);
    await deployFresh();
    for (const device of devices.slice(0, 3)) {
      await level(100, device);
    }
    await settle();
    assert.ok(isLabelled());
  });

  it('moves the mark of a device that has moved to another gateway, not of one that two gateways hear', async () => {
    await deployFresh();
    await level(10);
    await attached();
    await level(10, devices[0], gateways[1]);
    await settle();
    assert.deepEqual([isLabelled(), isLabelled(gateways[1])], [true, false]);

    await deployFresh({ env: { MOVED_AFTER_MINUTES: '0' } });
    setLabelled(gateways[0]!, false);
    await level(10);
    await attached();
    await level(10, devices[0], gateways[1]);
    await attached(gateways[1]);
    await removed();
    assert.deepEqual([isLabelled(), isLabelled(gateways[1])], [false, true]);
  });

  it('looks again for the label of somebody else, and lets a device move, though the clock was set back', async () => {
    await deployFresh({ hasClock: true });
    await setClock(trouble.site, 86_400_000);
    setLabelled(gateways[0]!, true);
    await level(10);
    await red().next('listed');
    await setClock(trouble.site, 0);
    await level(10, devices[0], gateways[1]);
    await settle();
    setLabelled(gateways[0]!, false);
    await setClock(trouble.site, 61 * 60_000);
    await level(10, devices[1]);
    await attached();
    await level(10, devices[0], gateways[1]);
    await attached(gateways[1]);
  });

  it('removes its old label after a change of LABEL, and the new one only when it was attached', async () => {
    const adaptation = { env: { BATTERIES_FILE: `batteries-${file + 1}.json`, LABEL: 'battery' }, taps };
    await deployFresh();
    await level(10);
    await attached();
    await deploySample(trouble.site, SAMPLE, adaptation);
    await trouble.ready(reports);
    await level(10);
    await removed();
    assert.ok(!isLabelled());

    const refuse = service().faults.rest.add({ kind: 'status', status: 403, only: 'POST /api/v1/devices' });
    await level(10);
    await red().next('tried', ({ error }) => error !== undefined);
    refuse();
    trouble.listed(gateways[0]!).labels.push('battery');
    await level(100);
    await settle();
    assert.deepEqual(changes(), ['POST 200', 'DELETE 200', 'POST 403']);
    trouble.listed(gateways[0]!).labels.pop();
  });

  it('tries again what was refused, and removes nothing that was not attached', async () => {
    await deployFresh();
    const refuse = service().faults.rest.add({ kind: 'status', status: 403, only: 'POST /api/v1/devices' });
    for (let times = 0; times < 2; times++) {
      await level(10);
      await red().next('tried', ({ error }) => error !== undefined);
    }
    refuse();
    await level(100);
    await settle();
    assert.deepEqual(changes(), ['POST 403', 'POST 403']);
  });

  it('knows its own label again when the answer to its call was lost', async () => {
    await deployFresh();
    service().faults.rest.add({ kind: 'reset', when: 'after', only: 'POST /api/v1/devices', times: 1 });
    await level(10);
    await red().next('tried', ({ error }) => error !== undefined);
    assert.ok(isLabelled());
    await level(100);
    await removed();
    assert.ok(!isLabelled());
  });

  it('says so when the service does not answer, and removes the label later', async () => {
    await deployFresh();
    await level(10);
    await attached();
    const refuse = service().faults.rest.add({ kind: 'status', status: 500, only: 'DELETE' });
    await level(100);
    await red().next('gone', ({ error }) => error !== undefined);
    refuse();
    await level(100);
    await removed();
    assert.ok(!isLabelled());
  });
});
