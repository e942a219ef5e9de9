// The gateways whose silence a watch of listed devices tells apart from that of its devices: it asks for all they bring.
import type { WatchListener } from './watch-context.ts';
import type { WatchScope } from './watch-scope.ts';
import type { Watched } from './watched.ts';

/** Gateways of listed devices; see `WatchListener.follow`. */
const MAX_FOLLOWED = 1_000;

export class FollowedGateways {
  readonly #scope: WatchScope;
  readonly #listener: WatchListener;
  readonly #ids = new Set<string>();

  constructor(scope: WatchScope, listener: WatchListener) {
    this.#scope = scope;
    this.#listener = listener;
  }

  /** One of them has brought a report. */
  heard(gateway: string): void {
    if (this.#scope.hasDevices && this.#scope.isOwnGateway(gateway)) {
      this.#follow(gateway);
    }
  }

  /** Those that are known to bring its reports. */
  followThoseOf(entry: Watched): void {
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
