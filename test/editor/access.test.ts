// The panels behind a login and below an admin path, and in the older editor.
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { authorizationOf, WITH_LOGIN } from '../e2e/users.ts';
import { FLOW_NODE_TYPES } from '../node-types.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, type Editor, openEditor } from './browser.ts';
import { bareNodes, serviceNode } from './flow.ts';
import { openSidebar } from './sidebar.ts';

describe('the panels behind a login, below an admin path', function () {
  this.timeout(60_000);
  let service: Service;
  let red: NodeRed;
  let editor: Editor | undefined;

  before(async function () {
    this.timeout(180_000);
    requireBrowser(this);
    service = await startService({ gateways: 2, devices: 3, rate: 20, listed: 20 });
    red = await startNodeRed(VERSIONS[0]!, WITH_LOGIN);
    await deploy();
  });
  afterEach(() => editor?.close());
  after(async () => {
    await closeBrowser();
    await red?.stop();
    await service?.close();
  });

  /** As the writer, since the admin API asks for a login here too. */
  async function deploy(): Promise<void> {
    const tab = { id: 'tab', type: 'tab', label: 'test' };
    const nodes = bareNodes().map((node) => ({ ...node, z: 'tab' }));
    const deployed = await fetch(`${red.url}/flows`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(await authorizationOf(red.url, 'writer')) },
      body: JSON.stringify([tab, serviceNode(service), ...nodes]),
    });
    assert.ok(deployed.ok);
  }

  it('offers devices to a user who may only read, and says that testing a connection or a flow needs another permission', async () => {
    const login = { username: 'reader', password: 'reader-password' };
    editor = await openEditor(red.url, { login });
    const { page } = editor;
    await editor.edit('mt-rename');
    await page.locator('#node-input-device ~ .mt-gateway-pick').click();
    await page.locator('.mt-gateway-choice').first().waitFor();
    await editor.press('cancel');
    await editor.edit('mt-report-in');
    await page.locator('#mt-gateway-preview-state', { hasText: 'flows.write' }).waitFor();
    assert.ok(await page.locator('#mt-gateway-preview button').first().isDisabled());
    await editor.press('cancel');
    await editor.editConfig('mt-service', 'service');
    await page.click('#mt-gateway-test');
    await page.locator('.mt-gateway-verdict-bad', { hasText: 'mt-service.write' }).waitFor();
  });

  it('has a sidebar that says to a user without the right to read that he may not, and asks nothing', async () => {
    const login = { username: 'visitor', password: 'reader-password' };
    editor = await openEditor(red.url, { login });
    const asked: string[] = [];
    editor.page.on('request', (request) => asked.push(request.url()));
    const side = await openSidebar(editor);
    await side.says('mt-service.read');
    assert.ok(await side.tree.isHidden());
    assert.deepEqual(
      asked.filter((url) => url.includes('mt-service')),
      [],
    );
  });

  it('has a sidebar that shows devices to a user who may only read, and offers him neither actions nor the flow', async () => {
    const login = { username: 'reader', password: 'reader-password' };
    editor = await openEditor(red.url, { login });
    const side = await openSidebar(editor);
    await side.tree.locator('[role=treeitem]').first().click();
    const details = editor.page.locator('.mt-gateway-side-details');
    await details.locator('.mt-gateway-side-row').first().waitFor();
    assert.ok(await details.locator('.mt-gateway-side-property').isHidden());
    const record = editor.page.locator('.mt-gateway-side-record');
    await record.getByRole('button', { name: 'Record and play' }).click();
    await record.getByText('mt-service.write').first().waitFor();
    for (const name of ['Record', 'Play']) {
      assert.ok(await record.getByRole('button', { name, exact: true }).isDisabled());
    }
    await details.getByRole('button', { name: 'Add to flow' }).click();
    await editor.page.locator('.red-ui-notification', { hasText: 'cannot be changed' }).waitFor();
    assert.equal(await editor.page.locator('.mt-gateway-menu').count(), 0);
  });

  it('lets a user who may write test the connection', async () => {
    const login = { username: 'writer', password: 'writer-password' };
    editor = await openEditor(red.url, { login });
    await editor.editConfig('mt-service', 'service');
    await editor.page.click('#mt-gateway-test');
    await editor.page.locator('.mt-gateway-verdict-ok', { hasText: 'Gateways' }).waitFor();
  });
});

describe('the panels in the editor of Node-RED 4.1', function () {
  this.timeout(60_000);
  let service: Service;
  let red: NodeRed;

  before(async function () {
    this.timeout(180_000);
    requireBrowser(this);
    service = await startService({ gateways: 2, devices: 3, rate: 20, listed: 20 });
    red = await startNodeRed(VERSIONS[1]!);
    await red.deploy([serviceNode(service), ...bareNodes()]);
  });
  after(async () => {
    await closeBrowser();
    await red?.stop();
    await service?.close();
  });

  it('open, pick and save without an error', async () => {
    const editor = await openEditor(red.url);
    for (const type of FLOW_NODE_TYPES) {
      await editor.edit(type);
      await editor.press('ok');
      assert.notEqual(await editor.property(type, 'valid'), false, type);
    }
    await editor.edit('mt-gw-write');
    await editor.pick('identifier', 'alarm');
    await editor.press('ok');
    await editor.editConfig('mt-service', 'service');
    await editor.press('ok', true);
    await editor.deploy();
    const flows = (await red.call('GET', 'flows')) as Record<string, unknown>[];
    const saved = flows.find((node) => node.id === 'mt-gw-write');
    assert.deepEqual([saved?.identifier, saved?.value, saved?.valueType], ['alarm', 'true', 'bool']);
    assert.deepEqual(editor.errors, []);
    await editor.close();
  });
});
