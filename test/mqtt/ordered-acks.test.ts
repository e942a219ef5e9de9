// Acknowledgements that wait for the first of them: in order, each once, and no more than MQTT has packet ids.
import assert from 'node:assert/strict';
import { OrderedAcks } from '../../src/mqtt/ordered-acks.ts';

describe('acknowledgements in order', () => {
  function start() {
    const written: number[] = [];
    const read: number[] = [];
    let isOpen = true;
    const lose = (): void => {
      isOpen = false;
    };
    const acks = new OrderedAcks(
      () => isOpen,
      (messageId) => void written.push(messageId),
    );
    const begin = (messageId: number) =>
      acks.begin(messageId, false, (error) => {
        read.push(messageId);
        if (!error) {
          written.push(messageId);
        }
      });
    return { acks, begin, written, read, lose };
  }

  it('are written once, also where a message is taken after it was deferred', () => {
    const { acks, begin, written, read } = start();
    begin(1);
    const { readOn, acknowledge } = acks.defer(() => {});
    readOn();
    acks.done();
    begin(2);
    acks.done();
    acknowledge();
    assert.deepEqual(
      [written, read],
      [
        [1, 2],
        [1, 2],
      ],
    );
  });

  it('are not written when the connection is lost', () => {
    const { acks, begin, written, lose } = start();
    begin(1);
    let isTold = false;
    const { acknowledge } = acks.defer(() => {
      isTold = true;
    });
    lose();
    acknowledge();
    assert.deepEqual([written, isTold, acks.isLost], [[], false, true]);
  });

  it('wait for the first no more than MQTT has packet ids: then nothing is read', () => {
    const { acks, begin, written, read } = start();
    begin(1);
    const { readOn, acknowledge } = acks.defer(() => {});
    readOn();
    for (let id = 2; id <= 65_535; id++) {
      begin(id);
      acks.done();
    }
    assert.equal(read.length, 65_534);
    acknowledge();
    assert.deepEqual([read.length, written.length, written.at(-1)], [65_535, 65_535, 65_535]);
  });
});
