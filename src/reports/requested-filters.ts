// What subscribers and previews want, and the topic filters that the broker is asked for because of it.
import type { TopicFilterParts, Topics } from '../protocol/topics.ts';
import { limitTopicFilters, mergeTopicFilters, TopicFilterIndex } from './topic-filters.ts';

/** Deploys while the broker is away change what is asked for again and again. */
const MAX_EXPECTED_BEFORE = 10_000;

interface PreviewRequest {
  topicFilters: TopicFilterParts[];
  index: TopicFilterIndex;
  received: () => void;
}

/** What has changed since the broker was asked the last time. */
interface FilterChange {
  filters: string[];
  /** Others than before. */
  isOther: boolean;
}

export class RequestedFilters {
  readonly #topics: Topics;
  /** Reports are subscribed as a member of a shared group. */
  readonly #isShared: boolean;
  /** By subscriber. */
  readonly #topicFilters = new Map<object, TopicFilterParts[]>();
  readonly #previews = new Set<PreviewRequest>();
  /** What the broker was asked for last, and before that, as long as it may still send for it. */
  #expected: TopicFilterParts[] = [];
  #expectedBefore: TopicFilterParts[] = [];
  /** What flows asked for last. */
  #wanted = new TopicFilterIndex([]);
  #widened: ReadonlySet<string> = new Set();
  /** What was asked for last for previews, over a connection of their own. */
  #previewed = new TopicFilterIndex([]);
  /** The broker has granted what it was asked for, and all that it sent before was delivered. */
  #isSettled = false;
  /** Undefined while no two subscriptions can match the same topic. */
  #overlaps: TopicFilterIndex | undefined;

  constructor(topics: Topics, isShared: boolean) {
    this.#topics = topics;
    this.#isShared = isShared;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Whether two subscriptions at the broker may match the same topic. */
  get mayOverlap(): boolean {
    return this.#overlaps !== undefined;
  }

  add(subscriber: object, topicFilters: TopicFilterParts[]): void {
    this.#topicFilters.set(subscriber, topicFilters);
  }

  delete(subscriber: object): void {
    this.#topicFilters.delete(subscriber);
  }

  /** @param received called for each message that matches @returns ends it */
  addPreview(topicFilters: TopicFilterParts[], received: () => void): () => void {
    const request = { topicFilters, index: new TopicFilterIndex(topicFilters), received };
    this.#previews.add(request);
    return () => this.#previews.delete(request);
  }

  /** `received` of the previews that ask for reports of this place. */
  previewsOf(place: Required<TopicFilterParts>): (() => void)[] {
    const matching = Array.from(this.#previews).filter(({ index }) => index.count(place) > 0);
    return matching.map(({ received }) => received);
  }

  /** Whether what is asked for flows brings reports of this place. */
  isWanted(place: Required<TopicFilterParts>): boolean {
    return this.#wanted.count(place) > 0;
  }

  /** How many subscriptions at the broker match a topic of this place. */
  countOf(place: Required<TopicFilterParts>): number {
    return this.#overlaps?.count(place) ?? 1;
  }

  /** Tells of a device whether flows ask for any reports of it. */
  get wantedDevices(): (device: string) => boolean {
    const devices = new Set(Array.from(this.#topicFilters.values()).flatMap((wants) => wants.map(deviceOf)));
    return (device) => devices.has(undefined) || devices.has(device);
  }

  /** How many topic filters serve all subscribers, where the broker has no limit. */
  get needed(): number {
    return this.#merged.length;
  }

  /** See `Reports.filters`. */
  choose(max: number, isAvoided: (filter: string) => boolean): FilterChange {
    const merged = this.#merged;
    const avoids = (parts: TopicFilterParts) => isAvoided(this.#topics.reportFilter(parts));
    const wants = limitTopicFilters(merged, max, !this.#isShared, avoids);
    const isOther = this.#expect(wants);
    this.#wanted = new TopicFilterIndex(wants);
    const filters = wants.map(this.#topics.reportFilter);
    const narrow = new Set(merged.length > max ? merged.map(this.#topics.reportFilter) : filters);
    this.#widened = new Set(filters.filter((filter) => !narrow.has(filter)));
    return { filters, isOther };
  }

  /**
   * What previews want beyond what was chosen for flows; no topic comes by two of them. A member of a group gets no more
   * than its share, so that nothing is looked at beyond it.
   */
  choosePreviews(max: number): string[] {
    const all = this.#isShared ? [] : Array.from(this.#previews, ({ topicFilters }) => topicFilters).flat();
    const others = all.filter((want) => !this.#wanted.covers(want));
    const chosen = limitTopicFilters(mergeTopicFilters(others, false), max, false);
    this.#previewed = new TopicFilterIndex(chosen);
    return chosen.map(this.#topics.reportFilter);
  }

  /** See `Reports.isWidened`. */
  isWidened(filter: string): boolean {
    return this.#widened.has(filter);
  }

  /** The filters, of those that were chosen last, that bring what these ask for. */
  serving(topicFilters: readonly TopicFilterParts[]): string[] {
    const covering = (parts: TopicFilterParts) => [
      ...this.#wanted.covering(parts),
      ...this.#previewed.covering(parts),
    ];
    return topicFilters.flatMap((parts) => covering(parts).map(this.#topics.reportFilter));
  }

  connected(): void {
    this.#isSettled = false;
  }

  /** What is delivered from now on came by the present subscriptions. */
  settled(): void {
    this.#isSettled = true;
    this.#expectedBefore = [];
    this.#findOverlaps();
  }

  get #merged(): TopicFilterParts[] {
    return mergeTopicFilters([...this.#topicFilters.values()].flat(), !this.#isShared);
  }

  /** @returns whether anything has changed */
  #expect(all: TopicFilterParts[]): boolean {
    const before = new TopicFilterIndex(this.#expected);
    if (all.length === this.#expected.length && all.every((want) => before.has(want))) {
      return false;
    }
    this.#expectedBefore = [...this.#expectedBefore, ...this.#expected].slice(-MAX_EXPECTED_BEFORE);
    this.#expected = all;
    this.#isSettled = false;
    this.#findOverlaps();
    return true;
  }

  #findOverlaps(): void {
    const all = [...this.#expected, ...this.#expectedBefore];
    const index = new TopicFilterIndex(all);
    this.#overlaps = mergeTopicFilters(all, false).length < index.size ? index : undefined;
  }
}

/** Undefined: of any device. */
const deviceOf = ({ device }: TopicFilterParts): string | undefined => device;
