// Asks an endpoint of a deployed service, relative to the editor's own address, and tells why it does not respond.

const TIMEOUT_MS = 10_000;

export interface Question {
  query?: Record<string, string | number>;
  /** Posted as JSON where it is given. */
  body?: object;
  /** Milliseconds; 0: as long as it takes. */
  timeout?: number;
  /** The response is a text, and none that is JSON as a whole. */
  isText?: boolean;
}

/** Why there is no response; `message` is what the runtime says, empty where it says nothing. */
export class RequestFailure extends Error {
  /** 0: the runtime did not answer. */
  readonly status: number;

  constructor({ status = 0, responseJSON }: JQuery.jqXHR) {
    const words: unknown = (responseJSON as { message?: unknown } | null | undefined)?.message;
    super(typeof words === 'string' ? words : '');
    this.status = status;
  }

  get reason(): 'forbidden' | 'notDeployed' | 'offline' | 'failed' {
    switch (this.status) {
      case 401:
      case 403:
        return 'forbidden';
      case 404:
        return 'notDeployed';
      case 0:
        return 'offline';
      default:
        return 'failed';
    }
  }
}

/**
 * @param service the id of the configuration node
 * @param path below its own, such as `seen`
 * @throws RequestFailure
 */
export async function requestService<T>(
  service: string,
  path: string,
  { query, body, timeout = TIMEOUT_MS, isText = false }: Question = {},
): Promise<T> {
  const address = `mt-service/${encodeURIComponent(service)}/${path}`;
  try {
    const response: unknown = await $.ajax({
      url: query ? `${address}?${$.param(query)}` : address,
      method: body ? 'POST' : 'GET',
      dataType: isText ? 'text' : 'json',
      timeout,
      ...(body && { contentType: 'application/json', data: JSON.stringify(body) }),
    });
    return response as T;
  } catch (failure) {
    throw new RequestFailure(failure as JQuery.jqXHR);
  }
}
