// The sidebar of the package in a browser: opens its tab, and finds what stands in it.
import type { Locator, Page } from 'playwright-core';
import type { Editor } from './browser.ts';

export interface Sidebar {
  tree: Locator;
  /** The row of a gateway or device with this name. */
  row(name: string): Locator;
  /** Names of all rows that are drawn, in the order in which they stand. */
  names(): Promise<string[]>;
  /** Waits until these words are said in place of the tree or above it. */
  says(words: string | RegExp): Promise<void>;
}

/** @param isFolded where there is little room, order and filters stay behind their button */
export async function openSidebar({ page }: Editor, isFolded = false): Promise<Sidebar> {
  await page.evaluate("RED.sidebar.show('mt-gateway')");
  await page.locator('.mt-gateway-side').waitFor();
  const more = page.locator('.mt-gateway-side-more');
  if (!isFolded && (await more.getAttribute('aria-expanded')) === 'false') {
    await more.dispatchEvent('click');
  }
  return sidebarOf(page);
}

export function sidebarOf(page: Page): Sidebar {
  const tree = page.locator('.mt-gateway-tree');
  return {
    tree,
    row: (name) => tree.locator('[role=treeitem]', { hasText: name }).first(),
    names: () => tree.locator('.mt-gateway-item-name').allInnerTexts(),
    says: (words) => page.locator('.mt-gateway-side-note', { hasText: words }).waitFor(),
  };
}

/** A click on the arrow that opens or closes a row. */
export const toggle = (row: Locator): Promise<void> => row.locator('.mt-gateway-item-arrow').click();

/** Moves the pointer over a row, to and fro. @returns stops that */
export async function pointAt(page: Page, row: Locator): Promise<() => Promise<void>> {
  await row.hover();
  const { x, y, width } = (await row.boundingBox())!;
  const pointing = new AbortController();
  // A test that fails meanwhile leaves the list to the next one.
  const isOver = AbortSignal.any([pointing.signal, AbortSignal.timeout(15_000)]);
  const moving = (async () => {
    for (let step = 0; !isOver.aborted; step++) {
      await page.mouse.move(x + 20 + (step % (width - 40)), y + 20);
    }
  })();
  return async () => {
    pointing.abort();
    await moving;
  };
}

/** Much longer than a change takes to be shown. */
export const untilShown = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise((done) => setTimeout(done, 2_500))');
