// Requests that wait and expire by the thousand, and what they are told.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { mock } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { ServiceError } from '../../src/errors.ts';
import { Acknowledgements } from '../../src/mqtt/acknowledgements.ts';
import { Deadlines } from '../../src/mqtt/deadlines.ts';
import { Requests, type RequestTransport, type SendOptions } from '../../src/mqtt/requests.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { buildRequest } from '../../src/protocol/operations/index.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { itAtScale } from '../at-scale.ts';
import { ALL, Collector, reached } from '../session.ts';
import {
  answerAll,
  D,
  G,
  G2,
  heartbeat,
  mockTime,
  reportTopic,
  requests,
  responseFilter,
  restoreTime,
  TIME,
  useScriptedBroker,
} from './scripted.ts';

const { signal } = new AbortController();
const topics = createTopics('');
const requestContext = {
  catalogue: createCatalogue(),
  ack: { raw: 'ack', decoded: 'ack-decoded', payload: {} },
};

/** Requests over a connection that does what a test says. */
class Line implements RequestTransport {
  connected = true;
  readonly broker = 'mqtt://broker';
  readsSince = 0;
  heldMs = 0;
  isGranted = true;
  readonly ids: string[] = [];
  readonly released: string[] = [];
  readonly asked = new Map<string, number>();
  readonly requests: Requests;
  #settled: ((refused: boolean) => void)[] = [];

  constructor(maxInFlight = 8, maxQueue = 1_000_000) {
    this.requests = new Requests({ maxInFlight, maxQueue, qos: 0 }, topics, this);
  }

  publish(_topic: string, payload: string, _qos: 0 | 1 | 2, done: () => void): void {
    this.ids.push(JSON.parse(payload).id);
    done();
  }

  ensureFilter(filter: string, settled: (refused: boolean) => void): void {
    this.asked.set(filter, (this.asked.get(filter) ?? 0) + 1);
    if (this.isGranted) {
      settled(false);
    } else {
      this.#settled.push(settled);
    }
  }

  releaseFilter(filter: string): void {
    this.released.push(filter);
  }

  refusalOf(): undefined {}
  isFilterBlocked(): boolean {
    return false;
  }

  isFilterActive(): boolean {
    return this.isGranted;
  }

  grant(): void {
    this.isGranted = true;
    for (const settled of this.#settled.splice(0)) {
      settled(false);
    }
  }

  send(
    gateway: string,
    { priority, ...options }: Partial<SendOptions> & { priority?: number } = {},
  ): Promise<unknown> {
    const request = buildRequest('apiversion', { gateway, priority }, requestContext);
    const given = {
      timeout: 60_000,
      signal,
      trafficClass: 'request',
      awaitResponse: true,
      ...options,
    } as const;
    return this.requests.send(request, given);
  }

  answer(id: unknown, gateway = G, rest = 'apiversion', retained = false): void {
    const at = { gateway, device: gateway, rest };
    this.requests.receive(at, Buffer.from(JSON.stringify({ id, status: 0 })), retained);
  }
}

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'responded',
    ({ code }: ServiceError) => code,
  );

