// Reports that are open at nodes: each is sent to the flow again until it is confirmed, also by the node that a deploy puts there.
import { IdentifiedItems } from '../collections/identified-items.ts';
import { LinkedList } from '../collections/linked-list.ts';
import { AbandonedCounts } from './abandoned-counts.ts';
import { OpenCounts } from './open-counts.ts';
import type { OpenMessage } from './open-message.ts';
import { type Confirmer, type Delivery, STEADY_ATTEMPTS, waitAfter } from './open-report.ts';
import { Resends } from './resends.ts';

const MIN_DOUBLED_MS = 1_000;

/** Stands for whoever will ask for a report: it is sent nothing. */
export const UNDECIDED: Confirmer = {
  ...{ owner: '(undecided)', labels: '', timeoutMs: Number.POSITIVE_INFINITY, maxAttempts: 0 },
  again: () => true,
  givenUp() {},
  count() {},
};

interface DeliveryEvents {
  /** While flows are replaced nobody would receive what is sent again. */
  isPaused: () => boolean;
  /** In milliseconds, as `performance.now()`. */
  now: () => number;
  /** It is not open any more. */
  confirm(id: string): void;
  /** Told what a node throws: in a timer it would end the process. */
  failed(fault: unknown): void;
  /** Told how many are given up since a node does not ask for them any more. */
  abandoned(owner: string, count: number): void;
}

export class OpenDeliveries {
  readonly #events: DeliveryEvents;
  readonly #now: () => number;
  readonly #deliveries: IdentifiedItems<Delivery>;
  /** Nodes come and go by the hundred, and each has its own. Those that were sent last come last. */
  readonly #byOwner = new Map<string, LinkedList<Delivery>>();
  readonly #confirmers = new Set<Confirmer>();
  readonly #counts = new OpenCounts<Confirmer>((listener) => this.#call(listener));
  readonly #resends: Resends<Delivery>;
  /** Given up since their node does not ask for them any more. */
  readonly #abandoned: AbandonedCounts;

