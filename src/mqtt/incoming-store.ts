// What a broker has sent with QoS 2 and not released yet, in a store of MQTT.js that has a bound.
import type { IPublishPacket, IStore } from 'mqtt';

/** A broker has at most 65 535 of them, each of which may have 1 MB and more. */
export const MAX_UNRELEASED_BYTES = 64 * 1024 * 1024;
/** Of a message, beside its topic and its payload. */
export const ENTRY_BYTES = 500;

export interface IncomingStore extends IStore {
  /** Called for a message that is not kept, nor confirmed, since too much waits to be released. */
  full: () => void;
}

type Done = Parameters<IStore['put']>[1];

const sizeOf = ({ topic, payload }: IPublishPacket): number => ENTRY_BYTES + topic.length + payload.length;

/** @param store an empty one, without a bound */
export function createIncomingStore(store: IStore): IncomingStore {
  let bytes = 0;
  const keep = ({ cmd, messageId, topic, qos, dup, retain, payload }: IPublishPacket, done: Done) => {
    // Else all that came with it would be kept, properties of a megabyte among it.
    const kept = { cmd, messageId, topic, qos, dup, retain, payload: Buffer.from(payload) };
    bytes += sizeOf(kept);
    store.put(kept, done);
  };
  const remove: IStore['del'] = (packet, done) => {
    store.del(packet, (error, removed) => {
      bytes -= removed ? sizeOf(removed as IPublishPacket) : 0;
      done(error as Error, removed);
    });
    return incoming;
  };
  const incoming: IncomingStore = {
    full() {},
    put(packet, done) {
      const message = packet as IPublishPacket;
      // What is sent once more takes the place of what was kept.
      let place = 0;
      remove(message, (_, removed) => {
        place = removed ? sizeOf(removed as IPublishPacket) : 0;
      });
      if (bytes >= MAX_UNRELEASED_BYTES && sizeOf(message) > place) {
        incoming.full();
      } else {
        keep(message, done);
      }
      return incoming;
    },
    del: remove,
    get(packet, done) {
      store.get(packet, done);
      return incoming;
    },
    createStream: () => store.createStream(),
    close: (done) => store.close(done),
  };
  return incoming;
}
