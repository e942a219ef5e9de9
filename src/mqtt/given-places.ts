// One place for responses where reports have taken all that a broker allows: one topic filter gives way to them.

/** A broker that refuses the filter of all responses and that of one gateway would refuse others, too. */
const MAX_VAIN = 2;

export class GivenPlaces {
  readonly #mayGiveWay: (filter: string) => boolean;
  /** It has lost its place to another filter. */
  #gaveWay: string | undefined;
  /** How often the broker has refused that other filter. */
  #vain = 0;

  /** @param mayGiveWay whether a filter may lose its place to one that may not */
  constructor(mayGiveWay: (filter: string) => boolean) {
    this.#mayGiveWay = mayGiveWay;
  }

  /** A connection begins. */
  connected(): void {
    this.#gaveWay = undefined;
    this.#vain = 0;
  }

  /**
   * What is to be given back for one of the filters that have no place: one, as long as none of their kind has a place
   * and not the last of the others would lose its own; else none.
   * @param granted filters that have a place
   */
  take(beyond: readonly string[], granted: readonly string[]): string[] {
    if (this.#vain >= MAX_VAIN || beyond.every(this.#mayGiveWay)) {
      return [];
    }
    const given = granted.length > 1 && granted.every(this.#mayGiveWay) ? granted.slice(-1) : [];
    this.#gaveWay = given[0] ?? this.#gaveWay;
    return given;
  }

  /** The broker has refused the filter. @returns the one that gave way to it in vain */
  refused(filter: string): string | undefined {
    const back = this.left(filter);
    this.#vain += back === undefined ? 0 : 1;
    return back;
  }

  /**
   * The filter has no place any more.
   * @param refused have none either: the place may go on to one of its kind
   * @returns the one that gave way to it
   */
  left(filter: string, refused: Iterable<string> = []): string | undefined {
    const back = this.#mayGiveWay(filter) ? undefined : this.#gaveWay;
    if (back === undefined || ![...refused].every(this.#mayGiveWay)) {
      return undefined;
    }
    this.#gaveWay = undefined;
    return back;
  }
}
