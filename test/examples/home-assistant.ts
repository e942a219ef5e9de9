// What Home Assistant would have heard from its broker.
import { EventEmitter, once } from 'node:events';
import { connect, type MqttClient } from 'mqtt';

interface Description {
  [key: string]: unknown;
  device: Record<string, unknown>;
}

/** What Home Assistant would have: the newest message of each topic. */
export class Listener {
  readonly #topics = new Map<string, { text: string; retained: boolean }>();
  readonly #events = new EventEmitter();
  readonly client: MqttClient;
  count = 0;

  constructor(url: string) {
    this.client = connect(url);
    this.client.on('message', (topic, payload, { retain }) => {
      this.count++;
      this.#topics.set(topic, { text: payload.toString(), retained: retain });
      this.#events.emit('message');
    });
  }

  async start(): Promise<this> {
    await this.client.subscribeAsync(['homeassistant/#', 'mt-gateway/#'], { qos: 1 });
    return this;
  }

  /** Waits until this topic has a message that fits. */
  async on(topic: string, fits: (text: string) => boolean = () => true): Promise<string> {
    for (;;) {
      const text = this.#topics.get(topic)?.text;
      if (text !== undefined && fits(text)) {
        return text;
      }
      await once(this.#events, 'message', { signal: AbortSignal.timeout(30_000) });
    }
  }

  async described(topic: string): Promise<Description> {
    return JSON.parse(await this.on(topic)) as Description;
  }

  get topics(): string[] {
    return [...this.#topics.keys()];
  }

  forget(): void {
    this.#topics.clear();
    this.count = 0;
  }
}
