// Packets to the broker that leave together, in one write: system calls cost more than the packets.
import type { MqttClient } from 'mqtt';

type Stream = MqttClient['stream'];

/** Brokers leave some 10 to 100 packets unacknowledged and then wait, which ends the gathering too: a quiet turn follows. */
const MOST_GATHERED = 64;

/**
 * Holds what is written until a turn of the event loop brings no more of it, or until it is enough: a lone packet
 * leaves with the next turn, many together in few writes.
 */
export class GatheredWrites {
  #stream: Stream | undefined;
  #count = 0;
  #before = 0;
  readonly #turn = (): void => {
    const isQuiet = this.#count === this.#before;
    if (isQuiet || this.#count >= MOST_GATHERED) {
      this.#release();
    } else {
      this.#before = this.#count;
      setImmediate(this.#turn);
    }
  };

  /** Call before a packet is written. */
  gather(stream: Stream): void {
    if (this.#stream !== stream) {
      const isScheduled = this.#stream !== undefined;
      this.#release();
      this.#stream = stream;
      stream.cork();
      if (!isScheduled) setImmediate(this.#turn);
    }
    this.#count++;
  }

  #release(): void {
    this.#stream?.uncork();
    this.#stream = undefined;
    this.#count = 0;
    this.#before = 0;
  }
}
