// Until when is waited for what the broker sends: what is not read yet may be there already.

/** How the broker connection is read. */
export interface Reading {
  /** See `InboundQueue.readsSince`. */
  readonly readsSince: number;
  /** See `InboundQueue.heldMs`. */
  readonly heldMs: number;
}

/** Milliseconds: flows that never catch up would let nothing end. */
const MAX_HELD_MS = 5 * 60_000;

/**
 * @param end of a time that has begun when reports had held up the reading for `heldBefore` milliseconds
 * @param timeout its length in milliseconds
 * @returns when it is over, in milliseconds of `performance.now()`
 */
export function endOf(
  { readsSince, heldMs }: Reading,
  end: number,
  timeout: number,
  heldBefore: number,
): number {
  return Math.max(end + Math.min(heldMs - heldBefore, MAX_HELD_MS), readsSince + timeout);
}
