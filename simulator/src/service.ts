// The service in a box: REST portal, broker and gateways behind one door, for tests, benchmarks and the demo.
import type { EventEmitter } from 'node:events';
import { type Broker, startBroker } from './broker.ts';
import { clientLinks } from './client-link.ts';
import { DEMO, type Device, type Fleet, type Gateway } from './fleet.ts';
import type { OpenLink } from './gateway-link.ts';
import { InputError, NotConnectedError } from './input-error.ts';
import { settle } from './measuring.ts';
import { type AnswerFaults, Network } from './network.ts';
import { answer } from './operations.ts';
import { fillOptions, MAX_PUBLISHED, type ServiceOptions } from './options.ts';
import type { ListedDevice, Portal, Tokens } from './portal.ts';
import { inPortions } from './portions.ts';
import { Publisher } from './publisher.ts';
import { createRandom } from './random.ts';
import type { Counts, Records, ServiceEvents } from './records.ts';
import { type RestHalf, startRest } from './rest.ts';
import type { RestFault, RestFaults } from './rest-faults.ts';
import type { SampleBook } from './samples.ts';
import { type Actions, readNumber, steer } from './steering.ts';
import { isObject } from './steering-fields.ts';
import { createWorld, type World } from './world.ts';

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
  /**
   * Does what an object asks for, such as `{device, set: {temperature: 31}}`; rejects with an `InputError`, a
   * `GatewayAwayError`, or once it is closed a `NotConnectedError`.
   */
  steer(payload: unknown): Promise<void>;
  close(): Promise<void>;
}

const loginOf = (options: ServiceOptions): { username?: string; password?: string } =>
  options.mqttUsername ? { username: options.mqttUsername, password: options.mqttPassword } : {};

const qosOf = ({ qos }: ServiceOptions): 0 | 1 => qos as 0 | 1;

async function openBroker(options: ServiceOptions): Promise<Broker | undefined> {
  if (!options.mqtt || options.brokerUrl) {
    return undefined;
  }
  const { host, mqttPort: port, wsPort, queueLimit } = options;
  const ports = { port, ...(wsPort >= 0 && { wsPort }) };
  return startBroker({ host, ...ports, ...loginOf(options), qos: qosOf(options), queueLimit });
}

/** What other processes may steer over HTTP: faults on and off, counters, publishing. */
function controlRoutes(service: Service): Record<string, (body: unknown) => unknown> {
  const objectOf = (body: unknown): Record<string, unknown> => {
    if (!isObject(body)) {
      throw new InputError('body', body, 'not an object');
    }
    return body;
  };
  const numberIn = (body: unknown, name: string): number => readNumber(objectOf(body), name, MAX_PUBLISHED);
  return {
    'GET /simulator/counters': () => service.counters(),
    'GET /simulator/calls': () => service.calls,
    'POST /simulator/faults': (body) => void service.faults.rest.add(objectOf(body) as RestFault),
    'DELETE /simulator/faults': () => service.faults.rest.clear(),
    'POST /simulator/revoke': () => service.tokens.revoke(),
    'POST /simulator/rate': (body) => service.setRate(numberIn(body, 'rate')),
    'POST /simulator/reports': (body) => service.publishReports(numberIn(body, 'count')),
    'POST /simulator/samples': (body) => service.publishSamples(numberIn(body, 'count')),
  };
}

/** Sends the last gateway away now and then, and brings it back. */
function startWandering({ options, fleet }: World, wander: Presence['wander']): () => void {
  const wanderer = fleet.gateways.at(-1);
  if (options.awayEvery <= 0 || !wanderer) {
    return () => {};
  }
  let timer: NodeJS.Timeout;
  const stay = (): void => {
    timer = setTimeout(() => void wander(wanderer, true).then(leave, stay), options.awayEvery * 1000);
  };
  const leave = (): void => {
    timer = setTimeout(() => void wander(wanderer, false).then(stay, leave), options.awayFor * 1000);
  };
  stay();
  return () => clearTimeout(timer);
}

/** The gateways' connections; `publisher` brings what requests make devices report. */
function createNetwork(world: World, openLink: OpenLink, publisher: () => Publisher): Network {
  const { options, fleet, samples, records, now, faults } = world;
  const ground = {
    book: samples,
    ackOperations: options.ackOperations.split(',') as [string, string],
    now,
    written: (device: Device, id: string) => {
      if (options.reportWrites) {
        publisher().inBackground(() => publisher().value(device, id));
      }
    },
    reportProperties: (device: Device) => publisher().inBackground(() => publisher().properties(device)),
    acknowledged: (sample: ServiceEvents['acknowledged'][0]) =>
      void records.events.emit('acknowledged', sample),
  };
  return new Network({
    openLink,
    fleet,
    topicPrefix: options.topicPrefix,
    random: createRandom(options.seed + 3),
    now,
    faults: faults.answers,
    answer: (request) => answer(ground, request),
    received: (call) => records.received(call),
    answered: (call) => records.answered(call),
    failed: (error) => void records.events.emit('failed', error),
  });
}

function gatewayOf({ fleet }: World, mac: string): Gateway {
  const found = fleet.gatewayOf(mac);
  if (!found) {
    throw new Error(`no simulated gateway ${mac}`);
  }
  return found;
}

interface Presence extends Pick<Service, 'away' | 'back'> {
  /** The same by itself, which leaves alone what was sent away until it is called back. */
  wander(gateway: Gateway, isAway: boolean): Promise<void>;
}

