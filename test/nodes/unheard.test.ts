// Messages that end with a deploy of modified nodes or flows: Catch nodes hear of them, or the node warns.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { D, G } from '../mqtt/scripted.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { flowAround } from './box-flow.ts';
import { describeNodes } from './flow.ts';

/** What a deploy makes of nodes, by their ids: `null` removes one. */
type Edits = Record<string, object | null>;

const READ = { id: 'gone', type: 'mt-gw-read', identifier: '8001', identifierType: 'str' };
const CHANGED = { gone: { name: 'changed' } };
const CATCH = { z: 'f', x: 1, y: 1, type: 'catch', scope: null, uncaught: false, wires: [['errors']] };
const TAB = { f: null, catcher: null, errors: null, out: null, gone: null };
const UNCAUGHT = { ...CATCH, uncaught: true };
const group = (nodes: string[], g?: string) => ({ type: 'group', z: 'f', nodes, ...(g && { g }) });
/** The node is in a group, that in another one, and a third one stands beside. */
const GROUPS = {
  inner: group(['gone', 'out'], 'outer'),
  outer: group(['inner', 'errors']),
  other: group(['beside', 'catcher']),
  gone: { g: 'inner' },
  out: { g: 'inner' },
  errors: { g: 'outer' },
};
const ALONE = { catcher: { scope: ['gone'] } };
const IN_GROUP = { catcher: { scope: 'group' } };

const WARNED: Record<string, [before: Edits, deploy: Edits]> = {
  'changes the node and the Catch node for it alone': [ALONE, CHANGED],
  'changes both, and adds another Catch node': [ALONE, { ...CHANGED, added: CATCH }],
  'changes the node and removes its Catch node': [{}, { ...CHANGED, catcher: null }],
  'changes the node and disables its Catch node': [{}, { ...CHANGED, catcher: { d: true } }],
  'changes the node and gives its Catch node another one': [{}, { ...CHANGED, catcher: { scope: ['out'] } }],
  'removes the node and its Catch node': [{}, { gone: null, catcher: null }],
  'removes the node and gives its Catch node another one': [
    ALONE,
    { gone: null, catcher: { scope: ['out'] } },
  ],
  'disables the node and leaves the Catch node for it alone': [ALONE, { gone: { d: true } }],
  'disables the tab': [{}, { f: { disabled: true } }],
  'removes the tab': [{}, TAB],
  'closes its Catch node, beside one for errors that others have not caught': [
    { ...ALONE, rest: UNCAUGHT },
    CHANGED,
  ],
  'removes the Catch node of an outer group': [
    { ...GROUPS, catcher: { scope: 'group', g: 'outer' } },
    { ...CHANGED, catcher: null },
  ],
  'removes a Catch node for its group that stands in none': [
    { ...GROUPS, ...IN_GROUP },
    { ...CHANGED, catcher: null },
  ],
  'closes its Catch node, beside one for another group': [
    { ...GROUPS, ...ALONE, beside: { ...CATCH, scope: 'group', g: 'other' } },
    CHANGED,
  ],
  'closes a Catch node as near as one for errors that others have not caught': [
    { ...GROUPS, ...ALONE, beside: { ...UNCAUGHT, g: 'other' } },
    CHANGED,
  ],
};

const HEARD: Record<string, [before: Edits, deploy: Edits]> = {
  'changes the node': [{}, CHANGED],
  'changes the node, where the Catch node is for another one, too': [
    { catcher: { scope: ['gone', 'out'] } },
    CHANGED,
  ],
  'removes the node': [{}, { gone: null }],
  'disables the node': [{}, { gone: { d: true } }],
  'changes the node, where the Catch node is for errors that others have not caught': [
    { catcher: { uncaught: true } },
    CHANGED,
  ],
  'changes the node, where a Catch node for its group stands in none': [{ ...GROUPS, ...IN_GROUP }, CHANGED],
  'closes its Catch node, where one for errors that others have not caught is nearer': [
    { ...GROUPS, ...ALONE, outer: group(['inner', 'errors', 'rest']), rest: { ...UNCAUGHT, g: 'outer' } },
    CHANGED,
  ],
};

/** The node stands in a subflow, in an instance `inst` of it, or in that of another subflow. */
const SUBFLOW = {
  sub: { type: 'subflow', name: 'Inner', in: [], out: [] },
  gone: { z: 'sub' },
  inst: { z: 'f', x: 1, y: 1, type: 'subflow:sub', wires: [] },
};
const NESTED = {
  ...SUBFLOW,
  outer: { type: 'subflow', name: 'Outer', in: [], out: [] },
  deep: { ...SUBFLOW.inst, z: 'outer' },
  inst: { ...SUBFLOW.inst, type: 'subflow:outer' },
};
const INSIDE = { ...CATCH, z: 'sub', wires: [] };

