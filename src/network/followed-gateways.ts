// The gateways whose silence a watch of listed devices tells apart from that of its devices: it asks for all they bring.
import type { NetworkState } from './network-state.ts';
import type { WatchListener } from './watch-context.ts';
import type { WatchScope } from './watch-scope.ts';
import type { Watched } from './watched.ts';

/** Gateways of listed devices; see `WatchListener.follow`. */
const MAX_FOLLOWED = 1_000;

export class FollowedGateways {
  readonly #network: NetworkState;
  readonly #scope: WatchScope;
  readonly #listener: WatchListener;
  readonly #ids = new Set<string>();

  constructor(network: NetworkState, scope: WatchScope, listener: WatchListener) {
    this.#network = network;
    this.#scope = scope;
    this.#listener = listener;
  }

  /** It has brought a report of one that is watched. */
  heard(gateway: string): void {
    if (this.#scope.hasDevices && this.#scope.isOwnGateway(gateway)) {
      this.#follow(gateway);
    }
  }

  /** One of the list may be a gateway that reports nothing of itself: what it brings for anybody shows that. */
  noteListed(id: string): void {
    if (this.#scope.isListed(id) && this.#network.gateway(id)) {
      this.heard(id);
    }
  }

  /** Those that are known to bring its reports. */
  followThoseOf(entry: Watched): void {
    this.noteListed(entry.id);
    for (const gateway of this.#scope.gatewaysToFollow(entry)) {
      this.#follow(gateway);
    }
  }

  #follow(gateway: string): void {
    if (!this.#ids.has(gateway) && this.#ids.size < MAX_FOLLOWED) {
      this.#ids.add(gateway);
      this.#listener.follow(gateway);
    }
  }
}
