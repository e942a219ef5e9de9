// Acknowledges reports of QoS 1 in the order in which they came, as MQTT demands, though flows store them in another.
import { Queue } from '../collections/queue.ts';
import type { Deferrable, Deferral } from '../protocol/deferral.ts';

interface Ack {
  messageId: number;
  isDue: boolean;
  /** Called when it is on its way to the broker. */
  written: () => void;
}

/** As many as MQTT has packet ids. Beyond it nothing more is read until some are written. */
const MAX_WAITING = 65_535;
/** MQTT.js takes an error for "read on, but do not acknowledge". */
const NOT_NOW = new Error('acknowledged later');
const NOBODY = (): void => {};

/** Of one connection. MQTT.js gives one message after the other, the next one when the one before was taken. */
export class OrderedAcks implements Deferrable {
  readonly #isOpen: () => boolean;
  readonly #write: (messageId: number) => void;
  /** Those that are not written, and all that came behind the first of them. */
  readonly #waiting = new Queue<Ack>();
  /** Packet ids of those. */
  readonly #unwritten = new Set<number>();
  #messageId = 0;
  #isResent = false;
  /** Reads on. */
  #held: (() => void) | undefined;
  #callback: ((error?: Error) => void) | undefined;

  /**
   * @param isOpen whether the connection is still there
   * @param write sends a PUBACK
   */
  constructor(isOpen: () => boolean, write: (messageId: number) => void) {
    this.#isOpen = isOpen;
    this.#write = write;
  }

  get isResent(): boolean {
    return this.#isResent;
  }

  get isLost(): boolean {
    return !this.#isOpen();
  }

  get mustWait(): boolean {
    return this.#waiting.size > 0;
  }

  /**
   * A message has come: `done` or `defer` follows.
   * @param callback of MQTT.js: reads on, and without an error acknowledges
   * @returns false: it is here already, and the broker has sent it once more since that takes long; nothing follows
   */
  begin(messageId: number, isResent: boolean, callback: (error?: Error) => void): boolean {
    if (isResent && this.#unwritten.has(messageId)) {
      callback(NOT_NOW);
      return false;
    }
    this.#messageId = messageId;
    this.#isResent = isResent;
    this.#callback = callback;
    return true;
  }

  /** The message was taken; with an error it is not acknowledged. Nothing happens when it was deferred already. */
  readonly done = (error?: Error): void => {
    const callback = this.#callback;
    this.#callback = undefined;
    if (callback === undefined || error || this.#waiting.size === 0) {
      callback?.(error);
      return;
    }
    this.#wait({ messageId: this.#messageId, isDue: true, written: NOBODY });
    if (this.#waiting.size < MAX_WAITING) {
      callback(NOT_NOW);
    } else {
      this.#held = () => callback(NOT_NOW);
    }
  };

  defer(written: () => void): Deferral {
    const callback = this.#callback;
    this.#callback = undefined;
    const ack = { messageId: this.#messageId, isDue: false, written };
    this.#wait(ack);
    return {
      readOn: () => callback?.(NOT_NOW),
      acknowledge: () => {
        ack.isDue = true;
        this.#writeDue();
      },
    };
  }

  #wait(ack: Ack): void {
    this.#waiting.push(ack);
    this.#unwritten.add(ack.messageId);
  }

  /** Not after a loss: the broker sends the message again, and it is known again only while nothing was written. */
  #writeDue(): void {
    while (this.#isOpen() && this.#waiting.first?.isDue) {
      const { messageId, written } = this.#waiting.shift() as Ack;
      this.#unwritten.delete(messageId);
      this.#write(messageId);
      written();
    }
    if (this.#held && this.#waiting.size < MAX_WAITING) {
      const held = this.#held;
      this.#held = undefined;
      held();
    }
  }
}
