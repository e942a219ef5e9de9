// Asks devices for values that are too old, and tells in one error why some of them have brought nothing.

import { type ErrorCode, type Phrase, ServiceError } from '../errors.ts';
import { wordsFor } from '../protocol/operations/place.ts';
import { ownText } from '../protocol/text.ts';
import { isTooOld } from './last-value.ts';
import type { ValueQuery } from './last-values.ts';
import { MAX_READS_PER_GATEWAY } from './shared-reads.ts';
import { throwIfClosed } from './turns.ts';
import type { ValueContext, ValueOptions } from './value-context.ts';

/** Reads of one query that wait or are under way; how many are under way is bounded for all queries together. */
const MAX_READERS = 100;
/** Failures that are kept to be told; of the others only their number is. */
const MAX_TOLD = 1_000;
const MAX_MESSAGE_LENGTH = 200;
/** Values that the text of the error names. */
const MAX_NAMED = 3;

/** What all that follows would end with too. */
const LASTING: ReadonlySet<string> = new Set<ErrorCode>(['NOT_CONNECTED', 'NOT_CONFIGURED', 'CLOSED']);
/** Of that, by the key of the text, what ends those at the same gateway only: the broker is there. */
const OF_ONE_GATEWAY: ReadonlySet<string> = new Set([
  'NOT_CONNECTED.notGranted',
  'NOT_CONNECTED.refusedSubscription',
  'NOT_CONNECTED.refusedSubscriptionWhy',
  'NOT_CONNECTED.refusedPublish',
  'NOT_CONNECTED.endsConnection',
]);
/** What a gateway has answered that ends so; undefined: with the value. */
const ANSWERED: ReadonlySet<string | undefined> = new Set<ErrorCode | undefined>([
  undefined,
  'REQUEST_FAILED',
  'BAD_RESPONSE',
]);

/** One in the cause of the error. */
interface Failure {
  gateway: string;
  device: string;
  identifier: string;
  code: string;
  message: string;
}

/**
 * What the reads bring is known then.
 * @returns `NO_VALUE` with those that brought nothing; undefined where there are none
 * @throws ServiceError `CLOSED`, `QUEUE_FULL`
 */
export async function readOld(
  context: ValueContext,
  query: ValueQuery,
  options: ValueOptions,
): Promise<ServiceError | undefined> {
  const { gateway, gateways, device, identifier } = query;
  const { labels, maxAge, signal } = options;
  const key = JSON.stringify([gateway, device, identifier, labels, maxAge]);
  const asked = gateway ?? (device && context.gatewayOf(device, gateways));
  const failures = await context.reads.pass(signal, asked, key, () => readPass(context, query, options));
  return failures.toError(query);
}

async function readPass(context: ValueContext, query: ValueQuery, options: ValueOptions): Promise<Failures> {
  const { signal } = options;
  const failures = new Failures(context);
  const old = new OldValues();
  for (const [key, value] of context.values.unsorted(query)) {
    if (isTooOld(value, options)) {
      const { device, identifier } = value;
      const gateway = query.gateway ?? context.gatewayOf(device, query.gateways) ?? value.gateway;
      old.add({ key, gateway, device, identifier });
    }
  }
  const readAll = async () => {
    for (let one = old.begin(); one !== undefined; one = old.begin()) {
      let code: string | undefined;
      try {
        throwIfClosed(signal);
        await readAnew(context, one, query, options);
      } catch (error) {
        throwIfClosed(signal);
        failures.add(one, error);
        code = codeOf(error);
        if (LASTING.has(code)) {
          for (const unread of old.take(isOfOneGateway(error) ? one.gateway : undefined)) {
            failures.add(unread, error);
          }
        }
      }
      failures.addUnasked(old.end(one, code));
    }
  };
  await Promise.all(Array.from({ length: MAX_READERS }, readAll));
  throwIfClosed(signal);
  return failures;
}

/** Until it is its turn, a report or another query may have brought a newer value. */
function readAnew(
  context: ValueContext,
  { key, gateway, device, identifier }: OldValue,
  query: ValueQuery,
  options: ValueOptions,
): Promise<void> {
  return context.reads.read(options.signal, gateway, key, async (since) => {
    const [known] = context.values.unsorted({ ...query, device, identifier });
    if (known === undefined || isTooOld(known[1], options)) {
      await context.read({ gateway, device, identifier }, since);
    }
  });
}

