// Lets reports of gateways with certain REST labels through, and holds them until the first list is there.
import { Queue } from '../collections/queue.ts';
import type { ServiceError } from '../errors.ts';
import type { Report } from '../protocol/reports/index.ts';
import type { Message } from './message.ts';
import type { ReportListener } from './receivers.ts';

/** Reports that wait for the first list; beyond it the oldest are lost, with one warning. */
const MAX_BUFFERED = 1_000;
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
/** So many lost reports are told of together. */
const NOTIFY_EVERY = 100;
/** After a list this old, a node asks for a newer one at once: what somebody has just labelled counts after the deploy. */
const FIRST_MAX_AGE_MS = 5_000;
/** How soon a failed refresh is tried again, at the latest. */
const RETRY_MS = 30_000;
const MIN_WAIT_MS = 1_000;

/** `waiting`: no list yet; `ready`; `stale`: the last known list holds, the service could not be asked again. */
export interface LabelState {
  name: 'waiting' | 'ready' | 'stale';
  /** Reports lost while waiting. */
  lost: number;
  error?: ServiceError;
  /** The list is there, and no gateway carries one of the labels. */
  hasNoGateway?: true;
}

export interface LabelSource {
  /** Milliseconds since the list that was given last came. */
  readonly listAge: number;
  /** MACs of the gateways that carry one of the labels in the last known list, however old; undefined without one. */
  knownGatewaysWithLabels(labels: readonly string[]): ReadonlySet<string> | undefined;
  /** False where that list has none but what was heard only through gateways. */
  mayHaveGatewayWith(labels: readonly string[]): boolean;
  /** Calls the follower with every new list, and with why one that a change has made due could not come. @returns stops it */
  follow(follower: (error?: unknown) => void): () => void;
  /** Resolves when there is a list no older than `maxAge` milliseconds. */
  refresh(maxAge: number, signal: AbortSignal): Promise<void>;
}

/**
 * While the settings of the REST half are wrong: reports wait as for the first list. A broker that keeps what it has for this
 * client would forget what nobody asks for.
 */
export const unknownLabels = (problem: Error): LabelSource => ({
  listAge: Number.POSITIVE_INFINITY,
  knownGatewaysWithLabels: () => undefined,
  mayHaveGatewayWith: () => true,
  follow: () => () => undefined,
  refresh: () => Promise.reject(problem),
});

