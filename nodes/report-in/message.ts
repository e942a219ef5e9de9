// The message that a report becomes; made for every report, so nothing is computed here that is not sent.
import type { NodeMessage } from 'node-red';
import type { Report } from '../../src/index.ts';

export function messageOf(topic: string, payload: unknown, report: Report): NodeMessage {
  const { gateway, device, kind, identifier } = report;
  return identifier === undefined
    ? { topic, payload, report, gateway, device, kind }
    : { topic, payload, report, gateway, device, kind, identifier };
}

export function copyOf(report: Report): unknown {
  return { ...report };
}

/** A value of its own, so that changing the payload leaves the report as it is. */
export function copyOfValue({ value = null }: Report): unknown {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  return Array.isArray(value) ? [...value] : { ...value };
}
