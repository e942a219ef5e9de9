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
}

/** Routes below one gateway, one device, or below neither: by identifier if they name some, else by segment. */
class Bucket<T> {
  byIdentifier: Map<string, Entry<T>[]> | undefined;
  bySegment: Map<string, Entry<T>[]> | undefined;
  any: Entry<T>[] = [];

  get empty(): boolean {
    return this.any.length === 0 && !this.byIdentifier?.size && !this.bySegment?.size;
  }
}

/** The index key of a kind: the topic segment, or one key each for unknown kinds with and without `-decoded`. */
export function segmentKey(at: ReportTopic): string {
  if (at.kind !== 'other') return at.segment;
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
    const entry = { target, segments: restriction(segments), gateways: restriction(gateways) };
    this.#place(route, (list) => list.push(entry));
    return () => {
      this.#place(route, (list) => {
        const at = list.indexOf(entry);
        if (at >= 0) list.splice(at, 1);
      });
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
    if (!bucket) return;
    this.#take(bucket.any, at, segment, matched);
    this.#take(bucket.bySegment?.get(segment), at, segment, matched);
    if (at.identifier !== undefined)
      this.#take(bucket.byIdentifier?.get(at.identifier), at, segment, matched);
  }

  #take(entries: Entry<T>[] | undefined, at: ReportTopic, segment: string, matched: T[]): void {
    if (!entries) return;
    for (const { target, segments, gateways } of entries) {
      // The device and the identifier are settled by the place of the route, except under a gateway.
      if ((!segments || segments.has(segment)) && (!gateways || gateways.has(at.gateway)))
        matched.push(target);
    }
  }

  #place(route: Route<T>, change: (list: Entry<T>[]) => void): void {
    for (const bucket of this.#bucketsOf(route)) {
      if (route.identifiers.size > 0) {
        bucket.byIdentifier ??= new Map();
        for (const identifier of route.identifiers) change(listAt(bucket.byIdentifier, identifier));
        dropEmpty(bucket.byIdentifier, route.identifiers);
      } else if (route.segments.size > 0) {
        bucket.bySegment ??= new Map();
        for (const segment of route.segments) change(listAt(bucket.bySegment, segment));
        dropEmpty(bucket.bySegment, route.segments);
      } else {
        change(bucket.any);
      }
    }
  }

  #bucketsOf(route: Route<T>): Bucket<T>[] {
    if (route.devices.size > 0) return [...route.devices].map((device) => bucketAt(this.#byDevice, device));
    if (route.gateways.size > 0)
      return [...route.gateways].map((gateway) => bucketAt(this.#byGateway, gateway));
    return [this.#all];
  }

  #prune(buckets: Map<string, Bucket<T>>, keys: ReadonlySet<string>): void {
    for (const key of keys) if (buckets.get(key)?.empty) buckets.delete(key);
  }
}

function restriction(set: ReadonlySet<string>): ReadonlySet<string> | undefined {
  return set.size === 0 ? undefined : set;
}

function listAt<V>(map: Map<string, V[]>, key: string): V[] {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}

function bucketAt<T>(map: Map<string, Bucket<T>>, key: string): Bucket<T> {
  const bucket = map.get(key) ?? new Bucket<T>();
  map.set(key, bucket);
  return bucket;
}

function dropEmpty<V>(map: Map<string, V[]>, keys: ReadonlySet<string>): void {
  for (const key of keys) if (map.get(key)?.length === 0) map.delete(key);
}
