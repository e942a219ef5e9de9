// Whether a broker knows shared subscriptions: some take `$share/…` for a plain topic, grant it and deliver nothing.
import { randomBytes } from 'node:crypto';
import { FifoMap } from '../collections/fifo-map.ts';
import { shareOf, type Topics } from '../protocol/topics.ts';
import type { MqttSettings } from '../settings.ts';

/** `plain`: nothing reaches a member of the group; `unknown`: it could not be tried, since it takes publishing. */
export type GroupVerdict = 'shared' | 'plain' | 'unknown';

export interface GroupTransport {
  /** Asks for the filter and calls back once the broker granted or refused it. */
  ensureFilter(filter: string, settled: (refused: boolean) => void): void;
  releaseFilter(filter: string): void;
  publish(topic: string, payload: string, qos: 0, done: () => void): void;
}

/** What was published last is back, and what was published before it is not: so long it may still come. */
const GRACE_MS = 1_000;

/** One try over the connection that there is, with a topic of its own: neither a gateway nor a flow gets it. */
export class SharedGroupCheck {
  readonly #transport: GroupTransport;
  readonly #done: (verdict: GroupVerdict) => void;
  readonly #shared: string;
  readonly #topics: { shared: string; plain: string };
  #timer: NodeJS.Timeout | undefined;
  #isDone = false;

  /**
   * Begins at once.
   * @param maxMs milliseconds after which it ends as `unknown`
   * @param done called once
   */
  constructor(
    topics: Topics,
    group: string,
    transport: GroupTransport,
    maxMs: number,
    done: (verdict: GroupVerdict) => void,
  ) {
    this.#transport = transport;
    this.#done = done;
    // Locally administered addresses: no gateway and no device has one.
    const address = `02${randomBytes(5).toString('hex')}`;
    this.#topics = {
      shared: topics.request(address, address, 'check/shared'),
      plain: topics.request(address, address, 'check/plain'),
    };
    this.#shared = shareOf(group) + this.#topics.shared;
    this.#timer = setTimeout(() => this.end('unknown'), maxMs);
    this.#start();
  }

  /** Takes a message. @returns whether it belongs to this check */
  receive(topic: string): boolean {
    if (topic === this.#topics.shared) {
      this.end('shared');
      return true;
    }
    if (topic !== this.#topics.plain) {
      return false;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end('plain'), GRACE_MS);
    return true;
  }

  /** Ends it early with what is known, such as `unknown` when the connection is lost. */
  end(verdict: GroupVerdict): void {
    if (this.#isDone) {
      return;
    }
    this.#isDone = true;
    clearTimeout(this.#timer);
    this.#transport.releaseFilter(this.#shared);
    this.#transport.releaseFilter(this.#topics.plain);
    this.#done(verdict);
  }

  #start(): void {
    let missing = 2;
    const settled = (refused: boolean) => {
      if (refused) {
        this.end('unknown');
      } else if (--missing === 0 && !this.#isDone) {
        this.#publish(this.#topics.shared);
        this.#publish(this.#topics.plain);
      }
    };
    this.#transport.ensureFilter(this.#shared, settled);
    this.#transport.ensureFilter(this.#topics.plain, settled);
  }

  #publish(topic: string): void {
    this.#transport.publish(topic, '{}', 0, () => {});
  }
}

/** Longer than a backlog of some seconds takes to be read. */
const MAX_CHECK_MS = 8_000;
const MAX_VERDICTS = 1_000;

/** By broker and group; it outlives a redeploy, since a broker may end the connection of whoever publishes there. */
const VERDICTS = new FifoMap<GroupVerdict>(MAX_VERDICTS);

type GroupSettings = Pick<MqttSettings, 'sharedGroup' | 'protocolVersion' | 'limits'>;

/** The group of a service, tried once where nobody says whether the broker knows groups. */
export class SharedGroup {
  readonly #settings: GroupSettings;
  readonly #topics: Topics;
  readonly #transport: GroupTransport;
  readonly #changed: () => void;
  #broker = '';
  #check: SharedGroupCheck | undefined;
  #isPlain = false;
  /** Over the present connection, or there is none. */
  #isTried = true;
  #isClosed = false;

  /** @param changed called when `isPlain` has changed */
  constructor(settings: GroupSettings, topics: Topics, transport: GroupTransport, changed: () => void) {
    this.#settings = settings;
    this.#topics = topics;
    this.#transport = transport;
    this.#changed = changed;
  }

  /** The broker takes the group's filters for plain topics: no report comes. */
  get isPlain(): boolean {
    return this.#isPlain;
  }

  get isChecking(): boolean {
    return this.#check !== undefined;
  }

  /** Call when a connection begins. */
  connected(broker: string): void {
    this.#broker = broker;
    this.#isTried = false;
    this.#isClosed = false;
    this.#isPlain = VERDICTS.get(this.#key) === 'plain';
  }

  /** @param isClosed it was not the broker that has ended the connection, so that this says nothing of the group */
  lost(isClosed: boolean): void {
    this.#isTried = true;
    this.#isClosed = isClosed;
    this.#check?.end('unknown');
  }

  /** Call when the broker has granted or refused everything. In MQTT 5 a broker says itself what it does not know. */
  synced(): void {
    const { sharedGroup, protocolVersion, limits } = this.#settings;
    const isKnown = protocolVersion === 5 || limits.hasSharedGroups !== undefined;
    // Of few subscriptions none is left for it.
    if (sharedGroup === '' || isKnown || limits.maxSubscriptions !== undefined || this.#isTried) {
      return;
    }
    this.#isTried = true;
    const verdict = VERDICTS.get(this.#key);
    // A broker that knew no groups may have learnt them; one that could not be asked is left in peace.
    if (this.#check || verdict === 'shared' || verdict === 'unknown') {
      return;
    }
    void this.try(sharedGroup, MAX_CHECK_MS).then((verdict) => {
      if (this.#isClosed) {
        return;
      }
      VERDICTS.add(this.#key, verdict);
      this.#isPlain = verdict === 'plain';
      this.#changed();
    });
  }

  /** @param maxMs milliseconds after which it is `unknown` */
  try(group: string, maxMs: number): Promise<GroupVerdict> {
    return new Promise((resolve) => {
      this.#check = new SharedGroupCheck(this.#topics, group, this.#transport, maxMs, (verdict) => {
        this.#check = undefined;
        resolve(verdict);
      });
    });
  }

  /** Takes a message. @returns whether it belongs to a check */
  receive(topic: string): boolean {
    return this.#check?.receive(topic) === true;
  }

  get #key(): string {
    return `${this.#broker} ${this.#settings.sharedGroup}`;
  }
}
