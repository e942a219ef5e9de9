// Bound of what the embedded broker keeps for sessions beside messages: their filters, and which messages of QoS 2 are half received.

/** Of all sessions together, estimated. */
const MAX_BYTES = 4_000_000;
/** Of a filter or a number, beside the texts. */
const ENTRY_BYTES = 200;

/** A filter, or the id of a message that is half received. */
type Entry = string | number;

interface Session {
  id: string;
}

/** The part of aedes' memory that is of sessions; aedes calls it with promises only. */
export interface SessionMemory {
  addSubscriptions(client: Session, filters: readonly { topic: string }[]): Promise<void>;
  removeSubscriptions(client: Session, filters: readonly string[]): Promise<void>;
  cleanSubscriptions(client: Session): Promise<void>;
  incomingStorePacket(client: Session, packet: { messageId: number }): Promise<void>;
  incomingDelPacket(client: Session, packet: { messageId: number }): Promise<void>;
  cleanIncoming(client: Session): Promise<void>;
  /** What is kept for a client, oldest first; only what was sent has an id. */
  outgoingStream(client: Session): AsyncIterable<{ messageId?: number }>;
  outgoingClearMessageId(client: Session, packet: unknown): Promise<unknown>;
}

const isFilter = (entry: Entry): boolean => typeof entry === 'string';

const sizeOf = (id: string, entry: Entry): number =>
  ENTRY_BYTES + id.length + (typeof entry === 'string' ? entry.length : 0);

/**
 * When there is no room, those that are away are forgotten, first the one that has kept nothing new for longest. What
 * finds none then holds for the connection only.
 */
export function limitSessions(memory: SessionMemory, isConnected: (id: string) => boolean): void {
  const kept = new Map<string, Set<Entry>>();
  let total = 0;

  const forget = async (client: Session): Promise<void> => {
    await memory.cleanSubscriptions(client);
    await memory.cleanIncoming(client);
    for await (const packet of memory.outgoingStream(client)) {
      await memory.outgoingClearMessageId(client, packet);
    }
  };
  const makeRoom = async (id: string, size: number): Promise<void> => {
    for (const other of kept.keys()) {
      if (total + size <= MAX_BYTES) {
        return;
      }
      if (other !== id && !isConnected(other)) {
        await forget({ id: other });
      }
    }
  };
  /** @returns those of them that are kept, now or already */
  const keep = async ({ id }: Session, entries: readonly Entry[]): Promise<ReadonlySet<Entry>> => {
    const before = kept.get(id);
    const sizes = entries.map((entry) => (before?.has(entry) ? 0 : sizeOf(id, entry)));
    await makeRoom(
      id,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    const own = kept.get(id) ?? new Set();
    kept.delete(id);
    for (const entry of entries) {
      const size = own.has(entry) ? 0 : sizeOf(id, entry);
      if (total + size <= MAX_BYTES) {
        own.add(entry);
        total += size;
      }
    }
    if (own.size > 0) {
      kept.set(id, own);
    }
    return own;
  };
  const drop = ({ id }: Session, entries: Iterable<Entry>): void => {
    const own = kept.get(id);
    for (const entry of entries) {
      total -= own?.delete(entry) ? sizeOf(id, entry) : 0;
    }
    if (own?.size === 0) {
      kept.delete(id);
    }
  };
  const dropAll = (client: Session, isDropped: (entry: Entry) => boolean): void =>
    drop(client, [...(kept.get(client.id) ?? [])].filter(isDropped));

  const add = memory.addSubscriptions.bind(memory);
  const remove = memory.removeSubscriptions.bind(memory);
  const clean = memory.cleanSubscriptions.bind(memory);
  const store = memory.incomingStorePacket.bind(memory);
  const complete = memory.incomingDelPacket.bind(memory);
  const cleanIncoming = memory.cleanIncoming.bind(memory);
  memory.addSubscriptions = async (client, filters) => {
    const own = await keep(
      client,
      filters.map(({ topic }) => topic),
    );
    const withRoom = filters.filter(({ topic }) => own.has(topic));
    if (withRoom.length > 0) {
      await add(client, withRoom);
    }
  };
  memory.removeSubscriptions = async (client, filters) => {
    drop(client, filters);
    await remove(client, filters);
  };
  memory.cleanSubscriptions = async (client) => {
    dropAll(client, isFilter);
    await clean(client);
  };
  // It was passed on when it came, so that of what it was nobody asks any more.
  memory.incomingStorePacket = async (client, { messageId }) => {
    if (!(await keep(client, [messageId])).has(messageId)) {
      throw new Error('too many messages are half received');
    }
    await store(client, { messageId });
  };
  memory.incomingDelPacket = async (client, packet) => {
    await complete(client, packet);
    drop(client, [packet.messageId]);
  };
  memory.cleanIncoming = async (client) => {
    dropAll(client, (entry) => !isFilter(entry));
    await cleanIncoming(client);
  };
}
