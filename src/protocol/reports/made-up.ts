// A report that no device has sent, made from what a filter lets through: to try a flow with.
import { invalidInput } from '../../errors.ts';
import type { Catalogue } from '../catalogue.ts';
import { isHexBytes } from '../hex.ts';
import { type Identifier, isOwn } from '../identifiers.ts';
import { invalidIdentifier } from '../operations/identifier.ts';
import { type Form, KINDS, type Kind, SEGMENTS } from './index.ts';
import type { Body } from './report.ts';
import { sampleValue } from './sample-values.ts';

/** What may be made up; empty lists let everything through. */
export interface MadeUpFilter {
  kinds: readonly string[];
  form: 'both' | Form;
  /** By hex id or by name. */
  identifiers: readonly string[];
}

/** What follows the device in the topic, and the JSON of the message. */
export interface MadeUpMessage {
  segment: string;
  /** Empty where the kind has none. */
  identifier: string;
  body: Body;
}

/** The property of each kind that has one, where the filter names none. */
const USUAL_IDENTIFIER: Readonly<Partial<Record<string, string>>> = {
  property: 'battery-level',
  event: 'button-0-counter',
};
const USUAL_MEASUREMENT = 'temperature';
/** An event whose hex identifier is known. */
const RAW_EVENT = 'watchdog-reset-event';

/** In hex: the sample waits for its acknowledgement; see interface, section "timestamped payload (raw)". */
const ACK_FLAGS = '08';
const RSSI = -60;
const CHANNEL = 37;

/**
 * @param gateway hears the device itself
 * @param value that it is to have, in decoded form; undefined: a usual one
 * @param time ISO 8601
 * @throws ServiceError `INVALID_INPUT`: `identifiers` where no report can pass, `value` where it does not fit the kind or the
 *   property
 */
export function makeUpMessage(
  filter: MadeUpFilter,
  catalogue: Catalogue,
  { gateway, value, time }: { gateway: string; value: unknown; time: string },
): MadeUpMessage {
  const isSpelled = (listed: string) => spell(listed, filter.form, catalogue) !== undefined;
  const text = filter.identifiers.find(isSpelled) ?? filter.identifiers[0];
  const row = text === undefined ? undefined : catalogue.find(text);
  const inForm = preferred(filter.kinds, (kind) => comesIn(kind, filter.form));
  const kinds = value === undefined ? inForm : preferred(inForm, hasValue);
  const kind = chooseKind(kinds, text, row);
  if (value !== undefined && !hasValue(kind)) {
    throw invalidInput('value', value, 'kindWithoutValue');
  }
  if (kind === 'other') {
    return {
      segment: filter.form === 'decoded' ? 'other-decoded' : 'other',
      identifier: text ?? '',
      body: { time },
    };
  }
  if (!KINDS[kind].identified) {
    return { segment: kind, identifier: '', body: { time, ...plainFields(kind, gateway) } };
  }
  const property = text ?? usualIdentifier(kind, filter.form);
  const spelled = spell(property, filter.form, catalogue);
  if (!spelled) {
    const reason = filter.form === 'raw' ? 'noHexId' : 'noName';
    throw invalidIdentifier('identifiers', property, reason, catalogue);
  }
  const { form, identifier } = spelled;
  const known = catalogue.find(identifier);
  const body = valueFields(kind, form, () => encode(value, form, known, identifier, catalogue));
  return { segment: segmentOf(kind, form), identifier, body: { time, seq: 1, ...body } };
}

/** Those that fit; all of them where none does: an empty list would let every kind through. */
function preferred(kinds: readonly string[], fits: (kind: Kind | 'other') => boolean): readonly string[] {
  const fitting = kinds.filter((kind) => fits(kind as Kind | 'other'));
  return fitting.length > 0 ? fitting : kinds;
}

