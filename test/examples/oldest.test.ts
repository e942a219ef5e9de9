// Samples in Node-RED 4.0, which passes on the text of an error and no code.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type NodeConfig,
  type NodeRed,
  OLDEST,
  sink,
  source,
  startNodeRed,
  VERSIONS,
  WITH_ALL_NODES,
} from '../e2e/node-red.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples');

/** A node of a sample, beside others than there. */
function nodeOf(sample: string, id: string, wires: string[][]): NodeConfig {
  const nodes = JSON.parse(readFileSync(join(EXAMPLES, `${sample}.json`), 'utf8')) as NodeConfig[];
  const { z, g, ...node } = nodes.find((one) => one.id === id) ?? assert.fail(id);
  return { ...node, wires };
}

/** Fails with `msg.text`, and with `msg.code` and `msg.cause` where there are some, after it has set what `msg.flow` has. */
const FAIL = `for (const [key, value] of Object.entries(msg.flow ?? {})) flow.set(key, value);
const { text, code, cause } = msg;
node.error(Object.assign(new Error(text, cause && { cause }), code && { code }), msg);`;

/** What is sent to `in-…` fails, and is caught for these nodes. */
const failing = (name: string, ...nodes: string[]): NodeConfig[] => [
  source(`in-${name}`, [`fail-${name}`]),
  { id: `fail-${name}`, type: 'function', outputs: 0, func: FAIL, wires: [] },
  { id: `catch-${name}`, type: 'catch', scope: [`fail-${name}`], wires: [nodes] },
];

/** Passes on what the flow has under this key by now. */
const look = (id: string, key: string, wires: string[]): NodeConfig => ({
  id,
  type: 'function',
  func: `msg.${key} = flow.get('${key}'); return msg;`,
  wires: [wires],
});

const GATEWAY = '102030405060';
const ATTACH = `/devices/bmac-${GATEWAY}/labels/low-battery`;
/** Errors as the nodes give them, by what they say about what was asked for. */
const NOTHING_DONE: readonly [string, object][] = [
  ['INVALID_INPUT', { field: 'device', value: 'x' }],
  ['NOT_CONFIGURED', { part: 'rest' }],
  ['QUEUE_FULL', { limit: 1_000 }],
];

