// Which topic filters to subscribe to, so that everything asked for is served at the least cost (pure).

import type { TopicFilterParts } from '../protocol/topics.ts';

const PARTS = ['gateway', 'device', 'segment', 'identifier'] as const;

/** Wants of the same parts, by the values of these parts. `mask` has a bit for each part that is given. */
type Group = Map<string, TopicFilterParts>;

function maskOf(want: TopicFilterParts): number {
  return PARTS.reduce((mask, part, bit) => (want[part] === undefined ? mask : mask | (1 << bit)), 0);
}

function project(want: TopicFilterParts, mask: number): TopicFilterParts {
  const projected: TopicFilterParts = {};
  for (const [bit, part] of PARTS.entries()) {
    if (mask & (1 << bit)) {
      projected[part] = want[part];
    }
  }
  return projected;
}

function keyOf(want: TopicFilterParts, mask: number): string {
  let key = '';
  for (const [bit, part] of PARTS.entries()) {
    if (mask & (1 << bit)) {
      key += `${want[part]}/`;
    }
  }
  return key;
}

const GATEWAY_OR_DEVICE = 0b0011;
const SEGMENT = 0b0100;
const IDENTIFIER = 0b1000;

const NONE = (): boolean => false;

/**
 * A want that another one covers is dropped. Two that cross (one gateway, any kind; any gateway, one kind) can be
 * replaced by what both have in common, which covers them: where that still names a gateway or a device, this is the
 * cheaper way. Else it would bring the reports of the whole network, so both stay and overlap; the copies that a broker
 * may send for each of them have to be removed (`copies.ts`).
 *
 * Linear in the number of wants: they are compared by group, of which there are at most sixteen.
 * @param mayOverlap false: never, as in a shared group, where each overlapping filter has its own receiver
 * @param isRefused whether a filter takes the place of no other, since it brings nothing
 */
export function mergeTopicFilters(
  wants: Iterable<TopicFilterParts>,
  mayOverlap: boolean,
  isRefused: (filter: TopicFilterParts) => boolean = NONE,
): TopicFilterParts[] {
  const groups = new Map<number, Group>();
  for (const want of wants) {
    add(groups, want);
  }
  while (mergeOnce(groups, mayOverlap, isRefused)) {
    // A merge can make a want that overlaps a further one.
  }
  return [...groups.values()].flatMap((group) => [...group.values()]);
}

/**
 * At most `max` filters that ask for everything the given ones do. Where that takes widening, the cheapest comes first:
 * all identifiers of a place instead of some, then all kinds, then all devices of a gateway (or all gateways of a device),
 * and the whole network last; within one of these the places with the most filters.
 *
 * A few passes over the filters, at most one for each part of each of the sixteen groups.
 * @param max 1 or more
 * @param isAvoided whether a filter must not take the place of narrower ones: these stay then, and the others are widened
 *   as far as that makes room; where it cannot, all stay, more than `max`
 */
export function limitTopicFilters(
  filters: readonly TopicFilterParts[],
  max: number,
  mayOverlap: boolean,
  isAvoided: (filter: TopicFilterParts) => boolean = NONE,
): TopicFilterParts[] {
  if (filters.length <= max) {
    return [...filters];
  }
  const limited = widenTo(max, filters, mayOverlap);
  const own = new TopicFilterIndex(filters);
  const avoided = new TopicFilterIndex(limited.filter((filter) => !own.has(filter) && isAvoided(filter)));
  if (avoided.size === 0) {
    return limited;
  }
  const narrow = filters.filter((filter) => avoided.covers(filter));
  const others = filters.filter((filter) => !avoided.covers(filter));
  const room = max - narrow.length;
  if (room < 1) {
    return [...filters];
  }
  const wide = limitTopicFilters(others, room, mayOverlap, isAvoided);
  const all = [...narrow, ...wide];
  const isApart = mergeTopicFilters(all, mayOverlap).length === all.length;
  return isApart ? all : [...filters];
}

function widenTo(max: number, filters: readonly TopicFilterParts[], mayOverlap: boolean): TopicFilterParts[] {
  // A kind without identifiers has the same filter without the empty one, and can lose its kind then.
  const wants: TopicFilterParts[] = filters.map(({ identifier, ...rest }) =>
    identifier ? { ...rest, identifier } : rest,
  );
  let limited = wants;
  while (limited.length > max) {
    limited = mergeTopicFilters(widenOnce(limited, limited.length - max), mayOverlap);
  }
  return narrowTo(wants, limited);
}

