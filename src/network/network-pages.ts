// The network as lists for people: gateways, the devices of one of them, or all; sorted, searched and in pages.
import { FifoMap } from '../collections/fifo-map.ts';
import { invalidInput } from '../errors.ts';
import { conditionsOf } from '../protocol/conditions.ts';
import { parseMac } from '../protocol/mac.ts';
import type { NetworkDetails, NetworkRow } from '../protocol/network-row.ts';
import { findWords } from '../protocol/search-words.ts';
import type { DeviceState } from './device-state.ts';
import { chooseGateway, linkOf } from './links.ts';
import { ListedKinds } from './listed-kinds.ts';
import { type Lit, NearDevices } from './near-devices.ts';
import { type ListedDevice, type NetworkSource, type Subject, toDetails, toRow } from './network-rows.ts';
import { isHeard, sortSubjects } from './network-sort.ts';
import { presenceOf } from './presence.ts';

const MAX_ROWS = 1_000;
/** Whoever scrolls asks for one page after the other: all of them are of one order, which costs more than a page. */
const ORDER_AGE_MS = 2_000;
/** One that took long is kept longer: whoever looks at a large list all the time takes a fiftieth of the processor. */
const MAX_SHARE = 50;
const MAX_ORDER_AGE_MS = 10_000;
/**
 * All orders together, whatever is asked for, take a tenth of it in the long run, shared by those who ask, and as much
 * ahead as a person who types.
 */
const MAX_SHARE_OF_ALL = 10;
const MAX_AHEAD_MS = 5_000;
/** Who asked last; of the others it is forgotten what they have taken. */
const MAX_ASKERS = 100;
/** Orders that are kept: few people look at a time. */
const MAX_ORDERS = 8;
/** The gateways as the sidebar begins: one order, which serves everybody while it is kept. */
const FREE = JSON.stringify(['', '', 'name', false]);
const NONE_LIT: ReadonlyMap<string, Lit> = new Map();
/** Every device of every gateway. */
const ANY_PARENT = '*';

export interface PageQuery {
  /** A gateway; `*`: all of them; empty: the gateways themselves. */
  parent: string;
  /** Part of the id, the name or a label, in any case; with all gateways also of the gateway's. */
  text: string;
  /** `name`, `lastSeen`, `rssi` or `battery`, downwards with `-` in front; by anything else: the name. */
  sort: string;
  /** Only those that need somebody, and gateways that hear one. */
  needs: boolean;
  /** Devices that a person may have in the hand stand at the top of a list of devices. */
  near?: boolean;
  offset: number;
  limit: number;
}

export interface NetworkPage {
  total: number;
  /** How many of them nobody has heard: they stand last. */
  unheard: number;
  rows: NetworkRow[];
  order: Order;
}

/** Of which moment the order of a list is, and until when it is kept; in milliseconds of `performance.now()`. */
export interface Order {
  madeAt: number;
  until: number;
}

interface Ordered extends Order {
  subjects: Subject[];
  unheard: number;
}

export class NetworkPages {
  readonly #source: NetworkSource;
  readonly #orders = new Map<string, Ordered>();
  readonly #now: () => number;
  readonly #startTimer: (call: () => void, ms: number) => void;
  #isForgetting = false;
  /** Of each who asks: by then all orders for this one until now will have taken no more than their share. */
  readonly #paidAt = new FifoMap<number>(MAX_ASKERS);
  readonly #near: NearDevices;
  readonly #listedKinds: ListedKinds;

  constructor(source: NetworkSource, { now = () => performance.now(), startTimer = startTimeout } = {}) {
    this.#source = source;
    this.#now = now;
    this.#startTimer = startTimer;
    this.#near = new NearDevices(source.network);
    this.#listedKinds = new ListedKinds(source);
  }

  close(): void {
    this.#near.close();
  }

  /** How many orders are kept. */
  get size(): number {
    return this.#orders.size;
  }

