// The sidebar with a large network: what is in sight is asked for, and nothing else is drawn.
import assert from 'node:assert/strict';
import { connectAsync } from 'mqtt';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, type Editor, openEditor } from './browser.ts';
import { serviceNode } from './flow.ts';
import { openSidebar, type Sidebar, toggle } from './sidebar.ts';

const DEVICES = 20_000;
const GATEWAY = 'c00000000001';
const REPORTS = { id: 'reports', type: 'mt-report-in', service: 'service', x: 200, y: 100, wires: [[]] };

const macOf = (index: number): string => `e${index.toString(16).padStart(11, '0')}`;

describe('the sidebar with twenty thousand devices', function () {
  this.timeout(300_000);
  let service: Service;
  let red: NodeRed;
  let editor: Editor;
  let side: Sidebar;

  before(async function () {
    requireBrowser(this);
    service = await startService({ gateways: 1, devices: 1, rate: 0, listed: 1 });
    red = await startNodeRed(VERSIONS[0]!);
    await red.deploy([serviceNode(service), REPORTS]);
    await red.status('reports', ({ text }) => text === 'connected');
    await reportAll();
    editor = await openEditor(red.url);
    side = await openSidebar(editor);
  });
  after(async () => {
    await closeBrowser();
    await red?.stop();
    await service?.close();
  });

  /** Each device is heard once; the last one when the service knows all. */
  async function reportAll(): Promise<void> {
    const client = await connectAsync(service.urls.mqtt);
    const payload = JSON.stringify({ time: new Date().toISOString(), seq: 1, value: 20 });
    for (let index = 0; index < DEVICES; index++) {
      const topic = `mt/gateway/${GATEWAY}/device/${macOf(index)}/measurement-decoded/temperature`;
      const published = client.publishAsync(topic, payload, { qos: 1 });
      // So many are under way at a time.
      if (index % 500 === 0) {
        await published;
      }
    }
    await client.endAsync();
    for (;;) {
      const { total } = (await red.call('GET', 'mt-service/service/network?parent=*&limit=1')) as {
        total: number;
      };
      if (total >= DEVICES) {
        return;
      }
    }
  }

  it('draws only what is in sight, and asks for pages around it, at the end of the list too', async () => {
    const gateway = side.row(GATEWAY);
    await gateway.waitFor();
    await toggle(gateway);
    await side.tree.locator(`[data-key="${GATEWAY}/${macOf(0)}"]`).waitFor();
    const asked: number[] = [];
    editor.page.on('request', (request) => {
      const limit = new URL(request.url()).searchParams.get('limit');
      if (request.url().includes('/network?') && limit) {
        asked.push(Number(limit));
      }
    });
    await side.tree.evaluate((tree) => tree.scrollTo(0, tree.scrollHeight));
    await side.tree.locator(`[data-key="${GATEWAY}/${macOf(DEVICES - 1)}"]`).waitFor();
    await side.tree.evaluate((tree) => tree.scrollTo(0, tree.scrollHeight / 2));
    await side.tree.locator(`[data-key="${GATEWAY}/${macOf(DEVICES / 2)}"]`).waitFor();
    const drawn = await side.tree.locator('[role=treeitem]').count();
    assert.ok(drawn < 60, `${drawn} rows are drawn`);
    assert.ok(Math.max(...asked) < 120, `${Math.max(...asked)} rows were asked for at once`);
    const last = side.tree.locator('[aria-level="2"]').last();
    assert.equal(await last.getAttribute('aria-setsize'), String(DEVICES));
    assert.deepEqual(editor.errors, []);
  });

  it('opens the row that is pressed, however far the list was scrolled without the focus', async () => {
    const { page } = editor;
    await page.locator('.mt-gateway-side-search').focus();
    await side.tree.evaluate((tree) => tree.scrollTo(0, tree.scrollHeight / 3));
    const row = side.tree.locator(`[data-key="${GATEWAY}/${macOf(Math.round(DEVICES / 3))}"]`);
    await row.waitFor();
    const place = await side.tree.evaluate((tree) => tree.scrollTop);
    const { x, y } = (await row.boundingBox())!;
    await page.mouse.move(x + 60, y + 10);
    await page.mouse.down();
    assert.equal(await side.tree.evaluate((tree) => tree.scrollTop), place);
    await page.mouse.up();
    await page.locator('.mt-gateway-side-details', { hasText: macOf(Math.round(DEVICES / 3)) }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
  });

  it('goes to the end and back by keys', async () => {
    await side.tree.focus();
    await editor.page.keyboard.press('End');
    // A gateway that was never heard stands below those that were.
    const last = side.tree.locator('[aria-level="1"][aria-posinset="2"][aria-selected=true]');
    await last.waitFor();
    await editor.page.keyboard.press('ArrowUp');
    await side.tree.locator(`[data-key="${GATEWAY}/${macOf(DEVICES - 1)}"][aria-selected=true]`).waitFor();
    await editor.page.keyboard.press('Home');
    await side.tree.locator('[aria-level="1"][aria-posinset="1"][aria-selected=true]').waitFor();
  });

  it('finds one of them by its address', async () => {
    await editor.page.locator('.mt-gateway-side-search').fill(macOf(12_345).slice(6));
    await side.tree.locator(`[data-key="/${macOf(12_345)}"]`).waitFor();
  });

  it('says that a search is under way while the service has no time for it, and shows the result then', async () => {
    const { page } = editor;
    const address = /network\?.*q=/;
    await page.route(address, (route) => route.fulfill({ status: 202, json: { loading: true } }));
    await page.locator('.mt-gateway-side-search').fill(macOf(2_345).slice(6));
    await side.says('Loading');
    await page.unroute(address);
    await side.tree.locator(`[data-key="/${macOf(2_345)}"]`).waitFor();
    await page.locator('.mt-gateway-side-note').waitFor({ state: 'hidden' });
  });
});
