// The dashboard sample in a browser: what gateways report is what a visitor sees.
import assert from 'node:assert/strict';
import { findProgram, requirePrograms } from '../requirements.ts';
import { ask, BROWSERS, type Dashboard, openDashboard } from './dashboard.ts';

describe('the dashboard', () => {
  let dashboard: Dashboard;

  before(async function () {
    this.timeout(60_000);
    if (!findProgram(...BROWSERS)) {
      requirePrograms(this, 'chromium');
    }
    dashboard = await openDashboard({ service: { rate: 60, ackTimeout: 500, listed: 20 }, window: 60 });
  });

  after(() => dashboard?.close());

  it('lists the devices with what they measure, and finds one of them', async () => {
    const { page, service } = dashboard;
    const rows = page.locator('.mt-devices tbody tr');
    await rows.nth(20).waitFor();
    const { mac } = service.fleet.devices[3]!;
    await page.getByLabel('Search').fill(`${mac.slice(-4)} kyiv`);
    // A device is in the list when it has reported, so the search may find nothing at first.
    await rows.filter({ hasText: mac }).waitFor();
    assert.equal(await rows.count(), 1);
    await page.getByLabel('Search').fill('');
  });

  it('interrupts a line where reports were lost, and fills in the samples that come late', async () => {
    const { page, service } = dashboard;
    const [gateway] = service.gateways;
    // What has no line yet cannot be interrupted.
    await page.waitForFunction(
      (macs) =>
        [...document.querySelectorAll<HTMLElement>('.mt-devices tbody tr')].some(
          (row) => row.querySelector('.mt-line[d*="L"]') && macs.some((mac) => row.innerText.includes(mac)),
        ),
      gateway!.devices.map(({ mac }) => mac),
    );
    await service.away(gateway!.mac);
    await service.publishSamples(200);
    await service.publishReports(400);
    await service.back(gateway!.mac);
    await page.locator('.mt-spark .mt-gap').first().waitFor({ state: 'attached' });
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

  it('tells events', async () => {
    const { page } = dashboard;
    await page.locator('.mt-events .mt-chip.mt-event').first().waitFor();
    await page.locator('.mt-events .mt-chip.mt-error').first().waitFor();
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

  it('causes no error in the browser', () => {
    assert.deepEqual(dashboard.errors, []);
  });
});
