// editor: how long a panel takes until it can be filled in, and the sidebar until its first rows are there.
import type { Page } from 'playwright-core';
import type { NodeConfig } from '../e2e/node-red.ts';
import { closeBrowser, openEditor } from '../editor/browser.ts';
import { median, type Row, showRatios } from './compare.ts';
import { oursByKind } from './flows.ts';
import { withLoad } from './load-client.ts';
import { settle, startBench } from './measure.ts';
import type { Options } from './run.ts';
import type { Traffic } from './traffic.ts';

const PANEL_LIMIT_MS = 50;
const ROWS_LIMIT_MS = 100;
const DEVICES = 50_000;
const GATEWAYS = 10;
/** Per second. */
const RATE = 20_000;
/** How often a panel is opened for each pair; the first time in a page is not among them. */
const OPENINGS = 5;

const MQTT_IN: NodeConfig = { id: 'core', type: 'mqtt in', broker: '', topic: '', wires: [[]] };

/** In the page. A panel can be filled in when it is drawn and Node-RED has given the first field the focus. */
const timePanel = (id: string) => `(async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const until = async (isThere) => { while (!isThere()) { await frame(); } };
  const start = performance.now();
  RED.editor.edit(RED.nodes.node(${JSON.stringify(id)}));
  const form = () => document.querySelector('.red-ui-tray #dialog-form');
  while (!form()) { await new Promise((resolve) => setTimeout(resolve)); }
  await frame();
  const time = performance.now() - start;
  document.querySelector('#node-dialog-cancel').click();
  await until(() => !document.querySelector('.red-ui-tray'));
  return time;
})()`;

/** In the page: from the choice of the tab on. */
const TIME_ROWS = `new Promise((resolve) => {
  const start = performance.now();
  const look = () => document.querySelector('.mt-gateway-tree [role=treeitem]')
    ? requestAnimationFrame(() => resolve(performance.now() - start))
    : requestAnimationFrame(look);
  RED.sidebar.show('mt-gateway');
  look();
})`;

async function timesOf(page: Page, id: string): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i <= OPENINGS; i++) {
    times.push((await page.evaluate(timePanel(id))) as number);
  }
  return times.slice(1);
}

const rowOf = (what: string, times: number[], limit: number, against: string, ratio: string): Row => ({
  ...{ case: 'editor', what, against, ratio },
  ours: `${median(times).toFixed(0)} ms (${Math.min(...times).toFixed(0)}–${Math.max(...times).toFixed(0)})`,
  reach: `≤ ${limit} ms`,
  reached: median(times) <= limit,
});

async function editor({ pairs, scale }: Options): Promise<Row[]> {
  const devices = Math.round(DEVICES * scale);
  const traffic: Traffic = { form: 'decoded', gateways: GATEWAYS, devices };
  return withLoad(async (broker, load) => {
    const bench = await startBench([...oursByKind(broker), MQTT_IN]);
    const panels: number[] = [];
    const core: number[] = [];
    const rows: number[] = [];
    try {
      await settle(bench, devices, () => load.order({ do: 'publish', traffic, count: devices, rate: RATE }));
      for (let pair = 0; pair < pairs; pair++) {
        const { page, close } = await openEditor(bench.red.url);
        rows.push((await page.evaluate(TIME_ROWS)) as number);
        panels.push(median(await timesOf(page, 'in-heartbeat')));
        core.push(median(await timesOf(page, 'core')));
        // Node-RED remembers the tab: the next one is to show it for the first time, too.
        const saved = page.waitForResponse((response) => response.url().endsWith('/settings/user'));
        await page.evaluate("RED.sidebar.show('info')");
        await saved;
        await close();
      }
    } finally {
      await closeBrowser();
      await bench.stop();
    }
    const against = `mqtt in: ${median(core).toFixed(0)} ms`;
    const ratio = showRatios(panels.map((time, i) => time / (core[i] ?? Number.NaN)));
    return [
      rowOf('opening the panel of report in', panels, PANEL_LIMIT_MS, against, ratio),
      rowOf(`first rows of the sidebar, ${devices} devices heard`, rows, ROWS_LIMIT_MS, '', ''),
    ];
  });
}

export const editorCases = { editor };
