// Every admin endpoint under bodies and questions that are made to break it: a response in time, and all goes on.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { limit } from '../limits.ts';
import { json, startServer } from '../rest/server.ts';
import { flowAround, secretsOf, serviceNode } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

/** Milliseconds for one response, on a machine that does other things, too. */
const MAX_ANSWER_MS = limit(2_000);
/** A test of real addresses may take as long as the contract says. */
const MAX_TEST_MS = limit(10_000);

const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const macs = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => (0xc00000000000 + index).toString(16));

/** Of a text: so long that what takes the square of it takes minutes. */
const LONG = 300_000;

/** Values that no panel sends, as JSON. */
const ODD_VALUES: Record<string, string> = {
  null: 'null',
  'a truth value': 'true',
  'the largest number': '1e308',
  'a number beyond all': '1e999',
  'a negative number': '-1',
  'a part of a number': '0.5',
  'the word NaN': '"NaN"',
  'a long text': JSON.stringify('x'.repeat(LONG)),
  'a text of separators': JSON.stringify(','.repeat(LONG)),
  'a text of variables': JSON.stringify('${X}'.repeat(LONG / 4)),
  'a text of beginnings of variables': JSON.stringify('${'.repeat(LONG / 2)),
  'an empty list': '[]',
  'a list of everything': '[null,true,1,"x",[],{}]',
  'a long list': JSON.stringify(macs(50_000)),
  'a deep list': deep(100_000),
  'an object': '{"length":1e9}',
  'an object with odd keys':
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}',
  'what is no MAC': '"..;/#+"',
};

const PREVIEW = [
  ...['kinds', 'form', 'gateways', 'devices', 'identifiers', 'labels', 'labelRefresh', 'decode', 'output'],
  ...[
    'duplicates',
    'duplicateWindow',
    'limit',
    'node',
    'z',
    'version',
    'service',
    'name',
    '__proto__',
    'type',
  ],
];
const TEST = [
  ...[
    'id',
    'authUrl',
    'baseUrl',
    'brokerUrl',
    'tls',
    'proxy',
    'clientId',
    'protocolVersion',
    'keepalive',
    'persistent',
  ],
  ...[
    'sharedGroup',
    'topicPrefix',
    'reportQos',
    'requestTimeout',
    'maxInFlight',
    'httpTimeout',
    'httpRetries',
  ],
  ...[
    'authHeader',
    'pageTokenParam',
    'attachPath',
    'ackOperation',
    'ackTemplate',
    'identifiers',
    'credentials',
    '__proto__',
  ],
];
const CREDENTIALS = ['username', 'password', 'mqttUsername', 'mqttPassword', '__proto__'];

const BODIES: Record<string, string> = {
  ...ODD_VALUES,
  nothing: '',
  'no JSON': '{"a":',
  'more than is taken': JSON.stringify({ name: 'x'.repeat(6_000_000) }),
  'both lists long': JSON.stringify({ gateways: macs(1_500), devices: macs(1_500) }),
  'all lists long': JSON.stringify({
    gateways: macs(60_000),
    devices: macs(60_000),
    identifiers: macs(60_000),
    labels: macs(60_000),
  }),
  'the lists that make ten thousand filters': JSON.stringify({
    gateways: macs(100),
    devices: macs(100),
    identifiers: macs(100),
  }),
};

/** Questions of the address, as they are. */
const QUERIES = [
  '',
  'q=%00',
  'q[]=a&q[]=b',
  'q[__proto__][polluted]=1',
  '__proto__[polluted]=1',
  'constructor[prototype][polluted]=1',
  `q=${'a'.repeat(8_000)}`,
  `q=${'%F0%9F%98%80'.repeat(500)}`,
  'q=%',
  'limit=-1',
  'limit=1e308',
  'limit=NaN',
  'limit=0.5',
  'limit[]=5',
  'limit=999999999999999999999',
  'what=__proto__',
  'what[]=devices',
  'what=devices&gateway[]=a&device[toString]=1',
  'what=identifiers&gateway=%2B%23&device=/../',
  'what=gateways&gateway=constructor',
  'parent[]=*&sort[]=name',
  'parent=constructor&sort=constructor&offset=-1',
  'parent=*&sort=__proto__&offset=1e308&needs=1',
  'sort=-&offset=NaN&needs[]=1',
];
const IDS = ['svc', '__proto__', 'constructor', 'toString', 'n', '%00', '..%2f..', 'x'.repeat(5_000)];

