// When Node-RED has passed on what flows were given in one call: with the next turn of the event loop.

export interface Given {
  /** Called at the end of that call. @returns how many were given so far */
  count(): number;
  /** The first so many have been passed on to the nodes behind. */
  passedOn(count: number): void;
}

let giving: Given[] = [];

/** Call it with the first that is given, and again after `count`. One wait serves all. */
export function whenPassedOn(given: Given): void {
  if (giving.push(given) === 1) {
    process.nextTick(end);
  }
}

function end(): void {
  const all = giving;
  giving = [];
  // Behind those in which Node-RED passes on.
  setImmediate(
    tell,
    all,
    all.map((given) => given.count()),
  );
}

function tell(all: readonly Given[], counts: readonly number[]): void {
  for (let i = 0; i < all.length; i++) {
    all[i]!.passedOn(counts[i]!);
  }
}
