// Reports that Node-RED had not passed on when a deploy began: it gives them to nobody before flows run again.
import type { Node, NodeAPI, NodeMessage } from 'node-red';
import { type Given, whenPassedOn } from '../../src/index.ts';
import { onceStarted, onStarted, onStopping } from '../shared/runtime/deploys.ts';

const HOOK = 'onReceive.mt-report-in';

/** By the ids of their nodes, during a deploy, which may replace these. */
const left = new Map<string, readonly NodeMessage[]>();
/** Of this turn, by their ids: the nodes that do not get them now. */
let heldBack: Map<string, ReadonlySet<string>> | undefined;

/**
 * Node-RED passes a message on with the next turn of the event loop. A node that is closed before that does not get it, and
 * one that stays may send it on to one that is closed. A full deploy closes all, and the service: the broker sends again what
 * it was not told of.
 */
export class PassedOn implements Given {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #stops: (() => void)[];
  readonly #messages: NodeMessage[] = [];
  /** So many were among the messages before. */
  #gone = 0;
  #isCounted = false;

  constructor(RED: NodeAPI, node: Node) {
    this.#RED = RED;
    this.#node = node;
    this.#stops = [
      onStopping(RED, (replaced) => replaced?.type !== 'full' && this.#keep()),
      // Before reports go on.
      onStarted(RED, () => this.#sendAgain(), 'nodes'),
    ];
  }

  send(message: NodeMessage): void {
    this.#node.send(message);
    this.#messages.push(message);
    if (!this.#isCounted) {
      this.#isCounted = true;
      whenPassedOn(this);
    }
  }

  count(): number {
    this.#isCounted = false;
    return this.#gone + this.#messages.length;
  }

  passedOn(count: number): void {
    this.#forget(count - this.#gone);
  }

  close(): void {
    for (const stop of this.#stops) {
      stop();
    }
  }

  #forget(count: number): void {
    this.#gone += Math.max(count, 0);
    if (count >= this.#messages.length) {
      this.#messages.length = 0;
    } else if (count > 0) {
      this.#messages.splice(0, count);
    }
  }

  #keep(): void {
    const { settings } = this.#RED as { settings: { runtimeSyncDelivery?: unknown } };
    // With this setting of Node-RED all have them already.
    if (this.#messages.length > 0 && !settings.runtimeSyncDelivery) {
      const { id, wires } = this.#node as Node & { wires: string[][] };
      left.set(id, [...this.#messages]);
      holdBack(this.#RED, this.#messages, new Set(wires.flat()));
      this.#forget(this.#messages.length);
      onceStarted(this.#RED, () => left.delete(id));
    }
  }

  #sendAgain(): void {
    for (const message of left.get(this.#node.id) ?? []) {
      this.#node.send(message);
    }
  }
}

/** For the rest of this turn, in which Node-RED would pass them on. */
function holdBack(RED: NodeAPI, messages: readonly NodeMessage[], receivers: ReadonlySet<string>): void {
  if (heldBack === undefined) {
    const all = new Map<string, ReadonlySet<string>>();
    heldBack = all;
    RED.hooks.add(HOOK, ({ msg, destination }) =>
      all.get(msg?._msgid ?? '')?.has(destination.id) ? false : undefined,
    );
    setImmediate(() => {
      RED.hooks.remove(HOOK);
      heldBack = undefined;
    });
  }
  for (const { _msgid = '' } of messages) {
    heldBack.set(_msgid, receivers);
  }
}