export class LabelFilter implements ReportListener {
  readonly takesNone: true | undefined;
  readonly readsOnly: true | undefined;
  readonly #inner: ReportListener;
  readonly #labels: readonly string[];
  readonly #refreshMs: number;
  readonly #source: LabelSource;
  readonly #notify: (state: LabelState) => void;
  readonly #stop = new AbortController();
  #allowed: ReadonlySet<string> | undefined;
  /** A list came for this node; before that it may have the one that others have asked for. */
  #hasAsked = false;
  readonly #replay: (messages: readonly Message[]) => void;
  readonly #isPaused: () => boolean;
  readonly #buffered = new Queue<Message>();
  #bufferedBytes = 0;
  #lost = 0;
  /** That is what was told. */
  #hasNoGateway = false;
  #timer: NodeJS.Timeout | undefined;
  #unfollow: (() => void) | undefined;

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
    this.takesNone = inner.takesNone;
    this.readsOnly = inner.readsOnly;
    this.#inner = inner;
    this.#replay = replay;
    this.#isPaused = isPaused;
    this.#labels = labels;
    this.#refreshMs = refresh;
    this.#source = source;
    this.#notify = tell;
  }

  open(): void {
    // A node that was deployed again in an outage, or while a large list is read, goes on with what is known.
    this.#allowed = this.#source.knownGatewaysWithLabels(this.#labels);
    if (this.#allowed) {
      this.#tellReady();
    } else {
      this.#notify({ name: 'waiting', lost: 0 });
    }
    // Also the lists that others have asked for, or that a change of labels has made due.
    this.#unfollow = this.#source.follow((error) =>
      error === undefined ? this.#listCame() : this.#listFailed(error),
    );
    void this.#update();
  }

  close(): void {
    this.#stop.abort();
    this.#unfollow?.();
    clearTimeout(this.#timer);
    this.takeBuffered();
  }

  /** There is no list yet. */
  get isWaiting(): boolean {
    return this.#allowed === undefined;
  }

  /** What waits for the first list; it is not held here any more. */
  takeBuffered(): Message[] {
    this.#bufferedBytes = 0;
    return this.#buffered.clear();
  }

  /** Lets through what has waited, when there is a list and somebody to receive it. */
  flush(): void {
    if (this.#allowed && !this.#isPaused()) {
      this.#replay(this.takeBuffered());
    }
  }

  report(report: Report, topic: string, payload: Buffer, heardAt?: number): void {
    if (this.#allowed?.has(report.gateway)) {
      if (this.#hasNoGateway) {
        // What was heard through others is a gateway nevertheless.
        this.#tellReady();
      }
      this.#inner.report(report, topic, payload, heardAt);
    } else if (!this.#allowed && !this.takesNone) {
      this.#buffer(report, topic, payload, heardAt);
    }
  }

  error(error: ServiceError, message: { topic: string; payload: unknown }): void {
    this.#inner.error(error, message);
  }

  #buffer({ retained }: Report, topic: string, payload: Buffer, heardAt = performance.now()): void {
    // A payload of its own: a received one keeps the whole chunk alive that it came in.
    const message = { topic, payload: Buffer.from(payload), retained: retained === true, heardAt };
    this.#buffered.push(message);
    this.#bufferedBytes += sizeOf(message);
    while (this.#buffered.size > MAX_BUFFERED || this.#bufferedBytes > MAX_BUFFERED_BYTES) {
      this.#discardOldest();
    }
  }

  #discardOldest(): void {
    this.#bufferedBytes -= sizeOf(this.#buffered.shift() as Message);
    this.#lost++;
    const isNews = this.#lost === 1 || this.#lost % NOTIFY_EVERY === 0;
    if (isNews) {
      this.#notify({ name: 'waiting', lost: this.#lost });
    }
  }

  #listCame(): void {
    this.#allowed = this.#source.knownGatewaysWithLabels(this.#labels);
    this.#tellReady();
    this.flush();
  }

  #listFailed(error: unknown): void {
    const name = this.#allowed ? 'stale' : 'waiting';
    this.#hasNoGateway = false;
    this.#notify({ name, lost: this.#lost, error: error as ServiceError });
  }

  #tellReady(): void {
    this.#hasNoGateway = !this.#source.mayHaveGatewayWith(this.#labels);
    this.#notify({ name: 'ready', lost: this.#lost, ...(this.#hasNoGateway && { hasNoGateway: true }) });
  }

  async #update(): Promise<void> {
    let wait = this.#refreshMs;
    try {
      await this.#source.refresh(this.#maxAge(), this.#stop.signal);
      if (this.#stop.signal.aborted) {
        return;
      }
      // The next look comes when this list is due, so that nodes that were deployed at different times share one.
      const { listAge } = this.#source;
      if (listAge < this.#refreshMs) {
        wait = this.#refreshMs - listAge;
      }
      this.#hasAsked = true;
    } catch (error) {
      if (this.#stop.signal.aborted) {
        return;
      }
      this.#listFailed(error);
      wait = Math.min(wait, RETRY_MS);
    }
    this.#timer = setTimeout(() => void this.#update(), Math.max(MIN_WAIT_MS, wait));
  }

  #maxAge(): number {
    return this.#hasAsked ? this.#refreshMs / 2 : Math.min(this.#refreshMs / 2, FIRST_MAX_AGE_MS);
  }
}

const sizeOf = ({ topic, payload }: Message): number => topic.length + payload.length;
