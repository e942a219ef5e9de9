// The live preview of mt-report-in: the last reports that would pass the settings as they stand in the open panel.
import { readList } from '../shared/defaults.ts';
import { askService } from '../shared/editor/ask-service.ts';
import { element, runOnChange, text } from '../shared/editor/panel.ts';
import type { EditorNode } from '../shared/editor/red.ts';
import { currentSettings } from '../shared/editor/saved.ts';
import { isKind, nameOfKind } from './editor-kinds.ts';
import { type PreviewRow, reportTable } from './editor-preview-table.ts';
import { explainObstacle, sendTest } from './editor-test.ts';

const REFRESH_INTERVAL_MS = 2_000;
const MAX_ROWS = 8;

/** What the panel shows now: the settings that the preview is of. */
export type PanelSettings = Record<string, unknown>;

/** Asks again and again while the panel is open, and at once when another service is chosen. @returns stops it */
export function startPreview(node: EditorNode, lists: () => PanelSettings): () => void {
  const container = $('#mt-gateway-preview');
  const state = $('#mt-gateway-preview-state');
  const say = (words: string) => state.text(words).attr('title', words);
  const settings = (): PanelSettings => ({ ...currentSettings(node), ...lists() });
  const opened = JSON.stringify(settings());
  /** The settings that the table was made for. */
  let shownFor = '';
  let newestRefresh = 0;
  let timer: number | undefined;
  /** @returns whether a test can be sent */
  const explain = () => {
    const obstacle = explainObstacle(node, JSON.stringify(settings()) === opened);
    const hasRows = container.find('tbody').length > 0;
    say(obstacle ?? (hasRows ? node._('preview.clickToSend') : ''));
    container.toggleClass('mt-gateway-preview-ready', obstacle === undefined);
    container.find('button').prop('disabled', obstacle !== undefined);
    return obstacle === undefined;
  };
  const send = async (row: PreviewRow) => {
    if (explain()) {
      say(await sendTest(node, row));
    }
  };
  const isThere = () => document.contains(container[0] ?? null);
  const show = async (isWanted: () => boolean) => {
    const asked = settings();
    const shown = await preview(node, asked, send);
    const askedFor = JSON.stringify(asked);
    // The pointer that has just chosen another setting may rest above the rows of the old one.
    if (isWanted() && (askedFor !== shownFor || !isUsed(container))) {
      shownFor = askedFor;
      container.empty().append(shown);
      explain();
    }
  };
  const refresh = async () => {
    window.clearTimeout(timer);
    newestRefresh += 1;
    const ownRefresh = newestRefresh;
    // While the panel of the service lies above, the editor has taken this one out of the document.
    if (isThere()) {
      await show(() => ownRefresh === newestRefresh && isThere());
    }
    if (ownRefresh === newestRefresh) {
      timer = window.setTimeout(() => void refresh(), REFRESH_INTERVAL_MS);
    }
  };
  runOnChange(['service'], () => void refresh());
  return () => {
    newestRefresh += 1;
    window.clearTimeout(timer);
  };
}

/** A row that somebody points at must not become another one under the hand. */
const isUsed = (container: JQuery): boolean =>
  container.is(':hover') ? container.find('tbody').length > 0 : container.find(':focus').length > 0;

async function preview(
  node: EditorNode,
  settings: PanelSettings,
  send: (row: PreviewRow) => Promise<void>,
): Promise<JQuery> {
  const asked = { ...settings, node: node.id, z: node.z, limit: MAX_ROWS, explain: true };
  const response = await askService<PreviewRow[] | { hasNoGateway: true } | { isAway: true }>(
    node,
    'preview',
    asked,
    'preview',
  );
  if (typeof response === 'string') {
    return note(response);
  }
  if ('hasNoGateway' in response) {
    return note(node._('preview.noGateway'));
  }
  if ('isAway' in response) {
    return note(text('brokerAway'));
  }
  const rows = Array.isArray(response) ? response : [];
  return rows.length === 0
    ? note(nothingYet(node, settings))
    : reportTable(node, rows, { onlyValue: settings.output === 'value', send });
}

/** What is waited for when nothing is shown: the chosen properties, else the kinds. */
function nothingYet(node: EditorNode, settings: PanelSettings): string {
  const [identifiers, kinds] = [readList(settings.identifiers ?? []), readList(settings.kinds ?? [])];
  const [kind, ...others] = kinds;
  if (identifiers.length === 0 && kind === undefined) {
    return node._('preview.nothing');
  }
  if (identifiers.length === 0 && others.length === 0 && isKind(kind)) {
    return node._(`empty.${kind}`);
  }
  const what = identifiers.length > 0 ? identifiers : kinds.map((one) => nameOfKind(node, one));
  return node._('preview.nothingOf', { what: what.join(', ') });
}

const note = (words: string) => element('div', 'mt-gateway-preview-note', words);
