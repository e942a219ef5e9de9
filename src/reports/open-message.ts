// One message that the broker keeps until it is acknowledged there.
import type { Linked, LinkedList } from '../collections/linked-list.ts';
import type { Deferral, DeferralEvents } from '../protocol/deferral.ts';
import type { Message } from './message.ts';

/** What a message takes beside its payload and its topic. */
const OVERHEAD_BYTES = 500;
/** What it takes beside that for each node at which it is open. */
const DELIVERY_BYTES = 200;

/** Of all messages: there are many, and functions of its own for each would take as much memory as the rest. */
interface Events {
  written(message: OpenMessage, order: number): void;
  settled(order: number): void;
}

export class OpenMessage implements DeferralEvents, Linked<OpenMessage> {
  readonly received: Message;
  /** The address by which it came last. */
  broker: string;
  /** Not changed any more when it is kept. */
  size: number;
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
  /** What nobody wants that came behind it, before the next one that is kept: it is acknowledged with it. */
  unwantedBehind = 0;
  /** A flow has confirmed it, perhaps at once. */
  isStored = false;
  /** It has come over the present connection marked as sent before, and not without the mark. */
  isResent = false;
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

  /** It is delivered to a node that confirms it. */
  openAtNode(): void {
    this.open++;
    this.size += DELIVERY_BYTES;
  }

  written(order: number): void {
    this.#events.written(this, order);
  }

  settled(order: number): void {
    this.#events.settled(order);
  }
}
