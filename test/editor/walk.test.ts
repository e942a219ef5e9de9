// The way of a technician: "when the temperature of this device goes above 30 °C, set its alarm", by mouse.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Locator } from 'playwright-core';
import type { OperationCall } from '../../simulator/src/network.ts';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { requirePrograms } from '../requirements.ts';
import { BROWSERS, closeBrowser, type Editor, openEditor } from './browser.ts';
import { bareNodes, serviceNode } from './flow.ts';

describe('a technician with a mouse', function () {
  this.timeout(90_000);
  let service: Service;
  let red: NodeRed;
  let editor: Editor;
  /** Clicks, double clicks and drags so far. */
  let clicks = 0;

  before(async function () {
    this.timeout(180_000);
    requirePrograms(this, BROWSERS[0] as string);
    service = await startService({ gateways: 1, devices: 3, rate: 20, listed: 5 });
    red = await startNodeRed(VERSIONS[0]!);
    // A read node somewhere else keeps the broker connected, as in a site that is in use.
    await red.deploy([serviceNode(service), ...bareNodes().slice(0, 1)]);
    editor = await openEditor(red.url);
  });
  after(async () => {
    await closeBrowser();
    await red?.stop();
    await service?.close();
  });

  const click = async (target: Locator) => {
    clicks += 1;
    await target.click();
  };
  const add = async (type: string, x: number, y: number) => {
    clicks += 2;
    const id = await editor.drag(type, x, y);
    await editor.edit(id);
    return id;
  };
  const done = async () => {
    clicks += 1;
    await editor.press('ok');
  };
  const choose = async (target: Locator, value: string) => {
    clicks += 2;
    await target.selectOption(value);
  };
  const wire = async (from: string, to: string) => {
    clicks += 1;
    const { page } = editor;
    const port = (id: string, kind: string) => page.locator(`[id="${id}"] .red-ui-flow-port-${kind}`).first();
    const [start, end] = [await port(from, 'output').boundingBox(), await port(to, 'input').boundingBox()];
    assert.ok(start && end);
    await page.mouse.move(start.x + 5, start.y + 5);
    await page.mouse.down();
    await page.mouse.move(end.x - 20, end.y + 5, { steps: 10 });
    await page.mouse.move(end.x + 5, end.y + 5, { steps: 5 });
    await page.mouse.up();
  };

  it('builds an alarm on temperature that works, each step offering what is needed', async () => {
    // A second attempt counts anew.
    clicks = 0;
    const { page } = editor;
    const { gateway, device } = service.demo;
    const choice = (words: string) => page.locator('.mt-gateway-choice', { hasText: words }).first();

    const report = await add('mt-report-in', 160, 300);
    await click(page.locator('#mt-gateway-kind-measurement'));
    await click(page.locator('#mt-gateway-devices input'));
    await click(choice(device));
    await click(page.locator('#mt-gateway-identifiers input'));
    await click(choice('temperature'));
    await choose(page.locator('#node-input-output'), 'value');
    await done();

    const warm = await add('switch', 160, 400);
    await choose(page.locator('#node-input-rule-container select').first(), 'gt');
    await click(page.locator('#node-input-rule-container .red-ui-typedInput-input:visible').first());
    await page.keyboard.type('30');
    await done();

    const write = await add('mt-gw-write', 160, 500);
    await click(page.locator('#node-input-identifier ~ .mt-gateway-pick'));
    await click(choice('alarm'));
    await click(page.locator('#mt-gateway-fixed'));
    await done();

    await wire(report, warm);
    await wire(warm, write);
    clicks += 1;
    await editor.deploy();

    const written = nextWrite();
    const value = { time: new Date().toISOString(), seq: 1, value: 31.5 };
    await service.publish(gateway, device, 'measurement-decoded/temperature', value);
    const call = await written;
    assert.deepEqual([call.device, call.payload?.value], [device, true]);
    assert.deepEqual(editor.errors, []);
    assert.ok(clicks <= 25, `${clicks} clicks, double clicks and drags`);
  });

  /** The next alarm that the gateway is asked to set. */
  async function nextWrite(): Promise<OperationCall> {
    for (;;) {
      const [call] = (await once(service.events, 'request')) as [OperationCall];
      if (call.operation === 'write-decoded' && call.identifier === 'alarm') {
        return call;
      }
    }
  }
});
