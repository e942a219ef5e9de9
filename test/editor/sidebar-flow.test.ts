// The sidebar and the nodes of the flows: those that wait for a silent device, and the device of an open panel.
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, source, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, type Editor, openEditor, withoutPageErrors } from './browser.ts';
import { serviceNode } from './flow.ts';
import { openSidebar } from './sidebar.ts';

const PLACE = { service: 'service', wires: [[]] };
const UNHEARD = 'e0ffee000001';
/** Takes the clock of Node-RED's process a quarter of an hour forward. */
const CLOCK = {
  id: 'clock',
  type: 'function',
  func: 'const now = perf.performance.now.bind(perf.performance); perf.performance.now = () => now() + 900_000;',
  libs: [{ var: 'perf', module: 'node:perf_hooks' }],
  wires: [],
};

describe('the sidebar beside the flows', function () {
  this.timeout(120_000);
  let service: Service;
  let red: NodeRed;
  let editor: Editor;

  before(async function () {
    this.timeout(240_000);
    requireBrowser(this);
    service = await startService({ gateways: 1, devices: 2, rate: 0, listed: 2 });
    service.devices.push({ ...service.devices[0]!, id: `bmac-${UNHEARD}`, friendlyName: 'Cold store' });
    red = await startNodeRed(VERSIONS[0]!);
    const nodes = [
      { ...PLACE, id: 'reports', type: 'mt-report-in', x: 200, y: 100 },
      { ...PLACE, id: 'ask', type: 'mt-gw-read', name: '<b>far</b> away', x: 4_000, y: 4_000 },
      { ...PLACE, id: 'off', type: 'mt-gw-read', x: 200, y: 200, d: true },
      { ...PLACE, id: 'watch', type: 'mt-device-watch', x: 200, y: 300, devices: [service.demo.device] },
    ];
    const fixed = { device: UNHEARD, deviceType: 'str', identifier: 'temperature', identifierType: 'str' };
    await red.deploy([
      serviceNode(service),
      source('later', ['clock']),
      CLOCK,
      ...nodes.map((node) => (node.type === 'mt-gw-read' ? { ...node, ...fixed } : node)),
    ]);
    await red.status('reports', ({ text }) => text === 'connected');
    editor = await openEditor(red.url, { height: 1000 });
  });
  withoutPageErrors(() => editor);
  after(async () => {
    await closeBrowser();
    await red?.stop();
    await service?.close();
  });

  const hear = () =>
    service.publish(service.demo.gateway, service.demo.device, 'heartbeat', {
      ...{ time: new Date().toISOString(), seq: 1, status: 0 },
    });
  const waiting = () => editor.page.locator('.mt-gateway-side-waiting');

  it('names at its top the nodes whose device was not heard for long, and a click shows the node', async () => {
    const { page } = editor;
    await openSidebar(editor);
    await page.waitForResponse(/mt-service\/service\/silent$/);
    assert.ok(await waiting().isHidden());
    red.send('later', {});
    await hear();
    await waiting().getByText('Nodes that wait for a silent device: 1').waitFor();
    const row = waiting().getByRole('listitem');
    assert.equal(await row.count(), 1);
    await row.filter({ hasText: 'Cold store' }).waitFor();
    assert.match(await row.innerText(), /<b>far<\/b> away\s*Cold store · e0ffee000001 · not heard yet/);
    await row.getByRole('button').click();
    await page.locator('[id="ask"].red-ui-flow-node-group').waitFor();
    await page.waitForFunction("document.getElementById('red-ui-workspace-chart').scrollTop > 1000");
  });

  it('folds them away, and takes them away with their device', async () => {
    const heading = waiting().getByRole('button', { name: 'Nodes that wait' });
    await heading.focus();
    await editor.page.keyboard.press('Enter');
    assert.equal(await heading.getAttribute('aria-expanded'), 'false');
    assert.ok(await waiting().getByRole('list').isHidden());
    const time = new Date().toISOString();
    await service.publish(service.demo.gateway, UNHEARD, 'heartbeat', { time, seq: 1, status: 0 });
    await waiting().waitFor({ state: 'hidden' });
  });

  it('shows the fixed device of an open panel, by a button beside its field', async () => {
    const { page } = editor;
    await page.evaluate("RED.sidebar.show('info')");
    await editor.edit('ask');
    const show = page.getByRole('button', { name: 'Show the device in the sidebar' });
    await show.focus();
    await page.keyboard.press('Enter');
    const details = page.getByRole('region', { name: 'The chosen device' });
    await details.and(page.locator(':focus')).waitFor();
    await details
      .filter({ hasText: UNHEARD })
      .getByText(/heard \d+ s ago/)
      .waitFor();
    assert.equal(await details.locator('.mt-gateway-side-problem').innerText(), '');
    await page.keyboard.press('Escape');
    await details.waitFor({ state: 'hidden' });
    assert.equal(await editor.typed('device').inputValue(), UNHEARD, 'the panel is still open');
    await page.evaluate("$('#node-input-device').typedInput('type', 'msg')");
    assert.ok(await show.isHidden());
    await page.evaluate("$('#node-input-device').typedInput('type', 'str')");
    await editor.typed('device').fill('D0-FF-EE-00-00-02');
    await show.click();
    await details.getByText('Nothing is known of it').waitFor();
    await details.getByText('d0ffee000002').waitFor();
    await editor.typed('device').fill('$' + '{DEVICE}');
    await page.keyboard.press('Tab');
    await show.waitFor({ state: 'hidden' });
    await editor.press('cancel');
  });
});
