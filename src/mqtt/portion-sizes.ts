// How many topic filters go into one packet: few at first, more while the broker answers, fewer after a packet that ended
// the connection.

/** What the strictest of the well-known brokers takes: AWS IoT Core, "topic filters per subscribe request". */
const FIRST_COUNT = 8;
const FIRST_BYTES = 1_024;
const MAX_COUNT = 200;
const MAX_BYTES = 32 * 1_024;
/** Of a filter in a packet, beside its text: two bytes of length and one of options. */
const OVERHEAD_BYTES = 3;

export interface PortionLimits {
  /** Filters in one packet. */
  maxCount?: number | undefined;
  /** Of the filters in one packet. */
  maxBytes?: number | undefined;
}

export class PortionSizes {
  #maxCount = MAX_COUNT;
  #maxBytes = MAX_BYTES;
  #count = FIRST_COUNT;
  #bytes = FIRST_BYTES;
  /** The largest that the broker has answered. */
  #provenCount = 0;
  #provenBytes = 0;
  /** Filters of the last packet that was as small as what had been answered before, and was not answered. */
  #doubtedCount = 0;
  /** A packet that was not answered has shown that the portions are as large as they can be. */
  #mayGrow = true;

  /** What is known of the broker. */
  set limits({ maxCount = MAX_COUNT, maxBytes = MAX_BYTES }: PortionLimits) {
    this.#maxCount = Math.min(MAX_COUNT, Math.max(1, maxCount));
    this.#maxBytes = Math.min(MAX_BYTES, maxBytes);
    this.#count = Math.min(this.#count, this.#maxCount);
    this.#bytes = Math.min(this.#bytes, this.#maxBytes);
  }

  /** The filters of the next packet: at least one, from the beginning of the list. */
  next(filters: Iterable<string>): string[] {
    return first(filters, this.#count, this.#bytes);
  }

  /** All of them in packets whose responses nobody waits for, so none larger than the broker has shown to take. */
  *ofProvenSize(filters: readonly string[]): Generator<string[]> {
    const count = Math.min(this.#count, Math.max(FIRST_COUNT, this.#provenCount));
    const bytes = Math.min(this.#bytes, Math.max(FIRST_BYTES, this.#provenBytes));
    for (let at = 0; at < filters.length; ) {
      const portion = first(filters.slice(at, at + count), count, bytes);
      at += portion.length;
      yield portion;
    }
  }

  /** The broker has answered a packet with these filters. */
  answered(filters: readonly string[]): void {
    this.#provenCount = Math.max(this.#provenCount, filters.length);
    this.#provenBytes = Math.max(this.#provenBytes, bytesOf(filters));
    if (filters.length >= this.#doubtedCount) {
      this.#doubtedCount = 0;
    }
    // Small packets say nothing of larger ones.
    const isLarge = filters.length * 2 > this.#count || bytesOf(filters) * 2 > this.#bytes;
    if (this.#mayGrow && isLarge) {
      this.#count = Math.min(this.#maxCount, this.#count * 2);
      this.#bytes = Math.min(this.#maxBytes, this.#bytes * 2);
    }
  }

  /**
   * A packet with these filters has ended the connection, or was not answered. It may have been too large, if none of its
   * size was answered before; for the second time in a row also then: what a broker takes can change.
   */
  lost(filters: readonly string[]): void {
    if (filters.length <= this.#provenCount && bytesOf(filters) <= this.#provenBytes) {
      if (this.#doubtedCount === 0) {
        this.#doubtedCount = filters.length;
        return;
      }
      [this.#provenCount, this.#provenBytes] = [0, 0];
    }
    this.#doubtedCount = 0;
    this.#mayGrow = false;
    this.#count = Math.max(Math.ceil(filters.length / 2), Math.min(this.#provenCount, filters.length));
    this.#bytes = Math.max(FIRST_BYTES / 8, Math.ceil(this.#bytes / 2));
  }

  /** It was not the size of the packets. */
  recover(): void {
    this.#mayGrow = true;
    this.#count = Math.min(Math.max(FIRST_COUNT, this.#provenCount), this.#maxCount);
    this.#bytes = Math.min(Math.max(FIRST_BYTES, this.#provenBytes), this.#maxBytes);
  }
}

const sizeOf = (filter: string): number => Buffer.byteLength(filter) + OVERHEAD_BYTES;

const bytesOf = (filters: readonly string[]): number =>
  filters.reduce((bytes, filter) => bytes + sizeOf(filter), 0);

function first(filters: Iterable<string>, maxCount: number, maxBytes: number): string[] {
  const portion: string[] = [];
  let bytes = 0;
  for (const filter of filters) {
    bytes += sizeOf(filter);
    if (portion.length > 0 && (bytes > maxBytes || portion.length >= maxCount)) {
      break;
    }
    portion.push(filter);
  }
  return portion;
}
