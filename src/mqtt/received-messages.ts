// What one connection receives, one message after the other: QoS 1 is acknowledged and QoS 2 completed when it was taken.
import type { MqttClient } from 'mqtt';
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

interface Receiver extends PublishTaker {
  /** Gives on what earlier connections of the session have received and nobody has taken. */
  goOn(): void;
}

/** @returns takes what MQTT.js does not read; what it reads comes the same way */
export function receiveMessages({ client, exchanges, pings, events, log, isCurrent }: Receiving): Receiver {
  const acknowledge = (messageId: number) => void client.stream.write(pubackOf(messageId));
  const acks = new OrderedAcks(isCurrent, acknowledge, () => pings.ping());
  client.on('packetsend', ({ cmd }) => cmd === 'pingreq' && acks.pinged());
  client.on('packetreceive', ({ cmd }) => cmd === 'pingresp' && acks.ponged());

  /** Of QoS 2: where nobody takes it after all, the next connection of the session has it. */
  const keeping = ({ messageId: _, ...message }: Publish, taken: Taken): Taken => {
    const { untaken } = exchanges;
    return (error) => {
      if (error) {
        // Without its packet id, which another one may have by then.
        untaken.push(message);
      }
      taken(error);
    };
  };

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
      done = keeping(packet, taken);
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
  const goOn = (): void => {
    for (const packet of exchanges.untaken.splice(0)) {
      take(
        packet,
        keeping(packet, () => {}),
      );
    }
  };
  return { came: () => isCurrent() && pings.signs.seen(), take, acknowledge, goOn };
}
