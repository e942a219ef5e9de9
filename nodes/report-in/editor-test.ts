// Sends a report of the preview through the deployed node, as a test; and why that cannot be done.
import { hasEnv } from '../shared/defaults.ts';
import { isOn, text } from '../shared/editor/panel.ts';
import type { EditorNode } from '../shared/editor/red.ts';
import { type RequestFailure, requestService } from '../shared/editor/service-request.ts';
import { chosenService } from '../shared/editor/sources.ts';
import type { PreviewRow } from './editor-preview-table.ts';

/** Why no test can be sent, in words; empty where the preview says it. @param isAsOpened nothing was changed in the panel */
export function explainObstacle(node: EditorNode, isAsOpened: boolean): string | undefined {
  if (!RED.user.hasPermission('flows.write')) {
    return node._('preview.mayNotSend');
  }
  if (!isOn(node)) {
    return text('disabled');
  }
  if (hasEnv(chosenService())) {
    return '';
  }
  return node.changed === true || !isAsOpened ? node._('preview.deployToSend') : undefined;
}

/** @returns what has become of it, in words */
export async function sendTest(node: EditorNode, { topic, ...report }: PreviewRow): Promise<string> {
  try {
    const body = { node: node.id, topic, report };
    const { sent } = await requestService<{ sent: boolean }>(chosenService(), 'test-report', { body });
    return node._(sent ? 'preview.sent' : 'preview.notRunning');
  } catch (failure) {
    const { reason, message } = failure as RequestFailure;
    if (reason === 'forbidden') {
      return node._('preview.mayNotSend');
    }
    return message || node._(reason === 'notDeployed' ? 'preview.notRunning' : 'preview.failed');
  }
}
