// Exchanges of QoS 2 that outlive a connection: a new client of MQTT.js has to know what the one before has begun.
import type { IStore, MqttClient } from 'mqtt';

export class Exchanges {
  readonly #createStore: () => IStore;
  /** What the broker has sent and not released yet. */
  #incoming: IStore;

  constructor(createStore: () => IStore) {
    this.#createStore = createStore;
    this.#incoming = createStore();
  }

  /** What a new client is given of them. */
  get options(): { incomingStore: IStore; outgoingStore: IStore } {
    return { incomingStore: this.#incoming, outgoingStore: this.#createStore() };
  }

  /** @param isPresent whether the broker knows anything of an earlier connection */
  connected(client: MqttClient, isPresent: boolean): void {
    if (!isPresent) {
      this.#incoming = this.#createStore();
      client.incomingStore = this.#incoming;
    }
  }

  /** A message was released. Whoever takes it keeps it: where the connection ends now, it is released once more. */
  taken(client: MqttClient, messageId: number): void {
    client.incomingStore.del({ messageId }, () => {});
  }

  /** What this client has read is still worked through, and must touch no exchange of the next one. */
  ended(client: MqttClient): void {
    client.incomingStore = this.#createStore();
  }
}
