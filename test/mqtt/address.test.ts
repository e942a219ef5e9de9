// Addresses of brokers: what MQTT.js is told, and what people see.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBrokerAddress, showBroker } from '../../src/mqtt/address.ts';
import { openSession } from '../session.ts';
import { useScriptedBroker } from './scripted.ts';

describe('the address of a broker', () => {
  const bench = useScriptedBroker();

  for (const [text, expected] of [
    ['mqtt://host:1883', { protocol: 'mqtt', host: 'host', port: 1883, isSecure: false }],
    ['mqtt://host', { protocol: 'mqtt', host: 'host', isSecure: false }],
    ['MQTTS://host:8883/path?clientId=x', { protocol: 'mqtts', host: 'host', port: 8883, isSecure: true }],
    ['mqtt://[::1]:1883', { protocol: 'mqtt', host: '::1', port: 1883, isSecure: false }],
    ['ws://[::1]:80/mqtt', { protocol: 'ws', host: '[::1]', path: '/mqtt', isSecure: false }],
    [
      'ws://host/mqtt?token=secret',
      { protocol: 'ws', host: 'host', path: '/mqtt?token=secret', isSecure: false },
    ],
    ['wss://host:444', { protocol: 'wss', host: 'host', port: 444, path: '/', isSecure: true }],
  ] as const) {
    it(`is taken apart: ${text}`, () => {
      const { hostname, ...address } = readBrokerAddress(text);
      assert.deepEqual(address, expected);
      assert.equal(hostname, expected.host);
    });
  }

  it('is refused when it is none', () => {
    for (const text of ['', 'host', 'http://host', 'mqtt://', 'mqtt:///x']) {
      assert.throws(() => readBrokerAddress(text), TypeError, text);
    }
    assert.throws(() => readBrokerAddress('http://host'), /not the address of a broker/);
  });

  it('is shown without login and query', () => {
    assert.equal(showBroker('mqtt://me:secret@host:1883/?token=secret#secret'), 'mqtt://host:1883/');
    assert.equal(showBroker('mqtt://me:sec\nret@host:1883/?token=sec\nret'), 'mqtt://host:1883/');
  });

  it('does not change the client id or the login by its query', async () => {
    const { broker } = bench;
    const url = `${broker.url}/?clientId=aabbccddeeff&username=other&clean=false&protocolVersion=5`;
    const session = bench.open({ brokers: [url], clientId: 'mt-own' });
    session.attach();
    const { packet } = await broker.next('connect');
    assert.deepEqual([packet.clientId, packet.username, packet.clean], ['mt-own', undefined, true]);
    assert.equal(JSON.stringify(session.state).includes('aabbccddeeff'), false);
  });

  it('gives its query to the handshake of a WebSocket', async () => {
    const asked = await new Promise<IncomingMessage>((resolve) => {
      const server = createServer().on('upgrade', (request, socket) => {
        socket.destroy();
        server.close();
        resolve(request);
        void session.close();
      });
      let session: ReturnType<typeof openSession>;
      server.listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo;
        session = openSession(`ws://127.0.0.1:${port}/mqtt?token=abc&clientId=aabbccddeeff`);
        session.attach();
      });
    });
    assert.equal(asked.url, '/mqtt?token=abc&clientId=aabbccddeeff');
  });
});
