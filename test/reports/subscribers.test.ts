// Subscribers of reports: what stands between the broker and a node, in which order, and what is kept of it over a deploy.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ServiceError } from '../../src/errors.ts';
import { SILENT } from '../../src/log.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import type { DeferralEvents } from '../../src/protocol/deferral.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { HeldReports } from '../../src/reports/held-reports.ts';
import type { LabelSource, LabelState } from '../../src/reports/label-filter.ts';
import type { ReportFilter } from '../../src/reports/report-filter.ts';
import { Reports } from '../../src/reports/reports.ts';
import { type ReportBroker, type Subscriber, Subscribers } from '../../src/reports/subscribers.ts';
import { UNFILTERED } from '../../src/reports/unfiltered.ts';

const [G, H] = ['c0141f68fc3d', 'c0141f68fc3e'];
const [D, E] = ['d00000000001', 'd00000000002'];
const ALL: ReportFilter = UNFILTERED;
const ALL_TOPICS = 'mt/gateway/+/device/+/#';
const LABELLED = { labels: ['office'] };
/** Heartbeats have no decoded form. */
const NOTHING: Partial<ReportFilter> = { kinds: ['heartbeat'], form: 'decoded' };
const CONFIRM = { timeoutMs: 60_000, maxAttempts: 0, count() {} };

const topicOf = (gateway: string, device = D) => `mt/gateway/${gateway}/device/${device}/heartbeat`;

