// A panel that is opened and closed with Done saves every value as it was, whatever a flow has put there.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import { type NodeConfig, type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { configOf, NODE_TYPES } from '../node-types.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, type Editor, openEditor } from './browser.ts';

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
  'types without a text': { type: 'str' },
  'empty texts': { value: '', type: 'str' },
  null: { value: null, type: null },
  nothing: {},
};

/** Config nodes that a property points at are chosen, not written. */
const POINTERS = ['version', 'service', 'tls', 'proxy'];

const tabOf = (type: string): string => `tab-${type}`;

function nodeWith(
  type: string,
  id: string,
  { value, type: typed }: { value?: unknown; type?: unknown },
): NodeConfig {
  const defaults = configOf(type).DEFAULTS;
  const names = Object.keys(defaults).filter((name) => !POINTERS.includes(name));
  const entries = names.map((name) => [
    name,
    name.endsWith('Type') && name.slice(0, -4) in defaults ? typed : value,
  ]);
  const place =
    type === 'mt-service' ? {} : { z: tabOf(type), service: 'service', x: 200, y: 60, wires: [[]] };
  return { id, type, ...place, ...Object.fromEntries(entries) };
}

/** The node of a type that holds the content with this index. */
const idOf = (type: string, index: number): string => `${type}-${index}`;

/** Every type with every content. Tabs of their own are not drawn. */
function everyContent(): NodeConfig[] {
  const nodes = NODE_TYPES.flatMap((type) =>
    Object.values(CONTENTS).map((content, index) => nodeWith(type, idOf(type, index), content)),
  );
  const service = { id: 'service', type: 'mt-service', name: 'Building A' };
  const user = { id: 'user', type: 'mt-rename', service: idOf('mt-service', 0), x: 400, y: 60, wires: [[]] };
  const tabs = NODE_TYPES.map((type) => ({ id: tabOf(type), type: 'tab', label: type }));
  return [...tabs, service, user, ...nodes];
}

/** Side by side, because a panel that opens and closes mostly waits. */
const EDITORS = 2;

describe('a panel that is opened and closed with Done', function () {
  this.timeout(240_000);
  let red: NodeRed;
  const checks = new Map<string, Promise<void>>();

  before(async function () {
    this.timeout(180_000);
    requireBrowser(this);
    red = await startNodeRed(VERSIONS[0]!);
    await red.deploy(everyContent());
    const editors = await Promise.all(Array.from({ length: EDITORS }, () => openEditor(red.url)));
    const free = editors.map((editor) => Promise.resolve(editor));
    for (const [index, type] of NODE_TYPES.entries()) {
      const turn = free[index % EDITORS] as Promise<Editor>;
      const check = turn.then((editor) => checkEveryContent(editor, type));
      // The test of this type tells of a failure; the next one does not suffer from it.
      free[index % EDITORS] = Promise.allSettled([check]).then(() => editors[index % EDITORS] as Editor);
      checks.set(type, check);
    }
  });
  after(async () => {
    await Promise.allSettled(checks.values());
    await closeBrowser();
    await red?.stop();
  });

  for (const type of NODE_TYPES) {
    it(`leaves every value of ${type} as it was`, async () => {
      await checks.get(type);
    });
  }
});

async function checkEveryContent(editor: Editor, type: string): Promise<void> {
  const isConfig = type === 'mt-service';
  const names = Object.keys(configOf(type).DEFAULTS);
  for (const [index, title] of Object.keys(CONTENTS).entries()) {
    const id = idOf(type, index);
    const before = await editor.properties(id, names);
    await (isConfig ? editor.editConfig(type, id) : editor.edit(id));
    await editor.press('ok', isConfig);
    assert.deepEqual(await editor.properties(id, names), before, title);
  }
  assert.deepEqual(editor.errors, []);
  await editor.page.waitForSelector('#red-ui-header-button-deploy.disabled');
}
