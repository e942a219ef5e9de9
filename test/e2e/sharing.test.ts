// Two Node-RED instances in one shared group: every report is taken once, and answers find who asked.
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { type NodeConfig, type NodeRed, sink, source, startNodeRed, VERSIONS } from './node-red.ts';
import { isReady } from './site.ts';

const REPORTS = 400;
const READS = 50;

describe('two instances in one shared group', function () {
  this.timeout(120_000);
  let mosquitto: Mosquitto;
  let service: Service;
  let instances: NodeRed[];

  const flow = (): NodeConfig[] => [
    { id: 'service', type: 'mt-service', brokerUrl: mosquitto.url, sharedGroup: 'group' },
    { id: 'reports', type: 'mt-report-in', service: 'service', wires: [['report']] },
    sink('report'),
    source('ask', ['read']),
    { id: 'read', type: 'mt-gw-read', service: 'service', wires: [['answer']] },
    sink('answer'),
  ];

  before(async function () {
    requirePrograms(this, 'mosquitto', 'mosquitto_pub');
    mosquitto = await startMosquitto();
    service = await startService({ brokerUrl: mosquitto.url, rate: 0, delay: 0 });
    instances = await Promise.all(VERSIONS.map((version) => startNodeRed(version)));
    await Promise.all(
      instances.map(async (red) => {
        await red.deploy(flow());
        await red.status('reports', isReady);
      }),
    );
  });

  after(async () => {
    await Promise.all((instances ?? []).map((red) => red.stop()));
    await service?.close();
    await mosquitto?.stop();
  });

  it('takes every report exactly once, each its part', async () => {
    const { gateway, device } = service.demo;
    const seen = new Map<number, number>();
    const counts = [0, 0];
    const collected = Promise.all(
      instances.map(async (red, i) => {
        for (;;) {
          const report = (await red.next('report')).report as { number?: number; last?: boolean };
          if (report.last) {
            return;
          }
          counts[i] = (counts[i] ?? 0) + 1;
          seen.set(report.number ?? -1, (seen.get(report.number ?? -1) ?? 0) + 1);
        }
      }),
    );
    const time = '2024-05-01T10:00:00Z';
    for (let number = 0; number < REPORTS; number++) {
      await service.publish(gateway, device, 'heartbeat', { time, seq: number % 256, status: 0, number });
    }
    // Mosquitto hands shared messages round in turn and in order, so each of the two gets an end.
    for (let i = 0; i < 2; i++) {
      await mosquitto.publish(`mt/gateway/${gateway}/device/${device}/heartbeat`, {
        time,
        seq: 0,
        status: 0,
        last: true,
      });
    }
    await collected;
    assert.equal(seen.size, REPORTS);
    assert.ok([...seen.values()].every((times) => times === 1));
    assert.ok(counts.every((count) => count > 0));
  });

  it('loses no response, whoever asks', async () => {
    const { gateway, device } = service.demo;
    const identifiers = ['model-number', 'firmware-version'];
    await Promise.all(
      instances.map(async (red, i) => {
        for (let question = 0; question < READS; question++) {
          red.send('ask', { gateway, device, identifier: identifiers[i], question: `${i}-${question}` });
        }
        const questions = new Set<unknown>();
        while (questions.size < READS) {
          const { question, response } = await red.next('answer');
          assert.equal((response as { name: string }).name, identifiers[i]);
          questions.add(question);
        }
        assert.ok([...questions].every((question) => String(question).startsWith(`${i}-`)));
      }),
    );
  });
});
