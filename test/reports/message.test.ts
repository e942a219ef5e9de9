// What the payload of a message stands for, and which topics are those of reports.
import assert from 'node:assert/strict';
import { MAX_PAYLOAD_BYTES } from '../../src/protocol/json.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { bodyOf, isTooLarge, readTopic } from '../../src/reports/message.ts';

describe('a message', () => {
  it('has the JSON of its payload, else its text', () => {
    for (const [text, body] of [
      ['{"a":[1]}', { a: [1] }],
      ['null', null],
      ['0', 0],
      ['no JSON', 'no JSON'],
      ['', ''],
    ] as const) {
      assert.deepEqual(bodyOf(Buffer.from(text)), body);
    }
  });

  it('is shown by its beginning where it is too large to be read', () => {
    const largest = Buffer.from(`"${'x'.repeat(MAX_PAYLOAD_BYTES - 2)}"`);
    assert.deepEqual([isTooLarge(largest), (bodyOf(largest) as string).length], [false, largest.length - 2]);
    const larger = Buffer.concat([largest, Buffer.from(' ')]);
    assert.deepEqual([isTooLarge(larger), bodyOf(larger)], [true, `"${'x'.repeat(999)}`]);
  });

  it('has the place that its topic names, with the names that are known', () => {
    const topics = createTopics('site');
    const [gateway, device] = ['c0141f68fc3d', 'd00000000001'];
    const topic = `site/mt/gateway/${gateway}/device/${device}/measurement/8800`;
    const nameOf = (mac: string) => (mac === device ? 'Lobby' : undefined);
    const read = readTopic(topics, topic, nameOf);
    assert.deepEqual(
      [read?.topic, read?.gateway, read?.device, read?.kind, read?.identifier, read?.deviceName],
      [topic, gateway, device, 'measurement', '8800', 'Lobby'],
    );
    assert.equal(readTopic(topics, topic, undefined)?.deviceName, undefined);
    assert.equal(readTopic(topics, `site/mt/gateway/${gateway}/response/read`, nameOf), undefined);
  });
});
