// THE TABLE of report kinds, and how a message becomes a report.

import { TopicCache } from '../../collections/topic-cache.ts';
import type { Catalogue } from '../catalogue.ts';
import { DeepText } from '../json.ts';
import { isMac } from '../mac.ts';
import { ownText } from '../text.ts';
import {
  type Body,
  badReport,
  type Form,
  fillSeq,
  type KindRow,
  type NamedPlace,
  type Report,
} from './report.ts';
import { startReport } from './start.ts';
import { isFailed, timestamped } from './timestamped.ts';
import { fillValue } from './value.ts';

export { FORMS, type Form, type Report } from './report.ts';
export { nameProperty } from './start.ts';
export { isFailed };

/** Every kind that this package knows; anything else arrives as `other`. */
export const KINDS = {
  /** seq, status (non-zero: error or warning), lastCount (duplicates of the previous seq). */
  heartbeat: { identified: false, hasValue: false, fill: fillSeq },
  /** A device that advertises in DFU mode: parent, rssi. Its MAC may be one higher than usual. */
  dfu: { identified: false, hasValue: false, fill: fillSeq },
  /** Signal strength between a parent and the device: parent, rssi, and optionally channel, seq, unreachable. */
  rssi: { identified: false, hasValue: false, fill: fillSeq },
  /** value, ext, and optionally seq. */
  property: { identified: true, hasValue: true, fill: fillValue },
  /** seq, value, ext. */
  measurement: { identified: true, hasValue: true, fill: fillValue },
  /** seq, error, and optionally errorExt; the same fields in both forms. */
  'measurement-error': { identified: true, hasValue: false, fill: fillSeq },
  /** seq, and optionally value and ext. */
  event: { identified: true, hasValue: true, fill: fillValue },
  timestamped,
} as const satisfies Record<string, KindRow>;

export type Kind = keyof typeof KINDS;

export const KIND_NAMES = Object.keys(KINDS) as readonly Kind[];

const DECODED_SUFFIX = '-decoded';

export interface Segment {
  kind: Kind;
  form: Form;
  identified: boolean;
}

/** Every known segment of a report topic: the kinds, and the decoded twins of those that carry an identifier. */
export const SEGMENTS: ReadonlyMap<string, Segment> = new Map(
  KIND_NAMES.flatMap((kind): [string, Segment][] => {
    const { identified } = KINDS[kind];
    const raw: [string, Segment] = [kind, { kind, form: 'raw', identified }];
    return identified ? [raw, [kind + DECODED_SUFFIX, { kind, form: 'decoded', identified }]] : [raw];
  }),
);

/** A report's topic, taken apart. */
export interface ReportTopic extends NamedPlace {
  kind: Kind | 'other';
  /** Whether gateway and device are MAC addresses, as they must be. */
  hasMacs: boolean;
}

/**
 * Finds the kind of a report by its topic. A known kind with a wrong number of levels (`heartbeat/x`,
 * `measurement`, `measurement/a/b`) is `other`, like an unknown one.
 * @param rest what follows the device in the topic
 * @param nameOf the name of a gateway or a device by its MAC, where one is known
 */
export function readReportTopic(
  topic: string,
  gateway: string,
  device: string,
  rest: string,
  nameOf?: (mac: string) => string | undefined,
): ReportTopic {
  const { kind, row, form, segment, identifier } = tailOf(rest);
  const hasMacs = isMac(gateway) && isMac(device);
  const deviceName = nameOf?.(device);
  const gatewayName = nameOf?.(gateway);
  return { topic, gateway, device, kind, row, form, segment, identifier, hasMacs, deviceName, gatewayName };
}

type Tail = Pick<ReportTopic, 'kind' | 'row' | 'form' | 'segment' | 'identifier'>;

/** A network uses a few hundred tails at most, so each is taken apart once. */
const TAILS = new TopicCache<Tail>();

function tailOf(rest: string): Tail {
  const known = TAILS.get(rest);
  if (known !== undefined) {
    return known;
  }
  const own = ownText(rest);
  const tail = readTail(own);
  TAILS.set(own, tail);
  return tail;
}

