// What a persistent session holds where there is no connection: given back when nobody comes back to it.
import { type Logger, SILENT } from '../log.ts';
import type { MqttSettings } from '../settings.ts';
import { showBroker } from './address.ts';
import { Connection } from './connection.ts';
import { ENTRY_BYTES, MAX_UNRELEASED_BYTES } from './incoming-store.ts';
import { forgetFilters, type KeptSession, keptSession, mayHold, sessionName } from './kept-sessions.ts';

/** Closing takes no longer because of it, however many addresses there are; each has its share of what is left of it. */
const DEADLINE_MS = 1_500;

const UNSEEN = new Error('nobody is there for it');

/**
 * Whether nobody comes back to a session. One address that stays is enough for that somebody does: one that is gone may
 * lead to the same broker, so what is held there is left alone.
 * @param goesOnAt addresses of the service that follows, with this session; undefined: the same
 */
function endsSession(
  { brokers, clientId, persistent }: MqttSettings,
  goesOnAt: readonly string[] | undefined,
  log: Logger,
): boolean {
  const staying = new Set((goesOnAt ?? brokers).map(showBroker));
  const gone = brokers.map(showBroker).filter((broker) => !staying.has(broker));
  if (gone.length === brokers.length) {
    return true;
  }
  for (const broker of gone) {
    if (persistent && mayHold(keptSession(sessionName(broker, clientId))).length > 0) {
      log.warn(
        `${broker} is taken from the list: unless it is the same broker as one that stays, it goes on collecting for ${clientId}`,
      );
    }
  }
  return false;
}

/**
 * Call it before the connection is closed, and what it returns afterwards: several addresses may lead to one broker,
 * where a connection to another one would end the first in the middle.
 * @param connectedTo the address of the service's connection, whose end gives back
 * @param goesOnAt see `endsSession`
 * @returns connects to the others where the broker may hold subscriptions, and gives them back; one after the other.
 *   Undefined: somebody comes back to the session
 */
export function keptElsewhere(
  settings: MqttSettings,
  connectedTo: string | undefined,
  log: Logger,
  goesOnAt: readonly string[] | undefined,
): (() => Promise<void>) | undefined {
  if (!endsSession(settings, goesOnAt, log)) {
    return undefined;
  }
  const others = settings.brokers.filter((other) => settings.persistent && other !== connectedTo);
  const held = others.flatMap((other) => {
    const filters = mayHold(keptSession(sessionName(showBroker(other), settings.clientId)));
    return filters.length > 0 ? [{ other, filters }] : [];
  });
  return async () => {
    const deadline = performance.now() + DEADLINE_MS;
    for (const [n, { other, filters }] of held.entries()) {
      const share = (deadline - performance.now()) / (held.length - n);
      if (!(await giveBack({ ...settings, brokers: [other] }, filters, share))) {
        log.warn(
          `${showBroker(other)} cannot be reached in time: it goes on collecting for ${settings.clientId}`,
        );
      }
    }
  };
}

/** Whether brokers keep one session for both. */
export const haveSameSession = (one: MqttSettings, other: MqttSettings): boolean =>
  one.persistent && other.persistent && areSameClient(one, other);

/** Whether brokers end the connection of one when the other connects. */
export const areSameClient = (one: MqttSettings, other: MqttSettings): boolean =>
  one.clientId === other.clientId &&
  one.brokers.some((url) => other.brokers.some((another) => showBroker(url) === showBroker(another)));

/**
 * A session was left as if somebody would come back to it: where nobody does, gives back at each address that may hold some.
 * @param goesOnAt see `endsSession`
 */
export async function giveBackAll(
  settings: MqttSettings,
  log: Logger,
  goesOnAt: readonly string[] | undefined,
): Promise<void> {
  await keptElsewhere(settings, undefined, log, goesOnAt)?.();
}

/** @returns whether the broker holds none of the filters any more */
async function giveBack(settings: MqttSettings, filters: readonly string[], maxMs: number): Promise<boolean> {
  const session = keptSession(sessionName(showBroker(settings.brokers[0] as string), settings.clientId));
  for (const filter of filters) {
    session.filters.add(filter);
  }
  let finish = (_: boolean): void => {};
  const finished = new Promise<boolean>((resolve) => {
    finish = resolve;
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), maxMs);
  });
  let bytes = 0;
  // It wants nothing: what the session holds is given back as soon as it is there.
  const connection = new Connection(settings, SILENT, {
    state: ({ name }) => (name === 'waiting' || name === 'refused') && finish(false),
    subscribed: () => finish(true),
    // It is read, but not acknowledged: the service that follows may have the same broker under another address.
    message(_topic, { length }, qos, _retained, done) {
      bytes += qos === 2 ? ENTRY_BYTES + length : 0;
      // Of QoS 2 this process has to keep it, with what it kept before.
      done(qos === 2 && bytes > MAX_UNRELEASED_BYTES ? undefined : UNSEEN);
    },
    session() {},
    quota() {},
    lowerQos() {},
    refusing() {},
    isReportFilter: () => false,
    isBlocked: () => false,
    underWay: () => 0,
  });
  connection.open();
  const isDone = await Promise.race([finished, late]);
  if (!isDone) {
    connection.drop();
  }
  await Promise.race([connection.close(), late]);
  clearTimeout(timer);
  forgetFilters(session);
  leave(session);
  return isDone;
}

/** Sessions that were given back and may have messages of QoS 2 left, the oldest first. */
const left = new Set<KeptSession>();

/** Nobody may ever come back to a session: all of them together keep so much, the one that was left last in any case. */
function leave(session: KeptSession): void {
  left.delete(session);
  left.add(session);
  let sum = 0;
  for (const one of [...left].reverse()) {
    sum += bytesOf(one);
    if (one !== session && sum > MAX_UNRELEASED_BYTES) {
      one.untaken.length = 0;
    }
    if (one.untaken.length === 0) {
      left.delete(one);
    }
  }
}

const bytesOf = ({ untaken }: KeptSession): number =>
  untaken.reduce((sum, { payload }) => sum + ENTRY_BYTES + payload.length, 0);
