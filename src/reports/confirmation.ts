// A subscriber whose reports the broker keeps until the flow has confirmed them: what is dropped on the way to it is confirmed here.
import { ServiceError } from '../errors.ts';
import type { Report, ReportTopic } from '../protocol/reports/index.ts';
import type { Message } from './message.ts';
import type { Confirmer, OpenReport } from './open-report.ts';
import type { OpenReports } from './open-reports.ts';
import type { ReportListener } from './receivers.ts';

export interface ConfirmOptions {
  /** Milliseconds after which a report that is not confirmed is sent to the flow again. */
  timeoutMs: number;
  /** How often it is sent again; 0: for ever. */
  maxAttempts: number;
}

type ReportPlace = Pick<ReportTopic, 'gateway' | 'device' | 'identifier'>;

/** Told how many reports are open. @param oldestMs since the oldest was heard */
export type CountListener = (open: number, oldestMs: number) => void;

export class Confirmation {
  readonly #open: OpenReports;
  readonly #confirmer: Confirmer;
  readonly #subscriber: ReportListener;
  #chain: ReportListener | undefined;
  #isWaiting: () => boolean = () => false;
  #resending: OpenReport | undefined;

  /**
   * @param node by its name it is recognised after a deploy; what other labels let through is judged anew then
   * @param replay gives a message to the subscriber's listener once more
   * @param placeOf what the topic of a report says
   */
  constructor(
    open: OpenReports,
    subscriber: ReportListener,
    { owner, labels }: { owner: string; labels: readonly string[] },
    { timeoutMs, maxAttempts }: ConfirmOptions,
    replay: (messages: readonly Message[]) => void,
    count: CountListener,
    placeOf: (topic: string) => ReportPlace | undefined,
  ) {
    this.#open = open;
    this.#subscriber = subscriber;
    this.#confirmer = {
      ...{ owner, labels: JSON.stringify([...labels].sort()), timeoutMs, maxAttempts, count },
      again: (report) => this.#again(report, replay),
      givenUp: ({ message, attempts }) => {
        const { topic, payload } = message;
        const text = payload.toString();
        const { gateway, device, identifier } = placeOf(topic) ?? {};
        const place = { gateway, device, operation: 'confirm', identifier };
        const cause = { ...place, topic, payload: text, timeout: timeoutMs, attempts };
        const error = new ServiceError('TIMEOUT', 'notConfirmed', cause, { attempts });
        subscriber.error(error, { topic, payload: text });
      },
    };
  }

  /** The end of what stands between: what reaches it is with the flow. */
  get target(): ReportListener {
    return {
      report: (report, topic, payload, heardAt) => {
        if (this.#reaching) {
          this.#reaching.hasReached = true;
        }
        this.#subscriber.report(report, topic, payload, heardAt);
      },
      error: (error, message) => this.#subscriber.error(error, message),
    };
  }

  /** The report that is on its way through the chain. */
  #reaching: OpenReport | undefined;

  /**
   * The beginning of it.
   * @param chain what may drop reports, and ends in `target`
   * @param isWaiting nothing can be judged yet: `ready` follows
   */
  listener(chain: ReportListener, isWaiting: () => boolean): ReportListener {
    this.#chain = chain;
    this.#isWaiting = isWaiting;
    return {
      report: (report, topic, payload, heardAt) => this.#receive(report, topic, payload, heardAt),
      error: (error, message) => chain.error(error, message),
    };
  }

  begin(): void {
    this.#open.add(this.#confirmer);
  }

  /** What waited can be judged now. */
  ready(): void {
    this.#open.hurry(this.#confirmer);
  }

  end(comesBack: boolean): void {
    this.#open.remove(this.#confirmer, comesBack);
  }

  #receive(report: Report, topic: string, payload: Buffer, heardAt?: number): void {
    const resent = this.#resending;
    this.#resending = undefined;
    const open = resent ?? (heardAt === undefined ? this.#open.open(this.#confirmer) : undefined);
    if (open === undefined) {
      this.#chain?.report(report, topic, payload, heardAt);
      return;
    }
    report.delivery = open.id;
    if (open.hasReached || open.wasWithOther) {
      report.redelivered = true;
    }
    if (open.hasReached) {
      this.#subscriber.report(report, topic, payload, heardAt);
      return;
    }
    if (this.#isWaiting()) {
      return;
    }
    this.#reaching = open;
    try {
      this.#chain?.report(report, topic, payload, heardAt);
    } finally {
      this.#reaching = undefined;
    }
    if (open.hasReached) {
      return;
    }
    if (open.wasWithOther) {
      // As if it had not come: `again` tells that the node does not ask for it.
      this.#resending = open;
    } else {
      this.#open.confirm(open.id);
    }
  }

  /** @returns false: the node asks for other reports by now */
  #again(open: OpenReport, replay: (messages: readonly Message[]) => void): boolean {
    this.#resending = open;
    replay([open.message]);
    const hasPassed = this.#resending !== open;
    this.#resending = undefined;
    return hasPassed;
  }
}