function readTail(rest: string): Tail {
  const slash = rest.indexOf('/');
  const segment = slash < 0 ? rest : rest.slice(0, slash);
  const identifier = slash < 0 ? undefined : rest.slice(slash + 1);
  const known = SEGMENTS.get(segment);
  if (known !== undefined && fits(known, identifier)) {
    return { kind: known.kind, row: KINDS[known.kind], form: known.form, segment, identifier };
  }
  const form = segment.endsWith(DECODED_SUFFIX) ? 'decoded' : 'raw';
  return { kind: 'other', row: undefined, form, segment, identifier };
}

/** A topic with other levels than those of its kind comes by wider filters only than the ones for its kind. */
export const isOddOfItsKind = ({ kind, segment }: ReportTopic): boolean =>
  kind === 'other' && SEGMENTS.has(segment);

function fits({ identified }: Segment, identifier: string | undefined): boolean {
  if (identifier === undefined) {
    return !identified;
  }
  return identified && identifier !== '' && !identifier.includes('/');
}

/**
 * Makes a report of a message: a new object every time, whose nested values are those of `body`.
 * @param body what JSON.parse gave, or `DeepText`
 * @param decode whether raw values are decoded by the catalogue
 * @throws ServiceError `BAD_REPORT` with cause `{topic, payload: body}`, the text in place of `DeepText`
 */
export function readReport(
  at: ReportTopic,
  body: unknown,
  catalogue: Catalogue,
  decode: boolean,
  retained: boolean,
): Report {
  const isDeep = body instanceof DeepText;
  if (!at.hasMacs || isDeep) {
    throw badReport(at.hasMacs ? 'tooDeep' : 'mac', at, isDeep ? body.text : body);
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badReport('notObject', at, body);
  }
  const fields = body as Body;
  if (typeof fields.time !== 'string') {
    throw badReport('time', at, body);
  }
  const { row } = at;
  const report = startReport(at, fields.time, catalogue);
  if (row === undefined) {
    report.topicKind = at.segment;
    report.value = body;
  } else {
    row.fill(report, fields, at, decode ? catalogue : undefined);
    passExtras(report, fields);
    if (row.hasValue && report.value === undefined) {
      delete report.value;
    }
  }
  if (retained) {
    report.retained = true;
  }
  return report;
}

/** Fields of ours that not every report has: a payload does not set them either. */
const RESERVED: ReadonlySet<string> = new Set([
  ...[
    'identifier',
    'name',
    'unit',
    'deviceName',
    'gatewayName',
    'raw',
    'topicKind',
    'retained',
    'test',
    'delivery',
    'redelivered',
  ],
]);

/** Everything else in a payload passes through unchanged, fields of later versions of the service too. */
function passExtras(report: Report, body: Body): void {
  for (const key in body) {
    if (Object.hasOwn(report, key) || RESERVED.has(key)) {
      continue;
    }
    if (key === '__proto__') {
      defineOwn(report, key, body[key]);
    } else {
      report[key] = body[key];
    }
  }
}

/** An assignment to `__proto__` would set the prototype. */
function defineOwn(report: Report, key: string, value: unknown): void {
  Object.defineProperty(report, key, { value, writable: true, enumerable: true, configurable: true });
}

/** A deep copy of a report's JSON, for one more receiver; any depth, and a key `__proto__` stays a key. */
export function copyReport(report: Report): Report {
  const copy = { ...report };
  const unfinished: Record<string, unknown>[] = [copy];
  for (let at = unfinished.pop(); at !== undefined; at = unfinished.pop()) {
    for (const key in at) {
      const nested = at[key];
      if (typeof nested !== 'object' || nested === null) {
        continue;
      }
      const own = (Array.isArray(nested) ? nested.slice() : { ...nested }) as Record<string, unknown>;
      // An own key `__proto__` is there already, from the spread, so this does not reach the prototype.
      at[key] = own;
      unfinished.push(own);
    }
  }
  return copy;
}
