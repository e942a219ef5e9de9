// Last values as nodes use them: recorded once for all who want the same, and read from devices with room left for others.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { EndUse } from '../../src/collections/shared-uses.ts';
import type { RequestResult } from '../../src/mqtt/device-requests.ts';
import type { RequestOptions } from '../../src/mqtt/requests.ts';
import { LastValues } from '../../src/network/last-values.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import type { RequestInput } from '../../src/protocol/operations/index.ts';
import type { Report } from '../../src/protocol/reports/index.ts';
import type { ReportFilter } from '../../src/reports/report-filter.ts';
import type { Subscriber } from '../../src/reports/subscribers.ts';
import { Values } from '../../src/session/values.ts';

const mac = (prefix: string, n: number) => `${prefix}${n.toString(16).padStart(11, '0')}`;
const G = mac('c', 1);
const D = mac('d', 1);

interface Subscription {
  filter: ReportFilter;
  subscriber: Subscriber;
  owner: string;
}

describe('last values of a service', () => {
  const catalogue = createCatalogue('[]');
  const { signal } = new AbortController();
  let lastValues: LastValues;
  let subscriptions: Subscription[];
  let ended: (boolean | undefined)[];
  let asked: { input: RequestInput; options: RequestOptions }[];
  let respond: (input: RequestInput) => Promise<RequestResult>;

  beforeEach(() => {
    lastValues = new LastValues(catalogue);
    subscriptions = [];
    ended = [];
    asked = [];
    respond = async () => ({ gateway: G, device: D, identifier: '8800', value: 7, response: { status: 0 } });
  });

  const create = (maxQueue?: number) =>
    new Values({
      ...{ values: lastValues, catalogue, maxQueue },
      nameOf: (device) => (device === D ? 'Hall' : undefined),
      gatewaysWithLabels: async () => new Set([G]),
      gatewayOf: () => undefined,
      read(input, options) {
        asked.push({ input, options });
        return respond(input);
      },
      subscribe(filter, subscriber, owner): EndUse {
        subscriptions.push({ filter, subscriber, owner });
        return (comesBack) => void ended.push(comesBack);
      },
      refusalOf: ({ devices }) => ({ key: 'refused', values: { devices: devices.join() } }),
    });

  const reportOf = (device: string, value: unknown, gateway = G): Report => ({
    ...{ gateway, device, kind: 'measurement', form: 'decoded', identifier: 'motion', value },
    time: '2026-01-01T12:00:00.000Z',
  });
  /** Two minutes ago. */
  const hear = (...given: Parameters<typeof reportOf>) =>
    lastValues.recordReport(reportOf(...given), performance.now() - 120_000);
  const options = { labels: [], maxAge: 0, tooOld: 'send', signal } as const;

  it('say why the reports that show them were refused', () => {
    assert.deepEqual(create().refusalOf({ devices: [D] }), { key: 'refused', values: { devices: D } });
  });

  it('are recorded once for all nodes that want the same, until the last of them has gone', () => {
    const values = create();
    const ends = [values.record({ devices: [D] }), values.record({ devices: [D] })];
    const other = values.record({});
    const [first, second] = subscriptions;
    assert.equal(subscriptions.length, 2);
    assert.deepEqual([first?.filter.devices, second?.filter.devices], [[D], []]);
    assert.notEqual(first?.owner, second?.owner);
    first?.subscriber.report(reportOf(D, 5), '', Buffer.of(), performance.now());
    assert.deepEqual(
      lastValues.all({}).map(({ value }) => value),
      [5],
    );
    ends[0]?.(true);
    assert.deepEqual(ended, []);
    ends[1]?.();
    other();
    assert.deepEqual(ended, [true, false]);
  });

  it('are what was heard, with the name of the device', async () => {
    hear(D, 5);
    hear(mac('d', 2), 6);
    const values = create();
    const { value, gateway, source } = await values.last({ device: D, identifier: 'motion' }, options);
    assert.deepEqual([value, gateway, source], [5, G, 'report']);
    const { rows, failure } = await values.all({}, options);
    assert.deepEqual(
      [rows.map((row) => [row.deviceName, row.value]), failure],
      [
        [
          ['Hall', 5],
          [undefined, 6],
        ],
        undefined,
      ],
    );
    const first = await values.first({ gateway: G }, options, 1);
    assert.deepEqual([first.rows.map((row) => row.value), first.total], [[5], 2]);
    assert.deepEqual(asked, []);
  });

  it('are asked for in the form that the device has, with the time of the node', async () => {
    const result = await create().last(
      { gateway: G, device: D, identifier: 'motion' },
      { ...options, tooOld: 'read', timeout: 500 },
    );
    assert.deepEqual(result, {
      ...{ value: 7, gateway: G, device: D, identifier: '8800' },
      ...{ age: 0, source: 'read', response: { status: 0 } },
    });
    assert.equal(asked.length, 1);
    const [{ input, options: given } = assert.fail()] = asked;
    assert.deepEqual(input, { gateway: G, device: D, identifier: 'motion', form: 'auto' });
    assert.deepEqual([given.timeout, given.signal, given.since], [500, signal, undefined]);
  });

  it('are told of what was asked where the result does not say it', async () => {
    respond = async () => ({ gateway: G, value: 7, response: {} });
    const { device, identifier } = await create().last(
      { device: D, identifier: 'motion' },
      { ...options, tooOld: 'read' },
    );
    assert.deepEqual([device, identifier], [D, 'motion']);
  });

  it('that wait for their turn count the time since they were asked for', async () => {
    hear(D, 5);
    const start = performance.now();
    await create().all({}, { ...options, maxAge: 60, tooOld: 'read' });
    const { since = 0 } = asked[0]?.options ?? {};
    assert.ok(since >= start && since <= performance.now());
  });

  for (const [maxQueue, max] of [
    [undefined, 100],
    [1_000, 100],
    [101, 100],
    [99, 99],
    [1, 1],
    [0, 1],
  ] as const) {
    it(`are read ${max} at a time where ${maxQueue ?? 'no'} requests may wait`, async () => {
      for (let n = 0; n < 150; n++) {
        hear(mac('d', n), n, mac('c', n));
      }
      let underWay = 0;
      let most = 0;
      respond = async ({ device, gateway }) => {
        underWay++;
        most = Math.max(most, underWay);
        await turn();
        underWay--;
        return { gateway: String(gateway), device: String(device), value: 1, response: {} };
      };
      const values = create(maxQueue);
      // Of two nodes: each has its own signal.
      const ask = () =>
        values.all({}, { ...options, maxAge: 60, tooOld: 'read', signal: new AbortController().signal });
      await Promise.all([ask(), ask()]);
      assert.deepEqual([asked.length, most], [300, max]);
    });
  }
});
