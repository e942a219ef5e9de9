// Which network a service has, in one text: nothing of one is true of another.
import { showAddress, splitBrokers } from '../../src/index.ts';
import type { ServiceConfig } from './config.ts';

/** Without a secret, so that it can be stored. */
export function networkOf({
  brokerUrl,
  topicPrefix,
}: Pick<ServiceConfig, 'brokerUrl' | 'topicPrefix'>): string {
  const brokers = splitBrokers(brokerUrl) ?? [];
  return JSON.stringify([brokers.map((address) => showAddress(address)), topicPrefix]);
}

/**
 * One address that both have is enough: further ones are there for when its broker fails.
 * @param one from a store, where anything may stand
 */
export function isSameNetwork(one: unknown, other: string): boolean {
  if (one === other) {
    return true;
  }
  const [brokers, prefix] = parse(other);
  const [oneBrokers, onePrefix] = parse(one);
  return onePrefix === prefix && brokers.some((broker) => oneBrokers.includes(broker));
}

function parse(network: unknown): [brokers: unknown[], prefix: unknown] {
  try {
    const [brokers, prefix] = JSON.parse(String(network)) as unknown[];
    return [Array.isArray(brokers) ? brokers : [], prefix];
  } catch {
    return [[], undefined];
  }
}
