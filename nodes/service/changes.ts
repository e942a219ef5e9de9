// Tells editors that look at a service's network that it has changed: each by Node-RED's messages to one session, without any data.
import type { NodeAPI } from 'node-red';
import { isObject, type Session } from '../../src/index.ts';

/** What an editor sends when it may look: `{watch}`, the secret that it was given for that. */
const BEGUN = 'comms:message:mt-gateway/watch';
/** An editor has gone. */
const GONE = 'comms:connection-removed';
/** What is sent to an editor: `{watch}`. */
const CHANGED = 'mt-gateway/changed';

interface Look {
  service: Session;
  /** The session of the editor; undefined until it has said so. */
  editor: string | undefined;
}

/** Where Node-RED has no such messages nobody comes with a secret, and editors go on asking by themselves. */
export class ChangeMessages {
  readonly #events: NodeAPI['events'];
  readonly #looks = new Map<string, Look>();

  constructor({ events }: NodeAPI) {
    this.#events = events;
  }

  /** @returns a secret by which an editor says who it is; null: it has to ask by itself */
  begin(service: Session): { watch: string | null } {
    const watch = service.changes.begin(() => this.#ended(watch as string));
    if (watch === undefined) {
      return { watch: null };
    }
    if (this.#looks.size === 0) {
      this.#events.on(BEGUN, this.#begun);
      this.#events.on(GONE, this.#gone);
    }
    this.#looks.set(watch, { service, editor: undefined });
    return { watch };
  }

  /** An editor looks at one network at a time. */
  readonly #begun = ({ session, data }: { session?: unknown; data?: unknown }): void => {
    const watch = isObject(data) ? data.watch : undefined;
    const look = typeof watch === 'string' ? this.#looks.get(watch) : undefined;
    if (typeof watch !== 'string' || typeof session !== 'string' || look?.editor !== undefined) {
      return;
    }
    if (look?.service.changes.follow(watch, () => this.#tell(watch, session))) {
      this.#endAllOf(session);
      look.editor = session;
    }
  };

  readonly #gone = ({ session }: { session?: unknown }): void => {
    if (typeof session === 'string') {
      this.#endAllOf(session);
    }
  };

  #endAllOf(session: string): void {
    for (const [watch, { editor, service }] of [...this.#looks]) {
      if (editor === session) {
        service.changes.end(watch);
      }
    }
  }

  #tell(watch: string, session: string): void {
    this.#events.emit('comms', { topic: CHANGED, data: { watch }, retain: false, session });
  }

  #ended(watch: string): void {
    this.#looks.delete(watch);
    if (this.#looks.size === 0) {
      this.#events.removeListener(BEGUN, this.#begun);
      this.#events.removeListener(GONE, this.#gone);
    }
  }
}
