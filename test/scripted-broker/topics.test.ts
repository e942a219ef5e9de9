import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FilterTree, matches } from './topics.ts';

describe('the filters of the scripted broker', () => {
  it('match by the rules of MQTT', () => {
    for (const filter of ['#', 'a/#', 'a/b/#', '+/b', 'a/+', 'a/b', '+/+', '+/#']) {
      assert.ok(matches(filter, 'a/b'));
    }
    for (const filter of ['a', '+', 'a/b/c', 'a/b/+', 'b/#', 'A/b']) {
      assert.ok(!matches(filter, 'a/b'), filter);
    }
    assert.ok(matches('a/+', 'a/') && matches('a/#', 'a'));
    assert.ok(matches('$SYS/#', '$SYS/a') && !matches('#', '$SYS/a') && !matches('+/a', '$SYS/a'));
  });

  it('are found among many as if each were compared', () => {
    const level = fc.constantFrom('a', 'b', '', '$c');
    const topics = fc.array(level, { minLength: 1, maxLength: 4 }).map((levels) => levels.join('/'));
    const filters = fc
      .tuple(fc.array(fc.oneof(level, fc.constant('+')), { minLength: 1, maxLength: 4 }), fc.boolean())
      .map(([levels, isOpen]) => [...levels, ...(isOpen ? ['#'] : [])].join('/'));
    const all = fc.uniqueArray(filters, { maxLength: 8 });
    fc.assert(
      fc.property(all, fc.array(filters, { maxLength: 2 }), topics, (kept, gone, topic) => {
        const tree = new FilterTree();
        for (const filter of [...kept, ...gone]) {
          tree.add(filter);
        }
        for (const filter of gone) {
          tree.delete(filter);
        }
        const expected = kept.filter((filter) => !gone.includes(filter) && matches(filter, topic));
        assert.deepEqual(tree.find(topic).sort(), expected.sort());
      }),
    );
  });
});
