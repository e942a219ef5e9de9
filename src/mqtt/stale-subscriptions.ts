// Subscriptions of an earlier process that a persistent session still holds: recognised by what they bring.
import { readReportTopic } from '../protocol/reports/index.ts';
import { createTopics, fitsTopic, type ParsedTopic, prefixOf, type Topics } from '../protocol/topics.ts';

/** Topics of further leftovers wait until the time below has passed. */
const MAX_KNOWN = 1_000;
const FORGET_AFTER_MS = 600_000;
const MAX_TOPIC = 1_000;
/** Where a broker allows few subscriptions, one brings the responses of all gateways. */
const ANY = '+';

/**
 * MQTT has no way to list a session's subscriptions. But one that was left by a process that ended shows: a message
 * arrives that nobody asked for, or the same one twice. Then one of the few filters that this package makes for such a
 * topic is still there, and all of them can be unsubscribed that are not in use. Of an earlier topic prefix too; of an
 * earlier shared group only when it has the same name.
 */
export class StaleSubscriptions {
  readonly #topics: Topics;
  readonly #share: string;
  readonly #known = new Set<string>();
  readonly #now: () => number;
  #since: number;
  #broker = '';

  /** @param share what stands before the filters of a shared group, else empty */
  constructor(topics: Topics, share: string, now: () => number = () => performance.now()) {
    this.#topics = topics;
    this.#share = share;
    this.#now = now;
    this.#since = now();
  }

  /** A connection begins to a session that may hold leftovers: another one, or one as it was long ago. @param broker its address */
  connected(broker: string): void {
    if (broker !== this.#broker || this.#now() - this.#since > FORGET_AFTER_MS) {
      this.#broker = broker;
      this.#known.clear();
    }
  }

  /** The filters that can have brought this topic; none if they were named before. */
  filtersOf(topic: string): string[] {
    // A filter with a wildcard within a level ends the connection, or is not even sent.
    if (topic.length > MAX_TOPIC || !fitsTopic(topic)) {
      return [];
    }
    const topics = this.#topicsOf(topic);
    const report = topics?.parseReport(topic);
    if (topics && report) {
      return this.#reportFilters(topic, topics, report);
    }
    const response = topics?.parseResponse(topic);
    if (topics && response && this.#isNew(response.gateway)) {
      const { gateway } = response;
      return [gateway, ANY].map((id) => topics.responseFilter(id));
    }
    return [];
  }

  /** The prefix may have been another one. */
  #topicsOf(topic: string): Topics | undefined {
    if (this.#topics.parseReport(topic) ?? this.#topics.parseResponse(topic)) {
      return this.#topics;
    }
    const prefix = prefixOf(topic);
    return prefix === undefined ? undefined : createTopics(prefix);
  }

  #reportFilters(topic: string, topics: Topics, { gateway, device, rest }: ParsedTopic): string[] {
    const { segment, identifier } = readReportTopic(topic, gateway, device, rest);
    if (!this.#isNew(`${gateway}/${device}/${segment}`)) {
      return [];
    }
    const tails = [
      {},
      { segment },
      ...(identifier === undefined ? [] : [{ identifier }, { segment, identifier }]),
    ];
    const heads = [{}, { gateway }, { device }, { gateway, device }];
    const filters = heads.flatMap((head) => tails.map((tail) => topics.reportFilter({ ...head, ...tail })));
    return this.#share === '' ? filters : [...filters, ...filters.map((filter) => this.#share + filter)];
  }

  #isNew(key: string): boolean {
    const now = this.#now();
    if (this.#known.size >= MAX_KNOWN && now - this.#since > FORGET_AFTER_MS) {
      this.#known.clear();
    }
    if (this.#known.has(key) || this.#known.size >= MAX_KNOWN) {
      return false;
    }
    if (this.#known.size === 0) {
      this.#since = now;
    }
    this.#known.add(key);
    return true;
  }
}
