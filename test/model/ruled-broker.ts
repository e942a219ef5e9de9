// A broker that lives in virtual time and judges subscriptions only: by rules that it does not tell, and may change.
import { NoBrokerResponse } from '../../src/mqtt/broker-response.ts';
import { NO_SUBSCRIPTION_EXISTED } from '../../src/mqtt/suback.ts';
import type { SubscriptionTransport } from '../../src/mqtt/subscription-packets.ts';

const RESPONSE_TIMEOUT_MS = 30_000;
const FIRST_DELAY_MS = 10;
const MORE_DELAY_MS = 40;
const REFUSED = 0x80;

export interface Rules {
  forbidden: ReadonlySet<string>;
  /** How a forbidden filter is refused. */
  forbiddenBy: 'close' | 'code';
  maxSubscriptions: number;
  /** How one too many is refused: by a code, or by the end of the connection. */
  quotaBy: 'close' | number;
  /** Filters in one packet; with more it ends the connection. */
  maxFilters: number;
  /** Filters that get no response. */
  silent: ReadonlySet<string>;
}

export const NO_RULES: Rules = {
  forbidden: new Set(),
  forbiddenBy: 'code',
  maxSubscriptions: Number.POSITIVE_INFINITY,
  quotaBy: REFUSED,
  maxFilters: Number.POSITIVE_INFINITY,
  silent: new Set(),
};

class Ended extends Error {}

export class RuledBroker {
  rules: Rules = NO_RULES;
  /** The filters of the session. */
  session = new Set<string>();
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /**
   * A connection to it.
   * @param isOpen whether it lasts still
   * @param end ends it
   */
  connect(isOpen: () => boolean, end: (why: string) => void): SubscriptionTransport {
    const respond = <T>(make: () => T): Promise<T> =>
      new Promise((resolve, reject) => {
        const decide = () => {
          try {
            resolve(isOpen() ? make() : fail('gone'));
          } catch (error) {
            if (error instanceof Ended && isOpen()) {
              end(error.message);
            }
            reject(error);
          }
        };
        setTimeout(decide, FIRST_DELAY_MS + this.#random() * MORE_DELAY_MS);
      });
    const ignore = () =>
      new Promise<never>((_, reject) => {
        setTimeout(() => reject(isOpen() ? new NoBrokerResponse() : new Ended('gone')), RESPONSE_TIMEOUT_MS);
      });
    return {
      subscribe: (wanted) => {
        const filters = Object.keys(wanted);
        const isIgnored = filters.some((filter) => this.rules.silent.has(filter));
        return isIgnored ? ignore() : respond(() => this.#subscribe(filters));
      },
      unsubscribe: (filters) => respond(() => this.#unsubscribe(filters)),
    };
  }

  #subscribe(filters: readonly string[]): { topic: string; qos: number }[] {
    this.#checkSize(filters);
    const granted = filters.map((filter) => this.#judge(filter));
    if (granted.some((code) => code >= REFUSED)) {
      throw Object.assign(new Error('refused'), { packet: { granted } });
    }
    return filters.map((topic, i) => ({ topic, qos: granted[i]! }));
  }

  #unsubscribe(filters: readonly string[]): number[] {
    this.#checkSize(filters);
    return filters.map((filter) => (this.session.delete(filter) ? 0 : NO_SUBSCRIPTION_EXISTED));
  }

  #judge(filter: string): number {
    const { forbidden, forbiddenBy, maxSubscriptions, quotaBy } = this.rules;
    if (forbidden.has(filter)) {
      return forbiddenBy === 'close' ? fail(`${filter} is forbidden`) : REFUSED;
    }
    if (!this.session.has(filter) && this.session.size >= maxSubscriptions) {
      return quotaBy === 'close' ? fail('one too many') : quotaBy;
    }
    this.session.add(filter);
    return 1;
  }

  #checkSize(filters: readonly string[]): void {
    if (filters.length > this.rules.maxFilters) {
      fail(`${filters.length} filters in a packet`);
    }
  }
}

function fail(why: string): never {
  throw new Ended(why);
}
