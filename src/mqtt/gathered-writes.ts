// Packets to the broker that leave together, in one write: system calls cost more than the packets.
import type { MqttClient } from 'mqtt';

type Stream = MqttClient['stream'];

/** Half of what Mosquitto lets a client leave unacknowledged by default, so that it never waits for us. */
const MOST_GATHERED = 10;

/**
 * Holds what is written until the end of this turn of the event loop. Acknowledgements alone wait on as long as each
 * turn brings more of them, up to a bound: nobody waits for a single one.
 */
export class GatheredWrites {
  #stream: Stream | undefined;
  #count = 0;
  #before = 0;
  #isUrgent = false;
  readonly #turn = (): void => {
    const isQuiet = this.#count === this.#before;
    if (isQuiet || this.#isUrgent || this.#count >= MOST_GATHERED) {
      this.#release();
    } else {
      this.#before = this.#count;
      setImmediate(this.#turn);
    }
  };

  /** Call before a packet is written. @param isUrgent somebody waits for it: it leaves with this turn */
  gather(stream: Stream, isUrgent: boolean): void {
    if (this.#stream !== stream) {
      const isScheduled = this.#stream !== undefined;
      this.#release();
      this.#stream = stream;
      stream.cork();
      if (!isScheduled) setImmediate(this.#turn);
    }
    this.#count++;
    if (isUrgent) this.#isUrgent = true;
  }

  #release(): void {
    this.#stream?.uncork();
    this.#stream = undefined;
    this.#count = 0;
    this.#before = 0;
    this.#isUrgent = false;
  }
}
