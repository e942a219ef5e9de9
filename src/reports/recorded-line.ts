// One report as a line of a record: JSON that people can read and change, whatever topic and payload it has.
import { invalidInput } from '../errors.ts';
import { isObject, MAX_DEPTH_RECEIVED, parseJson } from '../protocol/json.ts';
import { bodyOf, type ReceivedMessage } from './message.ts';

/** Characters; what is longer is neither kept nor played. */
export const MAX_LINE_LENGTH = 1_000_000;

/** In JSON they stand between values only: in a text they are written as `\n`. */
const LINE_BREAKS = /[\r\n]/g;

/** A report of a record, as it was received. */
export interface RecordedReport {
  topic: string;
  /** The JSON of its payload, else its text. */
  body: unknown;
  retained: boolean;
  /** When it was received, in milliseconds since 1970; undefined where the line does not say. */
  time: number | undefined;
}

/** For people; what they say must fit the topic. */
const PLACE = ['kind', 'gateway', 'device'] as const;
type Place = Record<(typeof PLACE)[number], string>;

/**
 * The line of a message, without its end. A payload stands there as `payload` where it is JSON, as `text` where it is
 * another text, else as `base64`.
 * @param time when it was received, as ISO 8601
 */
export function writeLine(
  { kind, gateway, device }: Place,
  { topic, payload, retained }: ReceivedMessage & { retained: boolean },
  time: string,
): string {
  const head = JSON.stringify({ time, topic, kind, gateway, device, ...(retained && { retained }) });
  return `${head.slice(0, -1)},${payloadOf(payload)}}`;
}

function payloadOf(payload: Buffer): string {
  const text = payload.toString();
  if (parseJson(text) !== undefined) {
    // As it was received: a number with more digits than JavaScript has keeps them.
    return `"payload":${text.replace(LINE_BREAKS, '')}`;
  }
  return payload.equals(Buffer.from(text))
    ? `"text":${JSON.stringify(text)}`
    : `"base64":"${payload.toString('base64')}"`;
}

/**
 * The report of a line.
 * @param readPlace undefined for what is no topic of a report
 * @throws ServiceError `INVALID_INPUT`: `line`, `topic`, `kind`, `gateway`, `device`
 */
export function readLine<At extends Place>(
  line: unknown,
  readPlace: (topic: string) => At | undefined,
): RecordedReport & { at: At } {
  if (typeof line !== 'string' || line.length > MAX_LINE_LENGTH) {
    throw invalidInput('line', '…', 'tooLong', { limit: MAX_LINE_LENGTH });
  }
  // The payload lies one level deeper in it.
  const row = parseJson(line, MAX_DEPTH_RECEIVED + 1);
  const body = isObject(row) ? readBody(row) : undefined;
  if (!isObject(row) || typeof row.topic !== 'string' || body === undefined) {
    throw invalidInput('line', line, 'notRecord');
  }
  const { topic } = row;
  const at = readPlace(topic);
  if (at === undefined) {
    throw invalidInput('topic', topic, 'notReportTopic');
  }
  for (const part of PLACE) {
    if (row[part] !== undefined && row[part] !== at[part]) {
      throw invalidInput(part, row[part], 'notOfTopic');
    }
  }
  const time = typeof row.time === 'string' ? Date.parse(row.time) : Number.NaN;
  return { topic, at, body, retained: row.retained === true, time: Number.isNaN(time) ? undefined : time };
}

/** Undefined where there is none. */
function readBody({ payload, text, base64 }: Record<string, unknown>): unknown {
  if (payload !== undefined) {
    return payload;
  }
  if (typeof text === 'string') {
    return bodyOf(Buffer.from(text));
  }
  return typeof base64 === 'string' ? bodyOf(Buffer.from(base64, 'base64')) : undefined;
}
