// Whether what the sockets of this process have sent to each other has arrived: kernels deliver when they can.
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

const clients = new Set<Socket>();
/** By the ports of both ends, the client's first. */
const accepted = new Map<string, Socket>();

subscribe('net.client.socket', (message) => {
  const { socket } = message as { socket: Socket };
  clients.add(socket);
  socket.once('close', () => clients.delete(socket));
});
subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: Socket };
  const ports = `${socket.remotePort} ${socket.localPort}`;
  accepted.set(ports, socket);
  socket.once('close', () => accepted.get(ports) === socket && accepted.delete(ports));
});

/** Of what one end has sent, the other has not read all. What does not read at all is not waited for. */
const isOnItsWay = (from: Socket, to: Socket): boolean =>
  to.readableFlowing === true && to.bytesRead < from.bytesWritten;

/** Of connections between sockets of this process that were made since this file was loaded. */
export function areSocketsQuiet(): boolean {
  for (const client of clients) {
    const server = accepted.get(`${client.localPort} ${client.remotePort}`);
    if (client.connecting || (server && (isOnItsWay(client, server) || isOnItsWay(server, client)))) {
      return false;
    }
  }
  return true;
}