/** What some filters have in common may be more than what was left of them: each again as narrow as its wants let it be. */
function narrowTo(
  wants: readonly TopicFilterParts[],
  filters: readonly TopicFilterParts[],
): TopicFilterParts[] {
  const index = new TopicFilterIndex(filters);
  const narrow = new Map<TopicFilterParts, TopicFilterParts>();
  for (const want of wants) {
    const filter = index.covering(want)[0] as TopicFilterParts;
    narrow.set(filter, commonOf(narrow.get(filter) ?? want, want));
  }
  return [...narrow.values()];
}

function commonOf(one: TopicFilterParts, other: TopicFilterParts): TopicFilterParts {
  const bits = PARTS.map((part, bit) => (one[part] === other[part] ? 1 << bit : 0));
  return project(one, maskOf(one) & bits.reduce((mask, bit) => mask | bit, 0));
}

/** Drops one part of the filters of one group, the cheapest that helps, until enough of them have become one. */
function widenOnce(filters: readonly TopicFilterParts[], excess: number): TopicFilterParts[] {
  const [mask, part] = cheapestWidening(filters);
  const places = new Map<string, TopicFilterParts[]>();
  const widened = filters.filter((filter) => maskOf(filter) !== mask);
  for (const filter of filters.filter((each) => maskOf(each) === mask)) {
    const key = keyOf(filter, mask & ~part);
    const place = places.get(key);
    if (place) {
      place.push(filter);
    } else {
      places.set(key, [filter]);
    }
  }
  const isOfNoUse = [...places.values()].every(({ length }) => length === 1);
  let left = excess;
  for (const place of [...places.values()].sort((a, b) => b.length - a.length)) {
    if (isOfNoUse || (left > 0 && place.length > 1)) {
      widened.push(project(place[0] as TopicFilterParts, mask & ~part));
      left -= place.length - 1;
    } else {
      widened.push(...place);
    }
  }
  return widened;
}

/** The group and the part to drop: one by which filters become equal, if there is any, and the narrowest of those. */
function cheapestWidening(filters: readonly TopicFilterParts[]): [mask: number, part: number] {
  const masks = new Set(filters.map(maskOf));
  masks.delete(0);
  const choices = [...masks].flatMap((mask) =>
    PARTS.flatMap((_, bit) => {
      const part = 1 << bit;
      return mask & part ? [{ mask, part, cost: costOf(mask, part), helps: helps(filters, mask, part) }] : [];
    }),
  );
  choices.sort((a, b) => Number(b.helps) - Number(a.helps) || a.cost - b.cost);
  const { mask, part } = choices[0] as { mask: number; part: number };
  return [mask, part];
}

function helps(filters: readonly TopicFilterParts[], mask: number, part: number): boolean {
  const keys = new Set<string>();
  return filters.some((filter) => {
    if (maskOf(filter) !== mask) {
      return false;
    }
    const key = keyOf(filter, mask & ~part);
    return keys.size === keys.add(key).size;
  });
}

/** How much more a filter brings without this part, in order and not in reports: nobody knows those beforehand. */
function costOf(mask: number, part: number): number {
  if (part === IDENTIFIER || part === SEGMENT) {
    return part === IDENTIFIER ? 1 : 2;
  }
  const isLastPlace = (mask & GATEWAY_OR_DEVICE) === part;
  return isLastPlace ? 4 : 3;
}

function add(groups: Map<number, Group>, want: TopicFilterParts): void {
  const mask = maskOf(want);
  const group = groups.get(mask);
  if (group) {
    group.set(keyOf(want, mask), want);
  } else {
    groups.set(mask, new Map([[keyOf(want, mask), want]]));
  }
}

function mergeOnce(
  groups: Map<number, Group>,
  mayOverlap: boolean,
  isRefused: (filter: TopicFilterParts) => boolean,
): boolean {
  const masks = [...groups.keys()].sort((a, b) => a - b);
  for (const [i, a] of masks.entries()) {
    for (const b of masks.slice(i + 1)) {
      const common = a & b;
      // `a` is the smaller number, so `b` cannot be the wider one.
      const isCovered = common === a;
      const isNarrow = (common & GATEWAY_OR_DEVICE) !== 0;
      if ((isCovered || isNarrow || !mayOverlap) && mergePair(groups, a, b, isRefused)) {
        return true;
      }
    }
  }
  return false;
}

