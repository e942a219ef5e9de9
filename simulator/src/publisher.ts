// Brings traffic to the broker: at a rate, or as much as a program asks for, and unacknowledged samples again.
import { setTimeout as wait } from 'node:timers/promises';
import { type Device, sendsReports } from './fleet.ts';
import type { Network } from './network.ts';
import type { Records } from './records.ts';
import type { SampleBook } from './samples.ts';
import type { Publication, Traffic } from './traffic.ts';

interface Ground {
  network: Network;
  samples: SampleBook;
  traffic: Traffic;
  records: Records;
  now: () => number;
  /** Milliseconds until an unacknowledged sample comes again. */
  ackTimeout: number;
}

const MIN_PUMP_INTERVAL_MS = 20;
const MAX_PUMP_INTERVAL_MS = 1000;
const PROPERTY_PAUSE_MS = 50;
/** So many publications wait for the broker at a time; a broker that stands still stops the flood. */
const BATCH = 500;
/** More cards in a row than come before each kind has had its turn: when no device sends one of them, none can send. */
const MAX_EMPTY_CARDS = 100;
/** Until it is asked again whether a device can send: to ask takes a look at each of them. */
const NOTHING_TO_SEND_MS = 1000;

export class Publisher {
  readonly #ground: Ground;
  #dealt: Publication[] = [];
  #rate = 0;
  #credit = 0;
  #inFlight = 0;
  #lastPump = 0;
  #nothingUntil = 0;
  #pumping: NodeJS.Timeout | undefined;
  #resends: NodeJS.Timeout | undefined;
  #resending = false;
  #stopped = false;
  /** The identifiers of values that were set and are not reported yet. */
  readonly #unheard = new Map<Device, Set<string>>();

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** @param rate reports per second. */
  start(rate: number): void {
    this.setRate(rate);
    const backfillEvery = Math.max(20, Math.min(1000, this.#ground.ackTimeout / 4));
    this.#resends = setInterval(() => this.inBackground(() => this.#resend()), backfillEvery);
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#pumping);
    clearInterval(this.#resends);
  }

  setRate(rate: number): void {
    this.#rate = rate;
    this.#credit = 0;
    this.#lastPump = performance.now();
    clearInterval(this.#pumping);
    if (rate > 0 && !this.#stopped) {
      const every = Math.min(MAX_PUMP_INTERVAL_MS, Math.max(MIN_PUMP_INTERVAL_MS, 1000 / rate));
      this.#pumping = setInterval(() => this.inBackground(() => this.#pump()), every);
    }
  }

  get rate(): number {
    return this.#rate;
  }

  async reports(count: number): Promise<void> {
    await this.#inBatches(count, () => {
      const next = this.#next();
      if (!next) {
        throw new Error('no device of this fleet sends these kinds');
      }
      return next;
    });
  }

  /** Raw and decoded ones in turn, where the fleet has gateways of both modes. */
  async newSamples(count: number): Promise<void> {
    let turn = 0;
    await this.#inBatches(count, () => {
      const { traffic } = this.#ground;
      const [first, second] = turn++ % 2 ? (['decoded', 'raw'] as const) : (['raw', 'decoded'] as const);
      const made = traffic.sample(first)[0] ?? traffic.sample(second)[0];
      if (!made) {
        throw new Error('no device of this fleet sends samples');
      }
      return made;
    });
  }

