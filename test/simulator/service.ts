// The service in a box: REST portal, broker and gateways behind one door, for tests, benchmarks and the demo.
import type { EventEmitter } from 'node:events';
import { type Broker, startBroker } from './broker.ts';
import { createFleet, DEMO, type Device, type Fleet, type Gateway, type Mode } from './fleet.ts';
import { type AnswerFaults, Network } from './network.ts';
import { answer } from './operations.ts';
import { fillOptions, type ServiceOptions } from './options.ts';
import { createPortal, type ListedDevice, type Portal, Tokens } from './portal.ts';
import { Publisher } from './publisher.ts';
import { createRandom } from './random.ts';
import { type Counts, Records, type ServiceEvents } from './records.ts';
import { type RestHalf, startRest } from './rest.ts';
import { type RestFault, RestFaults } from './rest-faults.ts';
import { SampleBook } from './samples.ts';
import { createTraffic, type TopicKind } from './traffic.ts';

export interface Service {
  options: ServiceOptions;
  /** `{auth_url}` and `{base_url}`; the broker's addresses. Empty when that half is off. */
  urls: { auth: string; base: string; mqtt: string; ws: string };
  credentials: { username: string; password: string };
  /** Gateway and device that samples and demo speak of; the device's firmware is 3.4.1. */
  demo: typeof DEMO;
  fleet: Fleet;
  gateways: Gateway[];
  /** The REST list; changed by calls. */
  devices: ListedDevice[];
  portal: Portal;
  /** `tokens.revoke()` makes all issued ones invalid; `tokens.lifetime` (s) holds for later ones. */
  tokens: Tokens;
  faults: { rest: RestFaults; answers: AnswerFaults };
  /** The embedded broker with its own faults; undefined with a broker of one's own. */
  broker: Broker | undefined;
  samples: SampleBook;
  counters(): Counts & { samples: SampleBook['counters'] & { unacknowledged: number } };
  /** Everything that callers sent, oldest first. */
  calls: Records['calls'];
  /** Forgets the calls so far, so that a test can assert that nothing came after. */
  forgetCalls(): void;
  events: EventEmitter<ServiceEvents>;
  /** Publishes so many reports of the seed's sequence now; resolved when the broker has them. */
  publishReports(count: number): Promise<void>;
  /** Publishes so many new timestamped samples. */
  publishSamples(count: number): Promise<void>;
  /** Publishes anything below a gateway's `device/` topic: an object as JSON, a string or bytes as they are. */
  publish(gateway: string, device: string, suffix: string, payload: unknown, retain?: boolean): Promise<void>;
  /** Changes the number of reports per second; 0 stops them. */
  setRate(rate: number): void;
  /** Lets a gateway vanish, and come back with the samples that it kept. */
  away(gateway: string): Promise<void>;
  back(gateway: string): Promise<void>;
  close(): Promise<void>;
}

const loginOf = (options: ServiceOptions): { username?: string; password?: string } =>
  options.mqttUsername ? { username: options.mqttUsername, password: options.mqttPassword } : {};

async function openBroker(options: ServiceOptions, fleet: Fleet): Promise<Broker | undefined> {
  if (!options.mqtt || options.brokerUrl) return undefined;
  const { host, mqttPort: port, wsPort } = options;
  const settings = { host, port, ...(wsPort >= 0 && { wsPort }), ...loginOf(options) };
  return startBroker(settings, (id) => fleet.gatewayOf(id) !== undefined);
}

function answerFaults({ lostAnswers, lostRequests, delay }: ServiceOptions): AnswerFaults {
  return { lostAnswers, lostRequests, delay, twice: false, form: 'normal' };
}

/** What other processes may steer over HTTP: faults on and off, counters, publishing. */
function controlRoutes(service: () => Service): Record<string, (body: unknown) => unknown> {
  return {
    'GET /simulator/counters': () => service().counters(),
    'GET /simulator/calls': () => service().calls,
    'POST /simulator/faults': (body) => {
      service().faults.rest.add(body as RestFault);
      return {};
    },
    'DELETE /simulator/faults': () => {
      service().faults.rest.clear();
      return {};
    },
    'POST /simulator/revoke': () => {
      service().tokens.revoke();
      return {};
    },
    'POST /simulator/rate': (body) => {
      service().setRate(Number((body as { rate: unknown }).rate));
      return {};
    },
    'POST /simulator/reports': (body) => service().publishReports(Number((body as { count: unknown }).count)),
    'POST /simulator/samples': (body) => service().publishSamples(Number((body as { count: unknown }).count)),
  };
}

