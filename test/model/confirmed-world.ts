// One service whose flows confirm reports, at one scripted broker, in virtual time: what commands act on.
import { setImmediate as turn } from 'node:timers/promises';
import type { Session } from '../../src/session.ts';
import type { ScriptedBroker } from '../scripted-broker/broker.ts';
import { ClientSession } from '../scripted-broker/session.ts';
import { ALL, openSession } from '../session.ts';
import { AckOrder } from './ack-order.ts';
import { ConfirmedLedger } from './confirmed-ledger.ts';
import {
  GATEWAYS,
  type Gateway,
  KINDS,
  type Kind,
  NODE_NAMES,
  NODES,
  type NodeName,
  type Setup,
  type Wish,
} from './confirmed-settings.ts';
import { startVirtualTime } from './virtual-time.ts';

const DEVICE = 'd00000000001';
const TIME = '2026-01-01T00:00:00.000Z';
const TIMEOUT_MS = 60_000;
/** Turns of the event loop in which nothing happens. */
const CALM_TURNS = 4;
const STEP_MS = 600;
/** More than the longest wait for a connection. */
const MAX_STEPS = 400;

let count = 0;

export class ConfirmedWorld {
  readonly broker: ScriptedBroker;
  readonly setup: Setup;
  readonly ledger = new ConfirmedLedger();
  readonly clientId = `confirmed-${count++}`;
  commands = 0;
  readonly isClosed = false;
  /** The broker reads nothing that the client sends. */
  isDeaf = false;
  readonly #time = startVirtualTime(() => this.calm());
  readonly #acks: AckOrder;
  readonly #ends = new Map<NodeName, (comesBack: boolean) => void>();
  #session!: Session;
  #number = 0;

  constructor(broker: ScriptedBroker, setup: Setup) {
    this.broker = broker;
    this.setup = setup;
    this.#acks = new AckOrder(broker.sent);
    broker.options.intercept = (packet) => {
      if (packet.cmd === 'connect') {
        this.ledger.connections++;
        this.#acks.connected();
      } else if (packet.cmd === 'puback') {
        this.#acknowledged(packet.messageId);
      }
      return false;
    };
    this.#leave();
    for (const name of NODE_NAMES) {
      this.ledger.wishes.set(name, NODES[name][0]);
    }
    this.publish(
      Array.from({ length: setup.waiting }, (_, n) => ({ kind: KINDS[n % 2] as Kind, gateway: GATEWAYS[0] })),
    );
    this.#open();
  }

  get kept(): ClientSession | undefined {
    return this.broker.sessions.get(this.clientId);
  }

  publish(reports: readonly { kind: Kind; gateway: Gateway }[]): void {
    for (const { kind, gateway } of reports) {
      const n = this.#number;
      const body = kind === 'heartbeat' ? { status: 0 } : { parent: gateway, rssi: -60 };
      // It may come at once.
      this.ledger.publish(n, gateway, kind);
      const topic = `mt/gateway/${gateway}/device/${DEVICE}/${kind}`;
      if (this.broker.publish(topic, { time: TIME, ...body, n }) > 0) {
        this.#number++;
      } else {
        this.ledger.published.pop();
      }
    }
  }

  /** The flow of a node acknowledges a report. @param at in the order in which they came */
  confirm(at: number): void {
    const { open } = this.ledger;
    const report = open[at % open.length];
    if (report) {
      this.#confirm(report.name, report.one.number, report.delivery);
    }
  }

  confirmAll(): void {
    for (const { name, one, delivery } of this.ledger.open) {
      this.#confirm(name, one.number, delivery);
    }
  }

  sendAgain(at: number, ms: number): void {
    const { open } = this.ledger;
    const report = open[at % open.length];
    if (report && !this.#session.sendAgain(report.delivery, ms)) {
      this.ledger.faults.push(`report ${report.one.number} is not open at ${report.name}`);
    }
  }

  /** The connection breaks; what the broker has not read it never gets. */
  lose(): void {
    this.broker.drop(this.clientId);
    this.hear();
  }

  deafen(): void {
    this.isDeaf = true;
    this.broker.setReading(false);
  }

  hear(): void {
    this.isDeaf = false;
    this.broker.setReading(true);
  }

  /** Some nodes are replaced. @param meanwhile happens before they are there */
  async deploy(changes: ReadonlyMap<NodeName, Wish | undefined>, meanwhile: () => unknown): Promise<void> {
    this.#session.pauseReports();
    this.#replace(changes);
    await meanwhile();
    for (const name of changes.keys()) {
      this.#subscribe(name);
    }
    this.#session.resumeReports();
  }

  /** The service is closed, and another one of the same settings begins. @param meanwhile happens between the two */
  async restart(changes: ReadonlyMap<NodeName, Wish | undefined>, meanwhile: () => unknown): Promise<void> {
    await this.#close(changes);
    await meanwhile();
    this.ledger.restart();
    this.#open();
  }

  /** A broker that reads nothing for longer is lost: of others it is assumed that they react at once. */
  pass(ms: number): Promise<void> {
    if (this.isDeaf && ms >= STEP_MS) {
      this.lose();
    }
    return this.#time.pass(ms);
  }

