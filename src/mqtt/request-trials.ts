// Sends requests one by one for a while, where it has to be known for which one a broker ends the connection.
import {
  type Culprit,
  ForbiddenRequests,
  type RequestTopic,
  type Unacknowledged,
} from './forbidden-requests.ts';
import type { PublishWindow } from './publish-window.ts';

/** Within this time a broker acknowledges what it takes, and a gateway answers, or perhaps never. In milliseconds. */
const STEP_MS = 5_000;
const MAX_STEPS = 12;

type Window = Pick<
  PublishWindow<never>,
  'awaitResponses' | 'isAwaiting' | 'narrow' | 'passOver' | 'reset' | 'widen'
>;

export class RequestTrials {
  readonly #window: Window;
  /** What one broker forbids is not held against another one of the list. */
  readonly #byBroker = new Map<string, ForbiddenRequests>();
  #forbidden = new ForbiddenRequests();
  /** While requests leave one by one. */
  #timer: NodeJS.Timeout | undefined;
  #stepsLeft = 0;
  /** They do for those in doubt. */
  #isSearching = false;

  constructor(window: Window) {
    this.#window = window;
  }

  /** A connection begins. @param maxUnacknowledged see `PublishLimits` */
  connected(broker: string, maxUnacknowledged: number): void {
    this.#forbidden = this.#byBroker.get(broker) ?? new ForbiddenRequests();
    this.#byBroker.set(broker, this.#forbidden);
    this.close();
    this.#window.reset(maxUnacknowledged);
    if (this.#forbidden.hasDoubts) {
      this.#narrow();
    }
  }

  /** A request leaves as soon as it is its turn. */
  added(request: RequestTopic): void {
    // What is forbidden does not leave, or only to see.
    if (this.#forbidden.isInDoubt(request) && !this.#forbidden.isForbidden(request)) {
      this.#narrow();
    }
  }

  /** Whether it would be sent to see. */
  isTrial(request: RequestTopic): boolean {
    return this.#forbidden.isTrial(request);
  }

  /** One is to be sent to see. @param send called when no others would be lost with it, perhaps at once */
  begin(send: () => void): void {
    this.#startStep(1);
    this.#window.awaitResponses(send);
  }

  /** Call when that one has left, or has ended before. */
  end(): void {
    if (!this.#window.isAwaiting && !this.#forbidden.isTrying && !this.#forbidden.isAnyInDoubt) {
      this.#widen();
    }
  }

  /** Milliseconds for which the broker would end the connection for it; 0: it may be sent. */
  waitOf(request: RequestTopic): number {
    return this.#forbidden.waitOf(request);
  }

  /** It is about to leave. */
  sent(request: RequestTopic): void {
    const isTrial = this.#forbidden.isForbidden(request);
    this.#forbidden.sent(request);
    if (isTrial) {
      // Its acknowledgement shows what the broker makes of it.
      this.#startStep(1);
      this.#window.narrow();
    }
  }

  /** The broker has taken it, or has refused it as it should. */
  acknowledged(request: RequestTopic): void {
    this.#forbidden.acknowledged(request);
    if (this.#timer) {
      this.end();
    }
  }

  /** Whether the broker ends the connection for any. */
  get isAny(): boolean {
    return this.#forbidden.isAny;
  }

  /** With QoS 0 the response alone shows that the broker has taken it. */
  answered(request: RequestTopic): void {
    if (this.#forbidden.isForbidden(request)) {
      this.acknowledged(request);
    }
  }

  /** See `ForbiddenRequests.lost`. */
  lost(unacknowledged: readonly Unacknowledged[]): Culprit | undefined {
    return this.#forbidden.lost(unacknowledged);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stepsLeft = 0;
    this.#isSearching = false;
  }

  #narrow(): void {
    if (!this.#isSearching) {
      this.#isSearching = true;
      this.#startStep(MAX_STEPS);
      this.#window.narrow();
    }
  }

  /** @param steps so many at least until all leave as ever, with this one */
  #startStep(steps: number): void {
    clearTimeout(this.#timer);
    this.#stepsLeft = Math.max(this.#stepsLeft, steps);
    this.#timer = setTimeout(() => this.#step(), STEP_MS);
  }

  #step(): void {
    if (--this.#stepsLeft <= 0) {
      this.#widen();
    } else {
      this.#startStep(0);
      this.#window.passOver();
    }
  }

  #widen(): void {
    this.close();
    this.#window.widen();
  }
}
