// Bounds of what the embedded broker keeps for others: queues of persistent sessions, and retained messages.
import type { Aedes, AedesPublishPacket } from 'aedes';
import { limitSessions, type SessionMemory } from './session-limits.ts';

const MAX_RETAINED = 1_000;

/** The part of aedes' memory that grows with what clients do; aedes calls it with promises only. */
interface Memory extends SessionMemory {
  outgoingEnqueueCombi(subscriptions: { clientId: string }[], packet: unknown): Promise<void>;
  outgoingUpdate(client: { id: string }, packet: unknown): Promise<void>;
  storeRetained(packet: AedesPublishPacket): Promise<void>;
}

interface Parts {
  persistence: Memory;
  /** Those that are connected, by their ids. */
  clients: Record<string, unknown>;
}

/**
 * @param queueLimit messages kept for all persistent sessions together. When they are as many, the session with the most
 *   makes room for those with fewer; what finds no room is sent but not kept.
 */
export function limitBroker(aedes: Aedes, queueLimit: number): void {
  const { persistence: memory, clients } = aedes as unknown as Parts;
  const isConnected = (id: string) => clients[id] !== undefined;
  limitQueues(memory, queueLimit, isConnected);
  limitSessions(memory, isConnected);
  limitRetained(memory);
}

function limitQueues(memory: Memory, queueLimit: number, isConnected: (id: string) => boolean): void {
  const counts = new Map<string, number>();
  let total = 0;
  const countOf = (id: string) => counts.get(id) ?? 0;
  const add = (id: string) => {
    counts.set(id, countOf(id) + 1);
    total++;
  };
  const remove = (id: string) => {
    const count = countOf(id);
    if (count > 1) {
      counts.set(id, count - 1);
    } else {
      counts.delete(id);
    }
    total -= count > 0 ? 1 : 0;
  };
  const enqueue = memory.outgoingEnqueueCombi.bind(memory);
  const update = memory.outgoingUpdate.bind(memory);
  const clear = memory.outgoingClearMessageId.bind(memory);
  const oldestOf = async (id: string): Promise<number | undefined> => {
    for await (const { messageId } of memory.outgoingStream({ id })) {
      return messageId;
    }
    return undefined;
  };
  /** The largest session may be one that never comes back: it need not keep more than another one. */
  const takePlace = async (id: string): Promise<boolean> => {
    const largest = findLargest(counts);
    if (largest === undefined || countOf(largest) <= countOf(id) + 1) {
      return false;
    }
    // A client that is connected may still acknowledge what it was sent: of its messages the oldest that was not sent.
    const messageId = isConnected(largest) ? undefined : await oldestOf(largest);
    if (!(await clear({ id: largest }, { messageId }))) {
      return false;
    }
    remove(largest);
    add(id);
    return true;
  };
  memory.outgoingEnqueueCombi = async (subscriptions, packet) => {
    const kept: typeof subscriptions = [];
    for (const subscription of subscriptions) {
      const { clientId } = subscription;
      if (total < queueLimit) {
        add(clientId);
      } else if (!(await takePlace(clientId))) {
        continue;
      }
      kept.push(subscription);
    }
    await enqueue(kept, packet);
  };
  // A message that was not kept is sent all the same to who is connected, and has no entry to be updated.
  memory.outgoingUpdate = (client, packet) => update(client, packet).catch(() => undefined);
  memory.outgoingClearMessageId = async (client, packet) => {
    const cleared = await clear(client, packet);
    if (cleared) {
      remove(client.id);
    }
    return cleared;
  };
}

function findLargest(counts: ReadonlyMap<string, number>): string | undefined {
  let largest: string | undefined;
  let most = 0;
  for (const [id, count] of counts) {
    if (count > most) {
      largest = id;
      most = count;
    }
  }
  return largest;
}

function limitRetained(memory: Memory): void {
  const topics = new Set<string>();
  const store = memory.storeRetained.bind(memory);
  memory.storeRetained = async (packet) => {
    const { topic, payload } = packet;
    if (payload.length === 0) {
      topics.delete(topic);
    } else if (topics.size < MAX_RETAINED) {
      topics.add(topic);
    } else if (!topics.has(topic)) {
      return;
    }
    await store(packet);
  };
}
