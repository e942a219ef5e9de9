// The parts that commands of the model test are made of.
import fc from 'fast-check';
import type { ReportFilter } from '../../src/session.ts';
import { DEVICES, GATEWAYS, KIND_NAMES } from './field.ts';

export const turns = fc.constantFrom(0, 0, 1, 2, 5, 20);

export const places = fc.record({
  gateway: fc.constantFrom(...GATEWAYS),
  device: fc.constantFrom(...DEVICES),
  kind: fc.constantFrom(...KIND_NAMES),
});

export const reports = fc.record({
  place: places,
  qos: fc.constantFrom(1 as const, 1 as const, 0 as const),
  isBad: fc.constantFrom(false, false, false, false, true),
});

const some = <T extends string>(all: readonly T[]) => fc.oneof(fc.constant([]), fc.subarray([...all]));

export type Filter = Pick<ReportFilter, 'gateways' | 'devices' | 'kinds' | 'duplicates'>;

export const filters: fc.Arbitrary<Filter> = fc.record({
  gateways: some(GATEWAYS),
  devices: some(DEVICES),
  kinds: some(KIND_NAMES),
  duplicates: fc.constantFrom('keep' as const, 'keep' as const, 'drop' as const),
});

/** Picks one of a list whose length is known only when the command is run. */
export const picks = fc.nat(50);
export const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % list.length];
