// What the service in a box saw and did: calls, counters and the events that tests wait for.
import { EventEmitter } from 'node:events';
import type { OperationCall } from './network.ts';
import type { RestCall } from './rest.ts';
import type { Publication, TopicKind } from './traffic.ts';

/** What happens inside, as it happens. */
export interface ServiceEvents {
  /** A report is with the broker. */
  report: [{ topic: string; payload: Record<string, unknown>; publication: Publication }];
  /** A gateway received a request. */
  request: [OperationCall];
  /** … and has answered it. */
  answered: [OperationCall];
  /** A REST call is over. */
  rest: [RestCall];
  /** A sample was acknowledged. */
  acknowledged: [{ gateway: string; device: string; identifier: string; time: string }];
  away: [gateway: string];
  back: [gateway: string];
  /** A publication failed, or a request could not be handled. */
  failed: [Error];
}

export interface Counts {
  /** Reports that the broker has taken, in all and by topic kind; those of absent gateways were not published. */
  reports: { published: number; unpublished: number; byKind: Partial<Record<TopicKind, number>> };
  operations: { received: number; answered: number; refused: number };
  rest: { calls: number; logins: number };
}

/** A list that forgets its older half when it has grown to twice its limit. */
function remember<T>(list: T[], entry: T, limit: number): void {
  list.push(entry);
  if (list.length > limit * 2) {
    list.splice(0, limit);
  }
}

export class Records {
  readonly events = new EventEmitter<ServiceEvents>();
  readonly calls: { rest: RestCall[]; operations: OperationCall[] } = { rest: [], operations: [] };
  readonly counts: Counts = {
    reports: { published: 0, unpublished: 0, byKind: {} },
    operations: { received: 0, answered: 0, refused: 0 },
    rest: { calls: 0, logins: 0 },
  };
  readonly #limit: number;

  /** @param limit how many calls are remembered. */
  constructor(limit: number) {
    this.#limit = limit;
    this.events.setMaxListeners(0);
  }

  published(topic: string, publication: Publication, payload: Record<string, unknown>): void {
    const { reports } = this.counts;
    reports.published++;
    reports.byKind[publication.kind] = (reports.byKind[publication.kind] ?? 0) + 1;
    this.events.emit('report', { topic, payload, publication });
  }

  received(call: OperationCall): void {
    this.counts.operations.received++;
    remember(this.calls.operations, call, this.#limit);
    this.events.emit('request', call);
  }

  answered(call: OperationCall): void {
    this.counts.operations.answered++;
    if (call.response?.status !== 0) {
      this.counts.operations.refused++;
    }
    this.events.emit('answered', call);
  }

  rest(call: RestCall): void {
    if (call.path.startsWith('/simulator/')) {
      return;
    }
    this.counts.rest.calls++;
    if (call.path === '/api/v1/auth/login') {
      this.counts.rest.logins++;
    }
    remember(this.calls.rest, call, this.#limit);
    this.events.emit('rest', call);
  }

  forgetCalls(): void {
    this.calls.rest.length = 0;
    this.calls.operations.length = 0;
  }
}
