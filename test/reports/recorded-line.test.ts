// A report as a line of a record: what people read there, and that whatever came is the same when it is read again.
import assert from 'node:assert/strict';
import { createTopics } from '../../src/protocol/topics.ts';
import { bodyOf, readTopic } from '../../src/reports/message.ts';
import { MAX_LINE_LENGTH, readLine, writeLine } from '../../src/reports/recorded-line.ts';

const PLACE = { kind: 'measurement', gateway: 'c0141f68fc3d', device: 'd00000000001' };
const TOPIC = `mt/gateway/${PLACE.gateway}/device/${PLACE.device}/measurement/8800`;
const TIME = '2026-01-02T03:04:05.678Z';

/** It is not repeated. */
const TOO_LONG = /^line is longer than 1000000 characters: …$/;

const topics = createTopics('');
const read = (line: unknown) => readLine(line, (topic) => readTopic(topics, topic, undefined));
const write = (payload: string | Buffer, topic = TOPIC, retained = false) =>
  writeLine(PLACE, { topic, payload: Buffer.from(payload as string), retained }, TIME);

describe('a line of a record', () => {
  it('says when and where a report came, and has its payload as it came', () => {
    const line = write('{"time":"t","seq":12345678901234567890}');
    assert.equal(
      line,
      `{"time":"${TIME}","topic":"${TOPIC}","kind":"measurement","gateway":"${PLACE.gateway}","device":"${PLACE.device}","payload":{"time":"t","seq":12345678901234567890}}`,
    );
    assert.match(write('{}', TOPIC, true), /"retained":true,"payload":\{\}\}$/);
  });

  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  for (const [title, payload] of Object.entries<string | Buffer>({
    JSON: '{"time":"t","value":1e999,"__proto__":{"a":1}}',
    'JSON over several lines': '{\r\n  "time": "a\\nb",\n\n  "value": [1,\n2]\r}',
    'a JSON text': '"abc"',
    'JSON null': 'null',
    'text that is no JSON': 'abc',
    'text with breaks, quotes and separators': 'a\n"\\\r\u2028\u0000{',
    nothing: '',
    'bytes that are no text': Buffer.from([0xff, 0x00, 0xfe, 0x0a]),
    'a byte order mark before JSON': '\ufeff{"a":1}',
    'JSON that is nested as deep as can be handled': deep(500),
    'JSON that is nested too deep to be handled': deep(100_000),
  })) {
    it(`is one line and is read as it came with ${title}`, () => {
      const line = write(payload, TOPIC, true);
      assert.doesNotMatch(line, /[\r\n]/);
      const { topic, body, retained, time, at } = read(line);
      assert.deepEqual([topic, retained, time, at.kind], [TOPIC, true, Date.parse(TIME), 'measurement']);
      assert.deepEqual(body, bodyOf(Buffer.from(payload as string)));
    });
  }

  it('holds any topic', () => {
    const topic = `mt/gateway/${PLACE.gateway}/device/${PLACE.device}/"\n\\\u2028\ud83d/x`;
    const line = writeLine(
      { ...PLACE, kind: 'other' },
      { topic, payload: Buffer.from('{}'), retained: false },
      TIME,
    );
    assert.doesNotMatch(line, /[\r\n]/);
    assert.equal(read(line).topic, topic);
  });

  it('needs no more than topic and payload where a person writes it', () => {
    for (const noTime of ['night', 5, undefined]) {
      const row = { topic: TOPIC, payload: { a: 1 }, time: noTime };
      const { body, time, retained } = read(JSON.stringify(row));
      assert.deepEqual([body, time, retained], [{ a: 1 }, undefined, false]);
    }
  });

  it('may be as long as it says', () => {
    assert.equal(read(write('{"a":1}').padEnd(MAX_LINE_LENGTH)).topic, TOPIC);
  });

  for (const [title, line, field, words] of [
    ['is no JSON', 'abc', 'line', /no line of a record.*abc/],
    ['is no object', '[1]', 'line', /no line of a record/],
    ['has no topic', '{"payload":{}}', 'line', /no line of a record/],
    ['has no payload', JSON.stringify({ topic: TOPIC, text: 1 }), 'line', /no line of a record/],
    ['is nested too deep', `{"topic":"${TOPIC}","payload":${deep(600)}}`, 'line', /no line of a record/],
    ['is a number', 1, 'line', TOO_LONG],
    ['is too long', ' '.repeat(MAX_LINE_LENGTH + 1), 'line', TOO_LONG],
    ['is of another service', '{"topic":"a/b","payload":{}}', 'topic', /not the topic of a report.*a\/b/],
    [
      'has a device that is not the one of its topic',
      JSON.stringify({ topic: TOPIC, payload: {}, device: 'd00000000002' }),
      'device',
      /device does not fit the topic: d00000000002/,
    ],
    [
      'has another kind than its topic',
      JSON.stringify({ topic: TOPIC, payload: {}, kind: 'event' }),
      'kind',
      /kind does not fit/,
    ],
  ] as const) {
    it(`is refused in words where it ${title}`, () => {
      assert.throws(
        () => read(line),
        (error: { code: string; cause: { field: string }; message: string }) => {
          assert.deepEqual([error.code, error.cause.field], ['INVALID_INPUT', field]);
          assert.match(error.message, words);
          assert.ok(error.message.length < 200);
          return true;
        },
      );
    });
  }
});
