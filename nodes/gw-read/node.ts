// mt-gw-read: reads a property of a device, or asks a gateway for its interface version.
import type { NodeAPI } from 'node-red';
import { readNumber } from '../shared/defaults.ts';
import { registerAction } from '../shared/runtime.ts';
import { CREDENTIALS, type GwReadConfig, type KeyCredentials, upgrade } from './config.ts';

export default function registerGwRead(RED: NodeAPI): void {
  registerAction<GwReadConfig, KeyCredentials>(RED, 'mt-gw-read', {
    upgrade,
    credentials: CREDENTIALS,
    half: 'mqtt',
    open({ config, credentials, session, signal, fields }) {
      const { operation, form, decode } = config;
      const options = { signal, timeout: readNumber(config.timeout, undefined), decode };
      const read = fields([
        'gateway',
        'device',
        'identifier',
        'priority',
        'extenderId',
        'accessType',
        'publicKey',
      ]);
      return async (msg, send) => {
        const input = { ...(await read(msg)), form, key: msg.key ?? credentials.key };
        const answer = await session.request(operation, input, options);
        msg.payload = answer.value;
        msg.response = answer.response;
        msg.gateway = answer.gateway;
        msg.device = answer.device;
        if (answer.identifier !== undefined) {
          msg.identifier = answer.identifier;
        }
        send(msg);
      };
    },
  });
}
