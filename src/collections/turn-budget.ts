// How many reports flows get in one turn of the event loop: fewer where each of them takes the flows long.

const MAX_PER_TURN = 500;
const MIN_PER_TURN = 10;
/** Of a start nobody knows how long the flows take; they also take longest then, since nothing is compiled yet. */
const FIRST_PER_TURN = 50;
/** Milliseconds: how long a turn may take before the next one gets fewer. Responses and everybody else wait that long. */
const LONG_TURN_MS = 20;

export class TurnBudget {
  readonly #ended: () => void;
  #limit = FIRST_PER_TURN;
  #spent = 0;
  #startedAt = 0;
  #isOpen = false;

  /** @param ended called between two turns: what waits can go on */
  constructor(ended: () => void) {
    this.#ended = ended;
  }

  get isSpent(): boolean {
    return this.#spent >= this.#limit;
  }

  /** Call for every report that is given to flows. */
  spend(): void {
    this.#spent++;
    if (this.#isOpen) {
      return;
    }
    this.#isOpen = true;
    this.#startedAt = performance.now();
    setImmediate(() => this.#end());
  }

  /** What flows put off comes between this and the end of the next turn, so that one tells how long it took. */
  #end(): void {
    const isLong = performance.now() - this.#startedAt > LONG_TURN_MS;
    this.#limit = isLong
      ? Math.max(MIN_PER_TURN, this.#limit >> 1)
      : Math.min(MAX_PER_TURN, this.#limit + (this.#limit >> 2));
    this.#isOpen = false;
    this.#spent = 0;
    this.#ended();
  }
}
