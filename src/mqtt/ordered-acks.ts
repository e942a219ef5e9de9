// Acknowledges reports of QoS 1 in the order in which they came, as MQTT demands, though flows store them in another.
import { Queue } from '../collections/queue.ts';
import type { Deferrable, Deferral, DeferralEvents } from '../protocol/deferral.ts';
import type { GatheredAcks } from './gathered-acks.ts';

/** One message, from its arrival until its acknowledgement is written. */
class Ack implements Deferral {
  readonly messageId: number;
  /** Undefined: nobody wants to know. */
  readonly events: DeferralEvents | undefined;
  isDue = false;
  /** The broker has had an acknowledgement of it before. */
  isSettled = false;
  readonly #acks: OrderedAcks;
  #callback: ((error?: Error) => void) | undefined;

  constructor(
    acks: OrderedAcks,
    messageId: number,
    events: DeferralEvents | undefined,
    callback?: (error?: Error) => void,
  ) {
    this.#acks = acks;
    this.messageId = messageId;
    this.events = events;
    this.#callback = callback;
  }

  readOn(): void {
    const callback = this.#callback;
    this.#callback = undefined;
    callback?.(NOT_NOW);
  }

  acknowledge(): void {
    this.isDue = true;
    this.#acks.writeDue();
  }
}

/** Of packet ids. */
const MAX_IDS = 65_536;
/** As many as MQTT has packet ids: what a broker sends then needs none. Beyond it nothing is read until some are written. */
const MAX_WAITING = 65_535;
/** No broker leaves more unacknowledged, so the oldest of more are settled. With MQTT 3.1.1 some leave thousands. */
const MAX_WRITTEN = 65_535;
/** That have no response yet. */
const MAX_PINGS = 1_000;
/** After so many the broker is asked whether it has had them: what lives for long costs the garbage collector more than all the rest. */
const MAX_UNASKED = 100;
/** MQTT.js takes an error for "read on, but do not acknowledge". */
const NOT_NOW = new Error('acknowledged later');

/** Of one connection. MQTT.js gives one message after the other, the next one when the one before was taken. */
export class OrderedAcks implements Deferrable {
  readonly #isOpen: () => boolean;
  readonly #pubacks: Pick<GatheredAcks, 'addDone' | 'held'>;
  readonly #ping: () => void;
  /** Those that are not written, and all that came behind the first of them. */
  readonly #waiting = new Queue<Ack>();
  /** How many of them have this packet id; one, where the broker keeps to MQTT. Made when the first waits. */
  #waitingById: Uint16Array | undefined;
  /** Of them those, by packet id, that came marked as sent before: the broker may have an acknowledgement already. */
  readonly #resentById = new Map<number, Ack>();
  /** The order in which this packet id was written last; 0: never. Made when the first is. */
  #writtenById: Float64Array | undefined;
  /** Counts up those that somebody wants to know of. */
  #lastWritten = 0;
  /** Up to here the broker has had them. */
  #lastSettled = 0;
  /** What was written before the last ping. */
  #lastAsked = 0;
  /** Of pings that have no response yet: what was written before each. */
  readonly #pings = new Queue<number>();
  /** Of the message that was written last. */
  #events: DeferralEvents | undefined;
  #messageId = 0;
  #isResent = false;
  /** Reads on. */
  #held: (() => void) | undefined;
  #callback: ((error?: Error) => void) | undefined;

  /**
   * @param isOpen whether the connection is still there
   * @param pubacks writes them
   * @param ping sends a PINGREQ, of which `pinged` tells
   */
  constructor(isOpen: () => boolean, pubacks: Pick<GatheredAcks, 'addDone' | 'held'>, ping: () => void) {
    this.#isOpen = isOpen;
    this.#pubacks = pubacks;
    this.#ping = ping;
  }

  get isResent(): boolean {
    return this.#isResent;
  }

  get ackedOrder(): number {
    const order = this.#isResent ? (this.#writtenById?.[this.#messageId] ?? 0) : 0;
    return order > this.#lastSettled ? order : 0;
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
    if (!isResent) {
      this.usedAgain(messageId);
    } else if (this.#waitingById?.[messageId]) {
      callback(NOT_NOW);
      return false;
    }
    this.#messageId = messageId;
    this.#isResent = isResent;
    this.#callback = callback;
    return true;
  }

