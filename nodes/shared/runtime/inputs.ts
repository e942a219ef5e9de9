// The input messages that a node handles: `done` is called once for each, the status counts them, and they end when the node closes.
import type { Node, NodeAPI, NodeMessage, NodeMessageInFlow } from 'node-red';
import { invalidInput, ServiceError } from '../../../src/index.ts';
import { copyCopyable } from './message.ts';
import { type Status, statusOfError } from './status.ts';
import { toErrorOfMessage, toFlowError } from './texts.ts';

export type Send = (msg: NodeMessage) => void;

/** Handles one message and sends the results; what it throws goes to `done`. Without a promise it is done at once. */
export type InputHandler = (msg: NodeMessageInFlow, send: Send) => Promise<void> | void;

/** What is still running after this time ends with CLOSED; Node-RED itself waits longer than a deploy should take. */
const CLOSE_DEADLINE_MS = 1_500;

const READY: Status = { style: 'ready', key: 'status.ready' };
/** Of a service that gets on with nothing before its next attempt: messages that wait for it are not worked on. */
const STANDING_STILL: ReadonlySet<string> = new Set(['status.waiting', 'status.refused']);

interface InputContext {
  RED: NodeAPI;
  node: Node;
  /** Why there is no handler. */
  problem: Error | undefined;
  show(this: void, status: Status): void;
}

interface Input {
  msg: NodeMessage;
  /** Cleared when `done` was called, so that it is called once. */
  done: ((error?: Error) => void) | undefined;
}

export class Inputs {
  handler: InputHandler | undefined;
  readonly #context: InputContext;
  readonly #running = new Set<Input>();
  #service: Status = READY;
  /** What is shown in place of a service that is ready. */
  #ready: Status | undefined;
  /** How the last message failed. */
  #last: Status | undefined;
  #idle: (() => void) | undefined;

  constructor(context: InputContext) {
    this.#context = context;
  }

  /** The state of the service, shown while it is not ready and the node has nothing to do, or cannot do it. */
  showService(status: Status): void {
    this.#service = status;
    this.#show();
  }

  /** Shown while there is nothing to do, the service is ready and the last message did not fail; undefined: the service. */
  showReady(status: Status | undefined): void {
    this.#ready = status;
    this.#show();
  }

  /** Forgets how the last message failed: its cause may be over. */
  forgetLast(): void {
    this.#last = undefined;
  }

  handle(msg: NodeMessageInFlow, send: Send, done: (error?: Error) => void): void {
    const input: Input = { msg, done };
    try {
      if (!this.handler) {
        throw this.#context.problem;
      }
      const handled = this.handler(msg, (out) => sendChecked(out, send));
      if (handled) {
        void this.#follow(input, handled);
      } else {
        // One word for what is fine, that of the service: no node changes between two.
        this.#finish(input, undefined);
      }
    } catch (error) {
      this.#fail(input, error);
    }
  }

  async #follow(input: Input, handled: Promise<void>): Promise<void> {
    this.#running.add(input);
    try {
      this.#show();
      await handled;
      this.#finish(input, undefined);
    } catch (error) {
      this.#fail(input, error);
    }
  }

  #fail(input: Input, error: unknown): void {
    const shown = toErrorOfMessage(this.#context.RED, error);
    this.#finish(input, statusOfError(shown), shown);
  }

  /** How many messages have not ended. */
  get running(): number {
    return this.#running.size;
  }

  /** Resolves when everything that was running has ended; what does not end by itself ends with CLOSED. */
  async close(): Promise<void> {
    if (this.#running.size > 0) {
      const late = setTimeout(() => this.#closeUnfinished(), CLOSE_DEADLINE_MS);
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
      clearTimeout(late);
    }
  }

  #closeUnfinished(): void {
    for (const input of this.#running) {
      const closed = toFlowError(this.#context.RED, new ServiceError('CLOSED', 'stopped'));
      this.#finish(input, statusOfError(closed), closed);
    }
  }

  #finish(input: Input, status: Status | undefined, error?: Error): void {
    const { done } = input;
    if (!done) {
      return;
    }
    input.done = undefined;
    this.#running.delete(input);
    this.#last = status;
    try {
      done(error);
    } catch {
      this.#reportError(input.msg, error ?? toFlowError(this.#context.RED, notCopied()));
    }
    this.#show();
    if (this.#running.size === 0) {
      this.#idle?.();
    }
  }

  /** Node-RED copies the message for Catch and Complete nodes, which fails where a part of it cannot be copied. */
  #reportError(msg: NodeMessage, error: Error): void {
    const { RED, node } = this.#context;
    try {
      node.error(error, copyCopyable(RED, msg));
    } catch {
      node.error(error, {});
    }
  }

  #show(): void {
    const count = this.#running.size;
    const isReady = this.#service.style === 'ready';
    const idle = isReady ? (this.#last ?? this.#ready ?? this.#service) : this.#service;
    const isWorking = count > 0 && !STANDING_STILL.has(this.#service.key);
    try {
      this.#context.show(isWorking ? { style: 'working', key: 'status.working', values: { count } } : idle);
    } catch {
      // Somebody else listens to statuses and has thrown: no message is kept from its end by that.
    }
  }
}

/** Node-RED copies a message for every wire but one, which fails where a part of it cannot be copied. */
function sendChecked(msg: NodeMessage, send: Send): void {
  try {
    send(msg);
  } catch {
    throw notCopied();
  }
}

/** The message is not shown: it may contain a key. */
const notCopied = (): ServiceError => invalidInput('msg', undefined, 'notCopied');
