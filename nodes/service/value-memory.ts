// Keeps what a service has learnt over a deploy, and what it records; last values and watches over a restart, where a context store is named.
import type { NodeAPI } from 'node-red';
import {
  createCatalogue,
  differencesOf,
  fromStored,
  type LastValue,
  type Session,
  toStored,
} from '../../src/index.ts';
import { withinDeadline } from '../shared/runtime/deadline.ts';
import { isInFlows, onceStarted } from '../shared/runtime/deploys.ts';
import type { ServiceNode } from '../shared/runtime/services.ts';
import { translate } from '../shared/runtime/texts.ts';
import { isSameNetwork } from './network-name.ts';

/** What is kept over a restart; the newest. */
const MAX_STORED = 10_000;
const WRITE_INTERVAL_MS = 30_000;
/** What a watch has told is written sooner: after a kill it would be told twice, or its end never. */
const TOLD_INTERVAL_MS = 1_000;
/** A write of it may take this part of the time. */
const TOLD_SHARE = 0.05;
/** Why a store is told of that has not called back. */
const SLOW = new Error('ETIMEDOUT');
/** In the context of the config node. */
const KEY = 'lastValues';

/** Bytes of these, estimated. */
const MAX_STORED_SIZE = 16 * 1024 * 1024;
/** A store that takes longer is not waited for: a deploy must not take longer either. */
const CLOSE_DEADLINE_MS = 1_500;

/** What a store holds. */
interface Stored {
  network: string;
  /** Own properties, by which values were decoded. */
  identifiers: unknown;
  values: unknown;
  watches: unknown;
}

interface Kept {
  /** Of what they are. */
  network: string;
  /** By which it was decoded. */
  catalogue: Session['catalogue'];
  shown: Session['network'];
  lastValues: Session['lastValues'];
  watches: Session['watches'];
  deviceReports: Session['deviceReports'];
  heldReports: Session['heldReports'];
  recording: Session['recording'];
  /** Whose devices are listed. */
  portal: string;
  devices: Session['devices'];
  /** The store whose content is among them. */
  loadedFrom: string | undefined;
}

/**
 * By the id of the service, from the end of a session to the beginning of the next. Of one Node-RED: another one in the
 * same process may have a service of the same id.
 */
export type KeptMemories = Map<string, Kept>;

export interface ValueMemoryOptions {
  kept: KeptMemories;
  /** Tells the list of devices from others: the addresses of the REST half, and the user. */
  portal: string;
  /** Name of a context store; empty: nothing outlives a restart. */
  store: string;
}

export class ValueMemory {
  readonly #RED: NodeAPI;
  readonly #node: ServiceNode;
  readonly #kept: KeptMemories;
  readonly #portal: string;
  readonly #store: string;
  #session: Session | undefined;
  /** See `networkOf`. */
  #network = '';
  /** What the session cannot use: one of its halves is wrong, and may be right again with the next deploy. */
  #unused: Partial<Pick<Kept, 'devices' | 'portal' | 'recording'>> = {};
  #timer: NodeJS.Timeout | undefined;
  /** Of the timer. */
  #dueAt = 0;
  /** When the store was read or written last. */
  #beganAt = 0;
  /** Milliseconds of the last write. */
  #writeMs = 0;
  #isChanged = false;
  /** What the store holds is known: from now on it can be replaced. */
  #isLoaded = false;
  #loading: Promise<void> | undefined;
  #writing: Promise<void> | undefined;
  #hasToldFault = false;

  constructor(RED: NodeAPI, node: ServiceNode, { kept, portal, store }: ValueMemoryOptions) {
    this.#RED = RED;
    this.#node = node;
    this.#kept = kept;
    this.#portal = portal;
    this.#store = store;
    this.#tellStore();
  }

