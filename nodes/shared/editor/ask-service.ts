// A question of an open panel about its own settings, put to the service that is chosen in it.
import { hasEnv } from '../defaults.ts';
import { text } from './panel.ts';
import type { EditorNode } from './red.ts';
import { type RequestFailure, requestService } from './service-request.ts';
import { chosenService, explainNotRunning } from './sources.ts';

/**
 * Posts to an endpoint of the chosen service.
 * @param texts where the node's own words are: `noService`, `deployFirst`, `forbidden`, `failed`
 * @returns the response, or in words why there is none
 */
export async function askService<T extends object>(
  node: EditorNode,
  endpoint: string,
  body: object,
  texts: string,
): Promise<T | string> {
  const service = chosenService();
  if (service === '') {
    return node._(`${texts}.noService`);
  }
  if (hasEnv(service)) {
    return text('picker.envService');
  }
  try {
    const response = await requestService<T>(service, endpoint, { body });
    // The list of devices is still being read.
    return (response as { loading?: unknown }).loading === true ? text('picker.loading') : response;
  } catch (failure) {
    return explainFailure(node, texts, failure as RequestFailure);
  }
}

function explainFailure(node: EditorNode, texts: string, { reason, message }: RequestFailure): string {
  if (reason === 'notDeployed') {
    return explainNotRunning(node._(`${texts}.deployFirst`));
  }
  return reason === 'forbidden' ? node._(`${texts}.forbidden`) : message || node._(`${texts}.failed`);
}
