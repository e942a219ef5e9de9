// Messages whose fields take differently long to read keep their order.
import assert from 'node:assert/strict';
import { InOrder } from '../../nodes/shared/runtime/in-order.ts';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode } from './box-flow.ts';
import { describeNodes } from './flow.ts';

/** Of Node-RED's promises, and of those that the test settles. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('what is kept in order', () => {
  let order: InOrder;
  let told: string[];

  beforeEach(() => {
    order = new InOrder();
    told = [];
  });

  /** @returns settles it */
  function add(name: string): { resolve(): void; reject(): void } {
    let settle: { resolve(): void; reject(): void } | undefined;
    const pending = new Promise<string>((resolve, reject) => {
      settle = { resolve: () => resolve(name), reject: () => reject(new Error(`not ${name}`)) };
    });
    order.add(pending).then(
      (value) => told.push(value),
      (error: Error) => told.push(error.message),
    );
    return settle!;
  }

  it('waits for what came before, however that ends', async () => {
    const [first, second, third, fourth] = ['a', 'b', 'c', 'd'].map(add);
    third!.resolve();
    fourth!.reject();
    await settled();
    assert.deepEqual(told, []);
    first!.reject();
    await settled();
    assert.deepEqual(told, ['not a']);
    second!.resolve();
    await settled();
    assert.deepEqual(told, ['not a', 'b', 'c', 'not d']);
    add('e').resolve();
    await settled();
    assert.equal(told.at(-1), 'e');
  });

  it('is idle when nothing waits', async () => {
    assert.equal(order.isIdle, true);
    const first = add('a');
    assert.equal(order.isIdle, false);
    first.resolve();
    await settled();
    assert.equal(order.isIdle, true);
  });

  it('is 100 000 at most: one more fails, and keeps no place', async () => {
    const waiting = Array.from({ length: 100_000 }, (_, n) => add(`${n}`));
    add('one more').resolve();
    await settled();
    assert.deepEqual(told, ['more than 100000 messages wait at this node']);
    waiting[0]!.resolve();
    await settled();
    add('another').resolve();
    for (const { resolve } of waiting) {
      resolve();
    }
    await settled();
    assert.deepEqual([told.length, told.at(-1)], [100_002, 'another']);
  });
});

/** A context store of which the test says when it answers. */
class HeldStore {
  static readonly held: (() => void)[] = [];

  open = async (): Promise<void> => undefined;
  close = async (): Promise<void> => undefined;
  clean = async (): Promise<void> => undefined;
  delete = async (): Promise<void> => undefined;
  keys = (_: string, callback: (error: null, keys: string[]) => void): void => callback(null, []);
  set = (_scope: string, _key: string, _value: unknown, callback?: (error: null) => void): void =>
    callback?.(null);
  get(_scope: string, key: string, callback: (error: null, value: unknown) => void): void {
    HeldStore.held.push(() => callback(null, key === 'path' ? 'api/v1/order' : 1));
  }

  static async release(count: number): Promise<void> {
    while (HeldStore.held.length < count) {
      await settled();
    }
    for (const answer of HeldStore.held.splice(0)) {
      answer();
    }
  }
}
const HELD = { stores: { default: { module: 'memory' }, held: { module: () => new HeldStore() } } };

