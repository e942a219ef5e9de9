// Which gateways and parents hear a device, and how well; bounded for each device.

/** Of one device; see `leastUseful` for whose place a further one takes. */
export const MAX_LINKS_PER_DEVICE = 16;
/** A signal that is older says nothing of where the device is now. */
export const RECENT_MS = 5 * 60_000;
/** A gateway must hear it so much better before requests go another way, in dB. */
const HYSTERESIS_DB = 6;
/** A gateway may bring a report of a device so much later than another one. */
const MAX_LAG_MS = 60_000;
/** Of about so many reports it is remembered which way they came: enough to tell one in ten, and few for a device that has moved. */
const REMEMBERED_REPORTS = 100;
/** So many show no share yet: a gateway that a device passes by brings one or two of them. */
const FEW_REPORTS = 10;

/** Times are milliseconds of `performance.now()`. */
export interface Signal {
  /** In dBm. */
  rssi: number;
  heardAt: number;
  /** BLE advertising channel; 0 where none was given. */
  channel: number;
  /** The device cannot be reached through this parent. */
  isUnreachable: boolean;
}

/** One way by which a device is heard. */
export interface Link {
  readonly gateway: string;
  /** The node that hears the device: the gateway itself, or one between them. */
  readonly parent: string;
  heardAt: number;
  reports: number;
  /** How many of the last reports of the device came this way; see `countReport`. Of one that was replaced less than none. */
  lately: number;
  /** How many of the last ones had come before this way was known, an integer; a few are left out. */
  before: number;
  signal: Signal | undefined;
}

export function findLink(links: readonly Link[], gateway: string, parent: string): Link | undefined {
  for (const link of links) {
    if (link.gateway === gateway && link.parent === parent) {
      return link;
    }
  }
  return undefined;
}

/** Notes a report that came by a link of the device. Runs for every report. */
export function countReport(links: readonly Link[], link: Link, now: number): void {
  link.heardAt = now;
  link.reports++;
  link.lately++;
  if (link.lately >= REMEMBERED_REPORTS) {
    for (const one of links) {
      one.lately /= 2;
      // A fraction would take memory of its own for each link.
      one.before = Math.trunc(one.before / 2);
    }
  }
}

const countLately = (links: readonly Link[]): number => links.reduce((sum, { lately }) => sum + lately, 0);

/** @returns `Link.before` of a further one */
export const countBefore = (links: readonly Link[]): number =>
  Math.max(0, Math.trunc(countLately(links)) - FEW_REPORTS);

/** Another link takes its place among those of the device; what has remembered it is to look again. */
export function replace(link: Link): void {
  link.lately = -1;
}

export const isReplaced = ({ lately }: Readonly<Link>): boolean => lately < 0;

/** Which part of the last reports of the device came this way; of a link that came later, of those since then. */
export const shareOf = (links: readonly Link[], { lately, before }: Readonly<Link>): number =>
  // Others may have been left out since.
  lately / Math.max(lately, countLately(links) - before);

/**
 * By which gateway most of its last reports come; undefined: by none.
 * @param of those of the links that count
 */
export function mostUsed(links: readonly Link[], of = links): Link | undefined {
  let most: Link | undefined;
  let mostShare = 0;
  for (const link of of) {
    const share = link.gateway === link.parent ? shareOf(links, link) : 0;
    if (share > mostShare) {
      [most, mostShare] = [link, share];
    }
  }
  return most;
}

/** In dBm. 0 and 127 (Bluetooth: not available) stand for none, and JSON has numbers beyond all. */
export const isSignal = (rssi: unknown): rssi is number =>
  typeof rssi === 'number' && Number.isFinite(rssi) && rssi < 0;

/** What a gateway itself has heard of the device. */
export const linkOf = (links: readonly Link[], gateway: string): Link | undefined =>
  findLink(links, gateway, gateway);

/**
 * The link whose place a further one takes: first what was not heard lately, then of the nodes between the one with the worst
 * signal, then so of the gateways; of equal ones the one that was silent longest. The gateway that brings most stays, and
 * that of the further one.
 * @param since what was heard then or later was heard lately
 * @param gateway of the further one
 */
