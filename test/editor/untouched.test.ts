// A panel that is opened and closed with Done saves every value as it was, whatever a flow has put there.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import { type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { configOf, NODE_TYPES } from '../node-types.ts';
import { requirePrograms } from '../requirements.ts';
import { BROWSERS, closeBrowser, type Editor, openEditor } from './browser.ts';

type Saved = Record<string, unknown>;

/** What stands in every property at once; a typed field gets it with the type. */
const CONTENTS: Record<string, { value?: unknown; type?: unknown }> = {
  'a variable in fixed texts': { value: '${MT_ONE}', type: 'str' },
  'a variable within a text of another type': { value: 'a-${MT_ONE}', type: 'bool' },
  'variables for the types too': { value: '${MT_ONE}', type: '${MT_TYPE}' },
  'lists with variables and commas': { value: ['${MT_ONE}', 'a,b', ' c '], type: 'json' },
  objects: { value: { a: [1, '${MT_ONE}'] }, type: 'json' },
  'a list of objects': { value: [{ id: '8a00', name: 'co2', type: 'u16' }], type: 'str' },
  'unknown words': { value: 'what?', type: 'unknown' },
  'texts without a type': { value: 'payload.deep' },
  'numbers as texts': { value: '17', type: 'num' },
  'numbers where texts are usual': { value: 0.5, type: 'num' },
  'truth values as texts': { value: 'false', type: 'bool' },
  'truth values': { value: true, type: 'bool' },
  'expressions over lines': { value: '$a :=\n  "${b}"', type: 'jsonata' },
  'empty texts': { value: '', type: 'str' },
  null: { value: null, type: null },
  nothing: {},
};

/** Config nodes that a property points at are chosen, not written. */
const POINTERS = ['version', 'service', 'tls'];

function nodeWith(
  type: string,
  id: string,
  { value, type: typed }: { value?: unknown; type?: unknown },
): Saved {
  const defaults = configOf(type).DEFAULTS;
  const names = Object.keys(defaults).filter((name) => !POINTERS.includes(name));
  const entries = names.map((name) => [
    name,
    name.endsWith('Type') && name.slice(0, -4) in defaults ? typed : value,
  ]);
  const place = type === 'mt-service' ? {} : { service: 'service', x: 200, y: 60, wires: [[]] };
  return { id, type, ...place, ...Object.fromEntries(entries) };
}

describe('a panel that is opened and closed with Done', function () {
  this.timeout(120_000);
  let red: NodeRed;
  let editor: Editor;

  before(async function () {
    this.timeout(180_000);
    requirePrograms(this, BROWSERS[0] as string);
    red = await startNodeRed(VERSIONS[0]!);
  });
  after(async () => {
    await closeBrowser();
    await red?.stop();
  });

  const propertiesOf = async (id: string, type: string): Promise<Saved> => {
    const names = Object.keys(configOf(type).DEFAULTS);
    const values = await Promise.all(names.map((name) => editor.property(id, name)));
    return Object.fromEntries(names.map((name, index) => [name, values[index]]));
  };

  for (const type of NODE_TYPES) {
    it(`leaves every value of ${type} as it was`, async () => {
      const isConfig = type === 'mt-service';
      const nodes = Object.values(CONTENTS).map((content, index) => nodeWith(type, `n${index}`, content));
      const user = { id: 'user', type: 'mt-rename', service: 'n0', x: 400, y: 60, wires: [[]] };
      await red.deploy([{ id: 'service', type: 'mt-service', name: 'Building A' }, user, ...nodes] as never);
      editor = await openEditor(red.url);
      for (const [index, title] of Object.keys(CONTENTS).entries()) {
        const id = `n${index}`;
        const before = await propertiesOf(id, type);
        await (isConfig ? editor.editConfig(type, id) : editor.edit(id));
        await editor.press('ok', isConfig);
        assert.deepEqual(await propertiesOf(id, type), before, title);
      }
      assert.deepEqual(editor.errors, []);
      await editor.page.waitForSelector('#red-ui-header-button-deploy.disabled');
      await editor.close();
    });
  }
});
