// Lives one history with the objects that a session drives, and shows an oracle what was sent, heard and told.
import type { OpenWatch } from '../../src/network/device-watches.ts';
import type { ConditionChange, WatchSettings } from '../../src/network/watch-context.ts';
import { SETTINGS, World } from '../network/watched-world.ts';
import { WatchOracle } from './watch-oracle.ts';
import {
  type FaultKind,
  type FilterKind,
  type History,
  historyOf,
  type Plan,
  type PlannedDevice,
  type PlannedFault,
  S,
  successorOf,
} from './watch-plan.ts';

const OWNER = 'n';
const MAX_STORED = 10_000;
/** As the service does it. */
const WRITE_INTERVAL_MS = 30 * S;
/** For so long nodes are replaced in a deploy, and the connection is opened anew where it is the service's. */
const DEPLOY_MS = 2 * S;
const DEPLOYS: ReadonlySet<FaultKind> = new Set(['deploy', 'service', 'filter']);
/** What does not end, or may come to several at once. */
const LASTING: ReadonlySet<FaultKind> = new Set(['gateway-dies', 'replaced', 'dies', 'moves']);

interface Device extends PlannedDevice {
  ways: PlannedDevice['ways'];
  isDead: boolean;
  /** By each way: how many reports in a row it has not brought. */
  missed: number[];
}

interface Report {
  gateway: string;
  device: string;
}

