// When a report-in node with labels asks for the list of devices: at first, later, after a failure, and together with others.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ServiceError } from '../../src/errors.ts';
import { LabelFilter, type LabelState } from '../../src/reports/label-filter.ts';
import { G, G2, reportTopic } from '../mqtt/scripted.ts';
import { Collector } from '../session.ts';

const REFRESH = 300_000;

/** The list of devices, asked by these gates: like the directory, it gives a list it has, or fetches one. */
class Lists {
  readonly asked: { maxAge: number; at: number }[] = [];
  readonly fetched: number[] = [];
  gateways = new Set([G]);
  /** Whether these may be gateways. */
  areGateways = true;
  error: ServiceError | undefined;
  /** While set, who asks waits for it. */
  held: Promise<void> | undefined;
  now = 0;
  isOld = false;
  readonly #followers = new Set<(error?: unknown) => void>();

  get listAge(): number {
    return this.isOld
      ? Number.POSITIVE_INFINITY
      : this.now - (this.fetched.at(-1) ?? Number.NEGATIVE_INFINITY);
  }

  knownGatewaysWithLabels(): ReadonlySet<string> | undefined {
    return this.fetched.length > 0 ? this.gateways : undefined;
  }

  mayHaveGatewayWith(): boolean {
    return this.areGateways;
  }

  follow(follower: (error?: unknown) => void): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  async refresh(maxAge: number): Promise<void> {
    this.asked.push({ maxAge, at: this.now });
    if (this.error) {
      throw this.error;
    }
    const isDue = this.listAge > maxAge;
    if (isDue) {
      this.fetched.push(this.now);
    }
    await this.held;
    if (isDue) {
      this.come();
    }
  }

  /** There is a new list, or after a change none could be read. */
  come(error?: unknown): void {
    for (const follower of this.#followers) {
      follower(error);
    }
  }
}

