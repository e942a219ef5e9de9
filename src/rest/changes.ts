// What changes something at the service, or may have, makes the list of devices old.
import {
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

/** The functions of the same names in `calls.ts`, and what follows from them for the list of devices. */
export class Changes {
  readonly #client: RestClient;
  readonly #devices: DeviceDirectory;

  constructor(client: RestClient, devices: DeviceDirectory) {
    this.#client = client;
    this.#devices = devices;
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

  removeLabel(device: unknown, label: unknown, signal: AbortSignal): Promise<{ id: string; label: string }> {
    return this.#follow(removeLabel(this.#client, device, label, signal));
  }

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
