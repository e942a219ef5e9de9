// Keeps the last values of a service over a deploy, and over a restart where a context store is named.
import type { NodeAPI } from 'node-red';
import { fromStored, type LastValue, type Session, toStored } from '../../src/index.ts';
import type { ServiceNode } from '../shared/runtime/services.ts';
import { translate } from '../shared/runtime/texts.ts';

/** What is kept over a restart; the newest. */
const MAX_STORED = 10_000;
const WRITE_INTERVAL_MS = 30_000;
/** In the context of the config node. */
const KEY = 'lastValues';

/** By the id of the service, from the end of a session to the beginning of the next. */
const KEPT = new Map<string, LastValue[]>();

export class ValueMemory {
  readonly #RED: NodeAPI;
  readonly #node: ServiceNode;
  /** Name of a context store; empty: nothing outlives a restart. */
  readonly #store: string;
  #session: Session | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isChanged = false;
  #isWriting = false;
  #hasToldFault = false;

  constructor(RED: NodeAPI, node: ServiceNode, store: string) {
    this.#RED = RED;
    this.#node = node;
    this.#store = store;
    this.#tellStore();
  }

  /** A session begins: it gets what is known of before. */
  open(session: Session): void {
    this.#session = session;
    const kept = KEPT.get(this.#node.id);
    KEPT.delete(this.#node.id);
    if (kept) {
      session.lastValues.restore(kept);
    }
    if (this.#store === '') {
      return;
    }
    if (!kept) {
      this.#load(session);
    }
    session.lastValues.onChange = () => this.#changed();
  }

  /**
   * The session ends.
   * @param isFinal nobody comes back: what is known is of a network that is not the service's any more
   */
  async close(isFinal: boolean): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!session) {
      return;
    }
    session.lastValues.onChange = undefined;
    const values = isFinal ? [] : session.lastValues.newest(Number.POSITIVE_INFINITY);
    if (values.length > 0) {
      KEPT.set(this.#node.id, values);
    }
    if (this.#store !== '' && (this.#isChanged || isFinal)) {
      await this.#write(values.slice(-MAX_STORED));
    }
  }

  #load(session: Session): void {
    try {
      this.#node.context().get(KEY, this.#store, (error: unknown, stored: unknown) => {
        if (error) {
          this.#tellFault(error);
        } else if (session === this.#session) {
          session.lastValues.restore(fromStored(stored));
        }
      });
    } catch (error) {
      this.#tellFault(error);
    }
  }

  #changed(): void {
    this.#isChanged = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#session && !this.#isWriting) {
        void this.#write(this.#session.lastValues.newest(MAX_STORED));
      }
    }, WRITE_INTERVAL_MS).unref();
  }

  /** A store that is slow or full costs no report, and is told once. */
  async #write(values: LastValue[]): Promise<void> {
    this.#isWriting = true;
    this.#isChanged = false;
    try {
      await new Promise<void>((resolve, reject) => {
        this.#node
          .context()
          .set(KEY, toStored(values), this.#store, (error) => (error ? reject(error) : resolve()));
      });
      this.#hasToldFault = false;
    } catch (error) {
      this.#tellFault(error);
    } finally {
      this.#isWriting = false;
    }
  }

  #tellFault(error: unknown): void {
    if (!this.#hasToldFault) {
      this.#hasToldFault = true;
      const values = { store: this.#store, reason: error instanceof Error ? error.message : String(error) };
      this.#node.warn(translate(this.#RED, 'remember.failed', values));
    }
  }

  /** What was named in good faith and keeps nothing. */
  #tellStore(): void {
    if (this.#store === '') {
      return;
    }
    const problem = findStoreProblem(this.#RED.settings.contextStorage, this.#store);
    if (problem !== undefined) {
      this.#node.warn(translate(this.#RED, `remember.${problem}`, { store: this.#store }));
    }
  }
}

/**
 * @param stores `contextStorage` of Node-RED's settings: modules by name, or the name of another one
 * @returns `unknown` or `memory`; undefined when it keeps its content over a restart
 */
export function findStoreProblem(stores: unknown, name: string): 'unknown' | 'memory' | undefined {
  const all = (stores ?? { default: { module: 'memory' } }) as Record<string, unknown>;
  const found = Object.hasOwn(all, name) ? all[name] : undefined;
  const store = typeof found === 'string' && Object.hasOwn(all, found) ? all[found] : found;
  if (store === undefined) {
    return 'unknown';
  }
  const module: unknown = (store as { module?: unknown } | null)?.module ?? store;
  return module === 'memory' ? 'memory' : undefined;
}
