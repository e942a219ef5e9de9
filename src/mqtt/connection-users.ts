// Who needs the broker connection: the first user or request opens it, and it is left a while after the last.
import type { Connection } from './connection.ts';
import type { Requests } from './requests.ts';

/** A redeploy takes the last user away and brings it back: the connection is kept until the flows run, and that long. */
const IDLE_DISCONNECT_MS = 1_000;
/** A client without users tries so long to give back what a persistent session holds. */
const UNSUBSCRIBE_KEPT_MS = 30_000;

/** What this needs of the broker connection. */
type UsedConnection = Pick<Connection, 'state' | 'hasKeptSubscriptions' | 'open' | 'disconnect'>;

export class ConnectionUsers {
  readonly #connection: UsedConnection;
  readonly #requests: Pick<Requests, 'idle' | 'filters'>;
  readonly #isPaused: () => boolean;
  readonly #isSessionElsewhere: () => boolean;
  #count = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  /** In milliseconds of `performance.now()`. */
  #unsubscribingUntil = 0;
  #closed = false;

  /**
   * @param isPaused while flows are replaced, users may come back
   * @param isSessionElsewhere see `MqttClientEvents`: whoever connects takes it from the other one
   */
  constructor(
    connection: UsedConnection,
    requests: Pick<Requests, 'idle' | 'filters'>,
    isPaused: () => boolean,
    isSessionElsewhere: () => boolean,
  ) {
    this.#connection = connection;
    this.#requests = requests;
    this.#isPaused = isPaused;
    this.#isSessionElsewhere = isSessionElsewhere;
  }

  /** Keeps the connection up until the returned function is called; the first user opens it, the last one leaves. */
  attach(): () => void {
    this.#count++;
    clearTimeout(this.#idleTimer);
    this.open();
    let attached = true;
    return () => {
      if (!attached) {
        return;
      }
      attached = false;
      this.#count--;
      this.leaveWhenIdle();
    };
  }

  get areThere(): boolean {
    return this.#count > 0;
  }

  open(): void {
    if (!this.#closed) {
      this.#connection.open();
    }
  }

  /** Leaves when there are no users, and requests have ended: call it when there may be none. */
  leaveWhenIdle(): void {
    if (this.#count > 0 || this.#closed) {
      return;
    }
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      if (this.#requests.idle && !this.#isPaused() && !this.#isUnsubscribingKept) {
        void this.#leave();
      } else {
        this.leaveWhenIdle();
      }
    }, IDLE_DISCONNECT_MS);
  }

  /**
   * A deploy may have taken the users to another client with this session: that one is left alone with it at once.
   * @returns whether it had the session, or was on its way to it, until now
   */
  yieldSession(): boolean {
    const isHere = this.#connection.state.name !== 'idle';
    const yields = this.#isUnused && isHere && this.#requests.idle && this.#isSessionElsewhere();
    if (yields) {
      void this.#leave();
    }
    return yields;
  }

  /** A deploy that restarts a service may bring it back without users, and nobody else would connect. */
  unsubscribeKept(): void {
    if (this.#isUnused && this.#mustUnsubscribe) {
      this.#unsubscribingUntil = performance.now() + UNSUBSCRIBE_KEPT_MS;
      this.open();
      this.leaveWhenIdle();
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
  }

  get #isUnsubscribingKept(): boolean {
    return performance.now() < this.#unsubscribingUntil && this.#mustUnsubscribe;
  }

  get #mustUnsubscribe(): boolean {
    return this.#connection.hasKeptSubscriptions && !this.#isSessionElsewhere();
  }

  get #isUnused(): boolean {
    return this.#count === 0 && !this.#closed;
  }

  async #leave(): Promise<void> {
    await this.#connection.disconnect(this.#requests.filters());
    if (this.#count > 0 || !this.#requests.idle) {
      this.open();
    }
  }
}
