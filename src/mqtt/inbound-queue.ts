// What comes from the broker, sorted by channel; reports wait while flows are replaced or cannot keep up.
import { Queue } from '../collections/queue.ts';
import { TurnBudget } from '../collections/turn-budget.ts';
import type { Deferrable } from '../protocol/deferral.ts';
import { oneLine } from '../protocol/text.ts';
import type { ParsedTopic, Topics } from '../protocol/topics.ts';
import type { Done } from './connection-events.ts';

/** Whoever holds must let go: a hold that is forgotten ends by itself. Node-RED gives a node 15 s to close. */
const MAX_PAUSE_MS = 20_000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** What a waiting report takes beside its payload and its topic. */
const OVERHEAD_BYTES = 250;
/** An overload is over when nothing was lost for so long. */
const OVERLOAD_END_MS = 10_000;

export interface InboundHandlers {
  /** @param deferrable lets it be acknowledged later @returns whether it is */
  report(topic: string, payload: Buffer, retained: boolean, deferrable: Deferrable | undefined): boolean;
  response(at: ParsedTopic, payload: Buffer, retained: boolean, topic: string): void;
  /** Reports go on, and what waited follows. @param isReady false: nobody has said so, it took too long */
  resumed(isReady: boolean): void;
  /** Nothing waits any more. */
  drained(): void;
  /** How many reports the present overload has cost so far; 0: it is over. */
  lost(count: number): void;
  /** A report that had waited could not be handled: a mistake of ours, which must not end somebody else's runtime. */
  failed(topic: string, fault: unknown): void;
}

interface QueuedReport {
  topic: string;
  payload: Buffer;
  retained: boolean;
  /** Called when the report is delivered, so that the broker keeps it until then; QoS 0: nothing to call. */
  done: Done | undefined;
  deferrable: Deferrable | undefined;
}

/** With an error: not delivered, and not to be acknowledged. */
/**
 * A report of QoS 1 is acknowledged when it is delivered; as long as it waits, the connection reads no further and the
 * broker holds what follows. A report of QoS 0 waits in memory instead, within a bound: it is the one that the sender
 * allows to be lost, and the newest are worth more to a rule than the oldest.
 */
export class InboundQueue {
  readonly #topics: Topics;
  readonly #handlers: InboundHandlers;
  readonly #maxBytes: number;
  /** Of QoS 1 and lost connections, older than what is in the queue. Perhaps nobody sends them again. */
  readonly #kept = new Queue<QueuedReport>();
  readonly #queue = new Queue<QueuedReport>();
  /** Until it is delivered, the connection reads nothing more. */
  #blocking: QueuedReport | undefined;
  #bytes = 0;
  readonly #budget = new TurnBudget(() => this.#drain());
  #isPaused = false;
  /** Infinite while nothing is read. */
  #readsSince = 0;
  /** Since when reports of QoS 1 wait turn after turn, and for how long they have before. */
  #heldSince: number | undefined;
  #heldMs = 0;
  #deadline: NodeJS.Timeout | undefined;
  #lost = 0;
  #overloadTimer: NodeJS.Timeout | undefined;

  /** @param maxBytes memory of the reports of QoS 0 that wait; beyond it the oldest are lost */
  constructor(topics: Topics, targets: InboundHandlers, maxBytes = MAX_WAITING_BYTES) {
    this.#topics = topics;
    this.#handlers = targets;
    this.#maxBytes = maxBytes;
  }

  /** @param deferrable of QoS 1, in place of `done`: the message is acknowledged later */
  receive(
    topic: string,
    payload: Buffer,
    qos: number,
    retained: boolean,
    done: Done,
    deferrable?: Deferrable,
  ): void {
    const response = this.#topics.parseResponse(topic);
    if (response !== undefined) {
      this.#handlers.response(response, payload, retained, topic);
      done(undefined, true);
    } else if (this.#mustWait) {
      if (qos > 0) {
        this.#enqueue({ topic, payload, retained, done, deferrable });
      } else {
        // A payload of its own: a received one keeps the whole chunk alive that it came in.
        this.#enqueue({ topic, payload: Buffer.from(payload), retained, done: undefined, deferrable });
        done();
      }
    } else {
      this.#budget.spend();
      if (!this.#handlers.report(topic, payload, retained, deferrable)) {
        done();
      }
    }
  }

  /** Nothing waits. */
  get isEmpty(): boolean {
    return this.#queue.size === 0 && this.#kept.size === 0;
  }

