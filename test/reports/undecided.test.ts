// What the broker keeps while no node asks for reports, but one is there that cannot work: who has it when some do.
import assert from 'node:assert/strict';
import { SILENT } from '../../src/log.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import type { DeferralEvents } from '../../src/protocol/deferral.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { compileCriteria, type ReportFilter } from '../../src/reports/report-filter.ts';
import { Reports } from '../../src/reports/reports.ts';
import { UNFILTERED } from '../../src/reports/unfiltered.ts';

const [G, H] = ['c0141f68fc3d', 'c0141f68fc3e'];
const D = 'd00000000001';

describe('reports that no node asks for while one cannot work', () => {
  const catalogue = createCatalogue();
  let reports: Reports;
  let warnings: string[];
  let acknowledged: number[];
  let endWait: () => void;

  const begin = (keptSessions: readonly string[], isShared = false) => {
    [warnings, acknowledged] = [[], []];
    const log = { ...SILENT, warn: (text: string) => void warnings.push(text) };
    reports = new Reports(createTopics(''), catalogue, new NetworkState(), log, { keptSessions, isShared });
    reports.connected('broker', true);
    endWait = reports.addWaiting('node', false);
  };
  beforeEach(() => begin(['undecided']));
  afterEach(() => reports.handOver());

  const topicOf = (gateway: string) => `mt/gateway/${gateway}/device/${D}/heartbeat`;
  const deliver = (seq: number, gateway = G, isResent = false) => {
    const defer = (events: DeferralEvents) => ({
      readOn() {},
      acknowledge() {
        acknowledged.push(seq);
        events.written(acknowledged.length);
      },
    });
    const deferrable = { isResent, ackedOrder: 0, isLost: false, mustWait: false, defer };
    const payload = Buffer.from(JSON.stringify({ time: 't', seq }));
    return reports.deliver(topicOf(gateway), payload, false, undefined, deferrable);
  };
  const add = (changes: Partial<ReportFilter>, opens = false, isPreview = false) => {
    const got: unknown[] = [];
    const opened: string[] = [];
    const filter = compileCriteria({ ...UNFILTERED, ...changes }, catalogue);
    assert.ok(filter);
    const confirmer = {
      ...{ owner: 'confirming', labels: '', timeoutMs: 60_000, maxAttempts: 0 },
      again: () => true,
      givenUp() {},
      count() {},
    };
    const report = ({ seq }: { seq?: unknown }) => {
      got.push(seq);
      if (opens) {
        opened.push(String(reports.open.open(confirmer)?.id));
      }
    };
    const { remove } = reports.add(filter, true, { report, error() {} }, isPreview);
    reports.filters();
    return { got, opened, remove };
  };

  it('stay at the broker, and come to those that ask for them later; the others are told to be lost', () => {
    assert.deepEqual([deliver(1), deliver(2, H), deliver(3)], ['kept', 'kept', 'kept']);
    assert.equal(warnings.length, 1);
    assert.equal(reports.decide(), false);
    const { got } = add({ gateways: [G] });
    assert.equal(reports.decide(), true);
    assert.deepEqual(
      [got, acknowledged],
      [
        [1, 3],
        [1, 2, 3],
      ],
    );
    assert.equal(reports.decide(), false);
    reports.handOver();
    assert.match(warnings[1] ?? '', /^1 reports .* are lost: .*\(node\)$/);
  });

  it('are lost without a word where no node is left that may have wanted them', () => {
    deliver(1);
    endWait();
    assert.equal(reports.decide(), true);
    deliver(2);
    reports.handOver();
    assert.deepEqual([acknowledged, warnings.length], [[1], 1]);
  });

  it('stay at the broker until those have confirmed them that do', () => {
    deliver(1);
    const { got, opened } = add({}, true);
    reports.decide();
    assert.deepEqual([got, acknowledged], [[1], []]);
    reports.open.confirm(opened[0]!);
    assert.deepEqual(acknowledged, [1]);
  });

  it('are given up where they are open at a node that cannot work, and confirms nothing any more', () => {
    add({}, true);
    deliver(1);
    reports.addWaiting('confirming', true);
    assert.deepEqual(acknowledged, []);
    reports.addWaiting('confirming', false);
    assert.deepEqual(acknowledged, [1]);
  });

  it('are known when the broker sends them again over the next connection', () => {
    deliver(1);
    reports.connected('broker', true);
    assert.equal(deliver(1, G, true), 'kept');
    const { got } = add({});
    reports.decide();
    assert.deepEqual([got, acknowledged], [[1], [1]]);
  });

  it('come once where the broker has sent one for each of several subscriptions, whoever asks for them then', () => {
    for (const seq of [1, 1, 2, 2, 1]) {
      deliver(seq);
    }
    const { got } = add({ gateways: [G] });
    reports.decide();
    assert.deepEqual(
      [got, acknowledged],
      [
        [1, 2, 1],
        [1, 1, 2, 2, 1],
      ],
    );
  });

  it('come once where all of one subscription come before those of another one', () => {
    for (const [seq, gateway] of [
      [1, G],
      [2, H],
      [1, G],
      [2, H],
    ] as const) {
      deliver(seq, gateway);
    }
    const [all, own] = [add({ kinds: ['heartbeat'] }), add({ gateways: [G, H] })];
    reports.decide();
    assert.deepEqual(
      [all.got, own.got, acknowledged],
      [
        [1, 2],
        [1, 2],
        [1, 2, 1, 2],
      ],
    );
  });

  it('are seen by people when they come, and not again', () => {
    const { got } = add({}, false, true);
    deliver(1);
    assert.deepEqual(got, [1]);
    add({});
    reports.decide();
    assert.deepEqual(got, [1]);
  });

  it('are not kept where another node asks for some, and told to be lost but where merged filters bring them', () => {
    add({ gateways: [G], kinds: ['property'] });
    add({ gateways: [G], kinds: ['rssi'] });
    assert.deepEqual(reports.filters(1), [`mt/gateway/${G}/device/+/#`]);
    assert.equal(deliver(1, H), 'unwanted');
    assert.equal(deliver(2), 'unwanted');
    reports.handOver();
    assert.match(warnings.join(), /^1 reports .* are lost/);
  });

  it('are not kept beyond 5 000', () => {
    for (let seq = 0; seq < 5_000; seq++) {
      assert.equal(deliver(seq), 'kept');
    }
    assert.equal(deliver(5_000), 'unwanted');
    reports.handOver();
    assert.match(warnings.at(-1) ?? '', /^1 reports .* are lost/);
  });

  it('are no concern of a session that ends with the connection', () => {
    reports.handOver();
    begin([]);
    assert.equal(deliver(1), 'unwanted');
    reports.handOver();
    assert.deepEqual(warnings, []);
  });

  it('are not kept in a shared group, where others can have what comes later', () => {
    reports.handOver();
    begin(['undecided'], true);
    assert.deepEqual([reports.mayBeWanted, deliver(1)], [false, 'unwanted']);
    reports.handOver();
    assert.match(warnings.join(), /^1 reports .* are lost/);
  });
});