  /** Resolves when nothing happens any more without a timer. */
  async calm(): Promise<void> {
    const { received, sent, connections } = this.broker;
    let before = '';
    for (let quiet = 0; quiet < CALM_TURNS; quiet++) {
      await turn();
      const open = this.broker.openConnections.length;
      const now = [received.length, sent.length, connections.length, open, this.ledger.arrivals].join();
      quiet = now === before ? quiet : -1;
      before = now;
    }
  }

  /** Until the connection is there. */
  async settle(): Promise<void> {
    for (let step = 0; step < MAX_STEPS && !this.#isConnected; step++) {
      await this.pass(STEP_MS);
    }
    await this.calm();
  }

  /** Flows acknowledge everything that comes, until nothing comes any more. */
  async drain(): Promise<void> {
    for (let quiet = 0, step = 0; quiet < 5 && step < MAX_STEPS; step++) {
      await this.settle();
      this.confirmAll();
      await this.pass(STEP_MS);
      const { unacknowledged = [], queued = [] } = this.kept ?? {};
      const waits = unacknowledged.length + queued.length + this.ledger.open.length;
      quiet = this.#isConnected && waits === 0 ? quiet + 1 : 0;
    }
    const { unacknowledged = [], queued = [] } = this.kept ?? {};
    if (!this.#isConnected || unacknowledged.length + queued.length > 0) {
      this.ledger.faults.push(
        `${this.#session.state.mqtt.name}, ${unacknowledged.length} unacknowledged, ${queued.length} queued`,
      );
    }
  }

  /** @throws what has gone wrong */
  check(isComplete = false): void {
    const faults = [...this.ledger.faults, ...this.#acks.faults, ...(isComplete ? this.ledger.missing : [])];
    if (faults.length > 0) {
      throw new Error(faults.join('\n'));
    }
  }

  async dispose(): Promise<void> {
    this.hear();
    await this.#close();
    this.#time.end();
  }

  get #isConnected(): boolean {
    return this.#session.state.mqtt.name === 'connected' && this.kept?.isConnected === true;
  }

  #confirm(name: NodeName, number: number, delivery: string): void {
    const one = this.ledger.published[number];
    if (!this.#session.confirm(delivery)) {
      this.ledger.faults.push(`report ${number} is not open at ${name}`);
    }
    if (one) {
      this.ledger.confirmed(name, one);
    }
  }

  #acknowledged(id: number | undefined): void {
    const packet = this.#acks.acknowledged(id);
    const { unacknowledged = [], queued = [] } = this.kept ?? {};
    const text = packet?.payload.toString();
    const copies = [...unacknowledged, ...queued].filter(({ payload }) => payload.toString() === text);
    const one = text === undefined ? undefined : this.ledger.published[JSON.parse(text).n];
    if (one && copies.length < 2) {
      this.ledger.told(one);
    }
  }

  /** An earlier process has left its subscriptions. */
  #leave(): void {
    const { broker, clientId, setup } = this;
    if (setup.left.length > 0) {
      const kept = new ClientSession(clientId, broker.options, () => {});
      kept.isClean = false;
      for (const filter of setup.left) {
        kept.subscribe(filter, 1);
      }
      broker.sessions.set(clientId, kept);
    }
  }

  #open(): void {
    const { protocolVersion } = this.setup;
    const { url } = this.broker;
    this.#session = openSession(url, { clientId: this.clientId, persistent: true, protocolVersion });
    this.#session.pauseReports();
    for (const name of NODE_NAMES) {
      this.#subscribe(name);
    }
    this.#session.resumeReports();
  }

  async #close(changes: ReadonlyMap<NodeName, Wish | undefined> = new Map()): Promise<void> {
    this.#session.pauseReports();
    this.#replace(new Map([...this.ledger.wishes, ...changes]));
    let isClosed = false;
    void this.#session.close([this.broker.url]).then(() => {
      isClosed = true;
    });
    for (await this.calm(); !isClosed; await this.pass(STEP_MS)) {}
    this.lose();
    await this.calm();
  }

  #replace(changes: ReadonlyMap<NodeName, Wish | undefined>): void {
    for (const [name, wish] of changes) {
      this.#ends.get(name)?.(wish !== undefined);
      this.#ends.delete(name);
      this.ledger.change(name, wish);
    }
  }

  #subscribe(name: NodeName): void {
    const wish = this.ledger.wishes.get(name);
    if (!wish) {
      return;
    }
    const { isConfirming, ...filter } = wish;
    const { maxAttempts, atOnce } = this.setup;
    const confirm = { timeoutMs: TIMEOUT_MS, maxAttempts, count() {} };
    const listener = {
      report: ({ n, delivery, redelivered }: Record<string, unknown>) => {
        const number = n as number;
        this.ledger.note(name, number, delivery as string | undefined, redelivered === true);
        if (delivery !== undefined && atOnce > 0 && number % atOnce === 0) {
          this.#confirm(name, number, delivery as string);
        }
      },
      error: ({ code }: { code: string }, { payload }: { payload: unknown }) => {
        const one = this.ledger.published[JSON.parse(String(payload)).n];
        if (code === 'TIMEOUT' && one) {
          this.ledger.confirmed(name, one);
        } else {
          this.ledger.faults.push(code);
        }
      },
      ...(isConfirming ? { confirm } : {}),
    };
    this.#ends.set(name, this.#session.subscribe({ ...ALL, ...filter }, listener, name));
  }
}