/** Sends the last gateway away now and then, and brings it back. */
function startWandering(options: ServiceOptions, service: Service): () => void {
  const wanderer = service.gateways.at(-1)?.mac;
  if (options.awayEvery <= 0 || !wanderer) return () => {};
  let timer: NodeJS.Timeout;
  const stay = (): void => {
    timer = setTimeout(() => void service.away(wanderer).then(leave, stay), options.awayEvery * 1000);
  };
  const leave = (): void => {
    timer = setTimeout(() => void service.back(wanderer).then(stay, leave), options.awayFor * 1000);
  };
  stay();
  return () => clearTimeout(timer);
}

/**
 * Starts the service. With the same seed and the same requests, the same reports and answers come, save their
 * times, which `now` gives (milliseconds).
 */
export async function startService(
  given: Partial<ServiceOptions> = {},
  now: () => number = Date.now,
): Promise<Service> {
  const options = fillOptions(given);
  const fleet = createFleet({ ...options, mode: options.mode as Mode | 'mixed' });
  const samples = new SampleBook(options.ackTimeout, options.historyLimit);
  const portal = createPortal(options.seed, options.listed, options.gateways);
  const tokens = new Tokens(options.tokenLifetime, now);
  const faults = { rest: new RestFaults(), answers: answerFaults(options) };
  const records = new Records(options.historyLimit);
  const traffic = createTraffic(
    { fleet, book: samples, random: createRandom(options.seed + 2), now, unackable: options.unackable },
    options.kinds.split(',') as TopicKind[],
  );
  const broker = await openBroker(options, fleet);
  const url = options.mqtt ? options.brokerUrl || (broker?.url ?? '') : '';
  const ground = {
    book: samples,
    ackOperations: options.ackOperations.split(',') as [string, string],
    reportProperties: (device: Device) => void publisher.properties(device),
    acknowledged: (sample: ServiceEvents['acknowledged'][0]) =>
      void records.events.emit('acknowledged', sample),
  };
  const network = new Network({
    url,
    fleet,
    topicPrefix: options.topicPrefix,
    qos: options.qos === 0 ? 0 : 1,
    login: loginOf(options),
    random: createRandom(options.seed + 3),
    now,
    faults: faults.answers,
    answer: (request) => answer(ground, request),
    received: (call) => records.received(call),
    answered: (call) => records.answered(call),
  });
  const publisher = new Publisher({
    network,
    samples,
    traffic,
    records,
    now,
    ackTimeout: options.ackTimeout,
  });
  const gatewayOf = (mac: string): Gateway => {
    const found = fleet.gatewayOf(mac);
    if (!found) throw new Error(`no simulated gateway ${mac}`);
    return found;
  };
  const setConnected = (mac: string, connected: boolean): void => {
    const device = portal.byId.get(`bmac-${mac}`);
    if (device) device.connectivity = { connected, timestamp: new Date(now()).toISOString() };
  };
  let rest: RestHalf | undefined;
  let stopWandering = (): void => {};
  const service: Service = {
    options,
    urls: { auth: '', base: '', mqtt: url, ws: broker?.wsUrl ?? '' },
    credentials: { username: options.username, password: options.password },
    demo: DEMO,
    fleet,
    gateways: fleet.gateways,
    devices: portal.devices,
    portal,
    tokens,
    faults,
    broker,
    samples,
    counters: () => ({
      ...structuredClone(records.counts),
      samples: { ...samples.counters, unacknowledged: samples.unacknowledgedCount },
    }),
    calls: records.calls,
    forgetCalls: () => records.forgetCalls(),
    events: records.events,
    publishReports: (count) => publisher.reports(count),
    publishSamples: (count) => publisher.newSamples(count),
    async publish(gateway, device, suffix, payload, retain) {
      const from = gatewayOf(gateway);
      const topic = network.topicOf({ gateway: from, device, kind: suffix });
      const asIs = typeof payload === 'string' || Buffer.isBuffer(payload);
      await network.publish(from, topic, asIs ? payload : JSON.stringify(payload), retain);
    },
    setRate: (rate) => publisher.setRate(rate),
    async away(mac) {
      await network.disconnect(gatewayOf(mac));
      setConnected(mac, false);
      records.events.emit('away', mac);
    },
    async back(mac) {
      await network.connect(gatewayOf(mac));
      setConnected(mac, true);
      records.events.emit('back', mac);
    },
    async close() {
      stopWandering();
      publisher.stop();
      await network.close();
      await broker?.close();
      await rest?.close();
    },
  };
  try {
    if (options.rest) {
      rest = await startRest({
        options: { ...options, port: options.restPort },
        portal,
        tokens,
        faults: faults.rest,
        seen: (call) => records.rest(call),
        control: controlRoutes(() => service),
      });
      service.urls.auth = rest.url;
      service.urls.base = rest.url;
    }
    if (url) {
      await network.open();
      publisher.start(options.rate);
      stopWandering = startWandering(options, service);
    }
  } catch (error) {
    await service.close();
    throw error;
  }
  return service;
}
