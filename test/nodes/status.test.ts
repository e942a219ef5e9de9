// How often a node's status reaches the editor.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Node, NodeAPI, NodeStatus } from 'node-red';
import { shortReason } from '../../nodes/shared/runtime/short-reasons.ts';
import { type Status, StatusLine, statusOfError } from '../../nodes/shared/runtime/status.ts';
import { invalidInput } from '../../src/errors.ts';
import { ServiceError } from '../../src/index.ts';
import english from '../../src/locales/en-US.json' with { type: 'json' };

const RED = { _: (key: string) => key } as unknown as NodeAPI;
const working = (count: number): Status => ({ style: 'working', key: 'status.working', values: { count } });
const READY: Status = { style: 'ready', key: 'status.ready' };

describe('the status line', () => {
  let shown: NodeStatus[];
  let line: StatusLine;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
    shown = [];
    line = new StatusLine(RED, node(), () => Date.now());
  });

  afterEach(() => {
    line.close();
    mock.timers.reset();
  });

  const node = () => ({ status: (status: NodeStatus) => shown.push(status) }) as unknown as Node;
  const texts = () => shown.map(({ text }) => text);

  it('shows a new colour at once', () => {
    line.show(READY);
    line.show(working(1));
    line.show({ style: 'error', key: 'status.error.TIMEOUT' });
    assert.deepEqual(shown, [
      { fill: 'green', shape: 'dot', text: 'ready' },
      { fill: 'blue', shape: 'dot', text: 'working on 1' },
      { fill: 'red', shape: 'ring', text: 'timeout' },
    ]);
  });

  it('shows a new text twice a second at most, and the last one wins', () => {
    for (let count = 1; count <= 100; count++) {
      line.show(working(count));
    }
    assert.deepEqual(texts(), ['working on 1']);
    mock.timers.tick(500);
    assert.deepEqual(texts(), ['working on 1', 'working on 100']);
  });

  it('does not flood the editor when messages follow one another', () => {
    for (let count = 0; count < 1_000; count++) {
      line.show(working(1));
      line.show(READY);
    }
    assert.ok(shown.length <= 5);
    mock.timers.tick(500);
    assert.equal(texts().at(-1), 'ready');
  });

  it('goes on when the clock of the machine was set back', () => {
    line = new StatusLine(RED, node());
    line.show(working(1));
    mock.timers.setTime(0);
    line.show(working(2));
    mock.timers.tick(500);
    assert.deepEqual(texts(), ['working on 1', 'working on 2']);
  });

  it('says nothing twice and leaves no timer behind when nothing changes', () => {
    line.show(READY);
    line.show(READY);
    mock.timers.tick(5_000);
    line.show(READY);
    assert.equal(shown.length, 1);
  });

  it('is silent after the node was closed', () => {
    line.show(working(1));
    line.show(working(2));
    line.close();
    line.show(READY);
    mock.timers.tick(5_000);
    assert.deepEqual(texts(), ['working on 1']);
  });

  it('gives each kind of error a short reason', () => {
    line.show(
      statusOfError(new ServiceError('REQUEST_FAILED', 'statusOnly', { status: 7 }, { gateway: 'x' })),
    );
    line.show(statusOfError(new ServiceError('NOT_CONFIGURED', 'service', { part: 'service' })));
    line.show(statusOfError(new TypeError('a fault of ours')));
    line.show(statusOfError(invalidInput('gateway', 'a secret?', 'missing')));
    mock.timers.tick(5_000);
    assert.deepEqual(shown, [
      { fill: 'red', shape: 'ring', text: 'failed: status 7' },
      { fill: 'grey', shape: 'ring', text: 'no service' },
      { fill: 'red', shape: 'ring', text: 'error' },
      { fill: 'red', shape: 'ring', text: 'invalid: Gateway (missing)' },
    ]);
  });

  it('says why a gateway refused, as far as there is room', () => {
    const refused = (errorMessage: string) => {
      const values = { place: 'x', status: 6, message: errorMessage };
      return new ServiceError('REQUEST_FAILED', 'status', { status: 6, errorMessage }, values);
    };
    line.show(statusOfError(refused('value does not fit the identifier')));
    mock.timers.tick(5_000);
    line.show(statusOfError(refused('😀'.repeat(60))));
    mock.timers.tick(5_000);
    assert.deepEqual(texts(), [
      'failed: value does not fit the identifier (6)',
      `failed: ${'😀'.repeat(49)}… (6)`,
    ]);
  });

  it('has words for each reason for which a field is refused, and for those to come', () => {
    for (const reason of Object.keys(english.error.INVALID_INPUT)) {
      assert.notEqual(shortReason(reason), 'invalid.value', reason);
    }
    assert.equal(shortReason('of later'), 'invalid.value');
  });
});
