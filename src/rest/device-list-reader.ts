// Reads the whole list of devices, as far as there is room for it, and warns once where something is left out.
import { ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { RestClient } from './client.ts';
import { type DeviceIndex, DeviceIndexBuilder } from './device-index.ts';
import { devicePages } from './pages.ts';
import type { Clock } from './types.ts';

/** A list that takes longer is given up; 200 000 devices at a second per page still fit. */
const MAX_FETCH_MS = 40 * 60_000;
const PAGE_SIZE = 100;
/** So many hold 200 000 devices, unless the service makes its pages smaller than it was asked to. */
const MAX_PAGES = 2_000;

export class DeviceListReader {
  readonly #client: RestClient;
  readonly #log: Logger;
  readonly #clock: Clock;
  #warning = '';

  constructor(client: RestClient, { log, clock }: { log: Logger; clock: Clock }) {
    this.#client = client;
    this.#log = log;
    this.#clock = clock;
  }

  /** What another one of the same service has warned of is no news. */
  takeOver(before: DeviceListReader): void {
    this.#warning = before.#warning;
  }

  /** @throws ServiceError of the client; `BAD_RESPONSE` when it takes longer than 40 minutes */
  async read(signal: AbortSignal): Promise<DeviceIndex> {
    const builder = new DeviceIndexBuilder();
    let pages = 0;
    const end = this.#clock.now() + MAX_FETCH_MS;
    for await (const page of devicePages(this.#client, { pageSize: PAGE_SIZE, signal })) {
      for (const device of page.devices) {
        builder.add(device);
      }
      if (++pages >= MAX_PAGES && page.nextToken !== undefined) {
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
