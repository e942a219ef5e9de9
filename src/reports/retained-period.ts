// Whether a retained report that comes now is news for flows, or only what a preview has brought again.

/** A broker sends retained reports when a filter is subscribed, one after the other; so long after the last it is done. */
const END_MS = 10_000;

/** Times are in milliseconds of `performance.now()`. */
export class RetainedPeriod {
  /** The broker may send them for the filters of flows until then. */
  #until = Number.POSITIVE_INFINITY;
  /** When the last preview ended. */
  #previewedAt = Number.NEGATIVE_INFINITY;

  /** The broker is asked for a filter of flows. */
  begin(): void {
    this.#until = Number.POSITIVE_INFINITY;
  }

  /** The broker has granted all filters. */
  settled(now: number): void {
    this.#until = Math.min(this.#until, now + END_MS);
  }

  previewEnded(now: number): void {
    this.#previewedAt = now;
  }

  /**
   * Of a retained report that has come. What only a preview brings again is none of the flows' business: they had it when
   * they subscribed.
   * @param isPreviewed a preview asks the broker for reports at present
   */
  isForFlows(now: number, isPreviewed: boolean): boolean {
    const mayBePreview = isPreviewed || now - this.#previewedAt <= END_MS;
    if (mayBePreview && now > this.#until) {
      return false;
    }
    this.#until = Math.max(this.#until, now + END_MS);
    return true;
  }
}
