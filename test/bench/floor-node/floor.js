// The floor: the least that any node could do for the same job, with the same libraries as ours.

const { createRequire } = require('node:module');
const { join } = require('node:path');

module.exports = (RED) => {
  const ours = createRequire(
    join(RED.settings.userDir, 'node_modules/@mt-gateway/node-red-mt-gateway/package.json'),
  );
  const ready = (node) => node.status({ fill: 'green', shape: 'dot', text: 'ready' });

  /** MQTT.js, JSON.parse, send. */
  RED.nodes.registerType('floor-reports', function Floor(config) {
    RED.nodes.createNode(this, config);
    const client = ours('mqtt').connect(config.broker);
    client.on('connect', () => client.subscribe(config.topics, { qos: 1 }, () => ready(this)));
    client.on('message', (topic, payload) => this.send({ topic, payload: JSON.parse(payload.toString()) }));
    this.on('close', (done) => client.end(true, done));
  });

  /** MQTT.js and a Map of what waits. */
  RED.nodes.registerType('floor-read', function FloorRead(config) {
    RED.nodes.createNode(this, config);
    const client = ours('mqtt').connect(config.broker);
    client.on('connect', () => client.stream.setNoDelay(true));
    const waiting = new Map();
    let count = 0;
    client.on('connect', () => client.subscribe('mt/gateway/+/response/#', { qos: 1 }, () => ready(this)));
    client.on('message', (_topic, payload) => {
      const response = JSON.parse(payload.toString());
      waiting.get(response.id)?.(response);
      waiting.delete(response.id);
    });
    this.on('input', (msg, send, done) => {
      const id = `${count++}`;
      waiting.set(id, (response) => {
        msg.payload = response.value;
        msg.response = response;
        send(msg);
        done();
      });
      const topic = `mt/gateway/${msg.gateway}/request/${msg.device}/read/${msg.identifier}`;
      client.publish(topic, JSON.stringify({ id }), { qos: 1 });
    });
    this.on('close', (done) => client.end(true, done));
  });

  /** Page after page with undici, nothing else. */
  RED.nodes.registerType('floor-list', function FloorList(config) {
    RED.nodes.createNode(this, config);
    const Agent = ours('undici/lib/dispatcher/agent.js');
    const { request } = ours('undici/lib/api/index.js');
    const agent = new Agent();
    const call = async (options) => {
      const { origin, pathname, search } = new URL(options.url);
      const answer = await request.call(agent, {
        origin,
        path: pathname + search,
        method: 'GET',
        ...options,
      });
      return JSON.parse(await answer.body.text());
    };
    this.on('input', async (msg, send, done) => {
      const headers = { 'content-type': 'application/json' };
      const login = { method: 'POST', headers, body: JSON.stringify(config.login) };
      const { authToken } = await call({ url: `${config.auth}/api/v1/auth/login`, ...login });
      const devices = [];
      let token;
      do {
        const url = new URL(`${config.base}/api/v1/devices?MaxResults=${config.pageSize}`);
        if (token !== undefined) {
          url.searchParams.set('NextToken', token);
        }
        const page = await call({ url, headers: { Authorization: `Bearer ${authToken}` } });
        for (const device of page.items) {
          devices.push(device);
        }
        token = page.nextToken;
      } while (token !== undefined);
      send(Object.assign(msg, { payload: devices, count: devices.length }));
      done();
    });
    this.on('close', (done) => void agent.close().then(done, done));
  });
};
