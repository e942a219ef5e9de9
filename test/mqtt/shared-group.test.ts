// Whether a broker knows shared groups: tried once, with topics of its own, and remembered.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type GroupVerdict, SharedGroup, SharedGroupCheck } from '../../src/mqtt/shared-group.ts';
import { brokerLimits } from '../../src/protocol/broker-profiles.ts';
import { createTopics } from '../../src/protocol/topics.ts';

const UNKNOWN = brokerLimits('any', { maxSubscriptions: 0, maxUnacknowledged: 0 });
/** Of a group that is tried because of a connection. */
const CHECK_MS = 8_000;
const GRACE_MS = 1_000;

/** A broker to which filters and messages go, and who has to be called for them. */
class Asked {
  readonly filters = new Map<string, (refused: boolean) => void>();
  readonly released: string[] = [];
  readonly published: string[] = [];

  ensureFilter(filter: string, settled: (refused: boolean) => void): void {
    this.filters.set(filter, settled);
  }

  releaseFilter(filter: string): void {
    this.released.push(filter);
  }

  publish(topic: string, payload: string, qos: 0, done: () => void): void {
    this.published.push(`${topic} ${payload} ${qos}`);
    done();
  }

  get names(): string[] {
    return [...this.filters.keys()];
  }

  /** Answers the filter that was asked for as the n-th one. */
  settle(n: number, refused = false): void {
    this.filters.get(this.names[n]!)!(refused);
  }
}

describe('the test of a shared group', () => {
  let asked: Asked;
  let found: GroupVerdict[];
  let check: SharedGroupCheck;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    asked = new Asked();
    found = [];
    check = new SharedGroupCheck(createTopics('plant'), 'group', asked, 5_000, (verdict) =>
      found.push(verdict),
    );
  });

  afterEach(() => mock.timers.reset());

  const topics = () => asked.published.map((text) => text.split(' ', 1)[0]!);
  const grant = () => {
    asked.settle(0);
    asked.settle(1);
  };

  it('asks for two topics of one address that nobody has, one of them as a member of the group', () => {
    const [shared, plain] = asked.names;
    const address = /^\$share\/group\/plant\/mt\/gateway\/(02[\da-f]{10})\//.exec(shared!)?.[1];
    assert.ok(address, shared);
    assert.deepEqual(asked.names, [
      `$share/group/plant/mt/gateway/${address}/request/${address}/check/shared`,
      `plant/mt/gateway/${address}/request/${address}/check/plain`,
    ]);
    const other = new Asked();
    new SharedGroupCheck(createTopics('plant'), 'group', other, 5_000, () => {}).end('unknown');
    assert.notEqual(other.names[1], plain);
  });

  it('sends to both once both are granted, to that of the group first', () => {
    asked.settle(1);
    assert.deepEqual(asked.published, []);
    asked.settle(0);
    const [shared, plain] = asked.names;
    assert.deepEqual(asked.published, [`${shared?.slice('$share/group/'.length)} {} 0`, `${plain} {} 0`]);
  });

  for (const [what, verdict, happen] of [
    ['that of the group comes', 'shared', () => check.receive(topics()[0]!)],
    [
      'that of the group comes a moment after the other one',
      'shared',
      () => {
        check.receive(topics()[1]!);
        mock.timers.tick(GRACE_MS - 1);
        assert.deepEqual(found, []);
        check.receive(topics()[0]!);
      },
    ],
    [
      'the other one comes alone',
      'plain',
      () => {
        mock.timers.tick(4_999);
        check.receive(topics()[1]!);
        mock.timers.tick(GRACE_MS);
      },
    ],
    ['nothing comes', 'unknown', () => mock.timers.tick(5_000)],
    ['it is ended', 'unknown', () => check.end('unknown')],
  ] as const) {
    it(`finds "${verdict}" where ${what}, and gives both back`, () => {
      grant();
      happen();
      assert.deepEqual(found, [verdict]);
      assert.deepEqual(asked.released, asked.names);
      mock.timers.tick(100_000);
      check.end('plain');
      check.receive(topics()[0]!);
      assert.deepEqual([found, asked.released.length], [[verdict], 2]);
    });
  }

  it('holds up no process that is done with it', () => {
    mock.timers.reset();
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const one = new SharedGroupCheck(createTopics(''), 'group', asked, 5_000, () => {});
    assert.equal(timers(), before + 1);
    one.end('unknown');
    assert.equal(timers(), before);
  });

  it('takes its own messages, and no others', () => {
    grant();
    const [shared, plain] = topics();
    assert.deepEqual(
      [plain, `${plain}/more`, shared, 'mt/gateway'].map((topic) => check.receive(topic!)),
      [true, false, true, false],
    );
  });

  for (const refused of [0, 1]) {
    it(`finds nothing out where ${refused === 0 ? 'the group' : 'the other topic'} is refused, and sends nothing`, () => {
      asked.settle(1 - refused);
      asked.settle(refused, true);
      assert.deepEqual([found, asked.published], [['unknown'], []]);
      assert.deepEqual(asked.released, asked.names);
    });
  }

  it('sends nothing where it has ended before both are granted', () => {
    asked.settle(0);
    check.end('unknown');
    asked.settle(1);
    assert.deepEqual(asked.published, []);
  });
});

