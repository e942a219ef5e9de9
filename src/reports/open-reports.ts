// Reports that flows have not confirmed yet: the broker keeps each until all nodes that must have, and it comes again until then.
import { randomBytes } from 'node:crypto';
import type { Deferrable, Outcome } from '../protocol/deferral.ts';
import { BrokerWindow } from './broker-window.ts';
import { ConfirmedMessages } from './confirmed-messages.ts';
import { ExpectedMessages, expectedUntil, keyOf } from './expected-messages.ts';
import { KeptMessages, MAX_BYTES, MAX_MESSAGES } from './kept-messages.ts';
import { Legacies } from './legacies.ts';
import type { Message } from './message.ts';
import { OpenDeliveries, UNDECIDED } from './open-deliveries.ts';
import { OpenMessage } from './open-message.ts';
import type { Confirmer, OpenReport } from './open-report.ts';

/** How often it is looked what is due. */
const TICK_MS = 500;

/** Of all services that have opened any, by what their ids begin with: a flow may acknowledge at another one's node. */
const BY_PREFIX = new Map<string, OpenReports>();
const PREFIX_BYTES = 4;

/** For as long as they are expected. */
const CONFIRMED = new Legacies<ConfirmedMessages>();

/** Most confirm at one service. */
let latest: { prefix: string; opened: OpenReports } | undefined;

/** Where the report with this id was opened; undefined where that is no more. */
export function openReportsOf(id: string): OpenReports | undefined {
  if (latest === undefined || !id.startsWith(latest.prefix)) {
    const prefix = id.slice(0, 2 * PREFIX_BYTES);
    const opened = BY_PREFIX.get(prefix);
    latest = opened && { prefix, opened };
  }
  return latest?.opened;
}

interface Options {
  /**
   * Names persistent sessions, one for each address: a broker sends over the next connection what it was not told of,
   * also when a deploy has started the service anew.
   */
  keptSessions?: readonly string[];
  now?: () => number;
  maxMessages?: number;
  maxBytes?: number;
}

/** Whether nodes have a message already, and by which connection it came before. */
export type Known = 'new' | 'present' | 'lost';

