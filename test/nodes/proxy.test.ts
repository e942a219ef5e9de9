// The proxy of mt-service: the core configuration node, or the environment; and that its login is never shown.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { NodeAPI } from 'node-red';
import { type Service, startService } from '../../simulator/src/service.ts';
import { basic, refuse, startProxy, type TestProxy } from '../proxy/server.ts';
import { flowAround, secretsOf, serviceNode } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

const LIST = { id: 'list', type: 'mt-device-list' };
const READ = { id: 'read', type: 'mt-gw-read' };
const LOGIN = { username: 'pat', password: 'pr0xy-secret' };
const SECRETS = /pat\b|pr0xy-secret|cGF0On/;
const VARIABLES = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'all_proxy',
];

const load = createRequire(`${process.cwd()}/`);
const httpProxy = load('@node-red/nodes/core/network/06-httpproxy.js') as (RED: NodeAPI) => void;

interface TestResults {
  rest: { ok: boolean; message: string };
  mqtt: { ok: boolean; message: string };
}

describeNodes('the proxy of mt-service', (start) => {
  let box: Service;
  let proxy: TestProxy;
  const before = new Map<string, string | undefined>();

  beforeEach(async () => {
    for (const name of VARIABLES) {
      before.set(name, process.env[name]);
      delete process.env[name];
    }
    proxy = await startProxy(LOGIN);
    box = await startService({ rate: 0, delay: 0, listed: 3, wsPort: 0 });
  });
  afterEach(async () => {
    for (const [name, value] of before) {
      process.env[name] = value;
      if (value === undefined) {
        delete process.env[name];
      }
    }
    await box.close();
    await proxy.stop();
  });

  const withLogin = () => proxy.url.replace('//', `//${LOGIN.username}:${LOGIN.password}@`);
  const hosts = () => [box.urls.base, box.urls.ws].map((url) => new URL(url).host).sort();
  /** Some hosts take several tunnels. */
  const asked = () => [...new Set(proxy.asked)].sort();
  const flowWith = (properties: object, node: object = {}) => [
    { id: 'way', type: 'http proxy', name: '', url: proxy.url, noproxy: [], ...node },
    { id: 'other', type: 'mt-service' },
    ...flowAround(serviceNode(box, { brokerUrl: box.urls.ws, httpRetries: 0, ...properties }), LIST, READ),
  ];
  const secrets = (login: object = LOGIN) => ({ ...secretsOf(box), way: login });
  const run = (properties: object, node?: object, login?: object): Promise<Flow> =>
    start(flowWith(properties, node), { credentials: secrets(login), nodes: [httpProxy] });

  async function useBoth(flow: Flow): Promise<void> {
    flow.send('read', { ...box.demo, identifier: '8001' });
    await flow.next('out');
    flow.send('list', {});
    await flow.next('out');
  }

  it('is the configuration node, with its login, for calls and for the broker', async () => {
    process.env.ALL_PROXY = 'http://127.0.0.1:1';
    await useBoth(await run({ proxy: 'way' }));
    assert.deepEqual(asked(), hosts());
    assert.deepEqual(new Set(proxy.logins), new Set([basic(LOGIN.username, LOGIN.password)]));
  });

  it('is not used for the hosts that the configuration node names', async () => {
    await useBoth(await run({ proxy: 'way' }, { noproxy: ['example.com', '127.0.0.1', 'localhost'] }));
    assert.deepEqual(proxy.asked, []);
  });

  it('is the one of the environment when none is chosen', async () => {
    process.env.http_proxy = withLogin();
    await useBoth(await run({}));
    assert.deepEqual(asked(), hosts());
  });

  it('is none for what NO_PROXY names', async () => {
    process.env.HTTP_PROXY = withLogin();
    process.env.NO_PROXY = `${new URL(box.urls.base).host}, ${new URL(box.urls.ws).host}`;
    await useBoth(await run({}));
    assert.deepEqual(proxy.asked, []);
  });

  it('is used although NO_PROXY has an IPv6 address with a zone in it', async () => {
    process.env.HTTP_PROXY = withLogin();
    process.env.NO_PROXY = 'fe80::1%eth0';
    await useBoth(await run({}));
    assert.deepEqual(asked(), hosts());
  });

  it('follows the node that a variable names, also when that alone is deployed', async () => {
    process.env.MT_PROXY = 'way';
    try {
      const flow = await run({ proxy: '${MT_PROXY}' }, { noproxy: ['127.0.0.1', 'localhost'] });
      await useBoth(flow);
      assert.deepEqual(proxy.asked, []);
      await flow.deploy(flowWith({ proxy: '${MT_PROXY}' }), 'nodes', secrets());
      await flow.statuses('list').next(({ text }) => text === 'stopped');
      await flow.statuses('list').next(({ text }) => text === 'ready');
      await useBoth(flow);
      assert.deepEqual(asked(), hosts());
    } finally {
      delete process.env.MT_PROXY;
    }
  });

  for (const [title, properties, node, value] of [
    ['is not there', { proxy: 'gone' }, {}, 'gone'],
    ['is of another kind', { proxy: 'other' }, {}, 'other'],
    ['has no address', { proxy: 'way' }, { url: '' }, ''],
    ['is no HTTP proxy', { proxy: 'way' }, { url: 'socks5://pat:pr0xy-secret@host:1' }, 'socks5://…@host:1'],
  ] as const) {
    it(`is INVALID_INPUT when it ${title}`, async () => {
      const { error } = await (await run(properties, node)).next('errors');
      assert.deepEqual([error?.code, error?.cause], ['INVALID_INPUT', { field: 'proxy', value }]);
      assert.doesNotMatch(error?.message ?? '', SECRETS);
    });
  }

  it('is INVALID_INPUT when the environment names one of another kind, without its login', async () => {
    process.env.ALL_PROXY = 'socks5://pat:pr0xy-secret@host:1';
    const { error } = await (await run({})).next('errors');
    assert.deepEqual(
      [error?.code, error?.cause],
      ['INVALID_INPUT', { field: 'proxy', value: 'socks5://…@host:1' }],
    );
  });

  it('shows its login nowhere when it refuses: not in errors, not in a status, not in an answer to the editor', async function () {
    this.timeout(40_000);
    proxy.answer = refuse('407 Proxy Authentication Required');
    process.env.HTTP_PROXY = withLogin();
    const flow = await run({});
    const { reason } = {
      reason: (await flow.statuses('read').next(({ text = '' }) => /407/.test(text))).text ?? '',
    };
    flow.send('list', {});
    const { error } = await flow.next('errors');
    assert.deepEqual([error?.code, error?.cause], ['NETWORK', { code: 'PROXY_LOGIN', proxy: proxy.shown }]);
    const answers = [
      await flow.get('/mt-service/svc/devices'),
      await flow.post('/mt-service/test', {
        ...serviceNode(box, { brokerUrl: box.urls.ws }),
        credentials: { username: 'demo', password: '__PWRD__' },
      }),
    ];
    const { rest, mqtt } = answers[1]!.body as TestResults;
    for (const { ok, message } of [rest, mqtt]) {
      assert.equal(ok, false);
      assert.match(message, new RegExp(`proxy ${proxy.shown}`));
    }
    assert.doesNotMatch(JSON.stringify([reason, error, answers, flow.statuses('list').all]), SECRETS);
  });

  it('is named by a test of the connection, which gives it the stored password only where it is the deployed one', async function () {
    this.timeout(40_000);
    const flow = await run({ proxy: 'way' });
    const test = async (properties: object) => {
      const typed = { ...serviceNode(box, { brokerUrl: box.urls.ws, ...properties }) };
      const body = { ...typed, credentials: { username: 'demo', password: '__PWRD__' } };
      return (await flow.post('/mt-service/test', body)).body as TestResults;
    };
    const same = await test({ proxy: 'way' });
    for (const { ok, message } of [same.rest, same.mqtt]) {
      assert.ok(ok, message);
      assert.ok(message.endsWith(`(through the proxy ${proxy.shown})`), message);
      assert.doesNotMatch(message, SECRETS);
    }
    const other = await test({ proxy: '' });
    assert.equal(other.rest.ok, false);
    assert.match(other.rest.message, /enter the password again/);
    assert.doesNotMatch(other.mqtt.message, /proxy/);
  });
});
