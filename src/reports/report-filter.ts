// What a subscriber asks for, checked and turned into the dispatcher's route and the topic filters it needs.
import { invalidInput } from '../errors.ts';
import type { Catalogue } from '../protocol/catalogue.ts';
import { parseMac } from '../protocol/mac.ts';
import { invalidIdentifier } from '../protocol/operations/identifier.ts';
import { type Form, KINDS, SEGMENTS } from '../protocol/reports/index.ts';
import { fitsTopic, type TopicFilterParts } from '../protocol/topics.ts';
import { OTHER_DECODED, OTHER_RAW, type Route } from './dispatch.ts';

export interface TopicCriteria {
  /** Names of the table of kinds, or `other`; empty lists let everything through. */
  kinds: readonly string[];
  form: 'both' | Form;
  gateways: readonly string[];
  devices: readonly string[];
  /** By hex id or by name; each matches both. */
  identifiers: readonly string[];
}

export interface ReportFilter extends TopicCriteria {
  /** Only gateways that carry one of these REST labels. */
  labels: readonly string[];
  /** Seconds between two requests for the labels. */
  labelRefresh: number;
  /** Raw values are decoded by the catalogue. */
  decode: boolean;
  duplicates: 'keep' | 'drop';
  /** Seconds. */
  duplicateWindow: number;
}

/** Beyond this many topic filters for one subscriber, coarser ones are used and the rest is filtered here. */
const MAX_FILTERS = 2_000;
/** Characters; no device has a longer one, and a filter must fit into a topic. */
const MAX_IDENTIFIER_LENGTH = 1_000;

export interface CompiledCriteria {
  route: Omit<Route<never>, 'target'>;
  topicFilters: TopicFilterParts[];
}

/**
 * @returns undefined when nothing can pass, such as heartbeats in decoded form only
 * @throws ServiceError `INVALID_INPUT` with the filter's field
 */
export function compileCriteria(filter: TopicCriteria, catalogue: Catalogue): CompiledCriteria | undefined {
  const segments = readSegments(filter.kinds, filter.form);
  if (segments === undefined) {
    return undefined;
  }
  const route = {
    segments,
    gateways: readMacs('gateways', filter.gateways),
    devices: readMacs('devices', filter.devices),
    identifiers: readIdentifiers(filter.identifiers, catalogue),
  };
  return { route, topicFilters: topicFiltersOf(route, catalogue) };
}

function readMacs(field: string, values: readonly string[]): Set<string> {
  return new Set(
    values.map((value) => {
      const mac = parseMac(value);
      if (!mac) {
        throw invalidInput(field, value, 'notMac');
      }
      return mac;
    }),
  );
}

/** All segments that pass; empty: any; undefined: none. */
function readSegments(kinds: readonly string[], form: TopicCriteria['form']): Set<string> | undefined {
  for (const kind of kinds) {
    if (kind !== 'other' && !Object.hasOwn(KINDS, kind)) {
      throw invalidInput('kinds', kind, 'unknownKind');
    }
  }
  if (kinds.length === 0 && form === 'both') {
    return new Set();
  }
  const chosen = new Set<string>();
  for (const [segment, row] of SEGMENTS) {
    if (passes(kinds, row.kind) && passes(form === 'both' ? [] : [form], row.form)) {
      chosen.add(segment);
    }
  }
  if (passes(kinds, 'other')) {
    if (form !== 'decoded') {
      chosen.add(OTHER_RAW);
    }
    if (form !== 'raw') {
      chosen.add(OTHER_DECODED);
    }
  }
  return chosen.size > 0 ? chosen : undefined;
}

function passes(list: readonly string[], item: string): boolean {
  return list.length === 0 || list.includes(item);
}

