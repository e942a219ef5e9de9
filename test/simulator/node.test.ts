// The node mt-simulator in a real Node-RED with the installed package.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { connectAsync } from 'mqtt';
import {
  type FlowMessage,
  type NodeConfig,
  type NodeRed,
  sink,
  source,
  startNodeRed,
  VERSIONS,
} from '../e2e/node-red.ts';

const SIMULATOR: NodeConfig = {
  id: 'simulator',
  type: 'mt-simulator',
  mqttPort: 0,
  restPort: 0,
  rate: 0,
  wires: [['asked']],
};

const flowOf = (properties: Record<string, unknown> = {}): NodeConfig[] => [
  { ...SIMULATOR, ...properties },
  source('steer', ['simulator']),
  sink('asked'),
];

const isGreen = ({ fill }: FlowMessage): boolean => fill === 'green';
const isRed = ({ fill }: FlowMessage): boolean => fill === 'red';

for (const version of VERSIONS) {
  describe(`mt-simulator (${version.name})`, function () {
    this.timeout(15_000);
    let red: NodeRed;
    before(async function () {
      this.timeout(120_000);
      red = await startNodeRed(version, {}, [], undefined, ['simulator']);
    });
    after(() => red?.stop());

    /** Deploys a simulator that runs; its ports are in its status. */
    async function run(
      properties: Record<string, unknown> = {},
    ): Promise<{ text: string; mqtt: number; rest: number }> {
      await red.deploy(flowOf(properties));
      const text = String((await red.status('simulator', isGreen)).text);
      const [, mqtt, rest] = /^MQTT (\d+), REST (\d+): /.exec(text) ?? assert.fail(text);
      return { text, mqtt: Number(mqtt), rest: Number(rest) };
    }

    async function problem(properties: Record<string, unknown>): Promise<string> {
      await red.deploy(flowOf(properties));
      return String((await red.status('simulator', isRed)).text);
    }

    /** The error of this text; others of earlier flows are skipped. */
    async function told(text: string): Promise<FlowMessage> {
      for (;;) {
        const error = await red.caught('simulator');
        if (error.message === text) {
          return error;
        }
      }
    }

    it('shows the ports and the size of its network, and has all devices in its list', async () => {
      const { text, rest } = await run({ gateways: 3, devices: 250 });
      assert.ok(text.endsWith(': 3 gateways, 250 devices'), text);
      const login = { method: 'POST', body: '{"username":"demo","password":"demo-password"}' };
      const answer = await fetch(`http://127.0.0.1:${rest}/api/v1/auth/login`, login);
      const { authToken } = (await answer.json()) as { authToken: string };
      const headers = { authorization: `Bearer ${authToken}` };
      const list = await fetch(`http://127.0.0.1:${rest}/api/v1/devices?MaxResults=1000`, { headers });
      assert.equal(((await list.json()) as { items: unknown[] }).items.length, 253);
    });

    it('sends what it was asked, one message for each request and call, and no password', async () => {
      const { mqtt, rest } = await run();
      const client = await connectAsync(`mqtt://127.0.0.1:${mqtt}`);
      const topic = 'mt/gateway/c0141f68fc3d/request/e4a7c5102030/read/8001';
      await client.publishAsync(topic, '{"id":"7"}');
      const asked = await red.next('asked', (msg) => msg.topic === topic);
      assert.deepEqual(asked.payload, { id: '7' });
      await client.endAsync(true);
      const body = '{"username":"demo","password":"demo-password"}';
      await fetch(`http://127.0.0.1:${rest}/api/v1/auth/login?a=1`, { method: 'POST', body });
      const login = await red.next('asked', (msg) => String(msg.topic).includes('?a=1'));
      assert.deepEqual([login.topic, login.payload], ['POST /api/v1/auth/login?a=1', { username: 'demo' }]);
    });

    for (const [body, payload] of [
      ['{"username":"me","password":"secret"}', { username: 'me' }],
      ['{"Password":"secret","a":[{"newPassword":{"is":"secret"},"b":1}]}', { a: [{ b: 1 }] }],
      ['username=me&password=secret', null],
      [`{"password":"secret","x":"${'x'.repeat(2_000)}"}`, null],
      ['"password: secret"', null],
      ['name=Roof', 'name=Roof'],
    ] as const) {
      it(`tells no password of ${body.slice(0, 70)}, wherever it was sent to`, async () => {
        const { rest } = await run();
        await fetch(`http://127.0.0.1:${rest}/api/v1/api/v1/auth/login`, { method: 'POST', body });
        const login = await red.next('asked', ({ topic }) => topic === 'POST /api/v1/api/v1/auth/login');
        assert.deepEqual(login.payload, payload);
      });
    }

    for (const [what, body, payload] of [
      ['that is no JSON', '{bad', '{bad'],
      ['that is a list', '[1]', [1]],
      ['without a body', '', null],
      ['with a password', '{"id":"7","password":"secret"}', { id: '7' }],
      ['of 5 000 characters', `{"id":"${'x'.repeat(5_000)}"}`, `{"id":"${'x'.repeat(1_993)}`],
    ] as const) {
      it(`sends a request ${what}`, async () => {
        const { mqtt } = await run();
        const client = await connectAsync(`mqtt://127.0.0.1:${mqtt}`);
        const topic = 'mt/gateway/c0141f68fc3d/request/e4a7c5102030/read/8001';
        await client.publishAsync(topic, body);
        const asked = await red.next('asked', (msg) => msg.topic === topic);
        assert.deepEqual(asked.payload, payload);
        await client.endAsync(true);
      });
    }

    it('sends the beginning of a body that is too long to be answered, and of one that is broken off', async () => {
      const { rest } = await run();
      const url = `http://127.0.0.1:${rest}/api/v1/jobs`;
      await assert.rejects(fetch(url, { method: 'POST', body: 'x'.repeat(3_000_000) }));
      const long = await red.next('asked', ({ topic }) => topic === 'POST /api/v1/jobs');
      assert.equal(long.payload, 'x'.repeat(2_000));
      const socket = connect(rest, '127.0.0.1');
      await once(socket, 'connect');
      socket.end('PUT /api/v1/x HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n12');
      const short = await red.next('asked', ({ topic }) => topic === 'PUT /api/v1/x');
      assert.equal(short.payload, '12');
    });

    it('publishes what a message asks for', async () => {
      const { mqtt } = await run();
      const client = await connectAsync(`mqtt://127.0.0.1:${mqtt}`);
      await client.subscribeAsync('mt/gateway/+/device/+/event/#');
      const heard = new Promise<string>((resolve) => client.once('message', (topic) => resolve(topic)));
      red.send('steer', { payload: { kind: 'event', identifier: 'ee8001', value: '01' } });
      assert.equal(await heard, 'mt/gateway/c0141f68fc3d/device/e4a7c5102030/event/ee8001');
      await client.endAsync(true);
    });

    it('hands a message that asks for nothing to the Catch nodes', async () => {
      await run();
      red.send('steer', { payload: { kind: 'nonsense' } });
      const { cause, message } = await red.caught('simulator');
      assert.deepEqual(cause, { field: 'kind', value: 'nonsense' });
      assert.match(String(message), /kind/);
    });

    for (const [what, make] of [
      ['is nested too deep for a copy', "msg.payload = JSON.parse('['.repeat(20000) + ']'.repeat(20000));"],
      ['throws null when a part of it is read', 'msg.payload = { get kind() { throw null; } };'],
      [
        'throws when its payload is read',
        "Object.defineProperty(msg, 'payload', { enumerable: true, get() { throw 1; } });",
      ],
      ['is done and cannot be copied', 'msg.payload = { rate: 0 }; msg.trap = { get a() { throw 1; } };'],
    ] as const) {
      it(`hands a message that ${what} to the Catch nodes`, async () => {
        const func = `${make}\nreturn msg;`;
        const complete = { id: 'complete', type: 'complete', scope: ['simulator'], wires: [[]] };
        const odd = { id: 'odd', type: 'function', outputs: 1, func, wires: [['simulator']] };
        await red.deploy([SIMULATOR, sink('asked'), odd, source('make', ['odd']), complete]);
        red.send('make', {});
        assert.equal((await red.caught('simulator')).code, 'INVALID_INPUT');
      });
    }

    it('shows that a gateway is away, and says so where a report of it is asked for', async () => {
      await run();
      red.send('steer', { payload: { gateway: 'c0141f68fc3d', away: true } });
      await red.status('simulator', ({ text }) => String(text).includes('4 of 5 gateways'));
      red.send('steer', { payload: { kind: 'heartbeat', gateway: 'c0141f68fc3d' } });
      assert.equal((await red.caught('simulator')).code, 'NOT_CONNECTED');
    });

    it('says which port is in use, and starts when it is free', async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as { port: number };
      assert.equal(await problem({ restPort: port }), `port ${port} is in use`);
      assert.equal(await problem({ mqttPort: port }), `port ${port} is in use`);
      const free = once(other, 'close');
      other.close();
      await free;
      const { text } = await red.status('simulator', isGreen);
      assert.ok(String(text).startsWith(`MQTT ${port},`), String(text));
    });

    for (const [properties, text] of [
      [{ mqttPort: 80 }, 'port 80 is below 1024'],
      [{ restPort: 1023 }, 'port 1023 is below 1024'],
      [{ mqttPort: 65_536 }, 'port 65536 is out of range'],
      [{ restPort: -1 }, 'port -1 is out of range'],
      [{ restPort: 'http' }, 'port http is out of range'],
      [{ mqttPort: '' }, 'port  is out of range'],
      [{ mqttPort: 11_883, restPort: '11883' }, 'both ports are 11883'],
      [{ gateways: 0 }, 'Gateways: 1 to 100'],
      [{ gateways: 1.5 }, 'Gateways: a whole number, 1 to 100'],
      [{ devices: '' }, 'Devices: 0 to 10000'],
      [{ devices: 10_001 }, 'Devices: 0 to 10000'],
      [{ rate: 'fast' }, 'Reports: fast is no number'],
      [{ gateways: '$' + '{NOPE}' }, 'Gateways: $' + '{NOPE} is no number'],
      [{ lost: -5 }, 'Lost answers: 0 to 100'],
      [{ mode: 'cooked' }, 'Reports are: no such choice'],
      [{ away: 'x' }, 'A gateway goes away now and then: no such choice'],
    ] as const) {
      it(`says that ${JSON.stringify(properties)} cannot be, and refuses messages`, async () => {
        assert.equal(await problem(properties), text);
        const [setting] = Object.entries(properties).slice(-1);
        const expected = ['INVALID_INPUT', { field: setting?.[0], value: setting?.[1] }];
        const atStart = await told(text);
        assert.deepEqual([atStart.code, atStart.cause], expected);
        red.send('steer', { payload: { rate: 1 } });
        const { code, cause } = await told(text);
        assert.deepEqual([code, cause], expected);
      });
    }

    it('refuses messages while its port is in use, and says which', async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as { port: number };
      const text = await problem({ restPort: port });
      await told(text);
      red.send('steer', { payload: { rate: 1 } });
      assert.equal((await told(text)).code, 'NOT_CONNECTED');
      other.close();
    });

    /** Asks the first gateway for its API version so many times, one after the other; it takes 10 ms at least. */
    async function askOften(mqtt: number, times: number): Promise<void> {
      const client = await connectAsync(`mqtt://127.0.0.1:${mqtt}`);
      const way = (kind: string) => `mt/gateway/c0141f68fc3d/${kind}/c0141f68fc3d/apiversion`;
      await client.subscribeAsync(way('response'));
      for (let left = times; left > 0; left--) {
        const responded = new Promise((resolve) => client.once('message', resolve));
        await client.publishAsync(way('request'), '{"id":"1"}');
        await responded;
      }
      await client.endAsync(true);
    }

    it('runs without any device', async () => {
      const { text, mqtt } = await run({ devices: 0, rate: 1000 });
      assert.ok(text.endsWith(': 5 gateways, 0 devices'), text);
      await askOften(mqtt, 20);
    });

    it('goes on while no device reports, and publishes again when one does', async () => {
      const { mqtt } = await run({ gateways: 1, devices: 1, rate: 1000 });
      red.send('steer', { payload: { device: 'e4a7c5102030', silent: true } });
      await askOften(mqtt, 20);
      const client = await connectAsync(`mqtt://127.0.0.1:${mqtt}`);
      await client.subscribeAsync('mt/gateway/+/device/e4a7c5102030/heartbeat');
      const heard = new Promise((resolve) => client.once('message', resolve));
      red.send('steer', { payload: { device: 'e4a7c5102030', silent: false } });
      await heard;
      await client.endAsync(true);
    });

    it('runs with 10 000 devices', async () => {
      const { text } = await run({ devices: 10_000, rate: 100 });
      assert.ok(text.endsWith('5 gateways, 10000 devices'), text);
    });

    it('closes within 2 seconds of the deploy, also while clients are connected and a call hangs', async () => {
      const { mqtt, rest } = await run({ rate: 100 });
      const client = await connectAsync(`mqtt://127.0.0.1:${mqtt}`, { reconnectPeriod: 0 });
      await client.subscribeAsync('#', { qos: 1 });
      const hanging = connect(rest, '127.0.0.1');
      await once(hanging, 'connect');
      hanging.write('POST /api/v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{');
      const closed = [
        once(hanging, 'close'),
        new Promise<void>((resolve) => client.once('close', () => resolve())),
      ];
      hanging.on('error', () => {});
      const began = performance.now();
      await red.deploy([sink('asked')]);
      await Promise.all(closed);
      assert.ok(performance.now() - began < 2000, `${performance.now() - began} ms`);
      assert.doesNotMatch(red.log(), /Error stopping node|Close timed out/);
    });

    it('is reached on 127.0.0.1 only', async function () {
      const outside = Object.values(networkInterfaces())
        .flat()
        .find((address) => address?.family === 'IPv4' && !address.internal);
      if (!outside) {
        this.skip();
      }
      const { mqtt, rest } = await run();
      for (const port of [mqtt, rest]) {
        const socket = connect(port, outside.address);
        const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
        assert.equal(error.code, 'ECONNREFUSED');
      }
    });
  });
}
