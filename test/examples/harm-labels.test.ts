// The sample Low battery to label removes only its own labels, whatever the service says and wherever Node-RED stops.
import assert from 'node:assert/strict';
import { FAST_CLOCK, type NodeConfig, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
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

const HOUR_MS = 3_600_000;
const SAMPLE = 'Low battery to label';
const LABEL = 'low-battery';
const watch = 'sample-battery-watch';
const taps = {
  'sample-battery-watch': 'watched',
  'sample-battery-list': 'listed',
  'sample-battery-there': 'looked',
  'sample-battery-later': 'told',
  'sample-battery-taken': 'tried',
  'sample-battery-gone': 'gone',
};

/** What is in the context of a flow is on the disk when Node-RED has ended. */
const SETTINGS = { contextStorage: { default: { module: 'localfilesystem' } } };

describe('the sample flow Low battery to label', function () {
  // A low battery is told after five seconds.
  this.timeout(60_000);
  let trouble: Trouble;
  let gateways: string[];
  let devices: string[];

  before(async function () {
    this.timeout(120_000);
    trouble = await openTrouble(SETTINGS, FAST_CLOCK);
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
  async function deployFresh(adaptation: Adaptation = {}): Promise<void> {
    await red().deploy([]);
    await forget();
    await deploySample(trouble.site, SAMPLE, { taps, ...adaptation });
    await isStarted();
  }

  /** Waits until the sample has asked its watch, for it then forgets what it has tried. */
  async function isStarted(): Promise<void> {
    await red().status(watch, ({ text }) => /need somebody$|^nothing heard yet$/.test(`${text}`));
    await answered();
    service().forgetCalls();
  }
  const answered = () => red().next('watched', ({ payload }) => Array.isArray(payload));
  /** What the sample does by itself every minute. */
  async function ask(): Promise<void> {
    await press(trouble.site, 'sample-battery-tick');
    await answered();
  }

  /** Forgets what came of an earlier test. */
  async function forget(): Promise<void> {
    for (const sink of [...Object.values(taps), 'statuses']) {
      while (red().waiting(sink) > 0) {
        await red().next(sink);
      }
    }
    service().forgetCalls();
  }

  /** Sets the clock so many hours ahead. */
  const passHour = (hours = 1) => setClock(trouble.site, hours * (HOUR_MS + 1000));
  const failed = (tap: string) => red().next(tap, ({ error }) => error !== undefined);
  /** How often the device list was asked for; its later pages do not count. */
  const looks = () =>
    service().calls.rest.filter(
      ({ method, path, query }) => method === 'GET' && path === '/api/v1/devices' && !('NextToken' in query),
    ).length;

  /** Another device becomes low. */
  const lowElsewhere = () => level(10, devices.at(-1), gateways[4]);

  /** Everything that was reported before has had its effect. @param isLow the other device is low already */
  async function settle(isLow = false): Promise<void> {
    await ask();
    await (isLow || lowElsewhere());
    await attached(gateways[4]);
    await level(100, devices.at(-1), gateways[4]);
    await removed(gateways[4]);
  }

  it('neither attaches nor removes a label that somebody else has attached', async () => {
    setLabelled(gateways[0]!, true);
    await deployFresh();
    await lowElsewhere();
    await level(100);
    await level(10);
    await red().next('listed');
    await level(100);
    await settle(true);
    assert.deepEqual(changes(), []);
    assert.ok(isLabelled());
  });

  it('attaches a label that exists already, and tries a removal no second time when the label is gone', async () => {
    service().portal.labels.add(LABEL);
    await deployFresh();
    await lowElsewhere();
    await level(10);
    await attached();
    setLabelled(gateways[0]!, false);
    await level(100);
    await removed();
    for (const value of [90, 100]) {
      await level(value);
    }
    await settle(true);
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

  it('attaches the label once where levels go up and down between both limits', async () => {
    await deployFresh();
    await lowElsewhere();
    for (const value of [39, 41, 38, 44, 20]) {
      await level(value);
    }
    await attached();
    for (const value of [44, 39, 44.9, 40]) {
      await level(value);
    }
    await settle(true);
    assert.deepEqual(changes(), ['POST 200']);
    await level(45);
    await removed();
  });

  for (const [what, remember] of [
    ['', 'default'],
    [', also where its watch has forgotten everything', ''],
  ] as const) {
    it(`keeps the label as long as one of the devices is low, over a deploy and a restart${what}`, async function () {
      this.timeout(120_000);
      await deployFresh({ service: { remember } });
      await level(10);
      await level(10, devices[1]);
      await attached();
      await deploySample(trouble.site, SAMPLE, { service: { remember }, taps });
      await isStarted();
      await level(100, devices[1]);
      await red().next('watched', ({ topic }) => topic === 'battery-low');
      await red().shutDown();
      trouble.site.red = await startNodeRed(VERSIONS[0]!, SETTINGS, FAST_CLOCK, red());
      await isStarted();
      // Kept by the gateway since before the battery was low.
      const time = new Date(Date.now() - 2 * HOUR_MS).toISOString();
      const sample = { time, value: 100, backfill: true, ack: false };
      await trouble.report('timestamped-decoded/battery-level', sample, devices[0], gateways[0]);
      for (const device of [devices[1], devices[2]]) {
        await level(100, device);
      }
      await settle();
      assert.ok(isLabelled());
      await level(100);
      while (isLabelled()) {
        await ask();
      }
      await removed();
    });
  }

  it('removes nothing after a restart that made it forget what it has attached', async () => {
    setLabelled(gateways[0]!, true);
    await deployFresh();
    await lowElsewhere();
    for (const device of devices.slice(0, 3)) {
      await level(100, device);
    }
    await settle(true);
    assert.ok(isLabelled());
  });

  it('moves the mark of a device that has moved to another gateway, not of one that two gateways hear', async () => {
    await deployFresh();
    await lowElsewhere();
    await level(10);
    await attached();
    for (const gateway of [gateways[1], gateways[0], gateways[1]]) {
      await level(10, devices[0], gateway);
    }
    await settle(true);
    assert.deepEqual([isLabelled(), isLabelled(gateways[1])], [true, false]);

    setLabelled(gateways[0]!, false);
    await deployFresh({ env: { MOVED_AFTER_SECONDS: '2' } });
    await level(10);
    await attached();
    await level(10, devices[0], gateways[1]);
    while (!isLabelled(gateways[1]) || isLabelled()) {
      await ask();
    }
    await attached(gateways[1]);
    await removed();
    await level(100, devices[0], gateways[1]);
    await removed(gateways[1]);
  });

  it('looks again for the label of somebody else, though the clock was set back', async () => {
    await deployFresh({ hasClock: true });
    await setClock(trouble.site, 86_400_000);
    setLabelled(gateways[0]!, true);
    await level(10);
    await red().next('listed');
    await setClock(trouble.site, 0);
    await ask();
    setLabelled(gateways[0]!, false);
    await setClock(trouble.site, 61 * 60_000);
    await ask();
    await attached();
  });

  it('removes its old label after a change of LABEL, and the new one only when it was attached', async () => {
    await deployFresh();
    await level(10);
    await attached();
    await deploySample(trouble.site, SAMPLE, { env: { LABEL: 'battery' }, taps });
    await removed();
    assert.ok(!isLabelled());

    const refuse = service().faults.rest.add({ kind: 'status', status: 403, only: 'POST /api/v1/devices' });
    await ask();
    await failed('tried');
    refuse();
    trouble.listed(gateways[0]!).labels.push('battery');
    await level(100);
    await settle();
    assert.deepEqual(changes(), ['POST 200', 'DELETE 200', 'POST 403']);
    trouble.listed(gateways[0]!).labels.pop();
  });

  it('tries again an hour later what was refused, and removes nothing that was not attached', async () => {
    await deployFresh({ hasClock: true });
    const refuse = service().faults.rest.add({ kind: 'status', status: 403, only: 'POST /api/v1/devices' });
    await level(10);
    await failed('tried');
    await passHour();
    await ask();
    await failed('tried');
    refuse();
    await passHour(2);
    await level(100);
    await settle();
    assert.deepEqual(changes(), ['POST 403', 'POST 403']);
  });

  for (const status of [400, 409, 422]) {
    it(`attaches a label also where the service answers ${status} for one that exists`, async () => {
      await deployFresh();
      const refuse = service().faults.rest.add({ kind: 'status', status, only: 'POST /api/v1/labels' });
      await level(10);
      await attached();
      refuse();
      assert.ok(isLabelled());
    });
  }

  for (const [what, only, status, tap] of [
    ['the device list', 'GET /api/v1/devices', 403, 'told'],
    ['a label that is to be created, as forbidden', 'POST /api/v1/labels', 403, 'told'],
    ['a label that is to be created', 'POST /api/v1/labels', 500, 'told'],
    ['a label that is to be attached', 'POST /api/v1/devices', 404, 'tried'],
    ['a label that is to be attached, and asks for patience', 'POST /api/v1/devices', 429, 'tried'],
    ['a label that is to be attached, by an error', 'POST /api/v1/devices', 500, 'tried'],
  ] as const) {
    it(`leaves a service in peace that refuses ${what}, until it is told to try again`, async () => {
      await deployFresh({ service: { httpRetries: 0 }, hasClock: true });
      const refuse = service().faults.rest.add({ kind: 'status', status, only });
      await level(10);
      await failed(tap);
      const tried = changes();
      for (const device of devices.slice(1, 20)) {
        await level(100, device);
        await level(10);
        await ask();
      }
      refuse();
      await settle();
      assert.deepEqual([changes(), looks()], [tried, 2]);
      assert.ok(!isLabelled());

      await press(trouble.site, 'sample-battery-start');
      await attached();
      assert.ok(isLabelled());
    });
  }

  it('asks for the device list once an hour for a gateway that is not in it', async () => {
    const { portal } = service();
    const all = portal.devices;
    portal.devices = all.filter(({ id }) => id !== `bmac-${gateways[0]}`);
    try {
      await deployFresh({ hasClock: true });
      await level(10);
      for (let times = 0; times < 2; times++) {
        await passHour(times);
        await (times > 0 && ask());
        await failed('told');
        for (let count = 0; count < 5; count++) {
          await level(10);
          await ask();
        }
      }
      await settle();
      assert.deepEqual([looks(), changes()], [3, []]);
    } finally {
      portal.devices = all;
    }
  });

  for (const [what, fault] of [
    ['a proxy that knows no service now', { only: 'DELETE ', body: '<html>404 Not Found</html>' }],
    ['the login, as a proxy knows none now', { only: 'POST /api/v1/auth', body: '404 page not found' }],
  ] as const) {
    it(`keeps in mind that the label is there where the 404 is that of ${what}`, async () => {
      await deployFresh({ hasClock: true });
      await lowElsewhere();
      await level(10);
      await attached();
      const refuse = service().faults.rest.add({ kind: 'status', status: 404, ...fault });
      service().tokens.revoke();
      await level(100);
      await failed('gone');
      refuse();
      assert.ok(isLabelled());
      await passHour();
      await ask();
      await removed();
      assert.ok(!isLabelled());
    });
  }

  it('leaves a removal in peace that was refused, and removes the label an hour later', async () => {
    await deployFresh({ service: { httpRetries: 0 }, hasClock: true });
    await level(10);
    await attached();
    const refuse = service().faults.rest.add({ kind: 'status', status: 500, only: 'DELETE' });
    await level(100);
    await failed('gone');
    for (let count = 0; count < 5; count++) {
      await level(100);
      await ask();
    }
    refuse();
    await settle();
    assert.deepEqual(changes(), ['POST 200', 'DELETE 500']);
    await passHour();
    await ask();
    await removed();
    assert.ok(!isLabelled());
  });

  it('knows its own label again when the response to its call was lost', async () => {
    await deployFresh({ hasClock: true });
    service().faults.rest.add({ kind: 'reset', when: 'after', only: 'POST /api/v1/devices', times: 1 });
    await level(10);
    await failed('tried');
    assert.ok(isLabelled());
    await passHour();
    await level(100);
    await removed();
    assert.ok(!isLabelled());
  });

  it('knows its own label again when a deploy took the response away and the next look fails', async () => {
    await deployFresh({ hasClock: true });
    service().faults.rest.add({ kind: 'hang', only: 'POST /api/v1/devices', times: 1 });
    await level(10);
    await red().next('looked');
    setLabelled(gateways[0]!, true);
    service().faults.rest.add({ kind: 'status', status: 403, only: 'GET /api/v1/devices', times: 1 });
    await deploySample(trouble.site, SAMPLE, { taps, hasClock: true });
    await failed('told');
    await passHour();
    await level(100);
    await removed();
    assert.ok(!isLabelled());
  });

  describe('after an attempt that never reached the service', () => {
    /** The sample whose call to attach a label goes through a service of its own. */
    async function deployUnreachable(change: object): Promise<void> {
      await red().deploy([]);
      const flow = await readSample(trouble.site, SAMPLE);
      const config = flow.find(({ type }) => type === 'mt-service')!;
      const own: NodeConfig = { ...config, id: 'unreachable', httpRetries: 0, ...change };
      const changed = flow.map((node) =>
        node.id === 'sample-battery-attach' ? { ...node, service: own.id } : node,
      );
      await forget();
      await deployTabs(trouble.site, listenTo([...changed, own], { taps, hasClock: true }));
      await isStarted();
    }

    for (const [what, change] of [
      ['because nobody listens there', { baseUrl: 'http://127.0.0.1:1' }],
      ['because the login is refused', { credentials: { username: 'demo', password: 'wrong' } }],
      ['because it is not configured', { baseUrl: '' }],
      ['because the login fails', { authUrl: 'failing' }],
    ] as const) {
      it(`leaves a label alone that somebody else has attached since: ${what}`, async () => {
        const failing = 'authUrl' in change ? { authUrl: `${service().urls.base}/failing` } : change;
        service().faults.rest.add({ kind: 'status', status: 500, only: 'POST /failing' });
        await deployUnreachable(failing);
        await level(10);
        await failed('tried');
        setLabelled(gateways[0]!, true);
        await passHour();
        await level(100);
        await level(10, devices.at(-1), gateways[4]);
        await failed('tried');
        assert.deepEqual(changes(), []);
        assert.ok(isLabelled());
      });
    }
  });

  for (const [name, value, problem] of [
    ['BATTERY_LOW', '', /makes no sense/],
    ['BATTERY_LOW', '46', /from 46 to 100: 45/],
    ['BATTERY_FINE', '101', /from 0 to 100: 101/],
    ['BATTERY_FINE', 'x', /Battery fine from must be a number/],
    ['MOVED_AFTER_SECONDS', '', /makes no sense/],
    ['LABEL', ' ', /makes no sense/],
  ] as const) {
    it(`says so when ${name} is "${value}", and asks nothing`, async () => {
      await red().deploy([]);
      await forget();
      await deploySample(trouble.site, SAMPLE, { env: { [name]: value }, taps });
      await level(10);
      assert.match(((await failed('told')).error as { message: string }).message, problem);
      assert.deepEqual(service().calls.rest, []);
    });
  }
});
