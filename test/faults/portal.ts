// A REST service for faults: lists, renames and labels devices for whoever has a valid token, until it is told to fail.
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  type Answer,
  type Arrived,
  createToken,
  json,
  startServer,
  type TestServer,
} from '../rest/server.ts';

const PAGES = 3;
const PAGE_SIZE = 20;
/** Page by page other devices, as the service has them. */
const ITEMS = Array.from({ length: PAGES * PAGE_SIZE }, (_, index) => ({
  id: `bmac-c0141f68${(0xf000 + index).toString(16)}`,
}));
/** Seconds, as the interface says. */
const USUAL_LIFE = 1800;

export class Portal {
  readonly server: TestServer;
  readonly #events = new EventEmitter();
  /** Until when each token is good. */
  readonly #tokens = new Map<string, number>();
  #logins = 0;
  #open = 0;
  #fault: Answer | undefined;
  #loginFault: Answer | undefined;
  #life = USUAL_LIFE;

  constructor(server: TestServer) {
    this.server = server;
    server.answer = (request, response) => this.#answer(request, response);
    server.login = (request, response) => this.#login(request, response);
    server.server.on('connection', (socket: Socket) => {
      this.#open++;
      socket.once('close', () => {
        this.#open--;
        this.#events.emit('left');
      });
    });
  }

  get logins(): number {
    return this.#logins;
  }

  /** Every call ends like this until `heal`. */
  fail(fault: Answer): void {
    this.#fault = fault;
  }

  /** Every login ends like this until `heal`, and all are needed anew. */
  failLogins(fault: Answer): void {
    this.#loginFault = fault;
    this.revoke();
  }

  revoke(): void {
    this.#tokens.clear();
  }

  /** New tokens last so many seconds; the present ones end now. */
  shorten(life: number): void {
    this.#life = life;
    this.revoke();
  }

  heal(): void {
    this.#fault = this.#loginFault = undefined;
    this.#life = USUAL_LIFE;
  }

  /** Resolves when so many calls or logins have met the fault. */
  async felt(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      await once(this.#events, 'fault');
    }
  }

  /** Resolves with the next login. */
  async nextLogin(): Promise<void> {
    await once(this.#events, 'login');
  }

  /** Resolves when nobody is connected. */
  async isLeft(): Promise<void> {
    while (this.#open > 0) {
      await once(this.#events, 'left');
    }
  }

  #login(request: Arrived, response: ServerResponse): void {
    this.#logins++;
    this.#events.emit('login');
    if (this.#loginFault) {
      this.#fail(this.#loginFault, request, response);
      return;
    }
    const authToken = createToken(`token ${this.#logins}`, this.#life);
    this.#tokens.set(authToken, Date.now() + this.#life * 1000);
    json(response, { status: 'SUCCESS', authToken });
  }

  #answer(request: Arrived, response: ServerResponse): void {
    // The record of requests is for short tests.
    this.server.calls.length = 0;
    const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
    if (!((this.#tokens.get(token) ?? 0) > Date.now())) {
      json(response, {}, 401);
    } else if (this.#fault) {
      this.#fail(this.#fault, request, response);
    } else if (request.method !== 'GET') {
      response.end();
    } else {
      json(response, nextPage(request.url));
    }
  }

  #fail(fault: Answer, request: Arrived, response: ServerResponse): void {
    fault(request, response);
    this.#events.emit('fault');
  }
}

function nextPage(url: string): object {
  const page = Number(/NextToken=(\d+)/.exec(url)?.[1] ?? 1);
  return {
    items: ITEMS.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE),
    nextToken: page < PAGES ? `${page + 1}` : null,
  };
}

export async function startPortal(): Promise<Portal> {
  return new Portal(await startServer(() => {}));
}
