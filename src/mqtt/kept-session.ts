// Asks a broker whose session it gives to a client id that is new.
import type { Phrase } from '../errors.ts';
import { SILENT } from '../log.ts';
import type { MqttSettings } from '../settings.ts';
import { Connection } from './connection.ts';
import { ConnectionWatch } from './connection-watch.ts';
import type { Reason } from './reasons.ts';

/**
 * Whether the broker has a session for an id that is new: then it takes another id for it, such as the user's name, and
 * beginning without the session would delete what waits there for the deployed service. What comes of it is not
 * acknowledged. Where there is none, the broker has one under this id afterwards, until a connection begins without it.
 * @param settings with the new id; persistent, as those of the service
 * @param deadline in milliseconds of `performance.now()`
 * @returns why there is no connection, else what there is
 * @throws the reason of the signal
 */
export async function findSession(
  settings: MqttSettings,
  deadline: number,
  signal?: AbortSignal,
): Promise<Phrase | Reason | 'none' | 'kept'> {
  let connection: Connection | undefined;
  let watch: ConnectionWatch | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const fail = (failure: Phrase | Reason | undefined): void => resolve(failure ?? 'none');
      const waiting = new ConnectionWatch(settings, deadline, fail);
      watch = waiting;
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      connection = new Connection(settings, SILENT, {
        state: (state) => waiting.look(state),
        kept: () => {
          // Cut: MQTT.js would confirm what it reads of QoS 2, and the service would never get that.
          connection?.drop();
          resolve('kept');
        },
        session() {},
        quota() {},
        lowerQos() {},
        refusing() {},
        isReportFilter: () => false,
        subscribed() {},
        message() {},
        isBlocked: () => false,
        underWay: () => 0,
      });
      connection.open();
    });
  } finally {
    watch?.close();
    await connection?.close();
  }
}
