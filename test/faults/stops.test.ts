// Node-RED is stopped as an administrator does it, while flows are behind: what no flow had comes again after the start.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectAsync, type MqttClient } from 'mqtt';
import { type NodeConfig, type NodeRed, sink, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { isReady } from '../e2e/site.ts';
import { type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { heartbeat, reportTopic } from '../mqtt/scripted.ts';
import { requirePrograms } from '../requirements.ts';
import { record, times } from './table.ts';

const STOPS = times(2, 50);
/** Twice as many as Mosquitto sends before it has an acknowledgement: of the second half none has gone through. */
const REPORTS = 40;
const BUSY_MS = 15;

describe('Node-RED stopped while flows are behind, with a persistent session and QoS 1', function () {
  this.timeout(0);
  let mosquitto: Mosquitto;
  let gateway: MqttClient;
  let red: NodeRed;

  before(async function () {
    requirePrograms(this, 'mosquitto');
    mosquitto = await startMosquitto();
    gateway = await connectAsync(mosquitto.url);
    red = await startNodeRed(VERSIONS[0]!, { functionExternalModules: true });
  });
  after(async () => {
    await red?.stop();
    await gateway?.endAsync();
    await mosquitto?.stop();
  });

  const flow = (): NodeConfig[] => [
    { id: 'service', type: 'mt-service', brokerUrl: mosquitto.url, persistent: true },
    { id: 'reports', type: 'mt-report-in', service: 'service', wires: [['slow']] },
    {
      id: 'slow',
      type: 'function',
      func: `const end = Date.now() + ${BUSY_MS};
        while (Date.now() < end);
        fs.appendFileSync('arrived', \`\${msg.payload.number}\\n\`);
        return msg;`,
      libs: [{ var: 'fs', module: 'fs' }],
      outputs: 1,
      wires: [['out']],
    },
    sink('out'),
  ];
  const arrived = async () =>
    new Set((await readFile(join(red.userDir, 'arrived'), 'utf8')).trim().split('\n').map(Number));

  it('costs no report', async () => {
    await red.deploy(flow());
    let sent = 0;
    for (let stop = 0; stop < STOPS; stop++) {
      await red.status('reports', isReady);
      for (let i = 0; i < REPORTS; i++) {
        const report = { ...heartbeat(i), number: sent++ };
        await gateway.publishAsync(reportTopic('heartbeat'), JSON.stringify(report), { qos: 1 });
      }
      await red.next('out');
      await red.shutDown();
      red = await startNodeRed(VERSIONS[0]!, { functionExternalModules: true }, [], red);
    }
    await red.next('out', ({ payload }) => (payload as { number: number }).number === sent - 1);
    const { size } = await arrived();
    record({
      fault: 'Node-RED stopped (SIGTERM), flows behind',
      times: STOPS,
      reports: { sent, arrived: size, lost: sent - size, duplicated: 0 },
    });
    assert.equal(size, sent);
  });
});