export class OpenReports {
  /** See `Options`. */
  readonly keptSessions: readonly string[];
  readonly #now: () => number;
  readonly #idPrefix = randomBytes(PREFIX_BYTES).toString('hex');
  readonly #deliveries: OpenDeliveries;
  /** Open, or not acknowledged to the broker. */
  readonly #messages: KeptMessages;
  /** Open ones of a connection that was lost. */
  readonly #expected = new ExpectedMessages<OpenMessage>();
  #confirmed = new ConfirmedMessages();
  readonly #events = {
    written: (message: OpenMessage, order: number) => this.#written(message, order),
    settled: (order: number) => this.#confirmed.settled(order),
  };
  /** The address of the present connection, or of the last one. */
  #broker = '';
  /** The message that is being delivered, and since when. */
  #current: OpenMessage | undefined;
  #currentAt = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #failed: (fault: unknown) => void;
  readonly #window = new BrokerWindow();
  /** Of the present connection, until it is acknowledged; as long as any waits for that, this one does. */
  #lastKept: OpenMessage | undefined;
  #isHeldUp = false;
  /** Told when `isHeldUp` has changed. */
  onHeldUp: (() => void) | undefined;

  /**
   * @param isPaused while flows are replaced nobody would receive what is sent again
   * @param failed told of what a node throws: in a timer it would end the process
   * @param abandoned told how many reports are given up since a node does not ask for them any more
   */
  constructor(
    isPaused: () => boolean,
    failed: (fault: unknown) => void,
    abandoned: (owner: string, count: number) => void,
    {
      keptSessions = [],
      now = () => performance.now(),
      maxMessages = MAX_MESSAGES,
      maxBytes = MAX_BYTES,
    }: Options = {},
  ) {
    this.keptSessions = keptSessions;
    this.#deliveries = new OpenDeliveries(this.#idPrefix, {
      ...{ isPaused, now, failed, abandoned },
      confirm: (id) => void this.confirm(id),
    });
    this.#messages = new KeptMessages(now, maxMessages, maxBytes);
    this.#failed = failed;
    this.#now = now;
  }

  /** A node confirms what it receives, or one that did is about to come back. */
  get isConfirming(): boolean {
    return this.#deliveries.hasConfirmers || this.#deliveries.size > 0;
  }

  /** Nobody confirms anything, and nothing that was confirmed comes again. */
  get isUnused(): boolean {
    return (
      !this.#deliveries.hasConfirmers && this.#messages.size === 0 && this.#confirmed.isEmpty(this.#now())
    );
  }

  /** What came and is not confirmed by all nodes. */
  get unconfirmed(): Message[] {
    return [...this.#messages].filter(({ open }) => open > 0).map(({ received }) => received);
  }

  /** No report comes, as far as can be told, until something is confirmed: here, or since the broker allows no more. */
  get isHeldUp(): boolean {
    return this.#isHeldUp;
  }

  /**
   * Whether what a broker had for this client at that time has come (assumed: it sends at once what its limit in flight
   * allows). While as many are open as it seems to allow, more may wait there.
   * @param since in milliseconds of `performance.now()`
   */
  hasCaughtUp(since: number): boolean {
    return this.#messages.hasCaughtUp(since, this.#window.hasRoom(this.#now()));
  }

  /** How many reports are open for nobody yet. */
  get undecided(): number {
    return this.#deliveries.undecided.size;
  }

  /** What all messages take that are not acknowledged. */
  get bytes(): number {
    return this.#messages.bytes;
  }

  /** What has waited here comes now: that nothing came meanwhile says nothing of the broker. */
  readOn(): void {
    this.#messages.beginQuiet();
  }

  /** Nothing more is read until something is confirmed. */
  get isFull(): boolean {
    return this.#messages.isFull;
  }

  /**
   * Takes a message of QoS 1.
   * @param deliver gives it to nodes, which may `open` it
   * @returns what has become of it; but for `kept` it may be acknowledged at once
   */
  receive(received: Message, deferrable: Deferrable, deliver: (known: Known) => Outcome): Outcome {
    const now = this.#now();
    this.#window.received(now);
    // What comes ends it, and begins none.
    if (this.#isHeldUp) {
      this.#checkHeldUp();
    }
    const { isResent } = deferrable;
    const known = isResent ? this.#takeExpected(received, deferrable.ackedOrder) : undefined;
    if (known) {
      deliver(known.by);
      return this.#keep(known.message, deferrable);
    }
    const message = this.#messageOf(received, isResent);
    let outcome: Outcome;
    this.#current = message;
    this.#currentAt = now;
    try {
      outcome = deliver('new');
    } finally {
      this.#current = undefined;
    }
    // The broker is not told yet, and sends it again after a loss.
    const comesAgain = outcome === 'delivered' && (deferrable.mustWait || deferrable.isLost);
    // Sent again without the first of its kind it would pass for a report of its own.
    const isSecond = outcome === 'copy' || outcome === 'repeat';
    if (message.open > 0 || message.isStored || comesAgain || isSecond) {
      return this.#keep(message, deferrable);
    }
    // It takes a place at the broker all the same.
    if (deferrable.mustWait && !deferrable.isLost && this.#lastKept) {
      this.#lastKept.unwantedBehind++;
      this.#window.kept();
    }
    return outcome;
  }

  /** Opens the message that is being delivered, for one node; undefined where the broker does not keep it. */
  open(confirmer: Confirmer): OpenReport | undefined {
    const source = this.#current;
    if (source === undefined) {
      return undefined;
    }
    source.openAtNode();
    BY_PREFIX.set(this.#idPrefix, this);
    return this.#deliveries.open(confirmer, source, this.#currentAt);
  }

  /** The flow has stored it. @returns false: it is not open, or not any more */
  confirm(id: string): boolean {
    const delivery = this.#deliveries.take(id);
    if (delivery === undefined) {
      return false;
    }
    const { source } = delivery;
    source.open--;
    source.isStored ||= delivery.hasReached;
    // While it is being delivered other nodes may still open it.
    if (source.open === 0 && source !== this.#current) {
      if (source.deferral) {
        source.deferral.acknowledge();
      } else {
        this.#confirmUnsent(source);
      }
    }
    return true;
  }

  /**
   * Sends it to the flow again.
   * @param ms from now on; more when it was sent again several times, or a database that is down would use up all times
   * @returns false: it is not open
   */
  sendAgain(id: string, ms: number): boolean {
    return this.#deliveries.sendAgain(id, ms);
  }

  /**
   * Whether its node is there, or the broker sends it to the one that is.
   * @param sessions persistent ones, in which it was opened
   */
  comesAgain(id: string, sessions: readonly string[] = []): boolean {
    return this.#deliveries.isThere(id) ?? sessions.some((session) => this.keptSessions.includes(session));
  }

  /** What has not reached the flow of this node comes at the next look. */
  hurry(confirmer: Confirmer): void {
    this.#deliveries.hurry(confirmer);
  }

  /** A node begins; what was open at the one before it of the same name comes again. */
  add(confirmer: Confirmer): void {
    this.#deliveries.add(confirmer);
  }

  /** Keeps the message that is being delivered until `decide`. @returns false: the broker does not keep it */
  keepUndecided(): boolean {
    return this.open(UNDECIDED) !== undefined;
  }

  /**
   * Nodes ask for reports that did not, or nobody is left who may.
   * @param offer gives a message to those that ask for it, which may `open` it, and says whether there are any
   * @returns how many nobody asks for
   */
  decide(offer: (message: Message) => boolean): number {
    let unwanted = 0;
    for (const { id, source } of [...this.#deliveries.undecided]) {
      this.#current = source;
      this.#currentAt = this.#now();
      try {
        unwanted += offer(source.received) ? 0 : 1;
      } finally {
        this.#current = undefined;
      }
      this.confirm(id);
    }
    return unwanted;
  }

  /** A node of this name is there that confirms nothing any more, and gives up what is open. */
  abandon(owner: string): void {
    this.#deliveries.abandon(owner);
  }

  /** A node ends. @param comesBack false: what is open there is nobody's any more */
  remove(confirmer: Confirmer, comesBack: boolean): void {
    this.#deliveries.remove(confirmer, comesBack);
  }

  /**
   * All nodes are there: what belongs to none of them is nobody's any more.
   * @param isWaitedFor whether a node of this name is there, but cannot work: what is open stays open for it
   */
  resumed(isWaitedFor: (owner: string) => boolean = () => false): void {
    this.#deliveries.resumed(isWaitedFor);
  }

  /**
   * The connection is a new one.
   * @param broker its address @param isPresent the broker has kept the session: what it was not told of comes again, also
   *   what came by another address where both belong to one cluster
   */
  connected(broker: string, isPresent: boolean): void {
    const now = this.#now();
    this.#broker = broker;
    this.#messages.connected(isPresent);
    this.#window.connected();
    this.#lastKept = undefined;
    this.#checkHeldUp();
    this.#expected.clear();
    // Those of a service that a deploy has ended: later there are none any more.
    this.#confirmed = CONFIRMED.take(this.keptSessions) ?? this.#confirmed;
    for (const message of this.#messages) {
      if (message.deferral) {
        message.deferral = undefined;
        message.lostAt = now;
        message.expectedUntil = Number.POSITIVE_INFINITY;
      }
      if (message.open === 0) {
        this.#confirmUnsent(message);
      } else {
        this.#expectAt(message, isPresent);
      }
    }
    this.#confirmed.connected(broker, isPresent, now);
  }

  /** The connection is left: nothing is open here any more, and who has the same session next knows what was confirmed. */
  handOver(): void {
    BY_PREFIX.delete(this.#idPrefix);
    latest = undefined;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#deliveries.close();
    this.#expected.clear();
    if (this.keptSessions.length > 0) {
      this.#leaveConfirmed();
    }
    this.#messages.clear();
    this.#lastKept = undefined;
    this.#confirmed = new ConfirmedMessages();
  }

  /** What flows have stored, but the broker was not told of, as something before it is open. */
  #leaveConfirmed(): void {
    const now = this.#now();
    for (const message of this.#messages) {
      if (message.open === 0 && message.deferral) {
        this.#messages.delete(message);
        message.lostAt = now;
        message.expectedUntil = expectedUntil(now, true, now);
        this.#confirmed.addLost(message);
      }
    }
    this.#confirmed.left(now);
    // A copy of one that is open was done with here; to the flows that follow it may be the one that brings it.
    for (const message of this.#messages) {
      this.#confirmed.forget(keyOf(message.received));
    }
    if (!this.#confirmed.isEmpty(now)) {
      CONFIRMED.leave(this.keptSessions, this.#confirmed);
    }
  }

  /** It comes again when the connection is lost before the broker has had the acknowledgement. */
  #written(message: OpenMessage, order: number): void {
    this.#window.acknowledged(this.#now(), 1 + message.unwantedBehind);
    if (message === this.#lastKept) {
      this.#lastKept = undefined;
    }
    this.#messages.delete(message);
    if (order > 0) {
      this.#confirmed.add(message, order);
    }
  }

  #keep(message: OpenMessage, deferrable: Deferrable): 'kept' {
    const isNew = this.#messages.add(message);
    this.#start();
    const deferral = deferrable.defer(message);
    if (deferrable.isLost) {
      // It has waited here while the connection was lost.
      message.lostAt = this.#now();
      message.expectedUntil = Number.POSITIVE_INFINITY;
      if (message.open === 0) {
        this.#confirmUnsent(message);
      } else {
        this.#expected.add(message);
      }
      deferral.readOn();
      return 'kept';
    }
    message.deferral = deferral;
    message.unwantedBehind = 0;
    this.#lastKept = message;
    this.#window.kept();
    this.#messages.readOn(deferral, isNew);
    // What nobody has to confirm any more is done, but known until that is written.
    if (message.open === 0) {
      deferral.acknowledge();
    }
    return 'kept';
  }

  #start(): void {
    this.#timer ??= setInterval(() => this.#look(), TICK_MS).unref();
  }

  /** @param isPresent the broker to which it is connected has kept the session */
  #expectAt(message: OpenMessage, isPresent: boolean): void {
    const isThere = message.broker === this.#broker;
    if (message.expectedUntil === 0 || (isThere && !isPresent)) {
      message.expectedUntil = 0;
      return;
    }
    message.expectedUntil = expectedUntil(message.lostAt, isThere, this.#now());
    this.#expected.add(message);
  }

  /** One that may have come before; only what is marked is looked for: a sender may report the same again. */
  #takeExpected(received: Message, ackedOrder: number) {
    const now = this.#now();
    if (this.#expected.isEmpty && this.#confirmed.isEmpty(now)) {
      return undefined;
    }
    const key = keyOf(received);
    const present = (order: number) => {
      const first = this.#confirmed.takePresent(key, order);
      return first && { message: this.#messageOf(received, first.isResent), by: 'present' as const };
    };
    const acknowledged = ackedOrder > 0 ? present(ackedOrder) : undefined;
    if (acknowledged) {
      return acknowledged;
    }
    // What is open first: it must not be acknowledged in the place of another one with the same content.
    const message = this.#expected.take(key, now);
    if (message) {
      message.expectedUntil = 0;
      message.broker = this.#broker;
      message.isResent = true;
      return { message, by: 'lost' as const };
    }
    if (this.#confirmed.takeLost(key, now)) {
      return { message: this.#messageOf(received, true), by: 'lost' as const };
    }
    return present(0);
  }

  #messageOf(received: Message, isResent: boolean): OpenMessage {
    const message = new OpenMessage(received, this.#broker, this.#events);
    message.isResent = isResent;
    return message;
  }

  /** What is confirmed while it cannot be acknowledged is done, but known again. */
  #confirmUnsent(message: OpenMessage): void {
    this.#messages.delete(message);
    if (message.expectedUntil > this.#now()) {
      this.#confirmed.addLost(message);
    }
    message.expectedUntil = 0;
  }

  #look(): void {
    this.#messages.copyPayloads();
    this.#checkHeldUp();
    this.#expected.endOld(this.#now());
    this.#deliveries.look();
    if (this.#deliveries.size === 0 && this.#messages.size === 0) {
      this.#deliveries.rest();
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  #checkHeldUp(): void {
    const isHeldUp = this.isFull || this.#window.isFull(this.#now());
    if (isHeldUp !== this.#isHeldUp) {
      this.#isHeldUp = isHeldUp;
      try {
        this.onHeldUp?.();
      } catch (fault) {
        this.#failed(fault);
      }
    }
  }
}