/** Going away and coming back, as the broker, the portal and the events show it. */
function presence(world: World, network: Network): Presence {
  const { portal, records, now } = world;
  const show = ({ mac, online: connected }: Gateway): void => {
    const device = portal.byId.get(`bmac-${mac}`);
    if (device) {
      device.connectivity = { connected, timestamp: new Date(now()).toISOString() };
    }
    records.events.emit(connected ? 'back' : 'away', mac);
  };
  const move = async (gateway: Gateway, isAway: boolean): Promise<void> => {
    const was = gateway.online;
    await (isAway ? network.disconnect(gateway) : network.connect(gateway));
    if (gateway.online !== was) {
      show(gateway);
    }
  };
  const sentAway = new Set<Gateway>();
  return {
    async away(mac) {
      const gateway = gatewayOf(world, mac);
      sentAway.add(gateway);
      await move(gateway, true);
    },
    async back(mac) {
      const gateway = gatewayOf(world, mac);
      sentAway.delete(gateway);
      await move(gateway, false);
    },
    async wander(gateway, isAway) {
      if (!sentAway.has(gateway)) {
        await move(gateway, isAway);
      }
    },
  };
}

function publishing(world: World, network: Network, publisher: Publisher) {
  return {
    publishReports: (count) => publisher.reports(count),
    publishSamples: (count) => publisher.newSamples(count),
    setRate: (rate) => publisher.setRate(rate),
    async publish(mac, device, suffix, payload, retain) {
      const gateway = gatewayOf(world, mac);
      const topic = network.topicOf({ gateway, device, kind: suffix });
      const asIs = typeof payload === 'string' || Buffer.isBuffer(payload);
      await network.publish(gateway, topic, asIs ? payload : JSON.stringify(payload), retain);
    },
  } satisfies Partial<Service>;
}

/** What `steer` can do. */
function createActions(
  world: World,
  publisher: Publisher,
  { away, back }: Pick<Service, 'away' | 'back'>,
  publish: Service['publish'],
): Actions {
  return {
    fleet: world.fleet,
    now: world.now,
    async inject({ gateway, device, suffix, payload, sample }) {
      await (sample ? publisher.sample(sample) : publish(gateway.mac, device, suffix, payload));
    },
    release(device, id) {
      device.held.delete(id);
      settle(device, world.now(), [id]);
    },
    report: (device, id) => publisher.value(device, id),
    setSilent: (device, silent) => publisher.setSilent(device, silent),
    setAway: ({ mac }, isAway) => (isAway ? away(mac) : back(mac)),
    setLost: (share) => {
      world.faults.answers.lostAnswers = share;
    },
    setRate: (rate) => publisher.setRate(rate),
  };
}

/** What tests may look at. */
function view(world: World, broker: Broker | undefined) {
  const { options, fleet, portal, tokens, faults, samples, records } = world;
  return {
    options,
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
  } satisfies Partial<Service>;
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
  const world = await inPortions(createWorld(options, now));
  const broker = await openBroker(options);
  const url = options.mqtt ? options.brokerUrl || (broker?.url ?? '') : '';
  const openLink = broker?.openLink ?? clientLinks({ url, qos: qosOf(options), ...loginOf(options) });
  const network: Network = createNetwork(world, openLink, () => publisher);
  const publisher = new Publisher({ ...world, network, ackTimeout: options.ackTimeout });
  let rest: RestHalf | undefined;
  let stopWandering = (): void => {};
  let isClosed = false;
  const whileOpen =
    <Args extends unknown[]>(call: (...args: Args) => Promise<void>) =>
    async (...args: Args): Promise<void> => {
      if (isClosed) {
        throw new NotConnectedError('the simulated service is closed');
      }
      await call(...args);
    };
  const { wander, ...gatewaysComeAndGo } = presence(world, network);
  const reports = publishing(world, network, publisher);
  const actions = createActions(world, publisher, gatewaysComeAndGo, reports.publish);
  const service: Service = {
    ...view(world, broker),
    publishReports: whileOpen(reports.publishReports),
    publishSamples: whileOpen(reports.publishSamples),
    publish: whileOpen(reports.publish),
    setRate: reports.setRate,
    away: whileOpen(gatewaysComeAndGo.away),
    back: whileOpen(gatewaysComeAndGo.back),
    steer: whileOpen((payload: unknown) => steer(actions, payload)),
    urls: { auth: '', base: '', mqtt: url, ws: broker?.wsUrl ?? '' },
    async close() {
      isClosed = true;
      stopWandering();
      publisher.stop();
      await network.close();
      await broker?.close();
      await rest?.close();
    },
  };
  try {
    if (options.rest) {
      rest = await openRest(world, service);
    }
    if (url) {
      await network.open();
      publisher.start(options.rate);
      stopWandering = startWandering(world, wander);
    }
  } catch (error) {
    await service.close();
    throw error;
  }
  return service;
}

async function openRest(world: World, service: Service): Promise<RestHalf> {
  const { options, portal, tokens, faults, records } = world;
  const rest = await startRest({
    options: { ...options, port: options.restPort },
    portal,
    tokens,
    faults: faults.rest,
    seen: (call) => records.rest(call),
    control: options.control ? controlRoutes(service) : {},
  });
  service.urls.auth = rest.url;
  service.urls.base = rest.url;
  return rest;
}
