// Acknowledgements of samples as requests: what is sent, when it is done, and how one that waits for another's ends.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ServiceError } from '../../src/errors.ts';
import { closed, timedOut, unsent } from '../../src/mqtt/request-errors.ts';
import type { RequestOptions, SendOptions } from '../../src/mqtt/requests.ts';
import { type AcknowledgeOptions, SampleAcknowledgements } from '../../src/mqtt/sample-acknowledgements.ts';
import type { BuiltRequest } from '../../src/protocol/operations/index.ts';
import { REQUEST } from './pending.ts';
import { mockTime, restoreTime } from './scripted.ts';

const TIMEOUT_MS = 10_000;
const BROKER = 'mqtt://broker';

/** What was given to be sent, and what the test lets become of it. */
interface Given {
  request: BuiltRequest;
  options: RequestOptions;
  handling: Pick<SendOptions, 'trafficClass' | 'awaitResponse' | 'sent' | 'delivered' | 'since'>;
  respond(body: unknown): void;
  fail(error: ServiceError): void;
}

describe('acknowledgements of samples as requests', () => {
  let all: Given[];
  let ended: unknown[];
  let reading: { readsSince: number };
  let isStuck: boolean;
  let ignoring: Set<string>;
  let samples: SampleAcknowledgements;

  beforeEach(() => {
    mockTime(1_000);
    [all, ended, reading, isStuck, ignoring] = [[], [], { readsSince: 0 }, false, new Set()];
    const send = (
      request: BuiltRequest,
      options: RequestOptions,
      handling: Given['handling'],
    ): Promise<unknown> =>
      new Promise((respond, fail) => {
        all.push({ request, options, handling, respond, fail });
      });
    const line = {
      unsent: (gateway: string, timeout: number) =>
        isStuck ? unsent(`${BROKER} ${gateway}`, 'notGranted', timeout) : undefined,
      ignoresAcks: (gateway: string) => ignoring.has(gateway),
    };
    samples = new SampleAcknowledgements(TIMEOUT_MS, send, line, reading);
  });
  afterEach(restoreTime);

  const { signal } = new AbortController();
  const read = (body: unknown) => {
    if (body === 'wrong') {
      throw new ServiceError('REQUEST_FAILED', 'status');
    }
    return `read ${body}`;
  };
  const acknowledge = (options: Partial<AcknowledgeOptions> = {}, sample = 's') => {
    samples.acknowledge(REQUEST, sample, { signal, wait: true, ...options }, read).then(
      (outcome) => ended.push(outcome),
      ({ message }: ServiceError) => ended.push(message),
    );
  };
  const news = async () => {
    await turn();
    return ended.splice(0);
  };
  const pass = async (ms: number) => {
    mock.timers.tick(ms);
    await turn();
  };

  it('are sent with what their caller says, and bring what was read of the response', async () => {
    const options = { signal, wait: true, timeout: 5 };
    acknowledge(options);
    const [{ request, options: given, handling, respond }] = all as [Given];
    assert.deepEqual([request, given], [REQUEST, options]);
    const { trafficClass, awaitResponse, since } = handling;
    assert.deepEqual([trafficClass, awaitResponse, since], ['ack', true, 1_000]);
    handling.sent?.();
    handling.delivered?.();
    assert.deepEqual(await news(), []);
    respond('body');
    assert.deepEqual(await news(), ['read body']);
  });

  it('end with what is wrong with the response', async () => {
    acknowledge();
    all[0]!.respond('wrong');
    assert.deepEqual(await news(), [new ServiceError('REQUEST_FAILED', 'status').message]);
  });

  it('are done when the broker has them, where nobody waits for the response', async () => {
    acknowledge({ wait: false });
    assert.equal(all[0]!.handling.awaitResponse, false);
    all[0]!.handling.sent?.();
    assert.deepEqual(await news(), []);
    all[0]!.handling.delivered?.();
    assert.deepEqual(await news(), [undefined]);
  });

  it('are done with the response too, where the broker has not said that it has them', async () => {
    acknowledge({ wait: false });
    all[0]!.respond('body');
    assert.deepEqual(await news(), [undefined]);
  });

  it('are sent once for each sample', async () => {
    acknowledge();
    acknowledge();
    acknowledge({}, 'another');
    assert.equal(all.length, 2);
    all[0]!.respond('body');
    assert.deepEqual(await news(), ['read body', 'read body']);
  });

  it('are sent again by the next when they failed', async () => {
    acknowledge();
    mock.timers.tick(10);
    acknowledge();
    mock.timers.tick(10);
    all[0]!.fail(closed());
    assert.deepEqual(await news(), [closed().message]);
    assert.deepEqual([all.length, all[1]?.handling.since], [2, 1_010]);
  });

  for (const [timeout, ms] of [
    [undefined, TIMEOUT_MS],
    [3_000, 3_000],
  ] as const) {
    it(`are waited for ${ms} ms by others once they have left, where these say ${timeout}`, async () => {
      acknowledge();
      acknowledge({ timeout });
      await pass(ms);
      all[0]!.handling.sent?.();
      await turn();
      await pass(500);
      reading.readsSince = performance.now();
      await pass(ms - 1);
      assert.deepEqual(await news(), []);
      await pass(1);
      assert.deepEqual(await news(), [timedOut(REQUEST, ms).message]);
    });

    it(`are waited for ${ms} ms by others where they cannot leave, where these say ${timeout}`, async () => {
      isStuck = true;
      acknowledge();
      acknowledge({ timeout });
      await pass(ms - 1);
      assert.deepEqual(await news(), []);
      await pass(1);
      const { message } = unsent(`${BROKER} ${REQUEST.gateway}`, 'notGranted', ms);
      assert.deepEqual(await news(), [message]);
    });
  }

  it('are waited for by others until their signal ends it', async () => {
    const closing = new AbortController();
    acknowledge();
    acknowledge({ signal: closing.signal });
    closing.abort();
    assert.deepEqual(await news(), [closed().message]);
  });

  it('tell when the broker has them and the gateway answers none: all who wait', async () => {
    let told = 0;
    const ignored = () => void told++;
    acknowledge({ ignored });
    acknowledge({ ignored });
    acknowledge();
    ignoring.add(REQUEST.gateway);
    await turn();
    assert.equal(told, 0);
    all[0]!.handling.delivered?.();
    await turn();
    assert.equal(told, 2);
    ignoring.clear();
    acknowledge({ ignored }, 'answered');
    all[1]!.handling.delivered?.();
    await turn();
    assert.equal(told, 2);
  });

  it('need nobody who is told that the gateway answers none', async () => {
    const unhandled: unknown[] = [];
    const add = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', add);
    try {
      ignoring.add(REQUEST.gateway);
      acknowledge();
      acknowledge();
      all[0]!.handling.delivered?.();
      all[0]!.respond('body');
      assert.deepEqual(await news(), ['read body', 'read body']);
      assert.deepEqual(unhandled, []);
    } finally {
      process.off('unhandledRejection', add);
    }
  });
});
