// What was published, who had it and who has acknowledged it: what each node must have, and what must not come again.
import { type Kind, matches, NODE_NAMES, type NodeName, type Wish } from './confirmed-settings.ts';

export interface Published {
  number: number;
  gateway: string;
  kind: Kind;
  /** Confirming nodes that have asked for it since it was published. */
  wantedBy: Set<NodeName>;
  /** Those of them that have not acknowledged it. */
  owed: Set<NodeName>;
  /** Others that have asked for it since, and have not had it. */
  awaitedBy: Set<NodeName>;
  /** Which nodes had it since the service has started. */
  given: Set<NodeName>;
  /** By node, what its acknowledgement names. */
  open: Map<NodeName, string>;
  /** Since the service has started. */
  wasOpened: boolean;
  /** As `open`, of nodes that ask for others now: it is given up soon, and when that is is not told. */
  givenUp: Map<NodeName, string>;
  /** The one call is not over that gives it to all nodes. */
  isArriving: boolean;
  /** It has not come since the service has started, or comes at least once, since no node had it open. */
  mayArrive: boolean;
  /** All had acknowledged it before the service was started anew. */
  isDone: boolean;
}

/** Of one service that is started anew now and then. */
export class ConfirmedLedger {
  readonly published: Published[] = [];
  /** What must never happen, and has. */
  readonly faults: string[] = [];
  readonly wishes = new Map<NodeName, Wish | undefined>();
  connections = 0;
  arrivals = 0;
  acknowledged = 0;

  /** @param number unique */
  publish(number: number, gateway: string, kind: Kind): void {
    const place = { gateway, kind };
    const wanting = NODE_NAMES.filter((name) => this.#wants(name, place));
    const confirming = wanting.filter((name) => this.wishes.get(name)?.isConfirming);
    this.published[number] = {
      ...{ number, ...place },
      wantedBy: new Set(confirming),
      owed: new Set(confirming),
      awaitedBy: new Set(wanting.filter((name) => !confirming.includes(name))),
      given: new Set(),
      open: new Map(),
      givenUp: new Map(),
      ...{
        wasOpened: false,

        isArriving: false,
        mayArrive: true,
        isDone: false,
      },
    };
  }

  /** A node asks for something else from now on, or is removed. */
  change(name: NodeName, wish: Wish | undefined): void {
    this.wishes.set(name, wish);
    for (const one of this.published) {
      const isWanted = wish !== undefined && matches(wish, one);
      if (!isWanted) {
        one.awaitedBy.delete(name);
      }
      if (!isWanted || !wish.isConfirming) {
        one.wantedBy.delete(name);
        one.owed.delete(name);
        const delivery = one.open.get(name);
        one.open.delete(name);
        if (delivery !== undefined && wish !== undefined) {
          one.givenUp.set(name, delivery);
        }
      }
    }
  }

  /** A node was given a report. @param delivery names it for the acknowledgement */
  note(name: NodeName, number: number, delivery: string | undefined, isRedelivered: boolean): void {
    this.arrivals++;
    const one = this.published[number];
    const fault = (text: string) => this.faults.push(`report ${number} came to ${name} ${text}`);
    if (!one) {
      fault('and was never published');
      return;
    }
    const wish = this.wishes.get(name);
    const isFirst = !one.given.has(name);
    if (!one.isArriving && !isRedelivered) {
      one.mayArrive = one.given.size === 0 || !one.wasOpened;
    }
    if (!wish || !matches(wish, one)) {
      fault('that did not want it');
    } else if (one.isDone) {
      fault('again, though all had acknowledged it before the service was started anew');
    } else if (wish.isConfirming !== (delivery !== undefined)) {
      fault(`with the delivery ${delivery}`);
    } else if (isRedelivered && !this.#isOpen(one, name, delivery)) {
      fault('marked as sent again, though it is not open there');
    } else if (!isRedelivered && !one.mayArrive) {
      fault(isFirst ? 'after it had come to others' : 'twice');
    }
    one.given.add(name);
    one.awaitedBy.delete(name);
    if (delivery !== undefined) {
      one.open.set(name, delivery);
      one.wasOpened = true;
    }
    one.isArriving ||= !isRedelivered;
    queueMicrotask(() => {
      one.isArriving = false;
    });
  }

  /** A node's flow has acknowledged it, or it was sent there as often as it may be. */
  confirmed(name: NodeName, one: Published): void {
    this.acknowledged++;
    one.open.delete(name);
    one.owed.delete(name);
  }

  /** The broker was told that this one need not be kept. */
  told({ number, owed, awaitedBy }: Published): void {
    const missing = [...owed, ...awaitedBy];
    if (missing.length > 0) {
      this.faults.push(`the broker was told of report ${number} before ${missing.join(' and ')} had it`);
    }
  }

  /** The service has ended; what was not acknowledged comes again to the next one. */
  restart(): void {
    for (const one of this.published) {
      one.isDone ||= one.wasOpened && one.open.size === 0 && one.owed.size === 0 && one.givenUp.size === 0;
      if (one.owed.size > 0) {
        one.owed = new Set(one.wantedBy);
      }
      one.given.clear();
      one.open.clear();
      one.wasOpened = false;
      one.givenUp.clear();
    }
  }

  /** What was open longest is first. */
  get open(): { one: Published; name: NodeName; delivery: string }[] {
    return this.published.flatMap((one) =>
      [...one.open].map(([name, delivery]) => ({ one, name, delivery })),
    );
  }

  /** What has not come, in words. */
  get missing(): string[] {
    return this.published.flatMap(({ number, owed, awaitedBy }) =>
      [...owed, ...awaitedBy].map((name) => `report ${number} has not come to ${name}`),
    );
  }

  #isOpen({ open, givenUp }: Published, name: NodeName, delivery: string | undefined): boolean {
    return delivery !== undefined && (open.get(name) ?? givenUp.get(name)) === delivery;
  }

  #wants(name: NodeName, place: { gateway: string; kind: Kind }): boolean {
    const wish = this.wishes.get(name);
    return wish !== undefined && matches(wish, place);
  }
}
