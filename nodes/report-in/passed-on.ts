// Reports that Node-RED had not passed on when a deploy replaced the nodes behind: they come when flows run again.
import type { Node, NodeAPI, NodeMessage } from 'node-red';
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
export class PassedOn {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #source: object;
  readonly #stops: (() => void)[];
  #messages: NodeMessage[] = [];

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
    if (this.#messages.push(message) === 1) {
      // Behind what Node-RED does then.
      setImmediate(() => {
        this.#messages = [];
      });
    }
  }

  close(): void {
    for (const stop of this.#stops) {
      stop();
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
    this.#messages = [];
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
