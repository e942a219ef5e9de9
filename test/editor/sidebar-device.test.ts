// One device in the sidebar: what is known of it, what is done with it, and how it comes into the flow.
import assert from 'node:assert/strict';
import type { Response } from 'playwright-core';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, type Editor, openEditor, showsChoices, withoutPageErrors } from './browser.ts';
import { serviceNode } from './flow.ts';
import { openSidebar, type Sidebar, toggle } from './sidebar.ts';

const REPORTS = { id: 'reports', type: 'mt-report-in', service: 'service', x: 200, y: 100, wires: [[]] };

describe('a device in the sidebar', function () {
  this.timeout(120_000);
  let service: Service;
  let red: NodeRed;
  let editor: Editor;
  let side: Sidebar;

  before(async function () {
    this.timeout(240_000);
    requireBrowser(this);
    service = await startService({ gateways: 2, devices: 2, rate: 0, listed: 4, named: true });
    service.devices.find(({ id }) => !id.includes(service.demo.device))!.labels.push('floor');
    red = await startNodeRed(VERSIONS[0]!);
    const about = { device: service.demo.device, deviceType: 'str', wires: [[]] };
    const named = { id: 'named', type: 'mt-rename', service: 'service', ...about, x: 200, y: 160 };
    await red.deploy([serviceNode(service), REPORTS, named]);
    await red.status('reports', ({ text }) => text === 'connected');
    await report(20, 0);
    editor = await openEditor(red.url, { height: 1400 });
    side = await openSidebar(editor);
    const gateway = side.tree.locator(`[data-key="/${service.demo.gateway}"]`);
    await gateway.waitFor();
    await toggle(gateway);
    await device().waitFor();
  });
  withoutPageErrors(() => editor);
  after(async () => {
    await closeBrowser();
    await red?.stop();
    await service?.close();
  });

  const listed = () => service.devices.find(({ id }) => id.includes(service.demo.device))!;
  const report = (value: number, seq: number) =>
    service.publish(service.demo.gateway, service.demo.device, 'measurement-decoded/temperature', {
      ...{ time: new Date().toISOString(), seq, value },
    });
  const device = () => side.tree.locator(`[data-key="${service.demo.gateway}/${service.demo.device}"]`);
  const details = () => editor.page.locator('.mt-gateway-side-details');
  const result = (words: string | RegExp) =>
    details().locator('.mt-gateway-side-result', { hasText: words }).waitFor();
  /** What was written is read then, which may come late. */
  const written = () => service.calls.operations.filter(({ operation }) => operation.startsWith('write'));
  const choose = (property: string) => details().locator('.mt-gateway-side-property').selectOption(property);
  const press = (name: string) => details().getByRole('button', { name, exact: true }).click();
  const nodesOf = (type: string) =>
    editor.page.evaluate(
      `RED.nodes.filterNodes({ type: '${type}' }).map(({ id, service, gateway, gatewayType, devices, device, deviceType, identifier, identifierType, x, y, w }) => ({ id, service, gateway, gatewayType, devices, device, deviceType, identifier, identifierType, x, y, w }))`,
    ) as Promise<Record<string, unknown>[]>;

  it('shows a value of several fields that was reported or read, cut where it is longer than devices have', async () => {
    const { gateway, device: mac } = service.demo;
    await device().click();
    const interval = 'normal-mode-advertisement-interval';
    const accelerometer = {
      ...{ config: 255, int1Threshold: 255, int1Duration: 255, int1Blocking: 255, int1Counter: 255 },
      ...{ int2Threshold: 255, int2Duration: 255 },
    };
    const report = (property: string, value: object) =>
      service.publish(gateway, mac, `property-decoded/${property}`, {
        ...{ time: new Date().toISOString(), value },
      });
    const row = (property: string) =>
      details().getByRole('table', { name: 'Values' }).locator('[role=row]', { hasText: property });
    await report(interval, { interval: 500, denominator: 1 });
    await row(interval).filter({ hasText: 'interval 500 ms, denominator 1' }).waitFor();
    await report('accelerometer-configuration', accelerometer);
    await row('accelerometer-configuration')
      .filter({ hasText: 'int2Threshold 255, int2Duration 255' })
      .waitFor();
    await report('accelerometer-configuration', { config: 1, int1Threshold: 2, note: 'x'.repeat(200) });
    await row('accelerometer-configuration').filter({ hasText: 'config 1, int1Threshold 2, …' }).waitFor();
    // What was cut cannot be written.
    const input = details().locator('.mt-gateway-side-input textarea');
    await choose(interval);
    assert.equal(await input.inputValue(), '{"interval":500,"denominator":1}');
    await choose('accelerometer-configuration');
    assert.equal(await input.inputValue(), '');
    assert.match((await input.getAttribute('placeholder')) ?? '', /^\{"config":0,.*\}$/);
    await choose(interval);
    await press('Read');
    await row(interval).filter({ hasText: 'interval 1000 ms, denominator 1' }).waitFor();
    await press('Close');
  });

  it('says a duration of a minute or more in its two largest units, here and in the tree', async () => {
    await device().click();
    const rowOf = (property: string) =>
      details().getByRole('table', { name: 'Values' }).locator('[role=row]', { hasText: property });
    const row = rowOf('inactive-to-sleep-delay');
    for (const [value, words] of [
      [59, '59 s'],
      [60, '1 min'],
      [3_599, '59 min 59 s'],
      [3_605, '1 h'],
      [65_535, '18 h 12 min'],
      [273_842, '3 d 4 h'],
    ] as const) {
      const body = { time: new Date().toISOString(), value };
      await service.publish(
        service.demo.gateway,
        service.demo.device,
        'property-decoded/inactive-to-sleep-delay',
        body,
      );
      await row.getByText(words, { exact: true }).waitFor();
    }
    assert.match((await row.getAttribute('title')) ?? '', /· 273842 s ·/);
    for (const [value, words] of [
      [0, '0 min'],
      [680, '11 h 20 min'],
    ] as const) {
      await service.publish(
        service.demo.gateway,
        service.demo.device,
        'property-decoded/total-minutes-in-motion',
        { time: new Date().toISOString(), value },
      );
      await rowOf('total-minutes-in-motion').getByText(words, { exact: true }).waitFor();
    }
    await device().filter({ hasText: 'inactive-to-sleep-delay 3 d 4 h' }).waitFor();
    await press('Close');
  });

  it('shows all its values, who hears it, and a line through the numbers that come meanwhile', async () => {
    await device().click();
    const values = details().getByRole('table', { name: 'Values' });
    const row = values.locator('[role=row]', { hasText: 'temperature' });
    await row.filter({ hasText: '20 °C' }).waitFor();
    await report(23, 1);
    await row.filter({ hasText: '23 °C' }).waitFor();
    const line = row.locator('svg[role=img]');
    assert.equal(await line.getAttribute('aria-label'), '2 readings, from 20 to 23');
    await details().getByRole('table', { name: 'Heard by' }).locator('[role=row]').first().waitFor();
  });

  it('lists its last reports, the newest first, what its last error was of, and what gateways send as text', async () => {
    const { page } = editor;
    const lines = details().getByRole('table', { name: 'Last reports' }).locator('[role=row]');
    const hear = (rest: string, body: object) =>
      service.publish(service.demo.gateway, service.demo.device, rest, {
        ...{ time: new Date().toISOString(), ...body },
      });
    await lines
      .first()
      .filter({ hasText: 'measurement · temperature' })
      .filter({ hasText: '23 °C' })
      .waitFor();
    await hear('rssi', { rssi: -61, parent: service.demo.gateway });
    await lines.first().filter({ hasText: '-61 dBm' }).waitFor();
    await hear('heartbeat', { seq: 4, status: 3 });
    await lines.first().filter({ hasText: 'error 3' }).waitFor();
    const error = details()
      .getByRole('table', { name: 'About' })
      .locator('[role=row]', { hasText: 'Last error' });
    await error.filter({ hasText: /error 3, .* ago/ }).waitFor();
    await hear('measurement-error/8103', { seq: 4, error: 5 });
    await error.filter({ hasText: /vdd \(5\), .* ago/ }).waitFor();
    const words = details().locator('.mt-gateway-side-words');
    await words.filter({ hasText: /reports an error: vdd \(5\), \d+ s ago · heard/ }).waitFor();
    await hear('event-decoded/motion', { seq: 5, value: '<img src=x onerror="window.hacked = true">' });
    await lines.first().getByText('<img src=x onerror').waitFor();
    assert.equal(await page.evaluate('window.hacked'), undefined);
    assert.match(
      (await lines.allInnerTexts()).join('|'),
      /motion.*\|.*error 5.*\|.*error 3.*\|.*-61 dBm.*\|.*23 °C/s,
    );
  });

  it('names the nodes that hear it, and their gateways', async () => {
    const { gateway, device: mac } = service.demo;
    const nameOf = (one: string) => service.devices.find(({ id }) => id.includes(one))?.friendlyName ?? one;
    const fleet = service.gateways.find((one) => one.mac === gateway)!.devices;
    const between = fleet.find((one) => one.mac !== mac)!.mac;
    assert.ok(nameOf(gateway) !== gateway && nameOf(between) !== between, 'the list has both');
    const time = new Date().toISOString();
    await service.publish(gateway, mac, 'rssi', { time, rssi: -70, parent: between });
    const row = (table: string, words: string) =>
      details().getByRole('table', { name: table }).locator('[role=row]', { hasText: words }).first();
    await row('Heard by', `${nameOf(between)} through ${nameOf(gateway)}`).waitFor();
    await row('Last reports', `${nameOf(gateway)} · ${nameOf(between)}`).waitFor();
  });

  it('does not say of another one what was wrong with the one that was chosen before', async () => {
    const { page } = editor;
    const problem = details().locator('.mt-gateway-side-problem').first();
    await problem.evaluate((line) => {
      const said: string[] = [];
      Object.assign(line, { said });
      new MutationObserver(() => said.push(line.textContent ?? '')).observe(line, { childList: true });
    });
    const address = new RegExp(`network/${service.demo.device}`);
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(address, async (route) => {
      await released;
      await route.fulfill({ status: 404, json: {} });
    });
    await details().getByRole('button', { name: 'Close' }).click();
    const asked = page.waitForRequest(address);
    await device().click();
    await asked;
    await side.tree.locator(`[data-key="/${service.demo.gateway}"] .mt-gateway-item-name`).click();
    const answered = page.waitForResponse(new RegExp(`network/${service.demo.gateway}`));
    release();
    await answered;
    await page.unroute(address);
    const said = await problem.evaluate((line) => (line as unknown as { said: string[] }).said);
    assert.deepEqual(said.filter(Boolean), []);
    await device().click();
    await details().getByRole('table', { name: 'Values' }).waitFor();
  });

  it('offers its properties by name, and those without one behind', async () => {
    const offered = await details().locator('.mt-gateway-side-property option').allInnerTexts();
    const named = offered.filter((name) => !/^[0-9a-f]{4} · firmware update or DFU state/.test(name));
    assert.ok(named.length > 0 && named.length < offered.length);
    assert.deepEqual(offered.slice(0, named.length), [...named].sort());
  });

  it('reads a property, and shows the message that a flow would send', async () => {
    await choose('firmware-version');
    await press('Read');
    await result('3.4.1');
    const message = JSON.parse(await details().locator('.mt-gateway-side-message').innerText());
    assert.deepEqual(message, { device: service.demo.device, identifier: 'firmware-version' });
  });

  it('writes what the catalogue allows, and says what else is wrong', async () => {
    await choose('alarm');
    const input = details().locator('.mt-gateway-side-input select');
    assert.deepEqual(await input.locator('option').allInnerTexts(), ['', 'true', 'false']);
    await input.selectOption('true');
    await press('Write');
    await result('Done');
    // What was written is read then, which is an operation, too.
    await details().getByRole('table', { name: 'Values' }).getByText('true', { exact: true }).waitFor();
    await choose('tx-power');
    await details().locator('.mt-gateway-side-input input').fill('4000');
    await press('Write');
    await result('Does not fit');
  });

  it('writes no number where none is typed, which is said, or none that can be read', async () => {
    service.forgetCalls();
    const input = () => details().locator('.mt-gateway-side-input input');
    for (const [typed, words] of [
      ['', 'Value is missing'],
      ['-', 'Does not fit'],
      ['1e', 'Does not fit'],
    ] as const) {
      await choose('alarm');
      await choose('tx-power');
      assert.equal(await input().inputValue(), '');
      await input().pressSequentially(typed);
      await press('Write');
      await result(words);
    }
    assert.deepEqual(service.calls.operations, []);
    await input().fill('0');
    await press('Write');
    await result('Done');
  });

  it('writes on Enter, once while it is held, and says no more what was wrong when another value is typed', async () => {
    service.forgetCalls();
    const input = details().locator('.mt-gateway-side-input input');
    await choose('tx-power');
    await input.fill('4000');
    await input.press('Enter');
    await result('Does not fit');
    await input.fill('-8');
    await details().getByText('Does not fit').waitFor({ state: 'detached' });
    await input.focus();
    for (let repeat = 0; repeat < 3; repeat++) {
      await editor.page.keyboard.down('Enter');
    }
    await editor.page.keyboard.up('Enter');
    await result('Done');
    assert.equal(written().length, 1);
  });

  it('writes no choice and no structure that nobody has given', async () => {
    service.forgetCalls();
    for (const property of ['alarm-2', 'device-mode', 'accelerometer-configuration']) {
      await choose(property);
      await press('Write');
      await result('Value is missing');
    }
    assert.deepEqual(written(), []);
  });

  it('says of a number in which steps it goes, before it is written and where another one is refused', async () => {
    await choose('long-button-press-timeout');
    const words = 'ms · 100 to 25500 in steps of 100';
    await details().locator('.mt-gateway-side-hint', { hasText: words }).waitFor();
    await details().locator('.mt-gateway-side-input input').fill('1250');
    await press('Write');
    await result(words);
  });

  it('shows among the values what was written, though the device does not report it, or why it cannot', async () => {
    const { page } = editor;
    const row = details()
      .getByRole('table', { name: 'Values' })
      .locator('[role=row]', { hasText: 'tx-power' });
    await choose('tx-power');
    for (const power of [4, -8]) {
      await details().locator('.mt-gateway-side-input input').fill(`${power}`);
      await press('Write');
      await row.filter({ hasText: `${power} dBm` }).waitFor();
    }
    await result('Done');
    await page.route('**/service/read?**', (route) => route.abort());
    await page.route('**/service/read', (route) => route.abort());
    await press('Write');
    await result(/Done.*could not be read: Node-RED does not answer/s);
    await page.unroute('**/service/read?**');
    await page.unroute('**/service/read');
  });

  it('names the property that could not be read or written, until another one is chosen', async () => {
    const { page } = editor;
    const done = details().locator('.mt-gateway-side-result');
    await page.route(/service\/(read|write)\?/, (route) => route.abort());
    await choose('whitelist-key');
    await details().locator('.mt-gateway-side-input textarea').fill('{"site":1,"group":1}');
    for (const button of ['Read', 'Write']) {
      await press(button);
      await result(`${button} whitelist-key: Node-RED does not answer`);
    }
    await page.unroute(/service\/(read|write)\?/);
    await choose('tx-power');
    assert.equal(await done.innerText(), '');
  });

  it('begins a value of several fields with what was read, says which field is wrong, and leaves what is typed', async () => {
    const input = details().locator('.mt-gateway-side-input textarea');
    await choose('normal-mode-advertisement-interval');
    await details()
      .locator('.mt-gateway-side-hint', {
        hasText: 'in normal mode · several fields (JSON) · interval: 20 to 10240 (ms)',
      })
      .waitFor();
    await press('Read');
    await result('interval 1000 ms, denominator 1');
    assert.deepEqual(JSON.parse(await input.inputValue()), { interval: 1000, denominator: 1 });
    await input.fill('{"interval":5,"denominator":1}');
    await press('Write');
    await result('must be from 20 to 10240: interval: 5');
    await press('Read');
    await result('interval 1000 ms, denominator 1');
    assert.equal(await input.inputValue(), '{"interval":5,"denominator":1}');
  });

  it('says at its field that a value is missing or no JSON', async () => {
    const section = details().locator('.mt-gateway-side-section', { hasText: 'Actions' }).last();
    const input = section.locator('.mt-gateway-side-input textarea');
    await choose('normal-mode-advertisement-interval');
    service.forgetCalls();
    for (const [typed, words] of [
      ['{', 'The value is not valid JSON.'],
      ['', 'Value is missing'],
    ] as const) {
      await input.fill(typed);
      await press('Write');
      await section.locator('.mt-gateway-side-do:has(textarea) + *', { hasText: words }).waitFor();
    }
    assert.deepEqual(service.calls.operations, []);
  });

  it('says what is missing to rename it or to add a label, and offers no message that would fail', async () => {
    const name = details().getByRole('textbox', { name: 'New name' });
    const before = await name.inputValue();
    await press('Read');
    for (const [button, words] of [
      ['Rename', 'New name is missing'],
      ['Add label', 'Label is missing'],
    ] as const) {
      await name.fill(' ');
      await press(button);
      await result(words);
      assert.equal(await details().locator('.mt-gateway-side-result').innerText(), words);
    }
    await name.fill(before);
  });

  it('breaks a long value that was read rather than to cut it', async () => {
    await choose('accelerometer-configuration');
    await press('Read');
    await result(/int1Threshold \d+, /);
    const words = details().locator('.mt-gateway-side-result > div').first();
    assert.ok(await words.evaluate((line) => line.scrollWidth <= line.clientWidth));
  });

  it('asks before a reset', async () => {
    await choose('soft-reset');
    service.forgetCalls();
    await press('Run');
    await result('Really run soft-reset');
    const askedFrom = details()
      .getByRole('button', { name: 'Run', exact: true })
      .and(editor.page.locator(':focus'));
    await press('Cancel');
    await askedFrom.waitFor();
    await details()
      .locator('.mt-gateway-side-result')
      .filter({ hasText: /^$/ })
      .waitFor({ state: 'attached' });
    await press('Run');
    await result('Really run soft-reset');
    // The question alone goes, and the device stays.
    await editor.page.keyboard.press('Escape');
    await details()
      .locator('.mt-gateway-side-result')
      .filter({ hasText: /^$/ })
      .waitFor({ state: 'attached' });
    await askedFrom.waitFor();
    assert.equal(await details().isVisible(), true);
    assert.deepEqual(service.calls.operations, []);
    await press('Run');
    await details().locator('.mt-gateway-side-result').getByRole('button', { name: 'Run' }).click();
    await result('Run soft-reset: Done.');
  });

  it('asks before a device goes into a mode in which it may be out of reach, and says so', async () => {
    const input = details().locator('.mt-gateway-side-input select');
    await choose('device-mode');
    service.forgetCalls();
    for (const [mode, words] of [
      ['dfu', /Really put .* into update mode\? Its usual reports stop/],
      ['storage', /Really put .* into storage mode\? Its reports stop/],
    ] as const) {
      await input.selectOption(mode);
      await press('Write');
      await result(words);
      await press('Cancel');
    }
    assert.deepEqual(written(), []);
    await input.selectOption('unconnected');
    await press('Write');
    await result('Done');
    await input.selectOption('storage');
    await press('Write');
    await details().locator('.mt-gateway-side-result').getByRole('button', { name: 'Write' }).click();
    await result('Done');
    assert.equal(written().length, 2);
  });

  it('asks before a command to a bootloader, which nobody can take back', async () => {
    await choose('8120');
    service.forgetCalls();
    await details().locator('.mt-gateway-side-input input').fill('01');
    await press('Run');
    await result('Really run 8120');
    await press('Cancel');
    assert.deepEqual(written(), []);
  });

  it('renames it, in the captions of nodes, too', async () => {
    const { page } = editor;
    await page.locator('#named .red-ui-flow-node-label', { hasText: listed().friendlyName }).waitFor();
    const field = details().getByRole('textbox', { name: 'New name' });
    await field.fill('Cellar');
    service.forgetCalls();
    // A key that is held is pressed again and again.
    for (const _ of [1, 2, 3]) {
      await page.keyboard.down('Enter');
    }
    await page.keyboard.up('Enter');
    await result('Rename Cellar: Done.');
    assert.equal(listed().friendlyName, 'Cellar');
    const renames = service.calls.rest.filter(({ method }) => method === 'PUT');
    assert.equal(renames.length, 1);
    await field.fill('Boiler <b>room</b>');
    await press('Rename');
    await result('Rename Boiler <b>room</b>: Done.');
    assert.equal(listed().friendlyName, 'Boiler <b>room</b>');
    await page.locator('#named .red-ui-flow-node-label', { hasText: 'Boiler <b>room</b>' }).waitFor();
  });

  it('offers the name that it has by now, and leaves one that is typed', async () => {
    const field = details().getByRole('textbox', { name: 'New name' });
    const rename = (payload: string) =>
      red.call('POST', 'mt-service/service/rename', { device: service.demo.device, payload });
    const isShown = (name: string) => details().locator('.mt-gateway-side-name', { hasText: name }).waitFor();
    await press('Close');
    await device().click();
    await rename('Elsewhere');
    await report(20, 1);
    await isShown('Elsewhere');
    assert.equal(await field.inputValue(), 'Elsewhere');
    await field.fill('Half a na');
    await rename('Boiler <b>room</b>');
    await report(20, 1);
    await isShown('Boiler <b>room</b>');
    assert.equal(await field.inputValue(), 'Half a na');
  });

  it('attaches a label, offers those that there are, and asks before one is taken away', async () => {
    const label = '<i>3rd</i> floor';
    const field = details().getByRole('combobox', { name: 'New label' });
    const own = listed().labels;
    const known = service.devices.flatMap(({ labels }) => labels).find((one) => !own.includes(one));
    assert.ok(own.length > 0 && known, 'the device has a label, and others have another one');
    await field.click();
    await editor.page.getByRole('option', { name: known, exact: true }).waitFor();
    for (const one of own) {
      assert.equal(await editor.page.getByRole('option', { name: one, exact: true }).count(), 0, 'has it');
    }
    await editor.page.keyboard.type(label);
    await editor.page.keyboard.press('Enter');
    await result('"method": "POST"');
    await result('Done');
    assert.ok(listed().labels.includes(label));
    assert.equal(await field.inputValue(), '');
    const chip = details().locator('.mt-gateway-chip', { hasText: label });
    await chip.getByRole('button', { name: `Remove the label ${label}` }).click();
    await result(`Really remove the label ${label} from Boiler <b>room</b>`);
    await details().getByRole('button', { name: 'Cancel' }).and(editor.page.locator(':focus')).waitFor();
    await press('Cancel');
    assert.ok(listed().labels.includes(label), 'nobody said yes');
    await chip.getByRole('button').click();
    await press('Remove');
    await result('Done');
    await chip.waitFor({ state: 'detached' });
    assert.ok(!listed().labels.includes(label));
  });

  it('attaches a label as it is typed, though others that there are begin so', async () => {
    const before = listed().labels.filter((label) => !label.startsWith('floor'));
    listed().labels = [...before];
    const field = details().getByRole('combobox', { name: 'New label' });
    // That of another device; once this one has it, those that begin so are left.
    for (const offered of ['floor', 'floor-2']) {
      await field.click();
      await editor.page.keyboard.type('floor');
      await editor.page.getByRole('option', { name: offered, exact: true }).waitFor();
      await editor.page.keyboard.press('Enter');
      await editor.page.waitForFunction('document.activeElement.value !== "floor"');
      await result(/Add label floor: Done/);
      assert.deepEqual(listed().labels, [...before, 'floor']);
    }
    await field.click();
    await editor.page.keyboard.type('floor-');
    // Behind the others of this list: one before it had the same.
    await editor.page.getByRole('option', { name: '“floor-”' }).waitFor();
    await editor.page.keyboard.press('ArrowDown');
    await editor.page.keyboard.press('Enter');
    await result(/Add label floor-1: Done/);
    listed().labels = before;
  });

  it('shows what came back even where the values above have grown by it', async () => {
    await editor.page.setViewportSize({ width: 1280, height: 620 });
    await report(20, 1);
    await details().locator('.mt-gateway-side-property').selectOption('firmware-version');
    await press('Read');
    await result('3.4.1');
    const values = details().getByRole('table', { name: 'Values' });
    await values.getByText('3.4.1').waitFor();
    await editor.page.waitForFunction(`(() => {
      const box = (name) => document.querySelector('.mt-gateway-side-' + name).getBoundingClientRect();
      const words = document.querySelector('.mt-gateway-side-result > :first-child').getBoundingClientRect();
      return words.top >= box('details').top && words.bottom <= box('details').bottom + 1;
    })()`);
    await editor.page.setViewportSize({ width: 1280, height: 1400 });
  });

  it('moves no button away that somebody points at, when a property comes that is new', async () => {
    const button = details().getByRole('button', { name: 'Rename', exact: true });
    const values = details().getByRole('table', { name: 'Values' });
    await button.hover();
    const before = await button.boundingBox();
    const asked = editor.page.waitForResponse(
      async (response) =>
        /network\/[0-9a-f]{12}\?/.test(response.url()) && /humidity/.test(await response.text()),
    );
    const { gateway, device: mac } = service.demo;
    const time = new Date().toISOString();
    await service.publish(gateway, mac, 'measurement-decoded/humidity', { time, seq: 2, value: 40 });
    await asked;
    await report(24, 3);
    await values.getByText('24 °C').waitFor();
    assert.deepEqual(await button.boundingBox(), before);
    await editor.page.mouse.move(0, 0);
    await values.getByText('humidity').waitFor();
  });

  it('shows the values of another one at once, wherever the pointer rests', async () => {
    const { page } = editor;
    const values = details().getByRole('table', { name: 'Values' });
    await details().getByRole('button', { name: 'Close' }).hover();
    await side.tree.focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await values.waitFor({ state: 'hidden' });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await values.getByText('humidity').waitFor();
  });

  it('comes into the flow by a drag, as the node that is chosen, with its service', async () => {
    await press('Close');
    await side.tree.locator(`[data-key="/${service.demo.gateway}"]`).click();
    await press('Close');
    // A drag that slips in the details selects all that stands above; a row that is selected would be dragged as text.
    await editor.page.evaluate(
      "document.getSelection().selectAllChildren(document.querySelector('.mt-gateway-side'))",
    );
    await device().dragTo(editor.page.locator('#red-ui-workspace-chart'), {
      targetPosition: { x: 300, y: 300 },
    });
    await editor.page.getByRole('menuitem', { name: 'read', exact: true }).click();
    const [node] = await nodesOf('mt-gw-read');
    assert.deepEqual(
      [node?.service, node?.device, node?.deviceType],
      ['service', service.demo.device, 'str'],
    );
    // The gateway of a message is that of another device more often than not.
    assert.deepEqual([node?.gateway, node?.gatewayType], ['', 'str']);
    assert.equal(await device().getAttribute('aria-selected'), 'true', 'it is what was touched last');
    assert.equal(node?.identifier, 'temperature');
    // The left end stays where it was dropped while the node grows with its label.
    assert.deepEqual([Number(node?.x) - Number(node?.w) / 2, node?.y], [250, 300]);
  });

  it('is not what somebody drops later, when its row has gone while it was dragged and let go elsewhere', async () => {
    await device().evaluate(`(row) => {
      const fire = (at, type) =>
        at.dispatchEvent(new DragEvent(type, { bubbles: true, dataTransfer: new DataTransfer() }));
      fire(row, 'dragstart');
      row.remove();
      fire(row, 'dragend');
      fire(document.getElementById('red-ui-workspace-chart'), 'drop');
    }`);
    assert.equal(await editor.page.getByRole('menu').count(), 0);
  });

  it('comes into the flow by its name above the details, too', async () => {
    await device().click();
    const name = details().locator('.mt-gateway-side-name');
    await name.dragTo(editor.page.locator('#red-ui-workspace-chart'), { targetPosition: { x: 300, y: 400 } });
    await editor.page.getByRole('menuitem', { name: 'write', exact: true }).click();
    const [node] = await nodesOf('mt-gw-write');
    assert.equal(node?.device, service.demo.device);
    await press('Close');
    await editor.edit(String(node?.id));
    // As one from the palette, it offers what can be written.
    await editor.page.locator('.mt-gateway-choice', { hasText: 'alarm-2' }).click();
    await editor.press('ok');
  });

  it('is asked itself where it is a gateway, and incomplete until its property is chosen, where none is known', async () => {
    const { page } = editor;
    const gateway = side.tree.locator(`[data-key="/${service.demo.gateway}"]`);
    for (const [type, item, property] of [
      ['mt-gw-read', 'read', 'firmware-version'],
      ['mt-gw-write', 'write', 'alarm-2'],
      ['mt-last-value', 'last value', 'firmware-version'],
    ] as const) {
      const before = await nodesOf(type);
      await gateway.dragTo(page.locator('#red-ui-workspace-chart'), { targetPosition: { x: 300, y: 600 } });
      await page.getByRole('menuitem', { name: item, exact: true }).click();
      const node = (await nodesOf(type)).find(({ id }) => !before.some((one) => one.id === id));
      assert.deepEqual(
        [node?.gateway, node?.gatewayType, node?.device, node?.deviceType],
        [service.demo.gateway, 'str', '', 'str'],
      );
      const isValid = () => page.evaluate(`RED.nodes.node(${JSON.stringify(node?.id)}).valid`);
      assert.deepEqual([node?.identifier, node?.identifierType, await isValid()], ['', 'str', false], type);
      await editor.edit(String(node?.id));
      await page.locator('#mt-gateway-problem-identifier', { hasText: 'missing' }).waitFor();
      await page.locator('.mt-gateway-choice', { hasText: property }).first().click();
      await page.locator('#mt-gateway-problem-identifier').waitFor({ state: 'hidden' });
      await editor.press('ok');
      assert.equal(await isValid(), true, type);
    }
  });

  it('is shown by the button of a panel, and its row is the one that is marked, or none', async () => {
    const { page } = editor;
    const gateway = side.tree.locator(`[data-key="/${service.demo.gateway}"]`);
    const [read] = await nodesOf('mt-gw-read');
    for (const before of [gateway, undefined]) {
      if (before) {
        await before.click();
      } else {
        await toggle(gateway);
        await device().waitFor({ state: 'detached' });
        await side.tree.locator('[role=treeitem]').last().click();
      }
      await editor.edit(String(read?.id));
      await page.locator('#node-input-device ~ .mt-gateway-show').click();
      await editor.press('cancel');
      await details().locator('.mt-gateway-side-words', { hasText: service.demo.device }).waitFor();
      const marked = side.tree.locator('[aria-selected=true]');
      const keys = await marked.evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset.key));
      assert.deepEqual(keys, before ? [`${service.demo.gateway}/${service.demo.device}`] : []);
    }
    await toggle(gateway);
    await device().click();
    await press('Close');
  });

  it('comes into the flow by keys alone, and what was added is deployed', async () => {
    const { page } = editor;
    await side.tree.focus();
    await page.keyboard.press('Enter');
    await details().getByRole('button', { name: 'Add to flow' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.mt-gateway-menu', { hasText: 'Add to flow' }).waitFor();
    await page.getByRole('menuitem', { name: 'report in' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    const added = (await nodesOf('mt-report-in')).find(({ devices }) => (devices as string[])?.length > 0);
    assert.deepEqual([added?.service, added?.devices], ['service', [service.demo.device]]);
    const isAnswer = (response: Response) => response.url().includes('reports=1') && response.ok();
    const refreshed = page.waitForResponse(isAnswer);
    await editor.deploy();
    await refreshed;
    // Its reports are there after the deploy.
    await details().getByRole('table', { name: 'Last reports' }).getByText('error 3').first().waitFor();
  });

  it('comes into no flow while none is in sight, and says so', async () => {
    const count = () => editor.page.evaluate('RED.nodes.createCompleteNodeSet().length');
    const before = await count();
    const flow = await editor.page.evaluate('RED.workspaces.active()');
    await editor.page.evaluate('RED.workspaces.hide(RED.workspaces.active())');
    await editor.page.waitForFunction('!RED.workspaces.active()');
    await press('Add to flow');
    await editor.page.locator('.red-ui-notification', { hasText: 'No flow is open' }).waitFor();
    assert.equal(await editor.page.getByRole('menu').count(), 0);
    assert.equal(await count(), before);
    await editor.page.evaluate(`RED.workspaces.show(${JSON.stringify(flow)})`);
    await press('Add to flow');
    await editor.page.getByRole('menuitem', { name: 'report in' }).waitFor();
    await editor.page.keyboard.press('Escape');
  });

  it('is left with Escape, and the tree has the keys again', async () => {
    await details().getByRole('button', { name: 'Close' }).focus();
    await editor.page.keyboard.press('Escape');
    await details().waitFor({ state: 'hidden' });
    assert.equal(await editor.page.evaluate('document.activeElement.getAttribute("role")'), 'tree');
  });

  it('has its numbers and times in the language of the editor', async () => {
    await report(22.12, 2);
    const french = await openEditor(red.url, { language: 'fr', height: 1400 });
    try {
      const { tree } = await openSidebar(french);
      await toggle(tree.locator(`[data-key="/${service.demo.gateway}"]`));
      await tree.locator(`[data-key="${service.demo.gateway}/${service.demo.device}"]`).click();
      const [values, reports] = ['Valeurs', 'Derniers rapports'].map((name) =>
        french.page.getByRole('table', { name }).locator('[role=row]', { hasText: 'temperature' }).first(),
      );
      await values?.filter({ hasText: '22,12 °C' }).waitFor();
      const details = french.page.getByRole('table', { name: 'Valeurs' });
      await details.getByText('3 j 4 h', { exact: true }).waitFor();
      const cells = await reports?.locator('[role=cell]').allInnerTexts();
      assert.match(cells?.[0] ?? '', /^\d\d:\d\d:\d\d$/);
      await french.page.getByRole('button', { name: 'Renommer', exact: true }).click();
      const done = french.page.locator('.mt-gateway-side-result > div').first();
      await done.filter({ hasText: 'Fait.' }).waitFor();
      assert.match((await done.textContent()) ?? '', /^Renommer .+\u00a0: Fait\.$/);
      await french.page.getByRole('button', { name: 'Enregistrer et rejouer' }).click();
      assert.ok(await showsChoices(french.page.getByRole('combobox', { name: 'Vitesse' })));
    } finally {
      await french.close();
    }
  });

  const choices = () => editor.page.locator('.mt-gateway-list:visible');

  it('offers no labels where an undo of the browser changes the field while the details are closed', async () => {
    const { page } = editor;
    await device().click();
    const field = details().getByRole('combobox', { name: 'New label' });
    await field.pressSequentially('wei');
    await choices().waitFor();
    await field.press('Escape');
    await press('Close');
    await page.locator('#red-ui-header-button-deploy').focus();
    await page.keyboard.press('Control+z');
    // The choices of what was typed come after a pause.
    await page.waitForTimeout(500);
    assert.equal(await choices().count(), 0);
  });

  it('closes the choices with the details that their field is in', async () => {
    const { page } = editor;
    await device().click();
    await details().getByRole('combobox', { name: 'New label' }).click();
    await choices().waitFor();
    await page.evaluate("$('.mt-gateway-side-details').hide()");
    await choices().waitFor({ state: 'hidden' });
    await page.evaluate("$('.mt-gateway-side-details').show()");
    await press('Close');
  });
});
