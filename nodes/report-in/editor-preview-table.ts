// The reports of the preview as a table, of which a click sends one as a test; its columns keep their widths while reports come.
import { element, shorten } from '../shared/editor/panel.ts';
import type { EditorNode } from '../shared/editor/red.ts';
import { nameOfKind } from './editor-kinds.ts';

export interface PreviewRow {
  /** Not of the report itself. */
  topic?: string;
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
  [field: string]: unknown;
}

export interface TableOptions {
  /** `msg.payload` is the value alone. */
  onlyValue: boolean;
  send(row: PreviewRow): Promise<void>;
}

/** Characters of a payload in the table, and of the same when it is pointed at. */
const MAX_CELL_LENGTH = 500;
const MAX_MORE_LENGTH = 5_000;

interface Cell {
  text: string;
  /** What pointing at it shows, where that is more than its text. */
  more?: string;
}

const joined = (parts: readonly unknown[], by: string) => parts.filter(Boolean).join(by);

const named = (name: string | undefined, mac = ''): Cell => ({
  text: name ?? mac,
  more: joined([name, mac], ' · '),
});

const COLUMNS: Record<string, (report: PreviewRow, node: EditorNode, onlyValue: boolean) => Cell> = {
  time: ({ time }) => ({ text: shownTime(time), more: time ?? '' }),
  gateway: ({ gateway, gatewayName }) => named(gatewayName, gateway),
  device: ({ device, deviceName }) => named(deviceName, device),
  what: ({ kind = '', name, identifier }, node) => ({
    text: joined([name ?? identifier, nameOfKind(node, kind)], ' · '),
  }),
  payload: (report, _node, onlyValue) => payloadCell(report, onlyValue),
};

/** One line for each report; a click on it, or its button, sends it. */
export function reportTable(node: EditorNode, rows: readonly PreviewRow[], options: TableOptions): JQuery {
  // A value is short: there is room to read which kind it came with.
  const table = element('table', options.onlyValue ? 'mt-gateway-preview-values' : '');
  const head = element('tr', '').appendTo(element('thead', '').appendTo(table));
  for (const name of Object.keys(COLUMNS)) {
    const words = name === 'payload' ? 'msg.payload' : node._(`preview.${name}`);
    element('th', `mt-gateway-preview-${name}`, words).attr('scope', 'col').appendTo(head);
  }
  element('th', 'mt-gateway-preview-send').appendTo(head);
  const body = element('tbody', '').appendTo(table);
  for (const report of rows) {
    reportLine(node, report, options).appendTo(body);
  }
  return table;
}

function reportLine(node: EditorNode, report: PreviewRow, { onlyValue, send }: TableOptions): JQuery {
  const line = element('tr', '').on('click', () => void send(report));
  for (const show of Object.values(COLUMNS)) {
    const { text, more = text } = show(report, node, onlyValue);
    element('td', '', text).attr('title', more).appendTo(line);
  }
  const button = element('button', 'red-ui-button red-ui-button-small').attr({
    type: 'button',
    title: node._('preview.send'),
    'aria-label': node._('preview.send'),
  });
  // The click reaches the line.
  button.append('<i class="fa fa-paper-plane-o" aria-hidden="true"></i>');
  return element('td', '').append(button).appendTo(line).parent();
}

function shownTime(time = ''): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? time : at.toLocaleTimeString([], { hour12: false });
}

/** Properties of a report that other columns show, or that tell little. */
const SHOWN_LAST = new Set([
  ...[
    'seq',
    'parent',
    'raw',
    'flags',
    'name',
    'deviceName',
    'device',
    'gatewayName',
    'gateway',
    'kind',
    'form',
  ],
  ...['identifier', 'time'],
]);

/** What `msg.payload` will be: the value, or the report, of which what tells least comes last. */
function payloadCell({ topic: _, ...report }: PreviewRow, onlyValue: boolean): Cell {
  if (onlyValue) {
    const value = JSON.stringify(report.value ?? null);
    return { text: shorten(value, MAX_CELL_LENGTH), more: shorten(value, MAX_MORE_LENGTH) };
  }
  const fields = Object.entries(report);
  const last = fields.filter(([name]) => SHOWN_LAST.has(name));
  const first = fields.filter((one) => !last.includes(one));
  const text = [...first, ...last].map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ');
  const more = shorten(JSON.stringify(report, null, 2), MAX_MORE_LENGTH);
  return { text: `{ ${shorten(text, MAX_CELL_LENGTH)} }`, more };
}
