// Requests to gateways: what leaves, when and how, which one a message of a response topic ends, and what the broker says.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServiceError } from '../../src/errors.ts';
import { type Reason, reasonOfCode } from '../../src/mqtt/reasons.ts';
import {
  type PublishLimits,
  type RequestLimits,
  Requests,
  type RequestTransport,
  type SendOptions,
} from '../../src/mqtt/requests.ts';
import { MAX_PAYLOAD_BYTES } from '../../src/protocol/json.ts';
import type { BuiltRequest } from '../../src/protocol/operations/index.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { TIMEOUT_MS } from './pending.ts';
import { D, G, G2, mockTime, responseFilter, restoreTime } from './scripted.ts';

const G3 = 'c0141f68fc3f';
const FILTER = responseFilter();
const FILTER2 = responseFilter(G2);
const SHARED = responseFilter('+');
const UNLIMITED: PublishLimits = {
  maxUnacknowledged: Number.POSITIVE_INFINITY,
  maxPacketBytes: Number.POSITIVE_INFINITY,
  maxQos: 2,
};

interface Published {
  topic: string;
  payload: string;
  body: Record<string, unknown>;
  qos: number;
  done(error?: Error): void;
}

/** A broker connection that does what the test says. */
class Line implements RequestTransport {
  connected = true;
  readonly broker = 'mqtt://broker';
  readsSince = 0;
  heldMs = 0;
  readonly published: Published[] = [];
  readonly active = new Set<string>();
  readonly blocked = new Set<string>();
  readonly released: string[] = [];
  refusal: Reason | undefined;
  #asked: { filter: string; settled: (refused: boolean) => void }[] = [];

  publish(topic: string, payload: string, qos: number, done: (error?: Error) => void): void {
    this.published.push({ topic, payload, body: JSON.parse(payload), qos, done });
  }

  ensureFilter(filter: string, settled: (refused: boolean) => void): void {
    if (this.active.has(filter)) {
      settled(false);
    } else {
      this.#asked.push({ filter, settled });
    }
  }

  releaseFilter(filter: string): void {
    this.released.push(filter);
    this.active.delete(filter);
    this.#asked = this.#asked.filter((asked) => asked.filter !== filter);
  }

  isFilterActive(filter: string): boolean {
    return this.active.has(filter);
  }

  isFilterBlocked(filter: string): boolean {
    return this.blocked.has(filter);
  }

  refusalOf(): Reason | undefined {
    return this.refusal;
  }

