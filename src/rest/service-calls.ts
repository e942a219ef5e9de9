// What flows ask of a service over REST, and what follows for its list of devices: a change makes it old.
import {
  attachLabel,
  request as callFreely,
  createLabel,
  type FreeRequest,
  type FreeResponse,
  isReading,
  mayHaveActed,
  removeLabel,
  rename,
} from './calls.ts';
import type { RestClient } from './client.ts';
import type { DeviceDirectory } from './device-directory.ts';
import { type ListedPage, type ListOptions, listPages } from './list.ts';

/** The functions of the same names in `calls.ts` and `list.ts`, which say what they throw. */
export class ServiceCalls {
  readonly #client: RestClient;
  readonly #devices: DeviceDirectory;

  constructor(client: RestClient, devices: DeviceDirectory) {
    this.#client = client;
    this.#devices = devices;
  }

  listPages(options: ListOptions): AsyncGenerator<ListedPage> {
    return listPages(this.#client, options);
  }

  async rename(
    device: unknown,
    name: unknown,
    signal: AbortSignal,
  ): Promise<{ id: string; friendlyName: string }> {
    const renamed = await this.#follow(rename(this.#client, device, name, signal));
    this.#devices.renamed(renamed.id, renamed.friendlyName);
    return renamed;
  }

  createLabel(label: unknown, signal: AbortSignal): Promise<{ label: string }> {
    return this.#follow(createLabel(this.#client, label, signal));
  }

  attachLabel(device: unknown, label: unknown, signal: AbortSignal): Promise<{ id: string; label: string }> {
    const isInUse = (one: string) => (this.#devices.knownGatewaysWithLabels([one])?.size ?? 0) > 0;
    return this.#follow(attachLabel(this.#client, device, label, { signal, isInUse }));
  }

  removeLabel(device: unknown, label: unknown, signal: AbortSignal): Promise<{ id: string; label: string }> {
    return this.#follow(removeLabel(this.#client, device, label, signal));
  }

  /** An authenticated request to any path below the base URL: for what the interface names without showing. */
  call(input: FreeRequest, signal: AbortSignal): Promise<FreeResponse> {
    const response = callFreely(this.#client, input, signal);
    return isReading(input.method) ? response : this.#follow(response);
  }

  async #follow<T>(change: Promise<T>): Promise<T> {
    try {
      const result = await change;
      this.#devices.invalidate();
      return result;
    } catch (error) {
      if (mayHaveActed(error)) {
        this.#devices.invalidate();
      }
      throw error;
    }
  }
}
