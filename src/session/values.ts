// Last values as nodes use them: kept up to date by reports, queried, and read from devices where they are too old.

import { type EndUse, SharedUses } from '../collections/shared-uses.ts';
import type { Phrase, ServiceError } from '../errors.ts';
import type { RequestResult } from '../mqtt/device-requests.ts';
import type { RequestOptions } from '../mqtt/requests.ts';
import { SharedReads } from '../network/shared-reads.ts';
import type {
  ValueContext,
  ValueInput,
  ValueOptions,
  ValueResult,
  ValueRow,
} from '../network/value-context.ts';
import { findFirstValues, findValue, findValues } from '../network/value-query.ts';
import type { RequestInput } from '../protocol/operations/index.ts';
import type { ReportFilter } from '../reports/report-filter.ts';
import type { Subscriber } from '../reports/subscribers.ts';
import { recordValues, reportFilterOf, type ValueFilter } from '../reports/value-recording.ts';

/** Reads of queries for many values that are under way at a time: they leave room in the queue for what flows ask for. */
const MAX_READS = 100;

/** What they need of the session. */
interface ValuesContext extends Omit<ValueContext, 'read' | 'reads'> {
  /** Requests that may wait; undefined: none is sent. */
  maxQueue: number | undefined;
  /** @throws ServiceError as `Session.request` */
  read(input: RequestInput, options: RequestOptions): Promise<RequestResult>;
  /** @throws ServiceError as `Session.subscribe` */
  subscribe(filter: ReportFilter, subscriber: Subscriber, owner: string): EndUse;
  refusalOf(filter: ReportFilter): Phrase | undefined;
}

export class Values {
  readonly #context: ValuesContext;
  /** What several nodes want, by the filter. */
  readonly #recorded = new SharedUses();
  /** No more than may wait: what one query asks for must not be refused because of itself. */
  readonly #reads: SharedReads;

  constructor(context: ValuesContext) {
    this.#context = context;
    this.#reads = new SharedReads(Math.max(1, Math.min(MAX_READS, context.maxQueue ?? MAX_READS)));
  }

  /**
   * Keeps the last values of all that passes the filter up to date. Many nodes want the same: what they want is recorded
   * once.
   * @returns ends it; what is known stays, and what waits for labels where it comes back with the same deploy
   * @throws ServiceError as `Session.subscribe`
   */
  record(filter: ValueFilter): EndUse {
    const { values: lastValues, subscribe } = this.#context;
    return recordValues({ lastValues, shared: this.#recorded, subscribe }, filter);
  }

  /** Why what passes the filter is not recorded, though it was asked for: as `Session.refusalOf`. */
  refusalOf(filter: ValueFilter): Phrase | undefined {
    return this.#context.refusalOf(reportFilterOf(filter));
  }

  /**
   * The last value of one property of one device; with `tooOld: read` the device is asked where there is none.
   * @throws ServiceError `INVALID_INPUT`, `NO_VALUE`, and as `Session.request`
   */
  last(input: ValueInput, options: ValueOptions & RequestOptions): Promise<ValueResult> {
    return findValue(this.#contextOf(options), input, options);
  }

  /**
   * The last values of all that passes, by device and property.
   * @returns `failure`: `NO_VALUE` with the devices that were asked and did not answer
   * @throws ServiceError `INVALID_INPUT`, `NO_VALUE`, `QUEUE_FULL`
   */
  all(
    input: ValueInput,
    options: ValueOptions & RequestOptions,
  ): Promise<{ rows: ValueRow[]; failure: ServiceError | undefined }> {
    return findValues(this.#contextOf(options), input, options);
  }

  /**
   * The first of what `all` would bring, of any age, and how many there are.
   * @throws ServiceError `INVALID_INPUT`, `NOT_CONFIGURED` (`rest` with labels)
   */
  first(
    input: ValueInput,
    options: Pick<ValueOptions, 'labels' | 'signal'>,
    limit: number,
  ): Promise<{ rows: ValueRow[]; total: number }> {
    return findFirstValues(this.#contextOf(options), input, options, limit);
  }

  #contextOf(options: RequestOptions): ValueContext {
    return {
      ...this.#context,
      reads: this.#reads,
      read: async (input, since) => {
        const {
          gateway,
          device = input.device,
          identifier = input.identifier,
          value,
          response,
        } = await this.#context.read({ ...input, form: 'auto' }, { ...options, since });
        return { value, gateway, device, identifier, age: 0, source: 'read', response };
      },
    };
  }
}
