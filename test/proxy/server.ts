// A real, small HTTP proxy for tests: CONNECT with or without a login, every tunnel counted, and faults on demand.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface TestProxy {
  /** Without a login. */
  url: string;
  /** Host and port, as they are shown to people. */
  shown: string;
  /** Where each CONNECT wanted to go, refused ones too. */
  asked: string[];
  /** `Proxy-Authorization` of each CONNECT. */
  logins: (string | undefined)[];
  /** Sockets that clients have to the proxy now. */
  clients: Set<Socket>;
  /** Replaces what CONNECT does; undefined: opens the tunnel. */
  answer: ((client: Duplex, request: IncomingMessage) => void) | undefined;
  /** Resolves with the next CONNECT, or at once when there were as many as that. */
  connected(count: number): Promise<void>;
  /** Resolves when no client is connected any more. */
  idle(): Promise<void>;
  /** Cuts every tunnel. */
  cut(): void;
  stop(): Promise<void>;
}

export interface TestProxyOptions {
  username?: string;
  password?: string;
  tls?: { key: string; cert: string };
}

export const refuse = (status: string) => (client: Duplex) => {
  client.end(`HTTP/1.1 ${status}\r\n\r\n`);
};

export async function startProxy({ username, password, tls }: TestProxyOptions = {}): Promise<TestProxy> {
  const server: Server = tls ? createSecureServer(tls) : createServer();
  const expected = username !== undefined ? basic(username, password ?? '') : undefined;
  const hosts = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    proxy.clients.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      proxy.clients.delete(socket);
      server.emit('left');
    });
  });
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on('error', () => {});
    proxy.asked.push(request.url ?? '');
    proxy.logins.push(request.headers['proxy-authorization']);
    server.emit('asked');
    if (proxy.answer) {
      // A server's socket that nobody reads does not notice its end, and stays half open after it.
      client.resume().once('end', () => client.end());
      proxy.answer(client, request);
    } else if (expected !== undefined && request.headers['proxy-authorization'] !== expected) {
      refuse('407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="test"')(client);
    } else {
      tunnel(request.url ?? '', client, head, hosts);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = `${tls ? 'localhost' : '127.0.0.1'}:${port}`;
  const cut = () => {
    for (const socket of [...proxy.clients, ...hosts]) {
      socket.destroy();
    }
  };
  const proxy: TestProxy = {
    url: `${tls ? 'https' : 'http'}://${host}`,
    shown: host,
    asked: [],
    logins: [],
    clients: new Set(),
    answer: undefined,
    async connected(count) {
      while (proxy.asked.length < count) {
        await once(server, 'asked');
      }
    },
    async idle() {
      while (proxy.clients.size > 0) {
        await once(server, 'left');
      }
    },
    cut,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
  return proxy;
}

export const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

function tunnel(target: string, client: Duplex, head: Buffer, hosts: Set<Socket>): void {
  const { hostname, port } = new URL(`http://${target}`);
  const host = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || 80 });
  hosts.add(host);
  host.once('connect', () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    host.write(head);
    host.pipe(client).pipe(host);
  });
  host.on('error', () => client.writable && client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  host.once('close', () => {
    hosts.delete(host);
    client.end(() => client.destroy());
  });
  client.once('close', () => host.destroy());
}