describe('many waiting requests', () => {
  afterEach(restoreTime);

  /** Milliseconds of processor time that a number of them takes, whatever else the machine does. */
  async function timed(count: number, work: (count: number) => Promise<unknown>): Promise<number> {
    const start = process.cpuUsage();
    await work(count);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  }

  /** Ten times as many may take ten times as long, and then some; their square would be 100 times. */
  async function growsLikeTheirNumber(work: (count: number) => Promise<unknown>): Promise<void> {
    await timed(1_000, work);
    const few = await timed(3_000, work);
    const many = await timed(30_000, work);
    assert.ok(many < 40 * Math.max(few, 2), `${few.toFixed(1)} ms, ${many.toFixed(1)} ms`);
  }

  itAtScale('before the grant cost time in proportion to their number', () =>
    growsLikeTheirNumber(async (count) => {
      const line = new Line();
      line.isGranted = false;
      const outcomes = Array.from({ length: count }, () => codeOf(line.send(G)));
      assert.equal(line.asked.get(responseFilter()), 2);
      line.grant();
      for (let at = 0; at < line.ids.length; at++) {
        line.answer(line.ids[at]);
      }
      assert.deepEqual([...new Set(await Promise.all(outcomes))], ['responded']);
    }),
  );

  itAtScale('that expire cost time in proportion to their number, sent or not', () =>
    growsLikeTheirNumber(async (count) => {
      for (const isGranted of [true, false]) {
        const line = new Line(1_000_000);
        line.isGranted = isGranted;
        const outcomes = Array.from({ length: count }, (_, i) =>
          codeOf(line.send(G, { timeout: 1 + (i % 50), trafficClass: 'ack' })),
        );
        const codes = [...new Set(await Promise.all(outcomes))];
        assert.deepEqual(codes, [isGranted ? 'TIMEOUT' : 'NOT_CONNECTED']);
        assert.ok(line.requests.idle);
      }
    }),
  );

  itAtScale('that are refused because too many wait cost time in proportion to their number', () =>
    growsLikeTheirNumber(async (count) => {
      const line = new Line(8, count / 2);
      line.connected = false;
      line.isGranted = false;
      const outcomes = Array.from({ length: count }, () => codeOf(line.send(G)));
      line.requests.close();
      const codes = await Promise.all(outcomes);
      assert.equal(codes.filter((code) => code === 'QUEUE_FULL').length, count / 2);
    }),
  );

  itAtScale(
    'that are pushed out cost about as much as those that are refused, at 10 000 gateways',
    async () => {
      const line = new Line(1, 20_000);
      const gateways = Array.from({ length: 9_999 }, (_, i) => (0xc00000000000 + i).toString(16));
      const send = (to: readonly string[]) => to.map((gateway) => codeOf(line.send(gateway)));
      const away = (count: number) => Array.from({ length: count }, () => G);
      const sent = send([...gateways, ...away(20_001)]);
      // A trace for each error would take most of the time.
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = 0;
      const refused: Promise<string>[] = [];
      const others: Promise<string>[] = [];
      const few = await timed(9_999, async (count) => refused.push(...send(away(count))));
      const many = await timed(9_999, async () => others.push(...send(gateways)));
      Error.stackTraceLimit = stackTraceLimit;
      assert.deepEqual([...new Set(await Promise.all(refused))], ['QUEUE_FULL']);
      line.requests.close();
      assert.deepEqual([...new Set(await Promise.all(others))], ['CLOSED']);
      const codes = await Promise.all(sent);
      assert.equal(codes.filter((code) => code === 'QUEUE_FULL').length, 9_999);
      assert.ok(many < 4 * few, `${few.toFixed(1)} ms, ${many.toFixed(1)} ms`);
    },
  );

  itAtScale('that join an acknowledgement under way cost time in proportion to their number', () =>
    growsLikeTheirNumber(async (count) => {
      const acknowledgements = new Acknowledgements<number>();
      let answer = (_: number): void => {};
      const responded = new Promise<number>((resolve) => {
        answer = resolve;
      });
      const sending = { sent: responded, delivered: responded, responded };
      const limits = {
        signal: new AbortController().signal,
        timeout: 60_000,
        late: () => new ServiceError('CLOSED', ''),
      };
      const all = Array.from({ length: count }, () =>
        acknowledgements.once(
          's',
          true,
          () => sending,
          () => limits,
        ),
      );
      answer(7);
      assert.deepEqual([...new Set(await Promise.all(all))], [7]);
      assert.equal(getEventListeners(limits.signal, 'abort').length, 0);
    }),
  );

  it('leave nothing behind when they expire while the broker is away, again and again', async () => {
    const line = new Line();
    line.connected = false;
    for (let round = 0; round < 5; round++) {
      const outcomes = Array.from({ length: 1_000 }, () => codeOf(line.send(G, { timeout: 1 })));
      assert.deepEqual([...new Set(await Promise.all(outcomes))], ['NOT_CONNECTED']);
    }
    line.connected = true;
    line.requests.connectionChanged();
    assert.deepEqual(line.ids, []);
    const late = codeOf(line.send(G));
    line.answer(line.ids[0]);
    assert.equal(await late, 'responded');
  });

  it('of acknowledgements that need no response leave one after the other, however many, without depth', async () => {
    const line = new Line(1);
    line.isGranted = false;
    const delivered: number[] = [];
    const sent = Array.from({ length: 20_000 }, (_, i) =>
      codeOf(
        line.send(G, {
          trafficClass: 'ack',
          awaitResponse: false,
          timeout: 20,
          delivered: () => void delivered.push(i),
        }),
      ),
    );
    line.grant();
    assert.equal(delivered.length, 20_000);
    await Promise.all(sent);
    assert.ok(line.requests.idle);
  });

  it('keep the responses of at most 10 000 acknowledgements that nobody waits for', async () => {
    const line = new Line(1);
    const outcomes = Array.from({ length: 10_001 }, () =>
      codeOf(line.send(G, { trafficClass: 'ack', awaitResponse: false })),
    );
    assert.ok(line.requests.idle);
    assert.equal(await outcomes[10_000], 'TIMEOUT');
    line.answer(line.ids[9_999]);
    assert.equal(await outcomes[9_999], 'responded');
    line.requests.close();
  });

  it('keep their place beyond 256 at a gateway that answers no acknowledgement', async () => {
    const line = new Line(1);
    const ack = (timeout = 60_000) => codeOf(line.send(G, { trafficClass: 'ack', timeout }));
    assert.equal(await ack(1), 'TIMEOUT');
    const outcomes = Array.from({ length: 258 }, () => ack());
    assert.equal(line.ids.length, 1 + 257);
    assert.equal(line.requests.idle, false);
    line.answer(line.ids[1]);
    assert.equal(await outcomes[0], 'responded');
    assert.equal(line.ids.length, 1 + 257);
    line.answer(line.ids[257]);
    assert.equal(await outcomes[256], 'responded');
    assert.equal(line.ids.length, 1 + 258);
    line.requests.close();
    assert.deepEqual([...new Set(await Promise.all(outcomes.slice(1, 256)))], ['CLOSED']);
  });

  it('are 1 000 acknowledgements at most at a gateway that answers none, as long as somebody waits for each', async () => {
    const line = new Line(1);
    const ack = (options: Partial<SendOptions> = {}) =>
      codeOf(line.send(G, { trafficClass: 'ack', ...options }));
    assert.equal(await ack({ timeout: 1 }), 'TIMEOUT');
    const ignoredAt = performance.now();
    const outcomes = Array.from({ length: 257 + 1_000 }, () => ack());
    assert.equal(line.ids.length, 1 + 257);
    // It may be slow only.
    outcomes.push(ack());
    while (performance.now() - ignoredAt < 1) {}
    assert.equal(await ack({ timeout: 1 }), 'QUEUE_FULL');
    line.isGranted = false;
    outcomes.push(ack());
    line.isGranted = true;
    outcomes.push(ack({ awaitResponse: false }));
    line.answer(line.ids[257]);
    assert.equal(await outcomes[256], 'responded');
    // It answers again.
    outcomes.push(...Array.from({ length: 1_000 }, () => ack()));
    line.requests.close();
    assert.deepEqual([...new Set(await Promise.all(outcomes.toSpliced(256, 1)))], ['CLOSED']);
  });

  it('may be more than 1 000 acknowledgements at a gateway that could not be heard while a deploy held a report', async () => {
    mockTime();
    const line = new Line(1);
    const ack = (timeout: number) => codeOf(line.send(G, { trafficClass: 'ack', timeout }));
    const ignored = ack(1);
    mock.timers.tick(1);
    assert.equal(await ignored, 'TIMEOUT');
    const outcomes = Array.from({ length: 257 + 1_000 }, () => ack(60_000));
    mock.timers.tick(10_000);
    line.readsSince = performance.now();
    mock.timers.tick(9_999);
    outcomes.push(ack(10_000));
    mock.timers.tick(1);
    assert.equal(await ack(10_000), 'QUEUE_FULL');
    line.requests.close();
    assert.deepEqual([...new Set(await Promise.all(outcomes))], ['CLOSED']);
  });

  it('keep their place beyond 10 000 in all, at gateways that answer no acknowledgement', async () => {
    const line = new Line(1);
    const macs = Array.from({ length: 50 }, (_, n) => `c0${`${n}`.padStart(10, '0')}`);
    const ack = (gateway: string, timeout = 60_000) =>
      codeOf(line.send(gateway, { trafficClass: 'ack', timeout }));
    await Promise.all(macs.map((mac) => ack(mac, 1)));
    const outcomes = Array.from({ length: 12_500 }, (_, n) => ack(macs[n % 50] as string));
    assert.equal(line.ids.length, 50 + 10_000 + 50);
    // A trace for each of so many errors would take most of the time.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    line.requests.close();
    Error.stackTraceLimit = stackTraceLimit;
    assert.deepEqual([...new Set(await Promise.all(outcomes))], ['CLOSED']);
  });

  it('keep their place where the gateway has answered one since that was sent which it has not answered', async () => {
    const line = new Line(4);
    const ack = (timeout = 60_000) => codeOf(line.send(G, { trafficClass: 'ack', timeout }));
    const [lost, answered] = [ack(50), ack()];
    // The clock goes on, so that the response comes after the sending.
    await setTimeout(5);
    line.answer(line.ids[1]);
    assert.deepEqual(await Promise.all([lost, answered]), ['TIMEOUT', 'responded']);
    const outcomes = Array.from({ length: 10 }, () => ack());
    assert.equal(line.ids.length, 2 + 2);
    line.requests.close();
    assert.deepEqual([...new Set(await Promise.all(outcomes))], ['CLOSED']);
  });

  it('keep their place again once the gateway has answered one too late', async () => {
    const line = new Line(1);
    const ack = (timeout = 60_000) => codeOf(line.send(G, { trafficClass: 'ack', timeout }));
    assert.equal(await ack(1), 'TIMEOUT');
    const outcomes = [ack(), ack()];
    assert.equal(line.ids.length, 1 + 2);
    line.answer(line.ids[0], G2);
    line.answer(line.ids[0], G, 'read/8800');
    line.answer(line.ids[0], G, 'apiversion', true);
    outcomes.push(ack());
    assert.equal(line.ids.length, 1 + 3, 'nothing of this answers an acknowledgement');
    line.answer(line.ids[0]);
    outcomes.push(ack(), ack());
    assert.equal(line.ids.length, 1 + 4);
    line.requests.close();
    assert.deepEqual([...new Set(await Promise.all(outcomes))], ['CLOSED']);
  });

  itAtScale(
    'are 100 000 acknowledgements at most, and as many requests as maxQueue says to all gateways together',
    async function (this: Mocha.Context) {
      this.timeout(60_000);
      const line = new Line(8, 2);
      line.connected = false;
      line.isGranted = false;
      const request = buildRequest('apiversion', { gateway: G }, requestContext);
      const options = { timeout: 60_000, signal, trafficClass: 'ack', awaitResponse: true } as const;
      const acks = Array.from({ length: 100_001 }, () => codeOf(line.requests.send(request, options)));
      assert.equal(await acks.at(-1), 'QUEUE_FULL');
      const asked = [G, G2, G].map((gateway) => codeOf(line.send(gateway)));
      assert.equal(await asked.at(-1), 'QUEUE_FULL');
      // A trace for each of so many errors would take most of the time.
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = 0;
      line.requests.close();
      Error.stackTraceLimit = stackTraceLimit;
      const codes = await Promise.all([...acks.slice(0, -1), ...asked.slice(0, -1)]);
      assert.deepEqual([...new Set(codes)], ['CLOSED']);
    },
  );

  it('at a gateway that does not answer make room for those at others: first the newest of the lowest priority', async () => {
    const line = new Line(1, 6);
    const away = [2, 3, 1, 1, 2, 1, 2].map((priority) => codeOf(line.send(G, { priority })));
    const ended: string[] = [];
    for (const [n, outcome] of away.entries()) {
      void outcome.then((code) => ended.push(`${n} ${code}`));
    }
    const others = Array.from({ length: 4 }, () => codeOf(line.send(G2)));
    assert.equal(await codeOf(line.send(G2)), 'QUEUE_FULL');
    assert.equal(await codeOf(line.send(G, { priority: 0 })), 'QUEUE_FULL');
    assert.deepEqual(ended, ['5 QUEUE_FULL', '3 QUEUE_FULL', '2 QUEUE_FULL']);
    for (let at = 1; at < 5; at++) {
      line.answer(line.ids[at], G2);
    }
    assert.deepEqual([...new Set(await Promise.all(others))], ['responded']);
    line.answer(line.ids[0]);
    for (let at = 5; at < 8; at++) {
      line.answer(line.ids[at]);
    }
    await Promise.all(away);
    assert.deepEqual(ended.slice(3), ['0 responded', '1 responded', '4 responded', '6 responded']);
    assert.ok(line.requests.idle);
  });

  itAtScale(
    'of acknowledgements at a gateway that answers none make room for those at others, the newest first',
    async function (this: Mocha.Context) {
      this.timeout(60_000);
      const line = new Line(2);
      const ack = (gateway: string) => codeOf(line.send(gateway, { trafficClass: 'ack' }));
      const away = Array.from({ length: 100_001 }, () => ack(G));
      const others = Array.from({ length: 50 }, () => ack(G2));
      assert.equal(await ack(G), 'QUEUE_FULL');
      assert.deepEqual([...new Set(await Promise.all(away.slice(-49)))], ['QUEUE_FULL']);
      for (let at = 1; at <= 50; at++) {
        line.answer(line.ids[at], G2);
      }
      assert.deepEqual([...new Set(await Promise.all(others))], ['responded']);
      // A trace for each of so many errors would take most of the time.
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = 0;
      line.requests.close();
      Error.stackTraceLimit = stackTraceLimit;
      assert.deepEqual([...new Set(await Promise.all(away.slice(0, -49)))], ['CLOSED']);
    },
  );

  it('count by their number, whichever of them wait for the subscription to their responses alone', async () => {
    const line = new Line(2, 2);
    line.isGranted = false;
    const away = Array.from({ length: 4 }, (_, n) => codeOf(line.send(G, { priority: n < 2 ? 0 : 4 })));
    assert.equal(await codeOf(line.send(G, { priority: 0 })), 'QUEUE_FULL');
    const others = Array.from({ length: 3 }, () => codeOf(line.send(G2)));
    // Two of each gateway take no place, and of the four any other.
    assert.equal(await codeOf(line.send(G2)), 'QUEUE_FULL');
    assert.equal(await away[1], 'QUEUE_FULL');
    line.grant();
    for (let at = 0; at < line.ids.length; at++) {
      line.answer(line.ids[at]);
      line.answer(line.ids[at], G2);
    }
    const codes = await Promise.all([...away, ...others]);
    assert.equal(codes.filter((code) => code === 'responded').length, 6);
  });

  it('do not count towards maxQueue where they wait for the subscription to their responses alone', async () => {
    for (const maxQueue of [0, 2]) {
      const line = new Line(3, maxQueue);
      line.isGranted = false;
      const sent = [G, G, G, G2, G2, G2].map((gateway) => codeOf(line.send(gateway)));
      const waiting = Array.from({ length: maxQueue }, () => codeOf(line.send(G2)));
      assert.equal(await codeOf(line.send(G2)), 'QUEUE_FULL');
      line.grant();
      assert.equal(line.ids.length, 6);
      assert.equal(await codeOf(line.send(G2)), 'QUEUE_FULL');
      for (const id of line.ids.slice()) {
        line.answer(id);
        line.answer(id, G2);
      }
      assert.deepEqual([...new Set(await Promise.all(sent))], ['responded']);
      const more = Array.from({ length: 3 }, () => codeOf(line.send(G2)));
      assert.equal(await codeOf(line.send(G2)), 'QUEUE_FULL');
      line.requests.close();
      assert.deepEqual([...new Set(await Promise.all([...waiting, ...more]))], ['CLOSED']);
    }
  });

  it('may go to any number of gateways: of 10 000 one that has nothing to do is forgotten', async () => {
    const line = new Line();
    const mac = (i: number) => (0xc00000000000 + i).toString(16);
    const waiting = codeOf(line.send(mac(0)));
    for (let i = 1; i <= 10_000; i++) {
      const done = codeOf(line.send(mac(i)));
      line.answer(line.ids.at(-1), mac(i));
      assert.equal(await done, 'responded');
    }
    assert.deepEqual(line.released, [responseFilter(mac(1))]);
    assert.equal(line.requests.filters().length, 10_000);
    line.answer(line.ids[0], mac(0));
    assert.equal(await waiting, 'responded');
  });
});

