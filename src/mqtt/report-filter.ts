// What a subscriber asks for, checked and turned into the dispatcher's route and the topic filters it needs.
import { invalidInput } from '../errors.ts';
import type { Catalogue } from '../protocol/identifiers.ts';
import { parseMac } from '../protocol/mac.ts';
import { type Form, KINDS, SEGMENTS } from '../protocol/reports/index.ts';
import { OTHER_DECODED, OTHER_RAW, type Route } from './dispatch.ts';
import type { Want } from './plan.ts';

export interface ReportFilter {
  /** Names of the table of kinds, or `other`; empty lists let everything through. */
  kinds: readonly string[];
  form: 'both' | Form;
  gateways: readonly string[];
  devices: readonly string[];
  /** By hex id or by name; each matches both. */
  identifiers: readonly string[];
}

/** Beyond this many topic filters for one subscriber, coarser ones are used and the rest is filtered here. */
const MOST_FILTERS = 2_000;
const FORBIDDEN_IN_TOPICS = /[+#\0]/;

export interface ReadFilter {
  route: Omit<Route<never>, 'target'>;
  wants: Want[];
}

/**
 * @returns undefined when nothing can pass, such as heartbeats in decoded form only
 * @throws ServiceError `INVALID_INPUT` with the filter's field
 */
export function readReportFilter(filter: ReportFilter, catalogue: Catalogue): ReadFilter | undefined {
  const segments = readSegments(filter.kinds, filter.form);
  if (segments === undefined) return undefined;
  const route = {
    segments,
    gateways: readMacs('gateways', filter.gateways),
    devices: readMacs('devices', filter.devices),
    identifiers: readIdentifiers(filter.identifiers, catalogue),
  };
  return { route, wants: wantsOf(route, catalogue) };
}

function readMacs(field: string, values: readonly string[]): Set<string> {
  return new Set(
    values.map((value) => {
      const mac = parseMac(value);
      if (!mac) throw invalidInput(field, value, 'notMac');
      return mac;
    }),
  );
}

/** All segments that pass; empty: any; undefined: none. */
function readSegments(kinds: readonly string[], form: ReportFilter['form']): Set<string> | undefined {
  for (const kind of kinds) {
    if (kind !== 'other' && !Object.hasOwn(KINDS, kind)) throw invalidInput('kinds', kind, 'unknownKind');
  }
  if (kinds.length === 0 && form === 'both') return new Set();
  const chosen = new Set<string>();
  for (const [segment, row] of SEGMENTS) {
    if (passes(kinds, row.kind) && passes(form === 'both' ? [] : [form], row.form)) chosen.add(segment);
  }
  if (passes(kinds, 'other')) {
    if (form !== 'decoded') chosen.add(OTHER_RAW);
    if (form !== 'raw') chosen.add(OTHER_DECODED);
  }
  return chosen.size > 0 ? chosen : undefined;
}

function passes(list: readonly string[], item: string): boolean {
  return list.length === 0 || list.includes(item);
}

function readIdentifiers(identifiers: readonly string[], catalogue: Catalogue): Set<string> {
  const chosen = new Set<string>();
  for (const identifier of identifiers) {
    if (identifier === '' || FORBIDDEN_IN_TOPICS.test(identifier)) {
      throw invalidInput('identifiers', identifier, 'notIdentifier');
    }
    const row = catalogue.find(identifier.toLowerCase());
    for (const spelling of [identifier, identifier.toLowerCase(), row?.id, row?.name]) {
      if (spelling) chosen.add(spelling);
    }
  }
  return chosen;
}

function wantsOf(route: ReadFilter['route'], catalogue: Catalogue): Want[] {
  const gateways = partsOf(route.gateways);
  const devices = partsOf(route.devices);
  const macs = devices.flatMap((device) => gateways.map((gateway): Want => ({ gateway, device })));
  for (const tails of [exactTails(route, catalogue), segmentTails(route), [{}]]) {
    if (macs.length * tails.length <= MOST_FILTERS || tails.length === 1) {
      return macs.flatMap((mac) => tails.map((tail) => ({ ...mac, ...tail })));
    }
  }
  return [{}];
}

function partsOf(values: ReadonlySet<string>): (string | undefined)[] {
  return values.size === 0 ? [undefined] : [...values];
}

function exactTails(route: ReadFilter['route'], catalogue: Catalogue): Want[] {
  const { segments, identifiers } = route;
  if (identifiers.size === 0) return segmentTails(route);
  if (isOpen(segments)) return [...identifiers].map((identifier) => ({ identifier }));
  return [...segments].flatMap((segment) => {
    const row = SEGMENTS.get(segment);
    if (!row?.identified) return [];
    // Raw topics carry hex identifiers, decoded topics carry names.
    const fitting = [...identifiers].filter((text) => catalogue.isHexId(text) === (row.form === 'raw'));
    return fitting.map((identifier) => ({ segment, identifier }));
  });
}

function segmentTails({ segments }: ReadFilter['route']): Want[] {
  if (isOpen(segments)) return [{}];
  return [...segments].map((segment) =>
    SEGMENTS.get(segment)?.identified ? { segment } : { segment, identifier: '' },
  );
}

/** Unknown kinds have no segment to subscribe to by name. */
function isOpen(segments: ReadonlySet<string>): boolean {
  return segments.size === 0 || segments.has(OTHER_RAW) || segments.has(OTHER_DECODED);
}
