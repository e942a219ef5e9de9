// Flows that earlier versions saved load and do in this version what they did then.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Service, startService } from '../../simulator/src/service.ts';
import { upgradeOf } from '../fixtures/flows/upgrade.ts';
import { subscribed } from './box-flow.ts';
import { describeNodes, type Flow, type StartFlow } from './flow.ts';

interface SavedNode {
  id: string;
  type: string;
  [property: string]: unknown;
}

const FOLDER = join('test', 'fixtures', 'flows');
const VERSIONS = readdirSync(FOLDER).filter((name) => /^\d/.test(name));
const read = (version: string, file: string): SavedNode[] =>
  JSON.parse(readFileSync(join(FOLDER, version, file), 'utf8'));
const now = (): string => new Date().toISOString();

/** What the service in a box is told to be like, so that the saved settings of the service matter. */
const PECULIAR = {
  topicPrefix: 'site',
  authHeader: 'X-Auth',
  pageTokenParam: 'PageToken',
  ackOperations: 'confirm,confirm-decoded',
};

/** The saved flow in front of the box, its debug nodes heard by the test. */
function inFrontOf(box: Service, saved: SavedNode[]): SavedNode[] {
  const { auth: authUrl, base: baseUrl, mqtt: brokerUrl } = box.urls;
  return saved.map((node) => {
    if (node.type === 'mt-service') {
      return { ...node, authUrl, baseUrl, brokerUrl };
    }
    return node.type === 'debug' ? { ...node, type: 'helper' } : node;
  });
}

async function load(start: StartFlow, box: Service, saved: SavedNode[]): Promise<Flow> {
  const service = saved.find(({ type }) => type === 'mt-service')?.id ?? '';
  const flow = await start(inFrontOf(box, saved), { credentials: { [service]: box.credentials } });
  await subscribed(box);
  return flow;
}

describe('a saved flow', () => {
  for (const version of VERSIONS) {
    for (const file of readdirSync(join(FOLDER, version))) {
      it(`of ${version} keeps what was set: ${file}`, () => {
        for (const node of read(version, file).filter(({ type }) => type.startsWith('mt-'))) {
          const upgraded = upgradeOf(node.type, node);
          for (const [name, value] of Object.entries(upgraded)) {
            if (name !== 'version' && name in node) {
              assert.deepEqual(value, node[name], `${node.id} ${name}`);
            }
          }
          assert.deepEqual(upgradeOf(node.type, upgraded), upgraded);
        }
      });
    }
  }
});

for (const version of VERSIONS) {
  describeNodes(`a flow saved by ${version}`, (start) => {
    let box: Service;
    afterEach(() => box.close());

    it('still does what every one of its properties says', async () => {
      box = await startService({ rate: 0, delay: 0, ...PECULIAR });
      const { gateway, device } = box.demo;
      const flow = await load(start, box, read(version, 'every property.json'));
      const operations = () =>
        box.calls.operations.map(({ operation, identifier, payload }) => {
          const { id, ...sent } = payload ?? {};
          return [operation, identifier, sent];
        });

      await box.publish(gateway, device, 'property/8100', { time: now(), value: '64' });
      const valve = { time: now(), value: '00000019' };
      await box.publish(gateway, device, 'property/ef10', valve);
      await box.publish(gateway, device, 'property/ef10', valve);
      const { payload, report } = await flow.next('saved-report-out');
      assert.deepEqual([payload, (report as { unit: string }).unit], [2.5, 'l']);

      flow.send('saved-read', { device: 'ignored' });
      assert.match(String((await flow.next('saved-read-out')).payload), /^[0-9a-f]{4}$/);
      flow.send('saved-version', {});
      assert.equal((await flow.next('saved-version-out')).payload, '2.4.0');
      // The box refuses both of these; what counts is what was sent.
      const written = once(box.events, 'answered');
      flow.send('saved-write', { payload: { next: 16 } });
      await written;
      const acknowledged = once(box.events, 'answered');
      flow.send('saved-ack', { sample: { identifier: '8800', time: 'then' } });
      await acknowledged;
      const access = { accessType: 'legacy', publicKey: '0a0b0c' };
      assert.deepEqual(operations(), [
        ['read', '8800', { priority: 4, extenderId: 'e4a7c5102037', ...access }],
        ['apiversion', undefined, {}],
        [
          'write-decoded',
          'motion',
          {
            value: 16,
            ext: { transitionCounter: 7, isTransition: true },
            priority: 1,
            extenderId: 'E4A7C5102037',
            ...access,
          },
        ],
        ['confirm', '8800', { time: 'then', by: 'an old flow' }],
      ]);

      flow.send('saved-list', {});
      const last = await flow.next('saved-list-out', ({ complete }) => complete !== undefined);
      assert.deepEqual([last.count, last.complete], [1, false]);
      const [page] = box.calls.rest.filter(({ method }) => method === 'GET').slice(-1);
      assert.deepEqual([page?.query.MaxResults, page?.query.site], ['2', '7']);
      assert.ok(page?.query.PageToken);

      flow.send('saved-rename', { gateway });
      assert.deepEqual((await flow.next('saved-rename-out')).payload, {
        id: `bmac-${gateway}`,
        friendlyName: 'Named by an old flow',
      });
      flow.send('saved-label', { gateway });
      await flow.next('saved-label-out');
      assert.ok(!box.portal.byId.get(`bmac-${gateway}`)?.labels.includes('kyiv-office'));
      flow.send('saved-request', { payload: 1 });
      assert.deepEqual((await flow.next('saved-request-out')).payload, {
        method: 'PUT',
        path: '/api/v1/echo/saved',
        query: { a: '1' },
        body: { sum: 2 },
      });
    });

    it('still takes everything from the message where nothing is set', async () => {
      box = await startService({ rate: 0, delay: 0 });
      const { gateway, device } = box.demo;
      const flow = await load(start, box, read(version, 'bare.json'));
      await box.publish(gateway, device, 'measurement/8800', { time: now(), seq: 1, value: '1234' });
      assert.equal(((await flow.next('bare-report-in-out')).payload as { value: number }).value, 46.6);

      flow.send('bare-gw-write', { gateway, device, identifier: 'tx-power', payload: -4 });
      await flow.next('bare-gw-write-out');
      flow.send('bare-gw-read', { gateway, device, identifier: 'tx-power' });
      assert.equal((await flow.next('bare-gw-read-out')).payload, -4);
      flow.send('bare-timestamped-ack', { payload: 'no sample' });
      flow.send('bare-rename', { device: gateway, payload: 'Hall' });
      await flow.next('bare-rename-out');
      flow.send('bare-label', { payload: 'bare' });
      await flow.next('bare-label-out');
      flow.send('bare-device-list', { search: 'hall' });
      assert.equal((await flow.next('bare-device-list-out')).count, 1);
      flow.send('bare-service-request', { path: 'api/v1/labels' });
      const labels = (await flow.next('bare-service-request-out')).payload as { items: string[] };
      assert.ok(labels.items.includes('bare'));
    });
  });
}