describe('the requests of a node that closes', () => {
  it('end with it, and none of them leaves because another one has made room', async () => {
    const line = new Line(1);
    const node = new AbortController();
    const outcomes = Array.from({ length: 3 }, () => codeOf(line.send(G, { signal: node.signal })));
    const other = codeOf(line.send(G));
    assert.equal(line.ids.length, 1);
    node.abort();
    assert.deepEqual(await Promise.all(outcomes), ['CLOSED', 'CLOSED', 'CLOSED']);
    assert.equal(line.ids.length, 2);
    line.answer(line.ids[1]);
    assert.equal(await other, 'responded');
  });

  it('end with the service, and none of them leaves because that of another node has made room', async () => {
    const line = new Line(1);
    const outcomes = Array.from({ length: 3 }, () =>
      codeOf(line.send(G, { signal: new AbortController().signal })),
    );
    line.requests.close();
    assert.deepEqual(await Promise.all(outcomes), ['CLOSED', 'CLOSED', 'CLOSED']);
    assert.equal(line.ids.length, 1);
  });

  it('leave no listener at its signal when the service closes first', async () => {
    const line = new Line();
    const node = new AbortController();
    const outcomes = Array.from({ length: 3 }, () => codeOf(line.send(G, { signal: node.signal })));
    assert.equal(getEventListeners(node.signal, 'abort').length, 1);
    line.requests.close();
    assert.deepEqual(await Promise.all(outcomes), ['CLOSED', 'CLOSED', 'CLOSED']);
    assert.equal(getEventListeners(node.signal, 'abort').length, 0);
  });
});

