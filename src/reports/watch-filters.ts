// Which reports tell of the conditions that a watch looks after: the fewest that do.
import { BATTERY_LEVEL } from '../network/readings.ts';
import { CONDITION_NAMES, type Condition } from '../protocol/conditions.ts';
import type { Kind } from '../protocol/reports/index.ts';
import type { ReportFilter } from './report-filter.ts';
import { UNFILTERED } from './unfiltered.ts';

/** Whose reports count. */
export type WatchScope = Pick<ReportFilter, 'gateways' | 'devices' | 'labels'>;

type Topics = Pick<ReportFilter, 'kinds' | 'identifiers'>;

/** Everything: a device that sends anything is not silent. */
const EVERYTHING: Topics = UNFILTERED;
const ofKinds = (...kinds: Kind[]): Topics => ({ kinds, identifiers: [] });

/** Also what ends a condition: a value of the same property ends an error of its measurement, a heartbeat the DFU mode. */
const TOPICS: Record<Condition, Topics> = {
  silent: EVERYTHING,
  'gateway-silent': EVERYTHING,
  error: ofKinds('heartbeat', 'measurement-error', 'measurement', 'timestamped'),
  'battery-low': { kinds: ['property'], identifiers: BATTERY_LEVEL },
  'weak-signal': ofKinds('rssi', 'dfu'),
  dfu: ofKinds('dfu', 'heartbeat'),
};

/** @param conditions at least one */
export function watchFilters(conditions: readonly Condition[], scope: WatchScope): ReportFilter[] {
  const chosen = CONDITION_NAMES.filter((name) => conditions.includes(name)).map((name) => TOPICS[name]);
  if (chosen.includes(EVERYTHING)) {
    return [{ ...UNFILTERED, ...scope }];
  }
  const kinds = [
    ...new Set(chosen.filter(({ identifiers }) => identifiers.length === 0).flatMap((one) => one.kinds)),
  ];
  const byKind = kinds.length > 0 ? [{ kinds, identifiers: [] }] : [];
  const byIdentifier = chosen.filter(({ identifiers }) => identifiers.length > 0);
  return [...byKind, ...byIdentifier].map((topics) => ({ ...UNFILTERED, ...topics, ...scope }));
}

/** Everything that these gateways bring. */
export const gatewayFilter = (gateways: readonly string[], labels: readonly string[]): ReportFilter => ({
  ...UNFILTERED,
  gateways,
  labels,
});
