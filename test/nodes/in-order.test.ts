// Messages whose fields take differently long to read keep their order.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
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
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => mock.timers.reset());

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

  it('is held up for five seconds by what does not come', async () => {
    const [first, second] = ['a', 'b'].map(add);
    second!.resolve();
    mock.timers.tick(4_999);
    await settled();
    assert.deepEqual(told, []);
    mock.timers.tick(1);
    await settled();
    assert.deepEqual(told, ['b']);
    add('c').resolve();
    await settled();
    first!.resolve();
    await settled();
    assert.deepEqual(told, ['b', 'c', 'a']);
  });
});

describeNodes('messages whose fields take differently long to read', (start) => {
  let box: Service;

  before(async () => {
    box = await startService({ rate: 0, delay: 1 });
  });
  after(() => box.close());

  const run = (...nodes: object[]) =>
    start(flowAround(serviceNode(box), ...nodes), { credentials: secretsOf(box) });

  it('are acknowledged in that order, whether a report brings the sample or fields do', async () => {
    const { gateway, device } = box.demo;
    const flow = await run({
      ...{ id: 'ack', type: 'mt-timestamped-ack', wait: false },
      ...{ time: 'sampled', timeType: 'jsonata' },
    });
    const times = [1, 2].map((second) => `2026-01-02T03:04:0${second}.000Z`);
    const sample = { gateway, device, identifier: '8800', form: 'raw' };
    flow.send('ack', { ...sample, sampled: times[0] });
    flow.send('ack', { report: { ...sample, kind: 'timestamped', ack: true, time: times[1] } });
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
    const written = box.calls.operations.map(({ payload }) => (payload as { value?: unknown }).value);
    assert.deepEqual(written, [0, 4]);
    const names = box.calls.rest.filter(({ method }) => method === 'PUT').map(({ body }) => body);
    assert.deepEqual(names.length, 2);
    assert.match(JSON.stringify(names[0]), /first name/);
    assert.match(JSON.stringify(names[1]), /second name/);
  });
});
