// Reports to try a flow with: made up from what a node lets through, or received before and read once more.
import assert from 'node:assert/strict';
import { NetworkState } from '../../src/network/network-state.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { readReportTopic } from '../../src/protocol/reports/index.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { Dispatch } from '../../src/reports/dispatch.ts';
import { compileCriteria } from '../../src/reports/report-filter.ts';
import { TestReports } from '../../src/reports/test-reports.ts';
import { ALL } from '../session.ts';

const catalogue = createCatalogue([{ id: '8a00', name: 'co2', type: 'u16', unit: 'ppm' }]);
const topics = createTopics('site');

function testReports(
  network = new NetworkState(),
  nameOf?: (mac: string) => string | undefined,
  labelled?: readonly string[],
) {
  const gatewaysWithLabels = () => labelled && new Set(labelled);
  return new TestReports({ topics, catalogue, network, nameOf, gatewaysWithLabels });
}

const makeUp = (filter: Partial<typeof ALL>, value?: unknown) =>
  testReports().makeUp({ ...ALL, ...filter }, { value });

/** Whether a node with this filter would get a report with this topic. */
function passes(filter: Partial<typeof ALL>, topic: string): boolean {
  const criteria = compileCriteria({ ...ALL, ...filter }, catalogue);
  const parsed = topics.parseReport(topic);
  assert.ok(criteria && parsed, topic);
  const dispatch = new Dispatch<string>();
  dispatch.add({ ...criteria.route, target: 'node' });
  return dispatch.match(readReportTopic(topic, parsed.gateway, parsed.device, parsed.rest)).length > 0;
}

