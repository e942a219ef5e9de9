// The dashboard sample in a browser: what gateways report is what a visitor sees.
import assert from 'node:assert/strict';
import { errors } from 'playwright-core';
import { requireBrowser } from '../requirements.ts';
import { ask, type Dashboard, openDashboard } from './dashboard.ts';

/** In the browser: nothing is wider than the page or than what it lies in. */
function isWithin(): boolean {
  const boxes = [
    ...document.querySelectorAll('.mt-card, .mt-card .mt-scroll, .mt-card td, .mt-card header, .mt-card li'),
  ];
  const isCut = boxes.some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1);
  const isWide = [...document.querySelectorAll('.mt-card *')].some(
    (part) => part.getBoundingClientRect().right > window.innerWidth + 1,
  );
  return !isCut && !isWide && document.documentElement.scrollWidth <= window.innerWidth;
}

describe('the dashboard', () => {
  let dashboard: Dashboard;

  before(async function () {
    this.timeout(60_000);
    requireBrowser(this);
    dashboard = await openDashboard({
      service: { rate: 60, ackTimeout: 500, listed: 60, named: true },
      window: 60,
    });
  });

  after(() => dashboard?.close());

  // What a test before it has looked for would hide the rows that this one waits for.
  beforeEach(() => dashboard.page.getByLabel('Search').fill(''));

  it('lists the devices with what they measure, and finds one of them', async () => {
    const { page, service } = dashboard;
    const rows = page.locator('.mt-devices tbody tr');
    await rows.nth(20).waitFor();
    const { mac } = service.fleet.devices[3]!;
    await page.getByLabel('Search').fill(`${mac.slice(-4)} lobby`);
    // A device is in the list when it has reported, so the search may find nothing at first.
    await rows.filter({ hasText: mac }).waitFor();
    await page.waitForFunction(() => document.querySelectorAll('.mt-devices tbody tr').length === 1);
    await page.getByLabel('Search').fill('');
  });

  it('interrupts a line where reports were lost, and fills in the samples that come late', async () => {
    const { page, service } = dashboard;
    const [gateway] = service.gateways;
    const { mac } = gateway!.devices.find(({ role }) => role === 'sensor')!;
    const row = page.locator('.mt-devices tbody tr').filter({ hasText: mac });
    const report = async (...temperatures: number[]): Promise<void> => {
      for (const temperature of temperatures) {
        await service.steer({ device: mac, set: { temperature } });
      }
    };
    const isShown = (part: string, timeout: number) =>
      row
        .locator(part)
        .first()
        .waitFor({ state: 'attached', timeout })
        .then(() => true)
        .catch((error: Error) => {
          if (!(error instanceof errors.TimeoutError)) {
            throw error;
          }
          return false;
        });
    // On a busy machine what was before the loss may be older than the lines show when the page draws it.
    for (let isInterrupted = false; !isInterrupted; ) {
      // What has no line yet cannot be interrupted.
      await report(20, 21);
      await isShown('.mt-line[d*="L"]', 20_000);
      await service.away(gateway!.mac);
      await service.publishReports(400);
      await service.back(gateway!.mac);
      await report(22);
      // Looked for before samples come late: a line through one of them is not interrupted.
      isInterrupted = await isShown('.mt-gap', 20_000);
    }
    await service.away(gateway!.mac);
    await service.publishSamples(200);
    await service.back(gateway!.mac);
    await page.locator('.mt-spark .mt-dot-late').first().waitFor({ state: 'attached' });
  });

  it('draws who hears whom, the thicker the louder', async () => {
    const { page, service } = dashboard;
    await page
      .locator('.mt-map .mt-gateway')
      .nth(service.gateways.length - 1)
      .waitFor();
    const widths = await page
      .locator('.mt-map line')
      .evaluateAll((lines) => lines.map((line) => Number(line.getAttribute('stroke-width'))));
    assert.ok(widths.length > 20 && new Set(widths).size > 5);
  });

  const STRANGER = 'e4a7c51020ff';
  /** A report of a device that the simulator does not know, so that nothing else comes of it. */
  const tell = (suffix: string, payload: object): Promise<void> => {
    const { service } = dashboard;
    const time = new Date().toISOString();
    return service.publish(service.gateways[0]!.mac, STRANGER, suffix, { time, ...payload });
  };

  it('shows problems first, with the reason in words, and only them at a click on how many are fine', async () => {
    const { page } = dashboard;
    await tell('heartbeat', { seq: 1, status: 4, lastCount: 0 });
    const rows = page.locator('.mt-devices tbody tr');
    await rows
      .filter({ hasText: STRANGER })
      .filter({ hasText: 'reports an error or a warning (status 4)' })
      .waitFor();
    const states = () => rows.evaluateAll((all) => all.map((row) => row.classList.contains('mt-fine')));
    const all = await states();
    assert.equal(all[0], false);
    assert.deepEqual(
      all,
      [...all].sort((one, other) => Number(one) - Number(other)),
    );
    const fine = page.getByRole('button', { name: /of \d+ fine/ });
    await fine.click();
    await page.waitForFunction(() => !document.querySelector('.mt-devices tbody tr.mt-fine'));
    await rows.filter({ hasText: STRANGER }).waitFor();
    await fine.click();
    await page.locator('.mt-devices tbody tr.mt-fine').first().waitFor();
  });

  it('sorts the devices by any column, upwards and downwards', async () => {
    const { page } = dashboard;
    const head = page.locator('.mt-devices th').first();
    const names = () => page.locator('.mt-devices .mt-name').allInnerTexts();
    await head.getByRole('button').click();
    await page.locator('.mt-devices th[aria-sort="ascending"]', { hasText: 'Device' }).waitFor();
    const upwards = await names();
    assert.deepEqual(upwards, [...upwards].sort());
    await head.getByRole('button').click();
    await page.locator('.mt-devices th[aria-sort="descending"]', { hasText: 'Device' }).waitFor();
    const downwards = await names();
    assert.deepEqual(downwards, [...downwards].sort().reverse());
    await page.locator('.mt-devices select').evaluate((select: HTMLSelectElement) => {
      select.value = 'state';
      select.dispatchEvent(new Event('change'));
    });
  });

  it('opens a device at a click with its newest values as text, and fills it into the requests', async () => {
    const { page } = dashboard;
    const trap = '<img src="x" onerror="window.trapped = true">';
    await tell('property-decoded/note', { value: trap });
    await page.locator('.mt-devices tbody tr').filter({ hasText: STRANGER }).click();
    const panel = page.locator('.mt-panel');
    await panel.locator('h2', { hasText: STRANGER }).waitFor();
    await panel.getByText(trap).waitFor();
    await panel.getByText('reports an error or a warning (status 4)').waitFor();
    assert.equal(
      await page.getByLabel('Device', { exact: true }).and(page.locator('input')).inputValue(),
      STRANGER,
    );
    const { mac } = dashboard.service.fleet.devices[0]!;
    await page.locator('.mt-devices tbody tr').filter({ hasText: mac }).click();
    await panel.locator('.mt-chart .mt-line[d^="M"]').waitFor({ state: 'attached' });
    assert.ok(!(await page.evaluate(() => 'trapped' in window)));
    await panel.getByRole('button', { name: 'Close' }).click();
    await panel.getByText('Choose a device').waitFor();
  });

  it('keeps an alarm in its list until somebody acknowledges it', async () => {
    const { page } = dashboard;
    for (const seq of [2, 3, 4]) {
      // Each was measured at a time of its own.
      const time = new Date(Date.now() - 1000 + seq).toISOString();
      await tell('measurement-error/8802', { time, seq, error: 77 });
    }
    const alarm = page
      .locator('.mt-alarms li')
      .filter({ hasText: STRANGER })
      .filter({ hasText: 'relative humidity could not be measured (error code 77)' });
    await alarm.waitFor();
    await tell('measurement/8802', { seq: 5, value: '0239' });
    await alarm.filter({ hasText: 'over' }).waitFor();
    await page.reload();
    await alarm.getByRole('button', { name: 'Acknowledge' }).click();
    await alarm.waitFor({ state: 'detached' });
  });

  it('reads and writes by its console, and says what went wrong', async () => {
    const { page, service } = dashboard;
    const [sensor] = service.fleet.devices;
    const device = sensor!.mac;
    assert.equal(await ask(page, { operation: 'apiversion', device: sensor!.home.mac }), '"2.4.0"');
    assert.equal(await ask(page, { operation: 'read', device, identifier: 'firmware-version' }), '"3.4.1"');
    assert.equal(
      await ask(page, { operation: 'write', device, identifier: 'alarm', value: 'true' }),
      'written',
    );
    assert.equal(sensor!.values.get('9800'), '01');
    assert.match(await ask(page, { operation: 'read', device, identifier: 'no-such' }), /4/);
  });

  it('writes for a visitor only what its list allows', async () => {
    const { page, service } = dashboard;
    const [, sensor] = service.fleet.devices;
    sensor!.values.set('9800', '01');
    service.forgetCalls();
    const answer = await ask(page, {
      operation: 'write',
      device: sensor!.mac,
      identifier: 'factory-reset',
      value: '1',
    });
    assert.match(answer, /must not be written/);
    assert.equal(sensor!.values.get('9800'), '01');
    assert.ok(service.calls.operations.every(({ operation }) => !operation.startsWith('write')));
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`is ${colorScheme} where the reader wants it, from 1500 to 400 px wide, with nothing cut off`, async () => {
      const { page } = dashboard;
      await page.emulateMedia({ colorScheme });
      await page.waitForFunction((isDark) => {
        const { backgroundColor } = getComputedStyle(document.querySelector('.mt-card')!.closest('.v-card')!);
        const parts = backgroundColor.match(/\d+/g)!.slice(0, 3).map(Number);
        return parts.every((part) => (isDark ? part < 80 : part > 200));
      }, colorScheme === 'dark');
      for (const width of [1500, 1000, 400]) {
        await page.setViewportSize({ width, height: 860 });
        await page.waitForFunction(isWithin);
      }
    });
  }

  it('has buttons and fields that a finger can hit', async () => {
    const { page } = dashboard;
    const context = await page
      .context()
      .browser()!
      .newContext({
        hasTouch: true,
        isMobile: true,
        viewport: { width: 400, height: 860 },
      });
    try {
      const phone = await context.newPage();
      await phone.goto(page.url());
      await phone.locator('.mt-alarms li button').first().waitFor();
      await phone.locator('.mt-devices tbody tr').nth(10).waitFor();
      const heights = await phone
        .locator('.mt-card :is(button, input, select)')
        .evaluateAll((all) =>
          all.map((one) => one.getBoundingClientRect().height).filter((height) => height > 0),
        );
      assert.ok(heights.length > 15 && heights.every((height) => height >= 44));
      assert.ok(await phone.evaluate(isWithin));
    } finally {
      await context.close();
    }
  });

  it('causes no error in the browser', () => {
    assert.deepEqual(dashboard.errors, []);
  });
});
