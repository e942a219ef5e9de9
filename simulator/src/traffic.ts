// What devices report, one publication after the other; the contents follow from the seed alone, only times from the clock.
import { type Device, type Fleet, type Gateway, MODE, nextSeq, type Parent, sendsReports } from './fleet.ts';
import { move, rssiBetween } from './floor-plan.ts';
import { age, measure } from './measuring.ts';
import { pick, type Random, shuffle, whole } from './random.ts';
import type { Sample, SampleBook } from './samples.ts';
import { createTurns } from './turns.ts';
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

/** Of the events: rare enough that a list of problems does not fill with them. */
const RESTARTS = 0.005;

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
  /** A value of a device as it is now: a measurement where it measures that, else a property. */
  report(device: Device, id: string): Publication[];
  /** A sample with a value of one's own. */
  sampleOf(sample: {
    device: Device;
    form: 'raw' | 'decoded';
    identifier: string;
    value: unknown;
  }): Publication;
}

interface Ground {
  fleet: Fleet;
  book: SampleBook;
  random: Random;
  now: () => number;
  /** The share of samples that cannot be acknowledged. */
  unackable: number;
  /** Measurements, too, come through each gateway that hears a device. */
  overhear: boolean;
}

type Dealer = (ground: Ground, device: Device, kind: TopicKind) => Publication[];

const timeOf = (ground: Ground): string => new Date(ground.now()).toISOString();
const isDecoded = (kind: TopicKind): boolean => kind.endsWith('-decoded');
const bytesOf = (device: Device, id: string): Buffer => Buffer.from(device.values.get(id) ?? '', 'hex');

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

function dfu(ground: Ground, device: Device): Publication[] {
  const parent = pick(ground.random, device.parents);
  const rssi = rssiBetween(ground.random, device.place, parent.place);
  return [publication(device, 'dfu', { time: timeOf(ground), parent: parent.mac, rssi })];
}

/** Every parent hears it, and at times the gateway of the next floor does. */
function rssi(ground: Ground, device: Device): Publication[] {
  const { random } = ground;
  if (device.role === 'tag') {
    move(random, device.place);
  }
  const heardBy = (parent: Parent): Publication => {
    const heard = rssiBetween(random, device.place, parent.place);
    const head = { time: timeOf(ground), parent: parent.mac, rssi: heard };
    const channel = whole(random, 37, 39);
    const unreachable = random() < 0.02 ? { unreachable: true } : {};
    return publication(device, 'rssi', { ...head, channel, seq: device.seq, ...unreachable });
  };
  const other = secondHearer(ground, device);
  const below = device.parents.map(heardBy);
  return other ? [...below, { ...heardBy(other.self), gateway: other }] : below;
}

const PROPERTIES = ['8000', '8001', '8002', '8100', '8101', '8110', '9800', '9802', '9804'];

function property(ground: Ground, device: Device, kind: TopicKind): Publication[] {
  if (kind === 'property' && ground.random() < 0.1) {
    // An identifier of the vendor's own, which no gateway decodes: raw in both modes.
    return [publication(device, 'property', { time: timeOf(ground), value: '00c0ffee' }, 'ef10')];
  }
  const id = PROPERTIES[device.reported++ % PROPERTIES.length] as string;
  return [oneProperty(ground, device, kind, id)];
}

function oneProperty(ground: Ground, device: Device, kind: TopicKind, id: string): Publication {
  age(device, ground.now());
  const { identifier, fields } = content(device, id, isDecoded(kind));
  return publication(device, kind, { time: timeOf(ground), ...fields, seq: nextSeq(device) }, identifier);
}

function measurement(ground: Ground, device: Device): Publication[] {
  const id = device.measures[device.measured++ % device.measures.length] as string;
  measure(ground.random, device, id, ground.now());
  return measured(ground, device, id);
}

