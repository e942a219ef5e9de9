// What messages that ask for the same share, and how many reads are under way and waited for.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { SharedReads } from '../../src/network/shared-reads.ts';
import { usedMemory } from '../memory.ts';

const G = 'c0141f68fc3d';
const MAX_WAITING = 1_000;
const MAX_WAITING_IN_ALL = 10_000;

describe('reads that are shared', () => {
  const MAX = 20;
  let reads: SharedReads;
  let node: AbortController;
  let asked: number;
  let underWay: number;
  let most: number;
  /** What is under way ends so, in the order in which it began. */
  let ends: { resolve: () => void; reject: (error: Error) => void }[];

  beforeEach(() => {
    reads = new SharedReads(MAX);
    node = new AbortController();
    [asked, underWay, most, ends] = [0, 0, 0, []];
  });

  async function ask(): Promise<number> {
    const number = ++asked;
    most = Math.max(most, ++underWay);
    try {
      await new Promise<void>((resolve, reject) => void ends.push({ resolve, reject }));
      return number;
    } finally {
      underWay--;
    }
  }
  const read = (key: string, gateway = G, signal = node.signal) =>
    reads.read(signal, gateway, key, async () => void (await ask()));

  async function endAll(): Promise<void> {
    for (await turn(); ends.length > 0; await turn()) {
      for (const { resolve } of ends.splice(0)) {
        resolve();
      }
    }
  }

  const QUESTIONS = {
    'one value': (key: string, signal = node.signal, gateway = G) => reads.one(signal, gateway, key, ask),
    'many values': (key: string, signal = node.signal, gateway = G) => reads.pass(signal, gateway, key, ask),
  };
  for (const [what, question] of Object.entries(QUESTIONS)) {
    describe(`of ${what}`, () => {
      it('are one for the same question of the node until it is answered', async () => {
        for (const number of [1, 2]) {
          const answers = [question('a'), question('a')];
          await endAll();
          assert.deepEqual(await Promise.all(answers), [number, number]);
        }
      });

      it('are one for the same question until it fails, which all are told', async () => {
        const answers = Promise.allSettled([question('a'), question('a')]);
        await turn();
        ends.pop()?.reject(new Error('silent'));
        assert.deepEqual(
          (await answers).map((answer) => answer.status === 'rejected' && answer.reason.message),
          ['silent', 'silent'],
        );
        question('a');
        await endAll();
        assert.equal(asked, 2);
      });

      it('are several for other questions, and for the same one of another node', async () => {
        const answers = [question('a'), question('b'), question('a', new AbortController().signal)];
        await endAll();
        assert.deepEqual(await Promise.all(answers), [1, 2, 3]);
      });

      it('are waited for by so many messages, and by others when these are over', async () => {
        question('a');
        // Who asks for one value has a place in the queue of requests.
        const count = what === 'one value' ? MAX_WAITING : MAX_WAITING - 1;
        const waiting = Array.from({ length: count }, () => question('a'));
        const isRefused = { code: 'QUEUE_FULL', cause: { limit: MAX_WAITING }, message: /1000/ };
        await assert.rejects(question('a'), isRefused);
        await assert.rejects(reads.pass(node.signal, G, 'others', ask), isRefused, 'whatever these wait for');
        // One gateway that is silent is no reason to refuse what is about others, or about several.
        const others = ['another one', undefined].map((of) => reads.pass(node.signal, of, `of ${of}`, ask));
        await endAll();
        await Promise.all([...waiting, ...others]);
        const again = question('a');
        await endAll();
        assert.equal(await again, 4);
      });

      it('are waited for by so many messages in all, whatever gateways these are about', async () => {
        const waiting: Promise<unknown>[] = [];
        for (let n = 0; n < MAX_WAITING_IN_ALL; n++) {
          waiting.push(reads.pass(node.signal, `gateway ${n % 20}`, 'a', ask));
        }
        // Who asks for one value has a place in the queue of requests.
        const first = question('b', node.signal, 'another one').catch(() => undefined);
        const isRefused = { code: 'QUEUE_FULL', cause: { limit: MAX_WAITING_IN_ALL } };
        await assert.rejects(question('b', node.signal, 'another one'), isRefused);
        await endAll();
        await Promise.all([...waiting, first]);
        const again = question('b', node.signal, 'another one');
        await endAll();
        await again;
      });
    });
  }

  it('are as many at a time as may be under way, at all gateways together', async () => {
    const all = Promise.all(Array.from({ length: 100 }, (_, n) => read(`${n}`, `gateway ${n % 10}`)));
    await endAll();
    await all;
    assert.deepEqual([asked, most], [100, MAX]);
  });

  it('are eight at a time at one gateway, also when some are over, and others do not wait', async () => {
    const all = Array.from({ length: 12 }, (_, n) => read(`${n}`));
    await turn();
    assert.equal(underWay, 8);
    all.push(read('0', 'another one'));
    await turn();
    assert.equal(underWay, 9);
    ends.shift()?.resolve();
    await turn();
    all.push(read('12'));
    await turn();
    assert.equal(underWay, 9, 'the place was taken by one that has waited');
    await endAll();
    await Promise.all(all);
    assert.equal(asked, 14);
  });

  it('are one for the same read of the node, until it is over, and several for others', async () => {
    const all = [read('a'), read('a'), read('b'), read('a', 'another one')];
    all.push(read('a', G, new AbortController().signal));
    await endAll();
    await Promise.all(all);
    assert.equal(asked, 4);
    const again = read('a');
    await endAll();
    await again;
    assert.equal(asked, 5);
  });

  it('tell since when they wait, however late they begin', async () => {
    const begun = performance.now();
    const times: number[] = [];
    const all = Array.from({ length: 9 }, (_, n) =>
      reads.read(node.signal, G, `${n}`, async (since) => {
        times.push(since);
        await ask();
      }),
    );
    const until = performance.now();
    await endAll();
    await Promise.all(all);
    assert.equal(times.length, 9);
    assert.ok(times.every((since) => since >= begun && since <= until));
  });

  it('end with CLOSED where they wait when their node closes, and leave no place behind', async () => {
    const running = Array.from({ length: 8 }, (_, n) => read(`${n}`));
    const closing = new AbortController();
    const waiting = assert.rejects(read('later', G, closing.signal), { code: 'CLOSED' });
    await turn();
    closing.abort();
    await waiting;
    await endAll();
    await Promise.all(running);
    const again = Array.from({ length: 8 }, (_, n) => read(`${n}`));
    await turn();
    assert.equal(underWay, 8);
    await endAll();
    await Promise.all(again);
  });

  it('leave nothing of gateways at which nothing is read any more', async () => {
    const readAll = async (name: string) => {
      for (let n = 0; n < 20_000; n++) {
        await reads.read(node.signal, `${name} ${n}`, 'motion', async () => {});
      }
    };
    await readAll('first');
    const before = usedMemory();
    await readAll('other');
    assert.ok(usedMemory() - before < 1_000_000);
  });

  it('leave nothing behind of gateways that were asked', async () => {
    const before = usedMemory();
    for (let i = 0; i < 200_000; i++) {
      await reads.pass(node.signal, i.toString(16).padStart(12, 'c'), 'a', async () => i);
    }
    const used = usedMemory() - before;
    assert.ok(used < 5_000_000, `${used}`);
  });
});
