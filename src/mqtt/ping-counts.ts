// Whether the broker has answered a ping that was sent after something else: it answers them in order.

interface Packet {
  cmd: string;
}

/** What this needs of a client of MQTT.js. */
export interface PingSource {
  on(event: 'packetsend' | 'packetreceive', listener: (packet: Packet) => void): unknown;
}

/** The pings that follow a moment. */
export interface LaterPings {
  isSent(): boolean;
  isAnswered(): boolean;
}

/** Of one connection: make it before the first ping. */
export class PingCounts {
  #sent = 0;
  #answered = 0;

  constructor(client: PingSource) {
    client.on('packetsend', ({ cmd }) => {
      this.#sent += cmd === 'pingreq' ? 1 : 0;
    });
    client.on('packetreceive', ({ cmd }) => {
      this.#answered += cmd === 'pingresp' ? 1 : 0;
    });
  }

  /** Those from now on: while reading is held up, several earlier ones may still be under way. */
  fromNow(): LaterPings {
    const before = this.#sent;
    return { isSent: () => this.#sent > before, isAnswered: () => this.#answered > before };
  }
}
