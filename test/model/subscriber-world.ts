// The subscriptions and requests of one service in virtual time, at brokers with rules: put together as the MQTT client does.
import type { Logger } from '../../src/log.ts';
import { forgetSession, sessionName } from '../../src/mqtt/kept-sessions.ts';
import type { KnownLimits } from '../../src/mqtt/learned-limits.ts';
import { ReconnectWaits, wasGood } from '../../src/mqtt/reconnect-waits.ts';
import { ReportSubscriptions } from '../../src/mqtt/report-subscriptions.ts';
import { Requests } from '../../src/mqtt/requests.ts';
import { SubscriptionBudget } from '../../src/mqtt/subscription-budget.ts';
import { Subscriptions } from '../../src/mqtt/subscriptions.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { buildRequest } from '../../src/protocol/operations/index.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { compileCriteria } from '../../src/reports/report-filter.ts';
import { Reports, type Subscription } from '../../src/reports/reports.ts';
import { ALL, mqttSettings } from '../session.ts';
import type { RuledBroker } from './ruled-broker.ts';
import type { VirtualTime } from './virtual-time.ts';

const RESPONSE_MS = 20;
const PUBACK_MS = 5;
const TIMEOUT_MS = 5_000;
const CLIENT_ID = 'mt-ruled';

export const TOPICS = createTopics('');
const CATALOGUE = createCatalogue();

export interface WorldOptions {
  brokers: readonly RuledBroker[];
  persistent: boolean;
  /** As the settings say it; infinite: nothing is known. */
  maxSubscriptions: number;
}

interface Asked {
  gateway: string;
  at: number;
  /** Undefined: under way; empty: answered; else why not. */
  outcome: string | undefined;
}

export class SubscriberWorld {
  readonly asked: Asked[] = [];
  /** What happened, with its time in seconds. */
  readonly log: string[] = [];
  /** Whether reports of some gateway do not come, as the service shows it. */
  isLimited = false;
  connections = 0;
  readonly #time: VirtualTime;
  readonly #options: WorldOptions;
  readonly #waits: ReconnectWaits;
  readonly #subscriptions: Subscriptions;
  readonly #reportSubscriptions: ReportSubscriptions;
  readonly #requests: Requests;
  readonly #budget: SubscriptionBudget;
  readonly #reports: Reports;
  #wanted: Subscription[] = [];
  #previews: (() => void)[] = [];
  #connectedAt: number | undefined;
  #generation = 0;
  #isClosed = false;

  constructor(time: VirtualTime, options: WorldOptions) {
    this.#time = time;
    this.#options = options;
    const { brokers, persistent, maxSubscriptions } = options;
    this.#waits = new ReconnectWaits(brokers.length);
    const limits = { ...mqttSettings('').limits };
    if (Number.isFinite(maxSubscriptions)) {
      limits.maxSubscriptions = maxSubscriptions;
    }
    const settings = mqttSettings('', { persistent, limits, clientId: CLIENT_ID, maxInFlight: 8 });
    const warn = (text: string) => this.#note(text);
    const log: Logger = { info() {}, trace() {}, warn };
    this.#reports = new Reports(TOPICS, CATALOGUE, new NetworkState(), log);
    this.#subscriptions = new Subscriptions(persistent, log, {
      refusing: (filter) => this.#reportSubscriptions.isWidened(filter) && this.#budget.wideRefused(filter),
      refused: () => this.#reportSubscriptions.judge() && this.#apply(),
      trying: (filter) => this.#reportSubscriptions.trying(filter) && this.#apply(),
      refusals: (refused) => {
        this.isLimited = [...refused.keys()].some((filter) => this.#reportSubscriptions.has(filter));
      },
      mayGiveWay: (filter) => this.#reportSubscriptions.has(filter),
      isCovering: (filter) => this.#reportSubscriptions.isCovering(filter),
      synced: () => {
        if (this.#reportSubscriptions.synced()) {
          queueMicrotask(() => this.#apply());
        }
        setImmediate(() => this.#requests.subscribed());
      },
      quota: (max) => this.#budget.limit(max),
      lowerQos() {},
    });
    this.#reportSubscriptions = new ReportSubscriptions(settings, TOPICS, this.#reports, this.#subscriptions);
    this.#requests = new Requests({ maxInFlight: 8, maxQueue: 1_000, qos: 1 }, TOPICS, this.#transport());
    this.#budget = new SubscriptionBudget(settings, log, {
      changed: () => this.#apply(),
      shareResponses: (isShared, isTried) => this.#requests.shareFilter(isShared, isTried),
      isBlocked: (filter) => this.#subscriptions.isBlocked(filter),
    });
    this.#requests.shareFilter(this.#budget.isLimited);
    setTimeout(() => this.#connect(), 0);
  }

  get broker(): RuledBroker {
    return this.#options.brokers[this.#waits.broker] as RuledBroker;
  }

  /** Milliseconds since the connection was made; infinite where there is none. */
  get connectedMs(): number {
    return this.#time.now - (this.#connectedAt ?? Number.NEGATIVE_INFINITY);
  }

  get isConnected(): boolean {
    return this.#connectedAt !== undefined;
  }

  /** Reports of these gateways are wanted, of no others. @param everything by another node those of all as well */
  want(gateways: readonly string[], everything = false): void {
    for (const one of this.#wanted) {
      one.remove();
    }
    this.#wanted = gateways.map((gateway) => this.#reports.add(criteriaOf([gateway]), true, NOBODY));
    if (everything) {
      this.#wanted.push(this.#reports.add(criteriaOf([]), true, NOBODY));
    }
    this.#note(`wants ${gateways.length}${everything ? ' and everything' : ''}`);
    this.#apply();
  }

