// What comes from the broker, sorted by channel; reports wait while flows are replaced or cannot keep up.
import type { ParsedTopic, Topics } from '../protocol/topics.ts';
import { Turns } from './turns.ts';

/** Whoever holds must let go: a hold that is forgotten ends by itself. Node-RED gives a node 15 s to close. */
const MAX_HOLD_MS = 20_000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** What a waiting report takes beside its payload and its topic. */
const OVERHEAD_BYTES = 250;
/** The front of the queue is cut off when so many have left it. */
const MAX_GONE = 10_000;
/** An overload is over when nothing was lost for so long. */
const CALM_AFTER = 10_000;

export interface IntakeTargets {
  report(topic: string, payload: Buffer, retained: boolean): void;
  response(at: ParsedTopic, payload: Buffer, retained: boolean, topic: string): void;
  /** A hold has ended; what waited follows. */
  released(): void;
  /** Nothing waits any more. */
  drained(): void;
  /** How many reports the present overload has cost so far; 0: it is over. */
  lost(count: number): void;
}

interface Waiting {
  topic: string;
  payload: Buffer;
  retained: boolean;
  /** Called when the report is delivered, so that the broker keeps it until then; QoS 0: nothing to call. */
  done: Done | undefined;
}

/** With an error: not delivered, and not to be acknowledged. */
type Done = (error?: Error) => void;

/**
 * A report of QoS 1 is acknowledged when it is delivered; as long as it waits, the connection reads no further and the
 * broker holds what follows. A report of QoS 0 waits in memory instead, within a bound: it is the one that the sender
 * allows to be lost, and the newest are worth more to a rule than the oldest.
 */
export class Intake {
  readonly #topics: Topics;
  readonly #targets: IntakeTargets;
  readonly #maxBytes: number;
  #queue: Waiting[] = [];
  #head = 0;
  #bytes = 0;
  readonly #turns = new Turns(() => this.#drain());
  #held = false;
  #deadline: NodeJS.Timeout | undefined;
  #lost = 0;
  #calm: NodeJS.Timeout | undefined;

  /** @param maxBytes memory of the reports of QoS 0 that wait; beyond it the oldest are lost */
  constructor(topics: Topics, targets: IntakeTargets, maxBytes = MAX_WAITING_BYTES) {
    this.#topics = topics;
    this.#targets = targets;
    this.#maxBytes = maxBytes;
  }

  take(topic: string, payload: Buffer, qos: number, retained: boolean, done: Done): void {
    const response = this.#topics.parseResponse(topic);
    if (response !== undefined) {
      this.#targets.response(response, payload, retained, topic);
      done();
    } else if (this.#mustWait) {
      this.#wait({ topic, payload, retained, done: qos === 0 ? undefined : done });
      if (qos === 0) {
        done();
      }
    } else {
      this.#turns.give();
      this.#targets.report(topic, payload, retained);
      done();
    }
  }

  /** Nothing waits. */
  get isEmpty(): boolean {
    return this.#queue.length === this.#head;
  }

  /** A report of QoS 1 waits: until it is delivered the connection reads nothing more. */
  get isBlocked(): boolean {
    return !this.isEmpty && this.#queue.at(-1)?.done !== undefined;
  }

  get held(): boolean {
    return this.#held;
  }

  hold(): void {
    this.#held = true;
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.release(), MAX_HOLD_MS);
    this.#deadline.unref();
  }

  release(): void {
    clearTimeout(this.#deadline);
    this.#held = false;
    this.#targets.released();
    this.#drain();
  }

  /**
   * Forgets what waits and releases what holds up the connection: QoS 1 is not acknowledged, so a persistent session
   * gets it again.
   */
  drop(): void {
    clearTimeout(this.#deadline);
    clearTimeout(this.#calm);
    const dropped = this.#queue.slice(this.#head);
    this.#queue = [];
    this.#head = 0;
    this.#bytes = 0;
    for (const { done } of dropped) {
      done?.(new Error('the connection is being closed'));
    }
  }

  get #mustWait(): boolean {
    return this.#held || this.#turns.isFull || this.#queue.length > this.#head;
  }

  #wait(report: Waiting): void {
    this.#queue.push(report);
    this.#bytes += sizeOf(report);
    // What is not acknowledged yet holds up the connection, so that nothing comes behind it.
    while (this.#bytes > this.#maxBytes && this.#queue[this.#head]?.done === undefined) {
      this.#lose();
    }
    this.#compact();
  }

  #lose(): void {
    this.#bytes -= sizeOf(this.#queue[this.#head++] as Waiting);
    this.#lost++;
    if (this.#lost === 1) {
      this.#targets.lost(1);
    }
    this.#calm ??= setTimeout(() => this.#calmDown(this.#lost), CALM_AFTER).unref();
  }

  /** Tells the number now and then, and the end. */
  #calmDown(before: number): void {
    const goesOn = this.#lost > before || this.#queue.length > this.#head;
    this.#calm = goesOn ? setTimeout(() => this.#calmDown(this.#lost), CALM_AFTER).unref() : undefined;
    this.#targets.lost(this.#lost);
    if (goesOn) {
      return;
    }
    this.#lost = 0;
    this.#targets.lost(0);
  }

  #drain(): void {
    if (this.isEmpty) {
      return;
    }
    while (this.#head < this.#queue.length && !this.#held && !this.#turns.isFull) {
      const report = this.#queue[this.#head++] as Waiting;
      const { topic, payload, retained, done } = report;
      this.#bytes -= sizeOf(report);
      this.#turns.give();
      this.#targets.report(topic, payload, retained);
      done?.();
    }
    this.#compact();
    if (this.isEmpty) {
      this.#targets.drained();
    }
  }

  #compact(): void {
    if (this.#head === this.#queue.length) {
      this.#queue = [];
    } else if (this.#head > MAX_GONE) {
      this.#queue = this.#queue.slice(this.#head);
    } else {
      return;
    }
    this.#head = 0;
  }
}

function sizeOf({ topic, payload }: Waiting): number {
  return payload.length + topic.length + OVERHEAD_BYTES;
}