function readIdentifiers(identifiers: readonly string[], catalogue: Catalogue): Set<string> {
  const chosen = new Set<string>();
  for (const identifier of identifiers) {
    if (identifier === '' || identifier.length > MAX_IDENTIFIER_LENGTH || !fitsTopic(identifier)) {
      throw invalidIdentifier('identifiers', identifier, 'notIdentifier', catalogue);
    }
    const row = catalogue.find(identifier);
    for (const spelling of [identifier, identifier.toLowerCase(), row?.id, row?.name, row?.builtInName]) {
      if (spelling) {
        chosen.add(spelling);
      }
    }
  }
  return chosen;
}

/** The narrowest filters that are few enough. Their number is computed first: the lists of a user are multiplied here. */
function topicFiltersOf(route: CompiledCriteria['route'], catalogue: Catalogue): TopicFilterParts[] {
  const { gateways, devices } = route;
  const both = gateways.size > 0 && devices.size > 0;
  const tails = tailsOf(route, catalogue);
  for (const heads of both ? [{ gateways, devices }, { devices }, { gateways }] : [{ gateways, devices }]) {
    for (const tail of tails) {
      if (countOf(heads) * tail.count <= MAX_FILTERS) {
        return combine(heads, tail.topicFilters());
      }
    }
  }
  return tails.find(({ count }) => count <= MAX_FILTERS)?.topicFilters() ?? [{}];
}

interface Heads {
  gateways?: ReadonlySet<string>;
  devices?: ReadonlySet<string>;
}

function countOf({ gateways, devices }: Heads): number {
  return Math.max(1, gateways?.size ?? 0) * Math.max(1, devices?.size ?? 0);
}

function combine({ gateways, devices }: Heads, tails: readonly TopicFilterParts[]): TopicFilterParts[] {
  const macs = partsOf(devices).flatMap((device) =>
    partsOf(gateways).map((gateway): TopicFilterParts => ({ gateway, device })),
  );
  return macs.flatMap((mac) => tails.map((tail) => ({ ...mac, ...tail })));
}

function partsOf(values: ReadonlySet<string> | undefined): (string | undefined)[] {
  return values === undefined || values.size === 0 ? [undefined] : [...values];
}

/** What follows the device in the topic filters; made when their number is known to be small enough. */
interface Tails {
  count: number;
  topicFilters(): TopicFilterParts[];
}

/** From the narrowest to "any". */
function tailsOf(route: CompiledCriteria['route'], catalogue: Catalogue): Tails[] {
  const bySegment = isOpen(route.segments)
    ? []
    : [{ count: route.segments.size, topicFilters: () => segmentTails(route) }];
  const exact = route.identifiers.size > 0 ? [exactTails(route, catalogue)] : [];
  return [...exact, ...bySegment, { count: 1, topicFilters: () => [{}] }];
}

function exactTails({ segments, identifiers }: CompiledCriteria['route'], catalogue: Catalogue): Tails {
  if (isOpen(segments)) {
    return {
      count: identifiers.size,
      topicFilters: () => [...identifiers].map((identifier) => ({ identifier })),
    };
  }
  // Raw topics carry hex identifiers, decoded topics carry names.
  const all = [...identifiers];
  const texts = {
    raw: all.filter((text) => catalogue.isHexId(text)),
    decoded: all.filter((text) => !catalogue.isHexId(text)),
  };
  const fitting = [...segments].flatMap((segment) => {
    const row = SEGMENTS.get(segment);
    return row?.identified ? [{ segment, identifiers: texts[row.form] }] : [];
  });
  return {
    count: fitting.reduce((count, row) => count + row.identifiers.length, 0),
    topicFilters: () =>
      fitting.flatMap(({ segment, identifiers }) =>
        identifiers.map((identifier) => ({ segment, identifier })),
      ),
  };
}

function segmentTails({ segments }: CompiledCriteria['route']): TopicFilterParts[] {
  return [...segments].map((segment) =>
    SEGMENTS.get(segment)?.identified ? { segment } : { segment, identifier: '' },
  );
}

/** Unknown kinds have no segment to subscribe to by name. */
function isOpen(segments: ReadonlySet<string>): boolean {
  return segments.size === 0 || segments.has(OTHER_RAW) || segments.has(OTHER_DECODED);
}
