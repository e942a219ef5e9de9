// What one connection receives, one message after the other: QoS 1 is acknowledged and QoS 2 completed when it was taken.
import type { IPublishPacket, MqttClient } from 'mqtt';
import type { Logger } from '../log.ts';
import type { Deferrable } from '../protocol/deferral.ts';
import { oneLine } from '../protocol/text.ts';
import type { ConnectionEvents } from './connection-events.ts';
import type { Exchanges } from './exchanges.ts';
import { OrderedAcks, pubackOf } from './ordered-acks.ts';
import type { Pings } from './pings.ts';
import type { Publish, PublishTaker, Taken } from './publish-reader.ts';

interface Receiving {
  client: MqttClient;
  exchanges: Exchanges;
  pings: Pings;
  events: Pick<ConnectionEvents, 'message'>;
  log: Logger;
  /** Nothing is taken any more when it is not. */
  isCurrent: () => boolean;
}

/** @returns takes what MQTT.js does not read; what it reads comes the same way */
export function receiveMessages({
  client,
  exchanges,
  pings,
  events,
  log,
  isCurrent,
}: Receiving): PublishTaker {
  const acknowledge = (messageId: number) => void client.stream.write(pubackOf(messageId));
  const acks = new OrderedAcks(isCurrent, acknowledge, () => pings.ping());
  client.on('packetsend', ({ cmd }) => cmd === 'pingreq' && acks.pinged());
  client.on('packetreceive', ({ cmd }) => cmd === 'pingresp' && acks.ponged());

  const take = (packet: Publish, taken: Taken): void => {
    const { topic, payload, qos, retain, messageId, dup } = packet;
    if (!isCurrent()) {
      taken(new Error('the connection is being closed'));
      return;
    }
    // Before each one: a flow may take seconds for those that come together.
    pings.pingIfDue();
    let done = taken;
    let deferrable: Deferrable | undefined;
    if (qos === 1 && messageId !== undefined) {
      if (!acks.begin(messageId, dup, taken)) {
        return;
      }
      done = acks.done;
      deferrable = acks;
    } else if (qos === 2 && messageId !== undefined) {
      exchanges.taken(client, messageId);
      done = (error) => {
        if (error) {
          exchanges.returned(packet as IPublishPacket);
        }
        taken(error);
      };
    }
    try {
      events.message(topic, payload, qos, retain, done, deferrable);
      pings.received();
    } catch (error) {
      // A mistake of ours must not end somebody else's runtime.
      log.warn(`${oneLine(topic)}: ${String(error)}`);
      done();
    }
  };

  // Not 'message': only here is a QoS 1 message acknowledged after it was taken.
  client.handleMessage = (packet, callback) => take(packet as Publish, callback);
  return { came: () => isCurrent() && pings.signs.seen(), take, acknowledge };
}