const IN_SUBFLOWS: Record<string, [isWarned: boolean, before: Edits, deploy: Edits, id?: string]> = {
  'changes it, with a Catch node in there': [true, { ...SUBFLOW, inside: INSIDE }, CHANGED],
  'removes the instance, with a Catch node in there': [true, { ...SUBFLOW, inside: INSIDE }, { inst: null }],
  'changes it, with a Catch node beside the instance': [false, SUBFLOW, CHANGED],
  'changes it, with a Catch node in there that is disabled': [
    false,
    { ...SUBFLOW, inside: { ...INSIDE, d: true } },
    CHANGED,
  ],
  'changes it and removes the Catch node beside the instance': [true, SUBFLOW, { ...CHANGED, catcher: null }],
  'changes it two subflows deep, with a Catch node in the outer one': [
    true,
    { ...NESTED, inside: { ...INSIDE, z: 'outer' } },
    CHANGED,
    'inst-deep-gone',
  ],
  'changes it two subflows deep, with a Catch node on the tab': [false, NESTED, CHANGED, 'inst-deep-gone'],
};

/** No Catch node is there for the node, so that Node-RED writes the error to the log. */
const LOGGED: Record<string, [before: Edits, deploy: Edits]> = {
  'enables a Catch node': [{ catcher: { d: true } }, { ...CHANGED, catcher: { d: false } }],
  'removes a Catch node for another group': [
    { ...GROUPS, catcher: { scope: 'group', g: 'other' } },
    { ...CHANGED, catcher: null },
  ],
};

describeNodes('what a deploy ends', (start) => {
  let broker: ScriptedBroker;

  beforeEach(async () => {
    broker = await startScriptedBroker();
  });
  afterEach(() => broker.stop());

  const edited = (nodes: object[], edits: Edits): object[] => {
    const byId = new Map((nodes as { id: string }[]).map((node) => [node.id, node]));
    for (const [id, edit] of Object.entries(edits)) {
      byId.delete(edit === null ? id : '');
      if (edit) {
        byId.set(id, { ...byId.get(id), ...edit, id });
      }
    }
    return [...byId.values()];
  };

  async function outcomeOf(type: 'nodes' | 'flows', before: Edits, deploy: Edits, id = 'gone') {
    const service = { id: 'svc', type: 'mt-service', name: '', brokerUrl: broker.url, names: false };
    const credentials = () => ({ svc: { username: 'anna', password: 'secret' } });
    const nodes = edited(flowAround(service, READ), before);
    // What starts Node-RED takes one Catch node only.
    const flow = await start(flowAround(service), { credentials: credentials() });
    await flow.deploy(nodes, 'full', credentials());
    await flow.statuses(id).next(({ text }) => text === 'connected');
    flow.send(id, { gateway: G, device: D });
    await broker.next('publish');
    let warned = 0;
    mock.method(flow.node(id), 'warn', () => warned++);
    await flow.deploy(edited(nodes, deploy), type, credentials());
    return { heard: flow.inbox('errors').all.map(({ error }) => error?.code), warned };
  }

  for (const type of ['nodes', 'flows'] as const) {
    for (const [what, [before, deploy]] of Object.entries(WARNED)) {
      it(`warns where a deploy of type ${type} ${what}`, async () => {
        assert.deepEqual(await outcomeOf(type, before, deploy), { heard: [], warned: 1 });
      });
    }
  }
  for (const [what, [before, deploy]] of Object.entries(HEARD)) {
    it(`is heard where a deploy ${what}`, async () => {
      assert.deepEqual(await outcomeOf('nodes', before, deploy), { heard: ['CLOSED'], warned: 0 });
    });
  }
  for (const [what, [isWarned, before, deploy, id = 'inst-gone']] of Object.entries(IN_SUBFLOWS)) {
    it(`${isWarned ? 'warns' : 'is heard'} in a subflow where a deploy ${what}`, async () => {
      const outcome = isWarned ? { heard: [], warned: 1 } : { heard: ['CLOSED'], warned: 0 };
      assert.deepEqual(await outcomeOf('nodes', before, deploy, id), outcome);
    });
  }
  for (const [what, [before, deploy]] of Object.entries(LOGGED)) {
    it(`is not warned of where a deploy ${what} that does not hear the node`, async () => {
      assert.deepEqual(await outcomeOf('nodes', before, deploy), { heard: [], warned: 0 });
    });
  }
});
