// What the editor can ask a deployed service, over real HTTP.
import assert from 'node:assert/strict';
import { type Service, startService } from '../simulator/service.ts';
import { flowAround, secretsOf, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

interface Verdicts {
  rest: { ok: boolean; message: string; ms: number; skipped?: boolean };
  mqtt: { ok: boolean; message: string; ms: number; skipped?: boolean };
}

describeNodes('the admin endpoints', (start) => {
  let box: Service;

  before(async () => {
    box = await startService({ rate: 0, listed: 30 });
  });

  after(() => box.close());

  const run = (): Promise<Flow> =>
    start(flowAround(serviceNode(box), { id: 'n', type: 'mt-report-in' }), { credentials: secretsOf(box) });

  const typed = (more: object, credentials: object = { username: 'demo', password: '__PWRD__' }) => ({
    ...serviceNode(box),
    ...more,
    credentials,
  });

  it('find devices by a part of their name', async () => {
    const flow = await run();
    const wanted = box.devices[7]!;
    const q = encodeURIComponent(wanted.friendlyName.toUpperCase());
    const { status, body } = await flow.get(`/mt-service/svc/devices?q=${q}&limit=5`);
    assert.equal(status, 200);
    assert.deepEqual(body, [
      {
        id: wanted.id,
        mac: wanted.id.slice(5),
        name: wanted.friendlyName,
        labels: wanted.labels,
        connected: wanted.connectivity.connected,
        model: wanted.modelNumber,
      },
    ]);
  });

  it('show no more than was asked for', async () => {
    const flow = await run();
    const { body } = await flow.get('/mt-service/svc/devices?limit=3');
    assert.equal((body as unknown[]).length, 3);
  });

  it('tell what reports have shown', async () => {
    const flow = await run();
    await subscribed(box);
    const { gateway, device } = box.demo;
    await box.publish(gateway, device, 'measurement/8800', {
      time: new Date().toISOString(),
      seq: 1,
      value: '0001',
    });
    await flow.next('out');
    const seen = async (query: string) =>
      (await flow.get(`/mt-service/svc/seen?${query}`)).body as { id: string; count: number }[];
    assert.deepEqual(
      (await seen('what=gateways')).map(({ id, count }) => [id, count]),
      [[gateway, 1]],
    );
    assert.equal((await seen(`what=devices&gateway=${gateway}`))[0]?.id, device);
    assert.match((await seen(`what=identifiers&device=${device}`))[0]!.id, /8800|temperature/);
    assert.deepEqual(await seen('what=devices&q=nothing-like-it'), []);
  });

  it('answer 404 while the service is not deployed', async () => {
    const flow = await run();
    assert.equal((await flow.get('/mt-service/unknown/devices')).status, 404);
    assert.equal((await flow.get('/mt-service/n/seen?what=gateways')).status, 404);
  });

  it('preview the reports that unsaved settings would let through', async () => {
    const flow = await run();
    await subscribed(box);
    const settings = { kinds: ['heartbeat'], limit: 2 };
    assert.deepEqual((await flow.post('/mt-service/svc/preview', settings)).body, []);
    const { gateway, device } = box.demo;
    for (const seq of [1, 2, 3]) {
      await box.publish(gateway, device, 'heartbeat', { time: new Date().toISOString(), seq, status: 0 });
      await flow.next('out');
    }
    const { body } = await flow.post('/mt-service/svc/preview', settings);
    assert.deepEqual(
      (body as { seq: number }[]).map(({ seq }) => seq),
      [3, 2],
    );
  });

  it('name gateway and device of a previewed report, once the list of devices is known', async () => {
    const flow = await run();
    await subscribed(box);
    const { gateway, device } = box.demo;
    const { friendlyName } = box.devices.find(({ id }) => id === `bmac-${gateway}`)!;
    assert.equal((await flow.get('/mt-service/svc/devices?limit=1')).status, 200);
    await flow.post('/mt-service/svc/preview', {});
    await box.publish(gateway, device, 'heartbeat', { time: new Date().toISOString(), seq: 1, status: 0 });
    await flow.next('out');
    const { body } = await flow.post('/mt-service/svc/preview', {});
    const [row] = body as { gateway: string; gatewayName: string }[];
    assert.deepEqual([row?.gateway, row?.gatewayName], [gateway, friendlyName]);
  });

  it('name the field of a preview that cannot be read', async () => {
    const flow = await run();
    const { status, body } = await flow.post('/mt-service/svc/preview', { gateways: ['x'] });
    assert.equal(status, 400);
    assert.equal((body as { code: string }).code, 'INVALID_INPUT');
  });

  describe('the connection test', () => {
    const test = async (flow: Flow, body: object) =>
      (await flow.post('/mt-service/test', body)).body as Verdicts;

    it('tries both halves with the stored password', async () => {
      const flow = await run();
      const { rest, mqtt } = await test(flow, typed({}));
      assert.deepEqual([rest.ok, mqtt.ok], [true, true], JSON.stringify({ rest, mqtt }));
      assert.equal(typeof rest.ms, 'number');
    });

    it('does not send a stored password to another address', async () => {
      const flow = await run();
      box.forgetCalls();
      const other = `${box.urls.auth}/elsewhere`;
      const { rest } = await test(flow, typed({ authUrl: other, brokerUrl: '' }));
      assert.equal(rest.ok, false);
      assert.match(rest.message, /enter the password again/);
      assert.deepEqual(box.calls.rest, []);
    });

    it('does not send a stored broker password to another broker', async () => {
      const flow = await run();
      const { mqtt } = await test(
        flow,
        typed({ authUrl: '', baseUrl: '', brokerUrl: 'mqtt://localhost:1' }, { mqttPassword: '__PWRD__' }),
      );
      assert.equal(mqtt.ok, false);
      assert.match(mqtt.message, /enter the password again/);
    });

    it('tells in words what is wrong, and never shows a secret', async () => {
      const flow = await run();
      const verdicts = await test(
        flow,
        typed({ brokerUrl: 'mqtt://127.0.0.1:1' }, { username: 'demo', password: 'not-the-password' }),
      );
      assert.deepEqual([verdicts.rest.ok, verdicts.mqtt.ok], [false, false]);
      assert.match(verdicts.rest.message, /refused/);
      assert.match(verdicts.mqtt.message, /ECONNREFUSED/);
      assert.doesNotMatch(JSON.stringify(verdicts), /not-the-password/);
    });

    it('skips a half without an address', async () => {
      const flow = await run();
      const { rest, mqtt } = await test(flow, typed({ brokerUrl: ' ' }));
      assert.equal(rest.ok, true);
      assert.deepEqual([mqtt.ok, mqtt.skipped], [false, true]);
    });

    it('leaves the deployed connection alone', async () => {
      const flow = await run();
      await subscribed(box);
      await test(flow, typed({ authUrl: '', baseUrl: '', sharedGroup: 'group' }));
      const { gateway, device } = box.demo;
      await box.publish(gateway, device, 'heartbeat', { time: new Date().toISOString(), seq: 77, status: 0 });
      const msg = await flow.next('out', ({ report }) => (report as { seq: number }).seq === 77);
      assert.equal(msg.gateway, gateway);
      const ids = new Set(box.broker!.connects.map(({ clientId }) => clientId));
      assert.ok([...ids].some((id) => id.startsWith('mt-test-')));
    });
  });
});
