// The panel of mt-last-value in a real browser: what it would answer now, and what it saves.
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, type Editor, isSeen, openEditor, withoutPageErrors } from './browser.ts';
import { serviceNode } from './flow.ts';

/** What the editor's page has. */
interface Page {
  RED: { nodes: { node(id: string): { _def: { label: { call(node: object): string } } } } };
}

/** In the order of their addresses. */
const NAMED = new Map([
  ['e0ffee000001', 'Lab 10'],
  ['e0ffee000002', 'Lab 2'],
  ['e0ffee000003', 'Attic'],
]);

describe('the panel of last value', function () {
  this.timeout(180_000);
  let service: Service;
  let red: NodeRed;
  let editor: Editor;

  before(async function () {
    requireBrowser(this);
    service = await startService({ gateways: 2, devices: 2, rate: 0, listed: 4 });
    const [, second] = service.gateways;
    process.env.MT_PLACE = service.devices.find(({ id }) => id.endsWith(second!.mac))!.labels[0];
    for (const [mac, friendlyName] of NAMED) {
      service.devices.push({ ...service.devices[0]!, id: `bmac-${mac}`, friendlyName, labels: [] });
    }
    const { gateway, device } = service.demo;
    const time = new Date(Date.now() - 150_000).toISOString();
    await service.publish(gateway, device, 'measurement-decoded/vdd', { time, seq: 1, value: 3 }, true);
    red = await startNodeRed(VERSIONS[0]!);
    delete process.env.MT_PLACE;
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
      {
        id: 'off',
        type: 'mt-last-value',
        service: 'service',
        device: 'e4a7c5999999',
        deviceType: 'str',
        d: true,
        x: 200,
        y: 600,
        wires: [[]],
      },
      { id: 'named', type: 'mt-last-value', service: '${MT_SERVICE}', x: 200, y: 300, wires: [[]] },
      {
        id: 'placed',
        type: 'mt-last-value',
        service: 'service',
        labels: ['${MT_PLACE}'],
        x: 200,
        y: 500,
        wires: [[]],
      },
      {
        ...{ id: 'fixed', type: 'mt-last-value', service: 'service', x: 400, y: 100, wires: [[]] },
        ...{ device: service.demo.device, deviceType: 'str', gateway: '', gatewayType: 'str' },
      },
      {
        id: 'many',
        type: 'mt-last-value',
        service: 'service',
        labels: Array.from({ length: 50 }, (_, n) => `label-${n}`),
        x: 200,
        y: 400,
        wires: [[]],
      },
    ]);
    await red.status('other', ({ text }) => text === 'connected');
    editor = await openEditor(red.url, { width: 1100, height: 700 });
  });
  withoutPageErrors(() => editor);
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

  it('says a long duration and a value of several fields in words, as the sidebar does', async () => {
    const { gateway, device } = service.demo;
    const time = new Date().toISOString();
    const shown = editor.page.locator('#mt-gateway-known tbody tr td:nth-child(3)');
    await editor.edit('other');
    for (const [property, value, words, whole] of [
      ['uptime', 3_006_802, '34 d 19 h', '3006802 s'],
      [
        'normal-mode-advertisement-interval',
        { interval: 500, denominator: 1 },
        'interval 500 ms, denominator 1',
        '{"interval":500,"denominator":1}',
      ],
    ] as const) {
      await service.publish(gateway, device, `property-decoded/${property}`, { time, value });
      const cell = shown.filter({ hasText: words });
      await cell.waitFor();
      assert.equal(await cell.getAttribute('title'), whole);
    }
    await editor.press('cancel');
  });

  it('says an age of a minute or more in a larger unit', async () => {
    await editor.edit('other');
    const row = editor.page.locator('#mt-gateway-known tbody tr', { hasText: 'vdd' });
    assert.match(await row.innerText(), /\t\d min$/);
    await editor.press('cancel');
  });

  it('shows no value of what was chosen before while the other one is awaited', async () => {
    const { page } = editor;
    const values = page.locator('#mt-gateway-known tbody tr');
    await editor.edit('other');
    await values.first().waitFor();
    await page.route('**/last-values', () => {
      // Stays unanswered until the panel is closed.
    });
    await editor.pick('identifier', 'humidity');
    assert.equal(await values.count(), 0);
    await editor.press('cancel');
    await page.unroute('**/last-values');
  });

  it('says which of its fields the shown values do not go by, as they come with the message', async () => {
    const { page } = editor;
    const state = page.locator('#mt-gateway-known-state');
    await editor.edit('other');
    await state.filter({ hasText: 'known only in the flow: Device, Property, Gateway' }).waitFor();
    await editor.pick('device', service.demo.device);
    await state.filter({ hasText: /in the flow: Property$/ }).waitFor();
    await editor.pick('identifier', 'temperature');
    await state.filter({ hasText: /^Values: 1$/ }).waitFor();
    await editor.press('cancel');
  });

  it('says that more is collected after a deploy where a deployed choice becomes wider, and not where narrower', async () => {
    const { page } = editor;
    const state = page.locator('#mt-gateway-known-state');
    const words = 'others are collected only after the deploy';
    await editor.edit('fixed');
    await state.filter({ hasText: /^Values: \d+ · known/ }).waitFor();
    await editor.typed('device').fill('');
    await page.keyboard.press('Tab');
    await state.filter({ hasText: words }).waitFor();
    await editor.press('cancel');
    await editor.edit('fixed');
    await editor.pick('identifier', 'temperature');
    await state.filter({ hasText: /^Values: 1$/ }).waitFor();
    await editor.press('cancel');
  });

  it('lists what is known by the names of the devices', async () => {
    const { gateway } = service.demo;
    const time = new Date().toISOString();
    for (const mac of NAMED.keys()) {
      await service.publish(gateway, mac, 'measurement-decoded/pressure', { time, seq: 4, value: 990 });
    }
    await editor.edit('other');
    await editor.pick('identifier', 'pressure');
    const rows = editor.page.locator('#mt-gateway-known tbody tr');
    await rows.nth(1).waitFor();
    assert.deepEqual(await rows.locator('td:first-child').allInnerTexts(), ['Attic', 'Lab 2', 'Lab 10']);
    await editor.press('cancel');
  });

  it('shows only the values of gateways with a label that comes from a variable', async () => {
    const { page } = editor;
    const { gateway, device } = service.demo;
    const time = new Date().toISOString();
    const other = service.gateways[1]!.mac;
    await service.publish(gateway, device, 'measurement-decoded/temperature', { time, seq: 2, value: 21.5 });
    await service.publish(other, device, 'measurement-decoded/humidity', { time, seq: 3, value: 40 });
    await editor.edit('placed');
    await page.locator('#mt-gateway-known tbody tr', { hasText: 'humidity' }).waitFor();
    assert.equal(await page.locator('#mt-gateway-known tbody tr', { hasText: 'temperature' }).count(), 0);
    await editor.press('cancel');
  });

  /** What stands in the place of the values. */
  const said = (words: string) =>
    editor.page.locator('#mt-gateway-known .mt-gateway-preview-note', { hasText: words }).waitFor();

  it('says that the list of devices is still being read, and not that nothing is known', async () => {
    await editor.page.route('**/last-values', (route) =>
      route.fulfill({ status: 202, contentType: 'application/json', body: '{"loading":true}' }),
    );
    await editor.edit('other');
    await said('Still loading');
    await editor.press('cancel');
    await editor.page.unroute('**/last-values');
  });

  it('says where nothing is known for it that it is disabled', async () => {
    await editor.edit('off');
    await said('This node or its flow is disabled');
    await editor.press('cancel');
  });

  it('says that a service from a variable cannot be asked', async () => {
    await editor.edit('named');
    await said('environment variable');
    await editor.press('cancel');
  });

  it('names two of its labels in the caption, and how many more there are', async () => {
    const caption = await editor.page.evaluate(() => {
      const node = (globalThis as unknown as Page).RED.nodes.node('many');
      return node._def.label.call(node);
    });
    assert.match(caption, /label-0, label-1 \+48$/);
  });

  it('covers no field with what it knows, in a small window', async () => {
    const { page } = editor;
    await editor.edit('other');
    const fields = page.locator('.mt-gateway-fields :is(input, select):visible');
    assert.ok((await fields.count()) > 7);
    for (const one of await fields.all()) {
      await one.focus();
      assert.ok(await one.evaluate(isSeen), await one.evaluate((input) => input.id || input.outerHTML));
      assert.ok(await page.locator('#mt-gateway-known').evaluate(isSeen), 'what is known');
    }
    await editor.press('cancel');
  });

  it('keeps labels that come from a variable, and saves those that are typed', async () => {
    await editor.edit('last');
    await editor.press('ok');
    const saved = await editor.properties('last', ['labels', 'select']);
    assert.deepEqual(saved, { labels: ['${LABELS}'], select: 'all' });
  });
});
