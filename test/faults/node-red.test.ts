// Node-RED is killed under traffic: no report of QoS 1 is lost that was not delivered to a flow.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type NodeConfig, type NodeRed, source, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { isReady } from '../e2e/site.ts';
import { DURABLE, type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { type Field, GATEWAY, openField } from './field.ts';
import { record, times } from './table.ts';
import { delivered } from './witness/witnessed.ts';

const RATE = 500;
const IN_FLIGHT = 50;
/** The moment of the kill is random: it falls while Node-RED connects, or into the traffic. */
const MAX_LIFE_MS = 3_000;

describe('Node-RED killed under traffic, with a persistent session and QoS 1', function () {
  this.timeout(0);
  let folder: string;
  let mosquitto: Mosquitto;
  let field: Field;
  let red: NodeRed;
  let settings: Record<string, unknown>;

  before(async function () {
    requirePrograms(this, 'mosquitto');
    folder = await mkdtemp(join(tmpdir(), 'mt-witness-'));
    settings = { nodesDir: join(import.meta.dirname, 'witness'), witnessFile: join(folder, 'reports') };
    await writeFile(join(folder, 'reports'), '');
    mosquitto = await startMosquitto(DURABLE);
    field = await openField(mosquitto.url);
    red = await startNodeRed(VERSIONS[0]!, settings);
  });
  after(async () => {
    await red?.stop();
    await field?.close();
    await mosquitto?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const flow = (): NodeConfig[] => [
    { id: 'service', type: 'mt-service', brokerUrl: mosquitto.url, persistent: true, keepalive: 5 },
    { id: 'reports', type: 'mt-report-in', service: 'service', wires: [['nothing']] },
    { id: 'nothing', type: 'function', func: 'return null;', wires: [[]] },
    source('ask', ['read']),
    // Every answer and every error is the next question.
    { id: 'read', type: 'mt-gw-read', service: 'service', timeout: 2_000, wires: [['read']] },
    { id: 'again', type: 'catch', scope: ['read'], wires: [['read']] },
  ];
  const ask = () => {
    for (let i = 0; i < IN_FLIGHT; i++) {
      red.send('ask', { gateway: GATEWAY, identifier: '8001' });
    }
  };

  it('delivers every report to a flow at least once', async () => {
    await red.deploy(flow());
    await red.status('reports', isReady);
    field.setRate(RATE);
    for (let life = 0; life < times(2, 20); life++) {
      ask();
      await wait(Math.random() * MAX_LIFE_MS);
      await red.kill();
      red = await startNodeRed(VERSIONS[0]!, settings, [], red);
    }
    field.setRate(0);
    await field.settled();
    const reports = await delivered(join(folder, 'reports'), 0, field.sent);
    record({ fault: 'Node-RED killed (SIGKILL) and started', times: times(2, 20), reports });
    assert.equal(reports.lost, 0);
  });
});