  /** The broker uses the id for another message, so it has had the acknowledgement, and those before it. */
  usedAgain(messageId: number): void {
    this.#settle(this.#writtenById?.[messageId] ?? 0);
    // A second acknowledgement of the message before would be taken for one of the message that comes now. Not of one that
    // came without the mark: some brokers forget that when they send again, and have had none.
    const resent = this.#resentById.get(messageId);
    if (resent) {
      resent.isSettled = true;
      this.#resentById.delete(messageId);
      this.#countWaiting(messageId, -1);
    }
  }

  /** A ping goes to the broker, behind what was written so far. */
  pinged(): void {
    // While flows are replaced some may have still to leave.
    this.#lastAsked = Math.max(this.#lastAsked, this.#lastWritten - this.#pubacks.held);
    if (this.#pings.size < MAX_PINGS) {
      this.#pings.push(this.#lastAsked);
    }
  }

  /** The broker has answered a ping, so it has had what was written before that. */
  ponged(): void {
    if (this.#isOpen()) {
      this.#settle(this.#pings.shift() ?? 0);
    }
  }

  /**
   * The message was taken. Nothing happens when it was deferred already.
   * @param error it is not acknowledged
   * @param isForNobody Node-RED has nothing to pass on of it
   */
  readonly done = (error?: Error, isForNobody = false): void => {
    const callback = this.#callback;
    this.#callback = undefined;
    if (callback === undefined || error || (this.#waiting.size === 0 && !isForNobody)) {
      callback?.(error);
      return;
    }
    if (this.#waiting.size === 0) {
      this.#pubacks.addDone(this.#messageId);
      callback(NOT_NOW);
      return;
    }
    const ack = new Ack(this, this.#messageId, undefined);
    ack.isDue = true;
    this.#wait(ack);
    if (this.#waiting.size <= MAX_WAITING) {
      callback(NOT_NOW);
    } else {
      this.#held = () => callback(NOT_NOW);
    }
  };

  defer(events: DeferralEvents): Deferral {
    const ack = new Ack(this, this.#messageId, events, this.#callback);
    this.#callback = undefined;
    this.#wait(ack);
    return ack;
  }

  /** Not after a loss: the broker sends the message again, and it is known again only while nothing was written. */
  writeDue(): void {
    while (this.#isOpen() && this.#waiting.first?.isDue) {
      const ack = this.#waiting.shift() as Ack;
      const { messageId, events } = ack;
      if (ack.isSettled) {
        events?.written(0);
        continue;
      }
      this.#pubacks.addDone(messageId);
      this.#countWaiting(messageId, -1);
      this.#resentById.delete(messageId);
      if (events) {
        this.#written(messageId, events);
      }
    }
    if (this.#held && this.#waiting.size <= MAX_WAITING) {
      const held = this.#held;
      this.#held = undefined;
      held();
    }
  }

  #wait(ack: Ack): void {
    this.#waiting.push(ack);
    if (this.#isResent) {
      this.#resentById.set(ack.messageId, ack);
    }
    this.#countWaiting(ack.messageId, 1);
  }

  #countWaiting(messageId: number, change: number): void {
    this.#waitingById ??= new Uint16Array(MAX_IDS);
    this.#waitingById[messageId] = (this.#waitingById[messageId] ?? 0) + change;
  }

  #written(messageId: number, events: DeferralEvents): void {
    this.#lastWritten++;
    this.#writtenById ??= new Float64Array(MAX_IDS);
    this.#writtenById[messageId] = this.#lastWritten;
    this.#events = events;
    events.written(this.#lastWritten);
    this.#settle(this.#lastWritten - MAX_WRITTEN);
    if (this.#lastWritten - this.#lastAsked >= MAX_UNASKED && this.#pings.size === 0) {
      this.#ping();
    }
  }

  #settle(order: number): void {
    if (order > this.#lastSettled) {
      this.#lastSettled = order;
      this.#events?.settled(order);
    }
  }
}
