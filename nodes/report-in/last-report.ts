// The last report for a status: its value with the unit, and how long ago it came.
import { ageOfTime, type Report } from '../../src/index.ts';
import type { Status } from '../shared/runtime/status.ts';

/** A status has room for little more; what a device sends may be of any length. */
const MAX_LENGTH = 24;
/** A status is one line. */
const BREAKS = /\s+/g;

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

/** Units of an age by their international symbols, and how often a text in a unit is made anew; the last that fits counts. */
const UNITS = [
  { symbol: 's', from: 0, unit: SECOND, refreshMs: 5 * SECOND },
  { symbol: 'min', from: MINUTE, unit: MINUTE, refreshMs: MINUTE },
  { symbol: 'h', from: HOUR, unit: HOUR, refreshMs: HOUR },
  { symbol: 'd', from: DAY, unit: DAY, refreshMs: HOUR },
] as const;

/** One timer while there is a report to be shown, which keeps no process alive. */
export class LastReport {
  readonly #onChange: () => void;
  readonly #now: () => number;
  #what: string | undefined;
  #heardAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #waitMs = 0;

  /** @param onChange called when `status` is another one */
  constructor(onChange: () => void, now = () => performance.now()) {
    this.#onChange = onChange;
    this.#now = now;
  }

  /** Takes out at once what is shown: the flow may change the report. */
  note(report: Report): void {
    this.#what = whatOf(report);
    this.#heardAt = this.#now() - (report.retained === true ? ageOfTime(report.time) : 0);
    // Most reports come while the text is in seconds, and need no other timer.
    if (this.#waitMs !== unitOf(this.#age).refreshMs) {
      this.#arm();
    }
    this.#onChange();
  }

  /** Undefined while there was no report. */
  get status(): Status | undefined {
    if (this.#what === undefined) {
      return undefined;
    }
    return { style: 'ready', key: 'status.reported', values: { what: this.#what, age: showAge(this.#age) } };
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  get #age(): number {
    return this.#now() - this.#heardAt;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    this.#waitMs = unitOf(this.#age).refreshMs;
    this.#timer = setTimeout(() => {
      this.#arm();
      this.#onChange();
    }, this.#waitMs).unref();
  }
}

/** Such as `12 s`. @param ms milliseconds */
export function showAge(ms: number): string {
  const { symbol, unit } = unitOf(ms);
  return `${Math.floor(ms / unit)} ${symbol}`;
}

function unitOf(age: number): (typeof UNITS)[number] {
  return UNITS.findLast(({ from }) => age >= from) ?? UNITS[0];
}

/** A value that can be read at a glance, else what the report is about. */
function whatOf({ kind, identifier, name, value, unit, rssi }: Report): string {
  if (kind === 'rssi' && typeof rssi === 'number') {
    return `${rssi} dBm`;
  }
  if (
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    (typeof value === 'string' && value !== '')
  ) {
    return shorten(typeof unit === 'string' ? `${value} ${unit}` : String(value));
  }
  return shorten(String(name ?? identifier ?? kind));
}

function shorten(text: string): string {
  const line = text
    .slice(0, 2 * MAX_LENGTH)
    .replace(BREAKS, ' ')
    .trim();
  return line.length > MAX_LENGTH || text.length > 2 * MAX_LENGTH
    ? `${line.slice(0, MAX_LENGTH - 1)}…`
    : line;
}
