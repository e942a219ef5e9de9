// Has the runtime say when something has changed, by Node-RED's messages to this editor alone; where those are missing the sidebar asks by itself.
import { ask, mayDo } from './editor-api.ts';

/** What the runtime sends: `{watch}`. */
const CHANGED = 'mt-gateway/changed';
/** What tells the runtime which editor this is: `{watch}`. */
const BEGUN = 'mt-gateway/watch';
/** After an attempt: what cannot be had is not asked for all the time. */
const PAUSE_MS = 10_000;

export class Changes {
  /** The secret by which the runtime knows this editor; empty: none. */
  #watch = '';
  #service = '';
  #triedAt = Number.NEGATIVE_INFINITY;
  #isPushed = false;

  /** @param changed something may be other than it is shown @param closing ends it */
  constructor(changed: () => void, closing: AbortSignal) {
    const { comms } = RED;
    const received = (_: string, data: unknown) => {
      if (this.#watch !== '' && (data as { watch?: unknown } | undefined)?.watch === this.#watch) {
        changed();
      }
    };
    // To the runtime it is another editor then, and much may have happened meanwhile.
    const connected = () => {
      this.#forget();
      changed();
    };
    comms.subscribe(CHANGED, received);
    comms.on?.('connect', connected);
    closing.addEventListener('abort', () => {
      comms.unsubscribe(CHANGED, received);
      comms.off?.('connect', connected);
    });
  }

  /** Whether the last response said that the runtime tells of changes. */
  get isPushed(): boolean {
    return this.#isPushed;
  }

  /** What goes with every question about the network. */
  get query(): { watch?: string } {
    return this.#watch === '' ? {} : { watch: this.#watch };
  }

  /** The service is looked at: has the runtime tell of its changes, unless it does or has just refused. */
  async begin(service: string): Promise<void> {
    if (service !== this.#service) {
      this.#forget();
      this.#service = service;
    }
    const now = performance.now();
    if (this.#isPushed || now - this.#triedAt < PAUSE_MS || !RED.comms.send || !mayDo('read')) {
      return;
    }
    this.#triedAt = now;
    try {
      const { watch } = await ask<{ watch: string | null }>(service, 'watch', { body: {} });
      if (watch !== null && service === this.#service && now === this.#triedAt) {
        this.#watch = watch;
        RED.comms.send(BEGUN, { watch });
      }
    } catch {
      // The list says what is wrong.
    }
  }

  /** A response to a question with `query` has come. */
  answered({ pushed }: { pushed?: boolean }): void {
    this.#isPushed = pushed === true && this.#watch !== '';
  }

  #forget(): void {
    this.#watch = '';
    this.#triedAt = Number.NEGATIVE_INFINITY;
    this.#isPushed = false;
  }
}
