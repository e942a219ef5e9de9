// Asks a broker whose session it gives to a client id that is new.
import type { Phrase } from '../errors.ts';
import { SILENT } from '../log.ts';
import type { MqttSettings } from '../settings.ts';
import { besideId } from './client-id.ts';
import { Connection } from './connection.ts';
import { ConnectionWatch } from './connection-watch.ts';
import type { Reason } from './reasons.ts';

type Failure = Phrase | Reason;
type Session = 'none' | 'kept';

/** When nobody waits for the answer any more, it is waited for so long: what it leaves at the broker can be ended then. */
const LEAVE_MS = 1_000;
/** A broker that never answers in time has no more sessions because of the questions. */
const MAX_LEFT = 8;

/**
 * Whether the broker has a session for an id that is new: then it takes another id for it, such as the user's name, and
 * beginning without the session would delete what waits there for the deployed service. What comes of it is not
 * acknowledged. Where there is none, the broker has one under the new id then, which a connection without it ends at once.
 */
export class SessionQuestion {
  readonly #settings: MqttSettings;
  /** Ids under which a broker may have a session because of a question, and its address. */
  readonly #left = new Map<string, string>();

  /** @param settings those of the service, persistent */
  constructor(settings: MqttSettings) {
    this.#settings = settings;
  }

  /**
   * Each time with another id: without an answer nobody knows whether the broker has a session under the last one.
   * @param url of the settings: what one broker says is not true of the others
   * @param deadline in milliseconds of `performance.now()`
   * @param signal nobody waits any more
   * @returns why there is no connection, else what there is
   */
  async ask(url: string, deadline: number, signal?: AbortSignal): Promise<Failure | Session> {
    const settings = { ...this.#settings, brokers: [url] };
    const clientId = besideId(settings.clientId);
    const found = await visit({ ...settings, clientId }, deadline, signal);
    if (found === 'kept') {
      this.#left.clear();
    } else if (this.#left.size < MAX_LEFT) {
      this.#left.set(clientId, url);
    }
    if (found === 'none') {
      await this.#end(url, deadline, signal);
    }
    return found;
  }

  /** Only where the broker is known to take the ids as they are: it would end the session of flows else. */
  async #end(url: string, deadline: number, signal?: AbortSignal): Promise<void> {
    const settings = { ...this.#settings, brokers: [url], persistent: false };
    for (const [clientId] of [...this.#left].filter(([, place]) => place === url)) {
      if ((await visit({ ...settings, clientId }, deadline, signal)) !== 'none') {
        return;
      }
      this.#left.delete(clientId);
    }
  }
}

/** Connects once, and leaves. */
async function visit(
  settings: MqttSettings,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<Failure | Session> {
  let leave = (): void => {};
  let timer: NodeJS.Timeout | undefined;
  let watch: ConnectionWatch | undefined;
  let connection: Connection | undefined;
  try {
    return await new Promise((resolve) => {
      const waiting = new ConnectionWatch(settings, deadline, (failure) => resolve(failure ?? 'none'));
      watch = waiting;
      leave = () => {
        timer = setTimeout(() => waiting.giveUp(), LEAVE_MS);
      };
      signal?.addEventListener('abort', leave);
      if (signal?.aborted) {
        leave();
      }
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
    signal?.removeEventListener('abort', leave);
    clearTimeout(timer);
    watch?.close();
    await connection?.close();
  }
}
