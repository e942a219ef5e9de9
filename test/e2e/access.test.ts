// Who may ask what of the editor's endpoints, over HTTP, in both lines of Node-RED.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, startNodeRed, VERSIONS } from './node-red.ts';
import { authorizationOf, WITH_LOGIN } from './users.ts';

const READS: [method: string, path: string][] = [
  ['GET', 'mt-service/service/devices'],
  ['GET', 'mt-service/service/labels'],
  ['GET', 'mt-service/service/seen?what=gateways'],
  ['POST', 'mt-service/service/preview'],
  ['GET', 'mt-service/service/network'],
  ['POST', 'mt-service/service/listen'],
  ['POST', 'mt-service/service/names'],
  ['GET', 'mt-service/service/record'],
];
/** Answered with 400 where nothing is said to be done. */
const ACTS = ['read', 'write', 'rename', 'label', 'record', 'play'];
const READY = {
  ...{ id: 'ready', type: 'function', z: 'tab', func: '', wires: [] },
  initialize: "global.get('outbox')('ready', {});",
};
const TAB = { id: 'tab', type: 'tab', env: [{ name: 'MT_PROPERTY', value: '8000', type: 'str' }] };
const FILTERED = {
  ...{ id: 'filtered', type: 'mt-report-in', z: 'tab', service: 'service', x: 1, y: 1, wires: [[]] },
  ...{ kinds: ['property'], identifiers: ['${MT_PROPERTY}'] },
};
const LAST = {
  ...{ id: 'last', type: 'mt-last-value', z: 'tab', service: 'service', x: 1, y: 1, wires: [[]] },
  ...{ device: '${MT_DEVICE}', deviceType: 'msg', identifier: '${MT_PROPERTY}', identifierType: 'str' },
};
const TEST = ['POST', 'mt-service/test'] as const;

