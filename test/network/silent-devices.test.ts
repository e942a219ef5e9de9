// Which of some devices have not been heard for long: those that flows wait for.
import assert from 'node:assert/strict';
import { SILENT } from '../../src/log.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { findSilent } from '../../src/network/silent-devices.ts';
import { wallTime } from '../../src/network/wall-time.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { compileCriteria, type TopicCriteria } from '../../src/reports/report-filter.ts';
import { Reports } from '../../src/reports/reports.ts';

const [G, G2] = ['c0141f68fc3d', 'c0141f68fc3e'] as const;
const [D, E, F] = ['d00000000001', 'd00000000002', 'd00000000003'] as const;
const MINUTE = 60_000;

describe('a device that flows wait for', () => {
  const catalogue = createCatalogue();
  let now: number;
  let network: NetworkState;
  let unheard: Set<string>;

  beforeEach(() => {
    now = 1_000.5;
    network = new NetworkState({ now: () => now });
    network.setListening(true, false);
    unheard = new Set();
  });

  const hear = (device: string, gateway: string = G) =>
    network.record(readReportTopic('t', gateway, device, 'heartbeat'), now, { time: 't' } as Report);
  const silent = (...macs: string[]) =>
    findSilent({ network, catalogue, isHeard: (mac) => !unheard.has(mac) }, macs);
  const pass = (minutes: number, ...heard: string[]) => {
    for (let i = 0; i < minutes; i++) {
      now += MINUTE;
      heard.forEach((device) => {
        hear(device);
      });
    }
  };

  it('is silent after three times its usual interval', () => {
    pass(12, D, G);
    pass(3, G);
    assert.deepEqual(silent(D, G), {});
    const heardAt = now - 3 * MINUTE;
    pass(1, G);
    assert.deepEqual(silent(D, G), { [D]: wallTime(heardAt) });
    pass(4);
    assert.deepEqual(Object.keys(silent(D, G)), [D, G], 'and so is a gateway');
  });

  it('is silent for an hour where its usual interval is not known', () => {
    hear(D);
    pass(60);
    assert.deepEqual(silent(D), {});
    pass(1);
    assert.deepEqual(Object.keys(silent(D)), [D]);
  });

  it('is not silent where it needs somebody for another reason', () => {
    pass(12, D);
    const failing = { time: 't', status: 3 } as unknown as Report;
    network.record(readReportTopic('t', G, D, 'heartbeat'), now, failing);
    assert.deepEqual(silent(D, G), {});
  });

  it('was never heard, when the service has listened for ten minutes', () => {
    pass(9);
    assert.deepEqual(silent(E), {});
    network.setListening(false, false);
    pass(10);
    assert.deepEqual(silent(E), {}, 'nobody is heard without a broker');
    network.setListening(true, false);
    pass(1);
    assert.deepEqual(silent(E), { [E]: null });
    assert.deepEqual(silent('no mac', E.toUpperCase(), ''), {}, 'what is none is nobody');
    const next = new NetworkState({ now: () => now });
    next.takeOver(network);
    network = next;
    network.setListening(true, false);
    assert.deepEqual(silent(E), { [E]: null }, 'over a deploy, too');
  });

  it('is not missed where no flow would hear it', () => {
    pass(20);
    unheard.add(F);
    assert.deepEqual(silent(E, F), { [E]: null });
  });

  it('is not silent where flows do not ask for it any more, but while people listen', () => {
    const asked = new Set([`${G} ${D}`, `${G} `, `${G2} ${E}`, `${G2} `]);
    network = new NetworkState({
      now: () => now,
      isWanted: (gateway, device = '') => asked.has(`${gateway} ${device}`),
    });
    network.setListening(true, false);
    const hearBoth = () => {
      hear(D);
      hear(E, G2);
    };
    for (let i = 0; i < 12; i++) {
      hearBoth();
      pass(1);
    }
    // A deploy: of the second gateway nothing is asked for any more.
    asked.delete(`${G2} ${E}`);
    asked.delete(`${G2} `);
    pass(9);
    assert.deepEqual(Object.keys(silent(D, E, G, G2)), [D, G]);
    network.setListening(true, true);
    pass(9);
    assert.deepEqual(Object.keys(silent(D, E, G, G2)), [D, E, G, G2]);
  });

  it('would be heard where a flow asks for any of its reports', () => {
    const reports = new Reports(createTopics(''), catalogue, network, SILENT);
    const add = (filter: Partial<TopicCriteria>) => {
      const any = { kinds: [], form: 'both', gateways: [], devices: [], identifiers: [] } as const;
      const criteria = compileCriteria({ ...any, ...filter }, catalogue);
      assert.ok(criteria);
      return reports.add(criteria, true, { report() {}, error() {} });
    };
    const heard = () => [D, E].filter((mac) => reports.wantedDevices(mac));
    assert.deepEqual(heard(), []);
    add({ devices: [D], kinds: ['event'] });
    assert.deepEqual(heard(), [D]);
    const { remove } = add({ gateways: [G], identifiers: ['temperature'] });
    assert.deepEqual(heard(), [D, E]);
    remove();
    assert.deepEqual(heard(), [D]);
  });
});
