// Whom a watch leaves out when there are too many: first those that need nobody, in constant time.
import { LinkedList } from '../collections/linked-list.ts';
import type { Watched } from './watched.ts';

export class PassersBy {
  /** The first one was added first, or is fine for longest. */
  readonly #fine = new LinkedList<Watched>();
  /** Those with a condition, that of the first one for longest. */
  readonly #inNeed = new LinkedList<Watched>();

  /** The one that goes first. */
  get first(): Watched | undefined {
    return this.#fine.first ?? this.#inNeed.first;
  }

  add(entry: Watched): void {
    const list = entry.alarms.length > 0 ? this.#inNeed : this.#fine;
    list.add(entry);
  }

  delete(entry: Watched): void {
    entry.list?.delete(entry);
  }

  /** Call it when its first condition has begun, or its last one has ended. */
  sort(entry: Watched): void {
    if (entry.list) {
      this.delete(entry);
      this.add(entry);
    }
  }
}
