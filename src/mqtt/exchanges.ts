// Exchanges of QoS 2 that outlive a connection: a new client of MQTT.js has to know what the one before has begun.
import type { DefaultMessageIdProvider, IStore, MqttClient, Store } from 'mqtt';
import { createIncomingStore, type IncomingStore } from './incoming-store.ts';
import type { KeptSession } from './kept-sessions.ts';
import type { Publish } from './publish-reader.ts';

/** What of MQTT.js is needed. */
interface Library {
  Store: typeof Store;
  DefaultMessageIdProvider: typeof DefaultMessageIdProvider;
}

/** Far more than brokers allow. */
const MAX_PUBLISHED = 10_000;
/** A broker that ends each connection for it must not do so for ever. */
const MAX_RELEASES = 3;
/** From here on reason codes are refusals. */
const FIRST_REFUSAL = 0x80;

export class Exchanges {
  readonly #createStore: () => IStore;
  readonly #createIncoming: () => IncomingStore;
  readonly #full: () => void;
  readonly #messageIds: DefaultMessageIdProvider;
  /** What the broker has sent and not released yet. */
  #incoming: IncomingStore;
  #published: KeptSession['published'] = new Map();
  #untaken: Publish[] = [];

  /** @param full called for a message that cannot be kept: the broker releases too little of what it sends */
  constructor({ Store, DefaultMessageIdProvider }: Library, full: () => void) {
    // What was read before the end is worked through after it, and the library's own store throws then.
    this.#createStore = () => new Store({ clean: false });
    this.#createIncoming = () => createIncomingStore(this.#createStore());
    this.#full = full;
    this.#incoming = this.#createIncoming();
    const ids = new DefaultMessageIdProvider();
    const allocate = ids.allocate.bind(ids);
    ids.allocate = () => {
      let id: number;
      do {
        id = allocate();
      } while (this.#published.has(id));
      return id;
    };
    this.#messageIds = ids;
  }

  /**
   * What a new client is given: the broker may release what it has sent before the connection is known here to be there.
   * Nothing that was published is in it, since that would be sent again.
   * @param session undefined: it ends with the connection
   */
  optionsFor(session: KeptSession | undefined) {
    if (session) {
      session.incoming ??= this.#createIncoming();
      this.#incoming = session.incoming as IncomingStore;
    }
    this.#incoming.full = this.#full;
    this.#untaken = session?.untaken ?? [];
    return {
      incomingStore: this.#incoming,
      outgoingStore: this.#createStore(),
      messageIdProvider: this.#messageIds,
    };
  }

  /**
   * Call before anything is published: the broker counts what is not completed.
   * @param isPresent whether the broker knows anything of an earlier connection
   * @param session undefined: it ends with the connection
   */
  connected(client: MqttClient, isPresent: boolean, session: KeptSession | undefined): void {
    if (!isPresent) {
      this.#incoming = this.#createIncoming();
      this.#incoming.full = this.#full;
      client.incomingStore = this.#incoming;
    }
    if (!session) {
      return;
    }
    session.incoming = this.#incoming;
    if (!isPresent) {
      // Not emptied: the client before may still be at work.
      session.published = new Map();
    }
    const { published } = session;
    this.#published = published;
    this.#release(client);
    client.on('packetsend', (packet) => {
      if (packet.cmd === 'publish' && packet.qos === 2 && published.size < MAX_PUBLISHED) {
        published.set(packet.messageId as number, 0);
      }
    });
    client.on('packetreceive', (packet) => {
      const isRefused = packet.cmd === 'pubrec' && (packet.reasonCode ?? 0) >= FIRST_REFUSAL;
      if (packet.cmd === 'pubcomp' || isRefused) {
        published.delete(packet.messageId as number);
      }
    });
  }

  /**
   * A message was released. Whoever takes it keeps it: where the connection ends now, it may be released once more, and
   * the broker is told then that it is complete.
   */
  taken(client: MqttClient, messageId: number): void {
    client.incomingStore.del({ messageId }, () => {});
  }

  /** See `KeptSession`; of the session of the last client. */
  get untaken(): Publish[] {
    return this.#untaken;
  }

  /** What this client has read is still worked through, and must touch no exchange of the next one. */
  ended(client: MqttClient): void {
    const store = this.#createStore();
    // Neither answers: what the broker is told now of an exchange, the next client would know nothing of.
    store.put = () => store;
    store.get = () => store;
    client.incomingStore = store;
  }

  /** Also what the broker has not confirmed, as it may have had that; it completes what it does not know. */
  #release(client: MqttClient): void {
    for (const [id, releases] of this.#published) {
      if (releases < MAX_RELEASES) {
        this.#published.set(id, releases + 1);
        client.stream.write(pubrelOf(id));
      } else {
        this.#published.delete(id);
      }
    }
  }
}

/** A PUBREL, without a reason: the same in MQTT 3.1.1 and 5. */
function pubrelOf(messageId: number): Buffer {
  return Buffer.from([0x62, 0x02, messageId >> 8, messageId & 0xff]);
}
