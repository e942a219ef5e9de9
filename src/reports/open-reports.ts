// Reports that flows have not confirmed yet: the broker keeps each until all nodes that must have, and it comes again until then.
import { randomBytes } from 'node:crypto';
import { SetMap } from '../collections/set-map.ts';
import type { Deferrable, Deferral } from '../protocol/deferral.ts';
import { AbandonedCounts } from './abandoned-counts.ts';
import { BrokerWindow } from './broker-window.ts';
import { ConfirmedMessages } from './confirmed-messages.ts';
import { ExpectedMessages, expectedUntil, keyOf } from './expected-messages.ts';
import type { Message } from './message.ts';
import { OpenCounts } from './open-counts.ts';
import { OpenMessage } from './open-message.ts';
import { type Confirmer, type Delivery, type OpenReport, STEADY_ATTEMPTS, waitAfter } from './open-report.ts';
import { Resends } from './resends.ts';

/** As many as MQTT has packet ids: a broker has none for a further one, and responses have to be read. Beyond it nothing is. */
const MAX_MESSAGES = 65_535;
const MAX_BYTES = 64 * 1024 * 1024;
/** How often it is looked what is due. */
const TICK_MS = 500;
/** After the last acknowledgement a broker sends what it still has; where nothing is open for so long, it had nothing. */
const QUIET_MS = 1_000;
/** Where reports never stop: so long after a change, with all confirmed that came before it. */
const STEADY_MS = 60_000;
const MIN_DOUBLED_MS = 1_000;

/** Of all services that have opened any, by what their ids begin with: a flow may acknowledge at another one's node. */
const BY_PREFIX = new Map<string, OpenReports>();
const PREFIX_BYTES = 4;

/** Where the report with this id was opened; undefined where that is no more. */
export function openReportsOf(id: string): OpenReports | undefined {
  return BY_PREFIX.get(id.slice(0, 2 * PREFIX_BYTES));
}

