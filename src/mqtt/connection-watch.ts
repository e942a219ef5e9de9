// Waits for a broker connection that is tried, until it is there or the time is over.
import type { Phrase } from '../errors.ts';
import type { MqttSettings } from '../settings.ts';
import { showBroker } from './address.ts';
import { type Place, type Reason, reasonOfLoss } from './reasons.ts';
import type { MqttState } from './state.ts';

/** Each of several brokers is tried until the time is over. */
export class ConnectionWatch {
  readonly #done: (failure: Phrase | Reason | undefined) => void;
  readonly #timer: NodeJS.Timeout;
  #reason: Phrase | Reason;
  #triesLeft: number;

  /**
   * @param deadline in milliseconds of `performance.now()`
   * @param done called once, with why there is none
   */
  constructor(
    { brokers, protocolVersion }: MqttSettings,
    deadline: number,
    done: (failure: Phrase | Reason | undefined) => void,
  ) {
    const place: Place = { broker: showBroker(brokers[0] ?? ''), protocolVersion };
    this.#done = done;
    this.#reason = reasonOfLoss({ error: { code: 'ETIMEDOUT' }, wasConnected: false }, place);
    this.#triesLeft = brokers.length;
    this.#timer = setTimeout(() => this.giveUp(), deadline - performance.now());
  }

  /** The time is over. */
  giveUp(): void {
    this.#end(this.#reason);
  }

  /** A state that comes again is no further failure. */
  look(state: MqttState): void {
    if (state.name === 'connected') {
      this.#end(undefined);
    } else if (isFailure(state) && state.reason !== this.#reason) {
      this.#reason = state.reason;
      if (--this.#triesLeft <= 0 || state.name === 'limited') {
        this.#end(state.reason);
      }
    }
  }

  /** Nobody waits any more. */
  close(): void {
    clearTimeout(this.#timer);
  }

  #end(failure: Phrase | Reason | undefined): void {
    this.close();
    this.#done(failure);
  }
}

/** Whether there is no connection, or not all that was asked for. */
export function isFailure(state: MqttState): state is MqttState & { reason: Phrase | Reason } {
  return state.name === 'waiting' || state.name === 'refused' || state.name === 'limited';
}
