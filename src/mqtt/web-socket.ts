// The WebSocket of a ws or wss broker: all of the TLS settings, of which MQTT.js passes on only some, a proxy's tunnel, and the status of a refusal.
import type { EventEmitter } from 'node:events';
import type { ClientRequest, ClientRequestArgs, IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { proxyFor } from '../proxy/choice.ts';
import { openTunnel } from '../proxy/tunnel.ts';
import type { MqttSettings, TlsSettings } from '../settings.ts';
import { SOCKET_OPTIONS } from '../socket-options.ts';

/** Less than an attempt may take, so that a silent proxy is named. */
const TUNNEL_TIMEOUT_MS = 9_000;

/** MQTT has no larger packet. With a smaller bound one message would end each connection that it comes over. */
const MAX_MESSAGE_BYTES = 5 + 0xfff_ffff;

type Created = (error: Error | null, socket?: Socket) => void;

/** The server answers as if it were asked for a page. Of its code MQTT.js takes only that there is one. */
export class UpgradeRefusal extends Error {
  readonly code = 'UPGRADE_REFUSED';
  readonly status: number;

  constructor(status: number) {
    super(`HTTP status ${status}`);
    this.status = status;
  }
}

/** `wsOptions` of MQTT.js, which are those of ws. */
export type WebSocketOptions = TlsSettings & {
  maxPayload: number;
  finishRequest: (request: ClientRequest, webSocket: EventEmitter) => void;
  createConnection?: (options: ClientRequestArgs & TlsSettings, created: Created) => undefined;
};

/**
 * @param url of the broker, as in the settings
 * @param signal aborted: ends a tunnel that is not open yet
 * @throws INVALID_INPUT `proxy`
 */
export function webSocketOptions(
  { tls, proxy: proxies }: MqttSettings,
  url: string,
  isSecure: boolean,
  signal: AbortSignal,
): WebSocketOptions {
  const proxy = proxyFor(proxies, url);
  return {
    ...(isSecure ? tls : {}),
    ...SOCKET_OPTIONS,
    maxPayload: MAX_MESSAGE_BYTES,
    finishRequest(request, webSocket) {
      webSocket.once('unexpected-response', (_: ClientRequest, { statusCode = 0 }: IncomingMessage) =>
        request.destroy(new UpgradeRefusal(statusCode)),
      );
      request.end();
    },
    ...(proxy && {
      createConnection({ host, port, ...options }, created) {
        const to = { host: host ?? '', port: Number(port) };
        openTunnel({ proxy, ...to, timeout: TUNNEL_TIMEOUT_MS, signal })
          .then((tunnel) => (isSecure ? secured(tunnel, to.host, options) : tunnel))
          .then(
            (socket) => created(null, socket),
            (error: Error) => created(error),
          );
        return undefined;
      },
    }),
  };
}

function secured(tunnel: Socket, host: string, options: TlsSettings): Socket {
  const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername, ALPNProtocols } = options;
  return connectSecure({
    ...{ socket: tunnel, host, servername: servername || (isIP(host) ? '' : host) },
    ...{ ca, cert, key, pfx, passphrase, rejectUnauthorized, ALPNProtocols },
  });
}
