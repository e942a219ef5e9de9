// Subscriptions of an earlier life that a persistent session still holds: recognised by what nobody wants.
import { readReportTopic } from '../protocol/reports/index.ts';
import type { Topics } from '../protocol/topics.ts';

/** Topics of further leftovers wait until these have been dealt with. */
const MOST_KNOWN = 1_000;

/**
 * MQTT has no way to list a session's subscriptions. But a flow that was changed while Node-RED was down shows: a
 * report arrives that no subscriber wants. Then one of the few filters that this package makes for such a topic is
 * still there, and all of them can be taken back that are not in use.
 */
export class Leftovers {
  readonly #topics: Topics;
  readonly #known = new Set<string>();

  constructor(topics: Topics) {
    this.#topics = topics;
  }

  /** The filters that can have brought this topic; none if they were named before. */
  filtersOf(topic: string): string[] {
    const parsed = this.#topics.parseReport(topic);
    if (parsed === undefined) return [];
    const { gateway, device, rest } = parsed;
    const { segment, identifier } = readReportTopic(topic, gateway, device, rest);
    const key = `${gateway}/${device}/${segment}`;
    if (this.#known.has(key) || this.#known.size >= MOST_KNOWN) return [];
    this.#known.add(key);
    const tails = [
      {},
      { segment },
      ...(identifier === undefined ? [] : [{ identifier }, { segment, identifier }]),
    ];
    const heads = [{}, { gateway }, { device }, { gateway, device }];
    return heads.flatMap((head) => tails.map((tail) => this.#topics.reportFilter({ ...head, ...tail })));
  }
}
