// A browser in front of a real Node-RED's editor, with the hands of a user: drag, open, type, pick, save, deploy.
import assert from 'node:assert/strict';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { type NodeConfig, type NodeRed, startNodeRed, VERSIONS, type Version } from '../e2e/node-red.ts';
import type { PackageFolder } from '../e2e/package.ts';
import { limit } from '../limits.ts';
import { findBrowser, requireBrowser } from '../requirements.ts';
import { takeFlows } from './take-flows.ts';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // What the palette manager would fetch is nobody's business in a test. A route of Playwright would turn the cache off.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

/**
 * Only ends what hangs: several pages that load at once on a busy machine take long. Less than any test may take: then it is
 * told what was waited for.
 */
const MAX_WAIT_MS = limit(40_000);

/**
 * Node-RED's own: its tips fail where one of them is due before their place in the sidebar is there, and its description
 * where it is to fit into a panel that is closed by then.
 */
const OF_NODE_RED =
  /undefined \(reading 'html'\)|null \(reading 'resize'\)\s+at Object\.resize \(\S+\/red\/red\.min\.js/;

export type Theme = 'light' | 'dark';

export interface EditorOptions {
  theme?: Theme;
  login?: { username: string; password: string };
  language?: string;
  width?: number;
  height?: number;
}

export interface Editor {
  page: Page;
  /** Errors that the page has thrown or logged. */
  errors: string[];
  /** Drags a node from the palette onto the flow, or onto a wire that goes through this place; answers its id. */
  drag(type: string, x: number, y: number, onWire?: boolean): Promise<string>;
  /** Opens a node's panel. */
  edit(id: string): Promise<void>;
  /** Opens a node's panel by a double click. */
  open(id: string): Promise<void>;
  /** Opens the panel of a config node. */
  editConfig(type: string, id: string): Promise<void>;
  /** Presses Done, Update or Cancel in the topmost panel. */
  press(button: 'ok' | 'cancel', config?: boolean): Promise<void>;
  deploy(): Promise<void>;
  /** Loads the editor again, with the flows that are deployed now. */
  reload(): Promise<void>;
  /**
   * The same for a test that is not about loading: the page stays and begins anew with these flows. What a test has
   * changed of the page itself stays, and so does the sidebar.
   */
  takeFlows(): Promise<void>;
  /** A property of a node as the editor holds it. */
  property(id: string, name: string): Promise<unknown>;
  /** Several properties of a node, by name. */
  properties(id: string, names: readonly string[]): Promise<Record<string, unknown>>;
  /** The visible field of a typed field. */
  typed(name: string): Locator;
  /** Opens a typed field's picker by its button, and takes the choice with this text. */
  pick(name: string, choice: string): Promise<void>;
  close(): Promise<void>;
}

/** Whether a drop-down has room for the longest of its choices. */
export const showsChoices = (select: Locator): Promise<boolean> =>
  select.evaluate((one: HTMLElement) => {
    const free = one.cloneNode(true) as HTMLElement;
    free.style.cssText = 'position: absolute; width: max-content';
    one.after(free);
    const needed = free.offsetWidth;
    free.remove();
    return one.offsetWidth >= needed;
  });

let shared: Promise<Browser> | undefined;

function launch(): Promise<Browser> {
  const executablePath = findBrowser();
  assert.ok(executablePath, 'no browser found');
  shared ??= chromium.launch({ executablePath, args: FLAGS });
  return shared;
}

/** Ends the browser of this run. */
export async function closeBrowser(): Promise<void> {
  const browser = await shared;
  shared = undefined;
  await browser?.close();
}

/** Opens the editor and waits until the flows are drawn. */
export async function openEditor(url: string, options: EditorOptions = {}): Promise<Editor> {
  const { theme = 'light', login, language = 'en-US', width = 1280, height = 900 } = options;
  const browser = await launch();
  const context = await browser.newContext({
    viewport: { width, height },
    locale: language,
    colorScheme: theme,
  });
  await context.addInitScript(HURRY_PANELS);
  const page = await context.newPage();
  page.setDefaultTimeout(MAX_WAIT_MS);
  // For pictures in descriptions: three megabytes. A route would turn the cache off.
  const devTools = await context.newCDPSession(page);
  await devTools.send('Network.setBlockedURLs', { urls: ['*/mermaid.min.js*'] });
  const errors: string[] = [];
  page.on('pageerror', (error) => {
    const text = error.stack ?? error.message;
    if (!OF_NODE_RED.test(text)) {
      errors.push(text);
    }
  });
  page.on('console', (message) => {
    const text = message.text();
    if (/oneditprepare|oneditsave|Validation error|TypeError/.test(text)) {
      errors.push(text);
    }
  });
  await page.goto(url);
  if (login) {
    await page.fill('#node-dialog-login-username', login.username);
    await page.fill('#node-dialog-login-password', login.password);
    await page.click('#node-dialog-login-submit');
  }
  await drawn(page);
  if (theme === 'dark') {
    await page.evaluate(() => document.documentElement.classList.add('nr-theme-dark'));
  }
  return { ...hands(page), page, errors, close: () => context.close() };
}

/** For the browser: panels slide in and out by timers and a transition of Node-RED, which only take time. */
const HURRY_PANELS = `
  const wait = window.setTimeout;
  const isOfEditor = () => new Error().stack.includes('/red/red.');
  window.setTimeout = (call, ms, ...rest) => wait(call, [150, 200, 250].includes(ms) && isOfEditor() ? 0 : ms, ...rest);
  document.addEventListener('DOMContentLoaded', () => {
    const style = document.createElement('style');
    style.textContent = '.red-ui-tray { transition: none !important; }';
    document.head.append(style);
  });
`;

/** The editor is there when its palette, its flows and their nodes are. */
async function drawn(page: Page): Promise<void> {
  const item = '.red-ui-palette-node[data-palette-type="mt-report-in"]';
  await page.waitForSelector(item, { state: 'attached' });
  await page.waitForSelector('#red-ui-loading-progress', { state: 'hidden' });
  await page.waitForSelector('.red-ui-flow-node', { state: 'attached' });
  // Node-RED's own tips fail on a page that was opened again while one of them was due.
  await page.evaluate("RED.actions.invoke('core:toggle-show-tips', false)");
}

/** For the tests of a `describe`: the editor of a Node-RED of its own, with these nodes deployed. */
export function useEditor(
  nodes: NodeConfig[],
  {
    version = VERSIONS[0]!,
    packages,
    ...options
  }: EditorOptions & { version?: Version; packages?: readonly PackageFolder[] } = {},
): { readonly editor: Editor } {
  const used = {} as { editor: Editor };
  let red: NodeRed;
  before(async function () {
    this.timeout(180_000);
    requireBrowser(this);
    red = await startNodeRed(version, {}, [], undefined, packages);
    await red.deploy(nodes);
    used.editor = await openEditor(red.url, options);
  });
  after(async () => {
    await closeBrowser();
    await red?.stop();
  });
  return used;
}

/**
 * Each test of the block fails when its page has had an error. Not in a hook: one that fails ends the block, and nothing is
 * tried again.
 */
export function withoutPageErrors(editorOf: () => Editor | undefined): void {
  beforeEach(function () {
    const test = this.currentTest as Mocha.Runnable;
    const body = test.fn as (this: Mocha.Context) => unknown;
    test.fn = async function (this: Mocha.Context) {
      editorOf()?.errors.splice(0);
      try {
        await body.call(this);
      } catch (error) {
        throw await withSight(error, editorOf()?.page);
      }
      assert.deepEqual(editorOf()?.errors, []);
    };
  });
}

/** For the browser: the panel, the lists and the messages that lie over the flow, and what has the focus. */
const SIGHT = `[
  ...[...document.querySelectorAll('.red-ui-tray, .mt-gateway-list, .red-ui-notification, .red-ui-popover')]
    .map((one) => one.className + ': ' + one.innerText.replace(/\\s+/g, ' ').slice(0, 400)),
  'focus: ' + document.activeElement?.outerHTML.slice(0, 200),
].join('\\n')`;

/** What hangs shows seldom: its error tells what stood in the page then. */
async function withSight(error: unknown, page: Page | undefined): Promise<unknown> {
  if (error instanceof Error && page !== undefined && !page.isClosed()) {
    const sight = await page.evaluate(SIGHT).catch((reason: unknown) => reason);
    error.message += `\n${sight}`;
    // That is what is printed, and it has the message from before.
    error.stack = `${error.message}\n${error.stack}`;
  }
  return error;
}

function hands(page: Page): Omit<Editor, 'page' | 'errors' | 'close'> {
  const typed = (name: string) =>
    page.locator(`#node-input-${name} ~ .red-ui-typedInput-container .red-ui-typedInput-input`).first();
  return {
    typed,
    drag: (type, x, y, onWire) => drag(page, type, x, y, onWire),
    async edit(id) {
      await page.evaluate(`RED.editor.edit(RED.nodes.node(${JSON.stringify(id)}))`);
      await settled(page);
    },
    async open(id) {
      await page.locator(`[id="${id}"] > .red-ui-flow-node`).first().dblclick();
      await settled(page);
    },
    async editConfig(type, id) {
      await page.evaluate(`RED.editor.editConfig('', ${JSON.stringify(type)}, ${JSON.stringify(id)})`);
      await settled(page);
    },
    async reload() {
      await page.reload();
      await drawn(page);
    },
    takeFlows: () => takeFlows(page),
    async press(button, config = false) {
      const pressed = page.locator(`#node-${config ? 'config-' : ''}dialog-${button}`);
      await pressed.click();
      await pressed.waitFor({ state: 'detached' });
    },
    async deploy() {
      const deployed = page.waitForResponse(
        (response) => response.request().method() === 'POST' && /\/flows$/.test(response.url()),
      );
      await page.click('#red-ui-header-button-deploy');
      assert.ok((await deployed).ok());
      await page.waitForSelector('#red-ui-header-button-deploy.disabled');
    },
    property: (id, name) => page.evaluate(`RED.nodes.node(${JSON.stringify(id)})[${JSON.stringify(name)}]`),
    properties: (id, names) =>
      page.evaluate(
        `(({ ...node }) => Object.fromEntries(${JSON.stringify(names)}.map((name) => [name, node[name]])))(RED.nodes.node(${JSON.stringify(id)}))`,
      ),
    async pick(name, choice) {
      await page.locator(`#node-input-${name} ~ .mt-gateway-pick`).click();
      await page.locator('.mt-gateway-choice', { hasText: choice }).first().click();
    },
  };
}

/** For the browser: a part of a panel is not scrolled away, not even in part, and nothing lies over its middle. */
export function isSeen(part: Element): boolean {
  const { left, right, top, bottom } = part.getBoundingClientRect();
  const clip = part.closest('.mt-gateway-fields, .mt-gateway-below')?.getBoundingClientRect();
  const found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return (
    clip !== undefined &&
    found !== null &&
    (part.contains(found) || found.contains(part)) &&
    top >= clip.top - 1 &&
    bottom <= Math.min(clip.bottom, window.innerHeight) + 1
  );
}

/** The panel slides in: it is there when it has stopped moving and its buttons can be used. */
async function settled(page: Page): Promise<void> {
  const tray = page.locator('.red-ui-tray').last();
  await tray.locator('form').first().waitFor({ state: 'visible' });
  await page.waitForFunction(
    (element) => {
      const moving = element as unknown as { lastX?: number };
      const { x, right } = (element as Element).getBoundingClientRect();
      const still = moving.lastX === x && right <= window.innerWidth;
      moving.lastX = x;
      return still;
    },
    await tray.elementHandle(),
    { polling: 'raf' },
  );
  // Node-RED puts the focus into it by a timer, which would take it from what is clicked before.
  await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
}

async function drag(page: Page, type: string, x: number, y: number, onWire = false): Promise<string> {
  const before = new Set(await ids(page));
  const item = page.locator(`.red-ui-palette-node[data-palette-type="${type}"]`);
  await item.scrollIntoViewIfNeeded();
  const [from, chart] = [
    await item.boundingBox(),
    await page.locator('#red-ui-workspace-chart').boundingBox(),
  ];
  assert.ok(from && chart);
  await page.mouse.move(from.x + 30, from.y + 10);
  await page.mouse.down();
  await page.mouse.move(chart.x + x - 20, chart.y + y - 20, { steps: 8 });
  await page.mouse.move(chart.x + x, chart.y + y, { steps: 4 });
  if (onWire) {
    await holdOver(page, chart.x + x, chart.y + y);
  }
  await page.mouse.up();
  await page.waitForFunction(
    `(() => { let count = 0; RED.nodes.eachNode(() => { count += 1; }); return count > ${before.size}; })()`,
  );
  const added = (await ids(page)).find((id) => !before.has(id));
  assert.ok(added);
  return added;
}

/** The editor looks for a wire only now and then: a hand goes on moving until the wire is dashed. */
async function holdOver(page: Page, x: number, y: number): Promise<void> {
  const dashed = page.locator('.red-ui-flow-link-splice');
  for (let step = 0; (await dashed.count()) === 0; step++) {
    assert.ok(step < 100, 'no wire here');
    await page.mouse.move(x + (step % 3), y);
    await page.evaluate('new Promise(requestAnimationFrame)');
  }
}

function ids(page: Page): Promise<string[]> {
  return page.evaluate(
    '(() => { const all = []; RED.nodes.eachNode((node) => { all.push(node.id); }); return all; })()',
  );
}