  /** A report of QoS 1 waits, so that the connection reads nothing more. */
  get isBlocked(): boolean {
    return this.#blocking !== undefined;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /**
   * Since when the connection reads, in milliseconds of `performance.now()`: now, as long as it does not since flows are
   * replaced and a report waits for them. Only from then on can be missed what the broker sends.
   */
  get readsSince(): number {
    return Math.min(this.#readsSince, performance.now());
  }

  /**
   * For how many milliseconds, all in all, flows were behind: reports of QoS 1 have waited in each turn, so that what the
   * broker sends is read that much later.
   */
  get heldMs(): number {
    return this.#heldMs + (this.#heldSince === undefined ? 0 : performance.now() - this.#heldSince);
  }

  /** The connection is lost: the next one reads until it brings a report. */
  disconnected(): void {
    this.#blocking = undefined;
    this.#caughtUp();
    this.#readOn();
  }

  pause(): void {
    this.#isPaused = true;
    if (this.isBlocked) {
      this.#readsSince = Number.POSITIVE_INFINITY;
    }
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#end(false), MAX_PAUSE_MS);
    this.#deadline.unref();
  }

  resume(): void {
    this.#end(true);
  }

  /**
   * Forgets what waits and releases what holds up the connection: QoS 1 is not acknowledged, so a persistent session
   * gets it again.
   */
  discard(): void {
    clearTimeout(this.#deadline);
    clearTimeout(this.#overloadTimer);
    this.#bytes = 0;
    this.#blocking = undefined;
    this.#caughtUp();
    for (const { done } of [...this.#kept.clear(), ...this.#queue.clear()]) {
      done?.(new Error('the connection is being closed'));
    }
  }

  #end(isReady: boolean): void {
    clearTimeout(this.#deadline);
    this.#isPaused = false;
    this.#readOn();
    this.#handlers.resumed(isReady);
    this.#drain();
  }

  #readOn(): void {
    if (this.#readsSince === Number.POSITIVE_INFINITY) {
      this.#readsSince = performance.now();
    }
  }

  #caughtUp(): void {
    this.#heldMs = this.heldMs;
    this.#heldSince = undefined;
  }

  get #mustWait(): boolean {
    return this.#isPaused || this.#budget.isSpent || !this.isEmpty;
  }

  #enqueue(report: QueuedReport): void {
    this.#queue.push(report);
    this.#bytes += sizeOf(report);
    if (report.done) {
      this.#blocking = report;
      this.#heldSince ??= performance.now();
      if (this.#isPaused) {
        this.#readsSince = Number.POSITIVE_INFINITY;
      }
    }
    while (this.#bytes > this.#maxBytes && this.#queue.first !== this.#blocking) {
      const oldest = this.#queue.shift() as QueuedReport;
      if (oldest.done) {
        // Each lost connection has left one at most.
        this.#kept.push(oldest);
      } else {
        this.#lose(oldest);
      }
    }
  }

  #lose(report: QueuedReport): void {
    this.#bytes -= sizeOf(report);
    this.#lost++;
    if (this.#lost === 1) {
      this.#handlers.lost(1);
    }
    this.#overloadTimer ??= this.#checkLater();
  }

  #checkLater(): NodeJS.Timeout {
    const before = this.#lost;
    return setTimeout(() => this.#checkOverload(before), OVERLOAD_END_MS).unref();
  }

  /** Tells the number now and then, and the end. */
  #checkOverload(before: number): void {
    const goesOn = this.#lost > before || !this.isEmpty;
    this.#overloadTimer = goesOn ? this.#checkLater() : undefined;
    this.#handlers.lost(this.#lost);
    if (goesOn) {
      return;
    }
    this.#lost = 0;
    this.#handlers.lost(0);
  }

  #drain(): void {
    if (!this.isBlocked) {
      this.#caughtUp();
    }
    if (this.isEmpty) {
      return;
    }
    while (!this.isEmpty && !this.#isPaused && !this.#budget.isSpent) {
      const report = (this.#kept.shift() ?? this.#queue.shift()) as QueuedReport;
      if (report === this.#blocking) {
        this.#blocking = undefined;
      }
      this.#bytes -= sizeOf(report);
      this.#budget.spend();
      if (!this.#give(report)) {
        report.done?.();
      }
    }
    if (this.isEmpty) {
      this.#handlers.drained();
    }
  }

  /** @returns whether it is acknowledged later */
  #give({ topic, payload, retained, deferrable }: QueuedReport): boolean {
    try {
      return this.#handlers.report(topic, payload, retained, deferrable);
    } catch (fault) {
      this.#handlers.failed(oneLine(topic), fault);
      return false;
    }
  }
}

function sizeOf({ topic, payload }: QueuedReport): number {
  return payload.length + topic.length + OVERHEAD_BYTES;
}
