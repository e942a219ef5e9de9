// Requests and acknowledgements as the model knows them: what was asked, what arrived, what was answered, how it ended.
import type { ServiceError } from '../../src/errors.ts';
import type { ClientConnection } from '../scripted-broker/connection.ts';

export const ANSWERS = [
  'right',
  'status 1',
  'no status',
  'wrong id',
  'number id',
  'no id',
  'null id',
  'not JSON',
] as const;
export type AnswerKind = (typeof ANSWERS)[number];

/** What carries the request's own id, so that it can be nobody else's. */
const OWN: readonly AnswerKind[] = ['right', 'status 1', 'no status'];
const WITHOUT_ID: readonly AnswerKind[] = ['no id', 'null id', 'not JSON'];
/** With what code a request ends after these; after the others it succeeds. */
const CODES: Partial<Record<AnswerKind, string>> = {
  'status 1': 'REQUEST_FAILED',
  'no status': 'BAD_RESPONSE',
  'not JSON': 'BAD_RESPONSE',
};

export interface Question {
  number: number;
  lane: 'request' | 'ack';
  gateway: string;
  topic: string;
  /** Its time is over before a response can be expected. */
  isShort: boolean;
  awaitsAnswer: boolean;
  /** Acknowledgements of the same sample share the one that was sent. */
  sample: number | undefined;
  /** Which session was asked, by its number. */
  session: number;
  /** How many connections there had been by then. */
  connections: number;
}

export interface Arrival {
  id: string;
  connection: ClientConnection | undefined;
}

export interface Asked extends Question {
  /** Publishes that the broker has received. */
  readonly arrivals: Arrival[];
  /** Undefined: not ended. */
  outcome: { answer: number | undefined; code: string | undefined } | undefined;
  ends: number;
  /** A response that must end it is on its way over this connection. */
  answeredOn: ClientConnection | undefined;
  /** That answer has no id, so it must end it only as long as there is no other request on the topic. */
  isAnsweredAsOnly: boolean;
}

interface Answer {
  number: number;
  kind: AnswerKind;
  topic: string;
  /** The request in whose name it was made. */
  of: Asked;
  /** Two requests on this topic were certainly in flight, so without an id it belongs to none. */
  isAmbiguous: boolean;
}

export class RequestLedger {
  readonly asked: Asked[] = [];
  readonly answers: Answer[] = [];
  readonly faults: string[] = [];
  /** Samples whose acknowledgement may have failed: the next one may be on its way, under an id that nobody has seen yet. */
  readonly #sentAgain = new Set<string>();
  readonly #changed: () => void;
  readonly #mayEnd: (asked: Asked, code: string) => boolean;

  /**
   * @param mayEnd whether a request may end with this code now, without any answer
   * @param changed called when a request has ended
   */
  constructor(mayEnd: (asked: Asked, code: string) => boolean, changed: () => void) {
    this.#mayEnd = mayEnd;
    this.#changed = changed;
  }

  /** Watches how a request ends. */
  watch(question: Question, promise: Promise<unknown>): void {
    for (const one of this.open) {
      if (one.topic === question.topic && one.isAnsweredAsOnly) {
        one.answeredOn = undefined;
      }
    }
    const asked: Asked = {
      ...question,
      arrivals: [],
      outcome: undefined,
      ends: 0,
      answeredOn: undefined,
      isAnsweredAsOnly: false,
    };
    this.asked.push(asked);
    promise.then(
      (value) => this.#end(asked, { answer: answerIn(value), code: undefined }),
      (error: ServiceError) =>
        this.#end(asked, { answer: answerIn(error.cause), code: error.code ?? `${error}` }),
    );
  }

  get open(): Asked[] {
    return this.asked.filter(({ outcome }) => outcome === undefined);
  }