  /** A person looks at the heartbeats of these gateways; none: nobody does. */
  look(gateways: readonly string[]): void {
    for (const end of this.#previews.splice(0)) {
      end();
    }
    this.#previews = gateways.map((gateway) =>
      this.#reports.addPreview(criteriaOf([gateway], ['heartbeat'])),
    );
    this.#note(`looks at ${gateways.length}`);
    this.#apply();
  }

  ask(gateway: string): Asked {
    const asked: Asked = { gateway, at: this.#time.now, outcome: undefined };
    this.asked.push(asked);
    const ack = { raw: 'ack', decoded: 'ack-decoded', payload: {} };
    const request = buildRequest('read', { gateway, identifier: '8800' }, { catalogue: CATALOGUE, ack });
    const { signal } = new AbortController();
    this.#requests
      .send(request, { timeout: TIMEOUT_MS, signal, trafficClass: 'request', awaitResponse: true })
      .then(
        () => {
          asked.outcome = '';
        },
        (error: Error) => {
          asked.outcome = error.message;
        },
      );
    return asked;
  }

  /** The connection ends. @param isUnrelated for a reason that is not what the broker was asked for */
  lose(why: string, isUnrelated = false): void {
    const connectedAt = this.#connectedAt;
    if (connectedAt === undefined) {
      return;
    }
    this.#note(`lost: ${why}`);
    this.#connectedAt = undefined;
    this.#generation++;
    const isGood = wasGood(connectedAt);
    const isSearch = this.#subscriptions.offline(isUnrelated, isGood);
    if (isGood) {
      this.#waits.startOver();
    }
    this.isLimited = false;
    this.#requests.connectionChanged();
    const wait = this.#waits.next(isUnrelated ? 'nextBroker' : 'retry', isSearch);
    setTimeout(() => this.#connect(), wait);
  }

  close(): void {
    this.#isClosed = true;
    this.#requests.close();
    this.#budget.close();
    this.#connectedAt = undefined;
    this.#subscriptions.offline(true);
    for (const [i] of this.#options.brokers.entries()) {
      forgetSession(sessionName(String(i), CLIENT_ID));
    }
  }

  #connect(): void {
    if (this.#isClosed) {
      return;
    }
    const { broker } = this;
    const place = String(this.#waits.broker);
    const generation = ++this.#generation;
    const { persistent, maxSubscriptions } = this.#options;
    const isPresent = persistent && broker.session.size > 0;
    if (!persistent) {
      broker.session = new Set();
    }
    this.connections++;
    this.#note(`connected to ${place}`);
    const known: KnownLimits = { portions: {}, maxQos: 2, maxCount: maxSubscriptions };
    this.#subscriptions.prepare(sessionName(place, CLIENT_ID), known);
    this.#budget.connected();
    this.#reportSubscriptions.sessionBegins(place, isPresent);
    const infinite = Number.POSITIVE_INFINITY;
    this.#requests.connected({ maxUnacknowledged: infinite, maxPacketBytes: infinite, maxQos: 2 });
    this.#connectedAt = this.#time.now;
    this.#requests.connectionChanged();
    const isOpen = () => generation === this.#generation && this.isConnected;
    this.#subscriptions.online(
      broker.connect(isOpen, (why) => this.lose(why)),
      !isPresent,
    );
  }

  #apply(): void {
    const { maxReportFilters } = this.#budget;
    this.#reportSubscriptions.apply(maxReportFilters, (filter) => this.#budget.avoids(filter));
  }

  #transport() {
    const world = this;
    return {
      get connected() {
        return world.isConnected;
      },
      broker: 'ruled',
      readsSince: 0,
      heldMs: 0,
      isFilterActive: (filter: string) => world.#subscriptions.isActive(filter),
      isFilterBlocked: (filter: string) => world.#subscriptions.isBlocked(filter),
      refusalOf: (filter: string) => world.#subscriptions.refusalOf(filter),
      ensureFilter(filter: string, settled: (refused: boolean) => void) {
        world.#subscriptions.change([filter], 1);
        world.#subscriptions.whenSettled(filter, settled);
      },
      releaseFilter: (filter: string) => world.#subscriptions.change([], 1, [filter]),
      publish(topic: string, payload: string, _qos: number, done: () => void) {
        const generation = world.#generation;
        setTimeout(() => generation === world.#generation && done(), PUBACK_MS);
        setTimeout(() => world.#respond(topic, payload), RESPONSE_MS);
      },
    };
  }

  /** What the gateway answers arrives where one of the filters brings it. */
  #respond(topic: string, payload: string): void {
    const at = TOPICS.parseResponse(topic.replace('/request/', '/response/'));
    const filters = at ? [TOPICS.responseFilter(at.gateway), TOPICS.responseFilter('+')] : [];
    if (at && this.isConnected && filters.some((filter) => this.broker.session.has(filter))) {
      const { id } = JSON.parse(payload) as { id: string };
      this.#requests.receive(at, Buffer.from(JSON.stringify({ id, status: 0 })), false);
    }
  }

  #note(text: string): void {
    this.log.push(`${(this.#time.now / 1_000).toFixed(2)} ${text}`);
  }
}

const NOBODY = { report() {}, error() {} };

function criteriaOf(gateways: readonly string[], kinds: readonly string[] = []) {
  const criteria = compileCriteria({ ...ALL, gateways, kinds }, CATALOGUE);
  if (!criteria) {
    throw new Error('nothing can pass');
  }
  return criteria;
}
