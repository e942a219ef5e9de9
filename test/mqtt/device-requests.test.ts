// Requests as nodes make them: what is filled in, what comes back, and what others learn of it.
import assert from 'node:assert/strict';
import { ServiceError } from '../../src/errors.ts';
import { DeviceRequests, isAcknowledged, type ReadValue } from '../../src/mqtt/device-requests.ts';
import { timedOut } from '../../src/mqtt/request-errors.ts';
import type { RequestOptions } from '../../src/mqtt/requests.ts';
import type { AcknowledgeOptions } from '../../src/mqtt/sample-acknowledgements.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import type { BuiltRequest, Operation, RequestInput } from '../../src/protocol/operations/index.ts';
import { mqttSettings } from '../session.ts';
import { D, G, G2, TIME } from './scripted.ts';

const { signal } = new AbortController();
const NAMES = new Map([
  [D, 'Boiler'],
  [G, 'Cellar'],
]);

describe('requests as nodes make them', () => {
  let asked: { request: BuiltRequest; options: RequestOptions }[];
  let acknowledged: { request: BuiltRequest; sample: string; options: AcknowledgeOptions }[];
  /** What the gateway answers to each; undefined: nobody waits for it. */
  let answer: unknown;
  let known: ReadValue[];

  beforeEach(() => {
    [asked, acknowledged, known] = [[], [], []];
    answer = { time: TIME, status: 0, value: '07d0' };
  });

  const create = (carriesNames = true) => {
    const outcomes = new Map<string, unknown>();
    const mqtt = {
      async request(request: BuiltRequest, options: RequestOptions) {
        asked.push({ request, options });
        if (answer instanceof ServiceError) {
          throw answer;
        }
        return answer;
      },
      async acknowledge<T>(
        request: BuiltRequest,
        sample: string,
        options: AcknowledgeOptions,
        read: (body: unknown) => T,
      ) {
        acknowledged.push({ request, sample, options });
        if (answer !== undefined && !outcomes.has(sample)) {
          outcomes.set(sample, read(answer));
        }
        return outcomes.get(sample) as T | undefined;
      },
    };
    const settings = mqttSettings('', { ackOperation: 'seen', ackDecodedOperation: 'seen-decoded' });
    return new DeviceRequests(mqtt, settings, {
      catalogue: createCatalogue([{ id: 'ff10', name: 'label', type: 'utf8' }]),
      nameOf: (mac) => NAMES.get(mac),
      carriesNames,
      gatewayOf: (device) => (device === D ? G2 : undefined),
      wasRead: (read) => void known.push(read),
    });
  };
  const ask = (input: RequestInput, options: { decode?: boolean } = {}, operation: Operation = 'read') =>
    create().request(operation, input, { signal, ...options });
  const READ = { gateway: G, device: D, identifier: '8800' };
  const names = { deviceName: 'Boiler', gatewayName: 'Cellar' };

  it('bring the decoded value, and the response with its names', async () => {
    const options = { signal, timeout: 5 };
    const result = await create().request('read', READ, options);
    const response = { time: TIME, status: 0, value: '07d0', raw: '07d0', name: 'temperature', unit: '°C' };
    assert.deepEqual(result, { ...READ, value: 20, response: { ...response, ...names } });
    assert.equal(asked[0]?.request.suffix, 'read/8800');
    assert.equal(asked[0]?.options, options);
    assert.deepEqual(known, [{ ...READ, value: 20, time: TIME }]);
  });

  it('bring the value as it came where somebody wants that; the others know it decoded', async () => {
    const { value, response } = await ask(READ, { decode: false });
    assert.deepEqual([value, response.value, known[0]?.value], ['07d0', '07d0', 20]);
  });

  for (const [what, identifier, value] of [
    ['no hex', '8800', 'warm'],
    ['no text', '8800', 7],
    ['of an identifier that the catalogue does not have', 'ff11', '07d0'],
  ] as const) {
    it(`tell others a value as it came that is ${what}`, async () => {
      answer = { status: 0, value };
      await ask({ ...READ, identifier }, { decode: false });
      assert.deepEqual(known, [{ ...READ, identifier, value, time: undefined }]);
    });
  }

  it('tell others nothing that was decoded twice', async () => {
    answer = { status: 0, value: '31323334' };
    await ask({ ...READ, identifier: 'ff10' });
    assert.equal(known[0]?.value, '1234');
  });

  it('tell others the value of a read in decoded form as it came', async () => {
    await ask({ ...READ, identifier: 'temperature', form: 'decoded' }, { decode: false });
    assert.deepEqual([asked[0]?.request.operation, known[0]?.value], ['read-decoded', '07d0']);
  });

  it('tell others of a value only where one was read, with its time only where that is a text', async () => {
    answer = { status: 0, value: '07d0', time: 7 };
    await ask(READ);
    assert.deepEqual(known.splice(0), [{ ...READ, value: 20, time: undefined }]);
    answer = { status: 0 };
    await ask({ ...READ, identifier: '9800', value: '01', form: 'raw' }, {}, 'write');
    await ask({ gateway: G }, {}, 'apiversion');
    assert.deepEqual(known, []);
  });

  it('bring no names where responses carry none', async () => {
    const { response } = await create(false).request('read', READ, { signal });
    assert.deepEqual([response.deviceName, response.gatewayName], [undefined, undefined]);
  });

  for (const [what, device, expected] of [
    ['the gateway itself', undefined, { device: G }],
    ['the device that was given', ` ${D.toUpperCase()} `, { device: D }],
    ['no device where the given one is no address', 'Boiler', {}],
  ] as const) {
    it(`for the version of a gateway are about ${what}`, async () => {
      answer = { status: 0, version: '2.4.0' };
      const { response: _, ...result } = await ask({ gateway: G, device }, {}, 'apiversion');
      assert.equal(asked[0]?.request.device, G);
      assert.deepEqual(result, { gateway: G, ...expected, identifier: undefined, value: '2.4.0' });
    });
  }

  it('go to the gateway that hears the device best where none is given', async () => {
    const { gateway } = await ask({ device: D, identifier: '8800' });
    assert.deepEqual([gateway, asked[0]?.request.gateway], [G2, G2]);
  });

  const REFUSED: [what: string, input: RequestInput, key: string, values: Record<string, unknown>][] = [
    ['a device that nobody hears', { device: G }, 'notSeen', { field: 'device', device: `Cellar (${G})` }],
    ['a device that is no address', { device: 'x' }, 'notMac', { field: 'device', value: 'x' }],
    ['a device that is empty', { device: '' }, 'missing', { field: 'device' }],
    ['a gateway that is empty', { gateway: '', device: D }, 'missing', { field: 'gateway' }],
    ['no address at all', {}, 'noAddress', { field: 'gateway' }],
  ];
  for (const [what, input, key, values] of REFUSED) {
    it(`are refused for ${what}`, async () => {
      await assert.rejects(ask({ ...input, identifier: '8800' }), ({ text }: ServiceError) => {
        assert.equal(text.key, `INVALID_INPUT.${key}`);
        for (const [name, value] of Object.entries(values)) {
          assert.equal(text.values[name], value);
        }
        return true;
      });
      assert.deepEqual(asked, []);
    });
  }

  it('call gateway and device by their names in the text of an error', async () => {
    await ask(READ);
    answer = timedOut(asked[0]!.request, 1_000);
    const message = /gateway Cellar \(c0141f68fc3d\), device Boiler \(d00000000001\)$/;
    await assert.rejects(ask(READ), { code: 'TIMEOUT', message });
    answer = { status: 5 };
    await assert.rejects(ask(READ), { code: 'REQUEST_FAILED', message });
    await assert.rejects(create().acknowledge({ ...READ, time: TIME }, { signal, wait: true }), {
      code: 'REQUEST_FAILED',
      message,
    });
  });

  describe('to acknowledge a sample', () => {
    const SAMPLE = { ...READ, time: TIME };
    const options = { signal, wait: true, timeout: 5 };

    it('are sent as the service says, with what their caller says', async () => {
      await create().acknowledge(SAMPLE, options);
      await create().acknowledge({ ...SAMPLE, form: 'decoded', identifier: 'temperature' }, options);
      assert.deepEqual(
        acknowledged.map(({ request: { suffix } }) => suffix),
        ['seen/8800', 'seen-decoded/temperature'],
      );
      assert.deepEqual(acknowledged[0]?.request.payload, { time: TIME });
      assert.equal(acknowledged[0]?.options, options);
    });

    it('bring the response with its names, the value as it came, to each caller a copy of its own', async () => {
      const requests = create();
      const [first, second] = [
        await requests.acknowledge(SAMPLE, options),
        await requests.acknowledge(SAMPLE, options),
      ];
      const { sent, response } = first;
      assert.equal(sent, true);
      assert.deepEqual(
        [response?.value, response?.deviceName, response?.gatewayName],
        ['07d0', 'Boiler', 'Cellar'],
      );
      assert.notEqual(response, second.response);
    });

    it('bring no response where nobody waits for one', async () => {
      answer = undefined;
      assert.deepEqual(await create().acknowledge(SAMPLE, options), { sent: true });
    });

    it('are for the same sample where address, topic and time are', async () => {
      const samples: Record<string, unknown>[] = [
        SAMPLE,
        { ...SAMPLE, kind: 'timestamped', ack: true, form: 'raw', value: '07d0' },
        { ...SAMPLE, gateway: G2 },
        { ...SAMPLE, device: G },
        { ...SAMPLE, identifier: '8801' },
        { ...SAMPLE, time: '2026-01-01T00:00:01.000Z' },
      ];
      for (const sample of samples) {
        await create().acknowledge(sample, options);
      }
      const keys = acknowledged.map(({ sample }) => sample);
      assert.equal(keys[0], keys[1]);
      assert.equal(new Set(keys).size, 5);
    });
  });

  for (const [sample, expected] of [
    [{}, true],
    [{ ack: false }, true],
    [{ kind: 'timestamped', ack: true }, true],
    [{ kind: 'timestamped', ack: false }, false],
    [{ kind: 'timestamped', ack: 1 }, false],
    [{ kind: 'heartbeat', ack: true }, false],
  ] as const) {
    it(`are ${expected ? '' : 'not '}needed for the sample ${JSON.stringify(sample)}`, () => {
      assert.equal(isAcknowledged(sample), expected);
    });
  }
});
