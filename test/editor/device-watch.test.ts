// The panel of mt-device-watch in a real browser: what is watched and active now, its conditions, and what it saves.
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, type Editor, openEditor, withoutPageErrors } from './browser.ts';
import { serviceNode } from './flow.ts';

const TIME = '2025-01-02T03:04:05.678Z';
const WATCH = { type: 'mt-device-watch', service: 'service', x: 200, wires: [[]] };

describe('the panel of device watch', function () {
  this.timeout(180_000);
  let service: Service;
  let red: NodeRed;
  let editor: Editor;

  before(async function () {
    requireBrowser(this);
    service = await startService({ gateways: 2, devices: 2, rate: 0, listed: 4 });
    red = await startNodeRed(VERSIONS[0]!);
    await red.deploy([
      serviceNode(service),
      { ...WATCH, id: 'watch', conditions: ['error'], y: 100 },
      { ...WATCH, id: 'open', conditions: ['${WHEN}', 'battery-low'], labels: ['${LABELS}'], y: 200 },
      { ...WATCH, id: 'batteries', conditions: ['battery-low'], y: 300 },
      { ...WATCH, id: 'off', d: true, y: 400 },
      { ...serviceNode(service), id: 'idle', d: true },
      { ...WATCH, id: 'unserved', service: 'idle', y: 500 },
      { id: 'dead', type: 'mt-service', brokerUrl: 'mqtt://127.0.0.1:1', names: false },
      { ...WATCH, id: 'deaf', service: 'dead', y: 600 },
      { id: 'deaf-too', type: 'mt-report-in', service: 'dead', x: 200, y: 700, wires: [[]] },
    ]);
    await red.status('watch', ({ text }) => text === 'nothing heard yet');
    editor = await openEditor(red.url);
  });
  withoutPageErrors(() => editor);
  after(async () => {
    await closeBrowser();
    await red?.stop();
    await service?.close();
  });

  it('shows how many are watched and what is active, and names as text', async () => {
    const { gateway, device } = service.demo;
    await editor.edit('watch');
    // Nobody knows yet whether somebody is needed.
    await editor.page.locator('#mt-gateway-active', { hasText: 'nothing heard yet' }).waitFor();
    await service.publish(gateway, device, 'heartbeat', { time: TIME, seq: 0, status: 0 });
    await editor.page.locator('#mt-gateway-active', { hasText: 'Nothing is active' }).waitFor();
    await service.publish(gateway, device, 'heartbeat', { time: TIME, seq: 1, status: 3 });
    const row = editor.page.locator('#mt-gateway-active tbody tr');
    await row.waitFor();
    assert.match((await row.innerText()).replaceAll('\t', ' '), / reports an error code 3 /);
    const counts = editor.page.locator('#mt-gateway-active-state');
    assert.equal(await counts.innerText(), 'Watched: 1 · need somebody: 1');
    await editor.press('cancel');
  });

  it('says that the broker is not connected, and not that nobody is needed; so does the preview of report in', async () => {
    await red.status('deaf', ({ fill }) => fill === 'yellow');
    for (const [id, part] of [
      ['deaf', '#mt-gateway-active'],
      ['deaf-too', '#mt-gateway-preview'],
    ] as const) {
      await editor.edit(id);
      const words = editor.page.locator(part, { hasText: 'The broker is not connected' });
      await words.waitFor();
      assert.doesNotMatch(await words.innerText(), /nobody is needed|come/);
      await editor.press('cancel');
    }
  });

  it('shows what is judged with its unit', async () => {
    const { gateway, device } = service.demo;
    const report = { time: TIME, seq: 2, value: 15 };
    await service.publish(gateway, device, 'property-decoded/battery-level', report);
    await editor.edit('batteries');
    const row = editor.page.locator('#mt-gateway-active tbody tr');
    await row.filter({ hasText: '15 %' }).waitFor();
    await editor.press('cancel');
  });

  it('shows the limits that belong to the conditions, and saves what is ticked', async () => {
    await editor.edit('watch');
    const limit = (name: string) => editor.page.locator(`#node-input-${name}`);
    assert.deepEqual(
      await Promise.all(['silentAfter', 'batteryBelow', 'batteryFine'].map((one) => limit(one).isVisible())),
      [false, false, false],
    );
    await editor.page.locator('#mt-gateway-condition-battery-low').check();
    await limit('batteryBelow').fill('30');
    await limit('batteryFine').fill('35');
    await editor.press('ok');
    const saved = await editor.properties('watch', ['conditions', 'batteryBelow', 'batteryFine']);
    const conditions = ['error', 'battery-low'];
    assert.deepEqual(saved, { conditions, batteryBelow: '30', batteryFine: '35' });
  });

  it('marks a node without any condition, and says why', async () => {
    await editor.edit('unserved');
    const ticked = editor.page.locator('#mt-gateway-conditions input:checked');
    const problem = editor.page.locator('.mt-gateway-problem', { hasText: 'Tick at least one condition.' });
    assert.equal(await problem.isVisible(), false);
    while ((await ticked.count()) > 0) {
      await ticked.first().uncheck();
    }
    await problem.waitFor();
    await editor.press('ok');
    const { valid, validationErrors } = await editor.properties('unserved', ['valid', 'validationErrors']);
    assert.equal(valid, false);
    assert.match(String(validationErrors), /Tick at least one condition\./);
  });

  it('says of a node that is disabled, itself or with its flow, that it is, and not to deploy it', async () => {
    const turn = (isNodeOff: boolean, isFlowOff: boolean) =>
      editor.page.evaluate(
        `{ const node = RED.nodes.node('off'); node.d = ${isNodeOff}; RED.nodes.workspace(node.z).disabled = ${isFlowOff}; }`,
      );
    for (const [isNodeOff, isFlowOff, words] of [
      [true, false, 'This node or its flow is disabled'],
      [false, true, 'This node or its flow is disabled'],
      [false, false, 'Deploy this node'],
    ] as const) {
      await turn(isNodeOff, isFlowOff);
      await editor.edit('off');
      await editor.page.locator('#mt-gateway-active', { hasText: words }).waitFor();
      await editor.press('cancel');
    }
  });

  it('says of a service that is disabled, that it is, and not to deploy', async () => {
    await editor.edit('unserved');
    const words = 'This service or its flow is disabled. The pencil beside Service';
    await editor.page.locator('#mt-gateway-active', { hasText: words }).waitFor();
    await editor.page.click('#mt-gateway-devices input');
    await editor.page.locator('.mt-gateway-list', { hasText: words }).waitFor();
    await editor.press('cancel');
  });

  it('keeps what comes from variables', async () => {
    await editor.edit('open');
    await editor.press('ok');
    const saved = await editor.properties('open', ['conditions', 'labels']);
    assert.deepEqual(saved, { conditions: ['${WHEN}', 'battery-low'], labels: ['${LABELS}'] });
  });
});
