// Which of what a watch looks after are gateways: for their reports, for a list, for a label, or for what was known before.
import type { Presence } from '../protocol/conditions.ts';
import type { GatewayState } from './device-state.ts';
import type { NetworkState } from './network-state.ts';
import type { WatchScope } from './watch-scope.ts';
import { becomes, knownGatewaysOf, type StoredWatched, type Watched } from './watched.ts';

export class WatchKinds {
  readonly #network: NetworkState;
  readonly #scope: WatchScope;

  constructor(network: NetworkState, scope: WatchScope) {
    this.#network = network;
    this.#scope = scope;
  }

  /** A device may carry the label, too: what is heard only through others is none. */
  isGuess(entry: Readonly<Watched>): boolean {
    return this.#scope.isGuess(entry) && !this.hasBrought(entry);
  }

  /** It is a gateway, also where its line is down and others hear it. */
  hasBrought({ id, kind, gatewayState, hasBrought }: Readonly<Watched>): boolean {
    const isKnown = gatewayState !== undefined || this.#stateOf(id) !== undefined;
    return kind === 'gateway' && (hasBrought || isKnown);
  }

  /** Whether others have heard it as a device while it was not watched as a gateway, for which it was known. */
  isGatewayAgain(entry: Readonly<Watched>, before: Readonly<Watched>): boolean {
    return entry.kind === 'device' && before.kind === 'gateway' && !this.isGuess(before);
  }

  /** What a device is by the reports that have come so far. */
  kindOf(device: string): Presence['kind'] {
    const isGateway = this.#stateOf(device) !== undefined && this.#scope.isOwnGateway(device);
    return isGateway ? 'gateway' : 'device';
  }

  /** It brings reports; another gateway may have heard it as a device before. @returns whether it was one */
  brings(entry: Watched | undefined): boolean {
    if (entry?.kind !== 'device' || !this.#scope.isOwnGateway(entry.id)) {
      return false;
    }
    becomes(entry, 'gateway');
    return true;
  }

  /** It may have brought reports before it was watched as a gateway. */
  recallState(entry: Watched): void {
    if (entry.kind === 'gateway') {
      entry.gatewayState ??= this.#stateOf(entry.id);
      entry.hasBrought ||= entry.gatewayState !== undefined;
    }
  }

  /** Something has heard what was taken for a gateway. @returns whether it is a device of the watch, as which it goes on */
  heardAsDevice(entry: Watched, gateway: string): boolean {
    if (!this.#scope.passes(entry.id, gateway)) {
      return false;
    }
    becomes(entry, 'device');
    return true;
  }

  /** As what it goes on. */
  kindOfKept(before: Readonly<Watched>): Presence['kind'] {
    if (this.#scope.isLeftOut(before.id)) {
      return 'device';
    }
    const isHeard = knownGatewaysOf(before).some((gateway) => this.#scope.passes(before.id, gateway));
    return this.isGuess(before) && (isHeard || this.#scope.isListed(before.id)) ? 'device' : before.kind;
  }

  /** Takes what a store has of it, which may come later than reports and the list of devices. */
  restore(entry: Watched, kind: Presence['kind'], known: Omit<StoredWatched, 'alarms'>): void {
    const isStoredGuess = !known.hasBrought && this.#scope.isGuess({ id: entry.id, kind });
    const isGuessed = isStoredGuess && (entry.state !== undefined || this.#scope.isListed(entry.id));
    const isGateway = kind === 'gateway' && !isGuessed && !this.#scope.isLeftOut(entry.id);
    if (this.isGuess(entry) || isGateway) {
      becomes(entry, kind);
    }
    const { isExpected, hasBrought } = entry;
    Object.assign(entry, known);
    entry.isExpected ||= isExpected;
    entry.hasBrought ||= hasBrought;
    if (entry.kind !== kind) {
      entry.storedIntervalMs = undefined;
    }
  }

  /** One that was taken away is none before it is heard again. */
  #stateOf(id: string): Readonly<GatewayState> | undefined {
    return this.#scope.forgotten.has(id) ? undefined : this.#network.gateway(id);
  }
}
