// Why a broker refused or ended something, as a text of the locale files, and what follows from it.
import { type Phrase, ServiceError, type TextValues } from '../errors.ts';
import { oneLine } from '../protocol/text.ts';
import { refusesProxyLogin } from '../proxy/tunnel.ts';
import { findTlsFault } from './tls-faults.ts';
import { UpgradeRefusal } from './web-socket.ts';

/**
 * `retry`: after the short wait; `nextBroker`: another address of the list may serve; `refused`: these credentials will
 * not do, so the wait is long; `longWait`: the same again at once would only do harm.
 */
export type Consequence = 'retry' | 'nextBroker' | 'refused' | 'longWait';

export interface Reason extends Phrase {
  consequence: Consequence;
}

/** What was noticed of the end of a connection. */
export interface Loss {
  /** What MQTT.js or the socket said first. */
  error?: unknown;
  /** Of a DISCONNECT packet. */
  disconnect?: { reasonCode?: number; properties?: { serverReference?: string; reasonString?: string } };
  /** Whether the broker had accepted the connection before. */
  wasConnected: boolean;
  /** Requests that had no response yet. */
  underWay?: number;
}

/** Where it was tried. */
export interface Place {
  /** An address without secrets. */
  broker: string;
  protocolVersion: number;
}

type Row = [key: string, consequence?: Consequence];

/** CONNACK of MQTT 3.1.1 (1–5), and every reason code of MQTT 5 that a broker can send. */
const CODES: Record<number, Row> = {
  1: ['version'],
  2: ['clientId'],
  3: ['unavailable', 'nextBroker'],
  4: ['credentials', 'refused'],
  5: ['notAuthorized', 'refused'],
  128: ['unspecified'],
  129: ['malformed'],
  130: ['protocolError'],
  131: ['implementation'],
  132: ['version'],
  133: ['clientId'],
  134: ['credentials', 'refused'],
  135: ['notAuthorized', 'refused'],
  136: ['unavailable', 'nextBroker'],
  137: ['busy', 'nextBroker'],
  138: ['banned', 'refused'],
  139: ['shuttingDown', 'nextBroker'],
  140: ['loginMethod', 'refused'],
  141: ['keepAlive'],
  142: ['takenOver', 'longWait'],
  143: ['filterInvalid'],
  144: ['topicInvalid'],
  145: ['packetIdInUse'],
  146: ['packetIdUnknown'],
  147: ['receiveMaximum'],
  148: ['topicAlias'],
  149: ['packetTooLarge'],
  150: ['messageRate'],
  151: ['quota'],
  152: ['administrative'],
  153: ['payloadFormat'],
  154: ['retain'],
  155: ['qos'],
  156: ['anotherServer', 'nextBroker'],
  157: ['serverMoved', 'nextBroker'],
  158: ['sharedSubscriptions'],
  159: ['connectionRate', 'nextBroker'],
  160: ['connectTime'],
  161: ['subscriptionIds'],
  162: ['wildcards'],
};

/** Of the operating system. */
const SOCKET_CODES: Record<string, Row> = {
  ECONNREFUSED: ['nothingThere', 'nextBroker'],
  ENOTFOUND: ['unknownHost', 'nextBroker'],
  EAI_AGAIN: ['unknownHost', 'nextBroker'],
  ETIMEDOUT: ['noAnswer', 'nextBroker'],
  EHOSTUNREACH: ['unreachable', 'nextBroker'],
  ENETUNREACH: ['unreachable', 'nextBroker'],
  ECONNRESET: ['brokenOff'],
  EPIPE: ['brokenOff'],
};

/** That of the error where the broker releases too little of what it sends with QoS 2. */
export const UNRELEASED = 'too much is not released';

/** What MQTT.js says without a code, and what is said here in its place. */
const MESSAGES: [RegExp, Row][] = [
  [new RegExp(`^${UNRELEASED}$`), ['unreleased', 'longWait']],
  [/connack timeout/i, ['noAnswer', 'nextBroker']],
  [/keepalive timeout/i, ['silent']],
];

/** The reason of a code of CONNACK, SUBACK, PUBACK or DISCONNECT. */
export function reasonOfCode(code: number, values: TextValues = {}): Reason {
  const [name, consequence = 'retry'] = CODES[code] ?? ['code'];
  return { key: `reason.${name}`, values: { ...values, code }, consequence };
}

