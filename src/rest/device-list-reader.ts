// Reads the whole list of devices, as far as there is room for it, and warns once where something is left out.
import { ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { RestClient } from './client.ts';
import { type DeviceIndex, DeviceIndexBuilder } from './device-index.ts';
import { devicePages } from './pages.ts';
import type { Clock } from './types.ts';

/** A list that takes longer is given up; 200 000 devices at a second per page still fit. */
const MAX_FETCH_MS = 40 * 60_000;
/** The interface does not show how many a service takes as `MaxResults`: one that refuses a number is asked for fewer. */
const PAGE_SIZES = [100, 50, 20, 10] as const;
const ABOUT_THE_QUERY = new Set([400, 422]);
/** Then it may have been a fault that passed. */
const MAX_SMALL_MS = 3_600_000;
const MAX_DEVICES = 200_000;

export class DeviceListReader {
  readonly #client: RestClient;
  readonly #log: Logger;
  readonly #clock: Clock;
  #warning = '';
  #pageSize: number = PAGE_SIZES[0];
  /** When a larger one was refused, in milliseconds of the clock. */
  #refusedAt = Number.NEGATIVE_INFINITY;

  constructor(client: RestClient, { log, clock }: { log: Logger; clock: Clock }) {
    this.#client = client;
    this.#log = log;
    this.#clock = clock;
  }

  /** What another one of the same service has warned of is no news. */
  takeOver(before: DeviceListReader): void {
    this.#warning = before.#warning;
    this.#pageSize = before.#pageSize;
    this.#refusedAt = before.#refusedAt;
  }

  /** @throws ServiceError of the client; `BAD_RESPONSE` when it takes longer than 40 minutes */
  async read(signal: AbortSignal): Promise<DeviceIndex> {
    const most = this.#clock.now() - this.#refusedAt < MAX_SMALL_MS ? this.#pageSize : PAGE_SIZES[0];
    let refusal: unknown;
    for (const size of PAGE_SIZES.filter((one) => one <= most)) {
      let hasBegun = false;
      const begun = () => {
        hasBegun = true;
        if (refusal !== undefined) {
          this.#pageSize = size;
          this.#refusedAt = this.#clock.now();
        }
      };
      try {
        return await this.#readIn(size, signal, begun);
      } catch (error) {
        // A page behind the first one is refused for something else.
        if (hasBegun || !isAboutTheQuery(error)) {
          throw error;
        }
        // What is wrong with all of them is told of the first.
        refusal ??= error;
      }
    }
    throw refusal;
  }

  /** @param begun called when the service has taken the number of devices a page */
  async #readIn(pageSize: number, signal: AbortSignal, begun: () => void): Promise<DeviceIndex> {
    const builder = new DeviceIndexBuilder();
    // A service may make its pages smaller than it was asked to.
    const maxPages = MAX_DEVICES / pageSize;
    let pages = 0;
    const end = this.#clock.now() + MAX_FETCH_MS;
    for await (const page of devicePages(this.#client, { pageSize, signal })) {
      if (pages === 0) {
        begun();
      }
      for (const device of page.devices) {
        builder.add(device);
      }
      if (++pages >= maxPages && page.nextToken !== undefined) {
        builder.cut();
      }
      if (builder.isCut) {
        break;
      }
      if (this.#clock.now() > end) {
        const minutes = MAX_FETCH_MS / 60_000;
        throw new ServiceError('BAD_RESPONSE', 'listTooSlow', { body: '' }, { minutes });
      }
    }
    this.#warn(builder);
    return builder.build();
  }

  /** Once, not with every list. */
  #warn({ isCut, count, leftOut }: DeviceIndexBuilder): void {
    const warning = isCut
      ? `the list of devices is cut after ${count}`
      : leftOut > 0
        ? 'the list of devices has ids or labels of more than 2000 characters, which are left out'
        : '';
    if (warning !== '' && warning !== this.#warning) {
      this.#log.warn(warning);
    }
    this.#warning = warning;
  }
}

function isAboutTheQuery(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    error.code === 'HTTP_ERROR' &&
    ABOUT_THE_QUERY.has(Number(error.cause.statusCode))
  );
}
