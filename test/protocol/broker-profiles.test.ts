// What a broker's profile forbids and limits: the figures that its provider publishes.
import assert from 'node:assert/strict';
import {
  BROKER_PROFILES,
  type BrokerProfileName,
  brokerLimits,
  findProfileProblem,
  PROFILED_SETTINGS,
  type ProfiledSetting,
} from '../../src/protocol/broker-profiles.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { SEGMENTS } from '../../src/protocol/reports/index.ts';
import { createTopics } from '../../src/protocol/topics.ts';

const NONE = { maxSubscriptions: 0, maxUnacknowledged: 0 };

const FORBIDDEN: [BrokerProfileName, ProfiledSetting, unknown, reason: string, values?: object][] = [
  ['aws-iot', 'reportQos', 2, 'profileQos', { max: 1 }],
  ['aws-iot', 'requestQos', '2', 'profileQos', { max: 1 }],
  ['aws-iot', 'keepalive', 1_201, 'profileRange', { min: 1, max: 1_200 }],
  ['aws-iot', 'keepalive', 0, 'profileRange', { min: 1, max: 1_200 }],
  ['aws-iot', 'topicPrefix', 'site/7', 'profileLevels', { limit: 8 }],
  // The slash at its beginning makes a level of its own.
  ['aws-iot', 'topicPrefix', '/site', 'profileLevels', { limit: 8 }],
  ['aws-iot', 'clientId', 'é'.repeat(65), 'profileBytes', { limit: 128 }],
  ['azure-event-grid', 'requestQos', 2, 'profileQos', { max: 1 }],
  ['azure-event-grid', 'keepalive', 1_161, 'profileRange', { min: 1, max: 1_160 }],
  ['azure-event-grid', 'topicPrefix', 'a/b/c/d/e/f/g/h/i', 'profileLevels', { limit: 15 }],
  ['nats', 'protocolVersion', 5, 'profileVersion'],
  ['nats', 'sharedGroup', 'site', 'profileShared'],
  ['nats', 'topicPrefix', 'my site', 'profileSpaces'],
  ['rabbitmq', 'sharedGroup', 'site', 'profileShared'],
  ['rabbitmq', 'reportQos', 2, 'profileQos', { max: 1 }],
  ['rabbitmq', 'topicPrefix', 'v1.0', 'profileDots'],
];

const ALLOWED: [BrokerProfileName, ProfiledSetting, unknown][] = [
  ['any', 'reportQos', 2],
  ['any', 'keepalive', 0],
  ['any', 'topicPrefix', 'my site/a/b/c/d/e/f/g/h/i/j'],
  ['any', 'topicPrefix', 'v1.0'],
  ['aws-iot', 'reportQos', 1],
  ['aws-iot', 'keepalive', 1_200],
  ['aws-iot', 'topicPrefix', 'site'],
  ['aws-iot', 'topicPrefix', 'site/'],
  ['aws-iot', 'sharedGroup', 'site'],
  ['aws-iot', 'clientId', 'a'.repeat(128)],
  ['azure-event-grid', 'keepalive', '1160'],
  ['azure-event-grid', 'sharedGroup', 'site'],
  ['nats', 'protocolVersion', '4'],
  ['nats', 'sharedGroup', ''],
  ['nats', 'sharedGroup', undefined],
  ['nats', 'topicPrefix', 'site'],
  ['hivemq', 'reportQos', 2],
  ['emqx', 'sharedGroup', 'site'],
];

