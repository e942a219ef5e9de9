// Shows in the open mt-device-watch panel what its deployed node watches, and what is active now.
import type { Condition } from '../../src/protocol/conditions.ts';
import { askService } from '../shared/editor/ask-service.ts';
import { element, isOn, numberText, sidebarText, statusText, text } from '../shared/editor/panel.ts';
import type { EditorNode } from '../shared/editor/red.ts';

const REFRESH_INTERVAL_MS = 2_000;
const MAX_ROWS = 8;

interface ActiveRow {
  condition?: string;
  device?: string;
  deviceName?: string;
  gateway?: string;
  since?: string;
  value?: number;
}

interface ActiveConditions {
  watched?: number;
  active?: number;
  total?: number;
  rows?: ActiveRow[];
  isAway?: boolean;
}

/** What the number of a condition is, by its text: in which unit it is judged, or a code. Of a silence only its beginning still holds. */
const UNITS: Record<string, string> = {
  'battery-low': 'percent',
  'weak-signal': 'dBm',
  error: 'code',
} satisfies Partial<Record<Condition, string>>;

/** Asks again and again while the panel is open. @returns stops it */
export function showActiveConditions(node: EditorNode): () => void {
  const container = $('#mt-gateway-active');
  const state = $('#mt-gateway-active-state');
  let timer: number | undefined;
  let isClosed = false;
  const refresh = async () => {
    const { content, words } = await ask(node);
    if (!isClosed) {
      container.empty().append(content);
      state.text(words);
      timer = window.setTimeout(() => void refresh(), REFRESH_INTERVAL_MS);
    }
  };
  void refresh();
  return () => {
    isClosed = true;
    window.clearTimeout(timer);
  };
}

async function ask(node: EditorNode): Promise<{ content: JQuery[]; words: string }> {
  const response = await askService<ActiveConditions>(
    node,
    'device-watch',
    { node: node.id, limit: MAX_ROWS },
    'active',
  );
  const note = (words: string) => element('div', 'mt-gateway-preview-note', words);
  if (typeof response === 'string') {
    return { content: [note(response)], words: '' };
  }
  const { watched, active = 0, total = 0, rows = [], isAway = false } = response ?? {};
  if (watched === undefined) {
    return { content: [note(isOn(node) ? node._('active.notRunning') : text('disabled'))], words: '' };
  }
  const more = total - rows.length;
  // That nobody is needed is not known where nothing is heard.
  const nothing = watched === 0 ? statusText('unheard') : node._('active.nothing');
  const content = [
    isAway && note(text('brokerAway')),
    rows.length > 0 && table(node, rows),
    rows.length === 0 && !isAway && note(nothing),
    more > 0 && note(node._('active.more', { count: more })),
  ];
  return {
    content: content.filter((part) => part !== false),
    words: node._('active.count', { watched, active }),
  };
}

function table(node: EditorNode, rows: readonly ActiveRow[]): JQuery {
  const result = element('table', '');
  const head = element('tr', '').appendTo(element('thead', '').appendTo(result));
  for (const name of ['device', 'what', 'value', 'since']) {
    element('th', '', node._(`active.${name}`))
      .attr('scope', 'col')
      .appendTo(head);
  }
  const body = element('tbody', '').appendTo(result);
  for (const { condition = '', device = '', deviceName = device, gateway = '', since = '', value } of rows) {
    const line = element('tr', '').appendTo(body);
    element('td', '', deviceName).attr('title', `${device} · ${gateway}`).appendTo(line);
    element('td', '', sidebarText(`conditions.${condition}`)).appendTo(line);
    element('td', '', valueText(node, condition, value)).appendTo(line);
    element('td', '', new Date(since).toLocaleString()).appendTo(line);
  }
  return result;
}

function valueText(node: EditorNode, condition: string, value: number | undefined): string {
  const unit = UNITS[condition];
  return value === undefined || unit === undefined
    ? ''
    : node._(`active.${unit}`, { value: numberText(value) });
}
