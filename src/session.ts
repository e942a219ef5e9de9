// One service as the nodes see it: composes REST and MQTT, and owns what both need.
import { type EndUse, SharedUses } from './collections/shared-uses.ts';

import { type Phrase, ServiceError } from './errors.ts';
import type { Logger } from './log.ts';
import { MqttClient, type RequestOptions, type SubscriptionCounts } from './mqtt/client.ts';
import {
  type AcknowledgeOptions,
  DeviceRequests,
  isAcknowledged,
  type ReadValue,
  type RequestResult,
} from './mqtt/device-requests.ts';
import { type BrokerProbe, probeConnected } from './mqtt/probe.ts';
import type { MqttState } from './mqtt/state.ts';
import { ChangeNotices } from './network/change-notices.ts';
import { DeviceReports } from './network/device-reports.ts';
import { DeviceWatches } from './network/device-watches.ts';
import { LastValues } from './network/last-values.ts';
import { NetworkPages } from './network/network-pages.ts';
import { NetworkState } from './network/network-state.ts';
import { RecentLists } from './network/recent-lists.ts';
import { SharedReads } from './network/shared-reads.ts';
import { findSilent } from './network/silent-devices.ts';
import {
  findFirstValues,
  findValue,
  findValues,
  type ValueContext,
  type ValueInput,
  type ValueOptions,
  type ValueResult,
  type ValueRow,
} from './network/value-query.ts';
import type { WatchSettings } from './network/watch-context.ts';
import { type Catalogue, createCatalogue } from './protocol/catalogue.ts';
import { copyFields } from './protocol/json.ts';
import type { Operation, RequestInput } from './protocol/operations/index.ts';
import type { HeardRecordState } from './protocol/record-state.ts';
import { createTopics } from './protocol/topics.ts';
import { openReportsOf } from './reports/open-reports.ts';
import { Player } from './reports/player.ts';
import type { PreviewLine } from './reports/preview.ts';
import type { Recording } from './reports/recording.ts';
import { Reports } from './reports/reports.ts';
import { type ReportFilter, type Subscriber, Subscribers } from './reports/subscribers.ts';
import { TestReports } from './reports/test-reports.ts';
import { recordValues, type ValueFilter } from './reports/value-recording.ts';
import { type DeviceWatcher, type WatchedDevices, watchDevices } from './reports/watching.ts';
import type { FreeRequest, FreeResponse } from './rest/calls.ts';
import { Changes } from './rest/changes.ts';
import { RestClient } from './rest/client.ts';
import { DeviceDirectory } from './rest/device-directory.ts';
import { type ListedPage, type ListOptions, listPages } from './rest/list.ts';
import { NameRefresh } from './rest/name-refresh.ts';
import type { RestState } from './rest/types.ts';
import type { Settings } from './settings.ts';

export type { AcknowledgeOptions, RequestResult } from './mqtt/device-requests.ts';
export type { ReportFilter, Subscriber } from './reports/subscribers.ts';
export type { ValueFilter } from './reports/value-recording.ts';
export type { WatchedDevices } from './reports/watching.ts';

export interface SessionState {
  mqtt: MqttState;
  rest: RestState;
}

/** Reads of queries for many values that are under way at a time: they leave room in the queue for what flows ask for. */
const MAX_VALUE_READS = 100;
/** States in which reports come. */
const LISTENING: ReadonlySet<MqttState['name']> = new Set(['connected', 'overloaded', 'limited']);

const UNCONFIGURED = { name: 'unconfigured' } as const;

/** Access to one service. Each half works without the other and is opened when it is first needed. */
export class Session {
  readonly catalogue: Catalogue;
  /** What reports have shown since the start. */
  readonly network = new NetworkState();
  /** What was heard last, for pickers. */
  readonly recent: RecentLists;
  /** The network as people look at it. */
  readonly pages: NetworkPages;
  /** To people who look at it. */
  readonly changes = new ChangeNotices(this.network);
  /** Of the devices that people look at. */
  readonly deviceReports: DeviceReports;
  /** Of what nodes with last values have received, and of what was read. */
  readonly lastValues: LastValues;
  /** Undefined without an MQTT half. */
  readonly testReports: TestReports | undefined;
  /** Sends the lines of a record through nodes. Undefined without an MQTT half. */
  readonly player: Player | undefined;
  /** What nodes watch, and what they have told. */
  readonly watches: DeviceWatches;
  /** Undefined without a REST half. */
  readonly devices: DeviceDirectory | undefined;
  readonly #mqtt: MqttClient | undefined;
  readonly #subscribers: Subscribers | undefined;
  readonly #requests: DeviceRequests | undefined;
  readonly #rest: RestClient | undefined;
  /** Undefined where reports and responses are to carry no names of devices. */
  readonly #names: NameRefresh | undefined;
  /** Nothing comes before flows have stored something. */
  #isHeldUp = () => false;
  #isThere: (owner: string) => boolean = () => false;
  readonly #listeners = new Set<(state: SessionState) => void>();
  /** What nodes with last values and with watches want, by what it is for and the filter. */
  readonly #shared = new SharedUses();
  /** No more than may wait: what one query asks for must not be refused because of itself. */
  readonly #valueReads: SharedReads;
  readonly #log: Logger;