describe('the profile of a broker', () => {
  for (const [profile, setting, value, reason, values] of FORBIDDEN) {
    it(`${profile} forbids ${setting} ${String(value).slice(0, 20)} and names the broker and its limit`, () => {
      const found = findProfileProblem(profile, setting, value);
      assert.deepEqual(found, { reason, values: { ...values, broker: BROKER_PROFILES[profile].name } });
    });
  }

  for (const [profile, setting, value] of ALLOWED) {
    it(`${profile} allows ${setting} ${String(value).slice(0, 20)}`, () => {
      assert.equal(findProfileProblem(profile, setting, value), undefined);
    });
  }

  it('forbids nothing that a new service starts with, save what its owner has to choose', () => {
    const fresh = { protocolVersion: 4, keepalive: 60, reportQos: 1, requestQos: 1 };
    for (const profile of ['aws-iot', 'azure-event-grid', 'hivemq', 'emqx', 'nats', 'rabbitmq'] as const) {
      for (const setting of PROFILED_SETTINGS) {
        const value = setting in fresh ? fresh[setting as keyof typeof fresh] : '';
        assert.equal(findProfileProblem(profile, setting, value), undefined, `${profile}: ${setting}`);
      }
    }
  });

  it('says how many bytes a prefix may have, and one of that length is allowed', () => {
    const { reason, values } = findProfileProblem('aws-iot', 'topicPrefix', 'a'.repeat(250))!;
    assert.equal(reason, 'profileBytes');
    const limit = values.limit as number;
    assert.equal(findProfileProblem('aws-iot', 'topicPrefix', 'a'.repeat(limit)), undefined);
    assert.ok(findProfileProblem('aws-iot', 'topicPrefix', 'a'.repeat(limit + 1)));
  });

  it('leaves room for each topic of a report behind the longest prefix', () => {
    const { values } = findProfileProblem('aws-iot', 'topicPrefix', 'a'.repeat(250))!;
    const { reportFilter } = createTopics('a'.repeat(values.limit as number));
    const place = { gateway: 'c0141f68fc3d', device: 'd0141f00a1b2' };
    const lengths = [...SEGMENTS.keys()].flatMap((segment) =>
      createCatalogue().rows.map(({ name }) => reportFilter({ ...place, segment, identifier: name }).length),
    );
    assert.equal(Math.max(...lengths), 256);
  });

  it('limits filters, subscriptions, publishes, packets and QoS where the provider publishes it', () => {
    assert.deepEqual(brokerLimits('aws-iot', NONE), {
      maxFiltersPerSubscribe: 8,
      maxSubscriptions: 50,
      maxUnacknowledged: 100,
      maxPacketSize: 131_072,
      maxQos: 1,
      hasSharedGroups: true,
    });
    assert.deepEqual(brokerLimits('azure-event-grid', NONE), {
      maxFiltersPerSubscribe: 10,
      maxSubscriptions: 50,
      maxSharedSubscriptions: 10,
      maxUnacknowledged: 1_000,
      maxPacketSize: 524_288,
      maxQos: 1,
      hasSharedGroups: true,
    });
    assert.equal(brokerLimits('hivemq', NONE).maxUnacknowledged, 10);
  });

  it('knows who sends what waits for one subscription after the other', () => {
    assert.equal(brokerLimits('nats', NONE).queuesBySubscription, true);
    assert.equal(brokerLimits('rabbitmq', NONE).queuesBySubscription, undefined);
  });

  it('knows who takes long for many filters, unless their number is set by hand', () => {
    assert.equal(brokerLimits('rabbitmq', NONE).maxReportFilters, 1_000);
    assert.equal(brokerLimits('rabbitmq', { ...NONE, maxSubscriptions: 5_000 }).maxReportFilters, undefined);
    assert.equal(brokerLimits('emqx', NONE).maxReportFilters, undefined);
  });

  it('limits nothing where the broker is not known', () => {
    assert.deepEqual(new Set(Object.values(brokerLimits('any', NONE))), new Set([undefined]));
  });

  it('gives way to the limits that are set by hand, which a provider may have raised', () => {
    const limits = brokerLimits('aws-iot', { maxSubscriptions: 200, maxUnacknowledged: 20 });
    assert.deepEqual([limits.maxSubscriptions, limits.maxUnacknowledged], [200, 20]);
  });
});
