// Which filters of an earlier process can have brought a topic that nobody has asked for.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { StaleSubscriptions } from '../../src/mqtt/stale-subscriptions.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { D, G, G2, reportTopic, responseFilter } from './scripted.ts';

describe('finding leftovers', () => {
  const topics = createTopics('');
  const device = (i: number) => (0xd00000000000 + i).toString(16);

  it('names the filters of a topic once', () => {
    const leftovers = new StaleSubscriptions(topics, '');
    assert.ok(leftovers.filtersOf(reportTopic('measurement/8800')).length > 4);
    assert.deepEqual(leftovers.filtersOf(reportTopic('measurement/8801')), []);
  });

  it('names every filter that this package can have made for a report', () => {
    const pairs = [
      ['+', '+'],
      [G, '+'],
      ['+', D],
      [G, D],
    ] as const;
    for (const [rest, tails] of [
      ['heartbeat', ['#', 'heartbeat']],
      ['measurement/8800', ['#', 'measurement/+', '+/8800', 'measurement/8800']],
      ['property-decoded/battery', ['#', 'property-decoded/+', '+/battery', 'property-decoded/battery']],
      ['new/a/b', ['#', 'new/#', '+/a/b', 'new/a/b']],
    ] as const) {
      const filters = new StaleSubscriptions(topics, '').filtersOf(reportTopic(rest));
      const expected = pairs.flatMap(([gateway, device]) =>
        tails.map((tail) => reportTopic(tail, gateway, device)),
      );
      assert.deepEqual(filters.sort(), expected.sort(), rest);
    }
  });

  it('names the filters of a response, those of all gateways too, once for each gateway', () => {
    const leftovers = new StaleSubscriptions(topics, '$share/group/');
    const response = (gateway: string, suffix: string) => `mt/gateway/${gateway}/response/${D}/${suffix}`;
    assert.deepEqual(leftovers.filtersOf(response(G, 'read/8001')), [responseFilter(G), responseFilter('+')]);
    assert.deepEqual(leftovers.filtersOf(response(G, 'write/8001')), []);
    assert.deepEqual(leftovers.filtersOf(response(G2, 'read/8001'))[0], responseFilter(G2));
  });

  it('names the filters of an earlier topic prefix, and of the present one', () => {
    const leftovers = new StaleSubscriptions(createTopics('now'), '');
    for (const prefix of ['now/', 'old/site/']) {
      const filters = leftovers.filtersOf(`${prefix}${reportTopic('heartbeat', prefix === 'now/' ? G : G2)}`);
      assert.ok(filters.includes(`${prefix}mt/gateway/+/device/+/#`), filters.join());
      assert.ok(filters.every((filter) => filter.startsWith(prefix)));
      const responses = leftovers.filtersOf(
        `${prefix}mt/gateway/${prefix === 'now/' ? G : G2}/response/${D}/x`,
      );
      assert.equal(responses[1], `${prefix}mt/gateway/+/response/#`);
    }
  });

  it('knows at most 1 000 topics at a time, and deals with others ten minutes after the first', () => {
    let now = 0;
    const leftovers = new StaleSubscriptions(topics, '', () => now);
    const isNamed = (i: number) => leftovers.filtersOf(reportTopic('heartbeat', G, device(i))).length > 0;
    for (let first = 0; first < 3_000; first += 1_000) {
      // The times count from here on.
      now += 1_000_000;
      const start = now;
      for (let i = first; i < first + 1_000; i++, now++) {
        assert.ok(isNamed(i), `${i}`);
      }
      now = start + 600_000;
      assert.deepEqual([isNamed(first + 1_000), isNamed(first)], [false, false]);
    }
    now += 1;
    assert.deepEqual([isNamed(3_000), isNamed(3_000), isNamed(0)], [true, false, true]);
  });

  it('forgets none while it knows fewer', () => {
    let now = 0;
    const leftovers = new StaleSubscriptions(topics, '', () => now);
    const isNamed = (i: number) => leftovers.filtersOf(reportTopic('heartbeat', G, device(i))).length > 0;
    for (let i = 0; i < 999; i++) {
      isNamed(i);
    }
    now = 600_001;
    assert.deepEqual([isNamed(0), isNamed(999)], [false, true]);
  });

  it('names them once more at another address, and at the same one ten minutes after the first', () => {
    let now = 0;
    const leftovers = new StaleSubscriptions(topics, '', () => now);
    const isNamed = () => leftovers.filtersOf(reportTopic('heartbeat')).length > 0;
    const connect = (broker: string) => {
      leftovers.connected(broker);
      return [isNamed(), isNamed()];
    };
    for (const broker of ['one', 'other', 'one']) {
      assert.deepEqual(connect(broker), [true, false]);
    }
    now += 600_000;
    assert.deepEqual(connect('one'), [false, false]);
    now += 1;
    assert.deepEqual(connect('one'), [true, false]);
    assert.deepEqual(connect('one'), [false, false]);
  });

  it('names the filters of the shared group, too', () => {
    const filters = new StaleSubscriptions(topics, '$share/group/').filtersOf(reportTopic('heartbeat'));
    assert.ok(filters.includes('mt/gateway/+/device/+/#'));
    assert.ok(filters.includes('$share/group/mt/gateway/+/device/+/#'));
  });

  it('names none for a topic that is not of this service, however long', () => {
    const leftovers = new StaleSubscriptions(topics, '');
    for (const topic of [
      'some/other/topic',
      'mt/gateway/only',
      'old/site/mt/gateway/only',
      `mt/gateway/${G}`,
    ]) {
      assert.deepEqual(leftovers.filtersOf(topic), [], topic);
    }
    assert.deepEqual(leftovers.filtersOf(`${reportTopic('measurement')}/${'x'.repeat(10_000)}`), []);
  });

  it('names none for a topic of more than 1 000 characters, or with a wildcard in it', () => {
    const leftovers = new StaleSubscriptions(topics, '');
    const start = reportTopic('new/');
    const long = start + 'x'.repeat(1_000 - start.length);
    assert.deepEqual(leftovers.filtersOf(`${long}x`), []);
    assert.ok(leftovers.filtersOf(long).length > 0);
    assert.deepEqual(leftovers.filtersOf(reportTopic('other/a+b')), []);
  });

  it('tells the time by itself', () => {
    const leftovers = new StaleSubscriptions(topics, '');
    const isNamed = (i: number) => leftovers.filtersOf(reportTopic('heartbeat', G, device(i))).length > 0;
    for (let i = 0; i < 1_000; i++) {
      isNamed(i);
    }
    assert.equal(isNamed(1_000), false);
    const { now } = performance;
    mock.method(performance, 'now', () => now.call(performance) + 600_001);
    assert.equal(isNamed(1_000), true);
    mock.reset();
  });
});
