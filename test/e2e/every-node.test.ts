// Each further node once on a real Node-RED with the installed package, and what it did to the service.
import assert from 'node:assert/strict';
import { startServer, type TestServer } from '../rest/server.ts';
import { type NodeConfig, sink, source, VERSIONS } from './node-red.ts';
import { isReady, openSite, type Site } from './site.ts';

const node = (type: string, properties: Record<string, unknown> = {}): NodeConfig[] => [
  source(`to ${type}`, [type]),
  { id: type, type: `mt-${type}`, service: 'service', ...properties, wires: [[`from ${type}`]] },
  sink(`from ${type}`),
];

const FLOW: NodeConfig[] = [
  ...node('gw-write'),
  ...node('gw-read'),
  ...node('rename'),
  ...node('label', { action: 'msg' }),
  ...node('service-request', { method: 'GET' }),
  ...node('device-list', { output: 'each' }),
  {
    id: 'samples',
    type: 'mt-report-in',
    service: 'service',
    kinds: ['timestamped'],
    wires: [['timestamped-ack']],
  },
  ...node('timestamped-ack'),
  { id: 'asked', type: 'http in', url: '/page', method: 'get', wires: [['devices']] },
  source('to webhook', ['devices']),
  {
    id: 'devices',
    type: 'mt-service-request',
    service: 'service',
    path: 'api/v1/devices?MaxResults=2',
    pathType: 'str',
    method: 'GET',
    wires: [['text']],
  },
  { id: 'text', type: 'template', template: '<p>There are devices.</p>', wires: [['answer', 'webhook']] },
  { id: 'answer', type: 'http response', wires: [] },
  { id: 'webhook', type: 'http request', method: 'POST', ret: 'txt', wires: [['from webhook']] },
  sink('from webhook'),
];

describe('every node of the installed package', function () {
  this.timeout(120_000);

  for (const version of VERSIONS) {
    describe(`on ${version.name}`, () => {
      let site: Site;
      let webhook: TestServer;
      before(async () => {
        webhook = await startServer((_, response) => void response.end('ok'));
        site = await openSite(version);
        await site.red.deploy([site.config, ...FLOW]);
        await site.red.status('samples', isReady);
      });
      after(async () => {
        await site?.close();
        await webhook?.stop();
      });

      const run = async (type: string, msg: Record<string, unknown>) => {
        site.red.send(`to ${type}`, { ...msg, kept: 'as it was' });
        const answer = await site.red.next(`from ${type}`);
        assert.equal(answer.kept, 'as it was');
        return answer;
      };

      it('writes a property that can then be read', async () => {
        const target = { ...site.service.demo, identifier: 'tx-power' };
        const written = await run('gw-write', { ...target, payload: -8 });
        assert.equal(written.payload, -8);
        assert.equal((await run('gw-read', target)).payload, -8);
      });

      it('acknowledges a timestamped sample', async () => {
        await site.service.publishSamples(1);
        const { response, report } = await site.red.next('from timestamped-ack');
        assert.equal((response as { status: number }).status, 0);
        assert.equal((report as { kind: string }).kind, 'timestamped');
        assert.equal(site.service.counters().samples.acknowledged, 1);
      });

      it('renames a device', async () => {
        const { gateway } = site.service.demo;
        const { payload } = await run('rename', { device: gateway, payload: 'Dach / Süd #1' });
        assert.deepEqual(payload, { id: `bmac-${gateway}`, friendlyName: 'Dach / Süd #1' });
        assert.equal(site.service.devices[0]?.friendlyName, 'Dach / Süd #1');
      });

      it('creates a label and removes one from a device', async () => {
        const id = `bmac-${site.service.demo.gateway}`;
        assert.deepEqual((await run('label', { action: 'create', payload: 'a/b' })).payload, {
          label: 'a/b',
        });
        site.service.devices[0]?.labels.push('a/b');
        const removed = await run('label', { action: 'remove', device: id, payload: 'a/b' });
        assert.deepEqual(removed.payload, { id, label: 'a/b' });
        assert.ok(!site.service.devices[0]?.labels.includes('a/b'));
      });

      it('calls any path of the service', async () => {
        const { payload, statusCode } = await run('service-request', {
          path: 'api/v1/devices',
          query: { MaxResults: 2 },
        });
        assert.equal(statusCode, 200);
        assert.equal((payload as { items: unknown[] }).items.length, 2);
      });

      it('leaves nothing of the response in what core nodes send next', async () => {
        const response = await fetch(`${site.red.url}/page`);
        assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
        assert.equal(await response.text(), '<p>There are devices.</p>');
        site.red.send('to webhook', { url: webhook.url });
        assert.equal(
          (await site.red.next('from webhook', ({ statusCode }) => statusCode === 200)).payload,
          'ok',
        );
        const [{ headers, body } = assert.fail('nothing was sent')] = webhook.calls;
        assert.deepEqual([body, headers['content-type']], ['<p>There are devices.</p>', undefined]);
      });

      it('sends the devices one by one, so that Join can put them together', async () => {
        site.red.send('to device-list', {});
        const parts: unknown[] = [];
        for (let complete: unknown; complete === undefined; ) {
          const msg = await site.red.next('from device-list');
          parts.push((msg.parts as { index: number }).index);
          complete = msg.complete;
        }
        assert.deepEqual(
          parts,
          Array.from({ length: 250 }, (_, index) => index),
        );
      });

      it('tells a Catch node what was wrong, by code and cause', async () => {
        site.red.send('to rename', { payload: 'no device' });
        const { code, cause } = await site.red.caught('rename');
        assert.equal(code, 'INVALID_INPUT');
        assert.equal((cause as { field: string }).field, 'device');
      });
    });
  }
});
