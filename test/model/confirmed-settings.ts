// What differs from one sequence of the model test of confirmed reports to the next: the broker's manners, and who asks for what.
import fc from 'fast-check';
import type { ReportFilter } from '../../src/session.ts';

export const GATEWAYS = ['c00000000001', 'c00000000002'] as const;
export const KINDS = ['heartbeat', 'rssi'] as const;
export type Gateway = (typeof GATEWAYS)[number];
export type Kind = (typeof KINDS)[number];

/** What a node asks for. */
export interface Wish extends Pick<ReportFilter, 'gateways' | 'kinds'> {
  isConfirming: boolean;
}

/** What a node may be deployed as; the first is what it begins as, and undefined: it is removed. One stays. */
type Wishes = readonly [Wish, ...(Wish | undefined)[]];

const [gateway] = GATEWAYS;
const ofGateway: Wish = { gateways: [gateway], kinds: [], isConfirming: true };
const ofKind: Wish = { gateways: [], kinds: ['rssi'], isConfirming: true };
const plain: Wish = { gateways: [], kinds: ['heartbeat'], isConfirming: false };

export type NodeName = 'gateway' | 'kind' | 'plain';

/** Two whose filters cross confirm, and one does not. */
export const NODES: Readonly<Record<NodeName, Wishes>> = {
  gateway: [
    ofGateway,
    { ...ofGateway, kinds: ['rssi'] },
    { ...ofGateway, gateways: [...GATEWAYS] },
    { ...ofGateway, isConfirming: false },
    undefined,
  ],
  kind: [ofKind, { ...ofKind, gateways: [gateway] }, { ...ofKind, kinds: [...KINDS] }, undefined],
  plain: [plain, { ...plain, kinds: ['rssi'] }],
};
export const NODE_NAMES: readonly NodeName[] = ['gateway', 'kind', 'plain'];

const DEVICES = 'mt/gateway/+/device/+';
const LEFT = [`${DEVICES}/#`, `${DEVICES}/rssi`, `mt/gateway/${gateway}/device/+/#`] as const;

/** Where copies come, and where a leftover subscription brings further ones. No broker that is known has fewer than 10. */
const MIN_FOR_COPIES = 20;
const MIN_FOR_LEFTOVERS = 65_535;

export interface Setup {
  protocolVersion: 4 | 5;
  delivery: 'once' | 'per-subscription';
  /** Of the broker. */
  maxInFlight: number;
  /** Filters that an earlier process has left subscribed. */
  left: readonly string[];
  /** Reports that wait for them. */
  waiting: number;
  /** How often a report is sent again. */
  maxAttempts: number;
  /** Each so many-th report is acknowledged at once; 0: none. */
  atOnce: number;
}

const anySetups: fc.Arbitrary<Setup> = fc.record({
  protocolVersion: fc.constantFrom(4 as const, 5 as const),
  delivery: fc.constantFrom('once' as const, 'per-subscription' as const),
  maxInFlight: fc.constantFrom(20, 1, 5, 65_535),
  left: fc.oneof(fc.constant([]), fc.subarray<string>([...LEFT], { maxLength: 1 })),
  waiting: fc.constantFrom(0, 3),
  maxAttempts: fc.constantFrom(20, 2),
  atOnce: fc.constantFrom(0, 0, 3, 2),
});

const leastFor = ({ left }: Setup): number => (left.length > 0 ? MIN_FOR_LEFTOVERS : MIN_FOR_COPIES);

// With few places in flight, copies may wait at the broker for longer than is known here by which filters they come.
export const setups = anySetups.map((setup) =>
  setup.delivery === 'once' ? setup : { ...setup, maxInFlight: Math.max(leastFor(setup), setup.maxInFlight) },
);

export const matches = ({ gateways, kinds }: Wish, place: { gateway: string; kind: Kind }): boolean =>
  (gateways.length === 0 || gateways.includes(place.gateway)) &&
  (kinds.length === 0 || kinds.includes(place.kind));
