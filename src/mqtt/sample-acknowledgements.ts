// Acknowledgements of timestamped samples as requests (assumed: beyond the interface), with their response or without.
import type { ServiceError } from '../errors.ts';
import type { BuiltRequest } from '../protocol/operations/index.ts';
import { Acknowledgements, type Sending, type WaitLimits } from './acknowledgements.ts';
import { timedOut } from './request-errors.ts';
import type { RequestOptions, SendOptions } from './requests.ts';

/** Sends a request. @returns the parsed body of the response */
type Send = (
  request: BuiltRequest,
  options: RequestOptions,
  handling: Pick<SendOptions, 'trafficClass' | 'awaitResponse' | 'sent' | 'delivered' | 'since'>,
) => Promise<unknown>;

export interface AcknowledgeOptions extends RequestOptions {
  /** False: done when the broker has the acknowledgement; true: when the response with status 0 has come. */
  wait: boolean;
  /**
   * Called when the broker has the acknowledgement and the gateway has answered none since one that it left without a
   * response was sent: nobody can count on one. Once more where it is sent again.
   */
  ignored?: () => void;
}

interface Line {
  /** How a request to a gateway ends that could not be sent in its time; undefined: it waits for its turn. */
  unsent(gateway: string, timeout: number): ServiceError | undefined;
  /** Whether a gateway has left an acknowledgement without a response, and has answered none since that was sent. */
  ignoresAcks(gateway: string): boolean;
}

interface Reading {
  /** See `InboundQueue.readsSince`. */
  readonly readsSince: number;
}

export class SampleAcknowledgements {
  readonly #timeout: number;
  readonly #send: Send;
  readonly #line: Line;
  readonly #reading: Reading;
  readonly #sent = new Acknowledgements<unknown>();

  /**
   * @param timeout milliseconds, where the options have none
   * @param line in which they wait
   */
  constructor(timeout: number, send: Send, line: Line, reading: Reading) {
    this.#timeout = timeout;
    this.#line = line;
    this.#reading = reading;
    this.#send = send;
  }

  /**
   * Acknowledges a sample, at most once a minute unless it failed.
   * @param sample a key by which the same sample is recognised
   * @param read reads the parsed body of the response, or throws what is wrong with it
   * @returns what `read` returned; undefined without `wait`
   */
  acknowledge<T>(
    request: BuiltRequest,
    sample: string,
    options: AcknowledgeOptions,
    read: (body: unknown) => T,
  ): Promise<T | undefined> {
    const send = (since: number) => this.#begin(request, options, read, since);
    const delivered = () => {
      if (this.#line.ignoresAcks(request.gateway)) {
        options.ignored?.();
      }
    };
    const outcome = this.#sent.once(
      sample,
      options.wait,
      send,
      () => this.#limits(request, options),
      delivered,
    );
    return outcome as Promise<T | undefined>;
  }

  /** Of waiting for somebody else's acknowledgement. */
  #limits(request: BuiltRequest, { signal, timeout = this.#timeout }: AcknowledgeOptions): WaitLimits {
    return {
      signal,
      timeout,
      readsSince: () => this.#reading.readsSince,
      timeoutError: () => timedOut(request, timeout),
      unsentError: () => this.#line.unsent(request.gateway, timeout),
    };
  }

  #begin(
    request: BuiltRequest,
    options: AcknowledgeOptions,
    read: (body: unknown) => unknown,
    since: number,
  ): Sending<unknown> {
    let left!: () => void;
    let arrived!: (outcome?: unknown) => void;
    let failed!: (error: unknown) => void;
    const sent = new Promise<void>((resolve) => {
      left = resolve;
    });
    const delivered = new Promise((resolve, reject) => {
      [arrived, failed] = [resolve, reject];
    });
    const handling = { trafficClass: 'ack', awaitResponse: options.wait, since } as const;
    const responded = this.#send(request, options, { ...handling, sent: left, delivered: arrived }).then(
      read,
    );
    // Also without its acknowledgement by the broker.
    responded.then(arrived, failed);
    return { sent, delivered, responded };
  }
}
