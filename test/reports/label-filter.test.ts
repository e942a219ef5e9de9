// The label filter of report-in nodes: beside the filter of repeats, while it has no list, and over a deploy.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServiceError } from '../../src/errors.ts';
import { SILENT } from '../../src/log.ts';
import { LabelFilter, type LabelState, unknownLabels } from '../../src/reports/label-filter.ts';
import type { Message } from '../../src/reports/message.ts';
import { takersOf } from '../../src/reports/receivers.ts';
import { type ReportFilter, Session } from '../../src/session.ts';
import { D, G, G2, heartbeat, reportTopic, useScriptedBroker } from '../mqtt/scripted.ts';
import { json, settingsFor, startServer, type TestServer } from '../rest/server.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';

const NO_LIST = {
  listAge: 0,
  knownGatewaysWithLabels: () => undefined,
  mayHaveGatewayWith: () => true,
  follow: () => () => undefined,
};
const LABELLED: ReportFilter = { ...ALL, labels: ['office'] };

describe('reports of gateways with a label', () => {
  const bench = useScriptedBroker();
  let portal: TestServer;
  let session: Session;
  /** Resolves the list of devices; before that nobody gets it. */
  let give: () => void;

  beforeEach(async () => {
    const list = new Promise<void>((resolve) => {
      give = resolve;
    });
    const items = [
      { id: `bmac-${G}`, labels: ['office'] },
      { id: `bmac-${G2}`, labels: ['store'] },
    ];
    portal = await startServer((_, response) => void list.then(() => json(response, { items })));
    const settings = { mqtt: mqttSettings(bench.broker.url), rest: settingsFor(portal.url) };
    session = new Session(settings, SILENT);
  });
  afterEach(async () => {
    give();
    await session.close();
    await portal.stop();
  });

  const numbersOf = (collector: Collector) => collector.reports.map(({ n }) => n);

  it('are not taken for repeats of what a gateway without the label has brought before', async () => {
    const collector = new Collector();
    session.subscribe({ ...LABELLED, duplicates: 'drop' }, collector);
    await reached(session, 'connected');
    give();
    for (const gateway of [G2, G, G2, G]) {
      bench.broker.publish(reportTopic('heartbeat', gateway), heartbeat(1));
    }
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(2));
    await collector.until(({ reports }) => reports.length === 2);
    assert.deepEqual(
      collector.reports.map(({ gateway, n }) => [gateway, n]),
      [
        [G, 1],
        [G, 2],
      ],
    );
  });

  it('wait for the first list, also over a deploy that leaves the service alone', async () => {
    const leave = session.subscribe(LABELLED, new Collector(), 'node');
    await reached(session, 'connected');
    const other = new Collector();
    session.subscribe(ALL, other);
    for (let n = 0; n < 5; n++) {
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    await other.until(({ reports }) => reports.length === 5);
    session.pauseReports();
    leave(true);
    const collector = new Collector();
    session.subscribe(LABELLED, collector, 'node');
    session.resumeReports();
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(5));
    await other.until(({ reports }) => reports.length === 6);
    give();
    await collector.until(({ reports }) => reports.length === 6);
    assert.deepEqual(numbersOf(collector), [0, 1, 2, 3, 4, 5]);
    assert.equal(other.reports.length, 6);
  });

  const DEPLOYS: Record<string, () => void> = {
    'a deploy that takes longer than reports wait': () => {
      mock.timers.enable({ apis: ['setTimeout'] });
      session.pauseReports();
      mock.timers.tick(20_000);
      mock.timers.reset();
    },
    'a deploy that leaves their node invalid': () => {
      session.pauseReports();
      session.resumeReports((owner) => owner === 'node');
      session.pauseReports();
    },
  };
  for (const [deploy, happen] of Object.entries(DEPLOYS)) {
    it(`wait for it also over ${deploy}`, async () => {
      const leave = session.subscribe(LABELLED, new Collector(), 'node');
      await reached(session, 'connected');
      const other = new Collector();
      session.subscribe(ALL, other);
      for (let n = 0; n < 5; n++) {
        bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
      }
      await other.until(({ reports }) => reports.length === 5);
      leave(true);
      happen();
      const collector = new Collector();
      session.subscribe(LABELLED, collector, 'node');
      session.resumeReports();
      give();
      await collector.until(({ reports }) => reports.length === 5);
      assert.deepEqual(numbersOf(collector), [0, 1, 2, 3, 4]);
    });
  }

  it('are gone when a deploy removes their node, also one that was invalid', async () => {
    const leave = session.subscribe(LABELLED, new Collector(), 'node');
    await reached(session, 'connected');
    const other = new Collector();
    session.subscribe(ALL, other);
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(0));
    await other.until(({ reports }) => reports.length === 1);
    leave(true);
    session.resumeReports((owner) => owner === 'node');
    session.resumeReports();
    const collector = new Collector();
    session.subscribe(LABELLED, collector, 'node');
    session.resumeReports();
    give();
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await collector.until(({ reports }) => reports.length > 0);
    assert.deepEqual(numbersOf(collector), [1]);
  });

  it('are acknowledged to the broker while they wait', async () => {
    const { broker } = bench;
    session.subscribe(LABELLED, new Collector());
    const other = new Collector();
    session.subscribe(ALL, other);
    await reached(session, 'connected');
    for (let n = 0; n < 5; n++) {
      broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    await broker.until(() => broker.packets('puback').length === 5);
    await other.until(({ reports }) => reports.length === 5);
  });

  it('pass by the last known list when their node is deployed while the service is away', async () => {
    give();
    const leave = session.subscribe(LABELLED, new Collector(), 'node');
    await reached(session, 'connected');
    await session.devices?.search('', 10);
    await portal.stop();
    session.devices?.invalidate();
    session.pauseReports();
    leave(true);
    const collector = new Collector();
    session.subscribe(LABELLED, collector, 'node');
    session.resumeReports();
    for (const gateway of [G2, G]) {
      bench.broker.publish(reportTopic('heartbeat', gateway), heartbeat(1));
    }
    await collector.until(({ reports }) => reports.length > 0);
    assert.deepEqual(
      collector.reports.map(({ gateway }) => gateway),
      [G],
    );
  });

  it('do not pass any more soon after a flow has taken the label away, and all pass until then', async () => {
    give();
    const collector = new Collector();
    const states: string[] = [];
    session.subscribe(
      LABELLED,
      Object.assign(collector, { labels: ({ name }: LabelState) => void states.push(name) }),
    );
    const everything = new Collector();
    session.subscribe(ALL, everything);
    await reached(session, 'connected');
    await session.devices?.search('', 10);
    const { answer } = portal;
    let giveNew = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      portal.answer = (request, response) => {
        if (request.method === 'GET') {
          giveNew = () => json(response, { items: [{ id: `bmac-${G2}`, labels: ['office'] }] });
          resolve();
        } else {
          answer(request, response);
        }
      };
    });
    await session.rest.removeLabel(`bmac-${G}`, 'office', new AbortController().signal);
    await asked;
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await collector.until(({ reports }) => reports.length === 1);
    states.length = 0;
    giveNew();
    while (states.length === 0) {
      await turn();
    }
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(2));
    bench.broker.publish(reportTopic('heartbeat', G2), heartbeat(3));
    await everything.until(({ reports }) => reports.length === 3);
    assert.deepEqual(numbersOf(collector), [1, 3]);
    assert.deepEqual(states, ['ready']);
  });

  it('are what a preview asks the broker for, and not the whole network', async () => {
    const { broker } = bench;
    session.subscribe({ ...ALL, gateways: [D] }, new Collector());
    await reached(session, 'connected');
    session.preview(LABELLED);
    give();
    await session.devices?.search('', 10);
    session.preview(LABELLED);
    // Of flows, and of those who look, over a connection of its own.
    const all = () => [...broker.sessions.values()].flatMap(({ subscriptions }) => [...subscriptions.keys()]);
    await broker.until(() => all().length === 2);
    assert.deepEqual(
      all().sort(),
      [G, D].map((gateway) => `mt/gateway/${gateway}/device/+/#`),
    );
  });

  it('that a preview cannot know say why', async () => {
    await portal.stop();
    const problem = (): string => {
      try {
        session.preview(LABELLED);
        return '';
      } catch (error) {
        return (error as ServiceError).code;
      }
    };
    while (problem() !== 'NETWORK') {
      await turn();
    }
  });

  it('that waited pass the filter of the node as it is now, and are decoded as it wants it', async () => {
    const leave = session.subscribe({ ...LABELLED, decode: false }, new Collector(), 'node');
    const other = new Collector();
    session.subscribe(ALL, other);
    await reached(session, 'connected');
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
    bench.broker.publish(reportTopic('measurement/8800'), { time: '', seq: 1, value: '0834' });
    await other.until(({ reports }) => reports.length === 2);
    session.pauseReports();
    leave(true);
    const collector = new Collector();
    session.subscribe({ ...LABELLED, kinds: ['measurement'] }, collector, 'node');
    session.resumeReports();
    give();
    await collector.until(({ reports }) => reports.length === 1);
    assert.equal(collector.reports[0]?.value, 21);
  });

  for (const labels of [['office'], []]) {
    it(`that waited reach nobody before the flows run, ${labels.length > 0 ? 'although the list is there' : 'also when labels do not matter any more'}`, async () => {
      const leave = session.subscribe(LABELLED, new Collector(), 'node');
      const other = new Collector();
      session.subscribe(ALL, other);
      await reached(session, 'connected');
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
      await other.until(({ reports }) => reports.length === 1);
      session.pauseReports();
      leave(true);
      const states: string[] = [];
      const collector = Object.assign(new Collector(), {
        labels: ({ name }: { name: string }) => void states.push(name),
      });
      session.subscribe({ ...LABELLED, labels }, collector, 'node');
      give();
      if (labels.length > 0) {
        while (!states.includes('ready')) {
          await new Promise(setImmediate);
        }
      }
      assert.deepEqual(numbersOf(collector), []);
      session.resumeReports();
      assert.deepEqual(numbersOf(collector), [1]);
    });
  }

  it('that waited bring last values after a deploy, also where one of two nodes is removed', async () => {
    const { labels } = LABELLED;
    const ends = [1, 2].map(() => session.values.record({ labels }));
    const other = new Collector();
    session.subscribe(ALL, other);
    await reached(session, 'connected');
    bench.broker.publish(reportTopic('measurement/8800'), { time: '', seq: 1, value: '0834' });
    await other.until(({ reports }) => reports.length === 1);
    session.pauseReports();
    for (const [i, end] of ends.entries()) {
      end(i === 0);
    }
    session.values.record({ labels });
    session.resumeReports();
    give();
    while (session.lastValues.size === 0) {
      await new Promise(setImmediate);
    }
    assert.deepEqual(
      session.lastValues.all().map(({ identifier, value }) => [identifier, value]),
      [['8800', 21]],
    );
  });

  it('that waited survive two deploys in a row', async () => {
    let leave = session.subscribe(LABELLED, new Collector(), 'node');
    const other = new Collector();
    session.subscribe(ALL, other);
    await reached(session, 'connected');
    const collector = new Collector();
    for (let n = 0; n < 2; n++) {
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
      await other.until(({ reports }) => reports.length === n + 1);
      session.pauseReports();
      leave(true);
      leave = session.subscribe(LABELLED, new Collector(), 'node');
      leave(true);
      leave = session.subscribe(LABELLED, collector, 'node');
      session.resumeReports();
    }
    give();
    await collector.until(({ reports }) => reports.length === 2);
    assert.deepEqual(numbersOf(collector), [0, 1]);
  });

  it('that waited are forgotten with a node that is gone when the flows run', async () => {
    const leave = session.subscribe(LABELLED, new Collector(), 'node');
    const other = new Collector();
    session.subscribe(ALL, other);
    await reached(session, 'connected');
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await other.until(({ reports }) => reports.length === 1);
    session.pauseReports();
    leave(true);
    session.resumeReports();
    const collector = new Collector();
    session.subscribe(LABELLED, collector, 'node');
    give();
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(2));
    await collector.until(({ reports }) => reports.length === 1);
    assert.deepEqual(numbersOf(collector), [2]);
  });

  it('are dropped as repeats by when they were heard, and not by when the list came', async () => {
    const told: number[] = [];
    const states: string[] = [];
    const waiting: Message[] = [];
    let known: Set<string> | undefined;
    let tell = (): void => undefined;
    const gate = new LabelFilter(
      { report: (_report, _topic, _payload, heardAt) => void told.push(heardAt ?? -1), error() {} },
      (messages) => void waiting.push(...messages),
      ['office'],
      300_000,
      {
        ...NO_LIST,
        knownGatewaysWithLabels: () => known,
        mayHaveGatewayWith: () => true,
        follow(follower) {
          tell = follower;
          return () => undefined;
        },
        async refresh() {
          known = new Set([G]);
          tell();
        },
      },
      ({ name }) => void states.push(name),
    );
    const report = { gateway: G, device: D, kind: 'heartbeat', form: 'raw', time: '' } as const;
    const before = performance.now();
    gate.report({ ...report }, reportTopic('heartbeat'), Buffer.from('{}'));
    gate.open();
    while (!states.includes('ready')) {
      await new Promise(setImmediate);
    }
    assert.equal(waiting.length, 1);
    const [{ heardAt }] = waiting as [Message];
    assert.ok(heardAt >= before && heardAt <= performance.now());
    gate.report({ ...report }, reportTopic('heartbeat'), Buffer.from('{}'), heardAt);
    assert.deepEqual(told, [heardAt]);
    gate.close();
  });

  it('are held up to 1 000, and up to 16 MB', () => {
    const lost: number[] = [];
    const report = { gateway: G, device: D, kind: 'heartbeat', form: 'raw', time: '' } as const;
    const create = () =>
      new LabelFilter(
        new Collector(),
        () => {},
        ['office'],
        300_000,
        { ...NO_LIST, refresh: () => new Promise(() => {}) },
        (state) => void lost.push(state.lost),
      );
    const [many, large, long] = [create(), create(), create()];
    for (let n = 0; n < 1_200; n++) {
      many.report({ ...report }, `${n}`, Buffer.from('{}'));
    }
    assert.deepEqual(lost, [1, 100, 200]);
    const held = many.takeBuffered();
    assert.deepEqual([held.length, held[0]?.topic], [1_000, '200']);
    for (let n = 0; n < 20; n++) {
      large.report({ ...report }, `${n}`, Buffer.alloc(1024 * 1024 - `${n}`.length));
    }
    assert.equal(large.takeBuffered().length, 16);
    for (let n = 0; n < 600; n++) {
      long.report({ ...report }, 't'.repeat(32 * 1024 - 10), Buffer.from('{}'));
    }
    assert.equal(long.takeBuffered().length, 512);
  });

  it('are not held, nor copied, for whom none is', () => {
    const taker = { report() {}, error() {} };
    const lost: number[] = [];
    const [gate, readingGate] = [{ takesNone: true } as const, { readsOnly: true } as const].map(
      (mark) =>
        new LabelFilter(
          { ...taker, ...mark },
          () => {},
          ['office'],
          300_000,
          { ...NO_LIST, refresh: () => new Promise(() => {}) },
          (state) => void lost.push(state.lost),
        ),
    ) as [LabelFilter, LabelFilter];
    for (let n = 0; n < 1_200; n++) {
      const report = { gateway: G, device: D, kind: 'heartbeat', form: 'raw', time: '' } as const;
      gate.report({ ...report }, `${n}`, Buffer.from('{}'));
    }
    assert.deepEqual([gate.takeBuffered(), lost], [[], []]);
    const receivers = [taker, gate, readingGate].map((listener) => ({
      listener,
      decode: true,
      isPreview: false,
    }));
    assert.deepEqual(
      takersOf(receivers).map(({ listener }) => listener),
      [readingGate, taker],
    );
  });

  for (const outcome of ['comes', 'fails']) {
    it(`of a node that is gone are neither passed on nor told of when the list ${outcome} later`, async () => {
      const states: string[] = [];
      let replays = 0;
      let settle: (() => void) | undefined;
      let asked: AbortSignal | undefined;
      let known: Set<string> | undefined;
      const followers = new Set<() => void>();
      const gate = new LabelFilter(
        new Collector(),
        () => void replays++,
        ['office'],
        300_000,
        {
          ...NO_LIST,
          knownGatewaysWithLabels: () => known,
          mayHaveGatewayWith: () => true,
          follow(follower) {
            followers.add(follower);
            return () => followers.delete(follower);
          },
          refresh: (_maxAge, signal) =>
            new Promise((resolve, reject) => {
              asked = signal;
              settle = () => {
                if (outcome === 'fails') {
                  return reject(new Error('no list'));
                }
                known = new Set([G]);
                for (const follower of followers) {
                  follower();
                }
                resolve();
              };
            }),
        },
        ({ name }) => void states.push(name),
      );
      const report = { gateway: G, device: D, kind: 'heartbeat', form: 'raw', time: '' } as const;
      gate.open();
      gate.report({ ...report }, reportTopic('heartbeat'), Buffer.from('{}'));
      gate.close();
      assert.equal(asked?.aborted, true);
      settle?.();
      await new Promise(setImmediate);
      assert.deepEqual([states, replays], [['waiting'], 0]);
      assert.deepEqual(gate.takeBuffered(), []);
    });
  }
});

