// A question of an open panel about its own settings, put to the service that is chosen in it.
import { hasEnv } from '../defaults.ts';
import { text } from './panel.ts';
import type { EditorNode } from './red.ts';
import { chosenService, howToDeploy } from './sources.ts';

const TIMEOUT_MS = 10_000;

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
    const response = (await $.ajax({
      url: `mt-service/${encodeURIComponent(service)}/${endpoint}`,
      method: 'POST',
      contentType: 'application/json',
      data: JSON.stringify(body),
      timeout: TIMEOUT_MS,
    })) as T;
    // The list of devices is still being read.
    return (response as { loading?: unknown }).loading === true ? text('picker.loading') : response;
  } catch (failure) {
    return explainFailure(node, texts, failure as JQuery.jqXHR);
  }
}

function explainFailure(node: EditorNode, texts: string, { status, responseJSON }: JQuery.jqXHR): string {
  const words = (responseJSON as { message?: unknown } | undefined)?.message;
  if (status === 404) {
    return howToDeploy(node._(`${texts}.deployFirst`));
  }
  if (status === 401 || status === 403) {
    return node._(`${texts}.forbidden`);
  }
  return typeof words === 'string' ? words : node._(`${texts}.failed`);
}