  /** Filters that the broker is asked for and has not decided on. */
  get asked(): string[] {
    return [...new Set(this.#asked.map(({ filter }) => filter))];
  }

  /** How many wait for what it decides. */
  get askedCount(): number {
    return this.#asked.length;
  }

  grant(...filters: string[]): void {
    for (const filter of filters) {
      this.active.add(filter);
      this.#settle(filter, false);
    }
  }

  refuse(filter: string, refusal?: Reason): void {
    this.refusal = refusal;
    this.#settle(filter, true);
  }

  #settle(filter: string, refused: boolean): void {
    const settled = this.#asked.filter((asked) => asked.filter === filter);
    this.#asked = this.#asked.filter((asked) => asked.filter !== filter);
    for (const asked of settled) {
      asked.settled(refused);
    }
  }
}

describe('requests to gateways', () => {
  const topics = createTopics('');
  let line: Line;
  let requests: Requests;
  /** Name and what the response says, or the text of the error. */
  let ended: string[];

  beforeEach(() => {
    mockTime(100_000);
    open();
    ended = [];
  });
  afterEach(() => {
    requests.close();
    restoreTime();
  });

  const open = (limits: Partial<RequestLimits> = {}) => {
    line = new Line();
    requests = new Requests({ maxInFlight: 2, maxQueue: 10, qos: 1, ...limits }, topics, line);
  };
  const { signal } = new AbortController();
  const send = (name: string, changes: Partial<SendOptions> & Partial<BuiltRequest> = {}) => {
    const { gateway = G, device = D, suffix = 'read/8800', payload = {}, priority = 2, ...options } = changes;
    const operation = suffix.split('/')[0]!;
    const request = { gateway, device, operation, suffix, payload, priority };
    const given = {
      timeout: TIMEOUT_MS,
      signal,
      trafficClass: 'request',
      awaitResponse: true,
      ...options,
    } as const;
    requests.send(request, given).then(
      (body) => void ended.push(`${name} ${(body as { value: unknown }).value}`),
      ({ text }: ServiceError) => void ended.push(`${name} ${text.key}`),
    );
  };
  const ack = { trafficClass: 'ack', suffix: 'ack/8800' } as const;
  const receive = (
    payload: unknown,
    { gateway = G, device = D, rest = 'read/8800', retained = false } = {},
  ) =>
    requests.receive(
      { gateway, device, rest },
      Buffer.isBuffer(payload) ? payload : Buffer.from(JSON.stringify(payload)),
      retained,
    );
  const idOf = (n: number) => line.published[n]!.body.id as string;
  const news = async () => {
    await turn();
    return ended.splice(0);
  };
  const pass = async (ms: number) => {
    mock.timers.tick(ms);
    await turn();
  };
  /** Requests to the gateway, and its responses, go through. */
  const ready = (...filters: string[]) => line.active.add(FILTER) && line.grant(...filters);

  it('leave once the broker has granted the filter of their responses, which is asked for at once', () => {
    send('a');
    assert.deepEqual([line.asked, line.published.length], [[FILTER], 0]);
    const { askedCount } = line;
    send('b');
    requests.connectionChanged();
    assert.equal(line.askedCount, askedCount);
    line.grant(FILTER);
    assert.equal(line.published.length, 2);
    line.active.delete(FILTER);
    requests.connectionChanged();
    assert.deepEqual(line.asked, []);
    send('c');
    assert.deepEqual(line.asked, [FILTER]);
    receive({ id: idOf(0) });
    line.grant(FILTER);
    assert.equal(line.published.length, 3);
  });

  it('have an id of their own, behind whatever they carry', async () => {
    ready();
    send('a', { payload: { value: 1, id: 'of a template' } });
    send('b', { suffix: 'write/8800' });
    const [first, second] = line.published as [Published, Published];
    assert.deepEqual(
      [first.topic, second.topic],
      ['read', 'write'].map((operation) => `mt/gateway/${G}/request/${D}/${operation}/8800`),
    );
    assert.notEqual(first.body.id, second.body.id);
    assert.deepEqual(first.body, { value: 1, id: idOf(0) });
    assert.equal(first.qos, 1);
    assert.equal(receive({ id: idOf(1), value: 2 }), true);
    assert.deepEqual(await news(), ['b 2']);
    assert.equal(receive({ id: idOf(0), value: 1 }), true);
    assert.deepEqual(await news(), ['a 1']);
  });

  it('leave as many as may be under way, and the next when one of them has ended', async () => {
    ready();
    for (const name of ['a', 'b', 'c']) {
      send(name);
    }
    assert.equal(line.published.length, 2);
    receive({ id: idOf(0), value: 1 });
    assert.equal(line.published.length, 3);
  });

  it('tell when they have left, and when the broker has them', () => {
    const told: string[] = [];
    send('a', { sent: () => void told.push('sent'), delivered: () => void told.push('delivered') });
    assert.deepEqual(told, []);
    line.grant(FILTER);
    assert.deepEqual(told, ['sent']);
    line.published[0]!.done();
    assert.deepEqual(told, ['sent', 'delivered']);
  });

  it('of which nobody waits for the response make room when the broker has them, however many without depth', () => {
    // Each look at a clock that is mocked is recorded.
    restoreTime();
    open({ maxQueue: 100_000 });
    ready();
    line.publish = (topic, payload, qos, done) => {
      line.published.push({ topic, payload, body: {}, qos, done });
      done();
    };
    line.connected = false;
    for (let n = 0; n < 20_000; n++) {
      send(`${n}`, { ...ack, awaitResponse: false });
    }
    line.connected = true;
    requests.connectionChanged();
    line.grant(FILTER);
    assert.equal(line.published.length, 20_000);
    assert.equal(requests.idle, true);
  });

  it('are counted while they are under way, and while they wait', async () => {
    assert.deepEqual([requests.idle, requests.underWay, requests.gateways], [true, 0, 0]);
    send('a');
    assert.deepEqual([requests.idle, requests.underWay, requests.gateways], [false, 0, 1]);
    line.grant(FILTER);
    assert.deepEqual([requests.idle, requests.underWay], [false, 1]);
    receive({ id: idOf(0) });
    assert.deepEqual([requests.idle, requests.underWay, requests.gateways], [true, 0, 1]);
    send('b', { gateway: G2 });
    assert.deepEqual([requests.gateways, requests.filters()], [2, [FILTER, FILTER2]]);
  });

  it('end with CLOSED when their signal ends them, or has, and none of them leaves then', async () => {
    ready();
    const closing = new AbortController();
    for (const name of ['a', 'b', 'c']) {
      send(name, { signal: closing.signal });
    }
    closing.abort();
    send('late', { signal: closing.signal });
    assert.deepEqual(
      (await news()).sort(),
      ['a', 'b', 'c', 'late'].map((name) => `${name} CLOSED.stopped`),
    );
    assert.deepEqual([line.published.length, requests.idle], [2, true]);
    send('another');
    assert.equal(line.published.length, 3);
  });

  it('end with CLOSED when the client is closed, and for ever', async () => {
    ready();
    for (const name of ['a', 'b', 'c']) {
      send(name);
    }
    send('d', { gateway: G2 });
    requests.close();
    send('e');
    assert.deepEqual(
      (await news()).sort(),
      ['a', 'b', 'c', 'd', 'e'].map((name) => `${name} CLOSED.stopped`),
    );
    line.grant(FILTER2);
    requests.connectionChanged();
    await pass(10 * TIMEOUT_MS);
    assert.deepEqual([line.published.length, ended], [2, []]);
  });

  it('keep nothing running when the client is closed, and give nothing back', async () => {
    ready();
    send('a');
    requests.close();
    for (let minutes = 0; minutes < 90; minutes += 10) {
      await pass(10 * 60_000);
    }
    assert.deepEqual(line.released, []);
    restoreTime();
    const timers = () => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
    const before = timers();
    open();
    ready();
    send('b');
    send('c', { gateway: G2 });
    assert.ok(timers() > before);
    requests.close();
    assert.equal(timers(), before);
  });

  describe('and a message of a response topic', () => {
    beforeEach(() => ready());

    it('of a gateway that was not asked is for others', () => {
      assert.equal(receive({ id: 'x' }), false);
      send('a');
      assert.equal(receive({ id: 'x' }, { gateway: G2 }), false);
      assert.equal(receive({ id: 'x' }), true);
    });

    it('ends the request whose id it has, and none at another gateway', async () => {
      ready(FILTER2);
      send('a');
      send('b', { gateway: G2 });
      assert.equal(receive({ id: idOf(0), value: 1 }, { gateway: G2 }), true);
      assert.deepEqual(await news(), []);
      receive({ id: idOf(0), value: 1 }, { rest: 'other/topic', retained: true });
      assert.deepEqual(await news(), ['a 1']);
    });

    for (const id of ['x', '', 7, false, {}]) {
      it(`ends none whose id it does not have: ${JSON.stringify(id)}`, async () => {
        send('a');
        assert.equal(receive({ id, value: 1 }), true);
        assert.deepEqual(await news(), []);
      });
    }

    for (const body of [{ value: 1 }, { value: 1, id: null }]) {
      it(`without an id ends the only one of its topic, unless it is an old one: ${JSON.stringify(body)}`, async () => {
        send('a');
        send('b', { suffix: 'write/8800' });
        assert.equal(receive(body, { retained: true }), true);
        assert.equal(receive(body, { device: G }), true);
        assert.deepEqual(await news(), []);
        assert.equal(receive(body), true);
        assert.deepEqual(await news(), ['a 1']);
        send('c', { suffix: 'write/8800' });
        receive(body, { rest: 'write/8800' });
        assert.deepEqual(await news(), []);
      });
    }

    for (const text of ['<html>', '[1]', '7', 'null', '']) {
      it(`that is no JSON object ends the only one of its topic: ${text}`, async () => {
        send('a');
        receive(Buffer.from(text));
        assert.deepEqual(await news(), ['a BAD_RESPONSE.notJson']);
      });
    }

    it('that is no JSON object and not too large is not looked into', async () => {
      for (const bytes of [100, MAX_PAYLOAD_BYTES]) {
        send('a');
        send('b', { suffix: 'write/8800' });
        const { id } = line.published.at(-1)!.body;
        receive(Buffer.from(`{"id":"${id}",`.padEnd(bytes, ' ')));
        assert.deepEqual(await news(), ['a BAD_RESPONSE.notJson']);
        receive({ id }, { rest: 'write/8800' });
        await news();
      }
    });

    it('that is too large ends its request also where its value has an id of its own', async () => {
      send('a');
      const { id } = line.published.at(-1)!.body;
      const large = (body: string) => Buffer.from(`${body.padEnd(MAX_PAYLOAD_BYTES, 'x')}"}`);
      const within = '"value":[{"id":"one"},{"id":"two"}],"text":"a \\" \\"id\\":\\"b\\" {"';
      assert.equal(receive(large(`{${within},"id":"${id}","x":"`)), true);
      assert.deepEqual(await news(), ['a BAD_RESPONSE.payloadTooLarge']);
      // Without one it is that of the only request of its topic.
      for (const more of ['', ',"id":null', ',"id" : null']) {
        send('b');
        receive(large(`{${within}${more},"x":"`));
        assert.deepEqual(await news(), ['b BAD_RESPONSE.payloadTooLarge']);
      }
      send('c');
      for (const another of ['"another"', '7', '{}', '"a\\n"']) {
        receive(large(`{${within},"id":${another},"x":"`));
        assert.deepEqual(await news(), [], another);
      }
    });

    it('is read up to a mebibyte; a larger one ends the request whose id it has', async () => {
      const padded = (id: string, bytes: number, colon = ':') => {
        const head = `{"value":1,"id"${colon}"${id}","x":"`;
        return Buffer.from(`${head.padEnd(bytes - 2, 'x')}"}`);
      };
      send('a');
      send('b');
      receive(padded(idOf(0), MAX_PAYLOAD_BYTES));
      assert.deepEqual(await news(), ['a 1']);
      send('c');
      receive(padded(idOf(1), MAX_PAYLOAD_BYTES + 1));
      assert.deepEqual(await news(), ['b BAD_RESPONSE.payloadTooLarge']);
      send('d');
      receive(padded(idOf(2), MAX_PAYLOAD_BYTES + 1, '  \t:  '));
      assert.deepEqual(await news(), ['c BAD_RESPONSE.payloadTooLarge']);
      receive(padded('', MAX_PAYLOAD_BYTES + 1));
      assert.deepEqual(await news(), [], 'an empty id is that of somebody else');
      receive(Buffer.from(`{"value":1,"x":"${'x'.repeat(MAX_PAYLOAD_BYTES)}"}`));
      assert.deepEqual(await news(), ['d BAD_RESPONSE.payloadTooLarge']);
    });

    it('shows that the gateway answers acknowledgements, also late, but not where it is an old one', async () => {
      assert.equal(requests.ignoresAcks(G), false);
      send('a', ack);
      await pass(TIMEOUT_MS);
      assert.deepEqual(await news(), ['a TIMEOUT.noAnswer']);
      assert.deepEqual([requests.ignoresAcks(G), requests.ignoresAcks(G2)], [true, false]);
      const late = { id: idOf(0), status: 0 };
      receive(late, { rest: 'ack/8800', retained: true });
      receive(late, { rest: 'read/8800' });
      // What is under way elsewhere says nothing of this one.
      send('b', { ...ack, gateway: G2 });
      line.grant(FILTER2);
      receive({ id: idOf(1) }, { rest: 'ack/8800' });
      assert.equal(requests.ignoresAcks(G), true);
      receive(late, { rest: 'ack/8800' });
      assert.equal(requests.ignoresAcks(G), false);
    });
  });

  describe('to a broker', () => {
    beforeEach(() => ready());

    it('have no higher QoS than it takes', () => {
      open({ qos: 2 });
      ready();
      const qosOfNext = () => {
        send('x', { ...ack, awaitResponse: false });
        const { qos, done } = line.published.at(-1)!;
        done();
        return qos;
      };
      assert.equal(qosOfNext(), 2);
      requests.connected({ ...UNLIMITED, maxQos: 1 });
      assert.equal(qosOfNext(), 1);
      requests.limitQos(2);
      assert.equal(qosOfNext(), 1);
      requests.limitQos(0);
      assert.equal(qosOfNext(), 0);
      requests.connected(UNLIMITED);
      assert.equal(qosOfNext(), 2);
    });

    it('wait until it has acknowledged as many as it says, and take turns', async () => {
      ready(FILTER2);
      requests.connected({ ...UNLIMITED, maxUnacknowledged: 1 });
      send('a');
      send('b');
      send('c', { gateway: G2 });
      assert.equal(line.published.length, 1);
      line.published[0]!.done();
      assert.equal(line.published.length, 2);
      line.published[1]!.done(new Error('connection lost'));
      assert.equal(line.published.length, 3);
    });

    for (const heldMs of [0, 1_000_000]) {
      it(`end when it acknowledges nothing any more; reports had held up the reading for ${heldMs} ms`, async () => {
        line.heldMs = heldMs;
        requests.connected({ ...UNLIMITED, maxUnacknowledged: 1 });
        send('a', { timeout: 2 * TIMEOUT_MS });
        send('b');
        for (let second = 0; second <= TIMEOUT_MS / 1_000; second++) {
          await pass(1_000);
        }
        assert.deepEqual(await news(), ['b NOT_CONNECTED.notAcknowledged']);
      });
    }

    it('of QoS 0 wait for no acknowledgement', () => {
      open({ qos: 0 });
      ready();
      requests.connected({ ...UNLIMITED, maxUnacknowledged: 1 });
      send('a');
      send('b');
      assert.equal(line.published.length, 2);
    });

    it('are not sent where they are larger than it takes, and leave their place to others', async () => {
      // Each character of the value takes two bytes.
      const large = { suffix: 'write/8800', payload: { value: 'é'.repeat(100) } };
      send('a', large);
      const { topic, payload } = line.published[0]!;
      const bytes = Buffer.byteLength(topic) + Buffer.byteLength(payload) + 12;
      requests.connected({ ...UNLIMITED, maxPacketBytes: bytes });
      send('b', large);
      assert.equal(line.published.length, 2);
      receive({ id: idOf(0), value: 1 });
      receive({ id: idOf(1), value: 1 });
      await news();
      requests.connected({ ...UNLIMITED, maxPacketBytes: bytes - 1 });
      for (const name of ['c', 'd', 'e']) {
        send(name, large);
      }
      send('f');
      assert.deepEqual(
        await news(),
        ['c', 'd', 'e'].map((name) => `${name} INVALID_INPUT.packetTooLarge`),
      );
      assert.equal(line.published.length, 3);
    });

    it('end when it refuses them, and at no other error: it may have them', async () => {
      let delivered = 0;
      const codes = [0x7f, 'ECONNRESET', undefined, 0x80, 0x97];
      open({ maxInFlight: codes.length });
      ready();
      for (const [n, code] of codes.entries()) {
        send(`${n}`, { delivered: () => delivered++ });
        line.published[n]!.done(Object.assign(new Error('no'), { code }));
      }
      assert.deepEqual(await news(), ['3 NOT_CONNECTED.refusedPublish', '4 NOT_CONNECTED.refusedPublish']);
      assert.deepEqual([delivered, requests.underWay], [0, 3]);
      receive({ id: idOf(0), value: 1 });
      assert.deepEqual(await news(), ['0 1']);
    });
  });

  describe('before the broker has granted the filter of their responses', () => {
    it('end in their time, counted from the arrival that is given', async () => {
      send('a', { since: performance.now() - 4_000 });
      send('b');
      await pass(TIMEOUT_MS - 4_001);
      assert.deepEqual(await news(), []);
      await pass(1);
      assert.deepEqual(await news(), ['a NOT_CONNECTED.notGranted']);
      await pass(4_000);
      assert.deepEqual(await news(), ['b NOT_CONNECTED.notGranted']);
    });

    it('have no time of their own any more once it has', async () => {
      for (const name of ['a', 'b', 'c']) {
        send(name, { timeout: name === 'c' ? TIMEOUT_MS : 10 * TIMEOUT_MS });
      }
      await pass(5_000);
      line.grant(FILTER);
      await pass(2 * TIMEOUT_MS);
      assert.deepEqual([await news(), line.published.length], [[], 2]);
      line.connected = false;
      requests.connectionChanged();
      await pass(TIMEOUT_MS - 1);
      assert.deepEqual(await news(), []);
      await pass(1);
      assert.deepEqual(await news(), ['c NOT_CONNECTED.unreachable']);
    });

    it('are told how one ends that could not be sent', () => {
      const keyOf = (gateway = G) => requests.unsent(gateway, TIMEOUT_MS)?.text.key;
      assert.equal(keyOf(), undefined);
      send('a');
      assert.deepEqual([keyOf(), keyOf(G2)], ['NOT_CONNECTED.notGranted', undefined]);
      line.connected = false;
      assert.equal(keyOf(), 'NOT_CONNECTED.unreachable');
      line.connected = true;
      line.grant(FILTER);
      assert.equal(keyOf(), undefined);
    });

    it('ask for it once there is a connection', async () => {
      line.connected = false;
      line.active.add(FILTER);
      send('a');
      assert.equal(line.published.length, 0);
      await pass(5_000);
      line.connected = true;
      requests.connectionChanged();
      assert.equal(line.published.length, 1);
    });

    it('end in their time from the loss of the connection on', async () => {
      line.grant(FILTER);
      ready();
      for (const name of ['a', 'b', 'c']) {
        send(name, { timeout: name === 'c' ? 5_000 : 10 * TIMEOUT_MS });
      }
      await pass(10_000);
      line.connected = false;
      requests.connectionChanged();
      await pass(4_999);
      assert.deepEqual(await news(), []);
      await pass(1);
      assert.deepEqual(await news(), ['c NOT_CONNECTED.unreachable']);
    });

    it('end when it refuses it, with its reason where it has one, and the next asks again', async () => {
      send('a');
      send('b', ack);
      line.refuse(FILTER);
      assert.deepEqual((await news()).sort(), [
        'a NOT_CONNECTED.refusedSubscription',
        'b NOT_CONNECTED.refusedSubscription',
      ]);
      assert.deepEqual([line.released, requests.gateways, requests.idle], [[FILTER], 0, true]);
      send('c');
      assert.deepEqual(line.asked, [FILTER]);
      line.refuse(FILTER, reasonOfCode(135));
      assert.deepEqual(await news(), ['c NOT_CONNECTED.refusedSubscriptionWhy']);
    });

    it('end when it refuses it later, but for those that were sent', async () => {
      ready();
      send('a');
      line.active.delete(FILTER);
      send('b');
      line.refuse(FILTER);
      assert.deepEqual(await news(), ['b NOT_CONNECTED.refusedSubscription']);
      assert.deepEqual([line.released, requests.gateways], [[], 1]);
      receive({ id: idOf(0), value: 1 });
      assert.deepEqual(await news(), ['a 1']);
    });

    it('ask for it again after a refusal, though others are under way', async () => {
      ready();
      send('a');
      line.active.delete(FILTER);
      send('b');
      line.refuse(FILTER);
      send('c');
      assert.deepEqual(line.asked, [FILTER]);
    });
  });

  describe('to a broker that has no room for another subscription', () => {
    const QUOTA = reasonOfCode(151);
    const BESIDE: Reason = { key: 'reason.filterRefusedBeside', values: {}, consequence: 'retry' };

    /** A gateway with nothing to do has a subscription. */
    const occupy = async (gateway = G2) => {
      send('first', { gateway });
      line.grant(responseFilter(gateway));
      receive({ id: line.published.at(-1)!.body.id, value: 1 }, { gateway });
      assert.deepEqual(await news(), ['first 1']);
    };

    for (const reason of [QUOTA, BESIDE]) {
      it(`have that of a gateway with nothing to do given back, and ask again then: ${reason.key}`, async () => {
        await occupy();
        send('a');
        line.refuse(FILTER, reason);
        assert.deepEqual([await news(), line.released, requests.gateways], [[], [FILTER2], 1]);
        send('b');
        assert.deepEqual(line.asked, []);
        requests.subscribed();
        // Else the refusal would hold on.
        assert.deepEqual([line.released, line.asked], [[FILTER2, FILTER], [FILTER]]);
        line.grant(FILTER);
        assert.equal(line.published.length, 3);
        requests.subscribed();
        assert.equal(line.released.length, 2);
      });
    }

    it('end where no other gateway has nothing to do, or the reason is another one', async () => {
      send('a');
      line.refuse(FILTER, QUOTA);
      assert.deepEqual(await news(), ['a NOT_CONNECTED.refusedSubscriptionWhy']);
      await occupy();
      line.released.length = 0;
      send('b');
      line.refuse(FILTER, reasonOfCode(135));
      assert.deepEqual(await news(), ['b NOT_CONNECTED.refusedSubscriptionWhy']);
      send('c');
      line.refuse(FILTER);
      assert.deepEqual(await news(), ['c NOT_CONNECTED.refusedSubscription']);
      assert.deepEqual(line.released, [FILTER, FILTER]);
    });

    it('have another one given back where there is still no room, but ask a second time only for that', async () => {
      await occupy();
      await pass(1);
      await occupy(G3);
      send('a');
      for (const _ of [G2, G3]) {
        line.refuse(FILTER, QUOTA);
        requests.subscribed();
      }
      assert.deepEqual(line.released, [FILTER2, FILTER, responseFilter(G3), FILTER]);
      assert.deepEqual(await news(), []);
      await occupy();
      line.refuse(FILTER, BESIDE);
      assert.deepEqual(await news(), ['a NOT_CONNECTED.refusedSubscriptionWhy']);
    });

    it('have none given back where nobody waits any more', async () => {
      await occupy();
      const closing = new AbortController();
      send('a', { signal: closing.signal });
      closing.abort();
      line.refuse(FILTER, QUOTA);
      assert.deepEqual([line.released, requests.gateways], [[FILTER], 1]);
    });

    it('are not asked for before there is room, whatever is told of the limit again', async () => {
      await occupy();
      send('a');
      line.refuse(FILTER, QUOTA);
      requests.shareFilter(false);
      assert.deepEqual(line.asked, []);
      requests.subscribed();
      assert.deepEqual(line.asked, [FILTER]);
    });

    it('leave where it was granted meanwhile', async () => {
      await occupy();
      send('a');
      line.refuse(FILTER, QUOTA);
      line.active.add(FILTER);
      requests.subscribed();
      assert.deepEqual([line.released, line.published.length], [[FILTER2], 2]);
    });

    it('ask again over the next connection, and are not waited for any more', async () => {
      await occupy();
      send('a');
      line.refuse(FILTER, QUOTA);
      requests.connected(UNLIMITED);
      requests.connectionChanged();
      assert.deepEqual(line.asked, [FILTER]);
      requests.subscribed();
      assert.deepEqual(line.released, [FILTER2]);
    });

    it('end in their time then, also those that had none of their own before', async () => {
      await occupy();
      line.active.add(FILTER);
      for (const name of ['a', 'b', 'c']) {
        send(name, { timeout: name === 'c' ? TIMEOUT_MS : 10 * TIMEOUT_MS });
      }
      await pass(2 * TIMEOUT_MS);
      line.active.delete(FILTER);
      send('d', { timeout: 10 * TIMEOUT_MS });
      line.refuse(FILTER, QUOTA);
      await pass(TIMEOUT_MS - 1);
      assert.deepEqual(await news(), []);
      await pass(1);
      assert.deepEqual(await news(), ['c NOT_CONNECTED.notGranted']);
    });
  });

  describe('whose responses one subscription brings', () => {
    it('leave once that is granted', async () => {
      send('a');
      send('b', { gateway: G2 });
      requests.shareFilter(true);
      assert.deepEqual([line.released, requests.filters()], [[FILTER, FILTER2], [SHARED]]);
      requests.shareFilter(true);
      assert.equal(line.released.length, 2);
      line.grant(SHARED);
      assert.equal(line.published.length, 2);
      send('c', { gateway: G3 });
      assert.equal(line.published.length, 3);
    });

    it('have one of their own again when the broker allows more, or refuses that', async () => {
      for (const end of [() => requests.shareFilter(false), () => line.refuse(SHARED)]) {
        send('a');
        requests.shareFilter(true);
        end();
        assert.deepEqual(requests.filters(), [FILTER]);
        assert.equal(line.released.at(-1), SHARED);
        line.grant(FILTER);
        assert.equal(line.published.length, 1);
        assert.deepEqual(await news(), []);
        requests.close();
        open();
        await news();
      }
    });

    it('have one of their own where that is known to end connections, unless it is to be tried', () => {
      line.blocked.add(SHARED);
      send('a');
      requests.shareFilter(true, false);
      assert.deepEqual(requests.filters(), [FILTER]);
      requests.shareFilter(true);
      assert.deepEqual(requests.filters(), [SHARED]);
    });

    it('leave by that although they asked for their own before', () => {
      send('a');
      requests.shareFilter(true);
      assert.deepEqual(line.asked, [SHARED]);
      line.grant(SHARED);
      assert.equal(line.published.length, 1);
    });

    it('have one of their own again where it is refused later', async () => {
      send('a');
      requests.shareFilter(true);
      line.grant(SHARED);
      line.active.delete(SHARED);
      send('b');
      assert.deepEqual(line.asked, [SHARED]);
      line.refuse(SHARED);
      assert.deepEqual([await news(), requests.filters()], [[], [FILTER]]);
      line.grant(FILTER);
      assert.equal(line.published.length, 2);
    });

    it('leave by that where they have kept their own and lost it', async () => {
      line.active.add(FILTER).add(FILTER2);
      send('a');
      send('b', { gateway: G2 });
      requests.shareFilter(true);
      assert.deepEqual(line.released, [FILTER]);
      line.active.delete(FILTER2);
      send('c', { gateway: G2 });
      assert.deepEqual([line.asked, line.published.length], [[SHARED, FILTER2], 2]);
      line.grant(SHARED);
      assert.deepEqual([line.released, line.published.length], [[FILTER, FILTER2], 3]);
    });

    it('wait for no room then', async () => {
      line.active.add(FILTER2);
      send('first', { gateway: G2 });
      receive({ id: idOf(0), value: 1 }, { gateway: G2 });
      send('a');
      line.refuse(FILTER, reasonOfCode(151));
      requests.shareFilter(true);
      assert.deepEqual(line.asked, [SHARED]);
      const released = line.released.length;
      requests.subscribed();
      assert.equal(line.released.length, released);
      line.grant(SHARED);
      assert.equal(line.published.length, 2);
    });
  });
});
