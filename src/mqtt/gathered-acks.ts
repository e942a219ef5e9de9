// The PUBACKs of one connection: they leave together, and none before Node-RED has passed its report on to the nodes behind.
import { type Given, whenPassedOn } from '../protocol/passing-on.ts';

/** For so long at most others wait behind reports that a deploy holds up; a service that stops has left before. */
const MAX_HELD_MS = 2_000;

/**
 * Node-RED passes a message on with the next turn of the event loop. A node that is closed before that, as all are when
 * Node-RED stops, gets nothing of it: the broker is not told of such a report, and sends it again after the start.
 */
export class GatheredAcks implements Given {
  readonly #write: (packets: Buffer, isGathered: boolean) => void;
  readonly #isPaused: () => boolean;
  #ids: number[] = [];
  /** Of all, and of those that were written: the number so far. */
  #added = 0;
  #written = 0;
  #isCounted = false;
  #timer: NodeJS.Timeout | undefined;

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
    this.#countLater();
  }

  /** Node-RED has nothing to pass on of it: it was a response, or its report has gone through the flow. */
  addDone(messageId: number): void {
    if (this.#ids.length === 0) {
      this.#write(pubackOf([messageId]), false);
    } else {
      this.add(messageId);
      if (this.#isPaused()) {
        this.#timer ??= setTimeout(() => this.#writeLate(), MAX_HELD_MS).unref();
      }
    }
  }

  /** A deploy goes on: the reports are kept in this process for it, and a broker that hears of nothing sends nothing more. */
  #writeLate(): void {
    this.#timer = undefined;
    if (this.#isPaused()) {
      this.#writeUpTo(this.#added);
    }
  }

  count(): number {
    this.#isCounted = false;
    return this.#added;
  }

  passedOn(count: number): void {
    if (!this.#isPaused()) {
      this.#writeUpTo(count);
    }
  }

  /** So many are not written yet. */
  get held(): number {
    return this.#ids.length;
  }

  /** Flows run again: who was to get reports and was replaced gets them in this call, too. */
  resumed(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#countLater();
  }

  #countLater(): void {
    if (!this.#isCounted) {
      this.#isCounted = true;
      whenPassedOn(this);
    }
  }

  #writeUpTo(count: number): void {
    const due = count - this.#written;
    if (due > 0) {
      const ids = this.#ids;
      this.#ids = ids.splice(due);
      this.#written = count;
      this.#write(pubackOf(ids), true);
    }
  }
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