  /** Does what nobody waits for; its error is an event, for one that is not caught ends the process. */
  inBackground(work: () => unknown): void {
    const done = new Promise((resolve) => resolve(work()));
    done.catch((error: Error) => this.#ground.records.events.emit('failed', error));
  }

  /** Publishes all properties of a device, one after the other, as command 8302 asks for; it is busy meanwhile. */
  async properties(device: Device): Promise<void> {
    try {
      for (const report of this.#ground.traffic.properties(device)) {
        if (!sendsReports(device)) {
          return;
        }
        await this.#send(report);
        await wait(PROPERTY_PAUSE_MS, undefined, { ref: false });
      }
    } finally {
      device.reporting = false;
    }
  }

  /** Publishes a value of a device as it is now, or as soon as the device sends reports and its gateway is there. */
  async value(device: Device, id: string): Promise<void> {
    if (!sendsReports(device)) {
      this.#withdraw(device);
    }
    const unheard = this.#unheard.get(device) ?? new Set();
    this.#unheard.set(device, unheard.add(id));
    await this.#sendUnheard(device);
  }

  async #sendUnheard(device: Device): Promise<void> {
    if (!sendsReports(device) || !device.home.online) {
      return;
    }
    const ids = this.#unheard.get(device) ?? [];
    this.#unheard.delete(device);
    const reports = [...ids].flatMap((id) => this.#ground.traffic.report(device, id));
    await Promise.all(reports.map((report) => this.#send(report)));
  }

  setSilent(device: Device, silent: boolean): void {
    device.silent = silent;
    if (silent) {
      this.#withdraw(device);
    }
  }

  /** What it was about to send. */
  #withdraw({ mac }: Device): void {
    this.#dealt = this.#dealt.filter(({ device }) => device !== mac);
  }

  /** Publishes a sample with this value. */
  async sample(sample: Parameters<Traffic['sampleOf']>[0]): Promise<void> {
    await this.#send(this.#ground.traffic.sampleOf(sample));
  }

  async #inBatches(count: number, next: () => Publication): Promise<void> {
    for (let left = count; left > 0; left -= BATCH) {
      const batch = Array.from({ length: Math.min(left, BATCH) }, () => this.#send(next()));
      await Promise.all(batch);
    }
  }

  /** Undefined where there is no device, or where none sends any of the wanted kinds now. */
  #next(): Publication | undefined {
    for (let tries = 0; this.#dealt.length === 0 && tries < MAX_EMPTY_CARDS; tries++) {
      this.#dealt = this.#ground.traffic.next().reverse();
    }
    return this.#dealt.pop();
  }

  async #send(publication: Publication): Promise<void> {
    const { network, samples, records, now } = this.#ground;
    const { sample, gateway } = publication;
    if (this.#stopped || !gateway.online) {
      records.counts.reports.unpublished++;
      if (sample) {
        samples.keep(sample);
      }
      return;
    }
    try {
      const payload = sample ? samples.send(sample, now()) : publication.payload;
      const topic = network.topicOf(publication);
      await network.publish(gateway, topic, JSON.stringify(payload));
      records.published(topic, publication, payload);
    } catch (error) {
      records.counts.reports.unpublished++;
      records.events.emit('failed', error as Error);
    }
  }

  #pump(): void {
    const time = performance.now();
    this.#credit += (this.#rate * (time - this.#lastPump)) / 1000;
    this.#lastPump = time;
    // A process that was suspended does not catch up with all of it at once.
    this.#credit = Math.min(this.#credit, this.#rate / 2 + 1);
    if (time < this.#nothingUntil) {
      return;
    }
    for (; this.#credit >= 1 && this.#inFlight < this.#rate + BATCH; this.#credit--) {
      const next = this.#next();
      if (!next) {
        this.#nothingUntil = time + NOTHING_TO_SEND_MS;
        return;
      }
      this.#inFlight++;
      void this.#send(next).finally(() => this.#inFlight--);
    }
  }

  async #resend(): Promise<void> {
    if (this.#resending) {
      return;
    }
    this.#resending = true;
    try {
      await this.#sendOverdue();
      await Promise.all([...this.#unheard.keys()].map((device) => this.#sendUnheard(device)));
    } finally {
      this.#resending = false;
    }
  }

  async #sendOverdue(): Promise<void> {
    const due = this.#ground.samples.due(this.#ground.now(), BATCH);
    const reports = due.map((sample): Publication => {
      const { device, identifier, form } = sample;
      const kind = form === 'raw' ? 'timestamped' : 'timestamped-decoded';
      return { gateway: device.home, device: device.mac, kind, identifier, payload: {}, sample };
    });
    // They count as reports of the rate, so that it holds also when nobody acknowledges.
    this.#credit = Math.max(-this.#rate, this.#credit - reports.length);
    await Promise.all(reports.map((report) => this.#send(report)));
  }
}
