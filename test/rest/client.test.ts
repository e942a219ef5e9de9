// RestClient against a real HTTP server: login, retries, errors, limits, closing.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { ServiceError } from '../../src/errors.ts';
import { SILENT } from '../../src/log.ts';
import { RestClient } from '../../src/rest/client.ts';
import type { RestState } from '../../src/rest/types.ts';
import { itAtScale } from '../at-scale.ts';
import {
  type Answer,
  createClient,
  createClock,
  createToken,
  json,
  PASSWORD,
  settingsFor,
  startServer,
  type TestServer,
} from './server.ts';

const LIST = { method: 'GET', path: '/api/v1/devices' };
const POST = { method: 'POST', path: '/api/v1/labels', body: '{"label":"a"}' };

async function failure(promise: Promise<unknown>): Promise<ServiceError> {
  const error = await promise.then(
    () => assert.fail('did not fail'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ServiceError, String(error));
  return error;
}

/** Answers with each status once, then with 200. */
function failing(...statuses: number[]): TestServer['answer'] {
  return (_, response) => json(response, {}, statuses.shift() ?? 200);
}

describe('REST client', () => {
  let server: TestServer;
  let client: RestClient;

  beforeEach(async () => {
    server = await startServer((_, response) => json(response, { items: [] }));
    client = createClient(server.url);
  });
  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  it('leaves the fetch of the process alone', async () => {
    const mark = Symbol.for('undici.globalDispatcher.1');
    const before = [globalThis.fetch, (globalThis as Record<symbol, unknown>)[mark]];
    await client.send(LIST);
    assert.deepEqual([globalThis.fetch, (globalThis as Record<symbol, unknown>)[mark]], before);
  });

  describe('login', () => {
    it('logs in once, however many calls wait for it', async () => {
      await Promise.all(Array.from({ length: 20 }, () => client.send(LIST)));
      assert.equal(server.logins.length, 1);
      assert.deepEqual(JSON.parse(server.logins[0]!.body), { username: 'anna', password: PASSWORD });
      assert.ok(server.calls.every(({ headers }) => headers.authorization === `Bearer ${server.tokens[0]}`));
    });

    it('sends the credential in the header of the settings, below the path prefixes of both addresses', async () => {
      const other = createClient(server.url, {
        authUrl: `${server.url}/auth/`,
        baseUrl: `${server.url}/a/b/`,
        authHeader: 'X-Auth',
      });
      await other.send({ ...LIST, query: { MaxResults: 3 } });
      await other.close();
      assert.equal(server.logins[0]!.url, '/auth/api/v1/auth/login');
      assert.equal(server.calls[0]!.url, '/a/b/api/v1/devices?MaxResults=3');
      assert.equal(server.calls[0]!.headers['x-auth'], `Bearer ${server.tokens[0]}`);
    });

    it('renews the token a minute before its end, counted from when it came', async () => {
      const clock = createClock(0);
      const other = createClient(server.url, {}, clock);
      await other.send(LIST);
      clock.time += 1738_000;
      await other.send(LIST);
      assert.equal(server.logins.length, 1);
      clock.time += 3_000;
      await other.send(LIST);
      // It is renewed beside the call.
      while (server.logins.length < 2) {
        await turn();
      }
      await other.close();
    });

    for (const [title, wait] of [
      ['waited for its turn', false],
      ['waited for the time that the service has named', true],
    ] as const) {
      it(`sends no call with a token that has ended while it ${title}`, async () => {
        const clock = createClock(0);
        const other = createClient(server.url, {}, clock);
        const held: ServerResponse[] = [];
        let hold = (): void => {};
        const areHeld = new Promise<void>((resolve) => (hold = resolve));
        server.answer = (_, response) => {
          if (held.push(response) === 4) {
            hold();
          }
        };
        const calls = Array.from({ length: 12 }, () => other.send(LIST));
        await areHeld;
        server.answer = (_, response) => json(response, {});
        clock.time += wait ? 1_700_000 : 1_800_000;
        for (const response of held) {
          json(response, {}, wait ? 429 : 200, { 'retry-after': '110' });
        }
        await Promise.all(calls);
        assert.equal(server.logins.length, 2);
        assert.deepEqual(
          server.calls.slice(4).map(({ headers }) => headers.authorization),
          Array.from({ length: wait ? 12 : 8 }, () => `Bearer ${server.tokens[1]}`),
        );
        await other.close();
      });
    }

    it('sends a call with a token that has ended when it comes, and logs in no further time for it', async () => {
      const clock = createClock(0);
      const other = createClient(server.url, {}, clock);
      const login = server.login;
      server.login = (request, response) => {
        login(request, response);
        clock.time += 1_800_000;
      };
      const { now } = clock;
      // What it lasts is counted from when it has come: each look at the clock is later than that.
      clock.now = () => {
        clock.time += 1_800_000;
        return now();
      };
      await other.send(LIST);
      assert.deepEqual([server.logins.length, server.calls.length], [1, 1]);
      await other.close();
    });

    it('sends what waits for its turn with the token that it has, though another call with that was refused', async () => {
      server.answer = ({ url }, response) => json(response, {}, url.endsWith('/refused') ? 401 : 200);
      const { login } = server;
      server.login = (request, response) => {
        server.login = (_, later) => json(later, {}, 403);
        login(request, response);
      };
      const refused = failure(client.send({ method: 'GET', path: '/refused' }));
      const others = Array.from({ length: 40 }, () => client.send(LIST));
      assert.equal((await refused).code, 'LOGIN_FAILED');
      await Promise.all(others);
      assert.equal(server.logins.length, 2);
    });

    it('logs in for one call that is refused, not for each that waits behind it', async () => {
      const refused: ServerResponse[] = [];
      let good = 0;
      // A refusal takes longer than what succeeds, so that the token has been accepted meanwhile.
      server.answer = ({ url }, response) => {
        if (url.endsWith('/refused')) {
          refused.push(response);
        } else {
          good++;
          json(response, {});
        }
        if (refused.length === 4 || good === 40) {
          for (const one of refused.splice(0)) {
            json(one, {}, 401);
          }
        }
      };
      const outcomes = await Promise.allSettled(
        Array.from({ length: 80 }, (_, n) =>
          client.send(n % 2 === 0 ? LIST : { method: 'GET', path: '/refused' }),
        ),
      );
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 40);
      assert.equal(server.logins.length, 2);
    });

    it('gets a third token for a line of calls during which the first and the second are revoked', async () => {
      let valid = 0;
      let good = 0;
      server.answer = ({ headers }, response) => {
        const isValid = headers.authorization === `Bearer ${server.tokens[valid]}`;
        json(response, {}, isValid ? 200 : 401);
        if (isValid && ++good % 20 === 0) {
          valid = Math.min(2, valid + 1);
        }
      };
      const outcomes = await Promise.allSettled(Array.from({ length: 200 }, () => client.send(LIST)));
      // Eight tell that the second token was revoked, and three more may be under way.
      assert.ok(outcomes.filter(({ status }) => status === 'rejected').length <= 11);
      assert.equal(server.logins.length, 3);
    });

    it('rests before a login, longer each time, where another user of the account ends its token with every login', async () => {
      server.answer = ({ headers }, response) =>
        json(response, {}, headers.authorization === `Bearer ${server.tokens.at(-1)}` ? 200 : 401);
      const clock = createClock(0);
      const others = createClient(server.url);
      const own = createClient(server.url, {}, clock);
      const states: string[] = [];
      own.onState((state) => states.push('reason' in state ? `${state.name} ${state.reason}` : state.name));
      const takeTurns = async (times: number) => {
        for (let time = 0; time < times; time++) {
          assert.equal((await own.send(POST)).statusCode, 200);
          assert.equal((await others.send(LIST)).statusCode, 200);
        }
        // Spread by up to a fifth.
        return clock.waits.splice(0).map((ms) => [1, 2, 4, 8, 10].find((s) => ms < s * 1_200));
      };
      assert.deepEqual(await takeTurns(4), []);
      assert.ok(!states.includes('waiting 401'));
      assert.deepEqual(await takeTurns(2), [1, 2]);
      assert.ok(states.includes('waiting 401'));
      assert.deepEqual((await takeTurns(4)).slice(-2), [10, 10]);
      // What it has rested is no whole number.
      clock.time += 30_001;
      assert.deepEqual(await takeTurns(2), [], 'that one lasted');
      await Promise.all([own.close(), others.close()]);
    });

    it('does not rest for a path that is always refused, nor for tokens that had ended before others that lasted', async () => {
      const clock = createClock(0);
      const own = createClient(server.url, {}, clock);
      let isRevoked = false;
      server.answer = ({ url, headers }, response) => {
        const isOld = isRevoked && headers.authorization === `Bearer ${server.tokens.at(-1)}`;
        isRevoked &&= !isOld;
        json(response, {}, isOld || url.endsWith('/refused') ? 401 : 200);
      };
      for (let time = 0; time < 6; time++) {
        await own.send(LIST);
        await failure(own.send({ method: 'GET', path: '/refused' }));
      }
      assert.deepEqual(clock.waits, []);
      for (let time = 0; time < 8; time++) {
        isRevoked = true;
        clock.time += 29_000;
        await own.send(LIST);
        if (time % 3 === 2) {
          // It is renewed ahead of its end.
          clock.time += 1_790_000;
          await own.send(LIST);
          await own.send(LIST);
        }
      }
      assert.deepEqual(clock.waits, []);
      await own.close();
    });

    it('is closed at once while it rests before a login', async () => {
      const waits: AbortSignal[] = [];
      const began = new EventEmitter();
      const clock = {
        now: () => 0,
        wait: (_: number, signal?: AbortSignal) =>
          new Promise<void>((_resolve, reject) => {
            waits.push(signal!);
            signal!.addEventListener('abort', () => reject(signal!.reason as Error));
            began.emit('wait');
          }),
      };
      const own = createClient(server.url, {}, clock);
      let good = 0;
      server.answer = (_, response) => json(response, {}, good++ % 2 === 0 ? 200 : 401);
      for (let time = 0; time < 4; time++) {
        await own.send(LIST);
      }
      const resting = once(began, 'wait');
      const call = failure(own.send(LIST));
      await resting;
      await own.close();
      assert.equal((await call).code, 'CLOSED');
      assert.ok(waits.every(({ aborted }) => aborted));
    });

    it('lets no call wait for a login that is not answered while the token lasts, and shows no fault of it', async () => {
      const clock = createClock(0);
      const other = createClient(server.url, { retries: 0 }, clock);
      await other.send(LIST);
      const states: string[] = [];
      other.onState(({ name }) => states.push(name));
      const silent = new Promise<ServerResponse>((resolve) => {
        server.login = (_, response) => resolve(response);
      });
      clock.time += 1_750_000;
      await Promise.all([other.send(LIST), other.send(LIST)]);
      const unanswered = await silent;
      assert.equal(unanswered.destroyed, false, 'the calls came first');
      unanswered.destroy();
      await other.send(LIST);
      assert.ok(!states.includes('failing'), states.join());
      server.login = (_, response) => response.destroy();
      clock.time += 50_000;
      const { code } = await failure(other.send(LIST));
      assert.deepEqual([code, states.at(-1)], ['NETWORK', 'failing']);
      await other.close();
    });

    it('logs in once more on 401 and repeats the call, also a POST', async () => {
      await client.send(LIST);
      server.answer = ({ headers }, response) =>
        json(response, {}, headers.authorization === `Bearer ${server.tokens[0]}` ? 401 : 200);
      await Promise.all([client.send(POST), client.send(POST), client.send(POST)]);
      assert.equal(server.logins.length, 2);
    });

    it('reports a 401 that stays as HTTP_ERROR', async () => {
      server.answer = failing(401, 401, 401);
      const { code, cause } = await failure(client.send(LIST));
      assert.equal(code, 'HTTP_ERROR');
      assert.deepEqual(cause, { statusCode: 401, method: 'GET', path: '/api/v1/devices', body: '{}' });
      assert.equal(server.logins.length, 2);
    });

    it('does not log in again and again at a service that answers every call with 401', async () => {
      const clock = createClock();
      const other = createClient(server.url, {}, clock);
      const { answer } = server;
      server.answer = (_, response) => json(response, { no: 'entry' }, 401);
      for (let time = 0; time < 10; time++) {
        const { code, cause } = await failure(other.send(LIST));
        assert.deepEqual([code, cause.statusCode, cause.body], ['HTTP_ERROR', 401, '{"no":"entry"}']);
      }
      assert.equal(server.logins.length, 2);
      clock.time += 9_999;
      await failure(other.send(LIST));
      assert.equal(server.logins.length, 2);
      clock.time += 1;
      await failure(other.send(LIST));
      clock.time += 19_999;
      await failure(other.send(LIST));
      assert.equal(server.logins.length, 3, 'the pause doubles');
      server.answer = answer;
      await other.send(LIST);
      assert.equal(server.logins.length, 3, 'the token that is there may do again');
      await other.close();
    });

    it('goes on with a token that one path refuses and others accept, without a login for each call', async () => {
      const forbidden = { method: 'GET', path: '/api/v1/jobs' };
      server.answer = ({ url }, response) => json(response, {}, url.includes('jobs') ? 401 : 200);
      for (let time = 0; time < 10; time++) {
        await client.send(LIST);
        assert.equal((await failure(client.send(forbidden))).cause.statusCode, 401);
      }
      assert.equal(server.logins.length, 3);
    });

    for (const status of [200, 299, 300, 302, 399, 400, 403, 404, 428, 429, 430, 499, 500, 503]) {
      const isAccepted = status < 300 || (status >= 400 && status < 500 && status !== 429);
      it(`${isAccepted ? 'takes' : 'does not take'} ${status} for a sign that the service accepts the token`, async () => {
        const statuses = [status, 401, 401, 401, 401];
        server.answer = (_, response) => json(response, {}, statuses.shift());
        for (let time = 0; time < 3; time++) {
          await client.send(POST).catch(() => undefined);
        }
        // A token that was accepted may have been revoked, so that the next one is only the first that is refused.
        assert.equal(server.logins.length, isAccepted ? 3 : 2);
      });
    }

    it('logs in anew at once after a login that failed for another reason than the password', async () => {
      const { login } = server;
      server.login = (_, response) => json(response, {}, 500);
      assert.equal((await failure(client.send(LIST))).cause.statusCode, 500);
      server.login = login;
      assert.equal((await client.send(LIST)).statusCode, 200);
    });

    for (const statusCode of [400, 401, 403]) {
      it(`reports ${statusCode} at login as LOGIN_FAILED`, async () => {
        server.login = (_, response) => json(response, { error: 'no' }, statusCode);
        const { code, cause, message } = await failure(client.send(LIST));
        assert.deepEqual([code, cause], ['LOGIN_FAILED', { statusCode }]);
        assert.equal(message, `the service refused user name or password (status ${statusCode})`);
      });
    }

    const NOT_A_LOGIN = [
      '{"status":"FAILED","authToken":"a.b.c"}',
      '{"status":"SUCCESS"}',
      '{"status":"SUCCESS","authToken":"two\\nlines"}',
    ];
    for (const body of NOT_A_LOGIN) {
      it(`reports 200 at login with ${body} as LOGIN_FAILED`, async () => {
        server.login = (_, response) => response.end(body);
        const { code, cause, message } = await failure(client.send(LIST));
        assert.deepEqual([code, cause], ['LOGIN_FAILED', { statusCode: 200 }]);
        assert.equal(
          message,
          'the service answered the login with status 200, but not with SUCCESS and a token that can be used',
        );
      });
    }

    describe('of a server that is not the service', () => {
      const host = () => new URL(server.url).host;
      const PAGE = ' \n<!DOCTYPE html><html><body>Welcome to the intranet</body></html>';
      const says = async (text: string, call: Promise<unknown>): Promise<ServiceError> => {
        const error = await failure(call);
        assert.equal(error.message, text);
        return error;
      };

      it('says that its web page is not the service, and never shows the page', async () => {
        server.answer = (_, response) => response.end(PAGE);
        const list = client.call('listDevices', {});
        const answered = `this is not the service: ${host()} answered GET /api/v1/devices with a web page`;
        const error = await says(answered, list);
        assert.deepEqual([error.code, error.cause], ['BAD_RESPONSE', { body: PAGE }]);
        server.answer = (_, response) => response.writeHead(404).end(PAGE);
        assert.equal((await says(`${answered} (status 404)`, client.send(LIST))).code, 'HTTP_ERROR');
        server.answer = (_, response) => response.writeHead(500).end(PAGE);
        const away = `status 500 with a web page from ${host()}, not from the service (GET /api/v1/devices)`;
        assert.equal((await says(away, client.send(LIST))).cause.statusCode, 500);
      });

      for (const [status, body, text] of [
        [200, PAGE, 'answered the login with a web page (status 200)'],
        [403, PAGE, 'answered the login with a web page (status 403)'],
        [404, '{}', 'has no login at /api/v1/auth/login (status 404)'],
        [405, '', 'has no login at /api/v1/auth/login (status 405)'],
      ] as const) {
        it(`says at its login that it is not the service: ${status} with ${body.trim() || 'nothing'}`, async () => {
          server.login = (_, response) => response.writeHead(status).end(body);
          const error = await says(`this is not the service: ${host()} ${text}`, client.send(LIST));
          assert.doesNotMatch(JSON.stringify(error), /intranet/);
        });
      }

      it('says that it has asked below the path of the address, and nothing of that, which may be secret', async () => {
        const url = `${server.url}/k/s3cret`;
        const other = createClient(server.url, { authUrl: url, baseUrl: url, retries: 0 });
        server.answer = (_, response) => response.end('x');
        await says(
          `this is not the service: what ${host()} answered to GET …/api/v1/devices is not JSON`,
          other.call('listDevices', {}),
        );
        await other.close();
        const next = createClient(server.url, { authUrl: url, retries: 0 });
        server.login = (_, response) => response.writeHead(404).end();
        await says(
          `this is not the service: ${host()} has no login at …/api/v1/auth/login (status 404)`,
          next.send(LIST),
        );
        await next.close();
      });

      for (const body of ['null', '{"hello":"world"}', 'ok', '{"status":200}']) {
        it(`says at its login that this is no response to a login: ${body}`, async () => {
          server.login = (_, response) => response.end(body);
          const text = `what ${host()} answered to the login is no response to a login (status 200)`;
          const { code, cause } = await says(`this is not the service: ${text}`, client.send(LIST));
          assert.deepEqual([code, cause], ['LOGIN_FAILED', { statusCode: 200 }]);
        });
      }
    });

    it('does not ask again for a while after a refusal, and recovers by itself later', async () => {
      const clock = createClock();
      const other = createClient(server.url, {}, clock);
      const { login } = server;
      server.login = (_, response) => json(response, {}, 401);
      const first = await failure(other.send(LIST));
      const second = await failure(other.send(LIST));
      assert.deepEqual([second.code, second.cause, second.message], [first.code, first.cause, first.message]);
      assert.notEqual(first, second);
      assert.equal(server.logins.length, 1);
      assert.deepEqual(other.state, { name: 'refused', reason: '401' });
      clock.time += 10_001;
      await failure(other.send(LIST));
      clock.time += 10_001;
      await failure(other.send(LIST));
      assert.equal(server.logins.length, 2, 'the pause doubles');
      server.login = login;
      clock.time += 10_000;
      await other.send(LIST);
      assert.deepEqual(other.state, { name: 'connected' });
      await other.close();
    });

    it('tries at once after a refused login when the settings are changed', async () => {
      const { login } = server;
      server.login = (_, response) => json(response, {}, 401);
      await failure(client.send(LIST));
      server.login = login;
      const other = createClient(server.url, { password: 'changed' });
      assert.equal((await other.send(LIST)).statusCode, 200);
      await other.close();
    });

    it('logs in ahead of the calls that wait for their turn', async () => {
      await client.send(LIST);
      const held: ServerResponse[] = [];
      const { answer } = server;
      server.answer = (_, response) => void held.push(response);
      const calls = Array.from({ length: 10 }, () => client.send(LIST));
      while (held.length < 4) {
        await turn();
      }
      json(held.shift()!, {}, 401);
      while (held.length < 4) {
        await turn();
      }
      json(held.shift()!, {});
      while (server.logins.length < 2 && held.length < 4) {
        await turn();
      }
      assert.deepEqual([server.logins.length, held.length], [2, 3]);
      server.answer = answer;
      for (const response of held) {
        json(response, {});
      }
      await Promise.all(calls);
    });

    it('logs in once for a call, also where the token of before was accepted', async () => {
      await client.send(LIST);
      server.answer = (_, response) => json(response, {}, 401);
      assert.equal((await failure(client.send(LIST))).cause.statusCode, 401);
      assert.equal(server.logins.length, 2);
    });

    it('does not begin for a call that was stopped before', async () => {
      const states: string[] = [];
      client.onState(({ name }) => states.push(name));
      assert.equal((await failure(client.send(LIST, { signal: AbortSignal.abort() }))).code, 'CLOSED');
      assert.deepEqual([states, server.logins.length], [[], 0]);
    });

    it('shows no fault while the token that is there still works', async () => {
      const clock = createClock(0);
      const other = createClient(server.url, { retries: 0 }, clock);
      await other.send(LIST);
      const asked = new Promise<ServerResponse>((resolve) => {
        server.login = (_, response) => resolve(response);
      });
      clock.time += 1_750_000;
      const stop = new AbortController();
      const stopped = failure(other.send(LIST, { signal: stop.signal }));
      const login = await asked;
      const states: string[] = [other.state.name];
      stop.abort();
      await stopped;
      const isOver = new Promise<void>((resolve) => {
        other.onState(({ name }) => resolve(void states.push(name)));
      });
      json(login, {}, 500);
      await isOver;
      assert.deepEqual(states, ['connecting', 'connected']);
      await other.close();
    });

    it('shows no refusal before the calls have ended that still have a token', async () => {
      const clock = createClock(0);
      const other = createClient(server.url, {}, clock);
      await other.send(LIST);
      const { login, answer } = server;
      const asked = new Promise<ServerResponse>((resolve) => {
        server.login = (_, response) => resolve(response);
      });
      const called = new Promise<ServerResponse>((resolve) => {
        server.answer = (_, response) => resolve(response);
      });
      clock.time += 1_750_000;
      const call = other.send(LIST);
      const [refused, unanswered] = await Promise.all([asked, called]);
      const states: string[] = [];
      other.onState(({ name }) => states.push(name));
      json(refused, {}, 403);
      Object.assign(server, { login, answer });
      // By then the refusal has come, too.
      await client.send(LIST);
      json(unanswered, {});
      await call;
      assert.deepEqual(states, ['connected']);
      await other.close();
    });

    it('tells of a refusal though the token that is there still works', async () => {
      const clock = createClock(0);
      const other = createClient(server.url, {}, clock);
      await other.send(LIST);
      const refused = new Promise<void>((resolve) => {
        other.onState(({ name }) => name === 'refused' && resolve());
      });
      const asked = new Promise<ServerResponse>((resolve) => {
        server.login = (_, response) => resolve(response);
      });
      clock.time += 1_750_000;
      await other.send(LIST);
      json(await asked, {}, 403);
      await refused;
      assert.deepEqual(other.state, { name: 'refused', reason: '403' });
      await other.close();
    });

    it('retries a login that was answered with 503 or reset', async () => {
      const { login } = server;
      let count = 0;
      server.login = (request, response) => {
        count++;
        if (count === 1) {
          json(response, {}, 503);
        } else if (count === 2) {
          response.socket?.resetAndDestroy();
        } else {
          login(request, response);
        }
      };
      await client.send(LIST);
      assert.equal(server.logins.length, 3);
    });
  });

  describe('retries', () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      it(`repeats ${method} after 429, 502, 503 and 504, at most as often as the settings say`, async () => {
        server.answer = failing(429, 502, 503);
        await client.send({ ...LIST, method });
        assert.equal(server.calls.length, 4);
        server.answer = failing(504, 504, 504, 504);
        assert.equal((await failure(client.send({ ...LIST, method }))).cause.statusCode, 504);
        assert.equal(server.calls.length, 8);
      });
    }

    for (const method of ['GET', 'PUT', 'DELETE']) {
      it(`repeats ${method} after network faults, httpRetries times`, async () => {
        server.answer = (_, response) => response.socket?.resetAndDestroy();
        for (const retries of [0, 2]) {
          const other = createClient(server.url, { retries });
          server.calls.length = 0;
          assert.equal((await failure(other.send({ ...LIST, method }))).code, 'NETWORK');
          assert.equal(server.calls.length, 1 + retries);
          await other.close();
        }
      });
    }

    for (const status of [429, 502, 503, 504]) {
      it(`repeats the login after ${status}, httpRetries times, and says HTTP_ERROR in the end`, async () => {
        server.login = (_, response) => json(response, {}, status);
        const { code, cause } = await failure(client.send(LIST));
        assert.deepEqual([code, cause.statusCode], ['HTTP_ERROR', status]);
        assert.equal(server.logins.length, 4);
        assert.deepEqual(client.state, { name: 'failing', reason: String(status) });
      });
    }

    for (const method of ['POST', 'PATCH']) {
      it(`repeats ${method} after 429 or 503 with Retry-After only, so never after a lost answer`, async () => {
        for (const status of [429, 503]) {
          const statuses = [status, 200];
          server.calls.length = 0;
          server.answer = (_, response) => json(response, {}, statuses.shift(), { 'retry-after': '1' });
          await client.send({ ...POST, method });
          assert.equal(server.calls.length, 2);
        }
        server.answer = (_, response) => response.socket?.resetAndDestroy();
        assert.equal((await failure(client.send({ ...POST, method }))).code, 'NETWORK');
        assert.equal(server.calls.length, 3);
      });
    }

    it('ends a call at once when Retry-After is longer than 2 minutes, and waits for one of 2 minutes', async () => {
      const clock = createClock();
      const other = createClient(server.url, {}, clock);
      const asked = ['120', '121'];
      server.answer = (_, response) => json(response, {}, 503, { 'retry-after': asked.shift() ?? '' });
      assert.equal((await failure(other.send(LIST))).cause.statusCode, 503);
      const [wait = 0] = clock.waits;
      assert.deepEqual([clock.waits.length, server.calls.length], [1, 2]);
      assert.ok(wait >= 120_000 && wait < 135_000, String(wait));
      await other.close();
    });

    it('waits longer each time', async () => {
      const clock = createClock();
      const other = createClient(server.url, {}, clock);
      server.answer = failing(503, 503, 503);
      await other.send(LIST);
      await other.close();
      const [first = 0, second = 0, third = 0] = clock.waits;
      assert.ok(first >= 500 && second >= 1000 && third >= 2000, String(clock.waits));
    });

    for (const [form, value] of [
      ['in seconds', '7'],
      ['as a date', new Date(Date.parse('Sat, 21 Nov 2026 03:00:07 GMT')).toUTCString()],
    ] as const) {
      it(`waits as long as Retry-After asks, ${form}`, async () => {
        const clock = createClock();
        const other = createClient(server.url, {}, clock);
        let isFirst = true;
        server.answer = (_, response) => {
          const date = 'Sat, 21 Nov 2026 03:00:00 GMT';
          json(response, {}, isFirst ? 429 : 200, { 'retry-after': value, date });
          isFirst = false;
        };
        await other.send(LIST);
        await other.close();
        const [wait = 0] = clock.waits;
        assert.equal(clock.waits.length, 1);
        assert.ok(wait >= 7000 && wait < 7875, String(wait));
      });
    }

    it('gives up at once when Retry-After asks for an hour', async () => {
      server.answer = (_, response) => json(response, {}, 429, { 'retry-after': '3600' });
      assert.equal((await failure(client.send(LIST))).code, 'HTTP_ERROR');
      assert.equal(server.calls.length, 1);
    });

    const heldBack = (text: string | RegExp) =>
      typeof text === 'string'
        ? text.replace('asks to wait', 'not sent: an earlier call was asked to wait')
        : new RegExp(text.source.replace('asks to wait', 'not sent: an earlier call was asked to wait'));

    it('says how long the service asked to wait where that is why a call ended, or was not sent', async () => {
      for (const [status, asked, body, text] of [
        [429, '600', '', 'status 429 (GET /api/v1/devices), asks to wait 600 s'],
        [503, '121', 'later', 'status 503 (GET /api/v1/devices), asks to wait 121 s: later'],
        [503, '121', '<p>', /^status 503 with a web page from .*, asks to wait 121 s$/],
        [404, '600', 'no', 'status 404 (GET /api/v1/devices): no'],
        [503, '120', 'no', 'status 503 (GET /api/v1/devices): no'],
      ] as const) {
        const other = createClient(server.url, {}, createClock());
        server.answer = (_, response) => response.writeHead(status, { 'retry-after': asked }).end(body);
        for (const isHeldBack of [false, true]) {
          const { length } = server.calls;
          const { message } = await failure(other.send(LIST));
          const wasSent = server.calls.length > length;
          const expected = wasSent ? text : heldBack(text);
          assert.ok(typeof expected === 'string' ? message === expected : expected.test(message), message);
          assert.equal(wasSent, !(isHeldBack && Number(asked) > 120 && status !== 404));
        }
        await other.close();
      }
    });

    it('does not say that a call was not sent whose first response was lost', async () => {
      const arrived = new Promise<ServerResponse>((resolve) => {
        server.answer = ({ method }, response) =>
          method === 'PUT' ? resolve(response) : json(response, {}, 429, { 'retry-after': '300' });
      });
      const path = '/api/v1/devices/a/friendly-name';
      const held = failure(client.send({ method: 'PUT', path, body: '{}' }));
      const { socket } = await arrived;
      await failure(client.send(LIST));
      socket?.resetAndDestroy();
      assert.equal(
        (await held).message,
        'status 429 (PUT /api/v1/devices/a/friendly-name), not sent again: an earlier call was asked to wait 300 s: {}',
      );
    });

    it('repeats a POST only when the service says that it did nothing', async () => {
      server.answer = failing(503);
      assert.equal((await failure(client.send(POST))).cause.statusCode, 503);
      server.answer = failing(502);
      assert.equal((await failure(client.send(POST))).cause.statusCode, 502);
      server.answer = (_, response) => response.socket?.resetAndDestroy();
      assert.equal((await failure(client.send(POST))).code, 'NETWORK');
      assert.equal(server.calls.length, 3);
      let isFirst = true;
      server.answer = (_, response) => {
        json(response, {}, isFirst ? 503 : 200, isFirst ? { 'retry-after': '1' } : {});
        isFirst = false;
      };
      await client.send(POST);
      assert.equal(server.calls.length, 5);
    });

    const DELETE = { method: 'DELETE', path: '/api/v1/devices/x/labels/y' };
    const reset: TestServer['answer'] = (_, response) => response.socket?.resetAndDestroy();
    const status =
      (code: number, headers = {}): TestServer['answer'] =>
      (_, response) =>
        json(response, { message: 'no such label' }, code, headers);
    /** Answers with each of these in turn. */
    const inTurn = (...answers: TestServer['answer'][]): TestServer['answer'] => {
      return (request, response) => answers.shift()?.(request, response);
    };

    for (const [lost, answer] of [
      ['reset', reset],
      ['with 502', status(502)],
      ['with 503', status(503)],
      ['with 504', status(504)],
      [
        'in the middle of its body',
        (_, response) => {
          response.writeHead(200, { 'content-length': '1000' }).write('{"half', () => {
            response.socket?.resetAndDestroy();
          });
        },
      ],
    ] as [string, TestServer['answer']][]) {
      for (const found of [404, 410]) {
        it(`takes a DELETE for done when its first response was lost (${lost}) and the next is ${found}`, async () => {
          server.answer = inTurn(answer, status(found));
          const { statusCode, body, isCut } = await client.send(DELETE);
          assert.deepEqual([statusCode, body, isCut], [204, '', false]);
          assert.equal(server.calls.length, 2);
          assert.deepEqual(client.state, { name: 'connected' });
        });
      }
    }

    it('takes a DELETE for done when its first response did not come in time and the next is 404', async () => {
      const other = createClient(server.url, { timeout: 150 });
      server.answer = inTurn(() => undefined, status(404));
      assert.equal((await other.send(DELETE)).statusCode, 204);
      await other.close();
    });

    it('takes a DELETE for done when 429 or a new login came between the lost answer and 404', async () => {
      server.answer = inTurn(reset, status(429), status(401), status(404));
      assert.equal((await client.send(DELETE)).statusCode, 204);
      assert.equal(server.calls.length, 4);
    });

    for (const [title, ...answers] of [
      ['at once', status(404)],
      ['after 429', status(429), status(404)],
      ['after a 503 that says when to come again', status(503, { 'retry-after': '1' }), status(404)],
      ['after a 401', status(401), status(404)],
    ] as [string, ...TestServer['answer'][]][]) {
      it(`reports 404 to a DELETE as HTTP_ERROR ${title}, for then nothing was done before`, async () => {
        server.answer = inTurn(...answers);
        assert.equal((await failure(client.send(DELETE))).cause.statusCode, 404);
        assert.equal(answers.length, server.calls.length);
      });
    }

    for (const body of ['<html>404 Not Found</html>', '404 page not found\n', 'default backend - 404']) {
      it(`reports a 404 of a proxy that knows no service, after a lost DELETE: ${body.trim()}`, async () => {
        server.answer = inTurn(status(502), (_, response) => response.writeHead(404).end(body));
        assert.equal((await failure(client.send(DELETE))).cause.statusCode, 404);
        assert.equal(server.calls.length, 2);
      });
    }

    it('takes a DELETE for done when the service says in words that it finds nothing', async () => {
      server.answer = inTurn(status(502), (_, response) => response.writeHead(404).end('label not found'));
      assert.equal((await client.send(DELETE)).statusCode, 204);
    });

    it('reports 404 to a DELETE whose first attempt found no connection', async () => {
      const { port } = server.server.address() as { port: number };
      await client.send(LIST);
      await server.stop();
      const clock = { ...createClock(), wait: async () => restart() };
      const other = createClient(server.url, {}, clock);
      const restart = async () => {
        if (!server.server.listening) {
          await new Promise<void>((go) => server.server.listen(port, () => go()));
        }
      };
      // The token comes from a login of its own, once the service is there.
      server.answer = status(404);
      assert.equal((await failure(other.send(DELETE))).cause.statusCode, 404);
      await other.close();
    });

    for (const method of ['PUT', 'GET']) {
      it(`reports 404 to a repeated ${method}, which was to find something there`, async () => {
        server.answer = inTurn(reset, status(404));
        assert.equal((await failure(client.send({ ...DELETE, method }))).cause.statusCode, 404);
      });
    }

    it('reports another refusal of a repeated DELETE', async () => {
      server.answer = inTurn(reset, status(403));
      assert.equal((await failure(client.send(DELETE))).cause.statusCode, 403);
    });

    it('repeats a GET whose answer was reset in the middle of its body', async () => {
      let isFirst = true;
      server.answer = (_, response) => {
        if (!isFirst) {
          return json(response, { whole: true });
        }
        isFirst = false;
        response.writeHead(200, { 'content-length': '1000' }).write('{"half', () => {
          response.socket?.resetAndDestroy();
        });
      };
      assert.equal((await client.send(LIST)).body, '{"whole":true}');
    });
  });

  describe('errors', () => {
    it('does not follow a redirect, so that the token goes nowhere else', async () => {
      const other = await startServer((_, response) => json(response, {}));
      server.answer = (_, response) =>
        response.writeHead(307, { location: `${other.url}/api/v1/devices` }).end();
      const error = await failure(client.send(LIST));
      await other.stop();
      assert.deepEqual([error.code, error.cause.statusCode], ['HTTP_ERROR', 307]);
      assert.equal(
        error.message,
        `a redirect to ${other.url}, which is not followed (status 307, GET /api/v1/devices)`,
      );
      assert.equal(other.calls.length, 0);
    });

    for (const [location, place] of [
      ['https://portal.example/login?token=s3cret#x', ' to https://portal.example'],
      ['https://me:s3cret@portal.example:8443/', ' to https://portal.example:8443'],
      ['//portal.example/x', ' to http://portal.example'],
      [`https://${'a'.repeat(192)}/`, ` to https://${'a'.repeat(192)}`],
      [`https://${'a'.repeat(193)}/`, ''],
      ['/login', ''],
      ['javascript:alert(1)', ''],
      ['https://', ''],
      [`https://x/?${encodeURIComponent(PASSWORD)}`, ''],
    ] as const) {
      it(`says of a redirect to ${location.slice(0, 50)} which other place that is, and nothing more`, async () => {
        server.answer = (_, response) => response.writeHead(302, { location }).end();
        const { message } = await failure(client.send(LIST));
        assert.equal(message, `a redirect${place}, which is not followed (status 302, GET /api/v1/devices)`);
      });
    }

    it('says nothing of a redirect to a host that has the password in it, which addresses write in small letters', async () => {
      const other = createClient(server.url, { password: 'Swordfish-77' });
      server.answer = (_, response) =>
        response.writeHead(302, { location: 'https://Swordfish-77.example' }).end();
      const { message } = await failure(other.send(LIST));
      await other.close();
      assert.equal(message, 'a redirect, which is not followed (status 302, GET /api/v1/devices)');
    });

    it('shows method, path, status and the first 500 characters of a body', async () => {
      server.answer = (_, response) => response.writeHead(404).end('x'.repeat(300_000));
      const { cause } = await failure(client.send(LIST));
      assert.deepEqual(cause, {
        statusCode: 404,
        method: 'GET',
        path: '/api/v1/devices',
        body: 'x'.repeat(500),
      });
    });

    it('hides password and token also where the service compresses what it echoes', async () => {
      server.answer = ({ headers }, response) => {
        const echoed = gzipSync(`${PASSWORD} and ${headers.authorization}`);
        response.writeHead(400, { 'content-encoding': 'gzip' }).end(echoed);
      };
      const { cause } = await failure(client.send(LIST));
      assert.equal(cause.body, '*** and Bearer ***');
    });

    it('hides password and token that the service echoes, however it spells them', async () => {
      server.answer = ({ headers }, response) => {
        const echo = [
          PASSWORD,
          JSON.stringify(PASSWORD),
          encodeURIComponent(PASSWORD),
          Buffer.from(PASSWORD).toString('base64'),
          headers.authorization,
          createToken('of somebody else'),
        ];
        response.writeHead(500).end(echo.join(' '));
      };
      const error = await failure(client.send(LIST));
      const shown = `${JSON.stringify(error)} ${error.message} ${error.stack} ${error.cause.body}`;
      assert.equal(error.cause.body, '*** "***" *** *** Bearer *** ***');
      assert.ok(!shown.includes('ss/w') && !shown.includes('eyJ'), shown);
    });

    it('hides the token in an error that is written in UTF-16, said to be or not', async () => {
      for (const [type, password, shown] of [
        ['text/plain; charset=utf-16le', PASSWORD, 'Authorization: Bearer *** ***'],
        ['text/plain', '', 'Authorization: Bearer ***'],
      ] as const) {
        server.answer = ({ headers }, response) => {
          const echo = `Authorization: ${headers.authorization} ${password}`.trim();
          const bytes = Buffer.from(echo, 'utf16le');
          response.writeHead(500, { 'content-type': type }).end(bytes);
        };
        const error = await failure(client.send(LIST));
        assert.equal(error.message, `status 500 (GET /api/v1/devices): ${shown}`);
        assert.equal(error.cause.body, shown);
      }
    });

    it('shows nothing of what a login was answered with, for it may be the password in any spelling', async () => {
      server.login = ({ body }, response) => {
        const { password } = JSON.parse(body) as { password: string };
        const escaped = [...password].map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
        json(response, { detail: escaped.join('') }, 422);
      };
      const error = await failure(client.send(LIST));
      assert.deepEqual(error.cause, {
        statusCode: 422,
        method: 'POST',
        path: '/api/v1/auth/login',
        body: '',
      });
      assert.equal(error.message, 'status 422 (POST /api/v1/auth/login)');
    });

    it('never shows half of a secret at the end of what it cut', async () => {
      server.answer = ({ headers }, response) =>
        response.writeHead(500).end(`${headers.authorization} `.repeat(20_000));
      const { cause } = await failure(client.send(LIST));
      assert.ok(!String(cause.body).includes('eyJ'));
    });

    it('refuses a response of 100 MB as BAD_RESPONSE without reading it to its end', async () => {
      let written = 0;
      server.answer = (_, response) => {
        const chunk = Buffer.alloc(1024 * 1024, 0x20);
        response.writeHead(200);
        const write = () => {
          if (response.destroyed || written >= 100) {
            return response.end();
          }
          written++;
          response.write(chunk, write);
        };
        write();
      };
      const { code, cause } = await failure(client.send(LIST));
      assert.equal(code, 'BAD_RESPONSE');
      assert.ok(String(cause.body).length <= 500);
      assert.ok(written < 60, `${written} MB`);
    });

    it('says so once when a login or a call is answered with 100 Continue, for which nobody has asked', async () => {
      const login = server.login;
      const fault = {
        code: 'NETWORK',
        message: `${new URL(server.url).host} answered 100 Continue, which nobody had asked for (HTTP_100_CONTINUE)`,
        cause: { code: 'HTTP_100_CONTINUE' },
      };
      server.login = (request, response) => {
        response.writeContinue();
        login(request, response);
      };
      await assert.rejects(client.send(LIST), fault);
      server.login = login;
      server.answer = (_, response) => {
        response.writeContinue();
        json(response, {});
      };
      await assert.rejects(client.send(LIST), fault);
      assert.deepEqual([server.logins.length, server.calls.length], [2, 1]);
    });

    it('reports a service that does not answer in time as NETWORK with ETIMEDOUT', async () => {
      const other = createClient(server.url, { timeout: 150, retries: 0 });
      server.answer = () => undefined;
      const { code, cause } = await failure(other.send(LIST));
      await other.close();
      assert.deepEqual([code, cause], ['NETWORK', { code: 'ETIMEDOUT' }]);
    });

    it('counts the time also over a body that trickles', async () => {
      const other = createClient(server.url, { timeout: 300, retries: 0 });
      let timer: NodeJS.Timeout | undefined;
      server.answer = (_, response) => {
        timer = setInterval(() => response.write(' '), 20);
      };
      const { cause } = await failure(other.send(LIST));
      clearInterval(timer);
      await other.close();
      assert.deepEqual(cause, { code: 'ETIMEDOUT' });
    });

    it('reports a port where nobody listens as NETWORK with ECONNREFUSED', async () => {
      const gone = await startServer(() => undefined);
      await gone.stop();
      const other = createClient(gone.url);
      const { code, cause } = await failure(other.send(LIST));
      assert.deepEqual(
        [code, cause, other.state],
        ['NETWORK', { code: 'ECONNREFUSED' }, { name: 'failing', reason: 'ECONNREFUSED' }],
      );
      await other.close();
    });

    it('reports a server that does not speak HTTP as NETWORK', async () => {
      const odd = createServer((socket) => socket.end('220 mail ready\r\n')).listen(0, '127.0.0.1');
      await once(odd, 'listening');
      const { port } = odd.address() as { port: number };
      const other = createClient(`http://127.0.0.1:${port}`, { retries: 0 });
      const { code, text, cause } = await failure(other.send(LIST));
      await other.close();
      odd.close();
      assert.deepEqual([code, text.key, cause.code], ['NETWORK', 'NETWORK.notHttp', 'ERR_HTTP_PARSER']);
    });

    for (const [title, changes, expected] of [
      ['no REST address', { authUrl: '', baseUrl: '' }, ['NOT_CONFIGURED', { part: 'rest' }]],
      ['no address of the devices', { baseUrl: '' }, ['NOT_CONFIGURED', { part: 'rest' }]],
      ['no user name', { username: '' }, ['NOT_CONFIGURED', { part: 'rest' }]],
      ['no password', { password: '' }, ['NOT_CONFIGURED', { part: 'rest' }]],
      ['no address of the login', { authUrl: '' }, ['NOT_CONFIGURED', { part: 'rest' }]],
      ['a header without a name', { authHeader: '' }, ['INVALID_INPUT', { field: 'authHeader', value: '' }]],
      [
        'an address without scheme',
        { baseUrl: 'host:80/x' },
        ['INVALID_INPUT', { field: 'baseUrl', value: 'host:80/x' }],
      ],
      [
        'an address that is only a name',
        { authUrl: 'host' },
        ['INVALID_INPUT', { field: 'authUrl', value: 'host' }],
      ],
      [
        'another scheme',
        { baseUrl: 'ftp://host' },
        ['INVALID_INPUT', { field: 'baseUrl', value: 'ftp://host' }],
      ],
      [
        'a query',
        { baseUrl: 'http://host/?a=1' },
        ['INVALID_INPUT', { field: 'baseUrl', value: 'http://host/' }],
      ],
      [
        'a password in the address',
        { baseUrl: 'http://a:secret@host' },
        ['INVALID_INPUT', { field: 'baseUrl', value: 'http://…@host' }],
      ],
      [
        'an impossible header',
        { authHeader: 'X: y' },
        ['INVALID_INPUT', { field: 'authHeader', value: 'X: y' }],
      ],
      [
        'a header that HTTP itself needs',
        { authHeader: 'Connection' },
        ['INVALID_INPUT', { field: 'authHeader', value: 'Connection' }],
      ],
    ] as const) {
      it(`says in words what is wrong with settings that have ${title}`, async () => {
        const other = createClient('http://localhost:9', changes);
        const error = await failure(other.send(LIST));
        assert.deepEqual([error.code, error.cause], expected);
        assert.doesNotMatch(error.message, /__|secret/);
        assert.match(error.message, / (has no REST|must be|must not have|cannot be) /);
        await other.close();
      });
    }
  });

  describe('state before the first call', () => {
    for (const [title, changes, name, key, field] of [
      ['nothing at all', { authUrl: '', baseUrl: '' }, 'unconfigured', 'NOT_CONFIGURED.rest', undefined],
      ['no address of the devices', { baseUrl: '' }, 'unconfigured', 'NOT_CONFIGURED.restOne', 'baseUrl'],
      ['no address of the login', { authUrl: '' }, 'unconfigured', 'NOT_CONFIGURED.restOne', 'authUrl'],
      ['no user name', { username: '' }, 'loginMissing', 'NOT_CONFIGURED.credentials', undefined],
      ['no password', { password: '' }, 'loginMissing', 'NOT_CONFIGURED.credentials', undefined],
      ['a wrong header', { authHeader: 'X: y' }, 'invalid', 'INVALID_INPUT.notHeader', 'authHeader'],
      ['a wrong address of the login', { authUrl: 'host' }, 'invalid', 'INVALID_INPUT.notHttpUrl', 'authUrl'],
      ['a wrong address of the devices', { baseUrl: 'x' }, 'invalid', 'INVALID_INPUT.notHttpUrl', 'baseUrl'],
    ] as const) {
      it(`says what is wrong with settings that have ${title}, as the call does`, async () => {
        const other = createClient('http://localhost:9', changes);
        const { state } = other;
        const { text } = await failure(other.send(LIST));
        assert.deepEqual([state.name, text.key, text.values?.field], [name, key, field]);
        assert.deepEqual(
          'problem' in state ? (state.problem as ServiceError).text : undefined,
          name === 'invalid' ? text : undefined,
        );
        assert.equal(other.state, state);
        await other.close();
      });
    }

    it('says that the password may be what is missing', async () => {
      const other = createClient('http://localhost:9', { password: '' });
      const { message } = await failure(other.send(LIST));
      assert.equal(message, 'the service has no REST user name or no password');
      await other.close();
    });

    it('shows a header with a password in it without the password', async () => {
      const other = createClient('http://localhost:9', { authHeader: `X ${PASSWORD}` });
      const { message } = await failure(other.send(LIST));
      assert.match(message, /: X \*\*\*$/);
      await other.close();
    });
  });

  describe('load and closing', () => {
    it('makes at most 4 calls at a time', async () => {
      const held: (() => void)[] = [];
      const counts: number[] = [];
      server.answer = (_, response) => {
        held.push(() => json(response, {}));
        if (held.length !== 4) {
          return;
        }
        setImmediate(() => {
          counts.push(held.length);
          for (const answer of held.splice(0)) {
            answer();
          }
        });
      };
      await Promise.all(Array.from({ length: 40 }, () => client.send(LIST)));
      assert.deepEqual(counts, Array(10).fill(4));
    });

    /** A clock whose waits end when the test says so. */
    function createHeldClock() {
      const waits: (() => void)[] = [];
      const listeners: (() => void)[] = [];
      const clock = {
        ...createClock(),
        wait: () =>
          new Promise<void>((go) => {
            waits.push(go);
            for (const listener of listeners) {
              listener();
            }
          }),
        waits,
        /** Resolves when so many calls wait. */
        reached: (count: number) =>
          new Promise<void>((resolve) => {
            const look = () => waits.length >= count && resolve();
            listeners.push(look);
            look();
          }),
      };
      return clock;
    }

    it('lets other calls through while four wait for a retry', async () => {
      const clock = createHeldClock();
      const other = createClient(server.url, {}, clock);
      let busy = 4;
      server.answer = (_, response) => json(response, {}, busy-- > 0 ? 503 : 200);
      const waiting = Array.from({ length: 4 }, () => other.send(LIST));
      await clock.reached(4);
      for (let time = 0; time < 5; time++) {
        assert.equal((await other.send(LIST)).statusCode, 200);
      }
      for (const go of clock.waits) {
        go();
      }
      assert.deepEqual(
        (await Promise.all(waiting)).map(({ statusCode }) => statusCode),
        [200, 200, 200, 200],
      );
      await other.close();
    });

    for (const status of [429, 503]) {
      it(`sends nothing else, no login either, until the Retry-After of one ${status} is over`, async () => {
        const clock = createClock();
        const other = createClient(server.url, {}, clock);
        const sent: number[] = [];
        let isFirst = true;
        const begun = clock.time;
        const answer: Answer = (_, response) => {
          sent.push(clock.time - begun);
          json(response, { status: 'SUCCESS', authToken: createToken('t') }, isFirst ? status : 200, {
            'retry-after': '60',
          });
          isFirst = false;
        };
        server.login = answer;
        server.answer = answer;
        await Promise.all(Array.from({ length: 20 }, () => other.send(LIST)));
        await other.close();
        const [first, ...later] = sent;
        assert.deepEqual([first, later.length], [0, 21]);
        assert.ok(
          later.every((time) => time >= 60_000 && time < 70_000),
          String(later),
        );
      });
    }

    it('goes on with the token at the device address while the login address asks for patience', async () => {
      const auth = await startServer((_, response) => response.destroy());
      const clock = createClock(0);
      const other = createClient(server.url, { authUrl: auth.url }, clock);
      await other.send(LIST);
      auth.login = (_, response) => json(response, {}, 503, { 'retry-after': '3600' });
      clock.time += 1_745_000;
      for (let time = 0; time < 3; time++) {
        await other.send(LIST);
        while (other.state.name === 'connecting' || auth.logins.length < 2) {
          await turn();
        }
      }
      assert.equal(auth.logins.length, 2);
      await other.close();
      await auth.stop();
    });

    it('does not show a call that is held back what a login was answered with', async () => {
      const clock = createClock(0);
      const other = createClient(server.url, { retries: 0 }, clock);
      await other.send(LIST);
      const hex = Buffer.from(PASSWORD).toString('hex');
      server.login = (_, response) => json(response, { hex }, 429, { 'retry-after': '3600' });
      clock.time += 1_745_000;
      await other.send(LIST);
      let error: ServiceError | undefined;
      while (!error) {
        error = await other.send(LIST).then(
          () => undefined,
          (reason: ServiceError) => reason,
        );
      }
      await other.close();
      assert.equal(
        error.message,
        'status 429 (GET /api/v1/devices), not sent: an earlier call was asked to wait 3600 s',
      );
      assert.equal(error.cause.body, '');
    });

    it('gets any number of calls through at a service that allows ten a second', async () => {
      const clock = createClock();
      const other = createClient(server.url, {}, clock);
      const counts = new Map<number, number>();
      server.answer = (_, response) => {
        const second = Math.floor(clock.time / 1000);
        const count = (counts.get(second) ?? 0) + 1;
        counts.set(second, count);
        json(response, {}, count > 10 ? 429 : 200, { 'retry-after': '1' });
      };
      const ends = await Promise.allSettled(Array.from({ length: 100 }, () => other.send(LIST)));
      await other.close();
      assert.deepEqual(new Set(ends.map(({ status }) => status)), new Set(['fulfilled']));
      assert.ok(server.calls.length <= 150, String(server.calls.length));
    });

    it('does not ask again while Retry-After is longer than a call waits, and asks after 5 minutes whatever it was', async () => {
      const clock = createClock();
      const other = createClient(server.url, {}, clock);
      server.login = (_, response) => json(response, {}, 429, { 'retry-after': '3600' });
      for (let call = 0; call < 50; call++) {
        const { code, cause } = await failure(other.send(LIST));
        assert.deepEqual([code, cause.statusCode], ['HTTP_ERROR', 429]);
      }
      assert.deepEqual([server.logins.length, clock.waits], [1, []]);
      clock.time += 300_000;
      await failure(other.send(LIST));
      assert.equal(server.logins.length, 2);
      await other.close();
    });

    it('ends a call that waits for the Retry-After of another by its signal, and leaves its place to others', async () => {
      const clock = createHeldClock();
      const other = createClient(server.url, {}, clock);
      let isFirst = true;
      server.answer = (_, response) => {
        json(response, {}, isFirst ? 429 : 200, { 'retry-after': '60' });
        isFirst = false;
      };
      const first = failure(other.send(LIST));
      await clock.reached(1);
      const stop = new AbortController();
      const stopped = Array.from({ length: 10 }, () => failure(other.send(LIST, { signal: stop.signal })));
      await clock.reached(5);
      stop.abort();
      assert.deepEqual(new Set((await Promise.all(stopped)).map(({ code }) => code)), new Set(['CLOSED']));
      await other.close();
      assert.equal((await first).code, 'CLOSED');
      assert.equal(server.calls.length, 1);
    });

    it('repeats a call ahead of new ones after its wait', async () => {
      const clock = createHeldClock();
      const other = createClient(server.url, {}, clock);
      server.answer = (_, response) => json(response, {}, 503);
      const first = other.send({ ...LIST, path: '/first' });
      await clock.reached(1);
      const held: (() => void)[] = [];
      const four = new Promise<void>((resolve) => {
        server.answer = (_, response) => {
          held.push(() => json(response, {}));
          if (held.length === 4) {
            resolve();
          }
        };
      });
      const calls = Array.from({ length: 10 }, (_, index) => other.send({ ...LIST, path: `/${index}` }));
      await four;
      clock.waits[0]?.();
      await new Promise(setImmediate);
      server.answer = (_, response) => json(response, {});
      for (const answer of held) {
        answer();
      }
      await Promise.all([first, ...calls]);
      assert.ok(server.calls.slice(5, 9).some(({ url }) => url === '/first'));
      await other.close();
    });

    itAtScale(
      'lets 10 000 calls wait behind the four, also those that wait for a retry, and refuses more',
      async () => {
        const clock = createHeldClock();
        const other = createClient(server.url, {}, clock);
        server.answer = (_, response) => {
          if (server.calls.length <= 100) {
            json(response, {}, 503);
          }
        };
        const send = () =>
          other.send(LIST).then(
            ({ statusCode }) => statusCode,
            ({ code }) => code,
          );
        const calls = Array.from({ length: 10_004 }, send);
        const { code, cause, text } = await failure(other.send(LIST));
        assert.deepEqual([code, cause], ['QUEUE_FULL', { limit: 10_000 }]);
        assert.deepEqual(text, { key: 'QUEUE_FULL.waiting', values: { limit: 10_000 } });
        await clock.reached(100);
        while (server.calls.length < 104) {
          await once(server.server, 'request');
        }
        assert.equal(await send(), 'QUEUE_FULL');
        await other.close();
        assert.deepEqual(new Set(await Promise.all(calls)), new Set(['CLOSED']));
      },
    );

    itAtScale('lets 10 000 calls wait for a login, and refuses more', async () => {
      let answerLogin = () => {};
      const asked = new Promise<void>((resolve) => {
        server.login = (_, response) => {
          answerLogin = () => json(response, {}, 403);
          resolve();
        };
      });
      const calls = Array.from({ length: 10_004 }, () => client.send(LIST).catch(({ code }) => code));
      assert.equal((await failure(client.send(LIST))).code, 'QUEUE_FULL');
      await asked;
      answerLogin();
      assert.deepEqual(new Set(await Promise.all(calls)), new Set(['LOGIN_FAILED']));
      assert.equal((await failure(client.send(LIST))).code, 'LOGIN_FAILED');
      assert.equal(server.logins.length, 1);
    });

    it('ends running and waiting calls with CLOSED when it is closed, and frees the sockets', async () => {
      server.answer = () => undefined;
      const calls = Array.from({ length: 9 }, () => failure(client.send(LIST)));
      while (server.calls.length < 4) {
        await once(server.server, 'request');
      }
      await client.close();
      assert.deepEqual(
        (await Promise.all(calls)).map(({ code }) => code),
        Array(9).fill('CLOSED'),
      );
      const late = await failure(client.send(LIST));
      assert.deepEqual([late.code, late.text.key], ['CLOSED', 'CLOSED.stopped']);
      assert.deepEqual(client.state, { name: 'closed' });
    });

    for (const method of ['POST', 'GET']) {
      it(`ends a ${method} without further attempts with CLOSED when it is closed, and not as a fault`, async () => {
        const other = createClient(server.url, { retries: 0 });
        const asked = new Promise<void>((resolve) => {
          server.answer = () => resolve();
        });
        const end = failure(other.send({ ...LIST, method }));
        await asked;
        await other.close();
        assert.equal((await end).code, 'CLOSED');
        assert.deepEqual(other.state, { name: 'closed' });
      });
    }

    it('ends one call with CLOSED by its signal and lets the others be', async () => {
      const stop = new AbortController();
      const kept: (() => void)[] = [];
      server.answer = (_, response) => kept.push(() => json(response, {}));
      const other = client.send(LIST);
      const stopped = failure(client.send(LIST, { signal: stop.signal }));
      while (kept.length < 2) {
        await once(server.server, 'request');
      }
      stop.abort();
      assert.equal((await stopped).code, 'CLOSED');
      for (const answer of kept) {
        answer();
      }
      assert.equal((await other).statusCode, 200);
    });

    it('ends the wait before a retry by the signal', async () => {
      const stop = new AbortController();
      const clock = { ...createClock(), wait: () => new Promise<void>(() => stop.abort()) };
      const other = createClient(server.url, {}, clock);
      server.answer = failing(503, 503, 503, 503);
      assert.equal((await failure(other.send(LIST, { signal: stop.signal }))).code, 'CLOSED');
      await other.close();
    });

    it('calls a row of the table: JSON where the row shows it, nothing where the body is ignored', async () => {
      server.answer = (_, response) => response.end('{"items":[]}');
      assert.deepEqual(await client.call('listDevices', { MaxResults: 1 }), { items: [] });
      assert.equal(await client.call('createLabel', { label: 'a' }), undefined);
      server.answer = (_, response) => response.end('not JSON');
      assert.equal(await client.call('createLabel', { label: 'a' }), undefined);
      const error = await failure(client.call('listDevices', {}));
      assert.deepEqual([error.code, error.cause], ['BAD_RESPONSE', { body: 'not JSON' }]);
      assert.equal(
        error.message,
        `this is not the service: what ${new URL(server.url).host} answered to GET /api/v1/devices is not JSON`,
      );
      assert.deepEqual(client.state, { name: 'connected' });
    });

    it('takes a success whose body is ignored, however long that is', async () => {
      server.answer = (_, response) => response.end('x'.repeat(16 * 1024 * 1024 + 1));
      assert.equal(await client.call('createLabel', { label: 'a' }), undefined);
    });

    it('hides password and token in a success that is not what it should be', async () => {
      server.answer = ({ headers }, response) => response.end(`${PASSWORD} ${headers.authorization}`);
      const { cause } = await failure(client.call('listDevices', {}));
      assert.equal(cause.body, '*** Bearer ***');
    });

    it('says in the log why and when it tries again, without a secret', async () => {
      const lines: string[] = [];
      const log = { ...SILENT, trace: (text: string) => lines.push(text) };
      const other = new RestClient(settingsFor(server.url), { log, clock: createClock() });
      const answers = [
        failing(503),
        (_: unknown, response: ServerResponse) => response.socket?.resetAndDestroy(),
      ];
      server.answer = (request, response) =>
        (answers.shift() ?? (() => json(response, {})))(request, response);
      await other.send(LIST);
      await other.close();
      assert.match(lines[0] ?? '', /^GET failed \(503\), again in [5-7]\d\d ms$/);
      assert.match(lines[1] ?? '', /^GET failed \(ECONNRESET\), again in 1[0-4]\d\d ms$/);
      assert.equal(lines.length, 2);
    });

    it('is failing after 429, 500 and network faults, and in order after other answers', async () => {
      const other = createClient(server.url, { retries: 0 });
      assert.deepEqual(other.state, { name: 'idle' });
      const answerWith = (status: number, headers = {}) => {
        server.answer = (_, response) => json(response, {}, status, headers);
      };
      for (const [status, state] of [
        [429, { name: 'failing', reason: '429' }],
        [404, { name: 'connected' }],
        [500, { name: 'failing', reason: '500' }],
        [302, { name: 'connected' }],
        [599, { name: 'failing', reason: '599' }],
        [430, { name: 'connected' }],
      ] as const) {
        answerWith(status);
        await failure(other.send(LIST));
        assert.deepEqual(other.state, state);
      }
      server.answer = (_, response) => response.socket?.resetAndDestroy();
      await failure(other.send(LIST));
      assert.deepEqual(other.state, { name: 'failing', reason: 'ECONNRESET' });
      server.answer = (_, response) => response.end('x'.repeat(16 * 1024 * 1024 + 1));
      const { message } = await failure(other.send(LIST));
      assert.equal(message, 'the response to GET /api/v1/devices is larger than 16 MB');
      assert.deepEqual(other.state, { name: 'connected' });
      await failure(other.send(LIST, { signal: AbortSignal.abort() }));
      assert.deepEqual(other.state, { name: 'connected' });
      await other.close();
    });

    it('tells a reason that changes while it waits', async () => {
      const reasons: string[] = [];
      client.onState((state) => reasons.push('reason' in state ? state.reason : state.name));
      server.answer = failing(503, 503, 502);
      await client.send(LIST);
      assert.deepEqual(reasons, ['connecting', '503', '502', 'connected']);
    });

    for (const [status, message] of [
      [302, 'a redirect, which is not followed (status 302, GET /a)'],
      [399, 'a redirect, which is not followed (status 399, GET /a)'],
      [299, undefined],
      [304, 'status 304 (GET /a)'],
      [300, 'a redirect, which is not followed (status 300, GET /a)'],
      [400, 'status 400 (GET /a): x'],
      [404, 'status 404 (GET /a): x'],
    ] as const) {
      it(`says what became of ${status}`, async () => {
        server.answer = (_, response) => response.writeHead(status).end('x');
        const call = client.send({ method: 'GET', path: '/a' });
        if (message === undefined) {
          assert.equal((await call).statusCode, status);
        } else {
          assert.equal((await failure(call)).message, message);
        }
      });
    }

    it('says nothing of a body that is blank', async () => {
      server.answer = (_, response) => response.writeHead(400).end(' \n');
      assert.equal((await failure(client.send(POST))).message, 'status 400 (POST /api/v1/labels)');
    });

    it('hides what is secret in a path, too', async () => {
      server.answer = (_, response) => response.writeHead(400).end();
      const error = await failure(client.send({ method: 'GET', path: `/${encodeURIComponent(PASSWORD)}` }));
      assert.equal(error.cause.path, '/***');
      assert.equal(error.message, 'status 400 (GET /***)');
    });

    it('asks for JSON, and says that it sends JSON only where it does', async () => {
      await client.send(LIST);
      await client.send(POST);
      const [get, post] = server.calls.map(({ headers }) => [headers.accept, headers['content-type']]);
      assert.deepEqual(
        [get, post],
        [
          ['application/json', undefined],
          ['application/json', 'application/json'],
        ],
      );
      assert.deepEqual(
        [server.logins[0]?.headers['content-type'], server.logins[0]?.headers.authorization],
        ['application/json', undefined],
      );
    });

    it('tells its state as it changes', async () => {
      const states: RestState[] = [];
      const stop = client.onState((state) => states.push(state));
      server.answer = failing(503);
      await client.send(LIST);
      server.answer = failing(500);
      await failure(client.send(LIST));
      server.answer = failing(404);
      await failure(client.send(LIST));
      stop();
      server.answer = failing(500);
      await failure(client.send(LIST));
      assert.deepEqual(states, [
        { name: 'connecting' },
        { name: 'waiting', reason: '503' },
        { name: 'connected' },
        { name: 'failing', reason: '500' },
        { name: 'connected' },
      ]);
    });
  });
});
