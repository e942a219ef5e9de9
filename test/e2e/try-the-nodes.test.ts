// The first five minutes of somebody without gateways: both packages are installed, and the simulator's samples run.
import assert from 'node:assert/strict';
import { freePort } from '../mosquitto.ts';
import { type FlowMessage, type NodeConfig, type NodeRed, startNodeRed, VERSIONS } from './node-red.ts';

const MENU = 'library/examples/flows/@mt-gateway/node-red-mt-simulator';

for (const version of VERSIONS) {
  describe(`both packages in an empty ${version.name}`, function () {
    this.timeout(60_000);
    let red: NodeRed;
    let ports: { mqtt: number; rest: number };
    before(async function () {
      this.timeout(180_000);
      red = await startNodeRed(version, {}, [], undefined, ['.', 'simulator']);
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

    async function deploySample(label: string): Promise<void> {
      const flow = (await red.call('GET', `${MENU}/${encodeURIComponent(label)}`)) as NodeConfig[];
      const nodes = flow.filter(({ type }) => type !== 'tab' && type !== 'group').map(atFreePorts);
      await red.deploy(nodes.map(({ g, ...node }) => (node.z ? { ...node, z: 'tab' } : node)));
    }

    const press = (button: string) => red.call('POST', `inject/${button}`).catch(() => undefined);
    const shows = (node: string, text: string) =>
      red.status(node, (status: FlowMessage) => String(status.text) === text);

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
      const answer = await fetch(`${red.url}/test-of-a-rule`);
      assert.deepEqual([answer.status, await answer.text()], [200, 'passed']);
      assert.equal(red.waiting('caught'), 0);
    });

    it('fails the test of a rule that does nothing', async () => {
      const flow = (await red.call('GET', 'flows')) as NodeConfig[];
      await red.call(
        'POST',
        'flows',
        flow.filter(({ id }) => id !== 'test-rule-write'),
      );
      let answer = await fetch(`${red.url}/test-of-a-rule`);
      while (answer.status === 404) {
        answer = await fetch(`${red.url}/test-of-a-rule`);
      }
      assert.equal(answer.status, 500);
      assert.match(await answer.text(), /^failed: the alarm was written 0 times/);
    });
  });
}