  /** Those that the broker has, and somebody waits for. */
  get answerable(): Asked[] {
    const awaited = new Set(this.open.filter(({ awaitsAnswer }) => awaitsAnswer).map(keyOf));
    return this.asked.filter((one) => one.arrivals.length > 0 && awaited.has(keyOf(one)));
  }

  /** @param number of the request, or of the sample */
  arrived(lane: Asked['lane'], number: number, arrival: Arrival): void {
    const candidates = this.asked.filter((one) => one.lane === lane && keyOf(one) === keyFor(lane, number));
    const asked =
      candidates.find((one) => one.outcome === undefined && one.arrivals.length === 0) ?? candidates[0];
    if (!asked) {
      this.faults.push(`${lane} ${number} arrived and was never asked`);
    } else {
      asked.arrivals.push(arrival);
    }
  }

  /** Prepares a response in the name of a request that has arrived. */
  answer(of: Asked, kind: AnswerKind): Answer {
    const { topic } = of;
    const sure = this.open.filter((one) => one.topic === topic && this.#isSurelyInFlight(one));
    const answer = { number: this.answers.length + 1, kind, topic, of, isAmbiguous: sure.length > 1 };
    this.answers.push(answer);
    return answer;
  }

  /** The response has been handed to the session's connection: from now on some requests must end. */
  handed({ kind, of, topic }: Answer, connection: ClientConnection | undefined): void {
    // What nobody waits for any more can still be answered, so it counts as in flight.
    const others = this.asked.filter(
      (one) => one !== of && one.topic === topic && (one.outcome === undefined || !one.awaitsAnswer),
    );
    const isOnly = others.length === 0 && of.outcome === undefined && of.awaitsAnswer;
    const all = this.asked.filter((one) => keyOf(one) === keyOf(of));
    // Of a sample that was acknowledged twice nobody but the session knows who waits for which.
    const isOneSent = all.flatMap(({ arrivals }) => arrivals).length === 1;
    // When the one that was sent fails, the next of its sample is sent, whichever that is; its time may just be over.
    const mayFail = all.length > 1 && (CODES[kind] !== undefined || of.isShort);
    if (OWN.includes(kind) && isOneSent && of.outcome === undefined && !this.#sentAgain.has(keyOf(of))) {
      for (const one of mayFail ? [] : all) {
        one.answeredOn = connection;
      }
    }
    if (mayFail) {
      this.#sentAgain.add(keyOf(of));
    }
    if (WITHOUT_ID.includes(kind) && isOnly) {
      of.answeredOn = connection;
      of.isAnsweredAsOnly = true;
    }
  }

  /** The first thing that should have ended and has not, in words. */
  unended(connection: ClientConnection | undefined): string | undefined {
    const late = this.open.find((one) => one.answeredOn !== undefined && one.answeredOn === connection);
    return late && `${late.lane} ${late.number} was answered and has not ended`;
  }

  /**
   * Requests that wait although there is a place for them.
   * @param connections how many the session has had; what was sent over an earlier one may have been lost unseen
   */
  idle(maxInFlight: number, connections: number): string | undefined {
    for (const gateway of new Set(this.open.map((one) => one.gateway))) {
      const own = this.open.filter((one) => one.gateway === gateway);
      const sent = own.filter((one) => this.#isSent(one));
      const unseen = own.filter((one) => !this.#isSent(one));
      const isSure = unseen.every((one) => one.connections === connections);
      const waiting = unseen.filter((one) => !this.#isFollower(one));
      if (!isSure || sent.length >= maxInFlight) {
        continue;
      }
      const acks = sent.filter(({ lane }) => lane === 'ack').length;
      const next = waiting.find(({ lane }) => lane === 'request' || acks < Math.max(1, maxInFlight / 2));
      if (next) {
        return `${next.lane} ${next.number} waits although ${sent.length} of ${maxInFlight} are in flight`;
      }
    }
    return undefined;
  }

  /** Everything that went wrong with how requests ended; call it when the session is closed. */
  wrong(): string[] {
    return [
      ...this.faults,
      ...this.open.map(({ lane, number }) => `${lane} ${number} has never ended`),
      ...this.asked.filter(({ ends }) => ends > 1).map(({ number }) => `request ${number} has ended twice`),
      ...this.#sentTooOften(),
      ...this.asked.flatMap((one) => this.#judge(one)),
    ];
  }

  #end(asked: Asked, outcome: NonNullable<Asked['outcome']>): void {
    asked.ends++;
    asked.outcome ??= outcome;
    const { answer, code } = outcome;
    const name = `${asked.lane} ${asked.number}`;
    if (answer === undefined && code !== undefined && !this.#mayEnd(asked, code)) {
      this.faults.push(`${name} ended with ${code}`);
    }
    this.#changed();
  }

  /** By itself, or by another of its sample that has ended: who waits for the response takes its place. */
  #isSent(one: Asked): boolean {
    return this.asked.some((other) => other.arrivals.length > 0 && keyOf(other) === keyOf(one));
  }

  /** An acknowledgement that waits for the outcome of an earlier one of its sample. */
  #isFollower(one: Asked): boolean {
    return this.asked.some((other) => other.number < one.number && keyOf(other) === keyOf(one));
  }

  #isSurelyInFlight(one: Asked): boolean {
    const isTouched = ({ of, kind, topic }: Answer) =>
      keyOf(of) === keyOf(one) || (WITHOUT_ID.includes(kind) && topic === one.topic);
    return !one.isShort && one.awaitsAnswer && one.arrivals.length > 0 && !this.answers.some(isTouched);
  }

  #sentTooOften(): string[] {
    return [...new Set(this.asked.map(keyOf))].flatMap((key) => {
      const all = this.asked.filter((one) => keyOf(one) === key);
      const sent = all.flatMap(({ arrivals }) => arrivals).length;
      const failed = all.filter(({ outcome }) => outcome?.code !== undefined).length;
      // Who wants the response of a sample whose acknowledgement was sent without waiting for one may ask again.
      const isMixed = all.some(({ awaitsAnswer }) => awaitsAnswer !== all[0]?.awaitsAnswer);
      const allowed = all[0]?.lane === 'request' ? 1 : 1 + failed + (isMixed ? 1 : 0);
      return sent > allowed ? [`${key} was sent ${sent} times, ${allowed} at most`] : [];
    });
  }

