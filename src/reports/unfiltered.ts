// The filter that lets every report through, decoded: what the package itself subscribes narrows it.
import type { ReportFilter } from './report-filter.ts';

export const UNFILTERED: Readonly<ReportFilter> = {
  kinds: [],
  form: 'both',
  gateways: [],
  devices: [],
  identifiers: [],
  labels: [],
  labelRefresh: 300,
  decode: true,
  duplicates: 'keep',
  duplicateWindow: 10,
};