  /** @param idPrefix what ids begin with: no others in this process do */
  constructor(idPrefix: string, events: DeliveryEvents) {
    this.#deliveries = new IdentifiedItems(idPrefix);
    this.#events = events;
    const { isPaused, now } = events;
    this.#now = now;
    this.#resends = new Resends({
      ...{ isPaused, now },
      isDue: (delivery, at) => this.#isDue(delivery, at),
      send: (delivery, at) => this.#send(delivery, at),
    });
    this.#abandoned = new AbandonedCounts((owner, count) => events.abandoned(owner, count));
  }

  get size(): number {
    return this.#deliveries.size;
  }

  /** Whether a node confirms what it receives. */
  get hasConfirmers(): boolean {
    return this.#confirmers.size > 0;
  }

  /** @param now in milliseconds, as `performance.now()` */
  open(confirmer: Confirmer, source: OpenMessage, now: number): Delivery {
    const delivery: Delivery = {
      id: '',
      slot: -1,
      message: source.received,
      hasReached: false,
      wasWithOther: false,
      attempts: 0,
      confirmer,
      isOfDeploy: false,
      source,
      due: now + confirmer.timeoutMs,
      before: undefined,
      after: undefined,
      list: undefined,
    };
    this.#deliveries.add(delivery);
    this.#of(confirmer).add(delivery);
    return delivery;
  }

  /** It is not open any more; undefined: it was not. */
  take(id: string): Delivery | undefined {
    const delivery = this.#deliveries.find(id);
    if (delivery !== undefined) {
      this.#deliveries.delete(delivery);
      delivery.list?.delete(delivery);
    }
    return delivery;
  }

  /** Whether its node is there; undefined: it is not open. */
  isThere(id: string): boolean | undefined {
    const delivery = this.#deliveries.find(id);
    return delivery && this.#confirmers.has(delivery.confirmer);
  }

  /** See `OpenReports.sendAgain`. */
  sendAgain(id: string, ms: number): boolean {
    const delivery = this.#deliveries.find(id);
    if (delivery) {
      const { attempts } = delivery;
      const base = attempts > STEADY_ATTEMPTS ? Math.max(ms, MIN_DOUBLED_MS) : ms;
      delivery.due = this.#now() + waitAfter(attempts, base);
    }
    return delivery !== undefined;
  }

  /** What has not reached the flow of this node comes at the next look. */
  hurry(confirmer: Confirmer): void {
    for (const delivery of this.#of(confirmer)) {
      if (delivery.confirmer === confirmer && !delivery.hasReached) {
        delivery.due = 0;
      }
    }
  }

  /** A node begins; what was open at the one before it of the same name comes again. */
  add(confirmer: Confirmer): void {
    this.#confirmers.add(confirmer);
    for (const delivery of this.#of(confirmer)) {
      if (delivery.hasReached && delivery.confirmer.labels !== confirmer.labels) {
        delivery.hasReached = false;
        delivery.wasWithOther = true;
      }
      delivery.confirmer = confirmer;
      delivery.isOfDeploy = true;
      delivery.due = 0;
    }
  }

  /** What is open for nobody yet. */
  get undecided(): LinkedList<Delivery> {
    return this.#of(UNDECIDED);
  }

  /** A node ends. @param comesBack false: what is open there is nobody's any more */
  remove(confirmer: Confirmer, comesBack: boolean): void {
    this.#confirmers.delete(confirmer);
    this.#counts.delete(confirmer);
    if (!comesBack) {
      this.abandon(confirmer.owner, (delivery) => delivery.confirmer === confirmer);
    }
  }

  /** Gives up what is open at nodes of this name. */
  abandon(owner: string, isOf: (delivery: Delivery) => boolean = () => true): void {
    for (const { id } of [...(this.#byOwner.get(owner) ?? [])].filter(isOf)) {
      this.#abandoned.add(owner);
      this.#events.confirm(id);
    }
    this.#abandoned.tell();
  }

  /**
   * All nodes are there: what belongs to none of them is nobody's any more.
   * @param isWaitedFor whether a node of this name is there, but cannot work: what is open stays open for it
   */
  resumed(isWaitedFor: (owner: string) => boolean): void {
    for (const { id, confirmer } of [...this.#all()]) {
      if (confirmer !== UNDECIDED && !this.#confirmers.has(confirmer) && !isWaitedFor(confirmer.owner)) {
        this.#abandoned.add(confirmer.owner);
        this.#events.confirm(id);
      }
    }
    this.#abandoned.tell();
    for (const [owner, deliveries] of this.#byOwner) {
      if (deliveries.size === 0) {
        this.#byOwner.delete(owner);
      }
    }
  }

  /** Call it twice a second: sends what is due. */
  look(): void {
    this.#resends.look(this.#all());
    this.#abandoned.tellWhenAll();
    this.#counts.tell(this.#all(), this.#now());
    this.#nextOwner();
  }

  /** Nobody looks any more. */
  rest(): void {
    this.#abandoned.tell();
  }

  close(): void {
    this.#deliveries.clear();
    this.#resends.clear();
    this.#byOwner.clear();
    this.#confirmers.clear();
  }

  /** Those that are open at the node of this name. */
  #of({ owner }: Confirmer): LinkedList<Delivery> {
    const known = this.#byOwner.get(owner);
    if (known) {
      return known;
    }
    const deliveries = new LinkedList<Delivery>();
    this.#byOwner.set(owner, deliveries);
    return deliveries;
  }

  /** One whose node is being replaced comes again at the next one. */
  #isDue({ due, confirmer, list }: Delivery, now: number): boolean {
    return due <= now && this.#confirmers.has(confirmer) && list !== undefined;
  }

  /** Node by node. */
  *#all(): Generator<Delivery> {
    for (const deliveries of this.#byOwner.values()) {
      yield* deliveries;
    }
  }

  /** Another one comes first, where more are due than one look sends. */
  #nextOwner(): void {
    const [first] = this.#byOwner;
    if (first) {
      this.#byOwner.delete(first[0]);
      this.#byOwner.set(...first);
    }
  }

  #send(delivery: Delivery, now: number): void {
    const { confirmer, hasReached, isOfDeploy } = delivery;
    const attempts = delivery.attempts + (hasReached && !isOfDeploy ? 1 : 0);
    if (confirmer.maxAttempts > 0 && attempts > confirmer.maxAttempts) {
      this.#events.confirm(delivery.id);
      this.#call(() => confirmer.givenUp(delivery));
      return;
    }
    delivery.attempts = attempts;
    delivery.isOfDeploy = false;
    delivery.due = now + waitAfter(attempts, confirmer.timeoutMs);
    // Behind the others, so that each has its turn where more are due than one look sends.
    const { list } = delivery;
    list?.delete(delivery);
    list?.add(delivery);
    this.#call(() => {
      if (!confirmer.again(delivery)) {
        this.#abandoned.add(confirmer.owner);
        this.#events.confirm(delivery.id);
      }
    });
  }

  #call(listener: () => void): void {
    try {
      listener();
    } catch (fault) {
      this.#events.failed(fault);
    }
  }
}
