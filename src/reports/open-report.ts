// One report that is open at one node, the node that confirms it, and how long it takes until it comes again.
import type { Identified } from '../collections/identified-items.ts';
import type { Linked } from '../collections/linked-list.ts';
import type { Message } from './message.ts';
import type { OpenMessage } from './open-message.ts';

/** After so many times the wait doubles, up to the longest. */
export const STEADY_ATTEMPTS = 3;
const MAX_WAIT_MS = 10 * 60_000;

/** One message at one node. */
export interface OpenReport {
  /** Unique in this process; stands in the report as `delivery`. */
  readonly id: string;
  readonly message: Readonly<Message>;
  /** The flow has had it; else it waits for something here. */
  hasReached: boolean;
  /** A flow has had it whose node asked for other labels. */
  wasWithOther: boolean;
  /** How often it was sent to the flow again. */
  attempts: number;
}

export interface Delivery extends OpenReport, Identified, Linked<Delivery> {
  /** Unique in this process; stands in the report as `delivery`. */
  id: string;
  confirmer: Confirmer;
  /** A deploy brings it again, which is not for want of its acknowledgement. */
  isOfDeploy: boolean;
  source: OpenMessage;
  /** In milliseconds of `performance.now()`. */
  due: number;
}

/** A node that confirms what it receives. */
export interface Confirmer {
  /** By this name a node is recognised after a deploy. */
  owner: string;
  /** Tells nodes apart that ask for other labels. */
  labels: string;
  timeoutMs: number;
  /** How often a report is sent again; 0: for ever. */
  maxAttempts: number;
  /** Sends it to the flow again. @returns false: the node does not ask for it any more */
  again(report: OpenReport): boolean;
  /** It was sent again as often as it may be. */
  givenUp(report: OpenReport): void;
  /** Called twice a second while reports are open, and once at the end. @param oldestMs since it was heard */
  count(open: number, oldestMs: number): void;
}

/** Milliseconds until a report is sent the next time. */
export function waitAfter(attempts: number, timeoutMs: number): number {
  const doubled = timeoutMs * 2 ** Math.max(0, attempts - STEADY_ATTEMPTS);
  return Math.min(doubled, Math.max(timeoutMs, MAX_WAIT_MS));
}
