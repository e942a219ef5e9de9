// What requests, and checks of a shared group, do with the broker connection.
import type { Connection } from './connection.ts';
import type { InboundQueue } from './inbound-queue.ts';
import type { RequestTransport } from './requests.ts';
import type { GroupTransport } from './shared-group.ts';

/** @param responseQos with which responses are asked for at present */
export function createTransport(
  connection: Connection,
  inbound: InboundQueue,
  responseQos: () => 0 | 1 | 2,
): RequestTransport & GroupTransport {
  const { subscriptions } = connection;
  return {
    get connected() {
      return connection.connected;
    },
    get broker() {
      return connection.broker;
    },
    get readsSince() {
      return inbound.readsSince;
    },
    get heldMs() {
      return inbound.heldMs;
    },
    publish: connection.publish.bind(connection),
    isFilterActive: (filter) => subscriptions.isActive(filter),
    isFilterBlocked: (filter) => subscriptions.isBlocked(filter),
    refusalOf: (filter) => subscriptions.refusalOf(filter),
    ensureFilter(filter, settled) {
      subscriptions.change([filter], responseQos());
      subscriptions.whenSettled(filter, settled);
    },
    releaseFilter: (filter) => subscriptions.change([], responseQos(), [filter]),
  };
}
