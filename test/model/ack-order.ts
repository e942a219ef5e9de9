// Whether a client acknowledges what a broker sends in the order in which it came.
import type { IPublishPacket, Packet } from 'mqtt-packet';

/** Of one client, over all of its connections. */
export class AckOrder {
  readonly faults: string[] = [];
  readonly #sent: readonly { packet: Packet }[];
  #next = 0;
  /** Of the present connection: sent, and not acknowledged. */
  #waiting: IPublishPacket[] = [];

  /** @param sent everything that the broker has sent to this client */
  constructor(sent: readonly { packet: Packet }[]) {
    this.#sent = sent;
  }

  connected(): void {
    this.#next = this.#sent.length;
    this.#waiting = [];
  }

  /** @returns what is acknowledged; undefined: it was before */
  acknowledged(id: number | undefined): IPublishPacket | undefined {
    for (; this.#next < this.#sent.length; this.#next++) {
      const { packet } = this.#sent[this.#next] as { packet: Packet };
      // What is sent once more over the same connection keeps its place.
      if (packet.cmd === 'publish' && packet.qos === 1 && !this.#waits(packet.messageId)) {
        this.#waiting.push(packet);
      }
    }
    if (!this.#waits(id)) {
      return undefined;
    }
    const [first] = this.#waiting;
    if (first?.messageId !== id) {
      this.faults.push(`${id} was acknowledged before ${first?.messageId}`);
    }
    const acknowledged = this.#waiting.find(({ messageId }) => messageId === id);
    this.#waiting = this.#waiting.filter((one) => one !== acknowledged);
    return acknowledged;
  }

  #waits(id: number | undefined): boolean {
    return this.#waiting.some(({ messageId }) => messageId === id);
  }
}
