// Queries of last values: what a flow gets is its own, and very many values hold nothing up.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { LastValues } from '../../src/network/last-values.ts';
import { fromStored, toStored } from '../../src/network/stored-values.ts';
import {
  findFirstValues,
  findValue,
  findValues,
  type ValueContext,
  type ValueOptions,
  type ValueResult,
} from '../../src/network/value-query.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import type { Report } from '../../src/protocol/reports/index.ts';

const G = 'c0141f68fc3d';
const mac = (n: number) => `d${n.toString(16).padStart(11, '0')}`;

describe('a query of last values', () => {
  const catalogue = createCatalogue('[]');
  let values: LastValues;
  let closing: AbortController;
  let read: ValueContext['read'];
  let labelled: ReadonlySet<string>;

  beforeEach(() => {
    values = new LastValues(catalogue);
    closing = new AbortController();
    labelled = new Set([G]);
    read = () => assert.fail('nobody is asked');
  });

  const hear = (device: string, value: unknown, more: Partial<Report> = {}) =>
    values.recordReport({
      gateway: G,
      device,
      kind: 'measurement',
      form: 'decoded',
      identifier: 'motion',
      time: '2026-01-01T12:00:00.000Z',
      value,
      ...more,
    });

  const context = (): ValueContext => ({
    values,
    catalogue,
    nameOf: () => undefined,
    gatewaysWithLabels: async () => labelled,
    gatewayOf: () => G,
    read: (input) => read(input),
  });

  const options = (more: Partial<ValueOptions> = {}) =>
    ({ labels: [], maxAge: 0, tooOld: 'send', signal: closing.signal, ...more }) satisfies ValueOptions;

  it('brings values that the flow may change', async () => {
    hear(mac(1), { state: ['on'] });
    const one = () => findValue(context(), { device: mac(1), identifier: 'motion' }, options());
    const change = (value: unknown) => (value as { state: string[] }).state.push('changed by the flow');
    const first = await one();
    change(first.value);
    change(first.report?.value);
    const { rows } = await findValues(context(), {}, options());
    change(rows[0]!.value);
    const again = await one();
    assert.deepEqual([again.value, again.report?.value], [{ state: ['on'] }, { state: ['on'] }]);
    change(again.value);
    assert.deepEqual(again.report?.value, { state: ['on'] });
  });

  it('keeps a value that a read has brought, whatever its flow does with it', async () => {
    const value = { state: ['on'] };
    values.recordRead({ gateway: G, device: mac(1), identifier: 'motion', value, time: undefined });
    value.state.push('changed by the flow');
    const known = await findValue(context(), { device: mac(1), identifier: 'motion' }, options());
    assert.deepEqual(known.value, { state: ['on'] });
  });

  it('tells the age of what was heard before the start by a clock that is set only later', async () => {
    const hour = 3_600_000;
    const heard = Date.now();
    const place = { gateway: G, device: mac(1), identifier: 'motion' };
    const ask = (device: string) => findValue(context(), { ...place, device }, options());
    // Without a battery the clock goes on from where it was saved.
    const clock = mock.method(Date, 'now', () => heard - hour);
    try {
      values.restore(fromStored([{ ...place, value: 1, heard }]));
      hear(mac(2), 2, { retained: true, time: new Date(heard).toISOString() });
      assert.deepEqual([(await ask(mac(1))).age, (await ask(mac(2))).age], [0, 0]);
      clock.mock.mockImplementation(() => heard + hour);
      assert.deepEqual([(await ask(mac(1))).age, (await ask(mac(2))).age], [3_600, 3_600]);
      await assert.rejects(findValue(context(), place, options({ maxAge: 60, tooOld: 'error' })), {
        code: 'NO_VALUE',
      });
      assert.deepEqual(
        toStored(values.newest(9)).map((one) => one.heard),
        [heard, heard],
      );
    } finally {
      clock.mock.restore();
    }
  });

  it('asks a device by gateways that carry the label, and by no others', async () => {
    read = async ({ device, gateway = '' }) => ({ value: gateway, device, identifier: 'motion' });
    const ask = (gateway?: string) =>
      findValue(
        context(),
        { device: mac(1), gateway, identifier: 'motion' },
        options({ labels: ['a'], tooOld: 'read' }),
      );
    assert.equal((await ask()).value, G);
    await assert.rejects(ask(mac(9)), { code: 'NO_VALUE' });
    labelled = new Set([mac(9)]);
    assert.equal((await ask(mac(9))).value, mac(9));
    await assert.rejects(ask(), { code: 'NO_VALUE' });
  });

  it('ends with CLOSED when its node closes while devices are asked, and asks no more', async () => {
    for (let n = 0; n < 500; n++) {
      hear(mac(n), n);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    let asked = 0;
    read = async ({ device }): Promise<ValueResult> => {
      asked++;
      await turn();
      closing.abort();
      return { value: 1, device, identifier: 'motion' };
    };
    await assert.rejects(findValues(context(), {}, options({ tooOld: 'read', maxAge: 0.001 })), {
      code: 'CLOSED',
    });
    assert.ok(asked > 0 && asked <= 100, `${asked}`);
  });

  describe('of 200 000 values', () => {
    /** The longest time that nothing else could run, in milliseconds. */
    async function longestStall(work: Promise<unknown>): Promise<number> {
      let longest = 0;
      let isDone = false;
      const end = () => {
        isDone = true;
      };
      const ended = work.then(end, end);
      for (let before = performance.now(); !isDone; ) {
        await turn();
        const now = performance.now();
        longest = Math.max(longest, now - before);
        before = now;
      }
      await ended;
      return longest;
    }

    beforeEach(() => {
      for (let n = 0; n < 200_000; n++) {
        hear(mac((n * 7919) % 200_000), n);
      }
    });

    it('brings all in order, and does not hold reports up meanwhile', async () => {
      const query = findValues(context(), {}, options());
      const stall = await longestStall(query);
      const { rows } = await query;
      assert.equal(rows.length, 200_000);
      assert.ok(rows.every(({ device }, n) => device === mac(n)));
      assert.ok(stall < 2_000, `${stall} ms`);
    });

    it('shows the first of them to a person without sorting all', async () => {
      const began = performance.now();
      const { rows, total } = await findFirstValues(context(), {}, options(), 8);
      assert.ok(performance.now() - began < 2_000);
      assert.equal(total, 200_000);
      assert.deepEqual(
        rows.map(({ device }) => device),
        Array.from({ length: 8 }, (_, n) => mac(n)),
      );
    });
  });
});
