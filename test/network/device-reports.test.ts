// The newest reports of the devices that people look at: what a line says, what is remembered, and what all of it costs.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { DeviceReports } from '../../src/network/device-reports.ts';
import { LastValues } from '../../src/network/last-values.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { readReport, readReportTopic } from '../../src/protocol/reports/index.ts';

const G = 'c0141f68fc3d';
const NODE = 'e00000000001';
const D = 'd00000000001';
const TIME = '2026-01-02T03:04:05.678Z';
const MINUTE = 60_000;

describe('the reports of a device', () => {
  const catalogue = createCatalogue([{ id: 'f001', name: 'note', type: 'utf8' }]);
  let now: number;
  let network: NetworkState;
  let lastValues: LastValues;
  let reports: DeviceReports;

  const names = new Map([
    [G, 'Hall'],
    [NODE, 'Stairs'],
  ]);
  const open = () => new DeviceReports({ network, catalogue, lastValues, nameOf: (id) => names.get(id) });

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    now = 1_000.5;
    network = new NetworkState({ now: () => now });
    lastValues = new LastValues(catalogue, { now: () => now });
    reports = open();
  });
  afterEach(() => {
    reports.close();
    mock.timers.reset();
  });

  const deviceAt = (i: number) => (0xd00000000000 + i).toString(16);

  function hear(rest: string, body: object = {}, { device = D, decode = true } = {}): void {
    now += 1_000;
    const at = readReportTopic('t', G, device, rest);
    const report = readReport(at, { time: TIME, ...body }, catalogue, decode, false);
    network.record(at, now, report);
    lastValues.recordReport(report, now);
  }
  const lines = (device = D) => reports.poll(device);
  const values = () => lines().map(({ value }) => value);

  it('are those that come while somebody looks, the newest first and no more than fifty', () => {
    assert.deepEqual(lines(), []);
    for (let seq = 0; seq < 60; seq++) {
      hear('measurement-decoded/temperature', { seq, value: seq });
      hear('measurement-decoded/temperature', { seq, value: -seq }, { device: deviceAt(2) });
    }
    assert.deepEqual(
      values(),
      Array.from({ length: 50 }, (_, i) => 59 - i),
    );
    const [{ heard, ...line } = {} as never, next] = lines();
    assert.deepEqual(line, {
      ...{ id: 59, time: TIME, kind: 'measurement', identifier: 'temperature', name: 'temperature' },
      ...{ value: 59, unit: '°C', error: null, gateway: G, gatewayName: 'Hall' },
      ...{ parent: null, parentName: null, rssi: null },
    });
    assert.ok(Date.parse(heard) > Date.parse(next?.heard ?? ''));
  });

  it('say what came of a signal, an error, an event without a value and a kind that is not known', () => {
    lines();
    hear('rssi', { rssi: -67, parent: NODE });
    hear('heartbeat', { seq: 1, status: 3 });
    hear('measurement-error/8800', { seq: 1, error: 4 });
    hear('event-decoded/motion', { seq: 1 });
    hear('weather/now', { deep: { sun: true } });
    const [other, ...known] = lines();
    assert.deepEqual(
      known.map(({ kind, name, value, error, parent, rssi }) => [kind, name, value, error, parent, rssi]),
      [
        ['event', 'motion', null, null, null, null],
        ['measurement-error', 'temperature', null, 4, null, null],
        ['heartbeat', null, null, 3, null, null],
        ['rssi', null, null, null, NODE, -67],
      ],
    );
    assert.equal(known.at(-1)?.parentName, 'Stairs');
    assert.equal(other?.kind, 'other');
    assert.match(String(other?.value), /"deep":\{"sun":true\}/);
  });

  it('have the value that the catalogue reads, also where no flow has it decoded', () => {
    lines();
    hear('measurement/8800', { seq: 1, value: 'ce08' }, { decode: false });
    hear('measurement/8800', { seq: 1, value: 'ce08' });
    hear('measurement/ffff', { seq: 1, value: 'ce08' });
    const [unknown, decoded, raw] = values();
    assert.deepEqual([unknown, typeof decoded, raw], ['ce08', 'number', decoded]);
  });

  it('show true and false, and nothing where a value is not known or has failed', () => {
    lines();
    hear('property-decoded/alarm', { seq: 1, value: true });
    hear('property-decoded/battery-level', { seq: 2, value: null });
    hear('timestamped/8800', { seq: 3, flags: '04', value: '0508' });
    hear('heartbeat', { seq: 4, status: 0 });
    assert.deepEqual(
      lines().map(({ value, error }) => [value, error]),
      [
        [null, null],
        [null, 5],
        [null, null],
        [true, null],
      ],
    );
  });

  it('name a parent only where it is another one than the gateway, and a signal only where it is a number', () => {
    lines();
    hear('rssi', { rssi: -67, parent: G });
    hear('rssi', { rssi: Number.POSITIVE_INFINITY, parent: 'the one upstairs' });
    assert.deepEqual(
      lines().map(({ parent, rssi }) => [parent, rssi]),
      [
        [null, null],
        [null, -67],
      ],
    );
  });

  it('begin with what is remembered: the last value of each property and the last signals', () => {
    hear('measurement-decoded/temperature', { seq: 1, value: 20 });
    hear('measurement-decoded/temperature', { seq: 2, value: 21 });
    hear('rssi', { rssi: -50, parent: G });
    hear('event-decoded/motion', { seq: 3 });
    lastValues = new LastValues(catalogue);
    hear('property-decoded/battery-level', { seq: 4, value: 80 });
    network.recordRead(D, 'tx-power', 4, TIME);
    reports = open();
    const known = lines().map(({ kind, name, value, rssi, gateway }) => [kind, name, value, rssi, gateway]);
    assert.deepEqual(known.slice(0, 1), [['property', 'battery-level', 80, null, G]]);
    assert.deepEqual(known[1]?.slice(0, 2), ['event', 'motion']);
    assert.deepEqual(known.slice(2), [
      ['rssi', null, null, -50, G],
      [null, 'temperature', 21, null, null],
    ]);
    hear('heartbeat', { seq: 5 });
    assert.deepEqual(
      lines().map(({ kind }) => kind),
      ['heartbeat', 'property', 'event', 'rssi', null],
    );
  });

  it('begin with no more than fifty that are remembered, the last ones', () => {
    for (let seq = 1; seq <= 60; seq++) {
      hear(`measurement-decoded/m${seq}`, { seq, value: seq });
    }
    assert.deepEqual(
      values(),
      Array.from({ length: 50 }, (_, i) => 60 - i),
    );
  });

  it('begin with signals by the node between, and values with the time that the gateway gave', () => {
    hear('rssi', { rssi: -50, parent: NODE });
    hear('rssi', { rssi: -60, parent: G });
    hear('measurement-decoded/temperature', { seq: 1, value: 20 });
    assert.deepEqual(
      lines().map(({ gateway, parent, parentName, time }) => [gateway, parent, parentName, time]),
      [
        [G, null, null, TIME],
        [G, null, null, null],
        [G, NODE, 'Stairs', null],
      ],
    );
  });

  it('begin with an event only where the last value is one', () => {
    lastValues = new LastValues(catalogue);
    const at = (rest: string) => readReportTopic('t', G, D, rest);
    const remember = () => {
      reports = open();
      return lines().map(({ kind, identifier }) => [kind, identifier]);
    };
    now += 1_000;
    network.record(at('event-decoded/motion'), now);
    network.record(at('measurement-decoded/temperature'), now);
    assert.deepEqual(remember(), [
      [null, 'temperature'],
      ['event', 'motion'],
    ]);
    now += 1_000;
    network.record(at('property-decoded/motion'), now);
    assert.deepEqual(remember()[0], [null, 'motion']);
  });

  it('begin with the kind and the gateway of a report only where that is the one with the last value', () => {
    hear('measurement-decoded/temperature', { seq: 1, value: 20 });
    lastValues = new LastValues(catalogue, { now: () => now });
    lastValues.recordRead({ gateway: G, device: D, identifier: 'temperature', value: 20, time: TIME });
    const first = () => {
      reports = open();
      return lines().map(({ kind, gateway }) => [kind, gateway]);
    };
    assert.deepEqual(first(), [[null, null]], 'a response was no report');
    const report = readReport(
      readReportTopic('t', G, D, 'measurement-decoded/temperature'),
      { time: '2026-01-01T00:00:00.000Z', seq: 1, value: 19 },
      catalogue,
      true,
      false,
    );
    lastValues.recordReport(report, now);
    assert.deepEqual(first(), [[null, null]], 'one of another time');
    lastValues.recordReport({ ...report, time: TIME }, now);
    assert.deepEqual(first(), [['measurement', G]]);
  });

  it('are kept for a minute after the last look, and cost a report nothing when nobody looks', () => {
    let listeners = 0;
    const { onHeard } = network;
    network.onHeard = (listener) => {
      listeners++;
      const end = onHeard.call(network, listener);
      return () => {
        listeners--;
        return end();
      };
    };
    lines();
    lines(deviceAt(2));
    mock.timers.tick(MINUTE - 1);
    hear('heartbeat', { seq: 1 });
    assert.deepEqual([lines().length, listeners], [1, 1]);
    mock.timers.tick(MINUTE - 1);
    assert.equal(listeners, 1);
    mock.timers.tick(1);
    assert.deepEqual([listeners, reports.size], [0, 0]);
  });

  it('are of sixteen devices at a time: the one that nobody has asked for longest goes first', () => {
    for (let i = 1; i <= 16; i++) {
      lines(deviceAt(i));
    }
    hear('heartbeat', { seq: 1 }, { device: deviceAt(1) });
    hear('heartbeat', { seq: 1 }, { device: deviceAt(2) });
    lines(deviceAt(1));
    lines(deviceAt(17));
    assert.deepEqual([reports.size, lines(deviceAt(1)).length], [16, 1]);
    assert.equal(lines(deviceAt(2)).length, 0, 'begins anew');
  });

  it('are short, whatever a gateway sends', () => {
    lines();
    const long = 'x'.repeat(100_000);
    hear(`measurement-decoded/${long}`, { seq: 1, time: long, value: { long: [long] } });
    hear('rssi', { rssi: 'loud', parent: long });
    const [signal, line] = lines();
    assert.deepEqual([signal?.rssi, signal?.parent, line?.time], [null, null, null]);
    assert.ok(JSON.stringify(line).length < 1_000);
    hear('heartbeat', { seq: 2, time: '2'.repeat(40) });
    assert.equal(lines()[0]?.time?.length, 40);
  });

  it('are decoded where they are not too long for it', () => {
    lines();
    hear('measurement/f001', { seq: 1, value: '41'.repeat(1_000) }, { decode: false });
    hear('measurement/f001', { seq: 2, value: '41'.repeat(1_001) }, { decode: false });
    const [hex, text] = values();
    assert.match(String(text), /^AAA/);
    assert.match(String(hex), /^4141/);
  });

  it('go on over a deploy, however long it takes and whether anybody looks', () => {
    lines();
    hear('heartbeat', { seq: 1 });
    reports.close();
    mock.timers.tick(MINUTE);
    const before = reports;
    reports = open();
    reports.takeOver(before);
    hear('heartbeat', { seq: 2 });
    assert.deepEqual(
      lines().map(({ id }) => id),
      [1, 0],
    );
    mock.timers.tick(MINUTE);
    assert.equal(reports.size, 0);
    const after = open();
    after.takeOver(reports);
    assert.equal(after.size, 0);
  });
});
