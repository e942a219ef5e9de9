// Reports that Node-RED had not passed on when a deploy replaced the nodes behind: they come when flows run again.
import type { Node, NodeAPI, NodeMessage } from 'node-red';
import { type Given, whenPassedOn } from '../../src/index.ts';
import { onceStarted, onStarted, onStopping } from '../shared/runtime/deploys.ts';

interface Left {
  messages: readonly NodeMessage[];
  /** The nodes that were to get them, by their ids. */
  receivers: ReadonlyMap<string, Node | null>;
  source: object;
}

/** By the ids of nodes that may be replaced, during a deploy. */
const left = new Map<string, Left>();

/** Node-RED passes a message on with the next turn of the event loop: a node that is closed before that does not get it. */
export class PassedOn implements Given {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #source: object;
  readonly #stops: (() => void)[];
  readonly #messages: NodeMessage[] = [];
  /** So many were among the messages before. */
  #gone = 0;
  #isCounted = false;

  /** @param source of the reports: where a deploy replaces it, too, the broker sends again what it was not told of */
  constructor(RED: NodeAPI, node: Node, source: object) {
    this.#RED = RED;
    this.#node = node;
    this.#source = source;
    this.#stops = [
      onStopping(RED, () => this.#keep()),
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
    if (this.#messages.length === 0) {
      return;
    }
    const { util, nodes } = this.#RED;
    const { id, wires } = this.#node as Node & { wires: string[][] };
    left.set(id, {
      // Of several receivers one that stays may change it.
      messages: this.#messages.map((message) => util.cloneMessage(message)),
      receivers: new Map(wires.flat().map((receiver) => [receiver, nodes.getNode(receiver) ?? null])),
      source: this.#source,
    });
    this.#forget(this.#messages.length);
    onceStarted(this.#RED, () => left.delete(id));
  }

  #sendAgain(): void {
    const kept = left.get(this.#node.id);
    if (kept?.source !== this.#source) {
      return;
    }
    const { messages, receivers } = kept;
    const find = (id: string) => (this.#RED.nodes.getNode(id) as Node | null | undefined) ?? null;
    const replaced = [...receivers].filter(([id, receiver]) => find(id) !== receiver);
    const toReplaced = (message: NodeMessage) => {
      for (const [id] of replaced) {
        const own = this.#RED.util.cloneMessage(message);
        // As Node-RED does, so that they stay before those that come now.
        setImmediate(() => find(id)?.receive(own));
      }
    };
    const send = (message: NodeMessage) => this.#node.send(message);
    messages.forEach(replaced.length === receivers.size ? send : toReplaced);
  }
}
