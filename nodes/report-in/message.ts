// The message that a report becomes; made for every report, so nothing is computed here that is not sent.
import { randomBytes } from 'node:crypto';
import type { NodeMessage } from 'node-red';
import type { Report } from '../../src/index.ts';

/** As unique as Node-RED's own ids, but counted: Node-RED would draw eight random numbers for every message. */
const ID_PREFIX = randomBytes(4).toString('hex');
let count = 0x10000000;

export function messageOf(topic: string, payload: unknown, report: Report): NodeMessage {
  const { gateway, device, kind, identifier } = report;
  const _msgid = ID_PREFIX + (count++).toString(16);
  return identifier === undefined
    ? { topic, payload, report, gateway, device, kind, _msgid }
    : { topic, payload, report, gateway, device, kind, identifier, _msgid };
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
