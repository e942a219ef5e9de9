// What a broker connection tells whoever has it, and asks of them.
import type { Deferrable } from '../protocol/deferral.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { MqttState } from './state.ts';

/**
 * A message was taken.
 * @param error it was not
 * @param isForNobody Node-RED has nothing to pass on of it, so that it is acknowledged also while flows are replaced
 */
export type Done = (error?: Error, isForNobody?: boolean) => void;

export interface ConnectionEvents {
  state(state: MqttState): void;
  /** The broker has a session of this client id. Nothing that came with this news is handled yet: see `drop`. */
  kept?(): void;
  /** Connected, before anything is received: whether the broker has kept a session of this client id, and what it takes. */
  session(isPresent: boolean, limits: ConnectionLimits): void;
  /** The broker allows no more than so many subscriptions of a connection; infinite when no number is known. */
  quota(max: number): void;
  /** The broker takes no higher QoS, as far as is known. */
  lowerQos(max: 0 | 1 | 2): void;
  /** A wanted filter will be told as refused, unless it is not wanted any more when this returns. */
  refusing(filter: string): void;
  /** More are refused than before, and will be told as that: others may be wanted in their place. */
  refused?(): void;
  /** One that has ended a connection is about to be asked for again: it may take the place of others. */
  trying?(filter: string): void;
  /** Some subscriptions that were granted do not count as that until the broker has granted them again. */
  renewing?(): void;
  /** Some subscriptions are given back before others are asked for. */
  makingRoom?(): void;
  /** Whether reports are subscribed by this filter. */
  isReportFilter(filter: string): boolean;
  /** See `SubscriptionEvents`. */
  isCovering?(filter: string): boolean;
  /** The broker has granted or refused every filter that is wanted by now. */
  subscribed(): void;
  /**
   * Call `done` when the message is taken; a QoS 1 message is acknowledged to the broker only then. Called with an error
   * it is not acknowledged, and what follows is read all the same.
   * @param deferrable of QoS 1, in place of `done`: a QoS 1 message is acknowledged later
   */
  message(
    topic: string,
    payload: Buffer,
    qos: number,
    retained: boolean,
    done: Done,
    deferrable: Deferrable | undefined,
  ): void;
  /** A message was not taken yet, so that nothing behind it is read. */
  isBlocked(): boolean;
  /** Flows are being replaced or stopped. */
  isPaused?(): boolean;
  /** How many requests have no response yet. */
  underWay(): number;
  /**
   * The connection is over.
   * @param mayForbidTopic whether the broker may have ended it for the topic of a publish
   * @returns whether it is known to have done so
   */
  ended?(mayForbidTopic: boolean): boolean;
}
