// Requests as nodes make them: from the fields of a message to the decoded value, with names and what is known of gateways.
import { invalidInput } from '../errors.ts';
import type { Catalogue } from '../protocol/catalogue.ts';
import { isHexBytes } from '../protocol/hex.ts';
import {
  buildRequest,
  type Operation,
  type RequestInput,
  readResponse,
} from '../protocol/operations/index.ts';
import { addNames, nameThePlace, wordsFor } from '../protocol/operations/place.ts';
import { type BuiltRequest, isGiven, parseAddress } from '../protocol/operations/request.ts';
import type { MqttSettings } from '../settings.ts';
import type { MqttClient } from './client.ts';
import type { RequestOptions } from './requests.ts';
import type { AcknowledgeOptions } from './sample-acknowledgements.ts';

/** What a request brought: the decoded value, and the whole response. */
export interface RequestResult {
  gateway: string;
  /** The one that was given, else the one that was asked; absent where the given one is no MAC and was not needed. */
  device?: string;
  /** As it was sent. */
  identifier?: string;
  value: unknown;
  response: Record<string, unknown>;
}

/** What the response to a read has told. */
export interface ReadValue {
  gateway: string;
  device: string;
  identifier: string;
  /** Decoded where the catalogue can. */
  value: unknown;
  time: string | undefined;
}

/** What sends them. */
type Sender = Pick<MqttClient, 'request' | 'acknowledge'>;

/** What requests need besides the broker. */
export interface DeviceRequestsContext {
  catalogue: Catalogue;
  /** Asks nobody. */
  nameOf(mac: string): string | undefined;
  /** Whether responses carry the names of devices. */
  carriesNames: boolean;
  /** The gateway that hears the device best. */
  gatewayOf(device: string): string | undefined;
  wasRead(read: ReadValue): void;
}

/** Whether a sample, given as a report or by its fields, waits for an acknowledgement. */
export function isAcknowledged({ kind, ack }: Record<string, unknown>): boolean {
  return kind === undefined || (kind === 'timestamped' && ack === true);
}

export class DeviceRequests {
  readonly #mqtt: Sender;
  readonly #settings: MqttSettings;
  readonly #context: DeviceRequestsContext;

  constructor(mqtt: Sender, settings: MqttSettings, context: DeviceRequestsContext) {
    this.#mqtt = mqtt;
    this.#settings = settings;
    this.#context = context;
  }

  /**
   * Sends a request to a gateway and reads its response. A missing device means the gateway itself, a missing gateway
   * the one that hears the device best.
   * @throws ServiceError `INVALID_INPUT`, `NOT_CONNECTED`, `TIMEOUT`, `REQUEST_FAILED`,
   *   `BAD_RESPONSE`, `QUEUE_FULL`, `CLOSED`
   */
  async request(
    operation: Operation,
    input: RequestInput,
    options: RequestOptions & { decode?: boolean },
  ): Promise<RequestResult> {
    const request = this.#build(operation, input);
    const { gateway, identifier } = request;
    // Not the one that was asked: `apiversion` goes to the gateway, and what follows in a flow is about the device.
    const device = input.device === undefined ? request.device : parseAddress(input.device);
    const answer = this.#mqtt
      .request(request, options)
      .then((body) => readResponse(request, body, this.#context.catalogue, options.decode ?? true));
    const { value, response } = await this.#withWords(answer);
    this.#addNames(response, request);
    if (operation === 'read' && identifier !== undefined) {
      const time = typeof response.time === 'string' ? response.time : undefined;
      const known = options.decode === false ? this.#decode(request.operation, identifier, value) : value;
      this.#context.wasRead({ gateway, device: request.device, identifier, value: known, time });
    }
    return { gateway, ...(device !== undefined && { device }), identifier, value, response };
  }

  /**
   * Acknowledges a timestamped sample, given as a report or by its fields (assumed: beyond the interface).
   * @param given for which `isAcknowledged`
   * @throws ServiceError as `request`
   */
  async acknowledge(
    given: Record<string, unknown>,
    options: AcknowledgeOptions,
  ): Promise<{ sent: boolean; response?: Record<string, unknown> }> {
    const request = this.#build('ack', given);
    const key = `${request.gateway}/${request.device}/${request.suffix}/${String(given.time)}`;
    const read = (body: unknown) =>
      this.#addNames(readResponse(request, body, this.#context.catalogue, false).response, request);
    const response = await this.#withWords(this.#mqtt.acknowledge(request, key, options, read));
    // Another one who acknowledges the same sample gets what this one got, and a flow may change what it gets.
    return response ? { sent: true, response: structuredClone(response) } : { sent: true };
  }

  #build(operation: Operation, input: RequestInput): BuiltRequest {
    const { ackOperation, ackDecodedOperation, ackPayload } = this.#settings;
    const ack = { raw: ackOperation, decoded: ackDecodedOperation, payload: ackPayload };
    return buildRequest(operation, this.#withGateway(input), { catalogue: this.#context.catalogue, ack });
  }

  /** A value that one node wants as it came is known to the others as they would have it. */
  #decode(operation: string, identifier: string, value: unknown): unknown {
    const decoded =
      operation === 'read' && isHexBytes(value)
        ? this.#context.catalogue.decode(identifier, value)
        : undefined;
    return decoded ? decoded.value : value;
  }

  #withGateway<T extends { gateway?: unknown; device?: unknown }>(input: T): T {
    // An address that is there and empty is refused where it is read.
    if (input.gateway !== undefined || !isGiven(input.device)) {
      return input;
    }
    const mac = parseAddress(input.device);
    if (!mac) {
      throw invalidInput('device', input.device, 'notMac');
    }
    const gateway = this.#context.gatewayOf(mac);
    if (!gateway) {
      throw invalidInput('device', input.device, 'notSeen', { device: wordsFor(mac, this.#context.nameOf) });
    }
    return { ...input, gateway };
  }

  /** A response says which device it is about as a report does. */
  #addNames(response: Record<string, unknown>, { gateway, device }: BuiltRequest): Record<string, unknown> {
    return this.#context.carriesNames
      ? addNames(response, { gateway, device }, this.#context.nameOf)
      : response;
  }

  /** A person knows a device by its name, and an error waits for nobody: what is known already. */
  #withWords<T>(answer: Promise<T>): Promise<T> {
    return answer.catch(this.#nameThePlace);
  }

  readonly #nameThePlace = (error: unknown): never => {
    nameThePlace(error, this.#context.nameOf, this.#context.catalogue);
    throw error;
  };
}
