// Nodes that are there and cannot work: what they ask for is not known, and what nobody else asks for may be meant for them.
import type { Logger } from '../log.ts';

/** The deploy that sets them right is given all of it at once, and responses are to be read meanwhile. */
const MAX_UNDECIDED = 5_000;
const MAX_UNDECIDED_BYTES = 32 * 1024 * 1024;
/** What has waited at a broker comes at once: how many of it are lost is told then, later every minute. */
const TELL_MS = 1_000;
const TELL_AGAIN_MS = 60_000;
/** Of so many nodes the names are told. */
const MAX_NAMES = 5;

export class WaitingNodes {
  readonly #log: Logger;
  readonly #byOwner = new Map<string, object>();
  #hasToldKept = false;
  #lost = 0;
  #losers = '';
  #tellMs = TELL_MS;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @returns ends it */
  add(owner: string): () => void {
    const node = {};
    this.#byOwner.set(owner, node);
    this.#hasToldKept = false;
    return () => {
      if (this.#byOwner.get(owner) === node) {
        this.#byOwner.delete(owner);
      }
    };
  }

  get areThere(): boolean {
    return this.#byOwner.size > 0;
  }

  /** Whether one more may be kept for them. @param undecided how many are @param bytes of all that is open */
  mayKeep(undecided: number, bytes: number): boolean {
    return this.areThere && undecided < MAX_UNDECIDED && bytes < MAX_UNDECIDED_BYTES;
  }

  get #names(): string {
    return [...this.#byOwner.keys()].slice(0, MAX_NAMES).join(', ');
  }

  /** The broker keeps a report for them. */
  kept(): void {
    if (!this.#hasToldKept) {
      this.#hasToldKept = true;
      this.#log.warn(
        `reports stay at the broker: no node that works asks for any, and they may be for one that cannot (${this.#names})`,
      );
    }
  }

  /** So many reports are acknowledged that may have been meant for them. */
  lost(count: number): void {
    this.#lost += count;
    this.#losers = this.#names;
    this.#timer ??= setTimeout(() => this.#tellLost(), this.#tellMs).unref();
  }

  close(): void {
    this.#tellLost();
    this.#byOwner.clear();
  }

  #tellLost(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lost > 0) {
      this.#tellMs = TELL_AGAIN_MS;
      this.#log.warn(
        `${this.#lost} reports that no node asks for are lost: they may have been for one that cannot work (${this.#losers})`,
      );
      this.#lost = 0;
    }
  }
}