export class OpenReports {
  readonly #now: () => number;
  readonly #maxMessages: number;
  readonly #maxBytes: number;
  readonly #idPrefix = randomBytes(PREFIX_BYTES).toString('hex');
  #lastId = 0;
  /** Those that were sent last come last. */
  readonly #deliveries = new Map<string, Delivery>();
  /** Nodes come and go by the hundred, and each has its own. */
  readonly #byOwner = new SetMap<string, Delivery>();
  /** Open, or not acknowledged to the broker. */
  readonly #messages = new Set<OpenMessage>();
  #bytes = 0;
  /** Since when all are acknowledged to the broker, in milliseconds of `performance.now()`. */
  #emptySince = Number.NEGATIVE_INFINITY;
  /** Open ones of a connection that was lost. */
  readonly #expected = new ExpectedMessages<OpenMessage>();
  readonly #confirmed = new ConfirmedMessages();
  readonly #events = {
    written: (message: OpenMessage) => this.#written(message),
    settled: (message: OpenMessage) => this.#settled(message),
  };
  /** The address of the present connection, or of the last one. */
  #broker = '';
  readonly #confirmers = new Set<Confirmer>();
  readonly #counts = new OpenCounts<Confirmer>((listener) => this.#call(listener));
  readonly #resends: Resends<Delivery>;
  /** The message that is being delivered. */
  #current: OpenMessage | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Given up since their node does not ask for them any more. */
  readonly #abandoned: AbandonedCounts;
  readonly #failed: (fault: unknown) => void;
  readonly #window = new BrokerWindow();
  #isHeldUp = false;
  /** Told when `isHeldUp` has changed. */
  onHeldUp: (() => void) | undefined;
  /** Let the connection read on when there is room again. */
  #blocked: Deferral | undefined;

  /**
   * @param isPaused while flows are replaced nobody would receive what is sent again
   * @param failed told of what a node throws: in a timer it would end the process
   * @param abandoned told how many reports are given up since a node does not ask for them any more
   */
  constructor(
    isPaused: () => boolean,
    failed: (fault: unknown) => void,
    abandoned: (owner: string, count: number) => void,
    { now = () => performance.now(), maxMessages = MAX_MESSAGES, maxBytes = MAX_BYTES } = {},
  ) {
    this.#resends = new Resends({
      ...{ isPaused, now },
      isDue: (delivery, at) => this.#isDue(delivery, at),
      send: (delivery, at) => this.#send(delivery, at),
    });
    this.#failed = failed;
    this.#abandoned = new AbandonedCounts(abandoned);
    this.#now = now;
    this.#maxMessages = maxMessages;
    this.#maxBytes = maxBytes;
  }

  /** A node confirms what it receives, or one that did is about to come back. */
  get isConfirming(): boolean {
    return this.#confirmers.size > 0 || this.#deliveries.size > 0;
  }

  /** Nobody confirms anything, and nothing that was confirmed comes again. */
  get isUnused(): boolean {
    return this.#confirmers.size === 0 && this.#messages.size === 0 && this.#confirmed.isEmpty(this.#now());
  }

  /** No report comes, as far as can be told, until something is confirmed: here, or since the broker allows no more. */
  get isHeldUp(): boolean {
    return this.#isHeldUp;
  }

  /**
   * Whether what a broker had for this client at that time has come (assumed: it sends at once what its limit in flight
   * allows). While reports are open, more may wait there.
   * @param since in milliseconds of `performance.now()`
   */
  hasCaughtUp(since: number): boolean {
    const now = this.#now();
    const [oldest] = this.#messages;
    return oldest === undefined
      ? now - this.#emptySince >= QUIET_MS
      : now - since >= STEADY_MS && oldest.received.heardAt > since;
  }

  /** Nothing more is read until something is confirmed. */
  get isFull(): boolean {
    return this.#blocked !== undefined;
  }

  /**
   * Takes a message of QoS 1.
   * @param deliver gives it to nodes, which may `open` it; `isKnown`: they have it already. Returns whether they have it
   *   now, so that it must not come again.
   * @returns false: it may be acknowledged at once
   */
  receive(received: Message, deferrable: Deferrable, deliver: (isKnown: boolean) => boolean): boolean {
    this.#window.received(this.#now());
    this.#checkHeldUp();
    const known = deferrable.isResent ? this.#takeExpected(received) : undefined;
    if (known) {
      deliver(true);
      return this.#keep(known, deferrable);
    }
    const message = new OpenMessage(received, this.#broker, this.#events);
    let isThere = false;
    this.#current = message;
    try {
      isThere = deliver(false);
    } finally {
      this.#current = undefined;
    }
    // The broker is not told yet, and sends it again after a loss.
    const comesAgain = isThere && (deferrable.mustWait || deferrable.isLost);
    return (message.open > 0 || comesAgain) && this.#keep(message, deferrable);
  }

  /** Opens the message that is being delivered, for one node; undefined where the broker does not keep it. */
  open(confirmer: Confirmer): OpenReport | undefined {
    const source = this.#current;
    if (source === undefined) {
      return undefined;
    }
    source.open++;
    BY_PREFIX.set(this.#idPrefix, this);
    const delivery = {
      id: `${this.#idPrefix}-${(++this.#lastId).toString(36)}`,
      message: source.received,
      hasReached: false,
      attempts: 0,
      confirmer,
      source,
      due: this.#now() + confirmer.timeoutMs,
    };
    this.#deliveries.set(delivery.id, delivery);
    this.#byOwner.add(confirmer.owner, delivery);
    this.#start();
    return delivery;
  }

  /** The flow has stored it. @returns false: it is not open, or not any more */
  confirm(id: string): boolean {
    const delivery = this.#deliveries.get(id);
    if (delivery === undefined) {
      return false;
    }
    this.#deliveries.delete(id);
    this.#byOwner.delete(delivery.confirmer.owner, delivery);
    const { source } = delivery;
    source.open--;
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
    const delivery = this.#deliveries.get(id);
    if (delivery) {
      const { attempts } = delivery;
      const base = attempts > STEADY_ATTEMPTS ? Math.max(ms, MIN_DOUBLED_MS) : ms;
      delivery.due = this.#now() + waitAfter(attempts, base);
    }
    return delivery !== undefined;
  }

  /** What has not reached the flow of this node comes at the next look. */
  hurry(confirmer: Confirmer): void {
    for (const delivery of this.#byOwner.of(confirmer.owner)) {
      if (delivery.confirmer === confirmer && !delivery.hasReached) {
        delivery.due = 0;
      }
    }
  }

  /** A node begins; what was open at the one before it of the same name comes again. */
  add(confirmer: Confirmer): void {
    this.#confirmers.add(confirmer);
    for (const delivery of this.#byOwner.of(confirmer.owner)) {
      delivery.confirmer = confirmer;
      delivery.due = 0;
    }
  }

  /** A node ends. @param comesBack false: what is open there is nobody's any more */
  remove(confirmer: Confirmer, comesBack: boolean): void {
    this.#confirmers.delete(confirmer);
    this.#counts.delete(confirmer);
    if (!comesBack) {
      this.#confirmWhere(this.#byOwner.of(confirmer.owner), (delivery) => delivery.confirmer === confirmer);
    }
  }

  /**
   * All nodes are there: what belongs to none of them is nobody's any more.
   * @param isWaitedFor whether a node of this name is there, but cannot work: what is open stays open for it
   */
  resumed(isWaitedFor: (owner: string) => boolean = () => false): void {
    for (const { id, confirmer } of [...this.#deliveries.values()]) {
      if (!this.#confirmers.has(confirmer) && !isWaitedFor(confirmer.owner)) {
        this.#abandoned.add(confirmer.owner);
        this.confirm(id);
      }
    }
    this.#abandoned.tell();
  }

  /**
   * The connection is a new one.
   * @param broker its address @param isPresent the broker has kept the session: what it was not told of comes again, also
   *   what came by another address where both belong to one cluster
   */
  connected(broker: string, isPresent: boolean): void {
    const now = this.#now();
    this.#broker = broker;
    this.#blocked = undefined;
    this.#window.connected();
    this.#checkHeldUp();
    this.#expected.clear();
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

  close(): void {
    BY_PREFIX.delete(this.#idPrefix);
    clearInterval(this.#timer);
    this.#deliveries.clear();
    this.#resends.clear();
    this.#byOwner.clear();
    this.#messages.clear();
    this.#expected.clear();
    this.#confirmed.clear();
    this.#confirmers.clear();
  }

  /** It comes again when the connection is lost before the broker has had the acknowledgement. */
  #written(message: OpenMessage): void {
    this.#window.acknowledged();
    this.#forget(message);
    message.confirmed = this.#confirmed.add(keyOf(message.received), message.broker);
  }

  #settled({ confirmed }: OpenMessage): void {
    if (confirmed) {
      this.#confirmed.delete(confirmed);
    }
  }

  #keep(message: OpenMessage, deferrable: Deferrable): true {
    const isNew = !this.#messages.has(message);
    if (isNew) {
      this.#messages.add(message);
      this.#bytes += message.size;
    }
    this.#start();
    const deferral = deferrable.defer(message);
    if (deferrable.isLost) {
      // It has waited here while the connection was lost.
      message.lostAt = this.#now();
      message.expectedUntil = expectedUntil(message.lostAt, true, message.lostAt);
      if (message.open === 0) {
        this.#confirmUnsent(message);
      } else {
        this.#expected.add(message);
      }
      deferral.readOn();
      return true;
    }
    message.deferral = deferral;
    this.#window.kept();
    // What is known takes no more room than before.
    if (isNew && this.#isAtLimit) {
      this.#blocked = deferral;
    } else {
      deferral.readOn();
    }
    // What nobody has to confirm any more is done, but known until that is written.
    if (message.open === 0) {
      deferral.acknowledge();
    }
    return true;
  }

  #start(): void {
    this.#timer ??= setInterval(() => this.#look(), TICK_MS).unref();
  }

  get #isAtLimit(): boolean {
    return this.#messages.size > this.#maxMessages || this.#bytes > this.#maxBytes;
  }

  #forget(message: OpenMessage): void {
    if (this.#messages.delete(message)) {
      this.#bytes -= message.size;
      if (this.#messages.size === 0) {
        this.#emptySince = this.#now();
      }
    }
    const blocked = this.#blocked;
    if (blocked && !this.#isAtLimit) {
      this.#blocked = undefined;
      blocked.readOn();
    }
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
  #takeExpected(received: Message): OpenMessage | undefined {
    const now = this.#now();
    if (this.#expected.isEmpty && this.#confirmed.isEmpty(now)) {
      return undefined;
    }
    const key = keyOf(received);
    // What is open first: it must not be acknowledged in the place of another one with the same content.
    const message = this.#expected.take(key, now);
    if (message) {
      message.expectedUntil = 0;
      message.broker = this.#broker;
      return message;
    }
    return this.#confirmed.take(key, now) ? new OpenMessage(received, this.#broker, this.#events) : undefined;
  }

  /** What is confirmed while it cannot be acknowledged is done, but known again. */
  #confirmUnsent(message: OpenMessage): void {
    this.#forget(message);
    if (message.expectedUntil > this.#now()) {
      this.#confirmed.add(keyOf(message.received), message.broker, message);
    }
    message.expectedUntil = 0;
  }

  #confirmWhere(deliveries: Iterable<Delivery>, isChosen: (delivery: Delivery) => boolean): void {
    for (const delivery of [...deliveries].filter(isChosen)) {
      this.confirm(delivery.id);
    }
  }

  #look(): void {
    this.#keepOwnCopies();
    this.#checkHeldUp();
    this.#expected.endOld(this.#now());
    this.#resends.look(this.#deliveries.values());
    this.#abandoned.tellWhenAll();
    this.#counts.tell(this.#deliveries.values(), this.#now());
    if (this.#deliveries.size === 0 && this.#messages.size === 0) {
      this.#abandoned.tell();
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  #checkHeldUp(): void {
    const isHeldUp = this.isFull || this.#window.isFull(this.#now());
    if (isHeldUp !== this.#isHeldUp) {
      this.#isHeldUp = isHeldUp;
      this.#call(() => this.onHeldUp?.());
    }
  }

  #keepOwnCopies(): void {
    for (const message of this.#messages) {
      if (!message.isCopied) {
        message.isCopied = true;
        const payload = Buffer.from(message.received.payload);
        Object.assign(message.received, { payload });
      }
    }
  }

  /** One whose node is being replaced comes again at the next one. */
  #isDue({ id, due, confirmer }: Delivery, now: number): boolean {
    return due <= now && this.#confirmers.has(confirmer) && this.#deliveries.has(id);
  }

  #send(delivery: Delivery, now: number): void {
    const { confirmer } = delivery;
    if (delivery.hasReached) {
      delivery.attempts++;
    }
    delivery.due = now + waitAfter(delivery.attempts, confirmer.timeoutMs);
    // Behind the others, so that each has its turn where more are due than one look sends.
    this.#deliveries.delete(delivery.id);
    this.#deliveries.set(delivery.id, delivery);
    if (confirmer.maxAttempts > 0 && delivery.attempts > confirmer.maxAttempts) {
      this.confirm(delivery.id);
      this.#call(() => confirmer.givenUp(delivery));
    } else {
      this.#call(() => {
        if (!confirmer.again(delivery)) {
          this.#abandoned.add(confirmer.owner);
          this.confirm(delivery.id);
        }
      });
    }
  }

  #call(listener: () => void): void {
    try {
      listener();
    } catch (fault) {
      this.#failed(fault);
    }
  }
}
