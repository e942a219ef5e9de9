// ack and ack-decoded: tells a device that its timestamped sample has arrived. Topics and payload are not public;
// this is assumed by analogy with read and write, and both can be changed in the config node.
import { invalidInput } from '../../errors.ts';
import type { Catalogue } from '../catalogue.ts';
import { isHexId } from '../identifier-text.ts';
import { copyJson, isJsonObject } from '../json.ts';
import { fitsTopic } from '../topics.ts';
import { readForm, readIdentifier } from './identifier.ts';
import { type BuiltRequest, DEFAULT_PRIORITY, isGiven, type RequestInput, readMac } from './request.ts';

/** Settings of the service: how samples are acknowledged. */
export interface AckSettings {
  /** Operation for samples in raw form. */
  raw: string;
  /** Operation for samples in decoded form. */
  decoded: string;
  /** The payload without `id`: `{{field}}` in its texts is replaced by the sample's field. */
  payload: Record<string, unknown>;
}

const MAX_LENGTH = 200;
const NEEDED = ['gateway', 'device', 'identifier', 'time'] as const;

/**
 * The acknowledgement of a sample.
 * @param sample a report, or fields given by the user: gateway, device, identifier, form, time
 * @throws ServiceError `INVALID_INPUT`
 */
export function buildAck(sample: RequestInput, settings: AckSettings, catalogue: Catalogue): BuiltRequest {
  if (NEEDED.every((field) => sample[field] === undefined)) {
    throw invalidInput('gateway', undefined, 'noSample');
  }
  for (const field of NEEDED) {
    if (!isGiven(sample[field])) {
      throw invalidInput(field, sample[field], 'missing');
    }
  }
  if (typeof sample.time !== 'string') {
    throw invalidInput('time', sample.time, 'notText');
  }
  if (sample.time.length > MAX_LENGTH) {
    throw invalidInput('time', sample.time, 'tooLong', { limit: MAX_LENGTH });
  }
  const gateway = readMac('gateway', sample.gateway);
  const device = readMac('device', sample.device);
  const given = readLevel('identifier', identifierOf(sample, catalogue));
  const isHex = isHexId(given);
  const form = readForm(sample.form) ?? (isHex ? 'raw' : 'decoded');
  const isTranslated = !isReport(sample) && isHex !== (form === 'raw');
  // A name of its own goes back exactly as the device had it.
  const asGiven = form === 'raw' ? given.toLowerCase() : given;
  const identifier = isTranslated ? readIdentifier(sample, catalogue).identifier : asGiven;
  const operation =
    form === 'raw'
      ? readLevel('ackOperation', settings.raw)
      : readLevel('ackDecodedOperation', settings.decoded);
  const filled = fill(settings.payload, { ...sample, gateway, device, identifier, form });
  const payload = copyJson(filled, 'ackTemplate') as Record<string, unknown>;
  const suffix = `${operation}/${identifier}`;
  return { gateway, device, operation, identifier, suffix, payload, priority: DEFAULT_PRIORITY };
}

/** A report has a kind, and its identifier by the topic; what somebody typed has none. */
const isReport = ({ kind }: RequestInput): boolean => kind !== undefined;

/** What somebody typed can have blanks around it; and capital letters, as for a read, where the catalogue has the name. */
function identifierOf(sample: RequestInput, catalogue: Catalogue): unknown {
  const { identifier } = sample;
  if (isReport(sample) || typeof identifier !== 'string') {
    return identifier;
  }
  const typed = identifier.trim();
  return catalogue.find(typed) ? typed.toLowerCase() : typed;
}

function readLevel(field: string, value: unknown): string {
  const fits = typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH;
  if (!fits || value.includes('/') || !fitsTopic(value) || value === '.' || value === '..') {
    throw invalidInput(field, value, 'notLevel');
  }
  return value;
}

const WHOLE = /^\{\{(\w+)\}\}$/;
const PLACEHOLDER = /\{\{(\w+)\}\}/g;

/**
 * A text that is nothing but one placeholder takes the field with its type: a number stays a number. Undefined for a
 * field that the sample lacks: it is left out.
 */
function fill(template: unknown, sample: Record<string, unknown>): unknown {
  const field = (name: string): unknown => {
    const value = Object.hasOwn(sample, name) ? sample[name] : undefined;
    return value === undefined ? undefined : copyJson(value, name);
  };
  if (typeof template === 'string') {
    const whole = WHOLE.exec(template)?.[1];
    if (whole !== undefined) {
      return field(whole);
    }
    return template.replace(PLACEHOLDER, (_, name: string) => textOf(field(name)));
  }
  if (Array.isArray(template)) {
    return template.map((item) => fill(item, sample) ?? null);
  }
  if (!isJsonObject(template)) {
    return template;
  }
  return Object.fromEntries(Object.entries(template).map(([key, item]) => [key, fill(item, sample)]));
}

function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : `${value ?? ''}`;
}
