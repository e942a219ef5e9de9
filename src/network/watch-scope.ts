// Whom a watch looks after, by its lists and by the labels of gateways.
import { type Link, lastHeard, mostUsed } from './links.ts';
import { hearsEverything, type WatchSettings } from './watch-context.ts';
import { gatewayOf, knownGatewaysOf, limitOf, type Watched } from './watched.ts';

export class WatchScope {
  readonly #settings: WatchSettings;
  readonly #gateways: ReadonlySet<string>;
  readonly #devices: ReadonlySet<string>;
  readonly watchesGateways: boolean;
  /** Of the labels; undefined while they are not known. */
  #labelled: ReadonlySet<string> | undefined;
  /** Gateways that were taken away, and not heard since. */
  readonly #forgotten = new Set<string>();

  constructor(settings: WatchSettings) {
    this.#settings = settings;
    this.#gateways = new Set(settings.gateways);
    this.#devices = new Set(settings.devices);
    this.watchesGateways = settings.conditions.includes('gateway-silent');
  }

  /** What it hears; of what one watch does not hear it knows no silence. */
  get filter(): string {
    const { gateways, devices, labels, conditions } = this.#settings;
    return JSON.stringify([gateways, devices, labels, hearsEverything(conditions)]);
  }

  get hasDevices(): boolean {
    return this.#devices.size > 0;
  }

  /** Gateways that carry a label are missed also when nothing of them is ever heard. */
  get expectsLabelled(): boolean {
    return this.watchesGateways && this.#settings.labels.length > 0 && !this.hasDevices;
  }

  isListed(device: string): boolean {
    return this.#devices.has(device);
  }

  /** @returns those that had none of the labels before; undefined: all are the same as before */
  setLabelled(gateways: ReadonlySet<string>): string[] | undefined {
    const before = this.#labelled;
    const added = [...gateways].filter((id) => before?.has(id) !== true);
    if (added.length === 0 && before?.size === gateways.size) {
      return undefined;
    }
    this.#labelled = gateways;
    return added;
  }

  /** By the gateway that brought a report of the device. */
  passes(device: string, gateway: string): boolean {
    return (!this.hasDevices || this.#devices.has(device)) && this.isOwnGateway(gateway);
  }

  isOwnGateway(gateway: string): boolean {
    const isListed = this.#gateways.size === 0 || this.#gateways.has(gateway);
    return isListed && (this.#settings.labels.length === 0 || this.#labelled?.has(gateway) === true);
  }

  /** Listed as a device, and not among the gateways that are listed: nobody asks for what it may bring. */
  isLeftOut(id: string): boolean {
    return this.#devices.has(id) && this.#gateways.size > 0 && !this.#gateways.has(id);
  }

  /** It is taken for a gateway, perhaps for a label or a list of before, and the list of gateways does not say so. */
  isGuess({ id, kind }: Pick<Watched, 'id' | 'kind'>): boolean {
    return kind === 'gateway' && !this.#gateways.has(id);
  }

  /** Nobody tells the silence of this gateway, and perhaps nobody listens to it any more. */
  isOutside(gateway: string): boolean {
    return this.#forgotten.has(gateway) || !this.#mayPass(gateway);
  }

  get forgotten(): ReadonlySet<string> {
    return this.#forgotten;
  }

  forgetGateway(id: string): void {
    this.#forgotten.add(id);
  }

  heardGateway(id: string): void {
    this.#forgotten.delete(id);
  }

  /** By which it belongs here: of those that have heard it the last one whose reports pass, where any is known. */
  gatewayOf(entry: Readonly<Watched>): string | undefined {
    const own = lastHeard(this.#linksOf(entry))?.gateway;
    if (own !== undefined) {
      return own;
    }
    // By one outside, what is not listed would not belong here any more after a restart.
    const isNone = (gateway: string) =>
      this.isListed(entry.id) ? this.#forgotten.has(gateway) : this.isOutside(gateway);
    const others = [entry.chosenBy, entry.storedGateway, gatewayOf(entry), entry.storedMainGateway];
    return others.find((gateway) => gateway !== undefined && !isNone(gateway));
  }

  /** That has heard it last of those by which it belongs here, where that was taken away. */
  takenGatewayOf({
    state,
    chosenBy,
    storedGateway,
    storedMainGateway,
  }: Readonly<Watched>): string | undefined {
    const links = state?.links.filter(({ gateway }) => this.#mayPass(gateway)) ?? [];
    const known = [chosenBy, lastHeard(links)?.gateway, storedGateway, storedMainGateway];
    const last = known.find((gateway) => gateway !== undefined && this.#mayPass(gateway));
    return last !== undefined && this.#forgotten.has(last) ? last : undefined;
  }

  /** Where a condition of it is told to be: one that passes, where any has heard it. */
  placeOf(entry: Readonly<Watched>): string | undefined {
    return lastHeard(this.#linksOf(entry))?.gateway ?? gatewayOf(entry);
  }

  /** Of these the one that brings most of it, where it has brought any lately. */
  mainGatewayOf(entry: Readonly<Watched>): string | undefined {
    const own = this.#linksOf(entry);
    const since = (lastHeard(own)?.heardAt ?? 0) - (limitOf(entry, this.#settings) ?? 0);
    const recent = own.filter(({ heardAt }) => heardAt >= since);
    return own.length > 0
      ? mostUsed(entry.state?.links ?? [], recent)?.gateway
      : this.#remembered(entry.storedMainGateway);
  }

  /**
   * Where devices are listed: all that may bring it and, of a gateway, itself. One that is watched and not followed
   * would be taken for silent. While the labels are not known, those that carried one before.
   */
  gatewaysToFollow(entry: Readonly<Watched>): string[] {
    if (!this.hasDevices) {
      return [];
    }
    const { id, kind, storedGateway, storedMainGateway } = entry;
    const before = [kind === 'gateway' ? id : undefined, storedGateway, storedMainGateway];
    const known = before.filter((gateway) => gateway !== undefined && this.#mayPass(gateway)) as string[];
    return [...known, ...this.#linksOf(entry).map(({ gateway }) => gateway)];
  }

  /** Only what some gateways bring belongs here. */
  get #hasGateways(): boolean {
    return this.#gateways.size > 0 || this.#settings.labels.length > 0;
  }

  get #areLabelsKnown(): boolean {
    return this.#settings.labels.length === 0 || this.#labelled !== undefined;
  }

  /** While the labels are not known nobody can tell. */
  #mayPass(gateway: string): boolean {
    return !this.#areLabelsKnown || this.isOwnGateway(gateway);
  }

  #linksOf({ state }: Readonly<Watched>): Link[] {
    return (
      state?.links.filter(({ gateway }) => this.isOwnGateway(gateway) && !this.#forgotten.has(gateway)) ?? []
    );
  }

  #remembered(gateway: string | undefined): string | undefined {
    return gateway !== undefined && this.#forgotten.has(gateway) ? undefined : gateway;
  }

  /** Whether it still passes; while the labels are not known nobody can tell. */
  isChosen(entry: Watched): boolean {
    const { id, kind, state, alarms } = entry;
    if (this.#devices.has(id) || (kind === 'device' && this.hasDevices)) {
      return this.#devices.has(id);
    }
    if (!this.#areLabelsKnown) {
      return true;
    }
    if (kind === 'gateway') {
      const isDevice = !this.hasDevices && (state !== undefined || alarms.length > 0);
      return (this.watchesGateways || isDevice) && this.isOwnGateway(id);
    }
    return !this.#hasGateways || knownGatewaysOf(entry).some((gateway) => this.isOwnGateway(gateway));
  }
}