/** Merges what overlaps between the groups `a` and `b`; false when nothing does. */
function mergePair(
  groups: Map<number, Group>,
  a: number,
  b: number,
  isRefused: (filter: TopicFilterParts) => boolean,
): boolean {
  const common = a & b;
  const [groupA, groupB] = [groups.get(a) as Group, groups.get(b) as Group];
  const keysOfA = new Set([...groupA.values()].map((want) => keyOf(want, common)));
  const hit = [...groupB.values()].filter(
    (want) => keysOfA.has(keyOf(want, common)) && !isRefused(project(want, common)),
  );
  if (hit.length === 0) {
    return false;
  }
  const shared = new Map(hit.map((want) => [keyOf(want, common), project(want, common)]));
  if (common !== a) {
    remove(groupA, common, shared);
  }
  remove(groupB, common, shared);
  for (const want of shared.values()) {
    add(groups, want);
  }
  return true;
}

/** Filters of the same parts that stay. */
interface Taken {
  wants: TopicFilterParts[];
  /** Of all of them, by the parts that others have as well. */
  keys: Map<number, Set<string>>;
}

/**
 * Where two overlap although they must not, the first one stays.
 * @returns `apart`: those that stay; `common`: for each of the others what it has in common with one that stays
 */
export function separateTopicFilters(filters: readonly TopicFilterParts[]): {
  apart: TopicFilterParts[];
  common: TopicFilterParts[];
} {
  const [apart, common]: [TopicFilterParts[], TopicFilterParts[]] = [[], []];
  const taken = new Map<number, Taken>();
  for (const want of filters) {
    const mask = maskOf(want);
    const hit = [...taken].find(([own, { wants, keys }]) => {
      const both = own & mask;
      const known = keys.get(both) ?? new Set(wants.map((each) => keyOf(each, both)));
      keys.set(both, known);
      return known.has(keyOf(want, both));
    });
    if (hit) {
      common.push(project(want, hit[0] & mask));
      continue;
    }
    apart.push(want);
    const group: Taken = taken.get(mask) ?? { wants: [], keys: new Map() };
    taken.set(mask, group);
    group.wants.push(want);
    for (const [both, known] of group.keys) {
      known.add(keyOf(want, both));
    }
  }
  return { apart, common };
}

function remove(group: Group, mask: number, keys: Map<string, unknown>): void {
  for (const [key, want] of group) {
    if (keys.has(keyOf(want, mask))) {
      group.delete(key);
    }
  }
}

/** Finds how many of some wants ask for a topic: each is one subscription that can bring it. */
export class TopicFilterIndex {
  readonly #groups = new Map<number, Group>();

  constructor(wants: Iterable<TopicFilterParts>) {
    for (const want of wants) {
      add(this.#groups, want);
    }
  }

  get size(): number {
    return [...this.#groups.values()].reduce((sum, group) => sum + group.size, 0);
  }

  *[Symbol.iterator](): Generator<TopicFilterParts> {
    for (const group of this.#groups.values()) {
      yield* group.values();
    }
  }

  has(want: TopicFilterParts): boolean {
    const mask = maskOf(want);
    return this.#groups.get(mask)?.has(keyOf(want, mask)) === true;
  }

  /** @param at every part of the topic; an absent identifier is an empty text */
  count(at: Required<TopicFilterParts>): number {
    let count = 0;
    for (const [mask, group] of this.#groups) {
      if (group.has(keyOf(at, mask))) {
        count++;
      }
    }
    return count;
  }

  /** Whether a want of the index asks for everything that this one does. */
  covers(want: TopicFilterParts): boolean {
    return this.covering(want).length > 0;
  }

  /** The wants of the index that ask for everything that this one does. */
  covering(want: TopicFilterParts): TopicFilterParts[] {
    const mask = maskOf(want);
    return [...this.#groups].flatMap(([own, group]) =>
      (own & mask) === own ? (group.get(keyOf(want, own)) ?? []) : [],
    );
  }
}
