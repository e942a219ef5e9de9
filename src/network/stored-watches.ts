// What watches know as it lies in a store between two starts of Node-RED: whom they watch, and what they have told.

import { CONDITION_NAMES, type Condition } from '../protocol/conditions.ts';
import { parseMac } from '../protocol/mac.ts';
import { MAX_ERRORS, NO_ERRORS } from './device-errors.ts';
import type { DeviceWatch } from './device-watch.ts';
import type { ConditionChange, KeptWatch } from './watch-context.ts';
import { type Alarm, intervalOf, isOfSilence, knownIntervalOf, type Watched } from './watched.ts';

/** What JSON can hold of a condition that was told. */
interface StoredAlarm {
  condition: string;
  since: string;
  value?: number;
  limit?: number;
  gateway?: string;
  /** Of the errors that are not over: the properties; null: the heartbeat. Empty: they are over, and nobody has heard that. */
  errors?: (string | null)[];
}

interface StoredDevice {
  id: string;
  kind: Watched['kind'];
  gateway?: string;
  /** By which it belongs to the watch, though that was taken away. */
  taken?: string;
  /** That brings most of its reports, where that is another one. */
  main?: string;
  /** As `interval`, of a gateway whose own silence is not watched. */
  gatewayInterval?: number;
  /** The gateway has no other device. */
  alone?: boolean;
  /** Milliseconds between two reports, usually. */
  interval?: number;
  /** Of a gateway: it has brought reports. */
  brought?: boolean;
  /** Milliseconds for which it is silent; none while Node-RED is down. */
  silent?: number;
  /** Nobody knows how often it comes: it is missed only where a time is set. */
  passing?: boolean;
  active?: StoredAlarm[];
}

/** By the name of the watch. */
export type StoredWatches = Record<string, StoredDevice[]>;

/** Texts of a store that somebody has filled are not kept longer than this. */
const MAX_TEXT_LENGTH = 200;
/** Nobody is silent for longer. */
const MAX_SILENT_MS = 366 * 24 * 3_600_000;

/**
 * @param watches what each watches, by its name
 * @param max devices of all watches together: first those that need somebody, then those that are known
 */
export function storeWatches(watches: ReadonlyMap<string, KeptWatch>, max: number): StoredWatches {
  const stored: StoredWatches = {};
  let left = max;
  for (const turn of TURNS) {
    for (const [owner, watch] of watches) {
      const devices = stored[owner] ?? [];
      stored[owner] = devices;
      const untold = firstOfEach(watch.untold);
      for (const entry of watch.entries.values()) {
        const changes = untold.get(entry.id);
        if (left > 0 && turnOf(entry, watch, changes) === turn) {
          devices.push(toStored(entry, watch, changes));
          left--;
        }
      }
    }
  }
  return stored;
}

const TURNS = ['needs somebody', 'known', 'passing'] as const;

/** @returns undefined: it was heard a few times only, and would be missed by nobody */
function turnOf(
  entry: Watched,
  watch: KeptWatch,
  untold: FirstChanges | undefined,
): (typeof TURNS)[number] | undefined {
  if (untold !== undefined || entry.alarms.some(({ isTold }) => isTold)) {
    return 'needs somebody';
  }
  if (!isPassingBy(entry)) {
    return 'known';
  }
  return watch.isMissed(entry) ? 'passing' : undefined;
}

/** It is missed only where a time is set. */
const isPassingBy = (entry: Watched): boolean => entry.alarms.length === 0 && intervalOf(entry) === undefined;

/** Whether somebody who would be missed, and is not yet, was not heard since then. */
export function hasSilences(watch: KeptWatch, since: number): boolean {
  for (const entry of watch.entries.values()) {
    const heard = entry.kind === 'gateway' ? entry.gatewayState : entry.state;
    const isSilent = (heard?.heardAt ?? entry.since) < since;
    if (isSilent && watch.isMissed(entry) && !entry.alarms.some(isOfSilence)) {
      return true;
    }
  }
  return false;
}

