// The input messages that a node works on: `done` once for each, what the status says, and an end when the node closes.
import type { Node, NodeAPI, NodeMessage, NodeMessageInFlow } from 'node-red';
import { invalidInput, ServiceError } from '../../../src/index.ts';
import { copyWhatCanBe } from './message.ts';
import { type View, viewOfError } from './status.ts';
import { toFlowError } from './texts.ts';

export type Send = (msg: NodeMessage) => void;

/** Does a message's work and sends what comes of it; what it throws goes to `done`. */
export type Act = (msg: NodeMessageInFlow, send: Send) => Promise<void>;

/** What is still running then is told that the node was closed; Node-RED itself waits longer than a deploy should. */
const CLOSE_DEADLINE_MS = 1_500;

const READY: View = { look: 'ready', key: 'status.ready' };

interface Ground {
  RED: NodeAPI;
  node: Node;
  /** Why nothing can be done without `act`. */
  problem: Error | undefined;
  show(this: void, view: View): void;
}

interface Input {
  msg: NodeMessage;
  /** Cleared when `done` was called, so that it is called once. */
  done: ((error?: Error) => void) | undefined;
}

export class Inputs {
  act: Act | undefined;
  readonly #base: Ground;
  readonly #running = new Set<Input>();
  #service: View = READY;
  /** How the last message ended. */
  #last: View | undefined;
  #idle: (() => void) | undefined;

  constructor(base: Ground) {
    this.#base = base;
  }

  /** The state of the service, shown while the node has nothing to do and the service is not ready. */
  showService(view: View): void {
    this.#service = view;
    this.#show();
  }

  /** The last error belongs to the past: what it complained about has changed. */
  forgetLast(): void {
    this.#last = undefined;
  }

  async run(msg: NodeMessageInFlow, send: Send, done: (error?: Error) => void): Promise<void> {
    const input: Input = { msg, done };
    this.#running.add(input);
    try {
      if (!this.act) {
        throw this.#base.problem;
      }
      this.#show();
      await this.act(msg, (out) => sendWhole(out, send));
      this.#finish(input, READY);
    } catch (error) {
      const shown = toFlowError(this.#base.RED, error);
      this.#finish(input, viewOfError(shown), shown);
    }
  }

  /** Resolves when everything that was running has ended; what does not end by itself ends with CLOSED. */
  async close(): Promise<void> {
    if (this.#running.size > 0) {
      const late = setTimeout(() => this.#closeLate(), CLOSE_DEADLINE_MS);
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
      clearTimeout(late);
    }
  }

  #closeLate(): void {
    for (const input of this.#running) {
      const closed = toFlowError(this.#base.RED, new ServiceError('CLOSED', 'stopped'));
      this.#finish(input, viewOfError(closed), closed);
    }
  }

  #finish(input: Input, view: View, error?: Error): void {
    const { done } = input;
    if (!done) {
      return;
    }
    input.done = undefined;
    this.#running.delete(input);
    this.#last = view;
    this.#show();
    try {
      done(error);
    } catch (failure) {
      this.#tellWithout(input.msg, error ?? toFlowError(this.#base.RED, failure));
    }
    if (this.#running.size === 0) {
      this.#idle?.();
    }
  }

  /** Node-RED copies the message for Catch nodes, which fails where a part of it cannot be copied. */
  #tellWithout(msg: NodeMessage, error: Error): void {
    const { RED, node } = this.#base;
    try {
      node.error(error, copyWhatCanBe(RED, msg));
    } catch {
      node.error(error, {});
    }
  }

  #show(): void {
    const count = this.#running.size;
    if (count > 0) {
      this.#base.show({ look: 'working', key: 'status.working', values: { count } });
    } else {
      const isReady = this.#service.look === 'ready';
      this.#base.show(isReady ? (this.#last ?? this.#service) : this.#service);
    }
  }
}

/** Node-RED copies a message for every wire but one. */
function sendWhole(msg: NodeMessage, send: Send): void {
  try {
    send(msg);
  } catch {
    // The message is not shown: it may hold a key.
    throw invalidInput('msg', undefined, 'notCopied');
  }
}
