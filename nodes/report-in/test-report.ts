// Sends a report that the preview has shown through a deployed mt-report-in, marked as a test.
import type { Request, RequestHandler } from 'express';
import type { Node, NodeAPI } from 'node-red';
import { invalidInput, type Report, type Session } from '../../src/index.ts';
import { handleQuery } from '../shared/runtime/admin.ts';
import type { ServiceNode } from '../shared/runtime/services.ts';

/** Node-RED copies a message for every wire but one, by a function that calls itself at every level. */
const MAX_DEPTH = 100;

type Send = (report: Report, topic: string) => void;

/** By the node that is running. */
const senders = new WeakMap<Node, Send>();

/** Takes test reports for a node. @returns ends it */
export function takeTestReports(node: Node, send: Send): () => void {
  senders.set(node, send);
  return () => void senders.delete(node);
}

/** Adds the endpoint; what follows in the flow really happens, so it is for those who may deploy flows. */
export function registerTestReport(RED: NodeAPI): void {
  const mayDeploy = RED.auth.needsPermission('flows.write') as RequestHandler;
  RED.httpAdmin.post('/mt-service/:id/test-report', mayDeploy, handleQuery(RED, sendTestReport));
}

/**
 * @returns whether the node runs
 * @throws ServiceError `INVALID_INPUT` when the report is none
 */
function sendTestReport(_session: Session, { body }: Request, service: ServiceNode): { sent: boolean } {
  const { node: id, topic, report } = isObject(body) ? body : {};
  if (!isReport(report) || typeof topic !== 'string') {
    throw invalidInput('report', report, 'notObject', { parts: 'topic, gateway, device, kind' });
  }
  if (isDeeper(report, MAX_DEPTH)) {
    throw invalidInput('report', undefined, 'notCopied');
  }
  const send = senderOf(service, id);
  send?.({ ...report, test: true }, topic);
  return { sent: send !== undefined };
}

/** Of the node itself, or of its first instance when it is in the template of a subflow. */
function senderOf(service: ServiceNode, id: unknown): Send | undefined {
  const users = Object.values(service.users) as (Node & { _alias?: string })[];
  const node = users.find((user) => user.id === id) ?? users.find(({ _alias }) => _alias && _alias === id);
  return node && senders.get(node);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isReport = (value: unknown): value is Report =>
  isObject(value) && [value.gateway, value.device, value.kind].every((part) => typeof part === 'string');

function isDeeper(value: object, max: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > max) {
      return true;
    }
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}
