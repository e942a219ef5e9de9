// The packets that ask a broker for topic filters or give them back, and what it says to each.
import type { Logger } from '../log.ts';
import { NoBrokerResponse } from './broker-response.ts';
import {
  codesOf,
  logRefusals,
  lowerQos,
  type Outcome,
  type Qos,
  shownMaxQos,
  UNSPECIFIED,
} from './suback.ts';

export interface SubscriptionTransport {
  /** Resolves or rejects with the codes that the broker granted, in the order of the filters. */
  subscribe(filters: Record<string, { qos: Qos }>): Promise<{ topic: string; qos: number }[]>;
  /** Resolves with the codes of the broker, in the order of the filters; with none in MQTT 3.1.1. */
  unsubscribe(filters: string[]): Promise<readonly number[]>;
}

interface PacketEvents {
  /** The broker goes on without having answered a packet. */
  unanswered(): void;
  /** The broker has granted this QoS where a higher one was asked for. */
  lowerQos(max: Qos): void;
}

export class SubscriptionPackets {
  readonly #log: Logger;
  readonly #events: PacketEvents;
  /** The broker takes no higher one, as far as is known. */
  #maxQos: Qos = 2;
  #hasLoggedLowerQos = false;

  constructor(log: Logger, events: PacketEvents) {
    this.#log = log;
    this.#events = events;
  }

  /** A connection begins. */
  prepare(maxQos: Qos): void {
    this.#maxQos = maxQos;
  }

  /** @param batch the filters with the QoS that is wanted @throws what ended the connection */
  async subscribe(transport: SubscriptionTransport, batch: readonly [string, Qos][]): Promise<Outcome[]> {
    const codes = await this.#codesOf(transport, batch);
    return batch.map(([filter, qos], i) => ({ filter, qos, code: codes[i] ?? UNSPECIFIED }));
  }

  /** @returns what the broker says to each of them; nothing: it does not @throws what ended the connection */
  async unsubscribe(transport: SubscriptionTransport, filters: string[]): Promise<readonly number[]> {
    try {
      const codes = await transport.unsubscribe(filters);
      return codes.length === filters.length ? codes : [];
    } catch (error) {
      if (!(error instanceof NoBrokerResponse)) {
        throw error;
      }
      this.#events.unanswered();
      return [];
    }
  }

  /** Logs what was refused, and what was granted with a lower QoS. */
  tell(outcomes: readonly Outcome[]): void {
    logRefusals(this.#log, outcomes);
    const max = shownMaxQos(outcomes, this.#maxQos);
    if (max !== undefined) {
      this.#events.lowerQos(max);
    }
    const text = lowerQos(outcomes, this.#maxQos);
    if (text !== undefined && !this.#hasLoggedLowerQos) {
      this.#hasLoggedLowerQos = true;
      this.#log.warn(text);
    }
  }

  async #codesOf(transport: SubscriptionTransport, batch: readonly [string, Qos][]): Promise<number[]> {
    try {
      const granted = await transport.subscribe(
        Object.fromEntries(batch.map(([filter, qos]) => [filter, { qos: this.#atMost(qos) }])),
      );
      return granted.map(({ qos }) => qos);
    } catch (error) {
      if (error instanceof NoBrokerResponse) {
        this.#events.unanswered();
      }
      return codesOf(error, batch.length);
    }
  }

  #atMost(qos: Qos): Qos {
    return Math.min(qos, this.#maxQos) as Qos;
  }
}
