// The broker connection of people who look. What they look through would fill the queue that the broker has for flows, so
// that it drops what these want; and what it forbids them would end the flows' connection.
import { SILENT } from '../log.ts';
import type { Topics } from '../protocol/topics.ts';
import type { MqttSettings } from '../settings.ts';
import { type Backoff, createBackoff } from './backoff.ts';
import { besideId } from './client-id.ts';
import { Connection } from './connection.ts';
import { InboundQueue } from './inbound-queue.ts';
import type { MqttState } from './state.ts';

const FIRST_REST_MS = 10_000;
const LAST_REST_MS = 300_000;
/** So soon after it was opened, the end of the flows' connection may be because of it. */
const CONFLICT_MS = 10_000;
/** A broker that allows one connection has ended that of the flows so often in a row. */
const MAX_CONFLICTS = 2;
const CONFLICT_REST_MS = 3_600_000;
/** A connection that lasts so long beside that of the flows is no trouble to the broker. */
const LASTING_MS = 60_000;
/** A panel that has its sample asks again some seconds later, and needs no new connection then. */
const IDLE_MS = 20_000;
/** Whoever looks may miss something: the newest are kept. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

export interface PreviewEvents {
  /** Of a report topic. */
  message(topic: string, payload: Buffer, retained: boolean): void;
  /** More or less is granted or refused than before. */
  changed(): void;
  /** The broker takes no more than so many filters; infinite when no number is known. */
  quota(max: number): void;
}

/**
 * It is there while something is looked through and the flows' connection is up. Its client id begins like that of the
 * settings, because rules of brokers judge by it. What it is subscribed to has QoS 0, and nothing of it is kept at the broker.
 * When it is lost, it rests for 10 seconds, doubling to 5 minutes; for an hour, when the flows' connection was lost twice just
 * after it was opened.
 */
export class PreviewConnection {
  readonly #connection: Connection;
  readonly #inbound: InboundQueue;
  readonly #events: PreviewEvents;
  readonly #backoff: Backoff = createBackoff(FIRST_REST_MS, LAST_REST_MS);
  #filters: ReadonlySet<string> = new Set();
  #isBeside = false;
  #isOpen = false;
  /** The broker has ended it, or does not take it. */
  #isRefused = false;
  /** So often in a row the flows' connection has ended just after this one was opened. */
  #conflicts = 0;
  /** In milliseconds of `performance.now()`. */
  #openedAt = 0;
  #rest: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(settings: MqttSettings, topics: Topics, events: PreviewEvents) {
    this.#events = events;
    this.#inbound = new InboundQueue(
      topics,
      {
        report: (topic, payload, retained) => {
          events.message(topic, payload, retained);
          return false;
        },
        response() {},
        resumed() {},
        drained() {},
        lost() {},
        failed() {},
      },
      MAX_WAITING_BYTES,
    );
    const own = { clientId: besideId(settings.clientId), persistent: false, sharedGroup: '' };
    // Its losses are told to those who look, and are no news to those who do not.
    this.#connection = new Connection({ ...settings, ...own }, SILENT, {
      state: (state) => this.#stateChanged(state),
      message: (topic, payload, qos, retained, done) =>
        this.#inbound.receive(topic, payload, qos, retained, done),
      subscribed: () => events.changed(),
      quota: (max) => events.quota(max),
      isReportFilter: () => true,
      session() {},
      lowerQos() {},
      refusing() {},
      isBlocked: () => false,
      underWay: () => 0,
    });
  }

  /** Asks for these filters, and for no others any more. */
  apply(filters: readonly string[]): void {
    const wanted = new Set(filters);
    const old = [...this.#filters].filter((filter) => !wanted.has(filter));
    const added = filters.filter((filter) => !this.#filters.has(filter));
    this.#filters = wanted;
    if (added.length + old.length > 0) {
      this.#connection.subscriptions.change(added, 0, old);
      this.#update();
    }
  }

  /** @param isConnected the flows' connection is up */
  setBeside(isConnected: boolean): void {
    if (isConnected === this.#isBeside) {
      return;
    }
    this.#isBeside = isConnected;
    if (!isConnected && this.#isOpen) {
      this.#flowsLost();
    }
    this.#update();
  }

  /** Whether the broker brings what this filter asks for. */
  isGranted(filter: string): boolean {
    return this.#isOpen && this.#connection.subscriptions.isActive(filter);
  }

  /** Whether the broker has refused this filter, or a connection to ask for it. */
  isRefused(filter: string): boolean {
    return this.#filters.has(filter) && (this.#isRefused || this.#connection.subscriptions.isRefused(filter));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isOpen = false;
    clearTimeout(this.#rest);
    clearTimeout(this.#idle);
    this.#inbound.discard();
    await this.#connection.close();
  }

  #update(): void {
    clearTimeout(this.#idle);
    if (this.#isClosed) {
      return;
    }
    if (this.#filters.size === 0) {
      if (this.#isOpen) {
        this.#idle = setTimeout(() => this.#leave(), IDLE_MS).unref();
      }
    } else if (this.#isBeside && !this.#isOpen && this.#rest === undefined) {
      this.#isOpen = true;
      this.#isRefused = false;
      this.#openedAt = performance.now();
      this.#connection.open();
    }
  }

  #leave(): void {
    this.#isOpen = false;
    void this.#connection.disconnect();
  }

  /** A broker that allows one connection may have ended that of the flows because of this one. */
  #flowsLost(): void {
    const ageMs = performance.now() - this.#openedAt;
    if (ageMs >= LASTING_MS) {
      this.#hasLasted();
    }
    // Where nobody looks, the flows' connection ends because nobody needs it.
    if (ageMs >= CONFLICT_MS || this.#filters.size === 0) {
      this.#leave();
      return;
    }
    this.#conflicts++;
    this.#isRefused = this.#conflicts >= MAX_CONFLICTS;
    this.#startRest(this.#isRefused ? CONFLICT_REST_MS : this.#backoff.next());
  }

  #hasLasted(): void {
    this.#backoff.reset();
    this.#conflicts = 0;
  }

  #stateChanged(state: MqttState): void {
    if (this.#isOpen && (state.name === 'waiting' || state.name === 'refused')) {
      // A broker that goes away itself refuses nothing.
      this.#isRefused = state.reason.consequence === 'retry' || state.name === 'refused';
      if (performance.now() - this.#openedAt >= LASTING_MS) {
        this.#hasLasted();
      }
      this.#startRest(this.#backoff.next());
    }
    this.#events.changed();
  }

  #startRest(ms: number): void {
    this.#isOpen = false;
    // Not at once: this may be the connection that tells of its end.
    setImmediate(() => {
      if (!this.#isOpen && !this.#isClosed) {
        void this.#connection.disconnect();
      }
    });
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      this.#rest = undefined;
      this.#isRefused = false;
      this.#update();
    }, ms).unref();
  }
}