/** What a device measured last, as its gateways report it. */
function measured(ground: Ground, device: Device, id: string): Publication[] {
  const seq = nextSeq(device);
  // Tags run an older firmware that sends `seq` as a string, which the interface allows.
  const head = { time: timeOf(ground), seq: device.role === 'tag' ? String(seq) : seq };
  // Each gateway reports in its own form.
  return [device.home, ground.overhear ? secondHearer(ground, device) : undefined].flatMap((gateway) => {
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
  if (choice < RESTARTS) {
    return [publication(device, kind, head, decoded ? 'watchdog-reset-event' : '8113')];
  }
  if (decoded && choice < 0.6) {
    return [publication(device, kind, { ...head, value: whole(random, 1, 9) }, 'button-0-counter')];
  }
  measure(random, device, '8810', ground.now());
  const { identifier, fields } = content(device, '8810', decoded);
  return [publication(device, kind, { ...head, ...fields }, identifier)];
}

function timestamped(ground: Ground, device: Device, kind: TopicKind): Publication[] {
  const { random } = ground;
  const id = pick(random, device.measures);
  measure(random, device, id, ground.now());
  const decoded = isDecoded(kind);
  const { identifier, fields } = content(device, id, decoded);
  const failed = random() < 0.02;
  const what = {
    value: fields.value,
    ...(fields.ext !== undefined && { ext: fields.ext as Record<string, unknown> }),
    ...(failed && { error: { code: whole(random, 1, 5), meta: '0a0b' } }),
  };
  const form = decoded ? 'decoded' : 'raw';
  const isAckable = random() >= ground.unackable;
  return [enterSample(ground, { device, form, identifier, ...what }, isAckable)];
}

type SampleContent = Pick<Sample, 'device' | 'form' | 'identifier' | 'value' | 'ext' | 'error'>;

function enterSample(ground: Ground, content: SampleContent, ackable: boolean): Publication {
  const { book } = ground;
  const { device, form, identifier } = content;
  const now = ground.now();
  const sample: Sample = {
    ...content,
    ...book.timeFor(device, identifier, now),
    ackable,
    acknowledged: false,
    backfill: false,
    sent: 0,
    due: now,
  };
  book.take(sample);
  const kind = form === 'decoded' ? 'timestamped-decoded' : 'timestamped';
  return { ...publication(device, kind, {}, identifier), sample };
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

const WITHOUT_FORM: ReadonlySet<string> = new Set(['heartbeat', 'rssi', 'dfu']);
const baseOf = (kind: string): string => kind.replace(/-decoded$/, '');

/** The topic kind in which a device reports a base kind now; those in DFU mode send `dfu` alone, others never. */
function topicKind(device: Device, base: string): TopicKind | undefined {
  if (!sendsReports(device)) {
    return !device.silent && device.values.get('8110') === MODE.dfu ? 'dfu' : undefined;
  }
  if (base === 'dfu') {
    return undefined;
  }
  const hasForm = !WITHOUT_FORM.has(base) && device.home.mode === 'decoded';
  return (hasForm ? `${base}-decoded` : base) as TopicKind;
}

/** Base kinds as often as their topic kinds are in the table; `dfu` only alone, for its devices send it in their turn. */
function cardsOf(kinds: readonly TopicKind[]): string[] {
  const cards = kinds.flatMap((kind) => Array.from({ length: WEIGHTS[kind] }, () => baseOf(kind)));
  const others = cards.filter((base) => base !== 'dfu');
  return others.length > 0 ? others : cards;
}

/**
 * Creates the traffic of a fleet. `kinds` narrows it. First each topic kind comes once, in the table's order, so that
 * all are seen soon; then the devices report in turn.
 */
export function createTraffic(ground: Ground, kinds: readonly TopicKind[] = TOPIC_KINDS): Traffic {
  const { fleet, random } = ground;
  const allowed = new Set(kinds);
  const cards = cardsOf(kinds);
  const first = [...kinds].reverse();
  const turns = createTurns(fleet.devices, random);
  const firstTurns = createTurns(fleet.devices, random);
  let deck: string[] = shuffle(random, cards);
  /** The next device of these turns that can report this. */
  function deal(from: typeof turns, base: string, wanted: (kind: TopicKind) => boolean): Publication[] {
    let kind: TopicKind | undefined;
    const device = from.next((candidate) => {
      kind = topicKind(candidate, base);
      return kind !== undefined && wanted(kind);
    });
    return device && kind ? DEALERS[kind](ground, device, kind) : [];
  }
  return {
    next() {
      const opening = first.pop();
      if (opening) {
        return deal(firstTurns, baseOf(opening), (kind) => kind === opening);
      }
      if (deck.length === 0) {
        deck = shuffle(random, cards);
      }
      return deal(turns, deck.pop() ?? '', (kind) => allowed.has(kind));
    },
    sample(form) {
      const wanted = form === 'raw' ? 'timestamped' : 'timestamped-decoded';
      return deal(firstTurns, 'timestamped', (kind) => kind === wanted);
    },
    properties: (device) => PROPERTIES.map((id) => propertyOf(ground, device, id)),
    report: (device, id) =>
      device.measures.includes(id) ? measured(ground, device, id) : [propertyOf(ground, device, id)],
    sampleOf: (wanted) => enterSample(ground, wanted, true),
  };
}

function propertyOf(ground: Ground, device: Device, id: string): Publication {
  return oneProperty(ground, device, device.home.mode === 'raw' ? 'property' : 'property-decoded', id);
}
