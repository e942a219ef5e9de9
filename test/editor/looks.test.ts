// How the panels look in a small window, and what they say where the editor's own words would not help.
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { FLOW_NODE_TYPES } from '../node-types.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, type Editor, openEditor, withoutPageErrors } from './browser.ts';
import { bareNodes, serviceNode } from './flow.ts';

/** Of a label in Node-RED's palette, in pixels. */
const PALETTE_FONT = 13;
const PALETTE_WIDTH = 82;

describe('the look of the panels', function () {
  this.timeout(120_000);
  let service: Service;
  let red: NodeRed;
  let editor: Editor | undefined;

  before(async function () {
    this.timeout(180_000);
    requireBrowser(this);
    service = await startService({ gateways: 1, devices: 1, rate: 0, listed: 3 });
    red = await startNodeRed(VERSIONS[0]!);
    await red.deploy([serviceNode(service), ...bareNodes()]);
  });
  withoutPageErrors(() => editor);
  afterEach(() => editor?.close());
  after(async () => {
    await closeBrowser();
    await red?.stop();
    await service?.close();
  });

  const open = async (language: string, width = 1100): Promise<Editor> => {
    editor = await openEditor(red.url, { language, width, height: 700 });
    return editor;
  };
  /** Captions that take more than one line. */
  const wrapped = ({ page }: Editor) =>
    page
      .locator('.red-ui-tray')
      .last()
      .locator('.mt-gateway-form .form-row > label:first-child')
      .evaluateAll((labels) =>
        labels
          .filter((label) => label.getBoundingClientRect().height > 28)
          .map((label) => label.textContent?.trim()),
      );

  for (const language of ['en-US', 'de', 'es-ES', 'fr']) {
    it(`is of one width and with captions of one line (${language})`, async () => {
      const hands = await open(language);
      const widths: Record<string, number> = {};
      const long: Record<string, unknown> = {};
      for (const type of FLOW_NODE_TYPES) {
        await hands.edit(type);
        const more = hands.page.locator('#mt-gateway-more[aria-expanded="false"]');
        if ((await more.count()) > 0) {
          await more.click();
        }
        widths[type] = (await hands.page.locator('.red-ui-tray').last().boundingBox())?.width ?? 0;
        long[type] = await wrapped(hands);
        await hands.press('cancel');
      }
      await hands.editConfig('mt-service', 'service');
      widths['mt-service'] = (await hands.page.locator('.red-ui-tray').last().boundingBox())?.width ?? 0;
      const onTabs = [];
      for (const tab of [1, 2, 3]) {
        await hands.page.click(`#mt-gateway-service-tabs li:nth-child(${tab}) a`);
        onTabs.push(...(await wrapped(hands)));
      }
      long['mt-service'] = onTabs;
      assert.equal(new Set(Object.values(widths)).size, 1, JSON.stringify(widths));
      const none = Object.fromEntries(Object.keys(long).map((type) => [type, []]));
      assert.deepEqual(long, none);
    });
  }

  it('is whole in a narrow window with both sidebars open', async () => {
    const hands = await open('de', 900);
    const { page } = hands;
    const cut = () =>
      page
        .locator('.red-ui-tray')
        .last()
        .locator('.mt-gateway-form')
        .evaluate((form) => {
          const { left, right } = form.closest('.red-ui-tray')!.getBoundingClientRect();
          const parts = form.querySelectorAll(
            '.form-row, .form-row > :is(label, div, input), select, a, button',
          );
          const boxes = [...parts].map((part) => ({ part, box: part.getBoundingClientRect() }));
          return boxes
            .filter(({ box }) => box.width > 0 && (box.left < left || box.right > right))
            .map(({ part }) => part.id || part.outerHTML);
        });
    for (const type of FLOW_NODE_TYPES) {
      await hands.edit(type);
      const more = page.locator('#mt-gateway-more[aria-expanded="false"]');
      if ((await more.count()) > 0) {
        await more.click();
      }
      assert.deepEqual(await cut(), [], type);
      await page.locator('.form-row a.red-ui-button:has(.fa-plus)').click({ trial: true });
      await hands.press('cancel');
    }
    await hands.editConfig('mt-service', 'service');
    for (const tab of [1, 2, 3]) {
      await page.click(`#mt-gateway-service-tabs li:nth-child(${tab}) a`);
      assert.deepEqual(await cut(), [], `service, ${tab}`);
    }
  });

  for (const language of ['en-US', 'de', 'es-ES', 'fr', 'ja', 'zh-CN']) {
    it(`breaks no word of the palette (${language})`, async () => {
      const { page } = await open(language);
      const shown = await page
        .locator(FLOW_NODE_TYPES.map((type) => `.red-ui-palette-node[data-palette-type="${type}"]`).join())
        .evaluateAll((nodes) =>
          nodes.map((node) => ({
            words: (node.getAttribute('data-palette-label') ?? '').split(' '),
            lines: (node.querySelector('.red-ui-palette-label')?.innerHTML ?? '').split('<br>'),
          })),
        );
      const isWhole = (word: string, lines: string[]) =>
        lines.some((line) => line.split(/\s+/).includes(word));
      const broken = shown.flatMap(({ words, lines }) => words.filter((word) => !isWhole(word, lines)));
      assert.ok(shown.length === FLOW_NODE_TYPES.length, String(shown.length));
      assert.deepEqual(broken, []);
      // Without fonts for them, a browser measures other letters than a reader sees.
      const wide = shown.flatMap(({ words }) => words).filter((word) => /[^\0-\u02ff]/.test(word[0] ?? ''));
      assert.deepEqual(
        wide.filter((word) => word.length * PALETTE_FONT >= PALETTE_WIDTH),
        [],
      );
    });
  }

  it('says in plain words what is wrong with a number and with JSON', async () => {
    const hands = await open('en-US');
    const { page } = hands;
    const type = async (name: string, value: string) => {
      await hands.typed(name).fill('');
      await hands.typed(name).pressSequentially(value);
    };
    await hands.edit('mt-device-list');
    const more = page.locator('#mt-gateway-more[aria-expanded="false"]');
    if ((await more.count()) > 0) {
      await more.click();
    }
    const problem = (name: string) => page.locator(`#mt-gateway-problem-${name}`);
    await page.evaluate("$('#node-input-query').typedInput('type', 'json')");
    await type('query', '{a}');
    await problem('query').filter({ hasText: 'Is not valid JSON.' }).waitFor();
    await hands.press('cancel');
    await hands.edit('mt-gw-write');
    await page.evaluate("$('#node-input-value').typedInput('type', 'num')");
    await type('value', 'warm');
    await problem('value').filter({ hasText: 'Must be a number.' }).waitFor();
    await page.evaluate("$('#node-input-value').typedInput('type', 'msg')");
    await type('value', 'payload[');
    await problem('value').filter({ hasText: 'name of a property' }).waitFor();
  });
});