describe('deadlines', () => {
  it('are looked at when the first of them is due, beyond the longest timer of Node.js too', async () => {
    const looks: number[] = [];
    let isOver = (): void => {};
    const over = new Promise<void>((resolve) => {
      isOver = resolve;
    });
    const first = performance.now() + 5;
    const deadlines = new Deadlines((now) => {
      looks.push(now);
      isOver();
      return { next: Number.POSITIVE_INFINITY, checked: 0 };
    });
    deadlines.add(performance.now() + 3e9);
    deadlines.add(first);
    deadlines.add(performance.now() + 1e9);
    await over;
    assert.equal(looks.length, 1);
  });
});

describe('what the response to a request is taken for', () => {
  const bench = useScriptedBroker();

  it('is not ours with an id that is not, a number included, although only one request is under way', async () => {
    const ids: unknown[] = [undefined, 7, 0, '', false, {}, 'of another'];
    const session = bench.open();
    answerAll(bench.broker, ({ n }) => ({ id: ids[n], version: '2.4.0' }));
    await session.request('apiversion', { gateway: G }, { signal });
    for (const id of ids.slice(1)) {
      const outcome = session.request('apiversion', { gateway: G }, { signal, timeout: 60 });
      assert.equal(await codeOf(outcome), 'TIMEOUT', `${id}`);
    }
  });

  for (const id of [undefined, null]) {
    it(`is ours with the id ${id}, when only one request is under way`, async () => {
      const session = bench.open();
      answerAll(bench.broker, () => ({ id, version: '2.4.0' }));
      const { value } = await session.request('apiversion', { gateway: G }, { signal });
      assert.equal(value, '2.4.0');
    });
  }

  it('is not ours when another gateway sends it, though it has seen our id', async () => {
    const { broker } = bench;
    const session = bench.open();
    const asked = [G, G2].map((gateway) => session.request('apiversion', { gateway }, { signal }));
    await broker.until(() => requests(broker).length === 2);
    const ids = new Map(requests(broker).map(({ topic, body }) => [topic.split('/')[2], body.id]));
    const answer = (id: unknown, version: string) =>
      broker.publish(`mt/gateway/${G2}/response/${G2}/apiversion`, { id, time: TIME, status: 0, version });
    answer(ids.get(G), 'forged');
    answer(ids.get(G2), '2.4.0');
    assert.equal((await asked[1])?.value, '2.4.0');
    broker.publish(`mt/gateway/${G}/response/${G}/apiversion`, {
      id: ids.get(G),
      status: 0,
      version: '2.3.0',
    });
    assert.equal((await asked[0])?.value, '2.3.0');
  });

  it('is found although a template of the user names an id of its own', async () => {
    const session = bench.open({ ackPayload: { id: 'mine', time: '{{time}}' } });
    answerAll(bench.broker, ({ id }) => ({ id }));
    const sample = { gateway: G, device: D, identifier: '8800', time: TIME };
    const { response } = await session.acknowledge(sample, { signal, wait: true });
    assert.equal(response?.status, 0);
  });
});