/** A kind without an identifier has no decoded twin. */
const comesIn = (kind: Kind | 'other', form: MadeUpFilter['form']): boolean =>
  form !== 'decoded' || kind === 'other' || KINDS[kind].identified;

const hasValue = (kind: Kind | 'other'): boolean => kind !== 'other' && KINDS[kind].hasValue;

/** The kind by which a property is usually reported, where it passes; else the first that passes. */
function chooseKind(kinds: readonly string[], text: string | undefined, row?: Identifier): Kind | 'other' {
  const usual = text === undefined ? undefined : usualKind(row);
  const fitting = kinds.filter(
    (kind) => text === undefined || kind === 'other' || KINDS[kind as Kind].identified,
  );
  if (kinds.length === 0) {
    return usual ?? 'measurement';
  }
  return (usual !== undefined && kinds.includes(usual) ? usual : (fitting[0] ?? kinds[0])) as Kind | 'other';
}

/** Identifiers from 8800 to 88ff are what sensors measure, and so are most that the interface does not name. */
function usualKind(row: Identifier | undefined): Kind {
  if (row === undefined || (isOwn(row) && row.builtInName === undefined)) {
    return 'measurement';
  }
  if (row.access.includes('event')) {
    return 'event';
  }
  return row.id.startsWith('88') ? 'measurement' : 'property';
}

function usualIdentifier(kind: Kind, form: MadeUpFilter['form']): string {
  return kind === 'event' && form === 'raw' ? RAW_EVENT : (USUAL_IDENTIFIER[kind] ?? USUAL_MEASUREMENT);
}

/** A raw topic carries the hex identifier, a decoded one the name. @returns undefined: it has none for this form */
function spell(
  text: string,
  wanted: MadeUpFilter['form'],
  catalogue: Catalogue,
): { form: Form; identifier: string } | undefined {
  const row = catalogue.find(text);
  const isHex = catalogue.isHexId(text);
  const name = row?.builtInName || row?.name || (isHex ? '' : text);
  const id = row?.id || (isHex ? text.toLowerCase() : '');
  if (wanted !== 'raw' && name) {
    return { form: 'decoded', identifier: name };
  }
  if (wanted !== 'decoded' && id) {
    return { form: 'raw', identifier: id };
  }
  return undefined;
}

function segmentOf(kind: Kind, form: Form): string {
  for (const [segment, row] of SEGMENTS) {
    if (row.kind === kind && row.form === form) {
      return segment;
    }
  }
  return kind;
}

function plainFields(kind: Kind, parent: string): Body {
  switch (kind) {
    case 'heartbeat':
      return { seq: 1, status: 0, lastCount: 0 };
    case 'dfu':
      return { parent, rssi: RSSI };
    case 'rssi':
      return { parent, rssi: RSSI, channel: CHANNEL };
    default:
      return {};
  }
}

function valueFields(kind: Kind, form: Form, value: () => unknown): Body {
  if (kind === 'measurement-error') {
    return { error: 1 };
  }
  if (kind !== 'timestamped') {
    return { value: value() };
  }
  return form === 'raw' ? { flags: ACK_FLAGS, value: value() } : { ack: true, value: value() };
}

/** As it stands in the message. @throws ServiceError `INVALID_INPUT` field `value` */
function encode(
  given: unknown,
  form: Form,
  row: Identifier | undefined,
  identifier: string,
  catalogue: Catalogue,
): unknown {
  if (row === undefined) {
    const value = given === undefined ? (form === 'raw' ? '00' : 1) : given;
    if (form === 'raw' && !isHexBytes(value)) {
      throw invalidInput('value', value, 'notHexBytes');
    }
    return value;
  }
  const value = given === undefined ? sampleValue(row, catalogue) : given;
  if (row.type === 'number') {
    if (typeof value !== 'number') {
      throw invalidInput('value', value, 'notNumber');
    }
    return value;
  }
  const hex = catalogue.encode(identifier, value);
  return form === 'raw' ? hex : value;
}
