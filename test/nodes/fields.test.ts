// Typed fields and environment variables, evaluated by a real Node-RED.
import assert from 'node:assert/strict';
import type { Node, NodeAPI, NodeDef } from 'node-red';
import { fillEnv, savedNode } from '../../nodes/shared/runtime/env.ts';
import { createFields } from '../../nodes/shared/runtime/fields.ts';
import { describeNodes } from './flow.ts';

interface Probe extends Node {
  read(msg: object): unknown;
  filled: Record<string, unknown>;
}

/** A node with the one typed field `device`. */
function registerProbe(RED: NodeAPI): void {
  function ProbeNode(this: Probe, saved: NodeDef): void {
    RED.nodes.createNode(this, saved);
    const filled = fillEnv(RED, this, saved, () => savedNode(RED, saved));
    this.filled = filled.values;
    this.read = createFields(RED, this, filled.values as never, filled, ['device']) as Probe['read'];
  }
  RED.nodes.registerType('probe', ProbeNode as never);
}

const ENV = [
  { name: 'DEVICE', type: 'str', value: 'c0141f68fc3d' },
  { name: 'EMPTY', type: 'str', value: '' },
];

describeNodes('typed fields', (start) => {
  async function read(type: string, text: string, msg: object = {}, more: object = {}): Promise<unknown> {
    const flow = await start(
      [
        { id: 'f', type: 'tab', env: ENV },
        { id: 'n', z: 'f', type: 'probe', device: text, deviceType: type, ...more },
      ],
      { nodes: [registerProbe] },
    );
    const node = flow.node<Probe>('n');
    node.context().flow.set('device', 'from-flow');
    node.context().global.set('device', { deep: 'from-global' });
    const { device } = (await node.read(msg)) as { device: unknown };
    return device;
  }

  const GOOD: [title: string, type: string, text: string, value: unknown, msg?: object][] = [
    ['a text', 'str', 'abc', 'abc'],
    ['an empty text as nothing', 'str', '', undefined],
    ['a number', 'num', '4.5', 4.5],
    ['a truth value', 'bool', 'false', false],
    ['JSON', 'json', '{"a":[1]}', { a: [1] }],
    ['a property of the message', 'msg', 'device', 7, { device: 7 }],
    ['null in the message as null', 'msg', 'device', null, { device: null }],
    ['a property deep in the message', 'msg', 'payload.list[1]', 'b', { payload: { list: ['a', 'b'] } }],
    ['nothing where the message has nothing', 'msg', 'device', undefined],
    ['nothing where the way through the message ends', 'msg', 'payload.a.b', undefined, { payload: 1 }],
    ['nothing for what every object has', 'msg', 'constructor', undefined],
    ['an environment variable of the flow', 'env', 'DEVICE', 'c0141f68fc3d'],
    ['flow context', 'flow', 'device', 'from-flow'],
    ['global context', 'global', 'device.deep', 'from-global'],
    ['an expression', 'jsonata', '$uppercase(payload)', 'ABC', { payload: 'abc' }],
    ['an environment variable inside a text', 'str', 'bmac-${DEVICE}', 'bmac-c0141f68fc3d'],
    ['an empty variable inside a text as empty', 'str', 'a${EMPTY}b', 'ab'],
  ];

  for (const [title, type, text, value, msg] of GOOD) {
    it(`gives ${title}`, async () => {
      assert.deepEqual(await read(type, text, msg), value);
    });
  }

  const BAD: [title: string, type: string, text: string, msg?: object][] = [
    ['a text that is no number', 'num', 'many'],
    ['JSON with a mistake', 'json', '{"a":'],
    ['an expression with a mistake', 'jsonata', '$uppercase('],
    ['an expression that fails', 'jsonata', '$number(payload)', { payload: 'x' }],
    ['a path with a mistake', 'msg', 'payload[', {}],
  ];

  for (const [title, type, text, msg] of BAD) {
    it(`refuses ${title} with the name of the field`, async () => {
      await assert.rejects(read(type, text, msg), {
        code: 'INVALID_INPUT',
        cause: { field: 'device', value: text },
      });
    });
  }
});

describeNodes('environment variables', (start) => {
  async function fill(properties: object): Promise<Record<string, unknown>> {
    const env = [
      { name: 'HOST', type: 'str', value: 'broker.example' },
      { name: 'PORT', type: 'num', value: '1883' },
    ];
    const flow = await start(
      [
        { id: 'f', type: 'tab', env },
        { id: 'n', z: 'f', type: 'probe', device: '', deviceType: 'str', ...properties },
      ],
      { nodes: [registerProbe] },
    );
    return flow.node<Probe>('n').filled;
  }

  it('are filled in inside longer texts, lists and objects', async () => {
    const filled = await fill({
      brokerUrl: 'mqtt://${HOST}:${PORT}',
      gateways: ['${HOST}', 'x-${HOST}'],
      nested: { list: [{ port: '${PORT}/' }] },
      keepalive: 60,
    });
    assert.equal(filled.brokerUrl, 'mqtt://broker.example:1883');
    assert.deepEqual(filled.gateways, ['broker.example', 'x-broker.example']);
    assert.deepEqual(filled.nested, { list: [{ port: '1883/' }] });
    assert.equal(filled.keepalive, 60);
  });

  it('become two entries of a list where they hold `a,b`; what was picked with a comma in it stays one', async () => {
    process.env.MT_PAIR = 'a,b,';
    const { labels } = await fill({ labels: ['${MT_PAIR}', 'x-${MT_PAIR}', 'hall, north'] });
    delete process.env.MT_PAIR;
    assert.deepEqual(labels, ['a', 'b', 'x-a', 'b', 'hall, north']);
  });

  it('lose the blanks around the entries that they hold; what was picked keeps its own', async () => {
    Object.assign(process.env, { MT_PAIR: ' a, b ', MT_ONE: ' c ' });
    const { labels } = await fill({ labels: ['${MT_PAIR}', '${MT_ONE}', ' hall '] });
    delete process.env.MT_PAIR;
    delete process.env.MT_ONE;
    assert.deepEqual(labels, ['a', 'b', 'c', ' hall ']);
  });

  it('leave expressions and paths alone, where the same signs mean something else', async () => {
    const expression = 'payload.${ "a": HOST }';
    const filled = await fill({ value: expression, valueType: 'jsonata' });
    assert.equal(filled.value, expression);
  });

  it('come from the subflow instance that the node runs in', async () => {
    const flow = await start(
      [
        { id: 'f', type: 'tab' },
        {
          id: 's',
          type: 'subflow',
          name: 's',
          in: [],
          out: [],
          env: [{ name: 'HOST', type: 'str', value: 'x' }],
        },
        { id: 'n', z: 's', x: 1, y: 1, type: 'finder', device: 'at-${HOST}', deviceType: 'str' },
        {
          id: 'i',
          z: 'f',
          x: 1,
          y: 1,
          type: 'subflow:s',
          env: [{ name: 'HOST', type: 'str', value: 'one' }],
        },
      ],
      { nodes: [registerFinder] },
    );
    assert.ok(flow);
    assert.deepEqual(found, ['at-one']);
  });
});

const found: unknown[] = [];

/** A probe that tells what it was given: nodes of a subflow cannot be looked up by their id. */
function registerFinder(RED: NodeAPI): void {
  function FinderNode(this: Node, saved: NodeDef): void {
    RED.nodes.createNode(this, saved);
    found.splice(0, found.length, fillEnv(RED, this, saved, () => ({})).values.device);
  }
  RED.nodes.registerType('finder', FinderNode as never);
}
