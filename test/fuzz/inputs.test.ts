// What a flow can put into `msg`: each field ends in something that can be sent, or in INVALID_INPUT.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ServiceError } from '../../src/errors.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { copyFields } from '../../src/protocol/json.ts';
import { buildRequest, type Operation } from '../../src/protocol/operations/index.ts';
import { appendQuery, readPath, readQuery } from '../../src/rest/addresses.ts';
import { createDeviceFilter } from '../../src/rest/filters.ts';
import { countCases } from './cases.ts';
import { assertUnpolluted, madeOf, messages } from './hostile.ts';

const NAMES = [
  'gateway',
  'device',
  'identifier',
  'form',
  'value',
  'ext',
  'priority',
  'extenderId',
  'accessType',
];
const SAMPLE = ['gateway', 'device', 'identifier', 'form', 'time', 'value', 'ack'];
const CONTEXT = {
  catalogue: createCatalogue(),
  ack: {
    raw: 'ack',
    decoded: 'ack-decoded',
    payload: { time: '{{time}}', value: '{{value}}', text: 'of {{value}}', deep: [{ value: '{{ack}}' }] },
  },
};

describe('messages of a flow made to break a node', function () {
  this.timeout(0);
  const cases = countCases('messages of a flow');
  after(() => cases.end());
  afterEach(assertUnpolluted);

  for (const operation of ['read', 'write', 'apiversion'] as Operation[]) {
    it(`are sent by ${operation} on one topic of the right depth, or refused`, async () => {
      const usual = { gateway: 'c0141f68fc3d', identifier: '8800', value: 20 };
      await cases.check(
        400,
        120_000,
        fc.property(messages([...NAMES, 'publicKey', 'key'], usual), (input) => {
          refused(() => {
            const { gateway, device, suffix, payload } = buildRequest(operation, madeOf(input), CONTEXT);
            assert.match(`${gateway}/${device}`, /^[0-9a-f]{12}\/[0-9a-f]{12}$/);
            assert.match(suffix, /^[a-z-]+(\/[0-9a-z-]+)?$/);
            assert.ok(JSON.stringify(payload).startsWith('{'));
          });
        }),
      );
    });
  }

  it('are acknowledged on one topic, or refused', async () => {
    const usual = { gateway: 'c0141f68fc3d', device: 'd00000000001', identifier: '8800', time: 'now' };
    await cases.check(
      400,
      140_000,
      fc.property(messages(SAMPLE, usual), (sample) => {
        refused(() => {
          const { suffix, payload } = buildRequest('ack', copyFields(madeOf(sample), 'report'), CONTEXT);
          assert.equal(suffix.split('/').length, 2);
          assert.ok(JSON.stringify(payload).length > 0);
        });
      }),
    );
  });

  it('become a path below the base address, or are refused', async () => {
    const base = 'https://service.example/prefix';
    await cases.check(
      400,
      140_000,
      fc.property(messages(['path', 'query'], { path: 'a' }), (input) => {
        refused(() => {
          const { path, query } = madeOf(input);
          const url = new URL(base + appendQuery(readPath(path), readQuery(query)));
          assert.equal(url.origin, 'https://service.example');
          assert.ok(url.pathname.startsWith('/prefix/'), url.href);
        });
      }),
    );
  });

  it('become a filter of devices, or are refused', async () => {
    await cases.check(
      400,
      60_000,
      fc.property(messages(['labels', 'connected', 'model', 'firmware', 'search'], {}), (filter) => {
        refused(() =>
          createDeviceFilter(madeOf(filter))({ id: 'bmac-c0141f68fc3d', labels: ['a'], mac: 'c0141f68fc3d' }),
        );
      }),
    );
  });

  it('become a catalogue, or are refused', async () => {
    await cases.check(
      300,
      12_000,
      fc.property(
        messages(['id', 'name', 'type', 'divisor', 'unit'], { id: '8800', name: 'n', type: 'u8' }),
        (row) => {
          refused(() => createCatalogue([madeOf(row)]).decode('8800', '01'));
          refused(() => createCatalogue(madeOf(row).name));
        },
      ),
    );
  });

  const EXAMPLES: Record<string, () => unknown> = {
    'a query that throws when it is read': () => readQuery(trap),
    'a query with half a surrogate pair in a name': () => readQuery({ '\ud800': 1 }),
    'an extension nested too deep to be shown': () => write({ ext: deep(), value: 20 }),
    'an extension that says it is something else': () => write({ ext: { toJSON: () => 1 }, value: 20 }),
    'a symbol for the text of an acknowledgement': () => acknowledge({ value: Symbol('s') }),
    'an acknowledgement with a time of megabytes': () => acknowledge({ time: 'x'.repeat(1_000_000) }),
    'identifiers with a hole': () => createCatalogue(new Array(1)),
  };

  for (const [what, give] of Object.entries(EXAMPLES)) {
    it(`are refused with ${what}`, () => {
      assert.throws(give, { code: 'INVALID_INPUT' });
    });
  }

  it('are acknowledged with an object in a text, by whatever names its fields have', () => {
    const { payload } = acknowledge({ value: JSON.parse('{"toString":1}') });
    assert.equal(payload.text, 'of {"toString":1}');
  });
});

const trap = Object.defineProperty({}, 'a', {
  enumerable: true,
  get() {
    throw new Error('not to be read');
  },
});

const deep = (): object => JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`);

const ADDRESS = { gateway: 'c0141f68fc3d', identifier: '8800' };

const write = (input: object) => buildRequest('write', { ...ADDRESS, ...input }, CONTEXT);

const acknowledge = (sample: object) =>
  buildRequest('ack', { ...ADDRESS, device: 'd00000000001', time: 'now', ...sample }, CONTEXT);

/** Runs, and lets only INVALID_INPUT through, with a text that can be shown. */
function refused(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (error instanceof assert.AssertionError) {
      throw error;
    }
    assert.ok(error instanceof ServiceError, String((error as Error)?.stack));
    assert.equal(error.code, 'INVALID_INPUT');
    assert.ok(error.message.length < 2_000);
  }
}
