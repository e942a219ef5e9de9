// Requests built from what users give, and the responses to them.
import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { ServiceError } from '../../src/errors.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import {
  type BuiltRequest,
  buildAck,
  buildRequest,
  OPERATIONS,
  type Operation,
  type RequestInput,
  readResponse,
} from '../../src/protocol/operations/index.ts';

const G = 'c0141f68fc3d';
const D = 'd0141f00a1b2';
const SECRET = 'not hex, but secret';
const catalogue = createCatalogue();

const context = { catalogue, ack: { raw: 'ack', decoded: 'ack-decoded', payload: { time: '{{time}}' } } };

const build = (operation: Operation, input: RequestInput): BuiltRequest =>
  buildRequest(operation, { gateway: G, device: D, ...input }, context);

function codeOf(run: () => unknown): { code: string; cause: Record<string, unknown>; message: string } {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error));
    return error;
  }
  return assert.fail('nothing was thrown');
}

function assertField(run: () => unknown, field: string): void {
  const { code, cause, message } = codeOf(run);
  assert.equal(code, 'INVALID_INPUT');
  assert.equal(cause.field, field);
  assert.notEqual(message, code);
}

describe('a request', () => {
  it('to read names gateway, device and identifier in lower case', () => {
    const input = { gateway: 'bmac-C0141F68FC3D', device: 'D0:14:1F:00:A1:B2', identifier: 'FF00' };
    assert.deepEqual(build('read', input), {
      gateway: G,
      device: D,
      operation: 'read',
      identifier: 'ff00',
      suffix: 'read/ff00',
      payload: {},
      priority: 2,
    });
  });

  it('leaves out what stands around an address, an identifier or bytes, such as the end of a pasted line', () => {
    const pasted = {
      ...{ gateway: ` ${G}`, device: `${D}\r\n`, identifier: '\t8800 ' },
      ...{ extenderId: ' A0:14:1F:00:00:01', publicKey: 'AB\n', key: ' cd ' },
    };
    const { gateway, device, suffix, payload } = build('read', pasted);
    assert.deepEqual([gateway, device, suffix], [G, D, 'read/8800']);
    assert.deepEqual(payload, { extenderId: 'a0141f000001', publicKey: 'ab', key: 'cd' });
    assert.equal(build('write', { ...pasted, identifier: 'Alarm\n' }).suffix, 'write-decoded/alarm');
  });

  it('for the API version goes to the gateway and carries nothing', () => {
    const input = { identifier: '8800', priority: 'high', extenderId: D, key: 'ab' };
    assert.deepEqual(build('apiversion', input), {
      gateway: G,
      device: G,
      operation: 'apiversion',
      suffix: 'apiversion',
      payload: {},
      priority: 3,
    });
  });

  it('without a device is for the gateway itself', () => {
    assert.equal(build('read', { device: undefined, identifier: '8800' }).device, G);
  });

  const forms: [identifier: string, form: unknown, suffix: string][] = [
    ['8800', undefined, 'read/8800'],
    ['8800', 'auto', 'read/8800'],
    ['8800', 'raw', 'read/8800'],
    ['8800', 'decoded', 'read-decoded/temperature'],
    ['Temperature', '', 'read-decoded/temperature'],
    ['temperature', 'decoded', 'read-decoded/temperature'],
    ['temperature', 'raw', 'read/8800'],
    ['dead', 'auto', 'read-decoded/dead'],
    ['button-0-counter', 'auto', 'read-decoded/button-0-counter'],
    ['ee8001', 'auto', 'read/ee8001'],
  ];
  for (const [identifier, form, suffix] of forms) {
    it(`for ${identifier} in the form ${form} is ${suffix}`, () =>
      assert.equal(build('read', { identifier, form }).suffix, suffix));
  }

  it('carries only the optional parameters that were given', () => {
    const options = {
      priority: 'Highest',
      extenderId: 'A0:14:1F:00:00:01',
      accessType: 'legacy',
      key: 'ABCD',
    };
    const given = { ...options, identifier: '8800', publicKey: '' };
    const expected = { priority: 4, extenderId: 'a0141f000001', accessType: 'legacy', key: 'abcd' };
    const read = build('read', given);
    assert.deepEqual(read.payload, expected);
    assert.equal(read.priority, 4);
    const upper = { ...expected, extenderId: 'A0141F000001' };
    assert.deepEqual(build('write', given).payload, { value: null, ...upper });
    const decoded = build('write', { ...given, identifier: 'alarm', value: true });
    assert.deepEqual(decoded.payload, { value: true, ...upper });
  });

  it('takes a priority as number, text or name', () => {
    const given = [0, '0', 'lowest', 1, 'Low', 2, ' MEDIUM ', 3, '3', 4, 'highest'];
    const priorities = given.map((priority) => build('read', { identifier: '8800', priority }).priority);
    assert.deepEqual(priorities, [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
  });

  const writes: [title: string, input: RequestInput, suffix: string, payload: Record<string, unknown>][] = [
    ['a hex string as it is', { identifier: '8800', value: 'FBEB' }, 'write/8800', { value: 'fbeb' }],
    ['a number encoded', { identifier: '8800', value: -10.45 }, 'write/8800', { value: 'fbeb' }],
    ['a word encoded', { identifier: '8110', value: 'unconnected' }, 'write/8110', { value: '04' }],
    ['false encoded', { identifier: '9800', value: false }, 'write/9800', { value: '00' }],
    ['zero encoded', { identifier: '9808', value: 0 }, 'write/9808', { value: '0000' }],
    [
      'a structure encoded',
      { identifier: '9804', value: { interval: 100, denominator: 2 } },
      'write/9804',
      { value: '006402' },
    ],
    [
      'an extension encoded behind the value',
      { identifier: '8810', value: 16, ext: { transitionCounter: 1, isTransition: true } },
      'write/8810',
      { value: '100000000101' },
    ],
    ['a command without a value', { identifier: '8300' }, 'write/8300', { value: null }],
    ['null as NULL', { identifier: '8800', value: null, ext: {} }, 'write/8800', { value: null }],
    ['an empty text as NULL', { identifier: '8800', value: '' }, 'write/8800', { value: null }],
    [
      'a decoded empty text as NULL',
      { identifier: 'alarm', value: '' },
      'write-decoded/alarm',
      { value: null },
    ],
    ['any JSON in decoded form', { identifier: 'own', value: ['x'] }, 'write-decoded/own', { value: ['x'] }],
    [
      'a decoded extension',
      { identifier: 'motion', value: 1, ext: { isTransition: true } },
      'write-decoded/motion',
      { value: 1, ext: { isTransition: true } },
    ],
    ['hex in decoded form as text', { identifier: 'own', value: 'FF' }, 'write-decoded/own', { value: 'FF' }],
  ];
  for (const [title, input, suffix, payload] of writes) {
    it(`to write sends ${title}`, () => {
      const request = build('write', input);
      assert.equal(request.suffix, suffix);
      assert.deepEqual(request.payload, payload);
    });
  }

  it('takes objects of a function node, which have another prototype', () => {
    const value: unknown = runInNewContext('({ interval: 100, denominator: 2 })');
    assert.equal(build('write', { identifier: '9804', value }).payload.value, '006402');
  });

  it('is not reached by later changes of the message', () => {
    const value = { a: [1] };
    const { payload } = build('write', { identifier: 'own', value });
    value.a.push(2);
    assert.deepEqual(payload, { value: { a: [1] } });
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const BAD_MACS = ['x', `${G}0`, '+', '#', '../..', `${G}/x`, 12, {}, [G], true];
  const BAD: [operation: Operation, field: string, values: unknown[], input?: RequestInput][] = [
    ['apiversion', 'gateway', [undefined, null, '', ...BAD_MACS]],
    ['read', 'gateway', [undefined, null, '', ...BAD_MACS]],
    // A look-up in vain must not become a request to the gateway.
    ['read', 'device', [null, '', ...BAD_MACS]],
    ['write', 'device', [null, '']],
    [
      'read',
      'identifier',
      [
        ...[undefined, null, '', 8800, {}, ['8800'], '+', '#', '8800/#', '../8800', '..', 'a/b', 'a b', ' '],
        ...['a\0', '-a', 'a-', 'a--b', 'ä', 'a_b', 'a'.repeat(201)],
      ],
    ],
    ['read', 'identifier', ['ee8001', '8120', '05'], { form: 'decoded' }],
    ['read', 'identifier', ['radon-level', 'button-0-counter', 'dead'], { form: 'raw' }],
    ['read', 'form', ['hex', 'RAW', 1, {}, true]],
    ['read', 'priority', [[2], 'length', 5, -1, 1.5, Number.NaN, 'urgent', '5', true, {}, 'constructor']],
    ['read', 'extenderId', ['x', 'abc', 12, {}, ' ']],
    ['read', 'accessType', ['Legacy', 'x', 1, {}]],
    ['read', 'publicKey', ['x', 'abc', 12, {}, '  ', 'ab cd']],
    ['read', 'key', ['x', 'abc', 12, {}, ' ']],
    [
      'write',
      'value',
      [1e9, 'warm', true, {}, [20], Number.NaN, () => 1, 5n, new Date(), Buffer.from('a'), cycle],
    ],
    [
      'write',
      'value',
      [
        Number.NaN,
        Number.POSITIVE_INFINITY,
        () => 1,
        5n,
        Symbol('x'),
        new Date(),
        Buffer.from('a'),
        new Map(),
        cycle,
      ],
      { identifier: 'own' },
    ],
    ['write', 'ext', ['ab', 5, ['ab'], { bytes: 'a' }, { other: 1 }], { value: 20 }],
    ['write', 'ext', [{ bytes: 'ab' }], { value: '1234' }],
    ['write', 'ext', [{ bytes: 'ab' }], { value: null }],
    ['write', 'ext', ['ab', 5, ['ab'], { a: Number.NaN }], { identifier: 'own', value: 1 }],
  ];
  for (const [operation, field, values, input] of BAD) {
    const circumstances = input ? ` with ${JSON.stringify(input)}` : '';
    it(`to ${operation}${circumstances} is refused for a bad ${field}`, () => {
      for (const value of values) {
        assertField(() => build(operation, { identifier: '8800', ...input, [field]: value }), field);
      }
    });
  }

  const REASONS: [reason: string, input: RequestInput, operation?: Operation][] = [
    ['missing', { gateway: '' }],
    ['missing', { gateway: null, device: undefined }],
    ['noAddress', { gateway: undefined, device: undefined }],
    ['notText', { identifier: 8800 }],
    ['notMac', { gateway: 'x' }],
    ['missing', { identifier: '' }],
    ['missing', { identifier: undefined }],
    ['notIdentifier', { identifier: 'a b' }],
    ['notIdentifier', { identifier: 'a'.repeat(201) }],
    ['noHexId', { identifier: 'radon-level', form: 'raw' }],
    ['noName', { identifier: 'ee8001', form: 'decoded' }],
    ['missing', { device: '' }],
    ['notMac', { device: 'x' }],
    ['notForm', { identifier: '8800', form: 'hex' }],
    ['notPriority', { identifier: '8800', priority: 5 }],
    ['notHexBytes', { identifier: '8800', extenderId: 'abc' }],
    ['notHexBytes', { identifier: '8800', publicKey: 'x' }],
    ['notHexBytes', { identifier: '8800', key: ' ' }],
    ['notAccessType', { identifier: '8800', accessType: 'Legacy' }],
    ['notExt', { identifier: '8800', value: 20, ext: 'ab' }, 'write'],
    ['extWithHex', { identifier: '8800', value: '1234', ext: { bytes: 'ab' } }, 'write'],
    ['notJson', { identifier: 'own', value: Number.NaN }, 'write'],
    ['notJson', { identifier: 'own', value: 1, ext: { a: Number.NaN } }, 'write'],
  ];
  for (const [reason, input, operation = 'read'] of REASONS) {
    it(`tells why it is refused: ${JSON.stringify(input).slice(0, 60)}: ${reason}`, () => {
      const error = codeOf(() => build(operation, input)) as ServiceError;
      assert.equal(error.text.key, `INVALID_INPUT.${reason}`);
    });
  }

  const WORDS: [input: RequestInput, text: string][] = [
    [{ identifier: 'a b' }, 'identifier must be a hex identifier or a name: a b'],
    [
      { identifier: ' Battery Level ' },
      'identifier must be a hex identifier or a name:  Battery Level  (perhaps battery-level is meant)',
    ],
    [
      { identifier: 'temprature', form: 'raw' },
      'identifier has no known hex identifier, so it cannot be used in raw form: temprature (perhaps temperature is meant)',
    ],
    [{ identifier: '8800', value: '21.5' }, 'value must be a number: "21.5"'],
    [{ identifier: '8800', value: [1] }, 'value must be a number: [1]'],
    [{ identifier: '9800', value: 'true' }, 'value must be true or false: "true"'],
    [
      { identifier: '9804', value: { interval: '100', denominator: 1 } },
      'value must be a number: interval: "100"',
    ],
  ];
  for (const [input, text] of WORDS) {
    it(`tells what was given, and what may be meant: ${text}`, () => {
      assert.equal((codeOf(() => build('write', input)) as ServiceError).message, text);
    });
  }

  it('takes names up to 200 characters', () => {
    const identifier = 'a'.repeat(200);
    assert.equal(build('read', { identifier }).suffix, `read-decoded/${identifier}`);
  });

  it('does not show a malformed key in its error', () => {
    const error = codeOf(() => build('read', { identifier: '8800', key: SECRET }));
    assert.doesNotMatch(JSON.stringify([error.message, error.cause]), new RegExp(SECRET));
    assert.deepEqual(error.cause, { field: 'key', value: '***' });
  });

  it('is either built or refused with a field, whatever a message holds', () => {
    const operation = fc.constantFrom(...(Object.keys(OPERATIONS) as Operation[]));
    const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withTypedArray: true });
    const field = fc.constantFrom(
      'device',
      'identifier',
      'form',
      'value',
      'ext',
      'priority',
      'extenderId',
      'key',
    );
    const identifier = fc.constantFrom('8800', 'alarm', '8005', '9804', '8810');
    fc.assert(
      fc.property(operation, identifier, fc.dictionary(field, anything), (name, known, input) => {
        try {
          const { suffix, payload } = build(name, { identifier: known, ...input });
          assert.doesNotMatch(suffix, /[+#\0]/);
          JSON.stringify(payload);
        } catch (error) {
          assert.ok(error instanceof ServiceError && error.code === 'INVALID_INPUT', String(error));
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('an acknowledgement', () => {
  const T = '2020-12-08T08:10:08.880Z';
  const sample = { gateway: G, device: D, identifier: '8800', form: 'raw', time: T, value: 46.6 };
  const ack = (input: Record<string, unknown>, payload = context.ack.payload as Record<string, unknown>) =>
    buildRequest('ack', { ...sample, ...input }, { catalogue, ack: { ...context.ack, payload } });

  it('of a raw sample names its identifier and time', () => {
    assert.deepEqual(ack({}), {
      gateway: G,
      device: D,
      operation: 'ack',
      identifier: '8800',
      suffix: 'ack/8800',
      payload: { time: T },
      priority: 2,
    });
  });

  it('of a decoded sample uses the decoded operation', () => {
    assert.equal(ack({ form: 'decoded', identifier: 'temperature' }).suffix, 'ack-decoded/temperature');
  });

  it('without a form goes by the identifier', () => {
    assert.equal(ack({ form: undefined, identifier: 'EF10' }).suffix, 'ack/ef10');
    assert.equal(ack({ form: undefined, identifier: 'temperature' }).suffix, 'ack-decoded/temperature');
  });

  it('fills the template with the fields of the sample', () => {
    const template = {
      at: '{{time}}',
      what: '{{identifier}}@{{device}}',
      list: ['{{value}}', '{{none}}', 1],
    };
    const { payload } = ack({}, template);
    assert.deepEqual(payload, { at: T, what: `8800@${D}`, list: [46.6, null, 1] });
    assert.deepEqual(ack({}, { x: '{{constructor}}' }).payload, {});
    const note = { note: 'value {{value}}, {{none}}.', form: '{{form}}' };
    const notes = [{ a: 1 }, null, 5, 'x'].map((value) => ack({ value }, note).payload.note);
    assert.deepEqual(notes, ['value {"a":1}, .', 'value , .', 'value 5, .', 'value x, .']);
    for (const [identifier, form] of [
      ['8800', 'raw'],
      ['temperature', 'decoded'],
    ]) {
      assert.equal(ack({ identifier, form: undefined }, note).payload.form, form);
    }
  });

  it('is refused with what is missing, and where nothing is given with what to give', () => {
    const nothing = { gateway: undefined, device: undefined, identifier: undefined, time: undefined };
    for (const [reason, input] of [
      ['noSample', nothing],
      ['missing', { ...nothing, device: D }],
    ] as const) {
      const error = codeOf(() => ack(input)) as ServiceError;
      assert.equal(error.text.key, `INVALID_INPUT.${reason}`);
      assert.deepEqual(error.cause, { field: 'gateway', value: undefined });
    }
  });

  it('sends a name back exactly as the sample had it, and one of the catalogue that was typed in lower case', () => {
    const named = { identifier: 'Own-Name', form: 'decoded' };
    for (const kind of [undefined, 'timestamped']) {
      assert.equal(ack({ ...named, kind }).suffix, 'ack-decoded/Own-Name');
    }
    assert.equal(ack({ ...named, identifier: ' TEMPERATURE ' }).suffix, 'ack-decoded/temperature');
    assert.equal(ack({ identifier: 'EF10' }).suffix, 'ack/ef10');
  });

  it('translates an identifier that somebody typed into the form that is chosen, as a read does', () => {
    const suffixOf = (form: string, identifier: string) => ack({ form, identifier }).suffix;
    assert.equal(suffixOf('raw', ' Temperature'), 'ack/8800');
    assert.equal(suffixOf('decoded', '8800'), 'ack-decoded/temperature');
    assert.deepEqual(ack({ form: 'decoded' }, { of: '{{identifier}}' }).payload, { of: 'temperature' });
    for (const [form, identifier] of [
      ['raw', 'own-name'],
      ['raw', 'own name'],
      ['decoded', 'ef10'],
    ]) {
      const field = { form, identifier };
      assert.equal(codeOf(() => ack(field)).message, codeOf(() => build('read', field)).message);
    }
    const reported = { kind: 'timestamped', form: 'decoded', identifier: '8800' };
    assert.equal(ack(reported).suffix, 'ack-decoded/8800', 'a report is acknowledged by its own topic');
  });

  it('takes an identifier that somebody typed without the blanks around it, and that of a report as it is', () => {
    const typed = { form: undefined, identifier: ' EF10 ' };
    assert.deepEqual([ack(typed).suffix, ack(typed).identifier], ['ack/ef10', 'ef10']);
    assert.deepEqual(ack(typed, { of: '{{identifier}}' }).payload, { of: 'ef10' });
    assert.equal(ack({ form: 'decoded', identifier: 'temperature ' }).suffix, 'ack-decoded/temperature');
    assertField(() => ack({ identifier: '  ' }), 'identifier');
    const reported = { kind: 'timestamped', form: 'decoded', identifier: 'Own Name ' };
    assert.equal(ack(reported).suffix, 'ack-decoded/Own Name ');
  });

  it('takes identifiers and times up to 200 characters', () => {
    const identifier = 'x'.repeat(200);
    assert.equal(ack({ identifier, form: 'decoded', time: identifier }).payload.time, identifier);
    const { message, cause } = codeOf(() => ack({ time: `${identifier}x` }));
    assert.equal(cause.field, 'time');
    assert.match(message, /200/);
  });

  it('is refused for a name of its operation that no topic can carry', () => {
    for (const name of ['', '.', '..', 'a/b', '+', '#', 'a\0', ['a'], null, 5, 'x'.repeat(201)]) {
      const settings = { raw: name as string, decoded: name as string, payload: {} };
      assertField(() => buildAck({ ...sample, form: 'raw' }, settings, catalogue), 'ackOperation');
      assertField(() => buildAck({ ...sample, form: 'decoded' }, settings, catalogue), 'ackDecodedOperation');
    }
  });

  const BAD: [field: string, reason: string, values: unknown[]][] = [
    ['gateway', 'missing', [undefined, '']],
    ['gateway', 'notMac', ['x', 5]],
    ['device', 'missing', [undefined, '']],
    ['device', 'notMac', ['x', 5]],
    ['identifier', 'missing', [undefined, '']],
    ['identifier', 'notLevel', [5, ['a'], '+', '#', 'a/b', '.', '..', 'a\0b', 'a'.repeat(201)]],
    ['form', 'notForm', ['x', 5]],
    ['time', 'missing', [undefined, null, '']],
    ['time', 'notText', [5, {}]],
    ['time', 'tooLong', ['x'.repeat(201)]],
  ];
  for (const [field, reason, values] of BAD) {
    it(`is refused for a bad ${field}: ${reason}`, () => {
      for (const value of values) {
        const { text, cause } = codeOf(() => ack({ [field]: value })) as ServiceError;
        assert.deepEqual([text.key, cause.field], [`INVALID_INPUT.${reason}`, field]);
      }
    });
  }
});

describe('a response', () => {
  const OK = { time: 't', status: 0, responseTime: 12, origin: 1 };
  const read = (request: BuiltRequest, body: unknown, decode = true): ReturnType<typeof readResponse> =>
    readResponse(request, body, catalogue, decode);
  const raw = () => build('read', { identifier: '8800' });

  it('to a raw read is decoded, and says what was received', () => {
    const body = { ...OK, value: '1234', route: '1' };
    assert.deepEqual(read(raw(), body), {
      value: 46.6,
      response: { ...body, name: 'temperature', unit: '°C', originName: 'device-via-extender', raw: '1234' },
    });
    assert.equal(read(raw(), body, false).value, '1234');
  });

  it('to a raw read of motion carries its extension', () => {
    const { value, response } = read(build('read', { identifier: '8810' }), { ...OK, value: '200000000101' });
    assert.equal(value, 32);
    assert.deepEqual(response.ext, { transitionCounter: 1, isTransition: true });
  });

  it('to a decoded read passes value and extension', () => {
    const request = build('read', { identifier: 'temperature' });
    const { value, response } = read(request, { ...OK, value: 21.5, ext: { a: 1 } });
    assert.equal(value, 21.5);
    assert.deepEqual([response.ext, response.name, response.unit], [{ a: 1 }, 'temperature', '°C']);
  });

  it('to apiversion is the version', () => {
    assert.equal(read(build('apiversion', {}), { ...OK, version: '2.4.0' }).value, '2.4.0');
  });

  it('without a value is null', () => {
    assert.equal(read(raw(), OK).value, null);
    assert.equal(read(build('read', { identifier: 'alarm' }), OK).value, null);
  });

  it('to a write has no value', () => {
    assert.equal(read(build('write', { identifier: '8300' }), OK).value, undefined);
  });

  it('names its origin when it is known', () => {
    const names = [0, 1, 16, 32, 7, '0', undefined].map(
      (origin) => read(raw(), { ...OK, origin }).response.originName,
    );
    const known = ['device', 'device-via-extender', 'extender', 'gateway'];
    assert.deepEqual(names, [...known, undefined, undefined, undefined]);
    assert.equal('originName' in read(raw(), { ...OK, origin: 7 }).response, false);
  });

  it('with another status is a failure that carries the whole response', () => {
    const body = { ...OK, status: 5, errorMessage: 'no route' };
    const error = codeOf(() => read(raw(), body));
    assert.equal(error.code, 'REQUEST_FAILED');
    assert.deepEqual(error.cause, body);
    assert.equal(error.message, `no route (status 5), property 8800, gateway ${G}, device ${D}`);
    const own = codeOf(() => read(buildRequest('apiversion', { gateway: G }, context), body));
    assert.equal(own.message, `no route (status 5), gateway ${G}`);
    const { message } = codeOf(() => read(raw(), { status: 7 }));
    assert.equal(message, `refused without a reason (status 7), property 8800, gateway ${G}, device ${D}`);
    for (const errorMessage of [undefined, '', 5]) {
      const silent = codeOf(() => read(raw(), { status: -1, errorMessage }));
      assert.match(silent.message, /-1/);
      assert.equal(silent.message, codeOf(() => read(raw(), { status: -1 })).message);
    }
    const torn = codeOf(() => read(raw(), { status: 5, errorMessage: 'busy\n[error] lost\u0007' }));
    assert.ok(torn.message.startsWith('busy [error] lost'), torn.message);
    const long = codeOf(() => read(raw(), { status: 5, errorMessage: 'x'.repeat(10_000) }));
    assert.match(long.message, /^x{199}… /);
    assert.doesNotMatch(long.message, /x{201}/);
    assert.equal(long.cause.errorMessage, 'x'.repeat(10_000));
  });

  it('that is not what the interface says is a bad response', () => {
    const bodies: [body: unknown, reason: string][] = [
      ...[null, 5, 'x', [OK]].map((body): [unknown, string] => [body, 'notJson']),
      ...[undefined, '0', 0.5, null].map((status): [unknown, string] => [{ ...OK, status }, 'noStatus']),
    ];
    for (const [body, reason] of bodies) {
      const error = codeOf(() => read(raw(), body)) as ServiceError;
      assert.equal(error.text.key, `BAD_RESPONSE.${reason}`);
      assert.deepEqual(error.cause, { body });
      assert.match(error.message, new RegExp(G));
    }
  });

  describe('that repeats the network key', () => {
    const KEY = '00112233445566778899aabbccddeeff';
    const keyed = (key = KEY) => build('read', { identifier: '8800', key });

    const SPELLINGS = {
      'in small letters': KEY,
      'in capital letters': KEY.toUpperCase(),
      'byte by byte': KEY.replace(/..(?!$)/g, '$&:'),
      'byte by byte with blanks': KEY.replace(/..(?!$)/g, '$& ').toUpperCase(),
      'in UTF-16': KEY.replace(/.(?!$)/g, '$&\0'),
      'byte by byte with commas': KEY.replace(/..(?!$)/g, '$&,'),
      'byte by byte with dots': KEY.replace(/..(?!$)/g, '$&.'),
      'byte by byte as in C': KEY.replace(/..(?!$)/g, '$&, 0x'),
      'byte by byte over lines': KEY.replace(/..(?!$)/g, '$&,\n  '),
      'byte by byte as in a text of C': KEY.replace(/..(?!$)/g, '$&\\x'),
      'byte by byte as in a text of C within a text': KEY.replace(/..(?!$)/g, '$&\\\\x'),
      'byte by byte as texts of C': KEY.replace(/..(?!$)/g, '$&","\\x'),
      'byte by byte behind an x': KEY.replace(/..(?!$)/g, '$& x'),
      'byte by byte as in HTML': KEY.replace(/..(?!$)/g, '$&;&#x'),
      'in groups with two blanks': KEY.replace(/.{8}(?!$)/g, '$&  '),
      'in groups with a line below': KEY.replace(/.{4}(?!$)/g, '$&_'),
      'in Base64': Buffer.from(KEY, 'hex').toString('base64'),
      'in Base64 for addresses': Buffer.from(KEY, 'hex').toString('base64url'),
      'in decimal numbers': [...Buffer.from(KEY, 'hex')].join(', '),
      'behind a mark': `0x${KEY}`,
    };
    for (const [way, spelling] of Object.entries(SPELLINGS)) {
      it(`${way} shows it neither in the error nor in its cause`, () => {
        const body = { ...OK, status: 7, errorMessage: `wrong key ${spelling}!`, got: [{ key: spelling }] };
        const { message, cause } = codeOf(() => read(keyed(), body));
        const shown = spelling.startsWith('0x') ? '0x***' : '***';
        assert.equal(message, `wrong key ${shown}! (status 7), property 8800, gateway ${G}, device ${D}`);
        assert.deepEqual(cause, { ...body, errorMessage: `wrong key ${shown}!`, got: [{ key: shown }] });
        for (const bad of [{ [spelling]: spelling }, [spelling], spelling]) {
          const { code, cause } = codeOf(() => read(keyed(), bad));
          assert.equal(code, 'BAD_RESPONSE');
          assert.deepEqual(
            cause.body,
            JSON.parse(JSON.stringify(bad).replaceAll(JSON.stringify(spelling).slice(1, -1), shown)),
          );
        }
      });
    }

    it('shows it not as a list of its bytes, and keeps lists of other numbers', () => {
      const bytes = [...Buffer.from(KEY, 'hex')];
      const others = [bytes.slice(0, 5), bytes.slice(-5), [1, 2, 300]];
      const framed = [16, ...bytes, 7];
      const body = { ...OK, status: 7, key: bytes, framed, part: bytes.slice(2, 8), others };
      const { cause } = codeOf(() => read(keyed(), body));
      assert.deepEqual([cause.key, cause.framed, cause.part, cause.others], ['***', '***', '***', others]);
    });

    it('shows no part of it that tells it: cut off, left out in its middle, over lines, in another order', () => {
      const reversed = (hex: string) => Buffer.from(hex, 'hex').reverse().toString('hex');
      for (const [spelling, shown] of [
        [KEY.slice(0, 23), '***'],
        [KEY.slice(9), '***'],
        [`${KEY.slice(0, 14)}…${KEY.slice(-14)}`, '***…***'],
        [`{${KEY.slice(0, 14)} to ${KEY.slice(-14)}}`, '{*** to ***}'],
        [KEY.replace(/..(?!$)/g, '$&h, ').slice(0, -6), '***'],
        [KEY.replace(/..(?!$)/g, '$&0x'), '***'],
        [KEY.replace(/..(?!$)/g, '$&x'), '***'],
        [reversed(KEY), '***'],
        [KEY.replace(/.{8}/g, reversed), '***'],
        [`0000  ${KEY.replace(/.{16}/g, '$&\n0008  ')}`, '0000  *** 0008  *** 0008  '],
        [[...Buffer.from(KEY, 'hex')].slice(3, 12).join(', '), '***'],
        [Buffer.from(KEY, 'hex').toString('base64').slice(0, 13), '***'],
        [KEY.slice(0, 10), KEY.slice(0, 10)],
      ] as const) {
        const { message } = codeOf(() => read(keyed(), { status: 7, errorMessage: `not ${spelling}, no` }));
        assert.ok(message.startsWith(`not ${shown}, no`), message);
      }
      const bytes = Object.fromEntries([...Buffer.from(KEY, 'hex')].entries());
      const signed = [...new Int8Array(Buffer.from(KEY, 'hex'))];
      const { cause } = codeOf(() => read(keyed(), { ...OK, status: 7, bytes, signed }));
      assert.deepEqual([cause.bytes, cause.signed], ['***', '***']);
    });

    it('keeps digits and numbers that do not belong together, or are no part of it that tells it', () => {
      for (const text of [
        ...['g', 'z', ' to ', '-----'].map((between) => `${KEY.slice(0, 8)}${between}${KEY.slice(8, 18)}`),
        ...[' to ', ' ---- ', ' '.repeat(51)].map((between) => `0, 17, 34${between}51, 68, 85`),
        '0, 17, 34, 256, 51, 68, 85',
        '0, 17, 34, 0051, 68, 85',
        '0, 274, 35, 52, 69, 86, 103',
        KEY.replace(/../g, 'ab'),
      ]) {
        const { message } = codeOf(() => read(keyed(), { status: 7, errorMessage: `at ${text}.` }));
        assert.ok(message.startsWith(`at ${text}.`), message);
      }
      const others = [
        [10, 200, 30, 4, 50, 66, 70, 8],
        [1, 2, 3, 4, 5, 6, 7],
        [0, 17, 34, '51', 68, 85],
        [0, 17, 34, -205, 68, 85],
        [0, 17.5, 34, 51, 68, 85],
      ];
      const { cause } = codeOf(() => read(keyed(), { ...OK, status: 7, others }));
      assert.deepEqual(cause.others, others);
    });

    it('shows none of it, however its digits and its bytes are kept apart', () => {
      const small = '0001020304050607';
      const tens = '102030405060708090';
      for (const [key, text] of [
        [KEY, KEY.replace(/.{8}(?!$)/g, '$&----')],
        [KEY, KEY.replace(/..(?!$)/g, '$&|')],
        [KEY, `${KEY.slice(0, 11)}x${KEY.slice(11)}`],
        [KEY, [...Buffer.from(KEY, 'hex')].join(' , ')],
        [KEY, [...Buffer.from(KEY, 'hex')].join(' '.repeat(50))],
        [KEY, [...Buffer.from(KEY, 'hex')].join(' --- ')],
        [KEY, KEY.replace(/..(?!$)/g, '$&,        0x')],
        [small, '0, 1, 2, 3, 4, 5, 6, 7'],
        [tens, tens.replace(/..(?!$)/g, '$&x')],
        ['a1b2c3d4e5f6', 'f6e5d4c3b2a1'],
      ] as const) {
        const { message } = codeOf(() => read(keyed(key), { status: 7, errorMessage: `at ${text}.` }));
        assert.ok(message.startsWith('at ***.'), message);
      }
      const twice = `${Buffer.from(KEY, 'hex').toString('base64')} `.repeat(2);
      assert.match(codeOf(() => read(keyed(), { status: 7, errorMessage: twice })).message, /^\*{3} \*{3} /);
      assert.match(
        codeOf(() => read(keyed('a1b2c3'), { status: 7, errorMessage: 'A1b2c3 a1:B2:C3' })).message,
        /^\*{3} \*{3} \(/,
      );
      assert.match(
        codeOf(() => read(keyed('123456'), { status: 7, errorMessage: '12, 34, 56 busy' })).message,
        /^12, 34, 56 busy/,
      );
      const { cause } = codeOf(() =>
        read(keyed(tens), {
          ...OK,
          status: 7,
          signed: [...new Int8Array(Buffer.from(tens, 'hex'))].slice(3),
        }),
      );
      assert.equal(cause.signed, '***');
      assert.equal(
        codeOf(() => read(keyed(small), { status: 7, errorMessage: '0,1,2,3,4,5' })).cause.errorMessage,
        '***',
      );
      const bytes = [...Buffer.from(KEY, 'hex'), 'end'];
      assert.equal(codeOf(() => read(keyed(), { ...OK, status: 7, bytes })).cause.bytes, '***');
    });

    it('of one digit alone is hidden as a whole, and zeros that are no key are shown', () => {
      for (const key of ['00'.repeat(16), 'ff'.repeat(40)]) {
        const zeros = key.slice(0, 12);
        const most = codeOf(() => read(keyed(key), { status: 7, errorMessage: key.slice(0, 64) }));
        assert.match(most.message, /^\*{3} \(/);
        const shown = { value: { packets: 0, interval: 0, burst: 0, size: 0, a: 0, b: 0, c: 0 } };
        const others = [
          [0.1, 256, 512, 0, 1_024, -1, 0, 0, 0],
          `no device ${zeros}, 0, 0, 0, 0, 0, 0, AAAAAAAA`,
        ];
        const text = `no: ${key} ${key.toUpperCase()}, ${Buffer.from(key, 'hex').toString('base64')}.`;
        const body = {
          ...OK,
          ...shown,
          status: 7,
          errorMessage: text,
          others,
          list: [...Buffer.from(key, 'hex')],
        };
        const { message, cause } = codeOf(() => read(keyed(key), body));
        assert.match(message, /^no: \*{3}, \*{3}\. \(/);
        assert.deepEqual([cause.value, cause.others, cause.list], [shown.value, others, '***']);
      }
      const { message } = codeOf(() =>
        read(keyed(`${'00'.repeat(15)}17`), {
          status: 7,
          errorMessage: `no 000000000000, ${'00'.repeat(15)}17`,
        }),
      );
      assert.match(message, /^no 000000000000, 0+\*{3} \(/);
    });

    it('shows it in no alphabet of Base64, of whatever length', () => {
      for (const length of [8, 16, 17, 18, 31, 40]) {
        const bytes = Buffer.alloc(length, 0xfb);
        for (const alphabet of ['base64', 'base64url'] as const) {
          const text = `no: ${bytes.toString(alphabet)}.`;
          const { message } = codeOf(() =>
            read(keyed(bytes.toString('hex')), { status: 7, errorMessage: text }),
          );
          assert.match(message, /^no: \*{3}\. \(/, `${length} ${alphabet}`);
        }
      }
    });

    it('of zeros is looked for in zeros without an end of ways to read them', () => {
      const key = `${'00'.repeat(31)}01`;
      const bytes = `${'0x00, '.repeat(31)}0x01`;
      const errorMessage = `${'0x00 '.repeat(60)}${bytes}`;
      assert.ok(errorMessage.length < 600);
      const { message } = codeOf(() => read(keyed(key), { status: 7, errorMessage }));
      assert.doesNotMatch(message, /0x01/);
    });

    it('of four bytes is hidden with other separators, too', () => {
      for (const text of ['a1, b2, c3, d4', '0xa1, 0xb2, 0xc3, 0xd4', 'a1.b2.c3.d4']) {
        const { message } = codeOf(() =>
          read(keyed('a1b2c3d4'), { status: 7, errorMessage: `no: ${text}.` }),
        );
        assert.match(message, /^no: (0x)?\*{3}\. \(/);
      }
    });

    it('of four bytes does not hide numbers that are no bytes', () => {
      for (const [key, errorMessage] of [
        ['12345678', 'channels 1, 2, 3, 4, 5, 6, 7, 8 busy'],
        ['00000000', 'from 0.0.0.0 (0.0.0.0) port 1'],
      ] as const) {
        const { message } = codeOf(() => read(keyed(key), { status: 7, errorMessage }));
        assert.ok(message.startsWith(errorMessage), message);
      }
    });

    it('of two bytes does not hide numbers and times', () => {
      const errorMessage = 'codes 1, 2, 3, 4 at 10:20:30.000Z';
      for (const key of ['1234', '0000']) {
        const { message } = codeOf(() => read(keyed(key), { status: 7, errorMessage }));
        assert.ok(message.startsWith(errorMessage), message);
      }
    });

    it('of seven bytes is hidden as hex only: its other spellings may be anything', () => {
      const bytes = Buffer.alloc(7, 1);
      const errorMessage = `at 1,1,1,1,1,1,1 of ${bytes.toString('base64')}`;
      const { message } = codeOf(() => read(keyed(bytes.toString('hex')), { status: 7, errorMessage }));
      assert.ok(message.startsWith(errorMessage));
    });

    it('shows none of it where its text is cut', () => {
      const { message } = codeOf(() =>
        read(keyed(), { status: 7, errorMessage: `${'x'.repeat(190)} ${KEY} ${KEY}` }),
      );
      assert.match(message, /^x{190} \*{3} \*{3} \(/);
    });

    it('shows none of a very long one', () => {
      const long = KEY.repeat(10_000);
      const { message } = codeOf(() => read(keyed(long), { status: 7, errorMessage: `no: ${long}.` }));
      assert.match(message, /^no: \*{3}\. \(/);
    });

    it('keeps a value that happens to be the key: it is what was asked for', () => {
      const { value, response } = read(keyed(), { ...OK, value: KEY }, false);
      assert.deepEqual([value, response.value, response.raw], [KEY, KEY, KEY]);
    });

    it('hides a key of four digits, and no digits behind one of 64', () => {
      const messageOf = (key: string, errorMessage: string) =>
        codeOf(() => read(keyed(key), { status: 7, errorMessage })).message;
      assert.match(messageOf('0123', 'no: 0123'), /^no: \*{3} \(/);
      assert.match(messageOf(KEY + KEY, `no: ${KEY}${KEY}ab`), /^no: \*{3}ab \(/);
      assert.match(messageOf(`${KEY}${KEY}ab`, `no: ${KEY}${KEY}ab`), /^no: \*{3} \(/);
    });

    it('keeps two digits, which stand in every text', () => {
      const { message } = codeOf(() => read(keyed('07'), { status: 7, errorMessage: 'code 0701' }));
      assert.match(message, /^code 0701/);
    });
  });
});
