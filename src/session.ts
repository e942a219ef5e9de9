// One service as the nodes see it: composes REST and MQTT, and owns what both need.
import { DeviceDirectory } from './devices.ts';
import { invalidInput, ServiceError } from './errors.ts';
import { LabelGate, type LabelState } from './labels.ts';
import type { Logger } from './log.ts';
import { Duplicates } from './mqtt/duplicates.ts';
import { Gateways, type RequestOptions } from './mqtt/gateways.ts';
import { readReportFilter, type ReportFilter as TopicFilter } from './mqtt/report-filter.ts';
import type { Membership, Message, ReportListener } from './mqtt/reports.ts';
import type { MqttState } from './mqtt/state.ts';
import { type PreviewLine, Previews } from './preview.ts';
import { type Catalogue, createCatalogue } from './protocol/identifiers.ts';
import { copyFields } from './protocol/json.ts';
import { parseMac } from './protocol/mac.ts';
import { buildRequest, type Operation, type RequestInput, readAnswer } from './protocol/operations/index.ts';
import { isGiven } from './protocol/operations/request.ts';
import {
  request as callFreely,
  createLabel,
  type FreeAnswer,
  type FreeRequest,
  isReading,
  mayHaveActed,
  removeLabel,
  rename,
} from './rest/calls.ts';
import { RestClient } from './rest/client.ts';
import { type ListedPage, type ListOptions, listPages } from './rest/list.ts';
import type { RestState } from './rest/types.ts';
import { Seen } from './seen.ts';
import type { Settings } from './settings.ts';

export interface ReportFilter extends TopicFilter {
  /** Only gateways that carry one of these REST labels. */
  labels: readonly string[];
  /** Seconds between two looks at the labels. */
  labelRefresh: number;
  /** Raw values are decoded by the catalogue. */
  decode: boolean;
  duplicates: 'keep' | 'drop';
  /** Seconds. */
  duplicateWindow: number;
}

export interface Subscriber extends ReportListener {
  /** Tells about the label filter, if there is one. */
  labels?(state: LabelState): void;
}

/** What a request brought: the decoded value, and the whole response (contract: mt-gw-read). */
export interface Answer {
  gateway: string;
  device: string;
  /** As it was sent. */
  identifier?: string;
  value: unknown;
  response: Record<string, unknown>;
}

export interface AcknowledgeOptions extends RequestOptions {
  /** False: done when the broker has the acknowledgement; true: when the response with status 0 has come. */
  wait: boolean;
}

export interface SessionState {
  mqtt: MqttState;
  rest: RestState;
}

const UNCONFIGURED = { name: 'unconfigured' } as const;

/** The door to one service. Each half works without the other and is opened when it is first needed. */
export class Session {
  readonly catalogue: Catalogue;
  /** What reports have shown since the start. */
  readonly seen: Seen;
  /** Undefined without a REST half. */
  readonly devices: DeviceDirectory | undefined;
  readonly #gateways: Gateways | undefined;
  readonly #rest: RestClient | undefined;
  readonly #listeners = new Set<(state: SessionState) => void>();
  readonly #previews: Previews<ReportFilter>;
  /** Reports that waited for labels when their subscriber went, until the flows run, by its name. */
  readonly #handedOver = new Map<string, Message[]>();
  /** Subscribers that came back, by name. */
  readonly #heirs = new Map<string, (messages: readonly Message[]) => void>();
  readonly #gates = new Set<LabelGate>();

  /** @throws ServiceError `INVALID_INPUT` field `identifiers` */
  constructor(settings: Settings, log: Logger) {
    this.catalogue = createCatalogue(settings.identifiers);
    this.seen = new Seen(this.catalogue);
    const tell = () => this.#tell();
    if (settings.mqtt) {
      const events = { state: tell, released: () => this.#released() };
      this.#gateways = new Gateways(settings.mqtt, this.catalogue, this.seen, log, events);
    }
    if (settings.rest) {
      this.#rest = new RestClient(settings.rest, { log });
      this.#rest.onState(tell);
      this.devices = new DeviceDirectory(this.#rest, { log });
    }
    this.#previews = new Previews({
      listen: (filter, report) => this.#watch(filter, { report, error() {} }, { isPassive: true }),
      want: (filter) => this.#wantPreview(filter),
    });
  }

