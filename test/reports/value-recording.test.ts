// Which reports are asked for to keep last values up to date, and that they are asked for once.
import assert from 'node:assert/strict';
import { SharedUses } from '../../src/collections/shared-uses.ts';
import { LastValues } from '../../src/network/last-values.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { readReport, readReportTopic } from '../../src/protocol/reports/index.ts';
import type { ReportFilter } from '../../src/reports/report-filter.ts';
import type { Subscriber } from '../../src/reports/subscribers.ts';
import { recordValues } from '../../src/reports/value-recording.ts';
import { ALL } from '../session.ts';

describe('the recording of last values', () => {
  const catalogue = createCatalogue();
  const KINDS = ['property', 'measurement', 'event', 'timestamped'];
  const [G, D] = ['c0141f68fc3d', 'd00000000001'];

  function open() {
    const subscribed: { filter: ReportFilter; subscriber: Subscriber; owner: string }[] = [];
    const ended: (boolean | undefined)[] = [];
    const lastValues = new LastValues(catalogue, { now: () => 1_000 });
    const context = {
      lastValues,
      shared: new SharedUses(),
      subscribe: (filter: ReportFilter, subscriber: Subscriber, owner: string) => {
        subscribed.push({ filter, subscriber, owner });
        return (comesBack?: boolean) => void ended.push(comesBack);
      },
    };
    return { subscribed, ended, lastValues, context };
  }

  it('asks for the kinds that have values, of what is wanted', () => {
    const { subscribed, context } = open();
    recordValues(context, { devices: [D] });
    recordValues(context, {});
    for (const [n, devices] of [[D], []].entries()) {
      const { kinds, ...filter } = subscribed[n]?.filter ?? ALL;
      assert.deepEqual([[...kinds].sort(), filter], [[...KINDS].sort(), { ...rest(ALL), devices }]);
    }
    assert.notEqual(subscribed[0]?.owner, subscribed[1]?.owner);
  });

  it('asks once for what several want, until none of them does', () => {
    const { subscribed, ended, context } = open();
    const ends = [1, 2].map(() => recordValues(context, { gateways: [G] }));
    assert.equal(subscribed.length, 1);
    ends[0]?.();
    assert.deepEqual(ended, []);
    ends[1]?.(true);
    assert.deepEqual(ended, [true]);
    recordValues(context, { gateways: [G] });
    assert.equal(subscribed[1]?.owner, subscribed[0]?.owner, 'it is known again after a deploy');
  });

  it('keeps what comes, with the time when it was heard', () => {
    const { subscribed, lastValues, context } = open();
    recordValues(context, {});
    const at = readReportTopic('t', G, D, 'measurement/8800');
    const report = readReport(at, { time: 't', seq: 1, value: '0866' }, catalogue, true, false);
    subscribed[0]?.subscriber.report(report, 't', Buffer.alloc(0), 5);
    assert.equal(lastValues.size, 1);
    const [value] = lastValues.all({ device: D });
    assert.deepEqual([value?.value, value?.heardAt], [21.5, 5]);
  });
});

const rest = ({ kinds: _, ...filter }: ReportFilter) => filter;
