// What a connection tells the broker of itself, and what MQTT.js may do by itself: nothing.
import assert from 'node:assert/strict';
import { clientOptions } from '../../src/mqtt/client-options.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { mqttSettings } from '../session.ts';

const tls = { rejectUnauthorized: false, servername: 'broker' };
const options = (changes: Partial<MqttSettings> = {}, isSecure = false, isOverrun = false) =>
  clientOptions(
    { ...mqttSettings('mqtt://broker'), clientId: 'own', ...changes },
    isSecure,
    isOverrun,
  ) as Record<string, unknown>;

describe('the options of a connection', () => {
  const { DEBUG } = process.env;
  afterEach(() => {
    if (DEBUG === undefined) {
      delete process.env.DEBUG;
    } else {
      process.env.DEBUG = DEBUG;
    }
  });

  it('are those of the settings, and let nothing happen by itself', () => {
    delete process.env.DEBUG;
    const { log, ...others } = options();
    assert.equal(typeof log, 'function');
    assert.deepEqual(others, {
      clientId: 'own',
      clean: true,
      protocolVersion: 4,
      keepalive: 60,
      connectTimeout: 10_000,
      reconnectPeriod: 0,
      resubscribe: false,
      reschedulePings: false,
      queueQoSZero: false,
    });
  });

  for (const [title, changes, expected] of [
    ['a user', { username: 'me', password: 'secret' }, { username: 'me', password: 'secret' }],
    ['a user without a password', { username: 'me' }, { username: 'me', password: '' }],
    ['a password without a user', { password: 'secret' }, { username: '', password: 'secret' }],
    ['an empty user', { username: '', password: 'secret' }, { username: '', password: 'secret' }],
    ['neither of them', { username: '', password: '' }, { username: undefined, password: undefined }],
    ['a persistent session of MQTT 3.1.1', { persistent: true }, { clean: false, properties: undefined }],
    [
      'a persistent session of MQTT 5',
      { protocolVersion: 5, persistent: true, sessionExpiry: 100 },
      { clean: false, properties: { receiveMaximum: 1_000, sessionExpiryInterval: 100 } },
    ],
    [
      'a session of MQTT 5 that ends with the connection',
      { protocolVersion: 5, sessionExpiry: 100 },
      { clean: true, properties: { receiveMaximum: 1_000 } },
    ],
    [
      'reports of QoS 2, of which a broker may send more than it is told',
      { protocolVersion: 5, reportQos: 2 },
      { properties: {} },
    ],
  ] as const satisfies [string, Partial<MqttSettings>, object][]) {
    it(`are of ${title}`, () => {
      const all = options(changes);
      assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, all[name]])), expected);
    });
  }

  it('say nothing of how much may come at once to a broker that does not keep to it', () => {
    assert.deepEqual(options({ protocolVersion: 5 }, false, true).properties, {});
  });

  it('have certificates for a secure address only: with them MQTT.js would make one of a plain address', () => {
    assert.equal('servername' in options({ tls }), false);
    const { rejectUnauthorized, servername } = options({ tls }, true);
    assert.deepEqual({ rejectUnauthorized, servername }, tls);
  });

  it('leave its own log to MQTT.js where somebody looks for a defect', () => {
    process.env.DEBUG = 'mqttjs*';
    assert.equal('log' in options(), false);
  });
});
