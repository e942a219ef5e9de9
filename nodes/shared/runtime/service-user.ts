// Keeps a node at the session of the service that it names, also when the service is replaced and the node is not.
import type { Node, NodeAPI } from 'node-red';
import { onStarted } from './deploys.ts';
import { findService, type ServiceNode } from './services.ts';

/** What a node has open at a session. */
export interface Opened {
  /** @param removed false when the node comes back, or goes over to another session */
  close(removed: boolean): Promise<void>;
}

/** @param isRunning true when all nodes are there; false while a deploy makes them */
type Open<Kind> = (service: ServiceNode | undefined, isRunning: boolean) => Kind;

/**
 * A deploy of modified nodes restarts those that have the id of a changed service in a property; a node that names its
 * service by a variable stays. So does one whose service has only changed its session. Both go over to the new session.
 */
export class ServiceUser<Kind extends Opened> {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #id: string;
  readonly #open: Open<Kind>;
  readonly #ending = new Set<Promise<void>>();
  readonly #follow = () => this.#look();
  readonly #ignoreStarts: () => void;
  #service: ServiceNode | undefined;
  #session: ServiceNode['session'];
  #problem: ServiceNode['problem'];
  #opened: Kind;

  /** @param id what the node names as its service */
  constructor(RED: NodeAPI, node: Node, id: string, open: Open<Kind>) {
    this.#RED = RED;
    this.#node = node;
    this.#id = id;
    this.#open = open;
    this.#ignoreStarts = onStarted(RED, this.#follow, 'nodes');
    this.#opened = this.#join(findService(RED, id), false);
  }

  get opened(): Kind {
    return this.#opened;
  }

  async close(removed: boolean): Promise<void> {
    this.#ignoreStarts();
    this.#leave();
    await Promise.all([...this.#ending, this.#opened.close(removed)]);
  }

  #look(): void {
    const service = findService(this.#RED, this.#id);
    const isSame =
      service === this.#service && service?.session === this.#session && service?.problem === this.#problem;
    if (isSame) {
      return;
    }
    this.#leave();
    const end: Promise<void> = this.#opened.close(false).finally(() => this.#ending.delete(end));
    this.#ending.add(end);
    this.#opened = this.#join(service, true);
  }

  #join(service: ServiceNode | undefined, isRunning: boolean): Kind {
    this.#service = service;
    this.#session = service?.session;
    this.#problem = service?.problem;
    if (service) {
      service.users[this.#node.id] = this.#node;
      service.followers.add(this.#follow);
    }
    return this.#open(service, isRunning);
  }

  #leave(): void {
    const service = this.#service;
    service?.followers.delete(this.#follow);
    if (service?.users[this.#node.id] === this.#node) {
      delete service.users[this.#node.id];
    }
  }
}
