// The REST service fails in every way under concurrent calls: each call ends in a response or a coded error.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { SILENT } from '../../src/log.ts';
import { Session } from '../../src/session.ts';
import { json, settingsFor, startServer, type TestServer } from '../rest/server.ts';
import { type Portal, startPortal } from './portal.ts';
import { openResources } from './resources.ts';
import { isLong, record, times } from './table.ts';
import { type Ask, Asking } from './tally.ts';

const CALLERS = 4;
/** Every caller meets the fault with its first attempt and with its only retry. */
const FELT = CALLERS * 2;
const TIMEOUT_MS = 300;
/** So much data takes its time on a busy machine. */
const LONG_TIMEOUT_MS = 30_000;
const DEVICE = 'bmac-c0141f68fc3d';

interface Ground {
  portal: Portal;
  /** On another origin: must never hear of anything. */
  stranger: TestServer;
}

interface Fault {
  /** Begins the fault; resolves when it has been felt. */
  make(ground: Ground): Promise<void>;
  /** The codes that calls may end with. */
  codes: string[];
  /** Milliseconds for one call. */
  timeout?: number;
}

const MEGABYTE = Buffer.alloc(1024 * 1024, ' ');

/** A list that begins well and goes on for 100 MB. */
function sendHuge(response: ServerResponse): void {
  let left = 100;
  const go = () => {
    while (left-- > 0 && !response.destroyed) {
      if (!response.write(MEGABYTE)) {
        return;
      }
    }
    response.end(']}');
  };
  response.on('drain', go).writeHead(200, { 'content-type': 'application/json' });
  response.write('{"items":[');
  go();
}

/** Every call fails like this until all callers have felt it. */
function everyCall(codes: string[], answer: Parameters<Portal['fail']>[0], felt = FELT): Fault {
  return {
    codes,
    async make({ portal }) {
      portal.fail(answer);
      await portal.felt(felt);
    },
  };
}

const FAULTS: Record<string, Fault> = {
  'token expired': {
    codes: [],
    async make({ portal }) {
      portal.shorten(1);
      for (let login = 0; login < 2; login++) {
        await portal.nextLogin();
      }
    },
  },
  'token revoked': {
    codes: [],
    async make({ portal }) {
      portal.revoke();
      await portal.nextLogin();
    },
  },
  'login without a response': {
    codes: ['NETWORK'],
    async make({ portal }) {
      portal.failLogins(() => {});
      await portal.felt(3);
    },
  },
  'login redirected to another origin': {
    codes: ['HTTP_ERROR'],
    async make({ portal, stranger }) {
      portal.failLogins((_, response) => json(response, {}, 307, { location: `${stranger.url}/login` }));
      await portal.felt(FELT);
    },
  },
  'calls redirected to another origin': {
    codes: ['HTTP_ERROR'],
    async make({ portal, stranger }) {
      const statuses = [301, 302, 303, 307, 308];
      let turn = 0;
      portal.fail(({ url }, response) =>
        json(response, {}, statuses[turn++ % statuses.length], { location: `${stranger.url}${url}` }),
      );
      await portal.felt(FELT);
    },
  },
  'status 429 with Retry-After': everyCall(['HTTP_ERROR'], (_, response) =>
    json(response, {}, 429, { 'retry-after': '1' }),
  ),
  'status 503': everyCall(['HTTP_ERROR'], (_, response) => json(response, {}, 503)),
  'connection reset in the middle of a body': everyCall(['NETWORK'], (_, response) => {
    response.writeHead(200, { 'content-length': '100000' }).write('{"items":[');
    setImmediate(() => (response.socket as Socket).resetAndDestroy());
  }),
  'no response': everyCall(['NETWORK'], () => {}),
  'page token that repeats for ever': everyCall(['BAD_RESPONSE'], (_, response) =>
    json(response, { items: [], nextToken: '2' }),
  ),
  'page of 100 MB': {
    ...everyCall(['BAD_RESPONSE'], (_, response) => sendHuge(response), CALLERS),
    timeout: LONG_TIMEOUT_MS,
  },
  'invalid JSON': everyCall(['BAD_RESPONSE'], (_, response) => void response.end('{"items":[}')),
};

const list: Ask = async (session, signal) => {
  for await (const _ of session.rest.listPages({ pageSize: 20, limit: 0, signal })) {
  }
};

/** What flows do with a service, in turn; lists most of all. */
const ask: Ask = (session, signal, turn) => {
  if (turn % 4 === 1) {
    return session.rest.rename(DEVICE, `name ${turn}`, signal);
  }
  if (turn % 4 === 3) {
    return session.rest.createLabel(`label ${turn}`, signal);
  }
  return list(session, signal, turn);
};

describe(`a REST service that fails under ${CALLERS} callers`, function () {
  this.timeout(isLong ? 0 : 60_000);
  let ground: Ground;
  let session: Session;
  let before: Record<string, number>;

  beforeEach(async () => {
    before = await openResources();
    ground = { portal: await startPortal(), stranger: await startServer((_, response) => response.end()) };
  });
  afterEach(async () => {
    await session?.close();
    await Promise.all([ground.portal.server.stop(), ground.stranger.stop()]);
  });

  function open(timeout: number): Session {
    return new Session({ rest: settingsFor(ground.portal.server.url, { timeout, retries: 1 }) }, SILENT);
  }

  for (const [fault, { make, codes, timeout = TIMEOUT_MS }] of Object.entries(FAULTS)) {
    it(`ends every call with a response or a code: ${fault}`, async () => {
      const { portal, stranger } = ground;
      session = open(timeout);
      const asking = new Asking(session, CALLERS, ask);
      await asking.answersForAll();
      let recovered = 0;
      for (let time = 0; time < times(2, 50); time++) {
        await make(ground);
        portal.heal();
        const healed = performance.now();
        await asking.answersForAll();
        recovered = Math.max(recovered, performance.now() - healed);
      }
      await asking.finish();
      const requests = asking.row();
      const note = `${portal.logins} logins`;
      record({ fault: `REST: ${fault}`, times: times(2, 50), requests, recovered, note });
      assert.equal(requests.hanging, 0);
      assert.deepEqual(
        Object.keys(requests.failed).filter((code) => !codes.includes(code)),
        [],
      );
      assert.deepEqual([stranger.calls, stranger.logins], [[], []]);
      await session.close();
      await portal.isLeft();
      await Promise.all([portal.server.stop(), stranger.stop()]);
      assert.deepEqual(await openResources(), before);
    });
  }

  it('ends every call with CLOSED when the session is closed meanwhile', async () => {
    const { portal } = ground;
    session = open(LONG_TIMEOUT_MS);
    portal.fail(() => {});
    const asking = new Asking(session, CALLERS, ask);
    await portal.felt(CALLERS);
    const finished = asking.finish();
    await session.close();
    await finished;
    assert.deepEqual(asking.row(), { answered: 0, failed: { CLOSED: CALLERS }, hanging: 0 });
    await portal.isLeft();
  });
});
