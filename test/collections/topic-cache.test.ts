// What is kept of topics stays bounded, whatever a network sends.
import assert from 'node:assert/strict';
import { TopicCache } from '../../src/collections/topic-cache.ts';

const BOUND = 50_000;
const RETENTION = 1_000_000;

function filled(name: string): TopicCache<number> {
  const topics = new TopicCache<number>();
  fill(topics, name);
  return topics;
}

function fill(topics: TopicCache<number>, name: string): void {
  for (let i = 0; i < BOUND; i++) {
    topics.set(`${name}/${i}`, i);
  }
}

describe('what is known of topics', () => {
  it('is kept for fifty thousand of them, and not for one more', () => {
    const topics = filled('site');
    topics.set('one more', 1);
    assert.deepEqual(
      ['site/0', `site/${BOUND - 1}`, 'one more'].map((topic) => topics.get(topic)),
      [0, BOUND - 1, undefined],
    );
  });

  it('is not kept for a topic longer than 200 characters', () => {
    const topics = new TopicCache<number>();
    topics.set('x'.repeat(200), 1);
    topics.set('y'.repeat(201), 2);
    assert.deepEqual([topics.get('x'.repeat(200)), topics.get('y'.repeat(201))], [1, undefined]);
  });

  it('begins anew when a million others were looked for in vain, each time', () => {
    const topics = filled('0');
    for (const [before, now] of ['01', '12']) {
      for (let i = 1; i < RETENTION; i++) {
        topics.set('refused', i);
      }
      assert.deepEqual([topics.get('refused'), topics.get(`${before}/0`)], [undefined, 0]);
      fill(topics, now as string);
      assert.deepEqual([topics.get(`${before}/0`), topics.get(`${now}/0`)], [undefined, 0]);
    }
  });

  it('is forgotten when subscribers change', () => {
    const topics = filled('site');
    topics.clear();
    assert.equal(topics.get('site/0'), undefined);
    topics.set('other', 1);
    assert.equal(topics.get('other'), 1);
  });
});
