// What was published and who got it: what each subscriber must have, may have, and may not have.
import type { ReportFilter } from '../../src/session.ts';
import type { ClientConnection } from '../scripted-broker/connection.ts';
import { numberOf, type Place } from './field.ts';

export interface Published extends Place {
  number: number;
  isBad: boolean;
  /** The lower of the report's QoS and the subscription's. */
  qos: number;
  tick: number;
  /** Sent or queued by the broker. */
  copies: number;
  /** The session's connection at that time. */
  connection: ClientConnection | undefined;
  /** Published and delivered while everything was subscribed and nothing was changing: it comes exactly once. */
  isSteady: boolean;
  /** Subscribers of a successor that this was kept for. */
  owed: Set<Subscriber>;
  isSettled: boolean;
}

interface Delivery {
  published: Published;
  isError: boolean;
  at: number;
}

export class Subscriber {
  readonly filter: ReportFilter;
  readonly from: number;
  to: number | undefined;
  readonly deliveries: Delivery[] = [];
  /** Ends the subscription. */
  stop = (): void => {};

  constructor(filter: ReportFilter, from: number) {
    this.filter = filter;
    this.from = from;
  }

  wants({ gateway, device, kind }: Place): boolean {
    const { gateways, devices, kinds } = this.filter;
    const passes = (list: readonly string[], value: string) => list.length === 0 || list.includes(value);
    return passes(gateways, gateway) && passes(devices, device) && passes(kinds, kind);
  }

  count(published: Published): number {
    return this.deliveries.filter((one) => one.published === published).length;
  }
}

interface Hold {
  from: number;
  to: number | undefined;
}

/** Longer than a sequence takes, and shorter than what two equal reports may be apart. */
const SURELY_IN_WINDOW_MS = 8_000;

export class ReportLedger {
  readonly published: Published[] = [];
  readonly subscribers: Subscriber[] = [];
  readonly holds: Hold[] = [];
  /** What must never happen, and has. */
  readonly faults: string[] = [];

  /** Takes what a subscriber was given. */
  note(
    subscriber: Subscriber,
    place: { gateway: string; device: string },
    time: unknown,
    isError: boolean,
  ): void {
    const number = numberOf(time);
    const published = this.published.find(
      (one) => one.number === number && one.gateway === place.gateway && one.device === place.device,
    );
    const name = `report ${number} of ${place.gateway}`;
    if (!published) {
      this.faults.push(`${name} was never published`);
    } else if (subscriber.to !== undefined) {
      this.faults.push(`${name} came after the subscription had ended`);
    } else if (!subscriber.wants(published)) {
      this.faults.push(`${name} came to somebody who did not want it`);
    } else if (published.isBad !== isError) {
      this.faults.push(`${name} came as ${isError ? 'error' : 'report'}`);
    } else {
      this.#deliver(subscriber, published, isError);
    }
  }

  /** The session has told the broker that it has this report: then everybody who wants it has it too. */
  acknowledged(one: Published): void {
    for (const subscriber of this.subscribers) {
      if (this.#mustHave(subscriber, one, false) && !this.#has(subscriber, one)) {
        this.faults.push(
          `${describe(one)} was acknowledged before subscriber ${this.subscribers.indexOf(subscriber)} had it`,
        );
      }
    }
  }

  /** Whether flows had it: all that wanted it then have it at once. */
  wasGiven(one: Published): boolean {
    return this.subscribers.some((subscriber) => subscriber.count(one) > 0);
  }

  /** The first thing that is still to come, in words. */
  missing(connection: ClientConnection | undefined, isKept: boolean): string | undefined {
    for (const one of this.published) {
      if (one.isSettled) {
        continue;
      }
      const isLost = one.connection !== connection && !(isKept && one.qos > 0);
      for (const subscriber of this.subscribers) {
        if (this.#mustHave(subscriber, one, isLost) && !this.#has(subscriber, one)) {
          return `subscriber ${this.subscribers.indexOf(subscriber)} has not got ${describe(one)}`;
        }
      }
    }
    return undefined;
  }

  /** @param isSteady whether no subscription has changed meanwhile */
  settle(isSteady: boolean): void {
    for (const one of this.published) {
      if (one.isSettled) {
        continue;
      }
      one.isSettled = true;
      one.isSteady &&= isSteady;
    }
  }

  /**
   * What came too often.
   * @param transmissions how often the broker sent this report
   */
  doubled(transmissions: (one: Published) => number): string[] {
    return this.published.flatMap((one) => {
      const most = transmissions(one);
      return this.subscribers.flatMap((subscriber, i) => {
        const count = subscriber.count(one);
        const allowed = one.isSteady && one.isSettled && most <= one.copies ? Math.min(most, 1) : most;
        return count > allowed
          ? [`subscriber ${i} got ${describe(one)} ${count} times, sent ${most} times`]
          : [];
      });
    });
  }

  #deliver(subscriber: Subscriber, published: Published, isError: boolean): void {
    const at = performance.now();
    const isSame = (one: Published) =>
      one.number === published.number && one.kind === published.kind && one.device === published.device;
    const repeated = subscriber.deliveries.find((one) => !one.isError && isSame(one.published));
    if (
      subscriber.filter.duplicates === 'drop' &&
      !isError &&
      repeated &&
      at - repeated.at < SURELY_IN_WINDOW_MS
    ) {
      this.faults.push(`${describe(published)} was not dropped as a repeat`);
    }
    // One who came later may get an earlier report only because it is sent again.
    const isFirst = subscriber.count(published) === 0 && this.#mustHave(subscriber, published, false);
    const overtaken = subscriber.deliveries.some(
      ({ published: other }) =>
        other.tick > published.tick && isSameTopic(other, published) && other.qos === published.qos,
    );
    if (isFirst && overtaken) {
      this.faults.push(`${describe(published)} was overtaken by a later one of its topic`);
    }
    subscriber.deliveries.push({ published, isError, at });
  }

  #mustHave(subscriber: Subscriber, one: Published, isLost: boolean): boolean {
    if (subscriber.to !== undefined || one.copies === 0 || !subscriber.wants(one)) {
      return false;
    }
    if (one.owed.has(subscriber)) {
      return true;
    }
    if (isLost) {
      return false;
    }
    return subscriber.from < one.tick || this.holds.some((hold) => wasFor(hold, one, subscriber));
  }

  /** With repeats dropped, a copy through another gateway will do. */
  #has(subscriber: Subscriber, one: Published): boolean {
    if (subscriber.count(one) > 0) {
      return true;
    }
    if (subscriber.filter.duplicates === 'keep' || one.isBad) {
      return false;
    }
    return subscriber.deliveries.some(
      ({ published, isError }) =>
        !isError &&
        published.number === one.number &&
        published.device === one.device &&
        published.kind === one.kind,
    );
  }
}

/** Published while reports were held, for somebody who came before they went on. */
function wasFor(hold: Hold, one: Published, subscriber: Subscriber): boolean {
  const to = hold.to ?? Number.POSITIVE_INFINITY;
  return hold.from < one.tick && one.tick < to && subscriber.from < to;
}

const isSameTopic = (a: Place, b: Place): boolean =>
  a.gateway === b.gateway && a.device === b.device && a.kind === b.kind;

function describe({ number, gateway, device, kind, qos }: Published): string {
  return `report ${number} (${kind} of ${device} through ${gateway}, QoS ${qos})`;
}
