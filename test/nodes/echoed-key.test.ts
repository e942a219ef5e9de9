// A gateway that repeats the network key of a request: nothing that people are shown of its response has the key.
import assert from 'node:assert/strict';
import { connectAsync, type MqttClient } from 'mqtt';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode } from './box-flow.ts';
import { describeNodes } from './flow.ts';

const GATEWAY = 'aabbccddeeff';
const KEY = '00112233445566778899aabbccddeeff';

/** What the gateway answers to a request of this id. */
const ANSWERS: Record<string, (id: string) => string> = {
  REQUEST_FAILED: (id) => JSON.stringify({ id, status: 7, errorMessage: `wrong key ${KEY.toUpperCase()}` }),
  BAD_RESPONSE: (id) => JSON.stringify({ id, status: 'bad', key: KEY }),
  'BAD_RESPONSE, not JSON': () => `${'x'.repeat(480)} ${KEY}`,
  'BAD_RESPONSE, in UTF-16': () => Buffer.from(`no ${KEY}`, 'utf16le').toString(),
};

describeNodes('a network key that a gateway repeats', (start) => {
  let box: Service;
  let gateway: MqttClient;
  let answer = (_id: string): string => '';

  before(async () => {
    box = await startService({ rest: false, rate: 0 });
    const { username, password } = box.credentials;
    gateway = await connectAsync(box.urls.mqtt, { username, password, clientId: GATEWAY });
    await gateway.subscribeAsync(`mt/gateway/${GATEWAY}/request/#`, { qos: 1 });
    gateway.on('message', (topic, payload) => {
      const { id } = JSON.parse(payload.toString()) as { id: string };
      gateway.publish(topic.replace('/request/', '/response/'), answer(id), { qos: 1 });
    });
  });

  after(async () => {
    await gateway.endAsync(true);
    await box.close();
  });

  for (const [when, body] of Object.entries(ANSWERS)) {
    it(`is in no status, no error and no answer to the editor: ${when}`, async () => {
      answer = body;
      const read = { id: 'n', type: 'mt-gw-read' };
      const flow = await start(flowAround(serviceNode(box), read), {
        credentials: { ...secretsOf(box), n: { key: KEY } },
      });
      const asked = { gateway: GATEWAY, device: GATEWAY, identifier: '8001' };
      flow.send('n', asked);
      const { error } = await flow.next('errors');
      const status = await flow.status('n', 'red');
      const response = await flow.post('/mt-service/svc/read', { ...asked, key: KEY });
      assert.equal(error?.code, when.split(',')[0]);
      assert.equal(response.status, 502);
      const shown = JSON.stringify([error, error?.message, status, response.body])
        .replaceAll('\\u0000', '')
        .toLowerCase();
      assert.match(shown, /\*\*\*/);
      assert.doesNotMatch(shown, /00112233/);
    });
  }
});
