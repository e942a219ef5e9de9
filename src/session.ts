// One service as the nodes see it: composes REST and MQTT, and owns what both need.
import { SharedUses } from './collections/shared-uses.ts';
import { type Phrase, ServiceError } from './errors.ts';
import type { Logger } from './log.ts';
import type { ReadValue, RequestResult } from './mqtt/device-requests.ts';
import { isAcknowledged } from './mqtt/device-requests.ts';
import { type BrokerProbe, probeConnected } from './mqtt/probe.ts';
import type { RequestOptions } from './mqtt/requests.ts';
import type { AcknowledgeOptions } from './mqtt/sample-acknowledgements.ts';
import type { MqttState } from './mqtt/state.ts';
import type { SubscriptionCounts } from './mqtt/subscription-budget.ts';
import { ChangeNotices } from './network/change-notices.ts';
import { DeviceReports } from './network/device-reports.ts';
import { DeviceWatches } from './network/device-watches.ts';
import { LastValues } from './network/last-values.ts';
import { NetworkPages } from './network/network-pages.ts';
import { NetworkState } from './network/network-state.ts';
import { RecentLists } from './network/recent-lists.ts';
import { findSilent } from './network/silent-devices.ts';
import type { WatchSettings } from './network/watch-context.ts';
import { type Catalogue, createCatalogue } from './protocol/catalogue.ts';
import { copyFields } from './protocol/json.ts';
import type { Operation, RequestInput } from './protocol/operations/index.ts';
import { type HeldReport, HeldReports } from './reports/held-reports.ts';
import { unknownLabels } from './reports/label-filter.ts';
import { openReportsOf } from './reports/open-reports.ts';
import type { Player } from './reports/player.ts';
import type { KeptMessage, PreviewLine } from './reports/preview.ts';
import type { Recording } from './reports/recording.ts';
import type { ReportFilter } from './reports/report-filter.ts';
import type { Subscriber } from './reports/subscribers.ts';
import type { TestReports } from './reports/test-reports.ts';
import { type DeviceWatcher, type WatchedDevices, watchDevices } from './reports/watching.ts';
import { RestClient } from './rest/client.ts';
import { DeviceDirectory } from './rest/device-directory.ts';
import { NameRefresh } from './rest/name-refresh.ts';
import { ServiceCalls } from './rest/service-calls.ts';
import type { RestState } from './rest/types.ts';
import type { AllReports } from './session/all-reports.ts';
import { createMqttHalf, type MqttHalf } from './session/mqtt-half.ts';
import { Values } from './session/values.ts';
import type { Settings } from './settings.ts';

export type { RequestResult } from './mqtt/device-requests.ts';
export type { AcknowledgeOptions } from './mqtt/sample-acknowledgements.ts';
export type { ReportFilter } from './reports/report-filter.ts';
export type { Subscriber } from './reports/subscribers.ts';
export type { ValueFilter } from './reports/value-recording.ts';
export type { WatchedDevices } from './reports/watching.ts';

export interface SessionState {
  mqtt: MqttState;
  rest: RestState;
}

/** Access to one service. Each half works without the other and is opened when it is first needed. */
export class Session {
  readonly catalogue: Catalogue;
  /** What reports have shown since the start. */
  readonly network = new NetworkState({
    heardUntil: () => this.#heardUntil,
    isWanted: (gateway, device) => this.#mqtt?.reports.mayBring(gateway, device) ?? true,
  });
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
  /** Brings them up to date, and asks for them. */
  readonly values: Values;
  /** What nodes watch, and what they have told. */
  readonly watches: DeviceWatches;
  /** Of nodes with labels that a deploy replaces. */
  readonly heldReports: HeldReports;
  /** Undefined without a REST half. */
  readonly devices: DeviceDirectory | undefined;
  readonly #mqtt: MqttHalf | undefined;
  readonly #rest: RestClient | undefined;
  readonly #calls: ServiceCalls | undefined;
  /** Undefined where reports and responses are to carry no names of devices. */
  readonly #names: NameRefresh | undefined;
  #isThere: (owner: string) => boolean = () => false;
  #isDisabled: (owner: string) => boolean = () => false;
  readonly #listeners = new Set<(state: SessionState) => void>();
  /** What watches want, by the filter. */
  readonly #watched = new SharedUses();
  /** Why a half is missing that has addresses. */
  readonly #problems: NonNullable<Settings['problems']>;
  readonly #log: Logger;

