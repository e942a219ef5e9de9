// A node's status: how each state of the session is shown, and how often a change is sent to the editor.
import type { Node, NodeAPI, NodeStatus } from 'node-red';
import {
  type LabelState,
  type Phrase,
  ServiceError,
  type SessionState,
  type TextValues,
} from '../../../src/index.ts';
import { shortReason } from './short-reasons.ts';
import { translate } from './texts.ts';

/** One colour and shape for each meaning. */
export const STATUS_STYLES = {
  ready: { fill: 'green', shape: 'dot' },
  waiting: { fill: 'yellow', shape: 'ring' },
  working: { fill: 'blue', shape: 'dot' },
  error: { fill: 'red', shape: 'ring' },
  quiet: { fill: 'grey', shape: 'dot' },
  unconfigured: { fill: 'grey', shape: 'ring' },
} as const satisfies Record<string, NodeStatus>;

/** A status before its text is looked up, because most are replaced before they are shown. */
export interface Status {
  style: keyof typeof STATUS_STYLES;
  /** A text of the shared locale files. */
  key: string;
  values?: TextValues;
}

type Half = 'rest' | 'mqtt';

/** One row per state: a new state of the session does not compile until it has one. */
const SESSION_STATUSES: { [H in Half]: Record<Exclude<SessionState[H]['name'], 'invalid'>, Status> } = {
  mqtt: {
    unconfigured: { style: 'unconfigured', key: 'status.unconfigured.mqtt' },
    idle: { style: 'ready', key: 'status.ready' },
    connecting: { style: 'waiting', key: 'status.connecting' },
    connected: { style: 'ready', key: 'status.connected' },
    waiting: { style: 'waiting', key: 'status.waiting' },
    refused: { style: 'error', key: 'status.refused' },
    limited: { style: 'error', key: 'status.limited' },
    overloaded: { style: 'waiting', key: 'status.overloaded' },
    closed: { style: 'waiting', key: 'status.closed' },
  },
  rest: {
    unconfigured: { style: 'unconfigured', key: 'status.unconfigured.rest' },
    loginMissing: { style: 'unconfigured', key: 'status.unconfigured.credentials' },
    idle: { style: 'ready', key: 'status.ready' },
    connecting: { style: 'waiting', key: 'status.connecting' },
    connected: { style: 'ready', key: 'status.ready' },
    waiting: { style: 'waiting', key: 'status.waiting' },
    failing: { style: 'error', key: 'status.failing' },
    refused: { style: 'error', key: 'status.error.LOGIN_FAILED' },
    closed: { style: 'waiting', key: 'status.closed' },
  },
};

/** The status of a node that needs this half of the session. */
export function statusOfSession(state: SessionState, half: Half): Status {
  const now = state[half];
  if (now.name === 'invalid') {
    return statusOfError(now.problem);
  }
  const { name, ...rest } = now;
  const status: Status = (SESSION_STATUSES[half] as Record<string, Status>)[name]!;
  return { ...status, values: textValues(rest) };
}

/** What of a state can stand in a text; which filters are refused cannot. */
function textValues(state: object): TextValues {
  return Object.fromEntries(
    Object.entries(state).filter(([name]) => name !== 'refused' && name !== 'isSettled'),
  );
}

/**
 * The state as it concerns one node: what the broker refuses to others is nothing to it.
 * @param refusal looks up why the broker refuses what this node needs, which costs more than most changes of state
 */
export function ownState(state: SessionState, refusal: () => Phrase | undefined): SessionState {
  const { mqtt } = state;
  if (mqtt.name !== 'limited') {
    return state;
  }
  const reason = refusal();
  return { ...state, mqtt: reason ? { ...mqtt, reason } : { name: 'connected', broker: mqtt.broker } };
}

/** Shown where the broker refuses what this node needs. @param refusal as in `ownState` */
export function statusOfRefusal(state: SessionState, refusal: () => Phrase | undefined): Status | undefined {
  const own = ownState(state, refusal);
  return own.mqtt.name === 'limited' ? statusOfSession(own, 'mqtt') : undefined;
}

const LABEL_STATUSES: Record<LabelState['name'], Status | undefined> = {
  ready: undefined,
  waiting: { style: 'waiting', key: 'status.labels.waiting' },
  stale: { style: 'waiting', key: 'status.labels.stale' },
};

/** The status of the label filter; undefined when it works, so that the session's is shown. */
export function statusOfLabels({ name, lost, hasNoGateway }: LabelState): Status | undefined {
  if (hasNoGateway) {
    return { style: 'waiting', key: 'status.labels.noGateway' };
  }
  return name === 'waiting' && lost > 0
    ? { style: 'waiting', key: 'status.labels.lost', values: { lost } }
    : LABEL_STATUSES[name];
}

/** Texts of NOT_CONFIGURED that share the status of another. */
const SAME_STATUS: Record<string, string> = { restOne: 'rest', serviceVariable: 'variable' };