  #judge(asked: Asked): string[] {
    const { outcome, number, lane, topic, awaitsAnswer } = asked;
    const name = `${lane} ${number}`;
    if (!outcome) {
      return [];
    }
    if (outcome.answer === undefined) {
      return outcome.code === undefined && awaitsAnswer ? [`${name} succeeded without a response`] : [];
    }
    const answer = this.answers[outcome.answer - 1];
    if (!answer) {
      return [`${name} ended with a response that was never given`];
    }
    const isOwn = OWN.includes(answer.kind) && keyOf(answer.of) === keyOf(asked);
    const isWithoutId = WITHOUT_ID.includes(answer.kind) && answer.topic === topic;
    if (!isOwn && !isWithoutId) {
      return [`${name} ended with '${answer.kind}', made for ${answer.of.number}`];
    }
    if (isWithoutId && answer.isAmbiguous) {
      return [`${name} ended with '${answer.kind}', which could be another's`];
    }
    const expected = CODES[answer.kind];
    return outcome.code === expected ? [] : [`${name} ended with ${outcome.code} after '${answer.kind}'`];
  }
}

const keyFor = (lane: Asked['lane'], number: number): string => `${lane} ${number}`;
const keyOf = ({ lane, sample, number }: Question): string => keyFor(lane, sample ?? number);

/** Every answer of the model contains its number as `answer-17` somewhere. */
function answerIn(value: unknown): number | undefined {
  const match = /answer-(\d+)/.exec(JSON.stringify(value) ?? '');
  return match ? Number(match[1]) : undefined;
}
