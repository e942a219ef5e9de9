// Marks what the embedded broker sends again after a new connection (DUP, MQTT 3.1.1 section 3.3.1.1), as aedes does not.
import type { Aedes } from 'aedes';

/** The part of aedes' memory that has what is kept for sessions. */
interface Memory {
  /** Read when a client comes back; what was sent to it has an id. */
  outgoingStream(client: { id: string }): AsyncIterable<{ cmd: string; messageId?: number; dup?: boolean }>;
}

/** Without the mark nobody could tell a message that comes again from a new one of the same content. */
export function markResent(aedes: Aedes): void {
  const { persistence: memory } = aedes as unknown as { persistence: Memory };
  const kept = memory.outgoingStream.bind(memory);
  memory.outgoingStream = async function* (client) {
    for await (const packet of kept(client)) {
      if (packet.cmd === 'publish' && packet.messageId !== undefined) {
        packet.dup = true;
      }
      yield packet;
    }
  };
}
