// Of what the settings and the broker say of its limits the narrower one counts, and zeroes say nothing.
import assert from 'node:assert/strict';
import {
  type ConnackProperties,
  type ConnectionLimits,
  readConnectionLimits,
} from '../../src/mqtt/connection-limits.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { mqttSettings } from '../session.ts';

interface Changes extends Partial<Omit<MqttSettings, 'limits'>> {
  limits?: Partial<MqttSettings['limits']>;
}

const SETTINGS = mqttSettings('mqtt://localhost');
const NONE = Number.POSITIVE_INFINITY;

const settingsWith = ({ limits, ...others }: Changes): MqttSettings => ({
  ...SETTINGS,
  ...others,
  limits: { ...SETTINGS.limits, ...limits },
});

const ROWS: [
  title: string,
  changes: Changes,
  said: ConnackProperties | undefined,
  Partial<ConnectionLimits>,
][] = [
  [
    'are none where nothing is known',
    {},
    undefined,
    {
      maxFiltersPerSubscribe: NONE,
      maxUnacknowledged: NONE,
      maxPacketBytes: NONE,
      maxQos: 2,
      sessionExpiry: undefined,
    },
  ],
  [
    'are those of the settings',
    { limits: { maxFiltersPerSubscribe: 8, maxUnacknowledged: 100, maxPacketSize: 1_000, maxQos: 1 } },
    undefined,
    { maxFiltersPerSubscribe: 8, maxUnacknowledged: 100, maxPacketBytes: 1_000, maxQos: 1 },
  ],
  [
    'are those that the broker says',
    {},
    { receiveMaximum: 50, maximumPacketSize: 500, maximumQoS: 0 },
    { maxUnacknowledged: 50, maxPacketBytes: 500, maxQos: 0 },
  ],
  [
    'are those that the broker says, where the settings allow more',
    { limits: { maxUnacknowledged: 100, maxPacketSize: 1_000, maxQos: 2 } },
    { receiveMaximum: 50, maximumPacketSize: 500, maximumQoS: 1 },
    { maxUnacknowledged: 50, maxPacketBytes: 500, maxQos: 1 },
  ],
  [
    'are those of the settings, where the broker allows more',
    { limits: { maxUnacknowledged: 100, maxPacketSize: 1_000, maxQos: 0 } },
    { receiveMaximum: 200, maximumPacketSize: 2_000, maximumQoS: 1 },
    { maxUnacknowledged: 100, maxPacketBytes: 1_000, maxQos: 0 },
  ],
  [
    'are none where the broker says zero',
    {},
    { receiveMaximum: 0, maximumPacketSize: 0 },
    { maxUnacknowledged: NONE, maxPacketBytes: NONE },
  ],
  [
    'are 20 publishes with QoS 2 and MQTT 3.1.1, where the settings name no number',
    { protocolVersion: 4, requestQos: 2 },
    undefined,
    { maxUnacknowledged: 20 },
  ],
  [
    'are the number of the settings with QoS 2 and MQTT 3.1.1 as well',
    { protocolVersion: 4, requestQos: 2, limits: { maxUnacknowledged: 100 } },
    undefined,
    { maxUnacknowledged: 100 },
  ],
  [
    'are none with QoS 1 and MQTT 3.1.1',
    { protocolVersion: 4, requestQos: 1 },
    undefined,
    { maxUnacknowledged: NONE },
  ],
  [
    'are none with QoS 2 and MQTT 5, where the broker names no number',
    { protocolVersion: 5, requestQos: 2 },
    {},
    { maxUnacknowledged: NONE },
  ],
  [
    'are the time of a session that the broker keeps shorter',
    { persistent: true, sessionExpiry: 3_600 },
    { sessionExpiryInterval: 600 },
    { sessionExpiry: 600 },
  ],
  [
    'are no time of a session that is kept as long as was asked for',
    { persistent: true, sessionExpiry: 3_600 },
    { sessionExpiryInterval: 3_600 },
    { sessionExpiry: undefined },
  ],
  [
    'are no time of a session of which the broker says nothing',
    { persistent: true, sessionExpiry: 3_600 },
    {},
    { sessionExpiry: undefined },
  ],
  [
    'are no time of a session that is not to be kept',
    { persistent: false, sessionExpiry: 3_600 },
    { sessionExpiryInterval: 600 },
    { sessionExpiry: undefined },
  ],
];

describe('the limits of a connection', () => {
  for (const [title, changes, said, expected] of ROWS) {
    it(title, () => {
      const limits = readConnectionLimits(settingsWith(changes), said);
      assert.deepEqual({ ...limits, ...expected }, limits);
    });
  }

  it('name the kinds of subscriptions that the broker has', () => {
    const said = { wildcardSubscriptionAvailable: false, sharedSubscriptionAvailable: true };
    assert.deepEqual(readConnectionLimits(SETTINGS, said).support, said);
  });
});