  /**
   * @param isElsewhere whether another session needs what brokers keep for the client of this one
   * @throws ServiceError `INVALID_INPUT` field `identifiers`
   */
  constructor(settings: Settings, log: Logger, isElsewhere?: () => boolean) {
    this.#log = log;
    this.#problems = settings.problems ?? {};
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
      isRefused: (place) => this.#mqtt?.subscribers.isUnheardAt(place) === true,
      whenHeard: (call) => (this.#mqtt ? this.#mqtt.client.signs.whenThere(call) : call()),
    });
    this.heldReports = new HeldReports(log);
    this.values = new Values({
      values: this.lastValues,
      catalogue: this.catalogue,
      nameOf: this.#nameOf,
      gatewaysWithLabels: async (labels, signal) => this.#needDevices().labelledGateways(labels, signal),
      gatewayOf: (device, gateways) => this.network.gatewayOf(device, gateways),
      read: (input, options) => this.request('read', input, options),
      subscribe: this.subscribe.bind(this),
      refusalOf: this.refusalOf.bind(this),
      maxQueue: settings.mqtt?.maxQueue,
    });
    if (settings.rest) {
      this.#rest = new RestClient(settings.rest, { log });
      this.#rest.onState(() => this.#notify());
      this.devices = new DeviceDirectory(this.#rest, {
        log,
        mayBeGateway: (mac) => this.network.mayBeGateway(mac),
      });
      this.devices.onNames(() => this.changes.changed());
      this.#calls = new ServiceCalls(this.#rest, this.devices);
    }
    if (settings.mqtt) {
      const named = settings.names ? this.devices : undefined;
      const half = createMqttHalf(settings.mqtt, {
        ...{ log, catalogue: this.catalogue, network: this.network, watches: this.watches },
        heldReports: this.heldReports,
        ...{ nameOf: this.#nameOf, carriesNames: named !== undefined },
        needDevices: () => this.#needDevices(),
        labelSource: () => {
          const { rest: problem } = this.#problems;
          return problem ? unknownLabels(problem) : this.#needDevices();
        },
        events: {
          state: () => this.#notify(),
          resumed: (isReady) => this.#resumed(isReady),
          isSessionElsewhere: isElsewhere,
        },
        wasRead: (read) => this.#wasRead(read),
      });
      this.#mqtt = half;
      if (named) {
        this.#names = new NameRefresh(named, { log });
        named.onNames(() => half.reports.namesChanged());
      }
    }
  }

  /**
   * What flows ask of the service over REST.
   * @throws ServiceError `NOT_CONFIGURED` (`rest`), or what is wrong with the half
   */
  get rest(): ServiceCalls {
    return this.#calls ?? this.#miss('rest');
  }

  /**
   * What people listen to, and record.
   * @throws ServiceError `NOT_CONFIGURED` (`mqtt`), or what is wrong with the half
   */
  get allReports(): AllReports {
    return this.#needMqtt().allReports;
  }

  /** Of all reports, for people; undefined without an MQTT half. */
  get recording(): Recording | undefined {
    return this.#mqtt?.allReports.recording;
  }

  /** Undefined without an MQTT half. */
  get testReports(): TestReports | undefined {
    return this.#mqtt?.testReports;
  }

  /** Sends the lines of a record through nodes. Undefined without an MQTT half. */
  get player(): Player | undefined {
    return this.#mqtt?.player;
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
    const { mqtt, rest } = this.#problems;
    return {
      mqtt: this.#mqtt?.client.state ?? stateWithout(mqtt),
      rest: this.#rest?.state ?? stateWithout(rest),
    };
  }

  /** @throws ServiceError `INVALID_INPUT` where a half has addresses and cannot be used; not where it has none */
  checkHalf(half: 'rest' | 'mqtt'): void {
    const problem = this.#problems[half];
    if (problem) {
      throw problem;
    }
  }

  /** Calls the listener now and at every change. @returns stops it */
  onState(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener);
    listener(this.state);
    return () => this.#listeners.delete(listener);
  }

  /** Of the broker connection; undefined without an MQTT half. */
  get subscriptions(): SubscriptionCounts | undefined {
    return this.#mqtt?.client.subscriptions;
  }

  /**
   * Asks the broker over the connection that there is, and listens for three seconds to what it brings anyway.
   * @returns undefined when it is not connected
   */
  async probe(): Promise<BrokerProbe | undefined> {
    const countGateways = (since: number) => this.network.countGateways(since);
    return this.#mqtt && probeConnected(this.#mqtt.client, this.#mqtt.topics, countGateways);
  }

  /**
   * Whether flows ask for any reports, or people for all there are; what is known is out of date else. True while flows are
   * replaced: they are about to ask.
   */
  get areReportsAsked(): boolean {
    const { client, subscribers } = this.#mqtt ?? {};
    const isAsked = this.reportFilters.length > 0 || subscribers?.asksByLabels === true;
    return client?.isPaused === true || isAsked || subscribers?.hearsEverything === true;
  }

  /** Topic filters that the nodes want at present, without the group. */
  get reportFilters(): readonly string[] {
    return this.#mqtt?.client.reportFilters ?? [];
  }

  /**
   * Keeps the broker connection up, and names of devices known, until the returned function is called; does nothing
   * without an MQTT half.
   */
  attach(): () => void {
    const detach = this.#mqtt?.client.attach();
    const endNames = this.#names?.use();
    return () => {
      endNames?.();
      detach?.();
    };
  }

  /** Whether somebody keeps the broker connection up. */
  get isConnectionUsed(): boolean {
    return this.#mqtt?.client.isUsed === true;
  }

  /** Reports wait until `resumeReports`, at most 20 s: call it while flows are being replaced. */
  pauseReports(): void {
    this.watches.setPaused(true);
    this.#mqtt?.client.pauseReports();
    this.#mqtt?.player.flowsReplaced();
  }

  /**
   * @param isThere whether there is a node of this name, though it may not work: what is kept waits for it
   * @param isDisabled whether one is only disabled: what it has told waits for it, and no reports do
   */
  resumeReports(
    isThere: (owner: string) => boolean = () => false,
    isDisabled: (owner: string) => boolean = () => false,
  ): void {
    this.#isThere = isThere;
    this.#isDisabled = isDisabled;
    this.#mqtt?.client.resumeReports();
  }

  /**
   * Gives the listener every report that passes the filter, each an object of its own.
   * @param owner by this name a subscriber is known again after a deploy: what waited for labels waits for it
   * @returns ends the subscription; `comesBack`: the owner subscribes again with the same deploy
   * @throws ServiceError `NOT_CONFIGURED` (`mqtt`; `rest` with labels), `INVALID_INPUT` with the filter's field
   */
  subscribe(filter: ReportFilter, subscriber: Subscriber, owner?: string): (comesBack?: boolean) => void {
    const end = this.#needMqtt().subscribers.add(filter, subscriber, owner);
    const endNames = this.#names?.use();
    return (comesBack) => {
      endNames?.();
      end(comesBack);
    };
  }

  /**
   * A node is there that cannot work as it is set: what the broker keeps for the service stays there for it, where no node
   * asks for any reports.
   * @param owner as of `subscribe` @param confirms false: it gives up what is open @returns ends it
   */
  waitFor(owner: string, confirms: boolean): () => void {
    return this.#mqtt?.reports.addWaiting(owner, confirms) ?? (() => {});
  }

  /**
   * Keeps what a deploy has interrupted on its way from a subscriber to the nodes behind, until this owner has subscribed
   * again and flows run. Call it before the subscription ends.
   */
  keepInterrupted(owner: string, reports: readonly HeldReport[]): void {
    this.#mqtt?.subscribers.keepInterrupted(owner, reports);
  }

  /**
   * Tells when one of the conditions begins or ends for a gateway or a device that passes.
   * @param owner by this name the watch is known again after a deploy and a restart
   * @throws ServiceError as `subscribe`
   */
  watchDevices(settings: WatchSettings, watcher: DeviceWatcher, owner: string): WatchedDevices {
    const context = {
      watches: this.watches,
      shared: this.#watched,
      subscribe: this.subscribe.bind(this),
      refusalOf: (filters: readonly ReportFilter[]) => this.refusalOf(...filters),
      gatewaysWithLabels: (labels: readonly string[]) => this.devices?.knownGatewaysWithLabels(labels),
    };
    return watchDevices(context, settings, watcher, owner);
  }

  /**
   * The newest reports that would pass, newest last; listens as long as somebody asks again within 15 s.
   * @param kept what others remember: what of it passes is shown at once
   * @throws ServiceError as `subscribe`; `NOT_CONNECTED` when the broker refuses the subscription and nothing was heard
   */
  preview(filter: ReportFilter, kept?: () => readonly KeptMessage[]): readonly PreviewLine[] {
    return this.#needMqtt().subscribers.preview(filter, kept);
  }

  /** Of these gateways and devices the silent ones: when they were heard last; null: never since the start. */
  findSilent(macs: Iterable<string>): Record<string, string | null> {
    const isHeard = this.#mqtt?.subscribers.wantedDevices ?? (() => false);
    return findSilent({ network: this.network, catalogue: this.catalogue, isHeard }, macs);
  }

  /**
   * Why the broker has refused the subscriptions by which reports that pass these filters would come; undefined: it has
   * not. The reason in the state is that of all subscribers together.
   */
  refusalOf(...filters: ReportFilter[]): Phrase | undefined {
    return this.#mqtt?.client.refusalOf(this.#mqtt.subscribers.serving(filters));
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
    return this.#needMqtt().requests.request(operation, input, options);
  }

  /** Whoever looks at a silence has the broker asked whether it is there, and sees the response the next time. */
  get #heardUntil(): number | undefined {
    const signs = this.#mqtt?.client.signs;
    signs?.ask();
    return signs?.until;
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
    return isAcknowledged(given) ? this.#needMqtt().requests.acknowledge(given, options) : { sent: false };
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
   * Ends everything within 2 s; what is waiting ends with `CLOSED`.
   * @param goesOnAt addresses of who follows with a persistent session; where none stays, what it holds is given back
   */
  async close(goesOnAt?: readonly string[]): Promise<void> {
    this.watches.close();
    this.changes.close();
    this.deviceReports.close();
    this.pages.close();
    this.#mqtt?.subscribers.close();
    this.#mqtt?.player.close();
    this.#names?.close();
    this.devices?.close();
    await Promise.all([this.#mqtt?.client.close(goesOnAt), this.#rest?.close()]);
  }

  /** Asks nobody. */
  readonly #nameOf = (mac: string): string | undefined => this.devices?.nameOf(mac);

  #wasRead(read: ReadValue): void {
    this.lastValues.recordRead(read);
    this.network.recordRead(read.device, read.identifier, read.value, read.time);
    this.changes.heard(read.device, read.gateway);
  }

  /** The flows run. @param isReady false: or take long to start */
  #resumed(isReady: boolean): void {
    this.#mqtt?.subscribers.resumed(isReady, this.#isThere);
    this.watches.setPaused(false, (owner) => !isReady || this.#isThere(owner) || this.#isDisabled(owner));
  }

  #needMqtt(): MqttHalf {
    return this.#mqtt ?? this.#miss('mqtt');
  }

  #needDevices(): DeviceDirectory {
    return this.devices ?? this.#miss('rest');
  }

  /** @throws ServiceError `NOT_CONFIGURED`, or what is wrong with the half */
  #miss(part: 'mqtt' | 'rest'): never {
    this.checkHalf(part);
    throw new ServiceError('NOT_CONFIGURED', part, { part });
  }

  #notify(): void {
    const state = this.state;
    this.#mqtt?.allReports.update();
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

/** Of a half that is not there. */
const stateWithout = (problem: Error | undefined) =>
  problem ? ({ name: 'invalid', problem } as const) : ({ name: 'unconfigured' } as const);
