// What devices measure: numbers that wander around the time of day, motion that comes and goes, batteries that fall.
import type { Device } from './fleet.ts';
import { between, pick, type Random } from './random.ts';
import { known } from './wire.ts';

/** How far a measured number moves from one sample to the next. */
const DRIFT: Record<string, number> = { '8800': 0.15, '8801': 0.4, '8802': 0.8, '8803': 20, '8103': 3 };
/** In this time two thirds of the way to the value of the hour are gone. */
const INERTIA_MS = 20 * 60_000;
/** At least this share of the way is gone from one sample to the next. */
const MIN_PULL = 0.02;
const HOUR_MS = 3_600_000;
/** Percent; somebody puts in a new battery. */
const EMPTY_BATTERY = 3;

const hoursOf = (now: number): number => {
  const date = new Date(now);
  return date.getHours() + date.getMinutes() / 60;
};
/** From -1 at three in the night to 1 at three in the afternoon, by the clock of this machine. */
const warmth = (now: number): number => Math.cos(((hoursOf(now) - 15) / 12) * Math.PI);
/** From 0 in the night to 1 at noon. */
const daylight = (now: number): number => Math.max(0, Math.sin(((hoursOf(now) - 6) / 12) * Math.PI));

/** The value of an identifier that a device tends to at this time of day. */
function usualValue(device: Device, id: string, now: number): number {
  const mean = device.means.get(id) ?? 0;
  switch (id) {
    case '8800':
      return mean + 2.5 * warmth(now);
    case '8802':
      return mean - 6 * warmth(now);
    case '8803':
      return mean * (0.05 + 1.5 * daylight(now));
    default:
      return mean;
  }
}

const numberOf = (device: Device, id: string): number =>
  known(id).decode(Buffer.from(device.values.get(id) ?? '', 'hex')).value as number;

function measureMotion(random: Random, device: Device): void {
  const before = device.values.get('8810')?.slice(0, 2);
  const now = random() < 0.4 ? pick(random, ['10', '11', '20']) : '00';
  if (before !== now) {
    device.transitions++;
  }
  const ext = { transitionCounter: device.transitions, isTransition: before !== now };
  device.values.set('8810', known('8810').encode(Number.parseInt(now, 16), ext));
}

/** Lets a device measure; what is held stays as it is. */
export function measure(random: Random, device: Device, id: string, now: number): void {
  if (device.held.has(id)) {
    return;
  }
  if (id === '8810') {
    measureMotion(random, device);
    return;
  }
  const passed = now - (device.measuredAt.get(id) ?? now);
  device.measuredAt.set(id, now);
  const pull = Math.max(MIN_PULL, 1 - Math.exp(-passed / INERTIA_MS));
  const last = numberOf(device, id);
  const step = DRIFT[id] ?? 1;
  const next = last + (usualValue(device, id, now) - last) * pull + between(random, -step, step);
  device.values.set(id, known(id).encode(Math.max(id === '8800' ? -30 : 0, next)));
}

/** Gives a device the values of the hour, as one has that stands there for a while. */
export function settle(device: Device, now: number, ids: Iterable<string> = device.means.keys()): void {
  for (const id of ids) {
    if (device.means.has(id)) {
      device.values.set(id, known(id).encode(usualValue(device, id, now)));
    }
  }
}

/** Uptime and battery as they are now. */
export function age(device: Device, now: number): void {
  const passed = now - (device.agedAt || now);
  const seconds = Math.floor(passed / 1000);
  if (device.agedAt && seconds < 1) {
    return;
  }
  device.agedAt = now - (passed % 1000);
  const uptime = (numberOf(device, '8101') + seconds) % 2 ** 32;
  device.values.set('8101', known('8101').encode(uptime));
  const { battery } = device;
  const before = Math.round(battery.level);
  battery.level -= (battery.perHour * passed) / HOUR_MS;
  if (battery.level < EMPTY_BATTERY) {
    battery.level = 100;
  }
  // Only when it falls: what was written otherwise stays until then.
  if (Math.round(battery.level) !== before && !device.held.has('8100')) {
    device.values.set('8100', known('8100').encode(Math.round(battery.level)));
  }
}
