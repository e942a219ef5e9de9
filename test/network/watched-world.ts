// A network with watches whose clock a test moves.
import { DeviceWatches } from '../../src/network/device-watches.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import type { WatchedPlace, WatchSettings } from '../../src/network/watch-context.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import type { Condition } from '../../src/protocol/conditions.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';

export const G = 'c0141f68fc3d';
export const G2 = 'c0141f68fc3e';
export const D = 'd00000000001';
export const TIME = '2026-01-02T03:04:05.678Z';
export const S = 1_000;
export const MINUTE = 60 * S;
export const HOUR = 60 * MINUTE;

export const SETTINGS: WatchSettings = {
  gateways: [],
  devices: [],
  labels: [],
  conditions: ['silent', 'gateway-silent'],
  silentAfter: 60,
  batteryBelow: 20,
  batteryFine: 0,
  signalBelow: -85,
};
export const ALL: Condition[] = ['silent', 'gateway-silent', 'error', 'battery-low', 'weak-signal', 'dfu'];

export const deviceAt = (i: number) => (0xd00000000000 + i).toString(16);

/** A network whose clock the test moves. */
export class World {
  time = 1_000;
  network: NetworkState;
  watches: DeviceWatches;
  turns = 0;
  /** Timers that went off. */
  looks = 0;
  /** MACs of devices and gateways of which the broker lets nothing through. */
  refused = new Set<string>();
  #timers = new Set<{ at: number; call: () => void }>();
  #turns: (() => void)[] = [];

  constructor(max?: number) {
    this.network = new NetworkState({ now: () => this.time });
    this.watches = this.#createWatches(max);
    this.listen(true);
    this.watches.setPaused(false);
  }

  get timers(): number {
    return this.#timers.size;
  }

  listen(isListening: boolean): void {
    this.network.setListening(isListening, false);
    this.watches.setListening(isListening);
  }

  /** The broker grants or refuses everything, over a new connection perhaps. */
  settle(): void {
    this.watches.settled(this.refused.size > 0 ? (place) => this.#isRefused(place) : undefined);
  }

  #isRefused({ gateway = '', device = '' }: WatchedPlace): boolean {
    return this.refused.has(device) || this.refused.has(gateway);
  }

  /** Another session; nothing is known but what the caller hands over. */
  startAnew(): { network: NetworkState; watches: DeviceWatches } {
    const before = { network: this.network, watches: this.watches };
    before.watches.close();
    this.network = new NetworkState({ now: () => this.time });
    this.watches = this.#createWatches();
    return before;
  }

  #createWatches(max?: number): DeviceWatches {
    return new DeviceWatches(this.network, createCatalogue(), {
      now: () => this.time,
      startTimer: (call, ms) => {
        const timer = { at: this.time + ms, call };
        this.#timers.add(timer);
        return () => this.#timers.delete(timer);
      },
      nextTurn: (call) => void this.#turns.push(call),
      nameOf: () => undefined,
      isRefused: (place) => this.#isRefused(place),
      ...(max !== undefined && { max }),
    });
  }

  hear(rest = 'heartbeat', body: object = {}, { gateway = G, device = D } = {}): void {
    const report = { time: TIME, ...body } as Report;
    this.network.record(readReportTopic('t', gateway, device, rest), this.time, report);
  }

  /** Lets the time pass, and does what is due in it. */
  wait(ms: number): void {
    const end = this.time + ms;
    this.takeTurns();
    for (;;) {
      const [first] = [...this.#timers].sort((one, other) => one.at - other.at);
      if (first === undefined || first.at > end) {
        break;
      }
      this.time = Math.max(this.time, first.at);
      this.#timers.delete(first);
      this.looks++;
      first.call();
      this.takeTurns();
    }
    this.time = end;
  }

  /** Reports of all of these every so often, for so long. */
  run(ms: number, every: number, devices: readonly { gateway?: string; device?: string }[]): void {
    for (const end = this.time + ms; this.time < end; ) {
      for (const one of devices) {
        this.hear('heartbeat', {}, one);
      }
      this.wait(Math.min(every, end - this.time));
    }
  }

  /** Lets turns of the event loop pass, until nothing is left to do. */
  takeTurns(most = Number.POSITIVE_INFINITY): void {
    for (let taken = 0; taken < most && this.#turns.length > 0; taken++) {
      this.turns++;
      this.#turns.shift()?.();
    }
  }
}
