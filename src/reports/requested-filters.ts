// What subscribers and previews want, and the topic filters that the broker is asked for because of it.
import type { FilterVerdicts } from '../protocol/filter-verdicts.ts';
import type { TopicFilterParts, Topics } from '../protocol/topics.ts';
import {
  limitTopicFilters,
  mergeTopicFilters,
  separateTopicFilters,
  TopicFilterIndex,
} from './topic-filters.ts';
import { WantedPlaces } from './wanted-places.ts';

/** Deploys while the broker is away change what is asked for again and again. */
const MAX_EXPECTED_BEFORE = 10_000;

const NO_VERDICTS: FilterVerdicts = {
  isAvoided: () => false,
  isRefused: () => false,
  isGranted: () => false,
};

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
  /** Two filters may match the same topic, where one for both would bring much more than they do. */
  readonly #mayCross: boolean;
  /** By subscriber. */
  readonly #topicFilters = new Map<object, TopicFilterParts[]>();
  readonly #previews = new Set<PreviewRequest>();
  /** What the broker was asked for last, and before that, as long as it may still send for it. */
  #expected: TopicFilterParts[] = [];
  #expectedBefore: TopicFilterParts[] = [];
  /** What flows asked for last, but for what the broker refuses. */
  #wanted = new TopicFilterIndex([]);
  /** What flows asked for last; undefined: nothing yet. While they are replaced it is what was asked for before. */
  #places: WantedPlaces | undefined;
  /** What flows ask for all the same. */
  #refused = new TopicFilterIndex([]);
  #widened: ReadonlySet<string> = new Set();
  /** What was asked for last in place of narrower wants, or would be if it were not refused. */
  #covering: ReadonlySet<string> = new Set();
  /** What was asked for last for previews, over a connection of their own. */
  #previewed = new TopicFilterIndex([]);
  /** The broker has granted what it was asked for, and all that it sent before was delivered. */
  #isSettled = false;
  /** Undefined while no two subscriptions can match the same topic. */
  #overlaps: TopicFilterIndex | undefined;

  /** @param mayCross false: two filters match the same topic only where one for both is refused */
  constructor(topics: Topics, isShared: boolean, mayCross: boolean) {
    this.#topics = topics;
    this.#isShared = isShared;
    this.#mayCross = mayCross && !isShared;
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

  /** Whether any subscriber asks for reports. */
  get areThere(): boolean {
    return this.#topicFilters.size > 0;
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

  /** Whether as many subscriptions match a topic of this place as `countOf` says. */
  isCertain(place: Required<TopicFilterParts>): boolean {
    return this.#refused.count(place) === 0;
  }

  /** Whether flows ask for any reports that a gateway brings, or for those of a device that it brings. */
  mayBring(gateway: string, device: string | undefined): boolean {
    return this.#places?.has(gateway, device) ?? true;
  }

  /** Tells of a device whether flows ask for any reports of it. */
  get wantedDevices(): (device: string) => boolean {
    const devices = new Set(Array.from(this.#topicFilters.values()).flatMap((wants) => wants.map(deviceOf)));
    return (device) => devices.has(undefined) || devices.has(device);
  }

  /** How many topic filters serve all subscribers, where the broker has no limit. */
  get needed(): number {
    return mergeTopicFilters(this.#all, this.#mayCross).length;
  }

  /** See `Reports.filters`. */
  choose(max: number, verdicts: FilterVerdicts = NO_VERDICTS): FilterChange {
    this.#places = new WantedPlaces(this.#all);
    const nameOf = this.#topics.reportFilter;
    const isRefused = (parts: TopicFilterParts) => verdicts.isRefused(nameOf(parts));
    const { granted, refused } = this.#merge(isRefused, (parts) => verdicts.isGranted(nameOf(parts)));
    // Of one that nobody asks for itself it is known elsewhere, for how long it is not to be tried.
    const asked = new TopicFilterIndex(refused);
    const avoids = (parts: TopicFilterParts) => asked.has(parts) || verdicts.isAvoided(nameOf(parts));
    const wants = limitTopicFilters(granted, max, this.#mayCross, avoids);
    this.#wanted = new TopicFilterIndex(wants);
    const others = new TopicFilterIndex(refused.filter((parts) => !this.#wanted.covers(parts)));
    const isOtherRefused = !isSame(others, this.#refused);
    this.#refused = others;
    // First what is refused: a broker that takes no more subscriptions may take these before the narrow ones.
    const chosen = [...others, ...wants];
    const isOther = this.#expect(chosen) || isOtherRefused;
    const filters = chosen.map(nameOf);
    const narrow = new Set([...granted, ...refused].map(nameOf));
    this.#widened = new Set(filters.filter((filter) => !narrow.has(filter)));
    this.#covering = new Set(this.#findCovering(new TopicFilterIndex(chosen)).map(nameOf));
    return { filters, isOther };
  }

  /**
   * What previews want beyond what was chosen for flows; no topic comes by two of them. A member of a group gets no more
   * than its share, so that nothing is looked at beyond it.
   */
  choosePreviews(max: number): string[] {
    const all = this.#isShared ? [] : Array.from(this.#previews, ({ topicFilters }) => topicFilters).flat();
    const others = all.filter((want) => !this.#wanted.covers(want) && !this.#refused.has(want));
    const chosen = limitTopicFilters(mergeTopicFilters(others, false), max, false);
    this.#previewed = new TopicFilterIndex(chosen);
    return chosen.map(this.#topics.reportFilter);
  }

  /** See `Reports.isWidened`. */
  isWidened(filter: string): boolean {
    return this.#widened.has(filter);
  }

  /** Whether a filter of those that were chosen last takes the place of narrower wants, or would if it were not refused. */
  isCovering(filter: string): boolean {
    return this.#covering.has(filter);
  }

  /** The filters, of those that were chosen last, that bring what these ask for. */
  serving(topicFilters: readonly TopicFilterParts[]): string[] {
    const covering = (parts: TopicFilterParts) => [
      ...(this.#wanted.covers(parts) ? this.#wanted : this.#refused).covering(parts),
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

  get #all(): TopicFilterParts[] {
    return [...this.#topicFilters.values()].flat();
  }

  /**
   * What takes few subscriptions and can be granted, and what is refused. In a shared group no two that are granted may
   * overlap: where the filter that would take the place of both is refused, the one that is granted already works on.
   */
  #merge(
    isRefused: (parts: TopicFilterParts) => boolean,
    isGranted: (parts: TopicFilterParts) => boolean,
  ): { granted: TopicFilterParts[]; refused: TopicFilterParts[] } {
    const merged = mergeTopicFilters(this.#all, this.#mayCross, isRefused);
    const refused = merged.filter(isRefused);
    if (!this.#isShared) {
      return { granted: refused.length > 0 ? merged.filter((parts) => !isRefused(parts)) : merged, refused };
    }
    const others = merged.filter((parts) => !isRefused(parts));
    const sorted = others.sort((a, b) => Number(isGranted(b)) - Number(isGranted(a)));
    const { apart, common } = separateTopicFilters(sorted);
    return { granted: apart, refused: [...refused, ...common] };
  }

  #findCovering(chosen: TopicFilterIndex): TopicFilterParts[] {
    const hidden = [...new TopicFilterIndex(this.#all)].filter((want) => !chosen.has(want));
    const covering = hidden.flatMap((want) => chosen.covering(want));
    return [...covering, ...[...this.#wanted].flatMap((want) => this.#refused.covering(want))];
  }

  /** @returns whether anything has changed */
  #expect(all: TopicFilterParts[]): boolean {
    if (isSame(new TopicFilterIndex(all), new TopicFilterIndex(this.#expected))) {
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

const isSame = (a: TopicFilterIndex, b: TopicFilterIndex): boolean =>
  a.size === b.size && [...a].every((want) => b.has(want));

/** Undefined: of any device. */
const deviceOf = ({ device }: TopicFilterParts): string | undefined => device;
