// Lets reports of gateways with certain REST labels through, and holds them until the first list is there.
import type { ServiceError } from './errors.ts';
import type { Message, ReportListener } from './mqtt/reports.ts';
import type { Report } from './protocol/reports/index.ts';

/** Reports that wait for the first list; beyond it the oldest are lost, with one warning. */
const MOST_HELD = 1_000;
const MAX_HELD_BYTES = 16 * 1024 * 1024;
/** So many lost reports are told of together. */
const TOLD_EVERY = 100;
/** The first list of a node may be this old: what somebody has just labelled counts after the deploy. */
const FIRST_AGE_MS = 5_000;
/** How soon a failed refresh is tried again, at the latest. */
const RETRY_MS = 30_000;
const MIN_WAIT_MS = 1_000;

/** `waiting`: no list yet; `ready`; `stale`: the last known list holds, the service could not be asked again. */
export interface LabelState {
  name: 'waiting' | 'ready' | 'stale';
  /** Reports lost while waiting. */
  lost: number;
  error?: ServiceError;
}

export interface LabelSource {
  /** Milliseconds since the list that was given last came. */
  readonly listAge: number;
  /** MACs of the gateways that carry one of the labels, from a list no older than `maxAge` milliseconds. */
  gatewaysWithLabels(
    labels: readonly string[],
    maxAge: number,
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>>;
}

export class LabelGate implements ReportListener {
  readonly #inner: ReportListener;
  readonly #labels: readonly string[];
  readonly #refresh: number;
  readonly #source: LabelSource;
  readonly #tell: (state: LabelState) => void;
  readonly #stop = new AbortController();
  #allowed: ReadonlySet<string> | undefined;
  readonly #replay: (messages: readonly Message[]) => void;
  readonly #isPaused: () => boolean;
  #held: Message[] = [];
  #heldBytes = 0;
  #lost = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param replay gives messages to this gate once more, as reports
   * @param refresh milliseconds between two lists
   * @param isPaused while flows are replaced nobody would receive what is replayed: `flush` follows
   */
  constructor(
    inner: ReportListener,
    replay: (messages: readonly Message[]) => void,
    labels: readonly string[],
    refresh: number,
    source: LabelSource,
    tell: (state: LabelState) => void,
    isPaused: () => boolean = () => false,
  ) {
    this.#inner = inner;
    this.#replay = replay;
    this.#isPaused = isPaused;
    this.#labels = labels;
    this.#refresh = refresh;
    this.#source = source;
    this.#tell = tell;
  }

  open(): void {
    this.#tell({ name: 'waiting', lost: 0 });
    void this.#update();
  }

  close(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.takeHeld();
  }

  /** What waits for the first list; it is not held here any more. */
  takeHeld(): Message[] {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    return held;
  }

  /** Lets through what has waited, when there is a list and somebody to receive it. */
  flush(): void {
    if (this.#allowed && !this.#isPaused()) {
      this.#replay(this.takeHeld());
    }
  }

  report(report: Report, topic: string, payload: Buffer, heardAt?: number): void {
    if (this.#allowed?.has(report.gateway)) {
      this.#inner.report(report, topic, payload, heardAt);
    } else if (!this.#allowed) {
      this.#hold(report, topic, payload, heardAt);
    }
  }

  error(error: ServiceError, message: { topic: string; payload: unknown }): void {
    this.#inner.error(error, message);
  }

  #hold({ retained }: Report, topic: string, payload: Buffer, heardAt = performance.now()): void {
    // A payload of its own: a received one keeps the whole chunk alive that it came in.
    this.#held.push({ topic, payload: Buffer.from(payload), retained: retained === true, heardAt });
    this.#heldBytes += payload.length;
    while (this.#held.length > MOST_HELD || this.#heldBytes > MAX_HELD_BYTES) {
      this.#lose();
    }
  }

  #lose(): void {
    this.#heldBytes -= this.#held.shift()?.payload.length ?? 0;
    this.#lost++;
    const isNews = this.#lost === 1 || this.#lost % TOLD_EVERY === 0;
    if (isNews) {
      this.#tell({ name: 'waiting', lost: this.#lost });
    }
  }

  async #update(): Promise<void> {
    let wait = this.#refresh;
    try {
      const allowed = await this.#source.gatewaysWithLabels(this.#labels, this.#maxAge(), this.#stop.signal);
      if (this.#stop.signal.aborted) {
        return;
      }
      // The next look comes when this list is due, so that nodes that were deployed at different times share one.
      const { listAge } = this.#source;
      if (listAge < this.#refresh) {
        wait = this.#refresh - listAge;
      }
      this.#allowed = allowed;
      this.#tell({ name: 'ready', lost: this.#lost });
      this.flush();
    } catch (error) {
      if (this.#stop.signal.aborted) {
        return;
      }
      const name = this.#allowed ? 'stale' : 'waiting';
      this.#tell({ name, lost: this.#lost, error: error as ServiceError });
      wait = Math.min(wait, RETRY_MS);
    }
    this.#timer = setTimeout(() => void this.#update(), Math.max(MIN_WAIT_MS, wait));
  }

  #maxAge(): number {
    return this.#allowed ? this.#refresh / 2 : Math.min(this.#refresh / 2, FIRST_AGE_MS);
  }
}
