// The sidebar in a real browser: its tree with mouse, keys and words, and that it asks only while it is seen.
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, type Editor, openEditor, withoutPageErrors } from './browser.ts';
import { serviceNode } from './flow.ts';
import { openSidebar, pointAt, type Sidebar, toggle, untilShown } from './sidebar.ts';

const HOSTILE = '<img src=x onerror="window.hacked = true">';
const REPORTS = { id: 'reports', type: 'mt-report-in', service: 'service', x: 200, y: 100, wires: [[]] };

for (const [index, version] of VERSIONS.entries()) {
  describe(`the sidebar in ${version.name}`, function () {
    this.timeout(120_000);
    let service: Service;
    let red: NodeRed;
    let editor: Editor;
    let side: Sidebar;
    let gateways: string[];

    before(async function () {
      this.timeout(240_000);
      requireBrowser(this);
      service = await startService({ gateways: 2, devices: 3, rate: 0, listed: 4 });
      service.devices[0]!.friendlyName = HOSTILE;
      red = await startNodeRed(version);
      await red.deploy([serviceNode(service), REPORTS]);
      await red.status('reports', ({ text }) => text === 'connected');
      await report();
      editor = await openEditor(red.url);
      side = await openSidebar(editor);
    });
    withoutPageErrors(() => editor);
    after(async () => {
      await closeBrowser();
      await red?.stop();
      await service?.close();
    });

    /** Every device reports a temperature, in the order of the fleet. */
    async function report(): Promise<void> {
      gateways = service.gateways.map(({ mac }) => mac);
      for (const gateway of service.gateways) {
        for (const [seq, { mac }] of gateway.devices.entries()) {
          const time = new Date().toISOString();
          await service.publish(gateway.mac, mac, 'measurement-decoded/temperature', {
            time,
            seq,
            value: 20 + seq,
          });
        }
      }
    }
    const first = () => service.gateways[0]!;
    const rowOf = (mac: string) => side.tree.locator(`[data-key$="/${mac}"]`).first();

    it('shows gateways, and below one that is opened its devices with value, unit and age', async () => {
      const gateway = rowOf(gateways[0]!);
      await gateway.waitFor();
      assert.equal(await gateway.getAttribute('aria-expanded'), 'false');
      assert.equal(await gateway.getAttribute('aria-level'), '1');
      await toggle(gateway);
      const device = rowOf(first().devices[1]!.mac);
      await device.filter({ hasText: '21 °C' }).waitFor();
      assert.equal(await gateway.getAttribute('aria-expanded'), 'true');
      assert.equal(await device.getAttribute('aria-level'), '2');
      assert.match(
        (await device.getAttribute('aria-label')) ?? '',
        /fine, heard \d+ s ago, temperature 21 °C/,
      );
      const group = await gateway.getAttribute('aria-owns');
      assert.equal(await side.tree.locator(`[id="${group}"][role=group] [role=treeitem]`).count(), 3);
      await gateway.dblclick({ position: { x: 60, y: 10 } });
      await device.waitFor({ state: 'detached' });
    });

    if (index > 0) {
      return;
    }

    it('is one stop of the tab key and goes by arrow keys, Home, End and typed letters', async () => {
      const { page } = editor;
      const active = () =>
        page.evaluate(
          "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.dataset.key",
        );
      await page.locator('#mt-gateway-side-everything').focus();
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate('document.activeElement.getAttribute("role")'), 'tree');
      await page.keyboard.press('Home');
      const start = await active();
      await page.keyboard.press('ArrowRight');
      await side.tree.locator('[aria-level="2"]').first().waitFor();
      await page.keyboard.press('ArrowRight');
      assert.ok(String(await active()).startsWith(`${String(start).slice(1)}/`));
      await page.keyboard.press('ArrowLeft');
      assert.equal(await active(), start);
      await page.keyboard.press('ArrowLeft');
      await side.tree.locator('[aria-level="2"]').first().waitFor({ state: 'detached' });
      await page.keyboard.press('End');
      assert.notEqual(await active(), start);
      const name = await side.tree.locator(`[data-key="${start}"] .mt-gateway-item-name`).innerText();
      await page.keyboard.type(name.slice(0, 4));
      assert.equal(await active(), start);
      assert.equal(await side.tree.locator('[aria-selected=true]').count(), 1);
    });

    it('finds a device by a part of its address below no gateway, and says when nothing is found', async () => {
      const { mac } = first().devices[2]!;
      const search = editor.page.locator('.mt-gateway-side-search');
      await search.fill(mac.slice(4));
      await side.tree.locator(`[aria-level="1"][data-key="/${mac}"]`).waitFor();
      await search.fill('no such device');
      await side.says('Nothing found');
      assert.ok(await side.tree.isHidden());
      // By the sign at its end.
      const { width, height } = (await search.boundingBox())!;
      await search.click({ position: { x: width - 14, y: height / 2 } });
      assert.equal(await search.inputValue(), '');
      await rowOf(gateways[0]!).waitFor();
    });

    it('goes from the search to the first result, also to one that is still looked for', async () => {
      const { page } = editor;
      const { mac } = first().devices[2]!;
      const search = page.locator('.mt-gateway-side-search');
      const selected = () => side.tree.locator('[aria-selected=true]').getAttribute('data-key');
      const isInTree = () => page.waitForFunction('document.activeElement.getAttribute("role") === "tree"');
      await search.fill(mac.slice(4));
      await search.press('Enter');
      await isInTree();
      assert.equal(await selected(), `/${mac}`);
      await search.fill('');
      await rowOf(gateways[1]!).waitFor();
      await search.press('ArrowDown');
      await isInTree();
      assert.equal(
        await selected(),
        await side.tree.locator('[role=treeitem]').first().getAttribute('data-key'),
      );
    });

    it('shows only those that need somebody, and says why', async () => {
      const { mac } = first().devices[0]!;
      const needs = editor.page.locator('#mt-gateway-side-needs');
      await needs.check();
      await side.says('Nobody is needed');
      const time = new Date().toISOString();
      await service.publish(gateways[0]!, mac, 'property-decoded/battery-level', { time, seq: 9, value: 7 });
      const row = side.tree.locator(`[data-key="/${mac}"]`);
      await row.filter({ hasText: '7 %' }).waitFor();
      assert.match((await row.getAttribute('aria-label')) ?? '', /battery low/);
      assert.equal(await row.locator('.mt-gateway-item-needs').innerText(), 'battery low');
      const rest = await pointAt(editor.page, row);
      const battery = service.gateways[1]!.devices[0]!.mac;
      await service.publish(gateways[1]!, battery, 'property-decoded/battery-level', {
        time,
        seq: 9,
        value: 8,
      });
      await untilShown(editor.page);
      assert.equal(await side.tree.locator(`[data-key="/${battery}"]`).count(), 0);
      await rest();
      await side.tree.locator(`[data-key="/${battery}"]`).waitFor();
      await service.publish(gateways[1]!, battery, 'property-decoded/battery-level', {
        time,
        seq: 10,
        value: 90,
      });
      await side.tree.locator(`[data-key="/${battery}"]`).waitFor({ state: 'detached' });
      await needs.uncheck();
      await rowOf(gateways[1]!).waitFor();
    });

    it('keeps the order by what was heard as long as the pointer moves over it', async () => {
      const { page } = editor;
      const sort = page.locator('.mt-gateway-side-sort');
      const top = side.tree.locator('[role=treeitem]').first();
      await side.tree.focus();
      await page.keyboard.press('Escape');
      await sort.selectOption('lastSeen');
      for (const gateway of [...service.gateways].reverse()) {
        const time = new Date().toISOString();
        const rest = await pointAt(page, top);
        const key = await top.getAttribute('data-key');
        await service.publish(gateway.mac, gateway.devices[0]!.mac, 'heartbeat', {
          time,
          seq: 90,
          status: 0,
        });
        await untilShown(page);
        assert.equal(await top.getAttribute('data-key'), key);
        await rest();
        await top.and(side.tree.locator(`[data-key="/${gateway.mac}"]`)).waitFor();
      }
      const rest = await pointAt(page, top);
      const asked = page.waitForRequest(/\/network\/[0-9a-f]{12}\?/);
      await top.click();
      await asked;
      await rest();
      await page.keyboard.press('Escape');
      await sort.selectOption('name');
    });

    it('shows what is opened or looked for while the pointer moves over it, and moves no other row for that', async () => {
      const { page } = editor;
      const sort = page.locator('.mt-gateway-side-sort');
      const search = page.locator('.mt-gateway-side-search');
      const top = side.tree.locator('[role=treeitem]').first();
      await sort.selectOption('lastSeen');
      await rowOf(gateways[1]!).waitFor();
      const key = await top.getAttribute('data-key');
      const other = service.gateways.find(({ mac }) => key !== `/${mac}`)!;
      const rest = await pointAt(page, top);
      const time = new Date().toISOString();
      await service.publish(other.mac, other.devices[0]!.mac, 'heartbeat', { time, seq: 91, status: 0 });
      await untilShown(page);
      await toggle(top);
      await side.tree.locator('[aria-level="2"]').first().waitFor();
      assert.equal(await top.getAttribute('data-key'), key);
      await search.fill('no such device');
      await side.says('Nothing found');
      await search.fill('');
      await top.and(side.tree.locator(`[data-key="/${other.mac}"]`)).waitFor();
      await rest();
      await toggle(rowOf(key!.slice(1)));
      await side.tree.locator('[aria-level="2"]').first().waitFor({ state: 'detached' });
      await sort.selectOption('name');
      await rowOf(gateways[1]!).waitFor();
    });

    it('lists no device twice where gateways were open, and opens them again when nothing is looked for', async () => {
      const { page } = editor;
      const [mac = '', other = ''] = first().devices.map((device) => device.mac);
      const open = side.tree.locator('[aria-expanded=true]');
      const all = (id: string) => side.tree.locator(`[data-key$="/${id}"]`);
      const time = new Date().toISOString();
      await service.publish(gateways[0]!, mac, 'property-decoded/battery-level', { time, seq: 10, value: 7 });
      await rowOf(gateways[0]!).waitFor();
      await toggle(rowOf(gateways[0]!));
      await rowOf(other).waitFor();
      const search = page.locator('.mt-gateway-side-search');
      const needs = page.locator('#mt-gateway-side-needs');
      const beginNeeds = () => needs.check();
      for (const [begin, end] of [
        [beginNeeds, () => needs.uncheck()],
        [() => search.fill(gateways[0]!.slice(4)), () => search.fill('')],
      ] as const) {
        await begin();
        await side.tree.locator(`[data-key="/${mac}"]`).waitFor();
        await rowOf(gateways[0]!).waitFor();
        assert.equal((await rowOf(gateways[0]!).innerText()).includes('in need: 1'), begin === beginNeeds);
        assert.equal(await all(mac).count(), 1);
        assert.equal(await open.count(), 0);
        await end();
        await rowOf(other).and(side.tree.locator('[aria-level="2"]')).waitFor();
        assert.equal(await open.count(), 1);
      }
      await toggle(rowOf(gateways[0]!));
      await open.waitFor({ state: 'detached' });
    });

    it('brings the device to the top that is in the hand, says why, and reads it out', async () => {
      const { page } = editor;
      const mode = page.getByRole('button', { name: 'Which one is in my hand?' });
      const [, quiet, loud] = first().devices.map(({ mac }) => mac) as [string, string, string];
      const hear = (device: string, rest: string, body: object) =>
        service.publish(gateways[0]!, device, rest, { time: new Date().toISOString(), ...body });
      await hear(loud, 'rssi', { rssi: -82, parent: gateways[0] });
      const search = page.getByRole('searchbox');
      await search.fill('of another device');
      await mode.focus();
      await page.keyboard.press('Enter');
      assert.equal(await mode.getAttribute('aria-pressed'), 'true');
      await side.says('Press a button of the device');
      assert.equal(await search.inputValue(), '');
      await rowOf(quiet).waitFor();
      const readOut = page.locator('.mt-gateway-side-outer > .mt-gateway-side-unseen[role=status]');
      await readOut.evaluate((line) => {
        const times: number[] = [];
        Object.assign(line, { times });
        new MutationObserver(() => times.push(Date.now())).observe(line, { childList: true });
      });
      await hear(quiet, 'event-decoded/motion', { seq: 7 });
      const top = side.tree.locator('[role=treeitem]').first();
      await top.and(side.tree.locator(`[data-key="/${quiet}"].mt-gateway-item-lit`)).waitFor();
      assert.match((await top.getAttribute('aria-label')) ?? '', /event motion \d+ s ago/);
      await readOut.filter({ hasText: `${quiet}: event motion` }).waitFor({ state: 'attached' });
      // What somebody points at stays where it is until the pointer rests.
      const rest = await pointAt(page, top);
      const key = await top.getAttribute('data-key');
      await hear(loud, 'rssi', { rssi: -41, parent: gateways[0] });
      await untilShown(page);
      assert.equal(await top.getAttribute('data-key'), key);
      await rest();
      await top.filter({ hasText: 'much nearer: -41 dBm, usually -82 dBm' }).waitFor();
      const moves = () => top.evaluate((row) => getComputedStyle(row).animationName);
      assert.notEqual(await moves(), 'none');
      await page.emulateMedia({ reducedMotion: 'reduce' });
      assert.equal(await moves(), 'none');
      await page.emulateMedia({ reducedMotion: null });
      await side.tree.locator('.mt-gateway-item-lit').first().waitFor({ state: 'detached' });
      const times = await readOut.evaluate((line) => (line as unknown as { times: number[] }).times);
      assert.ok(
        times.every((time, i) => i === 0 || time - times[i - 1]! > 5_000),
        times.join(),
      );
      await mode.click();
      await rowOf(gateways[1]!).waitFor();
    });

    it('shows a name as text, whatever it is', async () => {
      const search = editor.page.locator('.mt-gateway-side-search');
      await search.fill('onerror');
      await side.tree.getByText(HOSTILE).waitFor();
      assert.equal(await editor.page.evaluate('window.hacked'), undefined);
      assert.equal(await side.tree.locator('img').count(), 0);
      await search.fill('');
      await rowOf(gateways[0]!).waitFor();
    });

    it('asks again while it is shown, and not at all while another tab is', async () => {
      // A clock that is not the browser's stays with a page, also over a reload, where it may stand still.
      const own = await openEditor(red.url);
      const { page } = own;
      await openSidebar(own);
      const isAsked = () => page.waitForRequest(/\/network\?/);
      for (let times = 0; times < 2; times++) {
        const asked = isAsked();
        await report();
        await asked;
      }
      await page.clock.install();
      await page.evaluate("RED.sidebar.show('info')");
      await page.locator('.mt-gateway-side').waitFor({ state: 'hidden' });
      await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve))');
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.clock.fastForward(60_000);
      await page.clock.runFor(10_000);
      assert.deepEqual(
        asked.filter((url) => url.includes('mt-service')),
        [],
      );
      await page.clock.resume();
      const again = isAsked();
      await page.evaluate("RED.sidebar.show('mt-gateway')");
      await again;
      assert.deepEqual(own.errors, []);
      await own.close();
    });

    it('says of one that was heard too seldom, ten minutes ago, that it may be silent', async () => {
      const own = await openEditor(red.url);
      const tree = (await openSidebar(own)).tree;
      const row = (words: string) => tree.locator(`[data-key="/${gateways[1]}"][aria-label*="${words}"]`);
      await report();
      await row('fine').waitFor();
      await own.page.evaluate('{ const now = Date.now; Date.now = () => now() + 660_000; }');
      await row('perhaps silent').waitFor();
      assert.equal(await row('perhaps silent').locator('.mt-gateway-state-fine').count(), 0);
      await own.close();
    });

    it('takes another service when one is chosen', async () => {
      const second = { ...serviceNode(service), id: 'second', name: 'Building B', brokerUrl: '' };
      await red.deploy([serviceNode(service), second, REPORTS]);
      await editor.reload();
      side = await openSidebar(editor);
      await rowOf(gateways[0]!).waitFor();
      await editor.page.locator('.mt-gateway-side-service').selectOption({ label: 'Building B' });
      await rowOf(gateways[0]!).waitFor({ state: 'detached' });
      await editor.page.locator('.mt-gateway-side-service').selectOption({ label: 'Building A' });
      await rowOf(gateways[0]!).waitFor();
    });

    it('begins with the service that most nodes use, and later with the one that was chosen last', async () => {
      const unused = { ...serviceNode(service), id: 'unused', name: 'Annexe', brokerUrl: '' };
      await red.deploy([serviceNode(service), unused, REPORTS]);
      await editor.page.evaluate('localStorage.clear()');
      const shown = editor.page.locator('.mt-gateway-side-service');
      // The list is filled when the sidebar looks for the first time.
      const isShown = (label: string) =>
        shown.locator('option:checked', { hasText: label }).waitFor({ state: 'attached' });
      await editor.reload();
      side = await openSidebar(editor);
      await isShown('Building A');
      await shown.selectOption({ label: 'Annexe' });
      await editor.reload();
      side = await openSidebar(editor);
      await isShown('Annexe');
      await shown.selectOption({ label: 'Building A' });
    });

    it('says that no node asks for reports any more, and shows nothing as fine', async () => {
      const row = rowOf(gateways[0]!);
      // Of the service that was shown before it may be listed, and not heard.
      await row.and(editor.page.locator('[aria-label*=", fine, "]')).waitFor();
      await red.deploy([serviceNode(service), { ...REPORTS, d: true }]);
      await side.says('No deployed node asks for reports');
      assert.match((await row.getAttribute('aria-label')) ?? '', /, not listened to, heard /);
      assert.equal(await side.tree.locator('.mt-gateway-state-fine').count(), 0);
      await red.deploy([serviceNode(service), REPORTS]);
      await editor.page.locator('.mt-gateway-side-note').waitFor({ state: 'hidden' });
    });

    it('says that nothing is heard because no node asks, of what only the list of devices knows', async () => {
      const other = { ...serviceNode(service), id: 'other', name: 'Building C' };
      const bare = { id: 'ask', type: 'mt-gw-read', service: 'other', x: 200, y: 100, wires: [[]] };
      await red.deploy([serviceNode(service), REPORTS, other, bare]);
      await editor.reload();
      side = await openSidebar(editor);
      const shown = editor.page.locator('.mt-gateway-side-service');
      await shown.selectOption({ label: 'Building C' });
      await side.says('No deployed node asks for reports, so nothing is heard.');
      const row = rowOf(gateways[0]!);
      await row.filter({ hasText: 'not heard yet' }).waitFor();
      assert.doesNotMatch((await row.textContent()) ?? '', /devices:/);
      await shown.selectOption({ label: 'Building A' });
      await red.deploy([serviceNode(service), REPORTS]);
      await editor.page.locator('.mt-gateway-side-note').waitFor({ state: 'hidden' });
    });

    it('listens to everything while its switch is on, although no node wants a report', async () => {
      const bare = { id: 'ask', type: 'mt-gw-read', service: 'service', x: 200, y: 100, wires: [[]] };
      await red.deploy([serviceNode(service), bare]);
      await red.status('ask', ({ text }) => text === 'connected');
      await editor.page.locator('#mt-gateway-side-everything').check();
      await side.says('Flows receive no more than before');
      const [gateway = ''] = gateways;
      const time = new Date().toISOString();
      await service.publish(gateway, 'e0ffee000001', 'measurement-decoded/temperature', {
        ...{ time, seq: 1, value: 5 },
      });
      await rowOf(gateway).filter({ hasText: 'devices: 4' }).waitFor();
      await editor.page.locator('#mt-gateway-side-everything').uncheck();
      await editor.page.locator('.mt-gateway-side-note').waitFor({ state: 'hidden' });
    });

    it('says why there are no names while the login of the REST half is missing or refused', async () => {
      for (const [credentials, why] of [
        [{ username: '', password: '' }, 'no names of devices: no REST login.'],
        [{ username: 'somebody', password: 'else' }, 'no names of devices: login refused.'],
      ] as const) {
        await red.deploy([{ ...serviceNode(service), credentials }, REPORTS]);
        await side.says(why);
      }
      await red.deploy([serviceNode(service), REPORTS]);
      await editor.page.locator('.mt-gateway-side-note').waitFor({ state: 'hidden' });
    });

    it('says that the broker is away, and goes on when it is back', async () => {
      await red.deploy([{ ...serviceNode(service), brokerUrl: 'mqtt://127.0.0.1:9' }, REPORTS]);
      await side.says('broker is not connected');
      await red.deploy([serviceNode(service), REPORTS]);
      await red.status('reports', ({ text }) => text === 'connected');
      await report();
      await rowOf(gateways[0]!).waitFor();
      await editor.page.locator('.mt-gateway-side-note').waitFor({ state: 'hidden' });
    });

    it('goes on over a deploy that takes its time, without saying that the service does not run', async () => {
      const slow = {
        ...{ id: 'slow', type: 'function', func: '', x: 200, y: 200, wires: [] },
        finalize: 'return new Promise((resolve) => setTimeout(resolve, 1000));',
      };
      await red.deploy([serviceNode(service), REPORTS, slow]);
      await editor.reload();
      side = await openSidebar(editor);
      await rowOf(gateways[0]!).waitFor();
      await editor.page.evaluate(`
        window.said = [];
        const note = document.querySelector('.mt-gateway-side-note');
        new MutationObserver(() => window.said.push(note.textContent)).observe(note, { childList: true });
        RED.nodes.node('reports').changed = true;
        RED.nodes.dirty(true);
      `);
      await editor.deploy();
      await editor.page.waitForResponse((response) => /\/network\?/.test(response.url()) && response.ok());
      await rowOf(gateways[0]!).waitFor();
      assert.deepEqual(
        await editor.page.evaluate('window.said.filter((words) => /deploy/i.test(words))'),
        [],
      );
    });

    it('goes on showing a service that is disabled, and says so', async () => {
      const off = { ...serviceNode(service), d: true };
      const second = { ...serviceNode(service), id: 'second', name: 'Building B', d: true };
      await red.deploy([off, second, REPORTS]);
      await editor.takeFlows();
      await side.says('This service or its flow is disabled');
      const list = editor.page.locator('.mt-gateway-side-service');
      assert.equal(await list.inputValue(), 'service');
      const marked = (await list.locator('option').allInnerTexts()).filter((label) =>
        / \[disabled\]$/i.test(label),
      );
      assert.equal(marked.length, 2);
      await list.selectOption('second');
      assert.match((await list.getAttribute('title')) ?? '', /^Building B \[disabled\]$/i);
      await list.selectOption('service');
      await red.deploy([serviceNode(service), REPORTS]);
      await editor.takeFlows();
    });

    it('says that a service is not deployed', async () => {
      await red.deploy([{ id: 'other', type: 'comment', x: 100, y: 100, wires: [] }]);
      await side.says('deploy it');
    });
  });
}
