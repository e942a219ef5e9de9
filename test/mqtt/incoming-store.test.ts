// What a broker sends with QoS 2 and does not release: how much of it is kept, and how.
import assert from 'node:assert/strict';
import { Store } from 'mqtt';
import type { IPublishPacket } from 'mqtt-packet';
import {
  createIncomingStore,
  type IncomingStore,
  MAX_UNRELEASED_BYTES,
} from '../../src/mqtt/incoming-store.ts';

const TOPIC = 'mt/gateway/c0141f68fc3d/device/d00000000001/heartbeat';
/** What one takes beside its payload. */
const REST = TOPIC.length + 500;

describe('the messages of QoS 2 that a broker has not released', () => {
  let store: IncomingStore;
  /** Those that were kept, which the broker is told. */
  let kept: number[];
  let refused: number;

  beforeEach(() => {
    [kept, refused] = [[], 0];
    store = createIncomingStore(new Store({ clean: false }));
    store.full = () => {
      refused++;
    };
  });

  const messageOf = (messageId: number, payload: Buffer): IPublishPacket => ({
    ...{ cmd: 'publish', messageId, topic: TOPIC, payload },
    ...{ qos: 2, dup: false, retain: false },
  });
  const put = (messageId: number, payload: Buffer | number) => {
    const message = messageOf(messageId, typeof payload === 'number' ? Buffer.alloc(payload) : payload);
    assert.equal(
      store.put(message, () => kept.push(messageId)),
      store,
    );
  };
  const get = (messageId: number): IPublishPacket | undefined => {
    let found: IPublishPacket | undefined;
    const done = (_error?: Error, packet?: unknown) => {
      found = packet as IPublishPacket;
    };
    assert.equal(store.get({ messageId }, done), store);
    return found;
  };
  const release = (messageId: number): boolean => {
    let isKnown: boolean | undefined;
    const done = (error?: Error | null) => {
      isKnown = !error;
    };
    assert.equal(store.del({ messageId }, done), store);
    return isKnown as boolean;
  };

  it('are kept until they are released', () => {
    put(1, Buffer.from('{"a":1}'));
    assert.deepEqual(get(1), messageOf(1, Buffer.from('{"a":1}')));
    assert.equal(release(1), true);
    assert.deepEqual([get(1), release(1)], [undefined, false]);
  });

  it('are not confirmed beyond 64 MB, which is told for each of them, until some are released', () => {
    const half = MAX_UNRELEASED_BYTES / 2 - REST;
    put(1, half);
    put(2, half - 1);
    put(3, 0);
    put(4, 0);
    assert.deepEqual([kept, refused, get(4)], [[1, 2, 3], 1, undefined]);
    release(4);
    put(4, 0);
    assert.deepEqual([kept, refused], [[1, 2, 3], 2]);
    release(3);
    put(4, 0);
    put(5, 0);
    assert.deepEqual([kept, refused], [[1, 2, 3, 4], 3]);
  });

  it('take no more room when they are sent once more', () => {
    put(1, MAX_UNRELEASED_BYTES - REST);
    put(1, MAX_UNRELEASED_BYTES - REST);
    assert.deepEqual([kept, refused], [[1, 1], 0]);
    put(2, 0);
    assert.equal(refused, 1);
    put(1, 2);
    put(2, 0);
    assert.deepEqual([kept, refused], [[1, 1, 1, 2], 1]);
  });

  it('are kept above 64 MB where they were there before, and are not larger', () => {
    const half = MAX_UNRELEASED_BYTES / 2 - REST;
    put(3, 10);
    put(1, half);
    put(2, half);
    put(3, 10);
    put(3, 9);
    assert.deepEqual([kept, refused], [[3, 1, 2, 3, 3], 0]);
    put(3, 10);
    assert.deepEqual([refused, get(3)], [1, undefined]);
  });

  it('keep nothing alive of what came with them', () => {
    const received = Buffer.alloc(100_000);
    put(1, received.subarray(0, 10));
    const { payload } = get(1) as IPublishPacket;
    assert.notEqual((payload as Buffer).buffer, received.buffer);
    const userProperties = { name: 'x'.repeat(1_000_000) };
    store.put({ ...messageOf(2, received), properties: { userProperties } }, () => {});
    assert.equal('properties' in (get(2) as IPublishPacket), false);
  });

  it('are still worked through when the connection has ended', async () => {
    put(1, 1);
    await new Promise<void>((resolve) => store.close(() => resolve()));
    assert.equal(get(1)?.messageId, 1);
    const all: unknown[] = [];
    for await (const packet of store.createStream()) {
      all.push((packet as IPublishPacket).messageId);
    }
    assert.deepEqual(all, [1]);
  });

  it('are told of to nobody where nobody wants to know', () => {
    store = createIncomingStore(new Store({ clean: false }));
    put(1, MAX_UNRELEASED_BYTES);
    put(2, 0);
    assert.equal(get(2), undefined);
  });
});
