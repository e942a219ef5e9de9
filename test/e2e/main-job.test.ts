// The main job on a real Node-RED with the installed package: reports arrive, a property is read, devices are listed.
import assert from 'node:assert/strict';
import { type NodeConfig, sink, source, VERSIONS } from './node-red.ts';
import { isReady, openSite, type Site } from './site.ts';

const FLOW: NodeConfig[] = [
  { id: 'reports', type: 'mt-report-in', service: 'service', wires: [['report']] },
  sink('report'),
  source('ask', ['read']),
  { id: 'read', type: 'mt-gw-read', service: 'service', wires: [['answer']] },
  sink('answer'),
  source('list', ['devices']),
  { id: 'devices', type: 'mt-device-list', service: 'service', output: 'page', wires: [['page']] },
  sink('page'),
  { id: 'unset', type: 'mt-report-in', service: '', wires: [[]] },
  { id: 'idle', type: 'mt-label', service: 'service', wires: [[]] },
];

describe('the installed package', function () {
  this.timeout(120_000);
  for (const version of VERSIONS) {
    describe(`on ${version.name}`, () => {
      let site: Site;
      before(async () => {
        site = await openSite(version);
        await site.red.deploy([site.config, ...FLOW]);
        await site.red.status('reports', isReady);
      });
      after(() => site?.close());

      it('delivers a report that another client publishes', async () => {
        const { gateway, device } = site.service.demo;
        await site.report(gateway, device, 'measurement/8800', {
          time: '2024-05-01T10:00:00Z',
          seq: '7',
          value: '1234',
        });
        const { payload, topic, kind, identifier } = await site.red.next('report');
        assert.equal(topic, `mt/gateway/${gateway}/device/${device}/measurement/8800`);
        assert.deepEqual([kind, identifier], ['measurement', '8800']);
        assert.deepEqual(payload, {
          gateway,
          device,
          kind: 'measurement',
          form: 'raw',
          identifier: '8800',
          name: 'temperature',
          unit: '°C',
          time: '2024-05-01T10:00:00Z',
          seq: 7,
          value: 46.6,
          raw: '1234',
        });
      });

      it('tells a Catch node about a report that cannot be read, and goes on', async () => {
        const { gateway, device } = site.service.demo;
        await site.report(gateway, device, 'heartbeat', 'no JSON');
        assert.equal((await site.red.caught('reports')).code, 'BAD_REPORT');
        await site.report(gateway, device, 'heartbeat', { time: '2024-05-01T10:00:00Z', seq: 8, status: 0 });
        assert.equal((await site.red.next('report')).kind, 'heartbeat');
      });

      it('lets a Status node hear what a node shows from the start on', async () => {
        const shown = async (node: string) => {
          const { fill, text } = await site.red.status(node, () => true);
          return `${fill}: ${text}`;
        };
        assert.deepEqual([await shown('unset'), await shown('idle')], ['grey: no service', 'green: ready']);
      });

      it('reads a firmware version', async () => {
        site.red.send('ask', { ...site.service.demo, identifier: 'firmware-version', kept: 'as it was' });
        const { payload, kept, response } = await site.red.next('answer');
        assert.equal(payload, '3.4.1');
        assert.equal(kept, 'as it was');
        assert.equal((response as { status: number }).status, 0);
      });

      it('lists 250 devices in three pages', async () => {
        site.red.send('list', {});
        const pages = [await site.red.next('page'), await site.red.next('page'), await site.red.next('page')];
        assert.deepEqual(
          pages.map(({ count, complete }) => [count, complete]),
          [
            [100, undefined],
            [100, undefined],
            [50, true],
          ],
        );
        const ids = pages.flatMap(({ payload }) => (payload as { id: string }[]).map(({ id }) => id));
        assert.equal(new Set(ids).size, 250);
      });
    });
  }
});
