// Writes docs/images/dashboard.png: the dashboard after a while of traffic, during which one gateway was away.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ask, openDashboard } from './dashboard.ts';

const IMAGES = join(import.meta.dirname, '../../docs/images');
const WINDOW = 120;

async function main(): Promise<void> {
  await mkdir(IMAGES, { recursive: true });
  const { service, page, close } = await openDashboard({
    service: { rate: 40, seed: 7, ackTimeout: 5_000, named: true },
    window: WINDOW,
  });
  try {
    const [first, second] = service.gateways;
    if (!first || !second) {
      return;
    }
    await wait((WINDOW * 1000) / 2);
    await service.away(first.mac);
    for (let moment = 0; moment < 5; moment++) {
      await wait((WINDOW * 1000) / 25);
      await service.publishSamples(40);
    }
    await service.back(first.mac);
    await wait((WINDOW * 1000) / 5);
    service.setRate(8);
    const { mac } = first.devices[0]!;
    await ask(page, { operation: 'apiversion', device: first.mac });
    await ask(page, { operation: 'read', device: mac, identifier: 'firmware-version' });
    await ask(page, { operation: 'write', device: mac, identifier: 'alarm', value: 'true' });
    await ask(page, { operation: 'read', device: mac, identifier: 'tx-power' });
    await ask(page, { operation: 'read', device: second.devices[0]!.mac, identifier: 'production-info' });
    await ask(page, { operation: 'read', device: mac, identifier: 'temperature' });
    const time = new Date().toISOString();
    await service.publish(first.mac, mac, 'heartbeat', { time, seq: 1, status: 4, lastCount: 0 });
    await page.locator('.mt-devices tbody tr', { hasText: 'status 4' }).first().click();
    await wait(3000);
    await page.screenshot({ path: join(IMAGES, 'dashboard.png') });
  } finally {
    await close();
  }
}

void main();
