// What a preview holds, how long it listens, and how much of a busy network it asks for.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ServiceError } from '../../src/errors.ts';
import { sizeOfReport } from '../../src/network/value-size.ts';
import type { Report } from '../../src/protocol/reports/index.ts';
import type { Message } from '../../src/reports/message.ts';
import { Previews } from '../../src/reports/preview.ts';

interface Filter {
  name: string;
}

describe('a preview', () => {
  /** How many ask the broker, and how many hear what comes, by name of the filter. */
  let wanting: string[];
  let takers: Map<string, (report: Report, topic: string, payload: Buffer) => void>;
  /** Tells what prevents that anything passes. */
  let setProblems: Map<string, (problem: ServiceError | undefined) => void>;
  /** What each begins with. */
  let begins: Map<string, readonly Message[]>;
  /** A message came, whether it passes or not. */
  let arrive: Map<string, () => void>;
  let previews: Previews<Filter>;
  let time: number;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    time = 1_000_000;
    mock.method(performance, 'now', () => time);
    wanting = [];
    takers = new Map();
    begins = new Map();
    setProblems = new Map();
    arrive = new Map();
    previews = new Previews<Filter>({
      listen({ name }, take, setProblem, known) {
        assert.ok(!takers.has(name), 'listens once');
        takers.set(name, take);
        begins.set(name, known);
        setProblems.set(name, setProblem);
        return () => void takers.delete(name);
      },
      request({ name }, received) {
        wanting.push(name);
        arrive.set(name, received);
        return () => void wanting.splice(wanting.indexOf(name), 1);
      },
    });
  });
  afterEach(() => {
    previews.close();
    mock.reset();
  });

  const messageOf = (topic: string, time = topic, retained = false) => ({
    ...{ topic, retained },
    payload: Buffer.from(JSON.stringify({ time })),
  });
  const hear = (name: string, ...topics: string[]) => {
    for (const topic of topics) {
      takers.get(name)?.({ time: topic } as Report, topic, messageOf(topic).payload);
    }
  };
  const topicsOf = (name: string) => previews.poll({ name }).lines.map(({ topic }) => topic);
  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `${from + i}`);

  it('shows the newest 1 000 reports, the newest last', () => {
    assert.deepEqual(topicsOf('a'), []);
    hear('a', ...numbers(0, 1_005));
    assert.deepEqual(topicsOf('a'), numbers(5, 1_005));
    assert.deepEqual(previews.poll({ name: 'a' }).lines.at(-1)?.report, { time: '1004' });
  });

  it('begins with the newest 20 of each of the others', () => {
    topicsOf('a');
    const times = numbers(10, 40).map((second) => `2026-01-01T00:00:${second}Z`);
    hear('a', ...times);
    topicsOf('b');
    assert.deepEqual(
      begins.get('b')?.map(({ topic }) => topic),
      times.slice(10),
    );
  });

  it('shows fewer where they take more than 4 MB of memory together, but the newest at least', () => {
    topicsOf('a');
    const hearLong = (topic: string, mb: number, retained = false) =>
      takers.get('a')?.(
        { retained } as unknown as Report,
        topic,
        Buffer.alloc(mb * 2 ** 20 - sizeOfReport({ retained } as never)),
      );
    for (const topic of numbers(0, 32)) {
      hearLong(topic, 1 / 8);
    }
    assert.deepEqual(topicsOf('a'), numbers(0, 32), 'as many as take 4 MB');
    hearLong('32', 1 / 8);
    assert.deepEqual(topicsOf('a'), numbers(1, 33));
    hearLong('33', 5);
    assert.deepEqual(topicsOf('a'), ['33']);
    hearLong('34', 1);
    assert.deepEqual(topicsOf('a'), ['34']);
    hearLong('35', 1);
    // What is retained takes the place of the same that came before.
    for (let time = 0; time < 30; time++) {
      hearLong('retained', 2, true);
    }
    assert.deepEqual(topicsOf('a'), ['34', '35', 'retained']);
  });

  it('counts what a report takes when it is parsed', () => {
    topicsOf('a');
    const nested = { value: Array.from({ length: 50_000 }, () => []) } as unknown as Report;
    takers.get('a')?.(nested, 'nested', Buffer.alloc(1));
    assert.deepEqual(topicsOf('a'), ['nested']);
    takers.get('a')?.(nested, 'again', Buffer.alloc(1));
    assert.deepEqual(topicsOf('a'), ['again']);
  });

  it('shows a retained report once, though each subscription brings it again', () => {
    topicsOf('a');
    const hearRetained = (topic: string, time: string) =>
      takers.get('a')?.({ time, retained: true } as Report, topic, messageOf(topic, time).payload);
    hearRetained('first', 'first');
    hearRetained('first', 'first');
    assert.deepEqual(topicsOf('a'), ['first']);
    hear('a', 'one');
    hearRetained('one', 'one');
    hearRetained('two', 'two');
    hearRetained('one', 'one');
    hearRetained('one', 'later');
    hearRetained('three', 'two');
    hear('a', 'two', 'two');
    const lines = previews.poll({ name: 'a' }).lines.map(({ report, topic }) => [topic, report.time]);
    assert.deepEqual(
      lines,
      [
        ['first', 'first'],
        ['one', 'one'],
        ['two', 'two'],
        ['one', 'one'],
        ['one', 'later'],
        ['three', 'two'],
        ['two', 'two'],
        ['two', 'two'],
      ],
      'what is not retained came as often as it is shown',
    );
  });

  it('begins with what is remembered and what others show, each once and the oldest first', () => {
    const [early, late] = [messageOf('early', '2026-01-01', true), messageOf('late', '2026-01-03')];
    previews.poll({ name: 'a' }, () => [late, late]);
    hear('a', '2026-01-02', '2026-01-04');
    takers.get('a')?.(
      { time: 'retained', retained: true } as Report,
      'retained',
      messageOf('2026-01-05').payload,
    );
    const [own, shared] = [messageOf('2026-01-02'), messageOf('no time', '')];
    previews.poll({ name: 'b' }, () => [late, own, shared, early]);
    previews.poll({ name: 'b' }, () => assert.fail('asked once'));
    const known = (name: string) =>
      begins.get(name)?.map(({ heardAt, ...message }) => {
        assert.equal(heardAt, time);
        return message;
      });
    assert.deepEqual(known('a'), [late]);
    const retained = messageOf('retained', '2026-01-05', true);
    assert.deepEqual(known('b'), [shared, early, own, late, messageOf('2026-01-04'), retained]);
  });

  it('begins with 2 MB of what is remembered, and with nothing that is larger than 64 kB', () => {
    const sized = (topic: string, size: number) => ({
      topic,
      retained: false,
      payload: Buffer.alloc(size, ' '),
    });
    const large = numbers(0, 40).map((topic) => sized(topic, 64 * 1024));
    const kept = [sized('too large', 64 * 1024 + 1), ...large, sized('behind', 1)];
    previews.poll({ name: 'a' }, () => kept);
    const topics = begins.get('a')?.map(({ topic }) => topic);
    assert.deepEqual(topics, numbers(0, 32));
    previews.poll({ name: 'b' }, () => [...kept.slice(0, 32), sized('behind', 1)]);
    assert.equal(begins.get('b')?.at(-1)?.topic, 'behind');
  });

  it('asks the broker for 20 reports, then rests for 5 seconds, and hears what comes anyway meanwhile', () => {
    topicsOf('a');
    hear('a', ...numbers(0, 19));
    assert.deepEqual(wanting, ['a']);
    hear('a', '19');
    assert.deepEqual(wanting, []);
    time += 4_999;
    hear('a', '20');
    assert.deepEqual(topicsOf('a'), numbers(0, 21));
    assert.deepEqual(wanting, []);
    time += 1;
    topicsOf('a');
    assert.deepEqual(wanting, ['a']);
    hear('a', ...numbers(21, 40));
    assert.deepEqual(wanting, ['a']);
    hear('a', '40');
    assert.deepEqual(wanting, []);
  });

  it('rests after 1 000 messages, too, when hardly one of them passes', () => {
    topicsOf('a');
    for (let n = 0; n < 1_000; n++) {
      assert.deepEqual(wanting, ['a']);
      arrive.get('a')?.();
    }
    assert.deepEqual(wanting, []);
    time += 5_000;
    topicsOf('a');
    assert.deepEqual(wanting, ['a']);
  });

  it('says what prevents that anything passes, until it is over', () => {
    const problem = new ServiceError('NOT_CONNECTED', 'unreachable');
    topicsOf('a');
    setProblems.get('a')?.(problem);
    assert.equal(previews.poll({ name: 'a' }).problem, problem);
    setProblems.get('a')?.(undefined);
    assert.equal(previews.poll({ name: 'a' }).problem, undefined);
  });

  it('is shared by all who look with the same filter', () => {
    topicsOf('a');
    topicsOf('a');
    assert.deepEqual([[...takers.keys()], wanting], [['a'], ['a']]);
  });

  it('ends when nobody has looked for 15 seconds, and begins anew', () => {
    topicsOf('a');
    mock.timers.tick(14_999);
    topicsOf('a');
    hear('a', '0');
    mock.timers.tick(14_999);
    assert.deepEqual([takers.size, wanting], [1, ['a']]);
    mock.timers.tick(1);
    assert.deepEqual([takers.size, wanting], [0, []]);
    assert.deepEqual(topicsOf('a'), []);
  });

  it('is refused while 16 others are looked at, and takes the place of one that nobody looks at any more', () => {
    const all = numbers(0, 16);
    all.forEach(topicsOf);
    all.forEach(topicsOf);
    for (let look = 0; look < 5; look++) {
      time += 2_000;
      mock.timers.tick(2_000);
      const refused = { code: 'QUEUE_FULL', message: /16/, cause: { limit: 16 } };
      assert.throws(() => topicsOf('one more'), refused);
      all.forEach(topicsOf);
    }
    hear('3', 'report');
    assert.deepEqual([[...takers.keys()], topicsOf('3')], [all, ['report']]);
    time += 4_999;
    all.slice(1).forEach(topicsOf);
    assert.throws(() => topicsOf('one more'), { code: 'QUEUE_FULL' });
    time += 1;
    topicsOf('one more');
    assert.deepEqual([...takers.keys()], [...all.slice(1), 'one more']);
    assert.equal(wanting.length, 16);
  });

  it('takes the place of one that was looked at only once, else of the one that was not for the longest time', () => {
    const all = numbers(0, 16);
    all.forEach(topicsOf);
    all.slice(0, 15).forEach(topicsOf);
    topicsOf('one more');
    assert.deepEqual([...takers.keys()], [...all.slice(0, 15), 'one more']);
    topicsOf('one more');
    topicsOf('0');
    time += 5_000;
    topicsOf('another');
    assert.deepEqual([...takers.keys()], ['0', ...all.slice(2, 15), 'one more', 'another']);
  });

  it('is not ended by the time of an earlier one with the same filter', () => {
    for (const name of numbers(0, 16)) {
      topicsOf(name);
    }
    time += 10_000;
    topicsOf('one more');
    mock.timers.tick(10_000);
    topicsOf('0');
    hear('0', 'report');
    mock.timers.tick(5_000);
    assert.deepEqual([[...takers.keys()], topicsOf('0')], [['0'], ['report']]);
  });

  it('ends with its service', () => {
    for (const name of ['a', 'b', 'c']) {
      topicsOf(name);
    }
    hear('a', ...numbers(0, 20));
    previews.close();
    assert.deepEqual([takers.size, wanting], [0, []]);
  });
});
