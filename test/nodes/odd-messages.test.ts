// Messages that cannot be read, changed or copied, as function nodes can make them: no node ends the process or loses one.
import assert from 'node:assert/strict';
import type { NodeAPI } from 'node-red';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

const RENAME = { type: 'mt-rename' };
const DEVICE = 'bmac-c0141f68fc3d';

const deep = (): unknown => JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`);
const trap = {
  enumerable: true,
  get(): never {
    throw new Error('not to be read');
  },
};

const throwsNull = {
  get(): never {
    throw null;
  },
};

/** Whoever waits for it as for a promise waits for ever. */
// biome-ignore lint/suspicious/noThenProperty: it is meant to be taken for a promise
const endless = { then() {} };
/** Throws what cannot even be shown. */
const throwsBare = new Proxy(
  {},
  {
    get(): never {
      throw Object.create(null);
    },
  },
);

describeNodes('a message of a function node', (start) => {
  let box: Service;

  before(async () => {
    box = await startService({ rate: 0, listed: 3 });
  });

  after(() => box.close());

  const run = (node: object): Promise<Flow> =>
    start(flowAround(serviceNode(box, { httpRetries: 0 }), { id: 'n', ...node }), {
      credentials: secretsOf(box),
    });

  const REFUSED: Record<string, { node: object; msg: () => object; field: string }> = {
    'is nested too deep for a copy': {
      node: RENAME,
      msg: () => ({ device: DEVICE, payload: deep() }),
      field: 'name',
    },
    'throws when a field is read': {
      node: RENAME,
      msg: () => Object.defineProperty({ device: DEVICE }, 'payload', trap),
      field: 'name',
    },
    'throws null when a part of a field is read': {
      node: { ...RENAME, name: 'payload.a', nameType: 'msg' },
      msg: () => ({ device: DEVICE, payload: Object.defineProperty({}, 'a', throwsNull) }),
      field: 'name',
    },
    'throws when its action is read': {
      node: { type: 'mt-label', action: 'msg' },
      msg: () => Object.defineProperty({}, 'action', trap),
      field: 'action',
    },
    'has a property hasOwnProperty': { node: RENAME, msg: () => ({ hasOwnProperty: 1 }), field: 'device' },
    'has an error without a prototype': {
      node: RENAME,
      msg: () => ({ error: Object.create(null) as object }),
      field: 'device',
    },
    'has a report that throws when it is looked at': {
      node: { type: 'mt-timestamped-ack' },
      msg: () => ({ report: throwsBare }),
      field: 'gateway',
    },
    'has a report that looks like a promise': {
      node: { type: 'mt-timestamped-ack' },
      msg: () => ({ report: endless }),
      field: 'gateway',
    },
    'has a name that looks like a promise': {
      node: { ...RENAME, device: '"bmac-c0141f68fc3d"', deviceType: 'jsonata' },
      msg: () => ({ payload: endless }),
      field: 'name',
    },
    'has no prototype': { node: RENAME, msg: () => Object.create(null) as object, field: 'device' },
    'is too deep to be copied for each device': {
      node: { type: 'mt-device-list', output: 'each' },
      msg: () => ({ other: deep() }),
      field: 'msg',
    },
    'is too deep to be copied for two wires': {
      node: { ...RENAME, wires: [['out', 'errors']] },
      msg: () => ({ device: DEVICE, payload: 'a', other: deep() }),
      field: 'msg',
    },
  };

  for (const [what, { node, msg, field }] of Object.entries(REFUSED)) {
    it(`that ${what} reaches a Catch node with a code and what can be copied of it`, async () => {
      const flow = await run(node);
      flow.send('n', Object.assign(msg(), { _msgid: 'mine', keep: { me: 1 } }));
      const { error, keep, _msgid } = await flow.next('errors', (caught) => caught.error?.code !== undefined);
      assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', field]);
      assert.deepEqual([_msgid, keep], ['mine', { me: 1 }]);
    });
  }

  it('that is too deep reaches each wire of a Catch node', async () => {
    const nodes = flowAround(serviceNode(box, { httpRetries: 0 }), { id: 'n', ...RENAME });
    const wires = [['out', 'errors']];
    const flow = await start(
      nodes.map((node) => ('type' in node && node.type === 'catch' ? { ...node, wires } : node)),
      { credentials: secretsOf(box) },
    );
    flow.send('n', { device: DEVICE, payload: deep() });
    for (const wire of ['out', 'errors']) {
      const { error } = await flow.next(wire);
      assert.deepEqual([error?.code, error?.cause?.value], ['INVALID_INPUT', 'object']);
    }
  });

  it('that is done and cannot be copied for a Complete node reaches a Catch node with a code', async () => {
    const complete = { id: 'complete', type: 'complete', scope: ['n'] };
    const nodes = flowAround(serviceNode(box, { httpRetries: 0 }), { id: 'n', ...RENAME }, complete);
    const flow = await start(nodes, { credentials: secretsOf(box) });
    flow.send('n', { device: DEVICE, payload: 'a', other: deep(), _msgid: 'mine' });
    assert.deepEqual((await flow.next('out')).payload, { id: DEVICE, friendlyName: 'a' });
    const { error, _msgid } = await flow.next('errors');
    assert.deepEqual([error?.code, error?.cause?.field, _msgid], ['INVALID_INPUT', 'msg', 'mine']);
  });

  it('that cannot be copied is not shown in the error, because it may hold a key', async () => {
    const flow = await run({ type: 'mt-device-list', output: 'page' });
    flow.send('n', { key: '00112233', other: 1n, trap: Object.defineProperty({}, 'a', trap) });
    const { error } = await flow.next('errors');
    assert.equal(error?.code, 'INVALID_INPUT');
    assert.doesNotMatch(JSON.stringify(error), /00112233/);
  });

  it('reaches its end though somebody who listens to statuses throws', async () => {
    let stop = (): void => undefined;
    const broken = (RED: NodeAPI) => {
      const listener = ({ status }: { status: { text?: string } }) => {
        if (status.text?.startsWith('working')) {
          throw new Error('not of ours');
        }
      };
      RED.events.on('node-status', listener);
      stop = () => void RED.events.removeListener('node-status', listener);
    };
    const flow = await start(flowAround(serviceNode(box, { httpRetries: 0 }), { id: 'n', ...RENAME }), {
      credentials: secretsOf(box),
      nodes: [broken],
    });
    try {
      flow.send('n', { device: DEVICE, payload: 'a' });
      assert.deepEqual((await flow.next('out')).payload, { id: DEVICE, friendlyName: 'a' });
      flow.send('n', { device: 'bmac-000000000000', payload: 'a' });
      assert.equal((await flow.next('errors')).error?.code, 'HTTP_ERROR');
    } finally {
      stop();
    }
  });

  it('that cannot be changed is sent on as a copy with the result', async () => {
    const flow = await run(RENAME);
    flow.send('n', Object.freeze({ device: DEVICE, payload: 'a', keep: { me: 1 }, _msgid: 'mine' }));
    const { payload, keep, _msgid } = await flow.next('out');
    assert.deepEqual(payload, { id: DEVICE, friendlyName: 'a' });
    assert.deepEqual([_msgid, keep], ['mine', { me: 1 }]);
  });
});
