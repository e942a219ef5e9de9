// The book of device-timestamped samples: which were published, which are acknowledged, which must come again.
import { type Device, sendsReports } from './fleet.ts';

export interface Sample {
  device: Device;
  form: 'raw' | 'decoded';
  /** As it is in the topic. */
  identifier: string;
  /** ISO, milliseconds; with gateway, device and identifier the sample's key. */
  time: string;
  /** Hex in raw form, JSON in decoded form. */
  value: unknown;
  ext?: Record<string, unknown>;
  /** The value is an error code, followed by its metadata in hex. */
  error?: { code: number; meta: string };
  shifted: boolean;
  /** False while a firmware update runs: it cannot be acknowledged and never comes again. */
  ackable: boolean;
  acknowledged: boolean;
  /** True when it comes late: again, or after its gateway was away. */
  backfill: boolean;
  /** How often it was published. */
  sent: number;
  /** Milliseconds of the clock when it comes again. */
  due: number;
}

export const keyOfSample = (sample: Sample): string =>
  sampleKey(sample.device.home.mac, sample.device.mac, sample.identifier, sample.time);

export const sampleKey = (gateway: string, device: string, identifier: string, time: string): string =>
  `${gateway}/${device}/${identifier}/${time}`;

/** Flags of the raw form: bit 3 ACK, 2 ERROR_CODE, 1 TS_SHIFTED, 0 BACKFILL. */
function flagsOf({ ackable, error, shifted, backfill }: Sample): string {
  const bits = (ackable ? 8 : 0) | (error ? 4 : 0) | (shifted ? 2 : 0) | (backfill ? 1 : 0);
  return bits.toString(16).padStart(2, '0');
}

const hexByte = (number: number): string => number.toString(16).padStart(2, '0');

/** The payload as a gateway publishes it; fields that have their default are left out. */
export function samplePayload(sample: Sample, backfillCount: number): Record<string, unknown> {
  const count = backfillCount > 0 ? { backfillCount } : {};
  const { time, error, backfill } = sample;
  if (sample.form === 'raw') {
    const value = error ? hexByte(error.code) + error.meta : sample.value;
    return { time, value, flags: flagsOf(sample), ...count };
  }
  const content = error
    ? { errorCode: error.code, errorMeta: error.meta }
    : { value: sample.value, ...(sample.ext && { ext: sample.ext }) };
  return {
    time,
    ...content,
    ack: sample.ackable,
    ...(backfill && { backfill }),
    ...count,
    ...(sample.shifted && { tsShifted: true }),
  };
}

const canSend = ({ device }: Sample): boolean => device.home.online && sendsReports(device);

/** What an acknowledgement did. */
export type AckResult = 'first' | 'again' | 'unknown' | 'impossible';

/** The samples of one identifier of a device. */
interface Stream {
  /** Milliseconds of the clock: the time of the newest one. */
  last: number;
  remembered: number;
  waiting: number;
}

const keyOfStream = ({ device, identifier }: Pick<Sample, 'device' | 'identifier'>): string =>
  `${device.mac}/${identifier}`;

export class SampleBook {
  readonly #ackTimeout: number;
  readonly #limit: number;
  readonly #all = new Map<string, Sample>();
  /** Unacknowledged ones, the next to come again first. */
  readonly #waiting = new Map<string, Sample>();
  /** Goes with its last sample: anybody may make up identifiers. */
  readonly #streams = new Map<string, Stream>();
  #kept: Sample[] = [];
  /** Distinct samples; publications of samples; acknowledged ones; acknowledgements that came again or met no sample; dropped ones. */
  readonly counters = {
    taken: 0,
    sent: 0,
    acknowledged: 0,
    unackable: 0,
    ackedAgain: 0,
    ackedUnknown: 0,
    forgotten: 0,
  };

  /** @param ackTimeout milliseconds. @param limit how many samples are remembered, acknowledged ones included. */
  constructor(ackTimeout: number, limit: number) {
    this.#ackTimeout = ackTimeout;
    this.#limit = limit;
  }

  /** All samples still remembered, oldest first, by key. */
  get all(): ReadonlyMap<string, Sample> {
    return this.#all;
  }

