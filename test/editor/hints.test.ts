// What the panels say of their fields before anything goes wrong: what a choice does not do, and where that can be done.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import english from '../../nodes/shared/locales/en-US.json' with { type: 'json' };
import { bareNodes, serviceNode } from './flow.ts';
import { useSite } from './site.ts';

describe('the hints in the panels', function () {
  this.timeout(60_000);
  const site = useSite({
    service: { gateways: 3, devices: 4, rate: 0, listed: 5 },
    deploy: ({ service, red }) => red.deploy([serviceNode(service), ...bareNodes()]),
    isFresh: true,
  });
  let { service, red, editor } = site;
  before(() => {
    ({ service, red, editor } = site);
  });

  const hintOf = (row: string, words: string | RegExp) =>
    editor.page.locator(`.form-row:has(${row}) .mt-gateway-hint`, { hasText: words });

  it('say that a label that is created is on no device, and where it is attached', async () => {
    await editor.edit('mt-label');
    const hint = hintOf('#node-input-action', /on no device.*sidebar.*“service request”.*“Attach label”/);
    await hint.waitFor();
    await editor.page.selectOption('#node-input-action', 'remove');
    await hint.waitFor({ state: 'hidden' });
    await editor.page.selectOption('#node-input-action', 'msg');
    await hint.waitFor();
    await editor.press('cancel');
  });

  for (const type of ['mt-report-in', 'mt-last-value', 'mt-device-watch']) {
    it(`say that only labels of gateways count (${type})`, async () => {
      await editor.edit(type);
      const select = editor.page.locator('#node-input-select');
      if ((await select.count()) > 0) {
        await select.selectOption('all');
      }
      await hintOf(
        '#mt-gateway-labels',
        /gateways have.*another device does not count.*list devices by label.*compare msg\.device/,
      ).waitFor();
      await editor.press('cancel');
    });
  }

  it('show a test of the connection no longer than the values stand that it was of', async () => {
    const { page } = editor;
    await editor.editConfig('mt-service', 'service');
    await page.click('#mt-gateway-test');
    const verdicts = page.locator('#mt-gateway-test-result .mt-gateway-verdict');
    await verdicts.nth(1).waitFor();
    await page.fill('#node-config-input-name', 'another name');
    assert.equal(await verdicts.count(), 2);
    await page.fill('#node-config-input-brokerUrl', 'mqtt://127.0.0.1:1');
    await verdicts.first().waitFor({ state: 'detached' });
    assert.equal(await verdicts.count(), 0);
    await editor.press('cancel', true);
  });

  it('mark a value that was typed over the name of a property of the message', async () => {
    const { page } = editor;
    for (const [type, field, value] of [
      ['mt-device-list', 'firmware', '3.4.1'],
      ['mt-device-list', 'firmware', '>=3.4.0'],
      ['mt-gw-read', 'device', 'e4a7c510204c'],
      ['mt-gw-read', 'identifier', 'ee8001'],
      ['mt-gw-write', 'value', '25'],
    ] as const) {
      await editor.edit(type);
      await page.evaluate(`$('#node-input-${field}').typedInput('type', 'msg')`);
      await editor.typed(field).fill(value);
      await page.keyboard.press('Tab');
      const problem = page.locator(`#mt-gateway-problem-${field}`);
      await problem.filter({ hasText: `msg.${value} would be a property of the message` }).waitFor();
      for (const name of ['payload.part', 'v1.value', 'add1']) {
        await editor.typed(field).fill(name);
        await page.keyboard.press('Tab');
        await problem.waitFor({ state: 'hidden' });
        await editor.typed(field).fill(value);
        await page.keyboard.press('Tab');
        await problem.waitFor();
      }
      await editor.press('cancel');
    }
  });

  it('say that a password without a user name is sent alone', async () => {
    const { page } = editor;
    await editor.editConfig('mt-service', 'service');
    const hint = hintOf('#node-config-input-mqttUsername', 'sent without a user name');
    await page.fill('#node-config-input-mqttUsername', '');
    await page.fill('#node-config-input-mqttPassword', 'secret');
    await page.keyboard.press('Tab');
    await hint.waitFor();
    await page.fill('#node-config-input-mqttUsername', 'anna');
    await page.keyboard.press('Tab');
    await hint.waitFor({ state: 'hidden' });
    await editor.press('cancel', true);
  });

  it('say which context store keeps nothing over a restart, and which there is none of', async () => {
    const { page } = editor;
    await editor.editConfig('mt-service', 'service');
    await page.click('#mt-gateway-service-tabs li:nth-child(3) a');
    const field = page.locator('#node-config-input-remember');
    const problem = page.locator('.form-row:has(#node-config-input-remember) .mt-gateway-problem');
    await hintOf('#node-config-input-remember', /last value and device watch nodes/).waitFor();
    await field.fill('diskk');
    await problem.filter({ hasText: 'diskk is not in Node-RED' }).waitFor();
    const stores = (await page.evaluate('RED.settings.context.stores')) as string[];
    await field.fill(stores[0]!);
    await problem.filter({ hasText: `${stores[0]} keeps nothing over a restart` }).waitFor();
    for (const fine of ['${STORE}', '']) {
      await field.fill(fine);
      await problem.waitFor({ state: 'hidden' });
    }
    await editor.press('cancel', true);
  });

  it('offer no text as it is where only a MAC address is taken, and say so', async () => {
    const { page } = editor;
    const list = page.locator('.mt-gateway-list');
    const asItIs = page.locator('.mt-gateway-choice-typed');
    const refused = list.filter({ hasText: 'Must be a MAC address' });
    for (const [type, open] of [
      ['mt-report-in', () => page.locator('#mt-gateway-devices input')],
      ['mt-gw-read', () => editor.typed('device')],
    ] as const) {
      await editor.edit(type);
      if (type === 'mt-gw-read') {
        await page.locator('.form-row:has(#node-input-device) .mt-gateway-pick').click();
      }
      const input = open();
      await input.fill('teapot');
      await refused.waitFor();
      assert.equal(await asItIs.count(), 0, type);
      await input.fill('c0:14:1f:68:fc:3d');
      await asItIs.waitFor();
      await input.fill('${DEVICE}');
      await asItIs.waitFor();
      await editor.press('cancel');
    }
    await editor.edit('mt-rename');
    await page.locator('.form-row:has(#node-input-device) .mt-gateway-pick').click();
    await editor.typed('device').fill('teapot');
    await asItIs.waitFor();
    await editor.press('cancel');
  });

  it('mark a property that is fixed and empty, where one is needed', async () => {
    const { page } = editor;
    const problem = page.locator('#mt-gateway-problem-identifier');
    for (const type of ['mt-gw-read', 'mt-gw-write']) {
      await editor.edit(type);
      assert.equal(await problem.isVisible(), false, type);
      await page.locator('.form-row:has(#node-input-identifier) .mt-gateway-pick').click();
      await editor.typed('identifier').fill('x');
      await editor.typed('identifier').fill('');
      await problem.filter({ hasText: 'Property is missing' }).waitFor();
      await editor.press('cancel');
    }
    const empty = { identifier: '', identifierType: 'str' };
    const nodes = bareNodes().map((node) => (node.id === 'mt-gw-read' ? { ...node, ...empty } : node));
    await red.deploy([serviceNode(service), ...nodes]);
    await editor.takeFlows();
    assert.equal(await editor.property('mt-gw-read', 'valid'), false);
    await editor.edit('mt-gw-read');
    await page.selectOption('#node-input-operation', 'apiversion');
    await editor.press('ok');
    assert.equal(await editor.property('mt-gw-read', 'valid'), true);
  });

  it('leave room between an icon and its caption', async () => {
    const { page } = editor;
    await editor.edit('mt-device-watch');
    await page.check('#mt-gateway-condition-battery-low');
    const icons = page.locator('.mt-gateway-form .form-row > label > .fa:visible');
    const gaps = await icons.evaluateAll((icons) =>
      icons.map((icon) => {
        const glyph = document.createElement('span');
        glyph.className = icon.className;
        glyph.style.fontSize = getComputedStyle(icon).fontSize;
        document.body.append(glyph);
        const wide = glyph.getBoundingClientRect().width;
        glyph.remove();
        const box = icon.getBoundingClientRect();
        const words = icon.nextElementSibling!.getBoundingClientRect();
        return { icon: icon.className, gap: words.left - box.left - Math.max(box.width, wide) };
      }),
    );
    assert.ok(gaps.some(({ icon }) => /battery/.test(icon)));
    assert.deepEqual(
      gaps.filter(({ gap }) => gap < 2),
      [],
    );
    await editor.press('cancel');
  });

  it('call the new name of a device as the error does that misses it', async () => {
    await editor.edit('mt-rename');
    const caption = editor.page.locator('.form-row:has(#node-input-name) > label');
    assert.equal((await caption.innerText()).trim(), english.field.name);
    assert.equal(english.field.name, 'New name');
    await editor.press('cancel');
  });

  it('say what does not fit an untouched neighbour, and so does the node when the panel is closed', async () => {
    const { page } = editor;
    const saved = "{ identifier: 'tx-power', identifierType: 'str', value: '4', valueType: 'num' }";
    await page.evaluate(`void Object.assign(RED.nodes.node('mt-gw-write'), ${saved})`);
    await editor.edit('mt-gw-write');
    await editor.typed('value').fill('999');
    await editor.press('ok');
    const node = await editor.properties('mt-gw-write', ['value', 'valid', 'validationErrors']);
    const { value: written, valid: isValid, validationErrors } = node;
    assert.deepEqual([written, isValid], ['999', false]);
    assert.equal((validationErrors as unknown[]).length, 1);
    for (const [field, value, valid] of [
      ['brokerProfile', 'aws-iot', true],
      ['reportQos', '2', false],
    ] as const) {
      await editor.editConfig('mt-service', 'service');
      await page.locator(`#node-config-input-${field}`).selectOption(value, { force: true });
      await editor.press('ok', true);
      assert.equal(await editor.property('service', 'valid'), valid);
    }
  });
});
