// Acknowledgements of timestamped samples as requests (assumed: beyond the interface), with their response or without.
import type { BuiltRequest } from '../protocol/operations/index.ts';
import { Acknowledgements, type Sending } from './acknowledgements.ts';
import { timedOut } from './request-errors.ts';
import type { RequestOptions, SendOptions } from './requests.ts';

/** Sends a request. @returns the parsed body of the response */
type Send = (
  request: BuiltRequest,
  options: RequestOptions,
  handling: Pick<SendOptions, 'trafficClass' | 'awaitResponse' | 'sent' | 'delivered'>,
) => Promise<unknown>;

export class SampleAcknowledgements {
  readonly #timeout: number;
  readonly #send: Send;
  readonly #sent = new Acknowledgements<unknown>();

  /** @param timeout milliseconds, where the options have none */
  constructor(timeout: number, send: Send) {
    this.#timeout = timeout;
    this.#send = send;
  }

  /**
   * Acknowledges a sample, at most once a minute unless it failed.
   * @param sample a key by which the same sample is recognised
   * @param read reads the parsed body of the response, or throws what is wrong with it
   * @param options `wait` false: resolves when the broker has it, without a response
   * @returns what `read` returned; undefined without `wait`
   */
  async acknowledge<T>(
    request: BuiltRequest,
    sample: string,
    options: RequestOptions & { wait: boolean },
    read: (body: unknown) => T,
  ): Promise<T | undefined> {
    const { signal, timeout = this.#timeout } = options;
    const limits = { signal, timeout, timeoutError: () => timedOut(request, timeout) };
    const send = () => this.#begin(request, options, read);
    const outcome = await this.#sent.once(sample, options.wait, send, limits);
    return outcome as T | undefined;
  }

  #begin(
    request: BuiltRequest,
    options: RequestOptions & { wait: boolean },
    read: (body: unknown) => unknown,
  ): Sending<unknown> {
    const [sent, delivered] = [createEvent(), createEvent()];
    const handling = {
      trafficClass: 'ack',
      awaitResponse: options.wait,
      sent: sent.happen,
      delivered: delivered.happen,
    } as const;
    const responded = this.#send(request, options, handling).then(read);
    return { sent: sent.happened, delivered: Promise.race([delivered.happened, responded]), responded };
  }
}

function createEvent(): { happen: () => void; happened: Promise<void> } {
  let happen = (): void => {};
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { happen, happened };
}