describe('subscribers', () => {
  const catalogue = createCatalogue();
  let now: number;
  let reports: Reports;
  let held: HeldReports;
  let warnings: string[];
  let subscribers: Subscribers;
  /** How many keep the connection up, and what the broker was asked for at each change. */
  let attached: number;
  let asked: string[][];
  let isPaused: boolean;
  let unheard: Set<string>;
  let refusedPreviews: Set<string>;
  let granted: Set<string>;
  /** The gateways that carry the label; undefined: there is no list of devices. */
  let labelled: string[] | undefined;
  let hasRest: boolean;
  let tellNewList: (error?: unknown) => void;
  let recorded: number;
  let acknowledged: number[];

  const source: LabelSource = {
    listAge: 0,
    knownGatewaysWithLabels: () => labelled && new Set(labelled),
    mayHaveGatewayWith: () => true,
    follow(follower) {
      tellNewList = follower;
      return () => {
        tellNewList = () => assert.fail('follows no more');
      };
    },
    refresh: () => new Promise(() => undefined),
  };
  const broker: ReportBroker = {
    attach() {
      attached++;
      return () => void attached--;
    },
    updateFilters: () => void asked.push([...reports.filters(), ...reports.previewFilters()]),
    get isPaused() {
      return isPaused;
    },
    isUnheard: (filter) => unheard.has(filter),
    isPreviewRefused: (filter) => refusedPreviews.has(filter),
    isGranted: (filter) => granted.has(filter),
  };

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    now = 1_000_000;
    mock.method(performance, 'now', () => now);
    [attached, asked, isPaused, hasRest, recorded] = [0, [], false, true, 0];
    [unheard, refusedPreviews, granted] = [new Set(), new Set(), new Set()];
    [labelled, warnings, acknowledged] = [undefined, [], []];
    const log = { ...SILENT, warn: (text: string) => void warnings.push(text) };
    reports = new Reports(createTopics(''), catalogue, new NetworkState(), log, { isPaused: () => isPaused });
    held = new HeldReports(log);
    const labelSource = () => {
      if (!hasRest) {
        throw new ServiceError('NOT_CONFIGURED', 'rest');
      }
      return source;
    };
    subscribers = new Subscribers(reports, catalogue, broker, labelSource, held, () => void recorded++);
    reports.connected('broker', false);
  });
  afterEach(() => {
    subscribers.close();
    mock.reset();
  });

  /** What a node with this filter gets: the numbers of its reports, the errors, and the states of its labels. */
  function add(changes: Partial<ReportFilter>, owner?: string, confirm?: Subscriber['confirm']) {
    const got: unknown[] = [];
    const heard: (number | undefined)[] = [];
    const deliveries: string[] = [];
    const errors: string[] = [];
    const states: LabelState['name'][] = [];
    const subscriber: Subscriber = {
      report({ seq, delivery }: { seq?: number; delivery?: string }, _topic, _payload, heardAt) {
        got.push(seq);
        heard.push(heardAt);
        deliveries.push(String(delivery));
      },
      error: ({ code }, { topic, payload }) => void errors.push(`${code} ${topic} ${payload}`),
      labels: ({ name }) => void states.push(name),
      confirm,
    };
    const end = subscribers.add({ ...ALL, ...changes }, subscriber, owner);
    return { got, heard, deliveries, errors, states, end };
  }
  const deliver = (seq: number, topic = topicOf(G)) =>
    reports.deliver(topic, Buffer.from(JSON.stringify({ time: 't', seq })), false);
  /** One that the broker keeps until it is acknowledged. */
  function deliverKept(seq: number, topic = topicOf(G)): void {
    const defer = (events: DeferralEvents) => ({
      readOn() {},
      acknowledge() {
        acknowledged.push(seq);
        events.written(acknowledged.length);
      },
    });
    const deferrable = { isResent: false, ackedOrder: 0, isLost: false, mustWait: false, defer };
    const payload = Buffer.from(JSON.stringify({ time: 't', seq }));
    if (reports.deliver(topic, payload, false, undefined, deferrable) !== 'kept') {
      acknowledged.push(seq);
    }
  }
  const listComes = (...gateways: string[]) => {
    labelled = gateways;
    tellNewList();
  };
  const resume = (isReady = true, ...nodes: string[]) =>
    subscribers.resumed(isReady, (owner) => nodes.includes(owner));

  it('keep the connection up, and ask the broker for what passes, until they end', () => {
    const { got, end } = add({ gateways: [G] });
    assert.deepEqual([attached, asked], [1, [[`mt/gateway/${G}/device/+/#`]]]);
    deliver(1);
    deliver(2, topicOf(H));
    assert.deepEqual(got, [1]);
    end();
    assert.deepEqual([attached, asked.at(-1), asked.length], [0, [], 2]);
    deliver(3);
    assert.deepEqual(got, [1]);
  });

  it('get every report where their filter is empty, as often as it comes, with decoded values', () => {
    const values: unknown[] = [];
    const subscriber = { report: ({ value }: { value?: unknown }) => void values.push(value), error() {} };
    subscribers.add(UNFILTERED, subscriber);
    assert.deepEqual(asked, [[ALL_TOPICS]]);
    const places = ['property/8001', 'property/8001', 'property-decoded/firmware-version', 'new-kind/x'];
    for (const place of places) {
      const payload = Buffer.from('{"time":"t","value":"03040100"}');
      reports.deliver(`mt/gateway/${G}/device/${D}/${place}`, payload, false);
    }
    assert.deepEqual(values, ['3.4.1', '3.4.1', '03040100', { time: 't', value: '03040100' }]);
  });

  it('keep the connection up where nothing can pass, and ask for nothing', () => {
    const { end } = add(NOTHING, 'node');
    assert.deepEqual([attached, asked], [1, []]);
    held.add('node', [{ topic: topicOf(G), payload: Buffer.from('{}'), retained: false, heardAt: 0 }]);
    resume();
    assert.deepEqual([warnings, [...held.owners()]], [[], []]);
    end();
    assert.deepEqual([attached, asked], [0, []]);
  });

  it('are told of what cannot be read, whether they drop repeats or not', () => {
    const nodes = [add({ duplicates: 'keep' }), add({ duplicates: 'drop' }), add({ ...LABELLED })];
    reports.deliver(topicOf(G), Buffer.from('none'), false);
    const told = [`BAD_REPORT ${topicOf(G)} none`];
    assert.deepEqual(
      nodes.map(({ errors }) => errors),
      [told, told, told],
    );
  });

  it('drop repeats of the last seconds, where they are to', () => {
    const [dropping, keeping] = [
      add({ duplicates: 'drop', duplicateWindow: 7 }),
      add({ duplicates: 'keep', duplicateWindow: 7 }),
    ];
    deliver(1);
    now += 7_000;
    deliver(1, topicOf(H));
    now += 1;
    deliver(1, topicOf(H));
    assert.deepEqual(
      [dropping.got, keeping.got],
      [
        [1, 1],
        [1, 1, 1],
      ],
    );
  });

  it('do not take for a repeat what came through a gateway without their label before', () => {
    labelled = [H];
    const { got, states } = add({ ...LABELLED, duplicates: 'drop' });
    deliver(1, topicOf(G));
    deliver(1, topicOf(H));
    deliver(1, topicOf(H));
    assert.deepEqual([got, states], [[1], ['ready']]);
  });

  it('count what waited for labels as heard when it came, for repeats too', () => {
    const { got, heard } = add({ ...LABELLED, duplicates: 'drop', duplicateWindow: 7 });
    deliver(1);
    now += 7_001;
    deliver(1);
    now += 100_000;
    listComes(G);
    assert.deepEqual(
      [got, heard],
      [
        [1, 1],
        [1_000_000, 1_007_001],
      ],
    );
  });

  it('ask by labels only where there is a list of devices to be had, and as long as they are there', () => {
    hasRest = false;
    assert.throws(() => add(LABELLED), { code: 'NOT_CONFIGURED' });
    assert.deepEqual([attached, asked, subscribers.asksByLabels], [0, [], false]);
    add({});
    hasRest = true;
    const { end } = add(LABELLED);
    assert.equal(subscribers.asksByLabels, true);
    end();
    assert.equal(subscribers.asksByLabels, false);
    assert.throws(() => tellNewList(), /follows no more/);
  });

  it('refresh their labels after the seconds of their filter', async () => {
    const ages: number[] = [];
    mock.method(source, 'refresh', async (maxAge: number) => void ages.push(maxAge));
    labelled = [G];
    add({ ...LABELLED, labelRefresh: 8 });
    await turn();
    mock.timers.tick(7_999);
    assert.deepEqual(ages, [4_000]);
    mock.timers.tick(1);
    assert.deepEqual(ages, [4_000, 4_000]);
  });

  it('need not know of the state of their labels', () => {
    labelled = [G];
    const got: unknown[] = [];
    subscribers.add({ ...ALL, ...LABELLED }, { report: ({ seq }) => void got.push(seq), error() {} });
    deliver(1);
    assert.deepEqual(got, [1]);
  });

  it('get what waited for labels when flows run, and not before', () => {
    isPaused = true;
    const { got } = add(LABELLED);
    deliver(1);
    listComes(G);
    assert.deepEqual(got, []);
    isPaused = false;
    resume(false);
    assert.deepEqual(got, [1]);
  });

  describe('over a deploy', () => {
    it('get what waited for labels at the node of their name before', () => {
      const before = add(LABELLED, 'node');
      deliver(1);
      deliver(2, topicOf(H));
      before.end(true);
      labelled = [G];
      const after = add(LABELLED, 'node');
      assert.deepEqual(after.got, []);
      resume(false);
      assert.deepEqual([after.got, before.got, warnings], [[1], [], []]);
      resume();
      assert.deepEqual(after.got, [1], 'once');
    });

    it('get nothing of what waited at a node that was to end for ever, or at another', () => {
      const before = [add(LABELLED, 'node'), add(LABELLED, 'other'), add(LABELLED)];
      deliver(1);
      before[0]!.end(false);
      before[1]!.end(true);
      before[2]!.end(true);
      labelled = [G];
      const after = [add(LABELLED, 'node'), add(LABELLED)];
      resume(false);
      assert.deepEqual(
        after.map(({ got }) => got),
        [[], []],
      );
      assert.deepEqual([...held.owners()], ['other']);
    });

    it('forget what was kept for a node that ends for ever meanwhile', () => {
      add(LABELLED, 'node').end(true);
      held.add('node', [{ topic: topicOf(G), payload: Buffer.from('{}'), retained: false, heardAt: 0 }]);
      add(LABELLED, 'node').end();
      assert.deepEqual([...held.owners()], []);
    });

    it('give up what nobody comes back for when all nodes are there, with one warning', () => {
      add(LABELLED, 'node');
      const { end } = add(LABELLED, 'gone');
      deliver(1);
      end(true);
      resume(false);
      resume(true, 'gone');
      assert.deepEqual([warnings, [...held.owners()]], [[], ['gone']]);
      resume();
      assert.equal(warnings.length, 1);
      assert.match(warnings[0]!, /^1 reports that waited for labels or flows are given up: node gone/);
    });

    it('get again what the node of their name has not confirmed', () => {
      const before = add({}, 'node', CONFIRM);
      deliverKept(1);
      before.end(true);
      resume(false);
      assert.deepEqual(acknowledged, []);
      const after = add({}, 'node', CONFIRM);
      mock.timers.tick(500);
      assert.deepEqual([before.got, after.got], [[1], [1]]);
      assert.equal(reports.open.confirm(after.deliveries[0]!), true);
      assert.deepEqual(acknowledged, [1]);
    });

    it('leave open what a node that cannot work is there for, and give up what nobody is', () => {
      const ends = [add({}, 'broken', CONFIRM), add({}, 'gone', CONFIRM)];
      deliverKept(1);
      for (const { end } of ends) {
        end(true);
      }
      resume(true, 'broken');
      assert.deepEqual([acknowledged, reports.isConfirming], [[], true]);
      assert.match(warnings.join(), /^1 reports that were not acknowledged are given up: node gone/);
      resume();
      assert.deepEqual([acknowledged, reports.isConfirming], [[1], false]);
    });

    it('have the broker asked anew when nothing is confirmed any more, and only then', () => {
      const { end } = add({}, 'node', CONFIRM);
      deliverKept(1);
      end(true);
      const { length } = asked;
      resume(false);
      resume(true, 'node');
      assert.equal(asked.length, length);
      resume();
      assert.equal(asked.length, length + 1);
      resume();
      assert.equal(asked.length, length + 1);
    });

    it('are not taken for nodes that cannot work: what they do not ask for any more is given up', () => {
      const { end } = add({}, 'node', CONFIRM);
      deliverKept(1);
      end(true);
      add({}, 'node');
      resume(true, 'node');
      assert.deepEqual(acknowledged, [1]);
    });
  });

  describe('that confirm', () => {
    it('have the broker keep what reached them until they have', () => {
      const { got, deliveries } = add({}, 'node', CONFIRM);
      deliverKept(1);
      assert.deepEqual([got, acknowledged], [[1], []]);
      reports.open.confirm(deliveries[0]!);
      assert.deepEqual(acknowledged, [1]);
    });

    it('do not have it keep repeats, nor what their labels do not let through', () => {
      labelled = [G];
      const { got } = add({ ...LABELLED, duplicates: 'drop' }, 'node', CONFIRM);
      deliverKept(1);
      deliverKept(2, topicOf(H));
      deliverKept(1);
      assert.deepEqual([got, acknowledged], [[1], [2, 1]]);
    });

    it('have it keep what waits for labels, which comes with the list and not with a failure', () => {
      const { got, states } = add(LABELLED, 'node', CONFIRM);
      deliverKept(1);
      deliverKept(2, topicOf(H));
      tellNewList(new ServiceError('NETWORK', 'lost'));
      mock.timers.tick(500);
      assert.deepEqual([got, acknowledged, states], [[], [], ['waiting', 'waiting']]);
      listComes(G);
      mock.timers.tick(500);
      assert.deepEqual([got, acknowledged], [[1], [2]]);
    });

    it('have it keep nothing any more when they end for ever', () => {
      const { end } = add({}, 'node', CONFIRM);
      deliverKept(1);
      end();
      assert.deepEqual([acknowledged, reports.isConfirming], [[1], false]);
    });

    it('are told of what was sent again as often as it may be, and where it came from', () => {
      const errors: ServiceError[] = [];
      const subscriber = { report() {}, error: (error: ServiceError) => void errors.push(error) };
      const confirm = { ...CONFIRM, maxAttempts: 1 };
      subscribers.add(ALL, { ...subscriber, confirm }, 'node');
      deliverKept(1);
      for (let attempt = 0; attempt < 2; attempt++) {
        now += CONFIRM.timeoutMs;
        mock.timers.tick(500);
      }
      const [{ code, cause }] = errors as [ServiceError];
      assert.deepEqual([code, cause.gateway, cause.device, cause.attempts], ['TIMEOUT', G, D, 1]);
      assert.deepEqual(acknowledged, [1]);
    });

    it('get theirs again that passes other labels by now, and not what does not', () => {
      labelled = [G, H];
      const before = add(LABELLED, 'node', CONFIRM);
      deliverKept(1);
      deliverKept(2, topicOf(H));
      before.end(true);
      labelled = [H];
      const after = add({ labels: ['store'] }, 'node', CONFIRM);
      mock.timers.tick(500);
      assert.deepEqual([before.got, after.got, acknowledged], [[1, 2], [2], [1]]);
    });
  });

  describe('of people', () => {
    const look = (changes: Partial<ReportFilter> = {}) =>
      subscribers.preview({ ...ALL, ...changes }).map(({ report }) => (report as { seq?: number }).seq);
    const deliverToPeople = (seq: number, topic = topicOf(G)) =>
      reports.deliverPreview(topic, Buffer.from(JSON.stringify({ time: 't', seq })), false);

    it('see what is received because they look, until they do no more', () => {
      assert.deepEqual([look({ gateways: [G] }), asked.at(-1)], [[], [`mt/gateway/${G}/device/+/#`]]);
      assert.equal(reports.filters().length, 0, 'flows ask for nothing');
      deliverToPeople(1);
      deliverToPeople(2, topicOf(H));
      assert.deepEqual([look({ gateways: [G] }), attached], [[1], 1]);
      mock.timers.tick(15_000);
      assert.deepEqual([attached, asked.at(-1)], [0, []]);
    });

    it('see what others remember, where it passes', () => {
      const kept = [topicOf(G), topicOf(H)].map((topic, seq) => ({
        topic,
        payload: Buffer.from(JSON.stringify({ time: 't', seq })),
        retained: false,
      }));
      const lines = subscribers.preview({ ...ALL, gateways: [H] }, () => kept);
      assert.deepEqual(
        lines.map(({ topic }) => topic),
        [topicOf(H)],
      );
    });

    it('ask for nothing where nothing can pass', () => {
      assert.deepEqual([look(NOTHING), asked.flat()], [[], []]);
    });

    it('rest when as much has come as they take at a time, and are not counted what others look at', () => {
      look({ gateways: [G] });
      const come = (gateway: string) => reports.deliverPreview(topicOf(gateway), Buffer.from('none'), false);
      for (let count = 0; count < 999; count++) {
        come(G);
        come(H);
      }
      assert.deepEqual(asked.at(-1), [`mt/gateway/${G}/device/+/#`]);
      come(G);
      assert.deepEqual(asked.at(-1), []);
    });

    it('are told that the broker refuses it, where nothing else was heard', () => {
      refusedPreviews.add(`mt/gateway/${G}/device/+/#`);
      const text = { key: 'NOT_CONNECTED.refusedPreview', values: {} };
      assert.throws(() => look({ gateways: [G] }), { code: 'NOT_CONNECTED', text });
      assert.deepEqual(look({ gateways: [H] }), [], 'another one is granted');
      deliverToPeople(1);
      assert.deepEqual(look({ gateways: [G] }), [1]);
    });

    it('ask by labels for the gateways that carry them alone, of those that are chosen', () => {
      labelled = [G, H];
      look({ ...LABELLED, devices: [D] });
      assert.deepEqual(asked.at(-1), [`mt/gateway/${G}/device/${D}/#`, `mt/gateway/${H}/device/${D}/#`]);
      look({ ...LABELLED, devices: [E], gateways: [H] });
      assert.ok(asked.at(-1)!.includes(`mt/gateway/${H}/device/${E}/#`));
      assert.ok(!asked.at(-1)!.includes(`mt/gateway/${G}/device/${E}/#`));
    });

    for (const [text, gateways] of [
      ['while there is no list', undefined],
      ['where no gateway carries them', []],
      ['where none of the chosen carries them', [H]],
    ] as const) {
      it(`ask by labels for nothing ${text}, and are not told of a refusal`, () => {
        labelled = gateways && [...gateways];
        refusedPreviews.add(ALL_TOPICS).add(`mt/gateway/${G}/device/+/#`);
        assert.deepEqual([look({ ...LABELLED, gateways: [G] }), asked.flat()], [[], []]);
      });
    }

    it('are told why there is no list of devices, until it comes', () => {
      assert.deepEqual(look(LABELLED), []);
      tellNewList(new ServiceError('NETWORK', 'lost'));
      assert.throws(() => look(LABELLED), { code: 'NETWORK' });
      listComes(G);
      assert.deepEqual(look(LABELLED), []);
      deliverToPeople(1);
      tellNewList(new ServiceError('NETWORK', 'lost'));
      assert.deepEqual(look(LABELLED), [1], 'what is known goes on');
    });
  });

  describe('of everything', () => {
    it('are heard as long as they ask, where the broker grants it', () => {
      let ended = 0;
      assert.equal(subscribers.hearsEverything, false);
      granted.add(ALL_TOPICS);
      assert.equal(subscribers.hearsEverything, false);
      assert.equal(
        subscribers.listenToEverything(() => void ended++),
        15,
      );
      assert.deepEqual([subscribers.hearsEverything, attached, asked], [true, 1, [[ALL_TOPICS]]]);
      granted.clear();
      assert.equal(subscribers.hearsEverything, false);
      mock.timers.tick(15_000);
      assert.deepEqual([ended, attached, asked.at(-1), asked.length], [1, 0, [], 2]);
    });

    it('are not those of flows, even where these ask for all', () => {
      granted.add(ALL_TOPICS);
      add({});
      assert.equal(subscribers.hearsEverything, false);
    });

    it('are recorded until that ends, which is told', () => {
      granted.add(ALL_TOPICS);
      subscribers.recording.start();
      assert.deepEqual([subscribers.hearsEverything, attached, asked.at(-1)], [true, 1, [ALL_TOPICS]]);
      reports.deliverPreview(topicOf(G), Buffer.from('{}'), false);
      assert.deepEqual([subscribers.recording.state().lines, recorded], [1, 0]);
      subscribers.recording.stop();
      assert.deepEqual([subscribers.hearsEverything, recorded, attached, asked.at(-1)], [false, 1, 0, []]);
    });
  });

  describe('and the filters that serve them', () => {
    const [NARROW, OTHER] = [`mt/gateway/${G}/device/+/#`, `mt/gateway/${H}/device/+/#`];

    it('are those by which their reports come', () => {
      add({ gateways: [G] });
      add({ gateways: [H] });
      const filters = [{ gateways: [G], devices: [D] }, NOTHING, { gateways: [H] }].map((one) => ({
        ...ALL,
        ...one,
      }));
      assert.deepEqual(subscribers.serving(filters), [NARROW, OTHER]);
      assert.deepEqual([subscribers.wantedDevices(D), subscribers.serving([])], [true, []]);
    });

    it('bring nothing of a place when all of them are refused, and say nothing of one that nobody asks for', () => {
      add({ gateways: [G] });
      const judge = () => [
        subscribers.isUnheardAt({ gateway: G, device: D }),
        subscribers.isUnheardAt({ gateway: H, device: D }),
        subscribers.refusals()({ gateway: G, device: D }),
        subscribers.refusals()({ gateway: H, device: D }),
      ];
      assert.deepEqual(judge(), [false, false, false, false]);
      unheard.add(NARROW);
      assert.deepEqual(judge(), [true, false, true, false]);
    });

    it('bring something of a place when one of them is granted', () => {
      add({ gateways: [G] });
      subscribers.listenToEverything(() => undefined);
      unheard.add(NARROW);
      assert.equal(subscribers.isUnheardAt({ gateway: G, device: D }), false);
      unheard.add(ALL_TOPICS);
      assert.equal(subscribers.isUnheardAt({ gateway: G, device: D }), true);
    });

    it('are looked for once for all devices of a gateway that is granted as a whole', () => {
      add({ gateways: [G] });
      add({ devices: [E] });
      const isRefused = subscribers.refusals();
      const isUnheard = mock.method(broker, 'isUnheard');
      assert.deepEqual(
        [D, E, D].map((device) => isRefused({ gateway: G, device })),
        [false, false, false],
      );
      assert.equal(isUnheard.mock.callCount(), 1);
      unheard.add(`mt/gateway/+/device/${E}/#`);
      assert.deepEqual(
        [D, E].map((device) => isRefused({ gateway: H, device })),
        [false, true],
      );
    });
  });

  it('end for people with their service, also what is recorded, and hand over what is open', () => {
    let ended = 0;
    subscribers.listenToEverything(() => void ended++);
    subscribers.recording.start();
    subscribers.preview(ALL);
    const { deliveries } = add({}, 'node', CONFIRM);
    deliverKept(1);
    assert.equal(attached, 4);
    subscribers.close();
    assert.deepEqual([ended, recorded, attached], [1, 1, 1]);
    assert.equal(reports.open.confirm(deliveries[0]!), false);
  });
});
