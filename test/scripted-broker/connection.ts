// One TCP connection to a scripted broker: reads packets, replies or withholds the reply, ends.
import type { Socket } from 'node:net';
import { generate, type IConnectPacket, type Packet, parser } from 'mqtt-packet';
import type { Reply } from './options.ts';
import type { ClientSession } from './session.ts';

export interface ConnectionEvents {
  packet(connection: ClientConnection, packet: Packet): void;
  sent(connection: ClientConnection, packet: Packet): void;
  closed(connection: ClientConnection): void;
  isWithheld(reply: Reply): boolean;
  withheld(reply: WithheldReply): void;
}

export interface WithheldReply {
  reply: Reply;
  connection: ClientConnection;
  send(): void;
}

export class ClientConnection {
  /** Milliseconds since 1970. */
  readonly openedAt = Date.now();
  /** The client's own words; undefined until they have come. */
  connect: IConnectPacket | undefined;
  session: ClientSession | undefined;
  /** Publishes of QoS 1 and 2 from the client that it has no acknowledgement of. */
  unacknowledged = 0;
  /** Set when the broker has ended the connection and only its last bytes are on their way. */
  isEnding = false;
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  /** The parser reads it too. */
  readonly #settings = { protocolVersion: 4 };
  readonly #parser = parser(this.#settings);
  #isCorked = false;

  constructor(socket: Socket, events: ConnectionEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.setNoDelay(true);
    socket.on('data', (data) => this.#parser.parse(data));
    socket.on('error', () => {});
    socket.once('close', () => events.closed(this));
    this.#parser.on('packet', (packet) => this.#take(packet));
    this.#parser.on('error', () => socket.destroy());
  }

  get clientId(): string {
    return this.connect?.clientId ?? '';
  }

  get version(): number {
    return this.#settings.protocolVersion;
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && !this.isEnding;
  }

  /** All packets of one turn of the event loop leave in one write. */
  send(packet: Packet): void {
    if (!this.isOpen) {
      return;
    }
    this.#events.sent(this, packet);
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        this.#socket.uncork();
      });
    }
    this.#socket.write(generate(packet, this.#settings));
  }

  /** Sends a reply now, or when it is released. */
  reply(reply: Reply, send: () => void): void {
    if (this.#events.isWithheld(reply)) {
      this.#events.withheld({ reply, connection: this, send });
    } else {
      send();
    }
  }

  /** Ends as a broker does that has a reason: MQTT 5 tells it. */
  end(reasonCode: number): void {
    if (this.version === 5) {
      this.send({ cmd: 'disconnect', reasonCode });
    }
    this.close();
  }

  /** Ends when everything has left that was sent before. */
  close(): void {
    if (!this.isEnding) {
      this.isEnding = true;
      this.#socket.destroySoon();
    }
  }

  /** Ends at once, without a word. */
  destroy(): void {
    if (this.isEnding) {
      // Node.js never tells of the end of a socket that is reset while it is being shut down.
      this.#socket.destroy();
    } else {
      this.#socket.resetAndDestroy();
    }
  }

  /** False: what the client sends stays in its own buffers and the system's. */
  setReading(reads: boolean): void {
    if (reads) {
      this.#socket.resume();
    } else {
      this.#socket.pause();
    }
  }

  #take(packet: Packet): void {
    if (!this.isOpen) {
      return;
    }
    if (packet.cmd === 'connect') {
      this.connect = packet;
      this.#settings.protocolVersion = packet.protocolVersion ?? 4;
    }
    this.#events.packet(this, packet);
  }
}

/** Bytes of the whole packet: what the parser counts is without the fixed header. */
export function sizeOf({ length = 0 }: Packet): number {
  let size = length + 2;
  for (let rest = length >> 7; rest > 0; rest >>= 7) {
    size++;
  }
  return size;
}
