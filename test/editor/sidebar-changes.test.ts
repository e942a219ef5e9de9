// The sidebar is told of changes by the runtime: in each line of Node-RED, to each editor alone, and again after a restart.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, OLDEST, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, type Editor, openEditor, withoutPageErrors } from './browser.ts';
import { serviceNode } from './flow.ts';
import { openSidebar, type Sidebar, toggle } from './sidebar.ts';

const REPORTS = { id: 'reports', type: 'mt-report-in', service: 'service', x: 200, y: 100, wires: [[]] };

/** The next response that says that this editor is told of changes. */
const pushed = (page: Page, timeout = 30_000) =>
  page.waitForResponse(
    async (response) =>
      response.url().includes('/network?') &&
      ((await response.json().catch(() => ({}))) as { pushed?: boolean }).pushed === true,
    { timeout },
  );

/** Notes when pages of the network were asked for. */
function noteQuestions(page: Page): number[] {
  const times: number[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith('/network') && searchParams.get('parent') === '') {
      times.push(Date.now());
    }
  });
  return times;
}

for (const [index, version] of [...VERSIONS, OLDEST].entries()) {
  describe(`changes in the sidebar in ${version.name}`, function () {
    this.timeout(120_000);
    let service: Service;
    let red: NodeRed;
    let editor: Editor;
    let side: Sidebar;
    let seq = 0;

    before(async function () {
      this.timeout(240_000);
      requireBrowser(this);
      service = await startService({ gateways: 2, devices: 2, rate: 0, listed: 0 });
      red = await startNodeRed(version);
      await red.deploy([serviceNode(service), REPORTS]);
      await red.status('reports', ({ text }) => text === 'connected');
      [editor, side] = await open();
      await toggle(side.row(service.demo.gateway));
      await device(side).waitFor();
    });
    withoutPageErrors(() => editor);
    after(async () => {
      await closeBrowser();
      await red?.stop();
      await service?.close();
    });

    async function open(): Promise<[Editor, Sidebar]> {
      const opened = await openEditor(red.url);
      const told = pushed(opened.page);
      const sidebar = await openSidebar(opened);
      // The editor may have shown the tab before: then it asks again when something has changed.
      await hear(20);
      await told;
      return [opened, sidebar];
    }
    const hear = (value: number, at = 0) => {
      const { mac, devices } = service.gateways[at]!;
      return service.publish(mac, devices[0]!.mac, 'measurement-decoded/temperature', {
        ...{ time: new Date().toISOString(), seq: seq++ % 256, value },
      });
    };
    const device = ({ tree }: Sidebar) =>
      tree.locator(`[data-key="${service.demo.gateway}/${service.demo.device}"]`);
    const shows = (sidebar: Sidebar, value: number) =>
      device(sidebar)
        .filter({ hasText: `${value} °C` })
        .waitFor();

    /** Fifty reports a second lead to four questions a second at most. */
    async function askedSeldom(): Promise<void> {
      const asked = noteQuestions(editor.page);
      const begin = Date.now();
      for (let value = 0; value < 150; value++) {
        await hear(value % 100);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await hear(55.5);
      await shows(side, 55.5);
      const seconds = (Date.now() - begin) / 1_000;
      assert.ok(asked.length >= 3, `${asked.length} questions`);
      assert.ok(asked.length <= 4 * seconds + 2, `${asked.length} questions in ${seconds} s`);
    }

    it('come as soon as something is heard, and without any nothing is asked', async () => {
      const { page } = editor;
      const asked = noteQuestions(page);
      // Longer than where the sidebar has to ask by itself.
      const age = device(side).locator('.mt-gateway-item-age');
      const before = Number.parseInt(await age.innerText(), 10);
      await page.waitForFunction(
        ([line, least]) => Number.parseInt((line as HTMLElement).innerText, 10) >= (least as number),
        [await age.elementHandle(), before + 5] as const,
      );
      assert.ok(asked.length <= 1, `${asked.length} questions while the age went on by five seconds`);
      const at = Date.now();
      await hear(21);
      await shows(side, 21);
      const late = Date.now() - at;
      assert.ok(late < 5_000, `${late} ms`);
    });

    if (index > 0) {
      return;
    }

    it('come four times a second at most, however much is heard', async () => {
      await askedSeldom();
    });

    it('reach two editors, each with its search, and the one that is left when the other is closed', async () => {
      const [other, beside] = await open();
      await other.page.locator('.mt-gateway-side-search').fill(service.gateways[1]!.mac);
      const found = beside.tree.locator(`[data-key="/${service.gateways[1]!.devices[0]!.mac}"]`);
      await hear(7, 1);
      await found.filter({ hasText: '7 °C' }).waitFor();
      await hear(22);
      await shows(side, 22);
      assert.equal(await device(beside).count(), 0, 'the other one looks for something else');
      await device(side).click();
      await editor.page.locator('.mt-gateway-side-details', { hasText: '22 °C' }).waitFor();
      assert.ok(await other.page.locator('.mt-gateway-side-details').isHidden());
      await other.close();
      await hear(23);
      await shows(side, 23);
      await editor.page.keyboard.press('Escape');
    });

    it('are none of an editor whose tab is taken away, and of one that comes back', async () => {
      const { page } = editor;
      const set = `RED.nodes.registry.getNodeSetForType('mt-service').id`;
      const asked = noteQuestions(page);
      await page.evaluate(`RED.nodes.disableNodeSet(${set})`);
      await page.locator('.mt-gateway-side').waitFor({ state: 'detached' });
      const before = asked.length;
      await hear(24);
      await hear(25);
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 2_500))');
      assert.equal(asked.length, before, 'nothing is asked');
      await page.evaluate(`RED.nodes.enableNodeSet(${set})`);
      const told = pushed(page);
      side = await openSidebar(editor);
      await told;
      await toggle(side.row(service.demo.gateway));
      await shows(side, 25);
      await hear(26);
      await shows(side, 26);
    });

    it('come again by themselves when Node-RED was restarted, and no more often than before', async () => {
      await red.shutDown();
      await side.says('not answer');
      const told = pushed(editor.page, 90_000);
      red = await startNodeRed(version, { uiPort: Number(new URL(red.url).port) }, [], red);
      await red.status('reports', ({ text }) => text === 'connected');
      await hear(30);
      await told;
      await shows(side, 30);
      await askedSeldom();
    });
  });
}
