// The states of the broker connection, and why a broker turned us away.

/**
 * `refused`: the broker does not accept the credentials; `limited`: connected, but a subscription was refused;
 * `overloaded`: connected, but reports of QoS 0 were lost because flows did not keep up.
 */
export type MqttState =
  | { name: 'unconfigured' | 'idle' | 'closed' }
  | { name: 'connecting' | 'connected'; broker: string }
  | { name: 'overloaded'; broker: string; lost: number }
  | { name: 'waiting' | 'refused' | 'limited'; broker: string; reason: string };

/** CONNACK codes that mean: these credentials will not do (3.1.1: 4, 5; 5: 0x86, 0x87, 0x8a, 0x8c). */
const REFUSED_CREDENTIALS = new Set<unknown>([4, 5, 134, 135, 138, 140]);

export function refusesCredentials(error: unknown): boolean {
  return REFUSED_CREDENTIALS.has((error as { code?: unknown } | null)?.code);
}
