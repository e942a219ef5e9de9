// Writes docs/images: every panel and the sidebar in light and dark, a picker, the palette and a flow, from a real editor.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeConfig, startNodeRed, VERSIONS, WITH_ALL_NODES } from '../e2e/node-red.ts';
import { closeBrowser, type Editor, openEditor, type Theme } from './browser.ts';
import { serviceNode } from './flow.ts';
import { openSidebar, toggle } from './sidebar.ts';

const IMAGES = join(import.meta.dirname, '../../docs/images');
const SHADOW = 16;
const SIZE = { width: 1280, height: 860 };
/** Tall enough for the whole palette. */
const PALETTE_HEIGHT = 1200;
const THEMES: readonly Theme[] = ['light', 'dark'];

/** Nodes as a user would have set them; the id is the name of the image. */
function shownNodes({ demo, devices }: Service): NodeConfig[] {
  const device = { device: demo.device, deviceType: 'str' };
  const nodes: NodeConfig[] = [
    {
      id: 'report-in',
      type: 'mt-report-in',
      kinds: ['measurement'],
      labels: devices[0]?.labels.slice(0, 1) ?? [],
      identifiers: ['temperature', 'humidity'],
      wires: [['warm']],
    },
    {
      id: 'gw-write',
      type: 'mt-gw-write',
      identifier: 'alarm',
      identifierType: 'str',
      value: 'true',
      valueType: 'bool',
    },
    { id: 'gw-read', type: 'mt-gw-read', ...device, identifier: 'temperature', identifierType: 'str' },
    { id: 'timestamped-ack', type: 'mt-timestamped-ack' },
    { id: 'last-value', type: 'mt-last-value', ...device, identifier: 'temperature', identifierType: 'str' },
    { id: 'device-watch', type: 'mt-device-watch', conditions: ['silent', 'gateway-silent', 'battery-low'] },
    { id: 'device-list', type: 'mt-device-list', connected: 'false', connectedType: 'bool', output: 'each' },
    { id: 'rename', type: 'mt-rename', device: `bmac-${demo.gateway}`, deviceType: 'str' },
    { id: 'label', type: 'mt-label', action: 'remove', label: 'floor-2', labelType: 'str' },
    { id: 'service-request', type: 'mt-service-request', path: '/api/v1/devices', pathType: 'str' },
  ];
  const places = nodes.map((node, index) => ({
    service: 'service',
    wires: [[]],
    x: index === 1 ? 650 : 200,
    y: index === 1 ? 100 : 100 + 60 * Math.max(0, index - 1),
    ...node,
  }));
  return [...places, warm];
}

const warm: NodeConfig = {
  id: 'warm',
  type: 'switch',
  name: '> 30 °C',
  property: 'payload.value',
  propertyType: 'msg',
  rules: [{ t: 'gt', v: '30', vt: 'num' }],
  outputs: 1,
  x: 470,
  y: 100,
  wires: [['gw-write']],
};

async function shootPanels(editor: Editor, theme: Theme, ids: readonly string[]): Promise<void> {
  const { page } = editor;
  const tray = page.locator('.red-ui-tray').last();
  const shoot = async (name: string) => {
    const box = await tray.boundingBox();
    // A panel has a shadow at its left that belongs to the flow behind it.
    const clip = box && { ...box, x: box.x + SHADOW, width: box.width - SHADOW };
    await page.screenshot({ path: join(IMAGES, `${name}-${theme}.png`), ...(clip && { clip }) });
  };
  await page.screenshot({ path: join(IMAGES, `flow-${theme}.png`) });
  for (const id of ids) {
    await editor.edit(id);
    if (id === 'report-in') {
      await page.locator('#mt-gateway-preview tbody tr').first().waitFor();
    }
    await page.waitForLoadState('networkidle');
    await shoot(id);
    await editor.press('cancel');
  }
  await editor.edit('gw-write');
  await page.click('#mt-gateway-more');
  await shoot('gw-write-more');
  await page.locator('#node-input-gateway ~ .mt-gateway-pick').click();
  await page.locator('.mt-gateway-choice').nth(3).waitFor();
  await shoot('picker');
  await editor.press('cancel');
  await editor.editConfig('mt-service', 'service');
  for (const [index, tab] of ['mqtt', 'rest', 'advanced'].entries()) {
    await page.click(`#mt-gateway-service-tabs li:nth-child(${index + 1}) a`);
    if (index === 0) {
      await page.click('#mt-gateway-test');
      await page.locator('.mt-gateway-verdict-ok').nth(1).waitFor();
    }
    await shoot(`service-${tab}`);
  }
}

async function shootPalette(editor: Editor, theme: Theme): Promise<void> {
  await editor.page.setViewportSize({ ...SIZE, height: PALETTE_HEIGHT });
  const category = editor.page.locator('.red-ui-palette-category', { hasText: 'mt gateway' });
  await category.scrollIntoViewIfNeeded();
  await category.screenshot({ path: join(IMAGES, `palette-${theme}.png`) });
  await editor.page.setViewportSize(SIZE);
}

const READINGS = [20.5, 20.9, 21.6, 21.4, 22.1];

/** With an open gateway, and a device whose temperature has changed for a while. */
async function shootSidebar(editor: Editor, theme: Theme, { demo, publish }: Service): Promise<void> {
  const { page } = editor;
  // The debug messages take half of the height; Node-RED remembers that they were closed.
  const debug = page.locator('button[data-tab-id="debug"].selected');
  if ((await debug.count()) > 0) {
    await debug.click();
  }
  const { tree } = await openSidebar(editor);
  await toggle(tree.locator(`[data-key="/${demo.gateway}"]`));
  await tree.locator(`[data-key="${demo.gateway}/${demo.device}"]`).click();
  for (const [seq, value] of READINGS.entries()) {
    const time = new Date().toISOString();
    await publish(demo.gateway, demo.device, 'measurement-decoded/temperature', { time, seq, value });
    // The device reports by itself, too: a value may be gone before it is seen.
    const reports = page.getByRole('table', { name: 'Last reports' });
    await reports
      .locator('[role=row]', { hasText: `${value} °C` })
      .first()
      .waitFor();
  }
  await page.mouse.move(600, 400);
  await page.locator('.mt-gateway-side').screenshot({ path: join(IMAGES, `sidebar-${theme}.png`) });
}

/** @param only `sidebar`: its pictures, for which everything is received; else the others */
async function main(only = process.argv[2]): Promise<void> {
  await mkdir(IMAGES, { recursive: true });
  const service = await startService({ gateways: 4, devices: 6, rate: 40, listed: 60, named: true });
  const red = await startNodeRed(VERSIONS[0]!, WITH_ALL_NODES);
  try {
    const nodes = shownNodes(service);
    const heard = { id: 'all', type: 'mt-report-in', service: 'service', x: 480, y: 700, wires: [[]] };
    await red.deploy([serviceNode(service), ...nodes, ...(only === 'sidebar' ? [heard] : [])]);
    const panels = nodes.filter(({ type }) => type.startsWith('mt-')).map(({ id }) => id);
    for (const theme of THEMES) {
      const editor = await openEditor(red.url, { theme, ...SIZE });
      if (only === 'sidebar') {
        await shootSidebar(editor, theme, service);
      } else {
        await shootPalette(editor, theme);
        await shootPanels(editor, theme, panels);
      }
      await editor.close();
    }
  } finally {
    await closeBrowser();
    await red.stop();
    await service.close();
  }
}

void main();
