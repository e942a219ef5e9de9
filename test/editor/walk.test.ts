// The first rule of the README as a technician builds it: by mouse, in a small window, with every click counted.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Locator } from 'playwright-core';
import type { OperationCall } from '../../simulator/src/network.ts';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, type Editor, openEditor } from './browser.ts';
import { bareNodes, serviceNode } from './flow.ts';

/** Clicks, double clicks and drags; a choice in a drop-down counts as two. */
const MAX_CLICKS = 20;

interface Point {
  x: number;
  y: number;
}

describe('a technician with a mouse', function () {
  this.timeout(180_000);
  let service: Service;
  let red: NodeRed;
  let editor: Editor;
  /** Choices in drop-downs, which the browser shows beside the page. */
  let choices = 0;

  before(async function () {
    this.timeout(180_000);
    requireBrowser(this);
    service = await startService({ gateways: 1, devices: 3, rate: 20, listed: 5, named: true });
    red = await startNodeRed(VERSIONS[0]!);
  });
  beforeEach(async () => {
    // A read node somewhere else keeps the broker connected, as in a site that is in use.
    await red.deploy([serviceNode(service), ...bareNodes().slice(2, 3)]);
    editor = await openEditor(red.url, { width: 1100, height: 700 });
    choices = 0;
    await editor.page.evaluate(() => {
      const counts = { presses: 0, doubles: 0 };
      Object.assign(window, { counts });
      window.addEventListener('mousedown', () => (counts.presses += 1), true);
      window.addEventListener('dblclick', () => (counts.doubles += 1), true);
    });
  });
  afterEach(() => editor?.close());
  after(async () => {
    await closeBrowser();
    await red?.stop();
    await service?.close();
  });

  const choose = async (target: Locator, value: string) => {
    choices += 1;
    await target.selectOption(value);
  };
  const clicksSoFar = async () => {
    const { presses, doubles } = (await editor.page.evaluate('counts')) as {
      presses: number;
      doubles: number;
    };
    return presses - doubles + 2 * choices;
  };
  const port = async (id: string, side: 'output' | 'input'): Promise<Point> => {
    const box = await editor.page.locator(`[id="${id}"] .red-ui-flow-port-${side}`).first().boundingBox();
    assert.ok(box);
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  const wire = async (from: string, to: string) => {
    const { mouse } = editor.page;
    const [start, end] = [await port(from, 'output'), await port(to, 'input')];
    await mouse.move(start.x, start.y);
    await mouse.down();
    await mouse.move(end.x - 20, end.y, { steps: 10 });
    await mouse.move(end.x, end.y, { steps: 5 });
    await mouse.up();
  };
  /** Drops a node onto the wire between two others. */
  const insert = async (type: string, from: string, to: string) => {
    const [start, end] = [await port(from, 'output'), await port(to, 'input')];
    const chart = await editor.page.locator('#red-ui-workspace-chart').boundingBox();
    assert.ok(chart);
    return editor.drag(type, (start.x + end.x) / 2 - chart.x, (start.y + end.y) / 2 - chart.y, true);
  };

  it(`builds the first rule of the README with at most ${MAX_CLICKS} clicks, and it works`, async () => {
    const { page } = editor;
    const { gateway, device } = service.demo;
    const choice = (words: string) => page.locator('.mt-gateway-choice', { hasText: words }).first();
    await page.click('.red-ui-tab-button.red-ui-tabs-add a');

    const reports = await editor.drag('mt-report-in', 110, 80);
    await editor.open(reports);
    await page.click('#mt-gateway-identifiers input');
    await choice('temperature').click();
    await page.locator('.mt-gateway-radios').getByText('only its value').click();
    await editor.press('ok');

    const shown = await editor.drag('debug', 440, 440);
    await wire(reports, shown);

    const limit = await insert('switch', reports, shown);
    await editor.open(limit);
    await choose(page.locator('#node-input-rule-container select').first(), 'gt');
    await page.locator('#node-input-rule-container .red-ui-typedInput-input:visible').first().click();
    await page.keyboard.type('22');
    await editor.press('ok');

    const alarm = await insert('mt-gw-write', limit, shown);
    await editor.open(alarm);
    await choice('alarm').click();
    await editor.press('ok');

    await editor.deploy();
    // What is published before the broker has its subscription does not come.
    const connected = page.locator(`[id="${reports}"] .red-ui-flow-node-status-dot-green`);
    await connected.waitFor({ state: 'attached' });
    const written = nextWrite();
    const value = { time: new Date().toISOString(), seq: 1, value: 31.5 };
    await service.publish(gateway, device, 'measurement-decoded/temperature', value);
    const call = await written;
    assert.deepEqual([call.device, call.payload?.value], [device, true]);
    await page.locator('.red-ui-debug-msg', { hasText: '31.5' }).first().waitFor();
    assert.deepEqual(editor.errors, []);
    const clicks = await clicksSoFar();
    assert.ok(clicks <= MAX_CLICKS, `${clicks} clicks, double clicks and drags`);
    assert.ok(clicks > MAX_CLICKS - 3, `${clicks}: are all counted?`);
  });

  /** The next alarm of the demo's device that the gateway is asked to set. */
  async function nextWrite(): Promise<OperationCall> {
    for (;;) {
      const [call] = (await once(service.events, 'request')) as [OperationCall];
      const isMine = call.device === service.demo.device && call.identifier === 'alarm';
      if (isMine && call.operation === 'write-decoded') {
        return call;
      }
    }
  }
});
