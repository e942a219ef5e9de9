// Who of a watched network is there, who is watched, and who would show that a gateway is: for the oracle of watches.
import type { WatchSettings } from '../../src/network/watch-context.ts';
import type { History } from './watch-plan.ts';
import { Target } from './watch-target.ts';

export class WatchField {
  readonly #history: History;
  readonly targets = new Map<string, Target>();
  settings: Pick<WatchSettings, 'gateways' | 'devices'> = { gateways: [], devices: [] };

  constructor(history: History) {
    this.#history = history;
    for (const { id, every, jitter, ways } of history.devices) {
      if (!history.gateways.includes(id)) {
        this.targets.set(id, new Target(id, 'device', every, jitter, ways));
      }
    }
    for (const id of history.gateways) {
      this.gateway(id);
    }
  }

  /** Nobody who is there hears it. */
  isUnreachable({ id, kind, ways }: Target): boolean {
    if (kind === 'gateway') {
      return !this.hasReporters(id, undefined);
    }
    return ways.every(({ gateway }) => this.gateway(gateway).isAway || !this.isSubscribed(id, gateway));
  }

  isWatched({ id, kind, ways }: Target): boolean {
    return kind === 'gateway'
      ? this.isWatchedGateway(id)
      : ways.some(({ gateway }) => this.isSubscribed(id, gateway));
  }

  isWatchedGateway(id: string): boolean {
    const { gateways, devices } = this.settings;
    return devices.length === 0 && (gateways.length === 0 || gateways.includes(id));
  }

  isSubscribed(device: string, gateway: string): boolean {
    const { gateways, devices } = this.settings;
    return (
      (gateways.length === 0 || gateways.includes(gateway)) &&
      (devices.length === 0 || devices.includes(device))
    );
  }

  isOnly(device: string, gateway: string): boolean {
    return (
      this.gateway(gateway).reporters.size <= 1 &&
      [...this.gateway(gateway).reporters].every((id) => id === device)
    );
  }

  /** Somebody who lives reports through it. */
  hasReporters(gateway: string, but: string | undefined): boolean {
    return this.reportersOf(gateway, but).length > 0;
  }

  reportersOf(gateway: string, but: string | undefined): number[] {
    const own = this.#history.devices.find(({ id }) => id === gateway);
    const found = own && !this.gateway(gateway).isDead ? [own.every] : [];
    for (const { id, kind, isDead, ways, every } of this.targets.values()) {
      const way = ways.find((one) => one.gateway === gateway);
      if (kind === 'device' && !isDead && id !== but && way) {
        found.push((every * 1.15) / way.share);
      }
    }
    return found;
  }

  reportsWithinMs(gateway: string, but: string): number {
    const leavers = [...this.targets.values()].filter(
      ({ id, isDead, ways, waysBefore }) =>
        id !== but &&
        (waysBefore.includes(gateway) || (isDead && ways.some((way) => way.gateway === gateway))),
    );
    // Its pauses may have become absences: "their habit when three of them came within 90 minutes, or six in a day"
    const fewestMs = Math.min(...this.reportersOf(gateway, but));
    const isThinner = leavers.length > 0 || fewestMs > (this.targets.get(but)?.every ?? 0);
    return (isThinner ? 8 : 2) * fewestMs;
  }

  gateway(id: string): Target {
    const known = this.targets.get(id);
    if (known) {
      return known;
    }
    const added = new Target(id, 'gateway', 0, 0, []);
    this.targets.set(id, added);
    return added;
  }
}