  /** Which halves are configured. */
  get parts(): { rest: boolean; mqtt: boolean } {
    return { rest: this.#rest !== undefined, mqtt: this.#gateways !== undefined };
  }

  get state(): SessionState {
    return { mqtt: this.#gateways?.state ?? UNCONFIGURED, rest: this.#rest?.state ?? UNCONFIGURED };
  }

  /** Calls the listener now and at every change. @returns stops it */
  onState(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener);
    listener(this.state);
    return () => this.#listeners.delete(listener);
  }

  /** Keeps the broker connection up until the returned function is called; does nothing without an MQTT half. */
  attach(): () => void {
    return this.#gateways?.attach() ?? (() => {});
  }

  /** Reports wait until `release`, at most 20 s: call it while flows are being replaced. */
  hold(): void {
    this.#gateways?.hold();
  }

  release(): void {
    this.#gateways?.release();
  }

  /**
   * Gives the listener every report that passes the filter, each an object of its own.
   * @param owner by this name a subscriber is known again after a deploy: what waited for labels waits for it
   * @returns ends the subscription; `comesBack`: the owner subscribes again with the same deploy
   * @throws ServiceError `NOT_CONFIGURED` (`mqtt`; `rest` with labels), `INVALID_INPUT` with the filter's field
   */
  subscribe(filter: ReportFilter, subscriber: Subscriber, owner?: string): (comesBack?: boolean) => void {
    return this.#watch(filter, subscriber, { owner });
  }

  /** The newest reports that would pass, newest last; listens as long as somebody asks again within 15 s. */
  preview(filter: ReportFilter): readonly PreviewLine[] {
    return this.#previews.poll(filter);
  }

  /**
   * Sends a request to a gateway and reads its answer. A missing device means the gateway itself, a missing gateway
   * the one that last reported the device.
   * @throws ServiceError `NOT_CONFIGURED`, `INVALID_INPUT`, `NOT_CONNECTED`, `TIMEOUT`, `REQUEST_FAILED`,
   *   `BAD_RESPONSE`, `QUEUE_FULL`, `CLOSED`
   */
  async request(
    operation: Operation,
    input: RequestInput,
    options: RequestOptions & { decode?: boolean },
  ): Promise<Answer> {
    const gateways = this.#needGateways();
    const request = buildRequest(operation, this.#withGateway(input), this.catalogue);
    const body = await gateways.request(request, options);
    const { gateway, device, identifier } = request;
    const { value, response } = readAnswer(request, body, this.catalogue, options.decode ?? true);
    return { gateway, device, identifier, value, response };
  }

  /**
   * Acknowledges a timestamped sample, given as a report or by its fields (assumed: beyond the interface). A report
   * that cannot be acknowledged is left alone: `sent` is false.
   * @throws ServiceError as `request`
   */
  async acknowledge(
    sample: Record<string, unknown>,
    options: AcknowledgeOptions,
  ): Promise<{ sent: boolean; response?: Record<string, unknown> }> {
    const given = copyFields(sample, 'report');
    if (given.kind !== undefined && (given.kind !== 'timestamped' || given.ack !== true)) {
      return { sent: false };
    }
    const response = await this.#needGateways().acknowledge(
      this.#withGateway(given),
      options,
      (request, body) => readAnswer(request, body, this.catalogue, false).response,
    );
    return response ? { sent: true, response } : { sent: true };
  }

  /**
   * See `listPages` of the REST room.
   * @throws ServiceError `NOT_CONFIGURED`, and what that throws
   */
  async *listPages(options: ListOptions): AsyncGenerator<ListedPage> {
    yield* listPages(this.#needRest(), options);
  }

  /** @throws ServiceError as `rename` of the REST room, `NOT_CONFIGURED` */
  async rename(
    device: unknown,
    name: unknown,
    signal: AbortSignal,
  ): Promise<{ id: string; friendlyName: string }> {
    return this.#changing(rename(this.#needRest(), device, name, signal));
  }

  async createLabel(label: unknown, signal: AbortSignal): Promise<{ label: string }> {
    return this.#changing(createLabel(this.#needRest(), label, signal));
  }

  async removeLabel(
    device: unknown,
    label: unknown,
    signal: AbortSignal,
  ): Promise<{ id: string; label: string }> {
    return this.#changing(removeLabel(this.#needRest(), device, label, signal));
  }

  /** An authenticated request to any path below the base URL: for what the interface names without showing. */
  async call(input: FreeRequest, signal: AbortSignal): Promise<FreeAnswer> {
    const answer = callFreely(this.#needRest(), input, signal);
    return isReading(input.method) ? answer : this.#changing(answer);
  }

  /** Ends everything within 2 s; what is waiting ends with `CLOSED`. */
  async close(): Promise<void> {
    this.#previews.close();
    this.devices?.close();
    await Promise.all([this.#gateways?.close(), this.#rest?.close()]);
    this.#listeners.clear();
  }

  #watch(
    filter: ReportFilter,
    subscriber: Subscriber,
    { owner, isPassive = false }: { owner?: string | undefined; isPassive?: boolean },
  ): (comesBack?: boolean) => void {
    const gateways = this.#needGateways();
    const read = readReportFilter(filter, this.catalogue);
    // Repeats are looked for behind the labels: a copy by a gateway without the label is no repeat of the other.
    const receiver = withoutDuplicates(subscriber, filter);
    let membership: Membership | undefined;
    const replay = (messages: readonly Message[]) => membership?.replay(messages);
    const gate = filter.labels.length > 0 ? this.#gate(filter, receiver, subscriber, replay) : undefined;
    gate?.open();
    // A filter that nothing passes is no reason to subscribe; its node still shows the connection.
    const detach = read ? undefined : gateways.attach();
    if (read) {
      membership = gateways.subscribe(read, filter.decode, gate ?? receiver, isPassive);
    }
    if (gate) {
      this.#gates.add(gate);
    }
    if (owner !== undefined) {
      this.#heirs.set(owner, replay);
    }
    return (comesBack = false) => {
      if (owner !== undefined) {
        this.#leave(owner, comesBack, gate);
      }
      if (gate) {
        this.#gates.delete(gate);
      }
      gate?.close();
      membership?.remove();
      detach?.();
    };
  }

  #leave(owner: string, comesBack: boolean, gate: LabelGate | undefined): void {
    this.#heirs.delete(owner);
    const waiting = [...(this.#handedOver.get(owner) ?? []), ...(gate?.takeHeld() ?? [])];
    if (comesBack && waiting.length > 0) {
      this.#handedOver.set(owner, waiting);
    } else {
      this.#handedOver.delete(owner);
    }
  }

  /** The flows run: before that, what was replayed would reach nodes whose receivers do not exist yet. */
  #released(): void {
    for (const [owner, messages] of this.#handedOver) {
      this.#heirs.get(owner)?.(messages);
    }
    this.#handedOver.clear();
    for (const gate of this.#gates) {
      gate.flush();
    }
  }

  #wantPreview(filter: ReportFilter): () => void {
    const read = readReportFilter(filter, this.catalogue);
    return read ? this.#needGateways().addPreview(read) : () => {};
  }

  #gate(
    { labels, labelRefresh }: ReportFilter,
    receiver: ReportListener,
    subscriber: Subscriber,
    replay: (messages: readonly Message[]) => void,
  ): LabelGate {
    this.#needRest();
    const source = this.devices as DeviceDirectory;
    const tell = (state: LabelState) => subscriber.labels?.(state);
    const isPaused = () => this.#gateways?.held === true;
    return new LabelGate(receiver, replay, labels, labelRefresh * 1000, source, tell, isPaused);
  }

  #withGateway<T extends { gateway?: unknown; device?: unknown }>(input: T): T {
    // An address that is there and empty is refused where it is read.
    if (input.gateway !== undefined || !isGiven(input.device)) {
      return input;
    }
    const mac = parseMac(input.device);
    if (!mac) {
      throw invalidInput('device', input.device, 'notMac');
    }
    const gateway = this.seen.gatewayOf(mac);
    if (!gateway) {
      throw invalidInput('gateway', undefined, 'notSeen', { device: mac });
    }
    return { ...input, gateway };
  }

  /** What changed something at the service, or may have, makes the list of devices old. */
  async #changing<T>(change: Promise<T>): Promise<T> {
    try {
      const result = await change;
      this.devices?.invalidate();
      return result;
    } catch (error) {
      if (mayHaveActed(error)) {
        this.devices?.invalidate();
      }
      throw error;
    }
  }

  #needGateways(): Gateways {
    if (!this.#gateways) {
      throw new ServiceError('NOT_CONFIGURED', 'mqtt', { part: 'mqtt' });
    }
    return this.#gateways;
  }

  #needRest(): RestClient {
    if (!this.#rest) {
      throw new ServiceError('NOT_CONFIGURED', 'rest', { part: 'rest' });
    }
    return this.#rest;
  }

  #tell(): void {
    const state = this.state;
    for (const listener of this.#listeners) {
      listener(state);
    }
  }
}

function withoutDuplicates(listener: ReportListener, filter: ReportFilter): ReportListener {
  if (filter.duplicates === 'keep') {
    return listener;
  }
  const duplicates = new Duplicates(filter.duplicateWindow * 1000);
  return {
    report(report, topic, payload, heardAt) {
      if (!duplicates.seen(report, heardAt)) {
        listener.report(report, topic, payload, heardAt);
      }
    },
    error: (error, message) => listener.error(error, message),
  };
}
