// The first five minutes of somebody without gateways: both packages are installed, and the simulator's samples run.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { DEFAULTS } from '../../simulator/node/config.ts';
import { freePort } from '../mosquitto.ts';
import {
  FAST_CLOCK,
  type FlowMessage,
  type NodeConfig,
  type NodeRed,
  OLDEST,
  startNodeRed,
  VERSIONS,
  WITH_ALL_NODES,
} from './node-red.ts';

const MENU = 'library/examples/flows/@mt-gateway';
const OWN = 'node-red-mt-simulator';
const LISTENING = new Set(['mt-last-value', 'mt-device-watch']);
const ASKING = new Set(['mt-report-in', 'mt-gw-read', 'mt-gw-write', 'mt-timestamped-ack']);
const OTHERS = readdirSync('examples')
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -'.json'.length));

/** What a sample has in the properties of its tab, in the places that name it. */
function withSettings(flow: NodeConfig[]): NodeConfig[] {
  const env = flow.flatMap((node) => (node.env ?? []) as { name: string; value: string }[]);
  const values = new Map(env.map(({ name, value }) => [name, value]));
  const text = JSON.stringify(flow).replace(/\$\{(\w+)\}/g, (all, name) => values.get(name) ?? all);
  return JSON.parse(text) as NodeConfig[];
}

for (const version of [...VERSIONS, OLDEST]) {
  describe(`both packages in an empty ${version.name}`, function () {
    this.timeout(60_000);
    let red: NodeRed;
    let ports: { mqtt: number; rest: number };
    before(async function () {
      this.timeout(180_000);
      red = await startNodeRed(version, WITH_ALL_NODES, FAST_CLOCK, undefined, ['.', 'simulator']);
      ports = { mqtt: await freePort(), rest: await freePort() };
    });
    after(() => red?.stop());

    /** On ports that are free: those of the samples may be somebody else's here. */
    function atFreePorts(node: NodeConfig): NodeConfig {
      if (node.type === 'mt-simulator') {
        // Faster than usual: every device has its turn soon.
        return { ...node, mqttPort: ports.mqtt, restPort: ports.rest, rate: Number(node.rate) * 10 };
      }
      const base = `http://localhost:${ports.rest}`;
      const addresses = { authUrl: base, baseUrl: base, brokerUrl: `mqtt://localhost:${ports.mqtt}` };
      return node.type === 'mt-service' ? { ...node, ...addresses } : node;
    }

    const readSample = async (label: string, from = OWN) =>
      (await red.call('GET', `${MENU}/${from}/${encodeURIComponent(label)}`)) as NodeConfig[];

    async function deploySample(label: string): Promise<void> {
      const flow = await readSample(label);
      const nodes = flow.filter(({ type }) => type !== 'tab' && type !== 'group').map(atFreePorts);
      await red.deploy(nodes.map(({ g, ...node }) => (node.z ? { ...node, z: 'tab' } : node)));
    }

    const press = (button: string) => red.call('POST', `inject/${button}`).catch(() => undefined);
    const shows = (node: string, text: string) =>
      red.status(node, (status: FlowMessage) => String(status.text) === text);

    /** As a build does, as soon as the flow is there. */
    async function testRule(): Promise<[number, string]> {
      let answer: Response;
      do {
        answer = await fetch(`${red.url}/test-of-a-rule`);
      } while (answer.status === 404);
      return [answer.status, await answer.text()];
    }

    it('shows 250 devices, a read that is answered, and an alarm that a rule switches', async () => {
      await deploySample('Try the nodes');
      await shows('try-heard', '250');
      await press('try-read-now');
      await shows('try-firmware', '3.4.1');
      await press('try-warm');
      await shows('try-alarm', 'alarm on');
      await press('try-cool');
      await shows('try-alarm', 'alarm off');
      assert.equal(red.waiting('caught'), 0);
    });

    it('tests a rule, for a person and for a build', async () => {
      await deploySample('Test of a rule');
      await red.status('test-rule-temperatures', ({ fill }) => fill === 'green');
      await red.status('test-rule-write', ({ fill }) => fill === 'green');
      await press('test-rule-run');
      await shows('test-rule-result', 'passed');
      assert.deepEqual(await testRule(), [200, 'passed']);
      assert.equal(red.waiting('caught'), 0);
    });

    it('fails the test of a rule that does nothing', async () => {
      const flow = (await red.call('GET', 'flows')) as NodeConfig[];
      await red.call(
        'POST',
        'flows',
        flow.filter(({ id }) => id !== 'test-rule-write'),
      );
      const [status, text] = await testRule();
      assert.equal(status, 500);
      assert.match(text, /^failed: the alarm was written 0 times/);
    });

    it('tests a rule that is not connected yet when it is', async () => {
      await deploySample('Test of a rule');
      assert.deepEqual(await testRule(), [200, 'passed']);
    });

    it('says what a rule waits for that finds no broker, not that it fails', async () => {
      const free = ports;
      try {
        const flow = (await readSample('Test of a rule')).map(atFreePorts);
        ports = { ...free, mqtt: await freePort() };
        const nodes = flow.map((node) => (node.type === 'mt-service' ? atFreePorts(node) : node));
        await red.deploy(nodes.map(({ g, ...node }) => (node.z ? { ...node, z: 'tab' } : node)));
        const [status, text] = await testRule();
        assert.equal(status, 500);
        assert.match(text, /^not run: Temperatures: (waiting|connecting)/);
      } finally {
        ports = free;
      }
    });

    it('says that the port is taken, not that the rule fails', async () => {
      const somebody = createServer().listen(0, '127.0.0.1');
      await once(somebody, 'listening');
      const free = ports;
      try {
        ports = { ...free, mqtt: (somebody.address() as AddressInfo).port };
        await deploySample('Test of a rule');
        await red.status('test-rule-simulator', ({ fill }) => fill === 'red');
        assert.deepEqual(await testRule(), [500, `not run: port ${ports.mqtt} is in use`]);
      } finally {
        ports = free;
        somebody.close();
      }
    });

    for (const label of OTHERS) {
      it(`has a simulator beside the sample ${label}, which finds it where it looks for it`, async () => {
        const flow = await readSample(label, 'node-red-mt-gateway');
        const simulator = { id: 'beside', type: 'mt-simulator', z: 'tab', ...DEFAULTS, wires: [[]] };
        const service = flow.find(({ type }) => type === 'mt-service');
        assert.deepEqual(
          [service?.authUrl, service?.baseUrl, service?.brokerUrl],
          [
            `http://localhost:${DEFAULTS.restPort}`,
            `http://localhost:${DEFAULTS.restPort}`,
            `mqtt://localhost:${DEFAULTS.mqttPort}`,
          ],
        );
        const nodes = withSettings(flow).filter(({ type }) => type !== 'tab' && type !== 'group');
        const own = nodes.map(atFreePorts).map(({ g, ...node }) => (node.z ? { ...node, z: 'tab' } : node));
        await red.deploy([...own, atFreePorts(simulator)]);
        // Those that ask only show something when they do.
        for (const { id } of own.filter(({ z, type }) => z && LISTENING.has(type))) {
          await red.status(
            id,
            ({ fill, text }) => fill !== 'red' && !/^(waiting|connecting)/.test(String(text)),
          );
        }
        for (const { id } of own.filter(({ z, type }) => z && ASKING.has(type))) {
          await red.status(id, ({ fill }) => fill === 'green');
        }
      });
    }
  });
}
