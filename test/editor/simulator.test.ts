// The simulator in the editor: its panel, and the first five minutes of somebody who has no gateway, in clicks.
import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { DEFAULTS } from '../../simulator/node/config.ts';
import { OLDEST, VERSIONS } from '../e2e/node-red.ts';
import { freePort } from '../mosquitto.ts';
import { openEditor, showsChoices, useEditor } from './browser.ts';

for (const version of [...VERSIONS, OLDEST]) {
  describe(`the simulator in the editor of ${version.name}`, function () {
    this.timeout(60_000);
    const used = useEditor(
      [{ id: 'own', type: 'mt-simulator', ...DEFAULTS, mqttPort: 0, restPort: 0, wires: [[]] }],
      { version, packages: ['.', 'simulator'] },
    );

    if (version === VERSIONS[0]) {
      it('says in the panel that it listens on 127.0.0.1 only, and with which login', async () => {
        await used.editor.edit('own');
        const intro = await used.editor.page.locator('.mt-simulator-intro').innerText();
        assert.match(intro, /127\.0\.0\.1 only/);
        assert.match(intro, /demo-password/);
        await used.editor.press('cancel');
      });

      it('is whole in a small window, though its introduction is long', async () => {
        const { page } = used.editor;
        const size = page.viewportSize()!;
        await page.setViewportSize({ width: 1024, height: 640 });
        await used.editor.edit('own');
        const form = (await page.locator('.mt-simulator-form').boundingBox())!;
        const { x } = (await page.locator('#red-ui-sidebar').boundingBox())!;
        const { x: left, width } = (await page.locator('#red-ui-editor-stack .red-ui-tray').boundingBox())!;
        assert.ok(form.x + form.width <= Math.min(x, left + width), JSON.stringify({ form, x, left, width }));
        assert.ok(left >= 0, `the panel begins at ${left}`);
        await used.editor.press('cancel');
        await page.setViewportSize(size);
      });

      for (const language of ['en-US', 'de', 'es-ES', 'fr', 'ja', 'zh-CN']) {
        it(`shows its longest choices whole, beside their caption (${language})`, async () => {
          const { href } = new URL('/', used.editor.page.url());
          const editor = await openEditor(href, { language, width: 1024, height: 640 });
          await editor.edit('own');
          const { page } = editor;
          const choices = page.locator('#node-input-mode');
          assert.ok(await showsChoices(choices));
          const caption = (await page.locator('label[for="node-input-mode"]').boundingBox())!;
          const { x, y, height } = (await choices.boundingBox())!;
          assert.ok(x >= caption.x + caption.width, `${x}: ${JSON.stringify(caption)}`);
          assert.ok(Math.abs(y + height / 2 - caption.y - caption.height / 2) < 3, 'of one height');
          await editor.close();
        });
      }

      it('saves what it was, when nothing is changed', async () => {
        await used.editor.edit('own');
        await used.editor.press('ok');
        const saved = await used.editor.properties('own', ['mqttPort', 'devices', 'mode', 'away']);
        assert.deepEqual(Object.values(saved).map(String), [
          '0',
          String(DEFAULTS.devices),
          DEFAULTS.mode,
          String(DEFAULTS.away),
        ]);
      });

      it('says in words what is wrong with a port, and lets an environment variable be', async () => {
        await used.editor.edit('own');
        const field = used.editor.page.locator('#node-input-mqttPort');
        for (const [value, isWrong] of [
          ['80', true],
          ['${BROKER_PORT}', false],
          ['70000', true],
          ['1884', false],
        ] as const) {
          await field.fill(value);
          await field.dispatchEvent('change');
          await used.editor.page
            .locator(`#node-input-mqttPort${isWrong ? '.input-error' : ':not(.input-error)'}`)
            .waitFor();
        }
        await used.editor.press('cancel');
        assert.deepEqual(used.editor.errors, []);
      });

      it('says that both ports are the same, whichever of them was changed last', async () => {
        await used.editor.edit('own');
        const { page } = used.editor;
        const enter = async (field: string, value: string) => {
          await page.locator(`#node-input-${field}`).fill(value);
          await page.locator(`#node-input-${field}`).dispatchEvent('change');
        };
        const isMarked = (isWrong: boolean) =>
          page.locator(`#node-input-restPort${isWrong ? '.input-error' : ':not(.input-error)'}`).waitFor();
        await enter('restPort', '11883');
        await isMarked(false);
        await enter('mqttPort', '11883');
        await isMarked(true);
        await enter('mqttPort', '11884');
        await isMarked(false);
        await enter('restPort', '11884');
        await isMarked(true);
        await used.editor.press('cancel');
        assert.deepEqual(used.editor.errors, []);
      });
    }

    it('brings the first reports to somebody without gateways with few clicks', async function () {
      // Three pages, a Node-RED and a network, beside whatever else runs.
      this.timeout(120_000);
      await beginAnew();
      const { page } = used.editor;
      let clicks = 0;
      const click = async (target: Locator) => {
        clicks += 1;
        await target.click();
      };
      await click(page.locator('#red-ui-header-button-sidemenu'));
      await click(page.locator('#menu-item-import'));
      await click(page.locator('#red-ui-clipboard-dialog-import-tabs a', { hasText: 'Examples' }));
      const entry = (text: string) =>
        page.locator('.red-ui-treeList-label:visible', { hasText: text }).first();
      await click(entry('@mt-gateway/node-red-mt-simulator'));
      await click(entry('Try the nodes'));
      await click(page.locator('#red-ui-clipboard-dialog-ok'));
      await click(page.locator('.red-ui-tab-label', { hasText: 'Try the nodes' }).first());
      await useFreePorts();
      await click(page.locator('#red-ui-header-button-deploy'));
      const status = (node: string, text: string) =>
        page.locator(`[id="${node}"] .red-ui-flow-node-status-label`, { hasText: text }).waitFor();
      await status('try-simulator', '250 devices');
      await status('try-heard', '250');
      await click(page.locator('[id="try-warm"] .red-ui-flow-node-button-button'));
      await status('try-alarm', 'alarm on');
      assert.ok(clicks <= 9, `${clicks} clicks`);
      assert.deepEqual(used.editor.errors, []);
    });

    let flowsBefore: string | undefined;

    /** An attempt that failed may have left the sample there: another one would be a copy of it, with other ids. */
    async function beginAnew(): Promise<void> {
      const { page } = used.editor;
      if (flowsBefore === undefined) {
        flowsBefore = await page.evaluate<string>("fetch('flows').then((response) => response.text())");
        return;
      }
      await page.evaluate(`fetch('flows', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: ${JSON.stringify(flowsBefore)},
      })`);
      await used.editor.reload();
    }

    /** Those of the sample may be somebody else's on this machine. */
    async function useFreePorts(): Promise<void> {
      const [mqtt, rest] = [await freePort(), await freePort()];
      const base = `http://localhost:${rest}`;
      const changes = {
        'try-simulator': { mqttPort: mqtt, restPort: rest, rate: 100 },
        'demo-service': { authUrl: base, baseUrl: base, brokerUrl: `mqtt://localhost:${mqtt}` },
      };
      await used.editor.page.evaluate(
        `for (const [id, change] of Object.entries(${JSON.stringify(changes)})) Object.assign(RED.nodes.node(id), change, { changed: true })`,
      );
    }
  });
}
