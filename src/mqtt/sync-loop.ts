// Takes one step after the other until the broker has what is wanted, which may change in between.
import type { Logger } from '../log.ts';

interface SyncSteps<Transport> {
  /** @returns false when nothing was left to do */
  step(transport: Transport): Promise<boolean>;
  /** The broker has what is wanted. */
  done(): void;
}

/** At most one step is under way; those of a connection that is gone end in nothing. */
export class SyncLoop<Transport extends object> {
  readonly #steps: SyncSteps<Transport>;
  readonly #log: Logger;
  #transport: Transport | undefined;
  #running: Transport | undefined;
  #hasChanged = false;

  constructor(log: Logger, steps: SyncSteps<Transport>) {
    this.#log = log;
    this.#steps = steps;
  }

  /** Of the present connection. */
  get transport(): Transport | undefined {
    return this.#transport;
  }

  /** Something has changed since the step began that is under way. */
  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** @param transport undefined: the connection has ended */
  connect(transport: Transport | undefined): void {
    this.#transport = transport;
  }

  /** Call it when something has changed. */
  async run(): Promise<void> {
    this.#hasChanged = true;
    const transport = this.#transport;
    if (!transport || transport === this.#running) {
      return;
    }
    this.#running = transport;
    try {
      let isDone: boolean;
      // A change may come while the last step is on its way, so it is looked for after each step.
      do {
        this.#hasChanged = false;
        isDone = !(await this.#steps.step(transport));
        if (transport !== this.#transport) {
          return;
        }
      } while (!isDone || this.#hasChanged);
      this.#steps.done();
    } catch (error) {
      // The connection went away in the middle; its successor starts over.
      this.#log.trace(`subscriptions: ${String(error)}`);
    } finally {
      if (transport === this.#running) {
        this.#running = undefined;
      }
    }
  }
}
