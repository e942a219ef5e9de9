// mt-gw-write: writes a property of a device.
import type { NodeAPI } from 'node-red';
import { readNumber } from '../shared/defaults.ts';
import { registerAction } from '../shared/runtime.ts';
import { CREDENTIALS, type GwWriteConfig, type KeyCredentials, upgrade } from './config.ts';

export default function registerGwWrite(RED: NodeAPI): void {
  registerAction<GwWriteConfig, KeyCredentials>(RED, 'mt-gw-write', {
    upgrade,
    credentials: CREDENTIALS,
    half: 'mqtt',
    open({ config, credentials, session, signal, fields }) {
      const { form, decode } = config;
      const options = { signal, timeout: readNumber(config.timeout, undefined), decode };
      const read = fields([
        'gateway',
        'device',
        'identifier',
        'value',
        'ext',
        'priority',
        'extenderId',
        'accessType',
        'publicKey',
      ]);
      return async (msg, send) => {
        const input = { ...(await read(msg)), form, key: msg.key ?? credentials.key };
        const answer = await session.request('write', input, options);
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
