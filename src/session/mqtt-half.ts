// What a session has with a broker alone: the MQTT client, reports and those who subscribe to them, and requests.
import type { Logger } from '../log.ts';
import { showBroker } from '../mqtt/address.ts';
import { MqttClient, type MqttClientEvents } from '../mqtt/client.ts';
import { DeviceRequests, type ReadValue } from '../mqtt/device-requests.ts';
import { sessionName } from '../mqtt/kept-sessions.ts';
import type { DeviceWatches } from '../network/device-watches.ts';
import type { NetworkState } from '../network/network-state.ts';
import type { Catalogue } from '../protocol/catalogue.ts';
import { createTopics, type Topics } from '../protocol/topics.ts';
import type { HeldReports } from '../reports/held-reports.ts';
import type { LabelSource } from '../reports/label-filter.ts';
import { Player } from '../reports/player.ts';
import { Reports } from '../reports/reports.ts';
import { Subscribers } from '../reports/subscribers.ts';
import { TestReports } from '../reports/test-reports.ts';
import type { DeviceDirectory } from '../rest/device-directory.ts';
import type { MqttSettings } from '../settings.ts';
import { AllReports } from './all-reports.ts';

export interface MqttHalf {
  readonly topics: Topics;
  readonly client: MqttClient;
  readonly reports: Reports;
  readonly subscribers: Subscribers;
  readonly allReports: AllReports;
  readonly requests: DeviceRequests;
  readonly testReports: TestReports;
  readonly player: Player;
}

/** What it needs of the session. */
export interface MqttHalfContext {
  log: Logger;
  catalogue: Catalogue;
  network: NetworkState;
  watches: DeviceWatches;
  heldReports: HeldReports;
  nameOf(mac: string): string | undefined;
  /** Whether reports and responses carry the names of devices. */
  carriesNames: boolean;
  /** @throws ServiceError `NOT_CONFIGURED` (`rest`) */
  needDevices(): DeviceDirectory;
  /** Which gateways carry a label. @throws ServiceError `NOT_CONFIGURED` (`rest`) */
  labelSource(): LabelSource;
  events: Omit<MqttClientEvents, 'settled' | 'yielded'>;
  wasRead(read: ReadValue): void;
}

export function createMqttHalf(settings: MqttSettings, context: MqttHalfContext): MqttHalf {
  const { log, catalogue, network, watches, heldReports, nameOf, carriesNames, needDevices, labelSource } =
    context;
  const topics = createTopics(settings.topicPrefix);
  const names = carriesNames ? nameOf : undefined;
  const isPaused = () => client.isPaused;
  const heardChanged = () => void allReports.update();
  const reports = new Reports(topics, catalogue, network, log, {
    ...{ isShared: settings.sharedGroup !== '', nameOf: names, isPaused },
    mayCross: settings.limits.queuesBySubscription !== true,
    keptSessions: settings.persistent
      ? settings.brokers.map((url) => sessionName(showBroker(url), settings.clientId))
      : [],
  });
  const { open } = reports;
  open.onHeldUp = heardChanged;
  const client = new MqttClient(settings, topics, reports, log, {
    ...context.events,
    yielded: () => reports.handOver(),
    settled: () => watches.settled(client.state.name === 'limited' ? subscribers.refusals() : undefined),
  });
  const subscribers = new Subscribers(reports, catalogue, client, labelSource, heldReports, heardChanged);
  const allReports = new AllReports({ client, open, subscribers, network, watches });
  return {
    topics,
    client,
    reports,
    subscribers,
    allReports,
    requests: new DeviceRequests(client, settings, {
      ...{ catalogue, nameOf, carriesNames },
      gatewayOf: (device) => network.gatewayOf(device),
      wasRead: (read) => context.wasRead(read),
    }),
    testReports: new TestReports({
      ...{ topics, catalogue, network, nameOf: names },
      gatewaysWithLabels: (labels) => labelSource().knownGatewaysWithLabels(labels),
    }),
    player: new Player({
      ...{ topics, catalogue, nameOf: names, isPaused },
      gatewaysWithLabels: async (labels, signal) => needDevices().labelledGateways(labels, signal),
    }),
  };
}