export class WatchLife {
  readonly #history: History;
  readonly #world = new World();
  readonly oracle: WatchOracle;
  readonly #plan: Plan;
  readonly #start = this.#world.time;
  readonly #devices: Map<string, Device>;
  readonly #away = new Set<string>();
  readonly #gone = new Set<string>();
  readonly #followed = new Set<string>();
  #filter: FilterKind;
  #watch: OpenWatch;
  #stored: unknown;
  #changedAt: number | undefined;
  #isUp = true;
  #hasBroker = true;
  reports = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#history = historyOf(plan);
    this.#filter = plan.watch.filter;
    this.#devices = new Map(
      this.#history.devices.map((one) => [one.id, { ...one, isDead: false, missed: one.ways.map(() => 0) }]),
    );
    this.oracle = new WatchOracle(this.#history, plan.watch);
    this.#watch = this.#open();
    this.oracle.filtered(this.#settings);
  }

  /** @throws where something else is told than the oracle permits or demands */
  run(): void {
    for (const { at, run } of this.#events()) {
      this.#pass(at);
      run();
    }
    this.#pass(this.#history.until);
    this.oracle.ended(this.#watch.active());
  }

  #events(): { at: number; run: () => void }[] {
    const events: { at: number; run: () => void }[] = [];
    for (const { id, sends } of this.#devices.values()) {
      for (const { at, isLost } of sends) {
        events.push({ at, run: () => this.#send(this.#devices.get(id) as Device, isLost) });
      }
    }
    const busyUntil = new Map<string, number>();
    for (const fault of this.#history.faults) {
      const { at, kind, gateway } = fault;
      const until = DEPLOYS.has(kind) ? at + DEPLOY_MS : fault.until;
      const isOfNodeRed = DEPLOYS.has(kind) || kind === 'restart' || kind === 'kill';
      const place = isOfNodeRed ? 'Node-RED' : kind === 'away' ? gateway : kind;
      // What is away already does not go once more.
      if (!LASTING.has(kind) && at <= (busyUntil.get(place) ?? 0)) {
        continue;
      }
      busyUntil.set(place, until);
      events.push({ at, run: () => this.#begin(fault) });
      const end = this.#endOf(fault);
      if (end) {
        events.push({ at: until, run: end });
      }
    }
    return events.sort((one, other) => one.at - other.at);
  }

  #endOf({ kind, gateway }: PlannedFault): (() => void) | undefined {
    const ends: Partial<Record<FaultKind, () => void>> = {
      restart: () => this.#startNodeRed(),
      kill: () => this.#startNodeRed(),
      broker: () => this.#setBroker(true),
      away: () => this.#setAway(gateway, false),
      replaced: () => this.#replace(gateway),
    };
    return ends[kind];
  }

  #begin({ kind, gateway, device, to }: PlannedFault): void {
    this.oracle.log(`${kind} ${['dies', 'moves'].includes(kind) ? device : gateway}`);
    const begin: Record<FaultKind, () => void> = {
      restart: () => this.#stopNodeRed(false),
      kill: () => this.#stopNodeRed(true),
      broker: () => this.#setBroker(false),
      away: () => this.#setAway(gateway, true),
      'gateway-dies': () => this.#lose(gateway),
      replaced: () => this.#lose(gateway),
      dies: () => this.#kill(device),
      moves: () => this.#move(device, to),
      filter: () => {
        this.#filter = this.#filter === 'all' ? 'gateways' : 'all';
        this.#deploy();
      },
      deploy: () => this.#deploy(),
      service: () => this.#deployService(),
    };
    begin[kind]();
  }

  /** Lets the time pass, and writes the store in it as the service does. */
  #pass(at: number): void {
    const end = this.#start + at;
    if (this.#changedAt !== undefined && this.#changedAt + WRITE_INTERVAL_MS <= end) {
      this.#wait(this.#changedAt + WRITE_INTERVAL_MS);
      this.#write();
    }
    this.#wait(end);
  }

  #wait(until: number): void {
    this.#world.wait(Math.max(0, until - this.#world.time));
    this.oracle.passed(this.#world.time - this.#start);
  }

  #write(): void {
    this.#stored = JSON.parse(JSON.stringify(this.#world.watches.store(MAX_STORED)));
    this.#changedAt = undefined;
    this.oracle.stored();
  }

  #send(device: Device, isLost: boolean): void {
    if (device.isDead || isLost) {
      return;
    }
    for (const [i, { gateway, share }] of device.ways.entries()) {
      const missed = (device.missed[i] ?? 0) + 1;
      // So many in a row are missed where it brings one in five, and none where it brings all.
      const isBrought = missed * share >= 1 - 1e-9;
      device.missed[i] = isBrought ? 0 : missed;
      if (isBrought && !this.#away.has(gateway) && !this.#gone.has(gateway)) {
        this.#bring({ gateway, device: device.id });
      }
    }
  }

  #bring(report: Report): void {
    if (this.#isUp && this.#hasBroker && this.#isSubscribed(report)) {
      this.reports++;
      this.oracle.hears(report);
      this.#world.hear('heartbeat', {}, report);
      this.oracle.heard(report);
    }
  }

  #isSubscribed({ gateway, device }: Report): boolean {
    const { gateways, devices } = this.#settings;
    const passes = gateways.length === 0 || gateways.includes(gateway);
    const isOfList = devices.length === 0 || devices.includes(device) || this.#followed.has(gateway);
    return this.#plan.watch.hearsEverything || (passes && isOfList);
  }

  get #settings(): WatchSettings {
    const { gateways, devices } = this.#history;
    const { conditions } = this.#plan.watch;
    const firstOnes = (all: readonly string[]) => all.slice(0, Math.ceil(all.length / 2));
    return {
      ...SETTINGS,
      conditions,
      silentAfter: this.#history.silentAfter / S,
      gateways: this.#filter === 'gateways' ? firstOnes(gateways) : [],
      devices: this.#filter === 'devices' ? firstOnes(devices.map(({ id }) => id)) : [],
    };
  }

  #open(): OpenWatch {
    this.#followed.clear();
    this.#world.watches.onChange = () => {
      this.#changedAt ??= this.#world.time;
    };
    return this.#world.watches.open(OWNER, this.#settings, {
      changed: (change: ConditionChange) => this.oracle.told(change, this.#world.time - this.#start),
      counted() {},
      full() {},
      follow: (gateway) => void this.#followed.add(gateway),
    });
  }

  #listen(): void {
    const isListening = this.#isUp && this.#hasBroker;
    this.#world.listen(isListening);
    this.oracle.listens(isListening);
  }

  #setBroker(isThere: boolean): void {
    this.#hasBroker = isThere;
    if (this.#isUp) {
      this.#listen();
    }
  }

  #setAway(gateway: string, isAway: boolean): void {
    this.#away[isAway ? 'add' : 'delete'](gateway);
    this.oracle.away(gateway, isAway || this.#gone.has(gateway));
  }

  #lose(gateway: string): void {
    this.#gone.add(gateway);
    this.oracle.away(gateway, true);
    this.oracle.died(gateway);
    // One that reports itself does so no more.
    const itself = this.#devices.get(gateway);
    if (itself) {
      itself.isDead = true;
    }
  }

  #replace(gateway: string): void {
    for (const device of this.#devices.values()) {
      if (device.id !== gateway && device.ways.some((way) => way.gateway === gateway)) {
        device.ways = device.ways.map((way) =>
          way.gateway === gateway ? { ...way, gateway: successorOf(gateway) } : way,
        );
        this.oracle.moved(device.id, device.ways);
      }
    }
  }

  #kill(id: string): void {
    const device = this.#devices.get(id);
    if (device) {
      device.isDead = true;
      this.oracle.died(id);
    }
  }

  #move(id: string, to: string): void {
    const device = this.#devices.get(id);
    if (device && device.ways[0]?.gateway !== to) {
      device.ways = [{ gateway: to, share: 1 }];
      device.missed = [0];
      this.oracle.moved(id, device.ways);
    }
  }

  #stopNodeRed(isKilled: boolean): void {
    if (!isKilled) {
      this.#write();
    }
    this.#changedAt = undefined;
    this.#isUp = false;
    this.oracle.listens(false);
    this.#world.startAnew();
  }

  #startNodeRed(): void {
    this.#isUp = true;
    this.oracle.started();
    this.#watch = this.#open();
    this.#world.watches.restore(structuredClone(this.#stored));
    this.oracle.restored(this.#watch.active());
    this.#listen();
    this.#world.watches.setPaused(false);
  }

  #deploy(): void {
    this.#world.watches.setPaused(true);
    this.#watch.close(true);
    this.#wait(this.#world.time + DEPLOY_MS);
    this.#reopen();
  }

  #deployService(): void {
    this.oracle.listens(false);
    const before = this.#world.startAnew();
    this.#world.network.takeOver(before.network);
    this.#world.watches.takeOver(before.watches);
    this.#watch.close(true);
    this.#wait(this.#world.time + DEPLOY_MS);
    this.#reopen();
  }

  #reopen(): void {
    this.#watch = this.#open();
    this.#listen();
    this.#world.watches.setPaused(false);
    this.oracle.filtered(this.#settings, this.#watch.active());
  }
}
