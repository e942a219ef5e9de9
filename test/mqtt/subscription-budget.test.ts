// How the subscriptions that a broker allows are divided: how many report filters there may be, and which wide ones are
// not asked for.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { SILENT } from '../../src/log.ts';
import { SubscriptionBudget } from '../../src/mqtt/subscription-budget.ts';
import { brokerLimits } from '../../src/protocol/broker-profiles.ts';

const HOUR_MS = 3_600_000;
const NONE = Number.POSITIVE_INFINITY;
const UNLIMITED = brokerLimits('any', { maxSubscriptions: 0, maxUnacknowledged: 0 });

describe('the subscriptions that a broker allows', () => {
  /** What was told, in its order. */
  let told: string[];
  let warnings: string[];
  let blocked: Set<string>;
  let budget: SubscriptionBudget;

  beforeEach(() => {
    told = [];
    warnings = [];
    blocked = new Set();
    mock.timers.enable({ apis: ['setTimeout'] });
    budget = open();
  });

  afterEach(() => {
    budget.close();
    mock.timers.reset();
  });

  const open = (limits: Partial<typeof UNLIMITED> = {}, sharedGroup = '') =>
    new SubscriptionBudget(
      { limits: { ...UNLIMITED, ...limits }, sharedGroup },
      { ...SILENT, warn: (text) => void warnings.push(text) },
      {
        changed: () => void told.push('changed'),
        shareResponses: (isShared, isTried) =>
          void told.push(`${isShared ? 'shared' : 'single'}${isTried ? ', tried' : ''}`),
        isBlocked: (filter) => blocked.has(filter),
      },
    );
  /** What was told since it was asked for last. */
  const news = () => told.splice(0);
  const refuse = (...filters: string[]) => {
    for (const filter of filters) {
      budget.wideRefused(filter);
    }
  };
  const avoided = (...filters: string[]) => filters.filter((filter) => budget.avoids(filter)).join();

  for (const [what, limits, group, max, maxReportFilters] of [
    ['of reports are 10 000 where no limit is known', {}, '', NONE, 10_000],
    ['of reports are fewer where more take long', { maxReportFilters: 1_000 }, '', NONE, 1_000],
    [
      'of reports are more where the broker is said to allow them',
      { maxSubscriptions: 20_001 },
      '',
      20_001,
      20_000,
    ],
    ['leave one for responses', { maxSubscriptions: 10 }, '', 10, 9],
    ['are one for reports at least', { maxSubscriptions: 1 }, '', 1, 1],
    ['are as many of a group as it may have', { maxSharedSubscriptions: 4 }, 'group', NONE, 4],
    ['are fewer of a group than of all', { maxSubscriptions: 4, maxSharedSubscriptions: 4 }, 'group', 4, 3],
    ['have no limit of a group where there is none', { maxSharedSubscriptions: 4 }, '', NONE, 10_000],
    ['have no limit of a group where none is known', {}, 'group', NONE, 10_000],
  ] as const) {
    it(what, () => {
      budget = open(limits, group);
      assert.deepEqual(
        [budget.max, budget.isLimited, budget.maxReportFilters],
        [max, max !== NONE, maxReportFilters],
      );
    });
  }

  it('are told when they become others: one filter brings all responses, and wider ones may be needed', () => {
    budget.limit(10);
    budget.limit(10);
    assert.deepEqual([budget.max, budget.maxReportFilters], [10, 9]);
    assert.deepEqual(news(), ['shared, tried', 'changed']);
    assert.deepEqual(warnings, [
      'the broker allows 10 subscriptions: wider ones take the place of narrow ones',
    ]);
  });

  it('are told when there is no limit any more, without a warning', () => {
    budget.limit(10);
    news();
    budget.limit(NONE);
    assert.deepEqual([news(), warnings.length], [['single, tried', 'changed'], 1]);
  });

  it('are divided anew for each wide filter that is refused, once', () => {
    budget.limit(10);
    news();
    refuse('a', 'a', 'b');
    assert.deepEqual([news(), avoided('a', 'b', 'c')], [['changed', 'changed'], 'a,b']);
  });

  it('are no wide ones any more where four were refused', () => {
    budget.limit(10);
    refuse('a', 'b', 'c');
    assert.equal(avoided('c', 'd'), 'c');
    refuse('d');
    assert.equal(avoided('d', 'e'), 'd,e');
  });

  it('are wide ones again when there are more or fewer', () => {
    budget.limit(10);
    refuse('a');
    budget.limit(9);
    assert.equal(avoided('a'), '');
  });

  it('are wide ones again with the next connection but those that end connections', () => {
    budget.limit(10);
    refuse('a', 'b');
    blocked.add('b');
    news();
    budget.connected();
    assert.deepEqual([news(), avoided('a', 'b')], [['shared', 'changed'], 'b']);
    budget.connected();
    assert.deepEqual(news(), ['shared']);
  });

  it('are wide ones again after an hour, also those that end connections', () => {
    budget.limit(10);
    refuse('a', 'b');
    blocked.add('b');
    news();
    mock.timers.tick(HOUR_MS - 1);
    assert.deepEqual(news(), []);
    mock.timers.tick(1);
    assert.deepEqual([news(), avoided('a', 'b')], [['shared, tried', 'changed'], '']);
    refuse('a');
    news();
    mock.timers.tick(HOUR_MS);
    assert.deepEqual([news(), avoided('a')], [['shared, tried', 'changed'], '']);
  });

  it('have their hour from the last connection on, or from when they became others', () => {
    for (const begin of [() => budget.limit(10), () => budget.connected(), () => budget.limit(9)]) {
      begin();
      refuse('a');
      mock.timers.tick(HOUR_MS - 1);
      assert.equal(avoided('a'), 'a');
    }
    mock.timers.tick(1);
    assert.equal(avoided('a'), '');
  });

  it('are asked for nothing by themselves where there is no limit, nor after the end', () => {
    budget.connected();
    mock.timers.tick(HOUR_MS);
    assert.deepEqual(news(), []);
    budget.limit(10);
    budget.close();
    news();
    mock.timers.tick(HOUR_MS);
    assert.deepEqual(news(), []);
    budget.limit(10);
    budget.limit(NONE);
    news();
    mock.timers.tick(HOUR_MS);
    assert.deepEqual(news(), []);
  });
});
