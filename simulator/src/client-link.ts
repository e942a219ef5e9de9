// Gateways as clients of a broker of one's own; needs the package `mqtt`, which is loaded for nothing else.
import type { GatewayLink, OpenLink } from './gateway-link.ts';

interface Settings {
  url: string;
  qos: 0 | 1;
  username?: string;
  password?: string;
}

/** Each gateway is a client that connects again by itself. */
export function clientLinks({ url, qos, ...login }: Settings): OpenLink {
  return async (mac, filters, receive): Promise<GatewayLink> => {
    const { connectAsync } = await import('mqtt');
    const client = await connectAsync(url, {
      ...login,
      clientId: mac,
      reconnectPeriod: 500,
      reconnectOnConnackError: true,
      queueQoSZero: false,
    });
    client.on('error', () => {}); // Reconnecting is all that can be done, and MQTT.js does it.
    client.on('message', (topic, payload, packet) => receive(topic, payload, packet.qos));
    await client.subscribeAsync(filters, { qos });
    return {
      publish: async (topic, payload, retain) => {
        await client.publishAsync(topic, payload, { qos, retain });
      },
      close: () => client.endAsync(true),
    };
  };
}
