// Last values as they lie in a store between two starts of Node-RED.
import { isObject, MAX_DEPTH_RECEIVED, parseJson } from '../protocol/json.ts';
import { isMac } from '../protocol/mac.ts';
import type { Report } from '../protocol/reports/index.ts';
import type { LastValue } from './last-value.ts';
import { Turns } from './turns.ts';

/** What JSON can hold of a value. */
export interface StoredValue {
  gateway: string;
  device: string;
  identifier: string;
  /** Absent where it is in the report: a long one would stand there twice. */
  value?: unknown;
  /** In place of a value that is a list or an object: its JSON; see `toStored`. */
  json?: string;
  time?: string;
  /** Milliseconds since the epoch. */
  heard: number;
  /** Its JSON, where it holds a list or an object. */
  report?: Readonly<Report> | string;
}

/** So many are made between two looks at the clock. */
const VALUES_PER_LOOK = 250;

/**
 * Values for a store; there may be many, and reports come in between. What is nested is a text: Node-RED's own store indents
 * what it writes, so that a list of 600 kB at the 500th level would be longer than any text may be, which ends Node-RED.
 */
export async function toStored(values: readonly LastValue[]): Promise<StoredValue[]> {
  const turns = new Turns();
  const [now, epoch] = [performance.now(), Date.now()];
  const stored: StoredValue[] = [];
  for (const { gateway, device, identifier, value, time, heardAt, heard, report } of values) {
    stored.push({
      gateway,
      device,
      identifier,
      ...(report === undefined && (isNested(value) ? { json: JSON.stringify(value) } : { value })),
      ...(time !== undefined && { time }),
      heard: heard ?? Math.round(epoch - (now - heardAt)),
      // The known one is overwritten by the next.
      ...(report && {
        report: Object.values(report).some(isNested) ? JSON.stringify(report) : { ...report },
      }),
    });
    if (stored.length % VALUES_PER_LOOK === 0) {
      await turns.next();
    }
  }
  return stored;
}

/** The values of a store, which somebody else may have filled: what is none of ours is left out. */
export function fromStored(stored: unknown): LastValue[] {
  const [now, epoch] = [performance.now(), Date.now()];
  return (Array.isArray(stored) ? stored : []).flatMap((one: unknown): LastValue[] => {
    const { gateway, device, identifier, value, json, time, heard, report } = (one ??
      {}) as Partial<StoredValue>;
    const isOurs =
      [gateway, device].every((mac) => typeof mac === 'string' && isMac(mac)) &&
      typeof identifier === 'string' &&
      Number.isFinite(heard);
    if (!isOurs) {
      return [];
    }
    const held = readText(report);
    const known = isObject(held) ? (held as Report) : undefined;
    return [
      {
        gateway: gateway as string,
        device: device as string,
        identifier,
        value: (known ? known.value : (readText(json) ?? value)) ?? null,
        time: typeof time === 'string' ? time : undefined,
        source: 'stored',
        heardAt: now - Math.max(0, epoch - (heard as number)),
        heard: heard as number,
        report: known,
        size: 0,
      },
    ];
  });
}

const isNested = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** @returns what a text of a store says; what is no text, as it is */
const readText = (held: unknown): unknown =>
  typeof held === 'string' ? parseJson(held, MAX_DEPTH_RECEIVED + 1) : held;
