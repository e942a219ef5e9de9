// The preview of mt-report-in in a small window: always in sight, still, and a way to test the flow behind the node.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { sink } from '../e2e/node-red.ts';
import { isSeen, openEditor } from './browser.ts';
import { serviceNode } from './flow.ts';
import { useSite } from './site.ts';

describe('reports that pass now', function () {
  this.timeout(60_000);
  const site = useSite({
    service: { gateways: 2, devices: 3, rate: 0, listed: 10 },
    width: 1100,
    height: 700,
    async deploy({ service, red }) {
      const place = { service: 'service', x: 200, y: 100, wires: [['seen']] };
      const node = { id: 'in', type: 'mt-report-in', ...place };
      await red.deploy([serviceNode(service), node, { ...sink('seen'), x: 400, y: 100 }]);
      await red.status('in', ({ text }) => text === 'connected');
    },
    isFresh: true,
  });
  let { service, red, editor } = site;
  before(() => {
    ({ service, red, editor } = site);
  });

  const rows = () => editor.page.locator('#mt-gateway-preview tbody tr');
  const preview = () => editor.page.locator('#mt-gateway-preview');
  const state = () => editor.page.locator('#mt-gateway-preview-state');
  /** Reports reach the preview once it has asked for the first time. */
  const open = async () => {
    const asked = editor.page.waitForResponse(/\/preview$/);
    await editor.edit('in');
    await asked;
  };
  const publish = async (suffix: string, more: object, gateway = service.demo.gateway) => {
    await service.publish(gateway, service.demo.device, suffix, {
      time: new Date().toISOString(),
      seq: 1,
      ...more,
    });
    return red.next('seen');
  };
  /** Rows are drawn anew while the panel is open: one that was just replaced is no sign. */
  const seen = async (part: Locator, what: string) => {
    const until = Date.now() + 10_000;
    while (!(await part.evaluate(isSeen))) {
      assert.ok(Date.now() < until, `not seen: ${what}`);
    }
  };
  const measure = (value: number) => publish('measurement-decoded/temperature', { value });

  it('are in sight in a small window whatever is scrolled, and cover no field: each is seen whole when it is used', async () => {
    const { page } = editor;
    await open();
    await measure(21.5);
    await rows().first().waitFor();
    await page.click('#mt-gateway-more');
    const fields = page.locator('.mt-gateway-fields :is(input, select):visible');
    assert.ok((await fields.count()) > 15);
    for (const one of await fields.all()) {
      await one.focus();
      const what = await one.evaluate((input) => input.id || input.outerHTML);
      await seen(one, what);
      await seen(rows().first(), `the reports at ${what}`);
    }
  });

  it('leave room for what a first rule needs: kinds, properties and payload are seen without scrolling', async () => {
    const { page } = editor;
    await open();
    await measure(21.5);
    await rows().nth(0).waitFor();
    for (const part of [
      '#mt-gateway-kind-other',
      '#mt-gateway-identifiers',
      '.mt-gateway-radios',
      '#mt-gateway-preview tbody tr',
    ]) {
      assert.ok(await page.locator(part).first().evaluate(isSeen), part);
    }
  });

  it('keep their columns where they are while longer and other reports come', async () => {
    await open();
    await measure(1);
    await rows().first().waitFor();
    const edges = () =>
      preview()
        .locator('th')
        .evaluateAll((cells) => cells.map((cell) => Math.round(cell.getBoundingClientRect().x)));
    const before = await edges();
    await publish('property-decoded/a-property-with-a-name-that-is-longer-than-any-column', {
      value: 'x'.repeat(300),
    });
    const other = service.gateways[1]!;
    await service.publish(other.mac, service.demo.device, 'rssi', {
      ...{ time: new Date().toISOString(), seq: 2, parent: other.mac, rssi: -60 },
    });
    await red.next('seen');
    await rows().nth(2).waitFor();
    assert.deepEqual(await edges(), before);
  });

  it('go on when the panel of the service lay above for a while and was left by Cancel', async () => {
    const { page } = editor;
    await open();
    await editor.editConfig('mt-service', 'service');
    // Longer than from one question of the preview to the next: time is the subject here.
    await page.waitForTimeout(2_500);
    await editor.press('cancel', true);
    await measure(23.5);
    await rows().filter({ hasText: '23.5' }).waitFor();
  });

  it('say what is waited for when there are none: the kind that is ticked, the property that is chosen', async () => {
    const { page } = editor;
    await open();
    await preview().filter({ hasText: 'No report that passes' }).waitFor();
    assert.equal(await state().innerText(), '', 'there is nothing to click');
    await page.check('#mt-gateway-kind-event');
    await preview().filter({ hasText: 'No event has come yet' }).waitFor();
    await page.check('#mt-gateway-kind-measurement');
    await preview()
      .filter({ hasText: 'Since this panel was opened nothing that passes has come of: measurement, event.' })
      .waitFor();
    await page.fill('#mt-gateway-identifiers input', 'temperature');
    await page.keyboard.press('Enter');
    await preview()
      .filter({ hasText: 'Since this panel was opened nothing that passes has come of: temperature.' })
      .waitFor();
  });

  it('show what msg.payload will be, as the node is set in the panel', async () => {
    const { page } = editor;
    await open();
    await measure(21.5);
    await rows().filter({ hasText: '{ value: 21.5, unit: "°C"' }).waitFor();
    // The choices of the field unfold above the rows: that is where the pointer is after a choice.
    await rows().first().hover();
    await page.check('.mt-gateway-radios [value=value]');
    await rows()
      .locator('td', { hasText: /^21\.5$/ })
      .waitFor({ timeout: 15_000 });
    const what = rows().first().locator('td').nth(3);
    assert.match(await what.innerText(), /temperature · measurement$/);
    assert.ok(await what.evaluate((cell) => cell.scrollWidth <= cell.clientWidth), 'the kind is cut off');
  });

  it('are sent through the deployed node by a click, marked as a test, and stay still under the pointer', async () => {
    await open();
    await measure(21.5);
    await rows().first().waitFor();
    await rows().first().hover();
    const asked = editor.page.waitForResponse(/\/preview$/);
    await measure(30);
    await asked;
    await rows().filter({ hasText: '21.5' }).click();
    const msg = await red.next('seen');
    const { topic, payload, report, device } = msg as Record<string, Record<string, unknown>>;
    assert.match(String(topic), /\/device\/.*\/measurement-decoded\/temperature$/);
    assert.deepEqual([report?.test, report?.value, payload?.test], [true, 21.5, true]);
    assert.equal(device, service.demo.device);
    assert.equal(report?.topic, undefined);
    await state().filter({ hasText: 'marked as a test' }).waitFor();
  });

  it('are sent with the keyboard, too', async () => {
    await open();
    await measure(21.5);
    await rows().first().locator('button').focus();
    await editor.page.keyboard.press('Enter');
    assert.equal(((await red.next('seen')).report as Record<string, unknown>).test, true);
    assert.ok(await editor.page.isVisible('#mt-gateway-preview'), 'the panel is open');
  });

  it('cannot be sent while the panel or the node differs from what is deployed', async () => {
    const { page } = editor;
    await open();
    await measure(21.5);
    await page.check('.mt-gateway-radios [value=value]');
    await state().filter({ hasText: 'Deploy first' }).waitFor();
    await rows().first().click();
    assert.ok(await rows().first().locator('button').isDisabled());
    await editor.press('ok');
    await open();
    await state().filter({ hasText: 'Deploy first' }).waitFor();
    await measure(22);
    await rows().first().click();
    assert.equal(red.waiting('seen'), 0);
  });

  it('cannot be sent, and say why, while the node that is to send them is disabled', async () => {
    await red.deploy([
      serviceNode(service),
      { id: 'in', type: 'mt-report-in', service: 'service', d: true, x: 200, y: 100, wires: [['seen']] },
      { id: 'other', type: 'mt-report-in', service: 'service', x: 200, y: 200, wires: [['seen']] },
      { ...sink('seen'), x: 400, y: 100 },
    ]);
    await red.status('other', ({ text }) => text === 'connected');
    await editor.reload();
    await open();
    await state().filter({ hasText: 'This node or its flow is disabled' }).waitFor();
    await measure(21.5);
    await rows().first().waitFor();
    assert.ok(await rows().first().locator('button').isDisabled());
  });

  it('say so when the node that is to send them does not run any more', async () => {
    await red.deploy([
      serviceNode(service),
      { id: 'other', type: 'mt-report-in', service: 'service', x: 200, y: 200, wires: [['seen']] },
      { ...sink('seen'), x: 400, y: 100 },
    ]);
    await red.status('other', ({ text }) => text === 'connected');
    await open();
    await measure(21.5);
    await rows().first().click();
    await state().filter({ hasText: 'does not run' }).waitFor();
  });

  it('cannot be shown of a service that comes from a variable, and nobody is told to deploy for them', async () => {
    const place = { id: 'in', type: 'mt-report-in', x: 200, y: 100, wires: [[]] };
    await red.deploy([serviceNode(service), { ...place, service: '${MT_SERVICE}' }]);
    await editor.takeFlows();
    await editor.edit('in');
    const note = preview().filter({ hasText: 'nothing of it can be shown here' });
    await note.waitFor();
    assert.equal(await state().innerText(), '');
    const before = (await preview().locator('div').elementHandle())!;
    await editor.page.check('#mt-gateway-kind-event');
    await before.waitForElementState('hidden');
    await note.waitFor();
    assert.equal(await state().innerText(), '');
  });

  it('say that no gateway has the label, and that it belongs on one', async () => {
    await open();
    await editor.page.fill('#mt-gateway-labels input', 'nowhere');
    await editor.page.keyboard.press('Enter');
    await preview().filter({ hasText: 'No gateway has this label' }).waitFor();
  });

  describe('the button on the node', () => {
    const button = () => editor.page.locator('#in .red-ui-flow-node-button-button');
    const toast = (text: string) =>
      editor.page.locator('.red-ui-notification', { hasText: text }).last().waitFor();

    it('sends a report that fits the filter, and then the newest one that has passed', async () => {
      await button().click();
      const madeUp = (await red.next('seen')).report as Record<string, unknown>;
      assert.deepEqual([madeUp.test, madeUp.name, madeUp.value], [true, 'temperature', 21.5]);
      await toast('made-up');
      await measure(30.25);
      await button().click();
      const again = (await red.next('seen')).report as Record<string, unknown>;
      assert.deepEqual([again.test, again.value], [true, 30.25]);
      await toast('temperature 30.25 °C');
    });

    it('tells what it has sent as the language of the editor writes it', async () => {
      const french = await openEditor(red.url, { language: 'fr' });
      try {
        await french.page.locator('#in .red-ui-flow-node-button-button').click();
        const told = french.page.locator('.red-ui-notification', { hasText: 'temperature' });
        assert.match((await told.textContent()) ?? '', /\S\u00a0: temperature \d+,\d+ °C\./);
        await red.next('seen');
      } finally {
        await french.close();
      }
    });

    it('asks for a value when it is pressed with Shift', async () => {
      await button().click({ modifiers: ['Shift'] });
      const input = editor.page.locator('.mt-gateway-ask .red-ui-typedInput-input');
      await input.waitFor();
      const words = await editor.page.locator('.mt-gateway-ask label').innerText();
      await measure(20);
      await input.fill('warm');
      await editor.page.keyboard.press('Enter');
      await input.fill('35');
      await editor.page.keyboard.press('Enter');
      const report = (await red.next('seen')).report as Record<string, unknown>;
      assert.deepEqual([report.test, report.value], [true, 35]);
      const device = report.deviceName ?? report.device;
      assert.ok(words.includes(`a report of ${device} with this value of temperature (°C)`), words);
      assert.match(words, /What follows in the flow really happens/);
    });

    it('keeps the device for the next value, until another one is wanted', async () => {
      const { page } = editor;
      const question = page.locator('.mt-gateway-ask');
      const input = question.locator('.red-ui-typedInput-input');
      const another = page.getByRole('button', { name: 'Newest device', exact: true });
      const press = async () => {
        await button().click({ modifiers: ['Shift'] });
        await input.waitFor();
      };
      const sent = async () => {
        await input.fill('35');
        await page.keyboard.press('Enter');
        await question.waitFor({ state: 'detached' });
        return ((await red.next('seen')).report as { device: string }).device;
      };
      await measure(20);
      await press();
      const first = await sent();
      const other = 'd0000000000f';
      const report = { time: new Date().toISOString(), seq: 1, value: 20 };
      await service.publish(service.demo.gateway, other, 'measurement-decoded/temperature', report);
      await red.next('seen');
      await press();
      assert.equal(await sent(), first);
      await press();
      await another.click();
      await another.waitFor({ state: 'detached' });
      await input.waitFor();
      assert.equal(await sent(), other);
    });

    it('asks once when it is pressed several times with Shift, and again after that', async () => {
      const { page } = editor;
      const question = page.locator('.mt-gateway-ask');
      let requests = 0;
      const count = (request: { url(): string }) => {
        requests += Number(request.url().endsWith('/try'));
      };
      page.on('request', count);
      const press = () => button().dispatchEvent('click', { bubbles: true, shiftKey: true });
      await Promise.all([press(), press(), press()]);
      await question.first().waitFor();
      await press();
      assert.deepEqual([requests, await question.count()], [1, 1]);
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await question.waitFor({ state: 'detached' });
      await button().click({ modifiers: ['Shift'] });
      await question.waitFor();
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await question.waitFor({ state: 'detached' });
      page.off('request', count);
    });

    it('says what is wrong with a value and stays open until it is right', async () => {
      const { page } = editor;
      await button().click({ modifiers: ['Shift'] });
      const input = page.locator('.mt-gateway-ask .red-ui-typedInput-input');
      const problem = page.locator('.mt-gateway-ask .mt-gateway-problem');
      for (const wrong of ['', '35,5', '.', '-']) {
        await input.fill(wrong);
        await page.getByRole('button', { name: 'Send', exact: true }).click();
        await problem.filter({ hasText: 'Must be a number.' }).waitFor();
      }
      await input.fill('+35.5');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      assert.equal(((await red.next('seen')).report as Record<string, unknown>).value, 35.5);
      await input.waitFor({ state: 'detached' });
    });

    it('takes a number as the language of the editor writes it', async () => {
      const german = await openEditor(red.url, { language: 'de' });
      try {
        const inGerman = german.page.locator('#in .red-ui-flow-node-button-button');
        await inGerman.click({ modifiers: ['Shift'] });
        const input = german.page.locator('.mt-gateway-ask .red-ui-typedInput-input');
        await input.fill('1.000,5');
        await german.page.keyboard.press('Enter');
        await german.page.locator('.mt-gateway-ask .mt-gateway-problem:visible').waitFor();
        await input.fill('29,5');
        await german.page.keyboard.press('Enter');
        assert.equal(((await red.next('seen')).report as Record<string, unknown>).value, 29.5);
      } finally {
        await german.close();
      }
    });

    it('says of a service that is disabled, that it is: the node would run', async () => {
      await red.deploy([
        { ...serviceNode(service), d: true },
        { id: 'in', type: 'mt-report-in', service: 'service', x: 200, y: 100, wires: [['seen']] },
        { ...sink('seen'), x: 400, y: 100 },
      ]);
      await editor.takeFlows();
      await button().click();
      const told = editor.page.locator('.red-ui-notification', {
        hasText: 'This service or its flow is disabled',
      });
      await told.waitFor();
    });

    it('says of a service that comes from a variable, that it cannot tell which one it is: the node runs', async () => {
      const env = [{ name: 'SERVICE', type: 'str', value: 'service' }];
      await red.deploy([
        serviceNode(service),
        {
          ...{ id: 'group', type: 'group', z: 'tab', env, nodes: ['in'], style: {} },
          ...{ x: 100, y: 50, w: 200, h: 100 },
        },
        {
          ...{ id: 'in', type: 'mt-report-in', service: '${SERVICE}', g: 'group' },
          ...{ x: 200, y: 100, wires: [['seen']] },
        },
        { ...sink('seen'), x: 400, y: 100 },
      ]);
      await red.status('in', ({ text }) => text === 'connected');
      await editor.takeFlows();
      for (const modifiers of [[], ['Shift' as const]]) {
        await button().click({ modifiers });
        const told = editor.page.locator('.red-ui-notification', { hasText: 'cannot tell which one it is' });
        await told.waitFor();
        await told.click();
        await told.waitFor({ state: 'detached' });
      }
    });

    it('cannot be used while the node is not deployed as it is', async () => {
      await editor.edit('in');
      await editor.page.fill('#node-input-name', 'another');
      await editor.press('ok');
      await editor.page.locator('#in .red-ui-flow-node-button-disabled').waitFor();
    });
  });
});
