// One session at one scripted broker, and everything the model knows of both: what commands act on and checks look at.
import type { IPublishPacket } from 'mqtt-packet';
import type { ServiceError } from '../../src/errors.ts';
import { type Logger, SILENT } from '../../src/log.ts';
import type { Report } from '../../src/protocol/reports/index.ts';
import { type ReportFilter, Session } from '../../src/session.ts';
import type { ScriptedBroker } from '../scripted-broker/broker.ts';
import type { ClientConnection } from '../scripted-broker/connection.ts';
import type { Reply } from '../scripted-broker/options.ts';
import { ALL, mqttSettings } from '../session.ts';
import { arrive, FENCES, mayEnd } from './asking.ts';
import { type Place, reportPayload, reportTopic } from './field.ts';
import { type Published, ReportLedger, Subscriber } from './reports.ts';
import { RequestLedger } from './requests.ts';
import type { Setup } from './settings.ts';

/** The same address so often that a lost connection comes back after 50 ms and not after a back-off. */
const ADDRESSES = 200;
let count = 0;

export class World {
  readonly broker: ScriptedBroker;
  readonly setup: Setup;
  readonly prefix = `m${count++}`;
  readonly reports = new ReportLedger();
  readonly requests: RequestLedger;
  readonly attachments: (() => void)[] = [];
  readonly abort = new AbortController();
  session: Session;
  tick = 0;
  /** That were run. */
  commands = 0;
  isHeld = false;
  isClosed = false;
  /** Since the last settling nothing has changed what is subscribed. */
  isSteady = false;
  /** The connection on which a subscription was refused: what is missing there is missing rightly. */
  refusedOn: ClientConnection | undefined;
  hasRefused = false;
  isRefusing = false;
  /** How many there were, and how many of them are closed. */
  sessions = 0;
  closedSessions = 0;
  #number = 0;
  #closedFilters: ReportFilter[] = [];

  constructor(broker: ScriptedBroker, setup: Setup) {
    this.broker = broker;
    this.setup = setup;
    this.requests = new RequestLedger(
      (asked, code) => mayEnd(this, asked, code),
      () => broker.notify(),
    );
    broker.options.intercept = (packet, clientId) => {
      if (clientId !== this.clientId) {
        return false;
      }
      if (packet.cmd === 'publish') {
        arrive(this, packet.topic, packet.payload.toString());
      }
      if (packet.cmd === 'puback') {
        this.#acknowledged(packet.messageId as number);
      }
      return false;
    };
    this.session = this.#open();
  }

