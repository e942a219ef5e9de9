// When the broker is told of reports: together, once Node-RED has passed them on, and never of those that it has not.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { GatheredAcks, pubackOf } from '../../src/mqtt/gathered-acks.ts';

describe('acknowledgements that are gathered', () => {
  let written: { ids: number[]; isGathered: boolean }[];
  let isPaused: boolean;
  let acks: GatheredAcks;

  beforeEach(() => {
    written = [];
    isPaused = false;
    acks = new GatheredAcks(
      (packets, isGathered) => {
        const ids = Array.from({ length: packets.length / 4 }, (_, i) => packets.readUInt16BE(4 * i + 2));
        written.push({ ids, isGathered });
      },
      () => isPaused,
    );
  });
  afterEach(() => mock.reset());

  const turns = async (count: number) => {
    for (let i = 0; i < count; i++) {
      await turn();
    }
  };
  const news = () => written.splice(0).map(({ ids }) => ids);

  it('are packets of four bytes with the packet id', () => {
    assert.deepEqual([...pubackOf([0x1234, 5])], [0x40, 2, 0x12, 0x34, 0x40, 2, 0, 5]);
  });

  it('leave in their order, those of one turn in one piece, once Node-RED has passed the reports on', async () => {
    acks.add(1);
    acks.add(2);
    assert.deepEqual(written, []);
    await turns(2);
    acks.add(3);
    assert.deepEqual(written.splice(0), [{ ids: [1, 2], isGathered: true }]);
    acks.add(4);
    acks.passedOn(3);
    assert.deepEqual(news(), [[3]]);
    await turns(2);
    assert.deepEqual(news(), [[4]]);
    acks.passedOn(4);
    assert.deepEqual(news(), []);
  });

  it('of reports that come behind others in the same turn wait for the next one', async () => {
    let given = 0;
    // A report that waited is given to the flows in the middle of a turn, and passed on with the next.
    setImmediate(() => {
      acks.add(2);
      setImmediate(() => {
        given = 2;
      });
    });
    acks.add(1);
    while (written.length === 0) {
      await turn();
      assert.equal(given === 0 && written.some(({ ids }) => ids.includes(2)), false);
    }
  });

  it('wait while flows are replaced', async () => {
    acks.add(1);
    isPaused = true;
    await turns(5);
    assert.deepEqual(news(), []);
    isPaused = false;
    acks.add(2);
    acks.resumed();
    assert.deepEqual(news(), []);
    await turns(5);
    assert.deepEqual(news(), [[1, 2]]);
    acks.resumed();
    await turns(5);
    assert.deepEqual(news(), []);
  });

  it('of what flows get when they run wait until that is passed on, and for the next deploy, too', async () => {
    acks.add(1);
    isPaused = true;
    await turns(5);
    isPaused = false;
    acks.resumed();
    // Another deploy begins in this turn.
    isPaused = true;
    await turns(5);
    assert.deepEqual([news(), acks.held], [[], 1]);
    isPaused = false;
    acks.resumed();
    await turns(5);
    assert.deepEqual([news(), acks.held], [[[1]], 0]);
  });

  it('of responses wait behind those of reports for two seconds, however long a deploy takes', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      acks.add(1);
      isPaused = true;
      await turns(5);
      mock.timers.tick(60_000);
      assert.deepEqual(news(), []);
      acks.addDone(2);
      acks.addDone(3);
      mock.timers.tick(1_999);
      await turns(5);
      assert.deepEqual(news(), []);
      mock.timers.tick(1);
      assert.deepEqual(news(), [[1, 2, 3]]);
      acks.addDone(4);
      assert.deepEqual(news(), [[4]]);
    } finally {
      mock.timers.reset();
    }
  });

  it('of responses wait for two seconds of each deploy: those of one that is over are no time of the next', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      acks.add(1);
      isPaused = true;
      acks.addDone(2);
      isPaused = false;
      acks.resumed();
      await turns(5);
      assert.deepEqual(news(), [[1, 2]]);
      mock.timers.tick(1_900);
      acks.add(3);
      isPaused = true;
      await turns(5);
      mock.timers.tick(100);
      assert.deepEqual(news(), []);
      acks.addDone(4);
      mock.timers.tick(1_999);
      assert.deepEqual(news(), []);
      mock.timers.tick(1);
      assert.deepEqual(news(), [[3, 4]]);
    } finally {
      mock.timers.reset();
    }
  });

  it('of responses in the turn of a report leave with it, and never before it', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      acks.add(1);
      acks.addDone(2);
      // A deploy that begins in this turn has nothing behind it yet.
      isPaused = true;
      mock.timers.tick(2_000);
      assert.deepEqual(news(), []);
      acks.addDone(3);
      isPaused = false;
      mock.timers.tick(2_000);
      assert.deepEqual(news(), []);
      await turns(5);
      assert.deepEqual(news(), [[1, 2, 3]]);
    } finally {
      mock.timers.reset();
    }
  });

  it('that are due leave at once where none waits, else behind these', async () => {
    acks.addDone(1);
    assert.deepEqual(written.splice(0), [{ ids: [1], isGathered: false }]);
    acks.add(2);
    acks.addDone(3);
    assert.deepEqual(news(), []);
    await turns(5);
    assert.deepEqual(news(), [[2, 3]]);
  });
});
