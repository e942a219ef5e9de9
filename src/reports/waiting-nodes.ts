// Nodes that are there and cannot work as they are set: reports that no other node asks for may be meant for them.
import type { Logger } from '../log.ts';
import type { Confirmer } from './open-report.ts';

/**
 * For nodes that confirm nothing, counted at each: what comes beyond it is lost. The deploy that sets them right would be
 * given too much at once, and responses are to be read meanwhile.
 */
const MAX_WITHHELD = 5_000;
const MAX_WITHHELD_BYTES = 32 * 1024 * 1024;
/** What has waited at a broker comes at once: how many of it are lost is told then, later every minute. */
const TELL_MS = 1_000;
const TELL_AGAIN_MS = 60_000;
/** Of so many nodes the names are told. */
const MAX_NAMES = 5;

/** What stands for a node until it works: it is sent nothing. */
export interface WaitingNode extends Confirmer {
  readonly isWaiting: true;
  /** It does not work as it is set, but it is set to confirm what it receives. */
  readonly confirms: boolean;
}

export const isWaitingNode = (confirmer: Confirmer): confirmer is WaitingNode =>
  (confirmer as Partial<WaitingNode>).isWaiting === true;

export class WaitingNodes {
  readonly #log: Logger;
  readonly #byOwner = new Map<string, WaitingNode>();
  #hasToldKept = false;
  #lost = 0;
  #tellMs = TELL_MS;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @returns ends it */
  add(owner: string, confirms: boolean): () => void {
    const node: WaitingNode = {
      ...{ owner, confirms, isWaiting: true, labels: '', timeoutMs: 0, maxAttempts: 0 },
      again: () => true,
      givenUp() {},
      count() {},
    };
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

  /**
   * For whom the broker is to keep a report that no other node asks for: nobody knows what they ask for. For those that
   * confirm, else for all of them where nobody asks for any: a broker that has sent as many as it may sends nothing more.
   * @param areOthers whether others ask for reports
   * @param withheld how many are kept already @param bytes of them
   */
  takers(areOthers: boolean, withheld: number, bytes: number): readonly WaitingNode[] {
    const all = [...this.#byOwner.values()];
    const confirming = all.filter(({ confirms }) => confirms);
    const hasRoom = withheld < MAX_WITHHELD && bytes < MAX_WITHHELD_BYTES;
    return confirming.length > 0 || areOthers || !hasRoom ? confirming : all;
  }

  get #names(): string {
    return [...this.#byOwner.keys()].slice(0, MAX_NAMES).join(', ');
  }

  /** The broker keeps a report for them. */
  kept(): void {
    if (!this.#hasToldKept) {
      this.#hasToldKept = true;
      this.#log.warn(
        `reports that no node asks for stay at the broker, which may send no others: they may be for one that cannot work (${this.#names})`,
      );
    }
  }

  /** So many reports are acknowledged that may have been meant for them. */
  lost(count: number): void {
    this.#lost += count;
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
        `${this.#lost} reports that no node asks for are lost: they may have been for one that cannot work (${this.#names})`,
      );
      this.#lost = 0;
    }
  }
}
