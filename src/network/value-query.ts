// What a last-value query brings: the known value, or what to do where there is none, or none that is young enough.
import { invalidInput, ServiceError } from '../errors.ts';
import type { Catalogue } from '../protocol/catalogue.ts';
import { askedAs, isOwn } from '../protocol/identifiers.ts';
import { invalidIdentifier } from '../protocol/operations/identifier.ts';
import { isGiven, readMac } from '../protocol/operations/request.ts';
import { copyReport } from '../protocol/reports/index.ts';
import { hintFor } from '../protocol/similar-name.ts';
import { fitsTopic } from '../protocol/topics.ts';
import { ageOf, copyValue, isTooOld, type LastValue } from './last-value.ts';
import type { ValueQuery } from './last-values.ts';
import { readOld } from './old-values.ts';
import { isPropertyName } from './property-values.ts';
import { sortInTurns, Turns } from './turns.ts';
import type { ValueContext, ValueInput, ValueOptions, ValueResult, ValueRow } from './value-context.ts';

/** Bytes of the values that are shown to a person, estimated: each may be as large as a message of the broker. */
const MAX_SHOWN_SIZE = 8 * 1024 * 1024;
/** So many rows are made between two looks at the clock. */
const ROWS_PER_LOOK = 500;

/**
 * The last value of one property of one device. Without a device the gateway itself is meant.
 * @throws ServiceError `INVALID_INPUT`; `NO_VALUE` with `error`; with `read` as `Session.request`
 */
export async function findValue(
  context: ValueContext,
  input: ValueInput,
  options: ValueOptions,
): Promise<ValueResult> {
  const gateway = readOptionalMac('gateway', input.gateway);
  const device = readOptionalMac('device', input.device) ?? gateway;
  const identifier = readOptionalIdentifier(input.identifier, context.catalogue);
  if (device === undefined) {
    throw invalidInput('device', input.device, 'missing');
  }
  if (identifier === undefined) {
    throw invalidInput('identifier', input.identifier, 'missing');
  }
  const gateways = await labelledGateways(context, options);
  const [known] = context.values.all({ device, gateway, identifier, gateways });
  const age = known && secondsOf(known);
  if (known && !isTooOld(known, options)) {
    return resultOf(known);
  }
  switch (options.tooOld) {
    case 'read': {
      const asked = gateway ?? context.gatewayOf(device, gateways) ?? known?.gateway;
      // A gateway without the label is none of this node's business.
      if (gateways && !(asked !== undefined && gateways.has(asked))) {
        throw noValue(context, device, identifier, undefined);
      }
      const row = context.catalogue.find(identifier);
      const question = {
        device,
        identifier: row && isOwn(row) ? askedAs(row) : identifier,
        ...(asked !== undefined && { gateway: asked }),
      };
      const ask = () => context.read(question);
      const result = await context.reads.one(options.signal, asked, JSON.stringify(question), ask);
      // Several messages may get the same, and a flow may change what it gets.
      return copyValue(result) as ValueResult;
    }
    case 'error':
      throw noValue(context, device, identifier, age);
    default:
      return known
        ? resultOf(known)
        : { value: null, ...(gateway !== undefined && { gateway }), device, identifier };
  }
}

/** @param age seconds; undefined: nothing is known */
function noValue(
  { nameOf, catalogue }: ValueContext,
  device: string,
  identifier: string,
  age: number | undefined,
): ServiceError {
  const names = { device: nameOf(device) ?? device, identifier };
  const cause = { device, identifier, age };
  return age === undefined
    ? new ServiceError('NO_VALUE', 'none', cause, { ...names, hint: hintFor(identifier, catalogue) })
    : new ServiceError('NO_VALUE', 'tooOld', cause, { ...names, age: Math.round(age) });
}

/**
 * The last values of all that passes, by device and property. Those that are too old are left out (`error`), or asked for
 * (`read`); where that fails, the old ones stay. There may be very many: reports come in between.
 * @returns `failure`: `NO_VALUE` with what the reads ended with that brought nothing
 * @throws ServiceError `INVALID_INPUT`; with `error` `NO_VALUE` where nothing is left; with `read` `QUEUE_FULL`;
 *   `CLOSED`
 */
