// A node's status: what each state of the session looks like, and how often the editor hears of a change.
import type { Node, NodeAPI, NodeStatus } from 'node-red';
import { type LabelState, ServiceError, type SessionState, type TextValues } from '../../../src/index.ts';
import { translate } from './texts.ts';

/** The looks of the contract: one colour and shape for each meaning. */
export const LOOKS = {
  ready: { fill: 'green', shape: 'dot' },
  waiting: { fill: 'yellow', shape: 'ring' },
  working: { fill: 'blue', shape: 'dot' },
  error: { fill: 'red', shape: 'ring' },
  unconfigured: { fill: 'grey', shape: 'ring' },
} as const satisfies Record<string, NodeStatus>;

/** A status that is not yet put into words, because most are replaced before anybody sees them. */
export interface View {
  look: keyof typeof LOOKS;
  /** A text of the shared locale files. */
  key: string;
  values?: TextValues;
}

type Half = 'rest' | 'mqtt';

/** One row per state: a new state of the session does not compile until it has one. */
const VIEWS: { [H in Half]: Record<SessionState[H]['name'], View> } = {
  mqtt: {
    unconfigured: { look: 'unconfigured', key: 'status.unconfigured.mqtt' },
    idle: { look: 'ready', key: 'status.ready' },
    connecting: { look: 'waiting', key: 'status.connecting' },
    connected: { look: 'ready', key: 'status.connected' },
    waiting: { look: 'waiting', key: 'status.waiting' },
    refused: { look: 'error', key: 'status.refused' },
    limited: { look: 'error', key: 'status.limited' },
    overloaded: { look: 'waiting', key: 'status.overloaded' },
    closed: { look: 'waiting', key: 'status.closed' },
  },
  rest: {
    unconfigured: { look: 'unconfigured', key: 'status.unconfigured.rest' },
    idle: { look: 'ready', key: 'status.ready' },
    connecting: { look: 'waiting', key: 'status.connecting' },
    connected: { look: 'ready', key: 'status.ready' },
    waiting: { look: 'waiting', key: 'status.waiting' },
    failing: { look: 'error', key: 'status.failing' },
    refused: { look: 'error', key: 'status.error.LOGIN_FAILED' },
    closed: { look: 'waiting', key: 'status.closed' },
  },
};

/** How one half of the session looks in a node that needs it. */
export function viewOfSession(state: SessionState, half: Half): View {
  const { name, ...rest } = state[half];
  const view: View = (VIEWS[half] as Record<string, View>)[name]!;
  return { ...view, values: rest as TextValues };
}

const LABEL_VIEWS: Record<LabelState['name'], View | undefined> = {
  ready: undefined,
  waiting: { look: 'waiting', key: 'status.labels.waiting' },
  stale: { look: 'waiting', key: 'status.labels.stale' },
};

/** What the label filter has to say; undefined when it does its work and the session's state may show. */
export function viewOfLabels({ name, lost }: LabelState): View | undefined {
  return name === 'waiting' && lost > 0
    ? { look: 'waiting', key: 'status.labels.lost', values: { lost } }
    : LABEL_VIEWS[name];
}

/** A red ring with the short reason, or grey where the user has still to configure something. */
export function viewOfError(error: unknown): View {
  if (!(error instanceof ServiceError)) {
    return { look: 'error', key: 'status.error.unexpected' };
  }
  const { code, cause, text } = error;
  if (code === 'NOT_CONFIGURED') {
    return { look: 'unconfigured', key: `status.unconfigured.${cause.part}` };
  }
  return { look: 'error', key: `status.error.${code}`, values: { ...text.values, ...(cause as TextValues) } };
}

const TEXT_INTERVAL_MS = 500;
/** New colours that are shown at once in one interval; a stream of messages would make thousands. */
const COLOURS_AT_ONCE = 4;

/**
 * The status line of one node. A new colour shows at once and a new text twice a second, the last one winning.
 * Colours that alternate faster than anybody can see are treated as a text. Idle means no timer.
 */
export class StatusLine {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  #shown: NodeStatus = {};
  #shownAt = 0;
  #colours = 0;
  #next: View | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(RED: NodeAPI, node: Node) {
    this.#RED = RED;
    this.#node = node;
  }

  show(view: View): void {
    if (this.#closed) {
      return;
    }
    const now = Date.now();
    const elapsed = now - this.#shownAt;
    if (elapsed >= TEXT_INTERVAL_MS) {
      this.#colours = 0;
    }
    if (elapsed >= TEXT_INTERVAL_MS || this.#isUrgent(view)) {
      this.#emit(view, now);
      return;
    }
    this.#next = view;
    this.#timer ??= setTimeout(() => this.#emitNext(), TEXT_INTERVAL_MS - elapsed).unref();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #isUrgent(view: View): boolean {
    return LOOKS[view.look].fill !== this.#shown.fill && ++this.#colours <= COLOURS_AT_ONCE;
  }

  #emitNext(): void {
    this.#colours = 0;
    if (this.#next) {
      this.#emit(this.#next, Date.now());
    }
  }

  #emit(view: View, now: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#next = undefined;
    const status = { ...LOOKS[view.look], text: translate(this.#RED, view.key, view.values) };
    if (status.text === this.#shown.text && status.fill === this.#shown.fill) {
      return;
    }
    this.#shown = status;
    this.#shownAt = now;
    this.#node.status({ ...status });
  }
}
