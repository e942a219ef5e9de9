// Last values as they lie in a store between two starts of Node-RED.
import { isMac } from '../protocol/mac.ts';
import type { Report } from '../protocol/reports/index.ts';
import type { LastValue } from './last-values.ts';

/** What JSON can hold of a value. */
export interface StoredValue {
  gateway: string;
  device: string;
  identifier: string;
  value: unknown;
  time?: string;
  /** Milliseconds since the epoch. */
  heard: number;
  report?: Readonly<Report>;
}

/** Values for a store. */
export function toStored(values: readonly LastValue[]): StoredValue[] {
  const [now, epoch] = [performance.now(), Date.now()];
  return values.map(({ gateway, device, identifier, value, time, heardAt, heard, report }) => ({
    gateway,
    device,
    identifier,
    value,
    ...(time !== undefined && { time }),
    heard: heard ?? Math.round(epoch - (now - heardAt)),
    ...(report && { report }),
  }));
}

/** The values of a store, which somebody else may have filled: what is none of ours is left out. */
export function fromStored(stored: unknown): LastValue[] {
  const [now, epoch] = [performance.now(), Date.now()];
  return (Array.isArray(stored) ? stored : []).flatMap((one: unknown): LastValue[] => {
    const { gateway, device, identifier, value, time, heard, report } = (one ?? {}) as Partial<StoredValue>;
    const isOurs =
      [gateway, device].every((mac) => typeof mac === 'string' && isMac(mac)) &&
      typeof identifier === 'string' &&
      Number.isFinite(heard);
    if (!isOurs) {
      return [];
    }
    return [
      {
        gateway: gateway as string,
        device: device as string,
        identifier,
        value: value ?? null,
        time: typeof time === 'string' ? time : undefined,
        source: 'stored',
        heardAt: now - Math.max(0, epoch - (heard as number)),
        heard: heard as number,
        report: typeof report === 'object' && report !== null ? report : undefined,
      },
    ];
  });
}
