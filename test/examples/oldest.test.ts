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

/** As a PostgreSQL node fails: with `msg.text`, and with `msg.code` where there is one. */
const FAILING: NodeConfig = {
  id: 'failing',
  type: 'function',
  outputs: 0,
  func: 'node.error(Object.assign(new Error(msg.text), msg.code && { code: msg.code }), msg);',
  wires: [],
};

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
        source('in', ['failing']),
        FAILING,
        { id: 'catch', type: 'catch', scope: ['failing'], wires: [['sample-database-why', ...ids]] },
        nodeOf('database/Store in PostgreSQL', 'sample-database-why', [['again'], ['text']]),
        sink('again'),
        sink('text'),
        ...shown,
      ]);
    });
    after(() => red?.stop());

    const fail = (text: string, code?: string) =>
      red.send('in', { text, code, report: {}, params: ['key', null, 'g', 'd', 'kind', 'name', '{}', null] });

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

    for (const [sample, id] of Object.entries(SAMPLES)) {
      it(`show what went wrong: ${sample}`, async () => {
        fail('no response', 'TIMEOUT');
        const { payload } = await red.next(`of-${id}`, ({ text }) => text === 'no response');
        assert.match(String(payload), version === OLDEST ? /no response/ : /^TIMEOUT$/);
      });
    }
  });
}