interface OldValue {
  /** Of its device and property. */
  key: string;
  /** That is asked. */
  gateway: string;
  device: string;
  identifier: string;
}

interface Group {
  values: OldValue[];
  underWay: number;
  /** Reads that timed out; undefined: the gateway has answered one. */
  timedOut: number | undefined;
}

/** What is to be read, gateway by gateway in turn. */
class OldValues {
  readonly #groups = new Map<string, Group>();

  add(value: OldValue): void {
    const group = this.#groups.get(value.gateway) ?? { values: [], underWay: 0, timedOut: 0 };
    this.#groups.set(value.gateway, group);
    group.values.push(value);
  }

  /**
   * Of a gateway first what was heard last, which is likely to be there still.
   * @returns undefined where nothing is left, or those that are reading at a gateway go on with what is left of it
   */
  begin(): OldValue | undefined {
    for (const [gateway, group] of this.#groups) {
      const value = group.underWay < MAX_READS_PER_GATEWAY ? group.values.pop() : undefined;
      if (value) {
        group.underWay++;
        this.#groups.delete(gateway);
        this.#groups.set(gateway, group);
        return value;
      }
      if (group.values.length === 0) {
        this.#groups.delete(gateway);
      }
    }
    return undefined;
  }

  /**
   * @param code of the error; undefined: it was read
   * @returns what is not asked any more: as many reads as may be under way have timed out, and none was answered
   */
  end({ gateway }: OldValue, code: string | undefined): OldValue[] {
    const group = this.#groups.get(gateway);
    if (!group) {
      return [];
    }
    group.underWay--;
    if (ANSWERED.has(code)) {
      group.timedOut = undefined;
    } else if (code === 'TIMEOUT' && group.timedOut !== undefined) {
      group.timedOut++;
    }
    return group.timedOut === MAX_READS_PER_GATEWAY ? group.values.splice(0) : [];
  }

  /** @param gateway undefined: of all @returns what is not asked any more */
  take(gateway: string | undefined): OldValue[] {
    const groups = gateway === undefined ? [...this.#groups.values()] : [this.#groups.get(gateway)];
    return groups.flatMap((group) => group?.values.splice(0) ?? []);
  }
}

class Failures {
  readonly #nameOf: ValueContext['nameOf'];
  readonly #told: Failure[] = [];
  #count = 0;
  #reason: Phrase | string = '';

  constructor({ nameOf }: Pick<ValueContext, 'nameOf'>) {
    this.#nameOf = nameOf;
  }

  add({ gateway, device, identifier }: OldValue, error: unknown): void {
    this.#count++;
    if (this.#count === 1) {
      this.#reason = reasonOf(error);
    }
    if (this.#told.length < MAX_TOLD) {
      const code = codeOf(error);
      const message = ownText(messageOf(error).slice(0, MAX_MESSAGE_LENGTH));
      this.#told.push({ gateway, device, identifier, code, message });
    }
  }

  /** @param values of one gateway */
  addUnasked(values: readonly OldValue[]): void {
    const [first] = values;
    if (first === undefined) {
      return;
    }
    const place = { gateway: wordsFor(first.gateway, this.#nameOf), count: MAX_READS_PER_GATEWAY };
    const error = new ServiceError('TIMEOUT', 'noneAnswered', {}, place);
    for (const value of values) {
      this.add(value, error);
    }
  }

  toError({ device, identifier }: ValueQuery): ServiceError | undefined {
    if (this.#count === 0) {
      return undefined;
    }
    const named = this.#told
      .slice(0, MAX_NAMED)
      .map((one) => `${one.identifier} · ${this.#nameOf(one.device) ?? one.device}`);
    const values = `${named.join(', ')}${this.#count > named.length ? ', …' : ''}`;
    const cause = { device, identifier, count: this.#count, failures: this.#told };
    return new ServiceError('NO_VALUE', 'notRead', cause, {
      count: this.#count,
      values,
      reason: this.#reason,
    });
  }
}

function reasonOf(error: unknown): Phrase | string {
  return error instanceof ServiceError
    ? { key: `error.${error.text.key}`, values: error.text.values }
    : messageOf(error);
}

const codeOf = (error: unknown): string => (error instanceof ServiceError ? error.code : 'UNKNOWN');

const isOfOneGateway = (error: unknown): boolean =>
  error instanceof ServiceError && OF_ONE_GATEWAY.has(error.text.key);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
