// When what is watched is looked at again, and what one turn takes of that: one timer, and none while nothing can change.
import { DeadlineHeap, type Scheduled } from '../collections/deadline-heap.ts';

/** Milliseconds between two looks: what is due in between waits for the next. */
const MIN_PAUSE_MS = 250;
/** Beyond it Node.js takes a timer for an immediate one. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** What one turn of the event loop may take, and how many messages it may send: reports and flows have theirs in between. */
const TURN_MS = 10;
const MAX_SENT_PER_TURN = 100;
/** So many are looked at between two looks at the clock. */
const CHECKED_PER_LOOK = 50;

export interface ScheduleOptions {
  /** Milliseconds of a clock that nobody sets. */
  now?: () => number;
  /** @returns cancels it */
  startTimer?: (call: () => void, ms: number) => () => void;
  nextTurn?: (call: () => void) => void;
  /** Calls back when it is certain that reports could be heard until now. */
  whenHeard?: (call: () => void) => void;
}

/** Has messages that wait. */
export interface Sender {
  /** Sends the first of them. @returns false: none waits any more */
  sendNext(): boolean;
}

/**
 * Its clock stands still while nothing can be heard, and while flows are replaced. `check` is called for what is due, one
 * after the other in the order of their deadlines; it is not due again before it gets another deadline.
 */
export class WatchSchedule<T extends Scheduled> {
  readonly #check: (entry: T) => void;
  readonly #now: () => number;
  readonly #startTimer: NonNullable<ScheduleOptions['startTimer']>;
  readonly #nextTurn: NonNullable<ScheduleOptions['nextTurn']>;
  readonly #whenHeard: NonNullable<ScheduleOptions['whenHeard']>;
  readonly #heap = new DeadlineHeap<T>();
  #stopTimer: (() => void) | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  /** Of the clock below. */
  #checkedAt = Number.NEGATIVE_INFINITY;
  #isListening = false;
  #isPaused = false;
  /** Milliseconds during which the clock stood, until it stood last. */
  #stoodMs = 0;
  #stoodSince: number | undefined;
  #isRunning = false;
  /** What is due goes on in the next turn. */
  #goesOn = false;
  readonly #senders = new Set<Sender>();
  /** Messages of this turn. */
  #sent = 0;
  #isTurnAwaited = false;

  constructor(
    check: (entry: T) => void,
    {
      now = () => performance.now(),
      startTimer = startTimeout,
      nextTurn = (call) => void setImmediate(call),
      whenHeard = (call) => call(),
    }: ScheduleOptions = {},
  ) {
    this.#check = check;
    this.#now = now;
    this.#startTimer = startTimer;
    this.#nextTurn = nextTurn;
    this.#whenHeard = whenHeard;
    this.#stoodSince = now();
  }

  /** Milliseconds of its own clock. */
  get time(): number {
    return (this.#stoodSince ?? this.#now()) - this.#stoodMs;
  }

  /** Whether a timer is set. */
  get isWaiting(): boolean {
    return this.#stopTimer !== undefined;
  }

  /** Flows are being replaced: nobody would receive what is told. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  setListening(isListening: boolean): void {
    this.#isListening = isListening;
    this.#setClock();
  }

  /** Whether flows can take one more message in this turn. */
  get maySend(): boolean {
    return !this.#isPaused && this.#sent < MAX_SENT_PER_TURN;
  }

  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#setClock();
    this.#sendWaiting();
  }

  /** @param deadline of its own clock */
  set(entry: T, deadline: number): void {
    this.#heap.set(entry, deadline);
    if (this.#heap.first === entry) {
      this.#arm();
    }
  }

  remove(entry: T): void {
    this.#heap.remove(entry);
    if (this.#heap.size === 0) {
      this.#disarm();
    }
  }

  /** Call it for each message: flows need time of their own. */
  sent(): void {
    this.#sent++;
    this.#awaitTurn();
  }

  /** What waits there is sent in later turns, or when flows run. */
  sendLater(sender: Sender): void {
    this.#senders.add(sender);
    this.#awaitTurn();
  }

  /** What waits there is not sent any more. */
  dismiss(sender: Sender): void {
    this.#senders.delete(sender);
  }

  close(): void {
    this.setListening(false);
  }

  #setClock(): void {
    const stands = !this.#isListening || this.#isPaused;
    if (stands === (this.#stoodSince !== undefined)) {
      return;
    }
    if (stands) {
      this.#stoodSince = this.#now();
      this.#disarm();
    } else {
      this.#stoodMs += this.#now() - (this.#stoodSince as number);
      this.#stoodSince = undefined;
      this.#arm();
    }
  }

  #arm(): void {
    const { first } = this.#heap;
    if (first === undefined || this.#stoodSince !== undefined || this.#isRunning) {
      return;
    }
    const at = Math.max(first.deadline, this.#checkedAt + MIN_PAUSE_MS);
    if (this.#stopTimer !== undefined && this.#timerAt <= at) {
      return;
    }
    this.#disarm();
    this.#timerAt = at;
    const wait = Math.min(Math.max(at - this.time, 0), MAX_TIMER_MS);
    this.#stopTimer = this.#startTimer(() => {
      this.#disarm();
      // What comes until then sets no other timer.
      this.#isRunning = true;
      this.#whenHeard(() => this.#run());
    }, wait);
  }

  #disarm(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #awaitTurn(): void {
    if (!this.#isTurnAwaited) {
      this.#isTurnAwaited = true;
      this.#nextTurn(() => this.#beginTurn());
    }
  }

  #beginTurn(): void {
    this.#isTurnAwaited = false;
    this.#sent = 0;
    this.#sendWaiting();
    if (this.#goesOn) {
      this.#run();
    }
  }

  #sendWaiting(): void {
    for (const sender of this.#senders) {
      while (this.maySend && this.#senders.has(sender)) {
        if (!sender.sendNext()) {
          this.#senders.delete(sender);
        }
      }
    }
  }

  #run(): void {
    this.#goesOn = !this.#checkDue();
    if (this.#goesOn) {
      // What comes in between does not end the turns.
      this.#awaitTurn();
      return;
    }
    this.#isRunning = false;
    this.#arm();
  }

  /** @returns whether nothing is due any more; false: the turn was long enough */
  #checkDue(): boolean {
    const began = this.#now();
    for (let checked = 1; this.#stoodSince === undefined; checked++) {
      const { first } = this.#heap;
      if (first === undefined || first.deadline > this.time) {
        break;
      }
      if (!this.maySend) {
        return false;
      }
      this.#heap.remove(first);
      this.#check(first);
      if (checked % CHECKED_PER_LOOK === 0 && this.#now() - began > TURN_MS) {
        return false;
      }
    }
    this.#checkedAt = this.time;
    return true;
  }
}

function startTimeout(call: () => void, ms: number): () => void {
  const timer = setTimeout(call, ms).unref();
  return () => clearTimeout(timer);
}