/**
 * Of one filter in a SUBACK; MQTT 3.1.1 has one code for every refusal, so that beside many others it may be their number.
 * @param held how many subscriptions the broker has granted
 */
export function reasonOfSuback(code: number, held = 0): Reason {
  if (code !== REFUSED_FILTER) {
    return reasonOfCode(code);
  }
  return held < MIN_QUOTA ? reason('filterRefused') : reason('filterRefusedBeside', 'retry', { count: held });
}

export const isPlainRefusal = ({ key }: Reason): boolean => key === 'reason.filterRefused';

/** The broker has sent more that was not acknowledged than it was told. */
export const isOverrun = ({ key }: Reason): boolean => key === 'reason.sentTooMany';

/** The broker has ended a connection that was there, without a word. */
export const isBrokenOff = ({ key }: Reason): boolean => key === 'reason.brokenOff';

/** @param count how many connections to this broker in a row were broken off */
export const brokenOffAgain = (reason: Reason, count: number): Reason => ({
  ...reason,
  key: 'reason.brokenOffAgain',
  values: { ...reason.values, count },
});

/** Nobody listens there, or not yet. */
export const isNothingThere = ({ key }: Reason): boolean => key === 'reason.nothingThere';

/** It says nothing of the filter itself. */
export const isLackOfRoom = ({ key }: Reason): boolean => key === 'reason.quota';

/** It may say nothing of the filter itself. */
export const mayLackRoom = (reason: Reason): boolean =>
  isLackOfRoom(reason) || reason.key === 'reason.filterRefusedBeside';

/** No SUBACK came. */
export const noSuback = (): Reason => reason('noSuback');

/** A SUBSCRIBE with this filter alone costs the connection. */
export const filterEnds = (): Reason => reason('filterEnds');

/** Of several filters, one at least: the first is named. */
export function reasonOfRefusals(refused: ReadonlyMap<string, Phrase>): Phrase {
  const [[filter, reason] = ['', noSuback()]] = refused;
  const others = refused.size - 1;
  return others > 0
    ? { key: 'reason.filters', values: { filter, reason, others } }
    : { key: 'reason.filter', values: { filter, reason } };
}

const REFUSED_FILTER = 0x80;
const RECEIVE_MAXIMUM_EXCEEDED = 0x93;
/** No broker that is known allows fewer subscriptions. */
export const MIN_QUOTA = 8;
/** No broker that is known takes fewer publishes that it has not acknowledged. */
const MIN_WINDOW = 10;

/** Why a connection was refused or lost: what was noticed first, in words that tell what can be done. */
export function reasonOfLoss(loss: Loss, place: Place): Reason {
  const { error, disconnect, wasConnected, underWay = 0 } = loss;
  const values = valuesOf(place);
  if (disconnect) {
    return ofDisconnect(disconnect, values);
  }
  if (error instanceof ServiceError) {
    return ofTunnel(error);
  }
  if (error instanceof UpgradeRefusal) {
    return ofUpgrade(error, values);
  }
  const { code, message = '' } = (error ?? {}) as { code?: unknown; message?: string };
  if (typeof code === 'number') {
    // Of MQTT.js itself: a broker would have sent it in a DISCONNECT.
    return wasConnected && code === RECEIVE_MAXIMUM_EXCEEDED
      ? reason('sentTooMany')
      : reasonOfCode(code, values);
  }
  const row =
    SOCKET_CODES[String(code)] ??
    findTlsFault(code, message) ??
    MESSAGES.find(([pattern]) => pattern.test(message))?.[1];
  const [name, consequence] = row ?? [];
  if (wasConnected && underWay >= MIN_WINDOW && (error === undefined || name === 'brokenOff')) {
    return reason('brokenOffBusy', 'retry', { ...values, count: underWay });
  }
  if (error === undefined) {
    return ofSilentEnd(wasConnected, place, values);
  }
  if (name === 'brokenOff') {
    return { ...ofSilentEnd(wasConnected, place, values), consequence: 'retry' };
  }
  if (name !== undefined) {
    return reason(name, consequence, values);
  }
  return isSyntaxError(code, message, wasConnected)
    ? reason(wasConnected ? 'malformed' : 'notMqtt', 'retry', values)
    : reason('other', 'retry', { message: oneLine(message || String(code ?? error)) });
}

