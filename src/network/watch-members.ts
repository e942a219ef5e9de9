// The gateways and devices of one watch: who is added, who is expected, and who goes when there are too many.
import type { Presence } from '../protocol/conditions.ts';
import type { WatchAlarms } from './watch-alarms.ts';
import type { WatchContext, WatchListener } from './watch-context.ts';
import { newWatched, stopWaiting, type Watched, type WatchedChecker } from './watched.ts';

export class WatchMembers {
  readonly #context: WatchContext;
  readonly #listener: WatchListener;
  readonly #alarms: WatchAlarms;
  readonly #watch: WatchedChecker;
  readonly #entries = new Map<string, Watched>();
  /** Whose gateways have lost their label. */
  readonly #left = new Map<string, Watched>();
  #isFull = false;

  constructor(context: WatchContext, listener: WatchListener, alarms: WatchAlarms, watch: WatchedChecker) {
    this.#context = context;
    this.#listener = listener;
    this.#alarms = alarms;
    this.#watch = watch;
  }

  /** By their MACs. */
  get entries(): ReadonlyMap<string, Watched> {
    return this.#entries;
  }

  /** Those that come back with a label, by their MACs. */
  get left(): ReadonlyMap<string, Watched> {
    return this.#left;
  }

  /** @returns undefined where there is no room */
  need(id: string, kind: Presence['kind']): Watched | undefined {
    const entry = this.find(id, kind);
    if (entry === undefined && !this.#isFull) {
      this.tellFull();
    }
    return entry;
  }

  /** As `need`, without a word. */
  find(id: string, kind: Presence['kind']): Watched | undefined {
    return this.#entries.get(id) ?? this.#add(id, kind);
  }

  /** @param unrestored see `WatchListener.full` */
  tellFull(unrestored?: number): void {
    this.#isFull = true;
    this.#listener.full(unrestored);
  }

  /** It is missed from now on, also when nothing of it is heard. */
  expect(id: string, kind: Presence['kind']): void {
    const entry = this.need(id, kind);
    if (entry) {
      entry.isExpected = true;
      this.keep(entry);
      this.#context.schedule.set(entry, this.#context.schedule.time);
    }
  }

  /** It was taken for something else. */
  expectNoMore(entry: Watched): void {
    entry.isExpected = false;
    if (!entry.isKnown) {
      this.#alarms.passersBy.delete(entry);
      this.#alarms.passersBy.add(entry);
    }
  }

  /** It is no passer-by. */
  keep(entry: Watched): void {
    this.#alarms.passersBy.delete(entry);
  }

  /** What was told of it ends. */
  remove(entry: Watched): void {
    this.unschedule(entry);
    this.#alarms.passersBy.delete(entry);
    if (this.#entries.delete(entry.id)) {
      this.#alarms.forget(entry);
    }
  }

  /** Not watched any more, but remembered: a list may lack a label once, and what is dead would not be missed again. */
  leave(entry: Watched): void {
    this.remove(entry);
    entry.alarms = [];
    this.rememberLeft(entry);
  }

  rememberLeft(entry: Watched): void {
    // Others may have heard the radio of a gateway since.
    if (entry.hasBrought || this.#left.get(entry.id)?.hasBrought !== true) {
      this.#left.set(entry.id, entry);
    }
  }

  forgetLeft(id: string): void {
    this.#left.delete(id);
  }

  /** Those that have left and belong here again; some may have come another way meanwhile. */
  takeBack(isChosen: (entry: Watched) => boolean): Watched[] {
    const back = [...this.#left.values()].filter(isChosen);
    for (const { id } of back) {
      this.#left.delete(id);
    }
    return back;
  }

  unschedule(entry: Watched): void {
    this.#context.schedule.remove(entry);
    stopWaiting(entry);
  }

  #add(id: string, kind: Presence['kind']): Watched | undefined {
    if (!this.#context.mayAdd() && !this.#leaveOut()) {
      return undefined;
    }
    const entry = newWatched(id, kind, this.#watch, this.#context.now());
    this.#entries.set(id, entry);
    this.#alarms.passersBy.add(entry);
    this.#context.changed();
    this.#listener.counted();
    return entry;
  }

  /** Makes room: what has left, then what was heard a few times, first of that what needs nobody. */
  #leaveOut(): boolean {
    const [left] = this.#left.keys();
    if (left !== undefined) {
      return this.#left.delete(left);
    }
    const { first } = this.#alarms.passersBy;
    if (first === undefined) {
      return false;
    }
    this.remove(first);
    return true;
  }
}
