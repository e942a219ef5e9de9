// What an mt-report-in node saves: which reports it lets through, and in which shape.
import { FORMS as REPORT_FORMS } from '../../src/protocol/reports/index.ts';
import { type NodeConfig, type Range, readConfig } from '../shared/defaults.ts';

export const FORMS = ['both', ...REPORT_FORMS] as const;
export const OUTPUTS = ['report', 'value'] as const;
export const DUPLICATES = ['keep', 'drop'] as const;
export const CONFIRMS = ['sent', 'acknowledged'] as const;
export const STATUS_SHOWS = ['connection', 'report'] as const;

export interface ReportInConfig extends NodeConfig {
  name: string;
  /** Empty lists let everything through. */
  kinds: string[];
  form: (typeof FORMS)[number];
  gateways: string[];
  devices: string[];
  identifiers: string[];
  labels: string[];
  /** Seconds. */
  labelRefresh: number;
  decode: boolean;
  output: (typeof OUTPUTS)[number];
  duplicates: (typeof DUPLICATES)[number];
  /** Seconds. */
  duplicateWindow: number;
  /** When the broker is told that a report has arrived: when it was sent to the flow, or when an acknowledge node had it. */
  confirm: (typeof CONFIRMS)[number];
  /** Seconds after which a report that was not acknowledged is sent to the flow again. */
  confirmTimeout: number;
  /** How often; then it is an error, and the broker is told. 0: for ever. */
  redeliverMost: number;
  /** While all is well: that it is connected, or the last report. */
  statusShows: (typeof STATUS_SHOWS)[number];
}

export const DEFAULTS: ReportInConfig = {
  version: 1,
  name: '',
  service: '',
  kinds: [],
  form: 'both',
  gateways: [],
  devices: [],
  identifiers: [],
  labels: [],
  labelRefresh: 300,
  decode: true,
  output: 'report',
  duplicates: 'keep',
  duplicateWindow: 10,
  confirm: 'sent',
  confirmTimeout: 300,
  redeliverMost: 20,
  statusShows: 'connection',
};

/** What the panel offers; other numbers of earlier flows, such as half a second, mean something too. */
export const RANGES = {
  labelRefresh: { min: 1 },
  duplicateWindow: { min: 1 },
  confirmTimeout: { min: 1, max: 86_400 },
  redeliverMost: { min: 0 },
} as const satisfies Record<string, Range>;

/** The config of a saved node of any version; see `readConfig`. */
export function upgrade(old: unknown): ReportInConfig {
  const choices = {
    form: FORMS,
    output: OUTPUTS,
    duplicates: DUPLICATES,
    confirm: CONFIRMS,
    statusShows: STATUS_SHOWS,
  };
  return readConfig(old, DEFAULTS, choices);
}
