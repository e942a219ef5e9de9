// THE TABLE of conditions under which a gateway or a device needs somebody, judged by what is known of it.

/** What is judged; what is not known is undefined. */
export interface Presence {
  kind: 'gateway' | 'device';
  /** Milliseconds for which it was not heard although its reports would have come. */
  silentMs: number | undefined;
  /** Milliseconds between two reports, usually. */
  intervalMs: number | undefined;
  /** Of the error that was reported and is not over. */
  error: number | undefined;
  /** In percent. */
  battery: number | undefined;
  /** In dBm, of the parent that hears it best; see `silenceLimitMs` for its period. */
  signal: number | undefined;
  isDfu: boolean | undefined;
}

export interface ConditionLimits {
  /** Seconds; 0: three times the usual interval, at least a minute. */
  silentAfter: number;
  /** In percent. */
  batteryBelow: number;
  /** In percent: a low battery is fine again from here on; 0: five above `batteryBelow`. */
  batteryFine: number;
  /** In dBm. */
  signalBelow: number;
}

export const DEFAULT_LIMITS: ConditionLimits = {
  silentAfter: 0,
  batteryBelow: 20,
  batteryFine: 0,
  signalBelow: -85,
};

const MIN_SILENCE_MS = 60_000;
const SILENT_INTERVALS = 3;

/** A condition that holds: what it was judged by, in the unit of its limit; `limit` is undefined where there is none. */
export interface Verdict {
  value: number | undefined;
  limit: number | undefined;
}

/**
 * How long a gateway or a device may be silent, and how old its best signal may be.
 * @param intervalMs its usual interval; undefined: not known
 * @returns milliseconds; undefined where that is not known yet
 */
export function silenceLimitMs(
  { silentAfter }: ConditionLimits,
  intervalMs: number | undefined,
): number | undefined {
  if (silentAfter > 0) {
    return silentAfter * 1_000;
  }
  return intervalMs === undefined ? undefined : Math.max(MIN_SILENCE_MS, SILENT_INTERVALS * intervalMs);
}

type Judge = (presence: Presence, limits: ConditionLimits) => Verdict | undefined;

/** Each judges one condition: undefined where it does not hold, or is not known. */
export const CONDITIONS = {
  /** Value and limit in seconds. */
  silent: (presence, limits) => (presence.kind === 'device' ? judgeSilence(presence, limits) : undefined),
  /** Value and limit in seconds; of the gateway, not of each device that it hears. */
  'gateway-silent': (presence, limits) =>
    presence.kind === 'gateway' ? judgeSilence(presence, limits) : undefined,
  /** The value is the code of the error. */
  error: ({ error }) => (error === undefined ? undefined : { value: error, limit: undefined }),
  /** In percent. */
  'battery-low': ({ battery }, { batteryBelow }) => below(battery, batteryBelow),
  /** In dBm. */
  'weak-signal': ({ signal }, { signalBelow }) => below(signal, signalBelow),
  dfu: ({ isDfu }) => (isDfu ? { value: undefined, limit: undefined } : undefined),
} as const satisfies Record<string, Judge>;

export type Condition = keyof typeof CONDITIONS;

/** In dB: a signal varies by as much from report to report. */
const SIGNAL_HYSTERESIS_DB = 3;
/** In percent: a battery that is warm or at rest shows as much more. */
const BATTERY_HYSTERESIS = 5;

/** From which level on a low battery is fine again, in percent. */
export const fineBattery = ({ batteryBelow, batteryFine }: ConditionLimits): number =>
  batteryFine > 0 ? batteryFine : Math.min(100, batteryBelow + BATTERY_HYSTERESIS);

/** Of a condition that was told: whether it still holds, where that needs less than to begin. The limit is the one that was set. */
export const CONDITIONS_TOLD: Partial<Record<Condition, Judge>> = {
  'battery-low': ({ battery }, limits) =>
    below(battery, fineBattery(limits)) && { value: battery, limit: limits.batteryBelow },
  'weak-signal': ({ signal }, { signalBelow }) =>
    below(signal, signalBelow + SIGNAL_HYSTERESIS_DB) && { value: signal, limit: signalBelow },
};

export const CONDITION_NAMES = Object.keys(CONDITIONS) as readonly Condition[];

/** The names of those that hold. */
export function conditionsOf(presence: Presence, limits: ConditionLimits = DEFAULT_LIMITS): Condition[] {
  return CONDITION_NAMES.filter((name) => CONDITIONS[name](presence, limits) !== undefined);
}

function judgeSilence({ silentMs, intervalMs }: Presence, limits: ConditionLimits): Verdict | undefined {
  const limit = silenceLimitMs(limits, intervalMs);
  if (silentMs === undefined || limit === undefined || silentMs <= limit) {
    return undefined;
  }
  return { value: Math.round(silentMs / 1_000), limit: Math.round(limit / 1_000) };
}

function below(value: number | undefined, limit: number): Verdict | undefined {
  return value !== undefined && value < limit ? { value, limit } : undefined;
}