  /**
   * @param asker who it is for: what one asks for is no reason to refuse another
   * @returns undefined while searching and sorting for this one has taken too much of the processor
   * @throws ServiceError `INVALID_INPUT` field `parent` where the parent is no MAC
   */
  page(query: PageQuery, asker = ''): NetworkPage | undefined {
    const lit = query.near && query.parent !== '' ? this.#near.look() : NONE_LIT;
    const found = this.#order(query, asker);
    if (found === undefined) {
      return undefined;
    }
    const { subjects: ordered, unheard, ...order } = found;
    const subjects = lit.size === 0 ? ordered : this.#litFirst(lit, ordered, query);
    const offset = Math.max(0, query.offset);
    const rows = subjects.slice(offset, offset + Math.min(MAX_ROWS, Math.max(0, query.limit)));
    return {
      total: subjects.length,
      unheard,
      rows: rows.map((subject) => toRow(this.#source, subject, lit.get(subject.id))),
      order,
    };
  }

  /** @param id a MAC in any spelling, or a REST id @returns undefined where nothing is known of it */
  details(id: string): NetworkDetails | undefined {
    const { network, listed, allListed } = this.#source;
    const mac = parseMac(id);
    if (mac === undefined) {
      const found = findById(allListed(), id);
      return found && toDetails(this.#source, unheard(found, this.#listedKinds.look()));
    }
    const [device, gateway, known] = [network.device(mac), network.gateway(mac), listed(mac)];
    if (device === undefined && gateway === undefined) {
      return known && toDetails(this.#source, unheard(known, this.#listedKinds.look()));
    }
    const subject = { id: mac, device, gateway, listed: known };
    return gateway
      ? toDetails(this.#source, { ...subject, kind: 'gateway', parent: undefined })
      : toDetails(this.#source, { ...subject, kind: 'device', parent: network.gatewayOf(mac) });
  }

  /** Of one moment for a short while. @returns undefined: none is known, and there is no time for one */
  #order(query: PageQuery, asker: string): Ordered | undefined {
    const { parent, text, sort, needs } = query;
    const key = JSON.stringify([parent, text, sort, needs]);
    const now = this.#now();
    const aheadMs = (this.#paidAt.get(asker) ?? now) - now;
    if (key !== FREE && aheadMs > MAX_SHARE_OF_ALL * MAX_AHEAD_MS) {
      return this.#orders.get(key);
    }
    for (const [other, { until }] of this.#orders) {
      if (now > until || this.#orders.size >= MAX_ORDERS) {
        this.#orders.delete(other);
      }
    }
    const known = this.#orders.get(key);
    if (known) {
      return known;
    }
    const subjects = parent === '' ? this.#gateways() : this.#devices(parent);
    const sorted = sortSubjects(this.#source, this.#chosen(subjects, query), sort);
    const unheard = sorted.reduce((count, subject) => count + Number(!isHeard(subject)), 0);
    const end = this.#now();
    if (key !== FREE) {
      this.#pay(asker, now, end - now);
    }
    const age = Math.min(MAX_ORDER_AGE_MS, Math.max(ORDER_AGE_MS, MAX_SHARE * (end - now)));
    const order = { madeAt: now, until: end + age, subjects: sorted, unheard };
    this.#orders.set(key, order);
    this.#forgetLater();
    return order;
  }

  /** More where others have taken ahead, too: what is shared is one tenth. */
  #pay(asker: string, now: number, tookMs: number): void {
    const paidAt = Math.max(now, this.#paidAt.get(asker) ?? now);
    this.#paidAt.delete(asker);
    const others = [...this.#paidAt.entries()].filter(([, at]) => at > now).length;
    this.#paidAt.add(asker, paidAt + MAX_SHARE_OF_ALL * (1 + others) * tookMs);
  }

  /** Those of a large network are large, and nobody may ever look again. */
  #forgetLater(): void {
    if (this.#isForgetting) {
      return;
    }
    this.#isForgetting = true;
    this.#startTimer(() => {
      this.#isForgetting = false;
      const now = this.#now();
      for (const [key, { until }] of this.#orders) {
        if (now > until) {
          this.#orders.delete(key);
        }
      }
      if (this.#orders.size > 0) {
        this.#forgetLater();
      }
    }, MAX_ORDER_AGE_MS);
  }

  #chosen(subjects: Subject[], { parent, text, needs }: PageQuery): Subject[] {
    const found = text.trim() === '' ? subjects : this.#found(subjects, text, parent === ANY_PARENT);
    return needs ? this.#inNeed(found) : found;
  }

  /** An order is of some seconds ago: what is lit may not be in it yet. */
  #litFirst(lit: ReadonlyMap<string, unknown>, order: readonly Subject[], query: PageQuery): Subject[] {
    const { network } = this.#source;
    const states = [...lit.keys()].flatMap((id) => network.device(id) ?? []);
    const first = this.#chosen(this.#subjectsOf(states, query.parent), query);
    const ids = new Set(first.map(({ id }) => id));
    return [...first, ...order.filter(({ id }) => !ids.has(id))];
  }

  /** Those that were heard, and what only the REST half knows. */
  #gateways(): Subject[] {
    const { network, listed, allListed } = this.#source;
    const subjects: Subject[] = [];
    for (const gateway of network.gateways()) {
      const { id } = gateway;
      const device = network.device(id);
      subjects.push({ id, kind: 'gateway', parent: undefined, device, gateway, listed: listed(id) });
    }
    const kindOf = this.#listedKinds.look();
    for (const one of allListed()) {
      if (!network.gateway(one.mac) && !network.device(one.mac)) {
        subjects.push(unheard(one, kindOf));
      }
    }
    return subjects;
  }

  #devices(parent: string): Subject[] {
    return this.#subjectsOf(this.#source.network.devices(), parent);
  }

  /** Those of the devices that are listed under this parent. */
  #subjectsOf(devices: Iterable<Readonly<DeviceState>>, text: string): Subject[] {
    const parent = parseMac(text);
    if (parent === undefined && text !== ANY_PARENT) {
      throw invalidInput('parent', text, 'notMac');
    }
    const { network, listed } = this.#source;
    const subjects: Subject[] = [];
    for (const device of devices) {
      const { id, links } = device;
      const isHere = parent === undefined ? !network.gateway(id) : id !== parent && linkOf(links, parent);
      if (isHere) {
        // Once among all: where requests would go now. Where they went last is a gateway that may not hear it any more.
        const under = parent ?? chooseGateway(links, device.route, network.now, network.intervalMs(device));
        subjects.push({ id, kind: 'device', parent: under, device, gateway: undefined, listed: listed(id) });
      }
    }
    return subjects;
  }

