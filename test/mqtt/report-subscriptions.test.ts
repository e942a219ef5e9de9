// What a broker is asked for by way of reports, what it may take in its place, and what earlier subscriptions bring.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { SILENT } from '../../src/log.ts';
import { keptSession, sessionName } from '../../src/mqtt/kept-sessions.ts';
import { type ReportHandler, ReportSubscriptions } from '../../src/mqtt/report-subscriptions.ts';
import { Subscriptions } from '../../src/mqtt/subscriptions.ts';
import type { Deferrable, Outcome } from '../../src/protocol/deferral.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { mqttSettings } from '../session.ts';
import { reportTopic } from './scripted.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const MAX = 5;
const QUOTA_EXCEEDED = 0x97;
const NOT_AUTHORIZED = 0x87;
const UNSPECIFIED = 0x80;
/** As many as no broker that is known refuses. */
const EIGHT = ['1', '2', '3', '4', '5', '6', '7', '8'];

describe('the subscriptions to reports', () => {
  let now = 0;
  let brokers = 0;
  let broker: string;
  /** What the broker was asked for, and what it has taken back. */
  let asked: string[];
  /** How the broker refuses. */
  let codes: Map<string, number>;
  /** What was told to the receivers, in its order. */
  let told: string[];
  /** What the receivers want. */
  let wanted: string[];
  let isConfirming: boolean;
  let hasCaughtUp: boolean;
  let outcome: Outcome;
  /** What the receivers ask of before they choose; undefined: of all that they want. */
  let questions: string[] | undefined;
  /** What they learned then: what is granted, refused or avoided. */
  let answers: Record<'granted' | 'refused' | 'avoided', string>;
  /** Of the last message. */
  let isLeftover: ((topic: string) => boolean) | undefined;
  let subscriptions: Subscriptions;
  let reports: ReportSubscriptions;
  const widened = new Set<string>();
  const covering = new Set<string>();

  beforeEach(() => {
    now = 0;
    broker = `mqtt://report-subscriptions-${brokers++}`;
    asked = [];
    codes = new Map();
    told = [];
    wanted = [];
    questions = undefined;
    [isConfirming, hasCaughtUp, outcome] = [false, true, 'delivered'];
    widened.clear();
    covering.clear();
    mock.method(performance, 'now', () => now);
    open();
  });

  afterEach(() => {
    subscriptions.offline();
    mock.reset();
  });

  const handler: ReportHandler = {
    needed: 3,
    filters(max, given) {
      told.push(`filters ${max}`);
      const names = (isIt: (filter: string) => boolean) => (questions ?? wanted).filter(isIt).join();
      answers = {
        granted: names(given.isGranted),
        refused: names(given.isRefused),
        avoided: names(given.isAvoided),
      };
      return wanted;
    },
    previewFilters: () => [],
    isWidened: (filter) => widened.has(filter),
    isCovering: (filter) => covering.has(filter),
    connected: (address, isPresent) => void told.push(`connected ${address} ${isPresent}`),
    settled: () => void told.push('settled'),
    readOn: () => void told.push('read on'),
    hasCaughtUp: () => hasCaughtUp,
    deliver(topic, payload, retained, given, deferrable) {
      told.push(`${topic} ${payload} ${retained}${deferrable ? ' deferrable' : ''}`);
      isLeftover = given;
      return outcome;
    },
    deliverPreview() {},
    isFull: false,
    mayBeWanted: false,
    decide: () => false,
    get isConfirming() {
      return isConfirming;
    },
  };
  const open = (settings: Partial<MqttSettings> = {}) => {
    const mqtt = mqttSettings(broker, settings);
    subscriptions = new Subscriptions(
      mqtt.persistent,
      SILENT,
      {
        refusing() {},
        refusals() {},
        mayGiveWay: () => true,
        isCovering: () => false,
        synced() {},
        quota() {},
        lowerQos() {},
      },
      { next: () => HOUR_MS * 24, reset() {} },
    );
    reports = new ReportSubscriptions(mqtt, createTopics(''), handler, subscriptions);
    return mqtt;
  };
  const news = () => told.splice(0);
  const packets = () => asked.splice(0);
  const connect = async () => {
    subscriptions.online(
      {
        async subscribe(filters) {
          asked.push(...Object.entries(filters).map(([filter, { qos }]) => `+${filter} ${qos}`));
          const granted = Object.entries(filters).map(([topic, { qos }]) => ({
            topic,
            qos: codes.get(topic) ?? qos,
          }));
          if (granted.some(({ qos }) => qos >= UNSPECIFIED)) {
            throw Object.assign(new Error('refused'), { packet: { granted: granted.map(({ qos }) => qos) } });
          }
          return granted;
        },
        async unsubscribe(filters) {
          asked.push(...filters.map((filter) => `-${filter}`));
          return [];
        },
      },
      true,
    );
    await turn();
  };
  const want = async (...filters: string[]) => {
    wanted = filters;
    const isNew = reports.apply(MAX, (filter) => filter.endsWith('avoided'));
    await turn();
    return isNew;
  };
  /** The broker refuses these. */
  const refuse = (code: number, ...filters: string[]) => {
    for (const filter of filters) {
      codes.set(filter, code);
    }
  };
  const deliver = (topic = 'a', deferrable?: Deferrable) =>
    reports.deliver(topic, Buffer.from('{}'), true, deferrable);
  /** Whether what comes twice now may be taken for a copy. */
  const looksForCopies = () => {
    deliver();
    return isLeftover !== undefined;
  };

  it('are what the receivers want, with as many filters as there may be', async () => {
    await connect();
    assert.deepEqual([await want('a', 'b'), packets()], [true, ['+a 1', '+b 1']]);
    assert.deepEqual([await want('b', 'a'), packets()], [false, []]);
    assert.deepEqual([await want('b'), packets()], [false, ['-a']]);
    assert.deepEqual([await want('b', 'd'), packets()], [true, ['+d 1']]);
    // Everything is granted: there is no need to make room.
    assert.equal(reports.synced(), false);
    assert.deepEqual([await want('c'), packets()], [true, ['+c 1', '-b', '-d']]);
    assert.deepEqual(news(), Array(5).fill(`filters ${MAX}`));
    assert.deepEqual([reports.wanted, reports.needed], [['c'], 3]);
  });

  it('are those of the shared group, of which the receivers know nothing', async () => {
    open({ sharedGroup: 'group' });
    refuse(NOT_AUTHORIZED, '$share/group/b');
    await connect();
    await want('a', 'b');
    assert.deepEqual(packets(), ['+$share/group/a 1', '+$share/group/b 1']);
    assert.deepEqual(reports.wanted, ['a', 'b']);
    assert.deepEqual(
      [
        reports.isWanted('a'),
        reports.isWanted('$share/group/a'),
        reports.has('$share/group/a'),
        reports.has('a'),
      ],
      [true, false, true, false],
    );
    assert.deepEqual([reports.isUnheard('a'), reports.isUnheard('b')], [false, true]);
    assert.deepEqual(reports.refusalOf(['a', 'b'])?.values.filter, '$share/group/b');
    widened.add('a');
    assert.deepEqual([reports.isWidened('$share/group/a'), reports.isWidened('a')], [true, false]);
    covering.add('b');
    assert.equal(reports.synced(), true);
    questions = ['a', 'b', 'avoided'];
    await want('a', 'b');
    assert.deepEqual(answers, { granted: 'a', refused: 'b', avoided: 'avoided' });
  });

  for (const [reportQos, confirms, qos] of [
    [0, false, 0],
    [0, true, 0],
    [1, true, 1],
    [2, false, 2],
    [2, true, 1],
  ] as const) {
    it(`have QoS ${qos} where ${reportQos} is set and flows ${confirms ? '' : 'do not '}confirm`, async () => {
      open({ reportQos });
      isConfirming = confirms;
      await connect();
      await want('a');
      assert.deepEqual(packets(), [`+a ${qos}`]);
    });
  }

  it('are widened only as long as they are wanted', async () => {
    widened.add('a');
    assert.equal(reports.isWidened('a'), false);
    await want('a', 'b');
    assert.deepEqual([reports.isWidened('a'), reports.isWidened('b')], [true, false]);
  });

  it('are unheard until the broker has granted them, where there is one', async () => {
    await want('a', 'b');
    assert.equal(reports.isUnheard('a'), false);
    refuse(UNSPECIFIED, 'b');
    const connected = connect();
    assert.deepEqual([reports.isUnheard('a'), reports.isUnheard('other')], [true, false]);
    await connected;
    assert.deepEqual([reports.isUnheard('a'), reports.isUnheard('b')], [false, true]);
  });

  it('are told as refused where the broker refuses some that are wanted', async () => {
    refuse(NOT_AUTHORIZED, 'b', 'c', 'd');
    await connect();
    subscriptions.change(['d'], 1);
    await want('a', 'b', 'c');
    assert.equal(reports.refusalOf(['a']), undefined);
    assert.equal(reports.refusalOf(['d']), undefined);
    assert.deepEqual(
      [reports.refusalOf(['a', 'c'])?.key, reports.refusalOf(['c', 'b'])?.values.others],
      ['reason.filter', 1],
    );
  });

  it('are others where one that is refused covers some, and where it is granted after all', async () => {
    refuse(NOT_AUTHORIZED, 'narrow', 'wide');
    await connect();
    await want('narrow', 'other');
    // Nothing can be asked for in its place.
    assert.deepEqual([reports.judge(), reports.judge()], [false, false]);
    covering.add('wide');
    await want('wide');
    assert.deepEqual([reports.judge(), reports.judge()], [true, false]);
    codes.clear();
    await want('wide', 'other');
    subscriptions.forgetRefusals(['wide']);
    subscriptions.change(['wide'], 1);
    await turn();
    assert.deepEqual([reports.judge(), reports.judge()], [true, false]);
  });

  it('are known as refused as long as the receivers ask for that', async () => {
    refuse(NOT_AUTHORIZED, 'a', 'b');
    await connect();
    await want('a', 'b');
    const refused = (...filters: string[]) => {
      questions = filters;
      wanted = [];
      reports.apply(MAX, () => false);
      return answers.refused;
    };
    assert.equal(refused('a', 'a', 'b'), 'a,a,b');
    assert.equal(refused('a'), 'a');
    assert.equal(refused('a', 'b'), 'a');
  });

  it('are asked for again where they take the place of others', async () => {
    refuse(NOT_AUTHORIZED, 'a', 'b');
    await connect();
    await want('a', 'b');
    packets();
    widened.add('a');
    await want('a', 'b');
    assert.deepEqual(packets(), ['+a 1']);
  });

  describe('that find no room', () => {
    const isAgain = async (...filters: string[]) => {
      await want(...filters, 'wide');
      return packets().some((packet) => packet.startsWith('+wide'));
    };

    it('are asked for in the place of what they cover, once in an hour', async () => {
      refuse(QUOTA_EXCEEDED, 'wide');
      covering.add('wide');
      await connect();
      await want('a', 'wide');
      packets();
      assert.equal(reports.synced(), true);
      assert.equal(subscriptions.isRefused('wide'), false);
      assert.equal(await isAgain(), true);
      for (const [ms, isOther] of [
        [0, true],
        [HOUR_MS - 1, false],
        [HOUR_MS, true],
        [HOUR_MS + 1, true],
      ] as const) {
        now = ms;
        // What it covers is another one then, also where it is not asked for in their place.
        assert.equal(reports.synced(), isOther, `${ms}`);
        assert.equal(await isAgain(), ms === HOUR_MS, `${ms}`);
      }
    });

    it('are asked for at once where nobody has wanted them meanwhile, and at another broker', async () => {
      refuse(QUOTA_EXCEEDED, 'wide');
      covering.add('wide');
      reports.sessionBegins(broker, false);
      await connect();
      await want('a', 'wide');
      reports.synced();
      await isAgain('a');
      reports.synced();
      assert.equal(await isAgain('a'), false);
      await want('a');
      await want('a', 'wide');
      reports.synced();
      assert.equal(subscriptions.isRefused('wide'), false);
      for (const [address, isOther] of [
        [broker, false],
        [`${broker}/other`, true],
      ] as const) {
        await want('a', 'wide');
        reports.sessionBegins(address, false);
        await want('a', 'wide');
        reports.synced();
        assert.equal(!subscriptions.isRefused('wide'), isOther, address);
      }
    });

    for (const [what, code, isCovering, isAsked] of [
      ['are asked for where they may be one too many', UNSPECIFIED, true, true],
      ['are asked for where they are one too many', QUOTA_EXCEEDED, true, true],
      ['are not asked for where they are forbidden', NOT_AUTHORIZED, true, false],
      ['are not asked for where they cover nothing', QUOTA_EXCEEDED, false, false],
    ] as const) {
      it(what, async () => {
        refuse(code, 'wide');
        if (isCovering) {
          covering.add('wide');
        }
        await connect();
        await want(...EIGHT);
        await want(...EIGHT, 'wide');
        assert.equal(reports.synced(), isCovering);
        assert.equal(!subscriptions.isRefused('wide'), isAsked);
      });
    }
  });

  describe('that have ended a connection', () => {
    const prepare = async (count: number, isCovering = true) => {
      refuse(NOT_AUTHORIZED, 'wide');
      if (isCovering) {
        covering.add('wide');
      }
      await connect();
      const others = EIGHT.slice(0, count);
      await want(...others, 'wide');
      reports.judge();
      return others;
    };

    it('are tried in the place of what they cover beside 8 others, once in an hour', async () => {
      await prepare(8);
      assert.equal(reports.trying('other'), false);
      for (const [ms, isInPlace] of [
        [0, true],
        [HOUR_MS - 1, false],
        [HOUR_MS, true],
      ] as const) {
        now = ms;
        assert.equal(reports.trying('wide'), isInPlace, `${ms}`);
        reports.judge();
      }
    });

    it('are tried after one of the others was given back', async () => {
      const others = await prepare(8);
      packets();
      reports.trying('wide');
      subscriptions.forgetRefusals(['wide']);
      await want('wide');
      assert.equal(packets()[0], `-${others[0]}`);
    });

    for (const [what, count, isCovering] of [
      ['fewer than 8 others', 7, true],
      ['8 others of which they cover none', 8, false],
    ] as const) {
      it(`are tried in the place of none beside ${what}`, async () => {
        await prepare(count, isCovering);
        assert.equal(reports.trying('wide'), false);
        assert.equal(subscriptions.isRefused('wide'), true);
      });
    }
  });

  it('are settled when the broker has answered everything and nothing waits to be delivered', async () => {
    reports.drained();
    assert.deepEqual(news(), []);
    await connect();
    await want('a');
    reports.drained();
    assert.deepEqual(news(), [`filters ${MAX}`]);
    reports.synced();
    reports.drained();
    assert.deepEqual(news(), ['settled']);
    reports.sessionBegins(broker, false);
    reports.drained();
    assert.deepEqual(news(), [`connected ${broker} false`]);
    reports.synced();
    await want('a');
    news();
    reports.drained();
    assert.deepEqual(news(), []);
  });

  it('bring what is delivered as it came', () => {
    const deferrable = {} as Deferrable;
    assert.deepEqual([deliver('x', deferrable), deliver('y')], [false, false]);
    outcome = 'kept';
    assert.equal(deliver('z'), true);
    assert.deepEqual(news(), ['x {} true deferrable', 'y {} true', 'z {} true']);
  });

  it('that are no more bring pairs, until for a second nothing has come twice', async () => {
    await connect();
    await want('a', 'b');
    reports.synced();
    assert.equal(looksForCopies(), false);
    await want('a');
    assert.equal(looksForCopies(), true);
    assert.equal(isLeftover?.('a'), true);
    now = 10 * SECOND_MS;
    // The broker has not taken it back yet.
    assert.equal(looksForCopies(), true);
    reports.synced();
    now += SECOND_MS - 1;
    reports.synced();
    assert.equal(looksForCopies(), true);
    assert.equal(isLeftover?.('a'), true);
    now += SECOND_MS - 1;
    assert.equal(looksForCopies(), true);
    now += 1;
    hasCaughtUp = false;
    assert.equal(looksForCopies(), true);
    hasCaughtUp = true;
    assert.equal(looksForCopies(), false);
  });

  it('that are no more bring pairs for a minute at most', async () => {
    await connect();
    await want('a', 'b');
    await want('a');
    now = 40 * SECOND_MS;
    reports.synced();
    for (let seconds = 40; seconds < 100; seconds += 0.5) {
      now = seconds * SECOND_MS;
      assert.equal(looksForCopies(), true);
      isLeftover?.('a');
    }
    now = 100 * SECOND_MS;
    assert.equal(looksForCopies(), false);
  });

  it('that are no more are waited for a second after what has waited here has begun to come', async () => {
    await connect();
    await want('a', 'b');
    await want('a');
    reports.synced();
    now = SECOND_MS - 1;
    news();
    reports.readOn();
    assert.deepEqual(news(), ['read on']);
    now += SECOND_MS - 1;
    assert.equal(looksForCopies(), true);
    now += 1;
    assert.equal(looksForCopies(), false);
  });

  it('that are no more count from when they are given back, not while flows are about to tell what they want', async () => {
    await connect();
    await want('a', 'b');
    subscriptions.hold(true);
    await want('a');
    reports.synced();
    now = 10 * SECOND_MS;
    assert.equal(looksForCopies(), true);
    subscriptions.hold(false);
    reports.synced();
    assert.equal(looksForCopies(), true);
    now += SECOND_MS;
    assert.equal(looksForCopies(), false);
  });

  describe('of an earlier connection', () => {
    const WIDE = 'mt/gateway/+/device/+/#';
    const TOPIC = reportTopic('heartbeat');

    it('are given back where something comes that nobody wants, in a session of an earlier process', async () => {
      open({ persistent: true });
      reports.sessionBegins(broker, true);
      assert.deepEqual(news(), [`connected ${broker} true`]);
      await connect();
      outcome = 'unwanted';
      assert.equal(deliver(TOPIC), false);
      await turn();
      assert.ok(packets().includes(`-${WIDE}`));
      assert.ok(isLeftover);
      deliver(TOPIC);
      await turn();
      assert.deepEqual(packets(), []);
      // Another broker may have kept it, too.
      reports.sessionBegins('mqtt://other', true);
      deliver(TOPIC);
      await turn();
      assert.ok(packets().includes(`-${WIDE}`));
    });

    it('are given back without the group, too, where wider ones have taken their place meanwhile', async () => {
      open({ persistent: true, sharedGroup: 'group', clientId: 'plain and wide' });
      reports.sessionBegins(broker, true);
      await connect();
      await want('a', 'b');
      await want('wide');
      packets();
      reports.synced();
      await turn();
      assert.deepEqual(packets(), ['-a', '-b', '-wide']);
      // Once, however often the room changes.
      await want('a', 'b', 'new');
      await want('wide');
      packets();
      reports.synced();
      await turn();
      assert.deepEqual(packets(), ['-new']);
    });

    it('are given back without the group anew after two thousand others', async () => {
      open({ persistent: true, sharedGroup: 'group', clientId: 'plain anew' });
      reports.sessionBegins(broker, true);
      await connect();
      const given = async (...filters: string[]) => {
        await want(...filters);
        packets();
        reports.synced();
        await turn();
        return packets().filter((packet) => packet.startsWith('-')).length;
      };
      const many = Array.from({ length: 2_000 }, (_, n) => `${n}`);
      assert.deepEqual([await given(...many), await given('0'), await given('new')], [2_000, 0, 1]);
      assert.equal(await given('0'), 1);
    });

    it('are given back without the group as far as two thousand of them go', async () => {
      open({ persistent: true, sharedGroup: 'group', clientId: 'plain and many' });
      reports.sessionBegins(broker, true);
      for (let n = 0; n <= 2_000; n++) {
        await want(`${n}`);
      }
      await connect();
      packets();
      reports.synced();
      await turn();
      assert.deepEqual(packets(), ['-2000']);
    });

    for (const [what, sharedGroup, isPresent, isAsked] of [
      ['are given back once where they lack the group', 'group', true, true],
      ['are not looked for without a group', '', true, false],
      ['are none where the broker has kept no session', 'group', false, false],
    ] as const) {
      it(`${what}, before anything comes`, async () => {
        open({ persistent: true, sharedGroup, clientId: `plain ${sharedGroup} ${isPresent}` });
        reports.sessionBegins(broker, isPresent);
        await connect();
        await want('a', 'b');
        const given = async () => {
          packets();
          reports.synced();
          await turn();
          return packets();
        };
        const plain = isAsked ? ['-a', '-b'] : [];
        assert.deepEqual(await given(), plain);
        assert.deepEqual(await given(), []);
        if (isAsked) {
          assert.equal(looksForCopies(), true);
        }
        // It is a guess, which may cost a connection: no other one of this session begins with it.
        reports.sessionBegins(broker, isPresent);
        assert.deepEqual(await given(), []);
        reports.sessionBegins('mqtt://other', isPresent);
        subscriptions.hold(true);
        assert.deepEqual(await given(), []);
        subscriptions.hold(false);
        assert.deepEqual(await given(), plain);
      });
    }

    it('stay while a node is there that cannot work: what they bring may be meant for it', async () => {
      open({ persistent: true });
      reports.sessionBegins(broker, true);
      await connect();
      outcome = 'unwanted';
      subscriptions.keep(true);
      deliver(TOPIC);
      await turn();
      assert.deepEqual(packets(), []);
      subscriptions.keep(false);
      deliver(TOPIC);
      await turn();
      assert.ok(packets().includes(`-${WIDE}`));
    });

    it('are given back where a report comes twice, which was one of them until a second is over', async () => {
      open({ persistent: true });
      reports.sessionBegins(broker, true);
      await connect();
      assert.equal(looksForCopies(), true);
      assert.equal(isLeftover?.('not a report'), false);
      assert.equal(isLeftover?.(TOPIC), true);
      await turn();
      assert.ok(packets().includes(`-${WIDE}`));
      reports.synced();
      now = SECOND_MS;
      assert.equal(looksForCopies(), true);
      // The sender itself has sent it twice.
      assert.equal(isLeftover?.(TOPIC), false);
    });

    it('are not looked for where what comes is wanted', async () => {
      open({ persistent: true });
      reports.sessionBegins(broker, true);
      await connect();
      outcome = 'copy';
      deliver(TOPIC);
      await turn();
      assert.deepEqual(packets(), []);
    });

    for (const [what, isPresent, persistent] of [
      ['the broker has kept no session', false, true],
      ['this process has begun the session', true, true],
      ['nothing is kept', false, false],
    ] as const) {
      it(`are none where ${what}`, async () => {
        open({ persistent });
        if (isPresent) {
          reports.sessionBegins(broker, false);
        }
        reports.sessionBegins(broker, isPresent);
        await connect();
        assert.equal(looksForCopies(), false);
        outcome = 'unwanted';
        deliver(TOPIC);
        await turn();
        assert.deepEqual(packets(), []);
      });
    }

    it('are there as long as the session of the earlier process is', async () => {
      open({ persistent: true });
      reports.sessionBegins(broker, true);
      reports.sessionBegins(broker, true);
      assert.equal(looksForCopies(), true);
      reports.sessionBegins(broker, false);
      reports.sessionBegins(broker, true);
      assert.equal(looksForCopies(), false);
    });

    it('are those of the session by which other reports were wanted last', async () => {
      const { clientId } = open({ persistent: true });
      reports.sessionBegins(broker, false);
      await want('a', 'b');
      for (const [filters, isPresent, brings] of [
        [['a', 'b', 'c'], true, false],
        [['a', 'c'], true, true],
        [['a'], false, false],
        [[], true, true],
      ] as const) {
        open({ persistent: true, clientId });
        wanted = [...filters];
        // As after a deploy: the filters are known before there is a connection.
        reports.apply(MAX, () => false);
        reports.sessionBegins(broker, isPresent);
        assert.equal(looksForCopies(), brings, filters.join());
        if (brings) {
          reports.synced();
          now += SECOND_MS;
          assert.equal(looksForCopies(), false);
        }
      }
    });

    it('bring pairs until the session ends, also over a loss', async () => {
      open({ persistent: true });
      reports.sessionBegins(broker, false);
      await connect();
      await want('a', 'b');
      await want('a');
      reports.synced();
      now = SECOND_MS;
      reports.sessionBegins(broker, true);
      assert.equal(looksForCopies(), true);
      now += 10 * SECOND_MS;
      assert.equal(looksForCopies(), true);
      reports.sessionBegins(broker, false);
      assert.equal(looksForCopies(), false);
    });

    for (const [persistent, isPresent, isKept] of [
      [false, false, false],
      [false, true, true],
      [true, false, true],
    ] as const) {
      const session = `session that is ${persistent ? '' : 'not '}persistent and ${isPresent ? 'is' : 'is not'} there`;
      it(`are ${isKept ? '' : 'not '}remembered of a ${session}`, () => {
        const { clientId } = open({ persistent });
        const name = sessionName(broker, clientId);
        keptSession(name).filters.add('a');
        reports.sessionBegins(broker, isPresent);
        assert.equal(keptSession(name).filters.size, isKept ? 1 : 0);
      });
    }
  });
});
