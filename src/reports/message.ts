// A message of a report topic as it was received, and its two halves taken apart.
import { MAX_PAYLOAD_BYTES, parseReceived } from '../protocol/json.ts';
import { type ReportTopic, readReportTopic } from '../protocol/reports/index.ts';
import type { Topics } from '../protocol/topics.ts';

export interface ReceivedMessage {
  topic: string;
  payload: Buffer;
}

export interface Message extends ReceivedMessage {
  retained: boolean;
  /** In milliseconds of `performance.now()`. */
  heardAt: number;
}

/** The name of a gateway or a device by its MAC, where one is known. */
export type NameOf = (mac: string) => string | undefined;

/** Of a payload that is too large to be parsed. */
const MAX_SHOWN_BYTES = 1_000;

/** Whether a payload is not parsed. */
export const isTooLarge = (payload: Buffer): boolean => payload.length > MAX_PAYLOAD_BYTES;

/** The JSON of a payload, else its text or `DeepText`; of one that is too large the beginning of its text. */
export function bodyOf(payload: Buffer): unknown {
  if (isTooLarge(payload)) {
    return payload.toString('utf8', 0, MAX_SHOWN_BYTES);
  }
  const text = payload.toString();
  const parsed = parseReceived(text);
  return parsed === undefined ? text : parsed;
}

/** @returns undefined for a topic of another kind of message */
export function readTopic(
  topics: Topics,
  topic: string,
  nameOf: NameOf | undefined,
): ReportTopic | undefined {
  const parsed = topics.parseReport(topic);
  return parsed && readReportTopic(topic, parsed.gateway, parsed.device, parsed.rest, nameOf);
}
