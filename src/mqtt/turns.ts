// How many reports flows get in one turn of the event loop: fewer where each of them takes the flows long.

const MOST_PER_TURN = 500;
const LEAST_PER_TURN = 10;
/** Of a start nobody knows how long the flows take; they also take longest then, since nothing is compiled yet. */
const FIRST_PER_TURN = 50;
/** Milliseconds: how long a turn may take before the next one gets fewer. Answers and everybody else wait that long. */
const LONG_TURN = 20;

export class Turns {
  readonly #ended: () => void;
  #most = FIRST_PER_TURN;
  #given = 0;
  #startedAt = 0;
  #isOpen = false;

  /** @param ended called between two turns: what waits can go on */
  constructor(ended: () => void) {
    this.#ended = ended;
  }

  get isFull(): boolean {
    return this.#given >= this.#most;
  }

  /** Call for every report that is given to flows. */
  give(): void {
    this.#given++;
    if (this.#isOpen) {
      return;
    }
    this.#isOpen = true;
    this.#startedAt = performance.now();
    setImmediate(() => this.#end());
  }

  /** What flows put off comes between this and the end of the next turn, so that one tells how long it took. */
  #end(): void {
    const isLong = performance.now() - this.#startedAt > LONG_TURN;
    this.#most = isLong
      ? Math.max(LEAST_PER_TURN, this.#most >> 1)
      : Math.min(MOST_PER_TURN, this.#most + (this.#most >> 2));
    this.#isOpen = false;
    this.#given = 0;
    this.#ended();
  }
}
