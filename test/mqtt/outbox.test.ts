import assert from 'node:assert/strict';
import { Outbox, type Waiting } from '../../src/mqtt/outbox.ts';

interface Item extends Waiting {
  name: string;
}

const request = (name: string, priority = 2): Item => ({ name, lane: 'request', priority });
const ack = (name: string): Item => ({ name, lane: 'ack', priority: 2 });

function drain(outbox: Outbox<Item>): string[] {
  const names: string[] = [];
  for (let item = outbox.next(0, 0); item; item = outbox.next(0, 0)) names.push(item.name);
  return names;
}

describe('the waiting line of a gateway', () => {
  it('sends the highest priority first and the oldest of one priority first', () => {
    const outbox = new Outbox<Item>(8);
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

  it('sends nothing while all places are taken', () => {
    const outbox = new Outbox<Item>(2);
    outbox.push(request('a'));
    assert.equal(outbox.next(2, 0), undefined);
    assert.equal(outbox.next(1, 1), undefined);
    assert.equal(outbox.next(1, 0)?.name, 'a');
  });

  it('keeps acknowledgements in order and leaves half of the places to requests', () => {
    const outbox = new Outbox<Item>(8);
    for (let i = 0; i < 1000; i++) outbox.push(ack(`ack ${i}`));
    const sent: string[] = [];
    for (let item = outbox.next(0, sent.length); item; item = outbox.next(0, sent.length))
      sent.push(item.name);
    assert.deepEqual(sent, ['ack 0', 'ack 1', 'ack 2', 'ack 3']);
    outbox.push(request('read'));
    assert.equal(outbox.next(0, 4)?.name, 'read');
  });

  it('lets an acknowledgement through while requests would take every place', () => {
    const outbox = new Outbox<Item>(2);
    for (let i = 0; i < 3; i++) outbox.push(request(`read ${i}`));
    outbox.push(ack('ack'));
    assert.equal(outbox.next(1, 0)?.name, 'ack');
    assert.equal(outbox.next(0, 1)?.name, 'read 0');
  });

  it('takes turns when there is a single place', () => {
    const outbox = new Outbox<Item>(1);
    for (const item of [request('r1'), request('r2'), ack('a1'), ack('a2')]) outbox.push(item);
    assert.deepEqual(drain(outbox), ['a1', 'r1', 'a2', 'r2']);
  });

  it('keeps the rest in order when some are taken out before their turn, each once', () => {
    const outbox = new Outbox<Item>(1);
    const items = Array.from({ length: 600 }, (_, i) => request(`${i}`));
    for (const item of items) outbox.push(item);
    for (let i = 0; i < 400; i++) outbox.next(0, 0);
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
});