describeNodes('messages whose fields take differently long to read', (start) => {
  let box: Service;

  before(async () => {
    box = await startService({ rate: 0, delay: 1 });
  });
  after(() => box.close());

  const run = (...nodes: object[]) =>
    start(flowAround(serviceNode(box), ...nodes), { credentials: secretsOf(box), ...HELD });
  const written = () => box.calls.operations.map(({ payload }) => (payload as { value?: unknown }).value);

  it('are acknowledged in that order, whether a report brings the sample or fields do', async () => {
    const { gateway, device } = box.demo;
    const flow = await run({
      ...{ id: 'ack', type: 'mt-timestamped-ack', wait: false },
      ...{ time: 'sampled', timeType: 'jsonata' },
    });
    const times = [1, 2].map((second) => `2026-01-02T03:04:0${second}.000Z`);
    const sample = { gateway, device, identifier: '8800', form: 'raw' };
    flow.send('ack', { ...sample, sampled: times[0] });
    const report = { ...sample, kind: 'timestamped', ack: true, time: times[1] };
    flow.send('ack', { report });
    report.time = 'changed meanwhile';
    for (const _ of times) {
      await flow.inbox('out').next();
    }
    const acks = box.calls.operations.filter(({ operation }) => operation === 'ack');
    assert.deepEqual(
      acks.slice(-2).map(({ payload }) => (payload as { time?: unknown }).time),
      times,
    );
  });

  it('keep that order over the actions of one node', async () => {
    const flow = await run({
      ...{ id: 'label', type: 'mt-label', action: 'msg' },
      ...{ label: 'list ? $join(list) : word', labelType: 'jsonata' },
    });
    const device = box.devices[0]!.id;
    box.forgetCalls();
    flow.send('label', { action: 'create', list: ['A', 'B'] });
    flow.send('label', { action: 'remove', device, word: 'AB' });
    const sent = () => box.calls.rest.filter(({ path }) => path.includes('labels'));
    while (sent().length < 2) {
      await settled();
    }
    assert.deepEqual(
      sent().map(({ method }) => method),
      ['POST', 'DELETE'],
    );
  });

  it('are sent in the order in which they came', async () => {
    const { gateway, device } = box.demo;
    const flow = await run(
      {
        id: 'write',
        type: 'mt-gw-write',
        identifier: 'tx-power',
        identifierType: 'str',
        value: 'list ? $max(list) : level',
        valueType: 'jsonata',
      },
      {
        id: 'rename',
        type: 'mt-rename',
        name: 'words ? $join(words, " ") : title',
        nameType: 'jsonata',
      },
    );
    box.forgetCalls();
    flow.send('write', { gateway, device, list: [-8, -4, 0] });
    flow.send('write', { gateway, device, level: 4 });
    flow.send('rename', { device: gateway, words: ['first', 'name'] });
    flow.send('rename', { device: gateway, title: 'second name' });
    for (let n = 0; n < 4; n++) {
      await flow.inbox('out').next();
    }
    assert.deepEqual(written(), [0, 4]);
    const names = box.calls.rest.filter(({ method }) => method === 'PUT').map(({ body }) => body);
    assert.deepEqual(names.length, 2);
    assert.match(JSON.stringify(names[0]), /first name/);
    assert.match(JSON.stringify(names[1]), /second name/);
  });

  it('are written as they came, though the flow changes the object meanwhile', async () => {
    const { gateway, device } = box.demo;
    const held = { priority: '#:(held)::priority', priorityType: 'flow' };
    const flow = await run(
      { id: 'write', type: 'mt-gw-write', identifier: 'none-such', identifierType: 'str', ...held },
      {
        ...{ id: 'said', type: 'mt-gw-write', identifier: 'none-such', identifierType: 'str', ...held },
        ...{ value: '$flowContext("value")', valueType: 'jsonata' },
      },
      { id: 'done', type: 'complete', scope: ['read'], wires: [['completed']] },
      { id: 'completed', type: 'helper' },
      { id: 'read', type: 'mt-gw-read', identifier: '8800', identifierType: 'str', ...held },
      {
        ...{ id: 'call', type: 'mt-service-request', method: 'PUT' },
        ...{ path: '#:(held)::path', pathType: 'flow' },
      },
    );
    box.forgetCalls();
    const value = { level: 1 };
    const msg = { gateway, device, payload: value, key: '' };
    for (const level of [1, 2]) {
      value.level = level;
      msg.key = `${level}`.repeat(32);
      flow.send('write', msg);
    }
    value.level = 3;
    msg.key = '3'.repeat(32);
    await HeldStore.release(2);
    for (let n = 0; n < 2; n++) {
      await flow.inbox('errors').next();
    }
    assert.deepEqual(written(), [{ level: 1 }, { level: 2 }]);
    const keys = box.calls.operations.map(({ payload }) => (payload as { key?: string }).key);
    assert.deepEqual(keys, ['1'.repeat(32), '2'.repeat(32)]);
    // What an expression takes from a store in memory, too.
    const { flow: context } = flow.node('said').context();
    const stored = { level: 4 };
    context.set('value', stored);
    flow.send('said', { gateway, device });
    await settled();
    stored.level = 5;
    await HeldStore.release(1);
    await flow.inbox('errors').next();
    assert.deepEqual(written().at(-1), { level: 4 });
    // Complete nodes get the result.
    flow.send('read', { gateway, device, payload: 'before' });
    await HeldStore.release(1);
    await flow.inbox('out').next();
    const completed = await flow.inbox('completed').next();
    assert.notEqual(completed.payload, 'before');
    const body = { name: 'one' };
    flow.send('call', { payload: body });
    body.name = 'two';
    await HeldStore.release(1);
    await flow.inbox('errors').next();
    assert.deepEqual(box.calls.rest.find(({ method }) => method === 'PUT')?.body, { name: 'one' });
  });

  it('fail where the store of a field does not answer, and hold up nobody', async () => {
    const { gateway, device } = box.demo;
    const flow = await run({
      ...{ id: 'read', type: 'mt-gw-read', identifier: '8800', identifierType: 'str' },
      ...{ priority: '#:(held)::priority', priorityType: 'flow' },
    });
    flow.send('read', { gateway, device, n: 1 });
    const { error } = await flow.inbox('errors').next();
    assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', 'priority']);
    assert.match(String(error?.message), /does not answer within 5 s$/);
    HeldStore.held.splice(0);
    flow.send('read', { gateway, device, n: 2 });
    await HeldStore.release(1);
    assert.equal(((await flow.inbox('out').next()) as { n?: number }).n, 2);
  });
});