for (const version of [OLDEST, VERSIONS[0]!]) {
  describe(`samples that tell errors apart, in ${version.name}`, function () {
    this.timeout(60_000);
    let red: NodeRed;
    const SAMPLES = {
      'Raw and decoded side by side': 'sample-forms-code',
      'Read many properties with priorities': 'sample-priorities-code',
    };

    before(async function () {
      this.timeout(120_000);
      red = await startNodeRed(version, WITH_ALL_NODES);
      const shown = Object.entries(SAMPLES).flatMap(([sample, id]) => [
        nodeOf(sample, id, [[`of-${id}`]]),
        sink(`of-${id}`),
      ]);
      const ids = Object.values(SAMPLES);
      await red.deploy([
        ...failing('database', 'sample-database-why', ...ids),
        nodeOf('database/Store in PostgreSQL', 'sample-database-why', [['again'], ['text']]),
        sink('again'),
        sink('text'),
        ...shown,
        ...failing('csv', 'sample-csv-exists'),
        nodeOf('Label and rename from a CSV', 'sample-csv-exists', [['csv-exists'], ['csv-else']]),
        sink('csv-exists'),
        sink('csv-else'),
        ...failing('create', 'sample-battery-exists'),
        nodeOf('Low battery to label', 'sample-battery-exists', [['exists'], ['else']]),
        sink('exists'),
        sink('else'),
        ...failing('attach', 'sample-battery-taken'),
        nodeOf('Low battery to label', 'sample-battery-taken', [['look-attach'], ['look-attach']]),
        look('look-attach', 'batteries', ['attached']),
        sink('attached'),
        ...failing('alarm', 'sample-alarm-again'),
        nodeOf('Temperature alarm', 'sample-alarm-again', [['look-alarm']]),
        look('look-alarm', 'alarms', ['alarm']),
        sink('alarm'),
      ]);
    });
    after(() => red?.stop());

    const fail = (text: string, code?: string) =>
      red.send('in-database', {
        text,
        code,
        report: {},
        params: ['key', null, 'g', 'd', 'kind', 'name', '{}', null],
      });

    it('keep as text what PostgreSQL refuses because of its content', async () => {
      for (const [code, text] of [
        ['22P05', 'unsupported Unicode escape sequence'],
        ['22P02', 'invalid input syntax for type json'],
        ['22021', 'invalid byte sequence for encoding "UTF8": 0x00'],
        ['22003', 'value "1e9" is out of range for type integer'],
        ['22001', 'value too long for type character varying(9)'],
        ['23505', 'duplicate key value violates unique constraint "reports_pkey"'],
        ['54000', 'index row size 3000 exceeds btree version 4 maximum 2704 for index "reports_pkey"'],
        ['54000', 'row is too big: size 8200, maximum size 8160'],
        ['54001', 'stack depth limit exceeded'],
      ] as const) {
        fail(text, code);
        assert.equal((await red.next('text')).isText, true, text);
      }
      assert.equal(red.waiting('again'), 0);
    });

    it('have come again what may be over in a while', async () => {
      for (const [code, text] of [
        ['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432'],
        [undefined, 'Connection terminated unexpectedly'],
        [undefined, 'timeout exceeded when trying to connect'],
        ['53300', 'sorry, too many clients already'],
        ['53100', 'could not extend file "base/1/2": No space left on device'],
        ['57P03', 'the database system is starting up'],
        ['28P01', 'password authentication failed for user "x"'],
        ['42P01', 'relation "reports" does not exist'],
        ['57014', 'canceling statement due to statement timeout'],
      ] as const) {
        fail(text, code);
        assert.equal((await red.next('again')).action, 'again', text);
      }
      assert.equal(red.waiting('text'), 0);
    });

    it('take a label that is refused because it may exist for one that exists, and nothing else', async () => {
      const created = { method: 'POST', path: '/labels', body: '' };
      for (const [code, cause, exists] of [
        ['HTTP_ERROR', { statusCode: 409, ...created }, true],
        ['HTTP_ERROR', { statusCode: 400, ...created }, true],
        ['HTTP_ERROR', { statusCode: 403, ...created }, false],
        ['HTTP_ERROR', { statusCode: 503, ...created }, false],
        ['LOGIN_FAILED', { statusCode: 401 }, false],
        ['LOGIN_FAILED', { statusCode: 400 }, false],
        ['NETWORK', { code: 'ECONNREFUSED' }, false],
        ['BAD_RESPONSE', { body: '<html>' }, false],
        ['CLOSED', {}, false],
        ...NOTHING_DONE.map(([code, cause]) => [code, cause, false] as const),
      ] as const) {
        const text = `${code} ${JSON.stringify(cause)}`;
        red.send('in-csv', { text, code, cause });
        assert.equal((await red.next(exists ? 'csv-exists' : 'csv-else')).text, text);
        red.send('in-create', { text, code, cause });
        assert.equal((await red.next(exists ? 'exists' : 'else')).text, text);
      }
    });

    it('know of a label that could not be attached whose it is: Low battery to label', async () => {
      const call = { method: 'POST', path: ATTACH, body: '' };
      for (const [code, cause, by] of [
        ['HTTP_ERROR', { statusCode: 409, ...call }, 'others'],
        ['HTTP_ERROR', { statusCode: 400, ...call }, 'nobody'],
        ['HTTP_ERROR', { statusCode: 500, ...call }, 'unknown'],
        ['HTTP_ERROR', { statusCode: 500, method: 'POST', path: '/login', body: '' }, 'nobody'],
        ['LOGIN_FAILED', { statusCode: 401 }, 'nobody'],
        ['NETWORK', { code: 'ECONNREFUSED' }, 'nobody'],
        ['NETWORK', { code: 'ECONNRESET' }, 'unknown'],
        ['BAD_RESPONSE', { body: '<html>' }, 'unknown'],
        ['CLOSED', {}, 'unknown'],
        ...NOTHING_DONE.map(([code, cause]) => [code, cause, 'nobody'] as const),
      ] as const) {
        const flow = {
          batteries: { low: {}, labels: { [GATEWAY]: { label: 'low-battery', by: 'unknown' } } },
        };
        red.send('in-attach', { text: code, code, cause, flow, gateway: GATEWAY, before: 'nobody' });
        const { batteries } = (await red.next('attached')) as unknown as typeof flow;
        assert.equal(batteries.labels[GATEWAY]?.by, by, `${code} ${JSON.stringify(cause)}`);
      }
    });

    it('know whether the alarm may be on: Temperature alarm', async () => {
      for (const [code, cause, state] of [
        ['REQUEST_FAILED', { status: 4, identifier: '9800' }, 'off'],
        ['NOT_CONNECTED', { broker: 'mqtt://127.0.0.1' }, 'off'],
        ['TIMEOUT', { gateway: GATEWAY, operation: 'write', timeout: 3_000 }, 'unknown'],
        ['BAD_RESPONSE', { body: 'x' }, 'unknown'],
        ['CLOSED', {}, 'unknown'],
        ...NOTHING_DONE.map(([code, cause]) => [code, cause, 'off'] as const),
      ] as const) {
        const flow = { alarms: { device: { state: 'on', before: 'off', asked: 1 } } };
        red.send('in-alarm', { text: code, code, cause, flow, device: 'device' });
        const { alarms } = (await red.next('alarm')) as unknown as typeof flow;
        assert.equal(alarms.device.state, state, `${code} ${JSON.stringify(cause)}`);
      }
    });

    for (const [sample, id] of Object.entries(SAMPLES)) {
      it(`show what went wrong: ${sample}`, async () => {
        fail('no response', 'TIMEOUT');
        const { payload } = await red.next(`of-${id}`, ({ text }) => text === 'no response');
        assert.match(String(payload), version === OLDEST ? /no response/ : /^TIMEOUT$/);
      });
    }
  });
}
