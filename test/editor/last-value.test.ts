// The panel of mt-last-value in a real browser: what it would answer now, and what it saves.
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { requirePrograms } from '../requirements.ts';
import { BROWSERS, closeBrowser, type Editor, openEditor } from './browser.ts';
import { serviceNode } from './flow.ts';

describe('the panel of last value', function () {
  this.timeout(180_000);
  let service: Service;
  let red: NodeRed;
  let editor: Editor;

  before(async function () {
    requirePrograms(this, BROWSERS[0] as string);
    service = await startService({ gateways: 2, devices: 2, rate: 0, listed: 4 });
    red = await startNodeRed(VERSIONS[0]!);
    await red.deploy([
      serviceNode(service),
      {
        id: 'last',
        type: 'mt-last-value',
        service: 'service',
        select: 'all',
        labels: ['${LABELS}'],
        x: 200,
        y: 100,
        wires: [[]],
      },
      { id: 'other', type: 'mt-last-value', service: 'service', x: 200, y: 200, wires: [[]] },
    ]);
    await red.status('other', ({ text }) => text === 'connected');
    editor = await openEditor(red.url);
  });
  afterEach(() => assert.deepEqual(editor.errors, []));
  after(async () => {
    await closeBrowser();
    await red?.stop();
    await service?.close();
  });

  it('shows what it would answer now, with names, units and age', async () => {
    const { gateway, device } = service.demo;
    const time = new Date().toISOString();
    await service.publish(gateway, device, 'measurement-decoded/temperature', { time, seq: 1, value: 21.5 });
    await editor.edit('other');
    const row = editor.page.locator('#mt-gateway-known tbody tr', { hasText: '21.5 °C' });
    await row.waitFor();
    assert.match((await row.innerText()).replaceAll('\t', ' '), /temperature 21\.5 °C \d+ s/);
    await editor.press('cancel');
  });

  it('keeps labels that come from a variable, and saves those that are typed', async () => {
    await editor.edit('last');
    await editor.press('ok');
    const saved = await editor.properties('last', ['labels', 'select']);
    assert.deepEqual(saved, { labels: ['${LABELS}'], select: 'all' });
  });
});