  /** A session begins: it gets what is known of before. @param network see `networkOf` */
  open(session: Session, network: string): void {
    this.#session = session;
    this.#network = network;
    const kept = this.#takeKept();
    if (kept) {
      session.lastValues.takeOver(kept.lastValues);
      session.network.takeOver(kept.shown, differencesOf(kept.catalogue, session.catalogue));
      session.watches.takeOver(kept.watches);
      session.deviceReports.takeOver(kept.deviceReports);
      session.heldReports.takeOver(kept.heldReports);
    }
    if (kept?.recording) {
      session.recording?.takeOver(kept.recording);
    }
    this.#unused = {
      ...(kept && !session.devices && { devices: kept.devices, portal: kept.portal }),
      ...(kept && !session.recording && { recording: kept.recording }),
    };
    if (kept?.devices && kept.portal === this.#portal) {
      session.devices?.takeOver(kept.devices);
    }
    if (this.#store === '') {
      return;
    }
    session.lastValues.onChange = () => this.#changed();
    session.watches.onChange = () => this.#changed();
    session.watches.onTold = () => {
      const ms = Math.max(TOLD_INTERVAL_MS, this.#writeMs / TOLD_SHARE);
      this.#changed(Math.min(ms, WRITE_INTERVAL_MS));
    };
    this.#isLoaded = kept?.loadedFrom === this.#store;
    if (!this.#isLoaded) {
      void this.#load();
    }
    if (session.lastValues.size > 0) {
      this.#changed();
    }
  }

  #takeKept(): Kept | undefined {
    const { id } = this.#node;
    const kept = this.#kept.get(id);
    this.#kept.delete(id);
    if (kept && !isSameNetwork(kept.network, this.#network)) {
      this.#giveUp(kept.heldReports);
      kept.recording?.close();
      return undefined;
    }
    return kept;
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
    if (session) {
      session.lastValues.onChange = undefined;
      session.watches.onChange = undefined;
      session.watches.onTold = undefined;
    }
    if (isFinal) {
      const kept = session ?? this.#kept.get(this.#node.id);
      this.#giveUp(kept?.heldReports);
      (this.#unused.recording ?? kept?.recording)?.close();
      this.#kept.delete(this.#node.id);
    } else {
      if (session) {
        this.#keep(session);
      }
      this.#forgetUnlessBack();
    }
    // Small changes of what watches have learnt are written now only.
    const isChanged = session && (this.#isChanged || session.watches.areUsed);
    const isDue = this.#store !== '' && (isFinal || (isChanged && this.#isLoaded));
    const writing = isDue ? this.#write(isFinal ? undefined : session) : this.#writing;
    if (writing !== undefined) {
      await withinDeadline(writing, CLOSE_DEADLINE_MS, () => this.#tellFault(SLOW));
    }
  }

  /** When the flows run: nodes may leave the session later than their service does. */
  #giveUp(held: Session['heldReports'] | undefined): void {
    onceStarted(this.#RED, () => held?.giveUpAll());
  }

  #keep(session: Session): void {
    const { network: shown, catalogue, lastValues, watches, deviceReports, heldReports } = session;
    const { recording, devices } = session;
    const [network, portal] = [this.#network, this.#portal];
    const loadedFrom = this.#isLoaded ? this.#store : undefined;
    this.#kept.set(this.#node.id, {
      ...{ network, catalogue, shown, lastValues, watches, deviceReports, heldReports, recording },
      ...{ portal, devices, ...this.#unused, loadedFrom },
    });
  }

  /**
   * A service that was inside a subflow goes with its instance, which Node-RED does not tell it. Of a disabled one only
   * what is stored stays.
   */
  #forgetUnlessBack(): void {
    const { id } = this.#node;
    onceStarted(this.#RED, () => {
      if (!this.#RED.nodes.getNode(id)) {
        const kept = this.#kept.get(id);
        kept?.heldReports.giveUpAll();
        kept?.recording?.close();
        this.#kept.delete(id);
        if (this.#store !== '' && !isInFlows(this.#RED, id)) {
          void this.#write(undefined);
        }
      }
    });
  }

