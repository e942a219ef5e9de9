// What an option of the service in a box can be, and how the rest is refused.
import assert from 'node:assert/strict';
import { fillOptions, hostInUrl } from '../../simulator/src/options.ts';
import { startService } from '../../simulator/src/service.ts';
import { TOPIC_KINDS } from '../../simulator/src/traffic.ts';

describe('the service in a box with an option that cannot be', () => {
  for (const [name, value, told] of [
    ['gateways', 0, 'gateways: not a whole number from 1 to 10000 (0)'],
    ['gateways', 1.5, 'gateways: not a whole number from 1 to 10000 (1.5)'],
    ['devices', -1, 'devices: not a whole number from 0 to 10000 (-1)'],
    ['rate', 'x', 'rate: not a number from 0 to 100000 (x)'],
    ['rate', Number.NaN, 'rate: not a number from 0 to 100000 (NaN)'],
    ['rate', 1e9, 'rate: not a number from 0 to 100000 (1000000000)'],
    ['restPort', 1.5, 'restPort: not a whole number from 0 to 65535 (1.5)'],
    ['restPort', 65_536, 'restPort: not a whole number from 0 to 65535 (65536)'],
    ['mqttPort', 99_999, 'mqttPort: not a whole number from 0 to 65535 (99999)'],
    ['mqttPort', 0.5, 'mqttPort: not a whole number from 0 to 65535 (0.5)'],
    ['wsPort', 65_536, 'wsPort: not a whole number from -1 to 65535 (65536)'],
    ['wsPort', -0.5, 'wsPort: not a whole number from -1 to 65535 (-0.5)'],
    ['qos', 7, 'qos: not a whole number from 0 to 1 (7)'],
    ['qos', 0.5, 'qos: not a whole number from 0 to 1 (0.5)'],
    ['maxPageSize', 0, 'maxPageSize: not a whole number from 1 on (0)'],
    ['maxPageSize', 1.5, 'maxPageSize: not a whole number from 1 on (1.5)'],
    ['historyLimit', 0, 'historyLimit: not a whole number from 1 on (0)'],
    ['historyLimit', 1.5, 'historyLimit: not a whole number from 1 on (1.5)'],
    ['sampleLimit', 0.5, 'sampleLimit: not a whole number from 0 on (0.5)'],
    ['queueLimit', 0.5, 'queueLimit: not a whole number from 0 on (0.5)'],
    ['gateways', 10_001, 'gateways: not a whole number from 1 to 10000 (10001)'],
    ['devices', 10_001, 'devices: not a whole number from 0 to 10000 (10001)'],
    ['allDevices', 1e6, 'allDevices: not a whole number from 0 to 100000 (1000000)'],
    ['listed', 1e9, 'listed: not a whole number from 0 to 1000000 (1000000000)'],
    ['delay', 1e10, 'delay: not a number from 0 to 3600000 (10000000000)'],
    ['awayEvery', 1e7, 'awayEvery: not a number from 0 to 2147483 (10000000)'],
    ['awayFor', 1e7, 'awayFor: not a number from 0 to 2147483 (10000000)'],
    ['lostAnswers', 50, 'lostAnswers: not a number from 0 to 1 (50)'],
    ['mode', 'x', 'mode: none of raw, decoded, mixed (x)'],
    ['rest', 'no', 'rest: neither true nor false (no)'],
    ['password', 5, 'password: not a text (5)'],
    ['kinds', 'rssi,x', `kinds: not some of ${TOPIC_KINDS.join(', ')} (rssi,x)`],
    ['brokerUrl', 'nonsense', 'brokerUrl: not the address of a broker (nonsense)'],
    ['brokerUrl', 'http://127.0.0.1:1883', 'brokerUrl: not the address of a broker (http://127.0.0.1:1883)'],
    [
      'brokerUrl',
      'mqtt://localhost:99999',
      'brokerUrl: not the address of a broker (mqtt://localhost:99999)',
    ],
  ] as const) {
    it(`does not start: ${name} ${value}`, async () => {
      await assert.rejects(startService({ mqtt: false, [name]: value }), {
        code: 'INVALID_INPUT',
        message: told,
        cause: { field: name, value },
      });
    });
  }

  for (const given of [null, 5, 'rate', []]) {
    it(`does not start with ${JSON.stringify(given)} in place of options`, async () => {
      await assert.rejects(startService(given as object), {
        ...{ code: 'INVALID_INPUT', message: /^options: not an object/ },
      });
    });
  }

  it('does not repeat the secrets of a broker that cannot be', async () => {
    await assert.rejects(startService({ brokerUrl: 'http://me:secret@localhost' }), {
      ...{ cause: { field: 'brokerUrl', value: 'http://…' } },
      message: 'brokerUrl: not the address of a broker (http://…)',
    });
    for (const [brokerUrl, value] of [
      ['me:secret\nline@localhost', '…'],
      ['mqtt//me:secret%40localhost', '…'],
      ['foo://localhost/?password=secret', 'foo://…'],
      ['mqtt://admin:secret', 'mqtt://…'],
      ['foo:localhost?password=sec@ret', '…'],
    ]) {
      await assert.rejects(startService({ brokerUrl }), { cause: { field: 'brokerUrl', value } });
    }
  });

  it('takes the addresses of brokers of every kind that the package mqtt knows', () => {
    for (const scheme of ['mqtt', 'mqtts', 'tcp', 'ssl', 'tls', 'ws', 'wss', 'MQTT']) {
      const brokerUrl = `${scheme}://localhost`;
      assert.equal(fillOptions({ brokerUrl }).brokerUrl, brokerUrl);
    }
  });

  it('has the addresses that it tells in the form of URLs, also where it listens on an IPv6 address', () => {
    for (const [host, shown] of [
      ['::1', '[::1]'],
      ['127.0.0.1', '127.0.0.1'],
      ['localhost', 'localhost'],
    ] as const) {
      assert.equal(hostInUrl(host), shown);
    }
  });

  it('takes the largest and the smallest that can be', () => {
    const most = { mqttPort: 65_535, restPort: 65_535, wsPort: 65_535, qos: 1, rate: 100_000, seed: -5 };
    const least = { mqttPort: 0, restPort: 0, wsPort: -1, qos: 0, rate: 0, historyLimit: 1, maxPageSize: 1 };
    for (const given of [most, least]) {
      assert.deepEqual({ ...fillOptions(given), ...given }, fillOptions(given));
    }
  });

  it('starts where one is left out as undefined', async () => {
    const service = await startService({ mqtt: false, rate: undefined });
    assert.equal(service.options.rate, 5);
    await service.close();
  });
});