describe('the shared group of a service', () => {
  let brokers = 0;
  let broker: string;
  let asked: Asked;
  let changes: number;
  let group: SharedGroup;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    broker = `mqtt://broker-${brokers++}`;
    asked = new Asked();
    changes = 0;
    group = open();
  });

  afterEach(() => {
    group.lost(true);
    mock.timers.reset();
  });

  type Settings = ConstructorParameters<typeof SharedGroup>[0];

  const open = (settings: Partial<Settings> = {}) =>
    new SharedGroup(
      { sharedGroup: 'group', protocolVersion: 4, limits: UNKNOWN, ...settings },
      createTopics(''),
      asked,
      () => {
        changes++;
      },
    );
  const connect = (to = broker) => {
    group.connected(to);
    group.synced();
  };
  /** The broker grants what was asked for last, and brings the message of the group, or only the other one. */
  const answer = async (verdict: GroupVerdict) => {
    const at = asked.names.length - 2;
    asked.settle(at, verdict === 'unknown');
    asked.settle(at + 1);
    const [shared, plain] = asked.published.slice(-2).map((text) => text.split(' ', 1)[0]!);
    if (verdict !== 'unknown') {
      group.receive(verdict === 'shared' ? shared! : plain!);
      mock.timers.tick(GRACE_MS);
    }
    await turn();
  };
  const tries = () => asked.names.length / 2;

  it('is tried once for a connection, when everything is granted or refused', () => {
    group.synced();
    assert.deepEqual([tries(), group.isChecking, group.isPlain], [0, false, false]);
    group.connected(broker);
    assert.deepEqual([tries(), group.isChecking], [0, false]);
    group.synced();
    group.synced();
    assert.deepEqual([tries(), group.isChecking], [1, true]);
  });

  it('is tried once for a connection, also where it is found to be plain', async () => {
    connect();
    await answer('plain');
    group.synced();
    assert.equal(tries(), 1);
  });

  it('is not tried without a connection', () => {
    group.connected(broker);
    group.lost(false);
    group.synced();
    assert.equal(tries(), 0);
  });

  for (const [what, settings] of [
    ['there is none', { sharedGroup: '' }],
    ['a broker says itself what it does not know', { protocolVersion: 5 }],
    ['the broker is known to have groups', { limits: { ...UNKNOWN, hasSharedGroups: true } }],
    ['the broker is known to have no groups', { limits: { ...UNKNOWN, hasSharedGroups: false } }],
    ['the broker allows few subscriptions', { limits: { ...UNKNOWN, maxSubscriptions: 10 } }],
  ] as const) {
    it(`is not tried where ${what}`, () => {
      group = open(settings);
      connect();
      assert.deepEqual([tries(), group.isChecking], [0, false]);
    });
  }

  it('takes the messages of its test, and none without one', async () => {
    assert.equal(group.receive('a'), false);
    connect();
    asked.settle(0);
    asked.settle(1);
    const [, plain] = asked.names;
    assert.deepEqual([group.receive('a'), group.receive(plain!)], [false, true]);
    mock.timers.tick(GRACE_MS);
    assert.equal(group.receive(plain!), false);
    await turn();
  });

  for (const [verdict, isPlain, isTriedAgain] of [
    ['shared', false, false],
    ['unknown', false, false],
    ['plain', true, true],
  ] as const) {
    it(`that is found "${verdict}" is so for the next connection and the next service`, async () => {
      connect();
      await answer(verdict);
      assert.deepEqual([group.isPlain, group.isChecking, changes], [isPlain, false, 1]);
      group.lost(false);
      connect();
      assert.deepEqual([group.isPlain, group.isChecking], [isPlain, isTriedAgain]);
      group.lost(true);
      group = open();
      connect();
      assert.deepEqual([group.isPlain, group.isChecking], [isPlain, isTriedAgain]);
    });
  }

  it('is plain no more where the broker has learnt groups', async () => {
    connect();
    await answer('plain');
    group.lost(false);
    connect();
    await answer('shared');
    assert.deepEqual([group.isPlain, changes], [false, 2]);
  });

  it('is tried at each broker, and by each group', async () => {
    connect();
    await answer('plain');
    group.lost(false);
    connect(`${broker}/other`);
    assert.deepEqual([group.isPlain, tries()], [false, 2]);
    await answer('shared');
    group = open({ sharedGroup: 'another' });
    connect();
    assert.deepEqual([group.isPlain, tries()], [false, 3]);
  });

  it('that the broker does not answer is unknown after 8 seconds', async () => {
    connect();
    mock.timers.tick(CHECK_MS - 1);
    await turn();
    assert.deepEqual([group.isChecking, changes], [true, 0]);
    mock.timers.tick(1);
    await turn();
    assert.deepEqual([group.isChecking, group.isPlain, changes], [false, false, 1]);
  });

  it('is not tried again where the broker has ended the connection in the middle of it', async () => {
    connect();
    group.lost(false);
    await turn();
    assert.deepEqual([group.isChecking, asked.released.length, changes], [false, 2, 1]);
    group.synced();
    connect();
    assert.equal(tries(), 1);
  });

  it('is tried again where the service has closed the connection in the middle of it', async () => {
    connect();
    group.lost(true);
    await turn();
    assert.deepEqual([group.isChecking, changes], [false, 0]);
    connect();
    assert.equal(tries(), 2);
    await answer('plain');
    assert.deepEqual([group.isPlain, changes], [true, 1]);
  });

  it('is tried by whoever tests a connection, with its own time, and not twice at a time', async () => {
    const result = group.try('tested', 100);
    connect();
    assert.deepEqual([group.isChecking, tries()], [true, 1]);
    assert.ok(asked.names[0]?.startsWith('$share/tested/'));
    mock.timers.tick(100);
    assert.deepEqual([await result, group.isChecking], ['unknown', false]);
    assert.equal(changes, 0);
  });
});
