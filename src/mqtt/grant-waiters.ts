// Who waits until the broker has granted or refused a topic filter.

type Settled = (refused: boolean) => void;

export class GrantWaiters {
  readonly #waiting = new Map<string, Settled[]>();

  /** A loss of the connection in between keeps it waiting. */
  add(filter: string, settled: Settled): void {
    const waiting = this.#waiting.get(filter);
    if (waiting) {
      waiting.push(settled);
    } else {
      this.#waiting.set(filter, [settled]);
    }
  }

  /** Nobody wants the filter any more. */
  delete(filter: string): void {
    this.#waiting.delete(filter);
  }

  call(filter: string, refused: boolean): void {
    const waiting = this.#waiting.get(filter);
    this.#waiting.delete(filter);
    for (const settled of waiting ?? []) {
      settled(refused);
    }
  }
}
