// When the broker last showed that it is there: a connection that died without a word is noticed late.

import { performance } from 'node:perf_hooks';

/** Whatever came so long ago shows that it is there. */
const FRESH_MS = 2_000;
/** A connection is ended after one and a half times its keep alive. */
const MAX_WAIT_MS_PER_S = 1_500;
/** Seconds in place of a keep alive of 0, with which no connection is ended. */
const DEFAULT_KEEPALIVE = 60;

/** What this needs of a client of MQTT.js. */
interface Client {
  sendPing(): void;
  on(event: 'packetreceive', listener: () => void): unknown;
}

/** Of one connection after the other. */
export class SignsOfLife {
  #client: Client | undefined;
  #maxWaitMs = 0;
  /** In milliseconds of `performance.now()`; infinite before the first connection. */
  #seenAt = Number.POSITIVE_INFINITY;
  #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** A connection begins. @param keepalive seconds */
  connected(client: Client, keepalive: number): void {
    this.#client = client;
    this.#maxWaitMs = (keepalive || DEFAULT_KEEPALIVE) * MAX_WAIT_MS_PER_S;
    client.on('packetreceive', () => client === this.#client && this.seen());
    this.seen();
  }

  disconnected(): void {
    this.#client = undefined;
    this.#stopTimer();
  }

  /** Until then it was there for certain, in milliseconds of `performance.now()`; infinite before the first connection. */
  get until(): number {
    return this.#seenAt + FRESH_MS;
  }

  /**
   * Calls back when `until` is not over: at once, or when anything has come from the broker, which is sent a ping, or it is
   * back. Where nothing comes and it is not given up, as without a keep alive, it is taken to be there after a while.
   */
  whenThere(call: () => void): void {
    if (performance.now() <= this.until) {
      call();
      return;
    }
    this.#waiting.push(call);
    this.ask();
  }

  /** Sends the broker a ping where nothing has come for a while and none is under way: `until` goes on with the response. */
  ask(): void {
    if (this.#client && this.#timer === undefined && performance.now() > this.until) {
      this.#timer = setTimeout(() => this.seen(), this.#maxWaitMs).unref();
      this.#client.sendPing();
    }
  }

  /** Something has come. */
  seen(): void {
    this.#seenAt = performance.now();
    this.#stopTimer();
    // Runs for every packet, of which hardly any is waited for.
    if (this.#waiting.length > 0) {
      // What came is handled first: it may be the report that somebody would be missing.
      for (const call of this.#waiting.splice(0)) {
        setImmediate(call);
      }
    }
  }

  #stopTimer(): void {
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
  }
}
