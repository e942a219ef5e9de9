// What the sidebar asks of a deployed service, and in words why there is no response.
import type { NetworkRow } from '../../src/protocol/network-row.ts';
import { whyDisabled } from '../shared/editor/panel.ts';
import { type Question, type RequestFailure, requestService } from '../shared/editor/service-request.ts';
import { say } from './editor-texts.ts';

export interface Page {
  total: number;
  /** How many of them nobody has heard: they stand last. */
  unheard: number;
  rows: NetworkRow[];
  /** The state of the connection to the broker. */
  broker: string;
  /** Flows ask for reports, or somebody listens to everything. */
  asked: boolean;
  /** Anything at all is known of the network. */
  heard: boolean;
  /** Why there are no names of devices, where there might be; null: there are. */
  nameless: string | null;
  /** The runtime tells this editor of changes. */
  pushed?: boolean;
}

/** Why there is no response, in words. */
export class Problem extends Error {
  /** 0: the runtime did not answer, or later. */
  readonly status: number;

  constructor(words: string, status: number) {
    super(words);
    this.status = status;
  }
}

/** Whether the user may do this; Node-RED checks again. */
export const mayDo = (permission: 'read' | 'write'): boolean =>
  RED.user.hasPermission(`mt-service.${permission}`);

/**
 * Asks an endpoint of a service.
 * @throws Problem
 */
export async function ask<T>(service: string, path: string, question?: Question): Promise<T> {
  let response: T;
  try {
    response = await requestService<T>(service, path, question);
  } catch (failure) {
    throw explain(service, failure as RequestFailure);
  }
  if ((response as { loading?: unknown } | null)?.loading === true) {
    throw new Problem(say('loading'), 0);
  }
  return response;
}

function explain(service: string, { status, reason, message }: RequestFailure): Problem {
  if (reason === 'forbidden') {
    return new Problem(say('forbidden'), status);
  }
  if (reason === 'notDeployed') {
    return new Problem(whyDisabled(service) ?? say('deployFirst'), status);
  }
  return new Problem(message || say(reason), status);
}
