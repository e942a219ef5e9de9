// Notices that a broker does not answer a SUBSCRIBE or UNSUBSCRIBE, however much else it sends.
import type { PingCounts } from './ping-counts.ts';

/** What this needs of a client of MQTT.js. */
export interface PacketSource {
  on(event: 'packetreceive', listener: () => void): unknown;
  off(event: 'packetreceive', listener: () => void): unknown;
  sendPing(): void;
}

/** Milliseconds: the least time that a broker has. Then it is sent a ping, unless one was sent meanwhile. */
const RESPONSE_TIMEOUT_MS = 30_000;

export class NoBrokerResponse extends Error {
  constructor() {
    super('the broker did not answer');
  }
}

/**
 * The outcome of what was just sent, or NoBrokerResponse. A slow flow or a flood can keep the response waiting for minutes
 * among the reports before it. But a broker handles what it receives in order: when it answers a later ping, the response
 * will not come any more.
 * @param counts of the pings of this client
 * @param patience milliseconds
 */
export function withResponseTimeout<T>(
  client: PacketSource,
  counts: PingCounts,
  outcome: Promise<T>,
  patience = RESPONSE_TIMEOUT_MS,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const pings = counts.fromNow();
    const timer = setTimeout(() => {
      isLate = true;
      // Without a keep alive there is none, and with a long one it would be waited for as long.
      if (!pings.isSent()) {
        client.sendPing();
      }
      giveUp();
    }, patience).unref();
    const giveUp = () => {
      // The response may have been read just before, and be on its way.
      if (isLate && pings.isAnswered()) {
        setImmediate(() => end(() => reject(new NoBrokerResponse())));
      }
    };
    const end = (settle: () => void) => {
      clearTimeout(timer);
      client.off('packetreceive', giveUp);
      settle();
    };
    client.on('packetreceive', giveUp);
    outcome.then(
      (value) => end(() => resolve(value)),
      (error: unknown) => end(() => reject(error)),
    );
  });
}
