// Lets reports of gateways with certain REST labels through, and holds them until the first list is there.
import type { ServiceError } from './errors.ts';
import type { ReportListener } from './mqtt/reports.ts';
import type { Report } from './protocol/reports/index.ts';

/** Reports that wait for the first list; beyond it the oldest are lost, with one warning. */
const MOST_HELD = 1_000;
/** Milliseconds: gates that look at the same time share one list. */
const SHARED = 5_000;
/** How soon a failed refresh is tried again, at the latest. */
const RETRY = 30_000;

/** `waiting`: no list yet; `ready`; `stale`: the last known list holds, the service could not be asked again. */
export interface LabelState {
  name: 'waiting' | 'ready' | 'stale';
  /** Reports lost while waiting. */
  lost: number;
  error?: ServiceError;
}

export interface LabelSource {
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
  #held: { report: Report; topic: string }[] = [];
  #lost = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param refresh milliseconds between two lists */
  constructor(
    inner: ReportListener,
    labels: readonly string[],
    refresh: number,
    source: LabelSource,
    tell: (state: LabelState) => void,
  ) {
    this.#inner = inner;
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
    this.#held = [];
  }

  report(report: Report, topic: string): void {
    if (this.#allowed?.has(report.gateway)) this.#inner.report(report, topic);
    else if (!this.#allowed) this.#hold(report, topic);
  }

  error(error: ServiceError, message: { topic: string; payload: unknown }): void {
    this.#inner.error(error, message);
  }

  #hold(report: Report, topic: string): void {
    this.#held.push({ report, topic });
    if (this.#held.length <= MOST_HELD) return;
    this.#held.shift();
    this.#lost++;
    if (this.#lost === 1) this.#tell({ name: 'waiting', lost: 1 });
  }

  async #update(): Promise<void> {
    let wait = this.#refresh;
    try {
      const allowed = await this.#source.gatewaysWithLabels(
        this.#labels,
        Math.min(this.#refresh / 2, SHARED),
        this.#stop.signal,
      );
      if (this.#stop.signal.aborted) return;
      this.#allowed = allowed;
      this.#tell({ name: 'ready', lost: this.#lost });
      this.#passHeld();
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const name = this.#allowed ? 'stale' : 'waiting';
      this.#tell({ name, lost: this.#lost, error: error as ServiceError });
      wait = Math.min(wait, RETRY);
    }
    this.#timer = setTimeout(() => void this.#update(), wait);
  }

  #passHeld(): void {
    const held = this.#held;
    this.#held = [];
    for (const { report, topic } of held) this.report(report, topic);
  }
}
