// Messages that function nodes can make, sent through every node in Node-RED: each comes out, or reaches a Catch node with a code.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Service, startService } from '../../simulator/src/service.ts';
import { ERROR_CODES } from '../../src/errors.ts';
import { flowAround, secretsOf, serviceNode } from '../nodes/box-flow.ts';
import { describeNodes, type Flow, type Message } from '../nodes/flow.ts';
import { countCases } from './cases.ts';
import { assertUnpolluted, madeOf, messages } from './hostile.ts';

const FIELDS = ['gateway', 'device', 'identifier', 'payload', 'ext', 'priority', 'key', 'report', 'time'];
const FURTHER = ['labels', 'query', 'path', 'method', 'action', 'parts', 'topic', 'error', 'hasOwnProperty'];

const NODES: Record<string, { type: string; [property: string]: unknown }> = {
  read: { type: 'mt-gw-read', timeout: '50' },
  write: { type: 'mt-gw-write', timeout: '50' },
  acknowledge: { type: 'mt-timestamped-ack', timeout: '50' },
  list: { type: 'mt-device-list' },
  'list-pages': { type: 'mt-device-list', output: 'page' },
  rename: { type: 'mt-rename' },
  'rename-nested': { type: 'mt-rename', name: 'payload.name.a', nameType: 'msg' },
  label: { type: 'mt-label', action: 'msg' },
  request: { type: 'mt-service-request', method: 'msg' },
};

/** What else a function node can do to a message. */
const SHAPES: Record<string, (msg: object) => object> = {
  plain: (msg) => msg,
  frozen: (msg) => Object.freeze(msg),
  bare: (msg) => Object.assign(Object.create(null), msg),
  getter: (msg) => Object.defineProperty(msg, 'payload', { get: refuse, enumerable: true }),
  hidden: (msg) => Object.defineProperty(msg, 'response', { get: refuse, enumerable: true }),
};

function refuse(): never {
  throw new Error('not to be read');
}

let count = 0;

describeNodes('nodes with messages made to break them', (start, version) => {
  const cases = countCases(`messages through the nodes in ${version}`, Number.POSITIVE_INFINITY);
  let box: Service;

  before(async () => {
    box = await startService({ rate: 0, delay: 0, listed: 3, historyLimit: 10 });
  });

  after(async () => {
    await box.close();
    cases.end();
  });

  afterEach(assertUnpolluted);

  /** Outputs and errors arrive in one place. */
  const run = (): Promise<Flow> => {
    const nodes = Object.entries(NODES).map(([id, node]) => ({ id, ...node, wires: [['errors']] }));
    return start(flowAround(serviceNode(box, { httpRetries: 0 }), ...nodes), { credentials: secretsOf(box) });
  };

  const usual = () => ({
    ...box.demo,
    identifier: '8001',
    path: '/api/v1/jobs',
    method: 'GET',
    action: 'create',
  });

  it('send each on, or give it to a Catch node with a code', async function () {
    this.timeout(0);
    const flow = await run();
    await flow.status('read', 'green');
    await cases.check(
      500,
      6_000,
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(NODES)),
        fc.constantFrom(...Object.keys(SHAPES)),
        messages([...FIELDS, ...FURTHER], usual()),
        async (node, shape, changes) => {
          const _msgid = `case-${count++}`;
          const made = madeOf(changes);
          flow.send(node, SHAPES[shape]!({ ...made, _msgid }));
          const { error } = await ended(flow, _msgid);
          // A message that came through still has its own.
          if (error !== made.error && error?.source) {
            assert.ok(isCode(error.code), `${error.message} ${error.stack}`);
          }
        },
      ),
    );
  });
});

const isCode = (code: unknown): boolean => Object.hasOwn(ERROR_CODES, String(code));

interface Ended extends Message {
  error?: Message['error'] & { source?: object; stack?: string };
}

/** The next message with this id. */
function ended(flow: Flow, id: string): Promise<Ended> {
  return flow.next('errors', ({ _msgid }) => _msgid === id);
}
