// A message of a report topic as it was received, and its two halves taken apart.
import { parseJson } from '../protocol/json.ts';
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

/** The JSON of a payload, else its text. */
export function bodyOf(payload: Buffer): unknown {
  const text = payload.toString();
  const parsed = parseJson(text);
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
