// The sidebar in a small window, above the debug messages: list, chosen device and what was done with it are all in sight.
import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, type Editor, openEditor, withoutPageErrors } from './browser.ts';
import { serviceNode } from './flow.ts';
import { openSidebar, type Sidebar, toggle } from './sidebar.ts';

const REPORTS = { id: 'reports', type: 'mt-report-in', service: 'service', x: 200, y: 100, wires: [[]] };

describe('the sidebar in a small window', function () {
  this.timeout(120_000);
  let service: Service;
  let red: NodeRed;
  let editor: Editor;
  let side: Sidebar;

  before(async function () {
    this.timeout(240_000);
    requireBrowser(this);
    service = await startService({ gateways: 3, devices: 3, rate: 0, listed: 12 });
    red = await startNodeRed(VERSIONS[0]!);
    await red.deploy([serviceNode(service), REPORTS]);
    await red.status('reports', ({ text }) => text === 'connected');
    for (const { mac, devices } of service.gateways) {
      for (const [seq, device] of devices.entries()) {
        await service.publish(mac, device.mac, 'measurement-decoded/temperature', {
          ...{ time: new Date().toISOString(), seq, value: 20 },
        });
      }
    }
    editor = await openEditor(red.url, { width: 1100, height: 700 });
    await editor.page.evaluate("RED.sidebar.show('debug')");
    side = await openSidebar(editor, true);
  });
  withoutPageErrors(() => editor);
  after(async () => {
    await closeBrowser();
    await red?.stop();
    await service?.close();
  });

  const part = (name: string) => editor.page.locator(`.mt-gateway-side-${name}`);
  async function boxOf(locator: Locator): Promise<{ top: number; bottom: number; height: number }> {
    const box = await locator.boundingBox();
    assert.ok(box);
    return { top: box.y, bottom: box.y + box.height, height: box.height };
  }
  /** Whether it is wholly in sight within the other one. */
  async function isWithin(inner: Locator, outer: Locator): Promise<boolean> {
    const [one, other] = [await boxOf(inner), await boxOf(outer)];
    return one.top >= other.top - 1 && one.bottom <= other.bottom + 1;
  }

  it('opens a gateway by a double click, although the first click shows its details', async () => {
    const { mac, devices } = service.gateways[0]!;
    const gateway = side.tree.locator(`[data-key="/${mac}"]`);
    await gateway.dblclick({ position: { x: 80, y: 10 } });
    await side.tree.locator(`[data-key="${mac}/${devices[0]!.mac}"]`).click();
    await part('details').getByRole('table', { name: 'Values' }).waitFor();
  });

  it('keeps the search and some rows in sight beside the chosen device', async () => {
    const whole = editor.page.locator('.mt-gateway-side').first();
    assert.ok((await boxOf(side.tree)).height >= 84);
    assert.ok((await boxOf(part('details'))).height >= 120);
    for (const name of ['search', 'details']) {
      assert.ok(await isWithin(part(name), whole), `${name} is cut off`);
    }
  });

  it('brings into sight what came of an action, and the search stays', async () => {
    const details = part('details');
    await details.locator('.mt-gateway-side-property').selectOption('firmware-version');
    await details.getByRole('button', { name: 'Read', exact: true }).click();
    const result = details.locator('.mt-gateway-side-result > div').first().filter({ hasText: '3.4.1' });
    await result.waitFor();
    assert.ok(await isWithin(result, details));
    assert.ok(await isWithin(part('search'), editor.page.locator('.mt-gateway-side').first()));
  });

  it('breaks no word of a value, beside a line or without one', async () => {
    const { mac, devices } = service.gateways[0]!;
    const table = part('details').getByRole('table', { name: 'Values' });
    const send = (rest: string, value: unknown) =>
      service.publish(mac, devices[0]!.mac, rest, { time: new Date().toISOString(), seq: 9, value });
    const broken = () =>
      table.evaluate((element) => {
        const range = document.createRange();
        const words = [...element.querySelectorAll('[role=cell]')].flatMap(({ firstChild }) =>
          firstChild instanceof Text
            ? [...firstChild.data.matchAll(/[\w.]+/g)].map((word) => ({ firstChild, word }))
            : [],
        );
        return words.flatMap(({ firstChild, word }) => {
          range.setStart(firstChild, word.index);
          range.setEnd(firstChild, word.index + word[0].length);
          return range.getClientRects().length > 1 ? [word[0]] : [];
        });
      });
    await send('property-decoded/device-mode', 'unconnected');
    await send('property-decoded/normal-mode-advertisement-interval', 'x');
    await table.getByText('unconnected').waitFor();
    assert.deepEqual(await broken(), []);
    await send('measurement-decoded/temperature', 21.25);
    await table.locator('svg').first().waitFor();
    assert.deepEqual(await broken(), []);
  });

  const setHeight = (height: string) =>
    editor.page
      .locator('.mt-gateway-side')
      .first()
      .evaluate((element, given) => {
        element.style.height = given;
      }, height);

  for (const height of ['', '340px', '490px']) {
    it(`brings record and play into sight when it is opened beside the chosen device (${height || 'half'})`, async () => {
      await setHeight(height);
      await part('details').getByRole('table', { name: 'Values' }).waitFor();
      const heading = part('record-heading');
      assert.ok(await isWithin(heading, part('outer')), 'the heading is cut off');
      await heading.click();
      for (const shown of [
        heading,
        part('record').getByRole('button', { name: 'Record', exact: true }),
        part('record').getByText('Keeps all reports'),
      ]) {
        assert.ok(await isWithin(shown, part('record')));
        assert.ok(await isWithin(shown, part('outer')));
      }
      await heading.click();
      assert.ok(await isWithin(heading, part('outer')));
      await setHeight('');
    });
  }

  it('shows order and filters whole above the chosen device where there is more room', async () => {
    await setHeight('566px');
    await editor.page.locator('label:has(#mt-gateway-side-needs)').waitFor();
    const hidden = (name: string) =>
      part(name).evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight);
    assert.deepEqual([await hidden('controls'), await hidden('outer'), await hidden('record')], [0, 0, 0]);
    assert.ok((await boxOf(side.tree)).height >= 84);
    await setHeight('');
  });

  it('has order and filters behind a button', async () => {
    const needs = editor.page.locator('#mt-gateway-side-needs');
    assert.ok(await needs.isHidden());
    const more = editor.page.getByRole('button', { name: 'Order and filters' });
    await more.focus();
    await editor.page.keyboard.press('Enter');
    assert.equal(await more.getAttribute('aria-expanded'), 'true');
    await needs.check();
    await side.says('Nobody is needed');
    await more.click();
    assert.ok(await needs.isHidden());
    assert.equal(await more.getAttribute('title'), 'Order and filters · Only those that need somebody');
    await more.click();
    await needs.uncheck();
    await side.tree.locator('[role=treeitem]').first().waitFor();
    await more.click();
    assert.ok(await needs.isHidden());
    assert.equal(await more.getAttribute('title'), 'Order and filters');
  });

  it('has one line above the list in half of a large window, also with a choice of services', async () => {
    await red.deploy([
      serviceNode(service),
      { ...serviceNode(service), id: 'other', name: 'Other' },
      REPORTS,
    ]);
    await editor.reload();
    side = await openSidebar(editor, true);
    await setHeight('490px');
    await part('service').waitFor();
    const lines = await Promise.all(['service', 'search', 'more'].map((name) => boxOf(part(name))));
    assert.equal(new Set(lines.map(({ top }) => Math.round(top))).size, 1);
    assert.ok((await boxOf(part('controls'))).height < 50);
    await setHeight('');
  });

  it('gives the name of a device the room of battery and signal where it is narrow', async () => {
    const { mac, devices } = service.gateways[0]!;
    const device = devices[0]!.mac;
    const time = new Date().toISOString();
    await service.publish(mac, device, 'rssi', { time, seq: 50, parent: mac, rssi: -60 });
    await service.publish(mac, device, 'property-decoded/battery-level', { time, seq: 51, value: 100 });
    const row = side.tree.locator(`[data-key="${mac}/${device}"]`);
    const gateway = side.tree.locator(`[data-key="/${mac}"]`);
    await gateway.waitFor();
    if ((await gateway.getAttribute('aria-expanded')) === 'false') {
      await toggle(gateway);
    }
    await row.locator('.mt-gateway-item-battery', { hasText: '100 %' }).waitFor();
    const setWidth = (width: string) =>
      editor.page.evaluate(`$('.mt-gateway-side').css('width', '${width}')`);
    for (const [width, bars, battery] of [
      [300, true, true],
      [240, true, false],
      [175, false, false],
    ] as const) {
      await setWidth(`${width}px`);
      assert.deepEqual(
        [
          await row.locator('.mt-gateway-item-bars').isVisible(),
          await row.locator('.mt-gateway-item-battery').isVisible(),
        ],
        [bars, battery],
        `${width}`,
      );
      const name = await row.locator('.mt-gateway-item-name').boundingBox();
      assert.ok((name?.width ?? 0) > 60, `${width}: ${name?.width}`);
    }
    await setWidth('');
  });
});
