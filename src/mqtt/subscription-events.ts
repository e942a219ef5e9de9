// What the subscriptions of a connection tell whoever has it, and ask of them.
import type { Reason } from './reasons.ts';
import type { Qos } from './suback.ts';

export interface SubscriptionEvents {
  /** A wanted filter will be told as refused, unless it is not wanted any more when this returns. */
  refusing(filter: string): void;
  /** More are refused than before, and will be told as that: others may be wanted in their place. */
  refused?(): void;
  /** One that has ended a connection is about to be asked for again: it may take the place of others. */
  trying?(filter: string): void;
  /**
   * Others of the wanted filters are refused than before.
   * @param isSettled the broker has granted or refused everything by now
   */
  refusals(refused: ReadonlyMap<string, Reason>, isSettled: boolean): void;
  /** Whether the filter may lose its place to one that may not, where there is none left. */
  mayGiveWay(filter: string): boolean;
  /** Whether others bring a part of it, where it is refused: it is tried in their place later. */
  isCovering(filter: string): boolean;
  /** Some that were granted do not count as that until the broker has granted them again. */
  renewing?(): void;
  /** Some are given back before others are asked for. */
  makingRoom?(): void;
  /** The broker has everything that is wanted, or has refused it. */
  synced(): void;
  /** The broker allows no more than so many subscriptions of a connection; infinite when no number is known. */
  quota(max: number): void;
  /** The broker has granted this QoS where a higher one was asked for. */
  lowerQos(max: Qos): void;
}
