// The sample Home Assistant discovery publishes what Home Assistant's documentation asks for, to a real broker,
// and tells it anew when that may be lost.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { connect, type MqttClient } from 'mqtt';
import { type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { openTrouble, type Trouble } from './harm.ts';
import { type Adaptation, deployTabs, listenTo, readSample } from './import.ts';

const SAMPLE = 'Home Assistant discovery';
const reports = 'sample-hass-reports';

interface Description {
  [key: string]: unknown;
  device: Record<string, unknown>;
}

/** What Home Assistant would have: the newest message of each topic. */
class Listener {
  readonly #topics = new Map<string, { text: string; retained: boolean }>();
  readonly #events = new EventEmitter();
  readonly client: MqttClient;
  count = 0;

  constructor(url: string) {
    this.client = connect(url);
    this.client.on('message', (topic, payload, { retain }) => {
      this.count++;
      this.#topics.set(topic, { text: payload.toString(), retained: retain });
      this.#events.emit('message');
    });
  }

  async start(): Promise<this> {
    await this.client.subscribeAsync(['homeassistant/#', 'mt-gateway/#'], { qos: 1 });
    return this;
  }

  /** Waits until this topic has a message that fits. */
  async on(topic: string, fits: (text: string) => boolean = () => true): Promise<string> {
    for (;;) {
      const text = this.#topics.get(topic)?.text;
      if (text !== undefined && fits(text)) {
        return text;
      }
      await once(this.#events, 'message', { signal: AbortSignal.timeout(30_000) });
    }
  }

  async described(topic: string): Promise<Description> {
    return JSON.parse(await this.on(topic)) as Description;
  }

  get topics(): string[] {
    return [...this.#topics.keys()];
  }

  forget(): void {
    this.#topics.clear();
    this.count = 0;
  }
}

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
    trouble = await openTrouble();
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

  async function deploy(adaptation: Adaptation = {}, isFresh = true): Promise<void> {
    if (isFresh) {
      await red().deploy([]);
    }
    const flow = await readSample(trouble.site, SAMPLE);
    const pointed = flow.map((node) =>
      node.type === 'mqtt-broker' ? { ...node, broker: '127.0.0.1', port: `${broker.port}` } : node,
    );
    await deployTabs(trouble.site, listenTo(pointed, adaptation));
    await trouble.ready(reports);
    await trouble.ready('sample-hass-out');
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

  it('tells 10 000 values anew at most, in portions, and says so', async () => {
    await red().deploy([]);
    const flow = await readSample(trouble.site, SAMPLE);
    const many = `msg.payload = Array.from({ length: 10001 }, (_, index) => ({
      device: 'e4a7c5102030', identifier: 'p' + index, value: index, age: 1,
    }));
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
    let told = 0;
    while (told < 10_000) {
      const portion = Number((await red().next('portions')).payload);
      assert.ok(portion <= 500, `${portion}`);
      told += portion;
    }
    await red().status('sample-hass-failed', ({ text }) => `${text}`.startsWith('more than 10000 values'));
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
