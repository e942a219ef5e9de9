// The panels in a real browser, in front of a real Node-RED and the service in a box.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import type { Request, Route } from 'playwright-core';
import { IDENTIFIERS } from '../../src/protocol/identifiers.ts';
import { FLOW_NODE_TYPES } from '../node-types.ts';
import { type Editor, openEditor } from './browser.ts';
import { bareNodes, serviceNode } from './flow.ts';
import { useSite } from './site.ts';

const HOSTILE = '<img src=x onerror="window.hacked = true">';

describe('the panels in the editor', function () {
  this.timeout(60_000);
  const site = useSite({
    service: { gateways: 3, devices: 4, rate: 20, listed: 40 },
    prepare({ devices }) {
      devices[0]!.friendlyName = HOSTILE;
      devices[1]!.labels.push('hall, north');
    },
    deploy: ({ service, red }) => red.deploy([serviceNode(service), ...bareNodes()]),
    isFresh: true,
  });
  let { service, red, editor } = site;
  before(() => {
    ({ service, red, editor } = site);
  });

  const save = async () => {
    await editor.press('ok');
    await editor.deploy();
  };
  const choices = () => editor.page.locator('.mt-gateway-choice');
  const saved = async (id: string) => {
    const flows = (await red.call('GET', 'flows')) as Record<string, unknown>[];
    return flows.find((node) => node.id === id) ?? {};
  };

  it('lets every node be dragged from the palette, opened, saved and deployed without a red triangle', async () => {
    for (const [index, type] of FLOW_NODE_TYPES.entries()) {
      const id = await editor.drag(type, 450, 60 + index * 60);
      const { service, valid } = await editor.properties(id, ['service', 'valid']);
      assert.equal(service, 'service', `${type} has the only service before it is opened`);
      assert.notEqual(valid, false, `${type} is valid before it is opened`);
      await editor.edit(id);
      await editor.press('ok');
      assert.notEqual(await editor.property(id, 'valid'), false, `${type} is valid`);
    }
    await editor.deploy();
  });

  it('says what is wrong with a setting in words: Node-RED takes those of a validator of two parameters only', async () => {
    const others = await editor.page.evaluate(
      (types) => {
        type Definition = { defaults: Record<string, { validate?: { length: number } }> };
        const { RED } = window as unknown as { RED: { nodes: { getType(type: string): Definition } } };
        return types.flatMap((type) =>
          Object.entries(RED.nodes.getType(type).defaults)
            .filter(([, { validate }]) => validate && validate.length !== 2)
            .map(([name]) => `${type}: ${name}`),
        );
      },
      ['mt-service', ...FLOW_NODE_TYPES],
    );
    assert.deepEqual(others, []);
  });

  it('leaves the choice to the user when there are two services', async () => {
    await red.deploy([serviceNode(service), { ...serviceNode(service), id: 'other' }, ...bareNodes()]);
    await editor.takeFlows();
    const id = await editor.drag('mt-rename', 450, 60);
    assert.equal(await editor.property(id, 'service'), '');
  });

  it('chooses no other service where the chosen one is deleted from the panel, nor later', async () => {
    const { page } = editor;
    await red.deploy([
      serviceNode(service),
      { ...serviceNode(service), id: 'other' },
      ...bareNodes().map((node) => ({ ...node, service: 'other' })),
    ]);
    await editor.takeFlows();
    await editor.edit('mt-rename');
    const chosen = page.locator('#node-input-service');
    assert.equal(await chosen.inputValue(), 'other');
    await page.click('#node-input-btn-service-edit');
    await page.locator('.red-ui-tray').last().getByRole('button', { name: 'Delete' }).click();
    await page.waitForFunction('document.querySelector("#node-input-service")?.value === "_ADD_"');
    await editor.press('ok');
    assert.deepEqual(Object.values(await editor.properties('mt-rename', ['service', 'valid'])), ['', false]);
    // Another node of the deleted one, though there is only one left.
    await editor.edit('mt-gw-write');
    assert.equal(await chosen.inputValue(), '_ADD_');
    await editor.press('ok');
    assert.equal(await editor.property('mt-gw-write', 'valid'), false);
  });

  it('chooses no other service for a node that has had one since its first panel', async () => {
    const { page } = editor;
    const others = bareNodes().map((node) => ({ ...node, service: 'other' }));
    await red.deploy([serviceNode(service), { ...serviceNode(service), id: 'other' }, ...others]);
    await editor.takeFlows();
    const id = await editor.drag('mt-rename', 450, 60);
    await editor.edit(id);
    await page.locator('#node-input-service').selectOption('other');
    await editor.press('ok');
    await editor.edit('mt-rename');
    await page.click('#node-input-btn-service-edit');
    await page.locator('.red-ui-tray').last().getByRole('button', { name: 'Delete' }).click();
    await page.waitForFunction('document.querySelector("#node-input-service")?.value === "_ADD_"');
    await editor.press('ok');
    assert.equal(await editor.property(id, 'service'), '');
    await editor.edit(id);
    assert.equal(await page.locator('#node-input-service').inputValue(), '_ADD_');
    await editor.press('ok');
    assert.equal(await editor.property(id, 'valid'), false);
  });

  for (const [name, type] of [
    ['tls', 'tls-config'],
    ['proxy', 'http proxy'],
  ] as const) {
    it(`chooses no other ${name} of a service where that is deleted from its panel`, async () => {
      const { page } = editor;
      await red.deploy([
        { id: 'first', type, name: 'of another', url: 'http://127.0.0.1:1' },
        { id: 'second', type, name: 'its own', url: 'http://127.0.0.1:2' },
        { ...serviceNode(service), [name]: 'second' },
        ...bareNodes(),
      ]);
      await editor.takeFlows();
      await editor.editConfig('mt-service', 'service');
      // It lies on a tab that is not shown.
      await page.locator(`#node-config-input-btn-${name}-edit`).dispatchEvent('click');
      await page.locator('.red-ui-tray').last().getByRole('button', { name: 'Delete' }).click();
      await page.waitForFunction(`document.querySelector("#node-config-input-${name}")?.value === "_ADD_"`);
      await editor.press('ok', true);
      assert.equal(await editor.property('service', name), '');
    });
  }

  it('takes the service that is added in place of one from a variable', async () => {
    await red.deploy([
      serviceNode(service),
      ...bareNodes().map((node) => ({ ...node, service: '${SERVICE}' })),
    ]);
    await editor.takeFlows();
    await editor.edit('mt-rename');
    const chosen = editor.page.locator('#node-input-service');
    assert.equal(await chosen.inputValue(), '${SERVICE}');
    await editor.page.click('#node-input-btn-service-add');
    await editor.page.locator('#mt-gateway-service-tabs').waitFor();
    await editor.press('ok', true);
    await chosen.waitFor();
    // The editor tells of it a moment later.
    await editor.page.waitForTimeout(200);
    assert.match(await chosen.inputValue(), /^[0-9a-f]+$/);
    await editor.press('cancel');
  });

  it('takes the first service that is added for a node that never had one', async () => {
    await red.deploy([{ id: 'tab', type: 'tab', label: 'tab' }]);
    await editor.reload();
    const id = await editor.drag('mt-rename', 450, 60);
    assert.equal(await editor.property(id, 'service'), '');
    await editor.page.evaluate(`RED.nodes.import([{ id: 'late', type: 'mt-service', name: 'late' }])`);
    await editor.edit(id);
    assert.equal(await editor.page.locator('#node-input-service').inputValue(), 'late');
    await editor.press('cancel');
  });

  const captionOf = (id: string) =>
    editor.page.evaluate((wanted) => {
      const { RED } = window as unknown as {
        RED: { nodes: { node(id: string): object }; utils: { getNodeLabel(node: object): string } };
      };
      return RED.utils.getNodeLabel(RED.nodes.node(wanted));
    }, id);

  it('calls a service without a name by its addresses, and shows no query of them, which may be a secret', async () => {
    const brokerUrl = 'wss://broker.example.com/mqtt?token=hidden, mqtt://user:hidden@localhost:1';
    const other = { id: 'other', type: 'mt-service', brokerUrl };
    await red.deploy([other, ...bareNodes().map((node) => ({ ...node, service: 'other' }))]);
    await editor.takeFlows();
    assert.equal(await captionOf('other'), 'broker.example.com/mqtt, localhost:1');
    await editor.editConfig('mt-service', 'other');
    await editor.page.fill('#node-config-input-brokerUrl', 'wss://?token=hidden');
    const problem = editor.page.locator('#mt-gateway-problem-brokerUrl', { hasText: 'wss://' });
    await problem.waitFor();
    assert.doesNotMatch(await problem.innerText(), /hidden/);
    await editor.press('cancel', true);
  });

  it('names two entries of a long list in the caption of a node, and the number of the others', async () => {
    const asked = new Set<string>();
    const note = (request: Request) => {
      if (request.url().endsWith('/names')) {
        const { macs } = request.postDataJSON() as { macs: string[] };
        for (const mac of macs) {
          asked.add(mac);
        }
      }
    };
    editor.page.on('request', note);
    const devices = Array.from({ length: 300 }, (_, index) => (0xc00000000000 + index).toString(16));
    const kinds = ['heartbeat', 'rssi', 'property'];
    await red.deploy([
      serviceNode(service),
      { ...bareNodes()[0]!, id: 'many', type: 'mt-report-in', kinds, devices },
    ]);
    await editor.takeFlows();
    assert.equal(
      await captionOf('many'),
      'heartbeat, signal strength +1 from c00000000000, c00000000001 +298',
    );
    while (!asked.has('c00000000001')) {
      await editor.page.waitForRequest(/\/names$/);
    }
    editor.page.off('request', note);
    assert.equal(asked.has('c00000000002'), false);
  });

  it('shortens a value of several fields in the caption of a node', async () => {
    const value = JSON.stringify({
      packets: 65_535,
      interval: 65_535,
      burst: 255,
      priority: 255,
      msgSize: 255,
    });
    await red.deploy([
      serviceNode(service),
      {
        ...{ ...bareNodes()[0]!, id: 'long', type: 'mt-gw-write', value, valueType: 'json' },
        ...{ identifier: 'start-upstream-throughput-test', identifierType: 'str' },
      },
    ]);
    await editor.takeFlows();
    const caption = await captionOf('long');
    assert.match(caption, /start-upstream-throughput-test.*\{"packets":65535.*…$/);
    assert.ok(caption.length < 90, caption);
  });

  it('shows every caption in words, and none as the name of a text', async () => {
    for (const type of FLOW_NODE_TYPES) {
      await editor.edit(type);
      const rows = await editor.page.locator('.mt-gateway-form .form-row').allTextContents();
      const captions = rows.filter((row) => row.trim() !== '');
      assert.ok(captions.length > 2, type);
      assert.deepEqual(
        captions.filter((caption) => /\b(field|label|editor)\./.test(caption)),
        [],
        type,
      );
      await editor.press('cancel');
    }
  });

  it('changes nothing when a hand-written node is opened and closed with Done', async () => {
    const nodes = bareNodes().map((node) => ({ ...node, timeout: '${MT_TIMEOUT}' }));
    await red.deploy([serviceNode(service), ...nodes]);
    await editor.reload();
    for (const type of FLOW_NODE_TYPES) {
      await editor.edit(type);
      await editor.press('ok');
      assert.notEqual(await editor.property(type, 'valid'), false, type);
    }
    assert.equal(await editor.property('mt-gw-read', 'timeout'), '${MT_TIMEOUT}');
    for (const name of ['device', 'deviceType', 'decode']) {
      assert.equal(await editor.property('mt-gw-read', name), undefined);
    }
  });

  const deployWith = async (more: Record<string, object>) => {
    const nodes = bareNodes().map((node) => ({ ...node, ...more[node.type] }));
    await red.deploy([{ ...serviceNode(service), ...more['mt-service'] }, ...nodes]);
    await editor.takeFlows();
  };

  it('shows a list that comes from a variable as a tag, and keeps it when another entry is added', async () => {
    await deployWith({ 'mt-report-in': { gateways: '${GATEWAYS}', devices: ['${ONE},${TWO}'] } });
    await editor.edit('mt-report-in');
    const tags = (list: string) => editor.page.locator(`#mt-gateway-${list} .mt-gateway-chip`);
    assert.deepEqual(await tags('gateways').allInnerTexts(), ['${GATEWAYS}']);
    assert.deepEqual(await tags('devices').allInnerTexts(), ['${ONE},${TWO}']);
    await editor.page.fill('#mt-gateway-gateways input', 'c0141f68fc3d, c0141f68fc3e');
    await editor.page.keyboard.press('Enter');
    await save();
    const { gateways, devices } = await saved('mt-report-in');
    assert.deepEqual(gateways, ['${GATEWAYS}', 'c0141f68fc3d', 'c0141f68fc3e']);
    assert.deepEqual(devices, ['${ONE},${TWO}']);
  });

  it('keeps a label with a comma whole when it is picked', async () => {
    await editor.edit('mt-report-in');
    await editor.page.click('#mt-gateway-labels input');
    await choices().filter({ hasText: 'hall, north' }).first().click();
    await save();
    assert.deepEqual((await saved('mt-report-in')).labels, ['hall, north']);
  });

  it('shows a box that a variable decides as neither, and saves the choice once it is clicked', async () => {
    await deployWith({ 'mt-gw-read': { decode: '${DECODE}' } });
    await editor.edit('mt-gw-read');
    const box = editor.page.locator('#node-input-decode');
    assert.equal(await box.evaluate((input) => (input as { indeterminate?: boolean }).indeterminate), true);
    await editor.page.locator('.mt-gateway-hint', { hasText: '${DECODE}' }).waitFor();
    await box.click();
    await editor.page.locator('.mt-gateway-hint', { hasText: '${DECODE}' }).waitFor({ state: 'hidden' });
    await save();
    assert.equal(typeof (await saved('mt-gw-read')).decode, 'boolean');
  });

  it('shows lists and objects as JSON, and saves the JSON that was changed', async () => {
    const own = { id: '8a00', name: 'co2', type: 'u16', unit: 'ppm' };
    await deployWith({
      'mt-service': { identifiers: [own] },
      'mt-device-list': { query: { tenant: 'a' }, queryType: 'json' },
    });
    await editor.edit('mt-device-list');
    assert.equal(await editor.typed('query').inputValue(), '{"tenant":"a"}');
    await editor.typed('query').fill('{"tenant":"ab"}');
    await editor.press('ok');
    await editor.editConfig('mt-service', 'service');
    const shown = editor.page.locator('#node-config-input-identifiers');
    assert.deepEqual(JSON.parse(await shown.inputValue()), [own]);
    await editor.press('ok', true);
    await editor.deploy();
    assert.equal((await saved('mt-device-list')).query, '{"tenant":"ab"}');
    assert.deepEqual((await saved('service')).identifiers, [own]);
    await editor.edit('mt-gw-read');
    await editor.pick('identifier', 'co2');
    await editor.press('ok');
  });

  it('refuses an own property that the service would not start with, and takes a number that fits a right one', async () => {
    const { page } = editor;
    const own = { id: '8a00', name: 'co2', type: 'u16', unit: 'ppm' };
    await deployWith({
      'mt-service': { identifiers: [own] },
      'mt-gw-write': { identifier: 'co2', identifierType: 'str', value: '800', valueType: 'num' },
    });
    const isValid = (id: string) => page.evaluate(`RED.nodes.node(${JSON.stringify(id)}).valid`);
    await editor.edit('mt-gw-write');
    await editor.press('ok');
    assert.equal(await isValid('mt-gw-write'), true);
    await editor.editConfig('mt-service', 'service');
    const field = page.locator('#node-config-input-identifiers');
    for (const [entries, isWrong] of [
      [[{ id: '8100', name: 'battery' }], true],
      [[{ ...own, type: 'uint16' }], true],
      [[{ ...own, id: '$' + '{ID}' }], false],
      [[own], false],
    ] as const) {
      await field.evaluate((input, text) => $(input).val(text).trigger('change'), JSON.stringify(entries));
      assert.equal(await field.evaluate((input) => input.classList.contains('input-error')), isWrong);
    }
    await editor.press('cancel', true);
  });

  it('takes any REST id where the device is one of the REST side', async () => {
    const device = { device: 'dev-17', deviceType: 'str' };
    await deployWith({
      'mt-rename': device,
      'mt-label': { ...device, action: 'remove' },
      'mt-gw-read': device,
    });
    for (const [type, isValid] of [
      ['mt-rename', true],
      ['mt-label', true],
      ['mt-gw-read', false],
    ] as const) {
      await editor.edit(type);
      const problem = editor.page.locator('#mt-gateway-problem-device');
      assert.equal(await problem.isVisible(), !isValid, type);
      await editor.press('ok');
    }
  });

  it('takes a MAC address in any spelling, or hex bytes, for the extender', async () => {
    const given = (extenderId: string) => ({ extenderId, extenderIdType: 'str' });
    for (const [extenderId, isValid] of [
      ['C0:14:1F:68:FC:3D', true],
      ['c0141f', true],
      ['c0:14:1f', false],
    ] as const) {
      await deployWith({ 'mt-gw-read': given(extenderId), 'mt-gw-write': given(extenderId) });
      for (const type of ['mt-gw-read', 'mt-gw-write']) {
        await editor.edit(type);
        const problem = editor.page.locator('#mt-gateway-problem-extenderId');
        assert.equal(await problem.isVisible(), !isValid, `${type}: ${extenderId}`);
        await editor.press('ok');
      }
    }
  });

  it('shows what the runtime makes of what is missing', async () => {
    await deployWith({ 'mt-rename': { name: 'Pump 3' }, 'mt-device-list': { name: 'All' } });
    assert.notEqual(await editor.property('mt-rename', 'valid'), false);
    await editor.edit('mt-rename');
    assert.equal(await editor.page.inputValue('#node-input-title'), 'Pump 3');
    assert.equal(await editor.typed('name').inputValue(), 'payload');
    await editor.typed('name').fill('payload.name');
    await editor.press('ok');
    await editor.edit('mt-device-list');
    assert.equal(await editor.page.inputValue('#node-input-queryType'), 'json');
    assert.equal(await editor.page.inputValue('#node-input-query'), '{}');
    await editor.press('ok');
    await editor.deploy();
    const { name, nameType, title } = await saved('mt-rename');
    assert.deepEqual([name, nameType, title], ['payload.name', 'msg', 'Pump 3']);
  });

  it('offers what the instance of a subflow knows, and says so when there is none', async () => {
    const inside = { ...serviceNode(service), id: 'inner', z: 'template' };
    const template = { id: 'template', type: 'subflow', name: 'A subflow', in: [], out: [] };
    const rename = {
      id: 'within',
      z: 'template',
      type: 'mt-rename',
      service: 'inner',
      x: 100,
      y: 50,
      wires: [[]],
    };
    const instance = { id: 'instance', type: 'subflow:template', x: 300, y: 50, wires: [] };
    const nodes = [serviceNode(service), template, inside, rename, ...bareNodes()];
    const open = async (flow: object[]) => {
      await red.deploy(flow as never);
      await editor.takeFlows();
      await editor.page.evaluate("RED.workspaces.show('template')");
      await editor.edit('within');
      await editor.page.locator('#node-input-device ~ .mt-gateway-pick').click();
    };
    await open(nodes);
    await editor.page.locator('.mt-gateway-list-note', { hasText: 'subflow' }).waitFor();
    await open([...nodes, instance]);
    await choices().first().waitFor();
  });

  it('keeps the kinds and filters that were ticked, picked and typed for mt-report-in', async () => {
    const { page } = editor;
    await editor.edit('mt-report-in');
    await page.check('#mt-gateway-kind-measurement');
    await page.check('#mt-gateway-kind-event');
    await page.click('#mt-gateway-identifiers input');
    await choices().filter({ hasText: 'temperature' }).first().click();
    await page.fill('#mt-gateway-devices input', '${MY_DEVICE}');
    await page.keyboard.press('Enter');
    await page.click('#mt-gateway-labels input');
    await choices().first().click();
    await page.getByRole('radio', { name: 'only its value' }).check();
    await save();
    const config = await saved('mt-report-in');
    assert.deepEqual(config.kinds, ['measurement', 'event']);
    assert.deepEqual(config.identifiers, ['temperature']);
    assert.deepEqual(config.devices, ['${MY_DEVICE}']);
    assert.equal((config.labels as string[]).length, 1);
    assert.equal(config.output, 'value');
    await editor.edit('mt-report-in');
    assert.ok(await page.isChecked('#mt-gateway-kind-event'));
    assert.ok(!(await page.isChecked('#mt-gateway-kind-all')));
    assert.deepEqual(await page.locator('#mt-gateway-devices .mt-gateway-chip').allInnerTexts(), [
      '${MY_DEVICE}',
    ]);
  });

  it('shows only the settings that matter for the chosen kinds', async () => {
    const { page } = editor;
    await editor.edit('mt-report-in');
    await page.check('#mt-gateway-kind-heartbeat');
    await page.locator('#mt-gateway-identifiers').waitFor({ state: 'hidden' });
    await page.check('#mt-gateway-kind-event');
    await page.locator('#mt-gateway-identifiers').waitFor({ state: 'visible' });
    await page.check('#mt-gateway-kind-all');
    assert.ok(!(await page.isChecked('#mt-gateway-kind-event')));
  });

  it('previews the reports that the unsaved settings let through', async () => {
    const { page } = editor;
    await editor.edit('mt-report-in');
    await page.check('#mt-gateway-kind-heartbeat');
    const rows = page.locator('#mt-gateway-preview tbody tr');
    await rows.filter({ hasText: 'heartbeat' }).first().waitFor();
    await page.waitForFunction(() => {
      const shown = [...document.querySelectorAll('#mt-gateway-preview tbody tr')];
      return shown.length > 0 && shown.every((line) => line.textContent?.includes('heartbeat'));
    });
  });

  it('tells the gateways of the previewed reports apart, by their names as text', async () => {
    const { page } = editor;
    await editor.edit('mt-report-in');
    await page.click('#mt-gateway-gateways input');
    await choices().first().waitFor();
    await page.locator('#mt-gateway-preview th', { hasText: 'Gateway' }).waitFor();
    await page.locator('#mt-gateway-preview td', { hasText: HOSTILE }).first().waitFor();
  });

  it('shapes the value field of mt-gw-write by the property that is picked', async () => {
    const { page } = editor;
    await editor.edit('mt-gw-write');
    await editor.pick('identifier', 'alarm');
    await save();
    const config = await saved('mt-gw-write');
    assert.deepEqual([config.identifier, config.identifierType], ['alarm', 'str']);
    assert.deepEqual([config.value, config.valueType], ['true', 'bool']);
    assert.equal(config.device, undefined);
    await editor.edit('mt-gw-write');
    await editor.pick('identifier', 'tx-power');
    await page.locator('.form-row', { hasText: 'dBm' }).first().waitFor();
  });

  it('is done by Ctrl+Enter while choices are open, and then changes nothing in the panel that goes', async () => {
    const { page } = editor;
    const id = await editor.drag('mt-gw-write', 450, 60);
    const done = page.locator('#node-dialog-ok');
    await editor.edit(id);
    await page.locator('.mt-gateway-list').waitFor();
    await page.keyboard.press('Control+Enter');
    await done.waitFor({ state: 'detached' });
    assert.equal(await editor.property(id, 'identifierType'), 'msg');

    await editor.edit(id);
    // As a list does that opens by itself when its panel is closed already.
    await page.evaluate(`
      const pick = $('#node-input-identifier').nextAll('.mt-gateway-pick');
      $('#node-dialog-ok').trigger('click');
      pick.trigger('click');
    `);
    await done.waitFor({ state: 'detached' });
  });

  it('brings the value that a switch or a command is written with, unless somebody has given another', async () => {
    const { page } = editor;
    const value = () =>
      page.evaluate("['type', 'value'].map((part) => $('#node-input-value').typedInput(part))");
    await editor.edit('mt-gw-write');
    await editor.pick('identifier', 'alarm');
    assert.deepEqual(await value(), ['bool', 'true']);
    await editor.pick('identifier', 'soft-reset');
    assert.deepEqual(await value(), ['str', '']);
    await editor.pick('identifier', 'tx-power');
    assert.deepEqual(await value(), ['msg', 'payload']);
    await page.evaluate("$('#node-input-value').typedInput('value', 'wanted')");
    await editor.pick('identifier', 'alarm');
    assert.deepEqual(await value(), ['msg', 'wanted']);
  });

  it('takes no name of a property along as a fixed text, and no fixed value as a name', async () => {
    const { page } = editor;
    const turn = async (name: string, type: string) => {
      const parts = await page.evaluate(`
        $('#node-input-${name}').typedInput('type', '${type}');
        ['type', 'value'].map((part) => $('#node-input-${name}').typedInput(part));
      `);
      return (parts as string[]).join(' ');
    };
    const name = editor.typed('name');
    await editor.edit('mt-rename');
    assert.equal(await turn('name', 'str'), 'str ');
    assert.equal(await turn('name', 'msg'), 'msg payload');
    assert.equal(await turn('name', 'env'), 'env payload');
    await name.fill('wanted.name');
    assert.equal(await turn('name', 'msg'), 'msg wanted.name');
    assert.equal(await turn('name', 'str'), 'str wanted.name');
    await name.fill('70000');
    assert.equal(await turn('name', 'msg'), 'msg payload');
    assert.equal(await turn('name', 'str'), 'str 70000');
    await editor.press('cancel');

    for (const [type, field] of [
      ['mt-rename', 'device'],
      ['mt-label', 'device'],
      ['mt-service-request', 'path'],
      ['mt-gw-read', 'identifier'],
      ['mt-gw-write', 'identifier'],
    ] as const) {
      await editor.edit(type);
      assert.equal(await turn(field, 'str'), 'str ', `${type} ${field}`);
      await editor.press('cancel');
    }

    await editor.edit('mt-gw-write');
    await editor.pick('identifier', 'tx-power');
    await turn('value', 'num');
    await editor.typed('value').fill('-4');
    assert.equal(await turn('value', 'msg'), 'msg payload');
    assert.equal(await turn('value', 'num'), 'num -4');
    // Empty, it would be the gateway itself.
    assert.equal(await turn('device', 'str'), 'str device');
    assert.equal(await turn('identifier', 'msg'), 'msg identifier');
  });

  it('has what is typed take the place of a name that stays as a fixed text', async () => {
    const { page } = editor;
    for (const [type, field] of [
      ['mt-service-request', 'path'],
      ['mt-gw-read', 'gateway'],
      ['mt-device-list', 'model'],
    ] as const) {
      await editor.edit(type);
      await page
        .locator(`#node-input-${field} ~ .red-ui-typedInput-container .red-ui-typedInput-type-select`)
        .click();
      await page.locator('.red-ui-typedInput-options:visible [value="str"]').click();
      await page.keyboard.type('abc');
      assert.equal(await editor.typed(field).inputValue(), 'abc', `${type} ${field}`);
      await editor.press('cancel');
    }
  });

  it('begins a fixed number empty, and puts the cursor there', async () => {
    const { page } = editor;
    await editor.edit('mt-gw-write');
    await editor.pick('identifier', 'tx-power');
    await page.getByRole('button', { name: 'fixed value' }).click();
    assert.equal(await editor.typed('value').inputValue(), '');
    await page.locator('#mt-gateway-problem-value').filter({ hasText: 'Value is missing' }).waitFor();
    await page.keyboard.type('-4');
    assert.equal(await editor.typed('value').inputValue(), '-4');
    await save();
    const { value, valueType } = await saved('mt-gw-write');
    assert.deepEqual([value, valueType], ['-4', 'num']);
  });

  it('begins a fixed word of several with none, which is said: one of them may be an update of the device', async () => {
    const { page } = editor;
    await editor.edit('mt-gw-write');
    await editor.pick('identifier', 'device-mode');
    await page.getByRole('button', { name: 'fixed value' }).click();
    assert.equal(await page.inputValue('#node-input-value'), '');
    await page.locator('#mt-gateway-problem-value').filter({ hasText: 'Value is missing' }).waitFor();
    await page
      .locator('#node-input-value ~ .red-ui-typedInput-container')
      .getByText('dfu')
      .waitFor({ state: 'detached' });
    await page.locator('.red-ui-typedInput-option-trigger:visible').click();
    await page.locator('.red-ui-typedInput-options:visible a', { hasText: 'unconnected' }).click();
    await page.locator('#mt-gateway-problem-value').waitFor({ state: 'hidden' });
    await save();
    const { value, valueType } = await saved('mt-gw-write');
    assert.deepEqual([value, valueType], ['unconnected', 'str']);
  });

  it('makes a point of the comma that another language has before decimals, and of no other one', async () => {
    const shown = async (one: Editor) => {
      await one.edit('mt-gw-write');
      await one.page.evaluate("$('#node-input-value').typedInput('type', 'num')");
      await one.typed('value').fill('29,5');
      await one.typed('value').blur();
      const value = await one.typed('value').inputValue();
      await one.press('cancel');
      return value;
    };
    const done = async (one: Editor) => {
      await one.edit('mt-gw-write');
      await one.pick('identifier', 'tx-power');
      await one.page.evaluate("$('#node-input-value').typedInput('type', 'num')");
      await one.typed('value').fill('29,5');
      await one.page.keyboard.press('Control+Enter');
      await one.page.locator('#node-dialog-ok').waitFor({ state: 'detached' });
      return one.property('mt-gw-write', 'value');
    };
    const german = await openEditor(red.url, { language: 'de' });
    try {
      assert.deepEqual([await shown(german), await shown(editor)], ['29.5', '29,5']);
      assert.deepEqual([await done(german), await done(editor)], ['29.5', '29,5']);
    } finally {
      await german.close();
    }
  });

  it('begins a fixed value of any property with one that it accepts', async () => {
    const { page } = editor;
    const written = IDENTIFIERS.filter(
      ({ access }) => access.includes('write') || access.includes('command'),
    );
    await editor.edit('mt-gw-write');
    for (const { id, name } of written) {
      const [value, problem] = (await page.evaluate(`
        $('#node-input-identifier').typedInput('type', 'str').typedInput('value', '${name || id}');
        $('#node-input-value').typedInput('type', 'msg').typedInput('value', 'payload');
        $('#mt-gateway-fixed').trigger('click');
        [$('#node-input-value').typedInput('value'), $('#mt-gateway-problem-value').text()];
      `)) as string[];
      // A number is still to be given.
      assert.ok(value === '' || problem === '', `${name || id}: ${value}: ${problem}`);
    }
  });

  it('lists the fields of a value that has several, with their ranges, and says which one is wrong', async () => {
    await editor.edit('mt-gw-write');
    await editor.pick('identifier', 'normal-mode-advertisement-interval');
    await editor.page
      .locator('.mt-gateway-hint', { hasText: 'interval: 20 to 10240 (ms), denominator: 0 to 255' })
      .waitFor();
    await editor.page.getByRole('button', { name: 'fixed value' }).click();
    await editor.typed('value').fill('{"interval":5,"denominator":1}');
    await editor.page.keyboard.press('Tab');
    const problem = editor.page.locator('#mt-gateway-problem-value');
    await problem.filter({ hasText: 'must be from 20 to 10240: interval: 5' }).waitFor();
    await editor.typed('value').fill('');
    await problem.filter({ hasText: 'Value is missing' }).waitFor();
  });

  it('says of a number in which steps it goes, above the field and where another one is refused', async () => {
    await editor.edit('mt-gw-write');
    await editor.pick('identifier', 'long-button-press-timeout');
    const words = 'ms · 100 to 25500 in steps of 100';
    await editor.page.locator('.mt-gateway-hint', { hasText: words }).waitFor();
    await editor.page.getByRole('button', { name: 'fixed value' }).click();
    await editor.page.keyboard.type('150');
    await editor.page.locator('#mt-gateway-problem-value').filter({ hasText: words }).waitFor();
    await editor.pick('identifier', 'tx-power');
    const other = await editor.page.locator('.mt-gateway-hint', { hasText: 'dBm' }).innerText();
    assert.doesNotMatch(other, /steps/);
  });

  it('takes the choices with it when it closes while its field has the focus', async () => {
    const { page } = editor;
    for (const typed of ['', 'a']) {
      await editor.edit('mt-gw-read');
      await page.locator('#node-input-gateway ~ .mt-gateway-pick').click();
      await choices().first().waitFor();
      await page.keyboard.type(typed);
      // As a script or a screen reader does it: a click of the mouse would take the focus away before.
      await page.locator('#node-dialog-cancel').evaluate((button: HTMLElement) => button.click());
      await page.locator('.red-ui-tray').waitFor({ state: 'detached' });
      await page.waitForTimeout(200);
      assert.equal(await page.locator('.mt-gateway-list').count(), 0);
    }
  });

  it('opens the list of properties by itself in the panel of a new node, once', async () => {
    const { page } = editor;
    for (const type of ['mt-gw-read', 'mt-gw-write']) {
      const id = await editor.drag(type, 450, 60);
      await editor.edit(id);
      await choices().first().waitFor();
      await page.keyboard.press('Escape');
      await choices().first().waitFor({ state: 'detached' });
      await save();
      assert.equal(await editor.property(id, 'identifierType'), 'msg', 'nothing was chosen');
      await editor.edit(id);
      await page.locator('#node-input-identifier ~ .mt-gateway-pick').waitFor();
      assert.equal(await choices().count(), 0);
      await editor.press('cancel');
    }
  });

  it('opens the list of a new node again where somebody comes back to the property', async () => {
    const { page } = editor;
    const id = await editor.drag('mt-gw-write', 450, 60);
    await editor.edit(id);
    await choices().first().waitFor();
    await editor.typed('device').click();
    await choices().first().waitFor({ state: 'detached' });
    assert.equal(await page.inputValue('#node-input-identifierType'), 'msg');
    await editor.typed('identifier').click();
    await choices().first().waitFor();
    await page.keyboard.type('alarm');
    await page.locator('.mt-gateway-choice[aria-selected="true"]', { hasText: 'alarm' }).waitFor();
    await page.keyboard.press('Enter');
    await editor.press('ok');
    const { identifier, identifierType } = await editor.properties(id, ['identifier', 'identifierType']);
    assert.deepEqual([identifier, identifierType], ['alarm', 'str']);
  });

  it('leaves the property of a new node to the message where that was chosen', async () => {
    const { page } = editor;
    const id = await editor.drag('mt-gw-write', 450, 60);
    await editor.edit(id);
    await choices().first().waitFor();
    const types = '#node-input-identifier ~ .red-ui-typedInput-container .red-ui-typedInput-type-select';
    await page.locator(types).first().click();
    await page.locator('.red-ui-typedInput-options a:visible', { hasText: /^msg\.$/ }).click();
    await editor.typed('identifier').click({ clickCount: 3 });
    await page.keyboard.type('sensorId');
    await editor.press('ok');
    const { identifier, identifierType } = await editor.properties(id, ['identifier', 'identifierType']);
    assert.deepEqual([identifier, identifierType], ['sensorId', 'msg']);
  });

  it('says in the field what does not fit the property', async () => {
    const wrong = { identifier: 'tx-power', identifierType: 'str', value: '400', valueType: 'num' };
    await red.deploy([
      serviceNode(service),
      ...bareNodes().map((node) => ({ ...node, ...wrong, timeout: 'soon' })),
    ]);
    await editor.takeFlows();
    await editor.edit('mt-gw-write');
    await editor.page.locator('#mt-gateway-problem-value', { hasText: 'dBm' }).waitFor();
    await editor.page.locator('#mt-gateway-problem-timeout', { hasText: 'whole number' }).waitFor();
    assert.equal(await editor.property('mt-gw-write', 'valid'), false);
  });

  it('goes back to the message when a picker is left without a choice', async () => {
    const { page } = editor;
    await editor.edit('mt-gw-read');
    await page.locator('#node-input-device ~ .mt-gateway-pick').click();
    await choices().first().waitFor();
    await page.keyboard.press('Escape');
    await page.click('#node-input-name');
    assert.equal(await page.inputValue('#node-input-deviceType'), 'msg');
    await editor.press('ok');
    assert.equal(await editor.property('mt-gw-read', 'device'), undefined);
  });

  it('offers heard devices with the keyboard and keeps what is typed', async () => {
    const { page } = editor;
    await editor.edit('mt-gw-read');
    await page.locator('#node-input-device ~ .mt-gateway-pick').click();
    await choices().first().waitFor();
    await page.keyboard.press('ArrowDown');
    const wanted = await page
      .locator('.mt-gateway-choice[aria-selected="true"] .mt-gateway-choice-title')
      .textContent();
    await page.keyboard.press('Enter');
    assert.equal(await editor.typed('device').inputValue(), wanted);
    await page.locator('#node-input-identifier ~ .mt-gateway-pick').click();
    await editor.typed('identifier').fill('my-own-${PROPERTY}');
    await save();
    const config = await saved('mt-gw-read');
    assert.deepEqual([config.device, config.deviceType], [wanted, 'str']);
    assert.equal(config.identifier, 'my-own-${PROPERTY}');
  });

  it('takes the best suggestion on Enter, at once and after a pause, and closes the choices', async () => {
    const { page } = editor;
    await editor.edit('mt-report-in');
    const input = page.locator('#mt-gateway-identifiers input');
    const tags = page.locator('#mt-gateway-identifiers .mt-gateway-chip');
    await input.fill('temp');
    await page.keyboard.press('Enter');
    await tags.filter({ hasText: 'temperature' }).waitFor();
    await input.pressSequentially('humi');
    await page.locator('.mt-gateway-choice[aria-selected="true"]', { hasText: 'humidity' }).waitFor();
    await page.keyboard.press('Enter');
    await tags.filter({ hasText: 'humidity' }).waitFor();
    assert.equal(await page.locator('.mt-gateway-list').count(), 0);
    await editor.press('ok');
    assert.deepEqual(await editor.property('mt-report-in', 'identifiers'), ['temperature', 'humidity']);
    await editor.edit('mt-gw-write');
    await page.locator('#node-input-identifier ~ .mt-gateway-pick').click();
    await editor.typed('identifier').fill('tx-p');
    await page.keyboard.press('Enter');
    await page.locator('.mt-gateway-hint', { hasText: 'dBm' }).waitFor();
    assert.equal(await editor.typed('identifier').inputValue(), 'tx-power');
  });

  it('keeps what is typed by its own row, and says that the property is not known', async () => {
    const { page } = editor;
    await editor.edit('mt-report-in');
    const input = page.locator('#mt-gateway-identifiers input');
    const tags = page.locator('#mt-gateway-identifiers .mt-gateway-chip');
    await input.fill('temp');
    await choices().filter({ hasText: 'as it is' }).click();
    assert.match((await tags.allInnerTexts()).join(), /^temp\b.*not in the catalogue/s);
    await input.fill('8800');
    await page.keyboard.press('Enter');
    await tags.filter({ hasText: '8800' }).waitFor();
    assert.equal(await tags.filter({ hasText: 'catalogue' }).count(), 1);
    await editor.press('ok');
    assert.deepEqual(await editor.property('mt-report-in', 'identifiers'), ['temp', '8800']);
  });

  it('leaves no choices behind when a variable or a text with a comma is typed', async () => {
    const { page } = editor;
    const [gateway = '', other = ''] = service.gateways.map(({ mac }) => mac);
    await editor.edit('mt-report-in');
    const enter = async (list: string, typed: string) => {
      const input = page.locator(`#mt-gateway-${list} input`);
      await input.click();
      await choices().first().waitFor();
      await input.fill(typed);
      await page.keyboard.press('Enter');
      await page.locator(`#mt-gateway-${list} .mt-gateway-chip`).first().waitFor();
      assert.equal(await page.locator('.mt-gateway-list').count(), 0, typed);
      assert.equal(await input.inputValue(), '');
    };
    await enter('gateways', '${GWS}');
    await enter('devices', `${gateway}, ${other}`);
    await enter('labels', 'Hall, west');
    await editor.press('ok');
    const lists = await editor.properties('mt-report-in', ['gateways', 'devices', 'labels']);
    assert.deepEqual(lists, {
      gateways: ['${GWS}'],
      devices: [gateway, other],
      labels: ['Hall, west'],
    });
  });

  it('offers the properties that fit the node, those that were heard before the others, both by name, bare ids last', async () => {
    const { page } = editor;
    const tag = page.locator('.mt-gateway-tag', { hasText: 'reported' });
    const reported = () => choices().filter({ has: tag });
    const titles = async (open: () => Promise<unknown>) => {
      await open();
      await choices().first().waitFor();
      const rows = choices().locator('.mt-gateway-choice-title');
      const heardRows = reported().locator('.mt-gateway-choice-title');
      const [all, heard] = [await rows.allInnerTexts(), await heardRows.allInnerTexts()];
      const isBare = (name: string) => /^[0-9a-f]{4}$/.test(name);
      const byName = (names: string[]) =>
        [...names].sort(
          (one, other) => Number(isBare(one)) - Number(isBare(other)) || one.localeCompare(other),
        );
      assert.deepEqual(all, [...byName(heard), ...byName(all.slice(heard.length))]);
      assert.equal(isBare(all[0] ?? ''), false);
      return all;
    };
    const pickOf = () => page.locator('#node-input-identifier ~ .mt-gateway-pick').click();
    await editor.edit('mt-gw-write');
    const written = await titles(pickOf);
    assert.ok(written.includes('alarm') && written.includes('soft-reset'));
    assert.ok(!written.includes('temperature') && !written.includes('storage-mode-event'));
    await editor.press('cancel');
    await editor.edit('mt-gw-read');
    const read = await titles(pickOf);
    assert.ok(read.includes('temperature') && read.includes('scan-mode') && !read.includes('soft-reset'));
    await editor.press('cancel');
    await editor.edit('mt-report-in');
    await page.check('#mt-gateway-kind-measurement');
    // What is heard is in the preview first.
    await page.locator('#mt-gateway-preview tbody tr').first().waitFor();
    const measured = await titles(() => page.click('#mt-gateway-identifiers input'));
    await reported().first().waitFor();
    assert.ok(measured.includes('temperature'));
    assert.ok(!measured.includes('scan-mode') && !measured.includes('storage-mode-event'));
  });

  it('shows a friendly name that is HTML as text', async () => {
    const { page } = editor;
    await editor.edit('mt-rename');
    await page.locator('#node-input-device ~ .mt-gateway-pick').click();
    await choices().filter({ hasText: HOSTILE }).first().click();
    await page.locator('.mt-gateway-hint', { hasText: HOSTILE }).waitFor();
    assert.equal(await page.evaluate('window.hacked'), undefined);
    assert.equal(await page.locator('.mt-gateway-form img').count(), 0);
  });

  it('shows the addresses of the brokers first, and calls the other half the portal', async () => {
    const { page } = editor;
    await editor.editConfig('mt-service', 'service');
    const tabs = page.locator('#mt-gateway-service-tabs li');
    const names = await tabs.allInnerTexts();
    assert.deepEqual(
      names.map((name) => name.trim()),
      ['Gateways (MQTT)', 'Portal (REST)', 'Advanced'],
    );
    assert.ok(await page.isVisible('#node-config-input-brokerUrl'));
    assert.ok(!(await page.isVisible('#node-config-input-baseUrl')));
  });

  it('offers the context stores that Node-RED has to remember in, and takes any other name', async () => {
    const { page } = editor;
    const stores = (await page.evaluate('RED.settings.context.stores')) as string[];
    await editor.editConfig('mt-service', 'service');
    await page.click('#mt-gateway-service-tabs li:nth-child(3) a');
    const [input, button] = [
      page.locator('#node-config-input-remember'),
      page.getByTitle('Choose a context store'),
    ];
    await button.click();
    assert.deepEqual(await choices().allInnerTexts(), ['none', ...stores]);
    await choices().nth(1).click();
    assert.equal(await input.inputValue(), stores[0]);
    await input.fill('${STORE}');
    await choices().filter({ hasText: 'as it is' }).click();
    assert.equal(await input.inputValue(), '${STORE}');
    await button.click();
    await choices().first().click();
    assert.equal(await input.inputValue(), '');
  });

  it('tests the typed connection, right and wrong, and never gets a password back', async () => {
    const { page } = editor;
    await editor.editConfig('mt-service', 'service');
    await page.click('#mt-gateway-service-tabs li:nth-child(2) a');
    assert.equal(await page.inputValue('#node-config-input-password'), '__PWRD__');
    // As much of the panel as a small window shows.
    await page.setViewportSize({ width: 1100, height: 700 });
    await page.click('#mt-gateway-test');
    const verdict = page.locator('.mt-gateway-verdict-ok', { hasText: 'Gateways' });
    await verdict.waitFor();
    const isSeen = await verdict.evaluate((line) => {
      const { x, y, height } = line.getBoundingClientRect();
      return line.contains(document.elementFromPoint(x + 5, y + height / 2));
    });
    assert.ok(isSeen, 'the verdict is out of sight');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.locator('.mt-gateway-verdict-ok', { hasText: 'Portal (REST)' }).waitFor();
    await page.fill('#node-config-input-password', 'wrong');
    await page.click('#mt-gateway-test');
    await page.locator('.mt-gateway-verdict-bad', { hasText: 'Portal (REST)' }).waitFor();
    await page.locator('.mt-gateway-verdict-ok', { hasText: 'Gateways' }).waitFor();
  });

  it('says that one half of the login is missing, and forgets it when the other comes', async () => {
    const { page } = editor;
    await editor.editConfig('mt-service', 'service');
    await page.click('#mt-gateway-service-tabs li:nth-child(2) a');
    await page.fill('#node-config-input-baseUrl', '');
    await page.locator('#mt-gateway-problem-baseUrl', { hasText: 'Both addresses' }).waitFor();
    await page.fill('#node-config-input-authUrl', '');
    await page.locator('#mt-gateway-problem-baseUrl').waitFor({ state: 'hidden' });
    await page.fill('#node-config-input-authUrl', 'ftp://portal');
    await page.locator('#mt-gateway-problem-authUrl', { hasText: 'https://' }).waitFor();
  });

  it('marks addresses and a header that a deploy would refuse, or that lead nowhere', async () => {
    const { page } = editor;
    await editor.editConfig('mt-service', 'service');
    await page.click('#mt-gateway-service-tabs li:nth-child(2) a');
    const problem = (name: string) => page.locator(`#mt-gateway-problem-${name}`);
    await page.fill('#node-config-input-baseUrl', 'https://me:my-secret@portal');
    await problem('baseUrl').filter({ hasText: 'must not have a user name' }).waitFor();
    await page.fill('#node-config-input-baseUrl', 'https://portal/?a=1');
    await problem('baseUrl').filter({ hasText: 'has no query' }).waitFor();
    await page.fill('#node-config-input-baseUrl', 'https://'.padEnd(10_001, 'a'));
    await problem('baseUrl').filter({ hasText: 'longer than 10000 characters' }).waitFor();
    for (const path of ['/api/v1', '/api/v1//', '/x/API/v1/auth/login', '/api/v1/devices']) {
      await page.fill('#node-config-input-baseUrl', `https://portal${path}`);
      await problem('baseUrl').filter({ hasText: 'Leave out /api/v1' }).waitFor();
      // A service may lie below such a path, and a host may be called api.
      for (const right of [
        'https://portal/x/api/v10/',
        'https://portal/api/v1/tenants/7',
        'https://api/v1',
      ]) {
        await page.fill('#node-config-input-baseUrl', right);
        await problem('baseUrl').waitFor({ state: 'hidden' });
      }
    }
    await page.click('#mt-gateway-service-tabs li:nth-child(1) a');
    await page.fill('#node-config-input-brokerUrl', 'mqtt://localhost:1 mqtt://localhost:2');
    await problem('brokerUrl').filter({ hasText: 'mqtt://localhost:1 mqtt://localhost:2' }).waitFor();
    await page.fill('#node-config-input-brokerUrl', 'host:99999');
    await problem('brokerUrl').filter({ hasText: 'a port that is no number from 1 to 65535' }).waitFor();
    await page.fill('#node-config-input-brokerUrl', 'host');
    await problem('brokerUrl').waitFor({ state: 'hidden' });
    await page.fill('#node-config-input-brokerUrl', 'ws://host:0/mqtt');
    await problem('brokerUrl').filter({ hasText: 'a port that is no number from 1 to 65535' }).waitFor();
    await page.fill('#node-config-input-brokerUrl', 'host,'.repeat(2_001));
    await problem('brokerUrl').filter({ hasText: 'longer than 10000 characters' }).waitFor();
    await page.fill('#node-config-input-brokerUrl', 'wss://host/mqtt?policy=abc,rest');
    await problem('brokerUrl').filter({ hasText: '%2C' }).waitFor();
    await page.fill('#node-config-input-brokerUrl', 'host1,host2,wss://host/mqtt?a=1,${NAME}');
    await problem('brokerUrl').waitFor({ state: 'hidden' });
    await page.click('#mt-gateway-service-tabs li:nth-child(3) a');
    await page.fill('#node-config-input-authHeader', 'Content-Length');
    await problem('authHeader').filter({ hasText: 'HTTP itself needs: Content-Length' }).waitFor();
    await page.fill('#node-config-input-authHeader', 'X-Auth');
    await problem('authHeader').waitFor({ state: 'hidden' });
  });

  it('marks a topic prefix and a group with which no broker could be used', async () => {
    const { page } = editor;
    await editor.editConfig('mt-service', 'service');
    await page.fill('#node-config-input-topicPrefix', 'site/+');
    await page.locator('#mt-gateway-problem-topicPrefix', { hasText: 'must not contain' }).waitFor();
    await page.fill('#node-config-input-topicPrefix', 'site/${NAME}');
    await page.locator('#mt-gateway-problem-topicPrefix').waitFor({ state: 'hidden' });
    await page.fill('#node-config-input-sharedGroup', 'a/b');
    await page.locator('#mt-gateway-problem-sharedGroup', { hasText: 'must not contain' }).waitFor();
  });

  it('says at the field what the chosen type of broker forbids, and what is to be known about it', async () => {
    const { page } = editor;
    await editor.editConfig('mt-service', 'service');
    const problem = (name: string) => page.locator(`#mt-gateway-problem-${name}`);
    await page.fill('#node-config-input-sharedGroup', 'site');
    await page.selectOption('#node-config-input-brokerProfile', 'nats');
    await problem('sharedGroup').filter({ hasText: 'NATS has no shared subscriptions' }).waitFor();
    await page.locator('.mt-gateway-hint', { hasText: '30 s' }).waitFor();
    await page.selectOption('#node-config-input-brokerProfile', 'aws-iot');
    await problem('sharedGroup').waitFor({ state: 'hidden' });
    await page.click('#mt-gateway-service-tabs li:nth-child(3) a');
    await page.selectOption('#node-config-input-reportQos', '2');
    await problem('reportQos').filter({ hasText: 'Reports: AWS IoT Core takes QoS 1 at most: 2' }).waitFor();
    await page.selectOption('#node-config-input-reportQos', '1');
    await problem('reportQos').waitFor({ state: 'hidden' });
    await page.fill('#node-config-input-maxSubscriptions', '20');
    await editor.press('ok', true);
    await editor.deploy();
    const config = await saved('service');
    assert.equal(config.brokerProfile, 'aws-iot');
    assert.equal(String(config.maxSubscriptions), '20');
  });

  it('fetches names of devices unless the box is unticked', async () => {
    const { page } = editor;
    await editor.editConfig('mt-service', 'service');
    await page.click('#mt-gateway-service-tabs li:nth-child(2) a');
    assert.equal(await page.isChecked('#node-config-input-names'), true);
    await page.locator('label', { hasText: 'Show reports with the names of their devices' }).click();
    await page
      .locator('.mt-gateway-hint', { hasText: 'the device list is fetched every 10 minutes' })
      .waitFor();
    await editor.press('ok', true);
    await editor.deploy();
    assert.equal((await saved('service')).names, false);
  });

  it('shows how many subscriptions the deployed nodes need and have', async () => {
    const { page } = editor;
    await editor.editConfig('mt-service', 'service');
    await page.click('#mt-gateway-service-tabs li:nth-child(3) a');
    await page.getByText(/^For the deployed nodes: \d+ needed, \d+ in use\.$/).waitFor();
  });

  /** Answers what is asked there only when it is told to. @returns does, and ends when the page has it all */
  const holdAnswers = async (answers: Record<string, unknown>) => {
    const { page } = editor;
    const held = new Map<string, Route>();
    const all = new Promise<void>((resolve) => {
      for (const path of Object.keys(answers)) {
        void page.route(`**/mt-service/${path}`, (route) => {
          held.set(path, route);
          held.size === Object.keys(answers).length && resolve();
        });
      }
    });
    return async () => {
      await all;
      for (const [path, route] of held) {
        const answered = page.waitForResponse(route.request().url());
        await route.fulfill({ contentType: 'application/json', body: JSON.stringify(answers[path]) });
        await (await answered).finished();
        await page.unroute(`**/mt-service/${path}`);
      }
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
    };
  };

  it('shows nothing of one service in the panel of another that is opened before the answer has come', async () => {
    const { page } = editor;
    await red.deploy([serviceNode(service), { ...serviceNode(service), id: 'other' }, ...bareNodes()]);
    await editor.takeFlows();
    const answer = await holdAnswers({
      test: { mqtt: { ok: false, message: 'of the other one' } },
      'other/subscriptions': { needed: 77, inUse: 77 },
    });
    await editor.editConfig('mt-service', 'other');
    await page.click('#mt-gateway-test');
    await editor.press('cancel', true);
    await editor.editConfig('mt-service', 'service');
    await answer();
    assert.equal(await page.textContent('#mt-gateway-test-result'), '');
    await page.getByText(/^For the deployed nodes: \d+ needed/).waitFor({ state: 'attached' });
    assert.equal(await page.getByText('77 needed').count(), 0);
  });

  it('shows nothing of one node below the fields of another that is opened before the answer has come', async () => {
    const { page } = editor;
    const one = { id: 'one', type: 'mt-gw-read', service: 'service', x: 500, y: 60, wires: [[]] };
    const given = { gatewayType: 'str', device: '', deviceType: 'str' };
    const fixed = { ...given, identifier: 'temperature', identifierType: 'str' };
    const { mac } = service.gateways[0]!;
    await red.deploy([serviceNode(service), ...bareNodes(), { ...one, ...fixed, gateway: mac }]);
    await editor.takeFlows();
    const answer = await holdAnswers({
      'service/devices?*': [{ id: `bmac-${mac}`, mac, name: 'Boiler room', connected: true }],
      'service/seen?*identifiers*': [{ id: '8800', value: 77.5 }],
    });
    await editor.edit('one');
    await page.waitForTimeout(100);
    await editor.press('cancel');
    await editor.edit('mt-gw-write');
    await answer();
    for (const name of ['gateway', 'identifier']) {
      const shown = await page.locator(`.form-row:has(> #node-input-${name})`).innerText();
      assert.doesNotMatch(shown, /Boiler room|77\.5/);
    }
  });

  it('shows a service without TLS settings and proxy as Node-RED shows its own nodes', async () => {
    const { page } = editor;
    await red.deploy([{ ...serviceNode(service), tls: '', proxy: '' }, ...bareNodes()]);
    await editor.takeFlows();
    await editor.editConfig('mt-service', 'service');
    for (const [name, type] of [
      ['tls', 'tls-config'],
      ['proxy', 'http proxy'],
    ]) {
      const chosen = page.locator(`#node-config-input-${name} option:checked`);
      assert.equal(await chosen.textContent(), `Add new ${type}...`);
    }
  });

  it('saves every setting of the service and shows it again', async () => {
    const { page } = editor;
    const input = (name: string) => `#node-config-input-${name}`;
    await editor.editConfig('mt-service', 'service');
    await page.fill(input('topicPrefix'), 'site-${SITE}');
    await page.check(input('persistent'));
    await page.click('#mt-gateway-service-tabs li:nth-child(3) a');
    await page.fill(input('keepalive'), '30');
    await page.selectOption(input('protocolVersion'), '5');
    await page.fill(input('identifiers'), '[{"id":"8a00","name":"co2","type":"u16","unit":"ppm"}]');
    await editor.press('ok', true);
    await editor.deploy();
    const config = await saved('service');
    assert.equal(config.topicPrefix, 'site-${SITE}');
    assert.equal(config.persistent, true);
    assert.equal(String(config.keepalive), '30');
    assert.equal(String(config.protocolVersion), '5');
    await editor.edit('mt-gw-read');
    await editor.pick('identifier', 'co2');
    await page.locator('.mt-gateway-hint', { hasText: 'ppm' }).waitFor();
  });

  it('explains before the first deploy why no device can be offered', async () => {
    await red.deploy(bareNodes());
    const { page } = editor;
    await editor.takeFlows();
    await editor.edit('mt-rename');
    await page.click('#node-input-btn-service-add');
    await page.locator('#mt-gateway-service-tabs').waitFor();
    await editor.press('ok', true);
    await page.locator('#node-input-device ~ .mt-gateway-pick').click();
    await page.locator('.mt-gateway-list-note', { hasText: 'Deploy once' }).waitFor();
  });
});
