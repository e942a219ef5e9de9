// The states of the broker connection.
import type { Phrase } from '../errors.ts';
import type { Reason } from './reasons.ts';

/**
 * `refused`: the broker does not accept the credentials; `limited`: connected, but a subscription was refused;
 * `overloaded`: connected, but reports of QoS 0 were lost because flows did not keep up; `invalid`: the settings have to
 * be changed before anything is connected, and `problem` says which.
 */
export type MqttState =
  | { name: 'unconfigured' | 'idle' | 'closed' }
  | { name: 'invalid'; problem: Error }
  | { name: 'connecting' | 'connected'; broker: string }
  | { name: 'overloaded'; broker: string; lost: number }
  | { name: 'waiting' | 'refused'; broker: string; reason: Reason }
  /**
   * `refused`: the topic filters of reports that were refused, and why; `isSettled`: the broker has granted or refused
   * everything by now.
   */
  | {
      name: 'limited';
      broker: string;
      reason: Phrase;
      refused: ReadonlyMap<string, Phrase>;
      isSettled: boolean;
    };
