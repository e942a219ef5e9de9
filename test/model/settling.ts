// What must hold of a world: everything that must come has come, nothing that must not, and after the close nothing is left.
import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { matches, splitShared } from '../scripted-broker/topics.ts';
import { FENCES } from './asking.ts';
import { PLACES, reportPayload, reportTopic, timeOf } from './field.ts';
import type { Published } from './reports.ts';
import type { World } from './world.ts';

/** How long something that must come may take on a machine that is busy. */
const LIMIT_MS = 8_000;
/** Closing has a deadline of 2 s; the rest is for a busy machine. */
const CLOSE_LIMIT_MS = 4_000;

/**
 * Waits until everything has happened that must, and checks that nothing has that must not.
 * Nothing may be held or withheld.
 */
export async function settle(world: World): Promise<void> {
  if (world.hasUsers) {
    await until(world, 'the connection is back', () => notConnected(world));
    await fence(world);
  }
  await until(world, 'everything has come', () => missing(world));
  world.reports.settle(world.isSteady);
  check(world);
  world.isSteady = world.hasUsers && world.refusedOn !== world.connection;
}

/** Ends what holds anything up, settles, and closes, unless it is closed. */
export async function finish(world: World): Promise<void> {
  if (!world.isClosed) {
    if (world.isHeld) {
      world.release();
    }
    if (world.isRefusing) {
      world.refuse(undefined);
    }
    world.grant();
    if (world.hasRefused) {
      world.lose();
    }
    await settle(world);
    await close(world);
  }
  // What was asked after the close has its end a moment later.
  await until(world, 'every request has ended', () => left(world));
  check(world);
  const wrong = world.requests.wrong();
  if (wrong.length > 0) {
    throw new Error(wrong.join('\n'));
  }
}

/** Closes in whatever state it is; afterwards nothing of it may be left. */
export async function close(world: World): Promise<void> {
  const start = performance.now();
  await world.close();
  const took = performance.now() - start;
  if (took > CLOSE_LIMIT_MS) {
    throw new Error(`closing took ${Math.round(took)} ms`);
  }
  await until(world, 'the closed session is gone', () => left(world));
  const listeners = getEventListeners(world.abort.signal, 'abort').length;
  if (listeners > 0) {
    throw new Error(`${listeners} listeners are left at a signal`);
  }
}

/** A request that is answered at once: what the session has sent before it has arrived. */
async function fence(world: World, [gateway = '', ...others] = FENCES): Promise<void> {
  const { session, nextNumber } = world;
  await turn();
  await turn();
  const sample = { gateway, device: gateway, identifier: '8801', time: timeOf(nextNumber()) };
  const { signal } = new AbortController();
  try {
    await session.acknowledge(sample, { signal, wait: true, timeout: LIMIT_MS });
  } catch (error) {
    // Losses can have looked as if the broker forbade the filter of its responses.
    if (!world.hasRefused || others.length === 0) {
      throw error;
    }
    await fence(world, others);
  }
}

function notConnected({ session, connection, refusedOn }: World): string | undefined {
  const { name } = session.state.mqtt;
  if (!connection) {
    return 'the broker has no connection';
  }
  const isThere = name === 'connected' || (name === 'limited' && refusedOn === connection);
  return isThere ? undefined : `the session is ${name}`;
}

/** The first thing that is still to come, in words. */
function missing(world: World): string | undefined {
  if (!world.hasUsers) {
    return undefined;
  }
  const { connection, reports, requests, setup } = world;
  const kept = world.broker.sessions.get(world.clientId);
  const unread = (kept?.unacknowledged.length ?? 0) + (kept?.queued.length ?? 0);
  if (unread > 0) {
    return `${unread} messages are not acknowledged`;
  }
  const late = reports.missing(connection, setup.mqtt.persistent) ?? requests.unended(connection);
  // Where a subscription was refused, some of it is missing rightly.
  if (late !== undefined || world.refusedOn === connection) {
    return late;
  }
  return notCovered(world) ?? requests.idle(setup.mqtt.maxInFlight, world.connections);
}

/** What is subscribed for reports, and what should be, where they differ. */
function notCovered({ broker, clientId, prefix, activeSubscribers }: World): string | undefined {
  const filters = [...broker.subscriptionsOf(clientId).keys()]
    .map((filter) => splitShared(filter).filter)
    .filter((filter) => !filter.includes('/response/'));
  const wanted = PLACES.filter((place) => activeSubscribers.some((one) => one.wants(place)));
  const topics = wanted.map((place) => reportTopic(prefix, place));
  const uncovered = topics.find((topic) => !filters.some((filter) => matches(filter, topic)));
  if (uncovered) {
    return `nothing is subscribed for ${uncovered}`;
  }
  // Gateways of this model send the raw form only, and who wants both forms is subscribed to both.
  const stale = filters.find(
    (filter) => !topics.some((topic) => matches(filter.replace('-decoded', ''), topic)),
  );
  return stale && `${stale} is subscribed and nobody wants it`;
}

/** What a closed session has left, in words. */
function left({ broker, clientId, setup, requests }: World): string | undefined {
  const isOpen = broker.openConnections.some((one) => one.clientId === clientId);
  if (isOpen) {
    return 'its connection is open';
  }
  if (broker.sessions.has(clientId) && !setup.mqtt.persistent) {
    return 'the broker has its session';
  }
  return requests.open.length > 0 ? `${requests.open.length} requests have not ended` : undefined;
}

function check({ broker, clientId, prefix, reports, requests }: World): void {
  const sent = new Map<string, number>();
  for (const { clientId: receiver, packet } of broker.sent) {
    if (packet.cmd !== 'publish' || receiver !== clientId) {
      continue;
    }
    const key = `${packet.topic} ${packet.payload}`;
    sent.set(key, (sent.get(key) ?? 0) + 1);
  }
  const transmissions = (one: Published) =>
    sent.get(`${reportTopic(prefix, one)} ${reportPayload(one.number, one.isBad)}`) ?? 0;
  const faults = [...reports.faults, ...requests.faults, ...reports.doubled(transmissions)];
  if (faults.length > 0) {
    throw new Error(faults.join('\n'));
  }
}

/** @param isMissing what is still to come, in words */
async function until(world: World, goal: string, isMissing: () => string | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const fail = () => reject(new Error(`after ${LIMIT_MS / 1000} s not: ${goal}; ${isMissing()}`));
    timer = setTimeout(fail, LIMIT_MS);
  });
  try {
    await Promise.race([late, world.broker.until(() => isMissing() === undefined)]);
  } finally {
    clearTimeout(timer);
  }
}
