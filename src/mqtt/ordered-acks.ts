// Acknowledges reports of QoS 1 in the order in which they came, as MQTT demands, though flows store them in another.
import { Queue } from '../collections/queue.ts';
import type { Deferrable, Deferral, DeferralEvents } from '../protocol/deferral.ts';

interface Ack {
  messageId: number;
  isDue: boolean;
  /** Undefined where nobody wants to know. */
  events: DeferralEvents | undefined;
}

/** On its way to the broker, which may not have had it. */
interface Written {
  /** Counts up. */
  at: number;
  messageId: number;
  /** Undefined: the broker has had it. */
  events: DeferralEvents | undefined;
}

/** As many as MQTT has packet ids: what a broker sends then needs none. Beyond it nothing is read until some are written. */
const MAX_WAITING = 65_535;
/** More than brokers leave unacknowledged, so that the oldest of more are settled; what MQTT 5 is told here as the most. */
const MAX_WRITTEN = 1_000;
/** MQTT.js takes an error for "read on, but do not acknowledge". */
const NOT_NOW = new Error('acknowledged later');

/** Of one connection. MQTT.js gives one message after the other, the next one when the one before was taken. */
export class OrderedAcks implements Deferrable {
  readonly #isOpen: () => boolean;
  readonly #write: (messageId: number) => void;
  /** Those that are not written, and all that came behind the first of them. */
  readonly #waiting = new Queue<Ack>();
  /** Packet ids of those. */
  readonly #unwritten = new Set<number>();
  /** The oldest first; also some that are settled. */
  readonly #written = new Queue<Written>();
  readonly #writtenById = new Map<number, Written>();
  #lastWritten = 0;
  /** Of pings that have no response yet: what was written before each. */
  readonly #pings = new Queue<number>();
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
    if (!isResent) {
      // The broker uses the id for another message.
      this.#settle(messageId);
    }
    this.#messageId = messageId;
    this.#isResent = isResent;
    this.#callback = callback;
    return true;
  }

  /** A ping goes to the broker, behind what was written so far. */
  pinged(): void {
    if (this.#pings.size < MAX_WRITTEN) {
      this.#pings.push(this.#lastWritten);
    }
  }

  /** The broker has answered a ping, so it has had what was written before that. */
  ponged(): void {
    const before = this.#pings.shift() ?? 0;
    while (this.#written.first && this.#written.first.at <= before) {
      this.#settleOldest();
    }
  }

  /** The message was taken; with an error it is not acknowledged. Nothing happens when it was deferred already. */
  readonly done = (error?: Error): void => {
    const callback = this.#callback;
    this.#callback = undefined;
    if (callback === undefined || error || this.#waiting.size === 0) {
      callback?.(error);
      return;
    }
    this.#wait({ messageId: this.#messageId, isDue: true, events: undefined });
    if (this.#waiting.size <= MAX_WAITING) {
      callback(NOT_NOW);
    } else {
      this.#held = () => callback(NOT_NOW);
    }
  };

  defer(events: DeferralEvents): Deferral {
    const callback = this.#callback;
    this.#callback = undefined;
    const ack = { messageId: this.#messageId, isDue: false, events };
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
      const { messageId, events } = this.#waiting.shift() as Ack;
      this.#unwritten.delete(messageId);
      this.#write(messageId);
      if (events) {
        this.#remember(messageId, events);
        events.written();
      }
    }
    if (this.#held && this.#waiting.size <= MAX_WAITING) {
      const held = this.#held;
      this.#held = undefined;
      held();
    }
  }

  #remember(messageId: number, events: DeferralEvents): void {
    this.#settle(messageId);
    const written = { at: ++this.#lastWritten, messageId, events };
    this.#written.push(written);
    this.#writtenById.set(messageId, written);
    if (this.#written.size > MAX_WRITTEN) {
      this.#settleOldest();
    }
  }

  #settleOldest(): void {
    const written = this.#written.shift();
    if (written?.events) {
      this.#settle(written.messageId);
    }
  }

  #settle(messageId: number): void {
    const written = this.#writtenById.get(messageId);
    if (written) {
      this.#writtenById.delete(messageId);
      written.events?.settled();
      written.events = undefined;
    }
  }
}

/** A PUBACK, without a reason: the same in MQTT 3.1.1 and 5. */
export function pubackOf(messageId: number): Buffer {
  return Buffer.from([0x40, 0x02, messageId >> 8, messageId & 0xff]);
}
