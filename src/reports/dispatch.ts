// Finds the subscribers of a report by index: the cost is the number of those that match.
import type { ReportTopic } from '../protocol/reports/index.ts';

/** Who gets which reports; an empty set stands for "any". Segments are topic segments, see `segmentKey`. */
export interface Route<T> {
  segments: ReadonlySet<string>;
  gateways: ReadonlySet<string>;
  devices: ReadonlySet<string>;
  identifiers: ReadonlySet<string>;
  target: T;
}

/** What is left to look at when a route was found by its place; undefined: nothing. */
interface Entry<T> {
  target: T;
  segments: ReadonlySet<string> | undefined;
  gateways: ReadonlySet<string> | undefined;
  identifiers: ReadonlySet<string> | undefined;
}

/** A route has no more places than this: a user's lists of devices and of identifiers are multiplied here. */
const MAX_INDEX_ENTRIES = 10_000;

/** Replaced when it changes, so that the many devices of one route can share it: what is shared stays in the caches. */
type Entries<T> = readonly Entry<T>[];

const NO_ENTRIES: Entries<never> = [];

/** Routes below one gateway, one device, or below neither: by identifier if they name some, else by segment. */
class Bucket<T> {
  byIdentifier: Map<string, Entries<T>> | undefined;
  bySegment: Map<string, Entries<T>> | undefined;
  any: Entries<T> = NO_ENTRIES;

  get empty(): boolean {
    return this.any.length === 0 && !this.byIdentifier?.size && !this.bySegment?.size;
  }
}

/** The index key of a kind: the topic segment, or one key each for unknown kinds with and without `-decoded`. */
function segmentKey(at: ReportTopic): string {
  if (at.kind !== 'other') {
    return at.segment;
  }
  return at.form === 'raw' ? OTHER_RAW : OTHER_DECODED;
}

// A topic segment cannot contain a slash.
export const OTHER_RAW = 'other/raw';
export const OTHER_DECODED = 'other/decoded';

/** Each route lies in one place per device (else gateway, else "all") and identifier (else segment, else "any"). */
export class Dispatch<T> {
  readonly #byDevice = new Map<string, Bucket<T>>();
  readonly #byGateway = new Map<string, Bucket<T>>();
  readonly #all = new Bucket<T>();

  /** @returns removes the route */
  add(route: Route<T>): () => void {
    const { segments, gateways, target } = route;
    const entry = {
      target,
      segments: restriction(segments),
      gateways: restriction(gateways),
      identifiers: isByKey(route) ? undefined : restriction(route.identifiers),
    };
    this.#place(route, (list) => [...list, entry]);
    return () => {
      this.#place(route, (list) => list.filter((other) => other !== entry));
      this.#prune(this.#byDevice, route.devices);
      this.#prune(this.#byGateway, route.gateways);
    };
  }

  /** The targets for a report, each once. */
  match(at: ReportTopic): T[] {
    const matched: T[] = [];
    const segment = segmentKey(at);
    this.#collect(this.#byDevice.get(at.device), at, segment, matched);
    this.#collect(this.#byGateway.get(at.gateway), at, segment, matched);
    this.#collect(this.#all, at, segment, matched);
    return matched;
  }

  #collect(bucket: Bucket<T> | undefined, at: ReportTopic, segment: string, matched: T[]): void {
    if (!bucket) {
      return;
    }
    this.#take(bucket.any, at, segment, matched);
    this.#take(bucket.bySegment?.get(segment), at, segment, matched);
    if (at.identifier !== undefined) {
      this.#take(bucket.byIdentifier?.get(at.identifier), at, segment, matched);
    }
  }

  #take(entries: Entries<T> | undefined, at: ReportTopic, segment: string, matched: T[]): void {
    if (!entries) {
      return;
    }
    for (const { target, segments, gateways, identifiers } of entries) {
      // The device is settled by the place of the route, and the identifier where it has one place for each.
      if (segments && !segments.has(segment)) {
        continue;
      }
      if (gateways && !gateways.has(at.gateway)) {
        continue;
      }
      if (identifiers && (at.identifier === undefined || !identifiers.has(at.identifier))) {
        continue;
      }
      matched.push(target);
    }
  }

  #place(route: Route<T>, changeOne: (list: Entries<T>) => Entries<T>): void {
    const change = once(changeOne);
    const byKey = isByKey(route);
    for (const bucket of this.#bucketsOf(route)) {
      if (!byKey) {
        bucket.any = change(bucket.any);
      } else if (route.identifiers.size > 0) {
        bucket.byIdentifier ??= new Map();
        changeAt(bucket.byIdentifier, route.identifiers, change);
      } else if (route.segments.size > 0) {
        bucket.bySegment ??= new Map();
        changeAt(bucket.bySegment, route.segments, change);
      } else {
        bucket.any = change(bucket.any);
      }
    }
  }

  #bucketsOf(route: Route<T>): Bucket<T>[] {
    if (route.devices.size > 0) {
      return [...route.devices].map((device) => bucketAt(this.#byDevice, device));
    }
    if (route.gateways.size > 0) {
      return [...route.gateways].map((gateway) => bucketAt(this.#byGateway, gateway));
    }
    return [this.#all];
  }

  #prune(buckets: Map<string, Bucket<T>>, keys: ReadonlySet<string>): void {
    for (const key of keys) {
      if (buckets.get(key)?.empty) {
        buckets.delete(key);
      }
    }
  }
}

/** Whether each device or gateway of the route has an index by identifier or segment. */
function isByKey({ devices, gateways, identifiers, segments }: Route<unknown>): boolean {
  const buckets = Math.max(1, devices.size || gateways.size);
  return buckets * Math.max(identifiers.size, segments.size) <= MAX_INDEX_ENTRIES;
}

function restriction(set: ReadonlySet<string>): ReadonlySet<string> | undefined {
  return set.size === 0 ? undefined : set;
}

/** Changes each list once: lists that were one stay one. */
function once<List extends object>(change: (list: List) => List): (list: List) => List {
  const changed = new Map<List, List>();
  return (list) => {
    const result = changed.get(list) ?? change(list);
    changed.set(list, result);
    return result;
  };
}

function changeAt<T>(
  map: Map<string, Entries<T>>,
  keys: ReadonlySet<string>,
  change: (list: Entries<T>) => Entries<T>,
): void {
  for (const key of keys) {
    const list = change(map.get(key) ?? NO_ENTRIES);
    if (list.length > 0) {
      map.set(key, list);
    } else {
      map.delete(key);
    }
  }
}

function bucketAt<T>(map: Map<string, Bucket<T>>, key: string): Bucket<T> {
  const bucket = map.get(key) ?? new Bucket<T>();
  map.set(key, bucket);
  return bucket;
}
