// A watch with the subscriptions that it needs: of its devices, of the gateways that bring them, and by labels.
import type { SharedUses } from '../collections/shared-uses.ts';
import type { Phrase } from '../errors.ts';
import type { DeviceWatches, OpenWatch } from '../network/device-watches.ts';
import { hearsEverything, type WatchListener, type WatchSettings } from '../network/watch-context.ts';
import { parseMac } from '../protocol/mac.ts';
import { readMac } from '../protocol/operations/request.ts';
import type { LabelState } from './label-filter.ts';
import type { ReportFilter } from './report-filter.ts';
import type { Subscriber } from './subscribers.ts';
import { gatewayFilter, watchFilters } from './watch-filters.ts';

/** With more gateways everything is subscribed: so many filters cost the broker more than the reports. */
const MAX_FOLLOWED = 100;

export interface DeviceWatcher extends Omit<WatchListener, 'follow'> {
  /** Called with the state of the labels, if there are some. */
  labels?(state: LabelState): void;
}

export interface WatchingContext {
  watches: DeviceWatches;
  /** What several watches want, by the filter. */
  shared: SharedUses;
  /** @throws ServiceError as `Session.subscribe` */
  subscribe(filter: ReportFilter, subscriber: Subscriber): () => void;
  refusalOf(filters: readonly ReportFilter[]): Phrase | undefined;
  /** Of the last known list; undefined without one. */
  gatewaysWithLabels(labels: readonly string[]): ReadonlySet<string> | undefined;
}

export interface WatchedDevices extends Omit<OpenWatch, 'setLabelled' | 'forget'> {
  /**
   * A gateway or a device was taken away: what was told of it ends, and it is not watched before it is heard again.
   * @param mac in any spelling
   * @throws ServiceError `INVALID_INPUT` (`forget`)
   */
  forget(mac: unknown): void;
  /** Why the broker has refused subscriptions that this watch needs; undefined: it has not. */
  readonly refusal: Phrase | undefined;
}

/**
 * @param owner by this name the watch is known again after a deploy and a restart
 * @throws ServiceError as `Session.subscribe`
 */
export function watchDevices(
  context: WatchingContext,
  settings: WatchSettings,
  watcher: DeviceWatcher,
  owner: string,
): WatchedDevices {
  const subscriptions = new WatchSubscriptions(context, settings, watcher);
  const macs = (values: readonly string[]) => values.flatMap((value) => parseMac(value) ?? []);
  const known = { ...settings, gateways: macs(settings.gateways), devices: macs(settings.devices) };
  const watch = context.watches.open(owner, known, {
    changed: (change) => watcher.changed(change),
    counted: () => watcher.counted(),
    full: (unrestored) => watcher.full(unrestored),
    follow: (gateway) => subscriptions.follow(gateway),
  });
  subscriptions.setWatch(watch);
  return {
    get counts() {
      return watch.counts;
    },
    get refusal() {
      return subscriptions.refusal;
    },
    active: () => watch.active(),
    firstActive: (limit) => watch.firstActive(limit),
    forget: (mac) => watch.forget(readMac('forget', mac)),
    close(comesBack) {
      subscriptions.close();
      watch.close(comesBack);
    },
  };
}

class WatchSubscriptions {
  readonly #context: WatchingContext;
  readonly #settings: WatchSettings;
  readonly #watcher: DeviceWatcher;
  readonly #filters: ReportFilter[] = [];
  readonly #ends: (() => void)[] = [];
  #watch: OpenWatch | undefined;
  #areLabelsKnown = false;
  #followed = 0;
  /** Gateways that are subscribed together. */
  #toFollow: string[] = [];
  #isClosed = false;

  constructor(context: WatchingContext, settings: WatchSettings, watcher: DeviceWatcher) {
    this.#context = context;
    this.#settings = settings;
    this.#watcher = watcher;
    const { conditions, gateways, devices, labels } = settings;
    try {
      for (const filter of watchFilters(conditions, { gateways, devices, labels })) {
        this.#subscribe(filter);
      }
      // What tells a silent device from a silent gateway is what the gateway brings of others.
      if (devices.length > 0 && gateways.length > 0 && hearsEverything(conditions)) {
        this.#subscribe(gatewayFilter(gateways, labels));
      }
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get refusal(): Phrase | undefined {
    return this.#context.refusalOf(this.#filters);
  }

  setWatch(watch: OpenWatch): void {
    this.#watch = watch;
    this.#setLabelled();
  }

  /** Hears all of a gateway that has brought a device of the list. */
  follow(gateway: string): void {
    const { gateways, conditions } = this.#settings;
    if (gateways.length > 0 || !hearsEverything(conditions) || this.#followed >= MAX_FOLLOWED) {
      return;
    }
    this.#followed++;
    this.#toFollow.push(gateway);
    if (this.#toFollow.length === 1) {
      // Not in the middle of the report that has told of it.
      setImmediate(() => this.#followAll());
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends.splice(0)) {
      end();
    }
  }

  #followAll(): void {
    const gateways = this.#toFollow;
    this.#toFollow = [];
    if (!this.#isClosed) {
      const all = this.#followed >= MAX_FOLLOWED;
      this.#subscribe(gatewayFilter(all ? [] : gateways, this.#settings.labels));
    }
  }

  #subscribe(filter: ReportFilter): void {
    const { shared, subscribe } = this.#context;
    const begin = () =>
      subscribe(filter, {
        takesNone: true,
        // The state of the network records it, and tells the watches.
        report() {},
        error() {},
        labels: (state) => this.#labelsChanged(state),
      });
    // Where there are labels each watch is told of them.
    const end = filter.labels.length > 0 ? begin() : shared.use(JSON.stringify(filter), begin);
    this.#filters.push(filter);
    this.#ends.push(end);
  }

  #labelsChanged(state: LabelState): void {
    this.#areLabelsKnown = state.name !== 'waiting';
    this.#setLabelled();
    this.#watcher.labels?.({ ...state, lost: 0 });
  }

  #setLabelled(): void {
    const { labels } = this.#settings;
    const gateways = this.#areLabelsKnown ? this.#context.gatewaysWithLabels(labels) : undefined;
    if (gateways) {
      this.#watch?.setLabelled(gateways);
    }
  }
}
