// The live preview of mt-report-in: the last reports that would pass the settings as they stand in the open panel.
import { element, field } from '../shared/editor.ts';
import type { EditorNode } from '../shared/editor-red.ts';
import { chosenService } from '../shared/editor-sources.ts';

const EVERY = 2_000;
const ROWS = 8;

interface PreviewRow {
  time?: string;
  gateway?: string;
  device?: string;
  kind?: string;
  identifier?: string;
  name?: string;
  value?: unknown;
  unit?: string;
}

/** Asks again and again while the panel is open; answers how to stop. */
export function startPreview(
  box: JQuery,
  node: EditorNode,
  lists: () => Record<string, unknown>,
): () => void {
  let stopped = false;
  let timer: number | undefined;
  const turn = async () => {
    const shown = await preview(node, lists());
    if (!stopped && document.contains(box[0] ?? null)) {
      box.empty().append(shown);
      timer = window.setTimeout(() => void turn(), EVERY);
    }
  };
  void turn();
  return () => {
    stopped = true;
    window.clearTimeout(timer);
  };
}

async function preview(node: EditorNode, lists: Record<string, unknown>): Promise<JQuery> {
  const service = chosenService();
  if (service === '') {
    return note(node._('preview.noService'));
  }
  const settings = { ...typedSettings(node), ...lists, limit: ROWS };
  try {
    const answer: unknown = await $.ajax({
      url: `mt-service/${encodeURIComponent(service)}/preview`,
      method: 'POST',
      contentType: 'application/json',
      data: JSON.stringify(settings),
      timeout: 10_000,
    });
    return reportTable(node, Array.isArray(answer) ? (answer as PreviewRow[]) : []);
  } catch (failure) {
    const { status, responseJSON } = failure as JQuery.jqXHR;
    const words = (responseJSON as { message?: unknown } | undefined)?.message;
    const known = { 401: 'preview.forbidden', 404: 'preview.deployFirst' }[status];
    return note(known ? node._(known) : typeof words === 'string' ? words : node._('preview.failed'));
  }
}

/** The inputs of the panel as they stand, saved or not. */
function typedSettings(node: EditorNode): Record<string, unknown> {
  const names = Object.keys(node._def.defaults).filter((name) =>
    document.getElementById(`node-input-${name}`),
  );
  return Object.fromEntries(
    names.map((name) => [
      name,
      field(name).is(':checkbox') ? field(name).prop('checked') : field(name).val(),
    ]),
  );
}

const note = (words: string) => element('div', 'mt-gateway-preview-note', words);

function reportTable(node: EditorNode, rows: readonly PreviewRow[]): JQuery {
  if (rows.length === 0) {
    return note(node._('preview.nothing'));
  }
  const table = element('table', '');
  const head = element('tr', '').appendTo(element('thead', '').appendTo(table));
  for (const column of ['time', 'device', 'what', 'value']) {
    element('th', '', node._(`preview.${column}`))
      .attr('scope', 'col')
      .appendTo(head);
  }
  const body = element('tbody', '').appendTo(table);
  for (const report of rows) {
    const line = element('tr', '').appendTo(body);
    for (const cell of cells(report)) {
      element('td', '', cell).attr('title', cell).appendTo(line);
    }
  }
  return table;
}

function cells(report: PreviewRow): string[] {
  const at = new Date(report.time ?? '');
  const time = Number.isNaN(at.getTime()) ? (report.time ?? '') : at.toLocaleTimeString();
  const { value } = report;
  const shown =
    value === undefined || value === null
      ? ''
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value);
  const what = [report.kind, report.name ?? report.identifier].filter(Boolean).join(' · ');
  return [time, report.device ?? '', what, [shown, report.unit].filter(Boolean).join(' ')];
}
