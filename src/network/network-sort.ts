// In which order people see gateways and devices.
import { type NetworkSource, ownName, rssiOf, type Subject } from './network-rows.ts';
import { batteryOf } from './readings.ts';

type SortKey = string | number | undefined;

interface Keyed {
  subject: Subject;
  key: SortKey;
  /** The MAC as a number: the order of those that are equal, and pages do not overlap. */
  mac: number;
}

/** Behind all MACs. */
const NO_MAC = 2 ** 48;
const HEX_DIGITS = 16;
/** Of Latin, Greek and Cyrillic letters, and of kana; the vowels of other scripts are marks, too. */
const MARKS = /[\u0300-\u036f\u3099\u309a]+/g;
const NUMBER = /\d+/g;
/** Of a name; a list of many long ones would take seconds to sort. */
const MAX_KEY_LENGTH = 100;
const LEADING_ZEROS = /^0+(?=\d)/;
const ZERO = '0'.charCodeAt(0);

/** What a list is sorted by, upwards; what has none comes behind in either direction, by its MAC. */
const SORT_KEYS: Record<string, (source: NetworkSource, subject: Subject) => SortKey> = {
  name: (source, subject) => nameKey(ownName(source, subject)),
  lastSeen: (_, { gateway, device }) => (gateway ?? device)?.heardAt,
  rssi: (_, subject) => rssiOf(subject),
  battery: ({ catalogue }, { device }) => device && batteryOf(device, catalogue),
};

/**
 * What was never heard comes last whatever the order: the service may list hundreds that have not reported since the start.
 * @param sort a column, with `-` in front downwards; by anything else: the name
 */
export function sortSubjects(source: NetworkSource, subjects: readonly Subject[], sort: string): Subject[] {
  const isDown = sort.startsWith('-');
  const column = isDown ? sort.slice(1) : sort;
  const keyOf = SORT_KEYS[Object.hasOwn(SORT_KEYS, column) ? column : 'name'] as (typeof SORT_KEYS)[string];
  const known: Keyed[] = [];
  const unknown: Keyed[] = [];
  const unheard: Keyed[] = [];
  for (const subject of subjects) {
    const key = keyOf(source, subject);
    const keyed = { subject, key, mac: macOf(subject.id) };
    if (isHeard(subject)) {
      (key === undefined ? unknown : known).push(keyed);
    } else {
      unheard.push({ ...keyed, key: nameKey(ownName(source, subject)) ?? subject.id });
    }
  }
  known.sort(byKey(isDown));
  unknown.sort((a, b) => a.mac - b.mac);
  unheard.sort(byKey(column === 'name' && isDown));
  return [...known, ...unknown, ...unheard].map(({ subject }) => subject);
}

export const isHeard = ({ gateway, device }: Subject): boolean =>
  gateway !== undefined || device !== undefined;

/** Numbers and texts are never in one column. */
function byKey(isDown: boolean): (a: Keyed, b: Keyed) => number {
  const down = isDown ? -1 : 1;
  return (a, b) => {
    const [one, other] = [a.key as string, b.key as string];
    return one === other ? a.mac - b.mac : one < other ? -down : down;
  };
}

/**
 * Numbers in names count as numbers: "Gateway 10" comes behind "Gateway 9". Letters with marks stand at those without, and
 * not behind "z".
 */
function nameKey(name: string | undefined): string | undefined {
  return name
    ?.slice(0, MAX_KEY_LENGTH)
    .normalize('NFD')
    .replace(MARKS, '')
    .toLowerCase()
    .replace(NUMBER, (number) => {
      const digits = number.replace(LEADING_ZEROS, '');
      // A longer number is a larger one; then its digits decide.
      return String.fromCharCode(ZERO + digits.length) + digits;
    });
}

function macOf(id: string): number {
  const mac = Number.parseInt(id, HEX_DIGITS);
  return Number.isNaN(mac) ? NO_MAC : mac;
}
