// The sample Home Assistant discovery publishes what Home Assistant's documentation asks for, to a real broker,
// and tells it anew when that may be lost.
import assert from 'node:assert/strict';
import { FAST_CLOCK, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { openTrouble, type Trouble } from './harm.ts';
import { Listener } from './home-assistant.ts';
import { type Adaptation, deployTabs, listenTo, readSample, setClock } from './import.ts';

const SAMPLE = 'Home Assistant discovery';
const reports = 'sample-hass-reports';
const HOUR_MS = 3_600_000;
const SETTINGS = { contextStorage: { default: { module: 'localfilesystem' } } };

describe('the sample flow Home Assistant discovery', () => {
  let trouble: Trouble;
  /** Home Assistant's broker. */
  let broker: Mosquitto;
  let home: Listener;
  let device: string;

  before(async function () {
    this.timeout(120_000);
    requirePrograms(this, 'mosquitto', 'mosquitto_pub');
    broker = await startMosquitto();
    trouble = await openTrouble(SETTINGS, FAST_CLOCK);
    device = trouble.sensor.mac;
  });
  beforeEach(async () => {
    home = await new Listener(broker.url).start();
  });
  afterEach(async () => {
    trouble.recover();
    await home.client.endAsync(true);
  });
  after(async () => {
    await trouble?.site.close();
    await broker?.stop();
  });

  const red = () => trouble.site.red;
  const measure = (value: unknown, name = 'temperature', of = device) =>
    trouble.report(`measurement-decoded/${name}`, { seq: 1, value }, of);
  const config = (component: string, object: string, of = device) =>
    `homeassistant/${component}/${of}/${object}/config`;
  const state = (object: string, of = device) => `mt-gateway/${of}/${object}/state`;

  /** @param chosen settings of the node "Values" */
  async function deploy(adaptation: Adaptation = {}, isFresh = true, chosen: object = {}): Promise<void> {
    if (isFresh) {
      await red().deploy([]);
    }
    const flow = await readSample(trouble.site, SAMPLE);
    const pointed = flow.map((node) => {
      if (node.type === 'mqtt-broker') {
        return { ...node, broker: '127.0.0.1', port: `${broker.port}` };
      }
      return node.id === reports ? { ...node, ...chosen } : node;
    });
    await deployTabs(trouble.site, listenTo(pointed, adaptation));
    await trouble.ready(reports);
    await trouble.ready('sample-hass-out');
  }

  /** Home Assistant starts after the pause that begins with the deploy; for a sample with a clock. */
  async function startHome(aheadMs = 0): Promise<void> {
    await setClock(trouble.site, aheadMs + 60_000);
    await home.client.publishAsync('homeassistant/status', 'online');
  }

  it('tells of every kind of value with the keys that the documentation requires, and of its device', async () => {
    await deploy();
    await measure(21.5);
    await measure(640, 'light-intensity');
    await trouble.report('measurement/8801', { seq: 2, value: '3c657a40' });
    await trouble.report('property-decoded/battery-level', { value: 57 });
    await trouble.report('property-decoded/alarm', { value: true });
    await measure(16, 'motion');
    assert.deepEqual(await home.described(config('sensor', 'temperature')), {
      name: 'Temperature',
      unique_id: `mt_gateway_${device}_temperature`,
      state_topic: state('temperature'),
      state_class: 'measurement',
      unit_of_measurement: '°C',
      device_class: 'temperature',
      expire_after: 3600,
      device: {
        identifiers: [`mt_gateway_${device}`],
        name: `Device ${device}`,
        connections: [['mac', device.match(/../g)?.join(':')]],
      },
      origin: { name: 'node-red-mt-gateway' },
    });
    const kinds = [
      ['sensor', 'light-intensity', 'illuminance', 'lx', '640'],
      ['sensor', 'pressure', 'atmospheric_pressure', 'hPa', '1013.283392'],
      ['sensor', 'battery-level', 'battery', '%', '57'],
      ['binary_sensor', 'alarm', undefined, undefined, 'ON'],
      ['binary_sensor', 'motion', 'motion', undefined, 'ON'],
    ] as const;
    for (const [component, object, deviceClass, unit, value] of kinds) {
      const described = await home.described(config(component, object));
      assert.deepEqual([described.device_class, described.unit_of_measurement], [deviceClass, unit], object);
      assert.equal(described.state_topic, state(object));
      assert.equal(await home.on(state(object)), value);
    }
    await measure(0, 'motion');
    await home.on(state('motion'), (text) => text === 'OFF');
  });

  it('lets the broker keep the descriptions and no values, and tells each once, over a deploy too', async () => {
    await deploy();
    await measure(20);
    await home.on(state('temperature'));
    home.forget();
    await deploy({}, false);
    await measure(21);
    await home.on(state('temperature'), (text) => text === '21');
    const late = await new Listener(broker.url).start();
    try {
      await late.on(config('sensor', 'temperature'));
      await late.client.publishAsync('mt-gateway/end', 'x');
      await late.on('mt-gateway/end');
      assert.ok(!late.topics.includes(state('temperature')));
    } finally {
      await late.client.endAsync(true);
    }
  });

  it('tells everything anew, with the last values, when Home Assistant starts', async () => {
    await deploy();
    await measure(20);
    await measure(30, 'temperature', trouble.site.service.fleet.devices[1]!.mac);
    await home.on(state('temperature', trouble.site.service.fleet.devices[1]!.mac));
    await home.client.publishAsync(config('sensor', 'temperature'), '', { retain: true });
    await home.on(config('sensor', 'temperature'), (text) => text === '');
    home.forget();
    await home.client.publishAsync('homeassistant/status', 'offline');
    await home.client.publishAsync('homeassistant/status', 'online');
    assert.equal((await home.described(config('sensor', 'temperature'))).name, 'Temperature');
    assert.equal(await home.on(state('temperature')), '20');
  });

  it('tells nothing anew that it has not told before: not chosen, an event, a sample, or kept by the broker', async () => {
    await red().deploy([]);
    // What the flow of the test before has sent last may still be on its way.
    await home.client.publishAsync('mt-gateway/last', '', { qos: 1 });
    await home.on('mt-gateway/last');
    home.forget();
    const { mac, home: own } = trouble.sensor;
    const { service } = trouble.site;
    const topic = 'measurement-decoded/temperature';
    const other = service.fleet.devices[1]!;
    const kept = { time: new Date().toISOString(), seq: 1, value: 900 };
    await service.publish(other.home.mac, other.mac, topic, kept, true);
    await deploy({ hasClock: true }, true, { identifiers: ['temperature', 'motion'] });
    await measure(55, 'humidity');
    await trouble.report('event-decoded/motion', { seq: 3, value: 16 });
    const sample = { time: new Date().toISOString(), value: 640, backfill: true, ack: false };
    await trouble.report('timestamped-decoded/temperature', sample, own.mac);
    await measure(20);
    await home.on(state('temperature'));
    home.forget();
    await startHome();
    await home.described(config('sensor', 'temperature'));
    await measure(21);
    await home.on(state('temperature'), (text) => text === '21');
    await service.publish(other.home.mac, other.mac, topic, '', true);
    assert.deepEqual(home.topics.sort(), [
      config('sensor', 'temperature', mac),
      'homeassistant/status',
      state('temperature', mac),
    ]);
  });

  it('tells a value that it has told anew, though another gateway or an event has brought one since', async () => {
    const { mac, home: own } = trouble.sensor;
    const other = trouble.site.service.gateways.find((gateway) => gateway.mac !== own.mac)!;
    await deploy({ hasClock: true }, true, { gateways: [own.mac] });
    await measure(16, 'motion');
    await measure(20);
    await home.on(state('temperature'));
    await trouble.report('event-decoded/motion', { seq: 3, value: 0 });
    await trouble.report('measurement-decoded/temperature', { seq: 2, value: 99 }, mac, other.mac);
    home.forget();
    await startHome();
    assert.equal(await home.on(state('temperature')), '20');
    assert.equal(await home.on(state('motion')), 'ON');
  });

  it('tells nothing anew that is older than EXPIRE_AFTER_MINUTES, and describes it with its next value', async () => {
    await deploy({ hasClock: true });
    await measure(20);
    await home.on(state('temperature'));
    await setClock(trouble.site, 2 * HOUR_MS);
    await measure(55, 'humidity');
    await home.on(state('humidity'));
    home.forget();
    await startHome(2 * HOUR_MS);
    await home.described(config('sensor', 'humidity'));
    await measure(56, 'humidity');
    await home.on(state('humidity'), (text) => text === '56');
    assert.ok(!home.topics.some((topic) => topic.includes('temperature')));
    await measure(21);
    assert.equal(await home.on(state('temperature')), '21');
    await home.described(config('sensor', 'temperature'));
  });

  it('tells at once after a restart what it had told, where the context is on disk', async function () {
    this.timeout(120_000);
    await deploy();
    await measure(20);
    await home.on(state('temperature'));
    await red().shutDown();
    home.forget();
    trouble.site.red = await startNodeRed(VERSIONS[0]!, SETTINGS, FAST_CLOCK, red());
    await red().next('sample-hass-tab-started');
    assert.equal(await home.on(state('temperature')), '20');
    await home.described(config('sensor', 'temperature'));
  });

  it('passes on no sample that its gateway had kept, where samples are chosen too', async () => {
    await deploy({}, true, { kinds: ['measurement', 'timestamped'] });
    const time = new Date().toISOString();
    await trouble.report('timestamped-decoded/temperature', { time, value: 30, backfill: true, ack: false });
    await trouble.report('timestamped-decoded/humidity', { time, value: 55, backfill: false, ack: false });
    assert.equal(await home.on(state('humidity')), '55');
    assert.ok(!home.topics.includes(state('temperature')));
  });

  it('tells everything anew a few times only, however often somebody says that Home Assistant starts', async () => {
    await deploy();
    await measure(20);
    await home.on(state('temperature'));
    home.forget();
    for (let count = 0; count < 200; count++) {
      await home.client.publishAsync('homeassistant/status', 'online');
    }
    await home.described(config('sensor', 'temperature'));
    await measure(21);
    await home.on(state('temperature'), (text) => text === '21');
    const told = home.count - 200;
    assert.ok(told < 20, `${told} messages`);
  });

  it('tells everything anew when its broker was away, what was reported meanwhile too', async () => {
    await deploy();
    await measure(20);
    await home.on(state('temperature'));
    await broker.kill();
    await red().status('sample-hass-out', ({ fill }) => fill !== 'green');
    await measure(55, 'humidity');
    await measure(22);
    home.forget();
    await broker.start();
    await home.on(state('humidity'), (text) => text === '55');
    await home.on(state('temperature'), (text) => text === '22');
    await home.described(config('sensor', 'temperature'));
    await home.described(config('sensor', 'humidity'));
  });

  it('tells nothing of values that are missing, no number, or that the broker had kept', async () => {
    await red().deploy([]);
    const { mac, home: own } = trouble.sensor;
    const topic = 'measurement-decoded/pressure';
    const { service } = trouble.site;
    await service.publish(own.mac, mac, topic, { time: 'then', seq: 1, value: 900 }, true);
    await deploy();
    for (const value of [null, undefined, 'x', {}, []]) {
      await measure(value, 'humidity');
    }
    await measure(20);
    await home.on(state('temperature'), (text) => text === '20');
    await service.publish(own.mac, mac, topic, '', true);
    const told = home.topics.filter((one) => /(humidity|pressure)[/]state/.test(one));
    assert.deepEqual(told, []);
  });

  it('makes valid topics and ids of any property name, and writes to no other topic', async () => {
    await deploy();
    for (const name of ['a b', 'Größe/#', '+', '__proto__', 'constructor', 'x'.repeat(200)]) {
      await measure(1, encodeURIComponent(name));
    }
    await measure(20);
    await home.on(state('temperature'), (text) => text === '20');
    for (const topic of home.topics.filter((one) => one.startsWith('homeassistant/'))) {
      assert.match(topic, /^homeassistant[/](binary_)?sensor[/][0-9a-f]{12}[/][\w-]{1,64}[/]config$/);
    }
    assert.ok(home.topics.includes(config('sensor', '__proto__')));
    assert.ok(home.topics.includes(state('constructor')));
  });

  it('tells the name of a gateway as soon as it is known', async () => {
    const { mac } = trouble.sensor.home;
    await deploy({ service: { names: true } });
    const topic = config('sensor', 'temperature', mac);
    const named = async (name: string) => {
      for (let seen = 0; ; seen++) {
        await measure(seen, 'temperature', mac);
        await home.on(state('temperature', mac), (text) => text === `${seen}`);
        if ((await home.described(topic)).device.name === name) {
          return;
        }
      }
    };
    await named(trouble.listed(mac).friendlyName);
  });

  for (const value of ['', 'x', '-1']) {
    it(`says so when EXPIRE_AFTER_MINUTES is "${value}", and tells nothing`, async () => {
      await deploy({ env: { EXPIRE_AFTER_MINUTES: value } });
      home.forget();
      await measure(20);
      await red().status('sample-hass-failed', ({ text }) => `${text}`.startsWith('EXPIRE_AFTER_MINUTES'));
      assert.deepEqual(
        home.topics.filter((topic) => topic !== 'homeassistant/status'),
        [],
      );
    });
  }

  it('tells 10 000 values anew in portions', async () => {
    await red().deploy([]);
    const flow = await readSample(trouble.site, SAMPLE);
    const many = `flow.set('told', Object.fromEntries(Array.from({ length: 10000 }, (_, index) => [
      'sensor ' + index,
      { device: 'e4a7c5102030', deviceName: 'x', name: 'p' + index, value: index, heard: Date.now(), isDescribed: true },
    ])));
    const sendAll = node.send;
    node.send = ([messages]) => sendAll({ payload: messages.length });`;
    const changed = flow.map((node) => {
      if (node.type === 'mqtt-broker') {
        return { ...node, broker: '127.0.0.1', port: `${broker.port}` };
      }
      return node.id === 'sample-hass-rows' ? { ...node, func: `${many}\n${node.func}` } : node;
    });
    await deployTabs(trouble.site, listenTo(changed, { taps: { 'sample-hass-rows': 'portions' } }));
    await trouble.ready(reports);
    await trouble.ready('sample-hass-out');
    await home.client.publishAsync('homeassistant/status', 'online');
    for (let told = 0; told < 10_000; ) {
      const portion = Number((await red().next('portions')).payload);
      assert.ok(portion > 0 && portion <= 500, `${portion}`);
      told += portion;
    }
  });

  it('tells of 10 000 properties at most, and says so', async () => {
    await red().deploy([]);
    const flow = await readSample(trouble.site, SAMPLE);
    const full = `if (Object.keys(flow.get('told') ?? {}).length < 10000) {
      flow.set('told', Object.fromEntries(Array.from({ length: 10000 }, (_, index) => [\`sensor \${index}\`, 'x'])));
    }`;
    const changed = flow.map((node) =>
      node.id === 'sample-hass-entity' ? { ...node, func: `${full}\n${node.func}` } : node,
    );
    await deployTabs(trouble.site, listenTo(changed));
    await trouble.ready(reports);
    await measure(20);
    await red().status('sample-hass-failed', ({ text }) => `${text}`.startsWith('more than 10000'));
  });
});