describe('refresh of labels', () => {
  let lists: Lists;
  let states: LabelState[];
  const gates: LabelFilter[] = [];

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    lists = new Lists();
    states = [];
  });
  afterEach(() => {
    for (const gate of gates.splice(0)) {
      gate.close();
    }
    mock.timers.reset();
  });

  function open(refresh = REFRESH, collector = new Collector()): LabelFilter {
    const tell = (state: LabelState) => void states.push(state);
    const gate = new LabelFilter(collector, () => {}, ['office'], refresh, lists, tell);
    gates.push(gate);
    gate.open();
    return gate;
  }

  /** Goes on in time, and lets what is due happen. */
  async function pass(milliseconds: number): Promise<void> {
    await new Promise(setImmediate);
    lists.now += milliseconds;
    mock.timers.tick(milliseconds);
    await new Promise(setImmediate);
  }

  const names = () => states.map(({ name }) => name);

  it('comes every 300 seconds, and not earlier', async () => {
    open();
    await pass(0);
    for (let time = 0; time < 3; time++) {
      const { length } = lists.fetched;
      await pass(REFRESH - 1);
      assert.equal(lists.fetched.length, length);
      await pass(1);
      assert.equal(lists.fetched.length, length + 1);
    }
    assert.deepEqual(names(), ['waiting', 'ready', 'ready', 'ready', 'ready']);
  });

  it('tells that the list after a change cannot be read, and that it is there', async () => {
    open();
    await pass(0);
    const error = new ServiceError('NETWORK', 'timeout');
    lists.come(error);
    lists.come();
    assert.deepEqual(names(), ['waiting', 'ready', 'stale', 'ready']);
    assert.equal(states[2]?.error, error);
  });

  for (const [when, listAgain] of [
    ['of an outage', () => Promise.reject(new ServiceError('NETWORK', 'timeout'))],
    ['in which the list is read', () => new Promise<never>(() => {})],
  ] as const) {
    it(`does not make a node forget the labels that others know, when it is deployed in the time ${when}`, async () => {
      open();
      await pass(60_000);
      lists.refresh = listAgain;
      states = [];
      const collector = new Collector();
      const gate = open(REFRESH, collector);
      await pass(0);
      gate.report(
        { gateway: G, device: G2, kind: 'heartbeat', form: 'raw', time: '' },
        reportTopic('heartbeat'),
        Buffer.from('{}'),
      );
      assert.equal(collector.reports.length, 1);
      assert.deepEqual(names(), when === 'of an outage' ? ['ready', 'stale'] : ['ready']);
    });
  }

  it('tells that no gateway has a label until a list says otherwise, or one of its reports', async () => {
    const [told, nothing] = [
      { name: 'ready', lost: 0, hasNoGateway: true },
      { name: 'ready', lost: 0 },
    ];
    const collector = new Collector();
    lists.areGateways = false;
    const gate = open(REFRESH, collector);
    await pass(0);
    assert.deepEqual(states.at(-1), told);
    lists.areGateways = true;
    lists.come();
    assert.deepEqual(states.at(-1), nothing);
    lists.areGateways = false;
    lists.come();
    assert.deepEqual(states.at(-1), told);
    lists.areGateways = true;
    const report = { gateway: G, device: G2, kind: 'heartbeat', form: 'raw', time: '' } as const;
    gate.report({ ...report }, reportTopic('heartbeat'), Buffer.from('{}'));
    assert.deepEqual([collector.reports.length, states.at(-1)], [1, nothing]);
    const { length } = states;
    gate.report({ ...report }, reportTopic('heartbeat'), Buffer.from('{}'));
    assert.equal(states.length, length);
  });

  it('says of an old list that it is old, whoever has its labels', async () => {
    lists.areGateways = false;
    const gate = open();
    await pass(0);
    lists.error = new ServiceError('NETWORK', 'timeout');
    await pass(REFRESH);
    gate.report(
      { gateway: G, device: G2, kind: 'heartbeat', form: 'raw', time: '' },
      reportTopic('heartbeat'),
      Buffer.from('{}'),
    );
    assert.deepEqual(states.at(-1), { name: 'stale', lost: 0, error: lists.error });
  });

  it('takes at first no list older than 5 seconds, and later one of half the time', async () => {
    open();
    await pass(REFRESH);
    open(4_000);
    await pass(0);
    assert.deepEqual(
      lists.asked.map(({ maxAge }) => maxAge),
      [5_000, REFRESH / 2, 2_000],
    );
  });

  it('is one for all nodes, also such as were deployed at different times', async () => {
    for (let node = 0; node < 20; node++) {
      open();
      await pass(7_000);
    }
    await pass(3 * REFRESH);
    const before = lists.fetched.length;
    for (let second = 0; second < 1_200; second++) {
      await pass(1_000);
    }
    assert.equal(lists.fetched.length - before, 4);
  });

  it('comes when the list is due that another node has read, also where that node is gone', async () => {
    open();
    await pass(3_000);
    open();
    await pass(0);
    gates.shift()?.close();
    await pass(REFRESH - 3_001);
    assert.deepEqual(lists.fetched, [0]);
    await pass(1);
    assert.deepEqual(lists.fetched, [0, REFRESH]);
  });

  it('comes 30 seconds after one that failed, and the last known labels hold until then', async () => {
    const collector = new Collector();
    const gate = open(REFRESH, collector);
    await pass(0);
    lists.error = new ServiceError('NETWORK', 'timeout');
    await pass(REFRESH);
    assert.deepEqual(states.at(-1), { name: 'stale', lost: 0, error: lists.error });
    const report = { gateway: G, device: G2, kind: 'heartbeat', form: 'raw', time: '' } as const;
    gate.report({ ...report }, reportTopic('heartbeat'), Buffer.from('{}'));
    gate.report({ ...report, gateway: G2 }, reportTopic('heartbeat', G2), Buffer.from('{}'));
    assert.deepEqual(
      collector.reports.map(({ gateway }) => gateway),
      [G],
    );
    const asked = lists.asked.length;
    await pass(29_999);
    assert.equal(lists.asked.length, asked);
    lists.error = undefined;
    lists.gateways = new Set([G2]);
    await pass(1);
    assert.deepEqual(names().slice(-2), ['stale', 'ready']);
    gate.report({ ...report, gateway: G2 }, reportTopic('heartbeat', G2), Buffer.from('{}'));
    assert.equal(collector.reports.at(-1)?.gateway, G2);
  });

  it('comes after a failure as soon as it always does, where that is sooner than 30 seconds', async () => {
    lists.error = new ServiceError('NETWORK', 'timeout');
    open(10_000);
    await pass(9_999);
    assert.equal(lists.asked.length, 1);
    await pass(1);
    assert.equal(lists.asked.length, 2);
    assert.deepEqual(states.at(-1), { name: 'waiting', lost: 0, error: lists.error });
  });

  it('waits its time after a list that a change has made old meanwhile', async () => {
    open();
    await pass(0);
    lists.isOld = true;
    await pass(REFRESH);
    const asked = lists.asked.length;
    await pass(REFRESH - 1);
    assert.equal(lists.asked.length, asked);
  });

  it('comes at most once a second', async () => {
    open(0);
    await pass(0);
    await pass(999);
    assert.equal(lists.asked.length, 1);
    await pass(1);
    assert.equal(lists.asked.length, 2);
  });

  for (const [outcome, error] of [
    ['brings a list', undefined],
    ['fails', new ServiceError('NETWORK', 'timeout')],
  ] as const) {
    it(`ends with its node: what is on its way and ${outcome} later counts for nothing, and none follows`, async () => {
      let answer = (): void => {};
      lists.held = new Promise((resolve, reject) => {
        answer = () => (error ? reject(error) : resolve());
      });
      const collector = new Collector();
      const gate = open(REFRESH, collector);
      await pass(0);
      gate.close();
      answer();
      await pass(2 * REFRESH);
      assert.deepEqual(names(), ['waiting']);
      assert.equal(lists.asked.length, 1);
    });
  }

  it('does not come any more when its node is closed between two', async () => {
    const gate = open();
    await pass(0);
    gate.close();
    await pass(REFRESH);
    assert.equal(lists.asked.length, 1);
  });
});
