// The list of brokers as a user writes it, taken apart in the same way by the panel and the runtime.

/** Characters of an address of the service, and of the whole list of brokers: looking through millions takes seconds. */
export const MAX_ADDRESSES_LENGTH = 10_000;

export const BROKER_SCHEMES = ['mqtt', 'mqtts', 'ws', 'wss'] as const;

const KNOWN_SCHEME = /^(?:mqtts?|wss?):\/\//i;
const ANY_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * Addresses between commas or line ends, to be tried in turn; one without a scheme is `mqtt://`.
 * @returns undefined where a comma in the query of an address may have torn it: what follows could be a secret, and is
 *   a broker only when it says so with a scheme
 */
export function splitBrokers(text: string): string[] | undefined {
  const addresses: string[] = [];
  for (const line of text.split('\n')) {
    let isAfterQuery = false;
    for (const item of line.split(',').map((part) => part.trim())) {
      if (isAfterQuery && item !== '' && !KNOWN_SCHEME.test(item)) {
        return undefined;
      }
      isAfterQuery ||= /[?#]/.test(item);
      if (item !== '') {
        addresses.push(ANY_SCHEME.test(item) ? item : `mqtt://${item}`);
      }
    }
  }
  return addresses;
}
