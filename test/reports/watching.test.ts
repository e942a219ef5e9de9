// What a device watch subscribes, with whom it shares that, and what it hears of labels.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { SharedUses } from '../../src/collections/shared-uses.ts';
import { ServiceError } from '../../src/errors.ts';
import type { ConditionChange, WatchSettings } from '../../src/network/watch-context.ts';
import type { LabelState } from '../../src/reports/label-filter.ts';
import type { ReportFilter } from '../../src/reports/report-filter.ts';
import type { Subscriber } from '../../src/reports/subscribers.ts';
import { type WatchingContext, watchDevices } from '../../src/reports/watching.ts';
import { D, G, G2, SETTINGS, World } from '../network/watched-world.ts';

const WATCH: WatchSettings = { ...SETTINGS, devices: [D], silentAfter: 0 };
const D2 = 'd00000000002';

describe('what a watch has subscribed', () => {
  const labels = ['office'];
  let world: World;
  let context: WatchingContext;
  /** Present subscriptions, and what those with labels are told. */
  let filters: ReportFilter[];
  let subscribers: Subscriber[];
  let labelled: ReadonlySet<string> | undefined;
  let told: LabelState[];
  /** Conditions of which the node was told. */
  let changes: string[];
  /** How often it was told that numbers may be others, and that too much is watched. */
  let counted: number;
  let full: number;
  /** Refused from this subscription on. */
  let maxFilters: number;

  beforeEach(() => {
    [filters, subscribers, told, changes, labelled] = [[], [], [], [], undefined];
    [counted, full] = [0, 0];
    maxFilters = Number.POSITIVE_INFINITY;
    world = new World();
    context = {
      watches: world.watches,
      shared: new SharedUses(),
      subscribe(filter, subscriber) {
        if (filters.length >= maxFilters) {
          throw new ServiceError('NOT_CONFIGURED', 'rest');
        }
        filters.push(filter);
        subscribers.push(subscriber);
        return () => void filters.splice(filters.indexOf(filter), 1);
      },
      refusalOf: (needed) => ({ key: 'refused', values: { count: needed.length } }),
      gatewaysWithLabels: () => labelled,
    };
  });
  afterEach(() => {
    world.watches.close();
  });

  const NODE = {
    changed: ({ condition, active }: ConditionChange) => void changes.push(`${condition} ${active}`),
    counted: () => void counted++,
    full: () => void full++,
  };
  const open = (settings: Partial<WatchSettings>, owner = 'watch') =>
    watchDevices(
      context,
      { ...WATCH, devices: [], ...settings },
      { ...NODE, labels: (state) => void told.push(state) },
      owner,
    );
  const asked = () => filters.map(({ gateways, devices }) => [...gateways, ...devices].join());
  const hear = (gateway: string, device: string) => world.hear('heartbeat', {}, { gateway, device });

  for (const [title, settings, expected] of [
    [
      'its devices, and all of its gateways that are to bring them',
      { gateways: [G], devices: [D] },
      [`${G},${D}`, G],
    ],
    ['its gateways alone where it has no devices', { gateways: [G] }, [G]],
    [
      'its devices alone where silence is none of its conditions',
      { gateways: [G], devices: [D], conditions: ['error'] },
      [`${G},${D}`],
    ],
    [
      'two groups of reports where they have nothing in common',
      { conditions: ['error', 'battery-low'] },
      ['', ''],
    ],
  ] as [string, Partial<WatchSettings>, string[]][]) {
    it(`is ${title}, until it is closed`, () => {
      const watch = open(settings);
      assert.deepEqual(asked(), expected);
      assert.deepEqual(watch.refusal, { key: 'refused', values: { count: expected.length } });
      watch.close(false);
      assert.deepEqual(asked(), []);
    });
  }

  it('takes no report and no error of its own', () => {
    open({});
    const [subscriber] = subscribers as [Subscriber];
    assert.equal(subscriber.takesNone, true);
  });

  it('is shared by watches that want the same, but for those with labels, each of which is told of them', () => {
    const watches = ['one', 'two'].map((owner) => open({}, owner));
    assert.equal(filters.length, 1);
    watches[0]!.close(false);
    assert.equal(filters.length, 1);
    watches[1]!.close(false);
    assert.equal(filters.length, 0);
    for (const owner of ['one', 'two']) {
      open({ labels }, owner);
    }
    assert.equal(filters.length, 2);
  });

  it('ends with the watch, of which the node hears nothing any more', () => {
    const watch = open({ conditions: ['error'] });
    hear(G, D);
    world.wait(6_000);
    const before = counted;
    assert.ok(before > 0);
    watch.close(false);
    hear(G, D2);
    world.wait(6_000);
    assert.deepEqual([counted, context.watches.areUsed], [before, false]);
  });

  it('comes back with the watch that a deploy ends, which goes on with what it knows', () => {
    const watch = open({ conditions: ['silent'], silentAfter: 60 });
    hear(G, D);
    watch.close(true);
    assert.deepEqual([open({ conditions: ['silent'], silentAfter: 60 }).counts.watched > 0], [true]);
  });

  it('brings what is not watched where there is no room for more, which the node is told once', () => {
    world = new World(0);
    context = { ...context, watches: world.watches };
    const watch = open({});
    hear(G, D);
    hear(G, D2);
    assert.deepEqual([full, watch.counts.watched], [1, 0]);
  });

  it('is nothing where some of it cannot be had', () => {
    maxFilters = 1;
    assert.throws(() => open({ gateways: [G], devices: [D] }), { code: 'NOT_CONFIGURED' });
    assert.deepEqual([asked(), context.watches.areUsed], [[], false]);
  });

  describe('of the gateways of its devices', () => {
    const gatewayAt = (n: number) => (0xc00000000000 + n).toString(16);
    /** So many gateways bring the device, one after the other. */
    const bring = (count: number, first = 0) => {
      for (let n = first; n < first + count; n++) {
        hear(gatewayAt(n), D);
      }
    };

    it('is all that they bring, asked for together and not within their report', async () => {
      labelled = new Set([G, G2, 'c0141f68fc3f']);
      open({ devices: [D], labels });
      subscribers[0]!.labels!({ name: 'ready', lost: 0 });
      hear(G, D);
      hear(G2, D);
      assert.deepEqual(asked(), [D]);
      await turn();
      assert.deepEqual(asked(), [D, `${G},${G2}`]);
      assert.deepEqual(filters[1]!.labels, labels);
      hear('c0141f68fc3f', D);
      await turn();
      assert.deepEqual(asked(), [D, `${G},${G2}`, 'c0141f68fc3f']);
    });

    for (const [title, settings] of [
      ['gateways are given', { gateways: [G], devices: [D] }],
      ['gateways are given, with labels', { gateways: [G], devices: [D], labels }],
      ['silence is none of its conditions', { devices: [D], conditions: ['error'] }],
    ] as [string, Partial<WatchSettings>][]) {
      it(`is nothing more where ${title}`, async () => {
        labelled = new Set([G]);
        open(settings);
        subscribers[0]!.labels?.({ name: 'ready', lost: 0 });
        const { length } = filters;
        hear(G, D);
        await turn();
        assert.equal(filters.length, length);
      });
    }

    it('is everything where they are a hundred, and nothing more for any further one', async () => {
      const all = Array.from({ length: 105 }, (_, n) => gatewayAt(n));
      labelled = new Set(all);
      open({ devices: [D], labels });
      subscribers[0]!.labels!({ name: 'ready', lost: 0 });
      bring(99);
      await turn();
      assert.equal(filters.at(-1)!.gateways.length, 99);
      bring(1, 99);
      await turn();
      assert.deepEqual([filters.length, filters.at(-1)!.gateways, filters.at(-1)!.devices], [3, [], []]);
      bring(5, 100);
      await turn();
      assert.equal(filters.length, 3);
    });

    it('is nothing when the watch has ended meanwhile', async () => {
      const watch = open({ devices: [D] });
      hear(G, D);
      watch.close(true);
      await turn();
      assert.deepEqual(asked(), []);
    });
  });

  describe('by labels', () => {
    const tell = (name: LabelState['name']) => subscribers[0]!.labels!({ name, lost: 3 });

    it('is watched where gateways carry them, as soon as they are known, of which the node is told', () => {
      const watch = open({ labels });
      labelled = new Set([G]);
      tell('waiting');
      hear(G, D);
      assert.equal(watch.counts.watched, 0);
      tell('stale');
      hear(G, D);
      hear(G2, D2);
      assert.equal(watch.counts.watched, 2, 'the gateway and its device');
      labelled = new Set([G, G2]);
      tell('ready');
      hear(G2, D2);
      assert.equal(watch.counts.watched, 4);
      assert.deepEqual(
        told.map((state) => ({ ...state })),
        ['waiting', 'stale', 'ready'].map((name) => ({ name, lost: 0 })),
      );
    });

    it('is not judged by a list of which the node was not told', () => {
      labelled = new Set([G]);
      const watch = open({ labels });
      hear(G, D);
      assert.equal(watch.counts.watched, 0);
    });

    it('is not judged anew while nobody knows who carries them', () => {
      const watch = open({ labels });
      tell('ready');
      labelled = new Set([G]);
      hear(G, D);
      assert.equal(watch.counts.watched, 0);
    });

    it('is known at once where it was before the watch began', () => {
      labelled = new Set([G]);
      const { subscribe } = context;
      context.subscribe = (filter, subscriber) => {
        const end = subscribe(filter, subscriber);
        subscriber.labels?.({ name: 'ready', lost: 0 });
        return end;
      };
      const watch = open({ labels });
      hear(G, D);
      assert.equal(watch.counts.watched, 2);
    });

    it('need not be told to a node', () => {
      watchDevices(context, { ...WATCH, labels }, NODE, 'watch');
      tell('ready');
      assert.deepEqual(told, []);
    });
  });

  it('is judged for the gateways and devices of its settings in any spelling', () => {
    const fail = (gateway: string, device: string) => {
      world.hear('measurement-error/8800', { error: 1 }, { gateway, device });
      world.wait(6_000);
    };
    const watch = open({
      gateways: ['C0:14:1F:68:FC:3D'],
      devices: ['D0-00-00-00-00-01'],
      conditions: ['error'],
    });
    fail(G, D2);
    assert.equal(watch.counts.active, 0);
    fail(G, D);
    assert.deepEqual([watch.counts.active, changes], [1, ['error true']]);
    assert.deepEqual(
      watch.active().map(({ condition }) => condition),
      ['error'],
    );
    assert.deepEqual([watch.firstActive(0).rows.length, watch.firstActive(1).rows.length], [0, 1]);
    assert.throws(() => watch.forget('x'), { code: 'INVALID_INPUT', cause: { field: 'forget', value: 'x' } });
    watch.forget('D0:00:00:00:00:01');
    assert.equal(watch.counts.active, 0);
  });
});
