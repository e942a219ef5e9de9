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

export class RequestTrials {
  readonly #window: Pick<PublishWindow<never>, 'narrow' | 'passOver' | 'reset' | 'widen'>;
  /** What one broker forbids is not held against another one of the list. */
  readonly #byBroker = new Map<string, ForbiddenRequests>();
  #forbidden = new ForbiddenRequests();
  /** While requests leave one by one. */
  #timer: NodeJS.Timeout | undefined;
  #steps = 0;
  /** One is to be sent to see: no others are to be lost with it. */
  #isForTrial = false;

  constructor(window: Pick<PublishWindow<never>, 'narrow' | 'passOver' | 'reset' | 'widen'>) {
    this.#window = window;
  }

  /** A connection begins. @param maxUnacknowledged see `PublishLimits` */
  connected(broker: string, maxUnacknowledged: number): void {
    this.#forbidden = this.#byBroker.get(broker) ?? new ForbiddenRequests();
    this.#byBroker.set(broker, this.#forbidden);
    const isForTrial = this.#isForTrial;
    this.close();
    this.#window.reset(maxUnacknowledged);
    if (isForTrial || this.#forbidden.hasDoubts) {
      this.#narrow(isForTrial);
    }
  }

  /** A request leaves as soon as it is its turn. */
  added(request: RequestTopic): void {
    const isTrial = this.#forbidden.isTrial(request);
    // What is forbidden does not leave.
    const mayLeave = isTrial || !this.#forbidden.isForbidden(request);
    if (mayLeave && (isTrial || this.#forbidden.isInDoubt(request))) {
      this.#narrow(isTrial);
    }
  }

  /** Milliseconds for which the broker would end the connection for it; 0: it may be sent. */
  waitOf(request: RequestTopic): number {
    return this.#forbidden.waitOf(request);
  }

  /** It is about to leave. */
  sent(request: RequestTopic): void {
    const isTrial = this.#timer !== undefined && this.#forbidden.isForbidden(request);
    this.#forbidden.sent(request);
    if (isTrial) {
      // Its acknowledgement shows what the broker makes of it.
      this.#window.narrow(false);
    }
  }

  /** The broker has taken it, or has refused it as it should. */
  acknowledged(request: RequestTopic): void {
    this.#forbidden.acknowledged(request);
    // Others that are forbidden with it may be taken, too, one after the other.
    this.#isForTrial &&= this.#forbidden.isAny;
    if (this.#timer && !this.#isForTrial && !this.#forbidden.isAnyInDoubt) {
      this.#widen();
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
    this.#isForTrial &&= !this.#forbidden.isTrying;
    return this.#forbidden.lost(unacknowledged);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isForTrial = false;
  }

  #narrow(isForTrial: boolean): void {
    const isForFirst = isForTrial && !this.#isForTrial;
    this.#isForTrial ||= isForTrial;
    if (this.#timer === undefined) {
      this.#steps = 0;
      this.#timer = setTimeout(() => this.#step(), STEP_MS);
      this.#window.narrow(isForTrial);
    } else if (isForFirst) {
      this.#window.narrow(true);
    }
  }

  #step(): void {
    if (++this.#steps === MAX_STEPS) {
      this.#widen();
    } else {
      this.#timer = setTimeout(() => this.#step(), STEP_MS);
      this.#window.passOver();
    }
  }

  #widen(): void {
    this.close();
    this.#window.widen();
  }
}
