// What a broker says to a SUBSCRIBE or an UNSUBSCRIBE: its codes, and what the log tells of them and of what is not asked for.
import { inEnglish } from '../errors.ts';
import type { Logger } from '../log.ts';
import { NoBrokerResponse } from './broker-response.ts';
import { noSuback, type Reason, reasonOfSuback } from './reasons.ts';

/** The least of the codes that refuse; in MQTT 3.1.1 the only one. */
export const UNSPECIFIED = 0x80;
/** MQTT 5, section 3.9.3. */
export const QUOTA_EXCEEDED = 0x97;
/** MQTT 5, section 3.11.3. */
export const NO_SUBSCRIPTION_EXISTED = 0x11;
/** No code of MQTT: treated as a refusal, so that one filter does not hold up the others. */
const NO_RESPONSE = 0x100;

export type Qos = 0 | 1 | 2;

/** What became of one filter. */
export interface Outcome {
  filter: string;
  /** That was wanted. */
  qos: Qos;
  code: number;
}

export const isRefusal = (code: number): boolean => code >= UNSPECIFIED;

/** The broker has said so itself. */
export const isSubackRefusal = (code: number): boolean => isRefusal(code) && code !== NO_RESPONSE;

/** @param held how many subscriptions the broker has granted */
export const reasonOf = (code: number, held = 0): Reason =>
  code === NO_RESPONSE ? noSuback() : reasonOfSuback(code, held);

/** The codes of a response that refuses something, or of none. @throws what ended the connection */
export function codesOf(error: unknown, count: number): number[] {
  return error instanceof NoBrokerResponse ? Array(count).fill(NO_RESPONSE) : refusedCodesOf(error);
}

/** The codes of a response that refuses something. @throws anything else */
export function refusedCodesOf(error: unknown): number[] {
  const { packet } = error as { packet?: { granted?: number[] } };
  if (!packet?.granted) {
    throw error;
  }
  return packet.granted;
}

/** The codes of an UNSUBACK; none in MQTT 3.1.1. */
export function codesOfUnsuback(packet: unknown): readonly number[] {
  return (packet as { granted?: number[] } | undefined)?.granted ?? [];
}

/** One line for all filters of a packet: a broker that refuses one often refuses hundreds. */
export function logRefusals(log: Logger, outcomes: readonly Outcome[]): void {
  const refused = outcomes.filter(({ code }) => isRefusal(code));
  const [first] = refused;
  if (!first) {
    return;
  }
  const others = refused.length > 1 ? ` and ${refused.length - 1} others` : '';
  const what = first.code === NO_RESPONSE ? 'does not answer' : 'refused';
  const code = first.code === NO_RESPONSE ? '' : ` (${first.code})`;
  const why = first.code > UNSPECIFIED && code !== '' ? `: ${inEnglish(reasonOf(first.code))}` : '';
  log.warn(`the broker ${what} the subscription ${first.filter}${code}${others}${why}`);
}

/** What is not asked for, since the broker would end the connection. */
export function logBlocked(log: Logger, filters: readonly string[]): void {
  const [first] = filters;
  if (first !== undefined) {
    const others = filters.length > 1 ? ` and ${filters.length - 1} others` : '';
    log.warn(`the broker ends the connection when it is asked for ${first}${others}`);
  }
}

/**
 * The QoS that the broker gave instead of a higher one, never below 1: a subscription can be granted with QoS 0 where
 * publishing with QoS 1 goes well.
 * @param asked the highest QoS that was asked for
 */
export function shownMaxQos(outcomes: readonly Outcome[], asked: Qos): 1 | undefined {
  return outcomes.some(({ qos, code }) => code < 2 && Math.min(qos, asked) === 2) ? 1 : undefined;
}

/** What is told where the QoS is lower than wanted: granted lower, or known not to be taken. */
export function lowerQos(outcomes: readonly Outcome[], maxQos: Qos): string | undefined {
  const lower = outcomes.find(({ qos, code }) => code < qos);
  if (!lower) {
    return undefined;
  }
  const { filter, qos, code } = lower;
  return code === maxQos
    ? `the broker takes QoS ${maxQos} at most where QoS ${qos} is wanted (${filter}): it may lose reports`
    : `the broker grants QoS ${code} where QoS ${Math.min(qos, maxQos)} was asked for (${filter}): it may lose reports`;
}
