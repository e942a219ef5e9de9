// What a node with messages shows while its service gets on with nothing.
import assert from 'node:assert/strict';
import type { Node, NodeAPI } from 'node-red';
import { Inputs } from '../../nodes/shared/runtime/inputs.ts';
import type { Status } from '../../nodes/shared/runtime/status.ts';

describe('the status of a node whose messages wait for the service', () => {
  let shown: string[];
  let inputs: Inputs;
  let end: () => void;

  beforeEach(() => {
    shown = [];
    inputs = new Inputs({
      RED: {} as NodeAPI,
      node: {} as Node,
      problem: undefined,
      show: ({ key }) => shown.push(key),
    });
    inputs.handler = () =>
      new Promise((resolve) => {
        end = resolve;
      });
  });

  const waiting: Status = { style: 'waiting', key: 'status.waiting', values: { reason: 'ECONNREFUSED' } };
  const refused: Status = { style: 'error', key: 'status.refused' };
  const handle = (done = () => {}) => inputs.handle({ _msgid: '1' }, () => {}, done);

  for (const state of [waiting, refused]) {
    it(`is ${state.key}, as nothing is worked on until the next attempt`, async () => {
      inputs.showService(state);
      handle();
      assert.deepEqual(shown, [state.key, state.key]);
      inputs.showService({ style: 'ready', key: 'status.connected' });
      assert.equal(shown.at(-1), 'status.working');
      inputs.showService(state);
      assert.equal(shown.at(-1), state.key);
      await new Promise<void>((resolve) => {
        handle(resolve);
        end();
      });
      assert.equal(shown.at(-1), state.key);
    });
  }

  it('is that of the work while the service connects, as each first call has it do', () => {
    handle();
    inputs.showService({ style: 'waiting', key: 'status.connecting' });
    assert.deepEqual(shown, ['status.working', 'status.working']);
  });
});
