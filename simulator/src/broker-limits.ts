// Bounds of what the embedded broker keeps for others: queues of persistent sessions, and retained messages.
import type { Aedes, AedesPublishPacket } from 'aedes';

const MAX_RETAINED = 1_000;

/** The part of aedes' memory that grows with what clients do; aedes calls it with promises only. */
interface Memory {
  outgoingEnqueueCombi(subscriptions: { clientId: string }[], packet: unknown): Promise<void>;
  outgoingUpdate(client: { id: string }, packet: unknown): Promise<void>;
  outgoingClearMessageId(client: { id: string }, packet: unknown): Promise<unknown>;
  storeRetained(packet: AedesPublishPacket): Promise<void>;
}

const memoryOf = (aedes: Aedes): Memory => (aedes as unknown as { persistence: Memory }).persistence;

/** @param queueLimit messages kept for all persistent sessions together; what comes later is sent but not kept. */
export function limitBroker(aedes: Aedes, queueLimit: number): void {
  const memory = memoryOf(aedes);
  limitQueues(memory, queueLimit);
  limitRetained(memory);
}

function limitQueues(memory: Memory, queueLimit: number): void {
  let queued = 0;
  const enqueue = memory.outgoingEnqueueCombi.bind(memory);
  const update = memory.outgoingUpdate.bind(memory);
  const clear = memory.outgoingClearMessageId.bind(memory);
  memory.outgoingEnqueueCombi = (subscriptions, packet) => {
    const kept = subscriptions.slice(0, Math.max(0, queueLimit - queued));
    queued += kept.length;
    return enqueue(kept, packet);
  };
  // A message that was not kept is sent all the same to who is connected, and has no entry to be updated.
  memory.outgoingUpdate = (client, packet) => update(client, packet).catch(() => undefined);
  memory.outgoingClearMessageId = async (client, packet) => {
    const cleared = await clear(client, packet);
    queued -= cleared ? 1 : 0;
    return cleared;
  };
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