/** Not authorised may be about one topic here, so it is no reason to take the credentials for wrong. */
function ofDisconnect(
  { reasonCode = 0, properties }: NonNullable<Loss['disconnect']>,
  values: TextValues,
): Reason {
  const { serverReference } = properties ?? {};
  const found =
    serverReference === undefined
      ? reasonOfCode(reasonCode, values)
      : reason('anotherServerNamed', 'nextBroker', { ...values, server: oneLine(serverReference) });
  return reasonCode === 135 ? { ...found, consequence: 'retry' } : found;
}

/** Soon after a login that a proxy refuses the next one would be refused, too, and might lock the account. */
function ofTunnel(error: ServiceError): Reason {
  const consequence = refusesProxyLogin(error) ? 'longWait' : 'retry';
  return { key: `error.${error.text.key}`, values: error.text.values, consequence };
}

function ofUpgrade({ status }: UpgradeRefusal, values: TextValues): Reason {
  const told = { ...values, status };
  if (status === 401 || status === 403) {
    return reason('upgradeLogin', 'refused', told);
  }
  return reason(status === 429 || status >= 500 ? 'upgradeUnavailable' : 'upgradePath', 'nextBroker', told);
}

/** A broker of MQTT 3.1.1, and a port with or without TLS, end a connection that is not theirs without a word. */
function ofSilentEnd(wasConnected: boolean, { broker, protocolVersion }: Place, values: TextValues): Reason {
  if (wasConnected) {
    return reason('brokenOff', 'retry', values);
  }
  const name = /^(mqtts|wss):/.test(broker) ? 'endedSecure' : 'ended';
  if (protocolVersion === 5) {
    return reason(`${name}Version5`, 'nextBroker', values);
  }
  return reason(/^wss?:/.test(broker) ? 'endedWebSocket' : name, 'nextBroker', values);
}

/**
 * Whether a connection that was there has ended because of what came, not because of what the broker was asked for. Faults
 * of sockets alone have codes in letters, MQTT.js judges by numbers, and its parser has no codes. A SUBACK that cannot be
 * read is about filters all the same.
 */
export function isOwnEnd({ error, disconnect }: Pick<Loss, 'error' | 'disconnect'>): boolean {
  const { code, message = '' } = (error ?? {}) as { code?: unknown; message?: string };
  return !disconnect && error !== undefined && typeof code !== 'string' && !/suback/i.test(message);
}

/**
 * Whether the broker may have ended a connection that was there for the topic of a publish. Most say nothing of why; codes of
 * DISCONNECT that name something else (it shuts down, the client id is used twice, a topic filter) are none.
 */
export function mayForbidTopic({ error, disconnect }: Pick<Loss, 'error' | 'disconnect'>): boolean {
  const { reasonCode = 0 } = disconnect ?? {};
  return !isOwnEnd({ error, disconnect }) && (reasonCode === 0 || TOPIC_CODES.has(reasonCode));
}

/** Unspecified error, implementation specific error, not authorized, topic name invalid. */
const TOPIC_CODES: ReadonlySet<number> = new Set([0x80, 0x83, 0x87, 0x90]);

/** Before there is a connection, errors without a code come from elsewhere, too. */
const isSyntaxError = (code: unknown, message: string, wasConnected: boolean): boolean =>
  code === undefined && (wasConnected || SYNTAX.test(message));

/** How the errors of the parser of MQTT.js begin. */
const SYNTAX =
  /^(invalid|malformed|cannot parse|packet|connack|remaining length|not supported|unknown property|connect flag|will )/i;

const reason = (name: string, consequence: Consequence = 'retry', values: TextValues = {}): Reason => ({
  key: `reason.${name}`,
  values,
  consequence,
});

const PORTS: Record<string, string> = { 'mqtt:': '1883', 'mqtts:': '8883', 'ws:': '80', 'wss:': '443' };

function valuesOf({ broker, protocolVersion }: Place): TextValues {
  const version = protocolVersion === 5 ? '5' : '3.1.1';
  if (!URL.canParse(broker)) {
    return { place: broker, host: broker, version };
  }
  const { protocol, hostname, port } = new URL(broker);
  return { place: `${hostname}:${port || PORTS[protocol]}`, host: hostname, version };
}
