import assert from 'node:assert/strict';
import { type QueueItem, SendQueue } from '../../src/mqtt/send-queue.ts';
import { usedMemory } from '../memory.ts';

interface Item extends QueueItem {
  name: string;
}

const request = (name: string, priority = 2): Item => ({ name, trafficClass: 'request', priority });
const ack = (name: string): Item => ({ name, trafficClass: 'ack', priority: 2 });

function drain(outbox: SendQueue<Item>): string[] {
  const names: string[] = [];
  for (let item = outbox.next(0, 0); item; item = outbox.next(0, 0)) {
    names.push(item.name);
  }
  return names;
}

describe('the waiting line of a gateway', () => {
  it('sends the highest priority first and the oldest of one priority first', () => {
    const outbox = new SendQueue<Item>(8);
    for (const item of [
      request('a', 0),
      request('b', 2),
      request('c', 4),
      request('d', 2),
      request('e', 4),
    ]) {
      outbox.push(item);
    }
    assert.deepEqual(drain(outbox), ['c', 'e', 'b', 'd', 'a']);
  });

  it('shows what it would send, which stays', () => {
    const outbox = new SendQueue<Item>(8);
    assert.equal(outbox.peek(0, 0), undefined);
    const [low, high] = [request('low', 0), request('high', 4)];
    for (const item of [low, high, ack('first'), ack('second')]) {
      outbox.push(item);
    }
    assert.deepEqual([outbox.peek(0, 0)?.name, outbox.peek(0, 1)?.name], ['first', 'high']);
    assert.equal(outbox.peek(4, 4), undefined);
    outbox.remove(high);
    assert.equal(outbox.peek(0, 1), low);
    assert.deepEqual(drain(outbox), ['first', 'second', 'low']);
  });

  it('sends nothing while all places are taken', () => {
    const outbox = new SendQueue<Item>(2);
    outbox.push(request('a'));
    assert.equal(outbox.next(2, 0), undefined);
    assert.equal(outbox.next(1, 1), undefined);
    assert.equal(outbox.next(1, 0)?.name, 'a');
  });

  it('keeps acknowledgements in order and leaves half of the places to requests', () => {
    const outbox = new SendQueue<Item>(8);
    for (let i = 0; i < 1000; i++) {
      outbox.push(ack(`ack ${i}`));
    }
    const sent: string[] = [];
    for (let item = outbox.next(0, sent.length); item; item = outbox.next(0, sent.length)) {
      sent.push(item.name);
    }
    assert.deepEqual(sent, ['ack 0', 'ack 1', 'ack 2', 'ack 3']);
    outbox.push(request('read'));
    assert.equal(outbox.next(0, 4)?.name, 'read');
  });

  it('gives acknowledgements at most half of the places where their number is odd, and always one', () => {
    for (const [places, most] of [
      [1, 1],
      [3, 1],
      [5, 2],
      [7, 3],
    ] as const) {
      const queue = new SendQueue<Item>(places);
      for (let i = 0; i < 10; i++) {
        queue.push(ack(`ack ${i}`));
      }
      let sent = 0;
      while (queue.next(0, sent)) {
        sent++;
      }
      assert.equal(sent, most);
    }
  });

  it('lets an acknowledgement through while requests would take every place', () => {
    const outbox = new SendQueue<Item>(2);
    for (let i = 0; i < 3; i++) {
      outbox.push(request(`read ${i}`));
    }
    outbox.push(ack('ack'));
    assert.equal(outbox.next(1, 0)?.name, 'ack');
    assert.equal(outbox.next(0, 1)?.name, 'read 0');
  });

  it('takes turns when there is a single place', () => {
    const outbox = new SendQueue<Item>(1);
    for (const item of [request('r1'), request('r2'), ack('a1'), ack('a2')]) {
      outbox.push(item);
    }
    assert.deepEqual(drain(outbox), ['a1', 'r1', 'a2', 'r2']);
  });

  it('keeps the rest in order when some are taken out before their turn, each once', () => {
    const outbox = new SendQueue<Item>(1);
    const items = Array.from({ length: 600 }, (_, i) => request(`${i}`));
    for (const item of items) {
      outbox.push(item);
    }
    for (let i = 0; i < 400; i++) {
      outbox.next(0, 0);
    }
    const odd = items.filter(({ name }) => Number(name) % 2 === 1);
    assert.equal(odd.filter((item) => outbox.remove(item)).length, 100);
    assert.equal(odd.filter((item) => outbox.remove(item)).length, 0);
    assert.deepEqual(
      [...outbox].slice(0, 3).map(({ name }) => name),
      ['400', '402', '404'],
    );
    assert.equal(drain(outbox).length, 100);
    outbox.push(items[0] as Item);
    assert.deepEqual(drain(outbox), ['0']);
  });

  it('loses nothing when the oldest are taken out before their turn, or when it was empty for a while', () => {
    const outbox = new SendQueue<Item>(1);
    const items = ['a', 'b', 'c', 'd'].map((name) => request(name));
    for (const item of items) {
      outbox.push(item);
    }
    outbox.remove(items[0] as Item);
    assert.deepEqual(drain(outbox), ['b', 'c', 'd']);
    for (let i = 0; i < 3; i++) {
      assert.equal(outbox.next(0, 0), undefined);
    }
    outbox.push(request('e'));
    assert.deepEqual(drain(outbox), ['e']);
  });

  it('finds the newest request of the lowest priority, whatever was sent or taken out, and it stays', () => {
    const outbox = new SendQueue<Item>(1);
    const items = [request('a', 3), request('b', 1), request('c', 1), request('d', 1), request('e', 3)];
    for (const item of [ack('first'), ...items, ack('last')]) {
      outbox.push(item);
    }
    const found: (string | undefined)[] = [];
    for (const at of [3, 1, 2, 4, 0]) {
      found.push(outbox.findLast('request')?.name, outbox.findLast('request')?.name);
      outbox.remove(items[at] as Item);
    }
    assert.deepEqual(found, ['d', 'd', 'c', 'c', 'c', 'c', 'e', 'e', 'a', 'a']);
    assert.equal(outbox.findLast('request'), undefined);
    const later = request('later', 0);
    outbox.push(later);
    assert.equal(outbox.findLast('request'), later);
    assert.deepEqual(drain(outbox), ['first', 'later', 'last']);
  });

  it('finds the newest acknowledgement, whatever was sent or taken out, and it stays', () => {
    const outbox = new SendQueue<Item>(1);
    const items = [ack('a'), ack('b'), ack('c')];
    for (const item of [...items, request('last', 0)]) {
      outbox.push(item);
    }
    assert.equal(outbox.next(0, 0), items[0]);
    assert.deepEqual([outbox.findLast('ack'), outbox.findLast('ack')], [items[2], items[2]]);
    outbox.remove(items[2] as Item);
    assert.equal(outbox.findLast('ack'), items[1]);
    assert.deepEqual(drain(outbox), ['last', 'b']);
    assert.equal(outbox.findLast('ack'), undefined);
  });

  it('lists what waits by lane, and within it by priority', () => {
    const outbox = new SendQueue<Item>(1);
    for (const item of [ack('a'), request('b', 4), request('c', 0), request('d', 4)]) {
      outbox.push(item);
    }
    assert.deepEqual(
      [...outbox].map(({ name }) => name),
      ['c', 'b', 'd', 'a'],
    );
  });

  it('sends the next acknowledgement first whenever none is on its way, with two places and more', () => {
    const outbox = new SendQueue<Item>(2);
    for (const item of [request('r1'), request('r2'), ack('a1'), ack('a2')]) {
      outbox.push(item);
    }
    assert.deepEqual([outbox.next(0, 0)?.name, outbox.next(0, 0)?.name], ['a1', 'a2']);
  });

  it('is emptied in no time when a hundred thousand wait', () => {
    const outbox = new SendQueue<Item>(1);
    for (let i = 0; i < 100_000; i++) {
      outbox.push(request(`${i}`));
    }
    const names = drain(outbox);
    assert.deepEqual([names.length, names[0], names.at(-1)], [100_000, '0', '99999']);
  });

  it('is emptied in no time when a hundred thousand are taken out before their turn', () => {
    const outbox = new SendQueue<Item>(1);
    const items = Array.from({ length: 100_000 }, (_, i) => request(`${i}`));
    for (const item of items) {
      outbox.push(item);
    }
    assert.ok(items.every((item) => outbox.remove(item)));
    assert.deepEqual([...outbox], []);
  });

  it('takes no memory for what was taken out, although a thousand always wait', () => {
    const outbox = new SendQueue<Item>(1);
    for (let i = 0; i < 1_000; i++) {
      outbox.push(request('first'));
    }
    const before = usedMemory();
    for (let i = 0; i < 200_000; i++) {
      const item = request('next');
      outbox.push(item);
      outbox.remove(item);
    }
    assert.ok(usedMemory() - before < 1_200_000);
    assert.equal([...outbox].length, 1_000);
  });

  const LEAVING: [title: string, leave: (outbox: SendQueue<Item>, item: Item) => void][] = [
    ['was sent', (outbox) => outbox.next(0, 0)],
    ['was taken out', (outbox, item) => outbox.remove(item)],
  ];
  for (const [title, leave] of LEAVING) {
    it(`takes no memory for what ${title}, although one always waits`, () => {
      const outbox = new SendQueue<Item>(1);
      for (let i = 0; i < 1_000; i++) {
        outbox.push(request('first'));
      }
      for (let i = 0; i < 999; i++) {
        outbox.next(0, 0);
      }
      const before = usedMemory();
      for (let i = 0; i < 200_000; i++) {
        const item = request('next');
        outbox.push(item);
        leave(outbox, item);
      }
      assert.ok(usedMemory() - before < 1_200_000);
      assert.equal([...outbox].length, 1);
    });
  }
});