  /** What cannot be read is tried again before anything is written in its place. */
  #load(): Promise<void> {
    // A store may never call back, and is not asked twice at a time.
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** For the session that is open when it comes, which may be a later one. */
  async #read(): Promise<void> {
    this.#beganAt = performance.now();
    try {
      const stored = await new Promise<unknown>((resolve, reject) => {
        this.#node
          .context()
          .get(KEY, this.#store, (error: unknown, value: unknown) =>
            error ? reject(toError(error)) : resolve(value),
          );
      });
      if (this.#session && !this.#isLoaded) {
        const { identifiers, values, watches } = this.#contentOf(stored);
        this.#session.lastValues.restore(values, differencesTo(this.#session.catalogue, identifiers));
        this.#session.watches.restore(watches);
        this.#isLoaded = true;
      }
    } catch (error) {
      this.#tellFault(error);
    }
  }

  /** Those of another network are replaced with the next change. */
  #contentOf(stored: unknown): { identifiers?: unknown; values: LastValue[]; watches: unknown } {
    const { network, identifiers, values, watches } = (stored ?? {}) as Partial<Stored>;
    return isSameNetwork(network, this.#network)
      ? { identifiers, values: fromStored(values), watches }
      : { values: [], watches: {} };
  }

  /** @param ms until it is written at the latest */
  #changed(ms = WRITE_INTERVAL_MS): void {
    this.#isChanged = true;
    const dueAt = performance.now() + ms;
    if (this.#timer !== undefined && this.#dueAt <= dueAt) {
      return;
    }
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#writeChanges();
    }, ms).unref();
  }

  async #writeChanges(): Promise<void> {
    const session = this.#session;
    if (session && (this.#writing ?? this.#loading) !== undefined) {
      if (performance.now() - this.#beganAt >= WRITE_INTERVAL_MS) {
        this.#tellFault(SLOW);
      }
      this.#changed();
      return;
    }
    if (session && !this.#isLoaded) {
      await this.#load();
    }
    if (session && session === this.#session && this.#isLoaded) {
      await this.#write(session);
    } else if (session && session === this.#session) {
      this.#changed();
    }
  }

  /** One after the other, or the older content could win. @param session undefined: the store is emptied */
  #write(session: Session | undefined): Promise<void> {
    // Taken now: when its turn comes, a later session may have taken over what this one knew.
    const values = session?.lastValues.newest(MAX_STORED, MAX_STORED_SIZE) ?? [];
    const watches = session?.watches.store(MAX_STORED) ?? {};
    const identifiers = session?.catalogue.own ?? [];
    this.#isChanged = false;
    const writing = Promise.resolve(this.#writing).then(() => this.#set(values, { identifiers, watches }));
    this.#writing = writing;
    return writing.finally(() => {
      if (this.#writing === writing) {
        this.#writing = undefined;
      }
    });
  }

  /** A store that is slow or full costs no report, and is told once. */
  async #set(newest: LastValue[], others: Pick<Stored, 'identifiers' | 'watches'>): Promise<void> {
    this.#beganAt = performance.now();
    const values = await toStored(newest);
    const stored: Stored = { network: this.#network, ...others, values };
    try {
      await new Promise<void>((resolve, reject) => {
        this.#node
          .context()
          .set(KEY, stored, this.#store, (error) => (error ? reject(toError(error)) : resolve()));
      });
      this.#hasToldFault = false;
    } catch (error) {
      this.#isChanged = true;
      this.#tellFault(error);
    }
    this.#writeMs = performance.now() - this.#beganAt;
  }

  #tellFault(error: unknown): void {
    if (!this.#hasToldFault) {
      this.#hasToldFault = true;
      const values = { store: this.#store, reason: toError(error).message };
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

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** Where nothing is set there is one store; the editor calls it `memory`. */
const storesOf = (stores: unknown): Record<string, unknown> =>
  (stores ?? { default: { module: 'memory' }, memory: { module: 'memory' } }) as Record<string, unknown>;

/** The stores that keep nothing over a restart, for the editor, which is told only the names of all. */
export const forgetfulStores = (stores: unknown): string[] =>
  Object.keys(storesOf(stores)).filter((name) => findStoreProblem(stores, name) === 'memory');

/**
 * @param stores `contextStorage` of Node-RED's settings: modules by name, or the name of another one
 * @returns `unknown` or `memory`; undefined when it keeps its content over a restart
 */
function findStoreProblem(stores: unknown, name: string): 'unknown' | 'memory' | undefined {
  const all = storesOf(stores);
  const found = Object.hasOwn(all, name) ? all[name] : undefined;
  const store = typeof found === 'string' && Object.hasOwn(all, found) ? all[found] : found;
  if (store === undefined) {
    return 'unknown';
  }
  const module: unknown = (store as { module?: unknown } | null)?.module ?? store;
  return module === 'memory' ? 'memory' : undefined;
}

/**
 * Of which properties the catalogue decodes otherwise than one with these entries.
 * @param identifiers of a store, where anything may stand; one of an older version has none
 */
function differencesTo(
  catalogue: Session['catalogue'],
  identifiers: unknown,
): ReturnType<typeof differencesOf> {
  try {
    return identifiers === undefined ? undefined : differencesOf(createCatalogue(identifiers), catalogue);
  } catch {
    return undefined;
  }
}
