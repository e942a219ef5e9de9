// What reports have shown outlives a restart of Node-RED, where a context store is named.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NodeConfig, type NodeRed, sink, source, startNodeRed, VERSIONS } from './node-red.ts';
import { isReady, openSite, type Site } from './site.ts';

/** @param folder that one store writes to at once */
const storesIn = (folder: string) => ({
  contextStorage: {
    default: { module: 'memory' },
    disk: { module: 'localfilesystem' },
    broken: { module: 'localfilesystem', config: { dir: folder, cache: false } },
  },
});
const TIME = '2026-01-01T12:00:00.000Z';

for (const version of VERSIONS) {
  describe(`last values and watches over a restart (${version.name})`, function () {
    this.timeout(120_000);
    let site: Site;
    let folder: string;
    let successor: NodeRed | undefined;

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'mt-stores-'));
      site = await openSite(version, {}, storesIn(folder));
    });
    after(async () => {
      await successor?.stop();
      await site?.close();
      await rm(folder, { recursive: true, force: true });
    });

    const flow = (remember: string): NodeConfig[] => [
      { ...site.config, names: false, remember },
      { id: 'reports', type: 'mt-report-in', service: 'service', wires: [['report']] },
      sink('report'),
      source('ask', ['last']),
      { id: 'last', type: 'mt-last-value', service: 'service', wires: [['value']] },
      sink('value'),
      source('which', ['watch']),
      {
        id: 'watch',
        type: 'mt-device-watch',
        service: 'service',
        conditions: ['battery-low', 'error'],
        wires: [['changes']],
      },
      sink('changes'),
    ];

    it('says which stores keep nothing', async () => {
      for (const store of ['default', 'nowhere']) {
        await site.red.deploy(flow(store));
        await site.red.status('reports', isReady);
        assert.match(site.red.log(), new RegExp(`the context store ${store} (keeps nothing|is not in)`));
      }
    });

    it('go on without a store that fails, which is told once', async () => {
      const { gateway, device } = site.service.demo;
      // In the place of the folder for this node's context there is a file.
      const place = join(folder, 'context', 'service');
      await rm(place, { recursive: true, force: true });
      await mkdir(join(folder, 'context'), { recursive: true });
      await writeFile(place, '');
      for (const value of [1, 2]) {
        await site.red.deploy(flow('broken'));
        await site.red.status('reports', isReady);
        await site.report(gateway, device, 'measurement-decoded/humidity', { time: TIME, seq: value, value });
        await site.red.next('report');
        site.red.send('ask', { device, identifier: 'humidity' });
        assert.equal((await site.red.next('value')).payload, value);
      }
      const told = site.red.log().split('the context store broken has failed').length - 1;
      assert.ok(told === 1 || told === 2, site.red.log());
    });

    it('are known to the next process, with their age', async () => {
      await site.red.deploy(flow('disk'));
      await site.red.status('reports', isReady);
      const { gateway, device } = site.service.demo;
      await site.report(gateway, device, 'measurement-decoded/temperature', {
        time: TIME,
        seq: 1,
        value: 21.5,
      });
      await site.red.next('report');
      // Together, as a file in which they are indented, longer than any text may be.
      const deep = JSON.parse(`${'['.repeat(480)}${'1,'.repeat(60_000)}1${']'.repeat(480)}`) as unknown;
      for (let n = 0; n < 5; n++) {
        await site.report(gateway, device, `property-decoded/deep-${n}`, { time: TIME, value: deep });
        await site.red.next('report');
      }
      const asked = { device, identifier: 'temperature' };
      site.red.send('ask', asked);
      assert.equal((await site.red.next('value')).source, 'report');
      await site.report(gateway, device, 'property-decoded/battery-level', { time: TIME, value: 5 });
      // Later than in the same millisecond, so that one of them is the older.
      await site.red.next('report');
      await site.report(gateway, device, 'heartbeat', { time: TIME, seq: 1, status: 3 });
      for (const topic of ['battery-low', 'error']) {
        assert.equal((await site.red.next('changes')).topic, topic);
      }
      await site.red.shutDown();
      successor = await startNodeRed(version, storesIn(folder), [], site.red);
      await successor.status('reports', isReady);
      successor.send('ask', asked);
      const { payload, source: from, report, age } = await successor.next('value');
      assert.deepEqual([payload, from, (report as { time: string }).time], [21.5, 'stored', TIME]);
      assert.ok(Number(age) > 0 && Number(age) < 600, `${String(age)}`);
      successor.send('ask', { device, identifier: 'deep-0' });
      assert.deepEqual((await successor.next('value')).payload, deep);
    });

    it('tell nothing twice, and tell what has ended meanwhile', async () => {
      const { gateway, device } = site.service.demo;
      const red = successor as NodeRed;
      red.send('which', {});
      const { payload, count } = await red.next('changes');
      assert.equal(count, 2);
      const conditions = (payload as { condition: string; value: number }[]).map((one) => [
        one.condition,
        one.value,
      ]);
      assert.deepEqual(conditions, [
        ['battery-low', 5],
        ['error', 3],
      ]);
      await site.report(gateway, device, 'heartbeat', { time: TIME, seq: 2, status: 0 });
      const ended = (await red.next('changes')).payload as { condition: string; active: boolean };
      assert.deepEqual([ended.condition, ended.active], ['error', false]);
    });
  });
}
