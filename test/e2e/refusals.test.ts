// Who hears of a refusal by the broker, which belongs to no message: each Catch node, once.
import assert from 'node:assert/strict';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { type NodeConfig, type NodeRed, sink, source, startNodeRed, VERSIONS } from './node-red.ts';

const KINDS = ['heartbeat', 'rssi', 'dfu', 'event'];
const place = { x: 0, y: 0, z: 'tab' };

/** Catch nodes, by what they listen to. */
const LISTENING: Record<string, Record<string, object>> = {
  'nodes of the tab': {
    all: { scope: null },
    one: { scope: ['rssi'] },
    two: { scope: ['rssi', 'dfu'] },
    other: { scope: ['read'] },
  },
  'the nodes of a group': { all: { scope: null }, group: { scope: 'group', g: 'group' } },
};

for (const version of VERSIONS) {
  describe(`a refused login (${version.name})`, () => {
    let broker: ScriptedBroker;
    let red: NodeRed;

    before(async function () {
      this.timeout(120_000);
      broker = await startScriptedBroker({ connackCode: 5 });
      red = await startNodeRed(version);
    });
    after(async () => {
      await red?.stop();
      await broker?.stop();
    });

    for (const [what, listening] of Object.entries(LISTENING)) {
      it(`reaches each Catch node once, however many nodes use the service: some that listen to ${what}`, async () => {
        const ids = Object.keys(listening);
        const nodes: NodeConfig[] = [
          { id: 'svc', type: 'mt-service', brokerUrl: broker.url },
          { ...place, id: 'group', type: 'group', nodes: ['event', 'catch-group'] },
          ...KINDS.map((kind) => ({
            ...place,
            ...{ id: kind, type: 'mt-report-in', service: 'svc', kinds: [kind], wires: [[]] },
            ...(kind === 'event' && { g: 'group' }),
          })),
          { ...place, id: 'read', type: 'mt-gw-read', service: '', g: 'group', wires: [[]] },
          source('ask', ['read']),
          ...ids.flatMap((id) => [
            { ...place, id: `catch-${id}`, type: 'catch', wires: [[`heard-${id}`]], ...listening[id] },
            sink(`heard-${id}`),
          ]),
        ];
        await red.deploy(nodes);
        for (const id of ids.filter((one) => one !== 'other')) {
          assert.equal(codeOf(await red.next(`heard-${id}`)), 'NOT_CONNECTED', id);
        }
        // What would come twice comes before this.
        red.send('ask', { gateway: 'nowhere' });
        for (const id of ids.filter((one) => one !== 'one' && one !== 'two')) {
          assert.equal(codeOf(await red.next(`heard-${id}`)), 'NOT_CONFIGURED', id);
        }
        assert.deepEqual(
          ids.map((id) => red.waiting(`heard-${id}`)),
          ids.map(() => 0),
        );
      });
    }
  });
}

const codeOf = ({ error }: Record<string, unknown>) => (error as { code?: string } | undefined)?.code;
