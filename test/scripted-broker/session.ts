// What a broker remembers of one client: subscriptions, what waits for it, and what it has not acknowledged.
import type { Packet } from 'mqtt-packet';
import type { BrokerOptions, Qos } from './options.ts';
import { FilterTree } from './topics.ts';

export interface Message {
  topic: string;
  payload: Buffer;
  qos: Qos;
  retain: boolean;
}

interface Sent {
  id: number;
  message: Message;
  /** QoS 2: the client has the message, and the exchange has gone on to PUBREL. */
  released: boolean;
}

const MAX_ID = 65_535;

export class ClientSession {
  readonly clientId: string;
  /** Publishes of QoS 2 that the client has begun. */
  readonly begun = new Set<number>();
  /** Ends with the connection. */
  isClean = true;
  readonly #subscriptions = new Map<string, Qos>();
  readonly #filters = new FilterTree();
  readonly #options: BrokerOptions;
  readonly #lost: (message: Message) => void;
  readonly #inFlight = new Map<number, Sent>();
  #queue: Message[] = [];
  #send: ((packet: Packet) => void) | undefined;
  #maxInFlight = MAX_ID;
  #lastId = 0;

  /** @param lost gets every message that the full queue loses */
  constructor(clientId: string, options: BrokerOptions, lost: (message: Message) => void) {
    this.clientId = clientId;
    this.#options = options;
    this.#lost = lost;
  }

  get isConnected(): boolean {
    return this.#send !== undefined;
  }

  /** Granted QoS by filter. */
  get subscriptions(): ReadonlyMap<string, Qos> {
    return this.#subscriptions;
  }

  subscribe(filter: string, qos: Qos): void {
    this.#subscriptions.set(filter, qos);
    this.#filters.add(filter);
  }

  /** @returns false when there was no such subscription */
  unsubscribe(filter: string): boolean {
    this.#filters.delete(filter);
    return this.#subscriptions.delete(filter);
  }

  /** The QoS of each subscription that matches; shared ones are none of these. */
  matching(topic: string): Qos[] {
    return this.#filters.find(topic).map((filter) => this.#subscriptions.get(filter) as Qos);
  }

  /** Sent, and not acknowledged by the client. */
  get unacknowledged(): readonly Message[] {
    return [...this.#inFlight.values()].map(({ message }) => message);
  }

  /** Not sent yet. */
  get queued(): readonly Message[] {
    return this.#queue;
  }

  /** Sends again what was not acknowledged, then what has waited. */
  connect(send: (packet: Packet) => void, receiveMaximum = MAX_ID): void {
    this.#send = send;
    this.#maxInFlight = receiveMaximum;
    this.resend();
    this.sendQueued();
  }

  /** Sends once more what was not acknowledged, as some brokers do when they have waited for long. */
  resend(): void {
    for (const sent of this.#inFlight.values()) {
      this.#transmit(sent, true);
    }
  }

  disconnect(): void {
    this.#send = undefined;
  }

  /** @returns false when the message was dropped */
  deliver(message: Message): boolean {
    if (message.qos === 0) {
      this.#send?.({ cmd: 'publish', dup: false, ...message });
      return this.#send !== undefined;
    }
    if (this.#queue.length >= this.#options.maxQueued && !this.#hasPlace) {
      return this.#overflow(message);
    }
    this.#queue.push(message);
    this.sendQueued();
    return true;
  }

  /** PUBACK or PUBCOMP. */
  acknowledge(id: number): void {
    this.#inFlight.delete(id);
    this.sendQueued();
  }

  /** PUBREC: the client has a message of QoS 2. */
  received(id: number): void {
    const sent = this.#inFlight.get(id);
    if (sent) {
      sent.released = true;
    }
    this.#send?.({ cmd: 'pubrel', messageId: id });
  }

  get #hasPlace(): boolean {
    const most = Math.min(this.#maxInFlight, this.#options.maxInFlight);
    return this.isConnected && this.#inFlight.size < most;
  }

  #overflow(message: Message): boolean {
    const { onFullQueue } = this.#options;
    if (onFullQueue === 'drop newest') {
      this.#lost(message);
      return false;
    }
    const lost = onFullQueue === 'drop oldest' ? this.#queue.splice(0, 1) : this.#queue.splice(0);
    if (onFullQueue === 'drop oldest') {
      this.#queue.push(message);
    } else {
      this.#unsubscribeAll();
    }
    for (const one of lost) {
      this.#lost(one);
    }
    return onFullQueue === 'drop oldest';
  }

  #unsubscribeAll(): void {
    this.#subscriptions.clear();
    this.#filters.clear();
  }

  /** What has waited, as far as the client allows it. */
  sendQueued(): void {
    while (this.#queue.length > 0 && this.#hasPlace) {
      const sent = { id: this.#nextId(), message: this.#queue.shift() as Message, released: false };
      this.#inFlight.set(sent.id, sent);
      this.#transmit(sent, false);
    }
  }

  #transmit({ id, message, released }: Sent, dup: boolean): void {
    if (released) {
      this.#send?.({ cmd: 'pubrel', messageId: id });
    } else {
      this.#send?.({ cmd: 'publish', dup: dup && this.#options.marksResent, messageId: id, ...message });
    }
  }

  #nextId(): number {
    if (this.#options.packetIds === 'lowest free') {
      this.#lastId = 0;
    }
    do {
      this.#lastId = (this.#lastId % MAX_ID) + 1;
    } while (this.#inFlight.has(this.#lastId));
    return this.#lastId;
  }
}
