// Waits for a broker connection that is tried, until it is there or the time is over.
import type { Phrase } from '../errors.ts';
import type { MqttSettings } from '../settings.ts';
import { showBroker } from './address.ts';
import { type Place, type Reason, reasonOfLoss } from './reasons.ts';
import type { MqttState } from './state.ts';

export class ConnectionWatch {
  readonly #done: (failure: Phrase | Reason | undefined) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #late: Phrase | Reason;

  /**
   * @param settings with one broker
   * @param deadline in milliseconds of `performance.now()`
   * @param done called once, with why there is none
   */
  constructor(
    { brokers: [broker = ''], protocolVersion }: MqttSettings,
    deadline: number,
    done: (failure: Phrase | Reason | undefined) => void,
  ) {
    const place: Place = { broker: showBroker(broker), protocolVersion };
    this.#done = done;
    this.#late = reasonOfLoss({ error: { code: 'ETIMEDOUT' }, wasConnected: false }, place);
    this.#timer = setTimeout(() => this.giveUp(), deadline - performance.now());
  }

  /** The time is over. */
  giveUp(): void {
    this.#end(this.#late);
  }

  look(state: MqttState): void {
    if (state.name === 'connected') {
      this.#end(undefined);
    } else if (isFailure(state)) {
      this.#end(state.reason);
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