  /** @throws ServiceError `INVALID_INPUT` field `identifiers` */
  constructor(settings: Settings, log: Logger) {
    this.#log = log;
    this.catalogue = createCatalogue(settings.identifiers);
    this.recent = new RecentLists(this.network, this.catalogue, this.#nameOf);
    this.pages = new NetworkPages({
      network: this.network,
      catalogue: this.catalogue,
      nameOf: this.#nameOf,
      listed: (mac) => this.devices?.entryOf(mac),
      allListed: () => this.devices?.entries() ?? [],
    });
    this.lastValues = new LastValues(this.catalogue);
    this.deviceReports = new DeviceReports({
      network: this.network,
      catalogue: this.catalogue,
      lastValues: this.lastValues,
      nameOf: this.#nameOf,
    });
    this.watches = new DeviceWatches(this.network, this.catalogue, {
      nameOf: this.#nameOf,
      isRefused: (place) => this.#subscribers?.isRefusedAt(place) === true,
    });
    const maxQueue = settings.mqtt?.maxQueue ?? MAX_VALUE_READS;
    this.#valueReads = new SharedReads(Math.max(1, Math.min(MAX_VALUE_READS, maxQueue)));
    if (settings.rest) {
      this.#rest = new RestClient(settings.rest, { log });
      this.#rest.onState(() => this.#notify());
      this.devices = new DeviceDirectory(this.#rest, { log });
      this.devices.onNames(() => this.changes.changed());
    }
    if (settings.mqtt) {
      const { topicPrefix, sharedGroup } = settings.mqtt;
      const topics = createTopics(topicPrefix);
      const isShared = sharedGroup !== '';
      const names = settings.names && this.devices ? this.#nameOf : undefined;
      const isPaused = () => this.#mqtt?.isPaused === true;
      const reports = new Reports(topics, this.catalogue, this.network, log, {
        ...{ isShared, nameOf: names, isPaused },
      });
      reports.open.onHeldUp = () => this.#heardChanged();
      this.#isHeldUp = () => reports.open.isHeldUp;
      this.testReports = new TestReports({
        topics,
        catalogue: this.catalogue,
        network: this.network,
        nameOf: names,
      });
      this.player = new Player({
        ...{ topics, catalogue: this.catalogue, nameOf: names, isPaused },
        gatewaysWithLabels: async (labels, signal) => this.#needDevices().labelledGateways(labels, signal),
      });
      const events = { state: () => this.#notify(), resumed: (isReady: boolean) => this.#resumed(isReady) };
      this.#mqtt = new MqttClient(settings.mqtt, topics, reports, log, events);
      this.#requests = new DeviceRequests(this.#mqtt, settings.mqtt, {
        catalogue: this.catalogue,
        nameOf: this.#nameOf,
        carriesNames: names !== undefined,
        gatewayOf: (device) => this.network.gatewayOf(device),
        wasRead: (read) => this.#wasRead(read),
      });
      const needDevices = () => this.#needDevices();
      const recorded = () => void this.#heardChanged();
      this.#subscribers = new Subscribers(reports, this.catalogue, this.#mqtt, needDevices, recorded);
      if (settings.names && this.devices) {
        this.#names = new NameRefresh(this.devices, { log });
        this.devices.onNames(() => reports.namesChanged());
      }
    }
  }

  /** Whether reports and responses carry the names of devices. */
  get carriesNames(): boolean {
    return this.#names !== undefined;
  }

  /** Which halves are configured. */
  get configured(): { rest: boolean; mqtt: boolean } {
    return { rest: this.#rest !== undefined, mqtt: this.#mqtt !== undefined };
  }

  get state(): SessionState {
    return { mqtt: this.#mqtt?.state ?? UNCONFIGURED, rest: this.#rest?.state ?? UNCONFIGURED };
  }

  /** Calls the listener now and at every change. @returns stops it */
  onState(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener);
    listener(this.state);
    return () => this.#listeners.delete(listener);
  }

  /** Of the broker connection; undefined without an MQTT half. */
  get subscriptions(): SubscriptionCounts | undefined {
    return this.#mqtt?.subscriptions;
  }

  /**
   * Asks the broker over the connection that there is, and listens for three seconds to what it brings anyway.
   * @returns undefined when it is not connected
   */
  async probe(): Promise<BrokerProbe | undefined> {
    return this.#mqtt && probeConnected(this.#mqtt, (since) => this.network.countGateways(since));
  }

  /** Topic filters that the nodes want at present, without the group. */
  get reportFilters(): readonly string[] {
    return this.#mqtt?.reportFilters ?? [];
  }

  /**
   * Keeps the broker connection up, and names of devices known, until the returned function is called; does nothing
   * without an MQTT half.
   */
  attach(): () => void {
    const detach = this.#mqtt?.attach();
    const endNames = this.#names?.use();
    return () => {
      endNames?.();
      detach?.();
    };
  }

  /** Reports wait until `resumeReports`, at most 20 s: call it while flows are being replaced. */
  pauseReports(): void {
    this.watches.setPaused(true);
    this.#mqtt?.pauseReports();
    this.player?.flowsReplaced();
  }

  /** @param isThere whether there is a node of this name, though it may not work: reports that are open wait for it */
  resumeReports(isThere: (owner: string) => boolean = () => false): void {
    this.#isThere = isThere;
    this.#mqtt?.resumeReports();
  }

  /**
   * Gives the listener every report that passes the filter, each an object of its own.
   * @param owner by this name a subscriber is known again after a deploy: what waited for labels waits for it
   * @returns ends the subscription; `comesBack`: the owner subscribes again with the same deploy
   * @throws ServiceError `NOT_CONFIGURED` (`mqtt`; `rest` with labels), `INVALID_INPUT` with the filter's field
   */
  subscribe(filter: ReportFilter, subscriber: Subscriber, owner?: string): (comesBack?: boolean) => void {
    const end = this.#needSubscribers().add(filter, subscriber, owner);
    const endNames = this.#names?.use();
    return (comesBack) => {
      endNames?.();
      end(comesBack);
    };
  }

  /**
   * Keeps the last values of all that passes the filter up to date. Many nodes want the same: what they want is recorded
   * once.
   * @returns ends it; what is known stays, and what waits for labels where it comes back with the same deploy
   * @throws ServiceError as `subscribe`
   */
  recordValues(filter: ValueFilter): EndUse {
    const subscribe = this.subscribe.bind(this);
    return recordValues({ lastValues: this.lastValues, shared: this.#shared, subscribe }, filter);
  }

  /**
   * Tells when one of the conditions begins or ends for a gateway or a device that passes.
   * @param owner by this name the watch is known again after a deploy and a restart
   * @throws ServiceError as `subscribe`
   */
  watchDevices(settings: WatchSettings, watcher: DeviceWatcher, owner: string): WatchedDevices {
    const context = {
      watches: this.watches,
      subscribe: (filter: ReportFilter, subscriber: Subscriber) => {
        const begin = () => this.subscribe(filter, subscriber);
        // Where there are labels each watch is told of them.
        return filter.labels.length > 0
          ? begin()
          : this.#shared.use(`watches ${JSON.stringify(filter)}`, begin);
      },
      refusalOf: (filters: readonly ReportFilter[]) => this.refusalOf(...filters),
      onRefusals: (listener: (isLimited: boolean) => void) =>
        this.onState(({ mqtt }) => listener(mqtt.name === 'limited')),
      gatewaysWithLabels: (labels: readonly string[]) => this.devices?.knownGatewaysWithLabels(labels),
    };
    return watchDevices(context, settings, watcher, owner);
  }

  /**
   * The last value of one property of one device; with `tooOld: read` the device is asked where there is none.
   * @throws ServiceError `INVALID_INPUT`, `NO_VALUE`, and as `request`
   */
  lastValue(input: ValueInput, options: ValueOptions & RequestOptions): Promise<ValueResult> {
    return findValue(this.#valueContext(options), input, options);
  }

  /**
   * The last values of all that passes, by device and property.
   * @returns `failure`: `NO_VALUE` with the devices that were asked and did not answer
   * @throws ServiceError `INVALID_INPUT`, `NO_VALUE`, `QUEUE_FULL`
   */
  allLastValues(
    input: ValueInput,
    options: ValueOptions & RequestOptions,
  ): Promise<{ rows: ValueRow[]; failure: ServiceError | undefined }> {
    return findValues(this.#valueContext(options), input, options);
  }

  /**
   * The first of what `allLastValues` would bring, of any age, and how many there are.
   * @throws ServiceError `INVALID_INPUT`, `NOT_CONFIGURED` (`rest` with labels)
   */
  firstLastValues(
    input: ValueInput,
    options: Pick<ValueOptions, 'labels' | 'signal'>,
    limit: number,
  ): Promise<{ rows: ValueRow[]; total: number }> {
    return findFirstValues(this.#valueContext(options), input, options, limit);
  }

  /**
   * The newest reports that would pass, newest last; listens as long as somebody asks again within 15 s.
   * @throws ServiceError as `subscribe`; `NOT_CONNECTED` when the broker refuses the subscription and nothing was heard
   */
  preview(filter: ReportFilter): readonly PreviewLine[] {
    return this.#needSubscribers().preview(filter);
  }

  /**
   * Has the broker send all reports there are for 15 s, beside what flows want, which get none of them twice and nothing
   * that they have not asked for. Ask again while somebody looks: one subscription serves all who do.
   * @returns `seconds` from now on; `isHearing`: false while the broker has not granted it, has refused it, or allows no
   *   further subscription, and in a shared group, whose members get no more than their share
   * @throws ServiceError `NOT_CONFIGURED` (`mqtt`)
   */
  listenToEverything(): { seconds: number; isHearing: boolean } {
    const subscribers = this.#needSubscribers();
    const seconds = subscribers.listenToEverything(() => this.#heardChanged());
    return { seconds, isHearing: this.#heardChanged() };
  }

  /**
   * All reports there are, recorded for a person.
   * @throws ServiceError `NOT_CONFIGURED` (`mqtt`)
   */
  get recording(): Recording {
    return this.#needSubscribers().recording;
  }

  /**
   * See `Recording.state`. @returns `isHearing` as `listenToEverything`
   * @throws ServiceError `NOT_CONFIGURED` (`mqtt`)
   */
  recordState(): HeardRecordState {
    return { ...this.recording.state(), isHearing: this.#heardChanged() };
  }

  /** Of these gateways and devices the silent ones: when they were heard last; null: never since the start. */
  findSilent(macs: Iterable<string>): Record<string, string | null> {
    const isHeard = this.#subscribers?.wantedDevices ?? (() => false);
    return findSilent({ network: this.network, catalogue: this.catalogue, isHeard }, macs);
  }

  /**
   * Why the broker has refused the subscriptions by which reports that pass these filters would come; undefined: it has
   * not. The reason in the state is that of all subscribers together.
   */
  refusalOf(...filters: ReportFilter[]): Phrase | undefined {
    return this.#mqtt?.refusalOf(this.#subscribers?.serving(filters) ?? []);
  }

  /**
   * Sends a request to a gateway and reads its response. A missing device means the gateway itself, a missing gateway
   * the one that hears the device best.
   * @throws ServiceError `NOT_CONFIGURED`, `INVALID_INPUT`, `NOT_CONNECTED`, `TIMEOUT`, `REQUEST_FAILED`,
   *   `BAD_RESPONSE`, `QUEUE_FULL`, `CLOSED`
   */
  async request(
    operation: Operation,
    input: RequestInput,
    options: RequestOptions & { decode?: boolean },
  ): Promise<RequestResult> {
    return this.#needRequests().request(operation, input, options);
  }

  /**
   * See `DeviceRequests.acknowledge`.
   * @throws ServiceError as `request`
   */
  async acknowledge(
    sample: Record<string, unknown>,
    options: AcknowledgeOptions,
  ): Promise<{ sent: boolean; response?: Record<string, unknown> }> {
    const given = copyFields(sample, 'report');
    return isAcknowledged(given) ? this.#needRequests().acknowledge(given, options) : { sent: false };
  }

  /**
   * The flow has stored a report, which may be of another service: its broker need not keep it any longer.
   * @param delivery of the report @returns false: it is not open, or not any more
   */
  confirm(delivery: string): boolean {
    return openReportsOf(delivery)?.confirm(delivery) === true;
  }

  /** Sends a report to the flow again, as `confirm`. @param ms from now on @returns false: it is not open */
  sendAgain(delivery: string, ms: number): boolean {
    return openReportsOf(delivery)?.sendAgain(delivery, ms) === true;
  }

  /**
   * See `listPages` of `rest/list.ts`.
   * @throws ServiceError `NOT_CONFIGURED`, and what that throws
   */
  async *listPages(options: ListOptions): AsyncGenerator<ListedPage> {
    yield* listPages(this.#needRest(), options);
  }

  /** @throws ServiceError as `rename` of `rest/calls.ts`, `NOT_CONFIGURED` */
  async rename(
    device: unknown,
    name: unknown,
    signal: AbortSignal,
  ): Promise<{ id: string; friendlyName: string }> {
    return this.#needChanges().rename(device, name, signal);
  }

  async createLabel(label: unknown, signal: AbortSignal): Promise<{ label: string }> {
    return this.#needChanges().createLabel(label, signal);
  }

  async removeLabel(
    device: unknown,
    label: unknown,
    signal: AbortSignal,
  ): Promise<{ id: string; label: string }> {
    return this.#needChanges().removeLabel(device, label, signal);
  }

  /** An authenticated request to any path below the base URL: for what the interface names without showing. */
  async call(input: FreeRequest, signal: AbortSignal): Promise<FreeResponse> {
    return this.#needChanges().call(input, signal);
  }

  /**
   * Ends everything within 2 s; what is waiting ends with `CLOSED`.
   * @param isFinal nobody comes back to a persistent session: what it has subscribed at the broker is given back
   */
  async close(isFinal = false): Promise<void> {
    this.watches.close();
    this.changes.close();
    this.deviceReports.close();
    this.pages.close();
    this.#subscribers?.close();
    this.player?.close();
    this.#names?.close();
    this.devices?.close();
    await Promise.all([this.#mqtt?.close(isFinal), this.#rest?.close()]);
    this.#listeners.clear();
  }

  /** Asks nobody. */
  readonly #nameOf = (mac: string): string | undefined => this.devices?.nameOf(mac);

  #wasRead(read: ReadValue): void {
    this.lastValues.recordRead(read);
    this.network.recordRead(read.device, read.identifier, read.value, read.time);
    this.changes.heard(read.device, read.gateway);
  }

  #valueContext(options: RequestOptions): ValueContext {
    return {
      values: this.lastValues,
      catalogue: this.catalogue,
      nameOf: this.#nameOf,
      gatewaysWithLabels: async (labels, signal) => this.#needDevices().labelledGateways(labels, signal),
      gatewayOf: (device, gateways) => this.network.gatewayOf(device, gateways),
      reads: this.#valueReads,
      read: async (input) => {
        const {
          gateway,
          device = input.device,
          identifier = input.identifier,
          value,
          response,
        } = await this.request('read', { ...input, form: 'auto' }, options);
        return { value, gateway, device, identifier, age: 0, source: 'read', response };
      },
    };
  }

  /** @returns whether all reports there are come here */
  #heardChanged(): boolean {
    return this.#setListening(this.state.mqtt);
  }

  /** A time without the broker is no silence of a device, nor one in which flows hold it up. */
  #setListening({ name }: MqttState): boolean {
    const isListening = LISTENING.has(name) && !this.#isHeldUp();
    const isHearing = isListening && this.#subscribers?.hearsEverything === true;
    this.network.setListening(isListening, isHearing);
    this.watches.setListening(isListening);
    return isHearing;
  }

  /** The flows run. @param isReady false: or take long to start */
  #resumed(isReady: boolean): void {
    this.#subscribers?.resumed(isReady, this.#isThere);
    this.watches.setPaused(false);
  }

  #needRequests(): DeviceRequests {
    if (!this.#requests) {
      throw new ServiceError('NOT_CONFIGURED', 'mqtt', { part: 'mqtt' });
    }
    return this.#requests;
  }

  #needSubscribers(): Subscribers {
    if (!this.#subscribers) {
      throw new ServiceError('NOT_CONFIGURED', 'mqtt', { part: 'mqtt' });
    }
    return this.#subscribers;
  }

  #needDevices(): DeviceDirectory {
    this.#needRest();
    return this.devices as DeviceDirectory;
  }

  #needChanges(): Changes {
    return new Changes(this.#needRest(), this.#needDevices());
  }

  #needRest(): RestClient {
    if (!this.#rest) {
      throw new ServiceError('NOT_CONFIGURED', 'rest', { part: 'rest' });
    }
    return this.#rest;
  }

  #notify(): void {
    const state = this.state;
    this.#setListening(state.mqtt);
    this.changes.changed();
    for (const listener of this.#listeners) {
      try {
        listener(state);
      } catch (fault) {
        // A mistake of one is not the others' problem, nor that of the subscriptions that are being made.
        this.#log.warn(`a listener to the state failed: ${String(fault)}`);
      }
    }
  }
}
