// When Node-RED has passed on what flows were given in one call: with the next turn of the event loop.

export interface Given {
  /** Called at the end of that call. @returns how many were given so far */
  count(): number;
  /** The first so many have been passed on to the nodes behind. */
  passedOn(count: number): void;
}

let giving: Given[] = [];
let isPassing = false;

/** Call it before the first is given, and again after `count`. One wait serves all. */
export function whenPassedOn(given: Given): void {
  if (giving.push(given) === 1) {
    // Before those in which Node-RED passes on.
    setImmediate(begin);
    process.nextTick(end);
  }
}

/** Of what was given some may be passed on already. */
export const isPassingOn = (): boolean => isPassing;

function begin(): void {
  isPassing = true;
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
  isPassing = false;
  for (let i = 0; i < all.length; i++) {
    all[i]!.passedOn(counts[i]!);
  }
}