  /** Losses that come while a filter waits for its response can look as if the broker refused it in this way. */
  readonly #log: Logger = {
    ...SILENT,
    warn: (text) => {
      if (text.includes('ends the connection when it is asked for')) {
        this.refusedOn = this.connection;
        this.hasRefused = true;
      }
    },
  };

  get clientId(): string {
    return `model-${this.prefix}`;
  }

  get connection(): ClientConnection | undefined {
    return this.broker.openConnections.find(
      (one) => one.isOpen && one.session && one.clientId === this.clientId,
    );
  }

  get activeSubscribers(): Subscriber[] {
    return this.reports.subscribers.filter(({ to }) => to === undefined);
  }

  get hasUsers(): boolean {
    return this.attachments.length > 0 || this.activeSubscribers.length > 0;
  }

  /** How many connections the session and those before it have had. */
  get connections(): number {
    return this.broker.connections.filter(({ clientId }) => clientId === this.clientId).length;
  }

  readonly nextNumber = (): number => ++this.#number;

  subscribe(filter: Partial<ReportFilter>): Subscriber {
    this.isSteady = false;
    const subscriber = new Subscriber({ ...ALL, ...filter }, ++this.tick);
    this.reports.subscribers.push(subscriber);
    const note = (place: { gateway: string; device: string }, time: unknown, isError: boolean) => {
      this.reports.note(subscriber, place, time, isError);
      this.broker.notify();
    };
    subscriber.stop = this.session.subscribe(subscriber.filter, {
      report: (report: Report) => note(report, report.time, false),
      error: (_: ServiceError, { topic, payload }) => note(placeOf(topic), (payload as Report).time, true),
    });
    return subscriber;
  }

  unsubscribe(subscriber: Subscriber): void {
    this.isSteady = false;
    subscriber.stop();
    subscriber.to = ++this.tick;
  }

  hold(): void {
    this.isSteady = false;
    this.session.pauseReports();
    if (this.isHeld) {
      return;
    }
    this.isHeld = true;
    this.reports.holds.push({ from: ++this.tick, to: undefined });
  }

  release(): void {
    this.#endHold();
    this.session.resumeReports();
  }

  /** A gateway publishes; `number` again for a report that another gateway has heard too. */
  report(place: Place, qos: 0 | 1, isBad: boolean, number = this.nextNumber()): void {
    const { reportQos } = this.setup.mqtt;
    const { maxGrantedQos = 2 } = this.setup.broker;
    const copies = this.broker.publish(reportTopic(this.prefix, place), reportPayload(number, isBad), {
      qos,
    });
    this.reports.published.push({
      ...place,
      number,
      isBad,
      qos: Math.min(qos, reportQos, maxGrantedQos),
      tick: ++this.tick,
      copies,
      connection: this.connection,
      isSteady: this.isSteady,
      owed: new Set(),
      isSettled: false,
    });
  }

  /** From now on the broker refuses these filters; undefined: none. */
  refuse(isRefused: ((filter: string) => boolean) | undefined): void {
    this.isSteady = false;
    this.broker.options.refuses = (filter, clientId) => {
      if (clientId !== this.clientId || FENCES.some((one) => filter.includes(one)) || !isRefused?.(filter)) {
        return false;
      }
      this.refusedOn = this.connection;
      this.hasRefused = true;
      return true;
    };
    this.isRefusing = isRefused !== undefined;
  }

  withhold(replies: readonly Reply[]): void {
    this.broker.options.withhold = replies;
  }

  /** Sends what is withheld, the oldest first, and withholds nothing more. */
  grant(): void {
    this.broker.options.withhold = [];
    this.broker.release();
  }

  /** Nothing of the model's own making holds anything up. */
  get isCalm(): boolean {
    const { withhold } = this.broker.options;
    return !this.isClosed && !this.isHeld && !this.isRefusing && withhold.length === 0;
  }

  /** Cuts the connection at the broker's side. */
  lose(): void {
    this.isSteady = false;
    this.broker.drop(this.clientId);
  }

  /** Resolves when the session says that it is closed. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.closedSessions = this.sessions;
    this.#endHold();
    await this.session.close();
    this.#closedFilters = this.activeSubscribers.map(({ filter }) => filter);
    for (const one of this.activeSubscribers) {
      this.unsubscribe(one);
    }
    for (const detach of this.attachments.splice(0)) {
      detach();
    }
  }

  /** The service is deployed again: a new session under the same name, flows start and ask for the same reports. */
  reopen(): void {
    const kept = this.broker.sessions.get(this.clientId);
    const waiting = [...(kept?.unacknowledged ?? []), ...(kept?.queued ?? [])];
    this.session = this.#open();
    this.isClosed = false;
    this.hold();
    const successors = this.#closedFilters.map((filter) => this.subscribe(filter));
    for (const message of waiting) {
      const one = this.#publishedAs(message);
      for (const successor of successors) {
        // What flows had, and the broker does not know of, may come again; where filters overlap it passes for a copy.
        if (one && successor.wants(one) && !this.reports.wasGiven(one)) {
          one.owed.add(successor);
        }
      }
      if (one) {
        one.isSettled = false;
      }
    }
    this.release();
  }

  /** Leaves nothing behind, whatever has happened before. */
  async dispose(): Promise<void> {
    await this.session.close();
    await this.broker.reset();
  }

  #acknowledged(messageId: number): void {
    const sent = this.broker.sent.findLast(
      ({ clientId, packet }) =>
        clientId === this.clientId && packet.cmd === 'publish' && packet.messageId === messageId,
    );
    const one = sent && this.#publishedAs(sent.packet as IPublishPacket);
    if (one) {
      this.reports.acknowledged(one);
    }
  }

  /** Undefined for what is no report. */
  #publishedAs({ topic, payload }: Pick<IPublishPacket, 'topic' | 'payload'>): Published | undefined {
    return this.reports.published.find(
      (one) =>
        reportTopic(this.prefix, one) === topic &&
        reportPayload(one.number, one.isBad) === payload.toString(),
    );
  }

  #endHold(): void {
    this.isHeld = false;
    const hold = this.reports.holds.at(-1);
    if (hold) {
      hold.to ??= ++this.tick;
    }
  }

  #open(): Session {
    this.sessions++;
    const { mqtt } = this.setup;
    const settings = mqttSettings(this.broker.url, {
      ...mqtt,
      brokers: Array.from({ length: ADDRESSES }, () => this.broker.url),
      clientId: this.clientId,
      topicPrefix: this.prefix,
      requestTimeout: 60_000,
      // Else a service with a group would try whether the broker knows groups, with messages that no flow has asked for.
      limits: { ...mqttSettings(this.broker.url).limits, hasSharedGroups: true },
    });
    const session = new Session({ mqtt: settings }, this.#log);
    session.onState(() => this.broker.notify());
    return session;
  }
}

function placeOf(topic: string): { gateway: string; device: string } {
  const [, , , gateway = '', , device = ''] = topic.split('/');
  return { gateway, device };
}