/** Of one device, the first of each condition that is still to be told: what was told is as it was before that. */
type FirstChanges = ReadonlyMap<string, ConditionChange>;

function firstOfEach(untold: Iterable<ConditionChange>): ReadonlyMap<string, FirstChanges> {
  const byDevice = new Map<string, Map<string, ConditionChange>>();
  for (const change of untold) {
    const { device, condition } = change;
    const first = byDevice.get(device) ?? new Map<string, ConditionChange>();
    byDevice.set(device, first.set(condition, first.get(condition) ?? change));
  }
  return byDevice;
}

/** What begins and is not told yet begins anew after a restart; what has ended, and nobody has heard of that, ends then. */
function toldOf({ kind, alarms }: Readonly<Watched>, untold: FirstChanges | undefined): StoredAlarm[] {
  const told = alarms.filter(({ isTold, condition }) => isTold && untold?.get(condition)?.active !== true);
  const ended = [...(untold?.values() ?? [])].filter(
    ({ active, condition }) => !active && !told.some((one) => one.condition === condition),
  );
  return [
    ...told.map(toStoredAlarm),
    ...ended.map(({ condition, since, limit, gateway }) => ({
      condition,
      since,
      ...(limit !== undefined && { limit }),
      ...(gateway !== undefined && kind === 'device' && { gateway }),
      ...(condition === 'error' && { errors: [] }),
    })),
  ];
}

function toStored(entry: Watched, watch: KeptWatch, untold: FirstChanges | undefined): StoredDevice {
  const { id, kind } = entry;
  const gateway = kind === 'gateway' ? undefined : watch.gatewayOf(entry);
  const taken = kind === 'gateway' ? undefined : watch.takenGatewayOf(entry);
  const main = gateway === undefined ? undefined : watch.mainGatewayOf(entry);
  const gatewayInterval = gateway === undefined ? undefined : watch.gatewayIntervalMs(gateway);
  const silent = Math.round(watch.silentMs(entry));
  const interval = knownIntervalOf(entry);
  const active = toldOf(entry, untold);
  return {
    id,
    kind,
    ...(gateway !== undefined && { gateway }),
    ...(taken !== undefined && { taken }),
    ...(main !== undefined && main !== gateway && { main }),
    ...(gatewayInterval !== undefined && { gatewayInterval: Math.round(gatewayInterval) }),
    ...(gateway !== undefined && watch.isAlone(entry) && { alone: true }),
    ...(interval !== undefined && { interval: Math.round(interval) }),
    ...(watch.hasBrought(entry) && { brought: true }),
    ...(silent > 0 && { silent }),
    ...(isPassingBy(entry) && { passing: true }),
    ...(active.length > 0 && { active }),
  };
}

function toStoredAlarm({
  condition,
  since,
  value,
  limit,
  gateway,
  errors,
  storedErrors,
}: Alarm): StoredAlarm {
  const reported = errors.map(({ identifier }) => identifier ?? null);
  // Those of before the start are the first that a full list has no room for.
  const failing = [...new Set([...storedErrors, ...reported])].slice(-MAX_ERRORS);
  return {
    condition,
    since,
    ...(value !== undefined && { value }),
    ...(limit !== undefined && { limit }),
    ...(gateway !== undefined && { gateway }),
    ...(condition === 'error' && { errors: failing }),
  };
}

