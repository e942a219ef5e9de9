// All reports of the network while people look: what the broker is asked for, and what flows get of it, which is nothing.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { SILENT } from '../../src/log.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { batteryOf } from '../../src/network/readings.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { EVERYTHING, Everything } from '../../src/reports/everything.ts';
import { compileCriteria } from '../../src/reports/report-filter.ts';
import { Reports } from '../../src/reports/reports.ts';

const G = 'c0141f68fc3d';
const D = 'd00000000001';
const ALL = 'mt/gateway/+/device/+/#';
const EVENTS = { kinds: ['event'], form: 'both', gateways: [], devices: [], identifiers: [] } as const;

describe('everything', () => {
  const catalogue = createCatalogue();
  let network: NetworkState;
  let reports: Reports;
  let everything: Everything;
  let opened: number;
  let ended: number;
  let warnings: string[];

  const open = (isShared = false) => {
    network = new NetworkState();
    warnings = [];
    const log = { ...SILENT, warn: (text: string) => void warnings.push(text) };
    reports = new Reports(createTopics(''), catalogue, network, log, { isShared });
    everything = new Everything(reports, catalogue, () => {
      opened++;
      return () => void opened--;
    });
  };

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    [opened, ended] = [0, 0];
    open();
  });
  afterEach(() => {
    everything.close();
    mock.timers.reset();
  });

  /** Whether all reports there are come by what is asked for. */
  const covered = () => reports.serving(EVERYTHING).length > 0;

  const listen = () => everything.listen(() => void ended++);
  const asked = () => [reports.filters(), reports.previewFilters()];
  /** Over the connection of those who look, and over that of flows what these have asked for. */
  const deliver = (rest: string, payload = '{"time":"t","seq":1}') => {
    const message = [`mt/gateway/${G}/device/${D}/${rest}`, Buffer.from(payload), false] as const;
    if (rest.startsWith('event')) {
      reports.deliver(...message);
    }
    reports.deliverPreview(...message);
  };

  it('is asked for once, however many look, and until nobody has asked for 15 seconds', () => {
    assert.deepEqual([listen(), listen(), opened], [15, 15, 1]);
    assert.deepEqual(asked(), [[], [ALL]]);
    mock.timers.tick(14_000);
    listen();
    mock.timers.tick(14_999);
    assert.deepEqual([everything.isWanted, ended], [true, 0]);
    mock.timers.tick(1);
    assert.deepEqual([everything.isWanted, ended, opened], [false, 1, 0]);
    assert.deepEqual(asked(), [[], []]);
    deliver('heartbeat');
    assert.equal(network.device(D), undefined);
  });

  it('is recorded, and reaches no flow that has not asked for it', () => {
    const received: string[] = [];
    const criteria = compileCriteria(EVENTS, catalogue);
    assert.ok(criteria);
    reports.add(criteria, true, { report: ({ kind }) => received.push(kind), error() {} });
    listen();
    assert.deepEqual(asked()[1], [ALL]);
    assert.equal(covered(), true);
    deliver('heartbeat');
    assert.equal(network.device(D)?.isWanted, false);
    deliver('event/8200');
    assert.deepEqual(
      [received, network.device(D)?.reports, network.device(D)?.isWanted],
      [['event'], 2, true],
    );
  });

  it('is recorded with the values that raw reports stand for, and what cannot be read is no news', () => {
    listen();
    asked();
    deliver('property/8100', '{"time":"t","seq":1,"value":"50"}');
    deliver('heartbeat', 'no JSON');
    const device = network.device(D);
    assert.equal(device && batteryOf(device, catalogue), 80);
    assert.deepEqual(warnings, []);
  });

  it('is not asked for where a flow has it anyway, and in a shared group', () => {
    const criteria = compileCriteria({ ...EVENTS, kinds: [] }, catalogue);
    assert.ok(criteria);
    const { remove } = reports.add(criteria, true, { report() {}, error() {} });
    listen();
    assert.deepEqual([asked(), covered()], [[[ALL], []], true]);
    remove();
    everything.close();
    open(true);
    listen();
    assert.deepEqual([asked(), covered()], [[[], []], false]);
  });
});
