// The gateways and devices of which flows ask for any reports, whatever kind they are of.
import type { TopicFilterParts } from '../protocol/topics.ts';

/** Stands for any. */
const ANY = '';

export class WantedPlaces {
  /** Of which something is asked for that is not of one device only, or of one that it has to bring. */
  readonly #gateways = new Set<string>();
  /** Gateway and device. */
  readonly #places = new Set<string>();

  constructor(topicFilters: Iterable<TopicFilterParts>) {
    for (const { gateway = ANY, device = ANY } of topicFilters) {
      if (gateway !== ANY || device === ANY) {
        this.#gateways.add(gateway);
      }
      this.#places.add(`${gateway}/${device}`);
    }
  }

  /**
   * @param device undefined: anything that the gateway brings; where flows ask for single devices, whatever brings them,
   *   nobody can tell
   */
  has(gateway: string, device: string | undefined): boolean {
    if (device === undefined) {
      return this.#gateways.has(ANY) || this.#gateways.has(gateway);
    }
    return [gateway, ANY].some((one) => this.#places.has(`${one}/${device}`) || this.#places.has(`${one}/`));
  }
}
