// The live preview of mt-report-in: the last reports that would pass the settings as they stand in the open panel.
import { element, runOnChange } from '../shared/editor/panel.ts';
import type { EditorNode } from '../shared/editor/red.ts';
import { currentSettings } from '../shared/editor/saved.ts';
import { chosenService, howToDeploy } from '../shared/editor/sources.ts';

const REFRESH_INTERVAL_MS = 2_000;
const MAX_ROWS = 8;

interface PreviewRow {
  time?: string;
  gateway?: string;
  gatewayName?: string;
  device?: string;
  deviceName?: string;
  kind?: string;
  identifier?: string;
  name?: string;
  value?: unknown;
  unit?: string;
}

/** Asks again and again while the panel is open, and at once when another service is chosen. @returns stops it */
export function startPreview(
  container: JQuery,
  node: EditorNode,
  lists: () => Record<string, unknown>,
): () => void {
  // Copies of a report differ in the gateway that heard it. The column stays once it is shown, so that the table does not jump.
  let gateways = new Set<string>();
  let newestRefresh = 0;
  let timer: number | undefined;
  const refresh = async () => {
    window.clearTimeout(timer);
    newestRefresh += 1;
    const ownRefresh = newestRefresh;
    const shown = await preview(node, lists(), gateways);
    if (ownRefresh === newestRefresh && document.contains(container[0] ?? null)) {
      container.empty().append(shown);
      timer = window.setTimeout(() => void refresh(), REFRESH_INTERVAL_MS);
    }
  };
  runOnChange(['service'], () => {
    // A new set, because the response of the service before may still come.
    gateways = new Set();
    void refresh();
  });
  return () => {
    newestRefresh += 1;
    window.clearTimeout(timer);
  };
}

async function preview(
  node: EditorNode,
  lists: Record<string, unknown>,
  gateways: Set<string>,
): Promise<JQuery> {
  const service = chosenService();
  if (service === '') {
    return note(node._('preview.noService'));
  }
  const settings = { ...currentSettings(node), ...lists, node: node.id, z: node.z, limit: MAX_ROWS };
  try {
    const response: unknown = await $.ajax({
      url: `mt-service/${encodeURIComponent(service)}/preview`,
      method: 'POST',
      contentType: 'application/json',
      data: JSON.stringify(settings),
      timeout: 10_000,
    });
    const rows = Array.isArray(response) ? (response as PreviewRow[]) : [];
    for (const { gateway } of rows) {
      gateways.add(gateway ?? '');
    }
    return reportTable(node, rows, gateways.size > 1);
  } catch (failure) {
    const { status, responseJSON } = failure as JQuery.jqXHR;
    const words = (responseJSON as { message?: unknown } | undefined)?.message;
    if (status === 404) {
      return note(howToDeploy(node._('preview.deployFirst')));
    }
    return note(
      status === 401
        ? node._('preview.forbidden')
        : typeof words === 'string'
          ? words
          : node._('preview.failed'),
    );
  }
}

const note = (words: string) => element('div', 'mt-gateway-preview-note', words);

function reportTable(node: EditorNode, rows: readonly PreviewRow[], withGateway: boolean): JQuery {
  if (rows.length === 0) {
    return note(node._('preview.nothing'));
  }
  const columns = COLUMNS.filter(({ name }) => withGateway || name !== 'gateway');
  const table = element('table', '');
  const head = element('tr', '').appendTo(element('thead', '').appendTo(table));
  for (const { name } of columns) {
    element('th', '', node._(`preview.${name}`))
      .attr('scope', 'col')
      .appendTo(head);
  }
  const body = element('tbody', '').appendTo(table);
  for (const report of rows) {
    const line = element('tr', '').appendTo(body);
    for (const { show, more } of columns) {
      const cell = show(report);
      element('td', '', cell)
        .attr('title', more?.(report) ?? cell)
        .appendTo(line);
    }
  }
  return table;
}

interface Column {
  name: string;
  show(report: PreviewRow): string;
  /** What pointing at a cell shows, where that is more than its text. */
  more?(report: PreviewRow): string;
}

const joined = (parts: readonly unknown[], by: string) => parts.filter(Boolean).join(by);

const COLUMNS: readonly Column[] = [
  { name: 'time', show: ({ time }) => shownTime(time) },
  {
    name: 'gateway',
    show: ({ gateway, gatewayName }) => gatewayName ?? gateway ?? '',
    more: ({ gateway, gatewayName }) => joined([gatewayName, gateway], ' · '),
  },
  {
    name: 'device',
    show: ({ device, deviceName }) => deviceName ?? device ?? '',
    more: ({ device, deviceName }) => joined([deviceName, device], ' · '),
  },
  { name: 'what', show: ({ kind, name, identifier }) => joined([kind, name ?? identifier], ' · ') },
  { name: 'value', show: ({ value, unit }) => joined([shownValue(value), unit], ' ') },
];

function shownTime(time = ''): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? time : at.toLocaleTimeString();
}

function shownValue(value: unknown): string {
  if (value === undefined || value === null) {
    return '';
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
