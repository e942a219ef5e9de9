// The sidebar where a window is low: whatever else is open, the list keeps some rows.
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, source, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, openEditor } from './browser.ts';
import { serviceNode } from './flow.ts';
import { openSidebar } from './sidebar.ts';

const PLACE = { service: 'service', wires: [[]] };
const UNHEARD = 8;
/** Takes the clock of Node-RED's process a quarter of an hour forward. */
const CLOCK = {
  id: 'clock',
  type: 'function',
  func: 'const now = perf.performance.now.bind(perf.performance); perf.performance.now = () => now() + 900_000;',
  libs: [{ var: 'perf', module: 'node:perf_hooks' }],
  wires: [],
};
/** Each 42 px. */
const THREE_ROWS = 126;

describe('the list of the sidebar', function () {
  this.timeout(120_000);
  let service: Service;
  let red: NodeRed;

  before(async function () {
    this.timeout(240_000);
    requireBrowser(this);
    service = await startService({ gateways: 4, devices: 2, rate: 0, listed: 8 });
    red = await startNodeRed(VERSIONS[0]!);
    const asking = Array.from({ length: UNHEARD }, (_, index) => ({
      ...{ ...PLACE, id: `ask${index}`, type: 'mt-gw-read', x: 200, y: 200 + 40 * index },
      ...{
        device: `e0ffee00000${index}`,
        deviceType: 'str',
        identifier: 'temperature',
        identifierType: 'str',
      },
    }));
    await red.deploy([
      serviceNode(service),
      source('later', ['clock']),
      CLOCK,
      { ...PLACE, id: 'reports', type: 'mt-report-in', x: 200, y: 100 },
      ...asking,
    ]);
    await red.status('reports', ({ text }) => text === 'connected');
    red.send('later', {});
    for (const { mac, devices } of service.gateways) {
      await hear(devices[0]!.mac, mac);
    }
  });
  after(async () => {
    await closeBrowser();
    await red?.stop();
    await service?.close();
  });

  const hear = (device: string, gateway = service.gateways[0]!.mac) =>
    service.publish(gateway, device, 'measurement-decoded/temperature', {
      ...{ time: new Date().toISOString(), seq: 1, value: 20 },
    });

  for (const language of ['en-US', 'de']) {
    for (const [width, height] of [
      [1280, 800],
      [1024, 640],
    ] as const) {
      it(`has three rows beside a chosen device, whatever waits (${language}, ${width} × ${height})`, async () => {
        const editor = await openEditor(red.url, { language, width, height });
        const { page } = editor;
        const side = await openSidebar(editor, true);
        const part = (name: string) => page.locator(`.mt-gateway-side-${name}`).first();
        const setHeight = (given: string) =>
          page
            .locator('.mt-gateway-side')
            .first()
            .evaluate((element, value) => {
              element.style.height = value;
            }, given);
        const check = async (when: string, cut = ['controls', 'outer', 'record']) => {
          const boxes = await Promise.all([part('outer'), side.tree].map((one) => one.boundingBox()));
          const [outer, list] = boxes as { y: number; height: number }[];
          const shown = Math.min(list!.y + list!.height, outer!.y + outer!.height) - list!.y;
          assert.ok(shown >= THREE_ROWS - 1, `${shown} px of the list, ${when}`);
          for (const name of cut) {
            const hidden = await part(name).evaluate((one) => one.scrollHeight - one.clientHeight);
            assert.equal(hidden, 0, `${name} is cut off, ${when}`);
          }
        };
        const waiting = page.locator('.mt-gateway-side-waiting li');
        await part('waiting').waitFor();
        const count = await waiting.count();
        await side.tree.locator('[role=treeitem]').first().click();
        await part('details').waitFor();
        // What waits changes beside the chosen device.
        await hear(`e0ffee00000${count - 1}`);
        await page.evaluate("RED.events.emit('deploy')");
        await waiting.nth(count - 1).waitFor({ state: 'detached' });
        assert.ok(await part('waiting').isHidden());
        for (const px of ['360px', '490px', '566px', '600px', '700px']) {
          await setHeight(px);
          await check(`${px}, chosen`);
        }
        await setHeight('600px');
        await setHeight('545px');
        await part('more').click();
        await check('unfolded', []);
        await part('details').focus();
        await page.keyboard.press('Escape');
        await part('waiting').waitFor();
        await setHeight('600px');
        await check('waiting');
        await editor.close();
      });
    }
  }

  it('opens a gateway by a double click, also where the details have taken the place of its row', async () => {
    const editor = await openEditor(red.url, { width: 1280, height: 640 });
    const { page } = editor;
    const side = await openSidebar(editor, true);
    const row = side.tree.locator('[role=treeitem][aria-expanded=false]').nth(2);
    const key = await row.getAttribute('data-key');
    const { x, y } = (await row.boundingBox())!;
    const press = async (clickCount: number) => {
      await page.mouse.down({ clickCount });
      await page.mouse.up({ clickCount });
    };
    const isRowThere = () =>
      page.evaluate(
        ([left, top, wanted]) =>
          document
            .elementFromPoint(left as number, top as number)
            ?.closest('[data-key]')
            ?.getAttribute('data-key') === wanted,
        [x + 60, y + 12, key] as const,
      );
    await page.mouse.move(x + 60, y + 12);
    assert.equal(await isRowThere(), true);
    await press(1);
    await page.locator('.mt-gateway-side-details').waitFor();
    // What waits, above the list, goes with the next response.
    await page.locator('.mt-gateway-side-waiting').waitFor({ state: 'hidden' });
    assert.equal(await isRowThere(), false);
    await press(2);
    await press(3);
    await side.tree.locator(`[data-key="${key}"][aria-expanded=true]`).waitFor({ state: 'attached' });
    const selected = side.tree.locator('[aria-selected=true]');
    assert.equal(await selected.getAttribute('data-key'), key);
    await editor.close();
  });
});
