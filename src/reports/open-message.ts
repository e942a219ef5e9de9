// One message that the broker keeps until it is acknowledged there.
import type { Linked, LinkedList } from '../collections/linked-list.ts';
import type { Deferral, DeferralEvents } from '../protocol/deferral.ts';
import type { Message } from './message.ts';

/** What a message takes beside its payload and its topic. */
const OVERHEAD_BYTES = 500;

/** What of a message is kept: it recognises it when it comes again. Times are milliseconds of `performance.now()`. */
export interface Confirmed extends Linked<Confirmed> {
  readonly key: string;
  /** The address by which it came. */
  readonly broker: string;
  /** When that connection was lost; undefined: it is the present one. */
  lostAt: number | undefined;
  expectedUntil: number;
}

/** Of all messages: there are many, and functions of its own for each would take as much memory as the rest. */
interface Events {
  written(message: OpenMessage): void;
  settled(message: OpenMessage): void;
}

/** What is left of one that was confirmed. */
const NO_CONTENT: Message = { topic: '', payload: Buffer.alloc(0), retained: false, heardAt: 0 };

export class OpenMessage implements DeferralEvents, Linked<OpenMessage> {
  received: Message;
  /** The address by which it came last. */
  broker: string;
  readonly size: number;
  /** A received payload keeps the whole chunk alive that it came in; after a while it is copied. */
  isCopied = false;
  /** Undefined while the connection is not there by which it came. */
  deferral: Deferral | undefined;
  /** When its connection was lost, in milliseconds of `performance.now()`. */
  lostAt = 0;
  /** Of a connection that was lost: until when it may come again; 0: it does not. */
  expectedUntil = 0;
  /** Deliveries that are not confirmed. */
  open = 0;
  /** What recognises it while its acknowledgement is on its way; until that is known, it itself does. */
  confirmed: Confirmed | undefined;
  before: OpenMessage | undefined;
  after: OpenMessage | undefined;
  list: LinkedList<OpenMessage> | undefined;
  readonly #events: Events;

  constructor(received: Message, broker: string, events: Events) {
    this.received = received;
    this.broker = broker;
    this.size = received.payload.length + received.topic.length + OVERHEAD_BYTES;
    this.#events = events;
  }

  /** Nobody needs it any more, but it is not settled yet. */
  forgetContent(): void {
    this.received = NO_CONTENT;
  }

  written(): void {
    this.#events.written(this);
  }

  settled(): void {
    this.#events.settled(this);
  }
}
