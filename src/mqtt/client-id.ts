// The client id of a connection beside the deployed one.
import { randomBytes } from 'node:crypto';

/** Of MQTT 3.1.1: a client id that every broker takes is no longer. */
const SAFE_ID_BYTES = 23;
const SUFFIX_BYTES = 5;

/**
 * Begins like the deployed one, since rules of brokers judge by it, and is no longer than a broker takes; another one each
 * time, since a broker throws out a client when its id comes again.
 */
export function besideId(clientId: string): string {
  const max = Math.max(SAFE_ID_BYTES, Buffer.byteLength(clientId));
  // By characters: half of one would come to the broker as another.
  const start = [...clientId];
  while (Buffer.byteLength(start.join('')) > max - SUFFIX_BYTES) {
    start.pop();
  }
  return `${start.join('')}-${randomBytes(2).toString('hex')}`;
}
