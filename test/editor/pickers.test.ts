// What the pickers offer and in which order, in a network of which the reports are known.
import assert from 'node:assert/strict';
import { sink } from '../e2e/node-red.ts';
import { bareNodes, serviceNode } from './flow.ts';
import { useSite } from './site.ts';

const GATEWAYS = 60;
/** The device list has it, and says that it is connected. */
const UNHEARD = 'c0ffee000001';

describe('the pickers', function () {
  this.timeout(60_000);
  const site = useSite({
    service: { gateways: GATEWAYS, devices: 2, rate: 0, listed: 90 },
    theme: 'dark',
    width: 1100,
    height: 700,
    prepare({ devices, demo }) {
      // A service may list what is below gateways, too.
      devices.push({
        ...devices[0]!,
        id: `bmac-${demo.device}`,
        friendlyName: 'Meeting room 2.14',
        labels: ['spare-desk'],
      });
      devices.push({ ...devices[0]!, id: `bmac-${UNHEARD}`, friendlyName: 'Lift shaft', labels: [] });
    },
    async deploy({ service, red }) {
      const nodes = bareNodes().map((node) =>
        node.type === 'mt-report-in' ? { ...node, wires: [['heard']] } : node,
      );
      const named = {
        ...{ id: 'named', type: 'mt-gw-read', z: 'tab', service: 'service', x: 500, y: 120, wires: [[]] },
        ...{ device: service.demo.device, deviceType: 'str' },
      };
      const watching = {
        ...{ id: 'watching', type: 'mt-device-watch', z: 'tab', service: 'service', x: 500, y: 180 },
        ...{ devices: [service.demo.device], wires: [[]] },
      };
      const labelled = { ...watching, id: 'labelled', devices: [], labels: [service.demo.device], y: 240 };
      const heard = { ...sink('heard'), x: 500, y: 60 };
      await red.deploy([serviceNode(service), ...nodes, named, watching, labelled, heard]);
      await red.status('mt-report-in', ({ text }) => text === 'connected');
      for (const { mac } of service.gateways) {
        await publish('heartbeat', { status: 0 }, mac);
      }
    },
  });
  let { service, editor } = site;
  before(() => {
    ({ service, editor } = site);
  });
  afterEach(async () => {
    await editor.press('cancel');
  });

  const publish = async (suffix: string, more: object, gateway = site.service.demo.gateway) => {
    const time = new Date().toISOString();
    await site.service.publish(gateway, site.service.demo.device, suffix, { time, seq: 1, ...more });
    await site.red.next('heard');
  };
  const choices = () => editor.page.locator('.mt-gateway-choice');
  const openAt = async (name: string) => {
    await editor.page.locator(`#node-input-${name} ~ .mt-gateway-pick`).click();
    await choices().first().waitFor();
  };
  const titles = () => choices().locator('.mt-gateway-choice-title').allInnerTexts();
  const byName = (names: string[]) => [...names].sort((one, other) => one.localeCompare(other));

  it('do so in the workspace, too, where the caption of a node names its device', async () => {
    for (const id of ['named', 'watching']) {
      const caption = editor.page.locator(`[id="${id}"] .red-ui-flow-node-label`);
      await caption.filter({ hasText: 'Meeting room 2.14' }).waitFor();
      assert.doesNotMatch((await caption.textContent()) ?? '', new RegExp(service.demo.device));
    }
    // A label that looks like an address is none.
    const label = await editor.page.locator('[id="labelled"] .red-ui-flow-node-label').textContent();
    assert.match(label ?? '', new RegExp(service.demo.device));
    await editor.edit('named');
  });

  it('name every gateway that was heard, list them by name, and say how many more there are', async () => {
    await editor.edit('mt-gw-read');
    await openAt('gateway');
    const shown = await titles();
    const names = new Map(service.devices.map(({ id, friendlyName }) => [id.slice(5), friendlyName]));
    const heard = byName(service.gateways.map(({ mac }) => names.get(mac) ?? mac));
    assert.deepEqual(shown, heard.slice(0, shown.length));
    assert.ok(!shown.some((title) => /^[0-9a-f]{12}$/.test(title)), shown.join());
    await editor.page.locator('.mt-gateway-list-note', { hasText: 'more: type to find' }).waitFor();
    await editor.typed('gateway').fill(heard.at(-1)!);
    await choices()
      .filter({ hasText: heard.at(-1)! })
      .first()
      .waitFor();
  });

  it('have a green dot for a gateway that was heard, and say of one that was not that only the list has it', async () => {
    const { page } = editor;
    const link = choices().first().locator('.mt-gateway-link');
    const below = page.locator('.form-row:has(#node-input-gateway) .mt-gateway-hint');
    const words = { [service.demo.gateway]: 'connected', [UNHEARD]: 'connected · not heard yet' };
    await editor.edit('mt-gw-read');
    for (const [mac, shown] of Object.entries(words)) {
      await openAt('gateway');
      await editor.typed('gateway').fill(mac);
      await choices().filter({ hasText: mac }).and(choices().first()).waitFor();
      await link.waitFor();
      assert.equal(await link.innerText(), shown);
      assert.equal(await page.locator('.mt-gateway-choice .mt-gateway-on').count(), mac === UNHEARD ? 0 : 1);
      await choices().first().click();
      const named = service.devices.find(({ id }) => id.endsWith(mac))?.friendlyName;
      await below.filter({ hasText: new RegExp(`^${named} · ${shown}$`) }).waitFor();
    }
  });

  it('have a hint for an address that nobody has heard and no list has, as one that was mistyped', async () => {
    const { page } = editor;
    await editor.edit('mt-gw-write');
    await openAt('device');
    await editor.typed('device').fill('e4:a7:c5:99:99:99');
    await choices().filter({ hasText: 'e4:a7:c5:99:99:99' }).click();
    await page
      .locator('.form-row:has(#node-input-device) .mt-gateway-hint')
      .filter({ hasText: /^not heard yet$/ })
      .waitFor();
  });

  it('keep what the arrow keys have marked when the rest of the list comes', async () => {
    const { page } = editor;
    const lists = ({ pathname, searchParams }: URL) =>
      pathname.endsWith('/devices') && searchParams.get('q') === '';
    let answer = (): void => undefined;
    const isAnswered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let calls = 0;
    const { mac } = service.gateways.at(-1)!;
    const later = [{ id: `bmac-${mac}`, mac, name: '0 first of all' }];
    await page.route(lists, async (route) => {
      if (++calls === 1) {
        await route.fulfill({ status: 202, contentType: 'application/json', body: '{"loading":true}' });
      } else {
        await isAnswered;
        await route.fulfill({ contentType: 'application/json', body: JSON.stringify(later) });
      }
    });
    await editor.edit('mt-gw-read');
    await openAt('gateway');
    await page.keyboard.press('ArrowDown');
    const marked = page.locator('.mt-gateway-choice[aria-selected="true"] .mt-gateway-choice-title');
    const title = await marked.innerText();
    assert.equal(title, (await titles())[0]);
    answer();
    await choices().filter({ hasText: '0 first of all' }).waitFor();
    assert.equal(await marked.innerText(), title);
    await page.unroute(lists);
  });

  it('offer a device where a device is asked for, told apart by its signal and its battery', async () => {
    const { device } = service.demo;
    await publish('rssi', { parent: service.demo.gateway, rssi: -67 });
    await publish('property-decoded/battery-level', { value: 81 });
    await editor.edit('mt-gw-read');
    await openAt('device');
    assert.deepEqual(await titles(), ['Meeting room 2.14']);
    const words = await choices().first().innerText();
    assert.ok(words.includes(device), words);
    assert.match(words, /-67 dBm · battery 81 %/);
  });

  it('offer no device where a gateway is asked for, though the list has devices, too', async () => {
    const { page } = editor;
    await publish('rssi', { parent: service.demo.gateway, rssi: -67 });
    await editor.edit('mt-gw-read');
    await openAt('gateway');
    await editor.typed('gateway').fill('Meeting room');
    await page.locator('.mt-gateway-list-note', { hasText: 'Must be a MAC address' }).waitFor();
    assert.equal(await choices().count(), 0, (await titles()).join());
  });

  it('stay open where somebody clicks into the field, until Escape, or a click on the button that has opened them', async () => {
    const list = editor.page.locator('.mt-gateway-list:visible');
    await editor.edit('mt-gw-read');
    await openAt('device');
    await editor.typed('device').click();
    assert.equal(await list.count(), 1);
    await editor.page.keyboard.press('Escape');
    await list.waitFor({ state: 'hidden' });
    await editor.typed('device').click();
    await list.waitFor();
    await editor.page.locator('#node-input-device ~ .mt-gateway-pick').click();
    await list.waitFor({ state: 'hidden' });
  });

  it('offer labels of gateways, and not that of a device, where reports are filtered by the label of a gateway', async () => {
    const { page } = editor;
    await publish('rssi', { parent: service.demo.gateway, rssi: -67 });
    await editor.edit('mt-report-in');
    const caption = await page.locator('#mt-gateway-label-labels').innerText();
    assert.equal(caption.trim(), 'Labels of gateways');
    await page.click('#mt-gateway-labels input');
    await choices().first().waitFor();
    const offered = await titles();
    assert.ok(offered.includes('floor-1') && !offered.includes('spare-desk'), offered.join());
  });

  it('speak of no devices in a list of labels while the service is not deployed', async () => {
    const { page } = editor;
    const labels = ({ pathname }: URL) => pathname.endsWith('/labels');
    await page.route(labels, (route) => route.fulfill({ status: 404, body: '[]' }));
    await editor.edit('mt-report-in');
    await page.click('#mt-gateway-labels input');
    const note = page.locator('.mt-gateway-list-note:visible');
    await note.filter({ hasText: 'Deploy once' }).waitFor();
    assert.doesNotMatch(await note.innerText(), /devices/);
    await page.unroute(labels);
  });

  it('tell below the gateway that a device which is picked needs none', async () => {
    const { page } = editor;
    const words = page.locator('.form-row:has(#node-input-gateway) .mt-gateway-hint', {
      hasText: 'the gateway that hears the device best',
    });
    await publish('rssi', { parent: service.demo.gateway, rssi: -67 });
    await editor.edit('mt-gw-read');
    assert.equal(await words.isVisible(), false);
    await editor.pick('device', service.demo.device);
    await words.waitFor();
    await editor.pick('gateway', service.demo.gateway);
    await words.waitFor({ state: 'hidden' });
  });

  for (const type of ['mt-gw-read', 'mt-gw-write', 'mt-last-value']) {
    it(`empty the gateway that would come with the message when a device is chosen: ${type}`, async () => {
      const { page } = editor;
      const { device, gateway } = service.demo;
      const chosen = ['gateway', 'gatewayType', 'device', 'deviceType'];
      const typeOf = (name: string) => page.locator(`#node-input-${name}Type`).inputValue();
      await publish('rssi', { parent: gateway, rssi: -67 });
      await editor.edit(type);
      await editor.pick('device', device);
      assert.deepEqual([await typeOf('gateway'), await editor.typed('gateway').inputValue()], ['str', '']);
      await page
        .locator('.form-row:has(#node-input-gateway) .mt-gateway-hint', { hasText: 'Without one:' })
        .waitFor();
      // Whoever wants that of the message all the same takes it.
      await page.evaluate("$('#node-input-gateway').typedInput('type', 'msg')");
      await editor.typed('device').fill(gateway);
      assert.equal(await typeOf('gateway'), 'msg');
      await editor.press('cancel');

      await editor.edit(type);
      await editor.pick('device', device);
      await page.evaluate("$('#node-input-device').typedInput('type', 'msg')");
      assert.deepEqual(
        [await typeOf('gateway'), await editor.typed('gateway').inputValue()],
        ['msg', 'gateway'],
      );
      await editor.press('cancel');

      // What a variable brings is a device that somebody has chosen, too.
      for (const source of ['flow', 'env']) {
        await editor.edit(type);
        await page.evaluate(`$('#node-input-device').typedInput('type', '${source}')`);
        await editor.typed('device').fill('WINDOW');
        assert.deepEqual([await typeOf('gateway'), await editor.typed('gateway').inputValue()], ['str', '']);
        await editor.press('cancel');
      }

      await editor.edit(type);
      await editor.pick('gateway', gateway);
      await editor.pick('device', device);
      assert.equal(await editor.typed('gateway').inputValue(), gateway);
      await editor.press('cancel');

      await editor.edit(type);
      await editor.pick('device', device);
      await editor.press('ok');
      const saved = { gateway: '', gatewayType: 'str', device, deviceType: 'str' };
      assert.deepEqual(await editor.properties(type, chosen), saved);
      await editor.edit(type);
    });
  }

  it('leave the gateway of the message to a node that has a device, as long as nobody chooses another', async () => {
    const names = ['gateway', 'gatewayType', 'device', 'deviceType'];
    const before = await editor.properties('named', names);
    await editor.edit('named');
    assert.equal(await editor.page.locator('#node-input-gatewayType').inputValue(), 'msg');
    await editor.press('ok');
    assert.deepEqual(await editor.properties('named', names), before);
    await editor.edit('named');
  });

  it('show of a property what it means, its unit and what was heard last', async () => {
    await publish('measurement-decoded/humidity', { value: 55 });
    await publish('measurement-decoded/humidity', { value: 41.5 });
    await editor.edit('mt-gw-read');
    await openAt('identifier');
    const row = choices().filter({ hasText: 'humidity' }).first();
    assert.match(await row.innerText(), /41\.5 %[\s\S]*relative humidity · % · 8802/);
  });

  it('say below a field, too, how the device is heard and what its property was last', async () => {
    const { page } = editor;
    await publish('rssi', { parent: service.demo.gateway, rssi: -67 });
    await publish('measurement-decoded/humidity', { value: 41.5 });
    await editor.edit('mt-gw-read');
    await editor.pick('device', service.demo.device);
    const below = (name: string, hasText: string) =>
      page.locator(`.form-row:has(#node-input-${name}) .mt-gateway-hint`, { hasText }).waitFor();
    await below('device', '-67 dBm');
    await openAt('identifier');
    await choices().filter({ hasText: 'humidity' }).first().click();
    await below('identifier', 'last: 41.5 %');
    // Of which device is not known before a message comes.
    await page.evaluate("$('#node-input-device').typedInput('type', 'msg')");
    const words = page.locator('.form-row:has(#node-input-identifier) .mt-gateway-hint');
    await words.filter({ hasNotText: 'last:' }).waitFor();
    await editor.pick('device', service.demo.device);
    await below('identifier', 'last: 41.5 %');
  });

  it('explain every property in words, what nobody knows too, and repeat it below the chosen one', async () => {
    await publish('property-decoded/ef10', { value: '00c0ffee' });
    await editor.edit('mt-gw-read');
    await openAt('identifier');
    const details = await choices().locator('.mt-gateway-choice-detail').allInnerTexts();
    assert.ok(details.length > 40);
    // A temperature is a temperature.
    assert.deepEqual(
      details.filter((words) => !/[a-z]{2} [a-z]|[a-z]{4}/.test(words)),
      ['°C · 8800'],
    );
    const row = choices().filter({ hasText: 'ef10' });
    assert.match(await row.innerText(), /not in the catalogue/);
    await choices().filter({ hasText: 'motion' }).first().click();
    await editor.page.locator('.mt-gateway-hint', { hasText: '16 and 17 moved' }).waitFor();
  });

  it('open right below their field, and stay there when the panel is scrolled', async () => {
    const { page } = editor;
    await editor.edit('mt-report-in');
    const gap = async () => {
      const [field, list] = await Promise.all([
        page.locator('#mt-gateway-devices').boundingBox(),
        page.locator('.mt-gateway-list').boundingBox(),
      ]);
      assert.ok(field && list);
      const above = field.y - (list.y + list.height);
      return [Math.round(Math.max(list.y - (field.y + field.height), above)), Math.round(list.x - field.x)];
    };
    await page.click('#mt-gateway-devices input');
    await choices().first().waitFor();
    assert.deepEqual(await gap(), [2, 0]);
    // The click has scrolled the panel down to its field.
    const { scrolled, from } = (await page.evaluate(`(() => {
      const content = document.querySelector('.mt-gateway-fields');
      const from = content.scrollTop;
      content.scrollTop += from > 20 ? -20 : 20;
      return { from, scrolled: content.scrollTop };
    })()`)) as { scrolled: number; from: number };
    assert.equal(Math.abs(scrolled - from), 20);
    await page.waitForFunction(`(() => {
      const box = (css) => document.querySelector(css)?.getBoundingClientRect();
      const [field, list] = [box('#mt-gateway-devices'), box('.mt-gateway-list')];
      return field && list && Math.abs(list.top - field.bottom - 2) < 1.5;
    })()`);
  });

  it('have a border that can be seen in the dark theme', async () => {
    await editor.edit('mt-gw-read');
    await openAt('gateway');
    const colour = (css: string, property: string) =>
      editor.page
        .locator(css)
        .evaluate((one, name) => getComputedStyle(one).getPropertyValue(name), property);
    const border = await colour('.mt-gateway-list', 'border-top-color');
    const around = await colour('.red-ui-tray', 'background-color');
    assert.ok(contrast(border, around) > 3, `${border} on ${around}`);
  });

  it('search by what is typed after their button, in place of what stands there, which Escape brings back', async () => {
    const { page } = editor;
    await editor.edit('named');
    await page.evaluate("$('#node-input-identifier').typedInput('type', 'str')");
    const field = editor.typed('identifier');
    await field.fill('firmware-version');
    // Before its choices are searched: they do not come later either.
    await page.keyboard.press('Escape');
    const search = async (words: string) => {
      await page.locator('#node-input-identifier ~ .mt-gateway-pick').click();
      await page.locator('.mt-gateway-choice').first().waitFor();
      await page.keyboard.type(words);
      await page.locator('.mt-gateway-choice', { hasText: 'humidity' }).first().waitFor();
    };
    await search('humid');
    assert.equal(await field.inputValue(), 'humid');
    await page.keyboard.press('Escape');
    await page.locator('.mt-gateway-choice').first().waitFor({ state: 'hidden' });
    assert.equal(await field.inputValue(), 'firmware-version');
    await search('humid');
    await page.keyboard.press('Enter');
    await page.locator('.mt-gateway-choice').first().waitFor({ state: 'hidden' });
    assert.equal(await field.inputValue(), 'humidity');
  });

  it('offer a property of one’s own by its name, and put in the id that gateways know', async () => {
    const { page } = editor;
    const own = JSON.stringify([{ id: '8a00', name: 'co2', type: 'u16', unit: 'ppm' }]);
    await page.evaluate(`RED.nodes.node('service').identifiers = ${JSON.stringify(own)}`);
    await editor.edit('named');
    await page.evaluate("$('#node-input-identifier').typedInput('type', 'str')");
    await editor.pick('identifier', 'co2');
    assert.equal(await editor.typed('identifier').inputValue(), '8a00');
    await page.locator('.mt-gateway-hint', { hasText: 'co2' }).first().waitFor();
    await page.evaluate("RED.nodes.node('service').identifiers = []");
  });
});

/** The contrast ratio of WCAG 2.2. */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other].map(luminance).sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
