// Shows in the open mt-last-value panel which values its settings would bring now.
import { asText, readList } from '../shared/defaults.ts';
import { askService } from '../shared/editor/ask-service.ts';
import { ageText } from '../shared/editor/durations.ts';
import { captionOf, element, isOn, runOnChange, shorten, text } from '../shared/editor/panel.ts';
import { quantityText } from '../shared/editor/quantities.ts';
import type { EditorNode } from '../shared/editor/red.ts';
import { currentSettings } from '../shared/editor/saved.ts';

const REFRESH_INTERVAL_MS = 2_000;
const MAX_ROWS = 8;
const MAX_SHOWN_LENGTH = 200;
const FIELDS = ['device', 'identifier', 'gateway'] as const;

interface KnownValue {
  device?: string;
  deviceName?: string;
  identifier?: string;
  name?: string;
  value?: unknown;
  unit?: string;
  /** In seconds. */
  age?: number;
}

interface KnownValues {
  rows?: KnownValue[];
  total?: number;
}

export interface KnownView {
  /** What is shown is of other settings than those of the panel now. */
  askAnew(): void;
  stop(): void;
}

/** Asks again and again while the panel is open, and at once when another service or another value is chosen. */
export function showKnownValues(node: EditorNode, labels: () => string[]): KnownView {
  const container = $('#mt-gateway-known');
  const state = $('#mt-gateway-known-state');
  let newestRefresh = 0;
  let timer: number | undefined;
  const stop = () => {
    newestRefresh += 1;
    window.clearTimeout(timer);
  };
  const refresh = async () => {
    newestRefresh += 1;
    const ownRefresh = newestRefresh;
    const { content, words } = await ask(node, { ...currentSettings(node), labels: labels() });
    if (ownRefresh === newestRefresh) {
      container.empty().append(content);
      state.text(words).attr('title', words);
      timer = window.setTimeout(() => void refresh(), REFRESH_INTERVAL_MS);
    }
  };
  const askAnew = () => {
    stop();
    container.empty();
    state.text('').attr('title', '');
    // One choice may change several fields.
    timer = window.setTimeout(() => void refresh());
  };
  runOnChange(['service', 'select', ...FIELDS], askAnew);
  return { askAnew, stop };
}

async function ask(
  node: EditorNode,
  settings: Record<string, unknown>,
): Promise<{ content: JQuery; words: string }> {
  const asked = { ...settings, node: node.id, z: node.z, limit: MAX_ROWS };
  const response = await askService<KnownValues>(node, 'last-values', asked, 'known');
  const { rows = [], total = 0 } = typeof response === 'string' ? {} : (response ?? {});
  rows.sort((one, other) => labelOf(one).localeCompare(labelOf(other), undefined, { numeric: true }));
  if (rows.length > 0) {
    const more = isCollected(node, settings) ? '' : node._('known.deployForMore');
    const words = [node._('known.count', { count: total }), more, describeOpen(node, settings)];
    return { content: table(node, rows), words: words.filter(Boolean).join(' · ') };
  }
  const nothing = isOn(node) ? node._('known.nothing') : text('disabled');
  const words = typeof response === 'string' ? response : nothing;
  return { content: element('div', 'mt-gateway-preview-note', words), words: '' };
}

/**
 * Whether the deployed node has collected all that these settings let pass, as it has where they only choose more narrowly:
 * of the rest only what other nodes have asked for is known.
 */
function isCollected(node: EditorNode, settings: Record<string, unknown>): boolean {
  const choiceOf = (of: Record<string, unknown>) => [
    ...FIELDS.map((name) => (of[`${name}Type`] === 'str' ? asText(of[name] ?? '').trim() : '')),
    readList(of.labels ?? []).join(),
  ];
  const now = choiceOf(settings);
  const isNoWider = choiceOf(node).every((before, index) => before === '' || before === now[index]);
  return node.changed !== true && node.service === settings.service && isNoWider;
}

/** What the messages of the flow will choose, and lets everything pass here. */
function describeOpen(node: EditorNode, settings: Record<string, unknown>): string {
  const open = FIELDS.filter((name) => settings[`${name}Type`] !== 'str');
  const fields = open.map(captionOf).join(', ');
  return fields === '' ? '' : node._('known.open', { fields });
}

/** As a row begins. */
const labelOf = ({
  device = '',
  deviceName = device,
  identifier = '',
  name = identifier,
}: KnownValue): string => `${deviceName}\n${name}`;

function table(node: EditorNode, rows: readonly KnownValue[]): JQuery {
  const result = element('table', '');
  const head = element('tr', '').appendTo(element('thead', '').appendTo(result));
  for (const name of ['device', 'what', 'value', 'age']) {
    element('th', '', node._(`known.${name}`))
      .attr('scope', 'col')
      .appendTo(head);
  }
  const body = element('tbody', '').appendTo(result);
  for (const {
    device = '',
    deviceName = device,
    identifier = '',
    name = identifier,
    value,
    unit = '',
    age = 0,
  } of rows) {
    const line = element('tr', '').appendTo(body);
    element('td', '', deviceName).attr('title', device).appendTo(line);
    element('td', '', name).appendTo(line);
    const words = quantityText({ identifier, value, unit });
    element('td', '', shorten(words, MAX_SHOWN_LENGTH)).attr('title', rawText(value, unit)).appendTo(line);
    element('td', '', ageText(age)).appendTo(line);
  }
  return result;
}

/** As a message would have it. */
const rawText = (value: unknown, unit: string): string =>
  shorten(`${typeof value === 'string' ? value : JSON.stringify(value)} ${unit}`.trim(), MAX_SHOWN_LENGTH);
