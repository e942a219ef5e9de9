// What the editor can ask a deployed service, over real HTTP.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type Answer, json, startServer } from '../rest/server.ts';
import { flowAround, secretsOf, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

interface Verdicts {
  rest: { ok: boolean; message: string; ms: number; skipped?: boolean };
  mqtt: { ok: boolean; message: string; ms: number; skipped?: boolean; doubtful?: boolean };
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

  for (const [title, list, properties] of [
    ['the service cannot start', 'devices', { identifiers: '${MT_SECRET}' }],
    ['nothing can be received', 'network', { topicPrefix: '${MT_SECRET}+' }],
    ['a call cannot begin', 'devices', { authHeader: '${MT_SECRET}: x' }],
    ['a call cannot begin', 'labels', { authHeader: '${MT_SECRET}: x' }],
  ] as const) {
    it(`show nothing of a variable because of which ${title}, but the property (${list})`, async () => {
      process.env.MT_SECRET = 'top-secret';
      const flow = await start(
        flowAround(serviceNode(box, properties), { id: 'n', type: 'mt-device-list' }),
        { credentials: secretsOf(box) },
      );
      const { status, body } = await flow.get(`/mt-service/svc/${list}`);
      delete process.env.MT_SECRET;
      assert.equal(status, 400);
      assert.doesNotMatch(JSON.stringify(body), /top-secret/);
      assert.match((body as { message: string }).message, /…$/);
    });
  }

  it('show nothing of a variable that holds a long list, and go on', async () => {
    const entry = (i: number) => ({
      id: (0x9000 + (i % 128) + 256 * Math.floor(i / 128)).toString(16),
      name: `mine-of-many-properties-${i}`,
      type: 'u16',
      unit: '°C',
    });
    process.env.MT_LONG = JSON.stringify(Array.from({ length: 250 }, (_, i) => entry(i)));
    process.env.MT_HOST = 'secret-host.invalid';
    const url = 'http://${MT_HOST}:1';
    const more = { authUrl: url, baseUrl: url, httpRetries: 0, identifiers: '${MT_LONG}' };
    const flow = await start(flowAround(serviceNode(box, more), { id: 'n', type: 'mt-device-list' }), {
      credentials: secretsOf(box),
    });
    const { status, body } = await flow.get('/mt-service/svc/devices');
    delete process.env.MT_LONG;
    delete process.env.MT_HOST;
    const { code, message } = body as { code: string; message: string };
    assert.deepEqual([status, code], [502, 'NETWORK']);
    assert.doesNotMatch(message, /secret-host|mine/);
  });

  it('show nothing at all of an error where variables hold more than can be looked for', async () => {
    process.env.MT_LONG = `secret-host.invalid,${'x'.repeat(100_000)}`;
    const more = { authUrl: 'http://secret-host.invalid:1', baseUrl: 'http://secret-host.invalid:1' };
    const rest = { ...more, httpRetries: 0, mqttUsername: '${MT_LONG}' };
    const flow = await start(flowAround(serviceNode(box, rest), { id: 'n', type: 'mt-device-list' }), {
      credentials: { ...secretsOf(box), svc: { ...secretsOf(box).svc, mqttUsername: '${MT_LONG}' } },
    });
    const { body } = await flow.get('/mt-service/svc/devices');
    delete process.env.MT_LONG;
    assert.doesNotMatch((body as { message: string }).message, /secret-host/);
  });

  it('show what was asked for as it was, whatever the variables of the service hold', async () => {
    process.env.MT_HELD = 'swordfish';
    const flow = await start(flowAround(serviceNode(box), { id: 'n', type: 'mt-report-in' }), {
      credentials: { svc: { ...secretsOf(box).svc, mqttUsername: '${MT_HELD}' } },
    });
    // A mark in its place would tell, letter by letter, who asks for more and more of it.
    const asked = async (guess: string) =>
      (await flow.post('/mt-service/svc/preview', { gateways: [guess] })).body as { message: string };
    const told = await Promise.all(['swordfish', 'xswo', 'other'].map(asked));
    delete process.env.MT_HELD;
    assert.deepEqual(
      told.map(({ message }) => message.split(' ').at(-1)),
      ['swordfish', 'xswo', 'other'],
    );
  });

  it('show nothing of a variable in the address of a service that cannot be reached', async () => {
    process.env.MT_HOST = 'secret-host.invalid';
    const url = 'http://${MT_HOST}:1';
    const more = { authUrl: url, baseUrl: url, httpRetries: 0 };
    const flow = await start(flowAround(serviceNode(box, more), { id: 'n', type: 'mt-device-list' }), {
      credentials: secretsOf(box),
    });
    const { status, body } = await flow.get('/mt-service/svc/devices');
    delete process.env.MT_HOST;
    const { code, message } = body as { code: string; message: string };
    assert.deepEqual([status, code], [502, 'NETWORK']);
    assert.doesNotMatch(message, /secret-host/);
  });

  it('show nothing of a variable where the body of a response has what it holds, also cut at its end', async () => {
    process.env.MT_HELD = 'secret/value';
    const rest = `${'x'.repeat(439)} secret/value`;
    const server = await startServer((_, response) => {
      json(response, { a: '/secret/value', b: '%2FSecret%2Fvalue', rest }, 500);
    });
    const url = `${server.url}/\${MT_HELD}`;
    const more = { authUrl: server.url, baseUrl: url, httpRetries: 0 };
    const flow = await start(flowAround(serviceNode(box, more), { id: 'n', type: 'mt-device-list' }), {
      credentials: secretsOf(box),
    });
    const { body } = await flow.get('/mt-service/svc/devices');
    delete process.env.MT_HELD;
    await server.stop();
    const { message } = body as { message: string };
    assert.match(message, /status 500 \(GET …\/api\/v1\/devices\): \{"a":"\/…","b":"%2F…","rest":"x{439} …$/);
  });

  it('say after 8 seconds that a list is still loading, and have it when they are asked again', async () => {
    let release = (): void => undefined;
    const slow = await startServer((_, response) => {
      release = () => json(response, { items: [{ id: 'bmac-c0141f68fc3d' }] });
    });
    const addresses = { authUrl: slow.url, baseUrl: slow.url, brokerUrl: '' };
    const flow = await start(flowAround(serviceNode(box, addresses), { id: 'n', type: 'mt-device-list' }), {
      credentials: secretsOf(box),
    });
    const [first, labels] = await Promise.all([
      flow.get('/mt-service/svc/devices'),
      flow.get('/mt-service/svc/labels'),
    ]);
    assert.deepEqual([first.status, first.body, labels.status], [202, { loading: true }, 202]);
    release();
    const { status, body } = await flow.get('/mt-service/svc/devices');
    assert.deepEqual([status, (body as object[]).length, slow.calls.length], [200, 1, 1]);
    await slow.stop();
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

  it('preview all that has passed since somebody looks, where no number is given', async () => {
    const flow = await run();
    await subscribed(box);
    await flow.post('/mt-service/svc/preview', {});
    const { gateway, device } = box.demo;
    for (let seq = 0; seq < 60; seq++) {
      await box.publish(gateway, device, 'heartbeat', { time: new Date().toISOString(), seq, status: 0 });
      await flow.next('out');
    }
    const { body } = await flow.post('/mt-service/svc/preview', {});
    assert.deepEqual(
      (body as { seq: number }[]).map(({ seq }) => seq),
      Array.from({ length: 60 }, (_, n) => 59 - n),
    );
  });

  it('preview at once what has passed a node last, read as the settings of the panel say', async () => {
    const flow = await run();
    await subscribed(box);
    const { gateway, device } = box.demo;
    const measurement = { time: new Date().toISOString(), seq: 1, value: '1234' };
    await box.publish(gateway, device, 'measurement/8800', measurement);
    await flow.next('out');
    const first = async (settings: object) => {
      const { body } = await flow.post('/mt-service/svc/preview', settings);
      return (body as { value?: unknown; form?: string; topic: string }[]).map(({ value }) => value);
    };
    assert.deepEqual(await first({ decode: false }), ['1234']);
    const [decoded, ...others] = await first({ decode: true });
    assert.deepEqual([typeof decoded, others], ['number', []]);
    assert.deepEqual(await first({ kinds: ['heartbeat'] }), []);
  });

  it('preview at once what another panel shows', async () => {
    const flow = await run();
    await subscribed(box);
    const { gateway, device } = box.demo;
    await flow.post('/mt-service/svc/preview', {});
    for (const [seq, kind] of ['heartbeat', 'event', 'heartbeat', 'heartbeat', 'event'].entries()) {
      const time = new Date(Date.UTC(2026, 0, 1, 0, 0, seq)).toISOString();
      await box.publish(gateway, device, kind, { time, seq, status: 0, value: '01', event: 1 });
      await flow.next('out');
    }
    const { body } = await flow.post('/mt-service/svc/preview', { kinds: ['heartbeat'] });
    assert.deepEqual(
      (body as { seq: number }[]).map(({ seq }) => seq),
      [3, 2, 0],
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

  describe('a preview', () => {
    const place = { id: 'f', type: 'tab', env: [{ name: 'KINDS', type: 'str', value: 'heartbeat,event' }] };
    const runWithEnv = async (): Promise<Flow> => {
      const flow = flowAround(serviceNode(box), { id: 'n', type: 'mt-report-in' });
      return start([place, ...flow.slice(1)], { credentials: secretsOf(box) });
    };
    const heard = async (flow: Flow, kind: string, payload: object) => {
      const { gateway, device } = box.demo;
      await box.publish(gateway, device, kind, { time: new Date().toISOString(), seq: 1, ...payload });
      await flow.next('out');
    };

    it('fills variables from the environment of the node that the panel is of, as the runtime does', async () => {
      const flow = await runWithEnv();
      await subscribed(box);
      const settings = { node: 'n', kinds: '${KINDS}', gateways: [] };
      assert.deepEqual((await flow.post('/mt-service/svc/preview', settings)).body, []);
      await heard(flow, 'measurement/8800', { value: '0001' });
      await heard(flow, 'heartbeat', { status: 0 });
      const { body } = await flow.post('/mt-service/svc/preview', settings);
      assert.deepEqual(
        (body as { kind: string }[]).map(({ kind }) => kind),
        ['heartbeat'],
      );
    });

    it('fills them for a node that is not deployed yet from a neighbour on its flow', async () => {
      const flow = await runWithEnv();
      const { status } = await flow.post('/mt-service/svc/preview', {
        node: 'new',
        z: 'f',
        kinds: ['${KINDS}'],
      });
      assert.equal(status, 200);
    });

    it('names a variable that is not set, and shows nothing of one that is', async () => {
      const flow = await runWithEnv();
      const unset = await flow.post('/mt-service/svc/preview', { gateways: ['${MT_UNSET}'] });
      assert.deepEqual([unset.status, (unset.body as { code: string }).code], [400, 'INVALID_INPUT']);
      const { message } = unset.body as { message: string };
      assert.equal(message, 'gateways comes from ${MT_UNSET}, which brings nothing');
      process.env.MT_PRIVATE = 'my-secret';
      for (const settings of [
        { gateways: ['${MT_PRIVATE}'] },
        { gateways: [['${MT_PRIVATE}']] },
        { gateways: 'x${MT_PRIVATE}' },
        { devices: { a: '${MT_PRIVATE}' } },
        { kinds: [['${MT_PRIVATE}']] },
        { identifiers: [['${MT_PRIVATE}+']] },
      ]) {
        const odd = await flow.post('/mt-service/svc/preview', settings);
        assert.equal(odd.status, 400);
        assert.match(JSON.stringify(odd.body), /MT_PRIVATE/);
        assert.doesNotMatch(JSON.stringify(odd.body), /my-secret/);
      }
      delete process.env.MT_PRIVATE;
    });

    it('looks at the labels no more often than a node does, whatever it is asked', async () => {
      const flow = await run();
      box.forgetCalls();
      const settings = { labels: ['oslo-lab'], labelRefresh: 0 };
      await flow.post('/mt-service/svc/preview', settings);
      const lists = () => box.calls.rest.filter(({ method }) => method === 'GET').length;
      while (lists() === 0) {
        await once(box.events, 'rest');
      }
      const asked = lists();
      // Whoever asked without a pause would ask as often as the previews here.
      for (let count = 0; count < 50; count++) {
        await flow.post('/mt-service/svc/preview', settings);
      }
      assert.ok(lists() <= asked + 1, `${lists()} calls`);
    });

    it('of no reports shows none', async () => {
      const flow = await run();
      await subscribed(box);
      await flow.post('/mt-service/svc/preview', { limit: 0 });
      await heard(flow, 'heartbeat', { status: 0 });
      assert.deepEqual((await flow.post('/mt-service/svc/preview', { limit: 0 })).body, []);
    });
  });

  describe('a test report', () => {
    const report = { ...{ kind: 'measurement', form: 'raw', value: 21.5, time: 't' } };
    const topic = 'mt/gateway/x/device/y/measurement/8800';
    const send = (flow: Flow, body: object) => flow.post('/mt-service/svc/test-report', body);

    it('leaves the node as its settings make a message, marked as a test', async () => {
      const { gateway, device } = box.demo;
      const flow = await start(
        flowAround(serviceNode(box), { id: 'n', type: 'mt-report-in', output: 'value', kinds: ['event'] }),
        { credentials: secretsOf(box) },
      );
      const { status, body } = await send(flow, {
        node: 'n',
        topic,
        report: { ...box.demo, ...report, test: false },
      });
      assert.deepEqual([status, body], [200, { sent: true }]);
      const msg = await flow.next('out');
      assert.deepEqual([msg.payload, msg.topic], [21.5, topic]);
      assert.deepEqual(
        { ...msg, _msgid: '' },
        { ...{ topic, payload: 21.5, gateway, device, kind: 'measurement', _msgid: '' }, report: msg.report },
      );
      assert.equal((msg.report as { test: boolean }).test, true);
    });

    for (const [names, words] of [
      [true, 'carries names of devices where the reports of the service do'],
      [false, 'carries no names of devices where the reports of the service have none'],
    ] as const) {
      it(words, async () => {
        const flow = await start(flowAround(serviceNode(box, { names }), { id: 'n', type: 'mt-report-in' }), {
          credentials: secretsOf(box),
        });
        const shown = { ...box.demo, ...report, deviceName: 'Pump', gatewayName: 'Cellar' };
        await send(flow, { node: 'n', topic, report: shown });
        const { deviceName, gatewayName } = (await flow.next('out')).report as Partial<typeof shown>;
        assert.deepEqual([deviceName, gatewayName], names ? ['Pump', 'Cellar'] : [undefined, undefined]);
      });
    }

    it('goes nowhere when the node does not run', async () => {
      const flow = await run();
      for (const node of ['other', undefined, '__proto__', 'svc']) {
        const answer = await send(flow, { node, topic, report: { ...box.demo, ...report } });
        assert.deepEqual([answer.status, answer.body], [200, { sent: false }]);
      }
      assert.equal((await flow.post('/mt-service/gone/test-report', {})).status, 404);
    });

    it('that is none, or that Node-RED could not copy, is refused', async () => {
      const flow = await run();
      let deep: unknown = 1;
      for (let depth = 0; depth < 101; depth++) {
        deep = [deep];
      }
      const whole = { ...box.demo, ...report };
      for (const body of [
        { node: 'n', topic },
        { node: 'n', topic: 1, report: whole },
        { node: 'n', topic, report: [] },
        { node: 'n', topic, report: { ...whole, device: undefined } },
        { node: 'n', topic, report: { ...whole, value: deep } },
      ]) {
        const answer = await send(flow, body);
        assert.deepEqual([answer.status, (answer.body as { code: string }).code], [400, 'INVALID_INPUT']);
      }
    });
  });

  describe('the button of report in', () => {
    const press = (flow: Flow, body: object) => flow.post('/mt-service/svc/try', body);
    const startWith = async (more: object) => {
      const flow = await start(flowAround(serviceNode(box), { id: 'n', type: 'mt-report-in', ...more }), {
        credentials: secretsOf(box),
      });
      await subscribed(box);
      return flow;
    };

    it('sends a report that is made up, when none has passed yet', async () => {
      const flow = await startWith({ identifiers: ['temperature'], devices: [box.demo.device] });
      const { body } = await press(flow, { node: 'n' });
      const { report } = await flow.next('out');
      const { test, device, value } = report as Record<string, unknown>;
      assert.deepEqual([test, device, value], [true, box.demo.device, 21.5]);
      const { sent, isMadeUp, report: told } = body as Record<string, { name?: string; value?: unknown }>;
      assert.deepEqual([sent, isMadeUp, told?.name, told?.value], [true, true, 'temperature', 21.5]);
    });

    it('sends the newest report that has passed once more, as it was when it came', async () => {
      const flow = await startWith({ kinds: ['measurement'] });
      const { gateway, device } = box.demo;
      const time = new Date().toISOString();
      await box.publish(gateway, device, 'measurement/8800', { time, seq: 3, value: '0866' });
      const first = await flow.next('out');
      // A flow may do with its report what it likes.
      (first.report as Record<string, unknown>).value = 'changed';
      const { body } = await press(flow, { node: 'n' });
      assert.equal((body as { isMadeUp: boolean }).isMadeUp, false);
      const again = await flow.next('out');
      const { test, ...report } = again.report as Record<string, unknown>;
      assert.deepEqual([test, again.topic], [true, first.topic]);
      assert.deepEqual(report, { ...(first.report as object), value: 21.5 });
    });

    it('sends one with the value that is given, of the device that has reported', async () => {
      const flow = await startWith({ kinds: ['measurement'] });
      const { gateway, device } = box.demo;
      await box.publish(gateway, device, 'measurement/8802', { time: 't', seq: 3, value: '0258' });
      await flow.next('out');
      await press(flow, { node: 'n', value: 75 });
      const { report } = await flow.next('out');
      const { test, device: of, name, value } = report as Record<string, unknown>;
      assert.deepEqual([test, of, name, value], [true, device, 'humidity', 75]);
      const refused = await press(flow, { node: 'n', value: 'wet' });
      assert.deepEqual([refused.status, (refused.body as { code: string }).code], [400, 'INVALID_INPUT']);
    });

    it('says of which device it will be, and is of that one though another has reported meanwhile', async () => {
      const flow = await startWith({ kinds: ['measurement'] });
      const [{ gateway, device }, other] = [box.demo, box.gateways[1]!.mac];
      await box.publish(gateway, device, 'measurement/8802', { time: 't', seq: 3, value: '0258' });
      await flow.next('out');
      const asked = (await press(flow, { node: 'n', ask: true })).body as Record<string, unknown>;
      const told = asked.report as Record<string, unknown>;
      assert.deepEqual([asked.sent, told.device, told.value], [false, device, 60]);
      await box.publish(other, other, 'measurement/8800', { time: 't', seq: 4, value: '0866' });
      await flow.next('out');
      await press(flow, { node: 'n', value: 75, topic: asked.topic });
      const { report } = await flow.next('out');
      const { device: of, name, value } = report as Record<string, unknown>;
      assert.deepEqual([of, name, value], [device, 'humidity', 75]);
    });

    it('is of no device that the filter leaves out, also where none has passed yet', async () => {
      const { gateway, device } = box.demo;
      const flow = await startWith({ devices: [device] });
      const { topic } = (await press(flow, { node: 'n', ask: true })).body as { topic: string };
      for (const wrong of [topic.replace(device, gateway), 'elsewhere', 7]) {
        const refused = await press(flow, { node: 'n', value: 75, topic: wrong });
        assert.deepEqual([refused.status, (refused.body as { code: string }).code], [400, 'INVALID_INPUT']);
      }
      await press(flow, { node: 'n', value: 75, topic });
      assert.equal(((await flow.next('out')).report as { device: string }).device, device);
      assert.equal(flow.inbox('out').all.length, 1);
    });

    it('goes nowhere when the node does not run', async () => {
      const flow = await run();
      const { status, body } = await press(flow, { node: 'other' });
      assert.deepEqual([status, body], [200, { sent: false }]);
    });
  });

  it('find the service inside a subflow by its id in the template, as long as an instance runs', async () => {
    const template = { id: 's', type: 'subflow', name: 's', in: [], out: [] };
    const inside = { ...serviceNode(box), id: 'inner', z: 's' };
    const flow = await start(
      [
        { id: 'f', type: 'tab' },
        template,
        inside,
        { id: 'in', z: 's', x: 1, y: 1, type: 'mt-report-in', service: 'inner', wires: [] },
        { id: 'instance', z: 'f', x: 1, y: 1, type: 'subflow:s', wires: [] },
      ],
      { credentials: { inner: { ...box.credentials } } },
    );
    const { status, body } = await flow.get('/mt-service/inner/devices?limit=2');
    assert.deepEqual([status, (body as unknown[]).length], [200, 2]);
    const settings = { node: 'in', z: 's' };
    assert.equal((await flow.post('/mt-service/inner/preview', settings)).status, 200);
    await flow.deploy([{ id: 'f', type: 'tab' }, template, inside], 'full');
    assert.equal((await flow.get('/mt-service/inner/devices')).status, 404);
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
      assert.match(verdicts.mqtt.message, /nothing answers at 127\.0\.0\.1:/);
      assert.doesNotMatch(JSON.stringify(verdicts), /not-the-password/);
    });

    it('shows in an error what was typed, and not what a variable in it holds', async () => {
      process.env.MT_SECRET = 'top-secret';
      const flow = await run();
      const verdicts = await test(flow, typed({ topicPrefix: '${MT_SECRET}#', baseUrl: 'x:${MT_SECRET}' }));
      delete process.env.MT_SECRET;
      const told = JSON.stringify(verdicts);
      assert.doesNotMatch(told, /top-secret/);
      assert.match(verdicts.mqtt.message, /\$\{MT_SECRET\}#/);
    });

    for (const [title, held, address, secret, shown] of [
      ['a host', 'secret-host.invalid', 'mqtt://${MT_HELD}:1', /secret-host/, '${MT_HELD}'],
      ['a whole address', 'mqtt://secret-host.invalid:1', '${MT_HELD}', /secret-host/, '${MT_HELD}'],
      ['several addresses', 'secret-host.invalid:1,secret-b.invalid', '${MT_HELD}', /secret/, '${MT_HELD}'],
      [
        'a part of a host',
        'Secret',
        'mqtt://a-${MT_HELD}-b.invalid:1',
        /secret/i,
        'a-${MT_HELD}-b.invalid:1',
      ],
      ['a host in another spelling', '127.1', 'mqtt://${MT_HELD}:1', /127|0\.1/, '${MT_HELD}:1'],
      ['a port', '9', 'mqtt://127.0.0.1:${MT_HELD}', /:9/, '127.0.0.1:${MT_HELD}'],
    ] as const) {
      it(`shows the variable that holds ${title}, and not what it holds`, async () => {
        process.env.MT_HELD = held;
        const flow = await run();
        const { mqtt, rest } = await test(flow, typed({ brokerUrl: address, authUrl: '', baseUrl: '' }));
        delete process.env.MT_HELD;
        assert.deepEqual([mqtt.ok, rest.skipped], [false, true]);
        assert.doesNotMatch(mqtt.message, secret);
        assert.ok(mqtt.message.includes(shown), mqtt.message);
      });
    }

    it('names the variables that are not set in addresses', async () => {
      const flow = await run();
      const { mqtt, rest } = await test(
        flow,
        typed({ brokerUrl: '${MT_NO_BROKER}', authUrl: '${MT_NO_LOGIN}', baseUrl: '' }),
      );
      assert.deepEqual([mqtt.ok, mqtt.skipped, rest.ok, rest.skipped], [false, undefined, false, undefined]);
      assert.match(mqtt.message, /\$\{MT_NO_BROKER\} is not set/);
      assert.match(rest.message, /\$\{MT_NO_LOGIN\} is not set/);
    });

    for (const address of [
      '://user:top-secret@${MT_NOWHERE}:1',
      '://127.0.0.1:1/mqtt?token=top-secret&x=${MT_NOWHERE}',
      '://127.0.0.1:1,mqtt://user:top-secret@${MT_NOWHERE}:1',
      '://${MT_NOWHERE}:1,mqtt://user:top-secret@127.0.0.1:1',
      '://user:top-secret${MT_NOWHERE}@127.0.0.1:1',
    ]) {
      it(`names the variable that is not set in ${address} without a login and a query`, async () => {
        const flow = await run();
        const [brokerUrl, baseUrl] = [`ws${address}`, `http${address}`];
        const told = JSON.stringify(await test(flow, typed({ brokerUrl, authUrl: baseUrl, baseUrl })));
        assert.equal(told.split('${MT_NOWHERE}').length, 3, told);
        assert.doesNotMatch(told, /top-secret/);
      });
    }

    it('shows no part of a password that looks like a variable', async () => {
      const flow = await run();
      const brokerUrl = 'mqtt://user:p${TOP,SECRET}x@127.0.0.1:1';
      const { mqtt } = await test(flow, typed({ brokerUrl, authUrl: '', baseUrl: '' }));
      assert.equal(mqtt.ok, false);
      assert.doesNotMatch(mqtt.message, /SECRET/);
    });

    it('names a variable that is not set behind many addresses', async () => {
      const flow = await run();
      const brokerUrl = `${'mqtt://a-long-name.invalid:1883,'.repeat(4)}mqtt://\${MT_NOWHERE}`;
      const { mqtt } = await test(flow, typed({ brokerUrl, authUrl: '', baseUrl: '' }));
      assert.match(mqtt.message, /\$\{MT_NOWHERE\}/);
    });

    it('takes credentials that are null as none', async () => {
      const flow = await run();
      const body = { ...serviceNode(box), brokerUrl: '', credentials: null };
      const answer = await flow.post('/mt-service/test', body);
      assert.equal(answer.status, 200);
      assert.equal((answer.body as Verdicts).rest.message, 'error.NOT_CONFIGURED.credentials');
    });

    it('says of a service that is slow with every call that it did not answer in time', async () => {
      const timers: NodeJS.Timeout[] = [];
      const late =
        (answer: Answer): Answer =>
        (request, response) =>
          void timers.push(setTimeout(() => answer(request, response), 4_200));
      const slow = await startServer(late((_, response) => json(response, {}, 401)));
      slow.login = late(slow.login);
      const flow = await run();
      const body = { authUrl: slow.url, baseUrl: slow.url, credentials: { username: 'a', password: 'b' } };
      const { rest } = (await flow.post('/mt-service/test', body)).body as Verdicts;
      timers.forEach(clearTimeout);
      await slow.stop();
      assert.equal(rest.message, 'error.NETWORK.timeout');
    });

    it('skips a half without an address', async () => {
      const flow = await run();
      const { rest, mqtt } = await test(flow, typed({ brokerUrl: ' ' }));
      assert.equal(rest.ok, true);
      assert.deepEqual([mqtt.ok, mqtt.skipped], [false, true]);
    });

    it('goes over the deployed connection of the same user, and names what only a deploy tries', async () => {
      const flow = await run();
      await subscribed(box);
      const before = box.broker!.connects.length;
      const tested = test(flow, typed({ authUrl: '', baseUrl: '', sharedGroup: 'group' }));
      const { gateway, device } = box.demo;
      let isDone = false;
      const done = tested.finally(() => {
        isDone = true;
      });
      // What comes before the question has arrived does not count.
      while (!isDone) {
        await box.publish(gateway, device, 'heartbeat', {
          time: new Date().toISOString(),
          seq: 77,
          status: 0,
        });
        await flow.next('out');
        await wait(100);
      }
      const { mqtt } = await done;
      assert.equal(
        mqtt.message,
        'connected, 1 gateways heard in 3 s; subscriptions in use: 1, needed: 1; ' +
          'asked over the deployed connection; tried only by a deploy: Shared group',
      );
      assert.deepEqual([mqtt.ok, mqtt.doubtful, box.broker!.connects.length], [true, true, before]);
    });

    it('doubts the topic prefix below which nothing is heard, without showing what a variable in it holds', async () => {
      process.env.MT_PLANT = 'plant-seven';
      const body = typed({ authUrl: '', baseUrl: '', topicPrefix: '${MT_PLANT}' });
      const { mqtt } = await test(await run(), { ...body, id: 'new' });
      delete process.env.MT_PLANT;
      assert.deepEqual([mqtt.ok, mqtt.doubtful], [true, true]);
      assert.match(mqtt.message, /nothing was heard in 3 s below \$\{MT_PLANT\}\/mt\/gateway\/…;/);
      assert.match(mqtt.message, /; is the topic prefix right\?$/);
    });

    it('doubts no topic prefix below which this network was heard before', async () => {
      const flow = await run();
      await subscribed(box);
      const body = typed({ authUrl: '', baseUrl: '' });
      const asAnother = { ...body, credentials: { mqttUsername: 'somebody', mqttPassword: '__PWRD__' } };
      const doubts = async () => {
        const both = await Promise.all([test(flow, body), test(flow, asAnother)]);
        return both.map(({ mqtt }) => {
          assert.match(mqtt.message, /^connected, nothing was heard in 3 s below mt\/gateway\/…/);
          return [mqtt.ok, mqtt.doubtful, mqtt.message.includes('prefix')];
        });
      };
      const doubted = [true, true, true];
      assert.deepEqual(await doubts(), [doubted, doubted]);
      await box.publish(box.demo.gateway, box.demo.device, 'heartbeat', { time: 't', seq: 1, status: 0 });
      await flow.next('out');
      const fine = [true, undefined, false];
      assert.deepEqual(await doubts(), [fine, fine]);
    });

    it('says of each broker of a list how it is, and doubts the list where one cannot be used', async () => {
      const flow = await run();
      const { url } = box.broker!;
      const body = typed({ authUrl: '', baseUrl: '', brokerUrl: `mqtt://127.0.0.1:1, ${url}` });
      let isDone = false;
      const done = test(flow, { ...body, id: 'new', credentials: {} }).finally(() => {
        isDone = true;
      });
      const { gateway, device } = box.demo;
      while (!isDone) {
        await box.publish(gateway, device, 'heartbeat', { time: 't', seq: 1, status: 0 });
        await wait(100);
      }
      const { mqtt } = await done;
      assert.deepEqual([mqtt.ok, mqtt.doubtful], [true, true]);
      assert.match(mqtt.message, /^connected, 1 gateways heard in 3 s; mqtt:\/\/127\.0\.0\.1:1: nothing /);
      assert.ok(mqtt.message.endsWith(`; ${url}: connected`), mqtt.message);
    });

    it('doubts no topic prefix where the nodes ask for what comes seldom, and says that it was not heard', async () => {
      const RARE = { id: 'n', type: 'mt-report-in', kinds: ['event'] };
      const flow = await start(flowAround(serviceNode(box), RARE), { credentials: secretsOf(box) });
      await subscribed(box);
      const body = typed({ authUrl: '', baseUrl: '' });
      const asAnother = { ...body, credentials: { mqttUsername: 'somebody', mqttPassword: '__PWRD__' } };
      for (const { mqtt } of await Promise.all([test(flow, body), test(flow, asAnother)])) {
        assert.match(mqtt.message, /^connected, nothing of what the nodes ask for was heard in 3 s;/);
        assert.deepEqual([mqtt.ok, mqtt.doubtful], [true, undefined]);
      }
    });

    it('tries another password of the connected user, and leaves the deployed connection alone', async () => {
      const flow = await run();
      await subscribed(box);
      const { faults, connects } = box.broker!;
      faults.refuseLogin = true;
      const before = connects.length;
      const body = typed({ authUrl: '', baseUrl: '' }, { mqttPassword: 'wrong' });
      const { mqtt } = await test(flow, body);
      faults.refuseLogin = false;
      assert.deepEqual([mqtt.ok, mqtt.doubtful], [false, undefined]);
      assert.match(mqtt.message, /user name or password is wrong/);
      assert.equal(connects.length, before + 1);
      const { mqtt: asDeployed } = await test(flow, typed({ authUrl: '', baseUrl: '' }));
      assert.match(asDeployed.message, /asked over the deployed connection/);
    });

    it('of another user has a connection of its own, whose id begins like the deployed one', async () => {
      const flow = await run();
      await subscribed(box);
      const deployed = box.broker!.connects.at(-1)!.clientId;
      const body = typed(
        { authUrl: '', baseUrl: '' },
        { mqttUsername: 'somebody', mqttPassword: '__PWRD__' },
      );
      await test(flow, body);
      const { clientId } = box.broker!.connects.at(-1)!;
      assert.notEqual(clientId, deployed);
      assert.equal(clientId.slice(0, 18), deployed.slice(0, 18));
    });
  });
});
