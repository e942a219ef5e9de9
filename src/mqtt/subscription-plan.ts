// What is subscribed or given back next: new filters before old ones go, unless the broker does not allow both.
import type { GivenPlaces } from './given-places.ts';
import type { HeldFilters } from './held-filters.ts';

/** Done in this order; where there is something to subscribe, that is all. */
export interface Step {
  subscribe: string[];
  /** There is no room for them. */
  refuse: string[];
  unsubscribe: string[];
}

const NOTHING: Readonly<Step> = { subscribe: [], refuse: [], unsubscribe: [] };

export class SubscriptionPlan {
  readonly #wanted: ReadonlyMap<string, unknown>;
  readonly #held: HeldFilters;
  readonly #places: GivenPlaces;
  readonly #makingRoom: () => void;
  /** How many subscriptions make room for others at a time. */
  #swapped = 1;
  /** Those that made room: when they are wanted again they come first. */
  readonly #madeRoom = new Set<string>();
  #mustMakeRoom = false;
  #givenFirst: string[] = [];
  /** What was not counted is given back once, however much of it shows meanwhile. */
  #uncounted: 'kept' | 'next' | 'given' = 'kept';
  /** Flows are about to tell what they want: until then nothing that the broker may hold is given back. */
  isHolding = false;
  /** A node that cannot work may want it: what nobody else does is given back only where others need its room. */
  isKeeping = false;

  /** @param makingRoom called before some are given back while others are still to be asked for */
  constructor(
    wanted: ReadonlyMap<string, unknown>,
    held: HeldFilters,
    places: GivenPlaces,
    makingRoom: () => void,
  ) {
    this.#wanted = wanted;
    this.#held = held;
    this.#places = places;
    this.#makingRoom = makingRoom;
  }

  /** The broker may allow another number than before. */
  startOver(): void {
    this.#swapped = 1;
  }

  /** Some were given back for others that are still to be asked for. */
  get makesRoom(): boolean {
    return this.#madeRoom.size > 0;
  }

  /** The broker has everything that is wanted, or has refused it, or the connection has ended. */
  settled(): void {
    this.#madeRoom.clear();
    this.#mustMakeRoom = false;
    this.#givenFirst = [];
    this.#uncounted = 'kept';
  }

  /** One that is not wanted any more is given back before the next ones are asked for: their number may be too high. */
  makeRoomFirst(): void {
    this.#mustMakeRoom = true;
  }

  /** These are given back before anything is asked for. */
  giveBackFirst(filters: string[]): void {
    this.#givenFirst = filters;
  }

  /**
   * The broker has no place for more: what it was not counted to hold is given back before anything is asked for again.
   * @returns false: there is nothing of that, or it is not to be given back yet, or was before
   */
  giveBackUncounted(): boolean {
    if (this.#uncounted === 'kept' && !this.isHolding && this.#held.uncounted(this.#wanted).length > 0) {
      this.#uncounted = 'next';
    }
    return this.#uncounted === 'next';
  }

  /**
   * A change of filters loses no report where there is room for both.
   * @param missing what of the wanted filters is to be asked for @param max subscriptions that the broker allows
   * @returns undefined: nothing is left to do
   */
  next(missing: readonly string[], max: number): Step | undefined {
    const held = this.#held.all(this.#wanted);
    const stale = [...held].filter((filter) => !this.#wanted.has(filter));
    const mayGiveBack = stale.length > 0 && !this.isHolding;
    const givenFirst = this.#givenFirst;
    this.#givenFirst = [];
    if (givenFirst.length > 0) {
      return this.#giveBack(givenFirst);
    }
    if (this.#uncounted === 'next') {
      this.#uncounted = 'given';
      const uncounted = this.isHolding ? [] : this.#held.uncounted(this.#wanted);
      if (uncounted.length > 0) {
        return { ...NOTHING, unsubscribe: uncounted };
      }
    }
    if (missing.length === 0) {
      return mayGiveBack && !this.isKeeping ? { ...NOTHING, unsubscribe: stale } : undefined;
    }
    if (this.#mustMakeRoom && mayGiveBack) {
      this.#mustMakeRoom = false;
      return this.#makeRoom(stale, 1);
    }
    const leftovers = this.#held.leftovers(this.#wanted);
    if (max !== Number.POSITIVE_INFINITY && leftovers.length > 0 && !this.isHolding) {
      return { ...NOTHING, unsubscribe: leftovers };
    }
    const sorted = [...missing].sort((a, b) => Number(this.#madeRoom.has(b)) - Number(this.#madeRoom.has(a)));
    const fresh = sorted.filter((filter) => !held.has(filter));
    const guesses = this.#held.guesses(this.#wanted);
    const count = held.size - guesses.length;
    const beyond = new Set(fresh.slice(Math.max(0, max - count)));
    if (beyond.size < sorted.length) {
      return { ...NOTHING, subscribe: sorted.filter((filter) => !beyond.has(filter)) };
    }
    if (mayGiveBack && guesses.length > 0) {
      return { ...NOTHING, unsubscribe: guesses };
    }
    if (stale.length === 0) {
      return this.#refuse([...beyond]);
    }
    // What has no room meanwhile is asked for when they are given back.
    return mayGiveBack ? this.#makeRoom(stale, beyond.size) : undefined;
  }

  /** Few of the old ones at first: what they are replaced by may be refused, and they may be wanted again then. */
  #makeRoom(stale: readonly string[], count: number): Step {
    const given = stale.slice(0, Math.min(count, this.#swapped));
    this.#swapped *= 2;
    return this.#giveBack(given);
  }

  #giveBack(given: string[]): Step {
    for (const filter of given) {
      this.#madeRoom.add(filter);
    }
    this.#makingRoom();
    return { ...NOTHING, unsubscribe: given };
  }

  #refuse(beyond: string[]): Step {
    const granted = [...this.#wanted.keys()].filter((filter) => this.#held.isGranted(filter));
    const given = this.#places.take(beyond, granted);
    return { ...NOTHING, refuse: given.length > 0 ? given : beyond, unsubscribe: given };
  }
}