export async function findValues(
  context: ValueContext,
  input: ValueInput,
  options: ValueOptions,
): Promise<{ rows: ValueRow[]; failure: ServiceError | undefined }> {
  const query = await readQuery(context, input, options);
  const failure = options.tooOld === 'read' ? await readOld(context, query, options) : undefined;
  const values = context.values.unsorted(query);
  const left = options.tooOld === 'error' ? values.filter(([, value]) => !isTooOld(value, options)) : values;
  if (left.length === 0 && options.tooOld === 'error') {
    const { device, identifier } = query;
    throw new ServiceError('NO_VALUE', 'nothing', { device, identifier });
  }
  const turns = new Turns(options.signal);
  const rows: ValueRow[] = [];
  for (const [, value] of await sortInTurns(left, turns)) {
    rows.push(rowOf(value, context));
    if (rows.length % ROWS_PER_LOOK === 0) {
      await turns.next();
    }
  }
  return { rows, failure };
}

/**
 * The first of what `findValues` would bring, of any age, no more than some 8 MB, and how many there are.
 * @throws ServiceError `INVALID_INPUT`, `CLOSED`
 */
export async function findFirstValues(
  context: ValueContext,
  input: ValueInput,
  options: Pick<ValueOptions, 'labels' | 'signal'>,
  limit: number,
): Promise<{ rows: ValueRow[]; total: number }> {
  const query = await readQuery(context, input, options);
  const { values, total } = context.values.first(query, limit);
  return { rows: withinSize(values, MAX_SHOWN_SIZE).map((value) => rowOf(value, context)), total };
}

/** The first values that take no more than this together. @param max bytes, estimated */
function withinSize(values: readonly LastValue[], max: number): LastValue[] {
  let room = max;
  return values.filter(({ size = 0 }) => {
    room -= size;
    return room >= 0;
  });
}

async function readQuery(
  context: ValueContext,
  input: ValueInput,
  options: Pick<ValueOptions, 'labels' | 'signal'>,
): Promise<ValueQuery> {
  return {
    gateway: readOptionalMac('gateway', input.gateway),
    device: readOptionalMac('device', input.device),
    identifier: readOptionalIdentifier(input.identifier, context.catalogue),
    gateways: await labelledGateways(context, options),
  };
}

/** A value as one of several. */
function rowOf(
  value: LastValue,
  { catalogue, nameOf }: Pick<ValueContext, 'catalogue' | 'nameOf'>,
): ValueRow {
  const { gateway, device, identifier, time, source } = value;
  const deviceName = nameOf(device);
  const { name, unit } = catalogue.find(identifier) ?? {};
  return {
    gateway,
    device,
    ...(deviceName !== undefined && { deviceName }),
    identifier,
    ...(name && { name }),
    ...(unit && { unit }),
    value: copyValue(value.value),
    time,
    age: secondsOf(value),
    source,
  };
}

/** The flow may change what it gets. */
function resultOf(known: LastValue): ValueResult {
  const { gateway, device, identifier, source, report } = known;
  const value = copyValue(known.value);
  const age = secondsOf(known);
  return { value, gateway, device, identifier, age, source, ...(report && { report: copyReport(report) }) };
}

/** To the tenth. */
function secondsOf(value: LastValue): number {
  return Math.round(ageOf(value) / 100) / 10;
}

/** Undefined: every gateway. */
async function labelledGateways(
  context: ValueContext,
  { labels, signal }: Pick<ValueOptions, 'labels' | 'signal'>,
): Promise<ReadonlySet<string> | undefined> {
  return labels.length === 0 ? undefined : context.gatewaysWithLabels(labels, signal);
}

/** What a flow has looked up in vain is there and empty, and no filter that lets everything pass. */
function checkGiven(field: string, value: unknown): void {
  if (!isGiven(value)) {
    throw invalidInput(field, value, 'missing');
  }
}

function readOptionalMac(field: string, value: unknown): string | undefined {
  if (value === undefined) {
    return undefined;
  }
  checkGiven(field, value);
  return readMac(field, value);
}

function readOptionalIdentifier(value: unknown, catalogue: Catalogue): string | undefined {
  if (value === undefined) {
    return undefined;
  }
  checkGiven('identifier', value);
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  // Devices may report identifiers that no request could name; what is no level of a topic is none.
  if (text === '' || text.includes('/') || !fitsTopic(text) || !isPropertyName(text)) {
    throw invalidIdentifier('identifier', value, 'notIdentifier', catalogue);
  }
  return text;
}
