// Keeps last values up to date by the reports that nodes with last values ask for.
import type { EndUse, SharedUses } from '../collections/shared-uses.ts';
import { type LastValues, VALUE_KINDS } from '../network/last-values.ts';
import type { ReportFilter } from './report-filter.ts';
import type { Subscriber } from './subscribers.ts';
import { UNFILTERED } from './unfiltered.ts';

/** Of which values are recorded; what is left out lets everything pass. */
export type ValueFilter = Partial<Pick<ReportFilter, 'gateways' | 'devices' | 'identifiers' | 'labels'>>;

/** The reports that show the values which pass. */
export const reportFilterOf = (filter: ValueFilter): ReportFilter => ({
  ...UNFILTERED,
  kinds: VALUE_KINDS,
  ...filter,
});

interface RecordingContext {
  lastValues: LastValues;
  shared: SharedUses;
  /** @throws ServiceError as `Session.subscribe` */
  subscribe(filter: ReportFilter, subscriber: Subscriber, owner: string): EndUse;
}

/**
 * See `Values.record`.
 * @throws ServiceError as `Session.subscribe`
 */
export function recordValues(
  { lastValues, shared, subscribe }: RecordingContext,
  filter: ValueFilter,
): EndUse {
  const criteria = reportFilterOf(filter);
  const owner = `values ${JSON.stringify(criteria)}`;
  const subscriber: Subscriber = {
    readsOnly: true,
    report: (report, _topic, _payload, heardAt) => lastValues.recordReport(report, heardAt),
    // Nodes that receive the reports tell of those that cannot be read.
    error() {},
  };
  return shared.use(owner, () => subscribe(criteria, subscriber, owner));
}