export function leastUseful(links: readonly Link[], since: number, gateway: string): number {
  const own = linkOf(links, gateway);
  const most = mostUsed(links);
  // One report alone shows no share.
  const stays = (link: Link) => link === own || (link === most && link.lately > 1);
  let least = 0;
  for (const [i, link] of links.entries()) {
    const before = links[least] as Link;
    if (!stays(link) && (stays(before) || isLessUseful(link, before, since))) {
      least = i;
    }
  }
  return least;
}

function isLessUseful(one: Link, other: Link, since: number): boolean {
  const order = useOf(one, since) - useOf(other, since);
  if (order !== 0) {
    return order < 0;
  }
  const [signal, otherSignal] = [usableSince(one, since), usableSince(other, since)];
  return signal === otherSignal ? one.heardAt < other.heardAt : signal < otherSignal;
}

/** A gateway is needed whatever its own signal is: its nodes may hear the device better. */
function useOf({ gateway, parent, heardAt }: Link, since: number): number {
  if (heardAt < since) {
    return 0;
  }
  return gateway === parent ? 2 : 1;
}

const usableSince = ({ signal }: Link, since: number): number =>
  signal !== undefined && signal.heardAt >= since && !signal.isUnreachable
    ? signal.rssi
    : Number.NEGATIVE_INFINITY;

/**
 * The best signal of all parents by which the device can be reached, of those that came with the newest one or not long
 * before: signals come from one parent after the other, and with pauses. Where none can reach it, the newest one.
 * @param periodMs not longer before, in milliseconds
 * @returns dBm; undefined when none was ever heard
 */
export function bestSignal(links: readonly Link[], periodMs: number): number | undefined {
  const newest = newestSignal(links);
  const since = (newest?.heardAt ?? 0) - periodMs;
  let best: number | undefined;
  for (const { signal } of links) {
    const isUsable = signal !== undefined && signal.heardAt >= since && !signal.isUnreachable;
    if (isUsable && (best === undefined || signal.rssi > best)) {
      best = signal.rssi;
    }
  }
  return best ?? newest?.rssi;
}

function newestSignal(links: readonly Link[]): Signal | undefined {
  let newest: Signal | undefined;
  for (const { signal } of links) {
    if (signal !== undefined && (newest === undefined || signal.heardAt > newest.heardAt)) {
      newest = signal;
    }
  }
  return newest;
}

/**
 * The gateway by which a device is reached best: that with the best signal of the last five minutes, or the present one
 * where it is hardly worse; without a signal the one that heard the device last. One that has missed what another one has
 * brought may have died: it does not count.
 * @param present where requests went before; undefined: nowhere
 * @param now milliseconds of `performance.now()`
 * @param intervalMs between two reports of the device, usually; undefined: not known
 */
export function chooseGateway(
  links: readonly Link[],
  present: string | undefined,
  now: number,
  intervalMs = 0,
): string | undefined {
  const last = lastHeard(links);
  const since = (last?.heardAt ?? 0) - intervalMs - MAX_LAG_MS;
  // Nodes are heard with pauses, their gateway with whatever it brings.
  const there = links.filter((link) => (linkOf(links, link.gateway) ?? link).heardAt >= since);
  const best = strongest(there, now - RECENT_MS);
  if (best === undefined) {
    return last?.gateway;
  }
  const own = there.filter(({ gateway }) => gateway === present);
  const kept = strongest(own, now - RECENT_MS);
  return kept !== undefined && kept.rssi >= best.rssi - HYSTERESIS_DB ? present : best.gateway;
}

function strongest(links: readonly Link[], since: number): { gateway: string; rssi: number } | undefined {
  let best: { gateway: string; rssi: number } | undefined;
  for (const { gateway, signal } of links) {
    const isUsable = signal !== undefined && signal.heardAt >= since && !signal.isUnreachable;
    if (isUsable && (best === undefined || signal.rssi > best.rssi)) {
      best = { gateway, rssi: signal.rssi };
    }
  }
  return best;
}

/** Undefined where there is none. */
export function lastHeard(links: readonly Link[]): Link | undefined {
  let last: Link | undefined;
  for (const link of links) {
    // Of two at the same moment the later one of the list, which was heard for the first time later.
    if (last === undefined || link.heardAt >= last.heardAt) {
      last = link;
    }
  }
  return last;
}
