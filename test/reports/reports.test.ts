// The way of a report from the broker to its receivers: who gets it, and which are copies, repeats or nobody's.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { SILENT } from '../../src/log.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import type { DeferralEvents } from '../../src/protocol/deferral.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import type { Confirmer } from '../../src/reports/open-report.ts';
import { compileCriteria, type TopicCriteria } from '../../src/reports/report-filter.ts';
import { Reports } from '../../src/reports/reports.ts';
import { ALL } from '../session.ts';

const [G, H] = ['c0141f68fc3d', 'c0141f68fc3e'];
const [D, E] = ['d00000000001', 'd00000000002'];

type Options = NonNullable<ConstructorParameters<typeof Reports>[4]>;

describe('the way of reports', () => {
  const catalogue = createCatalogue();
  const topics = createTopics('');
  let network: NetworkState;
  let reports: Reports;
  let now: number;
  let warnings: string[];
  let names: Map<string, string>;
  const opened: Reports[] = [];

  const start = (options: Options = {}) => {
    network = new NetworkState();
    const log = { ...SILENT, warn: (text: string) => void warnings.push(text) };
    reports = new Reports(topics, catalogue, network, log, { now: () => now, ...options });
    opened.push(reports);
    return reports;
  };
  beforeEach(() => {
    now = 1_000_000;
    warnings = [];
    names = new Map();
    start({ nameOf: (mac) => names.get(mac) });
  });
  afterEach(() => {
    for (const one of opened.splice(0)) {
      one.handOver();
    }
  });

  const criteriaOf = (filter: Partial<TopicCriteria>) => {
    const criteria = compileCriteria({ ...ALL, ...filter }, catalogue);
    assert.ok(criteria);
    return criteria;
  };
  /** A flow, or a person, that gets these; `got` has their numbers. */
  const add = (filter: Partial<TopicCriteria> = {}, isPreview = false) => {
    const got: unknown[] = [];
    const deviceNames: unknown[] = [];
    const heard: (number | undefined)[] = [];
    const listener = {
      report({ seq, deviceName }: { seq?: number; deviceName?: string }, _: string, __: Buffer, at?: number) {
        got.push(seq);
        deviceNames.push(deviceName);
        heard.push(at);
      },
      error() {},
    };
    return {
      got,
      heard,
      deviceNames,
      ...reports.add(criteriaOf(filter), true, listener, ...(isPreview ? [true] : [])),
    };
  };
  const topicOf = (gateway: string, device: string, rest = 'heartbeat') =>
    `mt/gateway/${gateway}/device/${device}/${rest}`;
  const payloadOf = (seq: number) => Buffer.from(JSON.stringify({ time: 't', seq }));
  const deliver = (seq: number, topic = topicOf(G, D), retained = false, isLeftover?: () => boolean) =>
    reports.deliver(topic, payloadOf(seq), retained, isLeftover);
  const settle = () => {
    reports.connected('broker', false);
    reports.filters();
    reports.settled();
  };

  it('is to all who ask for them, and to nobody else', () => {
    const [one, other] = [add({ gateways: [G] }), add({ devices: [E] })];
    assert.deepEqual(
      [topicOf(G, D), topicOf(G, E), topicOf(H, E), topicOf(H, D), 'mt/gateway/x', 'elsewhere'].map(
        (topic, seq) => deliver(seq, topic),
      ),
      ['delivered', 'delivered', 'delivered', 'unwanted', 'unwanted', 'unwanted'],
    );
    assert.deepEqual(
      [one.got, other.got],
      [
        [0, 1],
        [1, 2],
      ],
    );
    one.remove();
    assert.deepEqual(
      [deliver(6), deliver(7, topicOf(G, E)), one.got.length, other.got],
      ['unwanted', 'delivered', 2, [1, 2, 7]],
    );
    const late = add({ gateways: [G] });
    deliver(8);
    assert.deepEqual(late.got, [8]);
  });

  it('goes by the clock of the process', () => {
    const own = new Reports(topics, catalogue, network, SILENT);
    assert.equal(own.hasCaughtUp(0), true);
  });

  it('is with the names that are known', () => {
    const { deviceNames } = add();
    deliver(1);
    names.set(D, 'Lobby');
    reports.namesChanged();
    deliver(2);
    assert.deepEqual(deviceNames, [undefined, 'Lobby']);
    assert.equal(reports.placeOf(topicOf(G, D))?.deviceName, 'Lobby');
    assert.deepEqual(
      [reports.placeOf(topicOf(H, E, 'event/8200'))?.identifier, reports.placeOf('elsewhere')],
      ['8200', undefined],
    );
  });

  it('is told the network, also whether a flow is among those who get it', () => {
    add({ kinds: ['event'] }, true);
    deliver(1, topicOf(G, D, 'event/8200'));
    assert.deepEqual([network.device(D)?.reports, network.device(D)?.isWanted], [1, false]);
    add({ kinds: ['event'] });
    deliver(2, topicOf(G, D, 'event/8200'));
    assert.deepEqual([network.device(D)?.reports, network.device(D)?.isWanted], [2, true]);
  });

  it('goes once more where those are given that were received before, by the filter', () => {
    const [one, other] = [add({ gateways: [G] }), add({ gateways: [G] })];
    one.replay(
      [topicOf(G, D), topicOf(H, D), 'elsewhere'].map((topic, seq) => ({
        ...{ topic, payload: payloadOf(seq), retained: false, heardAt: 5 },
      })),
    );
    assert.deepEqual([one.got, one.heard, other.got], [[0], [5], []]);
  });

  it("is nobody's any more at once where they end, and is asked for no longer", () => {
    const { remove } = add({ gateways: [G] });
    assert.equal(reports.filters().length, 1);
    remove();
    assert.deepEqual(reports.filters(), []);
    add();
    reports.filters();
    assert.deepEqual([reports.serving(undefined), reports.serving(criteriaOf({})).length], [[], 1]);
  });

  describe('that come for several subscriptions', () => {
    const crossing = () => {
      const [kind, gateway] = [add({ kinds: ['heartbeat'] }), add({ gateways: [G] })];
      settle();
      return [kind, gateway] as const;
    };

    it('ends at the copies', () => {
      const [kind, gateway] = crossing();
      assert.deepEqual(
        [1, 1, 2, 2].map((seq) => deliver(seq)),
        ['delivered', 'copy', 'delivered', 'copy'],
      );
      assert.deepEqual([deliver(3, topicOf(H, D)), deliver(3, topicOf(H, D))], ['delivered', 'delivered']);
      assert.deepEqual(
        [kind.got, gateway.got],
        [
          [1, 2, 3, 3],
          [1, 2],
        ],
      );
    });

    it('is learnt again from another broker, and known of the same one', () => {
      crossing();
      for (const seq of [1, 2, 3, 4]) {
        deliver(seq);
      }
      reports.connected('broker', false);
      reports.settled();
      assert.deepEqual([deliver(5), deliver(5)], ['delivered', 'delivered']);
      reports.connected('other', false);
      reports.settled();
      assert.deepEqual([deliver(6), deliver(6)], ['delivered', 'copy']);
    });

    it('teaches nothing of the broker before all that it had has come, or where it refuses one of them', () => {
      add({ kinds: ['heartbeat'] });
      add({ gateways: [G] });
      reports.connected('broker', false);
      reports.filters();
      const teach = () => {
        for (const seq of [1, 2, 3, 4]) {
          deliver(seq);
        }
      };
      teach();
      reports.settled();
      assert.deepEqual([deliver(5), deliver(5)], ['delivered', 'copy']);
      reports.connected('another', false);
      const refused = criteriaOf({ gateways: [G] }).topicFilters.map(topics.reportFilter);
      const isRefused = (filter: string) => refused.includes(filter);
      reports.filters(10, { isRefused, isAvoided: () => false, isGranted: () => false });
      reports.settled();
      teach();
      reports.filters();
      reports.settled();
      assert.deepEqual([deliver(6), deliver(6)], ['delivered', 'copy']);
    });

    it('teaches nothing where only the wider one matches, since the topic has other levels than those of its kind', () => {
      add({ kinds: ['heartbeat', 'measurement'] });
      add({ gateways: [G] });
      settle();
      for (const rest of ['heartbeat/', 'heartbeat/x', 'measurement', 'measurement/', 'measurement/8800/x']) {
        for (const seq of [1, 2, 3, 4]) {
          deliver(seq, topicOf(G, D, rest));
        }
      }
      for (const rest of ['heartbeat', 'measurement/8800']) {
        const usual = topicOf(G, D, rest);
        assert.deepEqual([deliver(5, usual), deliver(5, usual)], ['delivered', 'copy'], rest);
      }
    });

    it('teaches nothing of a new connection before it is known what comes by it', () => {
      crossing();
      reports.connected('other', false);
      for (const seq of [1, 2, 3, 4]) {
        deliver(seq);
      }
      reports.settled();
      assert.deepEqual([deliver(5), deliver(5)], ['delivered', 'copy']);
    });

    it('is another one where a sender repeats it after ten seconds', () => {
      crossing();
      assert.equal(deliver(1), 'delivered');
      now += 10_000;
      assert.equal(deliver(1), 'delivered');
    });

    it("is nobody else's where a service without a session ends", () => {
      start();
      crossing();
      assert.equal(deliver(1), 'delivered');
      reports.handOver();
      start();
      crossing();
      reports.connected('broker', true);
      assert.equal(deliver(1), 'delivered');
    });

    it('expects those of before and of now until all that the broker had has come', () => {
      const [kind] = crossing();
      kind.remove();
      reports.filters();
      assert.deepEqual([deliver(1), deliver(1)], ['delivered', 'copy']);
      reports.settled();
      assert.deepEqual([deliver(2), deliver(2)], ['delivered', 'delivered']);
      add({ devices: [D] });
      reports.filters();
      assert.deepEqual([deliver(3), deliver(3)], ['delivered', 'copy']);
    });

    it('is expected from as many as there are, also where what is asked for gets wider or less', () => {
      crossing();
      const three = (seq: number) => [deliver(seq), deliver(seq), deliver(seq)];
      assert.deepEqual(three(1), ['delivered', 'copy', 'delivered']);
      const third = add({ devices: [D] });
      reports.filters();
      reports.settled();
      assert.deepEqual(three(2), ['delivered', 'copy', 'copy']);
      third.remove();
      reports.filters();
      assert.deepEqual(three(3), ['delivered', 'copy', 'copy']);
      reports.settled();
      assert.deepEqual(three(4), ['delivered', 'copy', 'delivered']);
      reports.filters(1);
      assert.deepEqual(three(5), ['delivered', 'copy', 'copy']);
    });

    it('ends at what a subscription that is no more brings again, though there were copies before', () => {
      const [kind] = crossing();
      const again = () => deliver(1, topicOf(G, D), false, () => true);
      assert.equal(again(), 'delivered');
      kind.remove();
      reports.filters();
      reports.settled();
      assert.equal(again(), 'repeat');
    });

    it('ends at it also where a node asks for it in between, and copies of another report have not come', () => {
      const [kind] = crossing();
      const come = (seq: number) => deliver(seq, topicOf(G, D), false, () => true);
      assert.equal(come(1), 'delivered');
      kind.remove();
      reports.filters();
      reports.settled();
      assert.equal(come(2), 'delivered');
      add({ kinds: ['heartbeat'] });
      reports.filters();
      assert.equal(come(2), 'repeat');
    });

    it('ends at a third one that a subscription that is no more has brought', () => {
      crossing();
      const again = (isLeftover = true) => deliver(1, topicOf(G, D), false, () => isLeftover);
      assert.deepEqual([again(), again(), again()], ['delivered', 'copy', 'repeat']);
      assert.equal(again(false), 'delivered');
    });

    it('ends at retained copies, until the subscriptions are others', () => {
      crossing();
      const retained = () => deliver(1, topicOf(G, D), true);
      assert.deepEqual([retained(), retained()], ['delivered', 'copy']);
      reports.filters();
      assert.equal(retained(), 'copy');
      add({ devices: [E] });
      reports.filters();
      assert.equal(retained(), 'delivered');
    });

    it('does not meet two of them where none may cross', () => {
      start({ mayCross: false });
      crossing();
      assert.deepEqual([reports.needed, reports.filters().length], [1, 1]);
      assert.deepEqual([deliver(1), deliver(1)], ['delivered', 'delivered']);
    });
  });

  it('ends at what a subscription that is no more brings again', () => {
    const { got } = add();
    settle();
    const again = (seq: number, isLeftover: boolean, retained = false) =>
      deliver(seq, topicOf(G, D), retained, () => isLeftover);
    assert.deepEqual(
      [again(1, true), again(1, true), again(2, true), again(2, false)],
      ['delivered', 'repeat', 'delivered', 'delivered'],
    );
    assert.deepEqual([again(3, true, true), again(3, true, true)], ['delivered', 'delivered']);
    assert.deepEqual(got, [1, 2, 2, 3, 3]);
  });

  it('is for people what nobody else asks for, and what is retained', () => {
    const flow = add({ kinds: ['event'], form: 'raw' });
    const person = add({}, true);
    let count = 0;
    reports.filters();
    reports.deliverPreview(topicOf(G, D, 'rssi'), payloadOf(0), false);
    const end = reports.addPreview(criteriaOf({}), () => void count++);
    assert.deepEqual(reports.filters().length, 1);
    assert.equal(reports.previewFilters().length, 1);
    const look = (rest: string, seq: number, retained = false) =>
      reports.deliverPreview(topicOf(G, D, rest), payloadOf(seq), retained);
    look('rssi', 0);
    assert.deepEqual([person.got.splice(0).length, count--], [2, 1]);
    look('heartbeat', 1);
    look('event/8200', 2);
    look('event/8200', 3, true);
    reports.deliverPreview('elsewhere', payloadOf(4), false);
    assert.deepEqual([person.got, flow.got, count], [[1, 3], [], 3]);
    end();
    look('heartbeat', 5);
    assert.deepEqual([count, person.got.at(-1), reports.previewFilters()], [3, 5, []]);
  });

  it('is known by the filters that serve it', () => {
    add({ gateways: [G] });
    const filters = reports.filters();
    assert.deepEqual(reports.serving(criteriaOf({ gateways: [G], devices: [D] })), filters);
    assert.deepEqual([reports.serving(criteriaOf({ gateways: [H] })), reports.serving(undefined)], [[], []]);
    assert.deepEqual([reports.mayBring(G, D), reports.mayBring(H, D)], [true, false]);
    assert.deepEqual([reports.isWidened(filters[0]!), reports.isCovering(filters[0]!)], [false, false]);
    add({ gateways: [H], devices: [D] });
    assert.equal(reports.wantedDevices(E), true);
    add({ gateways: [H], devices: [E] });
    const [wide] = reports.filters(2).filter((filter) => filter.includes(H));
    assert.deepEqual([reports.isWidened(wide!), reports.isCovering(wide!)], [true, true]);
  });

  describe('that are confirmed', () => {
    let acknowledged: string[];
    let order: number;

    beforeEach(() => {
      [acknowledged, order] = [[], 0];
    });

    const confirmer: Confirmer = {
      ...{ owner: 'node', labels: '', timeoutMs: 1_000, maxAttempts: 0 },
      again: () => true,
      givenUp() {},
      count() {},
    };
    /** A node that confirms what it gets; the ids by their numbers. */
    const confirming = (filter: Partial<TopicCriteria> = {}) => {
      const ids = new Map<unknown, string>();
      reports.open.add(confirmer);
      const listener = {
        report: ({ seq }: { seq?: number }) => {
          const report = reports.open.open(confirmer);
          if (report) {
            report.hasReached = true;
            ids.set(seq, report.id);
          }
        },
        error() {},
      };
      reports.add(criteriaOf(filter), true, listener);
      return ids;
    };
    const come = (seq: number, isResent = false, topic = topicOf(G, D)) =>
      reports.deliver(topic, payloadOf(seq), false, undefined, {
        ...{ isResent, ackedOrder: 0, isLost: false, mustWait: false },
        defer: (events: DeferralEvents) => ({
          readOn() {},
          acknowledge: () => {
            acknowledged.push(`${seq}`);
            events.written(++order);
          },
        }),
      });

    it('ends where the flow has confirmed it', () => {
      const ids = confirming();
      settle();
      assert.deepEqual([reports.isConfirming, come(1), acknowledged], [true, 'kept', []]);
      assert.equal(reports.open.confirm(ids.get(1)!), true);
      assert.deepEqual(acknowledged, ['1']);
    });

    it('is acknowledged at once where nobody confirms', () => {
      add();
      settle();
      assert.deepEqual([reports.isConfirming, come(1), acknowledged], [false, 'delivered', []]);
    });

    it('is none for what comes again while it is open', () => {
      const ids = confirming();
      const other = add();
      settle();
      come(1);
      reports.connected('broker', true);
      assert.deepEqual([come(1, true), ids.size, other.got], ['kept', 1, [1]]);
      reports.handOver();
      assert.deepEqual([reports.isConfirming, reports.open.unconfirmed], [false, []]);
    });

    it('is none either for a copy of it', () => {
      confirming({ gateways: [G] });
      const { got } = add({ kinds: ['heartbeat'] });
      settle();
      come(1);
      reports.connected('broker', true);
      assert.deepEqual([come(1, true), come(1, true), got], ['kept', 'kept', [1]]);
    });

    it('is none for a copy whose first is known again, though both had come before', () => {
      confirming({ gateways: [G] });
      const { got } = add({ kinds: ['heartbeat'] });
      settle();
      come(1);
      come(1);
      reports.connected('broker', true);
      assert.deepEqual([come(1, true), come(1), got], ['kept', 'kept', [1]]);
    });

    it('is settled by what comes, as soon as the broker has sent what it had', () => {
      const ids = confirming({ gateways: [G] });
      const kind = add({ kinds: ['heartbeat'] });
      settle();
      come(1);
      come(1);
      kind.remove();
      reports.filters();
      reports.settled();
      const { got } = add({ gateways: [G] });
      assert.deepEqual([come(2), come(2), got], ['kept', 'kept', [2]]);
      for (const id of ids.values()) {
        reports.open.confirm(id);
      }
      now += 1_000;
      assert.deepEqual([come(3), come(3), got], ['kept', 'kept', [2, 3, 3]]);
    });

    it('teaches nothing of the broker before that', () => {
      confirming({ gateways: [G] });
      const { got } = add({ kinds: ['heartbeat'] });
      reports.connected('broker', false);
      reports.filters();
      for (const seq of [1, 2, 3, 4]) {
        come(seq);
      }
      assert.deepEqual([come(4), got], ['kept', [1, 2, 3, 4]]);
    });

    it('ends at copies that are acknowledged with the first, or at once where nobody confirms', () => {
      add({ kinds: ['heartbeat'] });
      add({ gateways: [G] });
      settle();
      assert.deepEqual([come(1), come(1)], ['delivered', 'copy']);
      confirming();
      assert.deepEqual([come(2), deliver(3, topicOf(H, D))], ['kept', 'delivered']);
    });

    it('comes again until it is confirmed, and a node that fails is told of in the log', () => {
      mock.timers.enable({ apis: ['setInterval'] });
      try {
        start();
        const failing = { ...confirmer, again: () => assert.fail('no more') };
        reports.open.add(failing);
        reports.add(criteriaOf({}), true, { report: () => void reports.open.open(failing), error() {} });
        settle();
        come(1);
        now += 1_000;
        mock.timers.tick(1_000);
        assert.match(warnings[0] ?? '', /^a receiver of reports failed: .*no more/);
      } finally {
        mock.timers.reset();
      }
    });

    it('has caught up when nothing is open for a second, and subscriptions count from then on', () => {
      const ids = confirming();
      settle();
      come(1);
      reports.open.confirm(ids.get(1)!);
      assert.equal(reports.hasCaughtUp(now), false);
      now += 1_000;
      assert.deepEqual([reports.hasCaughtUp(now), reports.isFull], [true, false]);
      reports.readOn();
      assert.equal(reports.hasCaughtUp(now), false);
    });

    it('tells in the log how many are given up since their node is no more', () => {
      confirming();
      settle();
      come(1);
      come(2);
      reports.open.remove(confirmer, true);
      reports.open.resumed();
      reports.handOver();
      assert.deepEqual(warnings, [
        '2 reports that were not acknowledged are given up: node node does not wait for them any more',
      ]);
    });

    it('comes to the service that follows where it was open', () => {
      const options = { keptSessions: ['mt-open-reports'] };
      const begin = () => {
        start(options);
        const ids = confirming({ gateways: [G] });
        add({ kinds: ['heartbeat'] });
        reports.filters();
        return ids;
      };
      begin();
      settle();
      come(1);
      reports.handOver();
      const ids = begin();
      reports.connected('broker', true);
      assert.deepEqual([come(1, true), [...ids.keys()]], ['kept', [1]]);
    });

    it('is known to the service that follows for the same session, with the copies that are still to come', () => {
      const options = { keptSessions: ['mt-way-of-reports'] };
      const begin = () => {
        start(options);
        const kind = add({ kinds: ['heartbeat'] });
        add({ gateways: [G] });
        reports.open.add(confirmer);
        reports.filters();
        return kind;
      };
      begin();
      settle();
      assert.equal(come(1), 'delivered');
      reports.handOver();
      reports.handOver();
      begin();
      reports.handOver();
      const next = begin();
      reports.connected('broker', true);
      reports.settled();
      assert.deepEqual([come(1), come(2), come(2), next.got], ['kept', 'delivered', 'kept', [2]]);
      reports.handOver();
      const afterwards = begin();
      reports.connected('broker', false);
      reports.settled();
      assert.deepEqual([come(2), afterwards.got], ['delivered', [2]]);
      // What is known by now is not replaced by what was left, however late a session is there again.
      reports.connected('broker', true);
      assert.deepEqual([come(2), afterwards.got], ['kept', [2]]);
    });
  });
});
