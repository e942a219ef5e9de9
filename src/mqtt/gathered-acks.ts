// The PUBACKs of one connection: they leave together, and none before Node-RED has passed its report on to the nodes behind.
import { performance } from 'node:perf_hooks';
import { type Given, whenPassedOn } from '../protocol/passing-on.ts';

/** Brokers leave 10 to 100 reports unacknowledged and then wait, which ends the gathering too: a quiet turn follows. */
const MAX_GATHERED = 256;
/** With a slow flow a turn takes long, and the broker ends a connection from which it hears nothing. */
const MAX_GATHERED_MS = 100;

/**
 * Node-RED passes a message on with the next turn of the event loop. A node that is closed before that, as all are when
 * Node-RED stops, gets nothing of it: the broker is not told of such a report, and sends it again after the start.
 */
export class GatheredAcks implements Given {
  readonly #write: (packets: Buffer, isGathered: boolean) => void;
  readonly #isPaused: () => boolean;
  #ids: number[] = [];
  /** Of all that were added and of those of which the broker was told: how many there were so far. */
  #added = 0;
  #written = 0;
  /** The reports of the first so many have been passed on; that was so when it was looked at last. */
  #passedOnCount = 0;
  #before = 0;
  #isCounted = false;
  #isGathering = false;
  /** In milliseconds of `performance.now()`. */
  #since = 0;

  /**
   * @param write sends packets to the broker; `isGathered`: nothing more is to be gathered with them
   * @param isPaused whether flows are being replaced or stopped
   */
  constructor(write: (packets: Buffer, isGathered: boolean) => void, isPaused: () => boolean) {
    this.#write = write;
    this.#isPaused = isPaused;
  }

  /** Its report was given to the flows just now. */
  add(messageId: number): void {
    this.#ids.push(messageId);
    this.#added++;
    if (!this.#isCounted) {
      this.#isCounted = true;
      whenPassedOn(this);
    }
  }

  /** Its report has gone through the flow. */
  addDone(messageId: number): void {
    if (this.#ids.length === 0) {
      this.#write(pubackOf([messageId]), false);
    } else {
      this.add(messageId);
    }
  }

  /** Tells the broker of those whose reports have been passed on. */
  flush(): void {
    const count = this.#passedOnCount - this.#written;
    if (count > 0) {
      const ids = count === this.#ids.length ? this.#ids : this.#ids.slice(0, count);
      this.#ids = count === this.#ids.length ? [] : this.#ids.slice(count);
      this.#written = this.#passedOnCount;
      this.#write(pubackOf(ids), true);
    }
  }

  count(): number {
    this.#isCounted = false;
    return this.#added;
  }

  passedOn(count: number): void {
    if (!this.#isPaused()) {
      this.#passed(count);
    }
  }

  /** Flows run again: who was to get reports and was replaced gets them, too. */
  resumed(): void {
    this.#passed(this.#added);
  }

  #passed(count: number): void {
    this.#passedOnCount = Math.max(this.#passedOnCount, count);
    if (!this.#isGathering && this.#passedOnCount > this.#written) {
      this.#isGathering = true;
      this.#since = performance.now();
      this.#before = this.#passedOnCount;
      setImmediate(this.#turn);
    }
  }

  readonly #turn = (): void => {
    const isQuiet = this.#passedOnCount === this.#before;
    const isMuch = this.#passedOnCount - this.#written >= MAX_GATHERED;
    if (isQuiet || isMuch || performance.now() - this.#since >= MAX_GATHERED_MS) {
      this.#isGathering = false;
      this.flush();
    } else {
      this.#before = this.#passedOnCount;
      setImmediate(this.#turn);
    }
  };
}

/** PUBACKs without a reason: the same in MQTT 3.1.1 and 5. */
export function pubackOf(messageIds: readonly number[]): Buffer {
  const packets = Buffer.allocUnsafe(4 * messageIds.length);
  let at = 0;
  for (const messageId of messageIds) {
    packets[at++] = 0x40;
    packets[at++] = 2;
    packets[at++] = messageId >> 8;
    packets[at++] = messageId & 0xff;
  }
  return packets;
}