describe('a report that is made up', () => {
  const made: [title: string, filter: Partial<typeof ALL>, report: object][] = [
    [
      'is a temperature without filters',
      {},
      { kind: 'measurement', name: 'temperature', value: 21.5, unit: '°C' },
    ],
    ['is an event counter', { kinds: ['event'] }, { kind: 'event', name: 'button-0-counter', value: 1 }],
    [
      'is a property',
      { kinds: ['property'] },
      { kind: 'property', name: 'battery-level', value: 80, unit: '%' },
    ],
    [
      'is a sample that can be acknowledged',
      { kinds: ['timestamped'] },
      { kind: 'timestamped', ack: true, value: 21.5, errorCode: null, tsAccuracy: 0 },
    ],
    [
      'is a raw sample that can be acknowledged',
      { kinds: ['timestamped'], form: 'raw' },
      { kind: 'timestamped', ack: true, value: 21.5, raw: '0866', identifier: '8800' },
    ],
    ['is a heartbeat of a healthy device', { kinds: ['heartbeat'] }, { kind: 'heartbeat', status: 0 }],
    ['has a parent and a signal', { kinds: ['rssi'] }, { kind: 'rssi', parent: '020000000001', rssi: -60 }],
    ['is of a property of the user', { identifiers: ['co2'] }, { name: 'co2', unit: 'ppm', value: 1 }],
    [
      'is of a property by its hex id',
      { identifiers: ['9800'], form: 'raw' },
      { kind: 'property', value: true },
    ],
    ['is of a property that nobody knows', { identifiers: ['ab12'] }, { identifier: 'ab12', value: '00' }],
    [
      'is of the device and the gateway',
      { gateways: ['c0:14:1f:68:fc:70'], devices: ['D0141F00A1B2'] },
      {
        gateway: 'c0141f68fc70',
        device: 'd0141f00a1b2',
      },
    ],
  ];
  for (const [title, filter, expected] of made) {
    it(title, () => {
      const { topic, report } = makeUp(filter);
      const found = Object.fromEntries(Object.keys(expected).map((key) => [key, report[key]]));
      assert.deepEqual(found, expected);
      assert.equal(report.test, true);
      assert.ok(passes(filter, topic), topic);
      assert.ok(Math.abs(Date.parse(report.time) - Date.now()) < 60_000);
    });
  }

  it('passes the filter, whatever the kind, the form and the property', () => {
    const kinds = ['property', 'measurement', 'measurement-error', 'event', 'timestamped', 'other'];
    for (const { id, name } of catalogue.rows) {
      for (const kind of kinds) {
        for (const form of ['raw', 'decoded', 'both'] as const) {
          const filter = { kinds: [kind], form, identifiers: [id || name] };
          if ((form === 'raw' && id === '') || (form === 'decoded' && name === '')) {
            if (kind !== 'other') {
              assert.throws(() => makeUp(filter), { code: 'INVALID_INPUT' }, JSON.stringify(filter));
            }
            continue;
          }
          assert.ok(passes(filter, makeUp(filter).topic), JSON.stringify(filter));
        }
      }
    }
  });

  it('is of a kind that the form lets through, and can be asked for again with a value', () => {
    for (const kinds of [
      ['heartbeat', 'property'],
      ['rssi', 'event'],
      ['dfu', 'other'],
    ]) {
      const filter = { kinds, form: 'decoded' as const };
      const { topic } = makeUp(filter);
      assert.ok(passes(filter, topic), topic);
      const tests = testReports();
      assert.equal(tests.makeUp({ ...ALL, ...filter }, { like: topic, value: 7 }).topic, topic);
    }
  });

  it('is of the first property that comes in this form', () => {
    for (const [form, identifiers, expected] of [
      ['raw', ['button-0-counter', 'temperature'], 'measurement/8800'],
      ['decoded', ['ab12', 'button-0-counter'], 'event-decoded/button-0-counter'],
      ['both', ['button-0-counter', 'temperature'], 'event-decoded/button-0-counter'],
    ] as const) {
      const filter = { form, identifiers: [...identifiers] };
      const { topic } = makeUp(filter);
      assert.ok(passes(filter, topic) && topic.endsWith(`/${expected}`), topic);
    }
  });

  it('is refused where no property comes in this form', () => {
    for (const [form, identifiers] of [
      ['raw', ['button-0-counter', 'button-1-counter']],
      ['decoded', ['ab12', 'ab13']],
    ] as const) {
      const refused = {
        code: 'INVALID_INPUT',
        cause: { field: 'identifiers', value: identifiers[0] },
      };
      assert.throws(() => makeUp({ form, identifiers: [...identifiers] }), refused);
    }
  });

  it('is refused where no report can pass', () => {
    for (const filter of [
      { kinds: ['heartbeat', 'rssi'], form: 'decoded' },
      { kinds: ['heartbeat'], identifiers: ['temperature'] },
      { kinds: ['property'], identifiers: ['a/b'] },
    ] as const) {
      const refused = { code: 'INVALID_INPUT', message: /kinds: no report can pass/ };
      assert.throws(() => makeUp(filter as never), refused, JSON.stringify(filter));
    }
  });

  it('has the value that is given, and says when the property cannot have it', () => {
    assert.equal(makeUp({ identifiers: ['temperature'] }, 35).report.value, 35);
    assert.equal(makeUp({ identifiers: ['8800'], form: 'raw' }, 35).report.value, 35);
    assert.equal(makeUp({ identifiers: ['battery-level'] }, null).report.value, null);
    for (const [filter, value] of [
      [{ identifiers: ['temperature'] }, 'warm'],
      [{ identifiers: ['temperature'] }, 4_000],
      [{ identifiers: ['button-0-counter'] }, 'often'],
      [{ identifiers: ['ab12'] }, 'no hex'],
      [{ kinds: ['heartbeat'] }, 1],
      [{ kinds: ['other'] }, 1],
    ] as const) {
      assert.throws(() => makeUp(filter as never, value), { code: 'INVALID_INPUT' }, JSON.stringify(filter));
    }
  });

  it('has the value that was asked for although the newest report, or the first kind, has none', () => {
    const network = new NetworkState();
    const topic = topics
      .reportFilter({
        ...{ gateway: 'c0141f68fc70', device: 'd0141f00a1b2', segment: 'rssi', identifier: '' },
      })
      .replace(/\/#$/, '');
    for (const kinds of [[], ['rssi', 'measurement']] as const) {
      const { report } = testReports(network).makeUp({ ...ALL, kinds }, { like: topic, value: 35 });
      const { kind, device, value } = report;
      assert.deepEqual([kind, device, value], ['measurement', 'd0141f00a1b2', 35]);
    }
  });

  it('is of the device that was heard last, through the gateway that hears it, with their names', () => {
    const network = new NetworkState();
    const names = new Map([['d0141f00a1b2', 'Lobby']]);
    for (const [device, gateway] of [
      ['d0141f00a1b1', 'c0141f68fc71'],
      ['d0141f00a1b2', 'c0141f68fc70'],
    ] as const) {
      network.record(readReportTopic('', gateway, device, 'heartbeat'), performance.now());
    }
    const tests = testReports(network, (mac) => names.get(mac));
    const { report } = tests.makeUp(ALL);
    assert.deepEqual(
      [report.device, report.gateway, report.deviceName],
      ['d0141f00a1b2', 'c0141f68fc70', 'Lobby'],
    );
    const other = tests.makeUp({ ...ALL, gateways: ['c0141f68fc71'] }).report;
    assert.deepEqual([other.device, other.gateway], ['d0141f00a1b1', 'c0141f68fc71']);
  });

  it('is of a device that a gateway of the filter hears beside others', () => {
    const network = new NetworkState();
    const [device, gateway] = ['d0141f00a1b1', 'c0141f68fc71'];
    for (const other of [gateway, 'c0141f68fc70']) {
      network.record(readReportTopic('', other, device, 'heartbeat'), performance.now());
    }
    const { report } = testReports(network).makeUp({ ...ALL, gateways: [gateway] });
    assert.deepEqual([report.device, report.gateway], [device, gateway]);
  });

  it('looks for a device among the 10 000 that were heard last', () => {
    const network = new NetworkState();
    const hear = (gateway: string, device: string, at: number) =>
      network.record(readReportTopic('', gateway, device, 'heartbeat'), at);
    const [device, gateway] = ['d0141f00a1b1', 'c0141f68fc71'];
    hear(gateway, device, 0);
    const deviceNow = () =>
      testReports(network).makeUp({ ...ALL, gateways: ['C0:14:1F:68:FC:71'] }).report.device;
    for (let n = 1; n < 10_000; n++) {
      hear('c0141f68fc70', `e${n.toString(16).padStart(11, '0')}`, n * 2_000);
    }
    assert.equal(deviceNow(), device);
    hear('c0141f68fc70', 'f00000000000', 10_000 * 2_000);
    assert.equal(deviceNow(), '020000000002');
  });

  describe('for a filter with labels', () => {
    const labels = ['hall'];
    const network = new NetworkState();
    for (const [device, gateway] of [
      ['d0141f00a1b1', 'c0141f68fc71'],
      ['d0141f00a1b2', 'c0141f68fc70'],
    ] as const) {
      network.record(readReportTopic('', gateway, device, 'heartbeat'), performance.now());
    }
    const makeUpWith = (labelled: readonly string[] | undefined, filter: Partial<typeof ALL> = {}) => {
      const { report } = testReports(network, undefined, labelled).makeUp({ ...ALL, labels, ...filter });
      return [report.device, report.gateway];
    };

    it('is of a device that a gateway with one of them hears', () => {
      const labelled = ['c0141f68fc71', 'c0141f68fc79'];
      assert.deepEqual(makeUpWith(labelled), ['d0141f00a1b1', 'c0141f68fc71']);
      const devices = ['d0141f00a1b2'];
      assert.deepEqual(makeUpWith(labelled.slice(0, 1), { devices }), ['d0141f00a1b2', 'c0141f68fc71']);
      const gateways = ['C0:14:1F:68:FC:79'];
      assert.deepEqual(makeUpWith(labelled, { gateways }), ['020000000002', 'c0141f68fc79']);
    });

    it('is refused where no gateway is known to carry one of them', () => {
      const refused = { code: 'INVALID_INPUT', message: /no gateway is known .* labels: hall/ };
      for (const [labelled, gateways] of [
        [undefined, []],
        [[], []],
        // A device is none.
        [['d0141f00a1b1'], []],
        [['c0141f68fc71'], ['c0141f68fc70']],
      ] as const) {
        assert.throws(() => makeUpWith(labelled, { gateways }), refused);
      }
      const several = { labels: ['hall', 'floor'] };
      const cause = { field: 'labels', value: 'hall, floor' };
      assert.throws(() => makeUpWith([], several), {
        code: 'INVALID_INPUT',
        message: /: hall, floor/,
        cause,
      });
    });

    it('is refused for a gateway that is none, whatever carries the labels', () => {
      const wrong = (error: { cause: { field: string } }) => error.cause.field === 'gateways';
      assert.throws(() => makeUpWith(['c0141f68fc71'], { gateways: ['x'] }), wrong);
    });
  });

  it('is like one that has passed, with another value', () => {
    const like = 'site/mt/gateway/c0141f68fc70/device/d0141f00a1b2/measurement/8802';
    const { topic, report } = testReports().makeUp(
      { ...ALL, identifiers: ['temperature'] },
      { like, value: 60 },
    );
    assert.deepEqual([topic, report.name, report.value, report.raw], [like, 'humidity', 60, '0258']);
  });
});

describe('a report that is like one that has passed', () => {
  for (const rest of [
    'measurement/8802',
    'measurement-decoded/humidity',
    'property/8800',
    'event-decoded/button-0-counter',
    'timestamped/8800',
    'heartbeat',
    'rssi',
    'dfu',
    'unheard-of/x',
    'unheard-of',
  ]) {
    it(`has its topic and is new: ${rest}`, () => {
      const like = `site/mt/gateway/c0141f68fc70/device/d0141f00a1b2/${rest}`;
      const { topic, report } = testReports().makeUp(ALL, { like });
      assert.deepEqual([topic, report.test, report.retained], [like, true, undefined]);
    });
  }
});

describe('a report that was received', () => {
  it('is read once more as it was, and marked', () => {
    const topic = 'site/mt/gateway/c0141f68fc70/device/d0141f00a1b2/measurement/8800';
    const payload = Buffer.from('{"time":"t","seq":7,"value":"0866"}');
    const [first, second] = [1, 2].map(() => testReports().again({ topic, payload }, true).report);
    assert.deepEqual([first?.value, first?.seq, first?.time, first?.test], [21.5, 7, 't', true]);
    assert.notEqual(first, second);
  });
});

describe('a topic that comes back', () => {
  it('passes where a report with it would, labels and all', () => {
    const tests = testReports(new NetworkState(), undefined, ['c0141f68fc70']);
    const topic = 'site/mt/gateway/c0141f68fc70/device/d0141f00a1b2/measurement/8800';
    const filter = { ...ALL, labels: ['hall'], kinds: ['measurement'], devices: ['d0141f00a1b2'] };
    assert.equal(tests.passes(filter, topic), true);
    assert.equal(
      tests.passes({ ...filter, labels: [] }, topic.replace('c0141f68fc70', 'c0141f68fc71')),
      true,
    );
    for (const other of [
      topic.replace('c0141f68fc70', 'c0141f68fc71'),
      topic.replace('d0141f00a1b2', 'd0141f00a1b1'),
      topic.replace('measurement', 'property'),
      'elsewhere',
    ]) {
      assert.equal(tests.passes(filter, other), false, other);
    }
    assert.equal(testReports().passes(filter, topic), false);
  });
});
