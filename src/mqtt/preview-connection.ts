// The broker connection of people who look. What they look through would fill the queue that the broker has for flows, so
// that it drops what these want; and what it forbids them would end the flows' connection.
import { SILENT } from '../log.ts';
import type { Topics } from '../protocol/topics.ts';
import type { MqttSettings } from '../settings.ts';
import { type Backoff, createBackoff } from './backoff.ts';
import { besideId } from './client-id.ts';
import { Connection } from './connection.ts';
import { InboundQueue } from './inbound-queue.ts';
import type { Consequence } from './reasons.ts';
import { askForSession } from './session-question.ts';
import type { MqttState } from './state.ts';

/** Longer than an attempt to connect may take. */
const MAX_ASKING_MS = 15_000;
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
  /** The broker is asked whose session it gives, which may end the flows' connection. */
  asks(): void;
  /** @param isTaken it has given the flows' session to this connection, which has left */
  asked(isTaken: boolean): void;
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
 * after it was opened. It is never opened at a broker that gives it the flows' session: it begins without a session, which
 * would delete what waits there for flows.
 */
export class PreviewConnection {
  readonly #settings: MqttSettings;
  readonly #connection: Connection;
  readonly #inbound: InboundQueue;
  readonly #events: PreviewEvents;
  readonly #backoff: Backoff = createBackoff(FIRST_REST_MS, LAST_REST_MS);
  #filters: ReadonlySet<string> = new Set();
  /** The address of the flows' connection, while that is up. */
  #beside: string | undefined;
  #isOpen = false;
  #asking: Promise<void> | undefined;
  /** The broker takes the client id of the flows for this connection, too. */
  #isOfFlows = false;
  /** The broker has ended it, or does not take it. */
  #isRefused = false;
  /** So often in a row the flows' connection has ended just after this one was opened. */
  #conflicts = 0;
  /** In milliseconds of `performance.now()`. */
  #openedAt = 0;
  #rest: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  readonly #closing = new AbortController();

  constructor(settings: MqttSettings, topics: Topics, events: PreviewEvents) {
    this.#settings = settings;
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
    // Its losses are told to those who look, and are no news to those who do not.
    const own = { clientId: besideId(settings.clientId), persistent: false, sharedGroup: '' };
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

  /** @param url the address of the flows' connection; undefined: that is not up */
  setBeside(url: string | undefined): void {
    if (url === this.#beside) {
      return;
    }
    this.#beside = url;
    if (url === undefined && (this.#isOpen || this.#asking !== undefined)) {
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
    const { subscriptions } = this.#connection;
    return (
      this.#filters.has(filter) && (this.#isOfFlows || this.#isRefused || subscriptions.isRefused(filter))
    );
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#isOpen = false;
    clearTimeout(this.#rest);
    clearTimeout(this.#idle);
    this.#inbound.discard();
    await Promise.all([this.#connection.close(), this.#asking]);
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
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
    } else if (!this.#isOpen && this.#asking === undefined && !this.#isOfFlows && this.#rest === undefined) {
      this.#start();
    }
  }

  #start(): void {
    const url = this.#beside;
    if (url === undefined) {
      return;
    }
    this.#isRefused = false;
    this.#openedAt = performance.now();
    // What is not persistent ends with the connection of flows anyway.
    if (this.#settings.persistent) {
      this.#asking = this.#ask(url);
    } else {
      this.#open(url);
    }
  }

  #open(url: string): void {
    this.#isOpen = true;
    this.#connection.open(url);
  }

  /** Costs flows an interruption at most, and nothing of what the broker keeps for them. */
  async #ask(url: string): Promise<void> {
    const deadline = performance.now() + MAX_ASKING_MS;
    this.#events.asks();
    const found = await askForSession(this.#settings, url, deadline, this.#closing);
    this.#asking = undefined;
    this.#events.asked(found === 'kept');
    if (this.#isClosed) {
      return;
    }
    const isWanted = url === this.#beside && this.#filters.size > 0 && this.#rest === undefined;
    if (found === 'none') {
      if (isWanted) {
        this.#open(url);
      }
    } else if (found === 'kept') {
      this.#isOfFlows = true;
    } else if (this.#rest === undefined) {
      this.#failed('consequence' in found ? found.consequence : 'retry');
    }
    this.#update();
    this.#events.changed();
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
      if (performance.now() - this.#openedAt >= LASTING_MS) {
        this.#hasLasted();
      }
      this.#failed(state.reason.consequence);
    }
    this.#events.changed();
  }

  #failed(consequence: Consequence): void {
    // A broker that goes away itself refuses nothing.
    this.#isRefused = consequence === 'retry' || consequence === 'refused';
    this.#startRest(this.#backoff.next());
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
