// Topic filters that a broker of MQTT 5 says it does not have (section 3.2.2.3): asking for one would end the connection.
import { type Qos, refusedCodesOf, UNSPECIFIED } from './suback.ts';

const NO_SHARED_SUBSCRIPTIONS = 0x9e;
const NO_WILDCARDS = 0xa2;

/** Properties of a CONNACK packet, as MQTT.js names them; left out: it has them. */
export interface FilterSupport {
  wildcardSubscriptionAvailable?: boolean;
  sharedSubscriptionAvailable?: boolean;
}

type Filters = Record<string, { qos: Qos }>;
type Granted = { topic: string; qos: number }[];

/** The code with which the broker would refuse the filter; undefined where it has such ones. */
function refusalOf(filter: string, said: FilterSupport): number | undefined {
  if (said.sharedSubscriptionAvailable === false && filter.startsWith('$share/')) {
    return NO_SHARED_SUBSCRIPTIONS;
  }
  return said.wildcardSubscriptionAvailable === false && /[+#]/.test(filter) ? NO_WILDCARDS : undefined;
}

/**
 * Subscribes to those filters that the broker has, and gives the others the code of their refusal.
 * @param subscribe resolves with what was granted, in the order of the filters
 * @throws what ended the connection, and NoBrokerResponse
 */
export async function subscribeAvailable(
  filters: Filters,
  said: FilterSupport,
  subscribe: (filters: Filters) => Promise<Granted>,
): Promise<Granted> {
  const names = Object.keys(filters);
  const available = names.filter((filter) => refusalOf(filter, said) === undefined);
  const asked = Object.fromEntries(available.map((filter) => [filter, filters[filter]!]));
  const granted =
    available.length === 0
      ? []
      : await subscribe(asked).then(
          (list) => list.map(({ qos }) => qos),
          (error: unknown) => refusedCodesOf(error),
        );
  const codes = new Map(available.map((filter, i) => [filter, granted[i]]));
  return names.map((topic) => ({ topic, qos: codes.get(topic) ?? refusalOf(topic, said) ?? UNSPECIFIED }));
}