describe('the same sample acknowledged twice', () => {
  const bench = useScriptedBroker();
  const sample = { gateway: G, device: D, identifier: '8800', time: TIME };

  it('is sent once, and the second one waits for the response that the first one did not wait for', async () => {
    const { broker } = bench;
    const session = bench.open();
    assert.deepEqual(await session.acknowledge(sample, { signal, wait: false }), { sent: true });
    const second = session.acknowledge(sample, { signal, wait: true });
    const [{ topic, body }] = requests(broker) as [{ topic: string; body: { id: string } }];
    broker.publish(topic.replace('/request/', '/response/'), {
      id: body.id,
      time: TIME,
      status: 0,
      note: 'late',
    });
    assert.equal((await second).response?.note, 'late');
    assert.equal((await session.acknowledge(sample, { signal, wait: true })).response?.note, 'late');
    assert.equal(requests(broker).length, 1);
  });

  it('gives each one a response of its own, which a flow may change', async () => {
    answerAll(bench.broker, ({ id }) => ({ id, route: { hops: 1 } }));
    const session = bench.open();
    const acknowledge = () => session.acknowledge(sample, { signal, wait: true });
    const [one, other] = await Promise.all([acknowledge(), acknowledge()]);
    Object.assign(one.response ?? {}, {
      note: 'mine',
      route: Object.assign(one.response?.route ?? {}, { hops: 9 }),
    });
    for (const { response } of [other, await acknowledge()]) {
      assert.deepEqual([response?.note, response?.route], [undefined, { hops: 1 }]);
    }
    assert.equal(requests(bench.broker).length, 1);
  });

  it('is sent again when the device refused the first one, although nobody waited for that', async () => {
    const { broker } = bench;
    answerAll(broker, ({ id, n }) => ({ id, status: n === 0 ? 3 : 0 }));
    const session = bench.open();
    await session.acknowledge(sample, { signal, wait: false });
    const { response } = await session.acknowledge(sample, { signal, wait: true });
    assert.equal(response?.status, 0);
    assert.equal(requests(broker).length, 2);
  });

  it('is sent again for one who waits when no response to the first one came', async () => {
    const { broker } = bench;
    answerAll(broker, ({ id, n }) => (n === 1 ? undefined : { id }));
    const session = bench.open();
    // The responses of the gateway are subscribed then.
    await session.acknowledge({ ...sample, identifier: '8801' }, { signal, wait: true });
    await session.acknowledge(sample, { signal, wait: false, timeout: 50 });
    await session.acknowledge(sample, { signal, wait: false, timeout: 50 });
    assert.equal(requests(broker).length, 2);
    assert.equal((await session.acknowledge(sample, { signal, wait: true })).response?.status, 0);
    assert.equal(requests(broker).length, 3);
  });

  it('ends for each of its nodes by the time of this node, or with it', async () => {
    const session = bench.open();
    const first = codeOf(session.acknowledge(sample, { signal, wait: true, timeout: 60_000 }));
    await bench.broker.next('publish');
    const closing = new AbortController();
    const joined = [
      codeOf(session.acknowledge(sample, { signal, wait: true, timeout: 20 })),
      codeOf(session.acknowledge(sample, { signal: closing.signal, wait: true, timeout: 60_000 })),
    ];
    assert.equal(await joined[0], 'TIMEOUT');
    closing.abort();
    assert.equal(await joined[1], 'CLOSED');
    assert.equal(requests(bench.broker).length, 1);
    await session.close();
    assert.equal(await first, 'CLOSED');
  });
});

describe('a request behind a flood of reports', () => {
  const bench = useScriptedBroker();

  it('says that the subscription to the answers was not confirmed, and not that the broker is away', async () => {
    const { broker } = bench;
    const session = bench.open();
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    broker.options.withhold = ['suback'];
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await assert.rejects(
      session.request('apiversion', { gateway: G }, { signal, timeout: 50 }),
      (error: ServiceError) =>
        error.code === 'NOT_CONNECTED' &&
        /has not confirmed the subscription to the answers/.test(error.message),
    );
    // Grants that come late find nobody, and do no harm.
    broker.release();
    broker.options.withhold = [];
    answerAll(broker, ({ id }) => ({ id, version: '2.4.0' }));
    await session.request('apiversion', { gateway: G }, { signal });
  });
});
