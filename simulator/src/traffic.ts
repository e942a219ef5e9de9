// What devices report, one publication after the other; the contents follow from the seed alone, only times from the clock.
import { type Device, type Fleet, type Gateway, MODE, nextSeq } from './fleet.ts';
import { between, pick, type Random, shuffle, whole } from './random.ts';
import type { Sample, SampleBook } from './samples.ts';
import { known } from './wire.ts';

/** A report on its way: the topic without the prefix, from the gateway that publishes it. */
export interface Publication {
  gateway: Gateway;
  device: string;
  /** The segment in the topic, `-decoded` included. */
  kind: TopicKind;
  identifier?: string;
  payload: Record<string, unknown>;
  /** The sample that it carries, for the two timestamped kinds. */
  sample?: Sample;
}

/** How many cards of each topic kind are in the deck, from which traffic is dealt. */
const WEIGHTS = {
  heartbeat: 6,
  rssi: 3,
  dfu: 1,
  property: 2,
  'property-decoded': 2,
  measurement: 6,
  'measurement-decoded': 6,
  'measurement-error': 1,
  'measurement-error-decoded': 1,
  event: 2,
  'event-decoded': 2,
  timestamped: 3,
  'timestamped-decoded': 3,
} as const;

export type TopicKind = keyof typeof WEIGHTS;

/** All 13 topic kinds. */
export const TOPIC_KINDS = Object.keys(WEIGHTS) as TopicKind[];

export interface Traffic {
  /** Deals one card: one report, or several where several parents or gateways hear it. */
  next(): Publication[];
  /** A new device-timestamped sample, entered into the book. */
  sample(form: 'raw' | 'decoded'): Publication[];
  /** All properties of one device, as command 8302 makes it report them. */
  properties(device: Device): Publication[];
}

interface Ground {
  fleet: Fleet;
  book: SampleBook;
  random: Random;
  now: () => number;
  /** The share of samples that cannot be acknowledged. */
  unackable: number;
}

type Dealer = (ground: Ground, device: Device, kind: TopicKind) => Publication[];

const timeOf = (ground: Ground): string => new Date(ground.now()).toISOString();
const isDecoded = (kind: TopicKind): boolean => kind.endsWith('-decoded');
const bytesOf = (device: Device, id: string): Buffer => Buffer.from(device.values.get(id) ?? '', 'hex');
const meanOf = (id: string, device: Device): number => device.means.get(id) ?? 0;

/** How far a measured number moves from one sample to the next, and how strongly its mean pulls it back. */
const DRIFT: Record<string, number> = { '8800': 0.15, '8801': 0.4, '8802': 0.8, '8803': 20, '8103': 3 };

/** Lets a device measure: the numbers wander around their mean, motion comes and goes. */
function measure(ground: Ground, device: Device, id: string): void {
  const { random } = ground;
  if (id === '8810') {
    const before = device.values.get(id)?.slice(0, 2);
    const now = random() < 0.4 ? pick(random, ['10', '11', '20']) : '00';
    if (before !== now) {
      device.transitions++;
    }
    const ext = { transitionCounter: device.transitions, isTransition: before !== now };
    device.values.set(id, known(id).encode(Number.parseInt(now, 16), ext));
    return;
  }
  const last = known(id).decode(bytesOf(device, id)).value as number;
  const step = DRIFT[id] ?? 1;
  const next = last + (meanOf(id, device) - last) * 0.02 + between(random, -step, step);
  device.values.set(id, known(id).encode(Math.max(id === '8800' ? -30 : 0, next)));
}

/** Identifier and value of a device in the form of a topic kind. */
function content(
  device: Device,
  id: string,
  decoded: boolean,
): { identifier: string; fields: Record<string, unknown> } {
  if (!decoded) {
    return { identifier: id, fields: { value: device.values.get(id) ?? '' } };
  }
  return { identifier: known(id).name, fields: { ...known(id).decode(bytesOf(device, id)) } };
}

