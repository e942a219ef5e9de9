// Switchable faults of the REST half; each applies to the calls it names, as often as it says.
import type { ServerResponse } from 'node:http';

/** What goes wrong. `status` may carry Retry-After (seconds or a date) and a body. */
export type RestTrouble =
  | { kind: 'status'; status: number; retryAfter?: string | number; body?: string }
  /** Answers, but late. */
  | { kind: 'slow'; ms: number }
  /** Never answers. */
  | { kind: 'hang' }
  /** The connection is reset: before anything was done, after it was done (a lost answer), or inside the body. */
  | { kind: 'reset'; when: 'before' | 'after' | 'body' }
  /** Status 200 with text that is not what the interface says. */
  | { kind: 'garbage'; body?: string; type?: string }
  | { kind: 'redirect'; location: string; status?: number }
  /** The device list says the same `nextToken` for ever. */
  | { kind: 'repeat-token' }
  /** A body that goes on for so many bytes. */
  | { kind: 'huge'; bytes: number };

export type RestFault = RestTrouble & {
  /** Start of `METHOD /path`, for instance `POST /api/v1/auth/login`; absent: every call. */
  only?: string;
  /** How often; absent: until it is removed. */
  times?: number;
};

export class RestFaults {
  #active: { fault: RestFault; left: number }[] = [];

  /** Switches a fault on; the returned function switches it off again. */
  add(fault: RestFault): () => void {
    const entry = { fault, left: fault.times ?? Number.POSITIVE_INFINITY };
    this.#active.push(entry);
    return () => {
      this.#active = this.#active.filter((other) => other !== entry);
    };
  }

  clear(): void {
    this.#active = [];
  }

  /** The oldest active fault for a call, counted as having happened. */
  take(call: string): RestFault | undefined {
    const entry = this.#active.find(({ fault }) => call.startsWith(fault.only ?? ''));
    if (!entry) {
      return undefined;
    }
    if (--entry.left <= 0) {
      this.#active = this.#active.filter((other) => other !== entry);
    }
    return entry.fault;
  }
}

/** Resets the connection, so that the caller sees ECONNRESET and not a tidy end. */
export const reset = (response: ServerResponse): unknown => response.socket?.resetAndDestroy();

function resetInBody(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"items":[{"id":"bmac-', () => reset(response));
}

function sendHuge(response: ServerResponse, bytes: number): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let left = bytes;
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= chunk.length;
      if (!response.write(chunk)) {
        return void response.once('drain', more);
      }
    }
    response.end('"}');
  };
  response.write('{"items":[],"x":"');
  more();
}

/** Carries out a fault instead of a response; false when the call is to be answered as usual after all. */
export function carryOut(fault: RestFault, response: ServerResponse): boolean {
  switch (fault.kind) {
    case 'status': {
      const retryAfter = fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) };
      response.writeHead(fault.status, { 'content-type': 'application/json', ...retryAfter });
      response.end(fault.body ?? JSON.stringify({ message: `simulated ${fault.status}` }));
      return true;
    }
    case 'redirect':
      response.writeHead(fault.status ?? 302, { location: fault.location }).end();
      return true;
    case 'garbage':
      response.writeHead(200, { 'content-type': fault.type ?? 'application/json' });
      response.end(fault.body ?? '<html>not what you think');
      return true;
    case 'huge':
      sendHuge(response, fault.bytes);
      return true;
    case 'hang':
      return true;
    case 'reset':
      if (fault.when === 'before') {
        reset(response);
      } else if (fault.when === 'body') {
        resetInBody(response);
      }
      return fault.when !== 'after';
    case 'slow':
    case 'repeat-token':
      return false;
  }
}