describeNodes('the admin endpoints under attack', function (start) {
  this.timeout(240_000);
  let box: Service;

  before(async () => {
    box = await startService({ rate: 0, listed: 30 });
  });

  after(() => box.close());

  const run = (): Promise<Flow> =>
    start(flowAround(serviceNode(box), { id: 'n', type: 'mt-report-in' }), { credentials: secretsOf(box) });

  const ask = async (
    flow: Flow,
    path: string,
    title: string,
    body?: string,
    bound = MAX_ANSWER_MS,
    statuses = 500,
  ) => {
    const begun = performance.now();
    const response = await (body === undefined ? flow.get(path) : flow.postText(path, body));
    const { status } = response;
    const took = performance.now() - begun;
    const told = `${title}: status ${status} after ${Math.round(took)} ms`;
    assert.ok(status >= 200 && status < statuses && status !== 500, told);
    assert.ok(took < bound, told);
    assert.equal(({} as { polluted?: unknown }).polluted, undefined, told);
    return JSON.stringify(response.body);
  };

  const goesOn = async (flow: Flow) => {
    const { status, body } = await flow.get('/mt-service/svc/devices?limit=2');
    assert.deepEqual([status, (body as unknown[]).length], [200, 2]);
  };

  it('answer every question of the pickers', async () => {
    const flow = await run();
    for (const id of IDS) {
      for (const what of ['devices', 'labels', 'seen', 'network']) {
        for (const query of QUERIES) {
          const path = `/mt-service/${id}/${what}?${query}`;
          await ask(flow, path, path.slice(0, 200));
        }
      }
    }
    await goesOn(flow);
  });

  for (const [path, bound] of [
    ['/mt-service/svc/preview', MAX_ANSWER_MS],
    ['/mt-service/svc/test-report', MAX_ANSWER_MS],
    ['/mt-service/svc/try', MAX_ANSWER_MS],
    ['/mt-service/svc/last-values', MAX_ANSWER_MS],
    ['/mt-service/svc/device-watch', MAX_ANSWER_MS],
    ['/mt-service/svc/listen', MAX_ANSWER_MS],
    ['/mt-service/svc/record', MAX_ANSWER_MS],
    ['/mt-service/svc/play', MAX_ANSWER_MS],
    ['/mt-service/svc/names', MAX_ANSWER_MS],
    ['/mt-service/svc/read', MAX_ANSWER_MS],
    ['/mt-service/svc/write', MAX_ANSWER_MS],
    ['/mt-service/svc/rename', MAX_ANSWER_MS],
    ['/mt-service/svc/label', MAX_ANSWER_MS],
    ['/mt-service/test', MAX_TEST_MS],
  ] as const) {
    it(`answer every body to ${path}`, async () => {
      const flow = await run();
      for (const [title, body] of Object.entries(BODIES)) {
        await ask(flow, path, title, body, bound);
      }
      await goesOn(flow);
    });
  }

  it('answer a preview with every odd value in every property', async () => {
    const flow = await run();
    for (const property of PREVIEW) {
      for (const [title, value] of Object.entries(ODD_VALUES)) {
        await ask(flow, '/mt-service/svc/preview', `${property}: ${title}`, `{"${property}":${value}}`);
      }
    }
    await goesOn(flow);
  });

  it('answer a question for last values with every odd value in every property', async () => {
    const flow = await run();
    for (const property of ['gateway', 'device', 'identifier', 'labels', 'limit', 'select', '__proto__']) {
      for (const [title, value] of Object.entries(ODD_VALUES)) {
        const body = `{"${property}Type":"str","${property}":${value}}`;
        await ask(flow, '/mt-service/svc/last-values', `${property}: ${title}`, body);
      }
    }
    await goesOn(flow);
  });

  it('answer a question for a device by every odd id', async () => {
    const flow = await run();
    for (const id of IDS) {
      for (const service of IDS) {
        const path = `/mt-service/${service}/network/${id}`;
        await ask(flow, path, path.slice(0, 200));
      }
    }
    await goesOn(flow);
  });

  for (const [what, body] of Object.entries({
    read: { gateway: '', device: '', identifier: 'firmware-version' },
    write: { gateway: '', device: '', identifier: 'tx-power', value: 4 },
    rename: { device: 'bmac-c0ffffffffff', name: 'x' },
    label: { action: 'remove', device: 'bmac-c0ffffffffff', label: 'x' },
    listen: { all: true },
    record: { action: 'start' },
    names: { macs: ['c0ffffffffff'] },
  })) {
    it(`answer what is to be done by ${what} with every odd value in every property`, async () => {
      const flow = await run();
      const whole: Record<string, unknown> = { ...body, ...('gateway' in body && box.demo), timeout: 500 };
      const more = [
        'form',
        'priority',
        'extenderId',
        'accessType',
        'publicKey',
        'key',
        'ext',
        'decode',
        'payload',
      ];
      for (const property of [...Object.keys(whole), ...more, 'operation', '__proto__', 'toJSON']) {
        for (const [title, value] of Object.entries(ODD_VALUES)) {
          const rest = JSON.stringify({ ...whole, [property]: undefined }).slice(0, -1);
          const text = `${rest}${rest === '{' ? '' : ','}"${property}":${value}}`;
          // What the box refuses, or leaves without an answer, is told with 502 or 504.
          await ask(
            flow,
            `/mt-service/svc/${what}?full=1`,
            `${property}: ${title}`,
            text,
            MAX_ANSWER_MS,
            505,
          );
        }
      }
      await goesOn(flow);
    });
  }

  it('answer a test report with every odd value in every property', async () => {
    const flow = await run();
    const whole = { kind: 'event', ...box.demo };
    for (const property of [...Object.keys(whole), 'value', 'identifier', 'test', '__proto__', 'toJSON']) {
      for (const [title, value] of Object.entries(ODD_VALUES)) {
        const report = `${JSON.stringify({ ...whole, [property]: undefined }).slice(0, -1)},"${property}":${value}}`;
        const body = `{"node":"n","topic":"t","report":${report}}`;
        await ask(flow, '/mt-service/svc/test-report', `${property}: ${title}`, body);
      }
    }
    for (const property of ['node', 'topic', 'report']) {
      for (const [title, value] of Object.entries(ODD_VALUES)) {
        const given = { node: 'n', topic: 't', report: whole, [property]: undefined };
        const body = `${JSON.stringify(given).slice(0, -1)},"${property}":${value}}`;
        await ask(flow, '/mt-service/svc/test-report', `${property}: ${title}`, body);
      }
    }
    await goesOn(flow);
  });

  it('answer a part of a record with every odd value in every property, and in every part of a line', async () => {
    const flow = await run();
    const topic = `mt/gateway/${box.demo.gateway}/device/${box.demo.device}/event/8200`;
    const place = { flow: 'f', run: 'r', begin: true };
    const play = (title: string, text: string) => ask(flow, '/mt-service/svc/play', title, text);
    for (const [title, value] of Object.entries(ODD_VALUES)) {
      for (const property of ['flow', 'run', 'begin', 'lines', '__proto__', 'toJSON']) {
        const rest = JSON.stringify({ ...place, lines: [''], [property]: undefined }).slice(0, -1);
        await play(`${property}: ${title}`, `${rest},"${property}":${value}}`);
      }
      for (const part of [
        'time',
        'topic',
        'kind',
        'device',
        'payload',
        'text',
        'base64',
        'retained',
        '__proto__',
      ]) {
        const line = `${JSON.stringify({ topic, payload: { time: 't' }, [part]: undefined }).slice(0, -1)},"${part}":${value}}`;
        await play(`${part} of a line: ${title}`, JSON.stringify({ ...place, lines: [line, line] }));
      }
      const payload = `{"topic":"${topic}","payload":{"time":"t","seq":1,"value":${value},"__proto__":${value}}}`;
      await play(`a payload of ${title}`, JSON.stringify({ ...place, lines: [payload] }));
    }
    const million = JSON.stringify({ ...place, lines: [] }).replace('[]', `[${'"",'.repeat(999_999)}""]`);
    await play('a million lines', million);
    await play('lines that are deep', `{"flow":"f","run":"r","lines":[${deep(100_000)}]}`);
    await goesOn(flow);
  });

  it('answer the button of report in with every odd value', async () => {
    const flow = await run();
    for (const [title, value] of Object.entries(ODD_VALUES)) {
      await ask(flow, '/mt-service/svc/try', `node: ${title}`, `{"node":${value}}`);
      await ask(flow, '/mt-service/svc/try', `value: ${title}`, `{"node":"n","value":${value}}`);
    }
    await goesOn(flow);
  });

  it('answer a test of the connection with every odd value in every property', async () => {
    const flow = await run();
    // Without addresses nothing is tried: what counts here is what is made of the values.
    for (const property of TEST) {
      for (const [title, value] of Object.entries(ODD_VALUES)) {
        await ask(
          flow,
          '/mt-service/test',
          `${property}: ${title}`,
          `{"id":"svc","${property}":${value}}`,
          MAX_TEST_MS,
        );
      }
    }
    const { authUrl, baseUrl } = serviceNode(box) as Record<string, string>;
    const addresses = JSON.stringify({ authUrl, baseUrl, brokerUrl: 'mqtt://127.0.0.1:1' }).slice(0, -1);
    for (const property of CREDENTIALS) {
      for (const [title, value] of Object.entries(ODD_VALUES)) {
        const body = `${addresses},"credentials":{"${property}":${value}}}`;
        await ask(flow, '/mt-service/test', `credentials.${property}: ${title}`, body, MAX_TEST_MS);
      }
    }
    await goesOn(flow);
  });

  it('answer a test of addresses that are very long, with and without an end behind their slashes', async () => {
    const flow = await run();
    const { authUrl, baseUrl } = serviceNode(box) as Record<string, string>;
    const whole = { authUrl, baseUrl, brokerUrl: 'mqtt://127.0.0.1:1', topicPrefix: '' };
    const slashes = '/'.repeat(LONG);
    for (const property of Object.keys(whole)) {
      const start = property === 'brokerUrl' ? 'mqtt://127.0.0.1:1' : 'http://127.0.0.1:1';
      for (const value of [`${start}${slashes}`, `${start}${slashes}x`, `${slashes}x`]) {
        const body = { id: 'svc', ...whole, [property]: value, credentials: secretsOf(box) };
        await ask(flow, '/mt-service/test', property, JSON.stringify(body), MAX_TEST_MS);
      }
    }
    await goesOn(flow);
  });

  it('answer a test of very many brokers without looking at each of them', async () => {
    const flow = await run();
    for (const address of ['a', 'mqtt://127.0.0.1:1', 'ws://127.0.0.1:1/x?a=1\n']) {
      const brokerUrl = `${address},`.repeat(4_200_000 / (address.length + 1));
      const body = JSON.stringify({ id: 'svc', brokerUrl });
      const text = await ask(flow, '/mt-service/test', `many brokers like ${address}`, body);
      assert.match(text, /is longer than 10000 characters/);
    }
    await goesOn(flow);
  });

  it('answer a test of a login that is very long, and that has very many spellings', async () => {
    const rest = await startServer((_, response) => json(response, { error: 'x'.repeat(300) }, 500));
    try {
      const flow = await run();
      for (const property of ['username', 'password']) {
        const credentials = { username: 'u', password: 'p', [property]: '<&"é'.repeat(LONG) };
        const body = { id: 'svc', authUrl: rest.url, baseUrl: rest.url, credentials };
        const told = await ask(flow, '/mt-service/test', `long ${property}`, JSON.stringify(body));
        assert.match(told, /is longer than 10000 characters: …/);
      }
      await goesOn(flow);
    } finally {
      await rest.stop();
    }
  });

  it('answer a test in which a long variable is named many times, without filling it so often', async () => {
    process.env.MT_LONG = 'x'.repeat(100_000);
    try {
      const flow = await run();
      const brokerUrl = `mqtt://${'${MT_LONG}'.repeat(10_000)}`;
      const { body } = await flow.postText('/mt-service/test', JSON.stringify({ id: 'svc', brokerUrl }));
      const { message } = (body as { mqtt: { message: string } }).mqtt;
      assert.match(message, /is longer than 1000000 characters: mqtt:\/\/\$\{MT_LONG\}/);
      assert.doesNotMatch(message, /xxx/);
    } finally {
      delete process.env.MT_LONG;
    }
  });
});