describe('a filter by labels', () => {
  /** A list that says when it comes, and what waited for it. */
  function open({ isPaused = false } = {}) {
    let known: ReadonlySet<string> | undefined;
    let follower: (error?: unknown) => void = () => {};
    const replayed: Message[] = [];
    const errors: unknown[] = [];
    const states: LabelState[] = [];
    const inner = { report() {}, error: (error: ServiceError) => void errors.push(error) };
    const source = {
      ...NO_LIST,
      knownGatewaysWithLabels: () => known,
      follow: (next: (error?: unknown) => void) => {
        follower = next;
        return () => undefined;
      },
      refresh: () => new Promise<void>(() => {}),
    };
    const filter = new LabelFilter(
      ...([inner, (messages: readonly Message[]) => void replayed.push(...messages)] as const),
      ...([['office'], 300_000, source, (state: LabelState) => void states.push(state)] as const),
      ...(isPaused ? [() => isPaused] : []),
    );
    filter.open();
    const come = () => {
      known = new Set([G]);
      follower();
    };
    const receive = (retained?: true) => {
      const report = { gateway: G, device: D, kind: 'event', form: 'raw', time: 't' } as const;
      filter.report({ ...report, ...(retained && { retained }) }, 't', Buffer.from('{}'));
    };
    return { filter, come, receive, replayed, errors, states };
  }

  it('lets through what has waited as soon as the list comes, as it was received', () => {
    const { filter, come, receive, replayed } = open();
    receive();
    receive(true);
    filter.flush();
    assert.deepEqual([filter.isWaiting, replayed.length], [true, 0]);
    come();
    assert.equal(filter.isWaiting, false);
    assert.deepEqual(
      replayed.map(({ retained }) => retained),
      [false, true],
    );
    filter.close();
  });

  it('lets it wait on while flows are replaced', () => {
    const { filter, come, receive, replayed } = open({ isPaused: true });
    receive();
    come();
    assert.deepEqual([replayed, filter.takeBuffered().length], [[], 1]);
    filter.close();
  });

  it('tells of what is lost that it waits, and passes on what cannot be read', () => {
    const { filter, receive, errors, states } = open();
    for (let n = 0; n <= 1_000; n++) {
      receive();
    }
    assert.deepEqual(states.at(-1), { name: 'waiting', lost: 1 });
    const error = { code: 'BAD_REPORT' } as ServiceError;
    filter.error(error, { topic: 't', payload: '' });
    assert.deepEqual(errors, [error]);
    filter.close();
  });

  it('waits where the settings of the service are wrong, and says why', async () => {
    const problem = new Error('wrong');
    const source = unknownLabels(problem);
    assert.deepEqual(
      [source.listAge, source.knownGatewaysWithLabels([]), source.mayHaveGatewayWith([])],
      [Number.POSITIVE_INFINITY, undefined, true],
    );
    source.follow(() => assert.fail('nothing comes'))();
    await assert.rejects(source.refresh(0, new AbortController().signal), problem);
  });
});
