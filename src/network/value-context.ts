// What is asked of the last values, what that needs of the service, and what it brings.
import type { Catalogue } from '../protocol/catalogue.ts';
import type { Report } from '../protocol/reports/index.ts';
import type { ValueSource } from './last-value.ts';
import type { LastValues } from './last-values.ts';
import type { SharedReads } from './shared-reads.ts';

/** What happens when the newest value is too old, or there is none. */
type TooOld = 'send' | 'read' | 'error';

export interface ValueInput {
  device?: unknown;
  gateway?: unknown;
  identifier?: unknown;
}

export interface ValueOptions {
  /** Only gateways that carry one of these REST labels. */
  labels: readonly string[];
  /** Seconds; 0: any age. */
  maxAge: number;
  tooOld: TooOld;
  /** Aborted: nobody waits for the result any more. */
  signal: AbortSignal;
}

/** Of one property of one device. */
export interface ValueResult {
  value: unknown;
  gateway?: string;
  device: string;
  identifier: string;
  /** Seconds since it was heard; absent where nothing is known. */
  age?: number;
  source?: ValueSource;
  /** That brought it. */
  report?: Readonly<Report>;
  /** Of the device that was asked. */
  response?: Record<string, unknown>;
}

/** One of several values. */
export interface ValueRow {
  gateway: string;
  device: string;
  deviceName?: string;
  identifier: string;
  name?: string;
  unit?: string;
  value: unknown;
  time: string | undefined;
  /** Seconds since it was heard. */
  age: number;
  source: ValueSource;
}

/** What a query needs of the service. */
export interface ValueContext {
  values: LastValues;
  catalogue: Catalogue;
  nameOf(mac: string): string | undefined;
  /** By the last known list, else by the first, which is waited for. @throws ServiceError where there is none */
  gatewaysWithLabels(labels: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>;
  /** The gateway that hears the device best. @param gateways only one of these; undefined: any */
  gatewayOf(device: string, gateways?: ReadonlySet<string>): string | undefined;
  /** Asks the device. @param since see `RequestOptions` @throws ServiceError as `Session.request` */
  read(input: { gateway?: string; device: string; identifier: string }, since?: number): Promise<ValueResult>;
  /** Reads of queries, whoever asks. */
  reads: SharedReads;
}
