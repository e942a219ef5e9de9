// Which conditions hold for what is known of a gateway or a device.
import assert from 'node:assert/strict';
import {
  CONDITIONS,
  CONDITIONS_TOLD,
  conditionsOf,
  DEFAULT_LIMITS,
  fineBattery,
  type Presence,
  silenceLimitMs,
} from '../../src/protocol/conditions.ts';

const FINE: Presence = {
  kind: 'device',
  silentMs: 1_000,
  intervalMs: 60_000,
  error: undefined,
  battery: 80,
  signal: -60,
  isDfu: false,
};

describe('the conditions', () => {
  const of = (known: Partial<Presence>, limits = {}) =>
    conditionsOf({ ...FINE, ...known }, { ...DEFAULT_LIMITS, ...limits });

  it('hold none for a device that is well', () => {
    assert.deepEqual(of({}), []);
    assert.deepEqual(of({ battery: 20, signal: -85, silentMs: 180_000 }), []);
  });

  it('hold each by its own limit', () => {
    assert.deepEqual(of({ silentMs: 180_001 }), ['silent']);
    assert.deepEqual(of({ kind: 'gateway', silentMs: 180_001 }), ['gateway-silent']);
    assert.deepEqual(of({ error: 3 }), ['error']);
    assert.deepEqual(of({ battery: 19 }), ['battery-low']);
    assert.deepEqual(of({ signal: -86 }), ['weak-signal']);
    assert.deepEqual(of({ isDfu: true }), ['dfu']);
    assert.deepEqual(
      of(
        { battery: 30, signal: -71, silentMs: 11_000 },
        { batteryBelow: 31, signalBelow: -70, silentAfter: 10 },
      ),
      ['silent', 'battery-low', 'weak-signal'],
    );
  });

  it('hold none of what is not known', () => {
    const unknown = { silentMs: undefined, battery: undefined, signal: undefined };
    assert.deepEqual(of(unknown), []);
    assert.deepEqual(of({ silentMs: 1e9, intervalMs: undefined }), []);
    assert.deepEqual(of({ silentMs: 11_000, intervalMs: undefined }, { silentAfter: 10 }), ['silent']);
  });

  it('say what they were judged by, and their limit', () => {
    assert.deepEqual(CONDITIONS.silent({ ...FINE, silentMs: 200_400 }, DEFAULT_LIMITS), {
      value: 200,
      limit: 180,
    });
    assert.deepEqual(CONDITIONS['battery-low']({ ...FINE, battery: 3 }, DEFAULT_LIMITS), {
      value: 3,
      limit: 20,
    });
  });

  const told: [
    'battery-low' | 'weak-signal',
    Partial<Presence>,
    limits: object,
    value?: number,
    limit?: number,
  ][] = [
    ['battery-low', { battery: 24 }, {}, 24, 20],
    ['battery-low', { battery: 25 }, {}],
    ['battery-low', { battery: 49 }, { batteryFine: 50 }, 49, 20],
    ['battery-low', { battery: 50 }, { batteryFine: 50 }],
    ['battery-low', { battery: 99 }, { batteryBelow: 98 }, 99, 98],
    ['battery-low', { battery: undefined }, {}],
    ['weak-signal', { signal: -83 }, {}, -83, -85],
    ['weak-signal', { signal: -82 }, {}],
    ['weak-signal', { signal: undefined }, {}],
  ];
  for (const [name, known, own, value, limit] of told) {
    const verdict = value === undefined ? undefined : { value, limit };
    it(`${verdict ? 'go on' : 'end'} once told: ${JSON.stringify({ ...known, ...own })}`, () => {
      assert.deepEqual(
        CONDITIONS_TOLD[name]?.({ ...FINE, ...known }, { ...DEFAULT_LIMITS, ...own }),
        verdict,
      );
    });
  }

  it('end for every battery that is full', () => {
    assert.equal(fineBattery({ ...DEFAULT_LIMITS, batteryBelow: 98 }), 100);
  });

  it('wait a minute at least before a device is silent, where its interval is learned', () => {
    assert.equal(silenceLimitMs(DEFAULT_LIMITS, 2_000), 60_000);
    assert.equal(silenceLimitMs(DEFAULT_LIMITS, 600_000), 1_800_000);
    assert.equal(silenceLimitMs({ ...DEFAULT_LIMITS, silentAfter: 5 }, undefined), 5_000);
  });
});
