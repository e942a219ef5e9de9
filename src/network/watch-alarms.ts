// The conditions of what a watch looks after: how they begin, what is told of them, and how they end.
import { firstOf } from '../collections/first-of.ts';
import { Queue } from '../collections/queue.ts';
import type { Catalogue } from '../protocol/catalogue.ts';
import type { Condition, Presence } from '../protocol/conditions.ts';
import type { ReportTopic } from '../protocol/reports/index.ts';
import { NO_ERRORS } from './device-errors.ts';
import { PassersBy } from './passers-by.ts';
import { wallTime } from './wall-time.ts';
import type { ConditionChange, WatchContext, WatchListener } from './watch-context.ts';
import type { Sender } from './watch-schedule.ts';
import type { WatchScope } from './watch-scope.ts';
import type { Alarm, Watched } from './watched.ts';

/** A condition that comes and goes within this time is not told. */
const HOLD_MS = 5_000;

export class WatchAlarms implements Sender {
  /** Heard a few times only, expected by nobody. */
  readonly passersBy = new PassersBy();
  readonly #context: WatchContext;
  readonly #listener: WatchListener;
  readonly #scope: WatchScope;
  #needing = 0;
  /** What flows that are being replaced would not have received, and what one turn does not take. */
  readonly #untold = new Queue<ConditionChange>();
  /** What is told comes after that. */
  #mustWait = false;

  constructor(context: WatchContext, listener: WatchListener, scope: WatchScope) {
    this.#context = context;
    this.#listener = listener;
    this.#scope = scope;
  }

  /** How many need somebody. */
  get needing(): number {
    return this.#needing;
  }

  /** What is still to be told. */
  get untold(): Iterable<ConditionChange> {
    return this.#untold;
  }