  #found(subjects: readonly Subject[], given: string, inParent: boolean): Subject[] {
    const fits = findWords(given);
    const source = this.#source;
    return subjects.filter(({ id, parent, listed }) => {
      const texts = [id, source.nameOf(id), listed?.name, listed?.id, ...(listed?.labels ?? [])];
      if (inParent && parent !== undefined) {
        texts.push(parent, source.nameOf(parent));
      }
      return fits(texts.join('\n').toLowerCase());
    });
  }

  #inNeed(subjects: readonly Subject[]): Subject[] {
    const needs = (subject: Subject) => {
      const presence = presenceOf(this.#source, subject);
      return presence !== undefined && conditionsOf(presence).length > 0;
    };
    const gateways = subjects.some(({ kind }) => kind === 'gateway')
      ? this.#gatewaysInNeed(needs)
      : undefined;
    return subjects.flatMap((subject) => {
      const inNeed = gateways?.get(subject.id);
      if (inNeed === undefined) {
        return needs(subject) ? [subject] : [];
      }
      return [{ ...subject, inNeed }];
    });
  }

  /** How many devices that need somebody each gateway hears, where there are any. */
  #gatewaysInNeed(needs: (subject: Subject) => boolean): Map<string, number> {
    const found = new Map<string, number>();
    for (const subject of this.#devices(ANY_PARENT)) {
      if (needs(subject)) {
        for (const gateway of new Set(subject.device?.links.map((link) => link.gateway))) {
          found.set(gateway, (found.get(gateway) ?? 0) + 1);
        }
      }
    }
    return found;
  }
}

function startTimeout(call: () => void, ms: number): void {
  setTimeout(call, ms).unref();
}

/** What nobody has heard has no parent. */
function unheard(listed: ListedDevice, kindOf: (listed: ListedDevice) => Subject['kind']): Subject {
  return {
    ...{ id: listed.mac || listed.id, kind: kindOf(listed), listed },
    ...{ parent: undefined, device: undefined, gateway: undefined },
  };
}

function findById(all: Iterable<ListedDevice>, id: string): ListedDevice | undefined {
  for (const one of all) {
    if (one.id === id) {
      return one;
    }
  }
  return undefined;
}
