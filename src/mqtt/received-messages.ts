// What one connection receives, one message after the other: QoS 1 is acknowledged and QoS 2 completed when it was taken.
import type { MqttClient } from 'mqtt';
import type { Logger } from '../log.ts';
import type { Deferrable } from '../protocol/deferral.ts';
import { oneLine } from '../protocol/text.ts';
import type { ConnectionEvents, Done } from './connection-events.ts';
import type { Exchanges } from './exchanges.ts';
import { GatheredAcks } from './gathered-acks.ts';
import { OrderedAcks } from './ordered-acks.ts';
import type { Pings } from './pings.ts';
import type { Publish, PublishTaker, Taken } from './publish-reader.ts';

interface Receiving {
  client: MqttClient;
  exchanges: Exchanges;
  pings: Pings;
  events: Pick<ConnectionEvents, 'message' | 'isPaused'>;
  log: Logger;
  /** Nothing is taken any more when it is not. */
  isCurrent: () => boolean;
}

export interface Receiver extends PublishTaker {
  /** Gives on what earlier connections of the session have received and nobody has taken. */
  goOn(): void;
  /** Flows run again. */
  resumed(): void;
}

/** MQTT.js takes an error for "read on, but do not acknowledge". */
const NOT_HERE = new Error('acknowledged with others');

/** @returns takes what MQTT.js does not read; what it reads comes the same way */
export function receiveMessages({ client, exchanges, pings, events, log, isCurrent }: Receiving): Receiver {
  const gathered = new GatheredAcks(
    (packets, isGathered) => {
      const { stream } = client;
      if (isCurrent() && stream.writable) {
        // With a callback a stream that gathers writes holds nothing back.
        void (isGathered ? stream.write(packets, () => {}) : stream.write(packets));
      }
    },
    () => events.isPaused?.() === true,
  );
  const acknowledge = (messageId: number) => gathered.add(messageId);
  const acks = new OrderedAcks(isCurrent, gathered, () => pings.ping());
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
    let done: Done = taken;
    let deferrable: Deferrable | undefined;
    if (qos === 1 && messageId !== undefined) {
      if (!acks.begin(messageId, dup, taken)) {
        return;
      }
      done = acks.done;
      deferrable = acks;
    } else if (qos === 2 && messageId !== undefined) {
      if (!dup) {
        acks.usedAgain(messageId);
      }
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
  client.handleMessage = (packet, callback) => {
    const { qos, messageId } = packet as Publish;
    take(packet as Publish, (error) => {
      if (qos !== 1 || messageId === undefined || error) {
        callback(error);
      } else {
        acknowledge(messageId);
        callback(NOT_HERE);
      }
    });
  };
  const goOn = (): void => {
    for (const packet of exchanges.untaken.splice(0)) {
      take(
        packet,
        keeping(packet, () => {}),
      );
    }
  };
  return {
    ...{ take, acknowledge, goOn },
    came: () => isCurrent() && pings.signs.seen(),
    resumed: () => gathered.resumed(),
  };
}
