// mt-service in a flow: what its users see when something is missing or refused, and how it leaves.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { NodeAPI } from 'node-red';
import { upgrade } from '../../nodes/service/config.ts';
import { testConnection } from '../../nodes/service/connection-test.ts';
import { createSettings } from '../../nodes/service/settings.ts';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes } from './flow.ts';

describeNodes('mt-service', (start) => {
  let box: Service;

  beforeEach(async () => {
    box = await startService({ rate: 0, listed: 5 });
  });

  afterEach(() => box.close());

  const READ = { id: 'n', type: 'mt-gw-read', identifier: '8001', identifierType: 'str' };
  const LABEL = { id: 'l', type: 'mt-label' };
  const NOT_RUNNING = 'the selected service does not run: it is disabled or no longer there';

  for (const [title, service, message] of [
    ['no service is selected', '', 'no service is selected'],
    ['the service was deleted', 'gone', NOT_RUNNING],
    ['the service is disabled', 'off', NOT_RUNNING],
    ['another node is selected as the service', 'out', NOT_RUNNING],
  ] as const) {
    it(`is missing when ${title}, and the error says so`, async () => {
      const off = { ...serviceNode(box), id: 'off', d: true };
      const flow = await start([...flowAround(serviceNode(box), { ...READ, service }), off]);
      flow.send('n', { gateway: box.demo.gateway });
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause], ['NOT_CONFIGURED', { part: 'service' }]);
      assert.equal(error?.message, message);
      assert.deepEqual((await flow.status('n', 'grey')).shape, 'ring');
    });
  }

  it('is missing when a property of the subflow that names it is empty, and the error names the property', async () => {
    const flow = await start([
      ...flowAround(serviceNode(box), { id: 'instance', type: 'subflow:s', wires: [] }),
      {
        ...{ id: 's', type: 'subflow', name: 's', in: [{ wires: [{ id: 'n' }] }], out: [] },
        env: [{ name: 'SERVICE', type: 'mt-service', value: '' }],
      },
      { ...READ, z: 's', x: 1, y: 1, service: '${SERVICE}', wires: [[]] },
    ]);
    flow.send('instance', { gateway: box.demo.gateway });
    const { error } = await flow.next('errors');
    assert.deepEqual([error?.code, error?.cause], ['NOT_CONFIGURED', { part: 'service' }]);
    assert.equal(error?.message, 'the service comes from a variable: ${SERVICE} is not set');
  });

  it('tells which half is empty', async () => {
    const rest = await start(flowAround(serviceNode(box, { brokerUrl: '' }), READ, LABEL), {
      credentials: secretsOf(box),
    });
    rest.send('n', { gateway: box.demo.gateway });
    const { error } = await rest.next('errors');
    assert.deepEqual([error?.code, error?.cause], ['NOT_CONFIGURED', { part: 'mqtt' }]);
    rest.send('l', { payload: 'works' });
    assert.deepEqual((await rest.next('out')).payload, { label: 'works' });
  });

  for (const [half, mistake, field, broken, working] of [
    ['broker', { topicPrefix: 'site/#' }, 'topicPrefix', READ, LABEL],
    ['broker', { keepalive: 70_000 }, 'keepalive', READ, LABEL],
    ['portal', { authHeader: 'no header' }, 'authHeader', LABEL, READ],
    ['portal', { authHeader: '${MT_NOT_SET}' }, 'authHeader', LABEL, READ],
    ['portal', { baseUrl: 'portal.example/api' }, 'baseUrl', LABEL, READ],
  ] as const) {
    it(`works with its other half when the ${half} has a mistake in ${field}, and tells it once`, async () => {
      const REPORTS = { id: 'r', type: 'mt-report-in' };
      const WATCH = { id: 'w', type: 'mt-device-watch' };
      const around = flowAround(serviceNode(box, mistake), READ, LABEL, REPORTS, WATCH);
      const flow = await start(around, { credentials: secretsOf(box) });
      const own = await flow.inbox('errors').next(({ error }) => error?.source?.id === 'svc');
      assert.deepEqual([own.error?.code, own.error?.cause?.field], ['INVALID_INPUT', field]);
      assert.match((await flow.status(broken.id, 'red')).text ?? '', /^invalid: /);

      flow.send(broken.id, { gateway: box.demo.gateway, payload: 'x', _msgid: 'm' });
      const { error, _msgid } = await flow
        .inbox('errors')
        .next(({ error }) => error?.source?.id === broken.id);
      assert.deepEqual([error?.code, error?.cause?.field, _msgid], ['INVALID_INPUT', field, 'm']);

      flow.send(working.id, { gateway: box.demo.gateway, payload: 'works', _msgid: 'w' });
      assert.equal((await flow.inbox('out').next(({ _msgid }) => _msgid === 'w'))._msgid, 'w');
      await flow.status('r', half === 'broker' ? 'red' : 'green');
      await flow.status('w', half === 'broker' ? 'red' : 'grey');
      const told = flow.inbox('errors').all.map(({ error }) => error?.source?.id);
      assert.deepEqual(told, ['svc', broken.id]);
    });
  }

  it('tells once which variable of an address is not set', async () => {
    const around = flowAround(serviceNode(box, { brokerUrl: '${MT_NOT_SET}' }), READ, LABEL);
    const flow = await start(around, { credentials: secretsOf(box) });
    const { error } = await flow.next('errors');
    assert.deepEqual([error?.code, error?.cause], ['NOT_CONFIGURED', { part: 'mqtt' }]);
    assert.match(error?.message ?? '', /\$\{MT_NOT_SET\}/);
    flow.send('l', { payload: 'works' });
    assert.deepEqual((await flow.next('out')).payload, { label: 'works' });
    assert.equal(flow.inbox('errors').all.length, 1);
  });

  it('does not say of a variable that is too long for an address that it is not set', async () => {
    process.env.MT_LONG = 'x'.repeat(1_000_001);
    const flow = await start(flowAround(serviceNode(box, { brokerUrl: '${MT_LONG}' }), READ));
    delete process.env.MT_LONG;
    const { error } = await flow.next('errors');
    assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', 'brokerUrl']);
  });

  for (const brokerUrl of [
    'mqtt://user:s3cret@${MT_NOT_SET}:1883',
    'wss://${MT_NOT_SET}/mqtt?token=s3cret',
    'mqtt://user:s3,cret@a,mqtt://${MT_NOT_SET}',
  ]) {
    it(`shows neither login nor query of ${brokerUrl}, in which a variable is not set`, async () => {
      const flow = await start(flowAround(serviceNode(box, { brokerUrl }), READ));
      const { error } = await flow.next('errors');
      assert.equal(error?.code, 'INVALID_INPUT');
      assert.doesNotMatch(`${error?.message} ${JSON.stringify(error?.cause)}`, /s3|cret/);
    });
  }

  it('tells a mistake once more, and once, with a deploy that brings nodes which cannot work because of it', async () => {
    const service = serviceNode(box, { keepalive: 70_000 });
    const flow = await start(flowAround(service, LABEL), { credentials: secretsOf(box) });
    await flow.next('errors');
    const IN = { id: 'r', type: 'mt-report-in' };
    const WATCH = { id: 'w', type: 'mt-device-watch' };
    await flow.deploy(flowAround(service, LABEL, IN, WATCH), 'nodes', secretsOf(box));
    await flow.next('errors');
    flow.send(LABEL.id, { payload: 'works' });
    await flow.next('out');
    const told = flow.inbox('errors').all.map(({ error }) => error?.source?.id);
    assert.deepEqual(told, ['svc', 'svc']);
  });

  it('with a mistake in the broker half tells the editor why no network is shown, and lists its devices', async () => {
    const around = flowAround(serviceNode(box, { sharedGroup: 'a/b' }));
    const flow = await start(around, { credentials: secretsOf(box) });
    const shown = await flow.get('/mt-service/svc/network');
    assert.deepEqual([shown.status, (shown.body as { code?: string }).code], [400, 'INVALID_INPUT']);
    const listed = await flow.get('/mt-service/svc/devices');
    assert.equal((listed.body as unknown[]).length, 5);
  });

  it('is missed by a node without input in its status, with one warning', async () => {
    const warnings: unknown[] = [];
    const listen = (RED: NodeAPI) => {
      const handler = {
        emit: (_: string, { level, id, msg }: { level: number; id?: string; msg?: unknown }) =>
          level === RED.log.WARN && id === 'n' && warnings.push(msg),
      };
      RED.log.addHandler(handler as never);
    };
    const around = flowAround(serviceNode(box), { id: 'n', type: 'mt-report-in', service: '' });
    const flow = await start(around, { nodes: [listen as never] });
    assert.equal((await flow.status('n', 'grey')).text, 'no service');
    assert.equal(warnings.length, 1);
  });

  it('hands a mistake in its settings to Catch nodes, and its users refuse to work', async () => {
    const flow = await start(flowAround(serviceNode(box, { identifiers: '[{"id":"zz"}]' }), READ));
    const own = await flow.next('errors');
    assert.deepEqual([own.error?.code, own.error?.cause?.field], ['INVALID_INPUT', 'identifiers']);
    flow.send('n', { gateway: box.demo.gateway, _msgid: 'm' });
    const users = await flow.next('errors');
    assert.deepEqual([users.error?.code, users._msgid], ['INVALID_INPUT', 'm']);
  });

  it('shows in its users that the broker refuses the login, and tells the Catch nodes once', async () => {
    box.broker!.faults.refuseLogin = true;
    const flow = await start(flowAround(serviceNode(box), { id: 'n', type: 'mt-report-in' }), {
      credentials: { svc: { mqttUsername: 'me', mqttPassword: 'my-secret' } },
    });
    const { error } = await flow.next('errors');
    assert.equal(error?.code, 'NOT_CONNECTED');
    assert.equal((await flow.status('n', 'red')).shape, 'ring');
    assert.doesNotMatch(JSON.stringify(flow.statuses('n').all), /my-secret/);
  });

  it('fills in environment variables inside its addresses and credentials', async () => {
    process.env.MT_TEST_PORT = new URL(box.urls.mqtt).port;
    process.env.MT_TEST_USER = box.credentials.username;
    const brokerUrl = 'mqtt://127.0.0.1:${MT_TEST_PORT}';
    const username = '${MT_TEST_USER}';
    const flow = await start(
      flowAround(serviceNode(box, { brokerUrl }), READ, { id: 'l', type: 'mt-label' }),
      {
        credentials: { svc: { ...box.credentials, username } },
      },
    );
    flow.send('n', { ...box.demo });
    assert.equal((await flow.next('out')).payload, '3.4.1');
    flow.send('l', { payload: 'x' });
    assert.deepEqual((await flow.next('out')).payload, { label: 'x' });
  });

  it('has a client id of its own that stays the same and is never like a MAC', async () => {
    const flow = await start(flowAround(serviceNode(box), READ));
    flow.send('n', { ...box.demo });
    await flow.next('out');
    const [first] = box.broker!.connects;
    assert.match(first!.clientId, /^mt-[0-9a-f]{18}$/);
    await flow.node('svc').close(false);
  });

  it('refuses a client id that is like the MAC of a gateway', async () => {
    const flow = await start(flowAround(serviceNode(box, { clientId: 'C0141F68FC3D' }), READ));
    const { error } = await flow.next('errors');
    assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', 'clientId']);
  });

  for (const brokerUrl of ['http://broker.example', 'mqtt://me:my-secret@broker.example']) {
    it(`refuses the broker address ${brokerUrl}, without repeating a password`, async () => {
      const flow = await start(flowAround(serviceNode(box, { brokerUrl }), READ));
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', 'brokerUrl']);
      assert.doesNotMatch(JSON.stringify(error), /my-secret/);
    });
  }

  for (const [brokerUrl, words] of [
    ['mqtt://127.0.0.1:99999', /has a port that is no number/],
    ['mqtt://127.0.0.1:0', /has a port that is no number/],
    ['ws://127.0.0.1:0/mqtt', /has a port that is no number/],
    ['127.0.0.1:port', /has a port that is no number/],
    ['wss://[::1]:99999/mqtt', /has a port that is no number/],
    ['mqtt://:99999', /must begin with .* and name a host/],
  ] as const) {
    it(`says of the broker address ${brokerUrl} what is wrong with it`, async () => {
      const flow = await start(flowAround(serviceNode(box, { brokerUrl }), READ));
      const { error } = await flow.next('errors');
      assert.match(String(error?.message), words);
    });
  }

  for (const [missing, given] of [
    ['authUrl', 'baseUrl'],
    ['baseUrl', 'authUrl'],
  ] as const) {
    it(`says which of the two REST addresses is missing: ${missing}`, async () => {
      const service = serviceNode(box, { [missing]: '' });
      const flow = await start(flowAround(service, LABEL), { credentials: secretsOf(box) });
      flow.send('l', { payload: 'x' });
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause], ['NOT_CONFIGURED', { part: 'rest' }]);
      assert.ok(error?.message.includes(missing) && !error.message.includes(given), error?.message);
    });
  }

  it('takes no part of a query for a broker, and shows nothing of it', async () => {
    const brokerUrl = 'wss://broker.example/mqtt?policy=abc,my-secret';
    const flow = await start(flowAround(serviceNode(box, { brokerUrl }), READ));
    const { error } = await flow.next('errors');
    assert.deepEqual([error?.code, error?.cause], ['INVALID_INPUT', { field: 'brokerUrl', value: '…' }]);
    assert.doesNotMatch(JSON.stringify([error, flow.statuses('n').all]), /secret|abc/);
  });

  for (const [property, start] of [
    ['authUrl', 'http://'],
    ['baseUrl', 'https://'],
    ['brokerUrl', 'mqtt://'],
  ] as const) {
    it(`takes an address of 10 000 characters, and none that is longer: ${property}`, () => {
      const create = (length: number) =>
        createSettings(
          { settings: {} } as NodeAPI,
          'svc',
          upgrade({ clientId: 'a', [property]: start.padEnd(length, 'a') }),
          {},
        );
      create(10_000);
      assert.throws(() => create(10_001), { code: 'INVALID_INPUT', cause: { field: property, value: '…' } });
    });
  }

  for (const property of ['username', 'password'] as const) {
    it(`takes a login of 10 000 characters, and none that is longer: ${property}`, () => {
      const create = (length: number) =>
        createSettings({ settings: {} } as NodeAPI, 'svc', upgrade({ baseUrl: 'http://a' }), {
          [property]: 's'.repeat(length),
        });
      create(10_000);
      assert.throws(() => create(10_001), { code: 'INVALID_INPUT', cause: { field: property, value: '…' } });
    });
  }

  for (const authHeader of ['Content-Length', 'host', 'Transfer-Encoding', 'Expect', 'Accept', 'a b']) {
    it(`refuses a header that cannot carry the token: ${authHeader}`, async () => {
      const flow = await start(flowAround(serviceNode(box, { authHeader }), READ));
      const { error } = await flow.next('errors');
      assert.deepEqual(
        [error?.code, error?.cause],
        ['INVALID_INPUT', { field: 'authHeader', value: authHeader }],
      );
    });
  }

  for (const [property, value] of [
    ['pageTokenParam', 'MaxResults'],
    ['attachPath', 'api/v1/labels'],
    ['attachPath', '../{device}/labels'],
    ['pageTokenParam', 'a\ud800'],
    ['brokerUrl', 'mqtt://localhost:1 mqtt://localhost:2'],
    ['topicPrefix', 'site/+'],
    ['topicPrefix', 'site/#'],
    ['topicPrefix', 'site\u0000'],
    ['sharedGroup', 'a/b'],
    ['sharedGroup', 'a+'],
    ['sharedGroup', '#'],
    ['sharedGroup', 'a\n'],
    ['keepalive', 70_000],
    ['keepalive', 30.5],
    ['keepalive', -1],
    ['keepalive', '30.5'],
    ['keepalive', 'long'],
    ['clientId', 'mt\u0000'],
  ] as const) {
    it(`refuses what no broker could ever be used with: ${property} ${JSON.stringify(value)}`, async () => {
      const flow = await start(flowAround(serviceNode(box, { [property]: value }), READ));
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', property]);
    });
  }

  for (const [brokerProfile, property, value, told] of [
    ['aws-iot', 'reportQos', 2, /AWS IoT Core/],
    ['azure-event-grid', 'keepalive', 1_200, /1160 with Azure Event Grid/],
    ['nats', 'protocolVersion', 5, /NATS only speaks MQTT 3\.1\.1/],
    ['rabbitmq', 'sharedGroup', 'site', /RabbitMQ has no shared subscriptions/],
  ] as const) {
    it(`refuses what ${brokerProfile} forbids, by its name: ${property} ${value}`, async () => {
      const service = serviceNode(box, { brokerProfile, [property]: value });
      const flow = await start(flowAround(service, READ));
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause], ['INVALID_INPUT', { field: property, value }]);
      assert.match(String(error?.message), told);
    });
  }

  it('works with the limits of its profile, and with those that are set by hand before them', () => {
    const limitsOf = (saved: object) =>
      createSettings(
        { settings: {} } as NodeAPI,
        'svc',
        upgrade({ clientId: 'a', brokerUrl: 'mqtt://broker', ...saved }),
        {},
      ).mqtt?.limits;
    const known = { brokerProfile: 'aws-iot', maxUnacknowledged: '7' };
    const { maxSubscriptions, maxUnacknowledged } = limitsOf(known) ?? {};
    assert.deepEqual([maxSubscriptions, maxUnacknowledged], [50, 7]);
    assert.equal(limitsOf({ maxSubscriptions: 20 })?.maxSubscriptions, 20);
    assert.equal(limitsOf({})?.maxSubscriptions, undefined);
  });

  for (const brokerUrl of [
    'http://host/?token=s3cret',
    'mqtt://me@host/?token=s3cret',
    'ws:///?token=s3cret',
  ]) {
    it(`shows no query of an address that it refuses: ${brokerUrl}`, async () => {
      const flow = await start(flowAround(serviceNode(box, { brokerUrl }), READ));
      const { error } = await flow.next('errors');
      assert.equal(error?.code, 'INVALID_INPUT');
      assert.ok(!JSON.stringify(error).includes('s3cret'), JSON.stringify(error));
    });
  }

  it('shows no query of an address that it uses', async () => {
    const brokerUrl = 'mqtt://127.0.0.1:1/?token=s3cret';
    const flow = await start(
      flowAround(serviceNode(box, { brokerUrl, requestTimeout: 10 }), { ...READ, timeout: '10' }),
    );
    flow.send('n', { gateway: box.demo.gateway });
    const { error } = await flow.next('errors');
    assert.deepEqual([error?.code, error?.cause], ['NOT_CONNECTED', { broker: 'mqtt://127.0.0.1:1/' }]);
    assert.ok(!JSON.stringify([error, flow.statuses('n').all]).includes('s3cret'));
  });

  it('takes a broker address without a scheme for mqtt://', async () => {
    const brokerUrl = box.urls.mqtt.replace('mqtt://', '');
    const flow = await start(flowAround(serviceNode(box, { brokerUrl }), READ));
    flow.send('n', { gateway: box.demo.gateway });
    assert.equal(typeof (await flow.next('out')).payload, 'string');
  });

  it('is named to another one that nodes use with the same client id, once in the log and by its connection test', async () => {
    const same = { clientId: 'mt-same' };
    const others = ['two', 'unused'].map((id) => serviceNode(box, { ...same, id, name: `Name of ${id}` }));
    const service = serviceNode(box, same);
    const IN = { id: 'n', type: 'mt-report-in' };
    const flow = await start([...flowAround(service, IN), ...others]);
    const told: string[] = [];
    for (const id of ['svc', 'two', 'unused']) {
      // What the connection says is of no interest.
      flow.node(id).warn = (text) =>
        /^[\w ]+ connects .* client id, mt-same:/.test(String(text)) && told.push(`${id}: ${text}`);
    }
    const moved = [...flowAround(service, { ...IN, service: 'two' }), ...others];
    const both = [...flowAround(service, IN, { ...IN, id: 'm', service: 'two' }), ...others];
    const lines = async (...deploys: object[][]) => {
      for (const nodes of deploys) {
        await flow.deploy(nodes, 'nodes');
      }
      return told.splice(0).map((text) => text.split(' connects')[0]);
    };
    // A connection that nobody needs any more is still there then.
    assert.deepEqual(await lines(moved), []);
    assert.deepEqual(await lines(both, [...both, { id: 'g', type: 'tab' }]), [
      'svc: Name of two',
      'two: svc',
    ]);
    assert.deepEqual(await lines(moved, both), ['svc: Name of two', 'two: svc']);
    const tested = await flow.post('/mt-service/test', { ...service, authUrl: '', baseUrl: '' });
    const { mqtt } = tested.body as { mqtt: { message: string; doubtful?: boolean } };
    assert.match(mqtt.message, /; Name of two has the same client id at this broker/);
    assert.equal(mqtt.doubtful, true);
  });

  it('is named by the connection test of somebody who may not deploy for the deployed client id, and not for a guess', async () => {
    process.env.MT_SAME = 'mt-hidden';
    const [service, two] = ['svc', 'two'].map((id) =>
      serviceNode(box, { id, clientId: '${MT_SAME}', authUrl: '', baseUrl: '' }),
    ) as [object, object];
    let RED: NodeAPI | undefined;
    const capture = (given: NodeAPI) => {
      RED = given;
    };
    await start([...flowAround(service, { id: 'n', type: 'mt-report-in', service: 'two' }), two], {
      nodes: [capture],
    });
    const isNamed = async (more: object, mayDeploy: boolean) =>
      (await testConnection(RED as NodeAPI, { ...service, ...more }, mayDeploy)).mqtt.message.includes(
        'two has the same client id',
      );
    const guess = { clientId: 'mt-hidden' };
    const named = await Promise.all([
      isNamed({}, false),
      isNamed(guess, false),
      isNamed({ ...guess, id: 'new' }, false),
      isNamed(guess, true),
    ]);
    delete process.env.MT_SAME;
    assert.deepEqual(named, [true, false, false, true]);
  });

  it('leaves the broker when it is closed', async () => {
    const flow = await start(flowAround(serviceNode(box), { id: 'n', type: 'mt-report-in' }));
    await subscribed(box);
    await Promise.all([flow.node('n').close(true), flow.node('svc').close(true)]);
    while (box.broker!.subscriptions.size > 0) {
      await turn();
    }
  });
});
