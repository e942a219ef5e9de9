// Sends a report of the preview through the deployed node, as a test; and why that cannot be done.
import type { EditorNode } from '../shared/editor/red.ts';
import { chosenService } from '../shared/editor/sources.ts';
import type { PreviewRow } from './editor-preview-table.ts';

/** Why no test can be sent, in words. @param isAsOpened nothing was changed in the panel */
export function explainObstacle(node: EditorNode, isAsOpened: boolean): string | undefined {
  if (!RED.user.hasPermission('flows.write')) {
    return node._('preview.mayNotSend');
  }
  return node.changed === true || !isAsOpened ? node._('preview.deployToSend') : undefined;
}

/** @returns what has become of it, in words */
export async function sendTest(node: EditorNode, { topic, ...report }: PreviewRow): Promise<string> {
  try {
    const response: unknown = await $.ajax({
      url: `mt-service/${encodeURIComponent(chosenService())}/test-report`,
      method: 'POST',
      contentType: 'application/json',
      data: JSON.stringify({ node: node.id, topic, report }),
      timeout: 10_000,
    });
    const { sent } = (response ?? {}) as { sent?: unknown };
    return node._(sent === true ? 'preview.sent' : 'preview.notRunning');
  } catch (failure) {
    const { status, responseJSON } = failure as JQuery.jqXHR;
    const words = (responseJSON as { message?: unknown } | undefined)?.message;
    if (status === 401 || status === 403) {
      return node._('preview.mayNotSend');
    }
    return typeof words === 'string'
      ? words
      : node._(status === 404 ? 'preview.notRunning' : 'preview.failed');
  }
}
