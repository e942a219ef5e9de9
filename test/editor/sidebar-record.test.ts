// Record and play in the sidebar, in a real browser: what is recorded is saved as a file, and the file goes through a flow.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, sink, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, type Editor, openEditor, withoutPageErrors } from './browser.ts';
import { serviceNode } from './flow.ts';
import { openSidebar } from './sidebar.ts';

const HOSTILE = '<img src=x onerror="window.hacked = true">';

for (const [index, version] of VERSIONS.entries()) {
  describe(`record and play in the sidebar (${version.name})`, function () {
    this.timeout(120_000);
    let service: Service;
    let red: NodeRed;
    let editor: Editor;
    let recorded: Buffer;

    before(async function () {
      this.timeout(240_000);
      requireBrowser(this);
      service = await startService({ gateways: 1, devices: 3, rate: 0, listed: 2 });
      red = await startNodeRed(version);
      await deploy();
      await red.status('reports', ({ text }) => text === 'connected');
      editor = await openEditor(red.url);
      await openSidebar(editor);
    });
    // What one test leaves behind when it fails is nothing that the next one stumbles over.
    beforeEach(async () => {
      await editor.page.evaluate("RED.sidebar.show('mt-gateway')");
      const stop = part().getByRole('button', { name: 'Stop and save', exact: true });
      if (await stop.isVisible()) {
        await stop.click();
        await stop.waitFor({ state: 'hidden' });
      }
    });
    withoutPageErrors(() => editor);
    after(async () => {
      await closeBrowser();
      await red?.stop();
      await service?.close();
    });

    const deploy = () => {
      const events = { kinds: ['event'], name: HOSTILE, x: 200, y: 100, wires: [['got']] };
      return red.deploy([
        serviceNode(service),
        { id: 'reports', type: 'mt-report-in', service: 'service', ...events },
        sink('got'),
      ]);
    };
    const part = () => editor.page.locator('.mt-gateway-side-record');
    const press = (name: string) => part().getByRole('button', { name, exact: true }).click();
    const says = (words: string | RegExp) => part().getByText(words).first().waitFor();
    const readOut = (words: string) => part().getByRole('status').filter({ hasText: words }).waitFor();
    const hear = (suffix: string, payload: unknown) =>
      service.publish(service.demo.gateway, service.demo.device, suffix, payload);
    /** Begins, and waits until the broker sends all there is. */
    const record = async () => {
      await press('Record');
      await readOut('Recording');
      await heardAll();
    };
    const heardAll = async () => {
      while (![...service.broker!.subscriptions.values()].some((all) => all.has('mt/gateway/+/device/+/#'))) {
        await editor.page.waitForTimeout(20);
      }
    };
    /** Offers a file to be played. */
    const offer = (content: string | Buffer, name = 'night.jsonl') =>
      part()
        .locator('input[type=file]')
        .setInputFiles({ name, mimeType: 'application/x-ndjson', buffer: Buffer.from(content as string) });
    const line = (seq: number, ms = 0) =>
      JSON.stringify({
        time: new Date(Date.parse('2026-01-02T03:04:05Z') + ms).toISOString(),
        topic: `mt/gateway/${service.demo.gateway}/device/${service.demo.device}/event-decoded/motion`,
        payload: { time: 't', seq },
      });
    const got = async () => (await red.next('got')).report as Record<string, unknown>;

    it('records what no flow wants, counts it, and saves it as a file at the end', async () => {
      const { page } = editor;
      const heading = part().getByRole('button', { name: 'Record and play' });
      await heading.focus();
      await page.keyboard.press('Enter');
      assert.equal(await heading.getAttribute('aria-expanded'), 'true');
      await record();
      const time = new Date().toISOString();
      await hear('event-decoded/motion', { time, seq: 1 });
      await hear('heartbeat', { time, seq: 2 });
      await hear(`property-decoded/${HOSTILE.replaceAll('/', '')}`, 'no JSON');
      await says('Recording: 3 reports');
      assert.equal((await got()).seq, 1);
      const saved = page.waitForEvent('download');
      await press('Stop and save');
      const file = await saved;
      assert.match(file.suggestedFilename(), /^reports-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.jsonl$/);
      recorded = await readFile(await file.path());
      const rows = recorded
        .toString()
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text));
      // What flows receive comes over another connection than the rest.
      assert.deepEqual(rows.map(({ kind }) => kind).sort(), ['event', 'heartbeat', 'property']);
      await readOut('Recorded: 3 reports, 1 kB, ');
      const again = page.waitForEvent('download');
      await press('Save again');
      assert.deepEqual(await readFile(await (await again).path()), recorded);
    });

    it('offers what was recorded just now to be played, until another file is chosen with the mouse', async () => {
      const { page } = editor;
      const input = part().locator('input[type=file]');
      const name = () => input.evaluate((field: HTMLInputElement) => field.files?.[0]?.name);
      assert.match((await name()) ?? '', /^reports-.*\.jsonl$/);
      assert.ok(await part().getByRole('button', { name: 'Play', exact: true }).isEnabled());
      const chooser = page.waitForEvent('filechooser');
      await input.click();
      await (await chooser).setFiles({
        name: 'own.jsonl',
        mimeType: 'application/x-ndjson',
        buffer: recorded,
      });
      const again = page.waitForEvent('download');
      await press('Save again');
      await again;
      assert.equal(await name(), 'own.jsonl');
    });

    it('plays the file through the flow as fast as it goes, marked as a test, and says what came of it', async () => {
      await offer(recorded);
      const played = editor.page.waitForRequest(/\/play$/);
      await press('Play');
      assert.equal((await played).postDataJSON().flow, 'tab');
      const { test, seq } = await got();
      assert.deepEqual([test, seq], [true, 1]);
      await readOut(
        'Played to the end. Report in nodes: 1; reports sent: 1; stopped by all filters: 2; lines with errors: 0.',
      );
      assert.ok(await part().getByRole('progressbar').isHidden());
      assert.equal(await editor.page.evaluate('window.hacked'), undefined);
    });

    if (index > 0) {
      return;
    }

    it('goes on with the next portion only when the flow had the one before, however long the file is', async () => {
      const { page } = editor;
      let open = 0;
      let most = 0;
      let count = 0;
      const isPlay = (request: { url(): string }) => request.url().endsWith('/play');
      page.on('request', (request) => {
        if (isPlay(request)) {
          count++;
          most = Math.max(most, ++open);
          assert.ok((request.postData() ?? '').length < 1_000_000);
        }
      });
      page.on('response', (response) => void (isPlay(response) && open--));
      await offer(Array.from({ length: 2_600 }, (_, i) => line(i % 256)).join('\r\n'));
      await press('Play');
      await readOut(
        'Report in nodes: 1; reports sent: 2600; stopped by all filters: 0; lines with errors: 0.',
      );
      assert.deepEqual([most, count], [1, 6]);
      for (let left = 2_600; left > 0; left--) {
        await got();
      }
      page.removeAllListeners('request');
      page.removeAllListeners('response');
    });

    it('says which lines are wrong, with their number, and that the others were played', async () => {
      await offer(
        [line(1), '', HOSTILE, line(2), 'x'.repeat(1_200_000), '{"topic":1}', line(999)].join('\n'),
      );
      await press('Play');
      await readOut('Report in nodes: 1; reports sent: 2; stopped by all filters: 0; lines with errors: 4.');
      const items = part().getByRole('listitem');
      const words = await items.allInnerTexts();
      assert.deepEqual(words.map((text) => text.replace(/:.*/s, '')).sort(), [
        'Line 3',
        'Line 5',
        'Line 6',
        'Line 7',
      ]);
      assert.match(words.join(' '), /no line of a record.*onerror/);
      assert.match(words.join(' '), /longer than a million characters/);
      assert.match(words.join(' '), /seq is not an integer/);
      assert.equal(await editor.page.evaluate('window.hacked'), undefined);
      assert.deepEqual([(await got()).seq, (await got()).seq], [1, 2]);
      await offer(line(1));
      await items.first().waitFor({ state: 'detached' });
      assert.equal(
        await part().locator('.mt-gateway-side-record-body').getByText('Played to the end').count(),
        0,
      );
    });

    it('says of a file without reports that it has none', async () => {
      for (const empty of ['', '\n \n']) {
        await offer(line(1));
        await offer(empty);
        await press('Play');
        await readOut('The file holds no reports.');
        assert.equal(await part().getByText('Played to the end').count(), 0);
      }
    });

    it('keeps the pace of the record, says when the next report is due, and stops at once', async () => {
      const { page } = editor;
      await offer([line(1), line(2, 10_000), line(3, 3_600_000)].join('\n'));
      await part().getByRole('combobox', { name: 'Speed' }).selectOption('10');
      const begun = performance.now();
      await press('Play');
      assert.deepEqual([(await got()).seq, (await got()).seq], [1, 2]);
      assert.ok(performance.now() - begun > 800, 'the second one is due a second later');
      await says('The next one at');
      await page.evaluate("RED.sidebar.show('info')");
      await page.evaluate("RED.sidebar.show('mt-gateway')");
      assert.ok(await part().getByRole('combobox', { name: 'Flow' }).isDisabled());
      await press('Stop');
      await readOut('Stopped. Report in nodes: 1; reports sent: 2;');
      assert.equal(red.waiting('got'), 0);
      await part().getByRole('combobox', { name: 'Speed' }).selectOption('0');
    });

    it('goes on after everything was deployed anew', async () => {
      await offer([line(1), line(2, 20_000)].join('\n'));
      await part().getByRole('combobox', { name: 'Speed' }).selectOption('10');
      await press('Play');
      assert.equal((await got()).seq, 1);
      await deploy();
      assert.equal((await got()).seq, 2);
      await readOut('Played to the end. Report in nodes: 1; reports sent: 2;');
      await part().getByRole('combobox', { name: 'Speed' }).selectOption('0');
    });

    it('goes on with the recording after everything was deployed anew, and saves what came before and after', async () => {
      await record();
      await hear('heartbeat', { time: 't', seq: 1 });
      await says('Recording: 1 reports');
      await deploy();
      await red.status('reports', ({ text }) => text === 'connected');
      await heardAll();
      await hear('heartbeat', { time: 't', seq: 2 });
      await says('Recording: 2 reports');
      const saved = editor.page.waitForEvent('download');
      await press('Stop and save');
      const content = await readFile(await (await saved).path(), 'utf8');
      assert.equal(content.trim().split('\n').length, 2);
    });

    it('saves the file by itself when the recording has 20 MB, also while another tab is shown', async () => {
      const { page } = editor;
      await record();
      await page.evaluate("RED.sidebar.show('info')");
      const saved = page.waitForEvent('download', { timeout: 60_000 }).catch(async () => {
        assert.fail(`nothing was saved: ${await part().textContent()}`);
      });
      const payload = { time: 't', seq: 1, value: 'x'.repeat(990_000) };
      for (let count = 0; count < 24; count++) {
        await hear('unheard-of/x', payload);
      }
      const content = await readFile(await (await saved).path());
      assert.ok(content.length > 19_000_000 && content.length <= 20_000_000, `${content.length} bytes`);
      await page.evaluate("RED.sidebar.show('mt-gateway')");
      await says('Ended, since it has 20 MB: 20 reports, 19.8 MB, ');
    });

    it('says that a file cannot be played where the nodes of its flow are disabled, or are not deployed', async () => {
      const { page } = editor;
      await page.evaluate("RED.nodes.node('reports').d = true");
      await says('are disabled');
      assert.ok(await part().getByRole('button', { name: 'Play', exact: true }).isDisabled());
      await page.evaluate("delete RED.nodes.node('reports').d; RED.nodes.node('reports').changed = true");
      await says('counts when it is deployed');
      await page.evaluate("RED.nodes.node('reports').changed = false");
      await red.deploy([
        serviceNode(service),
        { id: 'other', type: 'mt-report-in', service: 'service', x: 1, y: 1, d: true },
      ]);
      await press('Play');
      await readOut('No report in node of this flow runs');
    });

    it('offers a flow whose service comes from a variable, and chooses none where the open one is not offered', async () => {
      const { page } = editor;
      const flows = part().getByRole('combobox', { name: 'Flow' });
      const deployWith = async (value: string) => {
        await red.deploy([
          serviceNode(service),
          { id: 'building', type: 'tab', label: 'Building' },
          { id: 'other', type: 'mt-report-in', service: 'service', z: 'building', x: 1, y: 1, wires: [[]] },
          {
            ...{ id: 'template', type: 'subflow', name: 'Rooms', in: [] },
            out: [{ x: 300, y: 1, wires: [{ id: 'inside', port: 0 }] }],
            env: [{ name: 'SERVICE', type: 'str', value: '' }],
          },
          {
            ...{ id: 'inside', type: 'mt-report-in', service: '${SERVICE}', z: 'template' },
            ...{ x: 1, y: 1, wires: [[]] },
          },
          {
            ...{ id: 'instance', type: 'subflow:template', x: 1, y: 1, wires: [['got']] },
            env: [{ name: 'SERVICE', type: 'str', value }],
          },
          sink('got'),
        ]);
        await editor.takeFlows();
      };
      await deployWith('service');
      await says('Choose a flow: the one that is open has no report in node of this service.');
      assert.deepEqual(await flows.locator('option').allInnerTexts(), ['Choose a flow', 'Building', 'Rooms']);
      assert.equal(await flows.inputValue(), '');
      await offer(line(1));
      assert.ok(await part().getByRole('button', { name: 'Play', exact: true }).isDisabled());
      await page.evaluate("RED.workspaces.show('template')");
      await flows.locator('option:checked', { hasText: 'Rooms' }).waitFor({ state: 'attached' });
      await press('Play');
      assert.deepEqual([(await got()).test, red.waiting('got')], [true, 0]);
      await readOut('Played to the end. Report in nodes: 1; reports sent: 1;');
      await page.evaluate("RED.workspaces.show('building')");
      await deployWith('another');
      assert.equal(await flows.inputValue(), 'template');
      await press('Play');
      await readOut('No report in node of this flow runs with this service');
    });

    it('asks no more for a recording of which it hears nothing any more', async () => {
      const { page } = editor;
      await page.evaluate(`
        const begin = window.setInterval;
        const end = window.clearInterval;
        window.setInterval = (doIt, ms) =>
          ms === 10_000 ? (window.asking = begin(doIt, 50)) : begin(doIt, ms);
        window.clearInterval = (id) => {
          end(id);
          window.hasGivenUp ||= id !== undefined && id === window.asking;
        };
      `);
      await record();
      await page.route('**/service/record', (route) => route.abort());
      await page.waitForFunction('window.hasGivenUp');
      await page.unroute('**/service/record');
    });

    it('goes on with one recording while another service is looked at and recorded, too', async () => {
      const { page } = editor;
      const second = { ...serviceNode(service), id: 'second', name: 'Building B' };
      const used = { id: 'used', type: 'mt-report-in', service: 'second', x: 1, y: 1, wires: [[]] };
      const first = { ...used, id: 'reports', service: 'service', y: 100 };
      await red.deploy([serviceNode(service), second, used, first]);
      await editor.reload();
      await openSidebar(editor);
      await page.evaluate(`
        const begin = window.setInterval;
        window.setInterval = (doIt, ms) => begin(doIt, ms === 10_000 ? 50 : ms);
      `);
      await part().getByRole('button', { name: 'Record and play' }).click();
      const choose = (id: string) => page.locator('.mt-gateway-side-service').selectOption(id);
      for (const id of ['service', 'second']) {
        await choose(id);
        await press('Record');
        await readOut('Recording');
      }
      const heard = page.waitForResponse(
        async (response) => response.url().endsWith('/service/record') && (await response.json()).lines === 1,
      );
      await hear('event-decoded/motion', { time: 't', seq: 1 });
      await heard;
      const saved = page.waitForEvent('download');
      await choose('service');
      await press('Stop and save');
      await saved;
      await page.waitForRequest((request) => request.url().endsWith('/second/record'));
    });
  });
}
