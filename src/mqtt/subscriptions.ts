// Keeps what the broker is subscribed to equal to what is wanted: over reconnects, refusals and changes.
import type { Logger } from '../log.ts';
import { createBackoff } from './backoff.ts';

const REFUSED = 0x80;
/** Some brokers limit the size of one packet. */
const BATCH = 200;

type Qos = 0 | 1 | 2;

export interface SubscriptionTransport {
  /** Resolves or rejects with the codes that the broker granted, in the order of the filters. */
  subscribe(filters: Record<string, { qos: Qos }>): Promise<{ topic: string; qos: number }[]>;
  unsubscribe(filters: string[]): Promise<void>;
}

export interface SubscriptionEvents {
  refused(filter: string, reason: string): void;
  healed(): void;
  /** The broker has everything that is wanted, or has refused it. */
  synced(): void;
}

/** What a broker still holds for a persistent session of this process, by client id: it outlives a redeploy. */
const LEFT_BEHIND = new Map<string, Set<string>>();

/** The wanted filters with their QoS, and the broker's view of them. */
export class Subscriptions {
  readonly #clientId: string;
  readonly #persistent: boolean;
  readonly #log: Logger;
  readonly #events: SubscriptionEvents;
  readonly #wanted = new Map<string, Qos>();
  readonly #refused = new Set<string>();
  readonly #waiting = new Map<string, ((refused: boolean) => void)[]>();
  readonly #backoff = createBackoff(10_000, 300_000);
  #active = new Map<string, Qos>();
  #transport: SubscriptionTransport | undefined;
  #syncing: SubscriptionTransport | undefined;
  #changed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(clientId: string, persistent: boolean, log: Logger, events: SubscriptionEvents) {
    this.#clientId = clientId;
    this.#persistent = persistent;
    this.#log = log;
    this.#events = events;
  }

  /** Adds `add` and removes `remove`; the broker follows at once when it is there, else when it comes. */
  change(add: Iterable<string>, qos: Qos, remove: Iterable<string> = []): void {
    for (const filter of add) this.#wanted.set(filter, qos);
    for (const filter of remove) this.#wanted.delete(filter);
    void this.#sync();
  }

  /** Takes back filters that the broker may hold from an earlier life of this client, unless they are in use. */
  takeBack(filters: string[]): void {
    if (filters.some((filter) => this.#active.has(filter))) return;
    const held = LEFT_BEHIND.get(this.#clientId) ?? new Set();
    for (const filter of filters) held.add(filter);
    LEFT_BEHIND.set(this.#clientId, held);
    void this.#sync();
  }

  /** True when the broker has granted the filter already. */
  isActive(filter: string): boolean {
    return this.#active.has(filter);
  }

  /** Calls back once the broker has granted or refused this wanted filter; a loss in between keeps it waiting. */
  whenSettled(filter: string, settled: (refused: boolean) => void): void {
    const waiting = this.#waiting.get(filter);
    if (this.#active.has(filter)) settled(false);
    else if (this.#refused.has(filter)) settled(true);
    else if (waiting) waiting.push(settled);
    else this.#waiting.set(filter, [settled]);
  }

  online(transport: SubscriptionTransport): void {
    this.#transport = transport;
    this.#active = new Map();
    void this.#sync();
  }

  offline(): void {
    this.#transport = undefined;
    this.#refused.clear();
    clearTimeout(this.#retry);
    if (this.#persistent && this.#active.size > 0)
      LEFT_BEHIND.set(this.#clientId, new Set(this.#active.keys()));
    this.#active = new Map();
  }

  async #sync(): Promise<void> {
    this.#changed = true;
    const transport = this.#transport;
    if (!transport || transport === this.#syncing) return;
    this.#syncing = transport;
    try {
      let isDone = false;
      // A change may come while the last step is on its way, so it is looked for after each step.
      while (!isDone || this.#changed) {
        this.#changed = false;
        isDone = !(await this.#step(transport));
        if (transport !== this.#transport) return;
      }
      this.#events.synced();
    } catch (error) {
      // The connection went away in the middle; its successor starts over.
      this.#log.trace(`subscriptions: ${String(error)}`);
    } finally {
      if (transport === this.#syncing) this.#syncing = undefined;
    }
  }

  /** New filters before old ones go, so that a change of filters loses no report. False when nothing is left to do. */
  async #step(transport: SubscriptionTransport): Promise<boolean> {
    const missing = [...this.#wanted].filter(
      ([filter, qos]) => this.#active.get(filter) !== qos && !this.#refused.has(filter),
    );
    if (missing.length > 0) {
      await this.#inBatches(missing, (batch) => this.#subscribe(transport, batch));
      return true;
    }
    const held = [...this.#active.keys(), ...(LEFT_BEHIND.get(this.#clientId) ?? [])];
    const stale = held.filter((filter) => !this.#wanted.has(filter));
    if (stale.length === 0) return false;
    await this.#inBatches(stale, async (batch) => {
      await transport.unsubscribe(batch);
      for (const filter of batch) this.#forget(filter);
    });
    return true;
  }

  /** Stops early when something changes: then the rest may not be wanted any more. */
  async #inBatches<T>(items: T[], send: (batch: T[]) => Promise<void>): Promise<void> {
    for (let at = 0; at < items.length && !this.#changed; at += BATCH)
      await send(items.slice(at, at + BATCH));
  }

  async #subscribe(transport: SubscriptionTransport, batch: [string, Qos][]): Promise<void> {
    const filters = Object.fromEntries(batch.map(([filter, qos]) => [filter, { qos }]));
    let codes: number[];
    try {
      const granted = await transport.subscribe(filters);
      codes = granted.map(({ qos }) => qos);
    } catch (error) {
      const packet = (error as { packet?: { granted?: number[] } }).packet;
      if (!packet?.granted) throw error;
      codes = packet.granted;
    }
    if (transport !== this.#transport) return;
    for (const [i, [filter, qos]] of batch.entries()) this.#settle(filter, qos, codes[i] ?? qos);
  }

  #settle(filter: string, qos: Qos, code: number): void {
    const refused = code >= REFUSED;
    if (refused) {
      this.#refused.add(filter);
      this.#events.refused(filter, `subscription refused (${code})`);
      this.#log.warn(`the broker refused the subscription ${filter} (${code})`);
      this.#retryLater();
    } else {
      this.#active.set(filter, qos);
    }
    const waiting = this.#waiting.get(filter);
    this.#waiting.delete(filter);
    for (const settled of waiting ?? []) settled(refused);
  }

  #retryLater(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.#refused.clear();
      void this.#sync().then(() => {
        if (this.#refused.size === 0 && this.#transport) {
          this.#backoff.reset();
          this.#events.healed();
        }
      });
    }, this.#backoff.next());
  }

  #forget(filter: string): void {
    this.#active.delete(filter);
    LEFT_BEHIND.get(this.#clientId)?.delete(filter);
  }
}
