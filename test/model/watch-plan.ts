// Random networks, and what happens to them: drawn so that fast-check can leave out devices and faults one by one.
import fc from 'fast-check';
import { randomOf } from './virtual-time.ts';

export const S = 1_000;
export const MINUTE = 60 * S;
export const HOUR = 60 * MINUTE;

/** So many of the longest intervals pass before the first fault: by then everything is known. */
const LEAD_INTERVALS = 16;
/** What a history may cost, in reports. */
const MAX_REPORTS = 40_000;

/** Each as often as the others, which a double is not. */
const UNIT = fc.nat({ max: 1_000 }).map((share) => share / 1_000);
const ANY_GATEWAY = fc.nat(3);
/** What happens to one and the same finds more than what happens to any. */
const GATEWAY = fc.oneof(fc.constant(0), ANY_GATEWAY);
const DEVICE = fc.oneof(fc.constant(0), fc.nat(3), fc.nat(29));

const network = fc.record({
  seed: fc.nat(1_000_000),
  /** The shortest interval in minutes. */
  scale: fc.constantFrom(1, 5, 20, 60),
  gateways: fc.array(fc.record({ reportsItself: fc.boolean() }), { minLength: 1, maxLength: 4, size: 'max' }),
  devices: fc.array(
    fc.record({
      /** Times the scale. */
      factor: fc.constantFrom(1, 1, 1, 1.5, 2, 4),
      jitter: fc.constantFrom(0, 0.01, 0.05, 0.15),
      losses: fc.constantFrom(0, 0.01, 0.05),
      home: GATEWAY,
      /** Another gateway that brings this share of its reports. */
      other: ANY_GATEWAY,
      share: fc.constantFrom(0, 0, 0, 0.2, 0.5, 1),
    }),
    { minLength: 1, maxLength: 30, size: 'max' },
  ),
});

/** All of a fault's numbers: which of them count depends on what it is. */
const fault = fc.record({
  kind: fc.constantFrom<FaultKind>(
    ...(['restart', 'restart', 'kill', 'broker', 'away', 'away', 'deploy', 'service', 'filter'] as const),
    ...(['gateway-dies', 'replaced', 'replaced', 'dies', 'dies', 'dies', 'moves'] as const),
  ),
  /** After the one before: from seconds to some intervals, and so with what repeats. */
  after: UNIT,
  lasts: UNIT,
  repeats: fc.constantFrom(1, 1, 1, 1, 2, 6),
  gateway: GATEWAY,
  to: ANY_GATEWAY,
  device: DEVICE,
});

const watch = fc.record({
  /** Of the longest interval; 0: learned. */
  silentAfter: fc.constantFrom(0, 0, 1.5, 2.5, 4),
  conditions: fc.constantFrom<('silent' | 'gateway-silent')[]>(
    ...[['silent', 'gateway-silent'] as const, ['silent'] as const, ['gateway-silent'] as const].map(
      (one) => [...one],
    ),
  ),
  /** What other nodes have subscribed is heard as well. */
  hearsEverything: fc.boolean(),
  filter: fc.constantFrom<FilterKind>('all', 'all', 'gateways', 'devices'),
});

export const plans = fc.record({
  network,
  watch,
  faults: fc.array(fault, { maxLength: 8, size: 'max' }),
});

export type FaultKind =
  | 'restart'
  | 'kill'
  | 'broker'
  | 'away'
  | 'deploy'
  | 'service'
  | 'filter'
  | 'gateway-dies'
  | 'replaced'
  | 'dies'
  | 'moves';
const REPEATED: ReadonlySet<FaultKind> = new Set(['restart', 'kill', 'broker', 'away', 'deploy', 'service']);
const MOVING: ReadonlySet<FaultKind> = new Set(['moves', 'replaced']);
export type FilterKind = 'all' | 'gateways' | 'devices';
export type Plan = typeof plans extends fc.Arbitrary<infer T> ? T : never;

/** By which a device is heard, and how many of its reports that brings. */
export interface Way {
  gateway: string;
  share: number;
}

export interface PlannedDevice {
  readonly id: string;
  /** Milliseconds; each pause is by so much of it longer or shorter at most. */
  readonly every: number;
  readonly jitter: number;
  /** The first one brings most. */
  readonly ways: readonly Way[];
  /** When it reports, and which of these reports are lost. */
  readonly sends: readonly { at: number; isLost: boolean }[];
}

/** Times are milliseconds since the beginning. */
export interface PlannedFault {
  readonly kind: FaultKind;
  readonly at: number;
  readonly until: number;
  readonly gateway: string;
  readonly to: string;
  readonly device: string;
}