  /** Goes on with what the watch before could not tell any more. */
  takeOver(untold: Iterable<ConditionChange>): void {
    for (const change of [...untold, ...this.#untold.clear()]) {
      this.#untold.push(change);
    }
  }

  /** What is told from now on comes in a later turn, or when flows run: nobody hears a node that is in its constructor. */
  wait(): void {
    this.#mustWait = true;
    this.#context.schedule.sendLater(this);
  }

  sendNext(): boolean {
    const change = this.#untold.shift();
    this.#mustWait = change !== undefined;
    if (change) {
      this.#send(change);
    }
    return this.#mustWait;
  }

  /** Nothing is told any more; what is not told yet waits for who goes on with it. */
  close(): void {
    this.#mustWait = true;
    this.#context.schedule.dismiss(this);
  }

  /** What has been told and is not over, the oldest first. */
  active(entries: Iterable<Watched>): ConditionChange[] {
    return [...toldOf(entries)].sort(byAge).map(([entry, alarm]) => this.#changeOf(entry, alarm, true));
  }

  /** The first of `active`, and how many there are; it does not sort all of them. */
  firstActive(entries: Iterable<Watched>, limit: number): { rows: ConditionChange[]; total: number } {
    const { first, total } = firstOf(toldOf(entries), limit, byAge);
    return { rows: first.map(([entry, alarm]) => this.#changeOf(entry, alarm, true)), total };
  }

  /** It holds now; it is told when it has held for a while. */
  begin(entry: Watched, condition: Condition): Alarm {
    const now = this.#context.now();
    const alarm: Alarm = {
      condition,
      since: wallTime(now),
      beganAt: now,
      dueAt: this.#context.schedule.time + HOLD_MS,
      isTold: false,
      value: undefined,
      limit: undefined,
      gateway: this.#scope.placeOf(entry),
      errors: NO_ERRORS,
      isStored: false,
      storedErrors: [],
    };
    entry.alarms.push(alarm);
    if (entry.alarms.length === 1) {
      this.passersBy.sort(entry);
    }
    return alarm;
  }

  /** Tells it where it has held long enough. */
  tellIfDue(entry: Watched, alarm: Alarm): void {
    if (alarm.isTold || this.#context.schedule.time < alarm.dueAt) {
      return;
    }
    if (!needsSomebody(entry)) {
      this.#needing++;
    }
    alarm.isTold = true;
    this.#tell(entry, alarm, true);
  }

  end(entry: Watched, alarm: Alarm, presence: Presence): void {
    entry.alarms = entry.alarms.filter((one) => one !== alarm);
    if (entry.alarms.length === 0) {
      this.passersBy.sort(entry);
    }
    if (alarm.isTold) {
      alarm.value = READINGS[alarm.condition]?.(presence);
      if (!needsSomebody(entry)) {
        this.#needing--;
      }
      this.#tell(entry, alarm, false);
    }
  }

  /** They are not watched any more. */
  tellEnds(entry: Watched, alarms: readonly Alarm[] = entry.alarms): void {
    for (const alarm of alarms) {
      if (alarm.isTold) {
        this.#tell(entry, alarm, false);
      }
    }
  }

  /** It is not watched any more: what was told of it ends. */
  forget(entry: Watched): void {
    if (needsSomebody(entry)) {
      this.#needing--;
    }
    this.tellEnds(entry);
  }

  /** Goes on with what was told before. @param conditions that are watched; what was told of others ends */
  restore(entry: Watched, alarms: readonly Alarm[], conditions: readonly Condition[]): void {
    const { schedule } = this.#context;
    const isWatched = ({ condition }: Alarm) => conditions.includes(condition);
    this.tellEnds(
      entry,
      alarms.filter((alarm) => !isWatched(alarm)),
    );
    const isNew = ({ condition }: Alarm) => !entry.alarms.some((alarm) => alarm.condition === condition);
    const restored = alarms.filter((alarm) => isWatched(alarm) && isNew(alarm));
    const needed = needsSomebody(entry);
    // What has begun anew and was not told yet goes on as it was.
    const told = alarms.filter(({ isTold }) => isTold);
    for (const alarm of entry.alarms) {
      const earlier = told.find(({ condition }) => condition === alarm.condition);
      if (earlier && !alarm.isTold) {
        const { since, beganAt, storedErrors } = earlier;
        const isStored = storedErrors.length > 0;
        Object.assign(alarm, { isTold: true, since, beganAt, isStored, storedErrors });
      }
    }
    entry.alarms.push(...restored.map((alarm) => ({ ...alarm, dueAt: schedule.time + HOLD_MS })));
    this.passersBy.sort(entry);
    if (!needed && needsSomebody(entry)) {
      this.#needing++;
    }
    schedule.set(entry, schedule.time);
  }

  #tell(entry: Watched, alarm: Alarm, isActive: boolean): void {
    const change = this.#changeOf(entry, alarm, isActive);
    if (!this.#mustWait && !this.#context.schedule.maySend) {
      this.wait();
    }
    if (this.#mustWait) {
      this.#untold.push(change);
    } else {
      this.#send(change);
    }
  }

  #send(change: ConditionChange): void {
    this.#context.schedule.sent();
    this.#context.told();
    this.#listener.changed(change);
    this.#listener.counted();
  }

  #changeOf(entry: Watched, alarm: Alarm, active: boolean): ConditionChange {
    const { condition, since, value, limit } = alarm;
    const { id: device } = entry;
    const gateway = entry.kind === 'gateway' ? device : (alarm.gateway ?? this.#scope.placeOf(entry));
    const deviceName = this.#context.nameOf(device);
    return {
      condition,
      active,
      ...(gateway !== undefined && { gateway }),
      device,
      ...(deviceName !== undefined && { deviceName }),
      since,
      ...(value !== undefined && { value }),
      ...(limit !== undefined && { limit }),
    };
  }
}

type Told = readonly [entry: Watched, alarm: Alarm];

function* toldOf(entries: Iterable<Watched>): Generator<Told> {
  for (const entry of entries) {
    for (const alarm of entry.alarms) {
      if (alarm.isTold) {
        yield [entry, alarm];
      }
    }
  }
}

const byAge = ([, one]: Told, [, other]: Told): number => one.beganAt - other.beganAt;

const needsSomebody = ({ alarms }: Watched): boolean => alarms.some(({ isTold }) => isTold);

/** What is said of a condition that is over. */
const READINGS: Partial<Record<Condition, (presence: Presence) => number | undefined>> = {
  'battery-low': ({ battery }) => battery,
  'weak-signal': ({ signal }) => signal,
};

const isHeardSince = (heard: { readonly heardAt: number } | undefined, since: number): boolean =>
  heard !== undefined && heard.heardAt >= since;

/** Whether what was told before the start is over: what is not known any more does not say so. */
export function showsEnd(
  { condition, storedErrors }: Alarm,
  { kind, state, gatewayState, since }: Watched,
  { battery, signal, isDfu }: Presence,
): boolean {
  switch (condition) {
    case 'silent':
      // A gateway has a silence of its own.
      return kind === 'gateway' || isHeardSince(state, since);
    case 'gateway-silent':
      return kind === 'device' || isHeardSince(gatewayState, since);
    case 'battery-low':
      return battery !== undefined;
    case 'weak-signal':
      // Nobody hears a gateway: it was told of it as of a device.
      return kind === 'gateway' || signal !== undefined;
    case 'dfu':
      return isDfu === false;
    case 'error':
      return storedErrors.length === 0;
  }
}

/** Those errors of before the start that a report says nothing of. @returns the same list where these are all */
export function unreported(
  stored: Alarm['storedErrors'],
  { kind, identifier }: Readonly<ReportTopic>,
  catalogue: Catalogue,
): Alarm['storedErrors'] {
  if (kind === 'heartbeat') {
    return stored.includes(null) ? stored.filter((one) => one !== null) : stored;
  }
  if (kind === 'measurement-error' || identifier === undefined) {
    return stored;
  }
  // By name and by hex id: one gateway may have told of it, and another one of its end.
  const property = catalogue.find(identifier);
  const isReported = (one: string | null) =>
    one === identifier || (one !== null && property !== undefined && catalogue.find(one) === property);
  return stored.some(isReported) ? stored.filter((one) => !isReported(one)) : stored;
}
