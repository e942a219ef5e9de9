// Messages that the broker keeps until flows have confirmed them: how much of memory they take, and when nothing more is read.
import { LinkedList } from '../collections/linked-list.ts';
import type { Deferral } from '../protocol/deferral.ts';
import type { OpenMessage } from './open-message.ts';

/** As many as MQTT has packet ids: a broker has none for a further one, and responses have to be read. Beyond it nothing is. */
export const MAX_MESSAGES = 65_535;
export const MAX_BYTES = 64 * 1024 * 1024;
/** After the last acknowledgement a broker sends what it still has; where nothing is open for so long, it had nothing. */
const QUIET_MS = 1_000;
/** Where reports never stop: so long after a change, with all confirmed that came before it. */
const STEADY_MS = 60_000;
/** A broker that has had no room for so long does not hold it back: there is always something new. */
const MAX_STEADY_MS = 3_600_000;

/** All times are milliseconds of `performance.now()`. */
export class KeptMessages {
  readonly #now: () => number;
  readonly #maxMessages: number;
  readonly #maxBytes: number;
  readonly #messages = new LinkedList<OpenMessage>();
  #bytes = 0;
  /** Since when all are acknowledged to the broker, over this connection. */
  #emptySince = Number.NEGATIVE_INFINITY;
  /** Lets the connection read on when there is room again. */
  #blocked: Deferral | undefined;

  constructor(now: () => number, maxMessages: number, maxBytes: number) {
    this.#now = now;
    this.#maxMessages = maxMessages;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#messages.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  [Symbol.iterator](): Iterator<OpenMessage> {
    return this.#messages[Symbol.iterator]();
  }

  /** Nothing more is read until one is forgotten. */
  get isFull(): boolean {
    return this.#blocked !== undefined;
  }

  /** See `OpenReports.hasCaughtUp`. @param hasRoom the broker could have sent more than it has */
  hasCaughtUp(since: number, hasRoom: boolean): boolean {
    const now = this.#now();
    const { first: oldest } = this.#messages;
    return oldest === undefined
      ? now - this.#emptySince >= QUIET_MS
      : now - since >= (hasRoom ? STEADY_MS : MAX_STEADY_MS) && oldest.received.heardAt > since;
  }

  /** @returns false: it is one of them already, and takes no more room than before */
  add(message: OpenMessage): boolean {
    if (this.#messages.has(message)) {
      return false;
    }
    this.#messages.add(message);
    this.#bytes += message.size;
    return true;
  }

  /** @param isNew what is known is no reason to wait */
  readOn(deferral: Deferral, isNew: boolean): void {
    if (isNew && this.#isAtLimit) {
      this.#blocked = deferral;
    } else {
      deferral.readOn();
    }
  }

  delete(message: OpenMessage): void {
    if (this.#messages.delete(message)) {
      this.#bytes -= message.size;
      if (this.#messages.size === 0) {
        this.#emptySince = this.#now();
      }
    }
    const blocked = this.#blocked;
    if (blocked && !this.#isAtLimit) {
      this.#blocked = undefined;
      blocked.readOn();
    }
  }

  /** The connection is a new one: nothing of it waits to be read. @param isPresent the broker may send what it has kept */
  connected(isPresent: boolean): void {
    this.#blocked = undefined;
    if (isPresent) {
      this.beginQuiet();
    }
  }

  /** Quiet counts from now on. */
  beginQuiet(): void {
    this.#emptySince = this.#now();
  }

  /** A received payload keeps the whole chunk alive that it came in. */
  copyPayloads(): void {
    for (const message of this.#messages) {
      if (!message.isCopied) {
        message.isCopied = true;
        const payload = Buffer.from(message.received.payload);
        Object.assign(message.received, { payload });
      }
    }
  }

  /** All are given up, with the connection. */
  clear(): void {
    this.#messages.clear();
    this.#bytes = 0;
    this.#blocked = undefined;
  }

  get #isAtLimit(): boolean {
    return this.#messages.size > this.#maxMessages || this.#bytes > this.#maxBytes;
  }
}
