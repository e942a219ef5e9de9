// For how long something is silent by what was heard of it and of its gateways, and what must be heard before anybody can tell.
import assert from 'node:assert/strict';
import { NetworkState } from '../../src/network/network-state.ts';
import {
  deviceSilence,
  gatewaySilence,
  goneAfterMs,
  heardNow,
  isAloneAt,
  missingGateway,
  silentSince,
} from '../../src/network/silence.ts';
import { newWatched, type Watched, type WatchedGateway } from '../../src/network/watched.ts';
import { WatchedGateways } from '../../src/network/watched-gateways.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';
import { D, deviceAt, G, G2, HOUR, MINUTE, S } from './watched-world.ts';

const LIMIT = 3 * MINUTE;

describe('silence', () => {
  let now: number;
  let network: NetworkState;
  let gateways: WatchedGateways;

  beforeEach(() => {
    now = 0;
    network = new NetworkState({ now: () => now });
    network.setListening(true, false);
    gateways = new WatchedGateways(network, () => {});
    network.onHeard((_, gateway) => gateways.heard(gateway));
  });

  function hear(device: string = D, gateway: string = G): void {
    network.record(readReportTopic('t', gateway, device, 'heartbeat'), now, { time: 't' } as Report);
  }
  /** One report each every minute, the last ones now. */
  function run(minutes: number, ...heard: [device: string, gateway: string][]): void {
    for (let minute = 0; minute < minutes; minute++) {
      now += MINUTE;
      for (const [device, gateway] of heard) {
        hear(device, gateway);
      }
    }
  }
  function loseBroker(ms: number): void {
    network.setListening(false, false);
    now += ms;
    network.setListening(true, false);
  }
  const watched = (more: Partial<Watched> = {}): Watched =>
    Object.assign(newWatched(D, 'device', { check() {} }, 0), more);
  const heard = (more: Partial<Watched> = {}) => watched({ state: network.device(D), ...more });
  const ofGateway = (more: Partial<Watched> = {}) =>
    watched({ kind: 'gateway', gatewayState: network.gateway(G), ...more });
  const by = (...ids: string[]): WatchedGateway[] => ids.map((id) => gateways.need(id));
  const inMinutes = ({ unheardMs, silentMs, unsparedMs, leftMs, waitsFor }: ReturnType<typeof heardNow>) => ({
    unheard: unheardMs / MINUTE,
    silent: silentMs / MINUTE,
    unspared: unsparedMs / MINUTE,
    left: leftMs / MINUTE,
    waits: waitsFor.map(({ id }) => id),
  });

  describe('of a gateway, or of a device that shows alone whether its gateway is there,', () => {
    for (const [what, before, lostMs, after, expected] of [
      ['is the time since it was heard', 2, 0, 0, { unheard: 2, silent: 2, unspared: 2, left: 1 }],
      ['grows', 4, 0, 0, { unheard: 4, silent: 4, unspared: 4, left: -1 }],
      ['spares one interval without the broker', 4, HOUR, 0, { unheard: 4, silent: 3, unspared: 4, left: 1 }],
      ['waits a minute after that', 4, HOUR, 0.5, { unheard: 4, silent: 3, unspared: 4, left: 0.5 }],
      ['goes on after it', 4, HOUR, 1.5, { unheard: 4.5, silent: 3.5, unspared: 4.5, left: -0.5 }],
      ['leaves an interval', 2.5, HOUR, 0, { unheard: 2.5, silent: 2, unspared: 2.5, left: 2 }],
      ['leaves it as it grows', 2.5, HOUR, 1.5, { unheard: 3, silent: 2.5, unspared: 3, left: 0.5 }],
      ['spares nothing of less', 1.5, HOUR, 0, { unheard: 1.5, silent: 1.5, unspared: 1.5, left: 2.5 }],
    ] as const) {
      it(`${what}: ${before} minutes, ${lostMs / MINUTE} without the broker, ${after} minutes`, () => {
        run(20, [D, G]);
        now += before * MINUTE;
        if (lostMs > 0) {
          loseBroker(lostMs);
        }
        now += after * MINUTE;
        assert.deepEqual(inMinutes(gatewaySilence(network, ofGateway(), LIMIT)), { ...expected, waits: [] });
        const device = deviceSilence(network, heard(), LIMIT, by(G), false);
        assert.deepEqual(inMinutes(device), { ...expected, waits: [] });
      });
    }

    it('counts since it is watched, where it was not heard after that', () => {
      run(20, [D, G]);
      now += 5 * MINUTE;
      for (const [entry, minutes] of [
        [ofGateway({ since: now - MINUTE }), 1],
        [ofGateway({ since: now - HOUR }), 5],
        [watched({ kind: 'gateway', since: now - 2 * MINUTE }), 2],
      ] as const) {
        assert.equal(gatewaySilence(network, entry, LIMIT).silentMs / MINUTE, minutes);
      }
    });

    it('spares all of it without the broker where it comes less often than the limit', () => {
      run(20, [D, G]);
      now += 4 * MINUTE;
      loseBroker(HOUR);
      const entry = ofGateway({ gatewayState: undefined, storedIntervalMs: HOUR, since: 20 * MINUTE });
      const expected = { unheard: 4, silent: 0, unspared: 4, left: 4, waits: [] };
      assert.deepEqual(inMinutes(gatewaySilence(network, entry, LIMIT)), expected);
    });
  });

  it('is none of what was heard just now', () => {
    assert.deepEqual(inMinutes(heardNow(LIMIT)), { unheard: 0, silent: 0, unspared: 0, left: 3, waits: [] });
  });

  it('from before the start goes on when flows can receive reports', () => {
    now = 10 * MINUTE;
    network = new NetworkState({ now: () => now });
    now = 30 * MINUTE;
    network.setListening(true, false);
    assert.equal(silentSince(network, 5 * MINUTE, 10 * MINUTE), 5 * MINUTE);
    now = 32 * MINUTE;
    assert.equal(silentSince(network, 5 * MINUTE, 10 * MINUTE), 7 * MINUTE);
    // Of a watch that begins only now nobody has listened to what it watches.
    assert.deepEqual([silentSince(network, MINUTE, now), silentSince(network, 0, now)], [now - MINUTE, now]);
    // A store that is read late finds the start all the same, of which the first minute is spared.
    assert.equal(silentSince(network, MINUTE, 10 * MINUTE), 10 * MINUTE);
  });

  it('from before a watch that begins late is no longer by an outage before that, and has one interval left', () => {
    run(20, [D, G]);
    loseBroker(HOUR);
    now += 30 * MINUTE;
    const since = silentSince(network, 2 * MINUTE, now);
    assert.equal(since, now - 2 * MINUTE);
    const entry = ofGateway({
      ...{ gatewayState: undefined, storedIntervalMs: MINUTE },
      ...{ since, unwatchedUntil: now },
    });
    const passed = [0, 1, 2].map((minutes) => {
      now = since + (2 + minutes) * MINUTE;
      const { silent, left } = inMinutes(gatewaySilence(network, entry, LIMIT));
      return [silent, left];
    });
    assert.deepEqual(passed, [
      [2, 2],
      [2, 1],
      [3, 0],
    ]);
    // An outage after its begin counts as one.
    now = since + 3.5 * MINUTE;
    loseBroker(HOUR);
    assert.equal(inMinutes(gatewaySilence(network, entry, LIMIT)).left, 1.5);
    // What was heard since then is missed after its limit.
    for (const until of [now, now - MINUTE / 2]) {
      hear(G);
      const known = ofGateway({ since: 0, unwatchedUntil: until, storedIntervalMs: MINUTE });
      assert.equal(inMinutes(gatewaySilence(network, known, LIMIT)).left, 3);
    }
  });

  it('of a gateway is believed by the others after four hours, and after its limit', () => {
    assert.deepEqual(
      [goneAfterMs(LIMIT), goneAfterMs(4 * HOUR), goneAfterMs(5 * HOUR)],
      [4 * HOUR, 4 * HOUR, 5 * HOUR],
    );
  });

  describe('of a gateway is shown by a device alone', () => {
    const isAlone = (more: Partial<Watched> = {}, ofIt: Partial<WatchedGateway> = {}) =>
      isAloneAt(network, heard(more), { ...(by(G)[0] as WatchedGateway), ...ofIt }, LIMIT);
    const X = deviceAt(2);

    it('where it brings no other, and not where nothing is known of it', () => {
      assert.equal(isAlone(), false);
      run(1, [D, G]);
      assert.equal(isAlone(), true);
      run(1, [X, G]);
      assert.equal(isAlone(), false);
      assert.equal(isAlone({}, { state: undefined }), false);
    });

    it('more than four hours after it has brought another one', () => {
      run(1, [X, G], [D, G]);
      run(239, [D, G]);
      assert.equal(isAlone(), false);
      run(1, [D, G]);
      assert.equal(isAlone(), false, 'not yet');
      now += 1;
      hear();
      assert.equal(isAlone(), true);
      assert.equal(isAlone({}, { cameAt: MINUTE + 1 }), false, 'it came later');
      assert.equal(isAlone({ since: now + HOUR }), true);
    });

    it('and not by what another one has brought of it, or when others have come since', () => {
      run(1, [X, G], [D, G]);
      run(299, [D, G2]);
      run(1, [X, G]);
      assert.equal(isAlone({}, { cameAt: 0 }), false);
      assert.equal(isAlone({ state: undefined, since: now }), false, 'nor where it was never heard');
    });

    it('and not because both were not heard for long', () => {
      run(1, [X, G], [D, G]);
      now += 3 * HOUR;
      assert.equal(isAlone(), false);
    });
  });

  describe('of a device', () => {
    const X = deviceAt(2);
    const Y = deviceAt(3);
    const silenceOf = (entry: Watched, ids: readonly string[], isSet = false) =>
      inMinutes(deviceSilence(network, entry, LIMIT, by(...ids), isSet));

    it('is as long as its gateway was heard after it, and waits for that', () => {
      run(20, [D, G], [X, G]);
      run(2, [X, G]);
      assert.deepEqual(silenceOf(heard(), [G]), { unheard: 2, silent: 2, unspared: 2, left: 1, waits: [] });
      run(2, [X, G]);
      now += MINUTE;
      assert.deepEqual(silenceOf(heard(), [G]), {
        unheard: 5,
        silent: 4,
        unspared: 4,
        left: Number.POSITIVE_INFINITY,
        waits: [G],
      });
      assert.deepEqual(silenceOf(heard(), []), { unheard: 5, silent: 5, unspared: 5, left: -2, waits: [] });
    });

    it('is the longest that a gateway shows', () => {
      run(20, [D, G], [X, G], [D, G2], [Y, G2]);
      run(2, [X, G], [Y, G2]);
      run(2, [X, G]);
      for (const ids of [
        [G, G2],
        [G2, G],
      ]) {
        const { silent, unspared, waits } = silenceOf(heard(), ids);
        assert.deepEqual([silent, unspared, waits], [4, 4, ids]);
      }
      now -= MINUTE;
      assert.equal(silenceOf(heard(), [G, G2]).left, Number.POSITIVE_INFINITY);
    });

    it('spares one interval without the broker, and waits a minute then', () => {
      run(20, [D, G], [X, G]);
      run(3, [X, G]);
      now -= MINUTE / 2;
      loseBroker(HOUR);
      const [one] = by(G) as [WatchedGateway];
      one.heardAt = now;
      assert.deepEqual(silenceOf(heard(), [G]), {
        unheard: 2.5,
        silent: 2,
        unspared: 2.5,
        left: 2,
        waits: [],
      });
    });

    it('is patient with a gateway that brings few of its reports, and counts up to the limit until then', () => {
      for (let i = 0; i < 20; i++) {
        run(1, [D, G], [X, G], [Y, G2]);
        if (i % 2 === 0) {
          hear(D, G2);
        }
      }
      const both = [G, G2];
      run(2, [Y, G2]);
      assert.deepEqual([silenceOf(heard(), both).left, silenceOf(heard(), both.toReversed()).left], [1, 1]);
      run(8, [Y, G2]);
      const { silent, waits, left } = silenceOf(heard(), [G2]);
      assert.deepEqual([silent, waits], [3, []]);
      assert.ok(left > 1 && left < 3, `${left}`);
      assert.deepEqual(silenceOf(heard(), both).waits, [G]);
      assert.deepEqual(silenceOf(heard(), [G2], true).silent, 10, 'not where a time is set');
      now += 5 * MINUTE;
      assert.equal(silenceOf(heard(), [G2]).silent, 3, 'its gateway was not heard either');
      now -= 3 * MINUTE;
      hear(Y, G2);
      assert.deepEqual(
        [silenceOf(heard(), [G2]).silent, silenceOf(heard(), [G2]).waits],
        [3, [G2]],
        'not yet',
      );
      run(3, [Y, G2]);
      assert.deepEqual([silenceOf(heard(), [G2]).silent, silenceOf(heard(), [G2]).waits], [15, [G2]]);
    });

    it('is not patient any more four hours after the other gateway has brought it last', () => {
      run(40, [D, G], [X, G]);
      for (let i = 0; i < 9; i++) {
        run(24, [Y, G2]);
        hear(D, G2);
      }
      assert.ok(silenceOf(heard(), [G2]).left > 3);
      run(24, [Y, G2]);
      hear(D, G2);
      assert.equal(silenceOf(heard(), [G2]).left, 3);
      now += 5 * HOUR;
      assert.deepEqual(silenceOf(heard(), [G2]).waits, [G2], 'nor when both are gone');
    });

    describe('whose gateway has come after it was heard', () => {
      for (const [unheard, ago, silent] of [
        [5, 10, 5],
        [5, 4, 5],
        [5, 3, 4],
        [5, 1, 4],
        [2, 2.5, 2],
        [2, 2, 2],
        [2, 1, 1],
      ] as const) {
        it(`counts as ${silent} of ${unheard} minutes, ${ago} minutes after that`, () => {
          run(20, [D, G]);
          now += unheard * MINUTE;
          const gateway = Object.assign(gateways.need(G), {
            cameAt: now - ago * MINUTE,
            heardAt: now - MINUTE,
          });
          assert.equal(deviceSilence(network, heard(), LIMIT, [gateway], false).silentMs / MINUTE, silent);
        });
      }
    });

    it('that was never heard since the start is that of its gateway, where it was the only one', () => {
      now += 5 * MINUTE;
      const never = { unheard: 5, silent: 0, unspared: 0, left: Number.POSITIVE_INFINITY, waits: [G] };
      const entry = (wasAlone: boolean) => watched({ wasAlone, storedGateway: G, storedIntervalMs: MINUTE });
      assert.deepEqual(silenceOf(entry(false), [G]), never);
      assert.deepEqual(silenceOf(entry(true), [G]), {
        unheard: 5,
        silent: 5,
        unspared: 5,
        left: -2,
        waits: [],
      });
      run(4, [X, G]);
      const heardSince = { unheard: 9, silent: 3, unspared: 3, left: Number.POSITIVE_INFINITY, waits: [G] };
      assert.deepEqual(silenceOf(entry(true), [G]), heardSince);
      assert.deepEqual(silenceOf(entry(false), [G]), heardSince);
    });

    describe('does not count the time in which its gateway was away', () => {
      /** Minutes after it was heard. */
      const absence = (from: number, until: number) => ({
        from: (20 + from) * MINUTE,
        until: (20 + until) * MINUTE,
      });
      for (const [what, away, isSet, silent, unspared] of [
        ['none', {}, false, 20, 20],
        ['once', { absences: [absence(2, 8)] }, false, 13, 14],
        ['twice', { absences: [absence(2, 4), absence(6, 12)] }, false, 11, 12],
        ['until just now', { absences: [absence(2, 18)] }, false, 3, 4],
        ['for nearly all of it', { absences: [absence(1, 18.5)] }, false, 1.5, 2.5],
        ['since before it was heard', { absences: [absence(-5, 5)] }, false, 15, 15],
        ['before it was heard', { absences: [absence(-5, 0)] }, false, 20, 20],
        ['perhaps', { unclear: absence(2, 8) }, false, 13, 14],
        [
          'perhaps, beside a time that is sure',
          { unclear: absence(2, 8), absences: [absence(10, 12)] },
          false,
          17,
          18,
        ],
        ['perhaps, before it was heard', { unclear: absence(-5, 0) }, false, 20, 20],
        ['for a pause that may have been none', { untold: absence(2, 8) }, false, 20, 20],
        ['for a pause where a time is set', { untold: absence(2, 8) }, true, 13, 14],
        [
          'for a pause just longer than the limit less an interval',
          { untold: absence(2, 4.1) },
          true,
          16.9,
          17.9,
        ],
        ['for a pause that is no longer', { untold: absence(2, 4) }, true, 20, 20],
        [
          'for a pause, beside one that is unclear and over',
          { untold: absence(2, 8), unclear: absence(-5, 0) },
          true,
          13,
          14,
        ],
        [
          'for a pause, beside one that is unclear',
          { untold: absence(2, 8), unclear: absence(2, 5) },
          true,
          16,
          17,
        ],
      ] as const) {
        it(`${what}: ${silent} of 20 minutes${isSet ? ', where a time is set' : ''}`, () => {
          run(20, [D, G], [X, G]);
          run(20, [X, G]);
          const none = { absences: [], unclear: undefined, untold: undefined };
          const gateway = Object.assign(gateways.need(G), none, away, { cameAt: 0 });
          const silence = deviceSilence(network, heard(), LIMIT, [gateway], isSet);
          const rounded = [silence.silentMs, silence.unsparedMs].map((ms) => Math.round(ms / S) / 60);
          assert.deepEqual(rounded, [silent, unspared]);
        });
      }
    });

    it('is looked at when its gateway must have brought it, however long that was away', () => {
      run(20, [D, G], [X, G]);
      run(239, [X, G]);
      Object.assign(gateways.need(G), { absences: [{ from: 20.5 * MINUTE, until: 258.5 * MINUTE }] });
      assert.equal(silenceOf(heard(), [G]).left, 2.5);
    });

    it('counts no time in which its gateway was away before it was heard, without the broker in between', () => {
      run(20, [D, G], [X, G]);
      const gateway = gateways.need(G);
      gateway.absences = [{ from: 5 * MINUTE, until: 10 * MINUTE }];
      now += 1.5 * MINUTE;
      loseBroker(HOUR);
      gateway.heardAt = now;
      assert.equal(silenceOf(heard(), [G]).silent, 1.5);
      now += 10 * S;
      hear();
      gateway.absences = [{ from: 10 * MINUTE, until: 21.5 * MINUTE }];
      run(10, [X, G]);
      assert.equal(silenceOf(heard(), [G]).unspared, 10);
    });

    it('is told by no other gateway while that of before the start may still come', () => {
      run(1, [D, G2], [Y, G2]);
      run(10, [Y, G2]);
      const { silent, waits, left } = silenceOf(heard({ storedMainGateway: G, storedIntervalMs: MINUTE }), [
        G2,
        G,
      ]);
      assert.deepEqual([silent, waits, left], [3, [G], 240 - 11]);
    });
  });

  describe('of the gateway from before the start is waited for', () => {
    const missing = (more: Partial<Watched> = {}) =>
      missingGateway(network, heard({ storedMainGateway: G, ...more }), gateways, LIMIT);

    it('as long as it has brought nothing of the device', () => {
      assert.equal(missing({ storedMainGateway: undefined }), undefined);
      assert.equal(missing(), gateways.need(G));
      run(1, [D, G2]);
      assert.equal(missing(), gateways.need(G));
      run(1, [D, G]);
      assert.equal(missing(), undefined);
    });

    it('for four hours', () => {
      now = 4 * HOUR - 1;
      assert.equal(missing(), gateways.need(G));
      now = 4 * HOUR;
      assert.equal(missing(), undefined);
    });

    it('until the device is heard by others beside it for longer than the limit', () => {
      run(1, [D, G2], [deviceAt(2), G]);
      run(3, [D, G2]);
      assert.equal(missing({ state: undefined }), gateways.get(G), 'as long as nobody has heard it');
      assert.equal(missing(), gateways.need(G));
      now += 1;
      hear(D, G2);
      assert.equal(missing(), undefined);
    });
  });
});
