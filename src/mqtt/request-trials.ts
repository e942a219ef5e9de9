// Sends requests one by one for a while, where it has to be known for which one a broker ends the connection.
import { ForbiddenRequests, type RequestTopic, type Unacknowledged } from './forbidden-requests.ts';
import type { PublishWindow } from './publish-window.ts';

const MAX_NARROW_MS = 60_000;

export class RequestTrials {
  readonly #window: Pick<PublishWindow<never>, 'limit' | 'reset'>;
  readonly #forbidden = new ForbiddenRequests();
  /** Of the broker, see `PublishLimits`. */
  #maxUnacknowledged = Number.POSITIVE_INFINITY;
  /** While requests leave one by one. */
  #timer: NodeJS.Timeout | undefined;
  /** One is to be sent to see: no others are to be lost with it. */
  #isForTrial = false;

  constructor(window: Pick<PublishWindow<never>, 'limit' | 'reset'>) {
    this.#window = window;
  }

  /** A connection begins. */
  connected(maxUnacknowledged: number): void {
    this.#maxUnacknowledged = maxUnacknowledged;
    const isForTrial = this.#isForTrial;
    this.close();
    const isNarrow = isForTrial || this.#forbidden.hasDoubts;
    this.#window.reset(isNarrow ? 1 : maxUnacknowledged);
    if (isNarrow) {
      this.#narrow(isForTrial);
    }
  }

  /** A request is about to wait for its turn. */
  added(request: RequestTopic): void {
    const isTrial = this.#forbidden.isTrial(request);
    if (isTrial || this.#forbidden.isInDoubt(request)) {
      this.#narrow(isTrial);
    }
  }

  /** Milliseconds for which the broker would end the connection for it; 0: it may be sent. */
  waitOf(request: RequestTopic): number {
    return this.#forbidden.waitOf(request);
  }

  sent(request: RequestTopic): void {
    this.#forbidden.sent(request);
  }

  /** The broker has taken it, or has refused it as it should. */
  acknowledged(request: RequestTopic): void {
    this.#forbidden.acknowledged(request);
    if (this.#timer && !this.#isForTrial && !this.#forbidden.hasDoubts) {
      this.#widen();
    }
  }

  /** With QoS 0 the response alone shows that the broker has taken it. */
  answered(request: RequestTopic): void {
    if (this.#forbidden.isForbidden(request)) {
      this.acknowledged(request);
    }
  }

  /** See `ForbiddenRequests.lost`. */
  lost(unacknowledged: readonly Unacknowledged[]): RequestTopic | undefined {
    this.#isForTrial &&= !this.#forbidden.isTrying;
    return this.#forbidden.lost(unacknowledged);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isForTrial = false;
  }

  #narrow(isForTrial: boolean): void {
    this.#isForTrial ||= isForTrial;
    if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.#widen(), MAX_NARROW_MS);
      this.#window.limit(1);
    }
  }

  #widen(): void {
    this.close();
    this.#window.limit(this.#maxUnacknowledged);
  }
}