/** A red ring with the short reason, or grey where the user has still to configure something. */
export function statusOfError(error: unknown): Status {
  if (!(error instanceof ServiceError)) {
    return { style: 'error', key: 'status.error.unexpected' };
  }
  const { code, cause, text } = error;
  if (code === 'NOT_CONFIGURED') {
    // The REST half is missing, only its login, or a variable: the text tells, the cause does not.
    const detail = text.key.slice(code.length + 1);
    const reason = SAME_STATUS[detail] ?? detail;
    return {
      // It looks as if it were filled in: it is a mistake.
      style: reason === 'variable' ? 'error' : 'unconfigured',
      key: `status.unconfigured.${reason}`,
      values: text.values,
    };
  }
  if (code === 'REQUEST_FAILED' && typeof text.values.message === 'string') {
    const { message, status = '' } = text.values;
    return { style: 'error', key: 'status.error.refused', values: { message: shorten(message), status } };
  }
  const reason = { key: shortReason(text.key.slice(code.length + 1)), values: {} };
  return {
    style: 'error',
    key: `status.error.${code}`,
    values: { ...text.values, ...plainValues(cause), ...(code === 'INVALID_INPUT' && { reason }) },
  };
}

/** What a gateway says may be longer than a status has room for. */
const MAX_WORDS_LENGTH = 50;

function shorten(words: string): string {
  const characters = [...words];
  return characters.length > MAX_WORDS_LENGTH
    ? `${characters.slice(0, MAX_WORDS_LENGTH - 1).join('')}…`
    : words;
}

/** What of a cause can stand in a text: it may hold whatever a gateway or the service has sent. */
function plainValues(cause: Record<string, unknown>): TextValues {
  const plain = Object.entries(cause).filter(([, value]) => ['string', 'number'].includes(typeof value));
  return Object.fromEntries(plain) as TextValues;
}

function isSame(one: Status, other: Status): boolean {
  if (one === other) {
    return true;
  }
  const [values = {}, others = {}] = [one.values, other.values];
  const names = Object.keys(values);
  return (
    one.style === other.style &&
    one.key === other.key &&
    names.length === Object.keys(others).length &&
    names.every((name) => values[name] === others[name])
  );
}

const TEXT_INTERVAL_MS = 500;
/** Changes of colour that are sent at once within one interval; a stream of messages would make thousands. */
const MAX_URGENT_CHANGES = 4;

/**
 * The status line of one node. A new colour shows at once and a new text twice a second, the last one winning.
 * Colours that alternate faster are treated as texts. There is a timer only while something waits to be shown.
 */
export class StatusLine {
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #now: () => number;
  #shown: NodeStatus = {};
  /** In whose words that is. */
  #emitted: Status | undefined;
  /** Of `#now`. */
  #shownAt = Number.NEGATIVE_INFINITY;
  #colours = 0;
  #next: Status | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** @param now milliseconds of a clock that nobody sets back */
  constructor(RED: NodeAPI, node: Node, now = () => performance.now()) {
    this.#RED = RED;
    this.#node = node;
    this.#now = now;
  }

  show(status: Status): void {
    if (this.#closed) {
      return;
    }
    if (this.#emitted && isSame(status, this.#emitted)) {
      // As it is for most messages: nothing has to be put into words.
      this.#dropNext();
      return;
    }
    const now = this.#now();
    const elapsed = now - this.#shownAt;
    if (elapsed >= TEXT_INTERVAL_MS) {
      this.#colours = 0;
    }
    if (elapsed >= TEXT_INTERVAL_MS || this.#isUrgent(status)) {
      this.#emit(status, now);
      return;
    }
    this.#next = status;
    this.#timer ??= setTimeout(() => this.#emitNext(), TEXT_INTERVAL_MS - elapsed).unref();
  }

  /** Emits it once more, for Status nodes: those of a flow hear nothing before all of its nodes are there. */
  repeat(): void {
    if (!this.#closed && this.#emitted) {
      this.#node.status({ ...this.#shown });
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #isUrgent(status: Status): boolean {
    return STATUS_STYLES[status.style].fill !== this.#shown.fill && ++this.#colours <= MAX_URGENT_CHANGES;
  }

  #emitNext(): void {
    this.#colours = 0;
    if (this.#next) {
      this.#emit(this.#next, this.#now());
    }
  }

  #dropNext(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#next = undefined;
  }

  #emit(status: Status, now: number): void {
    this.#dropNext();
    this.#emitted = status;
    const shown = { ...STATUS_STYLES[status.style], text: translate(this.#RED, status.key, status.values) };
    if (shown.text === this.#shown.text && shown.fill === this.#shown.fill) {
      return;
    }
    this.#shown = shown;
    this.#shownAt = now;
    this.#node.status({ ...shown });
  }
}
