// What reports have shown: who hears whom how well, values, errors, silence, and what all of it may take of the memory.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NO_ERRORS, shownError } from '../../src/network/device-errors.ts';
import type { DeviceState, GatewayState } from '../../src/network/device-state.ts';
import { usualIntervalMs } from '../../src/network/interval.ts';
import { KnownPlace } from '../../src/network/known-place.ts';
import { bestSignal } from '../../src/network/links.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { signalOf } from '../../src/network/presence.ts';
import { DEFAULT_LIMITS } from '../../src/protocol/conditions.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';
import { itAtScale } from '../at-scale.ts';
import { usedMemory } from '../memory.ts';

const G = 'c0141f68fc3d';
const G2 = 'c0141f68fc3e';
const D = 'd00000000001';
const PARENT = 'e00000000001';
const TIME = '2026-01-02T03:04:05.678Z';
const S = 1_000;
const MINUTE = 60 * S;

describe('the state of a network', () => {
  let now: number;
  let network: NetworkState;

  beforeEach(() => {
    now = 1_000.5;
    network = new NetworkState({ now: () => now });
    network.setListening(true, false);
  });

  const deviceAt = (i: number) => (0xd00000000000 + i).toString(16);

  function hear(rest: string, body: object = {}, { gateway = G, device = D, isWanted = true } = {}): void {
    const report = { time: TIME, ...body } as Report;
    network.record(readReportTopic('t', gateway, device, rest), now, report, isWanted);
  }

  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
  const known = (device = D) => network.device(device) as DeviceState;
  const shown = () => shownError(known());
  const rssi = (value: number, gateway: string, more: object = {}) =>
    hear('rssi', { rssi: value, parent: gateway, ...more }, { gateway });

  describe('says which gateway a request goes to', () => {
    it('the one that heard the device last, where no signal is known', () => {
      hear('heartbeat');
      hear('heartbeat', {}, { gateway: G2 });
      assert.equal(network.gatewayOf(D), G2);
      now++;
      hear('heartbeat');
      assert.equal(network.gatewayOf(D), G);
      assert.equal(network.gatewayOf(deviceAt(9)), undefined);
    });

    it('the one with the best signal, though another one has heard it since', () => {
      rssi(-60, G);
      rssi(-80, G2);
      now += MINUTE;
      hear('heartbeat', {}, { gateway: G2 });
      assert.equal(network.gatewayOf(D), G);
    });

    it('not another one for a difference that comes and goes', () => {
      rssi(-60, G);
      rssi(-70, G2);
      assert.equal(network.gatewayOf(D), G);
      rssi(-56, G2);
      assert.equal(network.gatewayOf(D), G);
      rssi(-53, G2);
      assert.equal(network.gatewayOf(D), G2);
      rssi(-58, G);
      assert.equal(network.gatewayOf(D), G2);
    });

    it('not by a signal of long ago, nor through a parent that cannot reach the device', () => {
      rssi(-50, G);
      now += 6 * MINUTE;
      rssi(-80, G2);
      assert.equal(network.gatewayOf(D), G2);
      rssi(-40, G, { unreachable: true });
      assert.equal(network.gatewayOf(D), G2);
    });

    it('only one of those that may be asked, which is no other way for the next request', () => {
      rssi(-60, G);
      rssi(-80, G2);
      assert.equal(network.gatewayOf(D, new Set([G2])), G2);
      assert.equal(network.gatewayOf(D, new Set([PARENT])), undefined);
      assert.equal(network.gatewayOf(D), G);
      rssi(-56, G2);
      assert.equal(network.gatewayOf(D, new Set([G2])), G2);
      assert.equal(network.gatewayOf(D), G, 'a difference that comes and goes');
    });

    it('one for a gateway itself to that gateway, however well another one hears it, where it may be asked', () => {
      rssi(-60, G);
      hear('rssi', { rssi: -40, parent: G2 }, { gateway: G2, device: G });
      assert.equal(network.gatewayOf(G), G);
      assert.equal(network.gatewayOf(G, new Set([G, G2])), G);
      assert.equal(network.gatewayOf(G, new Set([G2])), G2);
      hear('heartbeat', {}, { gateway: G2, device: D });
      assert.equal(network.gatewayOf(G2), G2, 'though it has reported nothing of itself');
    });

    it('one for what was a gateway once to the one that reports it now', () => {
      const pass = (minutes: number) => {
        for (let i = 0; i < minutes; i++) {
          now += MINUTE;
          hear('heartbeat', {}, { gateway: G2, device: G });
        }
      };
      hear('heartbeat', {}, { device: G });
      pass(60);
      assert.equal(network.gatewayOf(G), G);
      pass(1);
      assert.equal(network.gatewayOf(G), G2);
      assert.equal(network.gatewayOf(G, new Set([G])), G, 'no other one may be asked');
      hear('heartbeat');
      assert.equal(network.gatewayOf(G), G, 'it is one again');
      now += 60 * MINUTE;
      assert.equal(network.gatewayOf(G), G, 'nobody hears it');
    });

    it('one for a gateway that brings something seldom to itself, whoever hears it meanwhile', () => {
      for (let minute = 0; minute < 300; minute++) {
        now += MINUTE;
        hear('heartbeat', {}, { gateway: minute % 20 === 0 ? G : G2, device: G });
        assert.equal(network.gatewayOf(G), G);
      }
    });

    it('one for what was a gateway once as soon as three of its usual intervals are over, where they are known', () => {
      for (let minute = 0; minute < 60; minute++) {
        now += MINUTE;
        hear('heartbeat', {}, { device: G });
      }
      for (let minute = 1; minute <= 6; minute++) {
        now += MINUTE;
        hear('heartbeat', {}, { gateway: G2, device: G });
        assert.equal(network.gatewayOf(G), minute <= 5 ? G : G2);
      }
    });

    it('one for a gateway that nobody else hears to itself, however long it is silent', () => {
      hear('heartbeat');
      now += 61 * MINUTE;
      assert.equal(network.gatewayOf(G), G);
      hear('heartbeat', {}, { device: G });
      hear('heartbeat', {}, { device: G, gateway: G2 });
      now += 61 * MINUTE;
      assert.equal(network.gatewayOf(G), G, 'another one has heard it at the same time, not since');
    });

    it('one for a gateway to itself after an outage of the broker, until it is back', () => {
      hear('heartbeat', {}, { device: G });
      network.setListening(false, false);
      now += 60 * MINUTE;
      network.setListening(true, false);
      hear('heartbeat', {}, { gateway: G2, device: G });
      assert.equal(network.gatewayOf(G), G);
    });

    it('not one that has brought nothing of it for more than a minute in which another one has', () => {
      const hearByOther = () => {
        now += 10 * S;
        rssi(-80, G2);
      };
      rssi(-60, G);
      range(0, 6).forEach(hearByOther);
      assert.equal(network.gatewayOf(D), G);
      range(0, 2).forEach(hearByOther);
      assert.equal(network.gatewayOf(D), G2);
      hear('measurement/8800', { value: 1 });
      assert.equal(network.gatewayOf(D), G, 'it is there again');
    });

    it('one that may bring the next report of a device that reports seldom, and not one that has missed it', () => {
      for (let i = 0; i < 10; i++) {
        now += 2 * MINUTE;
        rssi(-60, G);
        rssi(-80, G2);
      }
      now += 2 * MINUTE;
      rssi(-80, G2);
      assert.equal(network.gatewayOf(D), G);
      now += 2 * MINUTE;
      rssi(-80, G2);
      assert.equal(network.gatewayOf(D), G2);
    });

    it('by the signal of a node that is heard with pauses, as long as its gateway brings anything', () => {
      hear('rssi', { rssi: -50, parent: PARENT });
      for (let i = 0; i < 4; i++) {
        now += MINUTE;
        rssi(-60, G2);
        hear('measurement/8800', { value: 1 });
      }
      assert.equal(network.gatewayOf(D), G);
    });

    it('by the signal of a node between gateway and device, too', () => {
      hear('rssi', { rssi: -50, parent: PARENT.toUpperCase() }, { gateway: G2 });
      rssi(-70, G);
      assert.equal(network.gatewayOf(D), G2);
      const links = known().links.map(({ gateway, parent, signal }) => [gateway, parent, signal?.rssi]);
      assert.deepEqual(links, [
        [G2, G2, undefined],
        [G2, PARENT, -50],
        [G, G, -70],
      ]);
    });
  });

  it('knows how well each parent hears a device, and the best of them within a time', () => {
    rssi(-60, G, { channel: 38 });
    now += MINUTE;
    rssi(-80, G2);
    assert.deepEqual(known().links[0]?.signal, {
      rssi: -60,
      heardAt: 1_000.5,
      channel: 38,
      isUnreachable: false,
    });
    assert.equal(bestSignal(known().links, 2 * MINUTE), -60);
    now += 4 * MINUTE + 1;
    rssi(-80, G2);
    assert.equal(bestSignal(known().links, 6 * MINUTE), -60);
    assert.equal(bestSignal(known().links, 5 * MINUTE), -80);
    hear('heartbeat', {}, { device: deviceAt(2) });
    assert.equal(bestSignal(known(deviceAt(2)).links, MINUTE), undefined);
  });

  it('takes no device for badly heard because a bad parent was heard last, nor because time has passed', () => {
    rssi(-59, G);
    now += 3 * MINUTE;
    rssi(-99, G2);
    assert.equal(signalOf(known()), -59);
    now += 20 * MINUTE;
    assert.equal(signalOf(known()), -59);
    assert.deepEqual([signalOf(known(), G), signalOf(known(), G2)], [-59, -99]);
    const limitsOf = (silentAfter: number) => ({ ...DEFAULT_LIMITS, silentAfter });
    const signals = [179, 180].map((seconds) => signalOf(known(), undefined, limitsOf(seconds)));
    assert.deepEqual(signals, [-99, -59], 'a time that is set counts');
  });

  it('takes what stands for no signal, and a parent that cannot reach the device, for no better one', () => {
    rssi(-60, G);
    rssi(-40, G2, { unreachable: true });
    assert.equal(bestSignal(known().links, MINUTE), -60);
    for (const none of [0, 127, Number.POSITIVE_INFINITY]) {
      rssi(none, G2);
      assert.equal(bestSignal(known().links, MINUTE), -60);
      assert.equal(network.gatewayOf(D), G);
    }
    rssi(-40, G2);
    assert.equal(bestSignal(known().links, MINUTE), -40);
  });

  describe('of more ways to a device than it keeps', () => {
    const parentAt = (i: number) => (0xe00000000000 + i).toString(16);
    const far = (from: number, to: number, signal = -92) => {
      for (let i = from; i < to; i++) {
        now += 3 * S;
        hear('rssi', { rssi: signal, parent: parentAt(i) });
      }
    };
    const parents = () => known().links.map(({ parent }) => parent);

    it('leaves out the worst signals, not the best one nor the gateway', () => {
      far(1, 10);
      far(0, 1, -60);
      for (let round = 0; round < 2; round++) {
        far(10, 40);
        assert.equal(signalOf(known()), -60);
      }
      assert.equal(known().links.length, 16);
      assert.deepEqual(parents().slice(0, 1), [G]);
      far(50, 64, -91);
      assert.deepEqual(parents().sort(), [G, parentAt(0), ...range(50, 64).map(parentAt)].sort());
    });

    it('leaves out a node that cannot reach it before a bad signal', () => {
      far(0, 14);
      hear('rssi', { rssi: -50, parent: parentAt(14), unreachable: true });
      far(15, 16);
      assert.equal(parents().includes(parentAt(14)), false);
      assert.equal(known().links.length, 16);
    });

    it('leaves out first what was not heard for long, by how often the device is heard', () => {
      const [first, ...others] = range(0, 15).map(parentAt);
      for (const [everyMs, isGone] of [
        [30 * S, true],
        [10 * MINUTE, false],
      ] as const) {
        const device = deviceAt(everyMs);
        const at = (parent = '', signal = -92) => hear('rssi', { rssi: signal, parent }, { device });
        const pass = (ms: number, parents: readonly string[]) => {
          for (const end = now + ms; now < end; now += everyMs) {
            parents.forEach((parent) => void at(parent));
          }
        };
        pass(60 * MINUTE, others);
        at(first, -60);
        pass(20 * MINUTE, others);
        at(parentAt(20), -95);
        assert.equal(
          known(device).links.some(({ parent }) => parent === first),
          !isGone,
        );
      }
    });

    it('of gateways keeps the one that brings most, and of the others those that hear it best', () => {
      for (let i = 0; i < 3; i++) {
        hear('heartbeat', {}, { gateway: G2 });
      }
      rssi(-50, G);
      range(0, 20).forEach((i) => void rssi(-80, parentAt(i)));
      assert.deepEqual(parents().slice(0, 2), [G2, G]);
      assert.equal(known().links.length, 16);
    });

    it('keeps the gateway whose node is added, though all others are gateways with signals', () => {
      const gatewayAt = (i: number) => (0xc00000000000 + i).toString(16);
      range(0, 16).forEach((i) => void rssi(-90, gatewayAt(i)));
      for (let i = 0; i < 5; i++) {
        now += S;
        hear('rssi', { rssi: -40, parent: PARENT }, { gateway: gatewayAt(16) });
      }
      const ways = known().links.filter(({ gateway }) => gateway === gatewayAt(16));
      assert.deepEqual(
        ways.map(({ parent, reports, signal }) => [parent, reports, signal?.rssi]),
        [
          [gatewayAt(16), 5, undefined],
          [PARENT, 5, -40],
        ],
      );
      assert.equal(known().links.length, 16);
    });
  });

  it('counts the devices of a gateway, and itself among them where it reports of itself', () => {
    for (const device of [deviceAt(1), deviceAt(2), deviceAt(2), G]) {
      hear('heartbeat', {}, { device });
    }
    hear('heartbeat', {}, { gateway: G2 });
    assert.deepEqual([network.gateway(G)?.devices, network.gateway(G2)?.devices], [3, 1]);
    for (let i = 0; i < 16; i++) {
      now++;
      hear('heartbeat', {}, { gateway: (0xa00000000000 + i).toString(16) });
    }
    assert.deepEqual([network.gateway(G)?.devices, network.gateway(G2)?.devices], [2, 0]);
    assert.equal(known().links.length, 16);
  });

  it('keeps of a value what can be shown at a glance, with the time that the gateway gave', () => {
    hear('measurement/8800', { value: 21.5 });
    hear('property/8005', { value: { chip: 1 } });
    hear('property/8200', { value: { config: 1, list: ['x'.repeat(200)] } });
    hear('property/8001', { value: 'x'.repeat(41) });
    hear('property/8002', { value: true, time: 'x'.repeat(41) });
    const values = known().values.map(({ identifier, value, time }) => [identifier, value, time]);
    assert.deepEqual(values, [
      ['8800', 21.5, TIME],
      ['8005', '{"chip":1}', TIME],
      ['8200', `{"config":1,"list":["${'x'.repeat(178)}…`, TIME],
      ['8001', undefined, TIME],
      ['8002', true, undefined],
    ]);
    hear('timestamped/8800', { value: 5, backfill: true });
    hear('measurement-error/8800', { error: 3 });
    assert.equal(known().values[0]?.value, 21.5);
    hear('measurement/8800', { value: null });
    assert.equal(known().values[0]?.value, undefined, 'an old value is not shown for a new one');
  });

  it('takes the response to a read for the last value, and not for a report', () => {
    hear('measurement/8800', { value: 21.5 });
    const heardAt = now;
    now += MINUTE;
    network.recordRead(D, '8800', 22, TIME);
    network.recordRead(D, '8000', '3.4.1', undefined);
    network.recordRead(deviceAt(9), '8000', '3.4.1', undefined);
    const values = known().values.map(({ identifier, value, time, reports }) => [
      identifier,
      value,
      time,
      reports,
    ]);
    assert.deepEqual(values, [
      ['8800', 22, TIME, 1],
      ['8000', '3.4.1', undefined, 0],
    ]);
    assert.deepEqual([known().heardAt, known().reports, network.size.devices], [heardAt, 1, 1]);
  });

  it('knows an error until the device says that it is over', () => {
    hear('heartbeat', { status: 7 });
    assert.deepEqual([shown()?.code, shown()?.identifier], [7, undefined]);
    hear('measurement/8800', { value: 1 });
    assert.equal(shown()?.code, 7);
    hear('dfu', { rssi: -60, parent: G });
    assert.equal(shown()?.code, 7);
    hear('heartbeat', { status: null });
    assert.equal(shown()?.code, 7, 'a heartbeat without a status says nothing of errors');
    hear('heartbeat', { status: 0 });
    assert.equal(shown(), undefined);
    hear('measurement-error/8800', { error: 3 });
    hear('measurement/8802', { value: 1 });
    assert.deepEqual([shown()?.code, shown()?.identifier], [3, '8800']);
    hear('measurement-error/8800', { error: null });
    assert.equal(shown()?.code, 3, 'nor does an error without a code end one');
    hear('measurement/8800', { value: 1 });
    assert.equal(shown(), undefined);
    // One gateway in raw mode, and another one in decoded mode.
    const name = 'temperature';
    hear('measurement-error/8800', { error: 3, name });
    hear('measurement-decoded/humidity', { value: 1, name: 'humidity' });
    assert.equal(shown()?.code, 3);
    hear('measurement-decoded/temperature', { value: 1, name });
    assert.equal(shown(), undefined);
    hear('timestamped/8800', { value: null, errorCode: 9 });
    assert.equal(shown()?.code, 9);
    hear('timestamped/8800', { value: 1, errorCode: null, backfill: true });
    assert.equal(shown()?.code, 9, 'a sample that comes late says nothing of now');
    hear('timestamped/8800', { value: null, errorCode: null, form: 'raw', kind: 'timestamped', flags: '04' });
    assert.equal(shown()?.code, 9, 'nor is a sample fine whose error has no code');
    hear('timestamped/8800', { value: null, errorCode: 0, form: 'raw', kind: 'timestamped', flags: '04' });
    hear('timestamped/8800', { value: null, errorCode: 0, form: 'decoded', kind: 'timestamped' });
    assert.equal(shown()?.code, 9, 'nor one with the code 0 and no value');
    const fine = { form: 'raw', kind: 'timestamped', flags: '00' };
    hear('timestamped/8800', { value: 1, errorCode: null, ...fine });
    assert.equal(shown(), undefined);
    hear('timestamped/8800', { value: null, errorCode: 9 });
    hear('timestamped/8800', { value: 1, errorCode: 0, ...fine });
    assert.equal(shown(), undefined);
  });

  it('knows the errors of the heartbeat and of each property apart, and shows the newest', () => {
    hear('heartbeat', { status: 3 });
    hear('measurement-error/8800', { error: 1 });
    hear('measurement-error/8802', { error: 2 });
    assert.equal(shown()?.identifier, '8802');
    hear('measurement-error/8800', { error: 4 });
    assert.deepEqual([shown()?.identifier, shown()?.code], ['8800', 4]);
    hear('measurement/8800', { value: 20 });
    assert.equal(shown()?.identifier, '8802');
    hear('measurement/8802', { value: 20 });
    assert.deepEqual([shown()?.identifier, shown()?.code], [undefined, 3]);
    hear('heartbeat', { status: 0 });
    assert.equal(shown(), undefined);
    assert.equal(known().errors, NO_ERRORS, 'one list for all devices that have none');
  });

  it('has another list of errors only when they are others, and not when one comes again', () => {
    for (const count of [1, 2]) {
      hear(`measurement-error/880${count}`, { error: 1 });
      const list = known().errors;
      now += MINUTE;
      hear(`measurement-error/880${count}`, { error: 5 });
      assert.equal(known().errors, list);
      assert.equal(list.length, count);
      assert.deepEqual([shown()?.code, shown()?.heardAt], [5, now]);
    }
  });

  it('knows the error of a property though it keeps no value of so many', () => {
    for (const i of range(0, 200)) {
      hear(`measurement/${(0x9000 + i).toString(16)}`, { value: i });
    }
    hear('measurement-error/8800', { error: 3 });
    assert.deepEqual([known().values.length, shown()?.identifier, shown()?.code], [200, '8800', 3]);
  });

  it('remembers eight errors of a device, that of its heartbeat among them', () => {
    hear('heartbeat', { status: 3 });
    for (let i = 0; i < 20; i++) {
      hear(`measurement-error/${(0x9000 + i).toString(16)}`, { error: 1 });
    }
    const failing = known().errors.map(({ identifier }) => identifier);
    assert.deepEqual(failing, [undefined, '900d', '900e', '900f', '9010', '9011', '9012', '9013']);
  });

  it('keeps no identifier that is longer than that of a device', () => {
    const long = 'x'.repeat(201);
    hear(`event/${long}`, {});
    hear(`measurement-error/${long}`, { error: 1 });
    assert.deepEqual([known().event, known().errors, known().values], [undefined, [], []]);
    const longest = 'x'.repeat(200);
    hear(`event/${longest}`, {});
    hear(`measurement-error/${longest}`, { error: 1 });
    assert.deepEqual([known().event, shown()?.identifier], [longest, longest]);
  });

  itAtScale('keeps of hostile topics only what it shows, in no more memory', () => {
    const count = 2_000;
    const before = usedMemory();
    for (let i = 0; i < count; i++) {
      // The text of the message that has brought it ends with it.
      const rest = `measurement-error/${'x'.repeat(20_000)}`;
      hear(rest, { error: 1 }, { device: deviceAt(i) });
      hear(`event/${'y'.repeat(20_000)}`, {}, { device: deviceAt(i) });
    }
    const grown = usedMemory() - before;
    assert.equal(network.size.devices, count);
    assert.ok(grown < 10_000_000, `${grown}`);
  });

  it('knows the last event, and DFU mode until the device says something else', () => {
    hear('event/8200', {});
    assert.deepEqual([known().event, known().eventAt], ['8200', now]);
    hear('dfu', { rssi: -70, parent: G });
    rssi(-71, G);
    assert.equal(known().isDfu, true);
    hear('heartbeat', { status: 0 });
    assert.equal(known().isDfu, false);
  });

  describe('learns how often a device is heard usually', () => {
    /** Hears it again and again, and says what is known then, in seconds. */
    function every(seconds: number, times: number, during = () => {}): number | undefined {
      for (let i = 0; i < times; i++) {
        now += seconds * 1_000;
        hear('heartbeat');
        during();
      }
      const ms = usualIntervalMs(known());
      return ms === undefined ? undefined : Math.round(ms / 1_000);
    }

    it('after five reports', () => {
      assert.equal(every(60, 4), undefined);
      assert.equal(every(60, 1), 60);
    });

    it('where five of a burst are one until it is known, as far as they differ or are events', () => {
      for (let i = 0; i < 5; i++) {
        now += 2_000;
        hear(i % 2 ? 'event-decoded/motion' : `property-decoded/p${i}`);
      }
      assert.equal(usualIntervalMs(known()), undefined);
      assert.equal(every(60, 3), undefined);
      assert.equal(every(60, 1), 68);
    });

    it('and remembers but five things of what repeats until then, nothing after that', () => {
      for (let i = 0; i < 50; i++) {
        now += 20_000;
        hear(`property-decoded/p${i}`);
        assert.ok((known().learning?.contents.length ?? 0) <= 5);
      }
      assert.equal(usualIntervalMs(known()), undefined);
      every(20, 4);
      assert.equal(usualIntervalMs(known()), undefined, 'those that it remembers have not come again');
      now += 9 * 60_000;
      assert.equal(every(20, 1), 560);
      assert.equal(known().learning, undefined);
    });

    it('from events only of what reports nothing else', () => {
      const fire = (seconds: number, times: number) => {
        for (let i = 0; i < times; i++) {
          now += seconds * 1_000;
          hear('event-decoded/motion');
        }
        return usualIntervalMs(known());
      };
      assert.equal(fire(30, 6), 30_000);
      assert.equal(every(1_200, 4), undefined, 'of which nothing was known before');
      assert.equal(every(1_200, 1), 1_200);
      fire(30, 39);
      assert.equal(every(30, 1), 1_200);
    });

    it('also from events that only people look at, of the device and of its gateway', () => {
      network.setListening(true, true);
      for (let i = 0; i < 6; i++) {
        now += 30_000;
        hear('event-decoded/motion', {}, { isWanted: false });
      }
      assert.equal(usualIntervalMs(known()), 30_000);
      assert.equal(usualIntervalMs(network.gateway(G) as GatewayState), 30_000);
    });

    it('at once where a pause came twice that is ordinary', () => {
      every(30, 20);
      assert.equal(every(1_200, 2), 1_200);
    });

    it('and two pauses of hours after a failure are no habit at once', () => {
      every(60, 20);
      every(36_000, 2);
      assert.ok((every(60, 1) as number) <= 180);
    });

    it('undisturbed by copies through other gateways, and by values that come together', () => {
      const copies = () => {
        for (let i = 0; i < 5; i++) {
          now += 100;
          hear('measurement/8800', { value: i }, { gateway: G2 });
        }
      };
      assert.equal(every(60, 20, copies), 61);
    });

    it('in spite of one failure', () => {
      every(60, 20);
      every(36_000, 1);
      assert.ok((every(60, 1) as number) < 75);
      assert.equal(every(60, 60), 60);
    });

    it('and learns another habit', () => {
      every(60, 20);
      const slower = every(600, 60) as number;
      assert.ok(slower > 550 && slower <= 600, `${slower}`);
      assert.ok((every(30, 400) as number) > 300, 'of a night in an office nothing is forgotten by day');
      const faster = every(30, 5 * 24 * 120) as number;
      assert.ok(faster >= 30 && faster < 40, `${faster}`);
    });

    it('as the time between its bursts, not as that within one', () => {
      every(600, 10);
      for (let i = 0; i < 20; i++) {
        every(5, 12);
        every(600, 1);
      }
      assert.ok((every(5, 1) as number) > 400);
    });

    it('without the time in which the broker was away', () => {
      every(60, 4);
      now += 30_000;
      network.setListening(false, false);
      now += 10 * MINUTE;
      network.setListening(true, false);
      now += 30_000;
      hear('heartbeat');
      assert.equal(every(60, 1), 60);
    });
  });

  describe('says how long a device is silent', () => {
    it('not counting the time in which the broker was away', () => {
      hear('heartbeat');
      for (let i = 0; i < 150; i++) {
        now += MINUTE;
        network.setListening(false, false);
        now += MINUTE;
        network.setListening(true, false);
      }
      assert.equal(network.silentMs(known()), 150 * MINUTE);
      network.setListening(false, false);
      now += MINUTE;
      assert.equal(network.silentMs(known()), 150 * MINUTE);
    });

    it('not counting the time in which the broker did not show that it was there, also once it is found lost', () => {
      let heardUntil = now + MINUTE;
      network = new NetworkState({ now: () => now, heardUntil: () => heardUntil });
      network.setListening(true, true);
      hear('heartbeat');
      now += 2 * MINUTE;
      assert.equal(network.silentMs(known()), MINUTE);
      assert.equal(network.listenedMs(now - 2 * MINUTE), MINUTE);
      network.setListening(false, false);
      now += MINUTE;
      network.setListening(true, true);
      heardUntil = now + MINUTE;
      assert.equal(network.silentMs(known()), MINUTE);
      now += MINUTE;
      assert.equal(network.silentMs(known()), 2 * MINUTE);
    });

    it('while somebody looks at everything, where no flow receives its reports', () => {
      network.setListening(true, true);
      hear('heartbeat', {}, { isWanted: false });
      now += MINUTE;
      network.setListening(true, false);
      now += MINUTE;
      assert.equal(network.silentMs(known()), MINUTE);
      hear('heartbeat');
      now += MINUTE;
      hear('heartbeat', {}, { isWanted: false });
      now += MINUTE;
      assert.equal(network.silentMs(known()), MINUTE, 'from now on a flow receives them');
    });

    it('where flows ask for its reports by any of the gateways that hear it', () => {
      network = new NetworkState({ now: () => now, isWanted: (gateway) => gateway === G });
      network.setListening(true, false);
      for (const [device, gateway] of [
        [D, G],
        [D, G2],
        [deviceAt(2), G2],
      ] as const) {
        hear('heartbeat', {}, { device, gateway });
      }
      now += MINUTE;
      assert.deepEqual([network.silentMs(known()), network.silentMs(known(deviceAt(2)))], [MINUTE, 0]);
    });
  });

  it('says whether anything was heard at all, and what may be a gateway', () => {
    assert.equal(network.hasHeard, false);
    assert.equal(network.mayBeGateway(G2), true, 'nobody has heard it');
    hear('heartbeat');
    hear('heartbeat', {}, { device: G });
    assert.equal(network.hasHeard, true);
    assert.deepEqual(
      [G, D, G2].map((id) => network.mayBeGateway(id)),
      [true, false, true],
    );
  });

  it('records what has a topic only, of known and of unknown', () => {
    for (const rest of ['heartbeat', 'rssi', 'measurement/8800']) {
      network.record(readReportTopic('t', G, D, rest), now);
    }
    assert.equal(known().reports, 3);
    network.recallInterval('device', deviceAt(9), MINUTE);
    network.recallInterval('gateway', G2, MINUTE);
    assert.equal(network.size.devices, 1);
  });

  /** Pushes out the only gateway that there is. */
  function hearByOthers(): void {
    for (let i = 0; i < 10_000; i++) {
      hear('heartbeat', {}, { gateway: (0xa00000000000 + i).toString(16), device: deviceAt(2) });
    }
  }

  for (const isTakenOver of [false, true]) {
    it(`records nothing with what was known of a topic before its gateway was pushed out${isTakenOver ? ' by the next one' : ''}`, () => {
      const topic = readReportTopic('t', G, D, 'heartbeat');
      const place = new KnownPlace();
      network.record(topic, now, undefined, true, place);
      if (isTakenOver) {
        const next = new NetworkState({ now: () => now });
        next.takeOver(network);
        network = next;
      }
      hearByOthers();
      assert.equal(network.gateway(G), undefined);
      network.record(topic, now, undefined, true, place);
      assert.equal(network.gateway(G)?.reports, 1);
    });
  }

  it('records nothing with what was known of a topic before its value was pushed out', () => {
    const topic = readReportTopic('t', G, D, 'measurement/8800');
    const place = new KnownPlace();
    const value = { time: TIME, value: 1 } as Partial<Report> as Report;
    const record = () => network.record(topic, now, value, true, place);
    const hearOthers = (from: number, to: number, gateway = G) => {
      for (let device = from; device < to; device++) {
        now++;
        for (let i = 0; i < 200; i++) {
          hear(
            `measurement/${(0x1000 + i).toString(16)}`,
            { value: 2 },
            { device: deviceAt(device), gateway },
          );
        }
      }
    };
    record();
    hearOthers(2, 1_002);
    assert.equal(known().values.length, 0);
    record();
    assert.equal(known().values.length, 1);
    // A gateway and values that are pushed out one after the other do not make up for each other.
    record();
    hearByOthers();
    hearOthers(1_002, 1_003, 'a00000000000');
    assert.equal(network.gateway(G), undefined);
    record();
    assert.equal(network.gateway(G)?.reports, 1);
  });

  it('goes on with what was known before, and counts no silence in between', () => {
    hear('measurement/8800', { value: 1 });
    const next = new NetworkState({ now: () => now });
    next.takeOver(network);
    now += MINUTE;
    assert.deepEqual([next.gatewayOf(D), next.size], [G, { gateways: 1, devices: 1, values: 1 }]);
    assert.equal(next.silentMs(next.device(D) as DeviceState), 0);
  });

  it('counts no silence in between of what only people have looked at', () => {
    network.setListening(true, true);
    hear('heartbeat', {}, { isWanted: false });
    const next = new NetworkState({ now: () => now });
    next.takeOver(network);
    now += MINUTE;
    assert.equal(next.silentMs(next.device(D) as DeviceState), 0);
  });

  it('shows nothing that another catalogue has decoded, before it is reported again', () => {
    hear('measurement/8800', { value: 1 });
    hear('measurement/8802', { value: 2 });
    const next = new NetworkState({ now: () => now });
    next.takeOver(network, (identifier) => identifier === '8802');
    const shown = (next.device(D) as DeviceState).values.map(({ identifier, value }) => [identifier, value]);
    assert.deepEqual(shown, [
      ['8800', 1],
      ['8802', undefined],
    ]);
  });

  it('tells of every report, until nobody listens any more', () => {
    const heard: string[] = [];
    const end = network.onHeard((device, gateway) =>
      heard.push(`${device.id} ${gateway.id} ${device.reports}`),
    );
    hear('heartbeat');
    hear('heartbeat');
    end();
    hear('heartbeat');
    assert.deepEqual(heard, [`${D} ${G} 1`, `${D} ${G} 2`]);
  });

  it('tells of every signal what it was before, and of nothing else', () => {
    const heard: unknown[] = [];
    const end = network.onSignal((device, { gateway, signal }, report) =>
      heard.push([device.id, gateway, signal?.rssi, report.rssi]),
    );
    rssi(-60, G);
    hear('heartbeat');
    rssi(-70, G);
    end();
    rssi(-80, G);
    assert.deepEqual(heard, [
      [D, G, undefined, -60],
      [D, G, -60, -70],
    ]);
  });

  it('lists devices and gateways by when they were heard, and counts the gateways since then', () => {
    for (const i of [1, 2, 3, 1]) {
      now += 2_000;
      hear('heartbeat', {}, { device: deviceAt(i), gateway: (0xa00000000000 + i).toString(16) });
    }
    assert.deepEqual(
      Array.from(network.devices(), ({ id }) => id),
      [1, 3, 2].map(deviceAt),
    );
    assert.deepEqual(
      Array.from(network.gateways(), ({ id }) => id),
      [1, 3, 2].map((i) => (0xa00000000000 + i).toString(16)),
    );
    assert.deepEqual(
      [network.countGateways(now), network.countGateways(now - 2_000), network.countGateways(0)],
      [1, 2, 3],
    );
  });

  itAtScale('takes no more than 120 MB for 100 000 devices with three values each', async () => {
    // In a process of its own: tests of other things leave objects of other shapes behind, which changes what these take.
    const child = join(import.meta.dirname, 'memory-child.ts');
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', child]);
    const { megabytes, gateways, devices, values } = JSON.parse(stdout) as Record<string, number>;
    assert.deepEqual([gateways, devices], [500, 100_000]);
    assert.ok((values as number) > 199_000, `${values}`);
    assert.ok((megabytes as number) < 120, `${megabytes} MB`);
  });

  itAtScale('keeps 200 000 devices and 200 000 values, those that were heard last', () => {
    for (let i = 0; i < 250_000; i++) {
      now++;
      hear('measurement/8800', { value: i }, { device: deviceAt(i) });
      hear('measurement/8802', { value: i }, { device: deviceAt(i) });
    }
    assert.deepEqual(network.size, { gateways: 1, devices: 200_000, values: 200_000 });
    assert.equal(network.gateway(G)?.devices, 200_000);
    assert.equal(network.device(deviceAt(49_999)), undefined);
    assert.deepEqual([known(deviceAt(50_000)).values, known(deviceAt(149_999)).values], [[], []]);
    assert.equal(known(deviceAt(150_000)).values.length, 2);
    hear('measurement/8800', { value: 1 }, { device: deviceAt(50_000) });
    assert.deepEqual([known(deviceAt(50_000)).values.length, known(deviceAt(150_000)).values.length], [1, 0]);
  });

  itAtScale('keeps no more than 400 000 links, whatever parents are told', () => {
    for (let i = 0; i < 30_000; i++) {
      for (let parent = 0; parent < 18; parent++) {
        const other = (0xe00000000000 + parent).toString(16);
        hear('rssi', { rssi: -70, parent: other }, { device: deviceAt(i) });
      }
    }
    let links = 0;
    for (const device of network.devices()) {
      links += device.links.length;
    }
    assert.ok(links <= 400_000 + 30_000, `${links}`);
  });

  it('forgets for others what comes seldom before what is regular, until that is gone for a day', () => {
    const crowd = (from: number) => {
      for (let i = from; i < from + 10_000; i++) {
        hear('heartbeat', {}, { gateway: (0xa00000000000 + i).toString(16), device: deviceAt(2) });
      }
    };
    for (let i = 0; i < 6; i++) {
      now += MINUTE;
      hear('heartbeat');
    }
    crowd(0);
    assert.ok(network.gateway(G));
    now += 25 * 60 * MINUTE;
    crowd(20_000);
    assert.equal(network.gateway(G), undefined);
  });

  itAtScale('forgets for another one also a device that is regular, when that is gone for a day', () => {
    for (let i = 0; i < 6; i++) {
      now += MINUTE;
      hear('heartbeat');
    }
    for (let i = 0; i < 200_000; i++) {
      hear('heartbeat', {}, { device: deviceAt(i + 2) });
    }
    assert.ok(network.device(D));
    now += 25 * 60 * MINUTE;
    hear('heartbeat', {}, { device: deviceAt(0) });
    assert.equal(network.device(D), undefined);
  });

  it('forgets gateways beyond 10 000', () => {
    for (let i = 0; i < 12_000; i++) {
      hear('heartbeat', {}, { gateway: (0xa00000000000 + i).toString(16), device: deviceAt(i % 100) });
    }
    assert.equal(network.size.gateways, 10_000);
  });
});