export interface History {
  readonly gateways: readonly string[];
  readonly devices: readonly PlannedDevice[];
  /** In the order of time. */
  readonly faults: readonly PlannedFault[];
  /** When the last one is over, and when the history is. */
  readonly calmFrom: number;
  readonly until: number;
  /** Milliseconds; 0: learned. */
  readonly silentAfter: number;
}

const idOf = (first: number, i: number): string => (first + i).toString(16);
export const gatewayAt = (i: number): string => idOf(0xc00000000001, i);
/** The one that takes the place of another. */
export const successorOf = (gateway: string): string => `b${gateway.slice(1)}`;

/** From five seconds, the short ones as often as the long ones. */
const span = (share: number, most: number): number => Math.round(5 * S * (most / (5 * S)) ** share);

/** The same history for the same plan, and one that changes little where the plan does. */
export function historyOf({
  network: { seed, scale, gateways, devices },
  watch: { silentAfter },
  faults,
}: Plan): History {
  const longest = Math.max(...devices.map(({ factor }) => factor)) * scale * MINUTE;
  const planned: PlannedFault[] = [];
  let at = LEAD_INTERVALS * longest + HOUR;
  for (const { kind, repeats, ...one } of faults) {
    for (let i = 0; i < (REPEATED.has(kind) ? repeats : 1); i++) {
      at += span(one.after, 6 * longest);
      const until = at + span(one.lasts, Math.max(2 * HOUR, 4 * longest));
      const gateway = gatewayAt(one.gateway % gateways.length);
      const to = gatewayAt(one.to % gateways.length);
      planned.push({
        kind,
        at,
        until,
        gateway,
        to,
        device: idOf(0xd00000000000, one.device % devices.length),
      });
    }
  }
  const calmFrom = Math.max(at, ...planned.map(({ until }) => until));
  const hasWays = devices.some(({ share }) => share > 0) || planned.some(({ kind }) => MOVING.has(kind));
  const until = calmFrom + (hasWays ? 9 : 1) * HOUR + 20 * longest;
  const ids = gateways.map((_, i) => gatewayAt(i));
  const all = devices.map(
    (
      { factor, jitter, home, other, share, losses },
      i,
    ): Omit<PlannedDevice, 'sends'> & { losses: number } => {
      const ways = [{ gateway: ids[home % ids.length] as string, share: 1 }];
      const second = ids[other % ids.length] as string;
      if (share > 0 && second !== ways[0]?.gateway) {
        ways.push({ gateway: second, share });
      }
      return { id: idOf(0xd00000000000, i), every: factor * scale * MINUTE, jitter, ways, losses };
    },
  );
  for (const [i, { reportsItself }] of gateways.entries()) {
    const id = ids[i] as string;
    if (reportsItself) {
      all.push({ id, every: scale * MINUTE, jitter: 0.01, ways: [{ gateway: id, share: 1 }], losses: 0 });
    }
  }
  const perInterval = all.reduce((sum, { every }) => sum + until / every, 0);
  const kept = Math.max(1, Math.floor((all.length * MAX_REPORTS) / Math.max(MAX_REPORTS, perInterval)));
  return {
    gateways: ids,
    devices: all.slice(-kept).map(({ losses, ...one }) => ({
      ...one,
      sends: sendsOf(one, losses, planned, until, seed),
    })),
    faults: planned,
    ...{ calmFrom, until, silentAfter: Math.round(silentAfter * longest) },
  };
}

/** No two reports in a row are lost, and none beside a fault: that would be two faults at once. */
function sendsOf(
  { id, every, jitter }: Pick<PlannedDevice, 'id' | 'every' | 'jitter'>,
  losses: number,
  faults: readonly PlannedFault[],
  until: number,
  seed: number,
): { at: number; isLost: boolean }[] {
  const random = randomOf(seed + Number.parseInt(id.slice(-6), 16) * 7_919);
  const isCalm = (at: number) =>
    faults.every((one) => at < one.at - 4 * every || at > one.until + 4 * every + 10 * MINUTE);
  const sends: { at: number; isLost: boolean }[] = [];
  let lostAt = Number.NEGATIVE_INFINITY;
  for (let at = random() * every; at < until; at += every * (1 + jitter * (2 * random() - 1))) {
    const isLost = random() < losses && at - lostAt > 8 * every && isCalm(at);
    lostAt = isLost ? at : lostAt;
    sends.push({ at: Math.round(at), isLost });
  }
  return sends;
}
