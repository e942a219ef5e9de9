// The report that an ack report node behind has to have, also where a node in between has put another one in its place.
import type { NodeMessage } from 'node-red';
import { readProperty } from './message.ts';

/** Where it stands then. */
const KEPT = 'toAck';

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** What an ack report node acknowledges. */
export function readReportToAck(msg: NodeMessage): unknown {
  const kept = readProperty(msg, KEPT);
  return isObject(kept) ? kept : readProperty(msg, 'report');
}

/**
 * For a node that puts another report into the message.
 * @returns the property by which the first one is kept: also one that needs no acknowledgement, as the other one may
 */
export function keepReportToAck(msg: NodeMessage): { [KEPT]?: unknown } {
  const report = readReportToAck(msg);
  return isObject(report) ? { [KEPT]: report } : {};
}
