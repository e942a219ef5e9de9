// Takes the pictures of the README from a running demo: `npm start`, then `node --import tsx test/docs/pictures.ts <editor URL>`.
import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { closeBrowser, type Editor, openEditor } from '../editor/browser.ts';

const FOLDER = 'docs/images';
/** Reports of the rarer kinds take a while to come. */
const WATCH_MS = 30_000;
/** Until the editor's own notices are gone. */
const SETTLE_MS = 8_000;

interface Port {
  node: string;
  side: 'output' | 'input';
}

/** The middle of a port as the editor draws it. */
async function place(page: Page, { node, side }: Port): Promise<{ x: number; y: number }> {
  const box = await page.locator(`[id="${node}"] .red-ui-flow-port-${side} .red-ui-flow-port`).boundingBox();
  if (!box) {
    throw new Error(`no port of ${node} to be seen`);
  }
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function wire(page: Page, from: string, to: string): Promise<void> {
  const [start, end] = [
    await place(page, { node: from, side: 'output' }),
    await place(page, { node: to, side: 'input' }),
  ];
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move(end.x - 20, end.y, { steps: 8 });
  await page.mouse.move(end.x, end.y, { steps: 4 });
  await page.mouse.up();
}

const openTab = (page: Page, label: string): Promise<void> =>
  page.locator('.red-ui-tab', { hasText: label }).first().click();

/** The flow and the debug messages alone, in a state that shows answers too. */
async function takeDemo({ page }: Editor): Promise<void> {
  await openTab(page, 'mt gateway demo');
  await page.evaluate("RED.sidebar.show('debug')");
  await page.waitForTimeout(WATCH_MS);
  for (const inject of ['demo-read', 'demo-list']) {
    await page.click(`[id="${inject}"] .red-ui-flow-node-button-button`);
  }
  await page.mouse.move(700, 560);
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({ path: `${FOLDER}/demo.png` });
}

const takePanel = (page: Page, name: string): Promise<Buffer> =>
  page
    .locator('.red-ui-tray')
    .last()
    .screenshot({ path: `${FOLDER}/${name}.png` });

/** The five steps of the README, by hand. */
async function takeFirstRule(editor: Editor): Promise<void> {
  const { page } = editor;
  await page.evaluate("RED.actions.invoke('core:add-flow')");
  const types = ['mt-report-in', 'switch', 'mt-gw-write', 'debug'];
  const ids: string[] = [];
  for (const [index, type] of types.entries()) {
    ids.push(await editor.drag(type, 110 + 210 * index, 80));
  }
  const [reports = '', limit = '', alarm = '', shown = ''] = ids;

  await editor.edit(reports);
  await page.locator('#mt-gateway-identifiers input').click();
  await page.locator('.mt-gateway-choice', { hasText: 'temperature' }).first().click();
  await page.check('.mt-gateway-radios [value=value]');
  await page
    .locator('#mt-gateway-preview tbody tr')
    .nth(2)
    .waitFor({ timeout: 4 * WATCH_MS });
  await takePanel(page, 'first-rule-report-in');
  await editor.press('ok');

  await page.evaluate(`RED.editor.edit(RED.nodes.node('${limit}'))`);
  await page.locator('.red-ui-editableList-item-content select').first().waitFor();
  await page.locator('.red-ui-editableList-item-content select').first().selectOption('gt');
  await page.locator('.red-ui-editableList-item-content .red-ui-typedInput-input:visible').first().fill('22');
  await editor.press('ok');

  await editor.edit(alarm);
  await page.locator('.mt-gateway-choice', { hasText: 'alarm' }).first().click();
  await takePanel(page, 'first-rule-write');
  await editor.press('ok');

  await wire(page, reports, limit);
  await wire(page, limit, alarm);
  await wire(page, alarm, shown);
  await editor.deploy();
  await page
    .locator('.red-ui-debug-msg', { hasText: /debug \d/ })
    .first()
    .waitFor({ timeout: 4 * WATCH_MS });
  await page.mouse.move(700, 600);
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({
    path: `${FOLDER}/first-rule.png`,
    clip: { x: 216, y: 0, width: 924, height: 190 },
  });
}

async function main(url: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const editor = await openEditor(url, { width: 1440, height: 900 });
  try {
    if (process.argv[3] !== 'rule') {
      await takeDemo(editor);
    }
    if (process.argv[3] !== 'demo') {
      await takeFirstRule(editor);
    }
  } finally {
    await closeBrowser();
  }
}

main(process.argv[2] ?? 'http://127.0.0.1:1880/').catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
