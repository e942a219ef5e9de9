// Asks a broker whose session it gives to a client id that is new.
import type { Phrase } from '../errors.ts';
import { SILENT } from '../log.ts';
import type { MqttSettings } from '../settings.ts';
import { showBroker } from './address.ts';
import { besideId } from './client-id.ts';
import { Connection } from './connection.ts';
import { ConnectionWatch } from './connection-watch.ts';
import { forgetSession, keptSession, sessionName } from './kept-sessions.ts';
import type { Reason } from './reasons.ts';

type Failure = Phrase | Reason;
type Session = 'none' | 'kept';

/** Of a broker that seldom answers, the ids of the last questions: no others are ended. */
const MAX_LEFT = 8;

/**
 * Whether the broker has a session for an id that is new: then it takes another id for it, such as the user's name, and
 * beginning without the session would delete what waits there for the deployed service. What comes of it is not
 * acknowledged. Where there is none, the broker has one under the new id then, which a connection without it ends at once.
 * Each time with another id: without an answer nobody knows whether the broker has a session under the last one.
 * @param service its settings, persistent
 * @param url of the settings: what one broker says is not true of the others
 * @param deadline in milliseconds of `performance.now()`
 * @param by `signal`: nobody waits any more, no connection is made from then on; `clientId`: the caller connects with it next,
 *   without a session, and calls `sessionStays` where that fails
 * @returns why there is no connection, else what there is
 */
export async function askForSession(
  service: MqttSettings,
  url: string,
  deadline: number,
  by: { signal?: AbortSignal; clientId?: string } = {},
): Promise<Failure | Session> {
  const { signal } = by;
  const settings = { ...service, brokers: [url] };
  const clientId = by.clientId ?? besideId(settings.clientId);
  const left = askedIds(service, url);
  const found = await visit({ ...settings, clientId }, deadline, signal);
  if (found === 'kept') {
    left.clear();
  } else if (found === 'none' ? by.clientId === undefined : !isRefusal(found)) {
    sessionStays(service, url, clientId);
  }
  // Only where the broker is known to take the ids as they are: it would end the session of flows else.
  if (found === 'none') {
    // What is not ended in half of the time waits for the next question: the caller needs the rest.
    const half = (performance.now() + deadline) / 2;
    await endAll(left, { ...settings, persistent: false }, half, signal);
  }
  return found;
}

/** Where the login is refused no session begins. */
const isRefusal = (found: Failure | Session): boolean => (found as Partial<Reason>).consequence === 'refused';

/** The broker may have a session under this id: the next question ends it. */
export function sessionStays(service: MqttSettings, url: string, clientId: string): void {
  const left = askedIds(service, url);
  left.add(clientId);
  for (const oldest of [...left].slice(0, -MAX_LEFT)) {
    left.delete(oldest);
  }
}

const askedIds = ({ clientId }: MqttSettings, url: string): Set<string> =>
  keptSession(sessionName(showBroker(url), clientId)).asked;

async function endAll(
  left: Set<string>,
  settings: MqttSettings,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const clientId of [...left]) {
    if ((await visit({ ...settings, clientId }, deadline, signal)) !== 'none') {
      return;
    }
    left.delete(clientId);
  }
}

/** Connects once, and leaves. */
async function visit(
  settings: MqttSettings,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<Failure | Session> {
  let leave = (): void => {};
  let watch: ConnectionWatch | undefined;
  let connection: Connection | undefined;
  try {
    return await new Promise((resolve) => {
      const waiting = new ConnectionWatch(settings, deadline, (failure) => resolve(failure ?? 'none'));
      watch = waiting;
      leave = () => waiting.giveUp();
      if (signal?.aborted) {
        leave();
        return;
      }
      signal?.addEventListener('abort', leave);
      const asking = new Connection(settings, SILENT, {
        state: (state) => waiting.look(state),
        kept: () => {
          // Cut: MQTT.js would confirm what it reads of QoS 2, and the service would never get that.
          asking.drop();
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
      connection = asking;
      asking.open();
    });
  } finally {
    signal?.removeEventListener('abort', leave);
    watch?.close();
    await connection?.close();
    // Nobody goes on with it: only whether there is one was of interest.
    forgetSession(sessionName(showBroker(settings.brokers[0] as string), settings.clientId));
  }
}