const publication = (
  device: Device,
  kind: TopicKind,
  payload: Record<string, unknown>,
  identifier?: string,
): Publication => ({
  gateway: device.home,
  device: device.mac,
  kind,
  ...(identifier && { identifier }),
  payload,
});

/** The gateway that hears a report besides the device's own, at times. */
function secondHearer({ random }: Ground, device: Device): Gateway | undefined {
  return device.alsoHeardBy && random() < 0.5 ? device.alsoHeardBy : undefined;
}

function heartbeat(ground: Ground, device: Device): Publication[] {
  const { random } = ground;
  const status = random() < 0.03 ? pick(random, [1, 4]) : 0;
  const payload = { time: timeOf(ground), seq: nextSeq(device), status, lastCount: whole(random, 0, 3) };
  const report = publication(device, 'heartbeat', payload);
  const other = secondHearer(ground, device);
  return other ? [report, { ...report, gateway: other }] : [report];
}

/** Log-distance path loss with fading: the nearer parent hears it louder, though not always. */
const rssiAt = (random: Random, distance: number): number =>
  Math.max(-99, Math.round(-48 - 22 * Math.log10(distance) + between(random, -4, 4)));

function dfu(ground: Ground, device: Device): Publication[] {
  const parent = pick(ground.random, device.parents);
  const rssi = rssiAt(ground.random, parent.distance);
  return [publication(device, 'dfu', { time: timeOf(ground), parent: parent.mac, rssi })];
}

function rssi(ground: Ground, device: Device): Publication[] {
  const { random } = ground;
  return device.parents.map((parent) => {
    parent.distance = Math.min(40, Math.max(0.5, parent.distance + between(random, -0.6, 0.6)));
    const heard = { time: timeOf(ground), parent: parent.mac, rssi: rssiAt(random, parent.distance) };
    const channel = whole(random, 37, 39);
    const unreachable = random() < 0.02 ? { unreachable: true } : {};
    return publication(device, 'rssi', { ...heard, channel, seq: device.seq, ...unreachable });
  });
}

const PROPERTIES = ['8000', '8001', '8002', '8100', '8101', '8110', '9800', '9802', '9804'];

function property(ground: Ground, device: Device, kind: TopicKind): Publication[] {
  if (kind === 'property' && ground.random() < 0.1) {
    // An identifier of the vendor's own, which no gateway decodes: raw in both modes.
    return [publication(device, 'property', { time: timeOf(ground), value: '00c0ffee' }, 'ef10')];
  }
  return [oneProperty(ground, device, kind, pick(ground.random, PROPERTIES))];
}

function oneProperty(ground: Ground, device: Device, kind: TopicKind, id: string): Publication {
  const { identifier, fields } = content(device, id, isDecoded(kind));
  return publication(device, kind, { time: timeOf(ground), ...fields, seq: nextSeq(device) }, identifier);
}

function measurement(ground: Ground, device: Device): Publication[] {
  const id = pick(ground.random, device.measures);
  measure(ground, device, id);
  const seq = nextSeq(device);
  // Tags run an older firmware that sends `seq` as a string, which the interface allows.
  const head = { time: timeOf(ground), seq: device.role === 'tag' ? String(seq) : seq };
  // Each gateway reports in its own form.
  return [device.home, secondHearer(ground, device)].flatMap((gateway) => {
    if (!gateway) {
      return [];
    }
    const decoded = gateway.mode === 'decoded';
    const { identifier, fields } = content(device, id, decoded);
    const kind = decoded ? 'measurement-decoded' : 'measurement';
    return [{ ...publication(device, kind, { ...head, ...fields }, identifier), gateway }];
  });
}

function measurementError(ground: Ground, device: Device, kind: TopicKind): Publication[] {
  const { random } = ground;
  const id = pick(random, device.measures);
  const errorExt = random() < 0.5 ? { errorExt: whole(random, 1, 255) } : {};
  const payload = { time: timeOf(ground), seq: nextSeq(device), error: whole(random, 1, 5), ...errorExt };
  return [publication(device, kind, payload, isDecoded(kind) ? known(id).name : id)];
}

