// Keeps the names of devices known while somebody uses them: the list is fetched in the background, now and then.
import { ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { BACKGROUND_CLOCK } from './clock.ts';
import type { DeviceDirectory } from './device-directory.ts';
import type { Clock } from './types.ts';

/** Flows start first. */
const FIRST_WAIT_MS = 1_000;
const REFRESH_MS = 10 * 60_000;
/** After a failure the list is asked for again so soon, and twice as late with every further one. */
const FIRST_RETRY_MS = 60_000;

/** A list that others have fetched serves too, so this asks only when nobody else has for ten minutes. */
export class NameRefresh {
  readonly #directory: DeviceDirectory;
  readonly #log: Logger;
  readonly #clock: Clock;
  #users = 0;
  #stop = new AbortController();
  /** When the list is due, also for those who begin to use it later: a deploy is no reason to ask anew. */
  #dueAt: number | undefined;
  #retry = FIRST_RETRY_MS;
  #hasTold = false;

  constructor(directory: DeviceDirectory, { log, clock = BACKGROUND_CLOCK }: { log: Logger; clock?: Clock }) {
    this.#directory = directory;
    this.#log = log;
    this.#clock = clock;
  }

  /** @returns ends this use; while there is none, nothing is fetched */
  use(): () => void {
    this.#users++;
    if (this.#users === 1) {
      this.#stop = new AbortController();
      void this.#run(this.#stop.signal);
    }
    let isUsed = true;
    return () => {
      this.#users -= isUsed ? 1 : 0;
      isUsed = false;
      if (this.#users === 0) {
        this.#stop.abort();
      }
    };
  }

  close(): void {
    this.#stop.abort();
  }

  async #run(signal: AbortSignal): Promise<void> {
    this.#dueAt ??= this.#clock.now() + FIRST_WAIT_MS;
    try {
      while (!signal.aborted) {
        await this.#clock.wait(Math.max(0, this.#dueAt - this.#clock.now()), signal);
        const wait = await this.#refresh(signal);
        this.#dueAt = this.#clock.now() + wait;
      }
    } catch {
      // Only waiting rejects, and only because it is over.
    }
  }

  /** @returns after how many milliseconds the next list is due */
  async #refresh(signal: AbortSignal): Promise<number> {
    try {
      await this.#directory.refresh(REFRESH_MS - 1, signal);
      this.#hasTold = false;
      this.#retry = FIRST_RETRY_MS;
      // A change may have made it old since: its names are known all the same.
      const age = this.#directory.listAge;
      return Number.isFinite(age) ? REFRESH_MS - age : REFRESH_MS;
    } catch (error) {
      if (signal.aborted) {
        return 0;
      }
      this.#tell(error);
      const wait = this.#retry;
      this.#retry = Math.min(REFRESH_MS, wait * 2);
      return wait;
    }
  }

  /** Once, until a list has come again. Where there is no login yet, a node that needs it says so. */
  #tell(error: unknown): void {
    const isQuiet =
      error instanceof ServiceError && (error.code === 'NOT_CONFIGURED' || error.code === 'CLOSED');
    if (this.#hasTold || isQuiet) {
      return;
    }
    this.#hasTold = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.#log.warn(`reports have no names, since the list of devices cannot be read: ${reason}`);
  }
}
