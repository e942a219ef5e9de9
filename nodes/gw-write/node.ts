// mt-gw-write: writes a property of a device.
import type { NodeAPI } from 'node-red';
import { readNumber } from '../shared/defaults.ts';
import { checkTimeout } from '../shared/runtime/env.ts';
import { change, readKey } from '../shared/runtime/message.ts';
import { registerAction } from '../shared/runtime/registration.ts';
import { CREDENTIALS, type GwWriteConfig, type KeyCredentials, upgrade } from './config.ts';

export default function registerGwWrite(RED: NodeAPI): void {
  registerAction<GwWriteConfig, KeyCredentials>(RED, 'mt-gw-write', {
    upgrade,
    check: checkTimeout,
    credentials: CREDENTIALS,
    half: 'mqtt',
    open({ RED, config, credential, session, signal, fields }) {
      const { form, decode } = config;
      const options = { signal, timeout: readNumber(config.timeout, undefined), decode };
      const read = fields(
        [
          'gateway',
          'device',
          'identifier',
          'value',
          'ext',
          'priority',
          'extenderId',
          'accessType',
          'publicKey',
        ],
        // A context variable or an expression may say NULL.
        { nullable: ['value'] },
      );
      return async (msg, send) => {
        // Most fields are there at once; to await them all the same would cost every request a turn.
        const given = read(msg);
        const values = given instanceof Promise ? await given : given;
        const input = { ...values, form, key: readKey(msg, () => credential('key')) };
        const answer = await session.request('write', input, options);
        const { response, gateway, device, identifier } = answer;
        const named = identifier === undefined ? undefined : { identifier };
        send(change(RED, msg, { response, gateway, device, ...named }));
      };
    },
  });
}
