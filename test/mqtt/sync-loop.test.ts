// The broker gets what is wanted one step after the other, whatever changes in between.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { SILENT } from '../../src/log.ts';
import { SyncLoop } from '../../src/mqtt/sync-loop.ts';

describe('the steps until the broker has what is wanted', () => {
  interface Connection {
    name: string;
  }

  /** Each step waits in `steps` until it is told whether more was left to do. */
  const open = () => {
    const steps: { name: string; end: (hasDone: boolean) => void; fail: (error: Error) => void }[] = [];
    const traced: string[] = [];
    let done = 0;
    const loop = new SyncLoop<Connection>(
      { ...SILENT, trace: (text) => void traced.push(text) },
      {
        step: ({ name }) => new Promise((end, fail) => steps.push({ name, end, fail })),
        done: () => {
          done++;
        },
      },
    );
    const ends = async (hasDone: boolean) => {
      steps.shift()?.end(hasDone);
      await turn();
    };
    return { loop, steps, traced, ends, done: () => done };
  };
  const A = { name: 'a' };
  const B = { name: 'b' };

  it('are taken until one finds nothing left to do', async () => {
    const { loop, steps, ends, done } = open();
    loop.connect(A);
    void loop.run();
    await ends(true);
    await ends(true);
    assert.deepEqual([steps.length, done()], [1, 0]);
    await ends(false);
    assert.deepEqual([steps.length, done()], [0, 1]);
  });

  it('are not taken without a connection', async () => {
    const { loop, steps, done } = open();
    await loop.run();
    assert.equal(loop.transport, undefined);
    assert.deepEqual([steps.length, done()], [0, 0]);
  });

  it('are taken one at a time, and once more where something has changed meanwhile', async () => {
    const { loop, steps, ends, done } = open();
    loop.connect(A);
    void loop.run();
    assert.equal(loop.hasChanged, false);
    void loop.run();
    assert.equal(loop.hasChanged, true);
    assert.equal(steps.length, 1);
    await ends(false);
    assert.deepEqual([loop.hasChanged, steps.length, done()], [false, 1, 0]);
    await ends(false);
    assert.deepEqual([steps.length, done()], [0, 1]);
  });

  it('are taken again after all was done', async () => {
    const { loop, ends, done } = open();
    loop.connect(A);
    for (let i = 1; i < 4; i++) {
      void loop.run();
      await ends(false);
      assert.equal(done(), i);
    }
  });

  it('go on over the next connection from the beginning, and end in nothing over the one before', async () => {
    const { loop, steps, ends, done } = open();
    loop.connect(A);
    void loop.run();
    loop.connect(B);
    assert.equal(loop.transport, B);
    void loop.run();
    assert.deepEqual(
      steps.map(({ name }) => name),
      ['a', 'b'],
    );
    await ends(false);
    assert.equal(done(), 0);
    // The step over the connection before does not let a second one begin over this.
    void loop.run();
    assert.equal(steps.length, 1);
    await ends(false);
    await ends(false);
    assert.equal(done(), 1);
  });

  it('end in nothing when the connection is gone', async () => {
    const { loop, steps, ends, done } = open();
    loop.connect(A);
    void loop.run();
    loop.connect(undefined);
    await ends(true);
    assert.deepEqual([steps.length, done()], [0, 0]);
  });

  it('end where one fails, which is traced, and can begin anew', async () => {
    const { loop, steps, traced, ends, done } = open();
    loop.connect(A);
    const running = loop.run();
    steps.shift()?.fail(new Error('connection closed'));
    await running;
    assert.deepEqual([traced, done()], [['subscriptions: Error: connection closed'], 0]);
    void loop.run();
    await ends(false);
    assert.equal(done(), 1);
  });
});
