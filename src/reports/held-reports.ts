// Reports that waited when their subscriber went, for labels or for flows: for the one that a deploy puts there, also at another session.
import type { Logger } from '../log.ts';
import type { Message } from './message.ts';

export interface HeldReport extends Message {
  /** It was opened for a node that confirms it; see `Report.delivery`. */
  delivery?: string | undefined;
  /** The persistent sessions of its service then. */
  sessions?: readonly string[];
}

export class HeldReports {
  /**
   * Of each owner as many as a label filter holds, or as one turn has given it: what one has that comes back is let through
   * before it is given others.
   */
  #byOwner = new Map<string, HeldReport[]>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * A session goes on with what an earlier one holds, before it has subscribers. Those of the earlier one may leave later,
   * so that both share it from now on.
   */
  takeOver(earlier: HeldReports): void {
    this.#byOwner = earlier.#byOwner;
  }

  owners(): Iterable<string> {
    return this.#byOwner.keys();
  }

  add(owner: string, messages: readonly HeldReport[]): void {
    if (messages.length > 0) {
      this.#byOwner.set(owner, [...this.take(owner), ...messages]);
    }
  }

  take(owner: string): HeldReport[] {
    const messages = this.#byOwner.get(owner) ?? [];
    this.#byOwner.delete(owner);
    return messages;
  }

  /** Nobody comes back for them. */
  giveUp(owner: string): void {
    // What is open is counted where that is given up.
    const { length } = this.take(owner).filter(({ delivery }) => delivery === undefined);
    if (length > 0) {
      this.#log.warn(
        `${length} reports that waited for labels or flows are given up: node ${owner} does not wait for them any more`,
      );
    }
  }

  giveUpAll(): void {
    for (const owner of this.owners()) {
      this.giveUp(owner);
    }
  }
}
