// The dashboard sample in a browser: the demo's Node-RED in front of the service in a box, with a window of its own length.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { prepareFolder } from '../../examples/demo/folder.ts';
import { NodeRed } from '../../examples/demo/node-red.ts';
import manifest from '../../package.json' with { type: 'json' };
import type { ServiceOptions } from '../../simulator/src/options.ts';
import { type Service, startService } from '../../simulator/src/service.ts';
import { limit } from '../limits.ts';
import { freePort } from '../mosquitto.ts';
import { findBrowser } from '../requirements.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface Dashboard {
  service: Service;
  page: Page;
  /** What the page complained of. */
  errors: string[];
  close(): Promise<void>;
}

interface DashboardOptions {
  service: Partial<ServiceOptions>;
  /** Seconds that the lines show. */
  window: number;
}

async function setWindow(folder: string, seconds: number): Promise<void> {
  const file = join(folder, 'flows.json');
  const flows = JSON.parse(await readFile(file, 'utf8')) as { env?: { name: string; value: string }[] }[];
  const setting = flows.flatMap(({ env = [] }) => env).find(({ name }) => name === 'WINDOW_SECONDS');
  assert.ok(setting);
  setting.value = String(seconds);
  await writeFile(file, JSON.stringify(flows));
}

async function startDemo(folder: string, service: Service, port: number): Promise<NodeRed> {
  const env = {
    MT_DEMO_EDITOR_PORT: String(port),
    MT_DEMO_REST_URL: service.urls.base,
    MT_DEMO_BROKER_URL: service.urls.mqtt,
  };
  const nodeRed = new NodeRed({ root: ROOT, folder, env });
  await nodeRed.start();
  return nodeRed;
}

async function openPage(url: string): Promise<{ page: Page; errors: string[]; close(): Promise<void> }> {
  const executablePath = findBrowser();
  assert.ok(executablePath, 'no browser found');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  const page = await browser.newPage({ viewport: { width: 1600, height: 940 } });
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('Failed to load resource')) {
      errors.push(message.text());
    }
  });
  await page.route(/^https?:\/\/(?!127\.0\.0\.1)/, (route) => route.abort());
  page.setDefaultTimeout(limit(30_000));
  await page.goto(url);
  return { page, errors, close: () => browser.close() };
}

/** Starts everything; resolved when the page is there. What is open when a step fails is closed again. */
export async function openDashboard({ service: options, window }: DashboardOptions): Promise<Dashboard> {
  const folder = await mkdtemp(join(tmpdir(), 'mt-dashboard-'));
  const opened: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const end of opened.splice(0).reverse()) {
      await end();
    }
  };
  try {
    const service = await startService(options);
    opened.push(() => service.close());
    await prepareFolder(folder, {
      root: ROOT,
      packageName: manifest.name,
      fresh: false,
      login: { username: service.credentials.username, password: service.credentials.password },
    });
    await setWindow(folder, window);
    const port = await freePort();
    const nodeRed = await startDemo(folder, service, port);
    opened.push(() => nodeRed.stop());
    const browser = await openPage(`http://127.0.0.1:${port}/dashboard`);
    opened.push(() => browser.close());
    return { service, page: browser.page, errors: browser.errors, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Fills in the console's form, sends it and waits for the response. */
export async function ask(
  page: Page,
  request: { operation: string; device: string; identifier?: string; value?: string },
): Promise<string> {
  const form = page.locator('.mt-console');
  await form.locator('select').selectOption(request.operation);
  await form.getByLabel('Device').fill(request.device);
  if (request.identifier) {
    await form.getByLabel('Identifier').fill(request.identifier);
  }
  if (request.value) {
    await form.getByLabel('Value').fill(request.value);
  }
  const answers = form.locator('.mt-answer');
  const before = await answers.count();
  await form.getByRole('button').click();
  await answers.nth(before).waitFor();
  return answers.first().innerText();
}
