// Rename, labels and the free request: what arrives, and what is refused before anything is sent.
import assert from 'node:assert/strict';
import { type ErrorCode, ServiceError } from '../../src/errors.ts';
import {
  attachLabel,
  createLabel,
  isReading,
  mayHaveActed,
  removeLabel,
  rename,
  request,
} from '../../src/rest/calls.ts';
import type { RestClient } from '../../src/rest/client.ts';
import { createClient, json, startServer, type TestServer } from './server.ts';

const ID = 'bmac-c0141f68fc3d';
const NAMES = [
  'plain',
  ' two words ',
  'a/b\\c',
  '50 % & more?',
  '#1',
  '..hidden',
  '%41',
  'a+b=c;d',
  'Büro 🏢 東京',
  'x'.repeat(500),
  '🏢'.repeat(500),
  '<img src=x onerror=alert(1)>',
];

async function refused(promise: Promise<unknown>): Promise<[string, unknown]> {
  const error = await promise.then(
    () => assert.fail('was not refused'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ServiceError, String(error));
  assert.doesNotMatch(error.message, /__\w+__|INVALID_INPUT/, 'every error has a text');
  return [error.code, error.cause.field];
}

describe('REST calls of flows', () => {
  let server: TestServer;
  let client: RestClient;

  before(async () => {
    server = await startServer((_, response) => response.end());
    client = createClient(`${server.url}/base`);
  });
  beforeEach(() => {
    server.calls.length = 0;
    server.answer = (_, response) => response.end();
  });
  after(async () => {
    await client.close();
    await server.stop();
  });

  const UNREADABLE = { 'content-encoding': 'zstd' };
  for (const [what, change] of Object.entries({
    'a rename': () => rename(client, ID, 'n'),
    'a new label': () => createLabel(client, 'l'),
    'the removal of a label': () => removeLabel(client, ID, 'l'),
    'a label for a device': () => attachLabel(client, ID, 'l', { isInUse: () => true }),
  })) {
    it(`takes ${what} for done that succeeds with a body that cannot be read, or is too large`, async () => {
      server.answer = (_, response) => response.writeHead(200, UNREADABLE).end(Buffer.of(0x28, 0xb5));
      await change();
      server.answer = (_, response) => response.end(Buffer.alloc(17 * 1024 * 1024, 0x20));
      await change();
      server.answer = (_, response) => response.writeHead(400).end('why');
      await assert.rejects(change(), { code: 'HTTP_ERROR', message: /why/ });
    });
  }

  for (const name of NAMES) {
    it(`brings the name ${name.slice(0, 30)} to the service exactly`, async () => {
      assert.deepEqual(await rename(client, ID, name), { id: ID, friendlyName: name });
      assert.deepEqual(await createLabel(client, name), { label: name });
      assert.deepEqual(await removeLabel(client, ID, name), { id: ID, label: name });
      const [put, post, del] = server.calls;
      assert.deepEqual([put!.method, put!.url], ['PUT', `/base/api/v1/devices/${ID}/friendly-name`]);
      assert.deepEqual(JSON.parse(put!.body), { name });
      assert.equal(put!.headers['content-type'], 'application/json');
      assert.deepEqual(
        [post!.method, post!.url, JSON.parse(post!.body)],
        ['POST', '/base/api/v1/labels', { label: name }],
      );
      assert.deepEqual([del!.method, del!.body], ['DELETE', '']);
      const [, label = ''] = del!.url.split(`/base/api/v1/devices/${ID}/labels/`);
      assert.equal(decodeURIComponent(label), name);
    });
  }

  it('attaches a label by the call of the settings, after it was created, also where it existed', async () => {
    const created = { statusCode: 200 };
    server.answer = ({ url }, response) => {
      response.statusCode = url.endsWith('/labels') && !url.includes('devices') ? created.statusCode : 200;
      response.end();
    };
    for (const statusCode of [200, 409]) {
      created.statusCode = statusCode;
      server.calls.length = 0;
      assert.deepEqual(await attachLabel(client, 'C0141F68FC3D', '3rd floor'), {
        id: ID,
        label: '3rd floor',
      });
      const sent = server.calls.map(({ method, url, body }) => [method, url, JSON.parse(body)]);
      const body = { label: '3rd floor' };
      assert.deepEqual(sent, [
        ['POST', '/base/api/v1/labels', body],
        ['POST', `/base/api/v1/devices/${ID}/labels`, body],
      ]);
    }
    for (const statusCode of [401, 403, 500]) {
      created.statusCode = statusCode;
      server.calls.length = 0;
      assert.deepEqual(await refused(attachLabel(client, ID, 'x')), ['HTTP_ERROR', undefined]);
      assert.ok(
        !server.calls.some(({ url }) => url.includes('devices')),
        'what does not exist is not attached',
      );
    }
  });

  it('attaches a label that the service does not let create, and says why that is refused, too', async () => {
    for (const statusCode of [400, 404, 405, 422]) {
      server.calls.length = 0;
      server.answer = ({ url }, response) => {
        response.statusCode = url.includes('devices') ? 200 : statusCode;
        response.end();
      };
      assert.deepEqual(await attachLabel(client, ID, 'floor'), { id: ID, label: 'floor' });
      assert.equal(server.calls.length, 2);
    }
    server.answer = ({ url }, response) => {
      response.statusCode = url.includes('devices') ? 418 : 422;
      response.end();
    };
    await assert.rejects(attachLabel(client, ID, 'floor'), /status 418 \(POST .*devices/);
  });

  it('attaches nothing when nobody answered whether the label could be created', async () => {
    server.answer = ({ url }, response) => {
      if (url.includes('devices')) {
        response.end();
      } else {
        response.socket?.resetAndDestroy();
      }
    };
    await assert.rejects(attachLabel(client, ID, 'floor'), { code: 'NETWORK' });
    assert.deepEqual(
      server.calls.map(({ url }) => url),
      ['/base/api/v1/labels'],
    );
  });

  it('attaches a label that is in use without creating it', async () => {
    const { signal } = new AbortController();
    await attachLabel(client, ID, 'floor', { signal, isInUse: (label) => label === 'floor' });
    assert.deepEqual(
      server.calls.map(({ url }) => url),
      [`/base/api/v1/devices/${ID}/labels`],
    );
  });

  for (const path of ['', 'labels', '../{device}', '/{device}/../labels', 'https://elsewhere/{device}']) {
    it(`attaches nothing by the path "${path}"`, async () => {
      const other = createClient(`${server.url}/base`, { attachPath: path });
      assert.deepEqual(await refused(attachLabel(other, ID, 'x')), ['INVALID_INPUT', 'attachPath']);
      assert.equal(server.calls.length, 0);
      await other.close();
    });
  }

  for (const device of ['C0141F68FC3D', 'c0:14:1f:68:fc:3d', 'c0-14-1f-68-fc-3d', 'BMAC-C0141F68FC3D']) {
    it(`accepts ${device} as the device ${ID}`, async () => {
      assert.equal((await rename(client, device, 'n')).id, ID);
    });
  }

  const OTHER_IDS = [
    'imei_35-X.1',
    'dev-17',
    '356938035643809',
    'bmac-123',
    'c0141f68fc3',
    'c0:14:1f:68:fc',
    'a b',
    'a/b',
    '+',
    '#',
    'größe',
    'x'.repeat(2000),
  ];
  for (const id of OTHER_IDS) {
    it(`accepts the REST id ${id.slice(0, 30)} as it is`, async () => {
      assert.equal((await rename(client, id, 'n')).id, id);
      assert.deepEqual(await removeLabel(client, id, 'l'), { id, label: 'l' });
      const encoded = encodeURIComponent(id);
      assert.deepEqual(
        server.calls.map(({ url }) => url),
        [`/base/api/v1/devices/${encoded}/friendly-name`, `/base/api/v1/devices/${encoded}/labels/l`],
      );
    });
  }

  const BAD_DEVICES = [
    undefined,
    null,
    '',
    ' ',
    12,
    {},
    ['c0141f68fc3d'],
    '.',
    '..',
    '../labels',
    '%2e%2e',
    'a\0',
    'x'.repeat(2001),
    '\ud800',
  ];
  for (const device of BAD_DEVICES) {
    it(`refuses the device ${JSON.stringify(device)?.slice(0, 40)} without sending anything`, async () => {
      assert.deepEqual(await refused(rename(client, device, 'n')), ['INVALID_INPUT', 'device']);
      assert.deepEqual(await refused(removeLabel(client, device, 'l')), ['INVALID_INPUT', 'device']);
      assert.equal(server.calls.length, 0);
    });
  }

  for (const name of [undefined, null, '', '  ', 5, true, {}, [], 'a\0b', 'a\nb', 'x'.repeat(2001)]) {
    it(`refuses the name and label ${JSON.stringify(name)?.slice(0, 40)} without sending anything`, async () => {
      assert.deepEqual(await refused(rename(client, ID, name)), ['INVALID_INPUT', 'name']);
      assert.deepEqual(await refused(createLabel(client, name)), ['INVALID_INPUT', 'label']);
      assert.deepEqual(await refused(removeLabel(client, ID, name)), ['INVALID_INPUT', 'label']);
      assert.equal(server.calls.length, 0);
    });
  }

  for (const label of ['.', '..', '\ud800']) {
    it(`refuses the label ${JSON.stringify(label)}, which a path cannot carry`, async () => {
      assert.deepEqual(await refused(createLabel(client, label)), ['INVALID_INPUT', 'label']);
      assert.deepEqual(await refused(removeLabel(client, ID, label)), ['INVALID_INPUT', 'label']);
    });
  }

  describe('free request', () => {
    const PATHS = [
      ['/api/v1/jobs', '/base/api/v1/jobs'],
      ['api/v1/jobs/', '/base/api/v1/jobs/'],
      ['/jobs?state=a%20b', '/base/jobs?state=a%20b'],
      ['/labels/a%2Fb', '/base/labels/a%2Fb'],
      ['/büro 1', '/base/b%C3%BCro%201'],
      ['/a..b/...', '/base/a..b/...'],
      ['/x?next=../y', '/base/x?next=../y'],
      ['/at@host:1', '/base/at@host:1'],
      ['/api/v1/devices/%FF/x', '/base/api/v1/devices/%FF/x'],
    ] as const;
    for (const [path, url] of PATHS) {
      it(`sends ${path} to ${url}`, async () => {
        await request(client, { method: 'GET', path });
        await request(client, { method: 'PUT', path });
        assert.deepEqual(
          server.calls.map((call) => call.url),
          [url, url],
        );
      });
    }

    const BAD_PATHS = [
      undefined,
      null,
      '',
      7,
      {},
      'http://evil.example/',
      ' https://evil.example/',
      'file:/etc/passwd',
      '//evil.example/x',
      '/%2fevil.example',
      '\\\\evil.example',
      '/\\evil',
      '..',
      '../x',
      '/..',
      '/a/../../b',
      'a/../..',
      '/%2e%2e/x',
      '/.%2E/x',
      '/%252e%252e/x',
      '/a%2f..%2fb',
      '/a/..%5cb',
      '/.//x',
      '/a\nb',
      '/a%0d%0ab',
      '/a\0',
      '/a%00',
      '/a%2500',
      '/x?a=%0a',
      '/a#b',
      '/50%',
      '/%zz',
      '/\ud800',
      `/${'x'.repeat(4001)}`,
    ];
    for (const path of BAD_PATHS) {
      it(`refuses the path ${JSON.stringify(path)?.slice(0, 40)} without sending anything`, async () => {
        assert.deepEqual(await refused(request(client, { method: 'GET', path })), ['INVALID_INPUT', 'path']);
        assert.equal(server.calls.length, 0);
      });
    }

    it('resolves a .. of a GET only: one in a path made from data would change another thing than is meant', async () => {
      await request(client, { method: 'GET', path: '/devices/../x' });
      assert.deepEqual(
        server.calls.map(({ url }) => url),
        ['/base/x'],
      );
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        for (const path of ['/devices/id/labels/..', '/devices/id/labels/.', '/devices/../x']) {
          assert.deepEqual(await refused(request(client, { method, path })), ['INVALID_INPUT', 'path']);
        }
      }
      assert.equal(server.calls.length, 1);
    });

    it('takes a full address below the base URL, as a service names the next page', async () => {
      await request(client, { method: 'GET', path: `${server.url}/base/x?NextToken=a%3D` });
      assert.deepEqual(
        server.calls.map(({ url }) => url),
        ['/base/x?NextToken=a%3D'],
      );
    });

    it('sends every method, in any case, and a body with all but GET', async () => {
      for (const method of ['get', 'POST', 'Put', 'PATCH', 'DELETE']) {
        await request(client, { method, path: '/x', body: { a: [1] } });
      }
      assert.deepEqual(
        server.calls.map(({ method, body }) => `${method} ${body}`),
        ['GET ', 'POST {"a":[1]}', 'PUT {"a":[1]}', 'PATCH {"a":[1]}', 'DELETE {"a":[1]}'],
      );
    });

    for (const method of [undefined, '', 'HEAD', 'TRACE', 'GET x', 5, {}]) {
      it(`refuses the method ${JSON.stringify(method)}`, async () => {
        assert.deepEqual(await refused(request(client, { method, path: '/x' })), ['INVALID_INPUT', 'method']);
      });
    }

    it('sends a text as a JSON string and no body when there is none', async () => {
      await request(client, { method: 'POST', path: '/x', body: 'a "b"' });
      await request(client, { method: 'POST', path: '/x' });
      assert.deepEqual(
        server.calls.map(({ body }) => body),
        ['"a \\"b\\""', ''],
      );
      assert.equal(server.calls[1]!.headers['content-type'], undefined);
    });

    const loop: Record<string, unknown> = {};
    loop.loop = loop;
    for (const [title, body] of [
      ['a loop', loop],
      ['a BigInt', 1n],
      ['a function', () => 1],
      ['bytes', Buffer.from('a')],
    ] as const) {
      it(`refuses ${title} as body`, async () => {
        assert.deepEqual(await refused(request(client, { method: 'POST', path: '/x', body })), [
          'INVALID_INPUT',
          'body',
        ]);
      });
    }

    it('adds a query, encoded, arrays as repeated names, without what is absent', async () => {
      const query = { q: 'a&b=ü', n: [1, 2], yes: true, none: null, not: undefined };
      await request(client, { method: 'GET', path: '/x?first=1', query });
      assert.equal(server.calls[0]!.url, '/base/x?first=1&q=a%26b%3D%C3%BC&n=1&n=2&yes=true');
    });

    for (const query of [
      'a=b',
      5,
      [],
      { a: {} },
      { a: [[]] },
      { a: Number.NaN },
      { '': 1 },
      { a: '\ud800' },
    ]) {
      it(`refuses the query ${JSON.stringify(query)}`, async () => {
        assert.deepEqual(await refused(request(client, { method: 'GET', path: '/x', query })), [
          'INVALID_INPUT',
          'query',
        ]);
      });
    }

    for (const [sent, payload] of [
      ['{"a":1}', { a: 1 }],
      ['null', null],
      [' null\n', null],
      ['nullo', 'nullo'],
      [' ', ' '],
      ['false', false],
      ['', ''],
      ['plain', 'plain'],
      ['{half', '{half'],
    ] as const) {
      it(`gives the response ${JSON.stringify(sent)} as payload ${JSON.stringify(payload)}`, async () => {
        server.answer = (_, response) => response.writeHead(202, { 'x-job': '7' }).end(sent);
        const answer = await request(client, { method: 'GET', path: '/x' });
        assert.deepEqual([answer.payload, answer.statusCode, answer.headers['x-job']], [payload, 202, '7']);
      });
    }

    it('keeps a __proto__ in a response harmless', async () => {
      server.answer = (_, response) => response.end('{"__proto__":{"polluted":true}}');
      await request(client, { method: 'GET', path: '/x' });
      assert.equal(({} as Record<string, unknown>).polluted, undefined);
    });
  });

  for (const [name, call] of Object.entries({
    rename: (signal: AbortSignal) => rename(client, ID, 'n', signal),
    'create a label': (signal: AbortSignal) => createLabel(client, 'l', signal),
    'attach a label': (signal: AbortSignal) => attachLabel(client, ID, 'l', { signal, isInUse: () => true }),
    'remove a label': (signal: AbortSignal) => removeLabel(client, ID, 'l', signal),
    'free request': (signal: AbortSignal) => request(client, { method: 'GET', path: '/x' }, signal),
  })) {
    it(`ends with CLOSED when its node is stopped meanwhile: ${name}`, async () => {
      const stop = new AbortController();
      server.answer = () => stop.abort();
      assert.equal((await refused(call(stop.signal)))[0], 'CLOSED');
    });
  }

  it('reports that a device is not known as HTTP_ERROR with the path', async () => {
    server.answer = (_, response) => json(response, { message: 'no such device' }, 404);
    await assert.rejects(removeLabel(client, ID, 'a b'), {
      code: 'HTTP_ERROR',
      // That there is something before it, but not what, which may be secret.
      message: `status 404 (DELETE …/api/v1/devices/${ID}/labels/a%20b): {"message":"no such device"}`,
      cause: {
        statusCode: 404,
        method: 'DELETE',
        path: `/api/v1/devices/${ID}/labels/a%20b`,
        body: '{"message":"no such device"}',
      },
    });
  });
});

describe('a call that failed', () => {
  const errorOf = (code: ErrorCode, statusCode?: number) => new ServiceError(code, 'x', { statusCode });
  const ROWS: [string, unknown, boolean][] = [
    ['by a network fault', errorOf('NETWORK'), true],
    ['by a stop', errorOf('CLOSED'), true],
    ['by a response that cannot be read', errorOf('BAD_RESPONSE'), true],
    ['with 500', errorOf('HTTP_ERROR', 500), true],
    ['with 504', errorOf('HTTP_ERROR', 504), true],
    ['with 499', errorOf('HTTP_ERROR', 499), false],
    ['with 404', errorOf('HTTP_ERROR', 404), false],
    ['without a status', errorOf('HTTP_ERROR'), false],
    ['at the login, with 500', errorOf('LOGIN_FAILED', 500), false],
    ['for its input', errorOf('INVALID_INPUT'), false],
    ['because too many wait', errorOf('QUEUE_FULL'), false],
    ['for want of settings', errorOf('NOT_CONFIGURED'), false],
    ['in a way that nobody foresaw', new TypeError('x'), true],
  ];
  for (const [title, error, expected] of ROWS) {
    it(`${title} ${expected ? 'may have' : 'has not'} changed something`, () => {
      assert.equal(mayHaveActed(error), expected);
    });
  }

  it('only read when it was a GET', () => {
    assert.deepEqual(['GET', ' get\n', 'Get'].map(isReading), [true, true, true]);
    assert.deepEqual(['POST', 'GETS', '', undefined, 5, ['GET']].map(isReading), Array(6).fill(false));
  });
});
