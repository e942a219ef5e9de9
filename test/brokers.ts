// The brokers that the engine is tested against: aedes in this process, and a real Mosquitto.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { Aedes, type AedesOptions } from 'aedes';
import { freePort, startMosquitto } from './mosquitto.ts';
import { requirePrograms } from './requirements.ts';

export interface Broker {
  url: string;
  /** Cuts every connection and refuses new ones until `start`. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export const BROKERS: Record<string, (context: Mocha.Context) => Promise<Broker>> = {
  aedes: () => startAedes(),
  Mosquitto: (context) => {
    requirePrograms(context, 'mosquitto', 'mosquitto_pub');
    // Without it a response waits 40 ms behind the broker's own acknowledgement of the request.
    return startMosquitto(['set_tcp_nodelay true']);
  },
};

export async function startAedes(options: AedesOptions = {}): Promise<Broker> {
  const port = await freePort();
  const aedes = await Aedes.createBroker(options);
  const sockets = new Set<Socket>();
  let server = listen();
  function listen() {
    return createServer((socket) => {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      aedes.handle(socket);
    }).listen(port, '127.0.0.1');
  }
  await once(server, 'listening');
  const kill = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) {
      socket.destroy();
    }
    await closed;
  };
  return {
    url: `mqtt://127.0.0.1:${port}`,
    kill,
    async start() {
      server = listen();
      await once(server, 'listening');
    },
    async stop() {
      await kill();
      await new Promise<void>((resolve) => aedes.close(() => resolve()));
    },
  };
}
