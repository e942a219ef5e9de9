// Loads MQTT.js with the first connection, as not every service has a broker, and makes its clients.
import { connect } from 'node:net';
import type { IClientOptions, MqttClient } from 'mqtt';
import { SOCKET_OPTIONS } from '../socket-options.ts';

type Library = typeof import('mqtt').default;

const MQTT_PORT = 1883;

let library: Library | undefined;

export const loadLibrary = async (): Promise<Library> => (library ??= (await import('mqtt')).default);

/**
 * As `connect` of MQTT.js, which passes nothing but host and port on to a socket without TLS. With a SOCKS proxy in its own
 * variable MQTT.js opens that itself.
 */
export function createLibraryClient(mqtt: Library, options: IClientOptions): MqttClient {
  if (options.protocol !== 'mqtt' || process.env.MQTTJS_SOCKS_PROXY) {
    return mqtt.connect(options);
  }
  const address = { host: options.host!, port: options.port || MQTT_PORT };
  const client = new mqtt.MqttClient(() => connect({ ...address, ...SOCKET_OPTIONS }), options);
  // An error that nobody hears would end the process.
  client.on('error', () => {});
  return client;
}
