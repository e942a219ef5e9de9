// What the sidebar asks of a deployed service, and in words why there is no response.
import { say } from './editor-texts.ts';

const TIMEOUT_MS = 10_000;

export interface ValueRow {
  identifier: string;
  name: string | null;
  value: string | number | boolean | null;
  unit: string | null;
  time: string | null;
}

/** A gateway or a device; what is not known is null. */
export interface NetworkRow {
  id: string;
  name: string;
  kind: 'gateway' | 'device';
  parent: string | null;
  lastSeen: string | null;
  interval: number | null;
  silent: boolean;
  rssi: number | null;
  battery: number | null;
  devices: number | null;
  values: ValueRow[];
  conditions: string[];
  labels: string[];
  connected: boolean | null;
}

export interface Page {
  total: number;
  rows: NetworkRow[];
  /** The state of the connection to the broker. */
  broker: string;
}

/** Why there is no response, in words. */
export class Problem extends Error {
  /** 0: the runtime did not answer. */
  readonly status: number;

  constructor(words: string, status: number) {
    super(words);
    this.status = status;
  }
}

export interface Question {
  query?: Record<string, string | number>;
  /** Posted as JSON where it is given. */
  body?: object;
  /** Milliseconds; 0: as long as it takes. */
  timeout?: number;
}

/** Whether the user may do this; Node-RED checks again. */
export const mayDo = (permission: 'read' | 'write'): boolean =>
  RED.user.hasPermission(`mt-service.${permission}`);

/**
 * Asks an endpoint of a service.
 * @throws Problem
 */
export async function ask<T>(service: string, path: string, question: Question = {}): Promise<T> {
  const { query, body, timeout = TIMEOUT_MS } = question;
  const address = `mt-service/${encodeURIComponent(service)}/${path}`;
  try {
    const response: unknown = await $.ajax({
      url: query ? `${address}?${$.param(query)}` : address,
      method: body ? 'POST' : 'GET',
      dataType: 'json',
      timeout,
      ...(body && { contentType: 'application/json', data: JSON.stringify(body) }),
    });
    return response as T;
  } catch (failure) {
    throw explain(failure as JQuery.jqXHR);
  }
}

function explain({ status = 0, responseJSON }: JQuery.jqXHR): Problem {
  const words: unknown = (responseJSON as { message?: unknown } | undefined)?.message;
  if (status === 401 || status === 403) {
    return new Problem(say('forbidden'), status);
  }
  if (status === 404) {
    return new Problem(say('deployFirst'), status);
  }
  return new Problem(typeof words === 'string' ? words : say(status === 0 ? 'offline' : 'failed'), status);
}
