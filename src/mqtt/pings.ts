// Pings of one connection after the other: when they are due though much is received, or nothing is read, and how long the
// response takes.

import { performance } from 'node:perf_hooks';
import { PingCounts, type PingSource } from './ping-counts.ts';
import { SignsOfLife } from './signs-of-life.ts';

/** Half of the keep alive, for its seconds in milliseconds. */
const HALF_SECOND_MS = 500;

/** What this needs of a client of MQTT.js. */
export interface PingedClient extends PingSource {
  sendPing(): void;
  reschedulePing(force?: boolean): void;
  off(event: 'packetreceive', listener: () => void): unknown;
}

export class Pings {
  /** Of the same connections. */
  readonly signs = new SignsOfLife();
  readonly #isBlocked: () => boolean;
  #connection: { client: PingedClient; counts: PingCounts } | undefined;
  /** Seconds between pings; 0: none are sent but to measure. */
  #keepalive = 0;
  /** In milliseconds of `performance.now()`. */
  #pingedAt = 0;
  #measuring: Promise<number | undefined> | undefined;
  #endMeasuring: () => void = () => undefined;
  #blockedTimer: NodeJS.Timeout | undefined;

  /** @param isBlocked whether a message was not taken yet, so that nothing behind it is read */
  constructor(isBlocked: () => boolean) {
    this.#isBlocked = isBlocked;
  }

  /** A connection begins. @param keepalive seconds @returns of its pings */
  connected(client: PingedClient, keepalive: number): PingCounts {
    const counts = new PingCounts(client);
    this.#connection = { client, counts };
    this.#keepalive = keepalive;
    this.#pingedAt = performance.now();
    this.signs.connected(client, keepalive);
    return counts;
  }

  disconnected(): void {
    this.#connection = undefined;
    this.#endMeasuring();
    this.signs.disconnected();
    this.unblocked();
  }

  /** A message was given on. Nothing more is read while it is not taken, neither the response to a ping. */
  received(): void {
    if (this.#isBlocked()) {
      this.#pingWhileBlocked();
    }
  }

  /** Nothing is held any more that the connection waits for. */
  unblocked(): void {
    clearTimeout(this.#blockedTimer);
    this.#blockedTimer = undefined;
  }

  /**
   * What the broker sends is a sign of life. The response to a ping may wait behind it for long when flows are slow, and
   * must not be missed then; the broker for its part needs pings all the same.
   */
  pingIfDue(): void {
    const now = performance.now();
    if (this.#keepalive > 0 && now - this.#pingedAt > this.#keepalive * HALF_SECOND_MS) {
      this.#showLife(now);
    }
  }

  /**
   * Milliseconds until the broker answered a ping; undefined when it did not in this time, or is not connected. Who asks
   * while another ping is under way gets the result of that one.
   */
  measure(maxMs: number): Promise<number | undefined> {
    if (!this.#connection) {
      return Promise.resolve(undefined);
    }
    const { client, counts } = this.#connection;
    this.#measuring ??= this.#measure(client, counts, maxMs).finally(() => {
      this.#measuring = undefined;
    });
    return this.#measuring;
  }

  /** Sends one, also where none are due. What is sent shows nothing of the broker: when it is given up stays as it is. */
  ping(): void {
    this.#connection?.client.sendPing();
  }

  #measure(client: PingedClient, counts: PingCounts, maxMs: number): Promise<number | undefined> {
    const start = performance.now();
    const pings = counts.fromNow();
    return new Promise((resolve) => {
      const end = (ms: number | undefined) => {
        clearTimeout(timer);
        client.off('packetreceive', look);
        resolve(ms);
      };
      const look = () => {
        if (pings.isAnswered()) {
          end(Math.round(performance.now() - start));
        }
      };
      const timer = setTimeout(() => end(undefined), maxMs);
      client.on('packetreceive', look);
      this.#endMeasuring = () => end(undefined);
      this.ping();
    });
  }

  /** Of the broker, or nothing is read that could show it: it has the whole time again, from a ping on. */
  #showLife(now: number): void {
    this.#pingedAt = now;
    this.ping();
    this.#connection?.client.reschedulePing(true);
  }

  #pingWhileBlocked(): void {
    if (this.#blockedTimer || this.#keepalive === 0) {
      return;
    }
    this.#blockedTimer = setTimeout(() => {
      this.#blockedTimer = undefined;
      if (this.#connection && this.#isBlocked()) {
        this.#showLife(performance.now());
        this.#pingWhileBlocked();
      }
    }, this.#keepalive * HALF_SECOND_MS).unref();
  }
}
