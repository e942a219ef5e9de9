// Importing the sample flows as a user does: one after the other, into one editor.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, type Editor, openEditor } from './browser.ts';

const FOLDER = join(import.meta.dirname, '../../examples');

describe('the import of sample flows', () => {
  let red: NodeRed;
  let editor: Editor;

  before(async function () {
    this.timeout(120_000);
    requireBrowser(this);
    red = await startNodeRed(VERSIONS[0]!);
    await red.deploy([{ id: 'own', type: 'comment', name: 'What was there', x: 200, y: 100 }]);
    editor = await openEditor(red.url);
  });
  after(async () => {
    await editor?.close();
    await closeBrowser();
    await red?.stop();
  });

  async function importSample(label: string): Promise<void> {
    const { page } = editor;
    await page.evaluate("RED.actions.invoke('core:show-import-dialog')");
    const text = readFileSync(join(FOLDER, `${label}.json`), 'utf8');
    await page.fill('#red-ui-clipboard-dialog-import-text', text);
    // The dialog looks at what was typed when a key goes up.
    await page.press('#red-ui-clipboard-dialog-import-text', 'End');
    await page.click('#red-ui-clipboard-dialog-ok');
  }

  it('leaves one service, so one connection, however many are imported', async () => {
    const { page } = editor;
    await importSample('Temperature alarm');
    for (const label of ['Inventory to CSV', 'Several instances']) {
      await importSample(label);
      await page.getByRole('button', { name: 'Import copy' }).click();
      await page.locator('.red-ui-tab-label', { hasText: label }).first().waitFor();
    }
    const services = await page.evaluate(
      "(() => { const found = []; RED.nodes.eachConfig((node) => found.push(node)); return found.filter(({ type }) => type === 'mt-service').map(({ users }) => users.length); })()",
    );
    assert.deepEqual(services, [5]);
  });
});