  get unacknowledged(): Sample[] {
    return [...this.#waiting.values()];
  }

  get unacknowledgedCount(): number {
    return this.#waiting.size;
  }

  /** A free millisecond for a sample of this stream; when the clock's own is taken, the previous one's + 1. */
  timeFor(device: Device, identifier: string, now: number): { time: string; shifted: boolean } {
    const stream = this.#streamOf({ device, identifier });
    const at = Math.max(now, stream.last + 1);
    stream.last = at;
    return { time: new Date(at).toISOString(), shifted: at !== now };
  }

  /** Enters a new sample, before it is published. */
  take(sample: Sample): void {
    const key = keyOfSample(sample);
    this.#all.set(key, sample);
    this.#streamOf(sample).remembered++;
    this.counters.taken++;
    if (sample.ackable) {
      this.#wait(key, sample, 1);
    } else {
      this.counters.unackable++;
    }
    // A device has room for so many; the oldest go, acknowledged or not.
    for (const [oldKey, old] of this.#all) {
      if (this.#all.size <= this.#limit) {
        break;
      }
      this.#all.delete(oldKey);
      if (this.#waiting.has(oldKey)) {
        this.#wait(oldKey, old, -1);
        this.counters.forgotten++;
      }
      const stream = this.#streamOf(old);
      stream.remembered--;
      if (stream.remembered === 0) {
        this.#streams.delete(keyOfStream(old));
      }
    }
  }

  #streamOf(sample: Pick<Sample, 'device' | 'identifier'>): Stream {
    const key = keyOfStream(sample);
    const stream = this.#streams.get(key) ?? { last: 0, remembered: 0, waiting: 0 };
    this.#streams.set(key, stream);
    return stream;
  }

  #wait(key: string, sample: Sample, change: 1 | -1): void {
    if (change === 1) {
      this.#waiting.set(key, sample);
    } else {
      this.#waiting.delete(key);
    }
    this.#streamOf(sample).waiting += change;
  }

  /** The payload of the next publication of a sample, which counts as sent now. */
  send(sample: Sample, now: number): Record<string, unknown> {
    sample.backfill ||= sample.sent > 0;
    const waiting = this.#streams.get(keyOfStream(sample))?.waiting ?? 0;
    const payload = samplePayload(sample, Math.max(0, waiting - (sample.backfill ? 0 : 1)));
    sample.sent++;
    sample.due = now + this.#ackTimeout;
    this.counters.sent++;
    const key = keyOfSample(sample);
    // Behind all others: the map stays in the order of `due`.
    if (this.#waiting.delete(key)) {
      this.#waiting.set(key, sample);
    }
    return payload;
  }

  /** A sample that could not be published now: it waits in its gateway. */
  keep(sample: Sample): void {
    sample.backfill = true;
    // One that needs no acknowledgement would be forgotten otherwise; the gateway sends it once.
    if (!sample.ackable && this.#kept.length < this.#limit) {
      this.#kept.push(sample);
    }
  }

  /** Those whose acknowledgement is overdue, at most `limit` of them; what sends nothing now keeps its own. */
  due(now: number, limit: number): Sample[] {
    const found = this.#kept.filter(canSend).slice(0, limit);
    if (found.length) {
      this.#kept = this.#kept.filter((sample) => !found.includes(sample));
    }
    for (const sample of this.#waiting.values()) {
      if (found.length >= limit) {
        break;
      }
      if (sample.due <= now && canSend(sample)) {
        found.push(sample);
      }
    }
    return found;
  }

  acknowledge(gateway: string, device: string, identifier: string, time: string): AckResult {
    const key = sampleKey(gateway, device, identifier, time);
    const sample = this.#all.get(key);
    if (!sample) {
      this.counters.ackedUnknown++;
      return 'unknown';
    }
    if (!sample.ackable) {
      return 'impossible';
    }
    if (sample.acknowledged) {
      this.counters.ackedAgain++;
      return 'again';
    }
    sample.acknowledged = true;
    this.counters.acknowledged++;
    this.#wait(key, sample, -1);
    return 'first';
  }
}
