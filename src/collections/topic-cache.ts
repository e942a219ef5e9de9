// What was found out about a topic, kept for its next report, in bounded memory.

/** As many as a network of 10 000 devices has; some 600 bytes of memory for each. */
const MAX_TOPICS = 50_000;
const MAX_TOPIC_LENGTH = 200;
/** With so many topics looked for in vain, what fills the memory is of a network that is no more. */
const OUTDATED = 20 * MAX_TOPICS;

/** Larger networks get the benefit for a part of their topics: replacing the oldest would cost more than it brings. */
export class TopicCache<V> {
  readonly #known = new Map<string, V>();
  #refused = 0;

  get(topic: string): V | undefined {
    return this.#known.get(topic);
  }

  set(topic: string, value: V): void {
    if (topic.length > MAX_TOPIC_LENGTH) {
      return;
    }
    if (this.#known.size >= MAX_TOPICS) {
      this.#refused++;
      if (this.#refused < OUTDATED) {
        return;
      }
      this.clear();
    }
    this.#known.set(topic, value);
  }

  clear(): void {
    this.#known.clear();
    this.#refused = 0;
  }
}