for (const version of VERSIONS) {
  describe(`the editor's endpoints behind a login (${version.name})`, function () {
    this.timeout(60_000);
    let service: Service;
    let red: NodeRed;
    let anybody: Record<'nobody' | 'reader' | 'writer', Record<string, string>>;

    before(async function () {
      this.timeout(180_000);
      service = await startService({ gateways: 1, devices: 2, rate: 0, listed: 5 });
      red = await startNodeRed(version, WITH_LOGIN);
      const [reader, writer] = [
        await authorizationOf(red.url, 'reader'),
        await authorizationOf(red.url, 'writer'),
      ];
      anybody = { nobody: {}, reader, writer };
      const deployed = await ask('writer', 'POST', 'flows', [
        TAB,
        config(),
        { ...config(), id: 'elsewhere', credentials: { ...service.credentials, mqttUsername: '${PATH}' } },
        FILTERED,
        LAST,
        READY,
      ]);
      assert.equal(deployed.status, 204);
      // Node-RED answers a deploy before its nodes are there.
      await red.next('ready');
    });
    after(async () => {
      await red?.stop();
      await service?.close();
    });

    const config = () => ({
      id: 'service',
      type: 'mt-service',
      authUrl: service.urls.auth,
      baseUrl: service.urls.base,
      brokerUrl: service.urls.mqtt,
      credentials: { ...service.credentials },
    });

    function ask(who: keyof typeof anybody, method: string, path: string, body: unknown = {}) {
      return fetch(`${red.url}/${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...anybody[who] },
        ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
      });
    }

    async function statuses(method: string, path: string, body?: unknown): Promise<Record<string, number>> {
      const all = Object.keys(anybody) as (keyof typeof anybody)[];
      const answers = await Promise.all(all.map((who) => ask(who, method, path, body)));
      return Object.fromEntries(all.map((who, index) => [who, answers[index]!.status]));
    }

    for (const [method, path] of READS) {
      it(`${method} ${path} answers whoever may read, and nobody else`, async () => {
        assert.deepEqual(await statuses(method, path), { nobody: 401, reader: 200, writer: 200 });
      });
    }

    it('GET mt-service/service/network/… says whether there is such a device to whoever may read', async () => {
      const path = 'mt-service/service/network/d00000000000';
      assert.deepEqual(await statuses('GET', path), { nobody: 401, reader: 404, writer: 404 });
    });

    for (const what of ACTS) {
      it(`POST mt-service/service/${what} does something for whoever may write, and for nobody else`, async () => {
        const path = `mt-service/service/${what}`;
        assert.deepEqual(await statuses('POST', path, {}), { nobody: 401, reader: 401, writer: 400 });
      });
    }

    it('GET mt-service/service/record/file gives a record to whoever may write, and to nobody else', async () => {
      const path = 'mt-service/service/record/file';
      assert.deepEqual(await statuses('GET', path), { nobody: 401, reader: 401, writer: 404 });
      await ask('writer', 'POST', 'mt-service/service/record', { action: 'start' });
      assert.deepEqual(await statuses('GET', path), { nobody: 401, reader: 401, writer: 200 });
      await ask('writer', 'POST', 'mt-service/service/record', { action: 'stop' });
    });

    it(`${TEST.join(' ')} answers whoever may write, and nobody else`, async () => {
      assert.deepEqual(await statuses(...TEST, config()), { nobody: 401, reader: 401, writer: 200 });
      const answer = await ask('writer', ...TEST, config());
      const { rest, mqtt } = (await answer.json()) as Record<string, { ok: boolean }>;
      assert.deepEqual([rest?.ok, mqtt?.ok], [true, true]);
    });

    it('POST mt-service/service/test-report answers whoever may deploy, and nobody else', async () => {
      const path = 'mt-service/service/test-report';
      const report = { gateway: 'g', device: 'd', kind: 'event' };
      const body = { node: 'none', topic: 't', report };
      assert.deepEqual(await statuses('POST', path, body), { nobody: 401, reader: 401, writer: 200 });
      const tester = await fetch(`${red.url}/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(await authorizationOf(red.url, 'tester')) },
        body: JSON.stringify(body),
      });
      assert.equal(tester.status, 401);
    });

    it('POST mt-service/service/try answers whoever may act on the service, and nobody else', async () => {
      const body = { node: 'none' };
      assert.deepEqual(await statuses('POST', 'mt-service/service/try', body), {
        ...{ nobody: 401, reader: 401, writer: 200 },
      });
    });

    it('a user who may test but not deploy learns nothing of the environment by a test', async () => {
      const tester = await authorizationOf(red.url, 'tester');
      const { place, visits } = await openPlace();
      const address = `http://127.0.0.1:${(place.address() as AddressInfo).port}`;
      const secret = '${PATH}';
      const test = async (body: object, who = tester) => {
        const answer = await fetch(`${red.url}/${TEST[1]}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...who },
          body: JSON.stringify(body),
        });
        const { rest, mqtt } = (await answer.json()) as Record<string, { ok: boolean; message: string }>;
        return `${rest?.message} ${mqtt?.message}`;
      };
      const given = { id: 'service', authUrl: address, baseUrl: address, brokerUrl: '' };
      const broker = { id: 'service', authUrl: '', baseUrl: '', brokerUrl: address.replace('http', 'mqtt') };
      for (const body of [
        { ...given, credentials: { username: 'a', password: secret } },
        { ...given, authUrl: `${address}/${secret}`, credentials: { username: 'a', password: 'b' } },
        { ...broker, credentials: { mqttUsername: secret, mqttPassword: 'b' } },
        { ...broker, clientId: secret },
        { ...broker, topicPrefix: `${secret}#` },
        { ...config(), topicPrefix: `${secret}#` },
        // Also to the deployed address: in what is wrong with another field he would find it letter by letter.
        { ...config(), credentials: { ...service.credentials, password: secret } },
      ]) {
        assert.match(await test(body), /who may deploy flows/, JSON.stringify(body));
      }
      // What the other half names is neither filled nor looked for in what this one says.
      const guess = `x:${process.env.PATH?.slice(0, 8)}`;
      const elsewhere = { ...config(), baseUrl: guess, brokerUrl: address, name: secret, clientId: secret };
      assert.ok((await test(elsewhere)).includes(guess));
      assert.equal(visits.length, 0);
      place.close();
      const told = await test(
        { ...config(), baseUrl: `x:${secret}`, topicPrefix: `${secret}#` },
        anybody.writer,
      );
      assert.deepEqual(told.match(/\S*\$\{PATH\}\S*/g), ['x:${PATH}', '${PATH}#'], told);
    });

    it('a user who may not deploy sees what is deployed, and cannot have another variable sent to the broker', async () => {
      const path = 'mt-service/service/preview';
      const { kinds, identifiers } = FILTERED;
      const place = { node: 'filtered', z: 'other' };
      const deployed = { ...place, kinds, identifiers, form: 'raw' };
      assert.deepEqual(await statuses('POST', path, deployed), { nobody: 401, reader: 200, writer: 200 });
      for (const body of [
        { kinds, identifiers: ['${HOME_OF_SECRETS}'] },
        { ...place, kinds, identifiers: ['${MT_PROPERTY}', '${HOME_OF_SECRETS}'] },
        { ...place, kinds, identifiers, labels: ['${MT_PROPERTY}'] },
        { ...place, node: 'service', kinds, identifiers },
        { ...place, kinds, identifiers: [['${MT_PROPERTY}']] },
      ]) {
        const answer = await ask('reader', 'POST', path, body);
        const { code, message } = (await answer.json()) as Record<string, string>;
        assert.deepEqual([answer.status, code], [400, 'INVALID_INPUT'], JSON.stringify(body));
        assert.match(message ?? '', /who may deploy flows/);
      }
      const elsewhere = await ask('reader', 'POST', 'mt-service/elsewhere/preview', deployed);
      assert.equal(elsewhere.status, 400);
    });

    it('a user who may not deploy sees last values by deployed variables, and by no others', async () => {
      const path = 'mt-service/service/last-values';
      const { device, identifier, identifierType } = LAST;
      const deployed = { node: 'last', select: 'all', identifier, identifierType };
      assert.deepEqual(await statuses('POST', path, deployed), { nobody: 401, reader: 200, writer: 200 });
      for (const more of [
        { labels: ['${HOME_OF_SECRETS}'] },
        { identifier: '${HOME_OF_SECRETS}' },
        { gateway: identifier, gatewayType: 'str' },
        // It is a property of the message there.
        { device, deviceType: 'str' },
        { node: 'filtered' },
      ]) {
        const answer = await ask('reader', 'POST', path, { ...deployed, ...more });
        const { code, message } = (await answer.json()) as Record<string, string>;
        assert.deepEqual([answer.status, code], [400, 'INVALID_INPUT'], JSON.stringify(more));
        assert.match(message ?? '', /who may deploy flows/);
      }
    });

    it('a web page that somebody opens beside the editor cannot do anything by a form', async () => {
      const paths = [...READS, ...ACTS.map((what) => ['POST', `mt-service/service/${what}`] as const), TEST]
        .filter(([method]) => method === 'POST')
        .map(([, path]) => path);
      const others = ['try', 'test-report', 'watch', 'silent', 'device-watch', 'last-values'];
      const device = service.devices[0]!.id;
      for (const path of [...paths, ...others.map((what) => `mt-service/service/${what}`)]) {
        const form = { action: 'start', device, name: 'changed', authUrl: service.urls.auth, all: 'true' };
        const { status } = await fetch(`${red.url}/${path}`, {
          method: 'POST',
          headers: anybody.writer,
          body: new URLSearchParams(form),
        });
        assert.equal(status, 415, path);
      }
      assert.notEqual(service.devices[0]!.friendlyName, 'changed');
    });

    it('a user who may write but not deploy sees his words in an error, and not by a mark what variables hold', async () => {
      const tester = await authorizationOf(red.url, 'tester');
      const removed = async (label: string, who: Record<string, string>) => {
        const answer = await fetch(`${red.url}/mt-service/elsewhere/label`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...who },
          body: JSON.stringify({ action: 'remove', device: 'none', label }),
        });
        return ((await answer.json()) as { message: string }).message;
      };
      const guess = process.env.PATH?.slice(0, 6) ?? '';
      assert.match(await removed(guess, tester), new RegExp(`/${encodeURIComponent(guess)}\\): …$`));
      // Who may deploy can read every variable, and sees what the service says.
      assert.match(await removed('other', anybody.writer), /\/other\): .*\w/);
    });

    it('a login that runs out while a question is answered ends that question, and not Node-RED', async () => {
      const reader = await authorizationOf(red.url, 'reader');
      const portal = createHttpServer();
      const called = once(portal, 'request');
      await new Promise<void>((resolve) => portal.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(portal.address() as AddressInfo).port}`;
      const slowService = { ...config(), id: 'slow', authUrl: url, baseUrl: url, brokerUrl: '' };
      const flows = (await (await ask('writer', 'GET', 'flows')).json()) as object[];
      await ask('writer', 'POST', 'flows', [...flows, slowService]);
      await red.next('ready');
      const asked = fetch(`${red.url}/mt-service/slow/devices`, { headers: reader });
      const [, response] = (await called) as [unknown, ServerResponse];
      const token = reader.authorization?.replace('Bearer ', '');
      await fetch(`${red.url}/auth/revoke`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...reader },
        body: JSON.stringify({ token }),
      });
      response.writeHead(400).end('no');
      assert.equal((await asked).status, 502);
      assert.equal((await ask('writer', 'GET', 'settings')).status, 200);
      portal.close();
    });

    it('a user who may not write cannot make Node-RED connect to a place of his own', async () => {
      const { place, visits } = await openPlace();
      const address = `http://127.0.0.1:${(place.address() as AddressInfo).port}`;
      const brokerUrl = address.replace('http', 'mqtt');
      const given = { id: 'service', authUrl: address, baseUrl: address, brokerUrl, service: address };
      for (const [method, path] of [...READS, TEST]) {
        const query = `${path.includes('?') ? '&' : '?'}${new URLSearchParams(given)}`;
        const { status } = await ask('reader', method, path + query, given);
        assert.ok(path === TEST[1] ? status === 401 : status < 500, `${path}: ${status}`);
      }
      assert.equal(visits.length, 0);
      place.close();
    });

    it('a user who may not write cannot deploy', async () => {
      assert.equal((await ask('reader', 'POST', 'flows', [])).status, 401);
    });
  });
}

/** A server that notes who connects. */
async function openPlace(): Promise<{ place: Server; visits: unknown[] }> {
  const visits: unknown[] = [];
  const place = createServer((socket) => {
    visits.push(socket);
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(place, 'listening');
  return { place, visits };
}