function event(ground: Ground, device: Device, kind: TopicKind): Publication[] {
  const { random } = ground;
  const head = { time: timeOf(ground), seq: nextSeq(device) };
  const decoded = isDecoded(kind);
  const choice = random();
  if (choice < 0.2) {
    return [publication(device, kind, head, decoded ? 'watchdog-reset-event' : '8113')];
  }
  if (decoded && choice < 0.6) {
    return [publication(device, kind, { ...head, value: whole(random, 1, 9) }, 'button-0-counter')];
  }
  measure(ground, device, '8810');
  const { identifier, fields } = content(device, '8810', decoded);
  return [publication(device, kind, { ...head, ...fields }, identifier)];
}

function timestamped(ground: Ground, device: Device, kind: TopicKind): Publication[] {
  const { random, book } = ground;
  const id = pick(random, device.measures);
  measure(ground, device, id);
  const decoded = isDecoded(kind);
  const { identifier, fields } = content(device, id, decoded);
  const ackable = random() >= ground.unackable;
  const failed = random() < 0.02;
  const sample: Sample = {
    device,
    form: decoded ? 'decoded' : 'raw',
    identifier,
    ...book.timeFor(device, identifier, ground.now()),
    value: fields.value,
    ...(fields.ext !== undefined && { ext: fields.ext as Record<string, unknown> }),
    ...(failed && { error: { code: whole(random, 1, 5), meta: '0a0b' } }),
    ackable,
    acknowledged: false,
    backfill: false,
    sent: 0,
    due: ground.now(),
  };
  book.take(sample);
  return [{ ...publication(device, kind, {}, identifier), sample }];
}

const DEALERS: Record<TopicKind, Dealer> = {
  heartbeat,
  rssi,
  dfu,
  property,
  'property-decoded': property,
  measurement,
  'measurement-decoded': measurement,
  'measurement-error': measurementError,
  'measurement-error-decoded': measurementError,
  event,
  'event-decoded': event,
  timestamped,
  'timestamped-decoded': timestamped,
};

const WITHOUT_FORM: ReadonlySet<TopicKind> = new Set(['heartbeat', 'rssi', 'dfu']);

/** Who can send a topic kind: devices of gateways in its mode, awake ones only; those in DFU mode send `dfu` alone. */
function candidates(fleet: Fleet, kind: TopicKind): Device[] {
  const form = isDecoded(kind) ? 'decoded' : 'raw';
  const anyForm = WITHOUT_FORM.has(kind);
  return fleet.devices.filter((device) => {
    const mode = device.values.get('8110');
    const awake = kind === 'dfu' ? mode === MODE.dfu : mode !== MODE.dfu && mode !== MODE.storage;
    return awake && (anyForm || device.home.mode === form);
  });
}

/**
 * Creates the traffic of a fleet. `kinds` narrows it. The first deck is in the table's order, so that every kind
 * is seen soon; later ones are shuffled.
 */
export function createTraffic(ground: Ground, kinds: readonly TopicKind[] = TOPIC_KINDS): Traffic {
  const cards = kinds.flatMap((kind) => Array.from({ length: WEIGHTS[kind] }, () => kind));
  let deck: TopicKind[] = [...shuffle(ground.random, cards), ...[...kinds].reverse()];
  function deal(kind: TopicKind): Publication[] {
    const able = candidates(ground.fleet, kind);
    return able.length ? DEALERS[kind](ground, pick(ground.random, able), kind) : [];
  }
  return {
    next() {
      if (deck.length === 0) {
        deck = shuffle(ground.random, cards);
      }
      const kind = deck.pop();
      return kind ? deal(kind) : [];
    },
    sample: (form) => deal(form === 'raw' ? 'timestamped' : 'timestamped-decoded'),
    properties: (device) =>
      PROPERTIES.map((id) =>
        oneProperty(ground, device, device.home.mode === 'raw' ? 'property' : 'property-decoded', id),
      ),
  };
}
