// The settings of an mt-report-in as the filter of a session: the same for the node and for its preview.
import type { ReportFilter, Subscriber } from '../../src/index.ts';
import type { ReportInConfig } from './config.ts';

/** Seconds; what a timer can wait for. */
const MAX_REFRESH_S = 2_000_000;

/** What a node and its preview ask of the session; the labels are fetched once a second at most. */
export function filterOf(config: ReportInConfig): ReportFilter {
  const { version, name, service, output, statusShows, confirm, confirmTimeout, redeliverMost, ...filter } =
    config;
  return { ...filter, labelRefresh: Math.min(Math.max(filter.labelRefresh, 1), MAX_REFRESH_S) };
}

type Confirm = NonNullable<Subscriber['confirm']>;

/** How reports are confirmed; undefined: when they are sent to the flow. */
export function confirmOf(
  { confirm, confirmTimeout, redeliverMost }: ReportInConfig,
  count: Confirm['count'],
): Confirm | undefined {
  if (confirm !== 'acknowledged') {
    return undefined;
  }
  const timeoutMs = Math.min(Math.max(confirmTimeout, 1), MAX_REFRESH_S) * 1_000;
  return { timeoutMs, maxAttempts: Math.max(0, Math.trunc(redeliverMost)), count };
}