/** What is none of ours is left out. */
export function restoreWatch(watch: DeviceWatch, stored: unknown, now: number): void {
  const silent = new Set<string>();
  let unrestored = 0;
  for (const one of Array.isArray(stored) ? (stored as unknown[]) : []) {
    const {
      id,
      kind,
      gateway,
      taken,
      main,
      gatewayInterval,
      alone,
      interval,
      brought,
      silent: silentMs,
      passing,
      active,
    } = (one ?? {}) as Partial<StoredDevice>;
    const mac = parseMac(id);
    if (mac === undefined || (kind !== 'device' && kind !== 'gateway')) {
      continue;
    }
    const storedGateway = parseMac(gateway);
    const storedMainGateway = parseMac(main) ?? storedGateway;
    const takenGateway = parseMac(taken);
    if (takenGateway !== undefined) {
      watch.recallForgotten(takenGateway);
    }
    const chosenBy = takenGateway ?? storedGateway;
    const storedIntervalMs = isPositive(interval) ? interval : undefined;
    const alarms = fromStored(active, now);
    const known = kind === 'gateway' ? mac : storedGateway;
    // Those that need somebody come first.
    const isSilent = alarms.some(({ condition }) => condition === 'gateway-silent');
    if (known !== undefined && !silent.has(known)) {
      const gatewayIntervalMs = kind === 'gateway' ? interval : gatewayInterval;
      watch.recallGateway(known, !isSilent, isPositive(gatewayIntervalMs) ? gatewayIntervalMs : undefined);
    }
    if (isSilent) {
      silent.add(mac);
    }
    if (storedMainGateway !== undefined && !silent.has(storedMainGateway)) {
      watch.recallGateway(storedMainGateway, true, undefined);
    }
    const wasSilentMs = isPositive(silentMs) ? Math.min(silentMs, MAX_SILENT_MS) : 0;
    const wasAlone = alone === true;
    const hasBrought = brought === true;
    // An address that was used for an update only is not heard again.
    const isUpdated = alarms.some(({ condition }) => condition === 'dfu');
    const isOfUpdate = kind === 'device' && storedIntervalMs === undefined && isUpdated;
    const isExpected = passing !== true && !isOfUpdate;
    const hasRoom = watch.restore(
      mac,
      kind,
      {
        ...{ chosenBy, storedGateway, storedMainGateway, storedIntervalMs },
        ...{ hasBrought, isExpected, wasAlone, alarms },
      },
      wasSilentMs,
    );
    unrestored += hasRoom ? 0 : 1;
  }
  if (unrestored > 0) {
    watch.unrestored(unrestored);
  }
}

const isPositive = (given: unknown): given is number => typeof given === 'number' && given > 0;

function fromStored(active: unknown, now: number): Alarm[] {
  return (Array.isArray(active) ? (active as unknown[]) : []).flatMap((one): Alarm[] => {
    const { condition, since, ...more } = (one ?? {}) as Partial<StoredAlarm>;
    const known = CONDITION_NAMES.find((name) => name === condition);
    const began =
      typeof since === 'string' && since.length <= MAX_TEXT_LENGTH ? Date.parse(since) : Number.NaN;
    if (known === undefined || Number.isNaN(began)) {
      return [];
    }
    return [alarmOf(known, since as string, Math.min(now, now + began - Date.now()), more)];
  });
}

function alarmOf(
  condition: Condition,
  since: string,
  beganAt: number,
  { value, limit, gateway, errors }: { [name in keyof StoredAlarm]?: unknown },
): Alarm {
  const number = (given: unknown) => (typeof given === 'number' ? given : undefined);
  return {
    condition,
    since,
    beganAt,
    dueAt: 0,
    isTold: true,
    value: number(value),
    limit: number(limit),
    gateway: parseMac(gateway),
    errors: NO_ERRORS,
    isStored: true,
    storedErrors: condition === 'error' ? readErrors(errors) : [],
  };
}

/** Where a store says nothing of use, the next heartbeat tells whether it is over. */
function readErrors(given: unknown): (string | null)[] {
  const errors = Array.isArray(given) ? (given as unknown[]) : [undefined];
  const known = errors
    .slice(0, MAX_ERRORS)
    .filter(
      (one): one is string | null =>
        one === null || (typeof one === 'string' && one.length <= MAX_TEXT_LENGTH),
    );
  return known.length > 0 || errors.length === 0 ? known : [null];
}
