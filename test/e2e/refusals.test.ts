// Who hears of a refusal by the broker, which belongs to no message: each Catch node, once.
import assert from 'node:assert/strict';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { type NodeConfig, type NodeRed, sink, source, startNodeRed, VERSIONS } from './node-red.ts';

// A tab of its own: on the other one a Catch node hears everything.
const place = { x: 0, y: 0, z: 'plant' };
const KINDS = ['heartbeat', 'rssi', 'dfu', 'event'];

const reportIn = (id: string, more: object = {}): NodeConfig => ({
  ...place,
  ...{ id, type: 'mt-report-in', service: 'svc', kinds: ['heartbeat'], wires: [[]] },
  ...more,
});

const NODES = [
  { ...place, id: 'group', type: 'group', nodes: ['event', 'read'] },
  ...KINDS.map((id) => reportIn(id, id === 'event' ? { g: 'group' } : {})),
  { ...place, id: 'read', type: 'mt-gw-read', service: '', g: 'group', wires: [[]] },
];

/** Of two nodes each, three times. */
const SUBFLOWS = [
  { id: 'sub', type: 'subflow', name: 'sub', in: [], out: [] },
  ...['in-1', 'in-2'].map((id) => reportIn(id, { z: 'sub' })),
  ...['first', 'second', 'third'].map((id) => ({ ...place, id, type: 'subflow:sub', wires: [] })),
];

interface Case {
  nodes: NodeConfig[];
  /** Catch nodes, by what they listen to. */
  listening: Record<string, object>;
  /** Which have it, each as often as it stands here. */
  heard: string[];
}

const CASES: Record<string, Case> = {
  'which listen to nodes of the tab': {
    nodes: NODES,
    listening: {
      all: { scope: null },
      one: { scope: ['rssi'] },
      two: { scope: ['rssi', 'dfu'] },
      other: { scope: ['read'] },
    },
    heard: ['all', 'one', 'two'],
  },
  'which listen to different nodes': {
    nodes: NODES,
    listening: { one: { scope: ['rssi'] }, other: { scope: ['dfu'] }, all: { scope: null } },
    heard: ['one', 'other', 'all'],
  },
  'which listen to nodes in turn': {
    nodes: NODES,
    listening: {
      a: { scope: ['rssi', 'dfu'] },
      b: { scope: ['dfu', 'event'] },
      c: { scope: ['event', 'rssi'] },
    },
    heard: ['a', 'b', 'c'],
  },
  'which listen to a group': {
    nodes: NODES,
    listening: { all: { scope: null }, group: { scope: 'group', g: 'group' } },
    heard: ['all', 'group'],
  },
  'which listen to one node, and to what no other one hears': {
    nodes: NODES,
    listening: { one: { scope: ['rssi'] }, rest: { scope: null, uncaught: true } },
    heard: ['one', 'rest'],
  },
  'which listen to a group, and to what no other one hears': {
    nodes: NODES,
    listening: { group: { scope: 'group', g: 'group' }, rest: { scope: null, uncaught: true } },
    heard: ['group', 'rest'],
  },
  'which hear all nodes, not one that listens to what no other one hears': {
    nodes: NODES,
    listening: { each: { scope: KINDS }, rest: { scope: null, uncaught: true } },
    heard: ['each'],
  },
  'which listen to subflows': {
    nodes: SUBFLOWS,
    listening: { all: { scope: null }, second: { scope: ['second'] }, rest: { scope: null, uncaught: true } },
    heard: ['all', 'second'],
  },
  'which listen to one subflow, and to what no other one hears': {
    nodes: SUBFLOWS,
    listening: { second: { scope: ['second'] }, rest: { scope: null, uncaught: true } },
    heard: ['second', 'rest'],
  },
  'which are in a subflow: its own in each place': {
    nodes: [...SUBFLOWS, reportIn('outside')],
    listening: { inside: { scope: ['in-1', 'in-2'], z: 'sub' }, all: { scope: null } },
    heard: ['inside', 'inside', 'inside', 'all'],
  },
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

    for (const [which, { nodes, listening, heard }] of Object.entries(CASES)) {
      it(`reaches each Catch node once, however many nodes use the service: those ${which}`, async () => {
        const ids = Object.keys(listening);
        await red.deploy([
          { id: 'plant', type: 'tab', label: 'plant' },
          { id: 'svc', type: 'mt-service', brokerUrl: broker.url },
          ...nodes,
          ...ids.flatMap((id) => {
            const config = { ...place, id: `catch-${id}`, type: 'catch', wires: [[`heard-${id}`]] };
            const caught: NodeConfig = { ...config, ...listening[id] };
            return [caught, { ...sink(`heard-${id}`), x: 0, y: 0, z: caught.z }];
          }),
          source('ask', ['answer']),
          sink('answer'),
        ]);
        for (const id of heard) {
          const { error } = await red.next(`heard-${id}`);
          assert.equal((error as { code?: string } | undefined)?.code, 'NOT_CONNECTED', id);
        }
        // What would come twice comes before this.
        red.send('ask', {});
        await red.next('answer');
        assert.deepEqual(
          ids.map((id) => [id, red.waiting(`heard-${id}`)]),
          ids.map((id) => [id, 0]),
        );
      });
    }
  });
}
