// Acknowledgements that wait for the first of them: in order, each once, and no more than MQTT has packet ids.
import assert from 'node:assert/strict';
import { OrderedAcks } from '../../src/mqtt/ordered-acks.ts';

const NOBODY = { written() {}, settled() {} };

describe('acknowledgements in order', () => {
  function start() {
    const written: number[] = [];
    const read: number[] = [];
    /** How many were written before each. */
    const pings: number[] = [];
    let isOpen = true;
    let held = 0;
    const hold = (count: number): void => {
      held = count;
    };
    const lose = (): void => {
      isOpen = false;
    };
    const acks = new OrderedAcks(
      () => isOpen,
      {
        addDone: (messageId) => void written.push(messageId),
        get held() {
          return held;
        },
      },
      () => {
        pings.push(written.length);
        acks.pinged();
      },
    );
    const begin = (messageId: number, isResent = false) =>
      acks.begin(messageId, isResent, (error) => {
        read.push(messageId);
        if (!error) {
          written.push(messageId);
        }
      });
    return { acks, begin, written, read, pings, lose, hold };
  }

  it('are written once, also where a message is taken after it was deferred', () => {
    const { acks, begin, written, read } = start();
    begin(1);
    const deferral = acks.defer(NOBODY);
    deferral.readOn();
    acks.done();
    begin(2);
    acks.done();
    deferral.acknowledge();
    assert.deepEqual(
      [written, read],
      [
        [1, 2],
        [1, 2],
      ],
    );
  });

  it('are left to MQTT.js where none waits', () => {
    const { acks, begin, written } = start();
    assert.equal(begin(1), true);
    assert.equal(acks.mustWait, false);
    acks.done();
    assert.deepEqual(written, [1]);
    const outcomes: (string | undefined)[] = [];
    const note = (error?: Error) => void outcomes.push(error?.message);
    acks.begin(2, false, note);
    acks.done();
    assert.deepEqual([written, outcomes], [[1], [undefined]]);
    acks.begin(3, false, note);
    acks.done(undefined, true);
    assert.deepEqual(
      [written, outcomes],
      [
        [1, 3],
        [undefined, 'acknowledged later'],
      ],
    );
  });

  it('are written at once for what nobody has to be given, in their order', () => {
    const { acks, begin, written, read } = start();
    begin(1);
    acks.done(undefined, true);
    assert.deepEqual([written, read], [[1], [1]]);
    begin(2);
    const deferral = acks.defer(NOBODY);
    begin(3);
    acks.done(undefined, true);
    assert.deepEqual(written, [1]);
    deferral.acknowledge();
    assert.deepEqual(written, [1, 2, 3]);
    begin(4);
    acks.done(new Error('not taken'), true);
    assert.deepEqual(written, [1, 2, 3]);
  });

  it('that have not left yet are not had by a broker that answers a ping', () => {
    const { acks, begin, hold } = start();
    const settled: number[] = [];
    const acknowledge = (messageId: number) => {
      begin(messageId);
      acks.defer({ written() {}, settled: (order) => settled.push(order) }).acknowledge();
    };
    acknowledge(1);
    hold(2);
    acknowledge(2);
    acknowledge(3);
    acks.pinged();
    acks.ponged();
    assert.deepEqual(settled, [1]);
    hold(5);
    acks.pinged();
    acks.ponged();
    assert.deepEqual(settled, [1]);
    hold(0);
    acks.pinged();
    acks.ponged();
    assert.deepEqual(settled, [1, 3]);
  });

  it('are written in the order in which the messages came, each when those before it are due', () => {
    const { acks, begin, written, read } = start();
    const [first, second, third] = [1, 2, 3].map((id) => {
      begin(id);
      const deferral = acks.defer(NOBODY);
      deferral.readOn();
      deferral.readOn();
      return deferral;
    });
    assert.deepEqual(read, [1, 2, 3]);
    third?.acknowledge();
    assert.deepEqual([written, acks.mustWait], [[], true]);
    first?.acknowledge();
    assert.deepEqual([written, acks.mustWait], [[1], true]);
    second?.acknowledge();
    assert.deepEqual([written, acks.mustWait], [[1, 2, 3], false]);
  });

  it('are not given twice to a message that the broker sends once more while it waits', () => {
    const { acks, begin, written, read } = start();
    assert.equal(begin(1, true), true);
    assert.equal(acks.isResent, true);
    const deferral = acks.defer(NOBODY);
    assert.equal(begin(1, true), false);
    assert.equal(begin(2), true);
    assert.equal(acks.isResent, false);
    assert.deepEqual([written, read], [[], [1]]);
    acks.done();
    deferral.acknowledge();
    assert.deepEqual(written, [1, 2]);
    assert.equal(begin(1, true), true);
    assert.equal(begin(2, true), true);
  });

  it('are named by the number of a message that is sent again, until the broker has had them', () => {
    const { acks, begin, lose } = start();
    const acknowledge = (id: number) => {
      begin(id);
      acks.defer(NOBODY).acknowledge();
    };
    const orderOf = (id: number, isResent = true) => {
      begin(id, isResent);
      return acks.ackedOrder;
    };
    acknowledge(7);
    acknowledge(8);
    assert.deepEqual([orderOf(7), orderOf(8), orderOf(9)], [1, 2, 0]);
    assert.equal(orderOf(7, false), 0, 'another message');
    assert.equal(orderOf(7), 0, 'the broker has had it');
    assert.equal(orderOf(8), 2);
    lose();
    assert.equal(acks.ackedOrder, 2, 'it may have waited here');
  });

  it('are not written when the connection is lost', () => {
    const { acks, begin, written, lose } = start();
    begin(1);
    let isTold = false;
    const deferral = acks.defer({
      ...NOBODY,
      written: () => {
        isTold = true;
      },
    });
    lose();
    deferral.acknowledge();
    assert.deepEqual([written, isTold, acks.isLost], [[], false, true]);
  });

  it('wait for the first as many as MQTT has packet ids: beyond that nothing is read', () => {
    const { acks, begin, written, read } = start();
    begin(1);
    const deferral = acks.defer(NOBODY);
    deferral.readOn();
    for (let id = 2; id <= 65_535; id++) {
      begin(id);
      acks.done();
    }
    assert.equal(read.length, 65_535);
    // A broker that uses a packet id twice.
    begin(2);
    acks.done();
    assert.equal(read.length, 65_535);
    deferral.acknowledge();
    assert.deepEqual([read.length, written.length, written.at(-1)], [65_536, 65_536, 2]);
  });

  it('hold up reading until the first of too many is written, and not only a later one', () => {
    const { acks, begin, read } = start();
    const [first, second, third] = [1, 2, 3].map((id) => {
      begin(id);
      const deferral = acks.defer(NOBODY);
      deferral.readOn();
      return deferral;
    });
    for (let id = 4; id <= 65_536; id++) {
      begin(id % 65_536);
      acks.done();
    }
    assert.equal(read.length, 65_535);
    third?.acknowledge();
    assert.equal(read.length, 65_535);
    first?.acknowledge();
    assert.equal(read.length, 65_536);
    second?.acknowledge();
    assert.equal(read.length, 65_536);
  });

  it('are told with their order when they are written, and once up to where the broker has had them', () => {
    const { acks, begin } = start();
    const told: string[] = [];
    const events = {
      written: (order: number) => void told.push(`written ${order}`),
      settled: (order: number) => void told.push(`settled ${order}`),
    };
    for (const id of [1, 2, 3]) {
      begin(id);
      acks.defer(events).acknowledge();
    }
    acks.pinged();
    begin(2);
    begin(1);
    begin(2);
    acks.ponged();
    acks.ponged();
    assert.deepEqual(told, ['written 1', 'written 2', 'written 3', 'settled 2', 'settled 3']);
  });

  describe('that were written', () => {
    function write(count: number) {
      const { acks, begin, pings, lose } = start();
      const ids: number[] = [];
      const settled: number[] = [];
      const add = (id: number) => {
        ids.push(id);
        begin(id);
        const deferral = acks.defer({
          written() {},
          settled: (order) => void settled.push(...ids.splice(0, order - settled.length)),
        });
        deferral.acknowledge();
      };
      for (let id = 1; id <= count; id++) {
        add(id);
      }
      return { acks, begin, add, settled, pings, lose };
    }

    it('are settled when the broker answers a ping that went behind them, the others are not', () => {
      const { acks, add, settled } = write(2);
      acks.pinged();
      add(3);
      acks.pinged();
      assert.deepEqual(settled, []);
      acks.ponged();
      assert.deepEqual(settled, [1, 2]);
      acks.ponged();
      acks.ponged();
      assert.deepEqual(settled, [1, 2, 3]);
    });

    it('are settled when the broker uses the packet id for another message, with those before it', () => {
      const { begin, settled } = write(3);
      begin(2);
      assert.deepEqual(settled, [1, 2]);
    });

    it('are not settled by a broker that answers after the connection is lost', () => {
      const { acks, lose, settled } = write(2);
      acks.pinged();
      lose();
      acks.ponged();
      assert.deepEqual(settled, []);
    });

    it('are followed by a ping when there are a hundred, and by no other before that is answered', () => {
      const { acks, add, pings } = write(99);
      assert.deepEqual(pings, []);
      for (let id = 100; id <= 350; id++) {
        add(id);
      }
      assert.deepEqual(pings, [100]);
      acks.ponged();
      add(351);
      assert.deepEqual(pings, [100, 351]);
    });

    it('are followed by the next ping when there are a hundred more', () => {
      const { acks, add, pings } = write(100);
      acks.ponged();
      for (let id = 101; id <= 199; id++) {
        add(id);
      }
      assert.deepEqual(pings, [100]);
      add(200);
      assert.deepEqual(pings, [100, 200]);
    });

    it('are known for no more than 1 000 pings that are not answered', () => {
      const { acks, add, settled } = write(0);
      for (let id = 1; id <= 1_001; id++) {
        add(id);
        acks.pinged();
      }
      for (let id = 1; id <= 1_001; id++) {
        acks.ponged();
      }
      assert.equal(settled.length, 1_000);
    });

    it('are settled from the oldest on where there are more than a broker leaves unacknowledged', () => {
      const { settled } = write(65_537);
      assert.deepEqual(settled, [1, 2]);
    });

    it('are known when the broker sends the message again, however many it has in flight', () => {
      const { acks, begin } = write(5_000);
      begin(1, true);
      assert.equal(acks.ackedOrder, 1);
    });
  });

  const deferring = ({ acks, begin }: ReturnType<typeof start>) => {
    const told: [number, number][] = [];
    const defer = (messageId: number, isResent = false) => {
      assert.equal(begin(messageId, isResent), true);
      const deferral = acks.defer({ written: (order) => void told.push([messageId, order]), settled() {} });
      deferral.readOn();
      return deferral;
    };
    return { told, defer };
  };

  it('are not written for one that was sent twice when the broker has used its packet id again', () => {
    const all = start();
    const { acks, begin, written } = all;
    const { told, defer } = deferring(all);
    defer(1).acknowledge();
    begin(2);
    acks.done();
    const open = defer(3);
    // The broker had the first two acknowledgements only just then.
    defer(1, true).acknowledge();
    assert.equal(begin(2, true), true);
    acks.done();
    // Both ids are free, and used for others, of QoS 1 and 2.
    const other = defer(1);
    acks.usedAgain(2);
    open.acknowledge();
    assert.deepEqual(written, [1, 2, 3]);
    assert.deepEqual(told, [
      [1, 1],
      [3, 2],
      [1, 0],
    ]);
    assert.equal(begin(1, true), false);
    other.acknowledge();
    assert.deepEqual(written, [1, 2, 3, 1]);
    assert.equal(acks.mustWait, false);
    defer(1).acknowledge();
    assert.deepEqual(written, [1, 2, 3, 1, 1]);
  });

  it('are awaited once for each message, however often its packet id is used again', () => {
    const all = start();
    const { acks, begin, written } = all;
    const { defer } = deferring(all);
    assert.equal(begin(7, true), true);
    assert.equal(acks.ackedOrder, 0, 'nothing was written');
    defer(1, true).acknowledge();
    assert.deepEqual(written, [1]);
    const open = defer(3);
    acks.usedAgain(1);
    assert.equal(begin(1, true), true, 'nothing of this id waits');
    acks.done();
    acks.usedAgain(1);
    const other = defer(1);
    acks.usedAgain(1);
    assert.equal(begin(1, true), false, 'the other one waits');
    open.acknowledge();
    other.acknowledge();
    assert.deepEqual(written, [1, 3, 1]);
    assert.equal(begin(1, true), true);
  });

  it('are all written to a broker that sends again without the mark while the flow works', () => {
    const all = start();
    const { written } = all;
    const { told, defer } = deferring(all);
    const first = defer(1);
    const copies = [defer(1), defer(1)];
    first.acknowledge();
    assert.deepEqual(written, [1]);
    for (const copy of copies) {
      copy.acknowledge();
    }
    assert.deepEqual(written, [1, 1, 1]);
    assert.deepEqual(
      told.map(([, order]) => order),
      [1, 2, 3],
    );
  });

  it('are awaited anew where the message that has the packet id now was not taken', () => {
    const { acks, begin, written } = start();
    begin(1);
    const first = acks.defer(NOBODY);
    begin(2, true);
    acks.done();
    begin(2);
    acks.done(new Error('not taken'));
    assert.equal(begin(2, true), true);
    acks.done();
    first.acknowledge();
    assert.deepEqual(written, [1, 2]);
  });
});
