// What a new node starts with in the editor is what the runtime takes for a node that says nothing.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ArrayExpression, Node, ObjectExpression, UnaryExpression } from 'acorn';
import { transformSync } from 'esbuild';
import { configOf, folderOf, NODE_TYPES } from '../node-types.ts';
import { literalOf, propertiesOf, registrationsOfScript } from '../register-type.ts';

/** The settings of the literal in a panel's source. */
function settingsOf(type: string): Record<string, Node> {
  const source = readFileSync(`nodes/${folderOf(type)}/editor.ts`, 'utf8');
  const [registration, ...others] = registrationsOfScript(
    transformSync(source, { loader: 'ts' }).code,
    'module',
  );
  assert.ok(registration && others.length === 0);
  assert.equal(registration.type, type);
  return registration.settings;
}

/** One attribute of every row of `defaults` or `credentials`. */
function attributesOf(rows: Node, attribute: string): Record<string, unknown> {
  const entries = Object.entries(propertiesOf(rows as ObjectExpression));
  return Object.fromEntries(
    entries.map(([name, row]) => {
      const value = propertiesOf(row as ObjectExpression)[attribute];
      assert.ok(value, `${name} has no ${attribute}`);
      return [name, readLiteral(value)];
    }),
  );
}

function readLiteral(node: Node): unknown {
  if (node.type === 'ArrayExpression') {
    return (node as ArrayExpression).elements.map((element) => readLiteral(element as Node));
  }
  if (node.type === 'UnaryExpression' && (node as UnaryExpression).operator === '-') {
    return -Number(readLiteral((node as UnaryExpression).argument));
  }
  assert.equal(node.type, 'Literal', 'the Flow Library reads literals only');
  return literalOf(node);
}

describe('the literal that a panel registers', () => {
  for (const type of NODE_TYPES) {
    const { DEFAULTS, CREDENTIALS } = configOf(type);
    const settings = settingsOf(type);

    it(`has the default values of ${type}, all and no others`, () => {
      assert.deepEqual(attributesOf(settings.defaults as Node, 'value'), DEFAULTS);
    });

    it(`has the credentials of ${type}, all and no others`, () => {
      const types = Object.entries(CREDENTIALS ?? {}).map(([name, { type: kind }]) => [name, kind]);
      const shown = settings.credentials ? attributesOf(settings.credentials, 'type') : {};
      assert.deepEqual(shown, Object.fromEntries(types));
    });
  }
});
